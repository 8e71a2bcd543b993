/* text.h -- room base: growable byte buffer. Every printer writes here, never to a FILE. Data is always NUL-terminated.
   Numbers are printed the same in every locale. Out of memory is sticky (`oom`), checked once at the end. */
#ifndef NK_TEXT_H
#define NK_TEXT_H
#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "alloc.h"

typedef struct Text {
  Alloc alloc;
  char *data; /* NULL while empty; use text_str */
  size_t len, cap;
  bool oom;
} Text;

void text_init(Text *t, Alloc alloc);
void text_free(Text *t);
const char *text_str(const Text *t);             /* never NULL */
void text_add(Text *t, const void *s, size_t n); /* s must not point into t */
char *text_grow(Text *t, size_t n);              /* text_reserve when there is no room */
/* Empty and valid again (oom reset); keeps the storage. */
static inline void text_clear(Text *t) {
  t->len = 0;
  t->oom = false;
  if (t->data) t->data[0] = '\0';
}
/* Room for n more bytes behind t->len; write there, then text_commit how many. NULL when out of memory. */
static inline char *text_reserve(Text *t, size_t n) {
  return n < t->cap - t->len && !t->oom ? t->data + t->len : text_grow(t, n); /* cap > len: there is always a NUL */
}
static inline void text_commit(Text *t, size_t n) {
  t->len += n;
  t->data[t->len] = '\0';
}
/* text_add without a call when there is room, for who writes many small pieces. */
static inline void text_put(Text *t, const void *s, size_t n) {
  char *at = text_reserve(t, n);
  if (!at) return;
  if (n) memcpy(at, s, n);
  text_commit(t, n);
}
/* Little endian on every machine. */
static inline void text_le64(void *to, uint64_t v) {
  const unsigned char b[8] = {(unsigned char)v,         (unsigned char)(v >> 8),  (unsigned char)(v >> 16),
                              (unsigned char)(v >> 24), (unsigned char)(v >> 32), (unsigned char)(v >> 40),
                              (unsigned char)(v >> 48), (unsigned char)(v >> 56)};
  memcpy(to, b, sizeof b);
}
static inline uint64_t text_read_le64(const void *from) {
  const unsigned char *b = from;
  uint64_t v = 0;
  for (int i = 7; i >= 0; i--) v = v << 8 | b[i];
  return v;
}
static inline void text_put_u64(Text *t, uint64_t v) {
  char b[8];
  text_le64(b, v);
  text_put(t, b, sizeof b);
}
/* Are the eight bytes at s ASCII without control characters, quotes and backslashes, which strings of JSON and MLIR
   hold as they are? (DEL is one of them.) */
static inline bool text_eight_plain(const char *s) {
  const uint64_t ones = UINT64_C(0x0101010101010101);
  uint64_t w;
  memcpy(&w, s, sizeof w);
  uint64_t quote = w ^ ones * '"', backslash = w ^ ones * '\\';
  /* the high bit of a byte is set when it is (w) not ASCII, less than a space, (quote, backslash) one of those */
  return ((w | (w - ones * 0x20) | ((quote - ones) & ~quote) | ((backslash - ones) & ~backslash)) & ones * 0x80) == 0;
}
/* What only its reader's order tells apart: a tag, the length, the bytes. */
static inline void text_put_tagged(Text *t, char tag, const void *s, size_t n) {
  text_put(t, &tag, 1);
  text_put_u64(t, n);
  text_put(t, s, n);
}
void text_puts(Text *t, const char *s);
void text_putc(Text *t, char c);
/* As in the C locale, whatever the program's locale is. For artifacts print doubles with text_double, not %g. */
void text_printf(Text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_vprintf(Text *t, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
void text_int(Text *t, int64_t v);
/* Shortest decimal that reads back to the same double, always with a '.' (1.0, 0.1, 1.0e+30); locale independent.
   Non-finite values must be handled by the caller (they are written as nan, inf, -inf). */
void text_double(Text *t, double v);
/* Shortest decimal that reads back to the same float. */
void text_float(Text *t, float v);
/* All of s[0..n) is [+-]digits[.digits][(e|E)[+-]digits] (digits on one side of '.' are enough), or [+-]inf, or nan.
   False otherwise and when a finite spelling overflows. Correctly rounded, any length, locale independent. */
bool text_to_double(const char *s, size_t n, double *out);
/* Correctly rounded straight to float (no double rounding); same grammar. */
bool text_to_float(const char *s, size_t n, float *out);
/* s[0..n) is well-formed UTF-8 (no overlong forms, no surrogates); else *bad (may be NULL) is the first bad offset. */
bool text_is_utf8(const char *s, size_t n, size_t *bad);
bool text_is_plain(const char *s, size_t n); /* UTF-8 without NUL bytes */
/* s[0..n) as a message quotes it: at most TEXT_CLIP bytes, cut at a whole character and ended by "..." when longer,
   every NUL spelled \x00. Into buf, which is returned. */
enum { TEXT_CLIP = 80 };
const char *text_clip(char buf[TEXT_CLIP + 4], const char *s, size_t n);
/* v with so many significant digits, as in the C locale; any NaN is "nan". Into buf, which is returned. */
enum { TEXT_NUMBER = 40 };
const char *text_number(char buf[TEXT_NUMBER], double v, int digits);
/* vsnprintf in the C locale. */
int text_vsnprintf(char *buf, size_t size, const char *fmt, va_list ap) __attribute__((format(printf, 3, 0)));
#endif
