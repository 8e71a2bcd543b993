/* bound.c -- room lang: BoundArguments, what bind_arguments makes of a call: {names = {"a", "n"}, arguments = {a = x, n
   = 4}}. A table, so that a class may change it. */
#include "kernel.h"

static const char metatable[] = "nki.BoundArguments";

static int l_tostring(lua_State *L) {
  int n = 0;
  if (!lua_istable(L, 1)) return lang_kind_error(L, 1, "BoundArguments", "self", "what bind_arguments returned");
  lua_settop(L, 1);
  if (lua_getfield(L, 1, "names") != LUA_TTABLE || lua_getfield(L, 1, "arguments") != LUA_TTABLE)
    return lua_pushliteral(L, "BoundArguments(damaged)"), 1;
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  luaL_addstring(&b, "BoundArguments(");
  for (lua_Integer i = 1; lua_geti(L, 2, i) == LUA_TSTRING; i++, n++) {
    char text[DESCRIBE];
    lua_pushvalue(L, -1);
    lua_gettable(L, 3);
    lang_describe(L, lua_gettop(L), text, sizeof text);
    lua_pop(L, 1);
    lua_pushfstring(L, "%s%s = %s", n ? ", " : "", lua_tostring(L, -1), text);
    lua_remove(L, -2);
    luaL_addvalue(&b);
  }
  lua_pop(L, 1);
  luaL_addchar(&b, ')');
  luaL_pushresult(&b);
  return 1;
}

void bound_push(lua_State *L, const KernelCore *core, int first) {
  first = lua_absindex(L, first);
  luaL_checkstack(L, 8, NULL);
  lua_createtable(L, 0, 2);
  lua_createtable(L, core->nparams, 0);
  lua_createtable(L, 0, core->nparams);
  for (int p = 0; p < core->nparams; p++) {
    lua_pushstring(L, core->params[p]);
    lua_rawseti(L, -3, p + 1);
    lua_pushvalue(L, first + p);
    lua_setfield(L, -2, core->params[p]);
  }
  lua_setfield(L, -3, "arguments");
  lua_setfield(L, -2, "names");
  if (luaL_newmetatable(L, metatable)) {
    lua_pushcfunction(L, l_tostring);
    lua_setfield(L, -2, "__tostring");
  }
  lua_setmetatable(L, -2);
}

static bool bound_is(lua_State *L, int i) {
  if (lua_type(L, i) != LUA_TTABLE || !lua_getmetatable(L, i)) return false;
  luaL_getmetatable(L, metatable);
  bool same = lua_rawequal(L, -1, -2);
  lua_pop(L, 2);
  return same;
}

static void check_names(lua_State *L, const KernelCore *core, int arguments) {
  lua_pushnil(L);
  while (lua_next(L, arguments)) {
    lua_pop(L, 1);
    int p = 0;
    char clip[TEXT_CLIP + 4];
    const char *name = lua_type(L, -1) == LUA_TSTRING ? lang_name(L, -1, clip) : "";
    while (p < core->nparams && strcmp(core->params[p], name) != 0) p++;
    if (p == core->nparams)
      LANG_FAIL(L, kernel_step, core->func_name, "BoundArguments", "has an argument that is no parameter");
  }
}

/* Pushes the table of arguments. */
static void check(lua_State *L, const KernelCore *core, int i, const char *who) {
  char got[DESCRIBE];
  if (!bound_is(L, i) || lua_getfield(L, i, "arguments") != LUA_TTABLE) {
    lua_pushfstring(L, "needs BoundArguments, got %s", lang_describe(L, i, got, sizeof got));
    LANG_FAIL(L, kernel_step, core->func_name, who, lua_tostring(L, -1));
  }
  check_names(L, core, lua_gettop(L));
}

int bound_check(lua_State *L) {
  const char *who = luaL_checkstring(L, 3);
  const LKernel *k = kernel_self(L, who, ANY);
  lua_settop(L, 3);
  check(L, k->core, 2, who);
  return 0;
}

void bound_spread(lua_State *L, const KernelCore *core, int i, const char *who) {
  i = lua_absindex(L, i);
  luaL_checkstack(L, core->nparams + 8, "kernel arguments");
  check(L, core, i, who);
  int arguments = lua_gettop(L);
  for (int p = 0; p < core->nparams; p++) {
    lua_pushstring(L, core->params[p]);
    lua_rawget(L, arguments);
  }
  lua_remove(L, arguments);
}
