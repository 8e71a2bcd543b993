/* reduce_test.c -- spec/sim: reductions, scans, statistics. */
#include "kit.h"

static void reduce(Kit *k, const IrTile *dst, Alu op, const IrTile *data, IrVal axis) {
  kit_ins(k, OP_tensor_reduce, "dst", T(dst), "op", I(op), "data", T(data), "axis", axis, NULL);
  kit_store(k, dst);
}

static void test_tensor_reduce(void **state) {
  (void)state;
  Kit k;
  float x[12] = {1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -6};
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_loaded(&k, DT_float32, x, SHAPE(2, 2, 3));
  const IrTile *one = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(2, 1)),
               *two = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(2, 2));
  reduce(&k, two, ALU_add, a, I(2));
  kit_ins(&k, OP_tensor_reduce, "dst", T(two), "op", I(ALU_maximum), "data", T(a), "axis", I(-1), "negate", I(1), NULL);
  kit_store(&k, two);
  reduce(&k, one, ALU_add, a, LIST(&k, 2, (int64_t[]){1, 2}));
  reduce(&k, one, ALU_multiply, a, LIST(&k, 2, (int64_t[]){1, 2}));
  reduce(&k, one, ALU_minimum, a, LIST(&k, 2, (int64_t[]){-2, -1}));
  reduce(&k, two, ALU_subtract, a, I(2));
  reduce(&k, two, ALU_add, kit_ap(&k, a, 0, PAIRS(6, 2, 1, 2, 2, 3)), I(2)); /* every other element */
  kit_ok(&k);
  EXPECT(&k, 0, 6, 15, -6, -15);
  EXPECT(&k, 1, -3, -6, 1, 4);
  EXPECT(&k, 2, 21, -21);
  EXPECT(&k, 3, 720, 720);
  EXPECT(&k, 4, 1, -6);
  EXPECT(&k, 5, -4, -7, 4, 7);
  EXPECT(&k, 6, 9, 12, -9, -12);
  kit_close(&k);
}

static void test_reduce_logic_bits_nan(void **state) {
  (void)state;
  Kit k;
  float x[6] = {1, 2, 0, 3, NAN, 4};
  uint16_t u[4] = {0x0ff0, 0x00ff, 0x1234, 0x8000};
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_loaded(&k, DT_float32, x, SHAPE(2, 3)), *b = kit_loaded(&k, DT_uint16, u, SHAPE(2, 2));
  const IrTile *f = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(2, 1)), *h = kit_buf(&k, SP_sbuf, DT_uint16, SHAPE(2, 1));
  reduce(&k, f, ALU_logical_and, a, I(1));
  reduce(&k, f, ALU_logical_xor, a, I(1));
  reduce(&k, f, ALU_maximum, a, I(1));
  reduce(&k, h, ALU_bitwise_and, b, I(1));
  reduce(&k, h, ALU_bitwise_or, b, I(1));
  reduce(&k, h, ALU_bitwise_xor, b, I(1));
  kit_ok(&k);
  EXPECT(&k, 0, 0, 1);
  EXPECT(&k, 1, 0, 1);
  EXPECT(&k, 2, 2, NAN);
  assert_memory_equal(k.out[3].data, ((uint16_t[]){0x00f0, 0}), 4);
  assert_memory_equal(k.out[4].data, ((uint16_t[]){0x0fff, 0x9234}), 4);
  assert_memory_equal(k.out[5].data, ((uint16_t[]){0x0f0f, 0x9234}), 4);
  kit_close(&k);
}

/* The result may lie in the reduced tile, also where a later partition is still to be read. */
static void test_reduce_into_its_data(void **state) {
  (void)state;
  Kit k;
  float x[9] = {1, 2, 3, 4, 5, 6, 0, 0, 0};
  kit_open(&k, TARGET_trn2);
  k.verify = false;                                                /* a tile that starts at partition 1 */
  const IrTile *a = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(3, 3)); /* a copy: a load alone may share memory */
  kit_ins(&k, OP_tensor_copy, "dst", T(a), "src", T(kit_loaded(&k, DT_float32, x, SHAPE(3, 3))), NULL);
  const IrTile *data = kit_ap(&k, a, 0, PAIRS(3, 2, 1, 3)), *dst = kit_ap(&k, a, 4, PAIRS(3, 2, 1, 1));
  kit_ins(&k, OP_tensor_reduce, "dst", T(dst), "op", I(ALU_add), "data", T(data), "axis", I(1), NULL);
  kit_store(&k, a);
  kit_ok(&k);
  EXPECT(&k, 0, 1, 2, 3, 4, 6, 6, 0, 15, 0);
  kit_close(&k);
}

static void test_partition_reduce(void **state) {
  (void)state;
  Kit k;
  float x[6] = {1, 2, 3, 5, 7, 12};
  uint8_t u[4] = {0x0f, 0x11, 0x3c, 0x22};
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_loaded(&k, DT_float32, x, SHAPE(3, 2)), *b = kit_loaded(&k, DT_uint8, u, SHAPE(2, 2));
  const IrTile *f = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(1, 2)), *d = kit_buf(&k, SP_sbuf, DT_uint8, SHAPE(1, 2));
  const Alu ops[3] = {ALU_add, ALU_maximum, ALU_average};
  for (int i = 0; i < 3; i++) {
    kit_ins(&k, OP_tensor_partition_reduce, "dst", T(f), "op", I(ops[i]), "data", T(a), NULL);
    kit_store(&k, f);
  }
  kit_ins(&k, OP_tensor_partition_reduce, "dst", T(d), "op", I(ALU_bitwise_or), "data", T(b), NULL);
  kit_store(&k, d);
  kit_ins(&k, OP_tensor_partition_reduce, "dst", T(d), "op", I(ALU_bitwise_and), "data", T(b), NULL);
  kit_store(&k, d);
  kit_ok(&k);
  EXPECT(&k, 0, 11, 19);
  EXPECT(&k, 1, 7, 12);
  EXPECT(&k, 2, 11.0f / 3, 19.0f / 3);
  assert_memory_equal(k.out[3].data, ((uint8_t[]){0x3f, 0x33}), 2);
  assert_memory_equal(k.out[4].data, ((uint8_t[]){0x0c, 0x00}), 2);
  kit_close(&k);
}

static void test_scan(void **state) {
  (void)state;
  Kit k;
  float x[6] = {2, 3, 4, 1, 1, 1}, y[6] = {1, 1, 1, 10, 20, 30}, c[2] = {1, 5};
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_loaded(&k, DT_float32, x, SHAPE(2, 3)), *b = kit_loaded(&k, DT_float32, y, SHAPE(2, 3));
  const IrTile *init = kit_loaded(&k, DT_float32, c, SHAPE(2, 1)), *d = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(2, 3));
  kit_ins(&k, OP_tensor_tensor_scan, "dst", T(d), "data0", T(a), "data1", T(b), "initial", T(init), "op0",
          I(ALU_multiply), "op1", I(ALU_add), NULL);
  kit_store(&k, d);
  kit_ins(&k, OP_tensor_tensor_scan, "dst", T(d), "data0", T(a), "data1", T(b), "initial", N(0), "op0", I(ALU_subtract),
          "op1", I(ALU_subtract), "reverse0", I(1), "reverse1", I(1), NULL);
  kit_store(&k, d);
  kit_ok(&k);
  EXPECT(&k, 0, 3, 10, 41, 15, 35, 65); /* r = x * r + y */
  EXPECT(&k, 1, 3, 1, 4, 11, 10, 21);   /* r = y - (r - x) */
  kit_close(&k);
}

/* The carry is f32 although each result is stored as bfloat16. */
static void test_scan_carries_f32(void **state) {
  (void)state;
  Kit k;
  uint16_t x[3] = {0x3f80, 0x3b80, 0x3b80}, zero[3] = {0}; /* 1, 2^-8, 2^-8 */
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_loaded(&k, DT_bfloat16, x, SHAPE(1, 3)), *b = kit_loaded(&k, DT_bfloat16, zero, SHAPE(1, 3));
  const IrTile *d = kit_buf(&k, SP_sbuf, DT_bfloat16, SHAPE(1, 3));
  kit_ins(&k, OP_tensor_tensor_scan, "dst", T(d), "data0", T(a), "data1", T(b), "initial", N(0), "op0", I(ALU_add),
          "op1", I(ALU_add), NULL);
  kit_store(&k, d);
  kit_ok(&k);
  assert_memory_equal(k.out[0].data, ((uint16_t[]){0x3f80, 0x3f80, 0x3f81}), 6);
  kit_close(&k);
}

static void test_bn(void **state) {
  (void)state;
  Kit k;
  float x[5] = {1, 10, 3, 20, 8}; /* even 1 3 8: mean 4, M2 26; odd 10 20: mean 15, M2 50 */
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_loaded(&k, DT_float32, x, SHAPE(1, 5)), *st = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(1, 6));
  const IrTile *ag = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(1, 2));
  kit_ins(&k, OP_bn_stats, "dst", T(st), "data", T(a), NULL);
  kit_ins(&k, OP_bn_aggr, "dst", T(ag), "data", T(st), NULL);
  kit_store(&k, st);
  kit_store(&k, ag);
  kit_ok(&k);
  EXPECT(&k, 0, 3, 4, 26, 2, 15, 50);
  assert_true(fabsf(kit_f32(&k, 1, 0) - 8.4f) < 1e-5f);
  assert_true(fabsf(kit_f32(&k, 1, 1) - 44.24f) < 1e-4f); /* population variance of x */
  kit_close(&k);
}

static void test_activation(void **state) {
  (void)state;
  Kit k;
  float x[4] = {0, 1, 2, 3}, c[2] = {1, -1}, sc[2] = {2, 0.5f};
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_loaded(&k, DT_float32, x, SHAPE(2, 2)), *bias = kit_loaded(&k, DT_float32, c, SHAPE(2, 1));
  const IrTile *scale = kit_loaded(&k, DT_float32, sc, SHAPE(2, 1)), *d = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(2, 2));
  kit_ins(&k, OP_activation, "dst", T(d), "op", I(ACT_copy), "data", T(a), "bias", T(bias), "scale", T(scale), NULL);
  kit_store(&k, d);
  kit_ins(&k, OP_activation, "dst", T(d), "op", I(ACT_square), "data", T(a), "scale", N(3), NULL);
  kit_store(&k, d);
  kit_ins(&k, OP_activation, "dst", T(d), "op", I(ACT_exp), "data", T(a), NULL);
  kit_store(&k, d);
  kit_ok(&k);
  EXPECT(&k, 0, 1, 3, 0, 0.5f);
  EXPECT(&k, 1, 0, 9, 36, 81);
  for (int i = 0; i < 4; i++) assert_true(fabs(kit_f32(&k, 2, i) / exp(x[i]) - 1) < 2e-7);
  assert_int_equal(k.report.count, 0);
  kit_close(&k);
}

static void act(Kit *k, const IrTile *d, const IrTile *a, int cmd, const IrTile *res) {
  kit_ins(k, OP_activation, "dst", T(d), "op", I(ACT_copy), "data", T(a), "reduce_op", I(ALU_add), "reduce_cmd", I(cmd),
          "reduce_res", res ? T(res) : (IrVal){0}, NULL);
}

static void test_accumulator(void **state) {
  (void)state;
  Kit k;
  float x[4] = {1, 2, 10, 20};
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_loaded(&k, DT_float32, x, SHAPE(2, 2)), *d = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(2, 2));
  const IrTile *r = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(2, 1));
  act(&k, d, a, reduce_cmd_reset_reduce, NULL);
  act(&k, d, a, reduce_cmd_idle, NULL); /* leaves the register alone */
  act(&k, d, a, reduce_cmd_reduce, r);
  kit_store(&k, r);
  act(&k, d, a, reduce_cmd_reset, r);
  kit_store(&k, r);
  act(&k, d, a, reduce_cmd_reset_reduce, NULL);
  kit_ins(&k, OP_activation, "dst", T(d), "op", I(ACT_copy), "data", T(a), "reduce_cmd", I(reduce_cmd_reset), NULL);
  act(&k, d, a, reduce_cmd_idle, r); /* reset also without reduce_op */
  kit_store(&k, r);
  kit_ins(&k, OP_activation_reduce, "dst", T(d), "op", I(ACT_square), "data", T(a), "reduce_op", I(ALU_add),
          "reduce_res", T(r), NULL);
  kit_store(&k, r);
  /* reduce_res inside dst: the sum survives */
  kit_ins(&k, OP_activation_reduce, "dst", T(d), "op", I(ACT_copy), "data", T(a), "reduce_op", I(ALU_add), "reduce_res",
          T(kit_ap(&k, d, 0, PAIRS(2, 2, 1, 1))), NULL);
  kit_store(&k, d);
  kit_ok(&k);
  EXPECT(&k, 0, 6, 60);
  EXPECT(&k, 1, 0, 0);
  EXPECT(&k, 2, 0, 0);
  EXPECT(&k, 3, 5, 500);
  EXPECT(&k, 4, 3, 2, 30, 20);
  assert_int_equal(k.report.count, 0);
  kit_close(&k);
}

static void test_accumulator_without_reset(void **state) {
  (void)state;
  Kit k;
  float x[2] = {1, 2};
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_loaded(&k, DT_float32, x, SHAPE(1, 2)), *d = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(1, 2));
  act(&k, d, a, reduce_cmd_reduce, NULL);
  kit_ok(&k);
  assert_int_equal(k.report.count, 1);
  kit_contains(text_str(&k.report.lines), "uses the Scalar engine's accumulator of partition 0 before any reset");
  kit_close(&k);
}

static void test_range_report(void **state) {
  (void)state;
  Kit k;
  float x[3] = {1, 0, 4}, y[3] = {-2, -1e-20f, NAN};
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_loaded(&k, DT_float32, x, SHAPE(1, 3)), *b = kit_loaded(&k, DT_float32, y, SHAPE(1, 3));
  const IrTile *d = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(1, 3));
  k.line = 70;
  kit_ins(&k, OP_activation, "dst", T(d), "op", I(ACT_sqrt), "data", T(a), NULL);
  kit_store(&k, d);
  kit_ins(&k, OP_activation, "dst", T(d), "op", I(ACT_reciprocal), "data", T(b), NULL);
  kit_ins(&k, OP_activation, "dst", T(d), "op", I(ACT_exp), "data", T(b), NULL);
  k.opt.strict = true; /* a report also then */
  kit_ok(&k);
  EXPECT(&k, 0, 1, 0, 2);
  assert_int_equal(k.report.count, 2);
  kit_contains(text_str(&k.report.lines), "k.lua:70: nisa.activation: 1 inputs of sqrt are outside");
  kit_contains(text_str(&k.report.lines), "], the first is 0.0; the mathematical value is used\n");
  kit_contains(text_str(&k.report.lines), "], the first is -1.0e-20; the mathematical value is used\n");
  kit_contains(text_str(&k.report.lines),
               "1 inputs of reciprocal are outside its range on the Scalar engine, |x| in [");
  kit_close(&k);
}

/* The argument of the function is what counts: data * scale + bias; also in a tile of one column. */
static void test_range_of_argument(void **state) {
  (void)state;
  Kit k;
  float x[2] = {1, 1}, c[2] = {1, -2};
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_loaded(&k, DT_float32, x, SHAPE(2, 1)), *bias = kit_loaded(&k, DT_float32, c, SHAPE(2, 1));
  const IrTile *d = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(2, 1));
  kit_ins(&k, OP_activation, "dst", T(d), "op", I(ACT_sqrt), "data", T(a), "bias", T(bias), NULL);
  kit_store(&k, d);
  kit_ok(&k);
  assert_true(kit_f32(&k, 0, 0) == sqrtf(2) && isnan(kit_f32(&k, 0, 1)));
  assert_int_equal(k.report.count, 1);
  kit_contains(text_str(&k.report.lines), "1 inputs of sqrt are outside its range on the Scalar engine, x in [");
  kit_close(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tensor_reduce),
      cmocka_unit_test(test_reduce_logic_bits_nan),
      cmocka_unit_test(test_reduce_into_its_data),
      cmocka_unit_test(test_partition_reduce),
      cmocka_unit_test(test_scan),
      cmocka_unit_test(test_scan_carries_f32),
      cmocka_unit_test(test_bn),
      cmocka_unit_test(test_activation),
      cmocka_unit_test(test_accumulator),
      cmocka_unit_test(test_accumulator_without_reset),
      cmocka_unit_test(test_range_report),
      cmocka_unit_test(test_range_of_argument),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
