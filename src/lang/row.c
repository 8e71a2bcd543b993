/* row.c -- room lang: calling a row of nl.def or tile.def; the words that messages use for Lua values. */
#include <stdio.h>

#include "classic.h"
#include "kernel.h"

const LRow *lang_row_named(const LRow *rows, int n, const char *name) {
  for (int i = 0; i < n; i++)
    if (strcmp(rows[i].name, name) == 0) return &rows[i];
  return NULL;
}

int lang_row_body(lua_State *L, LangCtx *c, const LRow *row) {
  Call call = {L, c, row, c->trace};
  c->row = row;
  if (!call.t && !row->anywhere) lang_need_trace(L, c, row->bind.func);
  if (call.t) lang_locate_fast(L, c, call.t);
  return row->body(&call);
}

int lang_row_enter(lua_State *L, LangCtx *c, const LRow *row) {
  const BindSpec *b = &row->bind;
  c->row = row;
  int top = lua_gettop(L);
  bool plain = top <= b->n && (top == 0 || lua_type(L, top) != LUA_TTABLE);
  for (int i = top; plain && i < b->n; i++) plain = !b->required[i];
  if (plain && (b->list_mask & 1) && lua_type(L, 1) == LUA_TTABLE) plain = false; /* nl.par_dim in a shape? */
  if (plain) {
    lua_settop(L, b->n);
    for (int i = 0; i < top; i++)
      if (b->required[i] && lua_isnil(L, i + 1)) LANG_HERE(L, bind_missing, b->func, b->names[i]);
  } else {
    int n = classic_row(L, c, row);
    if (n >= 0) return n;
    if (!c->trace && !row->anywhere) lang_need_trace(L, c, b->func);
    lang_bind(L, b);
  }
  return lang_row_body(L, c, row);
}

int lang_row_call(lua_State *L) { return lang_row_enter(L, lang_upctx(L), lua_touserdata(L, lua_upvalueindex(2))); }

void lang_push_row(lua_State *L, LangCtx *c, const LRow *row) {
  lua_pushlightuserdata(L, c);
  lua_pushlightuserdata(L, (void *)(uintptr_t)row);
  lua_pushcclosure(L, lang_row_call, 2);
}

static void describe_tile(const LangCtx *c, const LTile *t, char *buf, size_t size) {
  if (!c->trace || c->trace->serial != t->trace_serial) {
    snprintf(buf, size, "a tile of another kernel run");
    return;
  }
  Text text;
  text_init(&text, c->alloc);
  tile_describe(c->trace->f, t->tile, &text);
  snprintf(buf, size, "tile %s", text_str(&text));
  text_free(&text);
}

/* An array or a declaration. */
static void describe_shaped(const LangCtx *c, const char *what, const LDecl *d, char *buf, size_t size) {
  Text text;
  text_init(&text, c->alloc);
  shape_describe(d->dtype, d->rank, d->shape, &text);
  snprintf(buf, size, "%s %s", what, text_str(&text));
  text_free(&text);
}

const char *lang_clip(lua_State *L, int i, char clip[TEXT_CLIP + 4]) {
  size_t n;
  const char *s = lua_tolstring(L, i, &n);
  return text_clip(clip, s, n);
}

const char *lang_name(lua_State *L, int i, char clip[TEXT_CLIP + 4]) {
  return lang_has_nul(L, i) ? lang_clip(L, i, clip) : lua_tostring(L, i);
}

static void describe_userdata(lua_State *L, int i, char *buf, size_t size) {
  const LangCtx *c = lang_ctx(L);
  const LArray *array;
  const LKernel *kernel;
  const void *p;
  char clip[TEXT_CLIP + 4];
  if ((p = lang_tile_at(L, i))) {
    describe_tile(c, p, buf, size);
  } else if ((array = lang_to_array(L, i))) {
    LDecl type = {.dtype = array->dtype, .rank = array->rank};
    memcpy(type.shape, array->shape, sizeof type.shape);
    describe_shaped(c, "an array", &type, buf, size);
  } else if ((p = lang_to_decl(L, i))) {
    describe_shaped(c, "a declaration", p, buf, size);
  } else if ((kernel = lang_to_kernel(L, i))) {
    const char *name = kernel->core->func_name;
    snprintf(buf, size, "kernel %s", text_clip(clip, name, strlen(name)));
  } else if ((p = lang_token_at(L, i))) {
    snprintf(buf, size, "%s", ((const LToken *)p)->name);
  } else if (lang_index_at(L, i)) {
    snprintf(buf, size, "a register or index value");
  } else if (lang_ds_at(L, i)) {
    snprintf(buf, size, "an nl.ds slice");
  } else if (luaL_getmetafield(L, i, "__name") == LUA_TSTRING) {
    const char *name = lua_tostring(L, -1);
    snprintf(buf, size, "%s %.60s", strncmp(name, "nki.", 4) == 0 ? "an" : "a", name);
    lua_pop(L, 1);
  } else {
    snprintf(buf, size, "a userdata");
  }
}

const char *lang_describe(lua_State *L, int i, char *buf, size_t size) {
  char clip[TEXT_CLIP + 4], number[TEXT_NUMBER];
  switch (lua_type(L, i)) {
    case LUA_TNONE:
    case LUA_TNIL:
      snprintf(buf, size, "nil");
      break;
    case LUA_TBOOLEAN:
      snprintf(buf, size, "%s", lua_toboolean(L, i) ? "true" : "false");
      break;
    case LUA_TNUMBER:
      if (lua_isinteger(L, i))
        snprintf(buf, size, "%lld", (long long)lua_tointeger(L, i));
      else
        snprintf(buf, size, "the number %s", text_number(number, lua_tonumber(L, i), 14));
      break;
    case LUA_TSTRING:
      snprintf(buf, size, "the string '%s'", lang_clip(L, i, clip));
      break;
    case LUA_TUSERDATA:
      describe_userdata(L, i, buf, size);
      break;
    default:
      snprintf(buf, size, "a %s", luaL_typename(L, i));
  }
  return buf;
}
