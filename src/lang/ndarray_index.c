/* ndarray_index.c -- room lang: fields, methods and single elements of host arrays; their text. */
#include <math.h>
#include <stdio.h>

#include "ndarray.h"

/* ---- elements: 0-based, negative counts from the end ------------------------------------------------------------- */

/* The indices at 2 .. 2 + rank - 1 -> position. n: how many were given. */
static int64_t position(lua_State *L, const LArray *a, const char *func, int n) {
  char shape[ARRAY_TEXT];
  int64_t at = 0;
  if (n != a->rank) LANG_FAIL(L, array_index_count, func, n, array_shape_text(a->rank, a->shape, shape));
  for (int k = 0; k < a->rank; k++) {
    int64_t i = lang_check_int(L, 2 + k, func, "index");
    if (i < -a->shape[k] || i >= a->shape[k])
      LANG_FAIL(L, array_index, func, (long long)i, k, array_shape_text(a->rank, a->shape, shape));
    at = at * a->shape[k] + (i < 0 ? i + a->shape[k] : i);
  }
  return at;
}

static int l_get(lua_State *L) {
  const LArray *a = array_numeric(L, 1, "array:get", "self");
  int64_t at = position(L, a, "array:get", lua_gettop(L) - 1);
  array_push_number(L, a->dtype, array_at(a, at));
  return 1;
}

static int l_set(lua_State *L) {
  LArray *a = array_numeric(L, 1, "array:set", "self");
  int value = lua_gettop(L);
  double v;
  if (value < 2) LANG_FAIL(L, bind_missing, "array:set", "value");
  int64_t at = position(L, a, "array:set", value - 2);
  if (!lang_to_number(L, value, a->dtype, &v)) lang_kind_error(L, value, "array:set", "value", "a number");
  array_write(&(ArrayOut){L, "array:set", a}, at, 1, &v);
  return 0;
}

static int l_free(lua_State *L) {
  LArray *a = lang_to_array(L, 1);
  if (!a) return lang_kind_error(L, 1, "array:free", "self", "an array");
  lang_at_most(L, "array:free", 2, 0);
  array_drop(L, a);
  return 0;
}

static const luaL_Reg own_methods[] = {{"get", l_get}, {"set", l_set}, {"free", l_free}, {NULL, NULL}};

/* ---- fields ------------------------------------------------------------------------------------------------------ */

static void push_methods(lua_State *L) {
  static const char methods;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &methods) == LUA_TTABLE) return;
  lua_pop(L, 1);
  lua_newtable(L);
  luaL_setfuncs(L, own_methods, 0);
  luaL_setfuncs(L, array_nested_methods, 0);
  luaL_setfuncs(L, array_math_methods, 0);
  luaL_setfuncs(L, array_reduce_methods, 0);
  luaL_setfuncs(L, array_shape_methods, 0);
  luaL_setfuncs(L, array_bytes_methods, 0);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &methods);
}

static const char *const fields[] = {"shape", "dtype", "ndim", "size", "nbytes", NULL};

static bool push_field(lua_State *L, const LArray *a, const char *key) {
  if (strcmp(key, "shape") == 0) return lang_push_shape(L, a->rank, a->shape), true;
  if (strcmp(key, "dtype") == 0) return lua_pushstring(L, dtype_name(a->dtype)), true;
  if (strcmp(key, "ndim") == 0) return lua_pushinteger(L, a->rank), true;
  if (strcmp(key, "size") == 0) return lua_pushinteger(L, a->count), true;
  if (strcmp(key, "nbytes") == 0) return lua_pushinteger(L, (lua_Integer)a->nbytes), true;
  return false;
}

static int no_field(lua_State *L) {
  const char *names[64];
  int n = 0;
  if (lua_type(L, 2) != LUA_TSTRING)
    return lang_kind_error(L, 2, "array", "field", "a name; elements are read by a:get(i, j)");
  for (; fields[n]; n++) names[n] = fields[n];
  lua_pushnil(L);
  while (lua_next(L, -2) && n < 63) { /* the keys are the strings of the tables above */
    names[n++] = lua_tostring(L, -2);
    lua_pop(L, 1);
  }
  names[n] = NULL;
  const char *near = diag_nearest(lua_tostring(L, 2), names);
  char clip[TEXT_CLIP + 4];
  return LANG_FAIL(L, no_such_name, "array", lang_clip(L, 2, clip), near ? "; did you mean '" : "", near ? near : "",
                   near ? "'?" : "");
}

static int l_index(lua_State *L) {
  const LArray *a = lang_to_array(L, 1);
  if (!a) return lang_kind_error(L, 1, "array", "self", "an array");
  char clip[TEXT_CLIP + 4];
  if (lua_type(L, 2) == LUA_TSTRING && push_field(L, a, lang_name(L, 2, clip))) return 1;
  push_methods(L);
  lua_pushvalue(L, 2);
  if (lua_rawget(L, -2) != LUA_TNIL) return 1;
  lua_pop(L, 1);
  return no_field(L);
}

static int l_newindex(lua_State *L) {
  char got[DESCRIBE];
  return LANG_HERE(L, array_assign, lang_describe(L, 2, got, sizeof got));
}

static int l_len(lua_State *L) {
  const LArray *a = array_check(L, 1, "#array", "self");
  if (a->rank == 0) LANG_FAIL(L, array_shape, "#array", "an array without axes has no length");
  lua_pushinteger(L, a->shape[0]);
  return 1;
}

/* Same shape, dtype and numbers; as for numbers, NaN equals nothing and 0.0 equals -0.0. */
static int l_eq(lua_State *L) {
  const LArray *a = lang_to_array(L, 1), *b = lang_to_array(L, 2);
  double x[ARRAY_BLOCK], y[ARRAY_BLOCK];
  bool same = a && b && a->data && b->data && a->dtype == b->dtype && a->rank == b->rank &&
              memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0;
  if (same && array_is_packed(a->dtype)) same = memcmp(a->data, b->data, a->nbytes) == 0;
  for (int64_t i = 0; same && !array_is_packed(a->dtype) && i < a->count; i += ARRAY_BLOCK) {
    int64_t n = a->count - i < ARRAY_BLOCK ? a->count - i : ARRAY_BLOCK;
    array_read(a, i, n, x);
    array_read(b, i, n, y);
    for (int64_t k = 0; same && k < n; k++) same = x[k] == y[k];
  }
  lua_pushboolean(L, same);
  return 1;
}

/* ---- text: float32[2,3] {{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}; long axes show their ends ---------------------------- */

enum { WHOLE = 48, EDGE = 3 };

static void put_number(luaL_Buffer *b, const LArray *a, int64_t at) {
  char text[48];
  double v = array_at(a, at);
  if (dtype_is_int(a->dtype)) {
    snprintf(text, sizeof text, "%.0f", v);
  } else if (isfinite(v)) {
    Text t;
    text_init(&t, alloc_std);
    text_float(&t, (float)v);
    snprintf(text, sizeof text, "%s", text_str(&t));
    text_free(&t);
  } else {
    snprintf(text, sizeof text, "%s", isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
  }
  luaL_addstring(b, text);
}

static void put_axis(luaL_Buffer *b, const LArray *a, int axis, int64_t at) {
  if (axis == a->rank) {
    put_number(b, a, at);
    return;
  }
  int64_t n = a->shape[axis];
  bool cut = a->count > WHOLE && n > 2 * EDGE;
  luaL_addchar(b, '{');
  for (int64_t k = 0; k < n; k++) {
    if (k) luaL_addstring(b, ", ");
    if (cut && k == EDGE) {
      luaL_addstring(b, "..., ");
      k = n - EDGE;
    }
    put_axis(b, a, axis + 1, at * n + k);
  }
  luaL_addchar(b, '}');
}

static int l_tostring(lua_State *L) {
  const LArray *a = lang_to_array(L, 1);
  luaL_Buffer b;
  if (!a) return lang_kind_error(L, 1, "tostring", "self", "an array");
  luaL_buffinit(L, &b);
  luaL_addstring(&b, dtype_name(a->dtype));
  for (int k = 0; k < a->rank; k++) {
    char size[32];
    snprintf(size, sizeof size, "%s%lld", k ? "," : "[", (long long)a->shape[k]);
    luaL_addstring(&b, size);
  }
  luaL_addstring(&b, a->rank ? "] " : "[] ");
  if (!a->data) {
    luaL_addstring(&b, "(freed)");
  } else if (array_is_packed(a->dtype)) {
    luaL_addstring(&b, "(packed)");
  } else {
    put_axis(&b, a, 0, 0);
  }
  luaL_pushresult(&b);
  return 1;
}

static const luaL_Reg own_operators[] = {{"__index", l_index}, {"__newindex", l_newindex}, {"__len", l_len},
                                         {"__eq", l_eq},       {"__tostring", l_tostring}, {"__close", l_free},
                                         {NULL, NULL}};

void array_metamethods(lua_State *L) {
  luaL_setfuncs(L, own_operators, 0);
  luaL_setfuncs(L, array_math_operators, 0);
}
