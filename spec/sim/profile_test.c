/* profile_test.c -- spec/sim: sums of a profile and its timeline, with times made up where their order matters. */
#include "kit.h"

typedef struct Made {
  Kit k;
  SimProfile p;
  float x[8];
} Made;

/* Lines 1, 2, 3: load, copy, copy; then a loop of one trip around one of two around a copy; then the store. */
static void make(Made *s, int64_t max_events) {
  Kit *k = &s->k;
  kit_open(k, TARGET_trn2);
  const IrTile *t = kit_to_sbuf(k, kit_in(k, DT_float32, s->x, SHAPE(2, 4)));
  const IrTile *u = kit_buf(k, SP_sbuf, DT_float32, SHAPE(2, 4));
  kit_ins(k, OP_tensor_copy, "dst", T(u), "src", T(t), NULL);
  kit_ins(k, OP_tensor_copy, "dst", T(u), "src", T(t), NULL);
  kit_for(k, I(0), I(1), 1);
  kit_for(k, I(0), I(2), 1);
  kit_ins(k, OP_tensor_copy, "dst", T(u), "src", T(t), NULL);
  kit_end(k);
  kit_end(k);
  kit_store(k, u);
  assert_true(sim_profile_init(&s->p, alloc_std, k->m));
  s->p.max_events = max_events;
  k->opt.profile = &s->p;
  kit_ok(k);
}

static void drop(Made *s) {
  sim_profile_free(&s->p);
  kit_close(&s->k);
}

static void all_times(Made *s, int64_t ns) {
  for (uint32_t i = 0; i < s->k.f->nins; i++) s->p.core[0].func[0][i].ns = ns;
}

static void equal_times_are_in_order_of_line_and_name(void **state) {
  (void)state;
  Made s = {.x = {1}};
  Arena a;
  uint32_t n;
  make(&s, 0);
  arena_init(&a, alloc_std);
  all_times(&s, 7);
  SimProfileRow *rows = sim_profile_rows(&s.p, SIM_BY_LINE, &a, &n);
  assert_true(n >= 4);
  for (uint32_t i = 1; i < n; i++) assert_true(rows[i].loc->line > rows[i - 1].loc->line);
  rows = sim_profile_rows(&s.p, SIM_BY_OP, &a, &n);
  assert_int_equal(n, 2);
  assert_int_equal(rows[0].op, OP_tensor_copy);
  assert_int_equal(rows[0].ns, 3 * 7);
  assert_int_equal(rows[0].calls, 4);
  assert_int_equal(rows[0].elements, 4 * 8);
  assert_int_equal(rows[0].bytes, 4 * 8 * 4);
  assert_int_equal(rows[1].ns, 2 * 7);
  rows = sim_profile_rows(&s.p, SIM_BY_CORE, &a, &n);
  assert_int_equal(n, 1);
  assert_int_equal(rows[0].ns, 5 * 7);
  arena_free(&a);
  drop(&s);
}

static void the_slowest_is_first_and_the_rest_is_told(void **state) {
  (void)state;
  Made s = {.x = {1}};
  Text text;
  make(&s, 0);
  text_init(&text, alloc_std);
  all_times(&s, 1000);
  s.p.ns = 10000;
  s.p.core[0].func[0][s.k.f->nins - 1].ns = 3000; /* the store */
  assert_true(sim_profile_render(&s.p, false, &text));
  kit_contains(text_str(&text),
               "not of a device: 10.000 us in 1 run\n\n          us  share     calls     elements         bytes  engine"
               "   instruction and line, slowest first\n       3.000  30.0%         1            8            32  dma  "
               "    nisa.dma_copy");
  kit_contains(text_str(&text), "       7.000  70.0%  instructions\n       3.000  30.0%  the rest");
  text_free(&text);
  drop(&s);
}

static int count(const char *text, const char *part) {
  int n = 0;
  for (const char *p = text; (p = strstr(p, part)); p++) n++;
  return n;
}

/* Program, loads and copies before the loops, both loops, two copies, the store: nine stretches. */
static void a_full_timeline_counts_what_it_leaves_out(void **state) {
  (void)state;
  for (int64_t max = 0; max <= 10; max++) {
    Made s = {.x = {1}};
    Text text, want;
    make(&s, max);
    text_init(&text, alloc_std);
    text_init(&want, alloc_std);
    SimCoreProfile *c = &s.p.core[0];
    int64_t kept = max < 9 ? max : 9;
    assert_int_equal(c->nevents, kept);
    assert_int_equal(c->left_out, max ? 9 - kept : 0);
    assert_int_equal(c->open, -1);
    assert_int_equal(c->skipped, 0);
    assert_true(sim_profile_trace(&s.p, &text));
    assert_int_equal(count(text_str(&text), "\"ph\":\"X\""), kept);
    text_printf(&want, "\"events_left_out\":%d}", (int)c->left_out);
    kit_contains(text_str(&text), text_str(&want));
    for (int64_t i = 1; i < c->nevents; i++) {
      const SimEvent *around = &c->event[c->event[i].parent];
      assert_true(c->event[i].at >= around->at && c->event[i].at + c->event[i].ns <= around->at + around->ns);
    }
    text_free(&text);
    text_free(&want);
    drop(&s);
  }
}

/* Two programs on two cores: each loads and stores a row and waits once for the other. */
static void cores_have_rows_and_tracks_of_their_own(void **state) {
  (void)state;
  Made s = {.x = {1}};
  Kit *k = &s.k;
  Arena a;
  uint32_t n, program[] = {0, 1};
  kit_open(k, TARGET_trn2);
  IrFunc *first = k->f;
  for (int p = 0; p < 2; p++) {
    if (p) k->f = ir_func_new(k->m, "k_1");
    if (p) free(k->out[0].data);
    k->nin = k->nout = 0;
    const IrTile *in = kit_in(k, DT_float32, s.x, SHAPE(2, 4)), *out = kit_out(k, DT_float32, SHAPE(2, 4));
    const IrTile *t = kit_buf(k, SP_sbuf, DT_float32, SHAPE(1, 4));
    kit_load(k, t, kit_ap(k, in, p * 4, PAIRS(4, 1, 1, 4)));
    kit_ins(k, OP_core_barrier, "data", T(out), "cores", LIST(k, 2, (const int64_t[]){0, 1}), NULL);
    kit_load(k, kit_ap(k, out, p * 4, PAIRS(4, 1, 1, 4)), t);
  }
  k->f = first;
  k->m->ngrid = 1;
  k->m->grid[0] = k->m->nprogram = 2;
  k->m->cores[0] = (IrCores){2, 1};
  k->m->program = program;
  assert_true(sim_profile_init(&s.p, alloc_std, k->m));
  s.p.max_events = 100;
  k->opt.profile = &s.p;
  kit_ok(k);
  arena_init(&a, alloc_std);
  for (int c = 0; c < 2; c++) {
    assert_int_equal(s.p.core[c].nevents, 4);
    assert_int_equal(s.p.core[c].event[0].program, c);
    assert_true(s.p.core[c].event[0].whole);
  }
  SimProfileRow *rows = sim_profile_rows(&s.p, SIM_BY_OP, &a, &n);
  assert_int_equal(n, 4);
  for (uint32_t i = 0; i < n; i++) assert_int_equal(rows[i].calls, rows[i].op == OP_dma_copy ? 2 : 1);
  sim_profile_rows(&s.p, SIM_BY_CORE, &a, &n);
  assert_int_equal(n, 2);
  arena_free(&a);
  drop(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_times_are_in_order_of_line_and_name),
      cmocka_unit_test(the_slowest_is_first_and_the_rest_is_told),
      cmocka_unit_test(a_full_timeline_counts_what_it_leaves_out),
      cmocka_unit_test(cores_have_rows_and_tracks_of_their_own),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
