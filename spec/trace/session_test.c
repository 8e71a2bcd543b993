/* session_test.c -- spec/trace: opening, operands, program ids, finishing. */
#include "support.h"

static void one_program(void **state) {
  Bench x;
  (void)state;
  bench_open(&x, bench_spec());
  const IrTile *out = tensor(&x, SP_shared_hbm, DT_float32, 128, 64), *t = tensor(&x, SP_sbuf, DT_float32, 128, 64);
  assert_non_null(copy(&x, t, x.a));
  assert_non_null(copy(&x, out, t));
  assert_true(tr_return(x.t, &out, 1, false));
  assert_true(tr_end_program(x.t));
  IrModule *m = bench_finish(x.t);
  assert_non_null(m);
  assert_int_equal(m->nfunc, 1);
  assert_int_equal(m->func[0]->nargs, 2);
  assert_string_equal(m->arg_names[0], "a");
  assert_string_equal(m->arg_names[1], "b");
  assert_string_equal(m->output_names[0], "output_0");
  assert_int_equal(m->func[0]->nrets, 1);
  assert_false(m->result_is_sequence);
  assert_int_equal(m->func[0]->nins, 4); /* two allocations, two copies */
  ir_release(m);
  bench_close(&x);
}

static void serial_changes_per_program(void **state) {
  Bench x;
  TraceSpec spec = bench_spec();
  (void)state;
  spec.ngrid = 1;
  spec.grid[0] = 2;
  bench_open(&x, spec);
  uint64_t first = x.t->serial;
  assert_true(tr_return(x.t, &x.a, 1, false));
  assert_true(tr_end_program(x.t));
  bench_program(&x);
  assert_true(x.t->serial != first);
  bench_close(&x);
}

static void program_ids_are_row_major(void **state) {
  Bench x;
  TraceSpec spec = bench_spec();
  (void)state;
  spec.ngrid = 2;
  spec.grid[0] = 2;
  spec.grid[1] = 3;
  bench_open(&x, spec);
  for (int64_t p = 0; p < 6; p++) {
    assert_int_equal(tr_program_id(x.t, 0), p / 3);
    assert_int_equal(tr_program_id(x.t, 1), p % 3);
    assert_true(tr_return(x.t, &x.a, 1, false));
    assert_true(tr_end_program(x.t));
    if (p < 5) bench_program(&x);
  }
  IrModule *m = bench_finish(x.t);
  assert_non_null(m);
  assert_int_equal(m->nprogram, 6);
  assert_int_equal(m->nfunc, 1); /* all alike */
  assert_null(m->program);
  ir_release(m);
  bench_close(&x);
}

static void grid_of_zero_is_refused(void **state) {
  Diag d;
  TraceSpec spec = bench_spec();
  (void)state;
  diag_init(&d, alloc_std);
  spec.ngrid = 1;
  assert_null(tr_open(alloc_std, &spec, &d));
  assert_int_equal(d.id, ERR_grid_size);
  diag_free(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_program),
      cmocka_unit_test(serial_changes_per_program),
      cmocka_unit_test(program_ids_are_row_major),
      cmocka_unit_test(grid_of_zero_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
