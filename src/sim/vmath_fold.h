/* vmath_fold.h -- room sim: reductions of a row, and integer rows. Included once per instruction set. */
#ifndef NK_SIM_VMATH_FOLD_H
#define NK_SIM_VMATH_FOLD_H
#include "vmath_isa.h"
#include "vmath_simd.h"

/* The order of every fold: LANES partial results whatever the vector width, then halves. */
#define LANES 32
#define VECS (LANES / VL)

/* step(acc, x) takes in one vector, join(acc, acc) two partial results. A short end is filled up with `unit`, which
   changes no partial result. */
#define FOLD(id, unit, step, join)                                               \
  static float fold_##id(const float *a, int64_t n) {                            \
    vf acc[VECS];                                                                \
    float lane[LANES];                                                           \
    for (int j = 0; j < VECS; j++) acc[j] = v_set(unit);                         \
    for (; n >= LANES; n -= LANES, a += LANES)                                   \
      for (int j = 0; j < VECS; j++) acc[j] = step(acc[j], v_ld(a + j * VL));    \
    if (n > 0) {                                                                 \
      for (int j = 0; j < LANES; j++) lane[j] = j < n ? a[j] : (unit);           \
      for (int j = 0; j < VECS; j++) acc[j] = step(acc[j], v_ld(lane + j * VL)); \
    }                                                                            \
    for (int h = VECS / 2; h > 0; h /= 2)                                        \
      for (int j = 0; j < h; j++) acc[j] = join(acc[j], acc[j + h]);             \
    for (int h = VL / 2; h > 0; h /= 2) {                                        \
      v_st(lane, acc[0]);                                                        \
      memcpy(lane + VL, lane + h, (size_t)h * sizeof *lane);                     \
      acc[0] = join(acc[0], v_ld_part(lane + VL, h));                            \
    }                                                                            \
    return acc[0][0];                                                            \
  }
static inline vf step_add(vf acc, vf x) { return acc + x; }
static inline vf step_mul(vf acc, vf x) { return acc * x; }
static inline vf step_square(vf acc, vf x) { return acc + x * x; }
static inline vf step_max_abs(vf acc, vf x) { return v_max(acc, v_abs(x)); }
static inline vf step_min_abs(vf acc, vf x) { return v_min(acc, v_abs(x)); }
FOLD(add, 0.0f, step_add, step_add)
FOLD(multiply, 1.0f, step_mul, step_mul)
FOLD(sum_squares, 0.0f, step_square, step_add)
FOLD(maximum, -INFINITY, v_max, v_max)
FOLD(minimum, INFINITY, v_min, v_min)
FOLD(max_abs, 0.0f, step_max_abs, v_max)
FOLD(min_abs, INFINITY, step_min_abs, v_min)

static float canon(float x) { return x != x ? v_nan()[0] : x; }
static float max_of(float a, float b) { return v_max(v_set(a), v_set(b))[0]; }
static float min_of(float a, float b) { return v_min(v_set(a), v_set(b))[0]; }

/* The last of the elements of magnitude m, else init. */
static float last_of(const float *a, int64_t n, float m, float init) {
  if (m != m) return v_nan()[0];
  while (n > 0)
    if (fabsf(a[--n]) == m) return a[n];
  return init;
}
static int64_t count_true(const float *a, int64_t n, float init) {
  int64_t count = init != 0.0f, i = 0;
  for (; i + VL <= n; i += VL) count += __builtin_popcount(v_bits(v_true(v_ld(a + i))));
  if (i < n) count += __builtin_popcount(v_bits(v_true(v_ld_part(a + i, n - i))));
  return count;
}

static float reduce_add(const float *a, int64_t n, float init) { return canon(init + fold_add(a, n)); }
static float reduce_multiply(const float *a, int64_t n, float init) { return canon(init * fold_multiply(a, n)); }
static float reduce_sum_squares(const float *a, int64_t n, float init) { return canon(init + fold_sum_squares(a, n)); }
static float reduce_maximum(const float *a, int64_t n, float init) { return max_of(init, fold_maximum(a, n)); }
static float reduce_minimum(const float *a, int64_t n, float init) { return min_of(init, fold_minimum(a, n)); }
static float reduce_abs_max(const float *a, int64_t n, float init) {
  return last_of(a, n, max_of(fold_max_abs(a, n), fabsf(init)), init);
}
static float reduce_abs_min(const float *a, int64_t n, float init) {
  return last_of(a, n, min_of(fold_min_abs(a, n), fabsf(init)), init);
}
static float reduce_logical_and(const float *a, int64_t n, float init) { return count_true(a, n, init) == n + 1; }
static float reduce_logical_or(const float *a, int64_t n, float init) { return count_true(a, n, init) > 0; }
static float reduce_logical_xor(const float *a, int64_t n, float init) { return count_true(a, n, init) & 1; }

/* ---- integer rows ---- */
#define BIT(id, expr)                                                                                \
  static inline uint32_t bit_##id(uint32_t a, uint32_t b, uint32_t width) {                          \
    (void)a, (void)b, (void)width;                                                                   \
    return expr;                                                                                     \
  }                                                                                                  \
  static inline uint8_t bit8_##id(uint32_t a, uint32_t b) { return (uint8_t)bit_##id(a, b, 8); }     \
  static inline uint16_t bit16_##id(uint32_t a, uint32_t b) { return (uint16_t)bit_##id(a, b, 16); } \
  static inline uint32_t bit32_##id(uint32_t a, uint32_t b) { return bit_##id(a, b, 32); }
#include "vmath.def"
#define INTOP(id, expr)                                                                                        \
  static inline uint32_t int_##id(uint32_t a, uint32_t b, int lt) {                                            \
    (void)a, (void)b, (void)lt;                                                                                \
    return (uint32_t)(expr);                                                                                   \
  }                                                                                                            \
  static inline uint32_t sint_##id(uint32_t a, uint32_t b) { return int_##id(a, b, (int32_t)a < (int32_t)b); } \
  static inline uint32_t uint_##id(uint32_t a, uint32_t b) { return int_##id(a, b, a < b); }
#include "vmath.def"

/* One loop per form of the operands, so that the compiler can make vectors of each. */
#define INT_LOOPS(T, f)                                     \
  do {                                                      \
    const T *a = job->a.p, *b = job->b.p;                   \
    T *d = dst;                                             \
    const T a0 = *a, b0 = *b;                               \
    if (job->a.one && job->b.one) {                         \
      for (int64_t i = 0; i < n; i++) d[i] = f(a0, b0);     \
    } else if (job->a.one) {                                \
      for (int64_t i = 0; i < n; i++) d[i] = f(a0, b[i]);   \
    } else if (job->b.one) {                                \
      for (int64_t i = 0; i < n; i++) d[i] = f(a[i], b0);   \
    } else {                                                \
      for (int64_t i = 0; i < n; i++) d[i] = f(a[i], b[i]); \
    }                                                       \
  } while (0)

static void bits_8(const VmBits *job, void *dst, int64_t n) {
  switch (job->op) {
#define BIT(id, expr)              \
  case VB_##id:                    \
    INT_LOOPS(uint8_t, bit8_##id); \
    break;
#include "vmath.def"
    case VB_count:
      break;
  }
}
static void bits_16(const VmBits *job, void *dst, int64_t n) {
  switch (job->op) {
#define BIT(id, expr)                \
  case VB_##id:                      \
    INT_LOOPS(uint16_t, bit16_##id); \
    break;
#include "vmath.def"
    case VB_count:
      break;
  }
}
static void bits_32(const VmBits *job, void *dst, int64_t n) {
  switch (job->op) {
#define BIT(id, expr)                \
  case VB_##id:                      \
    INT_LOOPS(uint32_t, bit32_##id); \
    break;
#include "vmath.def"
    case VB_count:
      break;
  }
}
static void bits_row(const VmBits *job, void *dst, int64_t n) {
  if (job->bytes == 1) {
    bits_8(job, dst, n);
  } else if (job->bytes == 2) {
    bits_16(job, dst, n);
  } else {
    bits_32(job, dst, n);
  }
}

static void ints_signed(const VmInts *job, uint32_t *dst, int64_t n) {
  switch (job->op) {
#define INTOP(id, expr)             \
  case VI_##id:                     \
    INT_LOOPS(uint32_t, sint_##id); \
    break;
#include "vmath.def"
    case VI_count:
      break;
  }
}
static void ints_unsigned(const VmInts *job, uint32_t *dst, int64_t n) {
  switch (job->op) {
#define INTOP(id, expr)             \
  case VI_##id:                     \
    INT_LOOPS(uint32_t, uint_##id); \
    break;
#include "vmath.def"
    case VI_count:
      break;
  }
}
static void ints_row(const VmInts *job, uint32_t *dst, int64_t n) {
  if (job->is_signed) {
    ints_signed(job, dst, n);
  } else {
    ints_unsigned(job, dst, n);
  }
}
#endif
