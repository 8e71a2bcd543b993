/* open.c -- room lang: the context of a Lua state, and the modules in package.preload. Nothing is loaded at start. */
#include <stdio.h>
#include <stdlib.h>

#include "embedded.h"
#include "half.h"
#include "kernel.h"

const char LANG_ERROR[] = "nki.error";
static const char ctx_key;

int luaopen_lpeg(lua_State *L);

LangCtx *lang_ctx(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &ctx_key);
  LangCtx *c = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return c;
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

static void to_stdout(void *ud, const char *s, size_t n) {
  (void)ud;
  fwrite(s, 1, n, stdout);
}

static void to_stderr(void *ud, const char *s, size_t n) {
  (void)ud;
  fwrite(s, 1, n, stderr);
}

void lang_warn_once(const LangCtx *c, const char *text) {
  static atomic_flag said = ATOMIC_FLAG_INIT;
  if (atomic_flag_test_and_set(&said)) return;
  c->warn(c->io_ud, "warning: ", 9);
  c->warn(c->io_ud, text, strlen(text));
  c->warn(c->io_ud, "\n", 1);
}

/* ---- loaders ----------------------------------------------------------------------------------------------------- */

/* A module in C: its functions are captured by name in cache keys. */
static int load_c(lua_State *L, const char *name, lua_CFunction open) {
  lua_pushcfunction(L, open);
  lua_call(L, 0, 1);
  capture_name_module(L, name, -1);
  return 1;
}

static int l_nki(lua_State *L) { return load_c(L, "nki", lang_open_kernel); }
static int l_nl(lua_State *L) { return load_c(L, "nki.language", lang_open_nl); }
static int l_nisa(lua_State *L) { return load_c(L, "nki.isa", lang_open_nisa); }
static int l_collectives(lua_State *L) { return load_c(L, "nki.collectives", lang_open_collectives); }
static int l_ndarray(lua_State *L) { return load_c(L, "nki.ndarray", lang_open_ndarray); }

/* lua/nki/x.lua and kernels/x.lua, upvalue 1: the row's number. Locations skip chunks named so. The chunk is given its
   module's name, fail(id, message) and the functions in C of the Lua half. */
static int l_embedded(lua_State *L) {
  const struct nki_embedded *row = &nki_embedded[lua_tointeger(L, lua_upvalueindex(1))];
  lua_settop(L, 1);
  const char *path = luaL_gsub(L, row->name + strlen("nki."), ".", "/");
  lua_pushfstring(L, "=nki/%s.lua", path);
  if (luaL_loadbufferx(L, row->src, row->len, lua_tostring(L, -1), "t") != LUA_OK) return lua_error(L);
  lua_pushvalue(L, 1);
  lua_pushlightuserdata(L, lang_ctx(L));
  lua_pushcclosure(L, lang_fail_outside, 1);
  half_push_lib(L, lang_ctx(L));
  lua_call(L, 3, 1);
  if (strncmp(row->name, "nki.kernels.", 12) != 0) {
    capture_name_module(L, row->name, -1);
  } else {
    kernel_from_library(L, row->name);
  }
  return 1;
}

static void preload(lua_State *L) {
  static const luaL_Reg modules[] = {{"nki", l_nki},
                                     {"nki.language", l_nl},
                                     {"nki.isa", l_nisa},
                                     {"nki.collectives", l_collectives},
                                     {"nki.ndarray", l_ndarray},
                                     {NULL, NULL}};
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  for (lua_Integer i = 0; nki_embedded[i].name; i++) {
    lua_pushinteger(L, i);
    lua_pushcclosure(L, l_embedded, 1);
    lua_setfield(L, -2, nki_embedded[i].name);
  }
  luaL_setfuncs(L, modules, 0); /* a module in C has its Lua half inside */
  if (lua_getfield(L, -1, "lpeg") == LUA_TNIL) {
    lua_pushcfunction(L, luaopen_lpeg);
    lua_setfield(L, -3, "lpeg");
  }
  lua_pop(L, 2);
}

/* ---- the context ------------------------------------------------------------------------------------------------- */

static int l_free(lua_State *L) {
  LangCtx *c = lua_touserdata(L, 1);
  diag_free(&c->diag);
  text_free(&c->traceback);
  artifact_release(c->held);
  capture_free(c);
  kernel_cache_free(c);
  return 0;
}

static int open_context(lua_State *L) {
  const Alloc *alloc = lua_touserdata(L, 1);
  LangCtx *c = lua_newuserdatauv(L, sizeof *c, 0);
  memset(c, 0, sizeof *c);
  c->alloc = *alloc;
  c->write = to_stdout;
  c->warn = to_stderr;
  diag_init(&c->diag, *alloc);
  text_init(&c->traceback, *alloc);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, l_free);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &ctx_key);
  lang_open_errors(L, c);
  array_open(L);
  lang_open_tiles(L, c);
  capture_open(L, c);
  preload(L);
  return 0;
}

bool lang_open(lua_State *L, Alloc alloc, Diag *d) {
  if (lang_ctx(L)) return true;
  lua_pushcfunction(L, open_context);
  lua_pushlightuserdata(L, &alloc);
  int status = lua_pcall(L, 1, 0, 0);
  if (status == LUA_OK) return true;
  if (status == LUA_ERRMEM || !lang_ctx(L)) {
    DIAG0(d, nomem);
  } else {
    lang_to_diag(L, -1, d);
  }
  lua_pop(L, 1);
  return false;
}

/* ---- stock lua: require "nki" finds nki.so, and nki.x through Lua's all-in-one searcher finds luaopen_nki_x ------ */

static int open_module(lua_State *L, lua_CFunction load, const char *name) {
  Alloc alloc;
  luaL_checkversion(L);
  alloc.fn = lua_getallocf(L, &alloc.ud);
  Diag d;
  diag_init(&d, alloc);
  if (!lang_open(L, alloc, &d)) return luaL_error(L, "cannot open the nki modules");
  if (load) return load(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_getfield(L, -1, name);
  lua_pushstring(L, name);
  lua_call(L, 1, 1);
  return 1;
}

int nki_open_embedded(lua_State *L, const char *name) { return open_module(L, NULL, name); }

#define MODULE(symbol, load, name)                                 \
  __attribute__((visibility("default"))) int symbol(lua_State *L); \
  int symbol(lua_State *L) { return open_module(L, load, name); }
MODULE(luaopen_nki, l_nki, "nki")
MODULE(luaopen_nki_language, l_nl, "nki.language")
MODULE(luaopen_nki_isa, l_nisa, "nki.isa")
MODULE(luaopen_nki_collectives, l_collectives, "nki.collectives")
MODULE(luaopen_nki_ndarray, l_ndarray, "nki.ndarray")
MODULE(luaopen_nki_testing, NULL, "nki.testing")
