/* legacy_test.c -- spec/trace: pass-by-reference kernels: written parameters are outputs, never-read ones no operands.
 */
#include "support.h"

static TraceSpec legacy(void) {
  TraceSpec s = bench_spec();
  s.legacy = true;
  return s;
}

/* b = a * 2 inside a device loop, so that positions of loop ends move too; c is updated in place. */
static void body(Bench *x) {
  const int64_t shape[2] = {128, 64};
  uint32_t i;
  const IrTile *c = tr_operand(x->t, "c", DT_float32, 2, shape);
  const IrTile *t = tensor(x, SP_sbuf, DT_float32, 128, 64);
  uint32_t loop = tr_for_begin(x->t, vi(0), vi(2), 1, &i);
  assert_non_null(copy(x, t, x->a));
  assert_non_null(scale(x, t, t, 2));
  assert_non_null(copy(x, x->b, t));
  assert_true(tr_device_end(x->t, loop));
  assert_non_null(copy(x, t, c));
  assert_non_null(copy(x, c, t));
  assert_true(tr_return(x->t, NULL, 0, false));
  assert_true(tr_end_program(x->t));
}

static void written_parameters(void **state) {
  Bench x;
  (void)state;
  bench_open(&x, legacy());
  body(&x);
  IrModule *m = bench_finish(x.t);
  if (!m) fail_msg("%s", diag_message(&x.d));
  const IrFunc *f = m->func[0];
  assert_int_equal(f->nargs, 2); /* a, c: b was never read */
  assert_string_equal(m->arg_names[0], "a");
  assert_string_equal(m->arg_names[1], "c");
  assert_int_equal(f->nrets, 2);
  assert_string_equal(m->output_names[0], "b");
  assert_string_equal(m->output_names[1], "c");
  const IrBuf *b = f->bufs[f->rets[0]];
  assert_string_equal(b->name, "b");
  assert_int_equal(b->kind, BUF_ALLOC);
  assert_int_equal(b->space, SP_shared_hbm);
  assert_int_equal(f->rets[1], 1);
  assert_int_equal(f->ins[0]->op, CORE_alloc);
  for (uint32_t k = 0; k < f->nins; k++) {
    if (f->ins[k]->op != CORE_for) continue;
    assert_int_equal(f->ins[f->ins[k]->match]->op, CORE_end_for);
    assert_int_equal(f->ins[f->ins[k]->match]->match, k);
  }
  assert_true(m->result_is_sequence);
  Text text;
  text_init(&text, alloc_std);
  assert_true(ir_print(m, &text));
  Diag d;
  diag_init(&d, alloc_std);
  IrModule *again = ir_parse(alloc_std, text_str(&text), text.len, "legacy", &d);
  if (!again) fail_msg("%s", diag_message(&d));
  ir_release(again);
  diag_free(&d);
  text_free(&text);
  ir_release(m);
  bench_close(&x);
}

static void over_a_grid(void **state) {
  Bench x;
  TraceSpec spec = legacy();
  (void)state;
  spec.ngrid = 1;
  spec.grid[0] = 2;
  bench_open(&x, spec);
  body(&x);
  bench_program(&x);
  body(&x);
  IrModule *m = bench_finish(x.t);
  assert_non_null(m);
  assert_int_equal(m->nfunc, 1);
  assert_int_equal(m->func[0]->nargs, 2);
  ir_release(m);
  bench_close(&x);
}

static void nothing_written_is_an_error(void **state) {
  Bench x;
  (void)state;
  bench_open(&x, legacy());
  assert_true(tr_return(x.t, NULL, 0, false));
  assert_true(tr_end_program(x.t));
  assert_null(bench_finish(x.t));
  assert_fails(&x, tensor_output_not_written_to, "returns no tensor");
  bench_close(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(written_parameters),
      cmocka_unit_test(over_a_grid),
      cmocka_unit_test(nothing_written_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
