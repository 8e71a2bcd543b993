/* cores.c -- room lang: nl.nc and nl.spmd_dim, axes of a grid that are spread over physical cores. */
#include <stdio.h>

#include "nl.h"

const char LANG_CORES[] = "NkiCores";

static void metatable(lua_State *L);

int lang_push_cores(lua_State *L, int64_t size, IrCores cores) {
  LCores *c = lua_newuserdatauv(L, sizeof *c, 0);
  *c = (LCores){LANG_CORES, size, cores};
  metatable(L);
  luaL_setmetatable(L, LANG_CORES);
  return 1;
}

static int64_t positive(lua_State *L, int i, const char *func, const char *param) {
  int64_t n = lang_check_int(L, i, func, param);
  if (n < 1) LANG_HERE(L, bind_value, func, param, "below 1", "count from 1");
  return n;
}

/* k programs on each core of c, which has one: in blocks of k, or in turn. */
static int spread(lua_State *L, const LCores *c, int k, const char *func, bool in_turn) {
  const char *param = in_turn ? "outer" : "inner";
  if (c->size != c->cores.count)
    LANG_HERE(L, bind_value, func, in_turn ? "inner" : "outer", "an axis with several programs per core already",
              "give nl.nc(n)");
  int64_t n = positive(L, k, func, param), size;
  if (__builtin_mul_overflow(n, c->size, &size))
    LANG_HERE(L, bind_value, func, param, "too large", "the axis must fit 63 bits");
  return lang_push_cores(L, size, (IrCores){c->cores.count, in_turn ? 1 : n});
}

static int product(lua_State *L, const char *func) {
  const LCores *a = lang_cores_at(L, 1), *b = lang_cores_at(L, 2);
  if (a && b) LANG_HERE(L, bind_value, func, "inner", "nl.nc, too", "one of the two is an integer");
  if (!a && !b) lang_kind_error(L, 2, func, "inner", "nl.nc(n), when the other is an integer");
  return a ? spread(L, a, 2, func, false) : spread(L, b, 1, func, true);
}

static int l_mul(lua_State *L) { return product(L, "operator * on nl.nc"); }

static int l_tostring(lua_State *L) {
  const LCores *c = lang_cores_at(L, 1);
  if (!c) return lang_kind_error(L, 1, "nl.nc", "self", "what nl.nc made");
  int64_t n = c->cores.count, k = c->size / n;
  char text[80];
  if (k == 1) {
    snprintf(text, sizeof text, "nl.nc(%lld)", (long long)n);
  } else if (c->cores.block == 1) {
    snprintf(text, sizeof text, "%lld * nl.nc(%lld)", (long long)k, (long long)n);
  } else {
    snprintf(text, sizeof text, "nl.nc(%lld) * %lld", (long long)n, (long long)k);
  }
  return lua_pushstring(L, text), 1;
}

static int l_eq(lua_State *L) {
  const LCores *a = lang_cores_at(L, 1), *b = lang_cores_at(L, 2);
  lua_pushboolean(L,
                  a && b && a->size == b->size && a->cores.count == b->cores.count && a->cores.block == b->cores.block);
  return 1;
}

static void metatable(lua_State *L) {
  static const luaL_Reg meta[] = {{"__mul", l_mul}, {"__eq", l_eq}, {"__tostring", l_tostring}, {NULL, NULL}};
  if (luaL_newmetatable(L, LANG_CORES)) {
    luaL_setfuncs(L, meta, 0);
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
  }
  lua_pop(L, 1);
}

int nl_nc(Call *call) {
  int64_t n = positive(call->L, 1, "nl.nc", "cores");
  return lang_push_cores(call->L, n, (IrCores){n, 1});
}

int nl_spmd_dim(Call *call) { return product(call->L, "nl.spmd_dim"); }
