/* random_test.c -- spec/sim: views of every shape against a model that knows nothing of runs: copies and sums inside
   one tile, with overlap, never-written elements and storage of any width. */
#include "kit.h"

enum { PARTS = 4, FREE = 24, CELLS = PARTS * FREE, STEPS = 6, CASES = 3000 };

static uint64_t seed;
static int pick(int n) { /* 0 .. n-1 */
  seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (int)((seed >> 33) % (uint64_t)n);
}

typedef struct View {
  const IrTile *tile;
  int n;
  int at[CELLS]; /* cell of each element, in row-major order */
} View;

/* parts x (a x b) elements. A source may repeat elements; a destination has each cell once. */
static void make_view(Kit *k, const IrTile *buf, const int shape[3], bool dst, View *v) {
  int step[3] = {FREE, 0, 0};
  int first_part = pick(PARTS - shape[0] + 1), room = FREE;
  for (;;) { /* inner then outer step, so that the tile fits */
    step[2] = dst ? 1 + pick(3) : pick(4);
    step[1] = dst ? step[2] * shape[2] * (1 + pick(2)) : pick(8);
    if (dst && pick(2)) { /* transposed */
      step[1] = 1 + pick(2);
      step[2] = step[1] * shape[1] * (1 + pick(2));
    }
    int extent = step[1] * (shape[1] - 1) + step[2] * (shape[2] - 1) + 1;
    room = FREE - extent;
    if (room >= 0) break;
  }
  int off = first_part * FREE + pick(room + 1);
  v->tile = kit_ap(k, buf, off, PAIRS(FREE, shape[0], step[1], shape[1], step[2], shape[2]));
  v->n = 0;
  for (int p = 0; p < shape[0]; p++)
    for (int a = 0; a < shape[1]; a++)
      for (int b = 0; b < shape[2]; b++) v->at[v->n++] = off + p * FREE + a * step[1] + b * step[2];
}

typedef struct Model {
  float v[CELLS];
  bool written[CELLS];
  int reports;
} Model;

static void apply(Model *m, const View *dst, const View *x, const View *y) {
  float r[CELLS];
  bool missing = false;
  for (int i = 0; i < dst->n; i++) {
    missing |= !m->written[x->at[i]] || (y && !m->written[y->at[i]]);
    r[i] = m->v[x->at[i]] + (y ? m->v[y->at[i]] : 0);
  }
  for (int i = 0; i < dst->n; i++) m->v[dst->at[i]] = r[i], m->written[dst->at[i]] = true;
  m->reports += missing;
}

static void start(Kit *k, Model *m, const IrTile *buf) {
  for (int i = 0; i < CELLS; i++) m->v[i] = NAN, m->written[i] = false;
  m->reports = 0;
  for (int n = pick(3); n > 0; n--) {
    View v;
    const int shape[3] = {1 + pick(PARTS), 1 + pick(3), 1 + pick(4)};
    int value = pick(4);
    make_view(k, buf, shape, true, &v);
    kit_ins(k, OP_memset, "dst", T(v.tile), "value", N(value), NULL);
    for (int i = 0; i < v.n; i++) m->v[v.at[i]] = (float)value, m->written[v.at[i]] = true;
  }
}

static void one_case(DType dt) {
  Kit k;
  Model m;
  kit_open(&k, TARGET_trn2);
  k.verify = false; /* partitions may start anywhere here */
  const IrTile *buf = kit_buf(&k, SP_sbuf, dt, SHAPE(PARTS, FREE)),
               *wide = kit_buf(&k, SP_sbuf, DT_float32, SHAPE(PARTS, FREE));
  start(&k, &m, buf);
  for (int i = 0; i < STEPS; i++) {
    const int shape[3] = {1 + pick(PARTS), 1 + pick(3), 1 + pick(4)};
    View dst, x, y;
    make_view(&k, buf, shape, true, &dst);
    make_view(&k, buf, shape, false, &x);
    make_view(&k, buf, shape, false, &y);
    if (pick(4) == 0) x = dst;
    if (pick(2)) {
      kit_ins(&k, pick(2) ? OP_tensor_copy : OP_dma_copy, "dst", T(dst.tile), "src", T(x.tile), NULL);
      apply(&m, &dst, &x, NULL);
    } else {
      kit_ins(&k, OP_tensor_tensor, "dst", T(dst.tile), "data1", T(x.tile), "data2", T(y.tile), "op", I(ALU_add), NULL);
      apply(&m, &dst, &x, &y);
    }
  }
  kit_ins(&k, OP_tensor_copy, "dst", T(wide), "src", T(buf), NULL);
  for (int i = 0; i < CELLS; i++)
    if (!m.written[i]) {
      m.reports++;
      break;
    }
  kit_store(&k, wide);
  kit_ok(&k);
  kit_expect(&k, 0, CELLS, m.v);
  assert_int_equal(k.report.count, m.reports);
  kit_close(&k);
}

static void run(DType dt) {
  seed = 20240607;
  for (int i = 0; i < CASES; i++) one_case(dt);
}

static void test_f32(void **state) {
  (void)state;
  run(DT_float32);
}
static void test_bf16(void **state) { /* the sums stay at most 3 * 2^STEPS, so they are exact */
  (void)state;
  run(DT_bfloat16);
}
static void test_f16(void **state) {
  (void)state;
  run(DT_float16);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_f32),
      cmocka_unit_test(test_bf16),
      cmocka_unit_test(test_f16),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
