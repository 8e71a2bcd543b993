/* emit_test.c -- spec/trace: instructions: what is recorded, what a refused one leaves behind, the limit. */
#include "support.h"

static void records_location_iteration_label(void **state) {
  Bench x;
  (void)state;
  bench_open(&x, bench_spec());
  const IrTile *t = tensor(&x, SP_sbuf, DT_float32, 128, 64);
  at_line(&x, 12);
  uint32_t loop = tr_loop_open(x.t, TR_SEQUENTIAL);
  assert_true(tr_iter_begin(x.t, loop, 3));
  Args_memset a;
  defaults(OP_memset, &a);
  a.dst = vt(t);
  a.value = vn(0);
  char label[] = "first";
  IrIns *ins = tr_emit(x.t, OP_memset, (const IrVal *)&a, label);
  label[0] = 'X'; /* the label is copied */
  assert_string_equal(ins->label, "first");
  assert_int_equal(x.t->m->locs[ins->loc].line, 12);
  assert_int_equal(x.t->m->iters[ins->iter].value, 3);
  assert_int_equal(x.t->m->locs[x.t->m->iters[ins->iter].loop_loc].line, 12);
  bench_close(&x);
}

static void refused_leaves_nothing(void **state) {
  Bench x;
  (void)state;
  bench_open(&x, bench_spec());
  const IrTile *t = tensor(&x, SP_sbuf, DT_float32, 64, 64);
  uint32_t before = x.t->f->nins;
  at_line(&x, 5);
  assert_null(scale(&x, t, x.a, 2)); /* reads HBM, other partitions */
  assert_int_equal(x.t->f->nins, before);
  assert_int_equal(x.d.line, 5);
  assert_fails(&x, unsupported_memory, "tensor_scalar");
  assert_non_null(fill(&x, t, 1)); /* the session goes on */
  bench_close(&x);
}

static void instruction_limit(void **state) {
  Bench x;
  TraceSpec spec = bench_spec();
  (void)state;
  spec.max_instr = 3;
  bench_open(&x, spec);
  const IrTile *t = tensor(&x, SP_sbuf, DT_float32, 128, 64);
  assert_non_null(fill(&x, t, 1));
  assert_non_null(fill(&x, t, 1));
  assert_null(fill(&x, t, 1));
  assert_fails(&x, too_many_instructions, "more than 3 instructions");
  bench_close(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(records_location_iteration_label),
      cmocka_unit_test(refused_leaves_nothing),
      cmocka_unit_test(instruction_limit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
