/* carry_test.c -- spec/trace: values carried between iterations of affine_range, and the overlap test behind it. */
#include "impl.h"
#include "support.h"

typedef void (*Body)(Bench *x, int i);

/* The warnings of a loop of 4 over body. */
static const char *loop(Bench *x, TrRange kind, Body body) {
  at_line(x, 3);
  uint32_t id = tr_loop_open(x->t, kind);
  for (int i = 0; i < 4; i++) {
    assert_true(tr_iter_begin(x->t, id, i));
    at_line(x, 4);
    body(x, i);
  }
  assert_true(tr_loop_close(x->t, id));
  return tr_warnings(x->t);
}

static const IrTile *shared_tile; /* made before the loop */
static const IrTile *carried_tile;

static const IrTile *column(Bench *x, const IrTile *t, int i, int n) {
  ViewCtx c = {x->t->m, x->t->f, x->t->d};
  return view_slice(&c, t, 1, (IrSlice){.start = i, .count = n, .step = 1});
}
static const IrTile *every(Bench *x, const IrTile *t, int i, int step) {
  ViewCtx c = {x->t->m, x->t->f, x->t->d};
  return view_slice(&c, t, 1, (IrSlice){.start = i, .count = t->dim[1].count / step, .step = step});
}

static void add_in_place(Bench *x, int i) {
  (void)i;
  assert_non_null(scale(x, shared_tile, shared_tile, 2));
}
static void write_then_read(Bench *x, int i) {
  assert_non_null(fill(x, shared_tile, i));
  assert_non_null(scale(x, tensor(x, SP_sbuf, DT_float32, 128, 64), shared_tile, 2));
}
static void own_column(Bench *x, int i) {
  assert_non_null(scale(x, column(x, shared_tile, i * 8, 8), column(x, shared_tile, i * 8, 8), 2));
}
static void neighbour_column(Bench *x, int i) {
  if (i)
    assert_non_null(scale(x, column(x, shared_tile, i * 8, 8), column(x, shared_tile, (i - 1) * 8, 8), 2));
  else
    assert_non_null(fill(x, column(x, shared_tile, 0, 8), 1));
}
static void interleaved(Bench *x, int i) {
  assert_non_null(scale(x, every(x, shared_tile, i, 4), every(x, shared_tile, i, 4), 2));
}
static void rebinding(Bench *x, int i) {
  const IrTile *t = tensor(x, SP_sbuf, DT_float32, 128, 64);
  (void)i;
  assert_non_null(scale(x, t, carried_tile, 2));
  carried_tile = t;
}
static void halves_then_whole(Bench *x, int i) {
  assert_non_null(fill(x, column(x, shared_tile, 0, 32), i));
  assert_non_null(fill(x, column(x, shared_tile, 32, 32), i));
  assert_non_null(scale(x, tensor(x, SP_sbuf, DT_float32, 128, 64), shared_tile, 2));
}

static const IrTile *psum_tile, *stationary_tile, *moving_tile;
static void accumulate(Bench *x, int i) {
  Args_nc_matmul a;
  (void)i;
  defaults(OP_nc_matmul, &a);
  a.dst = vt(psum_tile);
  a.stationary = vt(stationary_tile);
  a.moving = vt(moving_tile);
  assert_non_null(tr_emit(x->t, OP_nc_matmul, (const IrVal *)&a, NULL));
}

static void check(TrRange kind, Body body, const char *expected) {
  Bench x;
  bench_open(&x, bench_spec());
  at_line(&x, 1);
  shared_tile = carried_tile = tensor(&x, SP_sbuf, DT_float32, 128, 64);
  stationary_tile = tensor(&x, SP_sbuf, DT_float32, 128, 64);
  moving_tile = tensor(&x, SP_sbuf, DT_float32, 128, 64);
  psum_tile = tensor(&x, SP_psum, DT_float32, 64, 64);
  fill(&x, shared_tile, 0);
  fill(&x, stationary_tile, 1);
  fill(&x, moving_tile, 1);
  const char *got = loop(&x, kind, body);
  if (!expected) {
    assert_string_equal(got, "");
  } else {
    if (!strstr(got, expected)) fail_msg("'%s' is not in: %s", expected, got);
    assert_ptr_equal(strchr(got, '\n'), got + strlen(got) - 1); /* one line */
  }
  bench_close(&x);
}

static void in_place_update(void **state) {
  (void)state;
  check(TR_AFFINE, add_in_place,
        "k.lua:4: 'sbuf_0' carries a value from one iteration of the affine_range loop at k.lua:3");
  check(TR_SEQUENTIAL, add_in_place, NULL);
  check(TR_STATIC, add_in_place, NULL);
}
static void rebinding_update(void **state) {
  (void)state;
  check(TR_AFFINE, rebinding, "'sbuf_3' carries a value"); /* the tile of the first iteration */
  check(TR_SEQUENTIAL, rebinding, NULL);
}
static void matmul_accumulation(void **state) {
  (void)state;
  check(TR_AFFINE, accumulate, NULL);
}
static void temporaries(void **state) {
  (void)state;
  check(TR_AFFINE, write_then_read, NULL);
  check(TR_AFFINE, halves_then_whole, NULL);
}
static void separate_regions(void **state) {
  (void)state;
  check(TR_AFFINE, own_column, NULL);
  check(TR_AFFINE, interleaved, NULL);
  check(TR_AFFINE, neighbour_column, "'sbuf_0' carries a value");
}

/* region_overlap never says "apart" of two views that share an element. */
static void overlap_against_enumeration(void **state) {
  Bench x;
  uint64_t seed = 12345;
  int apart = 0;
  (void)state;
  bench_open(&x, bench_spec());
  const int64_t shape[3] = {4, 6, 10};
  IrBufSpec s = {.space = SP_sbuf, .dtype = DT_float32, .rank = 3, .shape = shape};
  const IrTile *t = tr_ndarray(x.t, &s);
  ViewCtx c = {x.t->m, x.t->f, x.t->d};
  for (int round = 0; round < 3000; round++) {
    bool used[2][240] = {{false}};
    Region r[2];
    for (int side = 0; side < 2; side++) {
      IrSlice k[3];
      for (int d = 0; d < 3; d++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        int64_t start = (int64_t)(seed >> 33) % shape[d];
        int64_t step = d ? 1 + (int64_t)(seed >> 40) % 3 : 1, most = (shape[d] - start - 1) / step + 1;
        k[d] = (IrSlice){.start = start, .step = step, .count = 1 + (int64_t)(seed >> 50) % most};
      }
      const IrTile *v = view_index(&c, t, k, 3);
      assert_true(region_of(x.t->f, v, &r[side]));
      for (int64_t i = 0; i < v->dim[0].count; i++)
        for (int64_t j = 0; j < v->dim[1].count; j++)
          for (int64_t l = 0; l < v->dim[2].count; l++)
            used[side][v->offset + i * v->dim[0].stride + j * v->dim[1].stride + l * v->dim[2].stride] = true;
    }
    bool shared = false;
    for (int e = 0; e < 240; e++) shared = shared || (used[0][e] && used[1][e]);
    if (shared) assert_true(region_overlap(&r[0], &r[1]));
    apart += !region_overlap(&r[0], &r[1]);
  }
  assert_true(apart > 1000); /* and it does tell most of them apart */
  bench_close(&x);
}

static Region touched_by(Bench *x, const IrTile *t) {
  Region r;
  assert_true(region_of(x->t->f, t, &r));
  return r;
}

/* Every second column, from the first and from the second. */
static void odd_and_even(void **state) {
  Bench x;
  (void)state;
  bench_open(&x, bench_spec());
  const IrTile *t = tensor(&x, SP_sbuf, DT_float32, 128, 64);
  Region even = touched_by(&x, every(&x, t, 0, 2)), odd = touched_by(&x, every(&x, t, 1, 2));
  assert_false(region_overlap(&even, &odd));
  assert_true(region_overlap(&even, &even));
  bench_close(&x);
}

/* 11 elements of rows of 10: the last one is the next row's first. */
static void over_the_end_of_a_row(void **state) {
  Bench x;
  const int64_t shape[3] = {4, 6, 10};
  const IrDim pattern[2] = {{.stride = 60, .count = 4}, {.stride = 1, .count = 11}};
  IrBufSpec s = {.space = SP_sbuf, .dtype = DT_float32, .rank = 3, .shape = shape};
  (void)state;
  bench_open(&x, bench_spec());
  const IrTile *t = tr_ndarray(x.t, &s);
  ViewCtx c = {x.t->m, x.t->f, x.t->d};
  IrTile run = {.buf = t->buf, .rank = 2};
  memcpy(run.dim, pattern, sizeof pattern);
  const IrSlice second[3] = {
      {.start = 0, .count = 4, .step = 1}, {.start = 1, .count = 1, .step = 1}, {.start = 0, .count = 1, .step = 1}};
  Region a = touched_by(&x, &run), b = touched_by(&x, view_index(&c, t, second, 3));
  assert_true(region_overlap(&a, &b));
  bench_close(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(in_place_update),     cmocka_unit_test(rebinding_update),
      cmocka_unit_test(matmul_accumulation), cmocka_unit_test(temporaries),
      cmocka_unit_test(separate_regions),    cmocka_unit_test(overlap_against_enumeration),
      cmocka_unit_test(odd_and_even),        cmocka_unit_test(over_the_end_of_a_row),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
