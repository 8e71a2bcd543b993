/* cores_test.c -- programs on two physical cores: barriers, exchanges, races, deadlocks, interruption, many runs. */
#include <pthread.h>
#include <time.h>

#include "kit.h"

enum { ROWS = 4, COLS = 32 };

/* Two programs on two cores with one input and one output; body builds the one of program p. */
typedef struct Pair Pair;
struct Pair {
  Kit k;
  float x[ROWS * COLS];
  uint32_t program[4];
  const IrTile *in, *out;
};
typedef void Body(Pair *s, int p);

static void pair_programs(Pair *s, Body *body, int n) {
  Kit *k = &s->k;
  kit_open(k, TARGET_trn2);
  for (int i = 0; i < ROWS * COLS; i++) s->x[i] = (float)i;
  IrFunc *first = k->f;
  for (int p = 0; p < n; p++) {
    if (p) k->f = ir_func_new(k->m, "k_1");
    if (p) free(k->out[0].data);
    k->nin = k->nout = 0;
    k->line = 100 * p + 1;
    s->program[p] = (uint32_t)p;
    s->in = kit_in(k, DT_float32, s->x, SHAPE(ROWS, COLS));
    s->out = kit_out(k, DT_float32, SHAPE(ROWS, COLS));
    body(s, p);
  }
  k->f = first;
  k->m->ngrid = 1;
  k->m->grid[0] = k->m->nprogram = n;
  k->m->cores[0] = (IrCores){2, n / 2};
  k->m->program = s->program;
}

static void pair_open(Pair *s, Body *body) { pair_programs(s, body, 2); }

static const IrTile *row(Pair *s, const IrTile *t, int64_t r) {
  return kit_ap(&s->k, t, r * COLS, PAIRS(COLS, 1, 1, COLS));
}

static const IrTile *sbuf_row(Pair *s) { return kit_buf(&s->k, SP_sbuf, DT_float32, SHAPE(1, COLS)); }

/* A row of the input in SBUF. */
static const IrTile *loaded(Pair *s, int64_t r) {
  const IrTile *t = sbuf_row(s);
  kit_load(&s->k, t, row(s, s->in, r));
  return t;
}

static void barrier(Pair *s) {
  kit_ins(&s->k, OP_core_barrier, "data", T(s->out), "cores", LIST(&s->k, 2, (const int64_t[]){0, 1}), NULL);
}

static void exchange(Pair *s, const IrTile *src, const IrTile *dst, int p, int pipe) {
  kit_ins(&s->k, OP_sendrecv, "src", T(src), "dst", T(dst), "send_to_rank", I(1 - p), "recv_from_rank", I(1 - p),
          "pipe_id", I(pipe), NULL);
}

static void refused(Pair *s, ErrId id, const char *text) {
  assert_false(kit_run(&s->k));
  if (s->k.d.id != id) fail_msg("%s: %s", err_name(s->k.d.id), diag_message(&s->k.d));
  kit_contains(diag_message(&s->k.d), text);
  kit_close(&s->k);
}

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

/* ---- races ------------------------------------------------------------------------------------------------------- */
static void both_write(Pair *s, int p) {
  Kit *k = &s->k;
  const IrTile *t = loaded(s, p);
  kit_load(k, row(s, s->out, p), t);
  if (p == 0) kit_load(k, kit_ap(k, s->out, COLS + 4, PAIRS(COLS, 1, 1, 3)), kit_ap(k, t, 4, PAIRS(COLS, 1, 1, 3)));
}

static void two_writes_are_a_race(void **state) {
  (void)state;
  for (int again = 0; again < 20; again++) {
    Pair s;
    pair_open(&s, both_write);
    kit_ok(&s.k);
    assert_float_equal(kit_f32(&s.k, 0, COLS + 4), (float)(COLS + 4), 0); /* the higher core's, always */
    assert_string_equal(
        text_str(&s.k.report.lines),
        "k.lua:3: program 0: data race: nisa.dma_copy writes 3 elements of shared_hbm_1[4,32] float32 "
        "in shared_hbm, between [1, 4] and [1, 6], and nisa.dma_copy of program 1 at k.lua:102 writes them, "
        "with no nisa.core_barrier or nisa.sendrecv of both cores between the two\n"
        "k.lua:1: program 0: output 'shared_hbm_1': 64 of its 128 elements were never written, first [2, 0]\n");
    kit_close(&s.k);
  }
}

/* Core 1 reads what core 0 writes in the same stretch, and the other way round; no order between the two. */
static void read_and_write(Pair *s, int p) {
  Kit *k = &s->k;
  const IrTile *t = loaded(s, p);
  kit_load(k, row(s, s->out, p), t);
  kit_load(k, row(s, s->out, 2 + p), t);
  barrier(s);
  kit_load(k, p ? t : row(s, s->out, 0), p ? row(s, s->out, 0) : t);
  barrier(s);
  kit_load(k, p ? row(s, s->out, 3) : t, p ? t : row(s, s->out, 3));
}

static void reads_race_with_writes(void **state) {
  (void)state;
  Pair s;
  pair_open(&s, read_and_write);
  kit_ok(&s.k);
  const char *lines = text_str(&s.k.report.lines);
  assert_int_equal(s.k.report.count, 2);
  kit_contains(lines, "k.lua:5: program 0: data race: nisa.dma_copy writes 32 elements of ");
  kit_contains(lines, "between [0, 0] and [0, 31], and nisa.dma_copy of program 1 at k.lua:105 reads them, ");
  kit_contains(lines, "k.lua:7: program 0: data race: nisa.dma_copy reads 32 elements of ");
  kit_contains(lines, "between [3, 0] and [3, 31], and nisa.dma_copy of program 1 at k.lua:107 writes them, ");
  kit_close(&s.k);
}

static void a_strict_run_stops_at_a_race(void **state) {
  (void)state;
  Pair s;
  pair_open(&s, both_write);
  s.k.opt.strict = true;
  assert_false(kit_run(&s.k));
  assert_int_equal(s.k.d.id, ERR_data_race);
  assert_int_equal(s.k.d.line, 3);
  kit_close(&s.k);
  pair_open(&s, read_and_write);
  s.k.opt.strict = true;
  assert_false(kit_run(&s.k));
  assert_int_equal(s.k.d.id, ERR_data_race);
  assert_int_equal(s.k.d.line, 5);
  kit_close(&s.k);
}

/* The same race in every turn of a loop is told once. */
static void race_in_loop(Pair *s, int p) {
  Kit *k = &s->k;
  const IrTile *t = loaded(s, p);
  uint32_t i = kit_for(k, I(0), I(30), 1);
  barrier(s);
  const IrTile *one = kit_ap(k, s->out, 0, PAIRS(COLS, 1, 1, 1));
  kit_load(k, kit_dyn(k, one, i, ROWS * COLS - 1), kit_ap(k, t, 0, PAIRS(COLS, 1, 1, 1)));
  kit_end(k);
}

static void a_race_is_told_once(void **state) {
  (void)state;
  Pair s;
  pair_open(&s, race_in_loop);
  kit_ok(&s.k);
  assert_int_equal(s.k.report.count, 2); /* and the rows never written */
  kit_contains(text_str(&s.k.report.lines), "between [0, 0] and [0, 0]");
  kit_close(&s.k);
}

/* Four programs, two on each core: those of one core overlap, too. */
/* Both read all rows in turn, again and again. */
static void reads_for_long(Pair *s, int p) {
  Kit *k = &s->k;
  const IrTile *t = sbuf_row(s);
  for (int r = 0; r < 2; r++) kit_load(k, row(s, s->out, 2 * p + r), loaded(s, 2 * p + r));
  barrier(s);
  kit_for(k, I(0), I(20000), 1);
  uint32_t i = kit_for(k, I(0), I(ROWS), 1);
  kit_load(k, t, kit_dyn(k, row(s, s->out, 0), kit_affine(k, COLS, i, 0), (ROWS - 1) * COLS));
  kit_end(k);
  kit_end(k);
}

typedef struct Peak {
  _Atomic int64_t now, most;
} Peak;

static void *watched(void *ud, void *p, size_t old, size_t n) {
  Peak *peak = ud;
  const int64_t more = (int64_t)n - (p ? (int64_t)old : 0), now = (peak->now += more);
  if (now > peak->most) peak->most = now;
  return alloc_std.fn(alloc_std.ud, p, old, n);
}

static void a_long_loop_needs_no_more_memory(void **state) {
  (void)state;
  Pair s;
  Peak peak = {0, 0};
  pair_open(&s, reads_for_long);
  s.k.opt.alloc = (Alloc){watched, &peak};
  kit_ok(&s.k);
  assert_int_equal(s.k.report.count, 0);
  assert_true(peak.most < 4 << 20);
  kit_close(&s.k);
}

/* Core 0 reads rows by a loop and by hand what core 1 writes: who was first is known in each row. */
static void read_in_pieces(Pair *s, int p) {
  Kit *k = &s->k;
  const IrTile *t = sbuf_row(s);
  if (p) {
    kit_load(k, row(s, s->out, 2), loaded(s, 2));
    kit_load(k, row(s, s->out, 3), loaded(s, 3));
    return;
  }
  for (int r = 0; r < 2; r++) kit_load(k, row(s, s->out, r), loaded(s, r));
  kit_load(k, t, row(s, s->out, 3)); /* line 7 */
  k->line = 50;
  uint32_t i = kit_for(k, I(0), I(ROWS), 1);
  kit_load(k, t, kit_dyn(k, row(s, s->out, 0), kit_affine(k, COLS, i, 0), (ROWS - 1) * COLS));
  kit_end(k);
}

static void the_first_access_is_blamed(void **state) {
  (void)state;
  Pair s;
  pair_open(&s, read_in_pieces);
  kit_ok(&s.k);
  assert_int_equal(s.k.report.count, 3); /* and rows that this core sees unwritten; a race names its first element */
  kit_contains(text_str(&s.k.report.lines), "data race: nisa.dma_copy reads 64 elements of");
  kit_contains(text_str(&s.k.report.lines), "k.lua:52: program 0: data race");
  kit_close(&s.k);
}

static void overlap_on_a_core(Pair *s, int p) { kit_load(&s->k, row(s, s->out, p / 2), loaded(s, p)); }

static void programs_of_a_core_overlap(void **state) {
  (void)state;
  Pair s;
  pair_programs(&s, overlap_on_a_core, 4);
  kit_ok(&s.k);
  assert_float_equal(kit_f32(&s.k, 0, 0), COLS, 0); /* in order on their core */
  assert_float_equal(kit_f32(&s.k, 0, COLS), 3 * COLS, 0);
  const char *lines = text_str(&s.k.report.lines);
  assert_int_equal(s.k.report.count, 3);
  kit_contains(lines, "k.lua:102: program 1: nisa.dma_copy writes 32 of the 32 elements of dst = ");
  kit_contains(lines, "that program 0 has written at k.lua:2, between [0, 0] and [0, 31]");
  kit_contains(lines, "k.lua:302: program 3: ");
  kit_close(&s.k);
  pair_programs(&s, overlap_on_a_core, 4);
  s.k.opt.strict = true;
  assert_false(kit_run(&s.k));
  assert_int_equal(s.k.d.id, ERR_unexpected_output_dependencies);
  assert_int_equal(s.k.d.line, 102);
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
      cmocka_unit_test(two_writes_are_a_race),
      cmocka_unit_test(reads_race_with_writes),
      cmocka_unit_test(a_strict_run_stops_at_a_race),
      cmocka_unit_test(a_race_is_told_once),
      cmocka_unit_test(a_long_loop_needs_no_more_memory),
      cmocka_unit_test(the_first_access_is_blamed),
      cmocka_unit_test(programs_of_a_core_overlap),
      cmocka_unit_test(partners_that_never_come),
      cmocka_unit_test(the_first_core_s_fault_counts),
      cmocka_unit_test(an_interrupt_ends_the_wait),
      cmocka_unit_test(every_lack_of_memory_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
