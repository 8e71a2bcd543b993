/* ndarray_math.c -- room lang: element-wise arithmetic of host arrays, with NumPy's broadcasting. */
#include <math.h>

#include "ndarray.h"

typedef double (*Binary)(double x, double y);
typedef double (*Unary)(double x);

/* One operand: an array or a number. stride: 0 along axes that are repeated. */
typedef struct Side {
  const LArray *a;
  double number;
  bool integer;
  int64_t stride[IR_MAX_RANK];
} Side;

static Side side(lua_State *L, int i, const char *func, const char *param) {
  Side s = {.a = NULL};
  if (lua_type(L, i) == LUA_TNUMBER) {
    s.number = lua_tonumber(L, i);
    s.integer = lua_isinteger(L, i);
    return s;
  }
  if (!lang_to_array(L, i)) lang_kind_error(L, i, func, param, "an array or a number");
  s.a = array_numeric(L, i, func, param);
  if (s.a->dtype == DT_bool_) LANG_FAIL(L, array_bool, func);
  return s;
}

/* As in NumPy a plain number takes the array's dtype, except that a fraction makes integers floats; two dtypes promote
 * as tiles do. */
static DType result_dtype(lua_State *L, const char *func, const Side *x, const Side *y) {
  if (x->a && y->a) {
    DType d = dtype_promote(x->a->dtype, y->a->dtype);
    if (d == DT_none) LANG_FAIL(L, array_dtypes, func, dtype_name(x->a->dtype), dtype_name(y->a->dtype));
    return d;
  }
  const Side *array = x->a ? x : y, *number = x->a ? y : x;
  return dtype_is_int(array->a->dtype) && !number->integer ? DT_float32 : array->a->dtype;
}

/* The common shape, aligned at the last axis; fills the strides. */
static int common_shape(lua_State *L, const char *func, Side *both[2], int64_t shape[IR_MAX_RANK]) {
  const LArray *a = both[0]->a, *b = both[1]->a;
  int rank = a && b ? (a->rank > b->rank ? a->rank : b->rank) : a ? a->rank : b->rank;
  for (int k = 0; k < rank; k++) shape[k] = 1;
  for (int s = 0; s < 2; s++) {
    const LArray *t = both[s]->a;
    for (int k = 0; t && k < t->rank; k++) {
      int64_t *size = &shape[rank - t->rank + k];
      if (*size == 1) *size = t->shape[k];
      if (t->shape[k] == 1 || t->shape[k] == *size) continue;
      char one[ARRAY_TEXT], two[ARRAY_TEXT];
      LANG_FAIL(L, array_broadcast, func, array_shape_text(a->rank, a->shape, one),
                array_shape_text(b->rank, b->shape, two), rank - t->rank + k, (long long)*size, (long long)t->shape[k]);
    }
  }
  for (int s = 0; s < 2; s++) {
    const LArray *t = both[s]->a;
    int64_t step = 1;
    for (int k = t ? t->rank - 1 : -1; k >= 0; k--) {
      both[s]->stride[rank - t->rank + k] = t->shape[k] == 1 ? 0 : step;
      step *= t->shape[k];
    }
  }
  return rank;
}

/* n elements of a side from position at along an axis of stride 0 or 1. */
static void read_side(const Side *s, int64_t at, int64_t stride, int64_t n, double *out) {
  if (s->a && stride) {
    array_read(s->a, at, n, out);
    return;
  }
  double v = s->a ? array_at(s->a, at) : s->number;
  for (int64_t k = 0; k < n; k++) out[k] = v;
}

static void row(const ArrayOut *out, Binary f, Side *both[2], const int64_t at[3]) {
  double x[ARRAY_BLOCK], y[ARRAY_BLOCK];
  const LArray *a = out->a;
  int64_t n = a->rank ? a->shape[a->rank - 1] : 1;
  int64_t step0 = a->rank ? both[0]->stride[a->rank - 1] : 0, step1 = a->rank ? both[1]->stride[a->rank - 1] : 0;
  for (int64_t i = 0; i < n; i += ARRAY_BLOCK) {
    int64_t m = n - i < ARRAY_BLOCK ? n - i : ARRAY_BLOCK;
    read_side(both[0], at[0] + i * step0, step0, m, x);
    read_side(both[1], at[1] + i * step1, step1, m, y);
    for (int64_t k = 0; k < m; k++) x[k] = f(x[k], y[k]);
    array_write(out, at[2] + i, m, x);
  }
}

static void rows(const ArrayOut *out, Binary f, Side *both[2]) {
  const LArray *a = out->a;
  int64_t index[IR_MAX_RANK] = {0}, at[3] = {0, 0, 0}, n = a->rank ? a->shape[a->rank - 1] : 1;
  for (;;) {
    row(out, f, both, at);
    at[2] += n;
    int k = a->rank - 2;
    for (; k >= 0; k--) {
      at[0] += both[0]->stride[k];
      at[1] += both[1]->stride[k];
      if (++index[k] < a->shape[k]) break;
      at[0] -= both[0]->stride[k] * a->shape[k];
      at[1] -= both[1]->stride[k] * a->shape[k];
      index[k] = 0;
    }
    if (k < 0) return;
  }
}

/* A number is rounded to the dtype that it takes part in, as NumPy does. */
static void round_number(lua_State *L, Side *s, DType dtype) {
  if (s->a || dtype_is_int(dtype)) return;
  LArray *one = lang_push_array(L, dtype, 0, NULL);
  array_write(&(ArrayOut){L, "", one}, 0, 1, &s->number);
  s->number = array_at(one, 0);
  lua_pop(L, 1);
}

static int binary(lua_State *L, const char *func, Binary f, bool divides) {
  lang_at_most(L, func, 1, 2);
  lua_settop(L, 2);
  Side x = side(L, 1, func, "x"), y = side(L, 2, func, "y"), *both[2] = {&x, &y};
  int64_t shape[IR_MAX_RANK];
  if (!x.a && !y.a) return lang_kind_error(L, 1, func, "x", "an array");
  DType dtype = result_dtype(L, func, &x, &y);
  if (divides && dtype_is_int(dtype)) dtype = DT_float32;
  int rank = common_shape(L, func, both, shape);
  round_number(L, &x, dtype);
  round_number(L, &y, dtype);
  ArrayOut out = {L, func, lang_push_array(L, dtype, rank, shape)};
  rows(&out, f, both);
  return 1;
}

static double add(double x, double y) { return x + y; }
static double sub(double x, double y) { return x - y; }
static double mul(double x, double y) { return x * y; }
static double quotient(double x, double y) { return x / y; }
static double larger(double x, double y) { return isnan(x) || x > y ? x : y; } /* NaN if either is */
static double smaller(double x, double y) { return isnan(x) || x < y ? x : y; }

static int l_add(lua_State *L) { return binary(L, "array +", add, false); }
static int l_sub(lua_State *L) { return binary(L, "array -", sub, false); }
static int l_mul(lua_State *L) { return binary(L, "array *", mul, false); }
static int l_div(lua_State *L) { return binary(L, "array /", quotient, true); }
static int l_maximum(lua_State *L) { return binary(L, "array:maximum", larger, false); }
static int l_minimum(lua_State *L) { return binary(L, "array:minimum", smaller, false); }

/* ---- one operand: exp, log, sqrt, tanh give floats, of integers float32 ------------------------------------------ */

static int unary(lua_State *L, const char *func, Unary f, bool keeps) {
  double block[ARRAY_BLOCK];
  const LArray *a = array_numeric(L, 1, func, "self");
  lang_at_most(L, func, 2, 0);
  if (a->dtype == DT_bool_) LANG_FAIL(L, array_bool, func);
  ArrayOut out = {L, func,
                  lang_push_array(L, dtype_is_int(a->dtype) && !keeps ? DT_float32 : a->dtype, a->rank, a->shape)};
  for (int64_t i = 0; i < a->count; i += ARRAY_BLOCK) {
    int64_t n = a->count - i < ARRAY_BLOCK ? a->count - i : ARRAY_BLOCK;
    array_read(a, i, n, block);
    for (int64_t k = 0; k < n; k++) block[k] = f(block[k]);
    array_write(&out, i, n, block);
  }
  return 1;
}

static double negative(double x) { return -x; }

static int l_exp(lua_State *L) { return unary(L, "array:exp", exp, false); }
static int l_log(lua_State *L) { return unary(L, "array:log", log, false); }
static int l_sqrt(lua_State *L) { return unary(L, "array:sqrt", sqrt, false); }
static int l_tanh(lua_State *L) { return unary(L, "array:tanh", tanh, false); }
static int l_abs(lua_State *L) { return unary(L, "array:abs", fabs, true); }
static int l_unm(lua_State *L) { return lua_settop(L, 1), unary(L, "array unary -", negative, true); }

/* a:map(f): f(element) for each, in order, as the array's dtype. */
static int l_map(lua_State *L) {
  const LArray *a = array_numeric(L, 1, "array:map", "self");
  lang_at_most(L, "array:map", 2, 1);
  if (lua_type(L, 2) != LUA_TFUNCTION) return lang_kind_error(L, 2, "array:map", "f", "a function");
  lua_settop(L, 2);
  ArrayOut out = {L, "array:map", lang_push_array(L, a->dtype, a->rank, a->shape)};
  for (int64_t i = 0; i < a->count; i++) {
    double v;
    lua_pushvalue(L, 2);
    array_push_number(L, a->dtype, array_at(array_check(L, 1, "array:map", "self"), i));
    lua_call(L, 1, 1);
    if (!lang_to_number(L, -1, a->dtype, &v))
      return lang_kind_error(L, -1, "array:map", "f", "a function that gives numbers");
    array_write(&out, i, 1, &v);
    lua_pop(L, 1);
  }
  return 1;
}

const luaL_Reg array_math_methods[] = {{"maximum", l_maximum}, {"minimum", l_minimum}, {"exp", l_exp},
                                       {"log", l_log},         {"sqrt", l_sqrt},       {"tanh", l_tanh},
                                       {"abs", l_abs},         {"map", l_map},         {NULL, NULL}};
const luaL_Reg array_math_operators[] = {{"__add", l_add}, {"__sub", l_sub}, {"__mul", l_mul},
                                         {"__div", l_div}, {"__unm", l_unm}, {NULL, NULL}};
