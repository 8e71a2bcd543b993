/* half.c -- room lang: the Lua half of nl and NkiTensor, loaded on first use. */
#include <stdio.h>

#include "classic.h"
#include "embedded.h"
#include "half.h"
#include "nl.h"

static Diag *fill(lua_State *L, LangCtx *c) {
  char name[64];
  snprintf(name, sizeof name, "err_%s", luaL_checkstring(L, 1));
  diag_failf(&c->diag, err_by_name(name), "%s", luaL_checkstring(L, 2));
  return &c->diag;
}

/* fail(id, message) raises err_<id>. */
static int half_fail(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  return lang_raise_here(L, fill(L, c));
}

int lang_fail_outside(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  return lang_raise(L, fill(L, c));
}

/* ---- define(name, body): body is the function of a row of nl_half.def, whose arguments are bound first */

int lang_defined_call(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  const LRow *row = lua_touserdata(L, lua_upvalueindex(2));
  const BindSpec *spec = &row->bind;
  if (!c->trace) lang_need_trace(L, c, spec->func);
  int n = classic_row(L, c, row);
  if (n >= 0) return n;
  lang_bind(L, spec);
  for (unsigned left = (unsigned)row->arg; left; left &= left - 1) {
    int k = __builtin_ctz(left);
    const LTile *t = lang_tile_at(L, k + 1);
    if (!t) lang_kind_error(L, k + 1, spec->func, spec->names[k], "a tile");
    lang_live(L, c, t, spec->func, spec->names[k]);
  }
  lua_pushvalue(L, lua_upvalueindex(3));
  lua_insert(L, 1);
  lua_call(L, spec->n, 1);
  return 1;
}

static int half_define(lua_State *L) {
  const LRow *row = nl_half_row(luaL_checkstring(L, 1));
  if (!row) return luaL_error(L, "no row of nl_half.def");
  lua_pushlightuserdata(L, lang_upctx(L));
  lua_pushlightuserdata(L, (void *)(uintptr_t)row);
  lua_pushvalue(L, 2);
  lua_pushcclosure(L, lang_defined_call, 3);
  return 1;
}

/* Pushes the chunk and the three values that every one is given. */
static void push_chunk(lua_State *L, LangCtx *c, const char *name) {
  char chunk[96];
  const struct nki_embedded *e = nki_embedded;
  while (e->name && strcmp(e->name, name) != 0) e++;
  if (!e->name) luaL_error(L, "no embedded module '%s'", name);
  snprintf(chunk, sizeof chunk, "=nki/%s.lua", name + strlen("nki."));
  if (luaL_loadbufferx(L, e->src, e->len, chunk, "t") != LUA_OK) lua_error(L);
  lua_pushlightuserdata(L, c);
  lua_pushcclosure(L, half_fail, 1);
  lua_pushlightuserdata(L, c);
  lua_pushcclosure(L, half_define, 1);
  half_push_lib(L, c);
}

void lang_half(lua_State *L, LangCtx *c, const char *name) {
  static const char loaded;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &loaded) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &loaded);
  }
  if (lua_getfield(L, -1, name) != LUA_TNIL) {
    lua_remove(L, -2);
    return;
  }
  lua_pop(L, 1);
  push_chunk(L, c, name);
  lua_call(L, 3, 1);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, name);
  lua_remove(L, -2);
}

void lang_half_classes(lua_State *L, LangCtx *c, const char *module) {
  lang_half(L, c, "nki.classes");
  lua_getfield(L, -1, module);
  lua_pushvalue(L, -3);
  lua_call(L, 1, 0);
  lua_pop(L, 1);
}

void lang_half_add(lua_State *L, LangCtx *c, const char *name, int module) {
  push_chunk(L, c, name);
  lua_pushvalue(L, module);
  lua_pushvalue(L, module + 1);
  lua_call(L, 5, 0);
}
