/* json_write.c -- room base: JSON writer, compact and indented. */
#include <math.h>
#include <string.h>

#include "json.h"

static void comma(JsonWriter *w) {
  if (w->need_comma) text_putc(w->out, ',');
  w->need_comma = true;
}

void json_begin(JsonWriter *w, char open) {
  comma(w);
  text_putc(w->out, open);
  w->need_comma = false;
}

void json_end(JsonWriter *w, char close) {
  text_putc(w->out, close);
  w->need_comma = true;
}

enum { PIECE = 4096, LONGEST = 6 }; /* LONGEST: the characters that one byte becomes at most */

/* What follows the backslash of a byte that is escaped: 'u' when two hexadecimal digits say it, 0 of all others. */
static const char escape[256] = {'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'b',         't',          'n', 'u',
                                 'f', 'r', 'u', 'u', 'u', 'u', 'u', 'u', 'u',         'u',          'u', 'u',
                                 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', ['"'] = '"', ['\\'] = '\\'};

static char *put_escaped(char *to, unsigned char c) {
  static const char hex[] = "0123456789abcdef";
  *to++ = '\\';
  *to++ = escape[c];
  if (escape[c] != 'u') return to;
  memcpy(to, (char[]){'0', '0', hex[c >> 4], hex[c & 15]}, 4);
  return to + 4;
}

static char *put_piece(char *to, const char *s, size_t n) {
  const char *end = s + n;
  while (s < end) {
    if (end - s >= 8 && text_eight_plain(s)) {
      memcpy(to, s, 8);
      to += 8, s += 8;
      continue;
    }
    for (; s < end && !escape[(unsigned char)*s]; s++) *to++ = *s;
    if (s < end) to = put_escaped(to, (unsigned char)*s++);
  }
  return to;
}

bool json_spells(const char *spelled, size_t n, const char *s, size_t len) {
  char piece[PIECE * LONGEST];
  if (n < 2 || spelled[0] != '"' || spelled[n - 1] != '"' || !text_is_utf8(s, len, NULL)) return false;
  const char *p = spelled + 1, *end = spelled + n - 1;
  for (size_t i = 0; i < len;) {
    size_t step = len - i < PIECE ? len - i : PIECE, k = (size_t)(put_piece(piece, s + i, step) - piece);
    if ((size_t)(end - p) < k || memcmp(p, piece, k) != 0) return false;
    p += k;
    i += step;
  }
  return p == end;
}

/* Between quotes. */
static void put_string(Text *out, const char *s, size_t n) {
  text_putc(out, '"');
  for (size_t i = 0; i < n;) {
    size_t end = n - i < PIECE ? n : i + PIECE;
    char *start = text_reserve(out, (end - i) * LONGEST);
    if (!start) return;
    text_commit(out, (size_t)(put_piece(start, s + i, end - i) - start));
    i = end;
  }
  text_putc(out, '"');
}

bool json_string(JsonWriter *w, const char *s, size_t n) {
  comma(w);
  bool clean = !n || !memchr(s, '\0', n);
  size_t bad;
  if (text_is_utf8(s, n, &bad)) {
    put_string(w->out, s, n);
    return clean;
  }
  Text fixed;
  text_init(&fixed, w->out->alloc);
  for (; !text_is_utf8(s, n, &bad); s += bad + 1, n -= bad + 1) {
    text_add(&fixed, s, bad);
    text_puts(&fixed, "\xEF\xBF\xBD");
  }
  text_add(&fixed, s, n);
  put_string(w->out, text_str(&fixed), fixed.len);
  if (fixed.oom) w->out->oom = true;
  text_free(&fixed);
  return false;
}

bool json_cstr(JsonWriter *w, const char *s) { return json_string(w, s, strlen(s)); }

void json_key(JsonWriter *w, const char *key) {
  json_cstr(w, key);
  text_putc(w->out, ':');
  w->need_comma = false;
}

void json_int(JsonWriter *w, int64_t v) {
  const int64_t exact = INT64_C(1) << 53; /* readers that keep numbers as doubles lose larger ones */
  bool quote = v > exact || v < -exact;
  comma(w);
  if (quote) text_putc(w->out, '"');
  text_int(w->out, v);
  if (quote) text_putc(w->out, '"');
}

void json_double(JsonWriter *w, double v) {
  if (isfinite(v)) {
    comma(w);
    text_double(w->out, v);
  } else {
    json_cstr(w, isnan(v) ? "NaN" : v > 0 ? "Infinity" : "-Infinity");
  }
}

void json_bool(JsonWriter *w, bool v) {
  comma(w);
  text_puts(w->out, v ? "true" : "false");
}

void json_null(JsonWriter *w) {
  comma(w);
  text_puts(w->out, "null");
}

static void new_line(Text *out, int depth) {
  text_putc(out, '\n');
  for (int i = 0; i < depth; i++) text_puts(out, "  ");
}

static bool on_one_line(const Json *v) {
  if (v->kind == JSON_OBJECT) return v->count == 0;
  for (const Json *c = v->child; c; c = c->next)
    if (c->kind == JSON_ARRAY || c->kind == JSON_OBJECT) return false;
  return true;
}

static void pretty(Text *out, const Json *v, int depth);

static void pretty_children(Text *out, const Json *v, int depth) {
  bool flat = on_one_line(v);
  text_putc(out, v->kind == JSON_ARRAY ? '[' : '{');
  for (const Json *c = v->child; c; c = c->next) {
    if (c != v->child) text_puts(out, flat ? ", " : ",");
    if (!flat) new_line(out, depth + 1);
    if (c->key) {
      put_string(out, c->key, strlen(c->key));
      text_puts(out, ": ");
    }
    pretty(out, c, depth + 1);
  }
  if (!flat) new_line(out, depth);
  text_putc(out, v->kind == JSON_ARRAY ? ']' : '}');
}

static void pretty(Text *out, const Json *v, int depth) {
  switch (v->kind) {
    case JSON_NULL:
      text_puts(out, "null");
      break;
    case JSON_BOOL:
      text_puts(out, v->b ? "true" : "false");
      break;
    case JSON_INT:
      text_int(out, v->i);
      break;
    case JSON_FLOAT:
      text_double(out, v->f);
      break;
    case JSON_STRING:
      put_string(out, v->s, v->len);
      break;
    case JSON_ARRAY:
    case JSON_OBJECT:
      pretty_children(out, v, depth);
      break;
  }
}

bool json_pretty(Text *out, const Json *v) {
  pretty(out, v, 0);
  return !out->oom;
}
