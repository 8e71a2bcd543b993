/* cores_test.c -- spec/sim: programs on two physical cores: barriers, exchanges, deadlocks, interruption, many runs. */
#include <pthread.h>
#include <time.h>

#include "pair.h"

/* ---- what they compute ------------------------------------------------------------------------------------------- */
/* A hundred times: add one to the own row, then take the sum of both rows. */
static void add_up(Pair *s, int p) {
  Kit *k = &s->k;
  const IrTile *mine = sbuf_row(s), *other = sbuf_row(s);
  kit_load(k, row(s, s->out, 2 + p), loaded(s, 2 + p));
  kit_load(k, mine, row(s, s->in, p));
  kit_load(k, row(s, s->out, p), mine);
  kit_for(k, I(0), I(100), 1);
  barrier(s);
  kit_load(k, other, row(s, s->out, 1 - p));
  barrier(s);
  kit_ins(k, OP_tensor_tensor, "dst", T(mine), "data1", T(mine), "data2", T(other), "op", I(ALU_subtract), NULL);
  kit_load(k, row(s, s->out, p), mine);
  kit_end(k);
}

static void expect_sums(const Kit *k) {
  for (int c = 0; c < COLS; c++) {
    float a = (float)c, b = (float)(COLS + c);
    for (int i = 0; i < 100; i++) {
      float na = a - b, nb = b - a;
      a = na;
      b = nb;
    }
    float got[2] = {kit_f32(k, 0, c), kit_f32(k, 0, COLS + c)};
    assert_memory_equal(&got[0], &a, 4);
    assert_memory_equal(&got[1], &b, 4);
    assert_float_equal(kit_f32(k, 0, 3 * COLS + c), (float)(3 * COLS + c), 0);
  }
}

static void barriers_order_both(void **state) {
  (void)state;
  Pair s;
  pair_open(&s, add_up);
  for (int again = 0; again < 5; again++) {
    kit_ok(&s.k);
    expect_sums(&s.k);
  }
  assert_int_equal(s.k.report.count, 0);
  kit_close(&s.k);
}

static void swap_rows(Pair *s, int p) {
  Kit *k = &s->k;
  const IrTile *t = loaded(s, p), *got = sbuf_row(s);
  kit_for(k, I(0), I(51), 1); /* an odd number of times */
  exchange(s, t, got, p, 2);
  kit_ins(k, OP_tensor_copy, "dst", T(t), "src", T(got), NULL);
  kit_end(k);
  kit_load(k, row(s, s->out, p), got);
  kit_load(k, row(s, s->out, 2 + p), t);
}

static void exchanges_swap(void **state) {
  (void)state;
  Pair s;
  pair_open(&s, swap_rows);
  kit_ok(&s.k);
  for (int c = 0; c < COLS; c++) {
    assert_float_equal(kit_f32(&s.k, 0, c), (float)(COLS + c), 0);
    assert_float_equal(kit_f32(&s.k, 0, COLS + c), (float)c, 0);
  }
  assert_int_equal(s.k.report.count, 0);
  kit_close(&s.k);
}

/* Narrow floats of an imprecise run are float32, unless something looks at their bits. */
static void swap_narrow(Pair *s, int p) {
  Kit *k = &s->k;
  const IrTile *src = kit_buf(k, SP_sbuf, DT_bfloat16, SHAPE(1, COLS));
  const IrTile *dst = kit_buf(k, SP_sbuf, DT_bfloat16, SHAPE(1, COLS));
  if (p) kit_cast(k, src, DT_uint16, SHAPE(1, COLS));
  kit_ins(k, OP_tensor_copy, "dst", T(src), "src", T(loaded(s, p)), NULL);
  exchange(s, src, dst, p, 0);
  kit_load(k, row(s, s->out, p), dst);
}

static void exchanges_convert_what_is_stored_wide(void **state) {
  (void)state;
  Pair s;
  pair_open(&s, swap_narrow);
  s.k.opt.imprecise = true;
  kit_ok(&s.k);
  for (int c = 0; c < COLS; c++) {
    assert_float_equal(kit_f32(&s.k, 0, c), (float)(COLS + c), 0);
    assert_float_equal(kit_f32(&s.k, 0, COLS + c), (float)c, 0);
  }
  kit_close(&s.k);
}

/* Prints come in core order between two meetings, whoever was faster. */
static void talk(Pair *s, int p) {
  Kit *k = &s->k;
  for (int i = 0; i < 3; i++) {
    char text[2] = {(char)('a' + 2 * i + p), 0};
    const char *copy = arena_strdup(&k->m->arena, text, 1);
    kit_ins(k, OP_device_print, "print_prefix", S(copy), "tensor", T(s->in), NULL);
    if (i < 2) barrier(s);
  }
  kit_load(k, row(s, s->out, p), row(s, s->in, p));
}

static void prints_are_in_order(void **state) {
  (void)state;
  Pair s;
  pair_open(&s, talk);
  kit_ok(&s.k);
  char order[8] = "";
  size_t n = 0;
  for (const char *p = text_str(&s.k.printed); *p && n < 7; p++)
    if (p[0] >= 'a' && p[0] <= 'f' && p[1] == ' ' && (p == text_str(&s.k.printed) || p[-1] == '\n')) order[n++] = *p;
  assert_string_equal(order, "abcdef");
  kit_close(&s.k);
}

/* ---- who waits for ever ------------------------------------------------------------------------------------------ */
static void one_barrier_too_few(Pair *s, int p) {
  kit_load(&s->k, row(s, s->out, p), row(s, s->in, p));
  barrier(s);
  if (p == 0) barrier(s);
}

static void different_pipes(Pair *s, int p) {
  const IrTile *t = loaded(s, p);
  exchange(s, t, t, p, p);
}

static void barrier_or_exchange(Pair *s, int p) {
  const IrTile *t = loaded(s, p);
  if (p) exchange(s, t, t, p, 4);
  if (!p) barrier(s);
}

static void other_shapes(Pair *s, int p) {
  const IrTile *t = kit_buf(&s->k, SP_sbuf, DT_float32, SHAPE(1, p ? 4 : 8));
  kit_ins(&s->k, OP_memset, "dst", T(t), "value", N(0), NULL);
  exchange(s, t, t, p, 5);
}

static void partners_that_never_come(void **state) {
  (void)state;
  Pair s;
  pair_open(&s, one_barrier_too_few);
  refused(
      &s, ERR_deadlock,
      "program 0 on core 0 waits for ever at nisa.core_barrier (k.lua:3): program 1 on core 1 has ended (k.lua:102)");
  pair_open(&s, different_pipes);
  refused(&s, ERR_deadlock,
          "program 0 on core 0 waits for ever at nisa.sendrecv with pipe_id 0 (k.lua:2): program 1 on core 1 waits at "
          "nisa.sendrecv with pipe_id 1 (k.lua:102)");
  pair_open(&s, barrier_or_exchange);
  refused(&s, ERR_deadlock,
          "program 0 on core 0 waits for ever at nisa.core_barrier (k.lua:2): program 1 on core 1 waits at "
          "nisa.sendrecv with pipe_id 4 (k.lua:102)");
  pair_open(&s, other_shapes);
  refused(&s, ERR_sendrecv_mismatch, "nisa.sendrecv with pipe_id 5: dst of program 0 is ");
}

/* ---- faults ------------------------------------------------------------------------------------------------------ */
static void unwritten_on(Pair *s, int p, bool faulty) {
  const IrTile *t = sbuf_row(s);
  if (faulty) {
    kit_load(&s->k, row(s, s->out, p), t);
  } else {
    kit_load(&s->k, row(s, s->out, p), row(s, s->in, p));
  }
  barrier(s);
}
static void both_fail(Pair *s, int p) { unwritten_on(s, p, true); }
static void second_fails(Pair *s, int p) { unwritten_on(s, p, p == 1); }

static void loops_for_ever(Pair *s, int p) {
  uint32_t reg = kit_reg(&s->k);
  if (p) unwritten_on(s, p, true);
  kit_ins(&s->k, OP_register_move, "dst", REG(reg), "src", I(1), NULL);
  kit_while(&s->k, reg);
  kit_ins(&s->k, OP_register_move, "dst", REG(reg), "src", I(1), NULL);
  kit_end(&s->k);
}
static void first_fails_second_loops(Pair *s, int p) {
  if (p == 0) unwritten_on(s, p, true);
  if (p == 1) loops_for_ever(s, 0);
}

static void the_first_core_s_fault_counts(void **state) {
  (void)state;
  static Body *const bodies[] = {both_fail, second_fails, first_fails_second_loops};
  static const int line[] = {1, 101, 1};
  for (int again = 0; again < 10; again++)
    for (int i = 0; i < 3; i++) {
      Pair s;
      pair_open(&s, bodies[i]);
      s.k.opt.strict = true;
      assert_false(kit_run(&s.k));
      assert_int_equal(s.k.d.id, ERR_unwritten);
      assert_int_equal(s.k.d.line, line[i]);
      kit_close(&s.k);
    }
}

/* ---- interruption ------------------------------------------------------------------------------------------------ */
static void one_waits_one_loops(Pair *s, int p) {
  kit_load(&s->k, row(s, s->out, p), row(s, s->in, p));
  if (p) loops_for_ever(s, 0);
  barrier(s);
}

static void *stop_later(void *arg) {
  atomic_int *stop = arg;
  nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
  atomic_store(stop, 1);
  return NULL;
}

static void an_interrupt_ends_the_wait(void **state) {
  (void)state;
  Pair s;
  atomic_int stop = 0;
  pthread_t thread;
  pair_open(&s, one_waits_one_loops);
  s.k.opt.interrupt = &stop;
  assert_int_equal(pthread_create(&thread, NULL, stop_later, &stop), 0);
  assert_false(kit_run(&s.k));
  assert_int_equal(s.k.d.id, ERR_interrupted);
  pthread_join(thread, NULL);
  kit_close(&s.k);
}

/* ---- memory that runs out ---------------------------------------------------------------------------------------- */
typedef struct Budget {
  int left;
} Budget;

static void *few(void *ud, void *p, size_t old, size_t n) {
  Budget *b = ud;
  if (n > 0 && b->left-- <= 0) return NULL;
  return alloc_std.fn(alloc_std.ud, p, old, n);
}

static void every_lack_of_memory_is_an_error(void **state) {
  (void)state;
  bool ok = false;
  for (int n = 0; n < 400 && !ok; n++) {
    Pair s;
    Budget budget = {n};
    pair_open(&s, swap_rows);
    s.k.opt.alloc = (Alloc){few, &budget};
    ok = kit_run(&s.k);
    if (!ok) assert_int_equal(s.k.d.id, ERR_nomem);
    kit_close(&s.k);
  }
  assert_true(ok);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(barriers_order_both),
      cmocka_unit_test(exchanges_swap),
      cmocka_unit_test(exchanges_convert_what_is_stored_wide),
      cmocka_unit_test(prints_are_in_order),
      cmocka_unit_test(partners_that_never_come),
      cmocka_unit_test(the_first_core_s_fault_counts),
      cmocka_unit_test(an_interrupt_ends_the_wait),
      cmocka_unit_test(every_lack_of_memory_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
