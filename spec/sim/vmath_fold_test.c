/* vmath_fold_test.c -- spec/sim: reductions in their fixed order, recurrences, integer rows. */
#include "vmath.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the above first */
#include <cmocka.h>

#include "vmath_support.h"

enum { N = 75 };

/* ---- reductions ---- */
static float slow_sum(const float *a, int64_t n, float init, bool squares) {
  float lane[32] = {0};
  for (int64_t i = 0; i < n; i++) lane[i % 32] += squares ? a[i] * a[i] : a[i];
  for (int h = 16; h > 0; h /= 2)
    for (int j = 0; j < h; j++) lane[j] += lane[j + h];
  return init + lane[0];
}
static float slow_fold(VmReduce op, const float *a, int64_t n, float init) {
  if (op == VR_add || op == VR_sum_squares) return slow_sum(a, n, init, op == VR_sum_squares);
  if (op == VR_multiply) {
    float lane[32];
    for (int j = 0; j < 32; j++) lane[j] = 1.0f;
    for (int64_t i = 0; i < n; i++) lane[i % 32] *= a[i];
    for (int h = 16; h > 0; h /= 2)
      for (int j = 0; j < h; j++) lane[j] *= lane[j + h];
    return init * lane[0];
  }
  static const VmOp step[VR_count] = {
      [VR_maximum] = VM_maximum,         [VR_minimum] = VM_minimum,         [VR_abs_max] = VM_abs_max,
      [VR_abs_min] = VM_abs_min,         [VR_logical_and] = VM_logical_and, [VR_logical_or] = VM_logical_or,
      [VR_logical_xor] = VM_logical_xor,
  };
  if (n == 0 && op >= VR_logical_and) return init != 0.0f;
  for (int64_t i = 0; i < n; i++) init = vm_op(step[op], init, a[i]);
  return init;
}
static void reductions(void **state) {
  (void)state;
  float a[200];
  for (size_t k = 0; k < 3; k++) {
    const VmIsa *t = isa_at(k);
    for (uint32_t seed = 0; t && seed < 40; seed++) {
      fill(a, 200, seed);
      if (seed % 4) /* without NaN and inf, sometimes with ties of either sign */
        for (int i = 0; i < 200; i++) a[i] = isfinite(a[i]) && fabsf(a[i]) < 9.0f ? a[i] : (float)(i % 5) - 2.0f;
      if (seed % 4 == 1)
        for (int i = 0; i < 200; i++) a[i] = i % 3 ? -0.0f : 0.0f * (float)(i - 100);
      for (int op = 0; op < VR_count; op++)
        for (int64_t n = 0; n <= 200; n += n < 70 ? 1 : 13) {
          static const float inits[4] = {0.0f, 1.0f, -2.0f, -INFINITY};
          float want = slow_fold((VmReduce)op, a, n, inits[seed / 10]), got = t->reduce[op](a, n, inits[seed / 10]);
          if (isnan(want)) want = of(0x7fc00000);
          if (bits(got) != bits(want))
            fail_msg("%s, reduction %d, %d elements, seed %u: %a, want %a", t->name, op, (int)n, seed, (double)got,
                     (double)want);
        }
    }
  }
  const float none[1] = {0};
  assert_true(vm_reduce(VR_maximum, none, 0, -INFINITY) == -INFINITY &&
              vm_reduce(VR_minimum, none, 0, INFINITY) == INFINITY);
}

/* ---- scans ---- */
static void scans(void **state) {
  (void)state;
  const float a[4] = {2.0f, 3.0f, -1.0f, 0.5f}, b[4] = {1.0f, 1.0f, 4.0f, -2.0f};
  float y[4];
  assert_true(vm_cumulate(VM_subtract, a, 1.0f, y, 4) == 3.5f);
  assert_true(y[0] == 1.0f && y[1] == 2.0f && y[2] == -3.0f && y[3] == 3.5f);
  VmScan s = {VM_multiply, VM_add, false, false, 1.0f};
  assert_true(vm_scan(&s, a, b, y, 4) == -5.0f);
  assert_true(y[0] == 3.0f && y[1] == 10.0f && y[2] == -6.0f);
  s = (VmScan){VM_subtract, VM_divide, true, true, 1.0f};
  vm_scan(&s, a, b, y, 4); /* r = b / (r - a) */
  assert_true(y[0] == -1.0f && y[1] == -0.25f && y[2] == 4.0f / 0.75f);
  s = (VmScan){VM_subtract, VM_divide, false, false, 1.0f};
  vm_scan(&s, a, b, y, 4); /* r = (a - r) / b */
  assert_true(y[0] == 1.0f && y[1] == 2.0f && y[2] == -0.75f && y[3] == -0.625f);
  s = (VmScan){VM_subtract, VM_divide, true, false, 1.0f};
  vm_scan(&s, a, b, y, 4); /* r = (r - a) / b */
  assert_true(y[0] == -1.0f && y[1] == -4.0f && y[2] == -0.75f && y[3] == 0.625f);
}

/* Sums and products, with a NaN that gets its one form on the way. */
static void scans_of_sums_and_products(void **state) {
  (void)state;
  const float a[4] = {2.0f, 3.0f, -1.0f, 0.5f}, b[4] = {1.0f, 1.0f, 4.0f, -2.0f};
  const struct {
    VmOp op0, op1;
    float want[4];
  } rows[] = {{VM_add, VM_add, {4.0f, 8.0f, 11.0f, 9.5f}},
              {VM_add, VM_multiply, {3.0f, 6.0f, 20.0f, -41.0f}},
              {VM_multiply, VM_add, {3.0f, 10.0f, -6.0f, -5.0f}},
              {VM_multiply, VM_multiply, {2.0f, 6.0f, -24.0f, 24.0f}}};
  uint32_t bits;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    for (int reverse = 0; reverse < 2; reverse++) {
      VmScan s = {rows[k].op0, rows[k].op1, reverse, !reverse, 1.0f};
      float y[4];
      assert_true(vm_scan(&s, a, b, y, 4) == rows[k].want[3]);
      assert_memory_equal(y, rows[k].want, sizeof y);
      float broken[4] = {1.0f, 0.0f, 2.0f, 3.0f};
      memcpy(&broken[1], &(uint32_t){0xff812345}, 4);
      float last = vm_scan(&s, broken, b, broken, 4);
      for (int i = 1; i <= 4; i++) {
        memcpy(&bits, i < 4 ? &broken[i] : &last, 4);
        assert_int_equal(bits, 0x7fc00000);
      }
    }
  float y[4];
  assert_true(vm_cumulate(VM_add, a, 1.0f, y, 4) == 5.5f && y[0] == 3.0f && y[1] == 6.0f && y[2] == 5.0f);
  assert_true(vm_cumulate(VM_multiply, a, 1.0f, y, 4) == -3.0f && y[0] == 2.0f && y[1] == 6.0f && y[2] == -6.0f);
}

/* ---- integers ---- */
static void bit_rows(void **state) {
  (void)state;
  uint8_t a8[4] = {0x81, 0xff, 0x0f, 1}, b8[4] = {1, 8, 255, 7}, d8[5] = {0, 0, 0, 0, 0x5a};
  VmBits j = {VB_left_shift, 1, {a8, false}, {b8, false}};
  vm_bits(&j, d8, 4);
  assert_memory_equal(d8, ((uint8_t[5]){0x02, 0, 0, 0x80, 0x5a}), 5);
  j.op = VB_right_shift;
  vm_bits(&j, d8, 4);
  assert_memory_equal(d8, ((uint8_t[4]){0x40, 0, 0, 0}), 4);
  j = (VmBits){VB_left_shift, 1, {b8, true}, {b8, false}};
  vm_bits(&j, d8, 4);
  assert_memory_equal(d8, ((uint8_t[4]){2, 0, 0, 0x80}), 4);
  j = (VmBits){VB_invert, 1, {a8, false}, {NULL, false}};
  vm_bits(&j, d8, 4);
  assert_memory_equal(d8, ((uint8_t[4]){0x7e, 0, 0xf0, 0xfe}), 4);
  uint16_t a16[3] = {0x8001, 0xff00, 3}, s16 = 15, d16[3];
  j = (VmBits){VB_right_shift, 2, {a16, false}, {&s16, true}};
  vm_bits(&j, d16, 3);
  assert_memory_equal(d16, ((uint16_t[3]){1, 1, 0}), 6);
  s16 = 16;
  vm_bits(&j, d16, 3);
  assert_memory_equal(d16, ((uint16_t[3]){0, 0, 0}), 6);
  uint32_t a32[3] = {0xffffffff, 0x12345678, 1}, b32[3] = {32, 4, 31}, d32[3];
  j = (VmBits){VB_left_shift, 4, {a32, false}, {b32, false}};
  vm_bits(&j, d32, 3);
  assert_memory_equal(d32, ((uint32_t[3]){0, 0x23456780, 0x80000000}), 12);
  j.op = VB_bitwise_xor;
  vm_bits(&j, a32, 3);
  assert_memory_equal(a32, ((uint32_t[3]){0xffffffdf, 0x1234567c, 30}), 12);
  assert_int_equal(vm_bits_reduce(VB_bitwise_and, 4, a32, 3, 0xffffffff), 0x1234565c & 30);
  assert_int_equal(vm_bits_reduce(VB_bitwise_or, 1, a8, 4, 0), 0xff);
  assert_int_equal(vm_bits_reduce(VB_bitwise_xor, 2, a16, 3, 0x10), 0x8001 ^ 0xff00 ^ 3 ^ 0x10);
}
static uint64_t slow_int(VmInt op, bool is_signed, uint32_t a, uint32_t b) {
  int64_t x = is_signed ? (int32_t)a : (int64_t)a, y = is_signed ? (int32_t)b : (int64_t)b;
  switch (op) {
    case VI_add:
      return (uint32_t)(x + y);
    case VI_subtract:
      return (uint32_t)(x - y);
    case VI_multiply:
      return (uint32_t)((uint64_t)x * (uint64_t)y);
    case VI_maximum:
      return (uint32_t)(x > y ? x : y);
    case VI_minimum:
      return (uint32_t)(x < y ? x : y);
    case VI_equal:
      return x == y;
    case VI_not_equal:
      return x != y;
    case VI_greater_equal:
      return x >= y;
    case VI_greater:
      return x > y;
    case VI_less_equal:
      return x <= y;
    case VI_less:
      return x < y;
    case VI_count:
      break;
  }
  return UINT64_MAX;
}
static uint64_t slow_bits(VmBit op, int bytes, uint32_t a, uint32_t b) {
  uint64_t mask = (1ull << (8 * bytes)) - 1;
  switch (op) {
    case VB_bitwise_and:
      return a & b;
    case VB_bitwise_or:
      return a | b;
    case VB_bitwise_xor:
      return a ^ b;
    case VB_invert:
      return ~a & mask;
    case VB_left_shift:
      return b > 63 ? 0 : ((uint64_t)a << b) & mask;
    case VB_right_shift:
      return b > 63 ? 0 : (uint64_t)a >> b;
    case VB_count:
      break;
  }
  return UINT64_MAX;
}
static uint32_t element(const uint32_t *p, int bytes, int64_t i) {
  return bytes == 1 ? ((const uint8_t *)p)[i] : bytes == 2 ? ((const uint16_t *)p)[i] : p[i];
}
/* Every operation, form, width and table against 64-bit arithmetic. */
static void integer_rows(void **state) {
  (void)state;
  uint32_t a[N], b[N], d[N], seed = 5;
  for (int i = 0; i < N; i++) {
    a[i] = i % 5 ? next(&seed) : 0x80000000u >> (i % 2);
    b[i] = i % 3 ? next(&seed) >> (i % 30) : a[i];
  }
  for (size_t k = 0; k < 3; k++) {
    const VmIsa *t = isa_at(k);
    for (int form = 0; t && form < 4; form++) {
      VmIn in_a = {a, form & 1}, in_b = {b, form & 2};
      for (int op = 0; op < 2 * VI_count; op++) {
        t->ints(&(VmInts){(VmInt)(op / 2), op % 2, in_a, in_b}, d, N);
        for (int i = 0; i < N; i++)
          assert_int_equal(d[i], slow_int((VmInt)(op / 2), op % 2, a[in_a.one ? 0 : i], b[in_b.one ? 0 : i]));
      }
      for (int bytes = 1; bytes <= 4; bytes *= 2)
        for (int op = 0; op < VB_count; op++) {
          t->bits(&(VmBits){(VmBit)op, bytes, in_a, in_b}, d, N);
          for (int i = 0; i < N; i++)
            assert_int_equal(element(d, bytes, i), slow_bits((VmBit)op, bytes, element(a, bytes, in_a.one ? 0 : i),
                                                             element(b, bytes, in_b.one ? 0 : i)));
        }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reductions), cmocka_unit_test(scans),        cmocka_unit_test(scans_of_sums_and_products),
      cmocka_unit_test(bit_rows),   cmocka_unit_test(integer_rows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
