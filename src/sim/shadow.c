/* shadow.c -- room sim: bit sets over the granules of a buffer, with none and all kept as a state. */
#include <string.h>

#include "exec.h"

static void materialise(Bits *b) {
  if (b->state == BITS_SOME) return;
  size_t bytes = (size_t)(b->n + 63) / 64 * 8;
  memset(b->w, b->state == BITS_ALL ? 0xff : 0, bytes);
  b->nset = b->state == BITS_ALL ? b->n : 0;
  b->state = BITS_SOME;
}

static void normalise(Bits *b) {
  if (b->nset == b->n) b->state = BITS_ALL;
  if (b->nset == 0) b->state = BITS_NONE;
}

static inline int64_t ones(uint64_t w) { /* whole words are by far the most frequent */
  return w == 0 ? 0 : w == ~UINT64_C(0) ? 64 : __builtin_popcountll(w);
}

/* The first word of a run that lies in one word, as most short ones do, else 0. */
static inline uint64_t short_run(int64_t at, int64_t n) {
  return at % 64 + n <= 64 ? (~UINT64_C(0) >> (64 - n)) << at % 64 : 0;
}

static void set_run(Bits *b, int64_t at, int64_t n) {
  uint64_t m = short_run(at, n);
  if (m) {
    b->nset += ones(m & ~b->w[at / 64]);
    b->w[at / 64] |= m;
    return;
  }
  for (int64_t k = at / 64; k * 64 < at + n; k++) {
    m = bits_of_word(k, at, at + n);
    b->nset += ones(m & ~b->w[k]);
    b->w[k] |= m;
  }
}

static void clear_run(Bits *b, int64_t at, int64_t n) {
  for (int64_t k = at / 64; k * 64 < at + n; k++) {
    uint64_t m = bits_of_word(k, at, at + n);
    b->nset -= ones(m & b->w[k]);
    b->w[k] &= ~m;
  }
}

static int64_t count_run(const Bits *b, int64_t at, int64_t n) {
  uint64_t m = short_run(at, n);
  if (m) return ones(b->w[at / 64] & m);
  int64_t set = 0;
  for (int64_t k = at / 64; k * 64 < at + n; k++) set += ones(b->w[k] & bits_of_word(k, at, at + n));
  return set;
}

void bits_set_every(Bits *b, int64_t at, int64_t n, IrDim every) {
  if (b->state == BITS_ALL || n <= 0) return;
  if (n == b->n) {
    b->state = BITS_ALL;
    return;
  }
  materialise(b);
  for (int64_t i = 0; i < every.count; i++) set_run(b, at + i * every.stride, n);
  normalise(b);
}

void bits_clear_every(Bits *b, int64_t at, int64_t n, IrDim every) {
  if (b->state == BITS_NONE || n <= 0) return;
  if (n == b->n) {
    b->state = BITS_NONE;
    return;
  }
  materialise(b);
  for (int64_t i = 0; i < every.count; i++) clear_run(b, at + i * every.stride, n);
  normalise(b);
}

int64_t bits_count_every(const Bits *b, int64_t at, int64_t n, IrDim every) {
  if (n <= 0) return 0;
  if (b->state != BITS_SOME) return b->state == BITS_ALL ? n * every.count : 0;
  int64_t set = 0;
  for (int64_t i = 0; i < every.count; i++) set += count_run(b, at + i * every.stride, n);
  return set;
}

bool bits_test(const Bits *b, int64_t at) {
  if (b->state != BITS_SOME) return b->state == BITS_ALL;
  return b->w[at / 64] >> (at % 64) & 1;
}
