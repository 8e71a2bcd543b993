/* loops_test.c -- spec/trace: traced and device loops, no_reorder. */
#include "support.h"

static void iterations_nest(void **state) {
  Bench x;
  (void)state;
  bench_open(&x, bench_spec());
  const IrTile *t = tensor(&x, SP_sbuf, DT_float32, 128, 64);
  uint32_t outer = tr_loop_open(x.t, TR_SEQUENTIAL);
  assert_true(tr_iter_begin(x.t, outer, 7));
  uint32_t inner = tr_loop_open(x.t, TR_STATIC);
  assert_true(tr_iter_begin(x.t, inner, 9));
  const IrIter *it = &x.t->m->iters[fill(&x, t, 0)->iter];
  assert_int_equal(it->value, 9);
  assert_int_equal(x.t->m->iters[it->parent].value, 7);
  assert_true(tr_iter_begin(x.t, outer, 8)); /* the inner loop was left without an end: it is over */
  it = &x.t->m->iters[fill(&x, t, 0)->iter];
  assert_int_equal(it->value, 8);
  assert_int_equal(it->parent, 0);
  assert_false(tr_iter_begin(x.t, inner, 10));
  assert_fails(&x, loop_not_open, "not open");
  assert_true(tr_loop_close(x.t, outer));
  assert_true(tr_loop_close(x.t, outer)); /* closing twice is no fault */
  assert_int_equal(x.t->iter, 0);
  bench_close(&x);
}

static void device_loop_has_matching_ends(void **state) {
  Bench x;
  uint32_t i;
  (void)state;
  bench_open(&x, bench_spec());
  const IrTile *t = tensor(&x, SP_sbuf, DT_float32, 128, 64);
  uint32_t loop = tr_for_begin(x.t, vi(0), vi(4), 2, &i);
  uint32_t at = x.t->f->nins - 1;
  assert_true(loop != 0);
  assert_non_null(fill(&x, t, 0));
  assert_true(tr_device_end(x.t, loop));
  const IrIns *begin = x.t->f->ins[at], *end = x.t->f->ins[x.t->f->nins - 1];
  assert_int_equal(begin->op, CORE_for);
  assert_int_equal(begin->result, i);
  assert_int_equal(end->op, CORE_end_for);
  assert_int_equal(end->match, at);
  assert_int_equal(begin->match, x.t->f->nins - 1);
  bench_close(&x);
}

static void bad_device_loops(void **state) {
  Bench x;
  uint32_t i;
  (void)state;
  bench_open(&x, bench_spec());
  assert_int_equal(tr_for_begin(x.t, vi(0), vi(4), 0, &i), 0);
  assert_fails(&x, loop_step, "step is 0");
  assert_true(tr_no_reorder(x.t, true));
  assert_int_equal(tr_for_begin(x.t, vi(0), vi(4), 1, &i), 0);
  assert_fails(&x, no_reorder_loop, "inside nl.no_reorder");
  assert_true(tr_no_reorder(x.t, false));
  uint32_t traced = tr_loop_open(x.t, TR_STATIC);
  assert_true(tr_iter_begin(x.t, traced, 0));
  assert_true(tr_for_begin(x.t, vi(0), vi(4), 1, &i) != 0);
  assert_false(tr_iter_begin(x.t, traced, 1)); /* cannot end around an open device loop */
  assert_fails(&x, loop_left_open, "left without its end");
  assert_true(tr_return(x.t, &x.a, 1, false));
  assert_false(tr_end_program(x.t));
  assert_fails(&x, loop_left_open, "device loop");
  bench_close(&x);
}

static void open_no_reorder_at_the_end(void **state) {
  Bench x;
  (void)state;
  bench_open(&x, bench_spec());
  at_line(&x, 21);
  assert_true(tr_no_reorder(x.t, true));
  assert_true(tr_no_reorder(x.t, true)); /* nested blocks count */
  assert_true(tr_no_reorder(x.t, false));
  assert_true(tr_return(x.t, &x.a, 1, false));
  assert_false(tr_end_program(x.t));
  assert_fails(&x, no_reorder_open, "k.lua:21");
  bench_close(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(iterations_nest),
      cmocka_unit_test(device_loop_has_matching_ends),
      cmocka_unit_test(bad_device_loops),
      cmocka_unit_test(open_no_reorder_at_the_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
