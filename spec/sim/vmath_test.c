/* vmath_test.c -- spec/sim: row kernels: the same bytes on every instruction set and length, values at the edges. */
#include "vmath.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif
/* cmocka wants the above first */
#include <cmocka.h>

#include "vmath_support.h"

enum { N = 75, MAX = 4096 };

/* Runs in a child: the choice is made once per process. */
static int isa_in_child(const char *asked) {
  pid_t pid = fork();
  if (pid == 0) {
    setenv("NKILUA_ISA", asked, 1);
    const char *got = vm_isa_chosen()->name;
    _exit(!strcmp(got, "generic") ? 1 : !strcmp(got, "avx2") ? 2 : !strcmp(got, "avx512") ? 3 : 4);
  }
  int status = 0;
  assert_true(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
  return WEXITSTATUS(status);
}
static void isa_can_be_lowered(void **state) {
  (void)state;
  int best = vm_isa_named("avx512") ? 3 : vm_isa_named("avx2") ? 2 : 1;
  assert_int_equal(isa_in_child("generic"), 1);
  assert_int_equal(isa_in_child("avx2"), best < 2 ? best : 2);
  assert_int_equal(isa_in_child("avx512"), best);
  assert_int_equal(isa_in_child("nonsense"), best);
  assert_null(vm_isa_named("nonsense"));
}

/* ---- every table against the generic one, and every length against one element at a time ---- */
static void binary_rows(const VmIsa *t, const float *a, const float *b) {
  float want[N], got[N + 1];
  for (int op = 0; op < VM_binary_count; op++) {
    for (int i = 0; i < N; i++) vm_generic.vv[op](a + i, b + i, want + i, 1);
    for (int64_t n = 0; n <= N; n++) {
      got[n] = 77.0f;
      t->vv[op](a, b, got, n);
      same(want, got, n, t->name, op);
      assert_true(got[n] == 77.0f);
    }
    memcpy(got, a, sizeof want);
    t->vv[op](got, b, got, N);
    same(want, got, N, "in place", op);
    memcpy(got, b, sizeof want);
    t->vv[op](a, got, got, N);
    same(want, got, N, "in place of b", op);
    for (int i = 0; i < N; i++) {
      float one = b[i];
      t->vs[op](a, one, got, N - i % 40);
      for (int j = 0; j < N - i % 40; j += 7) {
        vm_generic.vv[op](a + j, &one, want, 1);
        same(want, got + j, 1, "row op scalar", op);
      }
      t->sv[op](one, a, got, N - i % 40);
      for (int j = 0; j < N - i % 40; j += 7) {
        vm_generic.vv[op](&one, a + j, want, 1);
        same(want, got + j, 1, "scalar op row", op);
      }
    }
  }
}
static void unary_rows(const VmIsa *t, const float *a) {
  float want[N], got[N + 1];
  const VmActArg arg = {-1.25f, 0.75f, 0.3f, 0.0f};
  for (int op = VM_binary_count; op < VM_op_count; op++) {
    for (int i = 0; i < N; i++) vm_generic.unary[op](a + i, want + i, 1);
    for (int64_t n = 0; n <= N; n++) {
      got[n] = 77.0f;
      t->unary[op](a, got, n);
      same(want, got, n, t->name, op);
      assert_true(got[n] == 77.0f);
    }
  }
  for (int f = 0; f < VA_count; f++) {
    for (int i = 0; i < N; i++) vm_generic.act[f](&arg, a + i, want + i, 1);
    for (int64_t n = 0; n <= N; n++) {
      memcpy(got, a, (size_t)n * sizeof *a);
      got[n] = 77.0f;
      t->act[f](&arg, got, got, n);
      same(want, got, n, t->name, 1000 + f);
      assert_true(got[n] == 77.0f);
    }
  }
}
static void same_bytes_everywhere(void **state) {
  (void)state;
  float a[N + 3], b[N + 3];
  const VmIsa *t;
  for (size_t k = 0; k < 3; k++) {
    if (!(t = isa_at(k))) continue;
    for (uint32_t seed = 1; seed <= 6; seed++) {
      fill(a, N + 3, seed);
      fill(b, N + 3, seed + 100);
      binary_rows(t, a + seed % 3, b + seed % 2);
      unary_rows(t, a + seed % 3);
    }
  }
}
/* All functions over a walk through all floats; the tables agree on each. */
static void same_functions_everywhere(void **state) {
  (void)state;
  static float x[MAX], want[MAX], got[MAX];
  for (uint32_t part = 0, u = 0; part < 8; part++) {
    for (int i = 0; i < MAX; i++, u += 0x1ffd3) x[i] = of(u);
    const VmActArg plain = VM_ACT_PLAIN;
    for (size_t k = 1; k < 3; k++) {
      const VmIsa *t = isa_at(k);
      for (int f = 0; t && f < VA_count; f++) {
        vm_generic.act[f](&plain, x, want, MAX);
        t->act[f](&plain, x, got, MAX);
        same(want, got, MAX, t->name, f);
      }
    }
  }
}

/* ---- values ---- */
typedef struct Case {
  VmOp op;
  float a, b, want;
} Case;
static const Case cases[] = {
    {VM_add, INFINITY, -INFINITY, NAN},
    {VM_add, 0x1p-149f, 0x1p-149f, 0x1p-148f},
    {VM_add, -0.0f, -0.0f, -0.0f},
    {VM_subtract, 1.0f, 3.0f, -2.0f},
    {VM_multiply, INFINITY, 0.0f, NAN},
    {VM_multiply, 0x1p-100f, 0x1p-49f, 0x1p-149f},
    {VM_maximum, -0.0f, 0.0f, 0.0f},
    {VM_maximum, 0.0f, -0.0f, 0.0f},
    {VM_maximum, NAN, 1.0f, NAN},
    {VM_maximum, 1.0f, NAN, NAN},
    {VM_maximum, -INFINITY, 2.0f, 2.0f},
    {VM_minimum, 0.0f, -0.0f, -0.0f},
    {VM_minimum, -0.0f, 0.0f, -0.0f},
    {VM_minimum, NAN, 1.0f, NAN},
    {VM_minimum, 1.0f, NAN, NAN},
    {VM_minimum, 3.0f, 2.0f, 2.0f},
    {VM_equal, NAN, NAN, 0.0f},
    {VM_equal, -0.0f, 0.0f, 1.0f},
    {VM_not_equal, NAN, NAN, 1.0f},
    {VM_not_equal, 2.0f, 2.0f, 0.0f},
    {VM_greater_equal, 2.0f, 2.0f, 1.0f},
    {VM_greater_equal, NAN, 2.0f, 0.0f},
    {VM_greater, 2.0f, 2.0f, 0.0f},
    {VM_greater, 3.0f, 2.0f, 1.0f},
    {VM_less_equal, 2.0f, 2.0f, 1.0f},
    {VM_less_equal, 3.0f, 2.0f, 0.0f},
    {VM_less, 2.0f, 3.0f, 1.0f},
    {VM_less, 3.0f, NAN, 0.0f},
    {VM_logical_and, NAN, 2.0f, 1.0f},
    {VM_logical_and, NAN, -0.0f, 0.0f},
    {VM_logical_or, 0.0f, -0.0f, 0.0f},
    {VM_logical_or, 0.0f, 0x1p-149f, 1.0f},
    {VM_logical_xor, NAN, 5.0f, 0.0f},
    {VM_logical_xor, 0.0f, NAN, 1.0f},
    {VM_power, 0.0f, 0.0f, 1.0f},
    {VM_power, NAN, 0.0f, 1.0f},
    {VM_power, 1.0f, NAN, 1.0f},
    {VM_power, NAN, 1.0f, NAN},
    {VM_power, -2.0f, 3.0f, -8.0f},
    {VM_power, -2.0f, 0.5f, NAN},
    {VM_power, -0.0f, -3.0f, -INFINITY},
    {VM_power, -0.0f, -2.0f, INFINITY},
    {VM_power, -0.0f, 3.0f, -0.0f},
    {VM_power, -1.0f, INFINITY, 1.0f},
    {VM_power, -1.0f, -INFINITY, 1.0f},
    {VM_power, 0.5f, INFINITY, 0.0f},
    {VM_power, 0.5f, -INFINITY, INFINITY},
    {VM_power, 2.0f, -149.0f, 0x1p-149f},
    {VM_power, 2.0f, 128.0f, INFINITY},
    {VM_power, -INFINITY, 3.0f, -INFINITY},
    {VM_power, -INFINITY, -3.0f, -0.0f},
    {VM_power, INFINITY, -1.0f, 0.0f},
    {VM_power, 0x1p-149f, 0.5f, 0x1.6a09e6p-75f},
    {VM_abs_max, -3.0f, 2.0f, -3.0f},
    {VM_abs_max, 2.0f, -2.0f, -2.0f},
    {VM_abs_max, NAN, 1.0f, NAN},
    {VM_abs_max, 1.0f, NAN, NAN},
    {VM_abs_min, -3.0f, 2.0f, 2.0f},
    {VM_abs_min, 2.0f, -2.0f, -2.0f},
    {VM_abs_min, NAN, 1.0f, NAN},
    {VM_divide, 1.0f, 3.0f, 0x1.555556p-2f},
    {VM_divide, -1.0f, 0.0f, -INFINITY},
    {VM_divide, 0.0f, 0.0f, NAN},
    {VM_mod, 5.5f, 2.0f, 1.5f},
    {VM_mod, -5.5f, 2.0f, 0.5f},
    {VM_mod, 5.5f, -2.0f, -0.5f},
    {VM_mod, -4.0f, 2.0f, 0.0f},
    {VM_mod, 4.0f, -2.0f, -0.0f},
    {VM_mod, 1.0f, 0.0f, NAN},
    {VM_mod, 3e38f, 7.0f, 1.0f},
    {VM_mod, -1.0f, INFINITY, INFINITY},
    {VM_fmod, -5.5f, 2.0f, -1.5f},
    {VM_fmod, 5.5f, -2.0f, 1.5f},
    {VM_fmod, -4.0f, 2.0f, -0.0f},
    {VM_fmod, INFINITY, 2.0f, NAN},
    {VM_fmod, 1.0f, INFINITY, 1.0f},
    {VM_logical_not, NAN, 0.0f, 0.0f},
    {VM_logical_not, -0.0f, 0.0f, 1.0f},
    {VM_rsqrt, 4.0f, 0.0f, 0.5f},
    {VM_rsqrt, 0.0f, 0.0f, INFINITY},
    {VM_rsqrt, -1.0f, 0.0f, NAN},
    {VM_reciprocal, -0.0f, 0.0f, -INFINITY},
    {VM_reciprocal, 3.0f, 0.0f, 0x1.555556p-2f},
    {VM_abs, -0.0f, 0.0f, 0.0f},
    {VM_abs, -INFINITY, 0.0f, INFINITY},
    {VM_square, -3.0f, 0.0f, 9.0f},
    {VM_relu, -0.0f, 0.0f, 0.0f},
    {VM_relu, -3.0f, 0.0f, 0.0f},
    {VM_relu, NAN, 0.0f, NAN},
    {VM_relu, 3.0f, 0.0f, 3.0f},
    {VM_bypass, -0.0f, 0.0f, -0.0f},
};
/* 3e38 in f32 modulo 7, computed in integers: the mantissa times 2^104. */
static float big_mod_7(void) {
  uint32_t r = (bits(3e38f) & 0x7fffff) | 0x800000;
  for (int i = (int)(bits(3e38f) >> 23) - 150; i > 0; i--) r = r % 7 * 2;
  return (float)(r % 7);
}
static void values(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    const Case *c = &cases[i];
    float want = c->op == VM_mod && c->a == 3e38f ? big_mod_7() : c->want;
    if (isnan(want)) want = of(0x7fc00000);
    float got = vm_op(c->op, c->a, c->b);
    if (bits(got) != bits(want))
      fail_msg("case %zu: %a op %a gave %a, want %a", i, (double)c->a, (double)c->b, (double)got, (double)want);
  }
  assert_int_equal(bits(vm_op(VM_add, of(0xffc12345), 1.0f)), 0x7fc00000);
}
static void power_is_accurate(void **state) {
  (void)state;
  uint32_t seed = 7;
  for (int i = 0; i < 200000; i++) {
    float a = of(next(&seed) >> 1), b = ((float)(next(&seed) >> 8) - 0x1p23f) * (i % 2 ? 0x1p-21f : 0x1p-17f);
    if (isnan(a)) continue;
    double want = pow(a, b);
    float got = vm_op(VM_power, a, b);
    int e;
    frexp(want, &e);
    if (fabs(want) > 0x1.fffffep127) {
      assert_true(got == INFINITY || (got == 0x1.fffffep127f && want < 0x1.000001p128));
    } else if (fabs(got - want) > ldexp(1.0, (e < -125 ? -125 : e) - 24)) {
      fail_msg("%a ^ %a gave %a, want %a", (double)a, (double)b, (double)got, want);
    }
  }
}

/* ---- the FP environment ---- */
static void environment(void **state) {
  (void)state;
#if defined(__x86_64__)
  unsigned before = _mm_getcsr();
  _mm_setcsr(0x1f80 | 0x8040 | 0x2000); /* flush to zero, denormals are zero, round down */
  FpEnv saved;
  fp_enter(&saved);
  float sum = vm_op(VM_add, 0x1p-149f, 0x1p-149f), up = vm_op(VM_divide, 2.0f, 3.0f);
  assert_int_equal(_mm_getcsr() & 0xffc0, 0x1f80);
  fp_leave(&saved);
  unsigned left = _mm_getcsr();
  _mm_setcsr(before);
  assert_int_equal(left, 0x1f80 | 0x8040 | 0x2000);
  assert_true(sum == 0x1p-148f && up == 0x1.555556p-1f);
#else
  skip();
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(isa_can_be_lowered), /* first: nothing may have chosen yet */
      cmocka_unit_test(same_bytes_everywhere),
      cmocka_unit_test(same_functions_everywhere),
      cmocka_unit_test(values),
      cmocka_unit_test(power_is_accurate),
      cmocka_unit_test(environment),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
