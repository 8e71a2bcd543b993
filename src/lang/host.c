/* host.c -- room lang: opening and closing a Host, and the one place where Lua errors become a Diag. */
#include "fpenv.h"
#include "hoststate.h"

#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- memory -------------------------------------------------------------------------------------------------- */

/* An interrupt that looks at the call frames takes some nanoseconds; nothing is freed meanwhile. */
static inline void await_interrupt(HostMem *m) {
  while (atomic_load_explicit(&m->arming, memory_order_acquire)) continue;
}

static void *host_realloc(void *ud, void *p, size_t osize, size_t nsize) {
  HostMem *m = ud;
  if (!p) osize = 0; /* then it says what is being made */
  if (nsize > osize && nsize - osize > m->limit - m->used) {
    m->refused = true;
    return NULL;
  }
  if (p) await_interrupt(m);
  void *q = m->base.fn(m->base.ud, p, osize, nsize);
  if (q || nsize == 0) m->used += nsize - osize;
  return q;
}

/* The same over the pool, which has no limit. */
static void *host_pool_realloc(void *ud, void *p, size_t osize, size_t nsize) {
  HostMem *m = ud;
  if (p) await_interrupt(m);
  return pool_realloc(&m->pool, p, osize, nsize);
}

/* ---- errors -------------------------------------------------------------------------------------------------- */

void host_string_diag(const char *s, ErrId id, Diag *d) {
  for (const char *p = strchr(s, ':'); p && !memchr(s, '\n', (size_t)(p - s)); p = strchr(p + 1, ':')) {
    size_t digits = strspn(p + 1, "0123456789");
    if (digits == 0 || digits > 9 || strncmp(p + 1 + digits, ": ", 2) != 0) continue;
    if ((size_t)(p - s) >= sizeof d->file) break;
    char file[sizeof d->file];
    memcpy(file, s, (size_t)(p - s));
    file[p - s] = '\0';
    diag_at(d, file, atoi(p + 1));
    s = p + digits + 3;
    break;
  }
  size_t first = strcspn(s, "\n");
  diag_failf(d, id, "%.*s", (int)first, s);
  if (s[first]) text_puts(&d->notes, s + first + 1);
}

/* Message handler, as lua's: an object speaks through a __tostring that gives a string, all else has a traceback. Our
   own error objects stay what they are. */
static int keep_traceback(lua_State *L) {
  Host *h = lua_touserdata(L, lua_upvalueindex(1));
  text_clear(&h->traceback);
  if (h->c && lang_is_error(L, 1)) return 1;
  if (!lua_isstring(L, 1) && luaL_callmeta(L, 1, "__tostring") && lua_type(L, -1) == LUA_TSTRING) return 1;
  lua_settop(L, 1);
  luaL_traceback(L, L, NULL, 1);
  text_puts(&h->traceback, lua_tostring(L, -1));
  lua_pop(L, 1);
  return 1;
}

typedef struct Failure {
  Host *h;
  Diag *d;
} Failure;

/* Does a line of Lua code occur in it? Frames of C alone tell the user nothing. */
static bool tells(const char *traceback) {
  for (const char *s = strchr(traceback, '\n'); s; s = strchr(s + 1, '\n'))
    if (strncmp(s, "\n\t[C]", 5) != 0) return true;
  return false;
}

/* An error of a kernel's body passes through C on its way out; where it began was kept. */
static void add_traceback(const Failure *f) {
  const Text *own = &f->h->traceback, *body = f->h->c ? &f->h->c->traceback : own;
  const Text *best = own->len && !tells(text_str(own)) && body->len ? body : own;
  text_add(&f->d->where, text_str(best), best->len);
}

/* The C frames below the user's code are this library's own; of a run of them at the end one is kept, as lua keeps. */
static void trim_traceback(Text *where) {
  static const char frame[] = "\n\t[C]: in ?";
  const size_t n = sizeof frame - 1;
  while (where->len > 2 * n && memcmp(where->data + where->len - n, frame, n) == 0 &&
         memcmp(where->data + where->len - 2 * n, frame, n) == 0) {
    where->len -= n;
    where->data[where->len] = '\0';
  }
}

/* (value, failure) */
static int fill_diag(lua_State *L) {
  Failure *f = lua_touserdata(L, 2);
  if (f->h->c && lang_is_error(L, 1)) {
    lang_to_diag(L, 1, f->d);
    if (strncmp(text_str(&f->d->where), "stack traceback:", 16) == 0 && !tells(text_str(&f->d->where)))
      text_clear(&f->d->where);
    trim_traceback(&f->d->where);
    return 0;
  }
  if (lua_isstring(L, 1)) {
    host_string_diag(lua_tostring(L, 1), ERR_lua, f->d);
    if (strcmp(diag_message(f->d), "not enough memory") == 0) f->d->id = ERR_nomem; /* LPeg's way of saying it */
  } else {
    diag_failf(f->d, ERR_lua, "(error object is a %s value)", luaL_typename(L, 1));
  }
  add_traceback(f);
  trim_traceback(&f->d->where);
  return 0;
}

/* Turns the error value on top of the stack into d and pops it. */
static void report(Host *h, int status, Diag *d) {
  lua_State *L = h->L;
  Failure f = {h, d};
  diag_clear(d);
  if (status == LUA_ERRMEM) {
    if (h->mem.refused) {
      DIAG(d, memory_limit, (unsigned long long)h->mem.limit);
    } else {
      DIAG0(d, nomem);
    }
  } else {
    lua_pushcfunction(L, fill_diag);
    lua_insert(L, -2);
    lua_pushlightuserdata(L, &f);
    if (lua_pcall(L, 2, 0, 0) != LUA_OK || d->id == ERR_none) {
      diag_clear(d);
      diag_failf(d, ERR_lua, "(error in error handling)");
    }
  }
  host_calm(h);
}

bool host_protect(Host *h, lua_CFunction f, void *arg, Diag *d) {
  lua_State *L = h->L;
  h->mem.refused = false;
  text_clear(&h->traceback);
  if (h->c) text_clear(&h->c->traceback);
  lua_settop(L, 0);
  lua_rawgetp(L, LUA_REGISTRYINDEX, h);
  lua_pushcfunction(L, f);
  lua_pushlightuserdata(L, arg);
  FpEnv env;
  fp_enter(&env);
  int status = lua_pcall(L, 1, 0, 1);
  fp_leave(&env);
  if (status != LUA_OK) report(h, status, d);
  lua_settop(L, 0);
  return status == LUA_OK;
}

/* ---- output -------------------------------------------------------------------------------------------------- */

void host_to_stdout(void *ud, const char *s, size_t n) {
  (void)ud;
  fwrite(s, 1, n, stdout);
}

void host_to_stderr(void *ud, const char *s, size_t n) {
  (void)ud;
  fflush(stdout);
  fwrite(s, 1, n, stderr);
  fflush(stderr);
}

static void ctx_write(void *ud, const char *s, size_t n) {
  Host *h = ud;
  h->write(h->write_ud, s, n);
}

static void ctx_warn(void *ud, const char *s, size_t n) {
  Host *h = ud;
  h->warn(h->warn_ud, s, n);
}

/* print when the host receives what is printed. */
static int l_print(lua_State *L) {
  Host *h = lua_touserdata(L, lua_upvalueindex(1));
  int n = lua_gettop(L);
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (int i = 1; i <= n; i++) {
    if (i > 1) luaL_addchar(&b, '\t');
    luaL_tolstring(L, i, NULL);
    luaL_addvalue(&b);
  }
  luaL_addchar(&b, '\n');
  luaL_pushresult(&b);
  size_t len;
  const char *s = lua_tolstring(L, -1, &len);
  h->write(h->write_ud, s, len);
  return 0;
}

/* warn("@on"), warn("@off"), and messages in pieces. */
static void lua_warn(void *ud, const char *s, int more) {
  Host *h = ud;
  if (!h->warn_more && !more && s[0] == '@') {
    if (strcmp(s, "@on") == 0) h->warnings = true;
    if (strcmp(s, "@off") == 0) h->warnings = false;
    return;
  }
  if (h->warnings) {
    if (!h->warn_more) h->warn(h->warn_ud, "Lua warning: ", 13);
    h->warn(h->warn_ud, s, strlen(s));
    if (!more) h->warn(h->warn_ud, "\n", 1);
  }
  h->warn_more = more;
}

void host_warnings(Host *h, bool on) { h->warnings = on; }

/* ---- opening ------------------------------------------------------------------------------------------------- */

typedef struct Opening {
  Host *h;
  const HostSpec *spec;
  Diag *d;
} Opening;

static int open_body(lua_State *L) {
  Opening *o = lua_touserdata(L, 1);
  Host *h = o->h;
  if (o->spec->ignore_env) {
    lua_pushboolean(L, 1);
    lua_setfield(L, LUA_REGISTRYINDEX, "LUA_NOENV");
  }
  luaL_openlibs(L);
  if (!lang_open(L, h->mem.base, o->d)) return luaL_error(L, "cannot open the nki modules");
  h->c = lang_ctx(L);
  h->c->strict = o->spec->strict;
  h->c->explain_cache = o->spec->explain_cache;
  h->c->cache_dir = o->spec->cache_dir;
  h->c->target = o->spec->target;
  h->c->write = ctx_write;
  h->c->warn = ctx_warn;
  h->c->io_ud = h;
  if (o->spec->write) {
    lua_pushlightuserdata(L, h);
    lua_pushcclosure(L, l_print, 1);
    lua_setglobal(L, "print");
  }
  host_open_coroutines(L, h);
  lua_gc(L, LUA_GCGEN, 0, 0); /* as in lua itself */
  return 0;
}

/* The message handler sits in the registry, so that a protected call makes nothing. */
static int open_handler(lua_State *L) {
  Host *h = lua_touserdata(L, 1);
  lua_pushlightuserdata(L, h);
  lua_pushcclosure(L, keep_traceback, 1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, h);
  return 0;
}

static bool open_state(Host *h, const HostSpec *spec, Diag *d) {
  bool pooled = spec->alloc.fn == alloc_std.fn && !spec->memory_limit;
  h->L = lua_newstate(pooled ? host_pool_realloc : host_realloc, &h->mem);
  if (!h->L) return DIAG0(d, nomem);
  atomic_store(&h->running, h->L);
  lua_setwarnf(h->L, lua_warn, h);
  lua_pushcfunction(h->L, open_handler);
  lua_pushlightuserdata(h->L, h);
  if (lua_pcall(h->L, 1, 0, 0) != LUA_OK) return DIAG0(d, nomem);
  Diag inner;
  diag_init(&inner, spec->alloc);
  Opening o = {h, spec, &inner};
  bool ok = host_protect(h, open_body, &o, d);
  if (!ok && inner.id != ERR_none) {
    diag_clear(d);
    diag_copy(d, &inner);
  }
  diag_free(&inner);
  return ok;
}

Host *host_open(const HostSpec *spec, Diag *d) {
  Host *h = alloc_new(&spec->alloc, sizeof *h);
  if (!h) return DIAG0(d, nomem), NULL;
  memset(h, 0, sizeof *h);
  h->mem.base = spec->alloc;
  pool_init(&h->mem.pool, spec->alloc);
  h->mem.limit = spec->memory_limit ? spec->memory_limit : UINT64_MAX;
  h->result = LUA_NOREF;
  h->write = spec->write ? spec->write : host_to_stdout;
  h->write_ud = spec->write_ud;
  h->warn = spec->warn ? spec->warn : host_to_stderr;
  h->warn_ud = spec->warn_ud;
  text_init(&h->traceback, spec->alloc);
  if (open_state(h, spec, d)) return h;
  host_close(h);
  return NULL;
}

void host_close(Host *h) {
  if (!h) return;
  Alloc alloc = h->mem.base;
  if (h->L) lua_close(h->L);
  pool_free(&h->mem.pool);
  text_free(&h->traceback);
  alloc_free(&alloc, h, sizeof *h);
}
