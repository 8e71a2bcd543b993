/* capture_names.c -- room lang: what is captured by name: the standard library and our own modules, with their
 * functions. */
#include <lualib.h>
#include <string.h>

#include "capture.h"

/* names[value at -1] = name, unless value or name is taken: two objects never share a name. A module that is loaded
   once more is known but has no name: false. Pops the value. */
static void give_name(lua_State *L, int names, const char *name) {
  lua_pushvalue(L, -1);
  bool named = lua_rawget(L, names) != LUA_TNIL;
  lua_pushstring(L, name);
  lua_pushvalue(L, -1);
  bool taken = lua_rawget(L, names) != LUA_TNIL;
  lua_pop(L, 1);
  if (!named && !taken) {
    lua_pushvalue(L, -3);
    lua_pushvalue(L, -2);
    lua_rawset(L, names); /* object -> name */
    lua_pushboolean(L, 1);
    lua_rawset(L, names); /* name -> true */
    lua_pop(L, 2);
    return;
  }
  if (!named) {
    lua_pushvalue(L, -3);
    lua_pushboolean(L, 0);
    lua_rawset(L, names);
  }
  lua_pop(L, 3);
}

/* What a library has of its own: its C functions keep a table or, math.random, a block at most, an iterator somebody
 * put there keeps more. */
static bool is_standard(lua_State *L, int f) {
  if (!lua_iscfunction(L, f)) return false;
  if (!lua_getupvalue(L, f, 1)) return true;
  bool own = lua_istable(L, -1) || (lua_isuserdata(L, -1) && !luaL_testudata(L, -1, LUA_FILEHANDLE));
  lua_pop(L, 1);
  return own;
}

/* The functions of the table at `t` as "lib.name"; only_c: a Lua function in a standard library is the user's. */
static void name_functions(lua_State *L, int names, int t, const char *lib, bool only_c) {
  lua_pushnil(L);
  while (lua_next(L, t)) {
    if (lua_type(L, -2) == LUA_TSTRING && lua_isfunction(L, -1) && (!only_c || is_standard(L, lua_gettop(L)))) {
      const char *name = lua_pushfstring(L, "%s.%s", lib, lua_tostring(L, -2));
      lua_pushvalue(L, -2);
      give_name(L, names, name);
      lua_pop(L, 1);
    }
    lua_pop(L, 1);
  }
}

void capture_name_module(lua_State *L, const char *name, int module) {
  module = lua_absindex(L, module);
  lua_rawgeti(L, LUA_REGISTRYINDEX, lang_ctx(L)->capture->names_ref);
  int names = lua_gettop(L);
  lua_pushvalue(L, module);
  give_name(L, names, name);
  if (!lua_istable(L, module)) {
    lua_settop(L, names - 1);
    return;
  }
  name_functions(L, names, module, name, false);
  /* A strict module is an empty table whose contents lie behind it. */
  if (luaL_getmetafield(L, module, "__index") == LUA_TTABLE) name_functions(L, names, lua_gettop(L), name, false);
  lua_settop(L, names - 1);
}

/* The table of globals has its name too: its content is reached by name, never as a whole. */
void capture_name_standard(lua_State *L, int names) {
  static const char *const libs[] = {LUA_GNAME,      LUA_COLIBNAME,   LUA_TABLIBNAME,  LUA_IOLIBNAME, LUA_OSLIBNAME,
                                     LUA_STRLIBNAME, LUA_UTF8LIBNAME, LUA_MATHLIBNAME, LUA_DBLIBNAME, LUA_LOADLIBNAME};
  int top = lua_gettop(L);
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  int loaded = lua_gettop(L);
  for (size_t i = 0; i < sizeof libs / sizeof *libs; i++) {
    if (lua_getfield(L, loaded, libs[i]) != LUA_TTABLE) {
      lua_settop(L, loaded);
      continue;
    }
    name_functions(L, names, lua_gettop(L), libs[i], true);
    give_name(L, names, libs[i]);
    lua_settop(L, loaded);
  }
  give_name(L, names, "package.loaded");
  lua_settop(L, top);
}

/* Library functions whose answer is no function of their arguments, or that run code which no walk has seen. */
static bool is_unsure(const char *name) {
  static const char *const names[] = {"math.random", "os.time", "os.clock",    "os.date",   "os.getenv",
                                      "os.tmpname",  "_G.load", "_G.loadfile", "_G.dofile", "io.read",
                                      "io.lines",    "io.open", "io.popen",    "io.input",  "package.loaded"};
  if (strncmp(name, "nki", 3) == 0) return false; /* most are ours */
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i][0] == name[0] && strcmp(names[i], name) == 0) return true;
  return false;
}

bool capture_is_known(lua_State *L, const Capture *k, int i) {
  lua_pushvalue(L, i);
  bool known = lua_rawget(L, k->names) != LUA_TNIL;
  lua_pop(L, 1);
  return known;
}

const char *capture_put_name(lua_State *L, Capture *k, int i) {
  size_t n;
  lua_pushvalue(L, i);
  const char *name = lua_rawget(L, k->names) == LUA_TSTRING ? lua_tolstring(L, -1, &n) : NULL;
  if (name) put_bytes(k, 'M', name, n);
  if (name && is_unsure(name)) k->unsure = name;
  if (name && strcmp(name, LUA_GNAME) == 0) k->unsure = "the table of globals";
  lua_pop(L, 1); /* the table of names holds the string */
  return name;
}
