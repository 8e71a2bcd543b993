/* vmath_rows.h -- room sim: element-wise row kernels, generated from vmath.def. Included once per instruction set. */
#ifndef NK_SIM_VMATH_ROWS_H
#define NK_SIM_VMATH_ROWS_H
#include "vmath_isa.h"
#include "vmath_math.h"

/* Operands of a last partial vector are filled up with zeros; what those lanes give is not stored. */
#define ROW_LOOP(full, part)           \
  do {                                 \
    int64_t i = 0;                     \
    for (; i + VL <= n; i += VL) full; \
    if (i < n) part;                   \
  } while (0)

#define BINARY(id, expr)                                                                                              \
  static inline vf op_##id(vf a, vf b) { return expr; }                                                               \
  static void vv_##id(const float *a, const float *b, float *dst, int64_t n) {                                        \
    ROW_LOOP(v_st(dst + i, op_##id(v_ld(a + i), v_ld(b + i))),                                                        \
             v_st_part(dst + i, op_##id(v_ld_part(a + i, n - i), v_ld_part(b + i, n - i)), n - i));                   \
  }                                                                                                                   \
  static void vs_##id(const float *a, float s, float *dst, int64_t n) {                                               \
    vf b = v_set(s);                                                                                                  \
    ROW_LOOP(v_st(dst + i, op_##id(v_ld(a + i), b)), v_st_part(dst + i, op_##id(v_ld_part(a + i, n - i), b), n - i)); \
  }                                                                                                                   \
  static void sv_##id(float s, const float *b, float *dst, int64_t n) {                                               \
    vf a = v_set(s);                                                                                                  \
    ROW_LOOP(v_st(dst + i, op_##id(a, v_ld(b + i))), v_st_part(dst + i, op_##id(a, v_ld_part(b + i, n - i)), n - i)); \
  }
#include "vmath.def"

#define UNARY(id, expr)                                                                                         \
  static inline vf un_##id(vf a) { return expr; }                                                               \
  static void v_##id##_row(const float *a, float *dst, int64_t n) {                                             \
    ROW_LOOP(v_st(dst + i, un_##id(v_ld(a + i))), v_st_part(dst + i, un_##id(v_ld_part(a + i, n - i)), n - i)); \
  }
#include "vmath.def"

/* No function below has a value for NaN, so one test of argument and result makes both NaN canonical. */
#define ACT(id, expr)                                                                       \
  static inline vf act_##id(vf x, vf alpha) {                                               \
    (void)alpha;                                                                            \
    vf y = expr;                                                                            \
    return v_sel(v_unord(x, y), v_nan(), y);                                                \
  }                                                                                         \
  static void act_row_##id(const VmActArg *arg, const float *x, float *dst, int64_t n) {    \
    vf scale = v_set(arg->scale), bias = v_set(arg->bias), alpha = v_set(arg->alpha);       \
    for (int64_t i = 0; i < n; i += VL) {                                                   \
      if (n - i >= VL) {                                                                    \
        v_st(dst + i, act_##id(v_ld(x + i) * scale + bias, alpha));                         \
      } else {                                                                              \
        v_st_part(dst + i, act_##id(v_ld_part(x + i, n - i) * scale + bias, alpha), n - i); \
      }                                                                                     \
    }                                                                                       \
  }
#include "vmath.def"
#endif
