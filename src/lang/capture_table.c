/* capture_table.c -- room lang: captured tables by content, keys in canonical order, cycles by visit number. */
#include <stdlib.h>
#include <string.h>

#include "capture.h"

static Seen *seen_slot(const Capture *k, const void *p) {
  uint32_t i = (uint32_t)(((uintptr_t)p >> 4) * 2654435761u) & (k->nslots - 1);
  while (k->seen[i].walk == k->walk && k->seen[i].p != p) i = (i + 1) & (k->nslots - 1);
  return &k->seen[i];
}

static void seen_grow(lua_State *L, LangCtx *c) {
  Capture *k = c->capture;
  uint32_t nslots = k->nslots ? k->nslots * 2 : 64, old = k->nslots;
  Seen *fresh = alloc_new(&c->alloc, nslots * sizeof *fresh), *before = k->seen;
  if (!fresh) lang_no_memory(L);
  memset(fresh, 0, nslots * sizeof *fresh);
  k->seen = fresh;
  k->nslots = nslots;
  for (uint32_t i = 0; i < old; i++)
    if (before[i].walk == k->walk) *seen_slot(k, before[i].p) = before[i];
  alloc_free(&c->alloc, before, old * sizeof *before);
}

bool capture_seen(lua_State *L, LangCtx *c, const void *p) {
  Capture *k = c->capture;
  if (k->count * 2 >= k->nslots) seen_grow(L, c);
  Seen *s = seen_slot(k, p);
  if (s->walk == k->walk) {
    put_tag(k, 'R');
    put_u64(k, s->number);
    return true;
  }
  *s = (Seen){p, k->walk, k->count++};
  return false;
}

enum { KEY_FLOAT = LUA_TNUMBER + 16 }; /* a Key's kind beside those of lua_type: LUA_TNUMBER is an integer */

static int compare_keys(const void *pa, const void *pb) {
  const Key *a = pa, *b = pb;
  if (a->kind != b->kind) return a->kind - b->kind;
  switch (a->kind) {
    case LUA_TNUMBER:
      return a->u.i < b->u.i ? -1 : a->u.i > b->u.i;
    case KEY_FLOAT:
      return a->u.f < b->u.f ? -1 : a->u.f > b->u.f;
    case LUA_TSTRING: {
      int order = memcmp(a->u.s, b->u.s, a->len < b->len ? a->len : b->len);
      return order ? order : a->len < b->len ? -1 : a->len > b->len;
    }
    default:
      return a->u.i < b->u.i ? -1 : a->u.i > b->u.i; /* booleans; objects by serial */
  }
}

static Key key_at(lua_State *L, Capture *k, int i) {
  Key key = {.kind = lua_type(L, i)};
  switch (key.kind) {
    case LUA_TNUMBER:
      if (lua_isinteger(L, i)) {
        key.u.i = lua_tointeger(L, i);
      } else {
        key.kind = KEY_FLOAT;
        key.u.f = lua_tonumber(L, i);
      }
      break;
    case LUA_TSTRING:
      key.u.s = lua_tolstring(L, i, &key.len);
      break;
    case LUA_TBOOLEAN:
      key.u.i = lua_toboolean(L, i);
      break;
    default:
      key.u.i = capture_serial_of(L, k, i);
  }
  return key;
}

/* The object key with that serial. */
static void push_object_key(lua_State *L, Capture *k, int t, const Key *key) {
  lua_pushnil(L);
  while (lua_next(L, t)) {
    lua_pop(L, 1);
    if (lua_type(L, -1) != key->kind) continue;
    Key have = key_at(L, k, lua_gettop(L));
    if (have.u.i == key->u.i) return;
  }
  lua_pushnil(L);
}

/* Pushes a key of the table at t again. */
static void push_key(lua_State *L, Capture *k, int t, const Key *key) {
  switch (key->kind) {
    case LUA_TNUMBER:
      lua_pushinteger(L, key->u.i);
      break;
    case KEY_FLOAT:
      lua_pushnumber(L, key->u.f);
      break;
    case LUA_TSTRING:
      lua_pushlstring(L, key->u.s, key->len);
      break;
    case LUA_TBOOLEAN:
      lua_pushboolean(L, (int)key->u.i);
      break;
    default:
      push_object_key(L, k, t, key);
  }
}

static void walk_hash(lua_State *L, LangCtx *c, int t, lua_Unsigned border) {
  Capture *k = c->capture;
  size_t first = k->nkeys;
  lua_pushnil(L);
  while (lua_next(L, t)) {
    lua_pop(L, 1);
    Key key = key_at(L, k, lua_gettop(L));
    if (key.kind == LUA_TNUMBER && (lua_Unsigned)key.u.i - 1 < border) continue;
    if (k->nkeys == k->capkeys) k->keys = capture_grow(L, c, k->keys, &k->capkeys, sizeof *k->keys);
    k->keys[k->nkeys++] = key;
  }
  size_t n = k->nkeys - first;
  if (n > 1) qsort(k->keys + first, n, sizeof *k->keys, compare_keys);
  for (size_t i = 0; i < n; i++) {
    const Key key = k->keys[first + i]; /* by value: the array may move */
    push_key(L, k, t, &key);
    capture_walk_part(L, c, lua_gettop(L));
    lua_pushvalue(L, -1);
    lua_rawget(L, t);
    capture_walk_part(L, c, lua_gettop(L));
    lua_pop(L, 2);
  }
  k->nkeys = first;
}

static bool walk_tuple(lua_State *L, LangCtx *c, int t) {
  if (!tuple_push_items(L, c, t)) return false;
  put_tag(c->capture, '(');
  capture_walk_part(L, c, lua_gettop(L));
  lua_pop(L, 1);
  return true;
}

static bool walk_shape(lua_State *L, LangCtx *c, int t) {
  int64_t dim[IR_MAX_RANK];
  if (!lua_getmetatable(L, t)) return false;
  bool shape = lua_topointer(L, -1) == c->mt_shape;
  lua_pop(L, 1);
  if (!shape) return false;
  int rank = lang_check_shape(L, t, "captured state", "shape", dim);
  put_bytes(c->capture, 'D', dim, (size_t)rank * sizeof *dim);
  return true;
}

void capture_walk_content(lua_State *L, LangCtx *c, int t) {
  if (!capture_seen(L, c, lua_topointer(L, t))) walk_hash(L, c, t, 0);
}

const char *capture_walk_table(lua_State *L, LangCtx *c, int t) {
  Capture *k = c->capture;
  const char *name = capture_put_name(L, k, t);
  if (!name && capture_is_known(L, k, t)) { /* a module of ours, loaded once more */
    capture_put_serial(L, k, t);
    return NULL;
  }
  if (name || walk_tuple(L, c, t) || walk_shape(L, c, t) || capture_seen(L, c, lua_topointer(L, t))) return name;
  lua_Unsigned border = lua_rawlen(L, t);
  put_tag(k, '{');
  put_u64(k, border);
  for (lua_Unsigned i = 1; i <= border; i++) {
    lua_rawgeti(L, t, (lua_Integer)i);
    capture_walk_part(L, c, lua_gettop(L));
    lua_pop(L, 1);
  }
  walk_hash(L, c, t, border);
  if (lua_getmetatable(L, t)) {
    put_tag(k, 'm');
    capture_walk_part(L, c, lua_gettop(L));
    lua_pop(L, 1);
  }
  put_tag(k, '}');
  return NULL;
}
