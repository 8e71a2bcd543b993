/* ndarray_nested.c -- room lang: nested Lua lists to host arrays and back. */
#include <stdio.h>

#include "ndarray.h"

/* The walk over a nested list: where it is, for messages, and where the next number goes. */
typedef struct Walk {
  ArrayOut out; /* a is NULL while the shape is being found */
  const char *func;
  DType dtype;
  int rank; /* levels of lists; -1 until the first number is met */
  int64_t shape[IR_MAX_RANK], index[IR_MAX_RANK], next;
} Walk;

static int refuse(lua_State *L, const Walk *w, int depth, const char *is, const char *legal) {
  char path[ARRAY_TEXT];
  return LANG_FAIL(L, array_element, w->func, array_path_text(depth, w->index, path), is, legal);
}

static int not_a_number(lua_State *L, const Walk *w, int depth, int i) {
  char got[DESCRIBE];
  return refuse(L, w, depth, lang_describe(L, i, got, sizeof got), "elements are numbers");
}

/* The length of the list at i, which has nothing but elements 1..n. */
static int64_t length_of(lua_State *L, const Walk *w, int depth, int i) {
  int64_t n = (int64_t)lua_rawlen(L, i), keys = 0;
  if (lua_getmetatable(L, i)) not_a_number(L, w, depth, i);
  lua_pushnil(L);
  while (lua_next(L, i)) {
    lua_pop(L, 1);
    if (lua_type(L, -1) != LUA_TNUMBER) refuse(L, w, depth, "a table with names", "lists hold numbers or lists");
    keys++;
  }
  if (n == 0 && keys == 0) refuse(L, w, depth, "an empty list", "sizes are at least 1");
  if (keys != n) refuse(L, w, depth, "a list with holes", "lists hold numbers or lists, without nil");
  return n;
}

/* The shape, by the first element of each level. */
static void find_shape(lua_State *L, Walk *w, int i) {
  lua_pushvalue(L, i);
  for (w->rank = 0; lua_type(L, -1) == LUA_TTABLE; w->rank++) {
    if (w->rank == IR_MAX_RANK) refuse(L, w, w->rank, "a list", "an array has at most 8 axes");
    w->shape[w->rank] = length_of(L, w, w->rank, lua_gettop(L));
    w->index[w->rank] = 0;
    lua_rawgeti(L, -1, 1);
    lua_replace(L, -2);
  }
  lua_pop(L, 1);
}

static void put(lua_State *L, Walk *w, int depth, int i) {
  double v;
  if (lua_type(L, i) == LUA_TTABLE && !luaL_getmetafield(L, i, "__name"))
    refuse(L, w, depth, "a list", "the first element of its level is a number");
  if (!lang_to_number(L, i, w->dtype, &v)) not_a_number(L, w, depth, i);
  array_write(&w->out, w->next++, 1, &v);
}

static void walk(lua_State *L, Walk *w, int depth, int i) {
  char is[64], legal[64];
  if (depth == w->rank) {
    put(L, w, depth, i);
    return;
  }
  if (lua_type(L, i) != LUA_TTABLE) {
    char got[DESCRIBE];
    snprintf(legal, sizeof legal, "the first of its level is a list of %lld", (long long)w->shape[depth]);
    refuse(L, w, depth, lang_describe(L, i, got, sizeof got), legal);
  }
  int64_t n = length_of(L, w, depth, i);
  if (n != w->shape[depth]) {
    snprintf(is, sizeof is, "a list of %lld", (long long)n);
    snprintf(legal, sizeof legal, "the first of its level has %lld", (long long)w->shape[depth]);
    refuse(L, w, depth, is, legal);
  }
  for (int64_t k = 0; k < n; k++) {
    w->index[depth] = k;
    lua_rawgeti(L, i, (lua_Integer)k + 1);
    walk(L, w, depth + 1, lua_gettop(L));
    lua_pop(L, 1);
  }
}

void array_push_nested(lua_State *L, int i, const char *func, DType dtype) {
  Walk w = {.func = func, .dtype = dtype};
  i = lua_absindex(L, i);
  luaL_checkstack(L, 4 * IR_MAX_RANK, "nested lists");
  if (array_is_packed(dtype)) LANG_FAIL(L, array_packed, func, "dtype", dtype_name(dtype));
  find_shape(L, &w, i);
  w.out = (ArrayOut){L, func, lang_push_array(L, dtype, w.rank, w.shape)};
  walk(L, &w, 0, i);
}

/* ---- back -------------------------------------------------------------------------------------------------------- */

static void push_lists(lua_State *L, const LArray *a, int depth, int64_t *next) {
  double block[ARRAY_BLOCK];
  int64_t n = a->shape[depth];
  lua_createtable(L, n < INT32_MAX ? (int)n : 0, 0);
  for (int64_t k = 0; depth < a->rank - 1 && k < n; k++) {
    push_lists(L, a, depth + 1, next);
    lua_rawseti(L, -2, (lua_Integer)k + 1);
  }
  for (int64_t k = 0; depth == a->rank - 1 && k < n; k++) {
    if (k % ARRAY_BLOCK == 0) array_read(a, *next + k, n - k < ARRAY_BLOCK ? n - k : ARRAY_BLOCK, block);
    array_push_number(L, a->dtype, block[k % ARRAY_BLOCK]);
    lua_rawseti(L, -2, (lua_Integer)k + 1);
  }
  if (depth == a->rank - 1) *next += n;
}

static int l_totable(lua_State *L) {
  const LArray *a = array_numeric(L, 1, "array:totable", "self");
  lang_at_most(L, "array:totable", 2, 0);
  int64_t next = 0;
  luaL_checkstack(L, 3 * IR_MAX_RANK, "nested lists");
  if (a->rank == 0) {
    array_push_number(L, a->dtype, array_at(a, 0));
  } else {
    push_lists(L, a, 0, &next);
  }
  return 1;
}

const luaL_Reg array_nested_methods[] = {{"totable", l_totable}, {NULL, NULL}};
