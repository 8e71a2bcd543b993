/* view_ap_test.c -- spec/ir: run-time offsets, explicit patterns, reinterpretation; what indexing says about bad
 * indices. */
#include "support.h"
#include "view_util.h"

static uint64_t seed = 88172645463325252u;
static int64_t rnd(int64_t n) {
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return (int64_t)((seed >> 11) % (uint64_t)n);
}

#define FAILS(x, expr, id, word)           \
  do {                                     \
    diag_clear(&(x)->d);                   \
    assert_null(expr);                     \
    expect_error(&(x)->d, ERR_##id, word); \
    diag_clear(&(x)->d);                   \
  } while (0)

static IrSlice range(int64_t start, int64_t count, int64_t step) {
  return (IrSlice){.start = start, .count = count, .step = step};
}
static IrSlice at(int64_t i) { return (IrSlice){.is_index = true, .start = i}; }

static void out_of_range_names_tensor_dim_index_and_size(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  const IrTile *t = whole(&x, SBUF(&x, float32, "o", 16, 128));
  IrSlice s[2] = {range(0, 16, 1), at(128)};
  FAILS(&x, view_index(&x.v, t, s, 2), tensor_access_out_of_bound,
        "index 128 of dimension 1 of o[16,128] float32 in sbuf is out of bounds: the dimension has 128 elements");
  s[1] = at(-1);
  FAILS(&x, view_index(&x.v, t, s, 2), tensor_access_out_of_bound, "index -1");
  s[1] = range(120, 9, 1);
  FAILS(&x, view_index(&x.v, t, s, 2), tensor_access_out_of_bound, "slice [120, 129) with step 1 of dimension 1");
  s[1] = range(0, 0, 1);
  FAILS(&x, view_index(&x.v, t, s, 2), tensor_access_out_of_bound, "slice of 0 elements");
  s[1] = range(0, 4, 0);
  FAILS(&x, view_index(&x.v, t, s, 2), tensor_access_out_of_bound, "step 0");
  s[1] = range(1, INT64_MAX, 2);
  FAILS(&x, view_index(&x.v, t, s, 2), tensor_access_out_of_bound, "o[16,128]");
  s[1] = range(INT64_MAX, 1, 1);
  FAILS(&x, view_index(&x.v, t, s, 2), tensor_access_out_of_bound, "o[16,128]");
  fix_close(&x);
}

static void the_partition_axis_stays(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  const IrTile *t = whole(&x, SBUF(&x, float32, "t", 64, 64, 64));
  FAILS(&x, view_select(&x.v, t, 0, at(3)), view_partition, "partition axis");
  FAILS(&x, view_broadcast(&x.v, t, 0, 2), view_partition, "t[64,64,64]");
  FAILS(&x, view_expand_dim(&x.v, t, 0), view_partition, "t[64,64,64]");
  FAILS(&x, view_slice(&x.v, t, 0, range(0, 32, 2)), view_partition, "step");
  IrSlice all[3] = {range(0, 64, 1), at(0), at(10)};
  const IrTile *r = view_index(&x.v, t, all, 3); /* t[:, 0, 10] is (64, 1) */
  assert_int_equal(r->rank, 2);
  assert_int_equal(r->dim[0].count, 64);
  assert_int_equal(r->dim[1].count, 1);
  assert_int_equal(r->offset, 10);
  IrSlice one[3] = {at(5), at(6), at(7)};
  r = view_index(&x.v, t, one, 3); /* dim 0 stays with size 1 */
  assert_int_equal(r->rank, 2);
  assert_int_equal(r->dim[0].count, 1);
  assert_int_equal(r->offset, (5 * 64 + 6) * 64 + 7);
  const IrTile *h = whole(&x, HBM(&x, float32, "h", 4, 8));
  r = view_index(&x.v, h, (IrSlice[]){at(1), at(2)}, 2);
  assert_int_equal(r->rank, 1);
  assert_int_equal(r->dim[0].count, 1);
  fix_close(&x);
}

/* dyn_max is exactly the last offset at which the view still lies in its dimension. */
static void dynamic_slices_know_how_far_they_may_move(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  const int64_t size[3] = {8, 6, 10};
  const IrTile *t = whole(&x, HBM(&x, float32, "h", 8, 6, 10));
  for (int i = 0; i < 2000; i++) {
    int k = (int)rnd(3);
    int64_t step = 1 + rnd(3), count = 1 + rnd((size[k] - 1) / step + 1), start = rnd(2);
    IrSlice s = {.dynamic = true, .idx = 7, .start = start, .count = count, .step = step};
    bool fits = start + (count - 1) * step < size[k];
    const IrTile *r = view_slice(&x.v, t, k, s);
    if (!fits) {
      assert_null(r);
      diag_clear(&x.d);
      continue;
    }
    assert_non_null(r);
    int64_t moves = 0; /* steps of one element along dim k until the last element falls off */
    while (start + moves + 1 + (count - 1) * step < size[k]) moves++;
    assert_int_equal(r->dyn_max, moves * t->dim[k].stride);
    assert_int_equal(r->dyn, 7);
    assert_int_equal(r->offset, start * t->dim[k].stride);
    assert_true(tile_fits(x.f, r));
  }
  fix_close(&x);
}

static void one_dynamic_offset_per_view_and_none_on_partitions(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  IrSlice d = {.dynamic = true, .idx = 1, .count = 1, .step = 1};
  const IrTile *h = whole(&x, HBM(&x, float32, "h", 8, 6)), *t = whole(&x, SBUF(&x, float32, "t", 8, 6));
  const IrTile *r = view_slice(&x.v, h, 0, d);
  FAILS(&x, view_slice(&x.v, r, 1, d), view_one_dynamic, "at most one run-time offset");
  FAILS(&x, view_slice(&x.v, t, 0, d), view_partition, "run time");
  assert_non_null(view_slice(&x.v, t, 1, d));
  const IrTile *idx = whole(&x, SBUF(&x, int32, "idx", 4, 1));
  FAILS(&x, view_vector_select(&x.v, r, 0, idx), view_one_dynamic, "h[8,6]");
  fix_close(&x);
}

static void vector_offsets_pick_whole_rows_of_hbm(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  const IrTile *h = whole(&x, HBM(&x, float32, "h", 100, 6)), *t = whole(&x, SBUF(&x, float32, "t", 8, 6));
  const IrTile *idx = whole(&x, SBUF(&x, int32, "idx", 4, 1)), *wide = whole(&x, SBUF(&x, int32, "wide", 4, 2));
  const IrTile *real = whole(&x, SBUF(&x, float32, "real", 4, 1));
  const IrTile *r = view_vector_select(&x.v, h, 0, idx);
  assert_non_null(r);
  assert_ptr_equal(r->vec, idx);
  assert_int_equal(r->dim[0].count, 4);
  assert_int_equal(r->dim[0].stride, 6);
  assert_non_null(view_slice(&x.v, r, 1, range(1, 2, 2)));
  FAILS(&x, view_slice(&x.v, r, 0, range(0, 2, 1)), view_indexed_dim, "vector offset");
  FAILS(&x, view_permute(&x.v, r, (int64_t[]){1, 0}, 2), view_indexed_dim, "vector offset");
  FAILS(&x, view_vector_select(&x.v, h, 1, idx), view_vector_dim, "not 1");
  FAILS(&x, view_vector_select(&x.v, t, 0, idx), view_vector_memory, "hbm");
  FAILS(&x, view_vector_select(&x.v, h, 0, wide), view_vector_column, "wide[4,2]");
  FAILS(&x, view_vector_select(&x.v, h, 0, real), view_vector_column, "real[4,1] float32");
  assert_int_equal(r->dyn_max, 99 * 6);
  const IrTile *odd = view_vector_select(&x.v, view_slice(&x.v, h, 0, range(0, 50, 2)), 0, idx);
  assert_int_equal(odd->dim[0].stride, 12); /* a row of the view */
  assert_int_equal(odd->dyn_max, 49 * 12);
  const IrTile *cells = view_vector_select(&x.v, view_reshape(&x.v, h, (int64_t[]){600, 1}, 2), 0, idx);
  assert_int_equal(cells->dim[0].stride, 1);
  assert_int_equal(cells->dyn_max, 599);
  const IrTile *same = view_broadcast(&x.v, view_slice(&x.v, h, 0, range(3, 1, 1)), 0, 7);
  FAILS(&x, view_vector_select(&x.v, same, 0, idx), view_vector_rows, "broadcast");
  /* a single row may stay a reshaped view */
  assert_non_null(view_reshape(&x.v, r, (int64_t[]){4, 3, 2}, 3));
  FAILS(&x, view_reshape(&x.v, r, (int64_t[]){2, 12}, 2), view_indexed_dim, "split or merged");
  fix_close(&x);
}

static const IrTile *ap(Fix *x, const IrTile *t, ViewAp p, int n, const int64_t *pairs) {
  p.pairs = pairs;
  p.npairs = n;
  return view_ap(&x->v, t, &p);
}

static void patterns_address_the_storage(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  const IrTile *t = whole(&x, SBUF(&x, float32, "t", 128, 64));
  const IrTile *v = view_index(&x.v, t, (IrSlice[]){range(32, 32, 1), range(8, 16, 1)}, 2);
  const IrTile *r = ap(&x, v, (ViewAp){0}, 3, (int64_t[]){64, 32, 4, 4, 1, 3});
  assert_int_equal(r->offset, 32 * 64 + 8); /* inherited */
  assert_int_equal(r->rank, 3);
  r = ap(&x, v, (ViewAp){.has_offset = true, .offset = 5}, 2, (int64_t[]){64, 32, 1, 3});
  assert_int_equal(r->offset, 32 * 64 + 13); /* added */
  r = ap(&x, t, (ViewAp){0}, 2, (int64_t[]){64, 128, 1, 64});
  assert_ptr_equal(r, t); /* the whole tile is the buffer's own */
  FAILS(&x, ap(&x, t, (ViewAp){0}, 2, (int64_t[]){128, 64, 1, 64}), view_ap_partition, "64 elements per partition");
  FAILS(&x, ap(&x, t, (ViewAp){0}, 2, (int64_t[]){64, 128, 1, 65}), tensor_access_out_of_bound, "[[64,128],[1,65]]");
  FAILS(&x, ap(&x, t, (ViewAp){.has_offset = true, .offset = 1}, 2, (int64_t[]){64, 128, 1, 64}),
        tensor_access_out_of_bound, "offset 1");
  FAILS(&x, ap(&x, t, (ViewAp){.has_offset = true, .offset = -1}, 2, (int64_t[]){64, 1, 1, 1}),
        tensor_access_out_of_bound, "-1");
  FAILS(&x, ap(&x, t, (ViewAp){0}, 2, (int64_t[]){64, 128, -1, 4}), view_ap_pair, "[-1, 4]");
  FAILS(&x, ap(&x, t, (ViewAp){0}, 2, (int64_t[]){64, 0, 1, 4}), view_ap_pair, "[64, 0]");
  FAILS(&x, ap(&x, t, (ViewAp){0}, 0, (int64_t[]){0}), view_ap_pairs, "0 pairs");
  FAILS(&x, ap(&x, t, (ViewAp){0}, 3, (int64_t[]){64, 1, INT64_MAX, 3, 1, INT64_MAX}), view_ap_pair, "t[128,64]");
  const IrTile *h = whole(&x, HBM(&x, float32, "h", 10, 6));
  r = ap(&x, h, (ViewAp){.scalar_idx = 3}, 2, (int64_t[]){6, 4, 1, 6});
  assert_int_equal(r->dyn, 3);
  assert_int_equal(r->dyn_max, 60 - 24);
  assert_int_equal(view_ap_scale(x.f, h, 0), 6);
  assert_int_equal(view_ap_scale(x.f, h, 1), 1);
  assert_int_equal(view_ap_scale(x.f, h, 2), 0);
  r = ap(&x, t, (ViewAp){.scalar_idx = 3, .indirect_dim = 1}, 2, (int64_t[]){64, 128, 1, 16});
  assert_int_equal(r->dyn_max, 48);
  FAILS(&x, ap(&x, t, (ViewAp){.scalar_idx = 3}, 2, (int64_t[]){64, 128, 1, 16}), view_partition, "run time");
  const IrTile *idx = whole(&x, SBUF(&x, uint32, "idx", 4, 1));
  r = ap(&x, h, (ViewAp){.vec = idx}, 2, (int64_t[]){999, 4, 1, 3}); /* the leading stride is ignored */
  assert_int_equal(r->dim[0].stride, 6);
  FAILS(&x, ap(&x, h, (ViewAp){.vec = idx}, 2, (int64_t[]){6, 5, 1, 3}), view_ap_vector, "4 rows");
  FAILS(&x, ap(&x, h, (ViewAp){.vec = idx, .indirect_dim = 9}, 2, (int64_t[]){6, 4, 1, 3}), view_dim, "no dimension 9");
  FAILS(&x, ap(&x, h, (ViewAp){.vec = idx, .scalar_idx = 1}, 2, (int64_t[]){6, 4, 1, 3}), view_one_dynamic, "h[10,6]");
  FAILS(&x, ap(&x, h, (ViewAp){.vec = idx, .indirect_dim = 1}, 2, (int64_t[]){6, 4, 1, 3}), view_vector_dim, "not 1");
  fix_close(&x);
}

/* ---- reinterpretation: the bytes of the view, in order, stay the same */

enum { MAX_BYTES = 1 << 13 };
static int byte_list(const Fix *x, const IrTile *t, int64_t out[MAX_BYTES]) {
  int64_t size = dtype_bytes(tile_buf(x->f, t)->dtype), n = tile_count(t);
  int k = 0;
  assert_true(n * size <= MAX_BYTES);
  for (int64_t e = 0; e < n; e++) {
    int64_t rest = e, at_elem = t->offset;
    for (int i = t->rank - 1; i >= 0; i--) {
      at_elem += rest % t->dim[i].count * t->dim[i].stride;
      rest /= t->dim[i].count;
    }
    for (int64_t b = 0; b < size; b++) out[k++] = at_elem * size + b;
  }
  return k;
}

/* Is each run of the last dim one dense piece of memory (needed when the element size changes) that starts at a
   multiple of the new size and holds a whole number of new elements? */
static bool castable(const IrTile *t, int64_t from, int64_t size, const int64_t *bytes, int n) {
  int64_t run = t->dim[t->rank - 1].count * from;
  if (from == size) return true;
  if (run % size) return false;
  for (int64_t i = 0; i < n; i += run)
    for (int64_t b = 0; b < run; b++)
      if (bytes[i] % size || bytes[i + b] != bytes[i] + b) return false;
  return true;
}

static const IrTile *cast(Fix *x, const IrTile *t, DType to) {
  int64_t shape[IR_MAX_RANK];
  int rank;
  if (!view_cast_shape(&x->v, t, to, shape, &rank)) return NULL;
  uint32_t base = tile_buf(x->f, t)->kind == BUF_VIEW ? tile_buf(x->f, t)->base : t->buf;
  IrBufSpec spec = {
      .kind = BUF_VIEW, .space = tile_buf(x->f, t)->space, .dtype = to, .rank = rank, .shape = shape, .base = base};
  return view_cast(&x->v, t, ir_buf_new(x->m, x->f, &spec));
}

static void casts_keep_the_bytes(void **state) {
  (void)state;
  static const DType types[] = {DT_uint8, DT_bfloat16, DT_float32, DT_int8, DT_int32};
  static int64_t before[MAX_BYTES], after[MAX_BYTES];
  int done = 0, refused = 0;
  for (int i = 0; i < 4000; i++) {
    Fix x;
    fix_open(&x, TARGET_trn2);
    Space space = rnd(2) ? SP_sbuf : SP_shared_hbm;
    DType from = types[rnd(5)], to = types[rnd(5)];
    int64_t shape[4] = {1 + rnd(4), 1 + rnd(4), 1 + rnd(9), 0};
    const IrTile *t = whole(&x, NEW_BUF(&x, BUF_ALLOC, space, from, "buf", shape));
    IrSlice s[3];
    for (int k = 0; k < 3; k++) {
      s[k].is_index = s[k].dynamic = false;
      s[k].start = rnd(3) ? 0 : rnd(shape[k]);
      s[k].step = k && rnd(4) == 0 ? 2 : 1;
      s[k].count = 1 + rnd((shape[k] - s[k].start - 1) / s[k].step + 1);
    }
    t = view_index(&x.v, t, s, 3);
    assert_non_null(t);
    int n = byte_list(&x, t, before);
    const IrTile *r = cast(&x, t, to);
    if (r) {
      assert_int_equal(byte_list(&x, r, after), n);
      assert_memory_equal(before, after, (size_t)n * sizeof before[0]);
      assert_true(tile_fits(x.f, r));
      done++;
    } else {
      /* the storage as a whole must be a whole number of elements too, on chip per partition */
      int64_t run = shape[1] * shape[2] * dtype_bytes(from) * (space == SP_sbuf ? 1 : shape[0]);
      bool by_rule = run % dtype_bytes(to) != 0 || !castable(t, dtype_bytes(from), dtype_bytes(to), before, n);
      if (!by_rule) fail_msg("refused without cause: %s", diag_message(&x.d));
      assert_int_equal(x.d.id, ERR_view_cast);
      refused++;
    }
    fix_close(&x);
  }
  assert_true(done > 1000 && refused > 300);
}

static void a_cast_back_is_the_tensor_itself(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  IrBuf *b = SBUF(&x, float32, "b", 128, 64);
  const IrTile *r = cast(&x, whole(&x, b), DT_bfloat16);
  assert_int_equal(r->dim[1].count, 128);
  assert_true(r->whole);
  assert_int_equal(x.f->bufs[r->buf]->base, b->id);
  assert_ptr_equal(view_cast(&x.v, r, b), whole(&x, b));
  IrSlice d = {.dynamic = true, .idx = 1, .count = 4, .step = 1};
  const IrTile *moving = view_slice(&x.v, whole(&x, b), 1, d);
  assert_null(cast(&x, moving, DT_int32));
  expect_error(&x.d, ERR_view_ap_indirect, "run-time offset");
  fix_close(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(out_of_range_names_tensor_dim_index_and_size),
      cmocka_unit_test(the_partition_axis_stays),
      cmocka_unit_test(dynamic_slices_know_how_far_they_may_move),
      cmocka_unit_test(one_dynamic_offset_per_view_and_none_on_partitions),
      cmocka_unit_test(vector_offsets_pick_whole_rows_of_hbm),
      cmocka_unit_test(patterns_address_the_storage),
      cmocka_unit_test(casts_keep_the_bytes),
      cmocka_unit_test(a_cast_back_is_the_tensor_itself),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
