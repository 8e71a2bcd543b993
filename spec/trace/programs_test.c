/* programs_test.c -- spec/trace: the programs of a grid: equal ones are kept once, shared tensors and outputs agree. */
#include "support.h"

static TraceSpec grid_of(int64_t n) {
  TraceSpec s = bench_spec();
  s.ngrid = 1;
  s.grid[0] = n;
  return s;
}

static const IrTile *row(Bench *x, const IrTile *t, int64_t at) {
  ViewCtx c = {x->t->m, x->t->f, x->t->d};
  return view_slice(&c, t, 0, (IrSlice){.start = at, .count = 16, .step = 1});
}

/* out[16 * p] = a[16 * p] for program p, or the same row in all. */
static void body(Bench *x, bool by_program) {
  const IrTile *out = tensor(x, SP_shared_hbm, DT_float32, 128, 64), *t = tensor(x, SP_sbuf, DT_float32, 16, 64);
  int64_t at = by_program ? 16 * tr_program_id(x->t, 0) : 0;
  at_line(x, 5);
  assert_non_null(copy(x, t, row(x, x->a, at)));
  assert_non_null(copy(x, row(x, out, at), t));
  assert_true(tr_return(x->t, &out, 1, false));
  assert_true(tr_end_program(x->t));
}

static void distinct_programs(void **state) {
  Bench x;
  (void)state;
  bench_open(&x, grid_of(3));
  for (int p = 0; p < 3; p++) {
    if (p) bench_program(&x);
    body(&x, true);
  }
  IrModule *m = bench_finish(x.t);
  assert_non_null(m);
  assert_int_equal(m->nfunc, 3);
  for (uint32_t p = 0; p < 3; p++) {
    assert_int_equal(m->program[p], p);
    assert_int_equal(m->func[p]->bufs[m->func[p]->rets[0]]->shared_ordinal, 0);
  }
  ir_release(m);
  bench_close(&x);
}

static void equal_programs_are_kept_once(void **state) {
  Bench x;
  (void)state;
  bench_open(&x, grid_of(50));
  size_t used = 0;
  for (int p = 0; p < 50; p++) {
    if (p) bench_program(&x);
    body(&x, false);
    if (p == 1) used = x.t->m->arena.used;
  }
  assert_int_equal(x.t->m->arena.used, used); /* dropped programs give their memory back */
  IrModule *m = bench_finish(x.t);
  assert_non_null(m);
  assert_int_equal(m->nfunc, 1);
  assert_null(m->program);
  ir_release(m);
  bench_close(&x);
}

static void a_returning_pattern(void **state) {
  Bench x;
  (void)state;
  bench_open(&x, grid_of(4));
  for (int p = 0; p < 4; p++) {
    if (p) bench_program(&x);
    body(&x, p == 2);
  }
  IrModule *m = bench_finish(x.t);
  assert_int_equal(m->nfunc, 2);
  assert_int_equal(m->program[1], 0);
  assert_int_equal(m->program[2], 1);
  assert_int_equal(m->program[3], 0);
  ir_release(m);
  bench_close(&x);
}

static void shared_allocations_agree(void **state) {
  Bench x;
  (void)state;
  bench_open(&x, grid_of(2));
  body(&x, false);
  bench_program(&x);
  assert_null(tensor(&x, SP_shared_hbm, DT_float32, 128, 32));
  assert_fails(&x, spmd_allocation,
               "program 0 makes 'shared_hbm_2' float32[128,64], program 1 makes 'shared_hbm_2' float32[128,32]");
  bench_close(&x);
  bench_open(&x, grid_of(2));
  body(&x, false);
  bench_program(&x);
  assert_null(tensor(&x, SP_shared_hbm, DT_bfloat16, 128, 64));
  assert_fails(&x, spmd_allocation, "bfloat16[128,64]");
  bench_close(&x);
}

static void outputs_agree(void **state) {
  Bench x;
  const IrTile *both[2];
  (void)state;
  bench_open(&x, grid_of(2));
  assert_true(tr_return(x.t, &x.a, 1, false));
  assert_true(tr_end_program(x.t));
  bench_program(&x);
  assert_true(tr_return(x.t, &x.b, 1, false));
  assert_false(tr_end_program(x.t));
  assert_fails(&x, spmd_output, "output 0 is 'a' in program 0 and program 1 returns 'b'");
  bench_close(&x);
  bench_open(&x, grid_of(2));
  assert_true(tr_return(x.t, &x.a, 1, false));
  assert_true(tr_end_program(x.t));
  bench_program(&x);
  both[0] = x.a;
  both[1] = x.b;
  assert_false(tr_return(x.t, both, 2, true));
  assert_fails(&x, spmd_sequence, "program 1");
  bench_close(&x);
}

static void written_by_any_program(void **state) {
  Bench x;
  (void)state;
  bench_open(&x, grid_of(2));
  for (int p = 0; p < 2; p++) {
    if (p) bench_program(&x);
    const IrTile *out = tensor(&x, SP_shared_hbm, DT_float32, 128, 64), *t = tensor(&x, SP_sbuf, DT_float32, 128, 64);
    assert_non_null(copy(&x, t, x.a));
    if (p == 1) assert_non_null(copy(&x, out, t));
    assert_true(tr_return(x.t, &out, 1, false));
    assert_true(tr_end_program(x.t));
  }
  IrModule *m = bench_finish(x.t);
  assert_non_null(m);
  ir_release(m);
  bench_close(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(distinct_programs),   cmocka_unit_test(equal_programs_are_kept_once),
      cmocka_unit_test(a_returning_pattern), cmocka_unit_test(shared_allocations_agree),
      cmocka_unit_test(outputs_agree),       cmocka_unit_test(written_by_any_program),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
