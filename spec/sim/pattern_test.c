/* pattern_test.c -- spec/sim: iota, affine_select, range_select. */
#include "kit.h"

static void test_iota(void **state) {
  (void)state;
  Kit k;
  kit_open(&k, TARGET_trn2);
  const IrTile *i = kit_buf(&k, SP_sbuf, DT_int32, SHAPE(2, 6)), *f = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(2, 3));
  const IrTile *b = kit_buf(&k, SP_sbuf, DT_int8, SHAPE(1, 3)), *u = kit_buf(&k, SP_sbuf, DT_uint32, SHAPE(1, 2));
  kit_ins(&k, OP_iota, "dst", T(i), "pattern", LIST_PAIRS(&k, PAIRS(100, 2, 1, 3)), "offset", I(5),
          "channel_multiplier", I(1000), NULL);
  kit_ins(&k, OP_iota, "dst", T(f), "pattern", LIST_PAIRS(&k, PAIRS(-2, 3)), NULL);
  kit_ins(&k, OP_iota, "dst", T(b), "pattern", LIST_PAIRS(&k, PAIRS(100, 3)), "offset", I(-100), NULL);
  kit_ins(&k, OP_iota, "dst", T(u), "pattern", LIST_PAIRS(&k, PAIRS(1, 2)), "offset", I(16777217), NULL);
  kit_store(&k, i);
  kit_store(&k, f);
  kit_store(&k, b);
  kit_store(&k, u);
  kit_ok(&k);
  assert_memory_equal(k.out[0].data, ((int32_t[]){5, 6, 7, 105, 106, 107, 1005, 1006, 1007, 1105, 1106, 1107}), 48);
  EXPECT(&k, 1, 0, -2, -4, 0, -2, -4);
  assert_memory_equal(k.out[2].data, ((int8_t[]){-100, 0, 100}), 3);
  assert_memory_equal(k.out[3].data, ((uint32_t[]){16777217, 16777218}), 8); /* exact beyond f32 */
  kit_close(&k);
}

static void test_affine_select(void **state) {
  (void)state;
  Kit k;
  float x[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  int32_t big[2] = {16777217, 5};
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_loaded(&k, DT_float32, x, SHAPE(3, 3)), *d = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(3, 3));
  const IrTile *n = kit_loaded(&k, DT_int32, big, SHAPE(1, 2)), *i8 = kit_buf(&k, SP_sbuf, DT_int8, SHAPE(3, 3));
  /* causal: column <= row, that is row - column >= 0 */
  kit_ins(&k, OP_affine_select, "dst", T(d), "pattern", LIST_PAIRS(&k, PAIRS(-1, 3)), "channel_multiplier", I(1),
          "on_true_tile", T(a), "on_false_value", N(-1), "cmp_op", I(ALU_greater_equal), NULL);
  kit_store(&k, d);
  kit_ins(&k, OP_affine_select, "dst", T(i8), "pattern", LIST_PAIRS(&k, PAIRS(1, 3)), "channel_multiplier", I(0),
          "on_true_tile", T(a), "on_false_value", N(-300), "cmp_op", I(ALU_equal), "offset", I(-1), NULL);
  kit_store(&k, i8);
  kit_ins(&k, OP_affine_select, "dst", T(n), "pattern", LIST_PAIRS(&k, PAIRS(1, 2)), "channel_multiplier", I(0),
          "on_true_tile", T(n), "on_false_value", N(7), "cmp_op", I(ALU_less_equal), NULL);
  kit_store(&k, n);
  kit_ok(&k);
  EXPECT(&k, 0, 1, -1, -1, 4, 5, -1, 7, 8, 9);
  assert_memory_equal(k.out[1].data, ((int8_t[]){-128, 2, -128, -128, 5, -128, -128, 8, -128}), 9);
  assert_memory_equal(k.out[2].data, ((int32_t[]){16777217, 7}), 8); /* same dtype: bits, not f32 */
  kit_close(&k);
}

static void test_range_select(void **state) {
  (void)state;
  Kit k;
  float x[8] = {1, 9, 3, 4, 5, 6, 7, 8}, lo[2] = {1, 10}, hi[2] = {3, 20};
  const float low = -0x1.fffffep127f;
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_loaded(&k, DT_float32, x, SHAPE(2, 4)), *d = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(2, 4));
  const IrTile *b0 = kit_loaded(&k, DT_float32, lo, SHAPE(2, 1)), *b1 = kit_loaded(&k, DT_float32, hi, SHAPE(2, 1));
  const IrTile *r = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(2, 1)), *h = kit_buf(&k, SP_sbuf, DT_bfloat16, SHAPE(2, 4));
  kit_ins(&k, OP_range_select, "dst", T(d), "on_true_tile", T(a), "comp_op0", I(ALU_greater_equal), "comp_op1",
          I(ALU_less), "bound0", T(b0), "bound1", T(b1), "reduce_res", T(r), NULL);
  kit_store(&k, d);
  kit_store(&k, r);
  kit_ins(&k, OP_range_select, "dst", T(h), "on_true_tile", T(a), "comp_op0", I(ALU_greater_equal), "comp_op1",
          I(ALU_less), "bound0", T(b0), "bound1", T(b1), "range_start", N(10), "reduce_cmd", I(reduce_cmd_reduce),
          "reduce_res", T(r), NULL);
  kit_store(&k, h);
  kit_store(&k, r);
  kit_ok(&k);
  EXPECT(&k, 0, low, 9, 3, low, low, low, low, low);
  EXPECT(&k, 1, 9, low);
  assert_memory_equal(k.out[2].data, ((uint16_t[]){0xff80, 0xff80, 0xff80, 0xff80, 0x40a0, 0x40c0, 0x40e0, 0x4100}),
                      16);
  EXPECT(&k, 3, 9, 8); /* the f32 results, not the stored ones, folded into the register */
  assert_int_equal(k.report.count, 0);
  kit_close(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_iota),
      cmocka_unit_test(test_affine_select),
      cmocka_unit_test(test_range_select),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
