/* races_log_test.c -- spec/sim: the log of who touched what first. Accesses that go on evenly are one entry of it; each
   test has two that may not become one, or that must. Core 1 writes what core 0 read, and the line that is blamed
   tells. */
#include "pair.h"
#include "peak.h"

/* The report of the run, which is one race. */
static void blamed(Pair *s, const char *a, const char *b) {
  kit_ok(&s->k);
  const char *lines = text_str(&s->k.report.lines);
  kit_contains(lines, a);
  kit_contains(lines, b);
  kit_close(&s->k);
}

static int gap, victim;

/* Two instructions that read alike, `gap` instructions apart: rows 0 and 1. */
static void read_alike(Pair *s, int p) {
  Kit *k = &s->k;
  const IrTile *t = sbuf_row(s), *x = loaded(s, 0);
  if (p) {
    kit_load(k, row(s, s->out, 1), x);
    return;
  }
  k->line = 40;
  kit_load(k, t, row(s, s->out, 0));
  k->line = 80;
  for (int i = 0; i < gap; i++) kit_load(k, t, row(s, s->in, 0));
  k->line = 160;
  kit_load(k, t, row(s, s->out, 1));
}

static void two_instructions_are_two_entries(void **state) {
  (void)state;
  for (gap = 0; gap < 70; gap++) {
    Pair s;
    pair_open(&s, read_alike);
    blamed(&s, "k.lua:160: program 0: data race: nisa.dma_copy reads 32 elements", "between [1, 0] and [1, 31]");
  }
}

/* The same instruction in both programs of core 0: rows 0 and 1. */
static void read_by_program(Pair *s, int p) {
  Kit *k = &s->k;
  const IrTile *t = sbuf_row(s);
  if (p < 2) kit_load(k, t, row(s, s->out, p));
  if (p == 2) kit_load(k, row(s, s->out, victim), loaded(s, 0));
}

static void two_programs_are_two_entries(void **state) {
  (void)state;
  for (victim = 0; victim < 2; victim++) {
    Pair s;
    pair_programs(&s, read_by_program, 4);
    blamed(&s, victim ? "k.lua:101: program 1: data race" : "k.lua:1: program 0: data race",
           victim ? "between [1, 0] and [1, 31]" : "between [0, 0] and [0, 31]");
  }
}

/* One instruction that reads two patterns: the first half of row 0, and every other element from row 1 on. */
static void read_two_patterns(Pair *s, int p) {
  Kit *k = &s->k;
  if (p) {
    kit_load(k, kit_ap(k, s->out, COLS + victim, PAIRS(COLS, 1, 1, 1)),
             kit_ap(k, loaded(s, 0), 0, PAIRS(COLS, 1, 1, 1)));
    return;
  }
  static const IrTile *srcs[2];
  srcs[0] = kit_ap(k, s->out, 0, PAIRS(COLS, 1, 1, COLS / 2));
  srcs[1] = kit_ap(k, s->out, COLS, PAIRS(COLS, 1, 2, COLS / 2));
  const IrTile *t = kit_buf(k, SP_sbuf, DT_float32, SHAPE(1, COLS / 2));
  kit_ins(k, OP_dma_compute, "dst", T(t), "srcs", ((IrVal){V_TILES, 2, {.tiles = srcs}}), "reduce_op", I(ALU_add),
          NULL);
}

static void two_patterns_are_two_entries(void **state) {
  (void)state;
  for (victim = 0; victim < COLS; victim += 2) {
    Pair s;
    pair_open(&s, read_two_patterns);
    blamed(&s, "data race: nisa.dma_compute reads 1 element of", "program 1 at k.lua:");
  }
}

/* A loop over the rows: every one of them is in the entry. */
static void read_rows(Pair *s, int p) {
  Kit *k = &s->k;
  if (p) {
    kit_load(k, row(s, s->out, victim), loaded(s, 0));
    return;
  }
  const IrTile *t = sbuf_row(s);
  uint32_t i = kit_for(k, I(0), I(ROWS), 1);
  kit_load(k, t, kit_dyn(k, row(s, s->out, 0), kit_affine(k, COLS, i, 0), (ROWS - 1) * COLS));
  kit_end(k);
}

static void every_turn_of_a_loop_is_known(void **state) {
  (void)state;
  for (victim = 0; victim < ROWS; victim++) {
    Pair s;
    char place[80];
    snprintf(place, sizeof place, "between [%d, 0] and [%d, 31]", victim, victim);
    pair_open(&s, read_rows);
    blamed(&s, "k.lua:3: program 0: data race", place);
  }
}

/* In turn 0 row 0, then the beginning of row 1 by another line; in turn 1 row 1, which is no longer new as a whole. */
static void read_what_was_begun(Pair *s, int p) {
  Kit *k = &s->k;
  if (p) {
    kit_load(k, row(s, s->out, 1), loaded(s, 0));
    return;
  }
  const IrTile *t = sbuf_row(s);
  k->line = 50;
  uint32_t i = kit_for(k, I(0), I(2), 1), x = kit_affine(k, COLS, i, 0);
  kit_load(k, t, kit_dyn(k, row(s, s->out, 0), x, COLS));
  k->line = 70;
  const IrTile *part = kit_ap(k, s->out, COLS, PAIRS(COLS, 1, 1, COLS / 2));
  kit_load(k, kit_ap(k, t, 0, PAIRS(COLS, 1, 1, COLS / 2)), kit_dyn(k, part, x, COLS));
  kit_end(k);
}

static void what_was_begun_by_another_is_no_repetition(void **state) {
  (void)state;
  Pair s;
  pair_open(&s, read_what_was_begun);
  blamed(&s, "k.lua:70: program 0: data race: nisa.dma_copy reads 32 elements", "between [1, 0] and [1, 31]");
}

/* A row in each turn, with a meeting behind it: what was logged before a meeting is not gone on with. */
static void read_between_meetings(Pair *s, int p) {
  Kit *k = &s->k;
  const IrTile *t = loaded(s, 0);
  uint32_t i = kit_for(k, I(0), I(ROWS), 1);
  const IrTile *at = kit_dyn(k, row(s, s->out, 0), kit_affine(k, COLS, i, 0), (ROWS - 1) * COLS);
  kit_load(k, p ? at : t, p ? t : at);
  barrier(s);
  kit_end(k);
}

static void a_meeting_ends_an_entry(void **state) {
  (void)state;
  Pair s;
  pair_open(&s, read_between_meetings);
  blamed(&s, "data race: nisa.dma_copy reads 32 elements", "between [0, 0] and [0, 31]");
}

enum { WIDE = 8192 };
static int turns;

/* One element in each turn. */
static void read_elements(Pair *s, int p) {
  Kit *k = &s->k;
  static const float zeros[WIDE];
  if (p) free(k->out[1].data); /* of program 0 */
  const IrTile *wide = kit_out(k, DT_float32, SHAPE(1, WIDE));
  kit_load(k, wide, kit_loaded(k, DT_float32, zeros, SHAPE(1, WIDE)));
  barrier(s);
  const IrTile *t = kit_buf(k, SP_sbuf, DT_float32, SHAPE(1, 1));
  uint32_t i = kit_for(k, I(0), I(turns), 1);
  if (!p) kit_load(k, t, kit_dyn(k, kit_ap(k, wide, 0, PAIRS(WIDE, 1, 1, 1)), i, WIDE - 1));
  kit_end(k);
}

static int64_t peak_of(int n) {
  Pair s;
  turns = n;
  pair_open(&s, read_elements);
  const int64_t peak = peak_of_run(&s.k);
  kit_close(&s.k);
  return peak;
}

static void turns_that_go_on_evenly_need_no_room(void **state) {
  (void)state;
  const int64_t one = peak_of(1), all = peak_of(WIDE);
  assert_in_range(all, 1, one + (64 << 10));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_instructions_are_two_entries),
      cmocka_unit_test(two_programs_are_two_entries),
      cmocka_unit_test(two_patterns_are_two_entries),
      cmocka_unit_test(every_turn_of_a_loop_is_known),
      cmocka_unit_test(what_was_begun_by_another_is_no_repetition),
      cmocka_unit_test(a_meeting_ends_an_entry),
      cmocka_unit_test(turns_that_go_on_evenly_need_no_room),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
