/* bytes.h -- room framework: private; reading the bytes that text_put_u64 and length-prefixed strings make. A
   reading that goes wrong stays wrong and gives zeros. */
#ifndef NK_BYTES_H
#define NK_BYTES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "text.h"

typedef struct Span {
  const char *p;
  size_t n;
} Span;
typedef struct Bytes {
  const char *p;
  size_t left;
  bool bad;
} Bytes;

static inline Span bytes_take(Bytes *b, uint64_t n) {
  if (b->bad || n > b->left) {
    b->bad = true;
    return (Span){"", 0};
  }
  Span s = {b->p, (size_t)n};
  b->p += n;
  b->left -= (size_t)n;
  return s;
}

static inline uint64_t bytes_u64(Bytes *b) {
  Span s = bytes_take(b, 8);
  return s.n ? text_read_le64(s.p) : 0;
}

static inline unsigned char bytes_u8(Bytes *b) {
  Span s = bytes_take(b, 1);
  return s.n ? (unsigned char)*s.p : 0;
}

static inline Span bytes_str(Bytes *b) { return bytes_take(b, bytes_u64(b)); }

static inline bool span_equal(Span a, Span b) { return a.n == b.n && memcmp(a.p, b.p, a.n) == 0; }
#endif
