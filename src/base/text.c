/* text.c -- room base: the growable buffer and formatted output. Numbers are in text_num.c. */
#include "text.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

void text_init(Text *t, Alloc alloc) { *t = (Text){.alloc = alloc}; }

void text_free(Text *t) {
  alloc_free(&t->alloc, t->data, t->cap);
  text_init(t, t->alloc);
}

const char *text_str(const Text *t) { return t->data ? t->data : ""; }

char *text_grow(Text *t, size_t n) {
  if (t->oom) return NULL;
  if (n > SIZE_MAX / 4 - t->len) {
    t->oom = true;
    return NULL;
  }
  size_t need = t->len + n + 1, cap = t->cap < 64 ? 64 : t->cap + t->cap / 2;
  if (cap < need) cap = need;
  char *data = alloc_grow(&t->alloc, t->data, t->cap, cap);
  if (!data) {
    t->oom = true;
    return NULL;
  }
  t->data = data;
  t->cap = cap;
  t->data[t->len] = '\0';
  return t->data + t->len;
}

void text_add(Text *t, const void *s, size_t n) { text_put(t, s, n); }

void text_puts(Text *t, const char *s) { text_add(t, s, strlen(s)); }

void text_putc(Text *t, char c) { text_add(t, &c, 1); }

int text_vsnprintf(char *buf, size_t size, const char *fmt, va_list ap) {
  /* glibc and musl return a static object here: nothing is allocated, so it is cheap and cannot fail. */
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!c) return -1;
  locale_t before = uselocale(c);
  int n = vsnprintf(buf, size, fmt, ap);
  uselocale(before);
  freelocale(c);
  return n;
}

void text_vprintf(Text *t, const char *fmt, va_list ap) {
  char *p = text_reserve(t, 64);
  if (!p) return;
  va_list again;
  va_copy(again, ap);
  size_t room = t->cap - t->len;
  int n = text_vsnprintf(p, room, fmt, ap);
  if (n >= 0 && (size_t)n >= room) {
    p = text_reserve(t, (size_t)n);
    if (p) n = text_vsnprintf(p, (size_t)n + 1, fmt, again);
  }
  va_end(again);
  if (n < 0) t->oom = true;
  if (t->oom) t->data[t->len] = '\0'; /* undo a half-written tail */
  if (!t->oom) text_commit(t, (size_t)n);
}

void text_printf(Text *t, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  text_vprintf(t, fmt, ap);
  va_end(ap);
}

void text_int(Text *t, int64_t v) {
  char digits[24], *p = digits + sizeof digits;
  uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
  do *--p = (char)('0' + u % 10);
  while (u /= 10);
  if (v < 0) *--p = '-';
  text_add(t, p, (size_t)(digits + sizeof digits - p));
}

/* Length of the well-formed sequence at p (end exclusive), or 0. The bounds on the second byte are those of the Unicode
   standard's table of well-formed UTF-8: they exclude overlong forms, surrogates and values over U+10FFFF. */
static size_t utf8_sequence(const unsigned char *p, const unsigned char *end) {
  unsigned char b = p[0];
  if (b < 0x80) return 1;
  if (b < 0xC2 || b > 0xF4) return 0;
  size_t n = b < 0xE0 ? 2 : b < 0xF0 ? 3 : 4;
  if ((size_t)(end - p) < n) return 0;
  unsigned char lo = b == 0xE0 ? 0xA0 : b == 0xF0 ? 0x90 : 0x80;
  unsigned char hi = b == 0xED ? 0x9F : b == 0xF4 ? 0x8F : 0xBF;
  if (p[1] < lo || p[1] > hi) return 0;
  for (size_t i = 2; i < n; i++)
    if ((p[i] & 0xC0) != 0x80) return 0;
  return n;
}

bool text_is_utf8(const char *s, size_t n, size_t *bad) {
  const unsigned char *p = (const unsigned char *)s, *end = p + n;
  while (p < end) {
    uint64_t eight;
    for (; end - p >= 8; p += 8) { /* ASCII */
      memcpy(&eight, p, 8);
      if (eight & UINT64_C(0x8080808080808080)) break;
    }
    if (p == end) break;
    size_t step = utf8_sequence(p, end);
    if (!step) {
      if (bad) *bad = (size_t)(p - (const unsigned char *)s);
      return false;
    }
    p += step;
  }
  return true;
}

bool text_is_plain(const char *s, size_t n) { return (n == 0 || !memchr(s, '\0', n)) && text_is_utf8(s, n, NULL); }

const char *text_clip(char buf[TEXT_CLIP + 4], const char *s, size_t n) {
  const unsigned char *p = (const unsigned char *)s, *end = p + n;
  size_t used = 0;
  while (p < end) {
    size_t step = utf8_sequence(p, end), width = step;
    char spelled[5];
    bool raw = step && *p >= 0x20 && *p != 0x7f;
    if (!raw) {
      snprintf(spelled, sizeof spelled, "\\x%02x", *p);
      step = 1;
      width = 4;
    }
    if (used + width > TEXT_CLIP) return memcpy(buf + used, "...", 4), buf;
    memcpy(buf + used, raw ? (const char *)p : spelled, width);
    used += width;
    p += step;
  }
  buf[used] = '\0';
  return buf;
}
