/* half.c -- room lang: the Lua half of nl and NkiTensor, loaded on first use. */
#include <stdio.h>

#include "classic.h"
#include "embedded.h"
#include "half.h"

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

/* ---- define(name, parameters, required, lists, body): a function bound like the rows of nl.def */

typedef struct Defined {
  LRow row; /* module, name, bind and doc */
  const char *names[16];
  bool required[16];
  uint32_t tiles; /* the parameters that are one, by their names */
} Defined;

int lang_defined_call(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  const Defined *d = lua_touserdata(L, lua_upvalueindex(2));
  const BindSpec *spec = &d->row.bind;
  if (!c->trace) lang_need_trace(L, c, spec->func);
  int n = classic_row(L, c, &d->row);
  if (n >= 0) return n;
  lang_bind(L, spec);
  for (uint32_t left = d->tiles; left; left &= left - 1) {
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

static bool is_tile(const char *param) {
  static const char *const names[] = {"x", "data", "w", "indices"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (strcmp(names[k], param) == 0) return true;
  return false;
}

static int half_define(lua_State *L) {
  Defined *d = lua_newuserdatauv(L, sizeof *d, 2);
  memset(d, 0, sizeof *d);
  BindSpec spec = {luaL_checkstring(L, 1), d->names, d->required, (int)lua_rawlen(L, 2), 0};
  for (int k = 0; k < spec.n; k++) {
    lua_rawgeti(L, 2, k + 1);
    d->names[k] = luaL_checkstring(L, -1);
    lua_pop(L, 1);
    d->required[k] = k < luaL_checkinteger(L, 3);
    d->tiles |= (uint32_t)is_tile(d->names[k]) << k;
  }
  for (int k = 1; k <= (int)lua_rawlen(L, 4); k++) {
    lua_rawgeti(L, 4, k);
    spec.list_mask |= 1u << (luaL_checkinteger(L, -1) - 1);
    lua_pop(L, 1);
  }
  d->row = (LRow){.module = "nl", .name = strchr(spec.func, '.') + 1, .bind = spec};
  lua_pushvalue(L, 1); /* the strings live as long as the userdata */
  lua_setiuservalue(L, -2, 1);
  lua_pushvalue(L, 2);
  lua_setiuservalue(L, -2, 2);
  lua_pushlightuserdata(L, lang_upctx(L));
  lua_insert(L, -2);
  lua_pushvalue(L, 5);
  lua_pushcclosure(L, lang_defined_call, 3);
  return 1;
}

void lang_half(lua_State *L, LangCtx *c, const char *name) {
  static const char loaded;
  char chunk[96];
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
  lua_call(L, 3, 1);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, name);
  lua_remove(L, -2);
}
