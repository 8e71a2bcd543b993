/* tuple.c -- room lang: nki.tuple{...}, a list that cannot change and is therefore a legal kernel argument, compared by
   value. It is a table without entries of its own (so that it passes for a list wherever lists are read through __index
   and __len) whose items lie under a private key. */
#include "kernel.h"

static const char tuple_name[] = "nki.tuple";
static const char items_key = 0, deep_key = 0;

/* How many tuples deep value i is: 0 when it is none. */
static lua_Integer deep_of(lua_State *L, const LangCtx *c, int i) {
  if (!tuple_push_items(L, c, i)) return 0;
  lua_rawgetp(L, i - 1, &deep_key);
  lua_Integer deep = lua_tointeger(L, -1);
  lua_pop(L, 2);
  return deep;
}

bool tuple_push_items(lua_State *L, const LangCtx *c, int i) {
  if (!lua_istable(L, i) || !lua_getmetatable(L, i)) return false;
  bool ours = lua_topointer(L, -1) == c->mt_tuple;
  lua_pop(L, 1);
  if (ours) lua_rawgetp(L, i, &items_key);
  return ours;
}

static void push_items(lua_State *L, int i) {
  if (!tuple_push_items(L, lang_ctx(L), i)) lang_kind_error(L, i, "nki.tuple", "self", "what nki.tuple made");
}

static int l_index(lua_State *L) {
  push_items(L, 1);
  lua_pushvalue(L, 2);
  lua_rawget(L, -2);
  return 1;
}

static int l_newindex(lua_State *L) { return LANG_HERE(L, read_only, "a tuple"); }

static int l_len(lua_State *L) {
  push_items(L, 1);
  lua_pushinteger(L, (lua_Integer)lua_rawlen(L, -1));
  return 1;
}

static int l_next(lua_State *L) {
  push_items(L, 1);
  lua_pushvalue(L, 2);
  return lua_next(L, -2) ? 2 : 0;
}

static int l_pairs(lua_State *L) {
  lua_pushcfunction(L, l_next);
  lua_pushvalue(L, 1);
  lua_pushnil(L);
  return 3;
}

static int l_eq(lua_State *L) {
  const LangCtx *c = lang_ctx(L);
  lua_settop(L, 2);
  if (!tuple_push_items(L, c, 1) || !tuple_push_items(L, c, 2)) return lua_pushboolean(L, 0), 1;
  lua_Unsigned n = lua_rawlen(L, 3);
  bool equal = n == lua_rawlen(L, 4);
  for (lua_Unsigned i = 1; equal && i <= n; i++) {
    lua_rawgeti(L, 3, (lua_Integer)i);
    lua_rawgeti(L, 4, (lua_Integer)i);
    equal = lua_compare(L, -1, -2, LUA_OPEQ);
    lua_pop(L, 2);
  }
  lua_pushboolean(L, equal);
  return 1;
}

static int l_tostring(lua_State *L) {
  push_items(L, 1);
  lua_Unsigned n = lua_rawlen(L, -1);
  int list = lua_gettop(L);
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  luaL_addchar(&b, '{');
  for (lua_Unsigned i = 1; i <= n; i++) {
    if (i > 1) luaL_addstring(&b, ", ");
    lua_rawgeti(L, list, (lua_Integer)i);
    luaL_tolstring(L, -1, NULL);
    lua_remove(L, -2);
    luaL_addvalue(&b);
  }
  luaL_addchar(&b, '}');
  luaL_pushresult(&b);
  return 1;
}

void lang_push_tuple(lua_State *L, int n) {
  const LangCtx *c = lang_ctx(L);
  lua_Integer deep = 0;
  luaL_checkstack(L, 5, "tuple");
  for (int i = 1; i <= n; i++) {
    lua_Integer inner = deep_of(L, c, -i);
    deep = inner > deep ? inner : deep;
  }
  lua_createtable(L, n, 0);
  lua_insert(L, -n - 1);
  for (int i = n; i >= 1; i--) lua_rawseti(L, -i - 1, i);
  lua_createtable(L, 0, 2);
  lua_insert(L, -2);
  lua_rawsetp(L, -2, &items_key);
  lua_pushinteger(L, deep + 1);
  lua_rawsetp(L, -2, &deep_key);
  luaL_setmetatable(L, tuple_name);
}

static bool is_item(lua_State *L, const LangCtx *c, int i) {
  int type = lua_type(L, i);
  if (type == LUA_TBOOLEAN || type == LUA_TNUMBER || type == LUA_TSTRING || lang_to_token(L, i)) return true;
  if (!tuple_push_items(L, c, i)) return false;
  lua_pop(L, 1);
  return true;
}

static const char too_deep[] = "a list more than 30 lists deep";

/* nki.tuple(list): a list inside becomes a tuple too. Upvalues: context, how deep this one is. */
static int l_tuple(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  lua_Integer depth = lua_tointeger(L, lua_upvalueindex(2));
  char got[DESCRIBE];
  lang_at_most(L, "nki.tuple", 1, 1);
  lua_settop(L, 1);
  if (tuple_push_items(L, c, 1)) return lua_settop(L, 1), 1;
  if (!lua_istable(L, 1)) LANG_FAIL(L, tuple_item, 0, lang_describe(L, 1, got, sizeof got));
  lua_Unsigned n = lua_rawlen(L, 1);
  if (n > 200) LANG_FAIL(L, tuple_item, 201, "one too many: at most 200 items");
  if (depth >= CONST_MOST_DEEP) LANG_FAIL(L, tuple_item, 1, too_deep);
  luaL_checkstack(L, (int)n + 8, "tuple");
  for (lua_Unsigned i = 1; i <= n; i++) {
    lua_rawgeti(L, 1, (lua_Integer)i);
    if (lua_istable(L, -1) && !luaL_getmetafield(L, -1, "__index")) {
      lua_pushvalue(L, lua_upvalueindex(1));
      lua_pushinteger(L, depth + 1);
      lua_pushcclosure(L, l_tuple, 2);
      lua_insert(L, -2);
      lua_call(L, 1, 1);
    }
    lua_settop(L, (int)i + 1);
    if (!is_item(L, c, -1)) LANG_FAIL(L, tuple_item, (int)i, lang_describe(L, -1, got, sizeof got));
    if (depth + 1 + deep_of(L, c, -1) > CONST_MOST_DEEP) LANG_FAIL(L, tuple_item, (int)i, too_deep);
  }
  lua_pushnil(L);
  while (lua_next(L, 1)) {
    lua_pop(L, 1);
    if (!lua_isinteger(L, -1) || (lua_Unsigned)lua_tointeger(L, -1) - 1 >= n)
      LANG_FAIL(L, tuple_item, 0, "a named field");
  }
  lang_push_tuple(L, (int)n);
  return 1;
}

void tuple_open(lua_State *L, LangCtx *c) {
  static const luaL_Reg meta[] = {
      {"__index", l_index}, {"__newindex", l_newindex}, {"__len", l_len}, {"__pairs", l_pairs},
      {"__eq", l_eq},       {"__tostring", l_tostring}, {NULL, NULL}};
  luaL_newmetatable(L, tuple_name);
  luaL_setfuncs(L, meta, 0);
  c->mt_tuple = lua_topointer(L, -1);
  lua_pop(L, 1);
  lua_pushlightuserdata(L, c);
  lua_pushinteger(L, 0);
  lua_pushcclosure(L, l_tuple, 2);
}
