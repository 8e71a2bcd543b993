/* races_test.c -- spec/sim: what programs on two physical cores, or on one, do to a tensor that they share: what is
 * reported. */
#include "pair.h"
#include "peak.h"

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

static void a_long_loop_needs_no_more_memory(void **state) {
  (void)state;
  Pair s;
  pair_open(&s, reads_for_long);
  const int64_t peak = peak_of_run(&s.k);
  assert_int_equal(s.k.report.count, 0);
  assert_true(peak < 4 << 20);
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

/* Core 0 reads rows 0, 1 and 3 by one instruction: steps that are not even. */
static void read_unevenly(Pair *s, int p) {
  Kit *k = &s->k;
  const IrTile *t = sbuf_row(s);
  for (int r = 0; r < ROWS; r++)
    if (p || r != 3) kit_load(k, row(s, s->out, r), loaded(s, r));
  barrier(s);
  if (p) {
    kit_load(k, row(s, s->out, 3), t);
    return;
  }
  k->line = 50;
  uint32_t i = kit_for(k, I(0), I(2), 1);
  uint32_t r = kit_for(k, X(kit_affine(k, 3, i, 0)), X(kit_affine(k, 2, i, 2)), 1);
  kit_load(k, t, kit_dyn(k, row(s, s->out, 0), kit_affine(k, COLS, r, 0), (ROWS - 1) * COLS));
  kit_end(k);
  kit_end(k);
}

static void uneven_steps_are_no_one_pattern(void **state) {
  (void)state;
  Pair s;
  pair_open(&s, read_unevenly);
  kit_ok(&s.k);
  kit_contains(text_str(&s.k.report.lines), "data race: nisa.dma_copy reads 32 elements of");
  kit_contains(text_str(&s.k.report.lines), "between [3, 0] and [3, 31]");
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_writes_are_a_race),
      cmocka_unit_test(reads_race_with_writes),
      cmocka_unit_test(a_strict_run_stops_at_a_race),
      cmocka_unit_test(a_race_is_told_once),
      cmocka_unit_test(a_long_loop_needs_no_more_memory),
      cmocka_unit_test(the_first_access_is_blamed),
      cmocka_unit_test(uneven_steps_are_no_one_pattern),
      cmocka_unit_test(programs_of_a_core_overlap),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
