/* slice.c -- room lang: index keys (integers, lists, nl.ds, strings) -> one slice per axis. */
#include <stdio.h>

#include "classic.h"

typedef enum KeyKind { KEY_INDEX, KEY_RANGE, KEY_DYNAMIC, KEY_ELLIPSIS } KeyKind;
typedef struct Key {
  KeyKind kind;
  bool has_start, has_stop; /* KEY_RANGE */
  bool keeps;               /* KEY_DYNAMIC: nl.ds, the axis stays */
  int64_t start, stop, step;
  LIndex at; /* KEY_DYNAMIC */
} Key;
typedef struct Keys {
  int n;
  Key key[IR_MAX_RANK + 1]; /* one may be the ellipsis */
} Keys;

typedef struct Reader { /* of one index expression */
  LangCtx *c;
  const IrTile *tile;
  Keys *keys;
  bool classic; /* a key belongs to the classic layer */
} Reader;

static const char *tile_name(const Reader *r) { return r->c->trace->f->bufs[r->tile->buf]->name; }

static Key *next_key(lua_State *L, Reader *r) {
  if (r->keys->n > IR_MAX_RANK) LANG_HERE(L, key_count, tile_name(r), (int)r->tile->rank, r->keys->n + 1);
  Key *k = &r->keys->key[r->keys->n++];
  memset(k, 0, sizeof *k);
  k->step = 1;
  return k;
}

/* A key of the classic layer: an index expression, a mask, a tile of indices. */
static bool is_classic(lua_State *L, const Reader *r, int i) {
  if (lang_tile_at(L, i)) return r->tile != NULL;
  return classic_at(L, i);
}

static int bad_key(lua_State *L, Reader *r, int i) {
  char got[DESCRIBE];
  if (is_classic(L, r, i)) {
    next_key(L, r);
    r->classic = true;
    return 0;
  }
  classic_refuse(L, i);
  return LANG_HERE(L, key_kind, r->keys->n, tile_name(r), lang_describe(L, i, got, sizeof got));
}

/* {}, {start}, {start, stop}, {start, stop, step}, {nil, stop}; false and nil both mean "not given". */
static void read_range(lua_State *L, Reader *r, int i) {
  int64_t part[3] = {0, 0, 1};
  bool has[3] = {false, false, false};
  Key *k = next_key(L, r);
  lua_pushnil(L);
  while (lua_next(L, i)) {
    int64_t at;
    if (!lang_to_int(L, -2, &at) || at < 1 || at > 3) {
      r->keys->n--;
      LANG_HERE(L, key_slice, r->keys->n, tile_name(r), "a slice is {start, stop, step}, each optional");
    }
    if (lua_toboolean(L, -1)) {
      if (!lang_to_int(L, -1, &part[at - 1])) {
        r->keys->n--;
        LANG_HERE(L, key_slice, r->keys->n, tile_name(r),
                  "start, stop and step are integers; nl.ds(start, size) takes a run-time start");
      }
      has[at - 1] = true;
    }
    lua_pop(L, 1);
  }
  *k = (Key){
      .kind = KEY_RANGE, .has_start = has[0], .has_stop = has[1], .start = part[0], .stop = part[1], .step = part[2]};
}

static void read_string(lua_State *L, Reader *r, int i);

static void read_key(lua_State *L, Reader *r, int i) {
  const LDs *ds;
  const LIndex *at;
  int64_t v;
  if (lang_to_int(L, i, &v)) {
    Key *k = next_key(L, r);
    k->start = v;
  } else if ((ds = lang_ds_at(L, i))) {
    Key *k = next_key(L, r);
    k->kind = ds->dynamic ? KEY_DYNAMIC : KEY_RANGE;
    k->has_start = k->has_stop = k->keeps = true;
    k->start = ds->start;
    k->stop = ds->dynamic ? ds->size : ds->start + ds->size;
    if (ds->dynamic) k->at = *lang_live_index(L, r->c, &ds->at, "nl.ds", "start");
  } else if ((at = lang_index_at(L, i))) {
    Key *k = next_key(L, r);
    k->kind = KEY_DYNAMIC;
    k->stop = 1;
    k->at = *lang_live_index(L, r->c, at, "index", "key");
  } else if (lua_type(L, i) == LUA_TSTRING) {
    read_string(L, r, i);
  } else if (lua_type(L, i) == LUA_TTABLE && luaL_getmetafield(L, i, "__name") == LUA_TNIL) {
    read_range(L, r, i);
  } else {
    bad_key(L, r, i);
  }
}

/* The Lua half returns, for "0:64, ..., 3", the list {{0, 64}, "...", 3} with false for what is left out, or nil and a
 * reason. */
static void parse_string(lua_State *L, Reader *r, int i) {
  int top = lua_gettop(L);
  lang_half(L, r->c, "nki.slice");
  lua_pushvalue(L, i);
  lua_call(L, 1, 2);
  char clip[TEXT_CLIP + 4];
  if (lua_isnil(L, -2)) LANG_HERE(L, key_syntax, lang_clip(L, i, clip), tile_name(r), lua_tostring(L, -1));
  int list = top + 1, n = (int)lua_rawlen(L, list);
  for (int k = 1; k <= n; k++) {
    lua_rawgeti(L, list, k);
    if (lua_type(L, -1) == LUA_TSTRING)
      next_key(L, r)->kind = KEY_ELLIPSIS;
    else if (lua_type(L, -1) == LUA_TTABLE)
      read_range(L, r, lua_gettop(L));
    else
      read_key(L, r, lua_gettop(L));
    lua_settop(L, list);
  }
  lua_settop(L, top);
}

/* Keeps the keys on top of the stack for the text at i. Texts that are made anew each time would fill the memory: of
   MAX_TEXTS all are forgotten. [1] counts them. */
static void remember(lua_State *L, const void *cache, int i) {
  enum { MAX_TEXTS = 4096 };
  lua_rawgetp(L, LUA_REGISTRYINDEX, cache);
  lua_rawgeti(L, -1, 1);
  lua_Integer n = lua_tointeger(L, -1);
  lua_pop(L, 1);
  if (n == MAX_TEXTS) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, cache);
    n = 0;
  }
  lua_pushinteger(L, n + 1);
  lua_rawseti(L, -2, 1);
  lua_pushvalue(L, i);
  lua_pushvalue(L, -3);
  lua_rawset(L, -3);
  lua_pop(L, 1);
}

/* Strings are parsed once: the registry keeps text -> keys. */
static void read_string(lua_State *L, Reader *r, int i) {
  static const char cache;
  const char *s = lua_tostring(L, i);
  size_t n = lua_rawlen(L, i);
  if (n == 3 && memcmp(s, "...", 3) == 0) {
    next_key(L, r)->kind = KEY_ELLIPSIS;
    return;
  }
  if (n == 1 && *s == ':') {
    next_key(L, r)->kind = KEY_RANGE;
    return;
  }
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &cache) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &cache);
  }
  int table = lua_gettop(L);
  lua_pushvalue(L, i);
  if (lua_rawget(L, table) != LUA_TUSERDATA) {
    Keys *parsed = lua_newuserdatauv(L, sizeof *parsed, 0);
    Reader sub = {r->c, r->tile, parsed, false};
    memset(parsed, 0, sizeof *parsed);
    parse_string(L, &sub, i);
    remember(L, &cache, i);
  }
  const Keys *k = lua_touserdata(L, -1);
  for (int m = 0; m < k->n; m++) *next_key(L, r) = k->key[m];
  lua_settop(L, table - 1);
}

/* A list of keys, one per axis. */
static void read_list(lua_State *L, Reader *r, int i) {
  int n = 0;
  lua_pushnil(L);
  while (lua_next(L, i)) {
    int64_t at;
    lua_pop(L, 1);
    if (!lang_to_int(L, -1, &at) || at < 1)
      LANG_HERE(L, key_slice, 0, tile_name(r), "the list of keys has a key that is no position");
    if (at > n) n = at > IR_MAX_RANK + 1 ? IR_MAX_RANK + 2 : (int)at;
  }
  for (int k = 1; k <= n; k++) {
    int before = r->keys->n;
    lua_rawgeti(L, i, k);
    read_key(L, r, lua_gettop(L));
    lua_pop(L, 1);
    if (r->keys->n != before + 1)
      LANG_HERE(L, key_slice, k - 1, tile_name(r), "a string in a list of keys stands for one axis");
  }
}

static int out_of_bound(lua_State *L, const Reader *r, int axis, const char *what, const char *why) {
  char limit[128];
  Text t;
  text_init(&t, r->c->alloc);
  tile_describe(r->c->trace->f, r->tile, &t);
  snprintf(limit, sizeof limit, "%saxis %d has %lld elements", why, axis, (long long)r->tile->dim[axis].count);
  DIAG(&r->c->diag, tensor_access_out_of_bound, what, text_str(&t), limit);
  text_free(&t);
  return lang_raise_here(L, &r->c->diag);
}

static IrSlice apply_range(lua_State *L, const Reader *r, const Key *k, int axis) {
  int64_t size = r->tile->dim[axis].count, start = k->has_start ? k->start : 0, stop = k->has_stop ? k->stop : size;
  char what[128];
  if (k->step < 1) LANG_HERE(L, key_slice, axis, tile_name(r), "the step of a slice is at least 1");
  if (start < 0 && !k->keeps) start += size;
  if (stop < 0 && !k->keeps) stop += size;
  if (start < 0 || stop > size || start >= stop) { /* in the user's numbers, before negative ones were wrapped */
    bool empty = start >= stop && start >= 0 && start <= size && stop >= 0 && stop <= size;
    snprintf(what, sizeof what, "slice [%lld, %lld) of axis %d", k->has_start ? (long long)k->start : 0LL,
             k->has_stop ? (long long)k->stop : (long long)size, axis);
    out_of_bound(L, r, axis, what, empty ? "it is empty, its stop must be above its start; " : "");
  }
  return (IrSlice){.start = start, .count = (stop - start - 1) / k->step + 1, .step = k->step};
}

static IrSlice apply(lua_State *L, const Reader *r, const Key *k, int axis) {
  int64_t size = r->tile->dim[axis].count;
  char what[128];
  if (k->kind == KEY_RANGE) return apply_range(L, r, k, axis);
  if (k->kind == KEY_DYNAMIC) {
    if (k->keeps && (k->stop < 1 || k->stop > size)) {
      snprintf(what, sizeof what, "nl.ds of %lld elements in axis %d", (long long)k->stop, axis);
      out_of_bound(L, r, axis, what, "");
    }
    lang_locate_fast(L, r->c, r->c->trace); /* reading a register is an instruction of this line */
    /* the index value counts elements of the tensor, its constant is part of the static offset */
    uint32_t idx = lang_index_value(L, r->c, &k->at, r->tile->dim[axis].stride);
    return (IrSlice){.is_index = !k->keeps, .dynamic = true, .idx = idx, .count = k->stop, .step = 1};
  }
  int64_t at = k->start < 0 ? k->start + size : k->start;
  if (at < 0 || at >= size) {
    snprintf(what, sizeof what, "index %lld of axis %d", (long long)k->start, axis);
    out_of_bound(L, r, axis, what, "");
  }
  return (IrSlice){.is_index = true, .start = at, .count = 1, .step = 1};
}

bool lang_slices(lua_State *L, LangCtx *c, const IrTile *tile, int key, IrSlice out[IR_MAX_RANK]) {
  Keys keys;
  Reader r = {c, tile, &keys, false};
  int ellipsis = -1;
  keys.n = 0;
  key = lua_absindex(L, key);
  if (lua_type(L, key) == LUA_TTABLE && !classic_at(L, key))
    read_list(L, &r, key);
  else
    read_key(L, &r, key);
  if (r.classic) return false;
  for (int k = 0; k < keys.n; k++) {
    if (keys.key[k].kind != KEY_ELLIPSIS) continue;
    if (ellipsis >= 0) LANG_HERE(L, key_ellipsis, tile_name(&r));
    ellipsis = k;
  }
  int given = keys.n - (ellipsis >= 0), rank = tile->rank;
  if (given > rank) LANG_HERE(L, key_count, tile_name(&r), rank, given);
  int skip = rank - given, from = ellipsis >= 0 ? ellipsis : keys.n;
  for (int axis = 0; axis < rank; axis++) {
    bool whole = axis >= from && axis < from + skip;
    int k = axis < from ? axis : axis - skip + (ellipsis >= 0);
    out[axis] = whole ? (IrSlice){.count = tile->dim[axis].count, .step = 1} : apply(L, &r, &keys.key[k], axis);
  }
  return true;
}
