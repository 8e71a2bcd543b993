/* turn.c -- room sim: copies whose source runs across memory: in square blocks, so that a cache line is used whole. */
#include <string.h>

#include "exec.h"

enum { SIDE = 16 };

#define TURN(T)                                                                      \
  for (int64_t r = 0; r < rows; r += SIDE)                                           \
    for (int64_t c = 0; c < cols; c += SIDE)                                         \
      for (int64_t i = r; i < rows && i < r + SIDE; i++) {                           \
        const T *from = (const T *)(const void *)src->p + i * src->pstride;          \
        T *to = (T *)(void *)dst->p + i * dst->pstride;                              \
        for (int64_t j = c; j < cols && j < c + SIDE; j++) to[j] = from[j * across]; \
      }

bool copy_turned(Sim *s, const Acc *dst, const Acc *src) {
  if (dst->dt != src->dt || !acc_row_run(dst) || src->nf != 1 || dst->parts != src->parts)
    return copy_tile(s, dst, src);
  int64_t rows = dst->parts, cols = dst->free, across = src->f[0].stride;
  BY_BYTES(dst->bytes, TURN);
  return true;
}
