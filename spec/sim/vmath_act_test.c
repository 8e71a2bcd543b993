/* vmath_act_test.c -- spec/sim: activations: accuracy against libm in f64, limits, scale and bias. */
#include "vmath.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the above first */
#include <cmocka.h>

#include "vmath_support.h"

enum { MAX = 4096 };

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double gate(VmAct f, double x) {
  double s = sigmoid(x), k = sigmoid(1.702 * x), normal = 0.5 * erfc(-x * M_SQRT1_2);
  switch (f) {
    case VA_gelu:
      return x * normal;
    case VA_gelu_dx:
      return normal + x * exp(-0.5 * x * x) / sqrt(2 * M_PI);
    case VA_gelu_apprx_tanh:
      return x * sigmoid(2 * sqrt(2 / M_PI) * (x + 0.044715 * x * x * x));
    case VA_gelu_apprx_sigmoid:
      return x * k;
    case VA_gelu_apprx_sigmoid_dx:
      return k + 1.702 * x * k * sigmoid(-1.702 * x);
    case VA_silu:
      return x * s;
    case VA_silu_dx:
      return s + x * s * sigmoid(-x);
    case VA_softplus:
      return (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
    case VA_mish:
      return x * tanh(log1p(exp(x)));
    default:
      fail_msg("no reference for activation %d", f);
  }
  return 0;
}
static double reference(VmAct f, double x) {
  switch (f) {
    case VA_copy:
      return x;
    case VA_square:
      return x * x;
    case VA_relu:
      return x > 0 ? x : 0;
    case VA_prelu:
      return x > 0 ? x : 0.25 * x;
    case VA_sigmoid:
      return sigmoid(x);
    case VA_tanh:
      return tanh(x);
    case VA_exp:
      return exp(x);
    case VA_log:
      return log(x);
    case VA_sqrt:
      return sqrt(x);
    case VA_rsqrt:
      return 1 / sqrt(x);
    case VA_reciprocal:
      return 1 / x;
    case VA_sin:
      return sin(x);
    case VA_cos:
      return cos(x);
    case VA_tan:
      return tan(x);
    case VA_arctan:
      return atan(x);
    case VA_abs:
      return fabs(x);
    case VA_sign:
      return (x > 0) - (x < 0);
    case VA_erf:
      return erf(x);
    case VA_erf_dx:
      return M_2_SQRTPI * exp(-x * x);
    case VA_ceil:
      return ceil(x);
    case VA_floor:
      return floor(x);
    case VA_trunc:
      return trunc(x);
    default:
      return gate(f, x);
  }
}
/* Within 1.6 ulp of f32; a derivative that crosses zero, there within 2e-10. */
static void activations_are_accurate(void **state) {
  (void)state;
  static float x[MAX], y[MAX];
  const VmActArg arg = {1.0f, -0.0f, 0.25f, 0.0f};
  for (int part = 0; part < 6; part++) {
    uint32_t seed = (uint32_t)part;
    for (int i = 0; i < MAX; i++) x[i] = ldexpf((float)(int32_t)next(&seed), -28 - 3 * (part % 4) + (part > 3 ? 4 : 0));
    for (int f = 0; f < VA_count; f++) {
      vm_act((VmAct)f, &arg, x, y, MAX);
      for (int i = 0; i < MAX; i++) {
        double want = reference((VmAct)f, x[i]);
        double zero = f == VA_gelu_dx || f == VA_silu_dx || f == VA_gelu_apprx_sigmoid_dx ? 2e-10 : 0.0;
        int e;
        frexp(want, &e);
        if (isnan(want) || fabs(want) > 3.4e38
                ? (isnan(want) ? bits(y[i]) != 0x7fc00000 : y[i] != (float)want)
                : fabs(y[i] - want) > 1.6 * ldexp(1.0, (e < -125 ? -125 : e) - 24) + zero)
          fail_msg("activation %d of %a gave %a, want %a", f, (double)x[i], (double)y[i], want);
      }
    }
  }
}

typedef struct Limit {
  VmAct f;
  float x, want;
} Limit;
static const Limit limits[] = {
    {VA_sigmoid, -100.0f, 0x1.bp-145f},
    {VA_sigmoid, -INFINITY, 0.0f},
    {VA_sigmoid, INFINITY, 1.0f},
    {VA_tanh, INFINITY, 1.0f},
    {VA_tanh, -INFINITY, -1.0f},
    {VA_tanh, -0.0f, -0.0f},
    {VA_tanh, 0x1p-149f, 0x1p-149f},
    {VA_exp, -INFINITY, 0.0f},
    {VA_exp, 89.0f, INFINITY},
    {VA_exp, 0.0f, 1.0f},
    {VA_log, 0.0f, -INFINITY},
    {VA_log, -1.0f, NAN},
    {VA_log, 1.0f, 0.0f},
    {VA_sqrt, -0.0f, -0.0f},
    {VA_sqrt, -1.0f, NAN},
    {VA_rsqrt, 0.0f, INFINITY},
    {VA_rsqrt, INFINITY, 0.0f},
    {VA_sin, INFINITY, NAN},
    {VA_sin, -0.0f, -0.0f},
    {VA_cos, 0.0f, 1.0f},
    {VA_arctan, INFINITY, 0x1.921fb6p0f},
    {VA_sign, -0.0f, 0.0f},
    {VA_sign, -INFINITY, -1.0f},
    {VA_sign, 0x1p-149f, 1.0f},
    {VA_gelu, -INFINITY, -0.0f},
    {VA_gelu, INFINITY, INFINITY},
    {VA_gelu, -3e38f, -0.0f},
    {VA_gelu, -0.0f, -0.0f},
    {VA_gelu_dx, INFINITY, 1.0f},
    {VA_gelu_dx, -INFINITY, -0.0f},
    {VA_gelu_dx, 0.0f, 0.5f},
    {VA_gelu_apprx_tanh, -INFINITY, -0.0f},
    {VA_gelu_apprx_tanh, 3e38f, 3e38f},
    {VA_gelu_apprx_sigmoid, -INFINITY, -0.0f},
    {VA_gelu_apprx_sigmoid_dx, INFINITY, 1.0f},
    {VA_silu, -INFINITY, -0.0f},
    {VA_silu, INFINITY, INFINITY},
    {VA_silu, 0.0f, 0.0f},
    {VA_silu_dx, INFINITY, 1.0f},
    {VA_silu_dx, 0.0f, 0.5f},
    {VA_softplus, 100.0f, 100.0f},
    {VA_softplus, -INFINITY, 0.0f},
    {VA_softplus, INFINITY, INFINITY},
    {VA_softplus, -100.0f, 0x1.bp-145f},
    {VA_mish, -INFINITY, -0.0f},
    {VA_mish, INFINITY, INFINITY},
    {VA_mish, 1000.0f, 1000.0f},
    {VA_erf, INFINITY, 1.0f},
    {VA_erf, -INFINITY, -1.0f},
    {VA_erf, -0.0f, -0.0f},
    {VA_erf_dx, INFINITY, 0.0f},
    {VA_floor, -0.5f, -1.0f},
    {VA_floor, -0.0f, -0.0f},
    {VA_ceil, -0.5f, -0.0f},
    {VA_ceil, 8388607.5f, 8388608.0f},
    {VA_trunc, -1.5f, -1.0f},
    {VA_floor, -3e38f, -3e38f},
    {VA_relu, -0.0f, 0.0f},
    {VA_abs, -0.0f, 0.0f},
    {VA_reciprocal, -INFINITY, -0.0f},
};
static void activation_limits(void **state) {
  (void)state;
  const VmActArg plain = VM_ACT_PLAIN;
  for (size_t i = 0; i < COUNT(limits); i++) {
    float want = isnan(limits[i].want) ? of(0x7fc00000) : limits[i].want, got;
    vm_act(limits[i].f, &plain, &limits[i].x, &got, 1);
    if (bits(got) != bits(want))
      fail_msg("limit %zu: f(%a) gave %a, want %a", i, (double)limits[i].x, (double)got, (double)want);
  }
  for (int f = 0; f < VA_count; f++) {
    float got, nan = of(0xffc01234);
    vm_act((VmAct)f, &plain, &nan, &got, 1);
    assert_int_equal(bits(got), 0x7fc00000);
  }
}
/* scale and bias: two roundings, and -0.0 alone is no bias. */
static void scale_and_bias(void **state) {
  (void)state;
  const float x[3] = {0x1.000002p0f, -0.0f, 3.0f};
  float y[3];
  vm_act(VA_copy, &(VmActArg){0x1.000002p0f, -0x1.000004p0f, 0.0f, 0.0f}, x, y, 3);
  assert_true(y[0] == 0.0f); /* with one rounding it would be 2^-46 */
  vm_act(VA_copy, &VM_ACT_PLAIN, x, y, 3);
  assert_memory_equal(x, y, sizeof x);
  vm_act(VA_copy, &(VmActArg){1.0f, 0.0f, 0.0f, 0.0f}, x, y, 3);
  assert_int_equal(bits(y[1]), 0);
  VmActArg arg = {2.0f, 1.0f, 0.0f, 100.0f};
  assert_true(vm_act_sum(VA_copy, &arg, x + 2, y, 1) == 107.0f && y[0] == 7.0f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(activations_are_accurate),
      cmocka_unit_test(activation_limits),
      cmocka_unit_test(scale_and_bias),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
