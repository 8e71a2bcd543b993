/* ndarray_compare.c -- room lang: how two arrays of one shape and dtype differ: what nki.testing reports. */
#include <math.h>

#include "ndarray.h"

typedef struct Tolerance {
  double rtol, atol;
  bool equal_nan, exact; /* exact: the bytes must be the same */
} Tolerance;

typedef struct Mismatches {
  int64_t count, first, worst;
  double worst_by, absolute,
      relative; /* worst_by: how far beyond the tolerance; the largest differences that are numbers */
} Mismatches;

/* How far a is beyond the tolerance of b: 0 within it. */
static double excess(const Tolerance *t, double a, double b, Mismatches *m) {
  if (a == b) return 0;
  if (isnan(a) || isnan(b)) return t->equal_nan && isnan(a) && isnan(b) ? 0 : INFINITY;
  double diff = fabs(a - b), relative = b == 0 ? INFINITY : diff / fabs(b);
  if (diff > m->absolute) m->absolute = diff;
  if (relative > m->relative) m->relative = relative;
  if (isinf(diff)) return INFINITY;
  double allowed = t->atol + t->rtol * fabs(b);
  return diff <= allowed ? 0 : diff - allowed;
}

static void count(Mismatches *m, int64_t at, double by) {
  if (m->count++ == 0) m->first = at;
  if (m->count > 1 && by <= m->worst_by) return;
  m->worst = at;
  m->worst_by = by;
}

static void compare_numbers(const LArray *a, const LArray *b, const Tolerance *t, Mismatches *m) {
  double x[ARRAY_BLOCK], y[ARRAY_BLOCK];
  int64_t size = dtype_bytes(a->dtype);
  for (int64_t i = 0; i < a->count; i += ARRAY_BLOCK) {
    int64_t n = a->count - i < ARRAY_BLOCK ? a->count - i : ARRAY_BLOCK;
    array_read(a, i, n, x);
    array_read(b, i, n, y);
    for (int64_t k = 0; k < n; k++) {
      double by = excess(t, x[k], y[k], m);
      bool differ = t->exact
                        ? memcmp((char *)a->data + (i + k) * size, (char *)b->data + (i + k) * size, (size_t)size) != 0
                        : by > 0;
      if (differ) count(m, i + k, by);
    }
  }
}

static void compare_packed(const LArray *a, const LArray *b, Mismatches *m) {
  int64_t size = dtype_bytes(a->dtype);
  for (int64_t i = 0; i < a->count; i++)
    if (memcmp((char *)a->data + i * size, (char *)b->data + i * size, (size_t)size) != 0) count(m, i, 0);
}

static void set_index(lua_State *L, const char *key, const LArray *a, int64_t at) {
  int64_t index[IR_MAX_RANK];
  array_unravel(a, at, index);
  lua_createtable(L, a->rank, 0);
  for (int k = 0; k < a->rank; k++) {
    lua_pushinteger(L, index[k]);
    lua_rawseti(L, -2, k + 1);
  }
  lua_setfield(L, -2, key);
}

static double tolerance(lua_State *L, int i, const BindSpec *spec) {
  if (lua_isnil(L, i)) return 0;
  if (lua_type(L, i) != LUA_TNUMBER) lang_kind_error(L, i, spec->func, spec->names[i - 1], "a number");
  if (!(lua_tonumber(L, i) >= 0))
    LANG_FAIL(L, bind_value, spec->func, spec->names[i - 1], "negative or not a number", "a tolerance is at least 0");
  return lua_tonumber(L, i);
}

static bool flag(lua_State *L, int i, const BindSpec *spec) {
  if (!lua_isnil(L, i) && !lua_isboolean(L, i)) lang_kind_error(L, i, spec->func, spec->names[i - 1], "a boolean");
  return lua_toboolean(L, i);
}

/* compare(a, b, rtol, atol, equal_nan, exact): nil when all elements agree, |a-b| <= atol + rtol*|b|; else a table
   {count, first, worst, max_abs, max_rel}, first and worst being lists of 0-based indices. NaN agrees with nothing
   unless equal_nan. exact: bytes must agree. */
int array_compare(lua_State *L) {
  static const char *const names[] = {"actual", "desired", "rtol", "atol", "equal_nan", "exact"};
  static const bool required[] = {true, true, false, false, false, false};
  static const BindSpec spec = {.func = "nki.ndarray.compare", .names = names, .required = required, .n = 6};
  lang_bind(L, &spec);
  const LArray *a = array_check(L, 1, spec.func, "actual"), *b = array_check(L, 2, spec.func, "desired");
  Tolerance t = {tolerance(L, 3, &spec), tolerance(L, 4, &spec), flag(L, 5, &spec), flag(L, 6, &spec)};
  Mismatches m = {.count = 0};
  if (a->dtype != b->dtype || a->rank != b->rank || memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) != 0)
    LANG_FAIL(L, array_shape, spec.func, "the arrays must have one shape and one dtype");
  if (array_is_packed(a->dtype)) {
    compare_packed(a, b, &m);
  } else {
    compare_numbers(a, b, &t, &m);
  }
  if (m.count == 0) {
    lua_pushnil(L);
    return 1;
  }
  lua_createtable(L, 0, 5);
  lua_pushinteger(L, m.count);
  lua_setfield(L, -2, "count");
  set_index(L, "first", a, m.first);
  set_index(L, "worst", a, m.worst);
  lua_pushnumber(L, m.absolute);
  lua_setfield(L, -2, "max_abs");
  lua_pushnumber(L, m.relative);
  lua_setfield(L, -2, "max_rel");
  return 1;
}
