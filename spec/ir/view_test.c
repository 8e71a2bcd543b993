/* view_test.c -- spec/ir: views against brute force. The model of a view is its shape and the storage offset of every
   element; each method is applied to the tile and to the model, and both must agree on the result or on the refusal. */
#include "support.h"
#include "view_util.h"

enum { MAX_ELEMENTS = 1 << 14, SEQUENCES = 4000, STEPS = 6 };

typedef struct Model {
  int rank;
  int64_t shape[IR_MAX_RANK], count;
  int64_t at[MAX_ELEMENTS];
} Model;

static uint64_t seed = 0x9e3779b97f4a7c15u;
static int64_t rnd(int64_t n) { /* 0..n-1 */
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return (int64_t)((seed >> 11) % (uint64_t)n);
}

static void model_shape(Model *m, int rank, const int64_t *shape) {
  m->rank = rank;
  m->count = 1;
  for (int i = 0; i < rank; i++) m->count *= m->shape[i] = shape[i];
}

/* Index of element n (row-major). */
static void unravel(const Model *m, int64_t n, int64_t idx[IR_MAX_RANK]) {
  for (int i = m->rank - 1; i >= 0; i--) {
    idx[i] = n % m->shape[i];
    n /= m->shape[i];
  }
}
static int64_t ravel(const Model *m, const int64_t *idx) {
  int64_t n = 0;
  for (int i = 0; i < m->rank; i++) n = n * m->shape[i] + idx[i];
  return n;
}

static void model_of_tile(const IrTile *t, Model *m) {
  int64_t shape[IR_MAX_RANK], idx[IR_MAX_RANK];
  for (int i = 0; i < t->rank; i++) shape[i] = t->dim[i].count;
  model_shape(m, t->rank, shape);
  assert_true(m->count <= MAX_ELEMENTS);
  for (int64_t n = 0; n < m->count; n++) {
    unravel(m, n, idx);
    m->at[n] = t->offset;
    for (int i = 0; i < t->rank; i++) m->at[n] += idx[i] * t->dim[i].stride;
  }
}

/* Can strides express it? */
static bool affine(const Model *m) {
  int64_t stride[IR_MAX_RANK] = {0}, idx[IR_MAX_RANK] = {0};
  for (int i = 0; i < m->rank; i++) {
    if (m->shape[i] == 1) continue;
    idx[i] = 1;
    stride[i] = m->at[ravel(m, idx)] - m->at[0];
    idx[i] = 0;
  }
  for (int64_t n = 0; n < m->count; n++) {
    int64_t want = m->at[0];
    unravel(m, n, idx);
    for (int i = 0; i < m->rank; i++) want += idx[i] * stride[i];
    if (m->at[n] != want) return false;
  }
  return true;
}

static Fix fix;
static bool chip;

static void same(const IrTile *t, const Model *want) {
  static Model got;
  assert_true(tile_fits(fix.f, t));
  model_of_tile(t, &got);
  assert_int_equal(got.rank, want->rank);
  for (int i = 0; i < got.rank; i++) assert_int_equal(got.shape[i], want->shape[i]);
  assert_memory_equal(got.at, want->at, (size_t)want->count * sizeof want->at[0]);
}

static Model a, b; /* before and after */

/* The tile must be as the model says, or refused when the model says so. */
static const IrTile *agree(const IrTile *before, const IrTile *after, bool legal) {
  if (!legal) {
    assert_null(after);
    assert_int_not_equal(fix.d.id, ERR_none);
    assert_non_null(strstr(diag_message(&fix.d), "buf"));
    diag_clear(&fix.d);
    return before;
  }
  if (!after) fail_msg("refused: %s", diag_message(&fix.d));
  same(after, &b);
  assert_true(after->whole == (after == ir_whole(fix.f, after->buf)));
  a = b;
  return after;
}

/* ---- one random step per method: change the model into b, tell whether it is legal */

static const IrTile *step_index(const IrTile *t) {
  IrSlice s[IR_MAX_RANK];
  bool legal = true;
  int64_t shape[IR_MAX_RANK], first[IR_MAX_RANK], step[IR_MAX_RANK];
  int rank = 0;
  for (int i = 0; i < a.rank; i++) {
    int64_t n = a.shape[i];
    s[i] = (IrSlice){.count = n, .step = 1};
    if (rnd(3) == 0) {
      s[i] = (IrSlice){.is_index = true, .start = rnd(n)};
    } else if (rnd(2)) {
      s[i].start = rnd(n);
      s[i].step = 1 + rnd(3);
      s[i].count = 1 + rnd((n - s[i].start + s[i].step - 1) / s[i].step);
    }
    if (rnd(25) == 0) s[i].start = rnd(2) ? n + rnd(3) : -1 - rnd(3);
    int64_t count = s[i].is_index ? 1 : s[i].count, last = s[i].start + (count - 1) * (s[i].is_index ? 1 : s[i].step);
    if (s[i].start < 0 || last >= n) legal = false;
    if (chip && i == 0 && count > 1 && s[i].step > 1) legal = false; /* partitions have no stride */
    first[i] = s[i].start;
    step[i] = s[i].is_index ? 0 : s[i].step;
    if (!s[i].is_index || (chip && i == 0)) shape[rank++] = count;
  }
  if (rank < (chip ? 2 : 1)) shape[rank++] = 1;
  model_shape(&b, rank, shape);
  for (int64_t n = 0; legal && n < b.count; n++) {
    int64_t idx[IR_MAX_RANK], src[IR_MAX_RANK];
    unravel(&b, n, idx);
    int k = 0;
    for (int i = 0; i < a.rank; i++) {
      bool kept = !s[i].is_index || (chip && i == 0);
      src[i] = first[i] + (kept ? idx[k++] * step[i] : 0);
    }
    b.at[n] = a.at[ravel(&a, src)];
  }
  return agree(t, view_index(&fix.v, t, s, a.rank), legal);
}

static const IrTile *step_permute(const IrTile *t) {
  int64_t dims[IR_MAX_RANK] = {0}, shape[IR_MAX_RANK];
  for (int i = 0; i < a.rank; i++) dims[i] = i;
  for (int i = a.rank - 1; i > 0; i--) {
    int64_t k = rnd(i + 1), x = dims[i];
    dims[i] = dims[k], dims[k] = x;
  }
  bool legal = !chip || dims[0] == 0;
  for (int i = 0; i < a.rank; i++) shape[i] = a.shape[dims[i]];
  model_shape(&b, a.rank, shape);
  for (int64_t n = 0; n < b.count; n++) {
    int64_t idx[IR_MAX_RANK], src[IR_MAX_RANK];
    unravel(&b, n, idx);
    for (int i = 0; i < a.rank; i++) src[dims[i]] = idx[i];
    b.at[n] = a.at[ravel(&a, src)];
  }
  int n = a.rank;
  if (rnd(20) == 0) { /* not a permutation */
    dims[rnd(n)] = dims[rnd(n)] + 1;
    bool seen[IR_MAX_RANK + 1] = {false};
    for (int i = 0; i < n; i++) {
      if (seen[dims[i]] || dims[i] >= n) return agree(t, view_permute(&fix.v, t, dims, n), false);
      seen[dims[i]] = true;
    }
    return t;
  }
  return agree(t, view_permute(&fix.v, t, dims, n), legal);
}

static const IrTile *step_broadcast(const IrTile *t) {
  int dim = (int)rnd(a.rank);
  int64_t size = rnd(4), shape[IR_MAX_RANK], idx[IR_MAX_RANK];
  bool legal = a.shape[dim] == 1 && size >= 1 && !(chip && dim == 0) && a.count * size <= MAX_ELEMENTS;
  if (a.count * size > MAX_ELEMENTS) return t;
  memcpy(shape, a.shape, sizeof shape);
  shape[dim] = size;
  if (legal) {
    model_shape(&b, a.rank, shape);
    for (int64_t n = 0; n < b.count; n++) {
      unravel(&b, n, idx);
      idx[dim] = 0;
      b.at[n] = a.at[ravel(&a, idx)];
    }
  }
  return agree(t, view_broadcast(&fix.v, t, dim, size), legal);
}

/* Methods that keep the row-major order of elements only change the shape. */
static const IrTile *reshaped(const IrTile *t, const IrTile *after, int rank, const int64_t *shape, bool legal) {
  if (legal) {
    model_shape(&b, rank, shape);
    memcpy(b.at, a.at, (size_t)a.count * sizeof a.at[0]);
    legal = b.count == a.count && affine(&b);
  }
  return agree(t, after, legal);
}

static const IrTile *step_expand(const IrTile *t) {
  int dim = (int)rnd(a.rank + 2);
  int64_t shape[IR_MAX_RANK + 1];
  bool legal = dim <= a.rank && !(chip && dim == 0) && a.rank < IR_MAX_RANK;
  int k = 0;
  for (int i = 0; i <= a.rank && legal; i++) {
    if (i == dim) shape[k++] = 1;
    if (i < a.rank) shape[k++] = a.shape[i];
  }
  return reshaped(t, view_expand_dim(&fix.v, t, dim), a.rank + 1, shape, legal);
}

static const IrTile *step_squeeze(const IrTile *t) {
  int dim = (int)rnd(a.rank + 1);
  int64_t shape[IR_MAX_RANK];
  bool legal = dim < a.rank && a.shape[dim] == 1 && !(chip && dim == 0) && a.rank > (chip ? 2 : 1);
  int k = 0;
  for (int i = 0; i < a.rank; i++)
    if (i != dim) shape[k++] = a.shape[i];
  return reshaped(t, view_squeeze_dim(&fix.v, t, dim), k, shape, legal);
}

static const IrTile *step_flatten(const IrTile *t) {
  int first = (int)rnd(a.rank), last = (int)rnd(a.rank), k = 0;
  int64_t shape[IR_MAX_RANK];
  bool legal = first <= last && !(chip && first == 0 && last > 0);
  for (int i = 0; i < a.rank; i++) {
    if (i > first && i <= last) {
      shape[k - 1] *= a.shape[i];
    } else {
      shape[k++] = a.shape[i];
    }
  }
  return reshaped(t, view_flatten_dims(&fix.v, t, first, last), k, shape, legal);
}

/* Splits n into up to three factors, sometimes wrongly, sometimes with one -1. */
static int random_split(int64_t n, int64_t *shape, int64_t *asked) {
  int k = 0;
  int64_t left = n;
  for (int parts = 1 + (int)rnd(3); parts > 1; parts--) {
    int64_t f = 1 + rnd(4);
    if (left % f) f = 1;
    shape[k++] = f;
    left /= f;
  }
  shape[k++] = left;
  memcpy(asked, shape, (size_t)k * sizeof *shape);
  if (rnd(3) == 0) asked[rnd(k)] = -1;
  return k;
}

static const IrTile *step_reshape_dim(const IrTile *t) {
  int dim = (int)rnd(a.rank);
  int64_t split[IR_MAX_RANK], asked[IR_MAX_RANK], shape[2 * IR_MAX_RANK];
  int n = random_split(a.shape[dim], split, asked), k = 0;
  for (int i = 0; i < a.rank; i++) {
    if (i != dim) {
      shape[k++] = a.shape[i];
    } else {
      for (int j = 0; j < n; j++) shape[k++] = split[j];
    }
  }
  bool legal = k <= IR_MAX_RANK && !(chip && dim == 0 && split[0] != a.shape[0]);
  if (rnd(20) == 0) {
    asked[0] = a.shape[dim] + 1;
    legal = false;
  }
  return reshaped(t, view_reshape_dim(&fix.v, t, dim, asked, n), k, shape, legal);
}

static const IrTile *step_reshape(const IrTile *t) {
  int64_t shape[IR_MAX_RANK], asked[IR_MAX_RANK];
  int n;
  if (chip && rnd(8)) {
    shape[0] = asked[0] = a.shape[0];
    n = 1 + random_split(a.count / a.shape[0], shape + 1, asked + 1);
  } else {
    n = random_split(a.count, shape, asked);
  }
  bool legal = !chip || (n >= 2 && shape[0] == a.shape[0]);
  return reshaped(t, view_reshape(&fix.v, t, asked, n), n, shape, legal);
}

static void run(Space space, int rank, const int64_t *shape) {
  static const IrTile *(*const steps[])(const IrTile *) = {step_index,   step_permute, step_broadcast,   step_expand,
                                                           step_squeeze, step_flatten, step_reshape_dim, step_reshape};
  fix_open(&fix, TARGET_trn2);
  chip = space == SP_sbuf;
  int64_t ends[IR_MAX_RANK + 1] = {0};
  memcpy(ends, shape, (size_t)rank * sizeof *shape);
  const IrBuf *buf = NEW_BUF(&fix, BUF_ALLOC, space, DT_float32, "buf", ends);
  for (int i = 0; i < SEQUENCES; i++) {
    const IrTile *t = whole(&fix, buf);
    model_of_tile(t, &a);
    for (int k = 0; k < STEPS; k++) t = steps[rnd(sizeof steps / sizeof *steps)](t);
  }
  fix_close(&fix);
}

static void random_views_in_hbm_equal_brute_force(void **state) {
  (void)state;
  run(SP_shared_hbm, 3, (const int64_t[]){4, 6, 8});
  run(SP_private_hbm, 1, (const int64_t[]){24});
  run(SP_shared_hbm, 5, (const int64_t[]){2, 3, 1, 4, 2});
}

static void random_views_on_chip_equal_brute_force(void **state) {
  (void)state;
  run(SP_sbuf, 3, (const int64_t[]){6, 4, 8});
  run(SP_sbuf, 2, (const int64_t[]){16, 12});
  run(SP_sbuf, 4, (const int64_t[]){1, 2, 3, 4});
}

static void tiles_are_equal_when_all_that_they_reach_is(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  const IrTile tile = *ir_whole(x.f, SBUF(&x, float32, "a", 128, 8)->id), index = tile;
  IrTile other[] = {tile, tile, tile, tile, tile, tile, tile, tile};
  other[0].buf++;
  other[1].rank--;
  other[2].offset++;
  other[3].dyn++;
  other[4].dyn_max++;
  other[5].vec = &index;
  other[6].dim[1].stride++;
  other[7].dim[1].count++;
  for (size_t k = 0; k < sizeof other / sizeof *other; k++) assert_false(tile_equal(&tile, &other[k]));
  IrTile copy = other[5], again = other[5], moved = index;
  moved.offset++;
  again.vec = &moved;
  assert_true(tile_equal(&copy, &other[5]));
  assert_false(tile_equal(&copy, &again));
  again.vec = copy.vec;
  again.vec_dim++;
  assert_false(tile_equal(&copy, &again));
  fix_close(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_views_in_hbm_equal_brute_force),
      cmocka_unit_test(random_views_on_chip_equal_brute_force),
      cmocka_unit_test(tiles_are_equal_when_all_that_they_reach_is),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
