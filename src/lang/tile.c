/* tile.c -- room lang: the tensor of a kernel body (NkiTensor): a userdata over a view of the running trace. Its
   methods are rows of tile.def (views.c), its operators rows of nl.def. */
#include <stdio.h>

#include "classic.h"
#include "nl.h"
#include "tile.h"

const char LANG_TILE[] = "NkiTensor";

/* What a tile can still say about itself after its trace is gone. A userdata; tiles hold it as user value 1. */
struct LSession {
  uint64_t serial;
  Alloc alloc;
  const Trace
      *open; /* until lang_session_end; tiles of a kernel that runs may be met in one that is traced inside it */
  char kernel[128];
  char *block; /* nbufs entries, then their texts; NULL until lang_session_end */
  size_t size;
  uint32_t nbufs;
};
typedef struct Entry {
  uint32_t name, file; /* offsets of texts in the block */
  int line;
} Entry;

static int session_gc(lua_State *L) {
  struct LSession *s = lua_touserdata(L, 1);
  if (s->block) alloc_free(&s->alloc, s->block, s->size);
  s->block = NULL;
  return 0;
}

static void new_session(lua_State *L, LangCtx *c) {
  struct LSession *s = lua_newuserdatauv(L, sizeof *s, 0);
  memset(s, 0, sizeof *s);
  s->alloc = c->alloc;
  s->serial = c->trace->serial;
  s->open = c->trace;
  snprintf(s->kernel, sizeof s->kernel, "%s", c->trace->spec.func_name);
  if (luaL_newmetatable(L, "NkiSession")) {
    lua_pushcfunction(L, session_gc);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  lua_rawseti(L, LUA_REGISTRYINDEX, c->session_ref);
  c->session = s;
}

void lang_session_end(LangCtx *c) {
  struct LSession *s = c->session;
  const Trace *t = c->trace;
  if (!s || !t || s->serial != t->serial) return;
  s->open = NULL;
  if (!t->f || s->block) return;
  size_t size = t->f->nbufs * sizeof(Entry) + 1;
  for (uint32_t k = 0; k < t->f->nbufs; k++) {
    const IrBuf *b = t->f->bufs[k];
    size += strlen(b->name) + 1 + (b->loc ? strlen(t->m->locs[b->loc].file) + 1 : 0);
  }
  if (!(s->block = alloc_new(&s->alloc, size))) return;
  s->size = size;
  s->nbufs = t->f->nbufs;
  size_t at = s->nbufs * sizeof(Entry);
  s->block[at++] = '\0';
  for (uint32_t k = 0; k < s->nbufs; k++) {
    const IrBuf *b = t->f->bufs[k];
    Entry e = {.name = (uint32_t)at, .file = (uint32_t)(s->nbufs * sizeof(Entry))};
    size_t n = strlen(b->name) + 1;
    memcpy(s->block + at, b->name, n);
    at += n;
    if (b->loc) {
      e.file = (uint32_t)at;
      e.line = t->m->locs[b->loc].line;
      n = strlen(t->m->locs[b->loc].file) + 1;
      memcpy(s->block + at, t->m->locs[b->loc].file, n);
      at += n;
    }
    memcpy(s->block + k * sizeof e, &e, sizeof e);
  }
}

void lang_session_push(lua_State *L, const LangCtx *c) { lua_rawgeti(L, LUA_REGISTRYINDEX, c->session_ref); }

void lang_session_set(lua_State *L, LangCtx *c, int i) {
  c->session = lua_touserdata(L, i);
  lua_pushvalue(L, i);
  lua_rawseti(L, LUA_REGISTRYINDEX, c->session_ref);
}

/* Name and line of a tensor, as the block keeps them or the trace that still runs has them. */
static void tell(const struct LSession *s, uint32_t buf, char name[160], char place[320]) {
  const char *file = NULL;
  int line = 0;
  if (s->block && buf < s->nbufs) {
    Entry e;
    memcpy(&e, s->block + buf * sizeof e, sizeof e);
    snprintf(name, 160, "%s", s->block + e.name);
    file = s->block + e.file;
    line = e.line;
  } else if (s->open && buf < s->open->f->nbufs) {
    const IrBuf *b = s->open->f->bufs[buf];
    snprintf(name, 160, "%s", b->name);
    if (b->loc) file = s->open->m->locs[b->loc].file;
    if (b->loc) line = s->open->m->locs[b->loc].line;
  }
  if (line) snprintf(place, 320, " (made at %s:%d)", file, line);
}

static int stale(lua_State *L, const LTile *t, const char *func, const char *param) {
  const struct LSession *s = NULL;
  char place[320] = "", name[160] = "?", kernel[128] = "?";
  for (int i = 1; !s && i <= lua_gettop(L); i++) {
    if (lua_touserdata(L, i) != t) continue;
    lua_getiuservalue(L, i, 1);
    s = lua_touserdata(L, -1);
  }
  if (s) snprintf(kernel, sizeof kernel, "%s", s->kernel);
  if (s) tell(s, t->buf, name, place);
  char what[80] = "the tensor";
  if (param) snprintf(what, sizeof what, "parameter '%.60s'", param);
  return LANG_HERE(L, tile_stale, func, what, name, kernel, place);
}

const IrTile *lang_live(lua_State *L, LangCtx *c, const LTile *t, const char *func, const char *param) {
  if (!c->trace || c->trace->serial != t->trace_serial) stale(L, t, func, param);
  return t->tile;
}

LTile *lang_to_tile(lua_State *L, int i) { return lang_tile_at(L, i); }

void lang_push_tile(lua_State *L, const IrTile *tile) { lang_new_tile(L, lang_ctx(L), tile); }

/* ---- metamethods */

static const LTile *self(lua_State *L) {
  const LTile *t = lang_tile_at(L, 1);
  if (!t) lang_kind_error(L, 1, "NkiTensor", "self", "a tensor");
  return t;
}

static int unknown_attribute(lua_State *L, const char *key) {
  const char *names[128];
  int n = 0;
  lua_pushnil(L);
  while (n < 126 && lua_next(L, lua_upvalueindex(2))) {
    names[n++] = lua_tostring(L, -2);
    lua_pop(L, 1);
  }
  names[n] = NULL;
  const char *near = diag_nearest(key, names);
  char clip[TEXT_CLIP + 4], what[DESCRIBE + TEXT_CLIP + 16], tensor[DESCRIBE];
  key = lang_clip(L, 2, clip);
  snprintf(what, sizeof what, "%s (of %s)", key, lang_describe(L, 1, tensor, sizeof tensor));
  return LANG_HERE(L, no_such_name, "NkiTensor", what, near ? "; did you mean " : "", near ? near : "",
                   near ? "?" : "");
}

static void push_view(lua_State *L, LangCtx *c, const IrTile *tile) {
  if (!tile) lang_trace_error(L, c->trace);
  lang_new_tile(L, c, tile);
}

/* The view of the tile at 1 that the key at 2 selects; NULL: the key is the classic layer's. */
static const IrTile *keyed(lua_State *L, LangCtx *c, const IrTile *tile) {
  IrSlice s[IR_MAX_RANK]; /* a static view is no instruction, so it does not ask for the line */
  if (!lang_slices(L, c, tile, 2, s)) return NULL;
  ViewCtx v = lang_view(c->trace);
  const IrTile *r = view_index(&v, tile, s, tile->rank);
  if (!r) lang_trace_error(L, c->trace);
  return r;
}

static int tile_index(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  const LTile *t = self(L);
  if (lua_type(L, 2) == LUA_TSTRING) {
    lua_pushvalue(L, 2);
    switch (lua_rawget(L, lua_upvalueindex(2))) {
      case LUA_TFUNCTION:
        return 1;
      case LUA_TNUMBER: {
        int what = (int)lua_tointeger(L, -1);
        lua_pop(L, 1);
        return tile_attribute(L, c, t, what);
      }
      default:
        lua_pop(L, 1);
    }
    const char *key = lua_tostring(L, 2);
    if ((key[0] >= 'a' && key[0] <= 'z') || (key[0] >= 'A' && key[0] <= 'Z') || key[0] == '_')
      return unknown_attribute(L, key);
  }
  const IrTile *tile = lang_live(L, c, t, "index", NULL);
  const IrTile *view = keyed(L, c, tile);
  if (view) {
    push_view(L, c, view);
  } else {
    lang_locate_fast(L, c, c->trace);
    classic_index(L, c, 2);
  }
  return 1;
}

static int tile_newindex(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  const LTile *t = self(L);
  if (lua_type(L, 2) == LUA_TSTRING) {
    const char *key = lua_tostring(L, 2);
    char what[DESCRIBE + TEXT_CLIP + 16], clip[TEXT_CLIP + 4], tensor[DESCRIBE];
    if ((key[0] >= 'a' && key[0] <= 'z') || key[0] == '_') {
      snprintf(what, sizeof what, "%s of %s", lang_clip(L, 2, clip), lang_describe(L, 1, tensor, sizeof tensor));
      return LANG_HERE(L, read_only, what);
    }
  }
  const IrTile *tile = lang_live(L, c, t, "assignment", NULL);
  const IrTile *view = keyed(L, c, tile);
  lang_locate_fast(L, c, c->trace);
  if (!view) {
    classic_index(L, c, 2);
    const LTile *to = lang_tile_at(L, -1);
    if (!to) lang_kind_error(L, -1, "assignment", "destination", "a tensor");
    view = to->tile;
  } else if (c->partial) {
    lang_new_tile(L, c, view);
  }
  if (c->partial && lang_tile_at(L, 3) && classic_assign(L, c, lua_gettop(L), 3)) return 0;
  nl_assign(L, c, view, 3);
  return 0;
}

static int tile_tostring(lua_State *L) {
  char buf[DESCRIBE];
  self(L);
  lua_pushstring(L, lang_describe(L, 1, buf, sizeof buf));
  return 1;
}

static int tile_compare(lua_State *L) {
  return LANG_HERE(L, dynamic_control_flow_not_supported, "a tile",
                   "nl.less, nl.less_equal, nl.greater ... for a mask, nl.where to select");
}

static int tile_len(lua_State *L) {
  return LANG_HERE(L, operator_undefined, "#", "; use t.shape[0], t.ndim or t.size");
}

/* Operators: upvalue 2 is the row of nl.def. */
int lang_row_operator(lua_State *L) {
  const LRow *row = lua_touserdata(L, lua_upvalueindex(2));
  lua_settop(L, row->bind.required[1] ? 2 : 1); /* Lua gives an unary operator its operand twice */
  lua_settop(L, row->bind.n);
  return lang_row_body(L, lang_upctx(L), row);
}

static int tile_undefined(lua_State *L) {
  return LANG_HERE(L, operator_undefined, lua_tostring(L, lua_upvalueindex(2)), "");
}

static void set_operators(lua_State *L, LangCtx *c) {
  static const struct {
    const char *event, *row;
  } ops[] = {{"__add", "add"},          {"__sub", "subtract"},   {"__mul", "multiply"},     {"__div", "divide"},
             {"__pow", "power"},        {"__mod", "mod"},        {"__band", "bitwise_and"}, {"__bor", "bitwise_or"},
             {"__bxor", "bitwise_xor"}, {"__shl", "left_shift"}, {"__shr", "right_shift"},  {"__unm", "negative"},
             {"__bnot", "invert"}};
  for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
    const LRow *row = nl_row(ops[k].row);
    lua_pushlightuserdata(L, c);
    lua_pushlightuserdata(L, (void *)(uintptr_t)row);
    lua_pushcclosure(L, lang_row_operator, 2);
    lua_setfield(L, -2, ops[k].event);
  }
  static const char *const none[][2] = {{"__idiv", "//"}, {"__concat", ".."}};
  for (size_t k = 0; k < sizeof none / sizeof *none; k++) {
    lua_pushlightuserdata(L, c);
    lua_pushstring(L, none[k][1]);
    lua_pushcclosure(L, tile_undefined, 2);
    lua_setfield(L, -2, none[k][0]);
  }
}

static void tile_metatable(lua_State *L, LangCtx *c) {
  static const luaL_Reg meta[] = {
      {"__tostring", tile_tostring}, {"__lt", tile_compare}, {"__le", tile_compare}, {"__len", tile_len}, {NULL, NULL}};
  lua_createtable(L, 0, 32);
  lua_pushlightuserdata(L, c);
  luaL_setfuncs(L, meta, 1);
  set_operators(L, c);
  lua_pushlightuserdata(L, c);
  tile_push_methods(L, c);
  lua_pushcclosure(L, tile_index, 2);
  lua_setfield(L, -2, "__index");
  lua_pushlightuserdata(L, c);
  lua_pushcclosure(L, tile_newindex, 1);
  lua_setfield(L, -2, "__newindex");
  lang_name_metatable(L, LANG_TILE);
  c->tile_mt = luaL_ref(L, LUA_REGISTRYINDEX);
}

void lang_open_tiles(lua_State *L, LangCtx *c) {
  lua_pushboolean(L, 0); /* no session yet */
  c->session_ref = luaL_ref(L, LUA_REGISTRYINDEX);
}

void lang_new_tile(lua_State *L, LangCtx *c, const IrTile *tile) {
  const Trace *t = c->trace;
  const IrBuf *b = t->f->bufs[tile->buf];
  if (!c->session || c->session->serial != t->serial) new_session(L, c);
  if (!c->tile_mt) tile_metatable(L, c);
  LTile *r = lua_newuserdatauv(L, sizeof *r, 1);
  *r = (LTile){.tag = LANG_TILE,
               .tile = tile,
               .trace = c->trace,
               .trace_serial = t->serial,
               .dtype = b->dtype,
               .space = b->space,
               .buf = b->kind == BUF_VIEW ? b->base : b->id};
  lua_rawgeti(L, LUA_REGISTRYINDEX, c->session_ref);
  lua_setiuservalue(L, -2, 1);
  lua_rawgeti(L, LUA_REGISTRYINDEX, c->tile_mt);
  lua_setmetatable(L, -2);
}
