/* host_stop.c -- room lang: stopping a script from outside. No hook is set until somebody asks; then the thread that
   runs gets one, which raises at every instruction until the call has been left, so that neither a coroutine nor a loop
   of pcalls goes on. Which thread runs is known because coroutine.resume, wrap and close are ours: the same functions,
   but they say so. */
#include "hoststate.h"

#include <lualib.h>

static void stop(lua_State *L, lua_Debug *ar) {
  (void)ar;
  LangCtx *c = lang_ctx(L);
  if (!atomic_load(&c->interrupt)) {
    lua_sethook(L, NULL, 0, 0); /* reported long ago */
    return;
  }
  DIAG0(&c->diag, interrupted);
  lang_raise(L, &c->diag);
}

static void host_arm(lua_State *L) { lua_sethook(L, stop, LUA_MASKCOUNT, 1); }

void host_interrupt(Host *h) {
  atomic_store(&h->c->interrupt, 1);
  atomic_fetch_add(&h->mem.arming, 1);
  host_arm(h->L);
  host_arm(atomic_load(&h->running));
  atomic_fetch_sub(&h->mem.arming, 1);
}

const atomic_int *host_interrupt_flag(const Host *h) { return &h->c->interrupt; }

void host_calm(Host *h) {
  if (!h->c || !atomic_exchange(&h->c->interrupt, 0)) return;
  lua_sethook(h->L, NULL, 0, 0);
  atomic_store(&h->running, h->L);
}

/* ---- coroutines ---------------------------------------------------------------------------------------------- */

static Host *up_host(lua_State *L) { return lua_touserdata(L, lua_upvalueindex(1)); }

static void enter(Host *h, lua_State *co, lua_State **before) {
  *before = atomic_load(&h->running);
  atomic_store(&h->running, co);
}

/* An interrupt that hit the coroutine holds for whoever resumed it, too. */
static void leave(lua_State *L, Host *h, lua_State *before) {
  atomic_store(&h->running, before);
  if (atomic_load(&h->c->interrupt)) host_arm(L);
}

/* Moves n arguments from L to co and runs it: the number of results, which are on L; -1: the error value is. */
static int resume(lua_State *L, Host *h, lua_State *co, int n) {
  if (!lua_checkstack(co, n)) return lua_pushliteral(L, "too many arguments to resume"), -1;
  lua_xmove(L, co, n);
  lua_State *before;
  int got = 0;
  enter(h, co, &before);
  int status = lua_resume(co, L, n, &got);
  leave(L, h, before);
  if (status != LUA_OK && status != LUA_YIELD) {
    lua_xmove(co, L, 1);
    return -1;
  }
  if (!lua_checkstack(L, got + 1)) {
    lua_pop(co, got);
    lua_pushliteral(L, "too many results to resume");
    return -1;
  }
  lua_xmove(co, L, got);
  return got;
}

static lua_State *check_thread(lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  if (!co) luaL_typeerror(L, 1, "thread");
  return co;
}

static int l_resume(lua_State *L) {
  lua_State *co = check_thread(L);
  int got = resume(L, up_host(L), co, lua_gettop(L) - 1);
  lua_pushboolean(L, got >= 0);
  lua_insert(L, got >= 0 ? -(got + 1) : -2);
  return got >= 0 ? got + 1 : 2;
}

static int l_wrapped(lua_State *L) {
  Host *h = up_host(L);
  lua_State *co = lua_tothread(L, lua_upvalueindex(2));
  int got = resume(L, h, co, lua_gettop(L));
  if (got >= 0) return got;
  int status = lua_status(co);
  if (status != LUA_OK &&
      status != LUA_YIELD) { /* it died: its pending variables are closed, which may end in another error */
    lua_State *before;
    enter(h, co, &before);
    int closed = lua_resetthread(co);
    leave(L, h, before);
    if (closed != LUA_OK) { /* before Lua 5.4.3: only when closing failed */
      status = closed;
      lua_xmove(co, L, 1);
    }
  }
  if (status != LUA_ERRMEM && lua_type(L, -1) == LUA_TSTRING) {
    luaL_where(L, 1);
    lua_insert(L, -2);
    lua_concat(L, 2);
  }
  return lua_error(L);
}

static int l_wrap(lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_State *co = lua_newthread(L);
  lua_pushvalue(L, 1);
  lua_xmove(L, co, 1);
  lua_pushcclosure(L, l_wrapped, 2);
  return 1;
}

/* The library's own close, which knows when a coroutine may be closed. */
static int l_close(lua_State *L) {
  Host *h = up_host(L);
  lua_State *co = check_thread(L), *before;
  lua_settop(L, 1);
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_insert(L, 1);
  enter(h, co, &before);
  int status = lua_pcall(L, 1, LUA_MULTRET, 0);
  leave(L, h, before);
  return status == LUA_OK ? lua_gettop(L) : lua_error(L);
}

void host_open_coroutines(lua_State *L, Host *h) {
  static const luaL_Reg functions[] = {{"resume", l_resume}, {"wrap", l_wrap}, {NULL, NULL}};
  lua_getglobal(L, LUA_COLIBNAME);
  lua_pushlightuserdata(L, h);
  luaL_setfuncs(L, functions, 1);
  lua_pushlightuserdata(L, h);
  lua_getfield(L, -2, "close");
  lua_pushcclosure(L, l_close, 2);
  lua_setfield(L, -2, "close");
  lua_pop(L, 1);
}
