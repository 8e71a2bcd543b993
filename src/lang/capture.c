/* capture.c -- room lang: captured state, the part of a cache key that is not an argument: what the kernel function can
   reach by its upvalues and by the globals whose names occur in it. It is walked at every call, so that an answer is
   never stale; the walk calls no Lua (but an environment's own __index function) and, once every function's code is
   known, allocates nothing. No address and no order of pairs gets into the bytes. */
#include <stdio.h>
#include <string.h>

#include "capture.h"

enum { MAX_DEPTH = 1000, LEVELS = 8, LEVEL_SLOTS = 24 };

void *capture_grow(lua_State *L, LangCtx *c, void *p, size_t *cap, size_t size) {
  size_t want = *cap ? *cap * 2 : 32;
  void *q = alloc_grow(&c->alloc, p, *cap * size, want * size);
  if (!q) lang_no_memory(L);
  *cap = want;
  return q;
}

void capture_weak_table(lua_State *L) {
  lua_newtable(L);
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "k");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
}

void capture_open(lua_State *L, LangCtx *c) {
  Capture *k = c->capture = alloc_new(&c->alloc, sizeof *k);
  if (!k) lang_no_memory(L);
  *k = (Capture){.walk = 0};
  text_init(&k->bytes, c->alloc);
  capture_weak_table(L);
  k->dumps_ref = luaL_ref(L, LUA_REGISTRYINDEX);
  capture_weak_table(L);
  k->names_ref = luaL_ref(L, LUA_REGISTRYINDEX);
  capture_weak_table(L);
  k->serials_ref = luaL_ref(L, LUA_REGISTRYINDEX);
}

void capture_free(LangCtx *c) {
  Capture *k = c->capture;
  if (!k) return;
  text_free(&k->bytes);
  alloc_free(&c->alloc, k->seen, k->nslots * sizeof *k->seen);
  alloc_free(&c->alloc, k->marks, k->capmarks * sizeof *k->marks);
  alloc_free(&c->alloc, k->keys, k->capkeys * sizeof *k->keys);
  alloc_free(&c->alloc, k, sizeof *k);
  c->capture = NULL;
}

const Text *capture_bytes(const LangCtx *c) { return &c->capture->bytes; }
const char *capture_unsure(const LangCtx *c) { return c->capture->unsure; }
const char *capture_serial(const LangCtx *c) {
  return c->capture->by_serial ? capture_name_at(c, c->capture->serial_at) : NULL;
}

const char *capture_name_at(const LangCtx *c, size_t at) {
  const Capture *k = c->capture;
  const char *name = "captured state";
  for (size_t i = 0; i < k->nmarks && k->marks[i].at <= at; i++) name = k->marks[i].name;
  return name;
}

static void put_number(Capture *k, lua_State *L, int i) {
  uint64_t bits;
  if (lua_isinteger(L, i)) {
    put_tag(k, 'i');
    put_u64(k, (uint64_t)lua_tointeger(L, i));
    return;
  }
  lua_Number f = lua_tonumber(L, i);
  memcpy(&bits, &f, sizeof bits);
  put_tag(k, 'f');
  put_u64(k, f == f ? bits : 0);
  put_tag(k, f == f ? '=' : '?');
}

lua_Integer capture_serial_of(lua_State *L, Capture *k, int i) {
  i = lua_absindex(L, i);
  lua_rawgeti(L, LUA_REGISTRYINDEX, k->serials_ref);
  lua_pushvalue(L, i);
  if (lua_rawget(L, -2) == LUA_TNIL) {
    lua_pop(L, 1);
    lua_pushvalue(L, i);
    lua_pushinteger(L, (lua_Integer)++k->serial);
    lua_rawset(L, -3);
    lua_pushinteger(L, (lua_Integer)k->serial);
  }
  lua_Integer serial = lua_tointeger(L, -1);
  lua_pop(L, 2);
  return serial;
}

void capture_put_serial(lua_State *L, Capture *k, int i) {
  if (!k->by_serial) k->serial_at = k->bytes.len;
  k->by_serial = true;
  lua_Integer serial = capture_serial_of(L, k, i);
  put_tag(k, 'S');
  put_u64(k, (uint64_t)serial);
}

/* ---- userdata ---------------------------------------------------------------------------------------------------- */

static void put_type(Capture *k, char tag, DType dtype, int rank, const int64_t *shape) {
  put_tag(k, tag);
  put_tag(k, (char)dtype);
  put_tag(k, (char)rank);
  for (int i = 0; i < rank; i++) put_u64(k, (uint64_t)shape[i]);
}

static void put_axis(Capture *k, int64_t size, IrCores cores) {
  put_u64(k, (uint64_t)size);
  put_u64(k, (uint64_t)cores.count);
  put_u64(k, (uint64_t)cores.block);
}

static void walk_kernel(lua_State *L, LangCtx *c, int i, const LKernel *kernel) {
  Capture *k = c->capture;
  const KernelCore *core = kernel->core;
  put_bytes(k, 'K', core->func_name, strlen(core->func_name));
  put_tag(k, (char)core->mode);
  put_tag(k, (char)kernel->ngrid);
  for (int g = 0; g < kernel->ngrid; g++) put_axis(k, kernel->grid[g], kernel->cores[g]);
  kernel_push_function(L, i);
  capture_walk(L, c, lua_gettop(L));
  lua_pop(L, 1);
}

/* A file that is read gives something else every time; what an object of another C library holds cannot be told. */
static void walk_object(lua_State *L, Capture *k, int i) {
  const luaL_Stream *file = luaL_testudata(L, i, LUA_FILEHANDLE);
  if (file && file->closef && (file->f == stdout || file->f == stderr)) {
    put_bytes(k, 'O', file->f == stdout ? "stdout" : "stderr", 6);
    return;
  }
  k->unsure = file ? "a file" : "an object of a C library";
  capture_put_serial(L, k, i);
}

static void walk_userdata(lua_State *L, LangCtx *c, int i) {
  Capture *k = c->capture;
  const LToken *token = lang_to_token(L, i);
  if (token) {
    put_bytes(k, 'k', token->name, strlen(token->name));
    return;
  }
  const LArray *a = lang_to_array(L, i);
  if (a) {
    put_type(k, a->data ? 'A' : 'F', a->dtype, a->rank, a->shape); /* F: freed */
    if (a->data) put_raw(k, a->data, a->nbytes);
    return;
  }
  const LDecl *d = lang_to_decl(L, i);
  if (d) {
    put_type(k, 'Y', d->dtype, d->rank, d->shape);
    return;
  }
  const LCores *cores = lang_cores_at(L, i);
  if (cores) {
    put_tag(k, 'c');
    put_axis(k, cores->size, cores->cores);
    return;
  }
  const LKernel *kernel = lang_to_kernel(L, i);
  if (!kernel) {
    walk_object(L, k, i);
  } else if (!capture_seen(L, c, kernel)) {
    walk_kernel(L, c, i, kernel);
  }
}

const char *capture_walk(lua_State *L, LangCtx *c, int i) {
  Capture *k = c->capture;
  const char *name = NULL;
  if (++k->depth > MAX_DEPTH) LANG_FAIL(L, captured_state_deep, MAX_DEPTH);
  if (k->depth % LEVELS == 0) luaL_checkstack(L, LEVELS * LEVEL_SLOTS, NULL);
  switch (lua_type(L, i)) {
    case LUA_TNIL:
      put_tag(k, 'n');
      break;
    case LUA_TBOOLEAN:
      put_tag(k, lua_toboolean(L, i) ? 't' : 'b');
      break;
    case LUA_TNUMBER:
      put_number(k, L, i);
      break;
    case LUA_TSTRING: {
      size_t n;
      const char *s = lua_tolstring(L, i, &n);
      put_bytes(k, 's', s, n);
      break;
    }
    case LUA_TTABLE:
      name = capture_walk_table(L, c, i);
      break;
    case LUA_TFUNCTION:
      capture_walk_function(L, c, i);
      break;
    case LUA_TUSERDATA:
      walk_userdata(L, c, i);
      break;
    default:
      if (lua_isthread(L, i)) k->unsure = "a coroutine";
      capture_put_serial(L, k, i); /* light userdata, threads */
  }
  k->depth--;
  return name;
}

bool capture_is_library(const char *name) {
  return name && strncmp(name, "nki", 3) != 0 && strcmp(name, LUA_GNAME) != 0;
}

void capture_walk_part(lua_State *L, LangCtx *c, int i) {
  if (capture_is_library(capture_walk(L, c, i))) capture_walk_content(L, c, i);
}

void capture_begin(LangCtx *c, const char *dir) {
  Capture *k = c->capture;
  text_clear(&k->bytes);
  k->count = 0;
  k->nmarks = k->nkeys = 0;
  k->depth = 0;
  k->unsure = NULL;
  k->by_serial = k->assigns = false;
  k->dir = dir;
  if (++k->walk == 0) { /* the numbers of old walks come round again */
    memset(k->seen, 0, k->nslots * sizeof *k->seen);
    k->walk = 1;
  }
}

void capture_add(lua_State *L, LangCtx *c, int function) {
  Capture *k = c->capture;
  luaL_checkstack(L, LEVELS * LEVEL_SLOTS, NULL);
  function = lua_absindex(L, function);
  int top = lua_gettop(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, k->dumps_ref);
  lua_rawgeti(L, LUA_REGISTRYINDEX, k->names_ref);
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  k->dumps = top + 1;
  k->names = top + 2;
  k->globals = lua_topointer(L, top + 3);
  if (!k->named) capture_name_standard(L, k->names);
  k->named = true;
  capture_walk(L, c, function);
  if (k->assigns) capture_walk_strings(L, c);
  lua_settop(L, top);
  if (k->bytes.oom) lang_no_memory(L);
}
