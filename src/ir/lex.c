/* lex.c -- room ir: words of IR text, and where in it something is wrong. */
#include "text_ir.h"

/* ---- positions and messages */
long tx_line(const Tx *x, const char *at) {
  long line = 1;
  for (const char *s = x->text; s < at; s++) line += *s == '\n';
  return line;
}

long tx_column(const Tx *x, const char *at) {
  const char *s = at;
  while (s > x->text && s[-1] != '\n') s--;
  return (long)(at - s) + 1;
}

const char *tx_cstr(Tx *x, TxStr s) {
  bool cut = s.n > 120;
  char *copy = arena_alloc(&x->scratch, (cut ? 120 : s.n) + 4);
  if (!copy) return "";
  memcpy(copy, s.s, cut ? 120 : s.n);
  if (cut) memcpy(copy + 120, "...", 3);
  return copy;
}

const char *tx_did_you_mean(Tx *x, TxStr s, const char *const *names) {
  const char *near = diag_nearest(tx_cstr(x, s), names);
  const char *text = near ? arena_printf(&x->scratch, "; did you mean '%s'?", near) : NULL;
  return text ? text : "";
}

static bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '.';
}

/* What stands at x->p, for "found ...". */
static const char *found(Tx *x) {
  if (x->p >= x->end) return "the end of the text";
  const char *s = x->p;
  if (*s == '%' || *s == '^' || *s == '@' || *s == '#' || *s == '!') s++;
  while (s < x->end && is_word_char(*s)) s++;
  if (s == x->p) s++;
  unsigned char c = (unsigned char)*x->p;
  char *text = c < 0x80 ? arena_printf(&x->scratch, "'%s'", tx_cstr(x, (TxStr){x->p, (size_t)(s - x->p)}))
                        : arena_printf(&x->scratch, "byte 0x%02X", c);
  return text ? text : "";
}

bool tx_expected(Tx *x, const char *what) {
  tx_space(x);
  return TX_ERR(x, x->p, ir_syntax, what, found(x));
}

/* ---- words */
void tx_space_slow(Tx *x) {
  const char *p = x->p, *end = x->end;
  for (; p < end; p++) {
    if (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r') continue;
    if (*p != '/' || end - p < 2 || p[1] != '/') break;
    p = memchr(p, '\n', (size_t)(end - p));
    if (!p) p = end - 1;
  }
  x->p = p;
}

bool tx_need(Tx *x, char c) {
  if (tx_take(x, c)) return true;
  char what[4] = {'\'', c, '\'', 0};
  return tx_expected(x, what);
}

bool tx_need_arrow(Tx *x) {
  tx_space(x);
  if (x->end - x->p < 2 || x->p[0] != '-' || x->p[1] != '>') return tx_expected(x, "'->'");
  x->p += 2;
  return true;
}

bool tx_take_word(Tx *x, const char *word) {
  tx_space(x);
  size_t n = strlen(word), left = (size_t)(x->end - x->p);
  if (left < n || memcmp(x->p, word, n) != 0 || (left > n && is_word_char(x->p[n]))) return false;
  x->p += n;
  return true;
}

bool tx_word(Tx *x, const char *what, TxStr *out) {
  tx_space(x);
  const char *s = x->p;
  bool letter = s < x->end && is_word_char(*s) && !(*s >= '0' && *s <= '9') && *s != '$' && *s != '.';
  if (!letter) return tx_expected(x, what);
  while (s < x->end && is_word_char(*s)) s++;
  *out = (TxStr){x->p, (size_t)(s - x->p)};
  x->p = s;
  return true;
}

bool tx_value_name(Tx *x, TxStr *out) {
  if (!tx_peek(x, '%')) return tx_expected(x, "a value (%name)");
  const char *start = x->p, *s = ++x->p;
  bool number = s < x->end && *s >= '0' && *s <= '9';
  if (number)
    while (s < x->end && *s >= '0' && *s <= '9') s++;
  else
    while (s < x->end && (is_word_char(*s) || *s == '-')) s++;
  if (s == x->p || (number && s < x->end && is_word_char(*s))) {
    x->p = start;
    return TX_ERR(x, start, ir_word, "a value is % and digits, or % and a name that does not begin with a digit");
  }
  *out = (TxStr){x->p, (size_t)(s - x->p)};
  x->p = s;
  return true;
}

bool tx_digits(Tx *x, int64_t *out) {
  tx_space(x);
  const char *start = x->p, *s = start;
  int64_t v = 0;
  bool fits = true;
  for (; s < x->end && *s >= '0' && *s <= '9'; s++)
    fits = fits && !__builtin_mul_overflow(v, 10, &v) && !__builtin_add_overflow(v, *s - '0', &v);
  if (s == start) return tx_expected(x, "a number");
  if (!fits) return TX_ERR(x, start, ir_word, "this number does not fit 64 bits");
  x->p = s;
  *out = v;
  return true;
}

/* ---- strings */
int tx_hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* One escape; *s is behind the backslash and moves behind the escape. -1: none. */
static int escape(const char **s, const char *end) {
  if (*s >= end) return -1;
  char c = *(*s)++;
  if (c == 'n') return '\n';
  if (c == 't') return '\t';
  if (c == '"' || c == '\\') return c;
  int high = tx_hex_digit(c), low = *s < end ? tx_hex_digit(**s) : -1;
  if (high < 0 || low < 0) return -1;
  ++*s;
  return high * 16 + low;
}

/* The string with escapes; [s, e) is between the quotes. */
static bool decode(Tx *x, const char *s, const char *e, TxStr *out) {
  char *to = arena_alloc(&x->scratch, (size_t)(e - s) + 1);
  if (!to) return DIAG0(x->d, nomem);
  size_t n = 0;
  while (s < e) {
    if (*s != '\\') {
      to[n++] = *s++;
      continue;
    }
    const char *at = s++;
    int c = escape(&s, e);
    if (c < 0) return TX_ERR(x, at, ir_word, "bad escape in a string; there are \\n, \\t, \\\", \\\\ and \\HH");
    to[n++] = (char)c;
  }
  *out = (TxStr){to, n};
  return true;
}

#define UNTERMINATED "this string does not end on its line or holds a control character"

static bool is_plain(char c) { return (unsigned char)(c - ' ') < 0x60 && c != '"' && c != '\\'; }

/* The closing quote of the string whose inside begins at s; NULL at a control character or the end. */
static const char *string_end(const char *s, const char *end, unsigned *seen) {
  for (;; s++) {
    while (end - s >= 8 && text_eight_plain(s)) s += 8;
    while (s < end && is_plain(*s)) s++;
    if (s >= end || (unsigned char)*s < ' ') return NULL;
    if (*s == '"') return s;
    *seen |= *s == '\\' ? 2u : 1u;
    if (*s == '\\' && ++s >= end) return NULL;
  }
}

bool tx_string(Tx *x, const char *what, TxStr *out) {
  if (!tx_peek(x, '"')) return tx_expected(x, what);
  const char *s = x->p + 1;
  unsigned seen = 0;
  const char *e = string_end(s, x->end, &seen);
  if (!e) return TX_ERR(x, x->p, ir_word, UNTERMINATED);
  size_t bad;
  if ((seen & 1) && !text_is_utf8(s, (size_t)(e - s), &bad)) return TX_ERR(x, s + bad, ir_word, "this is not UTF-8");
  x->p = e + 1;
  *out = (TxStr){s, (size_t)(e - s)};
  return !(seen & 2) || decode(x, s, e, out);
}

const char *tx_name(Tx *x, TxStr s, const char *at) {
  if (s.n && memchr(s.s, 0, s.n)) {
    TX_ERR(x, at, ir_word, "a name cannot hold a NUL byte");
    return NULL;
  }
  const char *copy = arena_strdup(&x->m->arena, s.s, s.n);
  if (!copy) DIAG0(x->d, nomem);
  return copy;
}

/* Bytes at which skipping a region stops to look. */
static const bool stops[256] = {['{'] = true, ['}'] = true, ['"'] = true, ['/'] = true};

static const char *next_stop(const char *p, const char *end) {
  const unsigned char *s = (const unsigned char *)p;
  while ((const char *)s + 4 <= end && !(stops[s[0]] | stops[s[1]] | stops[s[2]] | stops[s[3]])) s += 4;
  while ((const char *)s < end && !stops[*s]) s++;
  return (const char *)s;
}

bool tx_skip_braces(Tx *x) {
  const char *open = x->p, *s = open, *end = x->end;
  for (int64_t depth = 0; s && s < end; s++) {
    s = next_stop(s, end);
    if (s == end) break;
    if (*s == '{') depth++;
    if (*s == '}' && --depth == 0) {
      x->p = s + 1;
      return true;
    }
    if (*s == '"') {
      unsigned seen = 0;
      const char *quote = s;
      s = string_end(s + 1, end, &seen);
      if (!s) return TX_ERR(x, quote, ir_word, UNTERMINATED);
    } else if (*s == '/' && end - s > 1 && s[1] == '/') {
      s = memchr(s, '\n', (size_t)(end - s));
      if (!s) break;
    }
  }
  return TX_ERR(x, open, ir_word, "this '{' has no matching '}'");
}
