/* capture_function.c -- room lang: captured functions: their code, their upvalues, and the globals and modules they name. */
#include <string.h>

#include "capture.h"

static void add_mark(lua_State *L, LangCtx *c, const char *name) {
  Capture *k = c->capture;
  if (k->nmarks == k->capmarks) k->marks = capture_grow(L, c, k->marks, &k->capmarks, sizeof *k->marks);
  k->marks[k->nmarks++] = (Mark){k->bytes.len, name};
}

/* The code of the closure at i, made once. Leaves its userdata on the stack. */
static const LDump *push_dump(lua_State *L, LangCtx *c, int i) {
  lua_pushvalue(L, i);
  lua_rawget(L, c->capture->dumps);
  const LDump *d = lua_touserdata(L, -1);
  if (d) return d;
  lua_pop(L, 1);
  d = dump_push(L, c, i);
  lua_pushvalue(L, i);
  lua_pushvalue(L, -2);
  lua_rawset(L, c->capture->dumps);
  return d;
}

static void put_dump(Capture *k, const LDump *d) {
  char name[512];
  lang_relative(k->dir, d->source, name, sizeof name);
  put_bytes(k, 'F', name, strlen(name));
  put_bytes(k, 'c', d->bytes, d->n);
}

/* Pushes env[name at -1] as the function would see it: through tables in __index. Replaces the name. */
static void look_up(lua_State *L, int env) {
  int name = lua_gettop(L);
  lua_pushvalue(L, env);
  for (int hop = 0; hop < 16; hop++) {
    lua_pushvalue(L, name);
    if (lua_rawget(L, -2) != LUA_TNIL || !luaL_getmetafield(L, -2, "__index")) break;
    lua_remove(L, -2);
    lua_remove(L, -2);
    if (!lua_istable(L, -1)) break; /* a function: itself stands for what it answers */
  }
  lua_replace(L, name);
  lua_settop(L, name);
}

/* Fields of a standard library that the function may use, when somebody has replaced them. */
static void walk_library(lua_State *L, LangCtx *c, int lib, int names, int nnames) {
  Capture *k = c->capture;
  for (int i = 1; i <= nnames; i++) {
    lua_rawgeti(L, names, i);
    const char *name = lua_tostring(L, -1);
    lua_rawget(L, lib);
    if (!lua_isnil(L, -1)) {
      put_bytes(k, '.', name, strlen(name));
      capture_walk(L, c, lua_gettop(L));
    }
    lua_pop(L, 1);
  }
}

static bool is_library(lua_State *L, const Capture *k, int i) {
  if (!lua_istable(L, i) || lua_rawequal(L, i, k->globals)) return false;
  lua_pushvalue(L, i);
  const char *name = lua_rawget(L, k->names) == LUA_TSTRING ? lua_tostring(L, -1) : "nki";
  bool standard = strncmp(name, "nki", 3) != 0;
  lua_pop(L, 1);
  return standard;
}

/* A captured value, and what of it the function can reach by the names in it. */
static void walk_captured(lua_State *L, LangCtx *c, int names, int nnames) {
  int i = lua_gettop(L);
  capture_walk(L, c, i);
  if (is_library(L, c->capture, i)) walk_library(L, c, i, names, nnames);
}

static void walk_globals(lua_State *L, LangCtx *c, int env, int names, int nnames) {
  Capture *k = c->capture;
  for (int i = 1; i <= nnames; i++) {
    lua_rawgeti(L, names, i);
    size_t n;
    const char *name = lua_tolstring(L, -1, &n);
    look_up(L, env);
    if (!lua_isnil(L, -1)) {
      add_mark(L, c, name);
      put_bytes(k, 'G', name, n);
      walk_captured(L, c, names, nnames);
    }
    lua_pop(L, 1);
  }
}

/* `require "x"` inside the function: the loaded module is captured state too. */
static void walk_required(lua_State *L, LangCtx *c, int names, int nnames) {
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  walk_globals(L, c, lua_gettop(L), names, nnames);
  lua_pop(L, 1);
}

static void walk_upvalues(lua_State *L, LangCtx *c, int f, int names, int nnames) {
  Capture *k = c->capture;
  for (int i = 1;; i++) {
    const char *name = lua_getupvalue(L, f, i);
    if (!name) return;
    int v = lua_gettop(L);
    if (strcmp(name, "_ENV") == 0 || lua_rawequal(L, v, k->globals)) {
      put_tag(k, 'E');
      if (lua_istable(L, v)) walk_globals(L, c, v, names, nnames);
    } else {
      add_mark(L, c, name);
      put_tag(k, 'U');
      walk_captured(L, c, names, nnames);
    }
    lua_settop(L, v - 1);
  }
}

void capture_walk_function(lua_State *L, LangCtx *c, int f) {
  Capture *k = c->capture;
  if (capture_put_name(L, k, f)) return;
  if (lua_iscfunction(L, f)) {
    capture_put_serial(L, k, f);
    return;
  }
  if (capture_seen(L, c, lua_topointer(L, f))) return;
  const LDump *d = push_dump(L, c, f);
  put_dump(k, d);
  lua_getiuservalue(L, -1, 1);
  int names = lua_gettop(L);
  walk_upvalues(L, c, f, names, d->nnames);
  if (d->requires) walk_required(L, c, names, d->nnames);
  put_tag(k, 'e');
  lua_settop(L, names - 2);
}
