/* array_core.c -- room lang: the userdata of host arrays and of declarations (shape and dtype without data). */
#include <string.h>

#include "kernel.h"
#include "ndarray.h"

const char LANG_ARRAY[] = "nki.array";
const char LANG_DECL[] = "nki.decl";

enum { DATA_ALIGN = 64 };

LArray *lang_to_array(lua_State *L, int i) { return lang_array_at(L, i); }
LDecl *lang_to_decl(lua_State *L, int i) { return lang_decl_at(L, i); }

static void *take_block(lua_State *L, size_t size) {
  void *ud;
  lua_Alloc alloc = lua_getallocf(L, &ud);
  void *block = alloc(ud, NULL, 0, size);
  if (block) return block;
  lua_gc(L, LUA_GCCOLLECT); /* arrays that nobody holds any more */
  return alloc(ud, NULL, 0, size);
}

static LArray *push_empty(lua_State *L, DType dtype, int rank, const int64_t *shape) {
  int64_t count = 1, bytes = 0;
  bool fits = true;
  for (int i = 0; i < rank; i++) fits = fits && !__builtin_mul_overflow(count, shape[i], &count);
  fits = fits && !__builtin_mul_overflow(count, dtype_bytes(dtype), &bytes) && bytes <= INT64_MAX / 2;
  if (!fits) LANG_FAIL(L, host_shape, "array", "the size in bytes does not fit 62 bits");
  luaL_checkstack(L, 4, NULL);
  LArray *a = lua_newuserdatauv(L, sizeof *a, 1);
  *a = (LArray){.tag = LANG_ARRAY, .dtype = dtype, .rank = rank, .count = count, .nbytes = (size_t)bytes};
  if (rank > 0) memcpy(a->shape, shape, (size_t)rank * sizeof *shape);
  luaL_setmetatable(L, LANG_ARRAY);
  return a;
}

/* The bytes lie outside the userdata, so that a:free() gives them back at once. They come from the state's allocator,
   so that a limit on it holds for them too. */
LArray *lang_push_output(lua_State *L, DType dtype, int rank, const int64_t *shape) {
  LArray *a = push_empty(L, dtype, rank, shape);
  size_t size = a->nbytes + DATA_ALIGN;
  a->block = take_block(L, size);
  if (!a->block) lang_no_memory(L);
  a->block_size = size;
  a->data = (void *)(((uintptr_t)a->block + DATA_ALIGN - 1) & ~(uintptr_t)(DATA_ALIGN - 1));
#ifndef NDEBUG
  memset(a->data, 0xcd, a->nbytes); /* what is left of it shows */
#endif
  lang_extern_take(L, lang_ctx(L), size);
  return a;
}

LArray *lang_push_array(lua_State *L, DType dtype, int rank, const int64_t *shape) {
  LArray *a = lang_push_output(L, dtype, rank, shape);
  memset(a->data, 0, a->nbytes);
  return a;
}

void array_push_tensor(lua_State *L, SimTensor *t) {
  LArray *a = push_empty(L, t->dtype, t->rank, t->shape);
  a->block = a->data = t->data;
  a->block_size = a->nbytes + 1;
  t->data = NULL;
  lang_extern_take(L, lang_ctx(L), a->block_size);
}

void array_drop(lua_State *L, LArray *a) {
  void *ud, *data = a->data, *block = a->block;
  a->data = a->block = NULL;
  if (block) {
    lua_getallocf(L, &ud)(ud, block, a->block_size, 0);
    lang_extern_give(lang_ctx(L), a->block_size);
  }
  if (a->release && data) a->release(a->release_ud, data);
  a->release = NULL;
}

static int l_array_gc(lua_State *L) {
  LArray *a = lang_to_array(L, 1); /* a script can call this, too */
  if (a) array_drop(L, a);
  return 0;
}

/* ---- declarations ------------------------------------------------------------------------------------------------ */

void lang_push_decl(lua_State *L, DType dtype, int rank, const int64_t *shape) {
  LDecl *d = lua_newuserdatauv(L, sizeof *d, 0);
  *d = (LDecl){.tag = LANG_DECL, .dtype = dtype, .rank = rank};
  if (rank > 0) memcpy(d->shape, shape, (size_t)rank * sizeof *shape);
  luaL_setmetatable(L, LANG_DECL);
}

int array_decl(lua_State *L) {
  static const char *const names[] = {"shape", "dtype"};
  static const bool required[] = {true, true};
  static const BindSpec spec = {.func = "nki.decl", .names = names, .required = required, .n = 2, .list_mask = 1};
  int64_t dim[IR_MAX_RANK];
  lang_bind(L, &spec);
  int rank = array_shape_arg(L, 1, spec.func, dim);
  DType dtype = lang_check_dtype(L, 2, spec.func, "dtype");
  lang_push_decl(L, dtype, rank, dim);
  return 1;
}

static LDecl *self(lua_State *L, int i) {
  LDecl *d = lang_to_decl(L, i);
  if (!d) lang_kind_error(L, i, "decl", "self", "a declaration, which nki.decl makes");
  return d;
}

static int l_decl_index(lua_State *L) {
  const LDecl *d = self(L, 1);
  char clip[TEXT_CLIP + 4];
  const char *key = lua_type(L, 2) == LUA_TSTRING ? lang_name(L, 2, clip) : "";
  if (strcmp(key, "shape") == 0) return lang_push_shape(L, d->rank, d->shape), 1;
  if (strcmp(key, "dtype") == 0) return lua_pushstring(L, dtype_name(d->dtype)), 1;
  if (strcmp(key, "ndim") == 0) return lua_pushinteger(L, d->rank), 1;
  return LANG_FAIL(L, kernel_no_field, "a declaration", lua_type(L, 2) == LUA_TSTRING ? key : luaL_typename(L, 2),
                   " (it has shape, dtype", ", ndim", ")");
}

static int l_decl_eq(lua_State *L) {
  const LDecl *a = lang_to_decl(L, 1), *b = lang_to_decl(L, 2);
  bool equal = a && b && a->dtype == b->dtype && a->rank == b->rank;
  for (int i = 0; equal && i < a->rank; i++) equal = a->shape[i] == b->shape[i];
  lua_pushboolean(L, equal);
  return 1;
}

static int l_decl_tostring(lua_State *L) {
  const LDecl *d = self(L, 1);
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  luaL_addstring(&b, dtype_name(d->dtype));
  luaL_addchar(&b, '[');
  for (int i = 0; i < d->rank; i++) {
    if (i) luaL_addchar(&b, ',');
    lua_pushinteger(L, d->shape[i]);
    luaL_addvalue(&b);
  }
  luaL_addchar(&b, ']');
  luaL_pushresult(&b);
  return 1;
}

void array_open(lua_State *L) {
  static const luaL_Reg array_meta[] = {{"__gc", l_array_gc}, {NULL, NULL}};
  static const luaL_Reg decl_meta[] = {
      {"__index", l_decl_index}, {"__eq", l_decl_eq}, {"__tostring", l_decl_tostring}, {NULL, NULL}};
  luaL_newmetatable(L, LANG_ARRAY);
  luaL_setfuncs(L, array_meta, 0);
  array_metamethods(L);
  luaL_newmetatable(L, LANG_DECL);
  luaL_setfuncs(L, decl_meta, 0);
  lua_pop(L, 2);
}
