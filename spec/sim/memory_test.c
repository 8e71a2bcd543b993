/* memory_test.c -- spec/sim: sentinels, reports of unwritten reads, borrowed loads, overlap of reads and writes. */
#include "kit.h"

static void test_copy_through_sbuf(void **state) {
  (void)state;
  Kit k;
  float x[6] = {1, 2, 3, 4, 5, NAN};
  kit_open(&k, TARGET_trn2);
  kit_store(&k, kit_loaded(&k, DT_float32, x, SHAPE(2, 3)));
  kit_ok(&k);
  EXPECT(&k, 0, 1, 2, 3, 4, 5, NAN);
  assert_int_equal(k.report.count, 0);
  kit_close(&k);
}

static void test_unwritten_is_sentinel_and_reported_once(void **state) {
  (void)state;
  Kit k;
  kit_open(&k, TARGET_trn2);
  const IrTile *t = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(2, 4)), *i = kit_buf(&k, SP_sbuf, DT_int32, SHAPE(2, 2));
  const IrTile *left = kit_ap(&k, t, 0, PAIRS(4, 2, 1, 3));
  kit_ins(&k, OP_memset, "dst", T(left), "value", N(7), NULL);
  k.line = 50;
  kit_store(&k, t);
  kit_store(&k, i);
  kit_ok(&k);
  EXPECT(&k, 0, 7, 7, 7, NAN, 7, 7, 7, NAN);
  uint32_t want = 0xa5a5a5a5;
  assert_memory_equal(k.out[1].data, &want, 4);
  assert_int_equal(k.report.count, 2);
  kit_contains(text_str(&k.report.lines), "k.lua:50: nisa.dma_copy reads 2 of the 8 elements of src = ");
  kit_contains(text_str(&k.report.lines), "never written, between [0, 3] and [1, 3]");
  kit_close(&k);
}

static void test_strict_makes_it_an_error(void **state) {
  (void)state;
  Kit k;
  kit_open(&k, TARGET_trn2);
  const IrTile *t = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(2, 4));
  k.line = 9;
  kit_store(&k, t);
  k.opt.strict = true;
  assert_false(kit_run(&k));
  assert_int_equal(k.d.id, ERR_unwritten);
  assert_int_equal(k.d.line, 9);
  kit_contains(diag_message(&k.d), "reads 8 of the 8 elements of src");
  kit_close(&k);
}

/* A value that happens to be the sentinel is not unwritten. */
static void test_written_nan_is_no_report(void **state) {
  (void)state;
  Kit k;
  kit_open(&k, TARGET_trn2);
  const IrTile *t = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(1, 2));
  kit_ins(&k, OP_memset, "dst", T(t), "value", N(NAN), NULL);
  kit_store(&k, t);
  kit_ok(&k);
  EXPECT(&k, 0, NAN, NAN);
  assert_int_equal(k.report.count, 0);
  kit_close(&k);
}

/* The memory of a dead tile is used again, and the new tile does not see the old values. */
static void test_reused_storage_is_unwritten(void **state) {
  (void)state;
  Kit k;
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(1, 2));
  kit_ins(&k, OP_memset, "dst", T(a), "value", N(3), NULL);
  kit_store(&k, a);
  const IrTile *b = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(1, 2));
  kit_ins(&k, OP_memset, "dst", T(kit_ap(&k, b, 1, PAIRS(2, 1, 1, 1))), "value", N(4), NULL);
  kit_store(&k, b);
  kit_ok(&k);
  EXPECT(&k, 0, 3, 3);
  EXPECT(&k, 1, NAN, 4);
  assert_int_equal(k.report.count, 1);
  kit_close(&k);
}

static void test_partly_stored_output(void **state) {
  (void)state;
  Kit k;
  float x[2] = {1, 2};
  kit_open(&k, TARGET_trn2);
  const IrTile *t = kit_loaded(&k, DT_float32, x, SHAPE(1, 2));
  const IrTile *out = kit_out(&k, DT_float32, SHAPE(2, 2));
  kit_load(&k, kit_ap(&k, out, 0, PAIRS(2, 1, 1, 2)), t);
  kit_ok(&k);
  EXPECT(&k, 0, 1, 2, NAN, NAN);
  kit_contains(text_str(&k.report.lines), "2 of its 4 elements were never written, first [1, 0]");
  kit_close(&k);
}

static void test_operand_is_never_written(void **state) {
  (void)state;
  Kit k;
  float x[4] = {1, 2, 3, 4};
  kit_open(&k, TARGET_trn2);
  const IrTile *t = kit_to_sbuf(&k, kit_in(&k, DT_float32, x, SHAPE(1, 4)));
  kit_ins(&k, OP_memset, "dst", T(kit_ap(&k, t, 1, PAIRS(4, 1, 2, 2))), "value", N(9),
          NULL); /* part of a borrowed tile */
  kit_store(&k, t);
  kit_ins(&k, OP_memset, "dst", T(t), "value", N(5), NULL);
  kit_store(&k, t);
  kit_ok(&k);
  EXPECT(&k, 0, 1, 9, 3, 9);
  EXPECT(&k, 1, 5, 5, 5, 5);
  assert_memory_equal(x, ((float[]){1, 2, 3, 4}), sizeof x);
  kit_close(&k);
}

static void test_overlap_reads_before_writes(void **state) {
  (void)state;
  Kit k;
  float x[6] = {1, 2, 3, 4, 5, 6};
  kit_open(&k, TARGET_trn2);
  const IrTile *t = kit_loaded(&k, DT_float32, x, SHAPE(1, 6));
  const IrTile *head = kit_ap(&k, t, 0, PAIRS(6, 1, 1, 5)), *tail = kit_ap(&k, t, 1, PAIRS(6, 1, 1, 5));
  kit_ins(&k, OP_tensor_copy, "dst", T(tail), "src", T(head), NULL);
  kit_store(&k, t);
  kit_ins(&k, OP_tensor_tensor, "dst", T(tail), "data1", T(head), "data2", T(tail), "op", I(ALU_add), NULL);
  kit_store(&k, t);
  kit_ins(&k, OP_tensor_scalar, "dst", T(head), "data", T(tail), "op0", I(ALU_multiply), "operand0", N(10), NULL);
  kit_store(&k, t);
  kit_ok(&k);
  EXPECT(&k, 0, 1, 1, 2, 3, 4, 5);
  EXPECT(&k, 1, 1, 2, 3, 5, 7, 9);
  EXPECT(&k, 2, 20, 30, 50, 70, 90, 9);
  kit_close(&k);
}

static void test_view_of_other_dtype(void **state) {
  (void)state;
  Kit k;
  float x[2] = {1.0f, -2.0f};
  kit_open(&k, TARGET_trn2);
  const IrTile *t = kit_loaded(&k, DT_float32, x, SHAPE(1, 2));
  const IrTile *u = kit_cast(&k, t, DT_uint32, SHAPE(1, 2)), *h = kit_cast(&k, t, DT_uint16, SHAPE(1, 4));
  kit_ins(&k, OP_tensor_scalar, "dst", T(u), "data", T(u), "op0", I(ALU_bitwise_xor), "operand0", N(2147483648.0),
          NULL);
  kit_store(&k, t);
  kit_store(&k, h);
  kit_ok(&k);
  EXPECT(&k, 0, -1.0f, 2.0f);
  assert_memory_equal(k.out[1].data, ((uint16_t[]){0, 0xbf80, 0, 0x4000}), 8);
  kit_close(&k);
}

/* A view of smaller elements writes half of a larger one: that one is not written. */
static void test_partly_written_element(void **state) {
  (void)state;
  Kit k;
  kit_open(&k, TARGET_trn2);
  const IrTile *t = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(1, 2));
  const IrTile *h = kit_cast(&k, t, DT_uint16, SHAPE(1, 4)); /* halves: low, high, low, high */
  kit_ins(&k, OP_memset, "dst", T(kit_ap(&k, h, 1, PAIRS(4, 1, 1, 3))), "value", N(0x4000), NULL);
  k.line = 33;
  kit_store(&k, t);
  kit_ok(&k);
  assert_memory_equal((char *)k.out[0].data + 2, ((uint16_t[]){0x4000, 0x4000, 0x4000}), 6);
  assert_int_equal(k.report.count, 1);
  kit_contains(text_str(&k.report.lines), "k.lua:33: nisa.dma_copy reads 1 of the 2 elements");
  kit_contains(text_str(&k.report.lines), "between [0, 0] and [0, 0]");
  kit_close(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_copy_through_sbuf),
      cmocka_unit_test(test_unwritten_is_sentinel_and_reported_once),
      cmocka_unit_test(test_strict_makes_it_an_error),
      cmocka_unit_test(test_written_nan_is_no_report),
      cmocka_unit_test(test_reused_storage_is_unwritten),
      cmocka_unit_test(test_partly_stored_output),
      cmocka_unit_test(test_operand_is_never_written),
      cmocka_unit_test(test_overlap_reads_before_writes),
      cmocka_unit_test(test_view_of_other_dtype),
      cmocka_unit_test(test_partly_written_element),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
