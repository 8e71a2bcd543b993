/* vmath_fold.h -- reductions of a row, and integer rows. Included once per instruction set. */
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
#define BIT(id, expr)                                                        \
  static inline uint32_t bit_##id(uint32_t a, uint32_t b, uint32_t width) {  \
    (void)a, (void)b, (void)width;                                           \
    return expr;                                                             \
  }
#include "vmath.def"
#define INTOP(id, expr)                                              \
  static inline uint32_t int_##id(uint32_t a, uint32_t b, int lt) {  \
    (void)a, (void)b, (void)lt;                                      \
    return (uint32_t)(expr);                                         \
  }
#include "vmath.def"

/* One loop per operand form, so that the compiler sees steps of 0 and 1 and makes vectors of them. */
#define INT_LOOPS(T, f)                                                 \
  do {                                                                  \
    const T *a = ra.p, *b = rb.p;                                       \
    T *d = dst;                                                         \
    if (ra.one) {                                                       \
      const T s = *a;                                                   \
      for (int64_t i = 0; i < n; i++) d[i] = (T)f(s, b[rb.one ? 0 : i]); \
    } else if (rb.one) {                                                \
      const T s = *b;                                                   \
      for (int64_t i = 0; i < n; i++) d[i] = (T)f(a[i], s);             \
    } else {                                                            \
      for (int64_t i = 0; i < n; i++) d[i] = (T)f(a[i], b[i]);          \
    }                                                                   \
  } while (0)
#define BITS_ROW(T, w)                                                       \
  static void bits_##T(VmBit op, VmIn ra, VmIn rb, void *dst, int64_t n) {   \
    switch (op) {                                                            \
      BITS_CASES(T, w)                                                       \
      case VB_count: break;                                                  \
    }                                                                        \
  }
#define BIT_CASE(T, w, id)                         \
  case VB_##id: {                                  \
    INT_LOOPS(T, BIT_FN_##w(id)); \
    break;                                         \
  }
#endif
