/* large_test.c -- spec/sim: tiles larger than a scratch block, of every kind of pattern, against closed forms. */
#include "kit.h"

enum { P = 128, F = 100, WIDE = 2 * F + 3 };

/* Small integers: exact in every type used here. */
static int value(int p, int f) { return (p * 7 + f * 3) % 61; }

static const IrTile *iota_like(Kit *k, DType dt) { /* a whole tile with value() in it, made from f32 */
  static float x[P * F];
  for (int p = 0; p < P; p++)
    for (int f = 0; f < F; f++) x[p * F + f] = (float)value(p, f);
  const IrTile *from = kit_loaded(k, DT_float32, x, SHAPE(P, F)), *t = kit_buf(k, SP_sbuf, dt, SHAPE(P, F));
  kit_ins(k, OP_tensor_copy, "dst", T(t), "src", T(from), NULL);
  return t;
}

static void expect(const Kit *k, int out, float (*want)(int p, int f)) {
  for (int p = 0; p < P; p++)
    for (int f = 0; f < F; f++)
      if (kit_f32(k, out, p * F + f) != want(p, f))
        fail_msg("output %d [%d, %d]: got %g, want %g", out, p, f, (double)kit_f32(k, out, p * F + f),
                 (double)want(p, f));
}

static float twice_plus_one(int p, int f) { return (float)(2 * value(p, f) + 1); }
static float twice(int p, int f) { return (float)(2 * value(p, f)); }
static float reversed_sum(int p, int f) { return (float)(value(p, f) + value(p, (f % 50) * 2 + f / 50)); }

static void test_mixed_dtypes(void **state) {
  (void)state;
  const DType types[] = {DT_float32, DT_bfloat16, DT_float16, DT_int32, DT_int8, DT_uint8};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    Kit k;
    kit_open(&k, TARGET_trn2);
    const IrTile *a = iota_like(&k, DT_float32), *b = iota_like(&k, types[i]);
    const IrTile *d = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(P, F)),
                 *n = kit_buf(&k, SP_sbuf, DT_bfloat16, SHAPE(P, F));
    kit_ins(&k, OP_tensor_tensor, "dst", T(d), "data1", T(a), "data2", T(b), "op", I(ALU_add), NULL);
    kit_store(&k, d);
    kit_ins(&k, OP_tensor_scalar, "dst", T(n), "data", T(b), "op0", I(ALU_multiply), "operand0", N(2), "op1",
            I(ALU_add), "operand1", N(1), NULL);
    kit_ins(&k, OP_tensor_copy, "dst", T(d), "src", T(n), NULL);
    kit_store(&k, d);
    kit_ok(&k);
    expect(&k, 0, twice);
    expect(&k, 1, twice_plus_one);
    assert_int_equal(k.report.count, 0);
    kit_close(&k);
  }
}

/* Strided halves of a wider tile, columns taken in another order, as sources and as destination. */
static void test_strided(void **state) {
  (void)state;
  for (int narrow = 0; narrow < 2; narrow++) {
    Kit k;
    DType dt = narrow ? DT_bfloat16 : DT_float32;
    kit_open(&k, TARGET_trn2);
    const IrTile *a = iota_like(&k, dt), *wide = kit_buf(&k, SP_sbuf, dt, SHAPE(P, WIDE));
    const IrTile *odd = kit_ap(&k, wide, 1, PAIRS(WIDE, P, 2, F)), *d = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(P, F));
    const IrTile *turned = kit_ap(&k, a, 0, PAIRS(F, P, 1, 2, 2, 50)); /* 0 2 4 ... then 1 3 5 ... */
    kit_ins(&k, OP_tensor_scalar, "dst", T(odd), "data", T(a), "op0", I(ALU_multiply), "operand0", N(2), NULL);
    kit_ins(&k, OP_tensor_copy, "dst", T(d), "src", T(odd), NULL);
    kit_store(&k, d);
    kit_ins(&k, OP_tensor_tensor, "dst", T(d), "data1", T(a), "data2", T(turned), "op", I(ALU_add), NULL);
    kit_store(&k, d);
    kit_ok(&k);
    expect(&k, 0, twice);
    expect(&k, 1, reversed_sum);
    kit_close(&k);
  }
}

static void test_bits_and_choice(void **state) {
  (void)state;
  Kit k;
  kit_open(&k, TARGET_trn2);
  const IrTile *a = iota_like(&k, DT_uint16), *one = kit_buf(&k, SP_sbuf, DT_uint16, SHAPE(P, F));
  const IrTile *d = kit_buf(&k, SP_sbuf, DT_uint16, SHAPE(P, F)), *c = kit_buf(&k, SP_sbuf, DT_uint16, SHAPE(P, F));
  kit_ins(&k, OP_memset, "dst", T(one), "value", N(1), NULL);
  kit_ins(&k, OP_tensor_tensor, "dst", T(d), "data1", T(a), "data2", T(one), "op", I(ALU_bitwise_and), NULL);
  kit_store(&k, d);
  kit_ins(&k, OP_memset, "dst", T(c), "value", N(7), NULL);
  kit_ins(&k, OP_tensor_copy_predicated, "dst", T(c), "src", T(a), "predicate", T(d), NULL);
  kit_store(&k, c);
  kit_ok(&k);
  const uint16_t *bit = k.out[0].data, *got = k.out[1].data;
  for (int p = 0; p < P; p++)
    for (int f = 0; f < F; f++) {
      int v = value(p, f);
      assert_int_equal(bit[p * F + f], v & 1);
      assert_int_equal(got[p * F + f], v & 1 ? v : 7);
    }
  kit_close(&k);
}

static void test_reduce_and_activation(void **state) {
  (void)state;
  for (int narrow = 0; narrow < 2; narrow++) {
    Kit k;
    kit_open(&k, TARGET_trn2);
    const IrTile *a = iota_like(&k, narrow ? DT_float16 : DT_float32),
                 *s = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(P, 1));
    const IrTile *q = kit_buf(&k, SP_sbuf, DT_bfloat16, SHAPE(P, F));
    kit_ins(&k, OP_tensor_reduce, "dst", T(s), "op", I(ALU_add), "data", T(a), "axis", I(1), NULL);
    kit_store(&k, s);
    kit_ins(&k, OP_activation_reduce, "dst", T(q), "op", I(ACT_square), "data", T(a), "reduce_op", I(ALU_add),
            "reduce_res", T(s), NULL);
    kit_store(&k, s);
    kit_ok(&k);
    for (int p = 0; p < P; p++) {
      int sum = 0, squares = 0;
      for (int f = 0; f < F; f++) sum += value(p, f), squares += value(p, f) * value(p, f);
      assert_true(kit_f32(&k, 0, p) == (float)sum);
      assert_true(kit_f32(&k, 1, p) == (float)squares); /* f32 results, before they are stored as bfloat16 */
    }
    kit_close(&k);
  }
}

/* Gather of rows longer than a block, with conversion, and back by scatter. */
static void test_gather_rows(void **state) {
  (void)state;
  enum { ROWS = 20, LONG = 3000 };
  Kit k;
  static float table[ROWS * LONG];
  int32_t at[ROWS];
  for (int i = 0; i < ROWS * LONG; i++) table[i] = (float)(i % 199);
  for (int i = 0; i < ROWS; i++) at[i] = (i * 7) % ROWS;
  kit_open(&k, TARGET_trn2);
  const IrTile *hbm = kit_const(&k, DT_float32, table, SHAPE(ROWS, LONG)),
               *idx = kit_loaded(&k, DT_int32, at, SHAPE(ROWS, 1));
  const IrTile *t = kit_buf(&k, SP_sbuf, DT_bfloat16, SHAPE(ROWS, LONG)),
               *out = kit_out(&k, DT_float32, SHAPE(ROWS, LONG));
  IrTile *from = ir_tile_new(k.m), *to = ir_tile_new(k.m);
  *from = *kit_ap(&k, hbm, 0, PAIRS(LONG, ROWS, 1, LONG));
  *to = *kit_ap(&k, out, 0, PAIRS(LONG, ROWS, 1, LONG));
  from->vec = to->vec = idx;
  from->dyn_max = to->dyn_max = (ROWS - 1) * LONG;
  kit_load(&k, t, from);
  kit_load(&k, to, t);
  kit_ok(&k);
  for (int i = 0; i < ROWS * LONG; i++) assert_true(kit_f32(&k, 0, i) == table[i]);
  assert_int_equal(k.report.count, 0);
  kit_close(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_mixed_dtypes),    cmocka_unit_test(test_strided),
      cmocka_unit_test(test_bits_and_choice), cmocka_unit_test(test_reduce_and_activation),
      cmocka_unit_test(test_gather_rows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
