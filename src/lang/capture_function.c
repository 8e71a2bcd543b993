/* capture_function.c -- room lang: captured functions: their code, their upvalues, and the globals and modules they
 * name. */
#include <string.h>

#include "capture.h"

static void add_mark(lua_State *L, LangCtx *c, const char *name) {
  Capture *k = c->capture;
  if (k->nmarks == k->capmarks) k->marks = capture_grow(L, c, k->marks, &k->capmarks, sizeof *k->marks);
  k->marks[k->nmarks++] = (Mark){k->bytes.len, name, 0};
}

/* Its value follows. */
static void mark_value(Capture *k) { k->marks[k->nmarks - 1].value = k->bytes.len; }

/* The code of the closure at i if it was walked before. Leaves its userdata, or nil, on the stack. */
static const LDump *push_known_dump(lua_State *L, const Capture *k, int i) {
  lua_pushvalue(L, i);
  return lua_rawget(L, k->dumps) == LUA_TNIL ? NULL : lua_touserdata(L, -1);
}

static const LDump *push_new_dump(lua_State *L, LangCtx *c, int i) {
  const LDump *d = dump_push(L, c, i, c->capture->dir);
  lua_pushvalue(L, i);
  lua_pushvalue(L, -2);
  lua_rawset(L, c->capture->dumps);
  return d;
}

static void put_dump(Capture *k, const LDump *d) {
  if (strcmp(k->dir, d->dir) == 0)
    put_raw(k, d->piece, d->npiece);
  else
    dump_put(&k->bytes, k->dir, d);
}

/* A function being walked, with the names its code holds: lists on the stack. */
typedef struct Names {
  int globals, fields, whole, nglobals, nfields, nloose, nwhole;
} Names;

/* Pushes t[name] raw; when that is nil, pushes what is at t's __index after it. */
static bool raw_or_index(lua_State *L, int t, int name) {
  lua_pushvalue(L, name);
  return lua_rawget(L, t) != LUA_TNIL || luaL_getmetafield(L, t, "__index") == LUA_TNIL;
}

/* An environment with a function for __index says itself what a name is; one that refuses to (as strict ones do) has no
 * such name. */
static void ask_function(lua_State *L, int env, int name) {
  lua_pushvalue(L, env);
  lua_pushvalue(L, name);
  if (lua_pcall(L, 2, 1, 0) != LUA_OK) lua_pushnil(L);
}

/* Replaces the name on top by env[name] as the function would see it. */
static void look_up(lua_State *L, int env) {
  if (!lua_getmetatable(L, env)) {
    lua_rawget(L, env);
    return;
  }
  lua_pop(L, 1);
  int name = lua_gettop(L);
  lua_pushvalue(L, env);
  for (int hop = 0; hop < 16 && !raw_or_index(L, name + 1, name); hop++) {
    lua_replace(L, name + 1); /* the value of __index in place of the table */
    bool table = lua_istable(L, name + 1);
    lua_settop(L, name + 1);
    if (table) continue;
    ask_function(L, env, name);
    break;
  }
  lua_replace(L, name);
  lua_settop(L, name);
}

/* The first `most` fields of the table at t, as indexing finds them. */
static void walk_fields(lua_State *L, LangCtx *c, int t, const Names *n, int most) {
  Capture *k = c->capture;
  bool plain = !lua_getmetatable(L, t);
  if (!plain) lua_pop(L, 1);
  for (int i = 1; i <= most; i++) {
    lua_rawgeti(L, n->fields, i);
    const char *name = lua_tostring(L, -1); /* its list keeps it */
    if (plain)
      lua_rawget(L, t);
    else
      look_up(L, t);
    if (!lua_isnil(L, -1)) {
      put_bytes(k, ':', name, strlen(name));
      capture_walk_part(L, c, lua_gettop(L));
    }
    lua_pop(L, 1);
  }
}

/* Fields of a standard library that the function may use: who replaces one changes what the function does. */
static void walk_library(lua_State *L, LangCtx *c, int lib, const Names *n) {
  Capture *k = c->capture;
  for (int i = 1; i <= n->nfields; i++) {
    lua_rawgeti(L, n->fields, i);
    const char *name = lua_tostring(L, -1);
    if (lua_rawget(L, lib) != LUA_TNIL) {
      put_bytes(k, '.', name, strlen(name));
      capture_walk_part(L, c, lua_gettop(L));
    }
    lua_pop(L, 1);
  }
}

/* Is the variable used for more than its fields? It may then be handed on to where no name tells which are used. */
static bool used_whole(lua_State *L, const Names *n, const char *variable) {
  bool found = false;
  for (int i = 1; i <= n->nwhole && !found; i++) {
    lua_rawgeti(L, n->whole, i);
    found = strcmp(lua_tostring(L, -1), variable) == 0;
    lua_pop(L, 1);
  }
  return found;
}

/* A captured value, and what of it the function can reach by the names in it. */
static void walk_captured(lua_State *L, LangCtx *c, const char *variable, const Names *n) {
  int i = lua_gettop(L);
  if (lua_topointer(L, i) == c->capture->globals && !used_whole(L, n, variable)) { /* only `_G.x` */
    walk_fields(L, c, i, n, n->nfields);
    return;
  }
  if (!capture_is_library(capture_walk(L, c, i))) return;
  walk_library(L, c, i, n);
  if (used_whole(L, n, variable)) capture_walk_content(L, c, i);
}

static void walk_globals(lua_State *L, LangCtx *c, int env, const Names *n) {
  Capture *k = c->capture;
  for (int i = 1; i <= n->nglobals; i++) {
    size_t len;
    lua_rawgeti(L, n->globals, i);
    const char *name = lua_tolstring(L, -1, &len);
    look_up(L, env);
    if (!lua_isnil(L, -1)) {
      add_mark(L, c, name);
      put_bytes(k, 'G', name, len);
      mark_value(k);
      walk_captured(L, c, name, n);
    }
    lua_pop(L, 1);
  }
}

/* Does one of them hold a string, whose fields are its methods? */
static bool walk_upvalues(lua_State *L, LangCtx *c, int f, const Names *n) {
  Capture *k = c->capture;
  bool string = false;
  for (int i = 1;; i++) {
    const char *name = lua_getupvalue(L, f, i);
    if (!name) return string;
    int v = lua_gettop(L);
    if (lua_type(L, v) == LUA_TSTRING) string = true;
    if (strcmp(name, "_ENV") == 0) {
      put_tag(k, 'E');
      if (lua_istable(L, v)) walk_globals(L, c, v, n);
    } else {
      add_mark(L, c, name);
      put_tag(k, 'U');
      mark_value(k);
      walk_captured(L, c, name, n);
    }
    lua_settop(L, v - 1);
  }
}

/* A string's methods of the first `most` names, as `s:name()` finds them. */
static void walk_methods(lua_State *L, LangCtx *c, const Names *n, int most) {
  Capture *k = c->capture;
  if (most == 0) return;
  int string = lua_gettop(L) + 1, methods = string + 2;
  lua_rawgeti(L, n->fields, n->nfields + 1); /* "__index", a string like any other */
  if (lua_getmetatable(L, string)) {
    lua_pushvalue(L, string);
    int kind = lua_rawget(L, string + 1);
    if (kind == LUA_TTABLE) {
      walk_fields(L, c, methods, n, most);
    } else if (kind != LUA_TNIL) {
      put_tag(k, ':');
      capture_walk(L, c, methods);
    }
  }
  lua_settop(L, string - 1);
}

/* A variable that is assigned to may hold a string for a while, whatever it holds now. */
void capture_walk_strings(lua_State *L, LangCtx *c) {
  lua_pushliteral(L, "");
  if (lua_getmetatable(L, -1)) capture_walk_content(L, c, lua_gettop(L));
}

/* A C closure that no library of ours or Lua's has may keep a state: what coroutine.wrap, io.lines and string.gmatch
 * make moves on at every call. */
static void look_inside(lua_State *L, Capture *k, int f) {
  if (lua_getupvalue(L, f, 1)) {
    k->unsure = "a C function that may have a state";
    lua_pop(L, 1);
  }
  for (int i = 1; lua_getupvalue(L, f, i); i++) {
    if (lua_isthread(L, -1)) k->unsure = "a coroutine";
    if (luaL_testudata(L, -1, LUA_FILEHANDLE)) k->unsure = "an iterator over a file";
    lua_pop(L, 1);
  }
}

/* A list of the dump's names, if it is looked at. */
static void push_names(lua_State *L, int dump, int which, bool used) {
  if (used)
    lua_getiuservalue(L, dump, which);
  else
    lua_pushnil(L);
}

/* A function that is told by its name or, being C without a name, by its number. Pops what lies above it if it is one.
 */
static bool walk_named(lua_State *L, Capture *k, int f) {
  int top = lua_gettop(L) - 1;
  if (capture_put_name(L, k, f)) return lua_settop(L, top), true;
  if (!lua_iscfunction(L, f)) return false;
  if (!capture_is_known(L, k, f)) look_inside(L, k, f);
  capture_put_serial(L, k, f);
  return lua_settop(L, top), true;
}

void capture_walk_function(lua_State *L, LangCtx *c, int f) {
  Capture *k = c->capture;
  int dump = lua_gettop(L) + 1;
  const LDump *d = push_known_dump(L, k, f);
  if (!d && walk_named(L, k, f)) return;
  if (capture_seen(L, c, lua_topointer(L, f))) {
    lua_settop(L, dump - 1);
    return;
  }
  const char *outer = k->nmarks ? k->marks[k->nmarks - 1].name : NULL;
  if (!d) {
    lua_settop(L, dump - 1);
    d = push_new_dump(L, c, f);
  }
  put_dump(k, d);
  push_names(L, dump, DUMP_GLOBALS, d->nglobals > 0);
  push_names(L, dump, DUMP_FIELDS, true);
  push_names(L, dump, DUMP_WHOLE, d->nwhole > 0);
  const Names n = {dump + 1, dump + 2, dump + 3, d->nglobals, d->nfields, d->nloose, d->nwhole};
  if (d->dynamic) k->unsure = "the table of globals";
  if (d->assigns) k->assigns = true;
  bool string = walk_upvalues(L, c, f, &n);
  walk_methods(L, c, &n, string ? n.nfields : n.nloose);
  if (d->requires) { /* require "x" inside the function: the loaded module is captured state too */
    lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    walk_globals(L, c, lua_gettop(L), &n);
  }
  if (outer) add_mark(L, c, outer);
  put_tag(k, 'e');
  lua_settop(L, dump - 1);
}
