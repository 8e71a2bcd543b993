/* sat.h -- room ir: private; sums and products that stop at the largest int64. */
#ifndef NK_SAT_H
#define NK_SAT_H
#include <stdint.h>

static inline int64_t mul_sat(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_mul_overflow(a, b, &r) ? INT64_MAX : r;
}
static inline int64_t add_sat(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_add_overflow(a, b, &r) ? INT64_MAX : r;
}
#endif
