/* extern.c -- room lang: memory outside Lua's heap that Lua's values hold: arrays and artifacts. Lua's collector counts
   the userdata alone, a few bytes each, so it is run here when what they hold has grown by as much as all there was. */
#include "lang.h"

enum { LEAST_GROWTH = 8 << 20 };

void lang_extern_take(lua_State *L, LangCtx *c, size_t bytes) {
  c->extern_bytes += bytes;
  if (c->extern_bytes <= c->extern_limit || !lua_gc(L, LUA_GCISRUNNING)) return;
  lua_gc(L, LUA_GCCOLLECT);
  size_t growth = (size_t)lua_gc(L, LUA_GCCOUNT) << 10; /* a collection costs time in proportion to Lua's own heap */
  if (growth < LEAST_GROWTH) growth = LEAST_GROWTH;
  if (growth < c->extern_bytes) growth = c->extern_bytes;
  c->extern_limit = c->extern_bytes + growth;
}

void lang_extern_give(LangCtx *c, size_t bytes) { c->extern_bytes -= bytes; }
