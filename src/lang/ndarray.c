/* ndarray.c -- room lang: the module nki.ndarray: host arrays and what makes them. */
#include "ndarray.h"

#include <math.h>

#include "random.h"

int array_shape_arg(lua_State *L, int i, const char *func, int64_t shape[IR_MAX_RANK]) {
  int rank = lang_check_shape(L, i, func, "shape", shape);
  char text[ARRAY_TEXT];
  for (int k = 0; k < rank; k++)
    if (shape[k] < 1)
      LANG_FAIL(L, bind_value, func, "shape", array_shape_text(rank, shape, text), "sizes are at least 1");
  return rank;
}

DType array_dtype_arg(lua_State *L, int i, const char *func, DType dflt) {
  return lua_isnil(L, i) ? dflt : lang_check_dtype(L, i, func, "dtype");
}

static int l_array(lua_State *L) {
  static const char *const names[] = {"values", "dtype"};
  static const bool required[] = {true, false};
  static const BindSpec spec = {
      .func = "nki.ndarray.array", .names = names, .required = required, .n = 2, .list_mask = 1};
  lang_bind(L, &spec);
  const LArray *from = lang_to_array(L, 1);
  if (from) {
    array_check(L, 1, spec.func, "values");
    array_astype(L, from, array_dtype_arg(L, 2, spec.func, from->dtype));
  } else {
    array_push_nested(L, 1, spec.func, array_dtype_arg(L, 2, spec.func, DT_float32));
  }
  return 1;
}

static void fill(const ArrayOut *out, double v) {
  double block[ARRAY_BLOCK];
  for (int k = 0; k < ARRAY_BLOCK; k++) block[k] = v;
  for (int64_t i = 0; i < out->a->count; i += ARRAY_BLOCK)
    array_write(out, i, out->a->count - i < ARRAY_BLOCK ? out->a->count - i : ARRAY_BLOCK, block);
}

static int filled(lua_State *L, const char *func, double v) {
  static const char *const names[] = {"shape", "dtype"};
  static const bool required[] = {true, false};
  BindSpec spec = {.func = func, .names = names, .required = required, .n = 2, .list_mask = 1};
  int64_t shape[IR_MAX_RANK];
  lang_bind(L, &spec);
  int rank = array_shape_arg(L, 1, func, shape);
  DType dtype = array_dtype_arg(L, 2, func, DT_float32);
  LArray *a = lang_push_array(L, dtype, rank, shape);
  if (v == 0) return 1;
  if (array_is_packed(dtype)) array_numeric(L, -1, func, "dtype");
  fill(&(ArrayOut){L, func, a}, v);
  return 1;
}

static int l_zeros(lua_State *L) { return filled(L, "nki.ndarray.zeros", 0); }
static int l_ones(lua_State *L) { return filled(L, "nki.ndarray.ones", 1); }

static int l_full(lua_State *L) {
  static const char *const names[] = {"shape", "value", "dtype"};
  static const bool required[] = {true, true, false};
  static const BindSpec spec = {
      .func = "nki.ndarray.full", .names = names, .required = required, .n = 3, .list_mask = 1};
  int64_t shape[IR_MAX_RANK];
  double v = 0;
  lang_bind(L, &spec);
  int rank = array_shape_arg(L, 1, spec.func, shape);
  DType dtype = array_dtype_arg(L, 3, spec.func, DT_float32);
  if (!lang_to_number(L, 2, dtype, &v)) lang_kind_error(L, 2, spec.func, "value", "a number");
  ArrayOut out = {L, spec.func, lang_push_array(L, dtype, rank, shape)};
  array_numeric(L, -1, spec.func, "dtype");
  fill(&out, v);
  return 1;
}

/* ---- arange ------------------------------------------------------------------------------------------------------ */

static double number_arg(lua_State *L, int i, const BindSpec *spec, double dflt) {
  if (lua_isnil(L, i)) return dflt;
  if (lua_type(L, i) != LUA_TNUMBER) lang_kind_error(L, i, spec->func, spec->names[i - 1], "a number");
  return lua_tonumber(L, i);
}

static int l_arange(lua_State *L) {
  static const char *const names[] = {"start", "stop", "step", "dtype"};
  static const bool required[] = {true, false, false, false};
  static const BindSpec spec = {.func = "nki.ndarray.arange", .names = names, .required = required, .n = 4};
  double block[ARRAY_BLOCK];
  lang_bind(L, &spec);
  bool one = lua_isnil(L, 2); /* arange(stop) */
  double first = number_arg(L, 1, &spec, 0), stop = number_arg(L, 2, &spec, first), step = number_arg(L, 3, &spec, 1);
  double start = one ? 0 : first, length = ceil((stop - start) / step);
  if (!(length >= 1 && length < 0x1p53))
    LANG_FAIL(L, bind_value, spec.func, "step", "such that there is no element", "an array has at least one");
  int64_t n = (int64_t)length;
  ArrayOut out = {L, spec.func, lang_push_array(L, array_dtype_arg(L, 4, spec.func, DT_float32), 1, &n)};
  array_numeric(L, -1, spec.func, "dtype");
  for (int64_t i = 0; i < n; i += ARRAY_BLOCK) {
    int64_t m = n - i < ARRAY_BLOCK ? n - i : ARRAY_BLOCK;
    for (int64_t k = 0; k < m; k++) block[k] = start + (double)(i + k) * step;
    array_write(&out, i, m, block);
  }
  return 1;
}

/* ---- random ------------------------------------------------------------------------------------------------------ */

/* Element i depends on seed and i only (base/random.h). With name= the seed is mixed with it, as the command line does
 * with a parameter's. */
static uint64_t random_seed(lua_State *L, const BindSpec *spec) {
  uint64_t seed = (uint64_t)(lua_isnil(L, 2) ? 0 : lang_check_int(L, 2, spec->func, "seed"));
  if (lua_isnil(L, 4)) return seed;
  if (lua_type(L, 4) != LUA_TSTRING) lang_kind_error(L, 4, spec->func, "name", "a string");
  size_t n;
  const char *name = lua_tolstring(L, 4, &n);
  return random_seed_named(seed, name, n);
}

static int random_array(lua_State *L, const char *func, double (*draw)(uint64_t seed, uint64_t i)) {
  static const char *const names[] = {"shape", "seed", "dtype", "name"};
  static const bool required[] = {true, false, false, false};
  BindSpec spec = {.func = func, .names = names, .required = required, .n = 4, .list_mask = 1};
  int64_t shape[IR_MAX_RANK];
  double block[ARRAY_BLOCK];
  lang_bind(L, &spec);
  int rank = array_shape_arg(L, 1, func, shape);
  DType dtype = array_dtype_arg(L, 3, func, DT_float32);
  uint64_t seed = random_seed(L, &spec);
  if (!dtype_is_float(dtype)) LANG_FAIL(L, bind_value, func, "dtype", dtype_name(dtype), "random numbers are floats");
  ArrayOut out = {L, func, lang_push_array(L, dtype, rank, shape)};
  for (int64_t i = 0; i < out.a->count; i += ARRAY_BLOCK) {
    int64_t m = out.a->count - i < ARRAY_BLOCK ? out.a->count - i : ARRAY_BLOCK;
    for (int64_t k = 0; k < m; k++) block[k] = draw(seed, (uint64_t)(i + k));
    array_write(&out, i, m, block);
  }
  return 1;
}

static int l_normal(lua_State *L) { return random_array(L, "nki.ndarray.random.normal", random_normal); }
static int l_uniform(lua_State *L) { return random_array(L, "nki.ndarray.random.uniform", random_uniform); }

int lang_open_ndarray(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"array", l_array},         {"zeros", l_zeros},   {"ones", l_ones},     {"full", l_full},
      {"arange", l_arange},       {"load", array_load}, {"save", array_save}, {"from_bytes", array_from_bytes},
      {"compare", array_compare}, {NULL, NULL}};
  static const luaL_Reg random[] = {{"normal", l_normal}, {"uniform", l_uniform}, {NULL, NULL}};
  luaL_newlib(L, functions);
  luaL_newlib(L, random);
  lang_strict(L, "nki.ndarray.random");
  lua_setfield(L, -2, "random");
  lang_strict(L, "nki.ndarray");
  return 1;
}
