/* tensor_test.c -- spec/sim: matmul with PSUM accumulation, transposes. */
#include "kit.h"

static void matmul(Kit *k, const IrTile *dst, const IrTile *st, const IrTile *mv, int accumulate) {
  kit_ins(k, OP_nc_matmul, "dst", T(dst), "stationary", T(st), "moving", T(mv), "accumulate",
          accumulate < 0 ? (IrVal){0} : I(accumulate), NULL);
}

static float *filled(int64_t n, float v) {
  float *p = malloc((size_t)n * sizeof *p);
  for (int64_t i = 0; i < n; i++) p[i] = v;
  return p;
}

static void test_unequal_sizes(void **state) {
  (void)state;
  Kit k;
  enum { K = 128, M = 64, NN = 512 };
  float *l = filled(K * M, 0), *r = filled(K * NN, 0);
  for (int i = 0; i < K; i++) {
    for (int m = 0; m < M; m++) l[i * M + m] = (float)(m + 1);
    for (int n = 0; n < NN; n++) r[i * NN + n] = (float)(n + 1);
  }
  kit_open(&k, TARGET_trn2);
  const IrTile *st = kit_loaded(&k, DT_float32, l, SHAPE(K, M)), *mv = kit_loaded(&k, DT_float32, r, SHAPE(K, NN));
  const IrTile *ps = kit_buf(&k, SP_psum, DT_float32, SHAPE(M, NN));
  matmul(&k, ps, st, mv, -1);
  kit_store(&k, ps);
  kit_ok(&k);
  for (int m = 0; m < M; m++)
    for (int n = 0; n < NN; n++) assert_true(kit_f32(&k, 0, m * NN + n) == 128.0f * (float)(m + 1) * (float)(n + 1));
  assert_true(kit_f32(&k, 0, M * NN - 1) == 4194304.0f);
  kit_close(&k);
  free(l);
  free(r);
}

static void test_narrow_operands(void **state) {
  (void)state;
  for (int f16 = 0; f16 < 2; f16++) {
    Kit k;
    uint16_t two[256], one[256];
    for (int i = 0; i < 256; i++) two[i] = f16 ? 0x4000 : 0x4000, one[i] = f16 ? 0x3c00 : 0x3f80;
    DType dt = f16 ? DT_float16 : DT_bfloat16;
    kit_open(&k, TARGET_trn2);
    const IrTile *a = kit_loaded(&k, dt, two, SHAPE(16, 16)), *b = kit_loaded(&k, dt, one, SHAPE(16, 16));
    const IrTile *ps = kit_buf(&k, SP_psum, DT_float32, SHAPE(16, 16));
    matmul(&k, ps, a, b, -1);
    kit_store(&k, ps);
    kit_ok(&k);
    for (int i = 0; i < 256; i++) assert_true(kit_f32(&k, 0, i) == 32.0f);
    kit_close(&k);
  }
}

static void test_accumulate_rules(void **state) {
  (void)state;
  Kit k;
  float x[2] = {1, 2}, y[2] = {3, 4}; /* (1 x 2): outer product 3 4 6 8 */
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_loaded(&k, DT_float32, x, SHAPE(1, 2)), *b = kit_loaded(&k, DT_float32, y, SHAPE(1, 2));
  const IrTile *ps = kit_buf(&k, SP_psum, DT_float32, SHAPE(2, 2));
  matmul(&k, ps, a, b, -1); /* first: overwrites */
  kit_store(&k, ps);
  matmul(&k, ps, a, b, -1); /* then adds */
  kit_store(&k, ps);
  matmul(&k, ps, a, b, 0); /* overwrites */
  kit_store(&k, ps);
  matmul(&k, ps, a, b, 1); /* adds */
  kit_store(&k, ps);
  kit_ins(&k, OP_memset, "dst", T(ps), "value", N(100), NULL); /* clears the state */
  matmul(&k, ps, a, b, -1);
  kit_store(&k, ps);
  kit_ok(&k);
  EXPECT(&k, 0, 3, 4, 6, 8);
  EXPECT(&k, 1, 6, 8, 12, 16);
  EXPECT(&k, 2, 3, 4, 6, 8);
  EXPECT(&k, 3, 6, 8, 12, 16);
  EXPECT(&k, 4, 3, 4, 6, 8);
  assert_int_equal(k.report.count, 0);
  kit_close(&k);
}

/* Per location: what one matmul started is added to, the rest is overwritten. */
static void test_accumulate_by_location(void **state) {
  (void)state;
  Kit k;
  float x[1] = {1}, y[4] = {1, 2, 3, 4};
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_loaded(&k, DT_float32, x, SHAPE(1, 1)), *b = kit_loaded(&k, DT_float32, y, SHAPE(1, 4));
  const IrTile *ps = kit_buf(&k, SP_psum, DT_float32, SHAPE(1, 4));
  matmul(&k, kit_ap(&k, ps, 1, PAIRS(4, 1, 1, 2)), a, kit_ap(&k, b, 1, PAIRS(4, 1, 1, 2)), -1);
  matmul(&k, ps, a, b, -1);
  kit_store(&k, ps);
  kit_ins(&k, OP_memset, "dst", T(kit_ap(&k, ps, 3, PAIRS(4, 1, 1, 1))), "value", N(50), NULL);
  matmul(&k, ps, a, b, -1);
  kit_store(&k, ps);
  kit_ok(&k);
  EXPECT(&k, 0, 1, 4, 6, 4);
  EXPECT(&k, 1, 2, 6, 9, 4);
  assert_int_equal(k.report.count, 0);
  kit_close(&k);
}

static void test_never_started(void **state) {
  (void)state;
  for (int strict = 0; strict < 2; strict++) {
    Kit k;
    float x[1] = {2};
    kit_open(&k, TARGET_trn2);
    const IrTile *a = kit_loaded(&k, DT_float32, x, SHAPE(1, 1)), *ps = kit_buf(&k, SP_psum, DT_float32, SHAPE(1, 1));
    k.line = 30;
    matmul(&k, ps, a, a, 1);
    kit_store(&k, ps);
    k.opt.strict = strict;
    if (strict) {
      assert_false(kit_run(&k));
      assert_int_equal(k.d.line, 30);
      kit_contains(diag_message(&k.d), "adds to dst = psum");
    } else {
      kit_ok(&k);
      EXPECT(&k, 0, NAN);
      kit_contains(text_str(&k.report.lines), "k.lua:30: nisa.nc_matmul with accumulate=true adds to dst = psum");
      assert_int_equal(k.report.count, 1);
    }
    kit_close(&k);
  }
}

/* gen4 may add to what a memset wrote; before it is undefined, and reported. */
static void test_accumulate_on_memset(void **state) {
  (void)state;
  for (int gen = 3; gen <= 4; gen++) {
    Kit k;
    float x[1] = {2};
    kit_open(&k, gen == 3 ? TARGET_trn2 : TARGET_trn3);
    const IrTile *a = kit_loaded(&k, DT_float32, x, SHAPE(1, 1)), *ps = kit_buf(&k, SP_psum, DT_float32, SHAPE(1, 1));
    kit_ins(&k, OP_memset, "dst", T(ps), "value", N(10), NULL);
    matmul(&k, ps, a, a, 1);
    kit_store(&k, ps);
    kit_ok(&k);
    EXPECT(&k, 0, 14);
    assert_int_equal(k.report.count, gen == 3 ? 1 : 0);
    kit_close(&k);
  }
}

static void test_bf16_psum(void **state) {
  (void)state;
  Kit k;
  float x[2] = {1, 0.00390625f}, y[1] = {1}; /* 1 and 2^-8 */
  kit_open(&k, TARGET_trn3);
  const IrTile *a = kit_loaded(&k, DT_float32, x, SHAPE(1, 2)), *b = kit_loaded(&k, DT_float32, y, SHAPE(1, 1));
  const IrTile *ps = kit_buf(&k, SP_psum, DT_bfloat16, SHAPE(1, 1));
  matmul(&k, ps, kit_ap(&k, a, 0, PAIRS(2, 1, 1, 1)), b, -1);
  matmul(&k, ps, kit_ap(&k, a, 1, PAIRS(2, 1, 1, 1)), b, -1);
  kit_store(&k, ps);
  kit_ok(&k);
  assert_memory_equal(k.out[0].data, ((uint16_t[]){0x3f80}), 2); /* rounded after each */
  kit_close(&k);
}

static void test_double_row(void **state) {
  (void)state;
  Kit k;
  uint8_t st[2 * 2 * 3], mv[2 * 2 * 2]; /* [K=2, 2, M=3] and [K=2, 2, N=2] of float8_e4m3 small integers */
  const uint8_t code[5] = {0x00, 0x38, 0x40, 0x44, 0x48}; /* 0 1 2 3 4 */
  float s[12], m[8], want[6] = {0};
  for (int i = 0; i < 12; i++) st[i] = code[i % 5], s[i] = (float)(i % 5);
  for (int i = 0; i < 8; i++) mv[i] = code[(i * 3) % 5], m[i] = (float)(i * 3 % 5);
  for (int kk = 0; kk < 4; kk++)
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 2; b++) want[a * 2 + b] += s[kk * 3 + a] * m[kk * 2 + b];
  kit_open(&k, TARGET_trn2);
  const IrTile *x = kit_loaded(&k, DT_float8_e4m3, st, SHAPE(2, 2, 3)),
               *y = kit_loaded(&k, DT_float8_e4m3, mv, SHAPE(2, 2, 2));
  const IrTile *ps = kit_buf(&k, SP_psum, DT_float32, SHAPE(3, 2));
  kit_ins(&k, OP_nc_matmul, "dst", T(ps), "stationary", T(x), "moving", T(y), "perf_mode",
          I(matmul_perf_mode_double_row), NULL);
  kit_store(&k, ps);
  kit_ok(&k);
  kit_expect(&k, 0, 6, want);
  kit_close(&k);
}

static void test_transpose_mode_moves_bits(void **state) {
  (void)state;
  Kit k;
  uint16_t x[4] = {0x7f80, 0x7fa5, 0x0001, 0xff80},
           one[4] = {0x3f80, 0, 0, 0x3f80}; /* inf, NaN with payload, subnormal */
  float three[4] = {3, 0, 0, 3};
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_loaded(&k, DT_bfloat16, x, SHAPE(2, 2)), *id = kit_loaded(&k, DT_bfloat16, one, SHAPE(2, 2));
  const IrTile *ps = kit_buf(&k, SP_psum, DT_bfloat16, SHAPE(2, 2));
  kit_ins(&k, OP_nc_matmul, "dst", T(ps), "stationary", T(a), "moving", T(id), "is_transpose", I(1), NULL);
  kit_store(&k, ps);
  kit_ok(&k);
  assert_memory_equal(k.out[0].data, ((uint16_t[]){0x7f80, 0x0001, 0x7fa5, 0xff80}), 8);
  kit_close(&k);
  kit_open(&k, TARGET_trn2);
  const IrTile *t = kit_loaded(&k, DT_float32, three, SHAPE(2, 2)), *p2 = kit_buf(&k, SP_psum, DT_float32, SHAPE(2, 2));
  kit_ins(&k, OP_nc_matmul, "dst", T(p2), "stationary", T(t), "moving", T(t), "is_transpose", I(1), NULL);
  assert_false(kit_run(&k));
  assert_int_equal(k.d.id, ERR_transpose_selection);
  kit_close(&k);
}

static void test_nc_transpose(void **state) {
  (void)state;
  Kit k;
  float x[6] = {1, 2, 3, 4, INFINITY, 6};
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_loaded(&k, DT_float32, x, SHAPE(2, 3)), *v = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(3, 2));
  const IrTile *ps = kit_buf(&k, SP_psum, DT_float32, SHAPE(3, 2));
  kit_ins(&k, OP_nc_transpose, "dst", T(v), "data", T(a), NULL);
  kit_ins(&k, OP_nc_transpose, "dst", T(ps), "data", T(a), NULL);
  kit_store(&k, v);
  kit_store(&k, ps);
  kit_ok(&k);
  EXPECT(&k, 0, 1, 4, 2, INFINITY, 3, 6);
  EXPECT(&k, 1, 1, 4, 2, INFINITY, 3, 6);
  kit_close(&k);
}

/* gen2's Tensor engine multiplies by an identity, so inf * 0 reaches the row; its Vector engine moves bits. */
static void test_nc_transpose_gen2(void **state) {
  (void)state;
  Kit k;
  float x[6] = {1, 2, 3, 4, INFINITY, NAN};
  kit_open(&k, TARGET_trn1);
  const IrTile *a = kit_loaded(&k, DT_float32, x, SHAPE(2, 3)), *v = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(3, 2));
  const IrTile *ps = kit_buf(&k, SP_psum, DT_float32, SHAPE(3, 2));
  kit_ins(&k, OP_nc_transpose, "dst", T(v), "data", T(a), NULL);
  kit_ins(&k, OP_nc_transpose, "dst", T(ps), "data", T(a), NULL);
  kit_store(&k, v);
  kit_store(&k, ps);
  kit_ok(&k);
  EXPECT(&k, 0, 1, 4, 2, INFINITY, 3, NAN);
  EXPECT(&k, 1, 1, 4, NAN, INFINITY, NAN, NAN);
  kit_close(&k);
}

static void test_onezero_hint(void **state) {
  (void)state;
  Kit k;
  float x[2] = {1, 0}, y[2] = {1, 2};
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_loaded(&k, DT_float32, x, SHAPE(1, 2)), *b = kit_loaded(&k, DT_float32, y, SHAPE(1, 2));
  const IrTile *ps = kit_buf(&k, SP_psum, DT_float32, SHAPE(2, 2));
  kit_ins(&k, OP_nc_matmul, "dst", T(ps), "stationary", T(a), "moving", T(b), "is_stationary_onezero", I(1), NULL);
  kit_ins(&k, OP_nc_matmul, "dst", T(ps), "stationary", T(a), "moving", T(b), "is_moving_onezero", I(1), NULL);
  kit_store(&k, ps);
  kit_ok(&k);
  assert_int_equal(k.report.count, 1);
  kit_contains(text_str(&k.report.lines), "is_moving_onezero is set, but ");
  kit_close(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_unequal_sizes),
      cmocka_unit_test(test_narrow_operands),
      cmocka_unit_test(test_accumulate_rules),
      cmocka_unit_test(test_accumulate_by_location),
      cmocka_unit_test(test_never_started),
      cmocka_unit_test(test_accumulate_on_memset),
      cmocka_unit_test(test_bf16_psum),
      cmocka_unit_test(test_double_row),
      cmocka_unit_test(test_transpose_mode_moves_bits),
      cmocka_unit_test(test_nc_transpose),
      cmocka_unit_test(test_nc_transpose_gen2),
      cmocka_unit_test(test_onezero_hint),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
