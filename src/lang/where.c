/* where.c -- room lang: which line of the kernel's source is running. Called before every instruction, so it does as
   little as it can: frames that look as last time keep last time's location. */
#include <string.h>

#include "call.h"

enum { FRAMES = 32, FILES = 8, NAME = 256 };

typedef struct Frame {  /* one Lua function that is not nkilua's own, innermost first */
  const void *function; /* the registry keeps it, so that the address stays its own */
  const char *source;
  int line;
  bool tail;
} Frame;

struct Where {
  uint64_t serial;
  const void *kernel; /* the kernel function's call frame while its body runs: an address that no other has then */
  int n;
  bool straight; /* the frames are levels 1 to n: no function of C or ours stands between */
  uint32_t loc;
  Frame frame[FRAMES];
  int nfile;
  struct {
    const char *source; /* compared by content, too: a collected chunk's address may serve again */
    size_t len;
    char head[32], name[NAME];
  } file[FILES];
};

static const char functions_key = 0; /* registry: a list of the frames' functions, innermost first, or nil */

static struct Where *cache(lua_State *L, LangCtx *c) {
  static const char key = 0;
  if (c->where) return c->where;
  struct Where *w = lua_newuserdatauv(L, sizeof *w, 0);
  memset(w, 0, sizeof *w);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &key);
  return c->where = w;
}

/* Chunks of our own Lua half are named "=nki/..." or "@nki/..."; the kernel library is not ours in this sense. */
bool lang_own_source(const char *s) {
  if ((s[0] != '=' && s[0] != '@') || strncmp(s + 1, "nki/", 4) != 0) return false;
  return strncmp(s + 5, "kernels/", 8) != 0;
}

/* Is the frame at a level what it was? kernel: the kernel function's frame if it must be that one, else NULL. */
static inline bool frame_unmoved(lua_State *L, const Frame *f, int level, const void *kernel) {
  lua_Debug ar;
  if (!lua_getstack(L, level, &ar) || (kernel && ar.i_ci != kernel)) return false;
  lua_getinfo(L, kernel ? "lt" : "ltf", &ar);
  if (kernel) return ar.currentline == f->line && !ar.istailcall && !f->tail;
  bool same = lua_topointer(L, -1) == f->function;
  lua_pop(L, 1);
  return same && ar.currentline == f->line && f->tail == (ar.istailcall != 0);
}

/* The same functions are running on the same lines; the outermost is the kernel function. */
static inline bool unmoved(lua_State *L, const struct Where *w) {
  int last = w->n - 1;
  if (!w->straight || !w->kernel) return false;
  for (int k = 0; k < last; k++)
    if (!frame_unmoved(L, &w->frame[k], k + 1, NULL)) return false;
  return frame_unmoved(L, &w->frame[last], last + 1, w->kernel);
}

/* Remembers the frame whose function is on top as the nth; false: it was that already. */
static bool remember(lua_State *L, struct Where *w, int n, const lua_Debug *ar) {
  Frame now = {lua_topointer(L, -1), ar->source, ar->currentline, ar->istailcall != 0}, *f = &w->frame[n];
  if (n < w->n && f->function == now.function && f->line == now.line && f->tail == now.tail) return false;
  *f = now;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &functions_key) == LUA_TNIL) {
    lua_pop(L, 1);
    lua_createtable(L, 4, 0);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &functions_key);
  }
  lua_pushvalue(L, -2);
  lua_rawseti(L, -2, n + 1);
  lua_pop(L, 1);
  return true;
}

/* Collects the kernel's frames; returns their number and whether they equal the remembered ones. */
static int collect(lua_State *L, struct Where *w, bool *same) {
  lua_Debug ar;
  const void *above = NULL; /* the Lua frame before this one, if that is one */
  int n = 0, top = lua_gettop(L);
  *same = w->straight = true;
  for (int level = 1; n < FRAMES && lua_getstack(L, level, &ar); level++) {
    lua_settop(L, top);
    lua_getinfo(L, "Sltf", &ar);
    if (ar.currentline < 0) { /* a C function */
      if (lua_tocfunction(L, -1) == lang_drive_body) {
        w->kernel = above;
        break;
      }
      above = NULL;
      continue;
    }
    above = ar.i_ci;
    if (lang_own_source(ar.source)) continue;
    if (level != n + 1) w->straight = false;
    if (remember(L, w, n, &ar)) *same = false;
    n++;
  }
  lua_settop(L, top);
  return n;
}

static const char *file_name(LangCtx *c, struct Where *w, const char *source) {
  size_t len = strlen(source), head = len < 32 ? len : 32;
  for (int i = 0; i < w->nfile; i++)
    if (w->file[i].source == source && w->file[i].len == len && memcmp(w->file[i].head, source, head) == 0)
      return w->file[i].name;
  int at = w->nfile < FILES ? w->nfile++ : (int)(len % FILES);
  w->file[at].source = source;
  w->file[at].len = len;
  memcpy(w->file[at].head, source, head);
  const char *name = lang_relative(c->drive ? c->drive->dir : "", source, w->file[at].name, NAME);
  if (name != w->file[at].name) strncpy(w->file[at].name, name, NAME - 1);
  return w->file[at].name;
}

void lang_locate_fast(lua_State *L, LangCtx *c, Trace *t) {
  struct Where *w = cache(L, c);
  bool same;
  if (w->serial != t->serial) {
    w->n = w->nfile = 0;
    w->kernel = NULL;
    w->loc = 0;
    w->serial = t->serial;
  }
  if (unmoved(L, w)) {
    t->loc = w->loc;
    return;
  }
  int n = collect(L, w, &same);
  if (!same || n != w->n) {
    uint32_t loc = 0;
    for (int k = n - 1; k >= 0; k--)
      loc = ir_loc(t->m, file_name(c, w, w->frame[k].source), w->frame[k].line, w->frame[k].tail, loc);
    w->n = n;
    w->loc = loc;
  }
  t->loc = w->loc;
}

void lang_locate_end(lua_State *L, LangCtx *c) {
  if (c->where) c->where->kernel = NULL;
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
