/* host_value.c -- room lang: one command-line VALUE. The grammar is lua/nki/values.lua; here its result becomes a
 * HostValue. */
#include "hoststate.h"
#include "kernel.h"

typedef struct Reading {
  Host *h;
  const HostWord *word;
  Arena *a;
  HostValue *out;
} Reading;

static const char *const fills[] = {"default", "zeros", "ones", "iota", "full", "normal", "uniform", NULL};

static int bad(lua_State *L, const Reading *r, const char *why) {
  char text[160];
  size_t n = r->word->len < sizeof text ? r->word->len : sizeof text - 1;
  memcpy(text, r->word->text, n);
  text[n] = '\0';
  return LANG_FAIL(L, value, r->word->who, text, n < r->word->len ? "..." : "", why);
}

static void out_of_memory(lua_State *L, const Reading *r) {
  if (!r->a->oom) return;
  DIAG0(&r->h->c->diag, nomem);
  lang_raise(L, &r->h->c->diag);
}

/* The string field key of the table on top, copied; NULL when absent. */
static const char *string_field(lua_State *L, const Reading *r, const char *key) {
  size_t n;
  lua_getfield(L, -1, key);
  const char *s = lua_tolstring(L, -1, &n);
  char *copy = s ? arena_strdup(r->a, s, n) : NULL;
  lua_pop(L, 1);
  out_of_memory(L, r);
  return copy;
}

/* The value on top of the stack: a plain one, or a table {tuple = n, ...}. Pops it. */
static ConstValue constant(lua_State *L, const Reading *r) {
  ConstValue v = {.kind = CONST_NIL};
  luaL_checkstack(L, 8, "nested tuples");
  if (lua_isboolean(L, -1)) {
    v.kind = CONST_BOOL;
    v.b = lua_toboolean(L, -1);
  } else if (lua_isinteger(L, -1)) {
    v.kind = CONST_INT;
    v.i = lua_tointeger(L, -1);
  } else if (lua_type(L, -1) == LUA_TNUMBER) {
    v.kind = CONST_FLOAT;
    v.f = lua_tonumber(L, -1);
  } else if (lua_type(L, -1) == LUA_TSTRING) {
    v.kind = CONST_STRING;
    const char *s = lua_tolstring(L, -1, &v.len);
    v.s = arena_strdup(r->a, s, v.len);
  } else if (lua_istable(L, -1)) {
    v.kind = CONST_TUPLE;
    lua_getfield(L, -1, "tuple");
    v.nitems = (uint32_t)lua_tointeger(L, -1);
    lua_pop(L, 1);
    ConstValue *items = arena_newn(r->a, ConstValue, v.nitems);
    for (uint32_t i = 0; items && i < v.nitems; i++) {
      lua_rawgeti(L, -1, (lua_Integer)i + 1);
      items[i] = constant(L, r);
    }
    /* No list of Lua's ends with nil, so the kernel could not be given it. */
    if (items && v.nitems && items[v.nitems - 1].kind == CONST_NIL) bad(L, r, "a tuple does not end with nil");
    v.items = items;
  }
  lua_pop(L, 1);
  out_of_memory(L, r);
  return v;
}

static void dtype_field(lua_State *L, const Reading *r) {
  lua_getfield(L, -1, "dtype");
  size_t n;
  const char *s = lua_tolstring(L, -1, &n);
  if (s && (r->out->dtype = dtype_parse(s, n)) == DT_none) {
    const char *near = diag_nearest(s, dtype_names());
    Text *why = lang_scratch_text(L, r->h->c);
    char clip[TEXT_CLIP + 4];
    text_printf(why, "there is no dtype '%s'%s%s%s", text_clip(clip, s, n), near ? " (did you mean '" : "",
                near ? near : "", near ? "'?)" : "");
    bad(L, r, text_str(why));
  }
  lua_pop(L, 1);
}

static void array_fields(lua_State *L, const Reading *r) {
  HostValue *v = r->out;
  lua_getfield(L, -1, "shape");
  v->rank = (int)luaL_len(L, -1);
  if (v->rank > IR_MAX_RANK) bad(L, r, "a tensor has at most 8 dimensions");
  for (int i = 0; i < v->rank; i++) {
    lua_rawgeti(L, -1, i + 1);
    v->shape[i] = lua_tointeger(L, -1);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  lua_getfield(L, -1, "fill");
  v->fill = lua_isnil(L, -1) ? FILL_DEFAULT : (HostFill)luaL_checkoption(L, -1, NULL, fills);
  lua_pop(L, 1);
  lua_getfield(L, -1, "seed");
  v->has_seed = !lua_isnil(L, -1);
  v->seed = (uint64_t)lua_tointeger(L, -1);
  lua_pop(L, 1);
  lua_getfield(L, -1, "number");
  v->constant = constant(L, r);
}

/* (reading) */
static int read_value(lua_State *L) {
  const Reading *r = lua_touserdata(L, 1);
  lang_half(L, r->h->c, "nki.values");
  lua_pushlstring(L, r->word->text, r->word->len);
  lua_call(L, 1, 2);
  if (lua_isnil(L, -2)) bad(L, r, lua_tostring(L, -1));
  lua_pop(L, 1);
  lua_getfield(L, -1, "kind");
  const char *kind = lua_tostring(L, -1);
  lua_pop(L, 1);
  memset(r->out, 0, sizeof *r->out);
  if (strcmp(kind, "constant") == 0) {
    lua_getfield(L, -1, "value");
    r->out->constant = constant(L, r);
    return 0;
  }
  dtype_field(L, r);
  if (strcmp(kind, "array") == 0) {
    r->out->kind = HV_ARRAY;
    array_fields(L, r);
  } else {
    r->out->kind = HV_FILE;
    r->out->path = string_field(L, r, "path");
    r->out->member = string_field(L, r, "member");
  }
  return 0;
}

bool host_value(Host *h, const HostWord *word, Arena *a, HostValue *out, Diag *d) {
  Reading r = {h, word, a, out};
  return host_protect(h, read_value, &r, d);
}
