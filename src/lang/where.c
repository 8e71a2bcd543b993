/* where.c -- room lang: which line of the kernel's source is running. Asked before every instruction, so a call chain
   that was seen before is known again by the places of its frames. */
#include <string.h>

#include "call.h"
#include "frame.h"

enum { FRAMES = 32, FILES = 8, NAME = 256, LEVELS = 8, SETS = 64, WAYS = 2 };

/* The frames from the caller's to the kernel function's, innermost first. */
typedef struct Chain {
  uint32_t hash;
  int n; /* 0: deeper than LEVELS, or no kernel function is known */
  FramePlace at[LEVELS];
} Chain;

/* A chain and its location. The registry keeps its functions: while they live a place is no other's. */
typedef struct Site {
  uint64_t age; /* that of Where, else the site is free */
  uint32_t loc;
  Chain chain;
} Site;

typedef struct Frame { /* one Lua function that is not nkilua's own */
  const char *source;
  size_t len; /* of source */
  int line;
  bool tail;
} Frame;

struct Where {
  uint64_t serial, age;
  const void *kernel; /* the kernel function's call frame while its body runs: an address that no other has then */
  bool readable;      /* frame_readable */
  uintptr_t c_bit;
  Site site[SETS][WAYS];
  uint8_t oldest[SETS];
  int nfile;
  struct {
    size_t len;
    char source[NAME], name[NAME]; /* source without a NUL */
  } file[FILES];
  char name[LANG_PATH]; /* of what is too long to be kept */
};

static const char functions_key = 0; /* registry: a table of the sites' functions, or nil */

static struct Where *make(lua_State *L, LangCtx *c) {
  static const char key = 0;
  struct Where *w = lua_newuserdatauv(L, sizeof *w, 0);
  memset(w, 0, sizeof *w);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &key);
  w->age = 1; /* free sites have 0 */
  w->readable = frame_readable(L, &w->c_bit);
  return c->where = w;
}

/* Chunks of our own Lua half are named "=nki/..." or "@nki/..."; the kernel library is not ours in this sense. */
bool lang_own_source(const char *s) {
  if ((s[0] != '=' && s[0] != '@') || strncmp(s + 1, "nki/", 4) != 0) return false;
  return strncmp(s + 5, "kernels/", 8) != 0;
}

/* ---- chains that were seen --------------------------------------------------------------------------------------- */

static const void *function_of(lua_State *L, lua_Debug *ar) {
  lua_getinfo(L, "f", ar);
  const void *f = lua_topointer(L, -1);
  lua_pop(L, 1);
  return f;
}

static inline void read_chain(lua_State *L, const struct Where *w, Chain *chain) {
  lua_Debug ar;
  uint32_t hash = 0;
  chain->n = 0;
  if (!w->readable || !w->kernel) return;
  for (int k = 0; k < LEVELS && lua_getstack(L, k + 1, &ar); k++) {
    FramePlace *at = &chain->at[k];
    *at = frame_place(&ar);
    if (at->entry & w->c_bit) at->pc = function_of(L, &ar);
    hash = (hash ^ (uint32_t)((uintptr_t)at->pc >> 2)) * 0x9e3779b1u;
    if (ar.i_ci != w->kernel) continue;
    chain->n = k + 1;
    chain->hash = hash >> 16;
    return;
  }
}

static inline bool same_chain(const Chain *a, const Chain *b) {
  if (a->n != b->n) return false;
  for (int k = 0; k < a->n; k++)
    if (a->at[k].pc != b->at[k].pc || a->at[k].entry != b->at[k].entry) return false;
  return true;
}

static inline const Site *find_site(const struct Where *w, const Chain *chain) {
  const Site *set = w->site[chain->hash % SETS];
  for (int way = 0; chain->n && way < WAYS; way++)
    if (set[way].age == w->age && same_chain(&set[way].chain, chain)) return &set[way];
  return NULL;
}

/* Keeps the functions of the running chain in the place of those that slot i had. */
static void keep_functions(lua_State *L, int i, int n) {
  lua_Debug ar;
  luaL_checkstack(L, 4, NULL);
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &functions_key) == LUA_TNIL) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &functions_key);
  }
  for (int k = 0; k < n && lua_getstack(L, k + 1, &ar); k++) {
    lua_getinfo(L, "f", &ar);
    lua_rawseti(L, -2, i * LEVELS + k + 1);
  }
  lua_pop(L, 1);
}

static void add_site(lua_State *L, struct Where *w, const Chain *chain, uint32_t loc) {
  uint32_t set = chain->hash % SETS;
  int way = w->oldest[set];
  Site *site = &w->site[set][way];
  site->age = 0; /* should memory run out */
  keep_functions(L, (int)set * WAYS + way, chain->n);
  site->chain.n = chain->n;
  memcpy(site->chain.at, chain->at, (size_t)chain->n * sizeof *chain->at);
  site->loc = loc;
  site->age = w->age;
  w->oldest[set] = (uint8_t)((way + 1) % WAYS);
}

/* ---- chains that were not ---------------------------------------------------------------------------------------- */

/* Collects the kernel's frames, innermost first, and finds the kernel function's. */
static int collect(lua_State *L, struct Where *w, Frame frame[FRAMES]) {
  lua_Debug ar;
  const void *above = NULL; /* the Lua frame before this one, if that is one */
  int n = 0;
  for (int level = 1; n < FRAMES && (!w->kernel || above != w->kernel) && lua_getstack(L, level, &ar); level++) {
    lua_getinfo(L, "Sltf", &ar);
    bool driver = lua_tocfunction(L, -1) == lang_drive_body;
    lua_pop(L, 1);
    if (driver) {
      w->kernel = above;
      break;
    }
    bool lua = ar.currentline >= 0;
    above = lua ? (const void *)ar.i_ci : NULL;
    if (lua && !lang_own_source(ar.source))
      frame[n++] = (Frame){ar.source, ar.srclen, ar.currentline, ar.istailcall != 0};
  }
  return n;
}

/* Valid until the next call. */
static const char *file_name(LangCtx *c, struct Where *w, const char *source, size_t len) {
  const char *dir = c->drive ? c->drive->dir : "";
  if (len >= NAME) return lang_relative(dir, source, w->name, sizeof w->name);
  for (int i = 0; i < w->nfile; i++)
    if (w->file[i].len == len && memcmp(w->file[i].source, source, len) == 0) return w->file[i].name;
  int at = w->nfile < FILES ? w->nfile++ : (int)(len % FILES);
  w->file[at].len = len;
  memcpy(w->file[at].source, source, len);
  const char *name = lang_relative(dir, source, w->file[at].name, NAME);
  if (name != w->file[at].name) memcpy(w->file[at].name, name, strlen(name) + 1); /* a part of source */
  return w->file[at].name;
}

static uint32_t look(lua_State *L, LangCtx *c, struct Where *w, const Trace *t) {
  Frame frame[FRAMES];
  uint32_t loc = 0;
  for (int k = collect(L, w, frame) - 1; k >= 0; k--)
    loc = ir_loc(t->m, file_name(c, w, frame[k].source, frame[k].len), frame[k].line, frame[k].tail, loc);
  return loc;
}

/* ---- what the other files see ------------------------------------------------------------------------------------ */

static void forget(struct Where *w) {
  w->age++;
  w->kernel = NULL;
}

void lang_locate_fast(lua_State *L, LangCtx *c, Trace *t) {
  struct Where *w = c->where ? c->where : make(L, c);
  Chain chain;
  if (w->serial != t->serial) {
    forget(w);
    w->nfile = 0;
    w->serial = t->serial;
  }
  read_chain(L, w, &chain);
  const Site *site = find_site(w, &chain);
  if (site) {
    t->loc = site->loc;
#ifndef NDEBUG
    if (look(L, c, w, t) != site->loc) NK_BUG(t->d, "a call chain was taken for another");
#endif
    return;
  }
  t->loc = look(L, c, w, t);
  if (chain.n == 0) read_chain(L, w, &chain);
  if (chain.n) add_site(L, w, &chain, t->loc);
}

void lang_locate_end(lua_State *L, LangCtx *c) {
  if (c->where) forget(c->where);
  lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &functions_key);
}

Trace *lang_need_trace(lua_State *L, LangCtx *c, const char *func) {
  if (c->trace) return c->trace;
  LANG_HERE(L, nki_api_outside_of_nki_kernel, func);
  return NULL;
}

int lang_raise_here(lua_State *L, Diag *d) {
  LangCtx *c = lang_ctx(L);
  if (c->trace && d->where.len == 0) {
    lang_locate_fast(L, c, c->trace);
    ir_diag_where(c->trace->m, c->trace->loc, c->trace->iter, d);
  }
  if (c->trace) lang_name_caller(L, c, d);
  return lang_raise(L, d);
}

int lang_trace_error(lua_State *L, Trace *t) { return lang_raise_here(L, t->d); }
