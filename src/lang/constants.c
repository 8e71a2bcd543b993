/* constants.c -- room lang: Lua values as constant arguments. */
#include <string.h>

#include "hash.h"
#include "kernel.h"

/* A function stands for its code and all it captures: the bytes go to the captured state, the hash is its name in the
 * config. */
static void function_constant(KernelCall *call, int i, ConstValue *out) {
  lua_State *L = call->L;
  const Text *bytes = capture_bytes(call->c);
  size_t before = bytes->len;
  char hex[33];
  capture_add(L, call->c, i);
  hash_hex(bytes->data + before, bytes->len - before, hex);
  out->kind = CONST_FUNCTION;
  out->s = lua_pushlstring(L, hex, 32); /* stays on the stack, as every string of a call does */
  out->len = 32;
}

static bool tuple_constant(KernelCall *call, int i, ConstValue *out) {
  lua_State *L = call->L;
  if (!tuple_push_items(L, call->c, i)) return false;
  int list = lua_gettop(L);
  lua_Unsigned n = lua_rawlen(L, list);
  luaL_checkstack(L, (int)n + 4, "tuple");
  ConstValue *items = lua_newuserdatauv(L, (size_t)n * sizeof *items + 1, 0);
  for (lua_Unsigned k = 0; k < n; k++) {
    lua_rawgeti(L, list, (lua_Integer)k + 1);
    if (!constant_of(call, lua_gettop(L), &items[k])) return false;
  }
  out->kind = CONST_TUPLE;
  out->items = items;
  out->nitems = (uint32_t)n;
  return true;
}

/* A Shape is the tuple of its dims. */
static bool shape_constant(KernelCall *call, int i, ConstValue *out) {
  lua_State *L = call->L;
  int64_t dim[IR_MAX_RANK];
  if (!lua_getmetatable(L, i)) return false;
  bool shape = lua_topointer(L, -1) == call->c->mt_shape;
  lua_pop(L, 1);
  if (!shape) return false;
  int rank = lang_check_shape(L, i, "kernel", "shape", dim);
  ConstValue *items = lua_newuserdatauv(L, (size_t)rank * sizeof *items + 1, 0);
  for (int k = 0; k < rank; k++) items[k] = (ConstValue){.kind = CONST_INT, .i = dim[k]};
  out->kind = CONST_TUPLE;
  out->items = items;
  out->nitems = (uint32_t)rank;
  return true;
}

bool constant_of(KernelCall *call, int i, ConstValue *out) {
  lua_State *L = call->L;
  *out = (ConstValue){.kind = CONST_NIL};
  switch (lua_type(L, i)) {
    case LUA_TNIL:
      return true;
    case LUA_TBOOLEAN:
      out->kind = CONST_BOOL;
      out->b = lua_toboolean(L, i);
      return true;
    case LUA_TNUMBER:
      out->kind = lua_isinteger(L, i) ? CONST_INT : CONST_FLOAT;
      out->i = lua_tointeger(L, i);
      out->f = lua_tonumber(L, i);
      return true;
    case LUA_TSTRING:
      out->kind = CONST_STRING;
      out->s = lua_tolstring(L, i, &out->len);
      return true;
    case LUA_TFUNCTION:
      function_constant(call, i, out);
      return true;
    case LUA_TTABLE:
      return tuple_constant(call, i, out) || shape_constant(call, i, out);
    case LUA_TUSERDATA: {
      const LToken *token = lang_to_token(L, i);
      if (!token && !lang_to_kernel(L, i)) return false;
      if (!token) {
        function_constant(call, i, out);
        return true;
      }
      out->kind = CONST_TOKEN;
      out->s = token->name;
      out->len = strlen(token->name);
      return true;
    }
    default:
      return false;
  }
}
