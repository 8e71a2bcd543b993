/* returns_test.c -- spec/trace: what a kernel may return, and the names of its outputs. */
#include "support.h"

static IrModule *finish(Bench *x, const IrTile *const *outs, uint32_t n) {
  if (!tr_return(x->t, outs, n, n > 1) || !tr_end_program(x->t)) return NULL;
  return bench_finish(x->t);
}

static const IrTile *named(Bench *x, const char *name) {
  const int64_t shape[2] = {128, 64};
  IrBufSpec s = {.space = SP_shared_hbm, .dtype = DT_float32, .rank = 2, .shape = shape, .name = name};
  return tr_ndarray(x->t, &s);
}

static void store(Bench *x, const IrTile *out) {
  const IrTile *t = tensor(x, SP_sbuf, DT_float32, 128, 64);
  assert_non_null(copy(x, t, x->a));
  assert_non_null(copy(x, out, t));
}

static void names(void **state) {
  Bench x;
  (void)state;
  bench_open(&x, bench_spec());
  const IrTile *plain = named(&x, NULL), *mine = named(&x, "a");
  store(&x, plain);
  store(&x, mine);
  store(&x, x.b);
  const IrTile *outs[6] = {x.a, mine, plain, x.b, plain, mine};
  IrModule *m = finish(&x, outs, 6);
  assert_non_null(m);
  assert_string_equal(m->output_names[0], "a");
  assert_string_equal(m->output_names[1], "a_1");
  assert_string_equal(m->output_names[2], "output_2");
  assert_string_equal(m->output_names[3], "b");
  assert_string_equal(m->output_names[4], "output_4");
  assert_string_equal(m->output_names[5], "a_1_1"); /* one tensor twice is two outputs */
  assert_true(m->result_is_sequence);
  assert_int_equal(m->func[0]->nrets, 6);
  assert_int_equal(m->func[0]->rets[0], 0);
  ir_release(m);
  bench_close(&x);
}

static void memory_of_outputs(void **state) {
  Bench x;
  (void)state;
  bench_open(&x, bench_spec());
  const IrTile *bad = tensor(&x, SP_private_hbm, DT_float32, 128, 64);
  assert_false(tr_return(x.t, &bad, 1, false));
  assert_fails(&x, io_space, "The input and output tensor of a NKI kernel must be in shared_hbm address space");
  bad = tensor(&x, SP_sbuf, DT_float32, 128, 64);
  assert_false(tr_return(x.t, &bad, 1, false));
  assert_fails(&x, io_space, "is in sbuf");
  static const float zeros[2];
  const int64_t shape[2] = {1, 2};
  IrBufSpec table = {
      .space = SP_shared_hbm, .dtype = DT_float32, .rank = 2, .shape = shape, .name = "table", .data = zeros};
  bad = tr_constant(x.t, &table);
  assert_non_null(bad);
  assert_false(tr_return(x.t, &bad, 1, false));
  assert_fails(&x, output_constant, "'table', is a constant");
  bench_close(&x);
}

static void views_are_refused(void **state) {
  Bench x;
  (void)state;
  bench_open(&x, bench_spec());
  ViewCtx c = {x.t->m, x.t->f, x.t->d};
  const int64_t flat[1] = {8192};
  const IrTile *part = view_slice(&c, x.a, 0, (IrSlice){.count = 4, .step = 1});
  assert_false(tr_return(x.t, &part, 1, false));
  assert_fails(&x, output_view, "return 'a' itself");
  const IrTile *shaped = view_reshape(&c, x.a, flat, 1);
  assert_false(tr_return(x.t, &shaped, 1, false));
  assert_fails(&x, output_view, "'a'");
  const IrTile *square = tensor(&x, SP_shared_hbm, DT_float32, 64, 64);
  const IrTile *turned = view_permute(&c, square, (const int64_t[]){1, 0}, 2);
  assert_false(tr_return(x.t, &turned, 1, false));
  assert_fails(&x, output_view, "shared_hbm");
  const IrTile *cast = tr_cast(x.t, x.a, DT_int32);
  assert_false(tr_return(x.t, &cast, 1, false));
  assert_fails(&x, output_view, "'a'");
  const IrTile *whole = view_slice(&c, x.a, 0, (IrSlice){.count = 128, .step = 1}); /* the tensor itself */
  assert_true(tr_return(x.t, &whole, 1, false));
  bench_close(&x);
}

static void outputs_are_written(void **state) {
  Bench x;
  (void)state;
  bench_open(&x, bench_spec());
  at_line(&x, 9);
  const IrTile *out = named(&x, "res");
  assert_null(finish(&x, &out, 1));
  assert_int_equal(x.d.line, 9);
  assert_fails(&x, tensor_output_not_written_to, "output 0, 'res', is never stored to");
  bench_close(&x);
  bench_open(&x, bench_spec());
  assert_null(finish(&x, NULL, 0));
  assert_fails(&x, tensor_output_not_written_to, "returns no tensor");
  bench_close(&x);
}

static void written_parameters_are_returned(void **state) {
  Bench x;
  (void)state;
  bench_open(&x, bench_spec());
  at_line(&x, 4);
  store(&x, x.b);
  assert_null(finish(&x, &x.a, 1));
  assert_int_equal(x.d.line, 4);
  assert_fails(&x, mutable_parameter_not_returned, "parameter 'b'");
  bench_close(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names),
      cmocka_unit_test(memory_of_outputs),
      cmocka_unit_test(views_are_refused),
      cmocka_unit_test(outputs_are_written),
      cmocka_unit_test(written_parameters_are_returned),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
