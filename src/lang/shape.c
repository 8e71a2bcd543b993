/* shape.c -- room lang: immutable shapes. A shape is an empty table with a metatable of its own, interned per value, so
   that == compares values and also works against a plain list (Lua asks __eq only when both sides are tables). The dims
   are in the metatable, slot 1. */
#include <stdio.h>

#include "call.h"

static const char shapes, shape_tag; /* registry: packed dims -> proxy (weak); the metatable of the LShape userdata */

/* The dims of the shape at i, NULL when it is something else. */
static const LShape *to_shape(lua_State *L, LangCtx *c, int i) {
  if (lua_type(L, i) != LUA_TTABLE || !lua_getmetatable(L, i)) return NULL;
  const LShape *s = NULL;
  if (lua_rawgeti(L, -1, 1) == LUA_TUSERDATA) s = lang_test(L, -1, c->mt_shape);
  lua_pop(L, 2);
  return s;
}

static const LShape *self(lua_State *L, LangCtx *c) {
  const LShape *s = to_shape(L, c, 1);
  if (!s) lang_kind_error(L, 1, "shape", "self", "a shape");
  return s;
}

static int shape_unpack(lua_State *L) {
  const LShape *s = self(L, lang_upctx(L));
  for (int d = 0; d < s->rank; d++) lua_pushinteger(L, s->dim[d]);
  return s->rank;
}

static int shape_iterated(lua_State *L) { return LANG_HERE(L, shape_iterate, "pairs"); }

static int shape_index(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  const LShape *s = self(L, c);
  lua_Debug ar;
  int64_t d;
  char clip[TEXT_CLIP + 4];
  if (lua_type(L, 2) == LUA_TSTRING && strcmp(lang_name(L, 2, clip), "unpack") == 0) {
    lua_pushvalue(L, lua_upvalueindex(2));
    return 1;
  }
  if (!lang_to_int(L, 2, &d)) return lang_kind_error(L, 2, "shape", "index", "an axis or 'unpack'");
  /* ipairs, table.unpack ... would start at 1 and miss the partition dim */
  if (lua_getstack(L, 1, &ar) && lua_getinfo(L, "f", &ar) && lua_iscfunction(L, -1))
    return LANG_HERE(L, shape_iterate, "ipairs or table functions");
  if (d < -s->rank || d >= s->rank) return LANG_HERE(L, shape_axis, (long long)d, s->rank);
  lua_pushinteger(L, s->dim[d < 0 ? d + s->rank : d]);
  return 1;
}

static int shape_len(lua_State *L) {
  lua_pushinteger(L, self(L, lang_upctx(L))->rank);
  return 1;
}

/* A shape or a plain list of integers; false when it is neither or too long: out->rank items are integers then. */
static bool dims_of(lua_State *L, LangCtx *c, int i, LShape *out) {
  const LShape *s = to_shape(L, c, i);
  if (s) {
    *out = *s;
    return true;
  }
  lua_Unsigned n = lua_rawlen(L, i);
  out->rank = 0;
  if (lua_type(L, i) != LUA_TTABLE || n > IR_MAX_RANK) return false;
  while (out->rank < (int)n) {
    lua_rawgeti(L, i, out->rank + 1);
    bool ok = lang_to_int(L, -1, &out->dim[out->rank]);
    lua_pop(L, 1);
    if (!ok) return false;
    out->rank++;
  }
  return true;
}

static int shape_eq(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  LShape a, b;
  bool same = dims_of(L, c, 1, &a) && dims_of(L, c, 2, &b) && a.rank == b.rank;
  for (int d = 0; same && d < a.rank; d++) same = a.dim[d] == b.dim[d];
  lua_pushboolean(L, same);
  return 1;
}

static int shape_tostring(lua_State *L) {
  const LShape *s = self(L, lang_upctx(L));
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  luaL_addchar(&b, '{');
  for (int d = 0; d < s->rank; d++) {
    char num[32];
    snprintf(num, sizeof num, "%s%lld", d ? ", " : "", (long long)s->dim[d]);
    luaL_addstring(&b, num);
  }
  luaL_addchar(&b, '}');
  luaL_pushresult(&b);
  return 1;
}

static int shape_frozen(lua_State *L) { return LANG_HERE(L, read_only, "shape"); }

static void push_interned(lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &shapes) == LUA_TTABLE) return;
  lua_pop(L, 1);
  lua_newtable(L);
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "v");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &shapes);
}

static void push_dims(lua_State *L, LangCtx *c, int rank, const int64_t *dim) {
  LShape *s = lua_newuserdatauv(L, sizeof *s, 0);
  memset(s, 0, sizeof *s);
  s->rank = rank;
  for (int d = 0; d < rank; d++) s->dim[d] = dim[d];
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &shape_tag) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "NkiShapeDims");
    lua_setfield(L, -2, "__name");
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &shape_tag);
  }
  c->mt_shape = lua_topointer(L, -1);
  lua_setmetatable(L, -2);
}

static void push_metatable(lua_State *L, LangCtx *c, int rank, const int64_t *dim) {
  static const luaL_Reg meta[] = {{"__len", shape_len},           {"__eq", shape_eq},
                                  {"__tostring", shape_tostring}, {"__newindex", shape_frozen},
                                  {"__pairs", shape_iterated},    {NULL, NULL}};
  lua_createtable(L, 1, 8);
  push_dims(L, c, rank, dim);
  lua_rawseti(L, -2, 1);
  lua_pushlightuserdata(L, c);
  luaL_setfuncs(L, meta, 1);
  lua_pushlightuserdata(L, c);
  lua_pushlightuserdata(L, c);
  lua_pushcclosure(L, shape_unpack, 1);
  lua_pushcclosure(L, shape_index, 2);
  lua_setfield(L, -2, "__index");
  lang_name_metatable(L, "NkiShape");
}

void lang_push_shape(lua_State *L, int rank, const int64_t *dim) {
  push_interned(L);
  lua_pushlstring(L, (const char *)dim, (size_t)rank * sizeof *dim);
  lua_pushvalue(L, -1);
  if (lua_rawget(L, -3) == LUA_TTABLE) {
    lua_replace(L, -3);
    lua_pop(L, 1);
    return;
  }
  lua_pop(L, 1);
  lua_newtable(L);
  push_metatable(L, lang_ctx(L), rank, dim);
  lua_setmetatable(L, -2);
  lua_insert(L, -2);
  lua_pushvalue(L, -2);
  lua_rawset(L, -4); /* interned[key] = proxy */
  lua_replace(L, -2);
}

/* lua_next from the last entry finds nothing where a list is laid out as one, which is nearly always. */
bool lang_is_list(lua_State *L, int i) {
  lua_Integer n = (lua_Integer)lua_rawlen(L, i), keys = 0;
  i = lua_absindex(L, i);
  if (n > 0)
    lua_pushinteger(L, n);
  else
    lua_pushnil(L);
  if (!lua_next(L, i)) return true;
  lua_pop(L, 2);
  for (lua_pushnil(L); lua_next(L, i); lua_pop(L, 1)) keys++;
  return keys == n;
}

bool lang_is_sequence(lua_State *L, int i) {
  if (luaL_getmetafield(L, i, "__len") != LUA_TNIL) return lua_pop(L, 1), true;
  return lua_istable(L, i) && lang_is_list(L, i);
}

size_t lang_list_length(lua_State *L, int i) {
  return lua_type(L, i) == LUA_TTABLE && lang_is_list(L, i) ? lua_rawlen(L, i) : 0;
}

int lang_check_shape(lua_State *L, int i, const char *func, const char *what, int64_t dim[IR_MAX_RANK]) {
  LangCtx *c = lang_ctx(L);
  LShape s;
  i = lua_absindex(L, i);
  if (lua_type(L, i) != LUA_TTABLE || (!to_shape(L, c, i) && luaL_getmetafield(L, i, "__name") != LUA_TNIL))
    lang_kind_error(L, i, func, what, "a shape: a list of integers such as {128, 512}");
  if (!to_shape(L, c, i) && lua_rawlen(L, i) > IR_MAX_RANK)
    LANG_HERE(L, shape_rank, func, what, (int)lua_rawlen(L, i), IR_MAX_RANK);
  if (!dims_of(L, c, i, &s)) {
    char item[DESCRIBE], got[DESCRIBE + 32];
    lua_rawgeti(L, i, s.rank + 1);
    snprintf(got, sizeof got, "%s for axis %d", lang_describe(L, -1, item, sizeof item), s.rank);
    LANG_HERE(L, bind_kind, func, what, "a list of integers", got);
  }
  if (!lang_is_list(L, i)) LANG_HERE(L, bind_kind, func, what, "a list of integers", "a table with other values");
  memcpy(dim, s.dim, sizeof s.dim);
  return s.rank;
}

DType lang_check_dtype(lua_State *L, int i, const char *func, const char *what) {
  if (lua_type(L, i) != LUA_TSTRING) lang_kind_error(L, i, func, what, "a dtype such as nl.float32");
  size_t n;
  const char *name = lua_tolstring(L, i, &n);
  DType d = dtype_parse(name, n);
  if (d == DT_none) {
    const char *near = diag_nearest(name, dtype_names());
    char clip[TEXT_CLIP + 4];
    name = text_clip(clip, name, n);
    LANG_HERE(L, unknown_dtype, func, what, name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  }
  return d;
}
