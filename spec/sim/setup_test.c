/* setup_test.c -- spec/sim: runs side by side, memory that runs out, storage shared by tiles of unequal size, long
 * prints. */
#include <pthread.h>

#include "exec.h"
#include "kit.h"

static void build(Kit *k, int n) {
  static float x[4 * 8];
  for (int i = 0; i < 32; i++) x[i] = (float)i;
  kit_open(k, TARGET_trn2);
  const IrTile *sum = kit_buf(k, SP_sbuf, DT_float32, SHAPE(4, 8));
  kit_ins(k, OP_memset, "dst", T(sum), "value", N(0), NULL);
  for (int i = 0; i < n; i++) {
    const IrTile *t = kit_loaded(k, DT_float32, x, SHAPE(4, 8)),
                 *h = kit_buf(k, SP_sbuf, DT_bfloat16, SHAPE(4, 8 * (1 + i % 3)));
    const IrTile *part = kit_ap(k, h, 0, PAIRS(8 * (1 + i % 3), 4, 1, 8));
    kit_ins(k, OP_tensor_copy, "dst", T(part), "src", T(t), NULL);
    kit_ins(k, OP_tensor_tensor, "dst", T(sum), "data1", T(sum), "data2", T(part), "op", I(ALU_add), NULL);
  }
  kit_store(k, sum);
}

static void check(const Kit *k, int n) {
  for (int i = 0; i < 32; i++) assert_true(kit_f32(k, 0, i) == (float)(i * n));
  assert_int_equal(k->report.count, 0);
}

static void test_many_tiles(void **state) {
  (void)state;
  Kit k;
  build(&k, 50);
  kit_ok(&k);
  check(&k, 50);
  kit_close(&k);
}

enum { THREADS = 4, RUNS = 50 };

static void *run_often(void *arg) {
  const Kit *k = arg;
  float out[32];
  SimTensor t = k->out[0];
  t.data = out;
  for (int i = 0; i < RUNS; i++) {
    SimReport r = {.count = 0};
    Diag d;
    text_init(&r.lines, alloc_std);
    diag_init(&d, alloc_std);
    SimOptions opt = k->opt;
    opt.report = &r;
    if (!sim_run(k->m, NULL, &t, &opt, &d)) return arg;
    for (int e = 0; e < 32; e++)
      if (out[e] != (float)(e * 20)) return arg;
  }
  return NULL;
}

static void test_runs_side_by_side(void **state) {
  (void)state;
  Kit k;
  pthread_t t[THREADS];
  build(&k, 20);
  kit_ok(&k);
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&t[i], NULL, run_often, &k), 0);
  for (int i = 0; i < THREADS; i++) {
    void *bad;
    pthread_join(t[i], &bad);
    assert_null(bad);
  }
  kit_close(&k);
}

typedef struct Limited {
  long left; /* allocations still granted */
  long live; /* bytes */
} Limited;

static void *limited(void *ud, void *p, size_t old, size_t size) {
  Limited *l = ud;
  if (size == 0) {
    l->live -= (long)old;
    free(p);
    return NULL;
  }
  if (l->left-- <= 0) return NULL;
  void *q = realloc(p, size);
  if (q) l->live += (long)size - (p ? (long)old : 0);
  return q;
}

/* Wherever memory runs out, the run ends with ERR_nomem and gives back what it had. */
static void test_out_of_memory(void **state) {
  (void)state;
  Kit k;
  build(&k, 5);
  kit_ok(&k);
  bool ok = false;
  int failures = 0;
  for (long grant = 0; !ok && grant < 1000; grant++) {
    Limited l = {grant, 0};
    Diag d;
    diag_init(&d, alloc_std);
    k.report.count = 0;
    k.opt.alloc = (Alloc){limited, &l};
    ok = sim_run(k.m, k.in, k.out, &k.opt, &d);
    if (!ok) assert_int_equal(d.id, ERR_nomem);
    failures += !ok;
    assert_int_equal(l.live, 0);
    diag_free(&d);
  }
  assert_true(ok);
  assert_true(failures > 3);
  check(&k, 5);
  kit_close(&k);
}

static void test_long_print_is_shortened(void **state) {
  (void)state;
  Kit k;
  kit_open(&k, TARGET_trn2);
  const IrTile *t = kit_buf(&k, SP_sbuf, DT_int32, SHAPE(2, 600));
  kit_ins(&k, OP_iota, "dst", T(t), "pattern", LIST_PAIRS(&k, PAIRS(1, 600)), "channel_multiplier", I(1000), NULL);
  kit_ins(&k, OP_device_print, "print_prefix", S(""), "tensor", T(t), NULL);
  kit_ok(&k);
  kit_contains(text_str(&k.printed),
               "\n[[0, 1, 2, ..., 597, 598, 599],\n [1000, 1001, 1002, ..., 1597, 1598, 1599]]\n");
  kit_close(&k);
}

/* An imprecise run keeps a bfloat16 operand that is updated in place, and an output, as float32 until the end. */
static void test_imprecise_outputs(void **state) {
  (void)state;
  Kit k;
  uint16_t x[1] = {0x3f80}, out[1] = {0};
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_in(&k, DT_bfloat16, x, SHAPE(1, 1)), *t = kit_buf(&k, SP_sbuf, DT_bfloat16, SHAPE(1, 1));
  for (int i = 0; i < 2; i++) { /* twice 2^-8: each alone would be lost in bfloat16 */
    kit_load(&k, t, a);
    kit_ins(&k, OP_tensor_scalar, "dst", T(t), "data", T(t), "op0", I(ALU_add), "operand0", N(0x1p-8), NULL);
    kit_load(&k, a, t);
  }
  k.rets[0] = a->buf;
  k.out[0] = (SimTensor){.dtype = DT_bfloat16, .rank = 2, .shape = {1, 1}, .data = out};
  k.nout = 1;
  IrAlias al = {0, 0};
  k.m->aliases = &al;
  k.m->naliases = 1;
  k.opt.imprecise = true;
  kit_ok(&k);
  assert_int_equal(out[0], 0x3f81);
  assert_int_equal(x[0], 0x3f80);
  k.nout = 0;
  kit_close(&k);
}

/* What is also viewed as bits keeps them in an imprecise run. */
static void test_imprecise_views(void **state) {
  (void)state;
  Kit k;
  const float x[2] = {1.00390625f, -2};
  kit_open(&k, TARGET_trn2);
  const IrTile *a = kit_loaded(&k, DT_float32, x, SHAPE(1, 2)), *h = kit_buf(&k, SP_sbuf, DT_bfloat16, SHAPE(1, 2));
  kit_ins(&k, OP_tensor_copy, "dst", T(h), "src", T(a), NULL);
  kit_store(&k, kit_cast(&k, h, DT_uint16, SHAPE(1, 2)));
  k.opt.imprecise = true;
  kit_ok(&k);
  assert_memory_equal(k.out[0].data, ((uint16_t[]){0x3f80, 0xc000}), 4);
  kit_close(&k);
}

/* The memory kept from a small run does not do for a large one. */
static void test_small_then_large(void **state) {
  (void)state;
  for (int64_t n = 8; n <= 32768; n *= 16) {
    Kit k;
    kit_open(&k, TARGET_trn2);
    const IrTile *t = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(128, n)),
                 *s = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(128, 1));
    kit_ins(&k, OP_memset, "dst", T(t), "value", N(1), NULL);
    kit_ins(&k, OP_tensor_reduce, "dst", T(s), "op", I(ALU_add), "data", T(t), "axis", I(1), NULL);
    kit_store(&k, s);
    kit_ok(&k);
    assert_true(kit_f32(&k, 0, 127) == (float)n);
    kit_close(&k);
  }
}

/* Three tiles that die in an order make one room, which a fourth of their size gets. */
static void test_neighbours_that_die_make_one_room(void **state) {
  (void)state;
  static const int orders[][3] = {{0, 1, 2}, {2, 1, 0}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}};
  for (size_t n = 0; n < sizeof orders / sizeof *orders; n++) {
    Kit k;
    const IrTile *t[4];
    kit_open(&k, TARGET_trn2);
    for (int i = 0; i < 3; i++) t[i] = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(1, 1));
    for (int i = 0; i < 3; i++) kit_ins(&k, OP_memset, "dst", T(t[orders[n][i]]), "value", N(0), NULL);
    t[3] = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(1, 1));
    kit_ins(&k, OP_memset, "dst", T(t[3]), "value", N(0), NULL);
    int64_t room[4] = {64, 128, 64, 256}, place[4], bytes = 0;
    assert_int_equal(k.f->nbufs, 4);
    assert_true(layout_private(&k.m->arena, k.f, room, place, &bytes));
    assert_int_equal(bytes, 256);
    assert_int_equal(place[3], 0);
    kit_close(&k);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_many_tiles),        cmocka_unit_test(test_runs_side_by_side),
      cmocka_unit_test(test_out_of_memory),     cmocka_unit_test(test_long_print_is_shortened),
      cmocka_unit_test(test_imprecise_outputs), cmocka_unit_test(test_imprecise_views),
      cmocka_unit_test(test_small_then_large),  cmocka_unit_test(test_neighbours_that_die_make_one_room),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
