/* host_repl.c -- room lang: one chunk of an interactive session, completion. What is shown and offered is decided in
 * lua/nki/repl.lua. */
#include "help.h"
#include "hoststate.h"
#include "kernel.h"

typedef struct Turn {
  Host *h;
  const HostChunk *chunk;
  Text *out;
  bool incomplete, syntax;
  Diag *d;
} Turn;

/* Calls function `name` of nki.repl with the n values on top of the stack; leaves one result. */
static void call_half(lua_State *L, Host *h, const char *name, int n) {
  lang_half(L, h->c, "nki.repl");
  lua_getfield(L, -1, name);
  lua_remove(L, -2);
  lua_insert(L, -(n + 1));
  lua_call(L, n, 1);
}

static void take_text(lua_State *L, Text *out) {
  size_t n;
  const char *s = lua_tolstring(L, -1, &n);
  if (s) text_add(out, s, n);
}

/* ---- evaluating ---------------------------------------------------------------------------------------------- */

/* The text as `return text`; "= text" is the old spelling of that. */
static bool load_expression(lua_State *L, const HostChunk *chunk) {
  bool equals = chunk->len > 0 && chunk->src[0] == '=';
  lua_pushliteral(L, "return ");
  lua_pushlstring(L, chunk->src + equals, chunk->len - equals);
  lua_concat(L, 2);
  size_t n;
  const char *s = lua_tolstring(L, -1, &n);
  bool ok = luaL_loadbufferx(L, s, n, chunk->chunkname, "t") == LUA_OK;
  if (ok) {
    lua_remove(L, -2);
  } else {
    lua_pop(L, 2);
  }
  return ok;
}

static bool ends_with_eof(const char *s) {
  size_t n = strlen(s);
  return n >= 5 && strcmp(s + n - 5, "<eof>") == 0;
}

static void load_turn(lua_State *L, Turn *t) {
  if (load_expression(L, t->chunk)) return;
  int status = luaL_loadbufferx(L, t->chunk->src, t->chunk->len, t->chunk->chunkname, "t");
  if (status == LUA_OK) return;
  if (status == LUA_ERRMEM) lua_error(L);
  t->incomplete = ends_with_eof(lua_tostring(L, -1));
  t->syntax = !t->incomplete;
  if (t->syntax) host_syntax_diag(L, lua_tostring(L, -1), t->chunk, t->d);
  luaL_error(L, "failed");
}

/* What help knows the value at 1 by: tokens have names, other values are looked up in the modules. */
static const char *topic_of(lua_State *L, Host *h) {
  if (lua_isnoneornil(L, 1)) return NULL;
  const LToken *token = lang_test(L, 1, h->c->mt_token);
  if (token) return token->name;
  lua_pushvalue(L, 1);
  call_half(L, h, "name_of", 1);
  return lua_tostring(L, -1);
}

/* help(topic), for people at a prompt. */
static int l_help(lua_State *L) {
  Host *h = lua_touserdata(L, lua_upvalueindex(1));
  const char *topic = topic_of(L, h);
  Text *text = lang_scratch_text(L, h->c);
  if (!help_topic(topic, text, &h->c->diag)) return lang_raise(L, &h->c->diag);
  h->write(h->write_ud, text_str(text), text->len);
  return 0;
}

static void offer_help(lua_State *L, Host *h) {
  if (h->helpful) return;
  h->helpful = true;
  if (lua_getglobal(L, "help") == LUA_TNIL) {
    lua_pushlightuserdata(L, h);
    lua_pushcclosure(L, l_help, 1);
    lua_setglobal(L, "help");
  }
  lua_pop(L, 1);
}

static int eval_turn(lua_State *L) {
  Turn *t = lua_touserdata(L, 1);
  offer_help(L, t->h);
  load_turn(L, t);
  int base = lua_gettop(L);
  lua_call(L, 0, LUA_MULTRET);
  int n = lua_gettop(L) - base + 1;
  if (n == 0) return 0;
  luaL_checkstack(L, 8, "too many results to show");
  call_half(L, t->h, "show", n);
  take_text(L, t->out);
  return 0;
}

bool host_eval(Host *h, const HostChunk *chunk, bool *incomplete, Text *out, Diag *d) {
  Diag own;
  diag_init(&own, h->mem.base);
  Turn t = {.h = h, .chunk = chunk, .out = out, .d = &own};
  bool ok = host_protect(h, eval_turn, &t, d);
  *incomplete = t.incomplete;
  if (t.incomplete || t.syntax) {
    diag_clear(d);
    ok = t.incomplete;
    if (t.syntax) diag_copy(d, &own);
  }
  diag_free(&own);
  return ok;
}

/* ---- completion ---------------------------------------------------------------------------------------------- */

static int complete_turn(lua_State *L) {
  Turn *t = lua_touserdata(L, 1);
  lua_pushlstring(L, t->chunk->src, t->chunk->len);
  call_half(L, t->h, "complete", 1);
  take_text(L, t->out);
  return 0;
}

bool host_complete(Host *h, const char *src, size_t len, Text *out, Diag *d) {
  HostChunk chunk = {src, len, NULL};
  Turn t = {.h = h, .chunk = &chunk, .out = out};
  return host_protect(h, complete_turn, &t, d);
}
