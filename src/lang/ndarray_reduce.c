/* ndarray_reduce.c -- room lang: sums, extremes, means and matrix products of host arrays. All in f64, in element
 * order, rounded once. */
#include <math.h>

#include "ndarray.h"

typedef enum Fold { FOLD_sum, FOLD_mean, FOLD_max, FOLD_min } Fold;

typedef struct Reduction {
  Fold fold;
  const char *func;
  const LArray *a;
  uint32_t axes; /* mask of those that vanish */
  double *acc;
  int64_t stride[IR_MAX_RANK]; /* of acc, 0 along the axes that vanish */
} Reduction;

static double start(Fold fold) { return fold == FOLD_max ? -INFINITY : fold == FOLD_min ? INFINITY : 0; }

static void fold_in(Fold fold, double *acc, double v) {
  if (fold == FOLD_max) {
    if (isnan(v) || v > *acc) *acc = isnan(*acc) ? *acc : v;
  } else if (fold == FOLD_min) {
    if (isnan(v) || v < *acc) *acc = isnan(*acc) ? *acc : v;
  } else {
    *acc += v;
  }
}

static void run(Reduction *r) {
  const LArray *a = r->a;
  double block[ARRAY_BLOCK];
  int64_t index[IR_MAX_RANK] = {0}, to = 0;
  for (int64_t i = 0; i < a->count; i++) {
    if (i % ARRAY_BLOCK == 0) array_read(a, i, a->count - i < ARRAY_BLOCK ? a->count - i : ARRAY_BLOCK, block);
    fold_in(r->fold, &r->acc[to], block[i % ARRAY_BLOCK]);
    for (int k = a->rank - 1; k >= 0; k--) {
      to += r->stride[k];
      if (++index[k] < a->shape[k]) break;
      to -= r->stride[k] * a->shape[k];
      index[k] = 0;
    }
  }
}

/* Sums of integers go to 32 bits, means to float32. */
static DType dtype_of(const Reduction *r) {
  DType d = r->a->dtype;
  if (!dtype_is_int(d)) return d;
  if (r->fold == FOLD_mean) return DT_float32;
  if (r->fold != FOLD_sum) return d;
  return dtype_info[d].cls == DC_UINT ? DT_uint32 : DT_int32;
}

static void axis_list(lua_State *L, int i, Reduction *r) {
  if (lua_isnil(L, i)) {
    r->axes = ~0u;
    return;
  }
  if (lua_type(L, i) != LUA_TTABLE) {
    r->axes = 1u << array_axis(L, i, r->a, r->func);
    return;
  }
  int n = (int)lua_rawlen(L, i);
  if (!lang_is_list(L, i)) lang_kind_error(L, i, r->func, "axis", "an axis or a list of axes");
  for (int k = 1; k <= n; k++) {
    lua_rawgeti(L, i, k);
    uint32_t bit = 1u << array_axis(L, lua_gettop(L), r->a, r->func);
    lua_pop(L, 1);
    if (r->axes & bit) LANG_FAIL(L, bind_value, r->func, "axis", "a list with an axis twice", "name each axis once");
    r->axes |= bit;
  }
}

/* The result's shape; fills the strides. */
static int result_shape(Reduction *r, bool keepdims, int64_t shape[IR_MAX_RANK]) {
  int rank = 0;
  int64_t step = 1;
  for (int k = 0; k < r->a->rank; k++) {
    bool gone = r->axes >> k & 1;
    if (!gone || keepdims) shape[rank++] = gone ? 1 : r->a->shape[k];
  }
  for (int k = r->a->rank - 1; k >= 0; k--) {
    r->stride[k] = r->axes >> k & 1 ? 0 : step;
    if (r->stride[k]) step *= r->a->shape[k];
  }
  return rank;
}

static int reduce(lua_State *L, const char *func, Fold fold) {
  static const char *const names[] = {"self", "axis", "keepdims"};
  static const bool required[] = {true, false, false};
  BindSpec spec = {.func = func, .names = names, .required = required, .n = 3, .list_mask = 2};
  int64_t shape[IR_MAX_RANK];
  lang_bind(L, &spec);
  Reduction r = {.fold = fold, .func = func, .a = array_numeric(L, 1, func, "self")};
  if (!lua_isnil(L, 3) && !lua_isboolean(L, 3)) lang_kind_error(L, 3, func, "keepdims", "a boolean");
  bool keepdims = lua_toboolean(L, 3), whole = lua_isnil(L, 2) && !keepdims;
  axis_list(L, 2, &r);
  int rank = result_shape(&r, keepdims, shape);
  ArrayOut out = {L, func, lang_push_array(L, dtype_of(&r), rank, shape)};
  r.acc = lua_newuserdatauv(L, (size_t)out.a->count * sizeof *r.acc, 0);
  for (int64_t i = 0; i < out.a->count; i++) r.acc[i] = start(fold);
  run(&r);
  for (int64_t i = 0; fold == FOLD_mean && i < out.a->count; i++) r.acc[i] /= (double)(r.a->count / out.a->count);
  if (whole) { /* one number, as it was accumulated */
    array_push_number(L, out.a->dtype == DT_bool_ ? DT_bool_ : out.a->dtype, r.acc[0]);
    return 1;
  }
  for (int64_t i = 0; i < out.a->count; i += ARRAY_BLOCK)
    array_write(&out, i, out.a->count - i < ARRAY_BLOCK ? out.a->count - i : ARRAY_BLOCK, r.acc + i);
  lua_pop(L, 1);
  return 1;
}

static int l_sum(lua_State *L) { return reduce(L, "array:sum", FOLD_sum); }
static int l_mean(lua_State *L) { return reduce(L, "array:mean", FOLD_mean); }
static int l_max(lua_State *L) { return reduce(L, "array:max", FOLD_max); }
static int l_min(lua_State *L) { return reduce(L, "array:min", FOLD_min); }

/* ---- a:matmul(b): [M,K] by [K,N] --------------------------------------------------------------------------------- */

static void to_f64(const LArray *a, double *out) {
  for (int64_t i = 0; i < a->count; i += ARRAY_BLOCK)
    array_read(a, i, a->count - i < ARRAY_BLOCK ? a->count - i : ARRAY_BLOCK, out + i);
}

static int l_matmul(lua_State *L) {
  static const char func[] = "array:matmul";
  const LArray *a = array_numeric(L, 1, func, "self"), *b = array_numeric(L, 2, func, "other");
  lang_at_most(L, func, 3, 0);
  char x[ARRAY_TEXT], y[ARRAY_TEXT];
  if (a->rank != 2 || b->rank != 2 || a->shape[1] != b->shape[0]) {
    lua_pushfstring(L, "shapes %s and %s are not [M,K] and [K,N]", array_shape_text(a->rank, a->shape, x),
                    array_shape_text(b->rank, b->shape, y));
    LANG_FAIL(L, array_shape, func, lua_tostring(L, -1));
  }
  DType dtype = dtype_promote(a->dtype, b->dtype);
  if (dtype == DT_none) LANG_FAIL(L, array_dtypes, func, dtype_name(a->dtype), dtype_name(b->dtype));
  if (dtype == DT_bool_) LANG_FAIL(L, array_bool, func);
  int64_t m = a->shape[0], k = a->shape[1], n = b->shape[1];
  ArrayOut out = {L, func, lang_push_array(L, dtype, 2, (int64_t[]){m, n})};
  double *left = lua_newuserdatauv(L, (size_t)(a->count + b->count + n) * sizeof *left, 0);
  double *right = left + a->count, *sums = right + b->count;
  to_f64(a, left);
  to_f64(b, right);
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < n; j++) sums[j] = 0;
    for (int64_t c = 0; c < k; c++)
      for (int64_t j = 0; j < n; j++) sums[j] += left[i * k + c] * right[c * n + j];
    for (int64_t j = 0; j < n; j += ARRAY_BLOCK)
      array_write(&out, i * n + j, n - j < ARRAY_BLOCK ? n - j : ARRAY_BLOCK, sums + j);
  }
  lua_pop(L, 1);
  return 1;
}

const luaL_Reg array_reduce_methods[] = {{"sum", l_sum}, {"mean", l_mean},     {"max", l_max},
                                         {"min", l_min}, {"matmul", l_matmul}, {NULL, NULL}};
