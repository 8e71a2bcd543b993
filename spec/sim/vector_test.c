/* vector_test.c -- spec/sim: element-wise instructions against closed forms. */
#include "kit.h"

#define NANF NAN

typedef struct Binary {
  DType dt; /* of dst */
  Alu op;
  int engine;
} Binary;

static void binary(Kit *k, Binary o, const IrTile *a, const IrTile *b) {
  const IrBuf *x = k->f->bufs[a->buf];
  const IrTile *dst = kit_buf(k, SP_sbuf, o.dt, x->rank, x->shape);
  kit_ins(k, OP_tensor_tensor, "dst", T(dst), "data1", T(a), "data2", T(b), "op", I(o.op), "engine", I(o.engine), NULL);
  kit_store(k, dst);
}

static void test_tensor_tensor_f32(void **state) {
  (void)state;
  Kit k;
  float x[4] = {1, -2, NANF, 4}, y[4] = {3, -2, 1, -5};
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_loaded(&k, DT_float32, x, SHAPE(2, 2)), *b = kit_loaded(&k, DT_float32, y, SHAPE(2, 2));
  const Alu ops[] = {ALU_add,        ALU_subtract,    ALU_multiply,   ALU_maximum,       ALU_minimum,
                     ALU_equal,      ALU_not_equal,   ALU_greater,    ALU_greater_equal, ALU_less,
                     ALU_less_equal, ALU_logical_and, ALU_logical_xor};
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) binary(&k, (Binary){DT_float32, ops[i], engine_vector}, a, b);
  kit_ok(&k);
  EXPECT(&k, 0, 4, -4, NANF, -1);
  EXPECT(&k, 1, -2, 0, NANF, 9);
  EXPECT(&k, 2, 3, 4, NANF, -20);
  EXPECT(&k, 3, 3, -2, NANF, 4);
  EXPECT(&k, 4, 1, -2, NANF, -5);
  EXPECT(&k, 5, 0, 1, 0, 0);
  EXPECT(&k, 6, 1, 0, 1, 1);
  EXPECT(&k, 7, 0, 0, 0, 1);
  EXPECT(&k, 8, 0, 1, 0, 1);
  EXPECT(&k, 9, 1, 0, 0, 0);
  EXPECT(&k, 10, 1, 1, 0, 0);
  EXPECT(&k, 11, 1, 1, 1, 1);
  EXPECT(&k, 12, 0, 0, 0, 0);
  kit_close(&k);
}

static void test_bf16_is_computed_as_numbers(void **state) {
  (void)state;
  Kit k;
  uint16_t x[3] = {0x4020, 0xc0a0, 0x3f80}, y[3] = {0x4000, 0xc000, 0x3b80}; /* 2.5, -5, 1 and 2, -2, 2^-8 */
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_loaded(&k, DT_bfloat16, x, SHAPE(1, 3)), *b = kit_loaded(&k, DT_bfloat16, y, SHAPE(1, 3));
  binary(&k, (Binary){DT_bfloat16, ALU_add, engine_vector}, a, b);
  binary(&k, (Binary){DT_float32, ALU_less, engine_vector}, a, b);
  binary(&k, (Binary){DT_float32, ALU_add, engine_vector}, a, b);
  kit_ok(&k);
  assert_memory_equal(k.out[0].data, ((uint16_t[]){0x4090, 0xc0e0, 0x3f80}), 6); /* 4.5, -7, 1 (tie to even) */
  EXPECT(&k, 1, 0, 1, 0);
  EXPECT(&k, 2, 4.5f, -7, 1.00390625f);
  kit_close(&k);
}

static void test_imprecise_keeps_f32(void **state) {
  (void)state;
  Kit k;
  uint16_t x[1] = {0x3f80}, y[1] = {0x3b80}; /* 1 + 2^-8 needs more than bfloat16 */
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_loaded(&k, DT_bfloat16, x, SHAPE(1, 1)), *b = kit_loaded(&k, DT_bfloat16, y, SHAPE(1, 1));
  const IrTile *sum = kit_buf(&k, SP_sbuf, DT_bfloat16, SHAPE(1, 1)),
               *twice = kit_buf(&k, SP_sbuf, DT_bfloat16, SHAPE(1, 1));
  const IrTile *wide = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(1, 1));
  kit_ins(&k, OP_tensor_tensor, "dst", T(sum), "data1", T(a), "data2", T(b), "op", I(ALU_add), NULL);
  kit_ins(&k, OP_tensor_tensor, "dst", T(twice), "data1", T(sum), "data2", T(b), "op", I(ALU_add), NULL);
  kit_ins(&k, OP_tensor_copy, "dst", T(wide), "src", T(sum), NULL);
  kit_store(&k, twice);
  kit_store(&k, wide);
  k.opt.imprecise = true;
  kit_ok(&k);
  assert_memory_equal(k.out[0].data, ((uint16_t[]){0x3f81}), 2); /* 1 + 2^-7: lost when each sum is rounded */
  EXPECT(&k, 1, 1.00390625f);
  kit_close(&k);
}

static void test_int32_engines(void **state) {
  (void)state;
  Kit k;
  int32_t x[2] = {16777217, -7}, y[2] = {2, 5};
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_loaded(&k, DT_int32, x, SHAPE(1, 2)), *b = kit_loaded(&k, DT_int32, y, SHAPE(1, 2));
  binary(&k, (Binary){DT_int32, ALU_add, engine_gpsimd}, a, b);
  binary(&k, (Binary){DT_int32, ALU_add, engine_vector}, a, b);
  binary(&k, (Binary){DT_int32, ALU_maximum, engine_unknown}, a, b);
  binary(&k, (Binary){DT_int8, ALU_add, engine_gpsimd}, a, b);
  kit_ok(&k);
  assert_memory_equal(k.out[0].data, ((int32_t[]){16777219, -2}), 8);
  assert_memory_equal(k.out[1].data, ((int32_t[]){16777218, -2}), 8); /* 16777217 is no f32 */
  assert_memory_equal(k.out[2].data, ((int32_t[]){16777217, 5}), 8);
  assert_memory_equal(k.out[3].data, ((int8_t[]){127, -2}), 2);
  kit_close(&k);
}

static void test_bits(void **state) {
  (void)state;
  Kit k;
  uint8_t x[3] = {0xf0, 0x0f, 0x81}, y[3] = {0x3c, 0x01, 0x09};
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_loaded(&k, DT_uint8, x, SHAPE(1, 3)), *b = kit_loaded(&k, DT_uint8, y, SHAPE(1, 3));
  binary(&k, (Binary){DT_uint8, ALU_bitwise_and, engine_vector}, a, b);
  binary(&k, (Binary){DT_uint8, ALU_left_shift, engine_vector}, a, b);
  const IrTile *d = kit_buf(&k, SP_sbuf, DT_uint8, SHAPE(1, 3));
  kit_ins(&k, OP_tensor_scalar, "dst", T(d), "data", T(a), "op0", I(ALU_invert), "op1", I(ALU_right_shift), "operand1",
          N(1), NULL);
  kit_store(&k, d);
  kit_ins(&k, OP_tensor_scalar, "dst", T(d), "data", T(b), "op0", I(ALU_left_shift), "operand0", N(1), "reverse0", I(1),
          NULL);
  kit_store(&k, d);
  kit_ok(&k);
  assert_memory_equal(k.out[0].data, ((uint8_t[]){0x30, 0x01, 0x01}), 3);
  assert_memory_equal(k.out[1].data, ((uint8_t[]){0, 0x1e, 0}), 3); /* counts 60 and 9 are beyond the width */
  assert_memory_equal(k.out[2].data, ((uint8_t[]){0x07, 0x78, 0x3f}), 3);
  assert_memory_equal(k.out[3].data, ((uint8_t[]){0, 2, 0}), 3); /* 1 << b */
  kit_close(&k);
}

static void test_tensor_scalar(void **state) {
  (void)state;
  Kit k;
  float x[4] = {1, 2, 3, 4}, c[2] = {10, 100};
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_loaded(&k, DT_float32, x, SHAPE(2, 2)), *col = kit_loaded(&k, DT_float32, c, SHAPE(2, 1));
  const IrTile *d = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(2, 2));
  kit_ins(&k, OP_tensor_scalar, "dst", T(d), "data", T(a), "op0", I(ALU_subtract), "operand0", N(1), "op1",
          I(ALU_multiply), "operand1", T(col), NULL);
  kit_store(&k, d);
  kit_ins(&k, OP_tensor_scalar, "dst", T(d), "data", T(a), "op0", I(ALU_subtract), "operand0", T(col), "reverse0", I(1),
          NULL);
  kit_store(&k, d);
  kit_ins(&k, OP_tensor_scalar, "dst", T(d), "data", T(a), "op0", I(ALU_rsqrt), "op1", I(ALU_power), "operand1",
          N(-2.0), NULL);
  kit_store(&k, d);
  kit_ok(&k);
  EXPECT(&k, 0, 0, 10, 200, 300);
  EXPECT(&k, 1, 9, 8, 97, 96);
  for (int i = 0; i < 4; i++) assert_true(fabsf(kit_f32(&k, 2, i) - x[i]) < 1e-5f);
  kit_close(&k);
}

/* The per-partition operand of a (P,1) tile: every row with its own value. */
static void test_columns_of_columns(void **state) {
  (void)state;
  Kit k;
  float x[3] = {1, 2, 3}, c[3] = {10, 20, 30};
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_loaded(&k, DT_float32, x, SHAPE(3, 1)), *col = kit_loaded(&k, DT_float32, c, SHAPE(3, 1));
  const IrTile *d = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(3, 1));
  kit_ins(&k, OP_tensor_scalar, "dst", T(d), "data", T(a), "op0", I(ALU_multiply), "operand0", N(2), "op1",
          I(ALU_subtract), "operand1", T(col), "reverse1", I(1), NULL);
  kit_store(&k, d);
  kit_ins(&k, OP_activation, "dst", T(d), "op", I(ACT_square), "data", T(a), "bias", T(col), "scale", N(2), NULL);
  kit_store(&k, d);
  kit_ok(&k);
  EXPECT(&k, 0, 8, 16, 24);
  EXPECT(&k, 1, 144, 576, 1296);
  kit_close(&k);
}

static void test_broadcast_view(void **state) {
  (void)state;
  Kit k;
  float x[6] = {1, 2, 3, 4, 5, 6}, c[2] = {10, 100};
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_loaded(&k, DT_float32, x, SHAPE(2, 3)), *col = kit_loaded(&k, DT_float32, c, SHAPE(2, 1));
  binary(&k, (Binary){DT_float32, ALU_subtract, engine_vector}, a, kit_ap(&k, col, 0, PAIRS(1, 2, 0, 3)));
  kit_ok(&k);
  EXPECT(&k, 0, -9, -8, -7, -96, -95, -94);
  kit_close(&k);
}

/* Free shapes differ, counts agree: elements correspond in row-major order. */
static void test_patterns_of_unequal_shape(void **state) {
  (void)state;
  Kit k;
  float x[6] = {1, 2, 3, 4, 5, 6}, y[6] = {10, 20, 30, 40, 50, 60};
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_loaded(&k, DT_float32, x, SHAPE(1, 2, 3)), *b = kit_loaded(&k, DT_float32, y, SHAPE(1, 6));
  const IrTile *turned = kit_ap(&k, a, 0, PAIRS(6, 1, 1, 3, 3, 2)); /* [1, 3, 2] transposed */
  const IrTile *dst = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(1, 6));
  kit_ins(&k, OP_tensor_tensor, "dst", T(dst), "data1", T(turned), "data2", T(b), "op", I(ALU_add), NULL);
  kit_store(&k, dst);
  kit_ok(&k);
  EXPECT(&k, 0, 11, 24, 32, 45, 53, 66);
  kit_close(&k);
}

static void test_scalar_tensor_tensor(void **state) {
  (void)state;
  Kit k;
  float x[4] = {1, 2, 3, 4}, y[4] = {10, 20, 30, 40}, c[2] = {2, 3};
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_loaded(&k, DT_float32, x, SHAPE(2, 2)), *b = kit_loaded(&k, DT_float32, y, SHAPE(2, 2));
  const IrTile *col = kit_loaded(&k, DT_float32, c, SHAPE(2, 1)), *d = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(2, 2));
  kit_ins(&k, OP_scalar_tensor_tensor, "dst", T(d), "data", T(a), "op0", I(ALU_multiply), "operand0", T(col), "op1",
          I(ALU_subtract), "operand1", T(b), NULL);
  kit_store(&k, d);
  kit_ins(&k, OP_scalar_tensor_tensor, "dst", T(b), "data", T(a), "op0", I(ALU_subtract), "operand0", N(10), "op1",
          I(ALU_subtract), "operand1", T(b), "reverse0", I(1), "reverse1", I(1), NULL); /* in place on operand1 */
  kit_store(&k, b);
  kit_ok(&k);
  EXPECT(&k, 0, -8, -16, -21, -28);
  EXPECT(&k, 1, 1, 12, 23, 34);
  kit_close(&k);
}

static void test_casts(void **state) {
  (void)state;
  Kit k;
  float x[11] = {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 127.5f, 300, -129, INFINITY, -INFINITY, NANF};
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_loaded(&k, DT_float32, x, SHAPE(1, 11));
  const IrTile *i8 = kit_buf(&k, SP_sbuf, DT_int8, SHAPE(1, 11)), *u8 = kit_buf(&k, SP_sbuf, DT_uint8, SHAPE(1, 11));
  kit_ins(&k, OP_tensor_copy, "dst", T(i8), "src", T(a), NULL);
  kit_ins(&k, OP_tensor_copy, "dst", T(u8), "src", T(a), NULL);
  kit_store(&k, i8);
  kit_store(&k, u8);
  kit_ok(&k);
  assert_memory_equal(k.out[0].data, ((int8_t[]){0, 2, 2, 0, -2, 127, 127, -128, 127, -128, 0}), 11);
  assert_memory_equal(k.out[1].data, ((uint8_t[]){0, 2, 2, 0, 0, 128, 255, 0, 255, 0, 0}), 11);
  kit_close(&k);
}

static void test_same_dtype_copies_bits(void **state) {
  (void)state;
  Kit k;
  uint32_t x[2] = {0x7fa00001, 0xffc12345};
  uint16_t h[2] = {0x7fa1, 0xff93};
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_loaded(&k, DT_float32, x, SHAPE(1, 2)), *b = kit_buf(&k, SP_psum, DT_float32, SHAPE(1, 2));
  const IrTile *c = kit_loaded(&k, DT_bfloat16, h, SHAPE(1, 2)), *d = kit_buf(&k, SP_sbuf, DT_bfloat16, SHAPE(1, 2));
  kit_ins(&k, OP_tensor_copy, "dst", T(b), "src", T(a), NULL);
  kit_ins(&k, OP_tensor_copy, "dst", T(d), "src", T(c), NULL);
  kit_store(&k, b);
  kit_store(&k, d);
  kit_ok(&k);
  assert_memory_equal(k.out[0].data, x, sizeof x);
  assert_memory_equal(k.out[1].data, h, sizeof h);
  kit_close(&k);
}

static void test_memset(void **state) {
  (void)state;
  Kit k;
  kit_open(&k, TARGET_trn2);
  const IrTile *f = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(2, 3)), *u = kit_buf(&k, SP_sbuf, DT_uint32, SHAPE(1, 2));
  const IrTile *h = kit_buf(&k, SP_sbuf, DT_int16, SHAPE(1, 3));
  kit_ins(&k, OP_memset, "dst", T(f), "value", N(1), NULL);
  kit_ins(&k, OP_memset, "dst", T(kit_ap(&k, f, 0, PAIRS(3, 2, 2, 2))), "value", N(-0.5), NULL);
  kit_ins(&k, OP_memset, "dst", T(u), "value", N(4294967295.0), NULL);
  kit_ins(&k, OP_memset, "dst", T(h), "value", N(-2), NULL);
  kit_store(&k, f);
  kit_store(&k, u);
  kit_store(&k, h);
  kit_ok(&k);
  EXPECT(&k, 0, -0.5f, 1, -0.5f, -0.5f, 1, -0.5f);
  assert_memory_equal(k.out[1].data, ((uint32_t[]){UINT32_MAX, UINT32_MAX}), 8);
  assert_memory_equal(k.out[2].data, ((int16_t[]){-2, -2, -2}), 6);
  kit_close(&k);
}

static void test_predicated(void **state) {
  (void)state;
  Kit k;
  float x[5] = {1, 2, 3, 4, 5}, seven[5] = {7, 7, 7, 7, 7};
  uint8_t p[5] = {1, 1, 1, 0, 0};
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_loaded(&k, DT_float32, x, SHAPE(1, 5)), *d = kit_loaded(&k, DT_float32, seven, SHAPE(1, 5));
  const IrTile *pred = kit_loaded(&k, DT_uint8, p, SHAPE(1, 5));
  kit_ins(&k, OP_tensor_copy_predicated, "dst", T(d), "src", N(1), "predicate", T(pred), NULL);
  kit_store(&k, d);
  kit_ins(&k, OP_tensor_copy_predicated, "dst", T(d), "src", T(a), "predicate", T(pred), "reverse_pred", I(1), NULL);
  kit_store(&k, d);
  const IrTile *fresh = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(1, 5)); /* stays unwritten where not chosen */
  kit_ins(&k, OP_tensor_copy_predicated, "dst", T(fresh), "src", T(a), "predicate", T(pred), NULL);
  kit_store(&k, fresh);
  kit_ok(&k);
  EXPECT(&k, 0, 1, 1, 1, 7, 7);
  EXPECT(&k, 1, 1, 1, 1, 4, 5);
  EXPECT(&k, 2, 1, 2, 3, NANF, NANF);
  assert_int_equal(k.report.count, 1);
  kit_contains(text_str(&k.report.lines), "reads 2 of the 5 elements");
  kit_close(&k);
}

/* What src never had is no fault where it is not chosen, and one where it is. */
static void test_predicated_unwritten_src(void **state) {
  (void)state;
  Kit k;
  uint8_t p[2] = {1, 0}, q[2] = {0, 1};
  kit_open(&k, TARGET_trn2);
  const IrTile *src = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(1, 2)), *d = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(1, 2));
  kit_ins(&k, OP_memset, "dst", T(kit_ap(&k, src, 0, PAIRS(2, 1, 1, 1))), "value", N(3), NULL);
  kit_ins(&k, OP_memset, "dst", T(d), "value", N(5), NULL);
  const IrTile *pp = kit_loaded(&k, DT_uint8, p, SHAPE(1, 2)), *qq = kit_loaded(&k, DT_uint8, q, SHAPE(1, 2));
  kit_ins(&k, OP_tensor_copy_predicated, "dst", T(d), "src", T(src), "predicate", T(pp), NULL);
  kit_store(&k, d);
  k.line = 80;
  kit_ins(&k, OP_tensor_copy_predicated, "dst", T(d), "src", T(src), "predicate", T(qq), NULL);
  kit_store(&k, d);
  kit_ok(&k);
  EXPECT(&k, 0, 3, 5);
  EXPECT(&k, 1, 3, NANF);
  assert_int_equal(k.report.count, 1);
  kit_contains(text_str(&k.report.lines), "k.lua:80: nisa.tensor_copy_predicated reads 1 of ");
  kit_contains(text_str(&k.report.lines), "between [0, 1] and [0, 1]");
  kit_close(&k);
}

static void test_sim_only(void **state) {
  (void)state;
  Kit k;
  float x[3] = {7, -7, 2.5f}, y[3] = {3, 3, -2};
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_loaded(&k, DT_float32, x, SHAPE(1, 3)), *b = kit_loaded(&k, DT_float32, y, SHAPE(1, 3));
  const IrTile *d = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(1, 3));
  kit_ins(&k, OP_sim_binary, "dst", T(d), "data1", T(a), "data2", T(b), "op", I(sim_binary_op_mod), NULL);
  kit_store(&k, d);
  kit_ins(&k, OP_sim_binary, "dst", T(d), "data1", T(a), "data2", T(b), "op", I(sim_binary_op_fmod), NULL);
  kit_store(&k, d);
  kit_ins(&k, OP_sim_binary, "dst", T(d), "data1", N(1), "data2", T(b), "op", I(sim_binary_op_divide), NULL);
  kit_store(&k, d);
  kit_ins(&k, OP_sim_binary, "dst", T(d), "data1", T(a), "data2", N(2), "op", I(sim_binary_op_divide), NULL);
  kit_store(&k, d);
  kit_ins(&k, OP_sim_unary, "dst", T(d), "data", T(a), "op", I(sim_unary_op_floor), NULL);
  kit_store(&k, d);
  kit_ins(&k, OP_reciprocal, "dst", T(d), "data", T(b), NULL);
  kit_store(&k, d);
  kit_ok(&k);
  EXPECT(&k, 0, 1, 2, -1.5f);
  EXPECT(&k, 1, 1, -1, 0.5f);
  EXPECT(&k, 2, 1.0f / 3, 1.0f / 3, -0.5f);
  EXPECT(&k, 3, 3.5f, -3.5f, 1.25f);
  EXPECT(&k, 4, 7, -7, 2);
  EXPECT(&k, 5, 1.0f / 3, 1.0f / 3, -0.5f);
  kit_close(&k);
}

static void test_device_print(void **state) {
  (void)state;
  Kit k;
  float x[4] = {1, -2.5f, NANF, INFINITY};
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_loaded(&k, DT_float32, x, SHAPE(2, 2));
  kit_ins(&k, OP_device_print, "print_prefix", S("here:"), "tensor", T(a), NULL);
  kit_ok(&k);
  kit_contains(text_str(&k.printed), "here: ");
  kit_contains(text_str(&k.printed), "\n[[1.0, -2.5],\n [nan, inf]]\n");
  kit_close(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tensor_tensor_f32),
      cmocka_unit_test(test_bf16_is_computed_as_numbers),
      cmocka_unit_test(test_imprecise_keeps_f32),
      cmocka_unit_test(test_int32_engines),
      cmocka_unit_test(test_bits),
      cmocka_unit_test(test_tensor_scalar),
      cmocka_unit_test(test_columns_of_columns),
      cmocka_unit_test(test_broadcast_view),
      cmocka_unit_test(test_patterns_of_unequal_shape),
      cmocka_unit_test(test_scalar_tensor_tensor),
      cmocka_unit_test(test_casts),
      cmocka_unit_test(test_same_dtype_copies_bits),
      cmocka_unit_test(test_memset),
      cmocka_unit_test(test_predicated),
      cmocka_unit_test(test_predicated_unwritten_src),
      cmocka_unit_test(test_sim_only),
      cmocka_unit_test(test_device_print),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
