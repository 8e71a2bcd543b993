/* json.c -- room base: strict JSON reader; the only file that sees cJSON.
   cJSON is lax (012, \uZZZZ, raw NULs, trailing bytes) and keeps numbers as rounded doubles, in some releases of their
   first 63 characters. So a scan goes first: it checks every token and writes down where numbers and strings begin;
   cJSON then gets a copy in which each number is a plain 0 and judges the structure; last, its tree is walked in the
   order of the text and meets the tokens again. */
#include "json.h"

#include <cjson/cJSON.h>
#include <pthread.h>
#include <string.h>

#include "nameset.h"

enum { MAX_DEPTH = 64 };

/* cJSON_ParseWithLengthOpts writes a static variable of its own. */
static pthread_mutex_t cjson_lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct Token {
  size_t at, len; /* a number's spelling; a string's opening quote */
} Token;

typedef struct Reader {
  Arena *a;      /* the result */
  Arena scratch; /* dies with the call */
  const char *s; /* the text */
  size_t n;
  char *copy; /* what cJSON sees */
  Token *tokens;
  uint32_t count, cap, next;
  const char *what;
  Diag *d;
} Reader;

static bool fault(Reader *r, const char *reason, size_t at) { return DIAG(r->d, json, r->what, reason, at); }

static bool add_token(Reader *r, size_t at, size_t len) {
  if (!arena_push(&r->scratch, r->tokens, r->cap, r->count)) return DIAG0(r->d, nomem);
  r->tokens[r->count++] = (Token){at, len};
  return true;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
static bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

/* At s[i], or '\0' behind the end: no NUL byte gets this far. */
static char peek(const Reader *r, size_t i) { return i < r->n ? r->s[i] : '\0'; }

static size_t skip_digits(const Reader *r, size_t i) {
  while (is_digit(peek(r, i))) i++;
  return i;
}

static bool scan_number(Reader *r, size_t *at) {
  size_t from = *at, i = from, mark;
  if (peek(r, i) == '-') i++;
  mark = i;
  i = skip_digits(r, i);
  if (i == mark) return fault(r, "digit expected", i);
  if (i - mark > 1 && r->s[mark] == '0') return fault(r, "number with a leading zero", from);
  if (peek(r, i) == '.') {
    mark = ++i;
    i = skip_digits(r, i);
    if (i == mark) return fault(r, "digit expected", i);
  }
  if (peek(r, i) == 'e' || peek(r, i) == 'E') {
    i++;
    if (peek(r, i) == '+' || peek(r, i) == '-') i++;
    mark = i;
    i = skip_digits(r, i);
    if (i == mark) return fault(r, "digit expected", i);
  }
  char c = peek(r, i); /* cJSON must not see two of our zeros side by side */
  if (c != '\0' && !is_space(c) && c != ',' && c != ']' && c != '}') return fault(r, "malformed number", from);
  memset(r->copy + from, ' ', i - from);
  r->copy[from] = '0';
  *at = i;
  return add_token(r, from, i - from);
}

static bool scan_string(Reader *r, size_t *at) {
  size_t from = *at, i = from + 1;
  for (; i < r->n && r->s[i] != '"'; i++) {
    if ((unsigned char)r->s[i] < 0x20) return fault(r, "control character in a string", i);
    if (r->s[i] != '\\') continue;
    i++;
    if (peek(r, i) != 'u') continue; /* cJSON knows the other escapes */
    for (size_t k = 1; k <= 4; k++)
      if (!is_hex(peek(r, i + k))) return fault(r, "four hex digits expected after \\u", i - 1);
    if (memcmp(r->s + i + 1, "0000", 4) == 0) return fault(r, "NUL character in a string", i - 1);
    i += 4;
  }
  if (i >= r->n) return fault(r, "string without an end", from);
  *at = i + 1;
  return add_token(r, from, i + 1 - from);
}

static bool scan_word(Reader *r, size_t *at) {
  static const char *const words[] = {"true", "false", "null"};
  for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
    size_t len = strlen(words[k]);
    if (r->n - *at < len || memcmp(r->s + *at, words[k], len) != 0) continue;
    *at += len;
    return true;
  }
  return fault(r, "unexpected byte", *at);
}

static bool scan_token(Reader *r, size_t *at, int *depth) {
  char c = r->s[*at];
  if (c == '"') return scan_string(r, at);
  if (c == '-' || is_digit(c)) return scan_number(r, at);
  if (c >= 'a' && c <= 'z') return scan_word(r, at);
  if (!is_space(c) && !strchr("[]{},:", c)) return fault(r, "unexpected byte", *at);
  if ((c == '[' || c == '{') && ++*depth > MAX_DEPTH) return fault(r, "nested deeper than 64", *at);
  if (c == ']' || c == '}') --*depth;
  ++*at;
  return true;
}

static bool scan(Reader *r) {
  size_t bad;
  const char *nul = r->n ? memchr(r->s, '\0', r->n) : NULL;
  if (nul) return fault(r, "NUL byte", (size_t)(nul - r->s));
  if (!text_is_utf8(r->s, r->n, &bad)) return fault(r, "invalid UTF-8", bad);
  r->copy = arena_strdup(&r->scratch, r->s, r->n);
  if (!r->copy) return DIAG0(r->d, nomem);
  size_t i = 0, blank = 0;
  int depth = 0;
  while (i < r->n) {
    blank += is_space(r->s[i]);
    if (!scan_token(r, &i, &depth)) return false;
  }
  if (blank == r->n) return fault(r, r->n ? "there is nothing but white space" : "the text is empty", r->n);
  if (depth > 0) return fault(r, "text ends too early", r->n);
  return true;
}

static cJSON *parse_structure(Reader *r) {
  const char *end = r->copy;
  pthread_mutex_lock(&cjson_lock);
  cJSON *tree = cJSON_ParseWithLengthOpts(r->copy, r->n, &end, 0);
  pthread_mutex_unlock(&cjson_lock);
  size_t at = (size_t)(end - r->copy);
  if (!tree) {
    fault(r, "syntax error", at);
    return NULL;
  }
  while (at < r->n && is_space(r->copy[at])) at++; /* there the last number is padded */
  if (at == r->n) return tree;
  fault(r, "bytes after the value", at);
  cJSON_Delete(tree);
  return NULL;
}

static bool take_token(Reader *r, Token *t, bool string) {
  if (r->next == r->count) return NK_BUG(r->d, "cJSON found more tokens than the scan");
  *t = r->tokens[r->next++];
  return (r->s[t->at] == '"') == string || NK_BUG(r->d, "cJSON and the scan disagree");
}

/* True when s is an integer literal and int64 has that value. */
static bool read_int(const char *s, size_t n, int64_t *out) {
  bool minus = s[0] == '-';
  int64_t v = 0; /* counted downwards: there is one more negative number */
  for (size_t i = minus; i < n; i++) {
    if (!is_digit(s[i])) return false;
    if (__builtin_mul_overflow(v, 10, &v) || __builtin_sub_overflow(v, s[i] - '0', &v)) return false;
  }
  if (minus ? v == 0 : v == INT64_MIN) return false; /* -0, 2^63 */
  *out = minus ? v : -v;
  return true;
}

static bool take_number(Reader *r, Json *to) {
  Token t;
  if (!take_token(r, &t, false)) return false;
  const char *s = r->s + t.at;
  if (!text_to_double(s, t.len, &to->f)) return fault(r, "number too large for a double", t.at);
  to->kind = read_int(s, t.len, &to->i) ? JSON_INT : JSON_FLOAT;
  return true;
}

static bool take_string(Reader *r, const cJSON *from, Json *to) {
  Token t;
  if (!take_token(r, &t, true)) return false;
  to->kind = JSON_STRING;
  to->len = strlen(from->valuestring);
  to->s = arena_strdup(r->a, from->valuestring, to->len);
  return to->s || DIAG0(r->d, nomem);
}

static bool take_key(Reader *r, const cJSON *from, Json *to, NameSet *keys) {
  Token t;
  if (!take_token(r, &t, true)) return false;
  size_t len = strlen(from->string);
  to->key = arena_strdup(r->a, from->string, len);
  if (!to->key) return DIAG0(r->d, nomem);
  if (nameset_add(keys, to->key, len)) return true;
  const char *reason = arena_printf(&r->scratch, "duplicate key '%s'", to->key);
  return reason ? fault(r, reason, t.at) : DIAG0(r->d, nomem);
}

static bool take_value(Reader *r, const cJSON *from, Json *to);

static bool take_children(Reader *r, const cJSON *from, Json *to) {
  to->kind = cJSON_IsArray(from) ? JSON_ARRAY : JSON_OBJECT;
  for (const cJSON *c = from->child; c; c = c->next) to->count++;
  NameSet keys;
  if (to->kind == JSON_OBJECT && !nameset_init(&keys, &r->scratch, to->count)) return DIAG0(r->d, nomem);
  Json **link = &to->child;
  for (const cJSON *c = from->child; c; c = c->next) {
    Json *v = arena_new(r->a, Json);
    if (!v) return DIAG0(r->d, nomem);
    *link = v;
    link = &v->next;
    if (to->kind == JSON_OBJECT && !take_key(r, c, v, &keys)) return false;
    if (!take_value(r, c, v)) return false;
  }
  return true;
}

static bool take_value(Reader *r, const cJSON *from, Json *to) {
  if (cJSON_IsArray(from) || cJSON_IsObject(from)) return take_children(r, from, to);
  if (cJSON_IsNumber(from)) return take_number(r, to);
  if (cJSON_IsString(from)) return take_string(r, from, to);
  if (cJSON_IsNull(from)) return true; /* JSON_NULL is 0 */
  to->kind = JSON_BOOL;
  to->b = cJSON_IsTrue(from);
  return true;
}

static const Json *read_value(Reader *r) {
  if (!scan(r)) return NULL;
  cJSON *tree = parse_structure(r);
  if (!tree) return NULL;
  Json *v = arena_new(r->a, Json);
  bool ok = v ? take_value(r, tree, v) : DIAG0(r->d, nomem);
  cJSON_Delete(tree);
  if (ok && r->next != r->count) ok = NK_BUG(r->d, "cJSON found fewer tokens than the scan");
  return ok ? v : NULL;
}

const Json *json_parse(Arena *a, const char *s, size_t n, const char *what, Diag *d) {
  Reader r = {.a = a, .s = s, .n = n, .what = what, .d = d};
  arena_init(&r.scratch, a->alloc);
  const Json *v = read_value(&r);
  arena_free(&r.scratch);
  return v;
}

const Json *json_get(const Json *object, const char *key) {
  if (object->kind != JSON_OBJECT) return NULL;
  for (const Json *v = object->child; v; v = v->next)
    if (strcmp(v->key, key) == 0) return v;
  return NULL;
}
