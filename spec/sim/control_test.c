/* control_test.c -- spec/sim: registers, device loops, grids, aliases, interruption. */
#include "kit.h"

static const IrTile *row_of(Kit *k, const IrTile *t, uint32_t element, int64_t max) {
  return kit_dyn(k, kit_ap(k, t, 0, PAIRS(1, 1, 1, 1)), element, max);
}

static void test_for_loop(void **state) {
  (void)state;
  Kit k;
  int32_t bound = 7;
  kit_open(&k, TARGET_trn2);
  const IrTile *n = kit_loaded(&k, DT_int32, &bound, SHAPE(1, 1)), *out = kit_out(&k, DT_float32, SHAPE(8, 1));
  const IrTile *t = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(1, 1)), *sum = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(1, 1));
  kit_ins(&k, OP_memset, "dst", T(sum), "value", N(0), NULL);
  const IrTile *all = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(8, 1));
  kit_ins(&k, OP_memset, "dst", T(all), "value", N(-1), NULL);
  kit_load(&k, out, all);
  uint32_t reg = kit_reg(&k);
  kit_ins(&k, OP_register_load, "dst", REG(reg), "src", T(n), NULL);
  uint32_t end = kit_read(&k, reg);
  uint32_t i = kit_for(&k, I(1), X(end), 2); /* 1 3 5 */
  kit_ins(&k, OP_memset, "dst", T(t), "value", N(2), NULL);
  kit_ins(&k, OP_tensor_tensor, "dst", T(sum), "data1", T(sum), "data2", T(t), "op", I(ALU_add), NULL);
  kit_load(&k, row_of(&k, out, kit_affine(&k, 1, i, 1), 7), sum);
  kit_end(&k);
  kit_for(&k, I(5), I(5), 1); /* never */
  kit_load(&k, out, all);
  kit_end(&k);
  kit_ok(&k);
  EXPECT(&k, 0, -1, -1, 2, -1, 4, -1, 6, -1);
  kit_close(&k);
}

static void test_nested_loops(void **state) {
  (void)state;
  Kit k;
  kit_open(&k, TARGET_trn2);
  const IrTile *out = kit_out(&k, DT_int32, SHAPE(6, 1));
  uint32_t i = kit_for(&k, I(0), I(2), 1), j = kit_for(&k, I(0), I(3), 1);
  int64_t idx[2] = {i, j}, coef[2] = {3, 1};
  IrVal v[3] = {LIST(&k, 2, coef), LIST(&k, 2, idx), I(0)};
  IrIns *ins = ir_append(k.m, k.f, (Op)CORE_idx, v, 3);
  uint32_t at = ins->result = ir_new_index(k.f), reg = kit_reg(&k);
  kit_ins(&k, OP_register_move, "dst", REG(reg), "src", X(j), NULL);
  kit_ins(&k, OP_register_store, "dst", T(row_of(&k, out, at, 5)), "src", REG(reg), NULL);
  kit_end(&k);
  kit_end(&k);
  kit_ok(&k);
  assert_memory_equal(k.out[0].data, ((int32_t[]){0, 1, 2, 0, 1, 2}), 24);
  kit_close(&k);
}

/* while r: r comes back from SBUF, one less each time. */
static void test_while_loop(void **state) {
  (void)state;
  Kit k;
  int32_t start = 3;
  kit_open(&k, TARGET_trn2);
  const IrTile *n = kit_loaded(&k, DT_int32, &start, SHAPE(1, 1)),
               *count = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(1, 1));
  kit_ins(&k, OP_memset, "dst", T(count), "value", N(0), NULL);
  uint32_t reg = kit_reg(&k);
  kit_ins(&k, OP_register_load, "dst", REG(reg), "src", T(n), NULL);
  kit_while(&k, reg);
  kit_ins(&k, OP_tensor_scalar, "dst", T(count), "data", T(count), "op0", I(ALU_add), "operand0", N(1), NULL);
  kit_ins(&k, OP_tensor_scalar, "dst", T(n), "data", T(n), "op0", I(ALU_subtract), "operand0", N(1), NULL);
  kit_ins(&k, OP_register_load, "dst", REG(reg), "src", T(n), NULL);
  kit_end(&k);
  kit_store(&k, count);
  kit_ok(&k);
  EXPECT(&k, 0, 3);
  kit_close(&k);
}

/* A tile allocated in a device loop begins anew in every iteration, also its PSUM state. */
static void test_alloc_in_loop(void **state) {
  (void)state;
  Kit k;
  float x[1] = {3};
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_loaded(&k, DT_float32, x, SHAPE(1, 1)), *out = kit_out(&k, DT_float32, SHAPE(2, 1));
  uint32_t i = kit_for(&k, I(0), I(2), 1);
  const IrTile *ps = kit_buf(&k, SP_psum, DT_float32, SHAPE(1, 1)), *t = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(1, 1));
  kit_ins(&k, OP_nc_matmul, "dst", T(ps), "stationary", T(a), "moving", T(a), NULL);
  kit_ins(&k, OP_nc_matmul, "dst", T(ps), "stationary", T(a), "moving", T(a), NULL);
  kit_ins(&k, OP_tensor_copy, "dst", T(t), "src", T(ps), NULL);
  kit_load(&k, row_of(&k, out, i, 1), t);
  kit_end(&k);
  kit_ok(&k);
  EXPECT(&k, 0, 18, 18);
  kit_close(&k);
}

/* So what an earlier iteration left there is not seen. */
static void test_alloc_in_loop_is_unwritten(void **state) {
  (void)state;
  Kit k;
  kit_open(&k, TARGET_trn2);
  const IrTile *out = kit_out(&k, DT_float32, SHAPE(2, 1));
  uint32_t i = kit_for(&k, I(0), I(2), 1);
  const IrTile *t = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(1, 1));
  kit_load(&k, row_of(&k, out, i, 1), t);
  kit_ins(&k, OP_memset, "dst", T(t), "value", N(5), NULL);
  kit_end(&k);
  kit_ok(&k);
  EXPECT(&k, 0, NAN, NAN);
  assert_int_equal(k.report.count, 1); /* once per instruction */
  kit_close(&k);
}

static void test_registers(void **state) {
  (void)state;
  Kit k;
  uint8_t bytes[2] = {200, 7};
  kit_open(&k, TARGET_trn2);
  const IrTile *b = kit_loaded(&k, DT_uint8, bytes, SHAPE(1, 2)), *d = kit_buf(&k, SP_sbuf, DT_int32, SHAPE(1, 3));
  const IrTile *el[3];
  for (int i = 0; i < 3; i++) el[i] = kit_ap(&k, d, i, PAIRS(3, 1, 1, 1));
  uint32_t r = kit_reg(&k), q = kit_reg(&k), never = kit_reg(&k);
  kit_ins(&k, OP_register_load, "dst", REG(r), "src", T(kit_ap(&k, b, 0, PAIRS(2, 1, 1, 1))), NULL);
  kit_ins(&k, OP_register_move, "dst", REG(q), "src", REG(r), NULL);
  kit_ins(&k, OP_register_move, "dst", REG(r), "src", I(-5), NULL);
  kit_ins(&k, OP_register_store, "dst", T(el[0]), "src", REG(q), NULL);
  kit_ins(&k, OP_register_store, "dst", T(el[1]), "src", REG(r), NULL);
  kit_ins(&k, OP_register_store, "dst", T(el[2]), "src", REG(never), NULL);
  kit_store(&k, d);
  k.verify = false; /* the unset register is wrong on purpose */
  kit_ok(&k);
  assert_memory_equal(k.out[0].data, ((uint32_t[]){200, (uint32_t)-5, 0xa5a5a5a5}), 12);
  assert_int_equal(k.report.count, 1);
  kit_contains(text_str(&k.report.lines), "nisa.register_store reads register '");
  kit_close(&k);
}

static void test_register_to_narrow(void **state) {
  (void)state;
  Kit k;
  kit_open(&k, TARGET_trn2);
  const IrTile *b = kit_buf(&k, SP_sbuf, DT_bool_, SHAPE(1, 1)), *u = kit_buf(&k, SP_sbuf, DT_uint8, SHAPE(1, 1));
  kit_ins(&k, OP_register_store, "dst", T(b), "src", I(256), NULL);
  kit_ins(&k, OP_register_store, "dst", T(u), "src", I(257), NULL);
  kit_store(&k, b);
  kit_store(&k, u);
  kit_ok(&k);
  assert_int_equal(*(uint8_t *)k.out[0].data, 1);
  assert_int_equal(*(uint8_t *)k.out[1].data, 1);
  kit_close(&k);
}

static void test_alias_in_place_and_copied(void **state) {
  (void)state;
  for (int in_place = 0; in_place < 2; in_place++) {
    Kit k;
    float x[2] = {1, 2}, y[2] = {5, 6}, back[2] = {0, 0}, same[2] = {0, 0};
    kit_open(&k, TARGET_trn2);
    const IrTile *a = kit_in(&k, DT_float32, x, SHAPE(1, 2)), *b = kit_in(&k, DT_float32, y, SHAPE(1, 2));
    const IrTile *t = kit_to_sbuf(&k, a);
    kit_ins(&k, OP_tensor_scalar, "dst", T(t), "data", T(t), "op0", I(ALU_multiply), "operand0", N(10), NULL);
    kit_load(&k, a, t);
    kit_load(&k, t, a); /* reads what was written */
    kit_ins(&k, OP_tensor_scalar, "dst", T(t), "data", T(t), "op0", I(ALU_add), "operand0", N(1), NULL);
    kit_load(&k, a, t);
    k.rets[0] = b->buf; /* passed through */
    k.rets[1] = a->buf;
    k.nout = 2;
    k.out[0] = (SimTensor){.dtype = DT_float32, .rank = 2, .shape = {1, 2}, .data = same};
    k.out[1] = (SimTensor){.dtype = DT_float32, .rank = 2, .shape = {1, 2}, .data = in_place ? x : back};
    IrAlias al[2] = {{1, 0}, {0, 1}};
    k.m->aliases = al;
    k.m->naliases = 2;
    kit_ok(&k);
    EXPECT(&k, 0, 5, 6);
    EXPECT(&k, 1, 11, 21);
    assert_true(x[0] == (in_place ? 11 : 1));
    k.nout = 0;
    kit_close(&k);
  }
}

static void test_one_buffer_returned_twice(void **state) {
  (void)state;
  Kit k;
  float x[2] = {1, 2};
  kit_open(&k, TARGET_trn2);
  const IrTile *t = kit_loaded(&k, DT_float32, x, SHAPE(1, 2)), *out = kit_out(&k, DT_float32, SHAPE(1, 2));
  kit_load(&k, out, t);
  float again[2] = {0, 0};
  k.rets[1] = out->buf;
  k.out[1] = (SimTensor){.dtype = DT_float32, .rank = 2, .shape = {1, 2}, .data = again};
  k.nout = 2;
  kit_ok(&k);
  EXPECT(&k, 0, 1, 2);
  EXPECT(&k, 1, 1, 2);
  k.nout = 1;
  kit_close(&k);
}

/* Two programs: each writes its half of one shared output; private memory starts anew. */
static void test_grid(void **state) {
  (void)state;
  Kit k;
  float x[4] = {1, 2, 3, 4};
  uint32_t program[2] = {0, 1};
  kit_open(&k, TARGET_trn2);
  IrFunc *first = k.f;
  for (int p = 0; p < 2; p++) {
    if (p) k.f = ir_func_new(k.m, "k_1");
    k.nin = k.nout = 0;
    const IrTile *in = kit_in(&k, DT_float32, x, SHAPE(2, 2));
    if (p) free(k.out[0].data);
    const IrTile *out = kit_out(&k, DT_float32, SHAPE(2, 2)), *t = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(1, 2));
    kit_load(&k, t, kit_ap(&k, in, 2 * p, PAIRS(2, 1, 1, 2)));
    kit_ins(&k, OP_tensor_scalar, "dst", T(t), "data", T(t), "op0", I(ALU_multiply), "operand0", N(p ? 100 : 10), NULL);
    kit_load(&k, kit_ap(&k, out, 2 * p, PAIRS(2, 1, 1, 2)), t);
  }
  k.f = first;
  k.m->ngrid = 1;
  k.m->grid[0] = 2;
  k.m->nprogram = 2;
  k.m->program = program;
  kit_ok(&k);
  EXPECT(&k, 0, 10, 20, 300, 400);
  assert_int_equal(k.report.count, 0); /* written-ness is the union */
  kit_close(&k);
}

/* One program writes the shared output by bytes, the other by elements: the shadow fits both. */
static void test_grid_with_views(void **state) {
  (void)state;
  Kit k;
  static const float x[1] = {8};
  static const uint8_t bytes[3] = {0, 0, 0x80};
  uint32_t program[2] = {0, 1};
  kit_open(&k, TARGET_trn2);
  IrFunc *first = k.f;
  for (int p = 0; p < 2; p++) {
    if (p) k.f = ir_func_new(k.m, "k_1");
    if (p) free(k.out[0].data);
    k.nout = 0;
    const IrTile *out = kit_out(&k, DT_float32, SHAPE(1, 2));
    if (p == 0) { /* three of four bytes of element 0 */
      const IrTile *view = kit_cast(&k, out, DT_uint8, SHAPE(1, 8));
      kit_load(&k, kit_ap(&k, view, 0, PAIRS(8, 1, 1, 3)), kit_loaded(&k, DT_uint8, bytes, SHAPE(1, 3)));
    } else {
      kit_load(&k, kit_ap(&k, out, 1, PAIRS(2, 1, 1, 1)), kit_loaded(&k, DT_float32, x, SHAPE(1, 1)));
    }
  }
  k.f = first;
  k.m->ngrid = 1;
  k.m->grid[0] = k.m->nprogram = 2;
  k.m->program = program;
  kit_ok(&k);
  assert_memory_equal(k.out[0].data, ((uint8_t[]){0, 0, 0x80, 0x7f, 0, 0, 0, 0x41}), 8); /* byte 3 is the sentinel's */
  assert_int_equal(k.report.count, 1);
  kit_contains(text_str(&k.report.lines), "1 of its 2 elements were never written, first [0, 0]");
  kit_close(&k);
}

static void test_interrupt(void **state) {
  (void)state;
  Kit k;
  atomic_int stop = 1;
  kit_open(&k, TARGET_trn2);
  const IrTile *t = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(1, 2));
  kit_ins(&k, OP_memset, "dst", T(t), "value", N(0), NULL);
  kit_store(&k, t);
  k.opt.interrupt = &stop;
  assert_false(kit_run(&k));
  assert_int_equal(k.d.id, ERR_interrupted);
  kit_close(&k);
}

static void test_reports_are_bounded(void **state) {
  (void)state;
  Kit k;
  kit_open(&k, TARGET_trn2);
  const IrTile *t = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(1, 2)), *d = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(1, 2));
  for (int i = 0; i < 150; i++) kit_ins(&k, OP_tensor_copy, "dst", T(d), "src", T(t), NULL);
  kit_store(&k, d);
  kit_ok(&k);
  assert_int_equal(k.report.count, 150);
  int lines = 0;
  for (const char *p = text_str(&k.report.lines); *p; p++) lines += *p == '\n';
  assert_int_equal(lines, 100);
  kit_close(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_for_loop),
      cmocka_unit_test(test_nested_loops),
      cmocka_unit_test(test_while_loop),
      cmocka_unit_test(test_alloc_in_loop),
      cmocka_unit_test(test_alloc_in_loop_is_unwritten),
      cmocka_unit_test(test_registers),
      cmocka_unit_test(test_register_to_narrow),
      cmocka_unit_test(test_alias_in_place_and_copied),
      cmocka_unit_test(test_one_buffer_returned_twice),
      cmocka_unit_test(test_grid),
      cmocka_unit_test(test_grid_with_views),
      cmocka_unit_test(test_interrupt),
      cmocka_unit_test(test_reports_are_bounded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
