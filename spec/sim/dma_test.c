/* dma_test.c -- spec/sim: copies between HBM and SBUF: conversion, views, gather, scatter, transposes, offsets out of
 * range. */
#include "kit.h"

static void test_conversion(void **state) {
  (void)state;
  Kit k;
  float x[3] = {1.00390625f, 1e6f, -2};
  kit_open(&k, TARGET_trn2);
  const IrTile *in = kit_const(&k, DT_float32, x, SHAPE(1, 3)), *h = kit_buf(&k, SP_sbuf, DT_bfloat16, SHAPE(1, 3));
  const IrTile *i8 = kit_buf(&k, SP_sbuf, DT_int8, SHAPE(1, 3));
  kit_load(&k, h, in);
  kit_load(&k, i8, in);
  kit_store(&k, h);
  kit_store(&k, i8);
  kit_ok(&k);
  assert_memory_equal(k.out[0].data, ((uint16_t[]){0x3f80, 0x4974, 0xc000}), 6);
  assert_memory_equal(k.out[1].data, ((int8_t[]){1, 127, -2}), 3);
  kit_close(&k);
}

static void test_row_major_correspondence(void **state) {
  (void)state;
  Kit k;
  float x[6] = {1, 2, 3, 4, 5, 6};
  kit_open(&k, TARGET_trn2);
  const IrTile *in = kit_const(&k, DT_float32, x, SHAPE(6)), *t = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(3, 2));
  const IrTile *out = kit_out(&k, DT_float32, SHAPE(2, 3));
  kit_load(&k, t, kit_ap(&k, in, 0, PAIRS(1, 3, 3, 2))); /* transposed view */
  kit_load(&k, out, t);
  const IrTile *rep = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(2, 3)); /* a row for every partition */
  kit_load(&k, rep, kit_ap(&k, in, 3, PAIRS(0, 2, 1, 3)));
  kit_store(&k, rep);
  kit_ok(&k);
  EXPECT(&k, 0, 1, 4, 2, 5, 3, 6);
  EXPECT(&k, 1, 4, 5, 6, 4, 5, 6);
  kit_close(&k);
}

static const IrTile *rows(Kit *k, const IrTile *of, const IrTile *idx, int64_t parts, int64_t width) {
  IrTile *t = ir_tile_new(k->m);
  *t = *kit_ap(k, of, 0, PAIRS(width, parts, 1, width));
  t->vec = idx;
  t->vec_dim = 0;
  t->dyn_max = k->f->bufs[of->buf]->count - width; /* any row of the tensor */
  return t;
}

static void test_gather(void **state) {
  (void)state;
  Kit k;
  float table[8] = {0, 1, 10, 11, 20, 21, 30, 31};
  int32_t at[3] = {2, 0, 2};
  kit_open(&k, TARGET_trn2);
  const IrTile *hbm = kit_const(&k, DT_float32, table, SHAPE(4, 2)), *idx = kit_loaded(&k, DT_int32, at, SHAPE(3, 1));
  const IrTile *t = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(3, 2));
  kit_load(&k, t, rows(&k, hbm, idx, 3, 2));
  kit_store(&k, t);
  kit_ok(&k);
  EXPECT(&k, 0, 20, 21, 0, 1, 20, 21);
  assert_int_equal(k.report.count, 0);
  kit_close(&k);
}

static void test_scatter(void **state) {
  (void)state;
  Kit k;
  float x[6] = {1, 2, 3, 4, 5, 6};
  int32_t at[3] = {2, 0, 2};
  kit_open(&k, TARGET_trn2);
  const IrTile *t = kit_loaded(&k, DT_float32, x, SHAPE(3, 2)), *idx = kit_loaded(&k, DT_int32, at, SHAPE(3, 1));
  const IrTile *out = kit_out(&k, DT_float32, SHAPE(4, 2));
  kit_load(&k, rows(&k, out, idx, 3, 2), t);
  kit_ok(&k);
  EXPECT(&k, 0, 3, 4, NAN, NAN, 5, 6, NAN, NAN); /* the last of equal indices wins */
  kit_contains(text_str(&k.report.lines), "4 of its 8 elements were never written, first [1, 0]");
  kit_close(&k);
}

static void test_gather_out_of_bound(void **state) {
  (void)state;
  for (int skip = 0; skip < 2; skip++) {
    Kit k;
    float table[4] = {0, 1, 10, 11};
    int32_t at[3] = {1, -1, 2};
    kit_open(&k, TARGET_trn2);
    const IrTile *hbm = kit_const(&k, DT_float32, table, SHAPE(2, 2)), *idx = kit_loaded(&k, DT_int32, at, SHAPE(3, 1));
    const IrTile *t = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(3, 2));
    k.line = 40;
    kit_ins(&k, OP_dma_copy, "dst", T(t), "src", T(rows(&k, hbm, idx, 3, 2)), "oob_mode", I(skip), NULL);
    kit_store(&k, t);
    if (skip) {
      kit_ok(&k);
      EXPECT(&k, 0, 10, 11, NAN, NAN, NAN, NAN);
      kit_contains(text_str(&k.report.lines), "reads 4 of the 6 elements");
    } else {
      assert_false(kit_run(&k));
      assert_int_equal(k.d.id, ERR_tensor_access_out_of_bound);
      assert_int_equal(k.d.line, 40);
      kit_contains(diag_message(&k.d), "row 1 of its vector offset is index -1 of dimension 0, which has 2");
    }
    kit_close(&k);
  }
}

static void test_gather_unwritten_rows(void **state) {
  (void)state;
  Kit k;
  int32_t at[2] = {2, 0};
  kit_open(&k, TARGET_trn2);
  const IrTile *hbm = kit_buf(&k, SP_private_hbm, DT_float32, SHAPE(3, 2)),
               *idx = kit_loaded(&k, DT_int32, at, SHAPE(2, 1));
  const IrTile *t = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(2, 2)), *one = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(2, 2));
  kit_ins(&k, OP_memset, "dst", T(one), "value", N(1), NULL);
  kit_load(&k, kit_ap(&k, hbm, 0, PAIRS(2, 2, 1, 2)), one); /* rows 0 and 1, not 2 */
  k.line = 20;
  kit_load(&k, t, rows(&k, hbm, idx, 2, 2));
  kit_store(&k, t);
  kit_ok(&k);
  EXPECT(&k, 0, NAN, NAN, 1, 1);
  kit_contains(text_str(&k.report.lines), "k.lua:20: nisa.dma_copy reads 2 of the 2 elements of src = ");
  kit_contains(text_str(&k.report.lines), "between [2, 0] and [2, 1]");
  kit_close(&k);
}

/* A negative index is outside also where the view begins in a later row. */
static void test_gather_negative_from_offset(void **state) {
  (void)state;
  Kit k;
  float table[4] = {0, 1, 10, 11};
  int32_t at[1] = {-1};
  kit_open(&k, TARGET_trn2);
  k.verify = false;
  const IrTile *hbm = kit_const(&k, DT_float32, table, SHAPE(2, 2)), *idx = kit_loaded(&k, DT_int32, at, SHAPE(1, 1));
  IrTile *t = ir_tile_new(k.m);
  *t = *rows(&k, hbm, idx, 1, 2);
  t->offset = 2;
  kit_load(&k, kit_buf(&k, SP_sbuf, DT_float32, SHAPE(1, 2)), t);
  assert_false(kit_run(&k));
  assert_int_equal(k.d.id, ERR_tensor_access_out_of_bound);
  kit_close(&k);
}

static void test_transposes(void **state) {
  (void)state;
  Kit k;
  float x[24];
  for (int i = 0; i < 24; i++) x[i] = (float)i;
  kit_open(&k, TARGET_trn2);
  const IrTile *in2 = kit_const(&k, DT_float32, x, SHAPE(4, 6)), *in3 = kit_const(&k, DT_float32, x, SHAPE(2, 3, 4));
  const IrTile *in4 = kit_const(&k, DT_float32, x, SHAPE(2, 3, 2, 2));
  const IrTile *t2 = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(6, 4)),
               *t3 = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(4, 3, 2));
  const IrTile *t4 = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(2, 3, 2, 2));
  kit_ins(&k, OP_dma_transpose, "dst", T(t2), "src", T(in2), NULL);
  kit_ins(&k, OP_dma_transpose, "dst", T(t3), "src", T(in3), "axes", LIST(&k, 3, (int64_t[]){2, 1, 0}), NULL);
  kit_ins(&k, OP_dma_transpose, "dst", T(t4), "src", T(in4), NULL);
  kit_store(&k, t2);
  kit_store(&k, t3);
  kit_store(&k, t4);
  kit_ok(&k);
  for (int a = 0; a < 6; a++)
    for (int b = 0; b < 4; b++) assert_true(kit_f32(&k, 0, a * 4 + b) == x[b * 6 + a]);
  for (int a = 0; a < 4; a++)
    for (int b = 0; b < 3; b++)
      for (int c = 0; c < 2; c++) assert_true(kit_f32(&k, 1, a * 6 + b * 2 + c) == x[c * 12 + b * 4 + a]);
  for (int a = 0; a < 2; a++) /* axes 3 1 2 0 */
    for (int b = 0; b < 3; b++)
      for (int c = 0; c < 2; c++)
        for (int e = 0; e < 2; e++)
          assert_true(kit_f32(&k, 2, a * 12 + b * 4 + c * 2 + e) == x[e * 12 + b * 4 + c * 2 + a]);
  kit_close(&k);
}

static void test_large_transpose(void **state) {
  (void)state;
  Kit k;
  static uint16_t x[100 * 130];
  for (int i = 0; i < 100 * 130; i++) x[i] = (uint16_t)i;
  kit_open(&k, TARGET_trn2);
  const IrTile *in = kit_const(&k, DT_uint16, x, SHAPE(130, 100)),
               *t = kit_buf(&k, SP_sbuf, DT_uint16, SHAPE(100, 130));
  kit_ins(&k, OP_dma_transpose, "dst", T(t), "src", T(in), NULL);
  kit_store(&k, t);
  kit_ok(&k);
  const uint16_t *got = k.out[0].data;
  for (int a = 0; a < 100; a++)
    for (int b = 0; b < 130; b++) assert_int_equal(got[a * 130 + b], x[b * 100 + a]);
  kit_close(&k);
}

static void test_dynamic_offset_out_of_bound(void **state) {
  (void)state;
  for (int skip = 0; skip < 2; skip++) {
    Kit k;
    float x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    kit_open(&k, TARGET_trn2);
    const IrTile *in = kit_const(&k, DT_float32, x, SHAPE(4, 2)), *t = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(1, 2));
    kit_ins(&k, OP_memset, "dst", T(t), "value", N(-1), NULL);
    const IrTile *out = kit_out(&k, DT_float32, SHAPE(5, 2));
    uint32_t i = kit_for(&k, I(0), I(5), 1);
    uint32_t e = kit_affine(&k, 2, i, 0);
    k.line = 60;
    kit_ins(&k, OP_dma_copy, "dst", T(t), "src", T(kit_dyn(&k, kit_ap(&k, in, 0, PAIRS(2, 1, 1, 2)), e, 6)), "oob_mode",
            I(skip), NULL);
    kit_load(&k, kit_dyn(&k, kit_ap(&k, out, 0, PAIRS(2, 1, 1, 2)), e, 8), t);
    kit_end(&k);
    if (skip) {
      kit_ok(&k);
      EXPECT(&k, 0, 1, 2, 3, 4, 5, 6, 7, 8, 7, 8); /* the fifth left t as it was */
    } else {
      assert_false(kit_run(&k));
      assert_int_equal(k.d.id, ERR_tensor_access_out_of_bound);
      assert_int_equal(k.d.line, 60);
      kit_contains(diag_message(&k.d), "nisa.dma_copy: src of ");
      kit_contains(diag_message(&k.d), "[4,2]");
      kit_contains(diag_message(&k.d), "begins at index [4, 0]");
      kit_contains(text_str(&k.d.notes), "iteration with index 4");
    }
    kit_close(&k);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_conversion),
      cmocka_unit_test(test_row_major_correspondence),
      cmocka_unit_test(test_gather),
      cmocka_unit_test(test_scatter),
      cmocka_unit_test(test_gather_out_of_bound),
      cmocka_unit_test(test_gather_unwritten_rows),
      cmocka_unit_test(test_gather_negative_from_offset),
      cmocka_unit_test(test_transposes),
      cmocka_unit_test(test_large_transpose),
      cmocka_unit_test(test_dynamic_offset_out_of_bound),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
