/* classic.c -- room lang: the doors to the classic layer, and what its Lua asks of C. */
#include "classic.h"

#include <stdio.h>

#include "nl.h"

bool classic_at(lua_State *L, int i) {
  if (lua_type(L, i) != LUA_TTABLE || luaL_getmetafield(L, i, "__name") == LUA_TNIL) return false;
  const char *name = lua_tostring(L, -1);
  bool ours = name && strncmp(name, "Nki", 3) == 0 && strcmp(name, "NkiShape") != 0;
  lua_pop(L, 1);
  return ours;
}

void classic_call(lua_State *L, LangCtx *c, const char *name, int nargs, int nres) {
  char file[64];
  const char *dot = strchr(name, '.');
  luaL_checkstack(L, nargs + 8, name);
  snprintf(file, sizeof file, "nki.%.*s", (int)(dot - name), name);
  lang_half(L, c, file);
  lua_getfield(L, -1, dot + 1);
  lua_remove(L, -2);
  lua_insert(L, -nargs - 1);
  lua_call(L, nargs, nres);
}

static int through(lua_State *L) { /* upvalues: context, name, what messages call it, its row or NULL */
  LangCtx *c = lang_upctx(L);
  if (!c->trace) lang_need_trace(L, c, lua_tostring(L, lua_upvalueindex(3)));
  lang_locate_fast(L, c, c->trace);
  const LRow *row = lua_touserdata(L, lua_upvalueindex(4));
  if (row) lang_bind(L, &row->bind);
  classic_call(L, c, lua_tostring(L, lua_upvalueindex(2)), lua_gettop(L), LUA_MULTRET);
  return lua_gettop(L);
}

void classic_push(lua_State *L, LangCtx *c, const char *name, const char *public, const LRow *row) {
  lua_pushlightuserdata(L, c);
  lua_pushstring(L, name);
  lua_pushstring(L, public);
  lua_pushlightuserdata(L, (void *)(uintptr_t)row);
  lua_pushcclosure(L, through, 4);
}

static int mgrid_call(lua_State *L) { return LANG_HERE(L, token_call, "nl.mgrid"); }

void classic_push_mgrid(lua_State *L, LangCtx *c) {
  lua_newuserdatauv(L, 1, 0);
  lua_createtable(L, 0, 4);
  classic_push(L, c, "classic_language.mgrid", "nl.mgrid", NULL);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, mgrid_call);
  lua_setfield(L, -2, "__call");
  lang_name_metatable(L, "nl.mgrid");
  lua_setmetatable(L, -2);
}

void classic_index(lua_State *L, LangCtx *c, int key) {
  key = lua_absindex(L, key);
  lua_pushvalue(L, 1);
  lua_pushvalue(L, key);
  classic_call(L, c, "classic_view.index", 2, 1);
}

bool classic_assign(lua_State *L, LangCtx *c, int dst, int value) {
  value = lua_absindex(L, value);
  lua_pushvalue(L, dst);
  lua_pushvalue(L, value);
  classic_call(L, c, "classic_language.assign", 2, 1);
  bool done = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return done;
}

/* Keywords at the top without mask=, which is pushed: the user's table stays as it is. False when there is none. */
static bool take_mask(lua_State *L, const BindSpec *b) {
  int top = lua_gettop(L);
  if (top == 0 || lua_type(L, top) != LUA_TTABLE || lua_getmetatable(L, top)) {
    lua_settop(L, top);
    return false;
  }
  lua_pushliteral(L, "mask");
  if (lua_rawget(L, top) == LUA_TNIL || lang_param(b, "mask") >= 0) {
    lua_settop(L, top);
    return false;
  }
  lua_newtable(L);
  lua_pushnil(L);
  while (lua_next(L, top)) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    bool mask = lua_type(L, -3) == LUA_TSTRING && strcmp(lua_tostring(L, -3), "mask") == 0;
    if (mask)
      lua_pop(L, 2);
    else
      lua_rawset(L, top + 2);
  }
  lua_replace(L, top); /* below it: the mask */
  return true;
}

static int bound(lua_State *L) { /* upvalue 1: row; the arguments bound to its slots, all returned */
  const LRow *row = lua_touserdata(L, lua_upvalueindex(1));
  lang_bind(L, &row->bind);
  return row->bind.n;
}

/* The nargs values on top, bound: replaces them by the row's slots. */
static void bind_to(lua_State *L, const LRow *row, int nargs) {
  lua_pushlightuserdata(L, (void *)(uintptr_t)row);
  lua_pushcclosure(L, bound, 1);
  lua_insert(L, -nargs - 1);
  lua_call(L, nargs, row->bind.n);
}

static bool has_par_dim(lua_State *L, const LRow *row) {
  bool found = false;
  if (strcmp(row->bind.names[0], "shape") != 0 || lua_type(L, 1) != LUA_TTABLE) return false;
  if (lua_getmetatable(L, 1)) return lua_pop(L, 1), false;
  int shape = 1;
  if (lua_getfield(L, 1, "shape") == LUA_TTABLE) shape = lua_gettop(L);
  for (int k = 1; !found && k <= (int)lua_rawlen(L, shape); k++) {
    lua_rawgeti(L, shape, k);
    found = classic_at(L, -1);
    lua_pop(L, 1);
  }
  lua_settop(L, shape == 1 ? lua_gettop(L) - 1 : shape - 1);
  return found;
}

int classic_row(lua_State *L, LangCtx *c, const LRow *row) {
  int top = lua_gettop(L), n = row->bind.n;
  if (n == 0 || top == 0 || strcmp(row->module, "nl") != 0) return -1;
  bool mask = take_mask(L, &row->bind), shaped = !mask && has_par_dim(L, row);
  if (!mask && !shaped) return -1;
  if (!c->trace) lang_need_trace(L, c, row->bind.func);
  lang_locate_fast(L, c, c->trace);
  luaL_checkstack(L, n + 8, row->bind.func);
  if (mask) lua_insert(L, 1);
  bind_to(L, row, top);
  lua_pushstring(L, row->bind.func);
  lua_insert(L, 1);
  lang_push_names(L, row->bind.names, (uint32_t)row->bind.n);
  lua_insert(L, mask ? 3 : 2);
  classic_call(L, c, mask ? "classic_language.masked" : "classic_language.shaped", n + (mask ? 3 : 2), 1);
  return 1;
}

bool classic_binary(lua_State *L, LangCtx *c, const LRow *row) {
  if (!classic_at(L, 1) && !classic_at(L, 2)) return false;
  classic_refuse(L, 1);
  classic_refuse(L, 2);
  lua_settop(L, 2);
  lua_pushstring(L, row->name);
  lua_insert(L, 1);
  classic_call(L, c, "classic_language.binary", 3, 1);
  return true;
}

void classic_refuse(lua_State *L, int i) {
  i = lua_absindex(L, i);
  if (lua_type(L, i) != LUA_TTABLE || luaL_getmetafield(L, i, "__use") == LUA_TNIL) return;
  lua_pushvalue(L, i);
  lua_call(L, 1, 0);
}

static void add_fp32(lua_State *L) { /* classic: nisa.fp32.min */
  lua_createtable(L, 0, 1);
  lua_pushnumber(L, -0x1.fffffep127);
  lua_setfield(L, -2, "min");
  lang_strict(L, "nisa.fp32");
  lua_setfield(L, -2, "fp32");
}

static int classic_only(lua_State *L) { /* upvalues: context, name */
  LangCtx *c = lang_upctx(L);
  const char *name = lua_tostring(L, lua_upvalueindex(2));
  char full[64];
  snprintf(full, sizeof full, "nisa.%s", name);
  if (!c->trace) lang_need_trace(L, c, full);
  lang_locate_fast(L, c, c->trace);
  int top = lua_gettop(L);
  lua_pushstring(L, name);
  lua_insert(L, 1);
  classic_call(L, c, "classic_isa.call", top + 1, 2);
  if (!lua_toboolean(L, -2)) LANG_HERE(L, bind_missing, full, strstr(name, "_dst") ? "dst" : "src");
  return 1;
}

void classic_add_isa(lua_State *L, LangCtx *c) {
  static const char *const names[] = {"tensor_copy_dynamic_src", "tensor_copy_dynamic_dst"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    lua_pushlightuserdata(L, c);
    lua_pushstring(L, names[k]);
    lua_pushcclosure(L, classic_only, 2);
    lua_setfield(L, -2, names[k]);
  }
  add_fp32(L);
}
