/* ndarray_file.c -- room lang: host arrays from and to files and byte strings. */
#include <stdlib.h>

#include "file.h"
#include "kernel.h"
#include "ndarray.h"

/* Tensors that were read and are not yet arrays; a userdata, so that nothing is lost when Lua raises. */
typedef struct Bag {
  Alloc alloc; /* the state's */
  Arena arena;
  TensorList list;
} Bag;

static int l_bag_gc(lua_State *L) {
  Bag *b = lua_touserdata(L, 1);
  for (uint32_t i = 0; i < b->list.n; i++) tensor_free(b->alloc, &b->list.entries[i].tensor);
  b->list.n = 0;
  arena_free(&b->arena);
  return 0;
}

static Bag *push_bag(lua_State *L) {
  Bag *b = lua_newuserdatauv(L, sizeof *b, 0);
  *b = (Bag){.list = {NULL, 0}};
  b->alloc.fn = lua_getallocf(L, &b->alloc.ud);
  arena_init(&b->arena, b->alloc);
  if (luaL_newmetatable(L, "nki.array.files")) {
    lua_pushcfunction(L, l_bag_gc);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  return b;
}

static const char *string_arg(lua_State *L, int i, const BindSpec *spec) {
  if (lua_type(L, i) != LUA_TSTRING) lang_kind_error(L, i, spec->func, spec->names[i - 1], "a string");
  return lua_tostring(L, i);
}

/* A string that files hold or the system takes, which end at a NUL byte. */
static const char *plain(lua_State *L, int i, const char *func, const char *what) {
  if (lang_has_nul(L, i)) lang_kind_error(L, i, func, what, "text without NUL bytes");
  return lua_tostring(L, i);
}

static const char *plain_arg(lua_State *L, int i, const BindSpec *spec) {
  string_arg(L, i, spec);
  return plain(L, i, spec->func, spec->names[i - 1]);
}

/* {w = nl.bfloat16, ...}: dtypes of single members. The table at i keeps the names alive. */
static void read_dtypes(lua_State *L, int i, Bag *bag, TensorAsk *ask) {
  uint32_t n = 0;
  for (lua_pushnil(L); lua_next(L, i); lua_pop(L, 1)) n++;
  MemberDtype *list = arena_newn(&bag->arena, MemberDtype, n + 1);
  if (!list) lang_raise(L, (DIAG0(&lang_ctx(L)->diag, nomem), &lang_ctx(L)->diag));
  ask->dtypes = list;
  for (lua_pushnil(L); lua_next(L, i); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING)
      lang_kind_error(L, -2, "nki.ndarray.load", "dtype", "a dtype or {name = dtype}");
    list[ask->ndtypes++] =
        (MemberDtype){plain(L, -2, "nki.ndarray.load", "dtype"), lang_check_dtype(L, -1, "nki.ndarray.load", "dtype")};
  }
}

/* load(path, member, dtype): one array; of an .npz or .safetensors without member, a table of all by name. dtype may
   then be a table {name = dtype} for some of them: .npz holds bfloat16 and float8 as raw bytes. */
int array_load(lua_State *L) {
  static const char *const names[] = {"path", "member", "dtype"};
  static const bool required[] = {true, false, false};
  static const BindSpec spec = {.func = "nki.ndarray.load", .names = names, .required = required, .n = 3};
  LangCtx *c = lang_ctx(L);
  lang_bind(L, &spec);
  TensorAsk ask = {.path = plain_arg(L, 1, &spec)};
  if (!lua_isnil(L, 2)) ask.member = plain_arg(L, 2, &spec);
  Bag *bag = push_bag(L);
  if (lua_istable(L, 3) && !ask.member && tensorfile_kind(ask.path) != TF_npy)
    read_dtypes(L, 3, bag, &ask);
  else
    ask.dtype = array_dtype_arg(L, 3, spec.func, DT_none);
  if (ask.member || tensorfile_kind(ask.path) == TF_npy) {
    bag->list.entries = arena_new(&bag->arena, TensorEntry);
    bool ok = bag->list.entries ? tensorfile_read(bag->alloc, &ask, &bag->list.entries->tensor, &c->diag)
                                : DIAG0(&c->diag, nomem);
    if (!ok) lang_raise(L, &c->diag);
    bag->list.n = 1;
    array_push_tensor(L, &bag->list.entries->tensor);
    return 1;
  }
  if (!tensorfile_read_all(&bag->arena, bag->alloc, &ask, &bag->list, &c->diag)) lang_raise(L, &c->diag);
  lua_createtable(L, 0, (int)bag->list.n);
  for (uint32_t i = 0; i < bag->list.n; i++) {
    lua_pushstring(L, bag->list.entries[i].name);
    array_push_tensor(L, &bag->list.entries[i].tensor);
    lua_rawset(L, -3);
  }
  return 1;
}

/* ---- save(path, array) and save(path, {name = array, ...}) ------------------------------------------------------- */

static SimTensor tensor_of(const LArray *a) {
  SimTensor t = {.dtype = a->dtype, .rank = a->rank, .data = a->data};
  memcpy(t.shape, a->shape, sizeof t.shape);
  return t;
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const TensorNamed *)a)->name, ((const TensorNamed *)b)->name);
}

/* The arrays of the table at i, sorted by name. */
static TensorNamed *list_of(lua_State *L, int i, Arena *arena, size_t *n) {
  static const char func[] = "nki.ndarray.save";
  size_t count = 0;
  for (lua_pushnil(L); lua_next(L, i); lua_pop(L, 1)) count++;
  TensorNamed *list = arena_newn(arena, TensorNamed, count);
  SimTensor *tensors = arena_newn(arena, SimTensor, count);
  *n = 0;
  for (lua_pushnil(L); list && tensors && lua_next(L, i); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING)
      lang_kind_error(L, -2, func, "arrays", "an array, or a table of arrays by name; it has a key that");
    const char *name = plain(L, -2, func, "arrays");
    tensors[*n] = tensor_of(array_check(L, lua_gettop(L), func, name));
    list[*n] = (TensorNamed){name, &tensors[*n]};
    ++*n;
  }
  if (list) qsort(list, *n, sizeof *list, by_name);
  return list;
}

int array_save(lua_State *L) {
  static const char *const names[] = {"path", "arrays"};
  static const bool required[] = {true, true};
  static const BindSpec spec = {.func = "nki.ndarray.save", .names = names, .required = required, .n = 2};
  LangCtx *c = lang_ctx(L);
  lua_settop(L, 2); /* a table here is the arrays by name, never keywords */
  const char *path = plain_arg(L, 1, &spec);
  Arena *arena = lang_scratch_arena(L, c);
  TensorNamed one, *list = &one;
  SimTensor tensor;
  size_t n = 1;
  if (lua_type(L, 2) == LUA_TTABLE) {
    list = list_of(L, 2, arena, &n);
    if (n == 0) LANG_FAIL(L, bind_value, spec.func, "arrays", "empty", "give at least one array");
  } else {
    tensor = tensor_of(array_check(L, 2, spec.func, "arrays"));
    one = (TensorNamed){"array", &tensor};
  }
  Text *out = lang_scratch_text(L, c);
  bool ok = arena->oom ? DIAG0(&c->diag, nomem) : tensorfile_write(path, list, n, out, &c->diag);
  if (!ok || !file_write(path, text_str(out), out->len, &c->diag)) lang_raise(L, &c->diag);
  return 0;
}

/* ---- bytes: exactly what is stored, row-major, little-endian ----------------------------------------------------- */

static int l_bytes(lua_State *L) {
  const LArray *a = array_check(L, 1, "array:bytes", "self");
  lang_at_most(L, "array:bytes", 2, 0);
  lua_pushlstring(L, a->data, a->nbytes);
  return 1;
}

int array_from_bytes(lua_State *L) {
  static const char *const names[] = {"bytes", "shape", "dtype"};
  static const bool required[] = {true, true, true};
  static const BindSpec spec = {
      .func = "nki.ndarray.from_bytes", .names = names, .required = required, .n = 3, .list_mask = 2};
  int64_t shape[IR_MAX_RANK];
  size_t n;
  lang_bind(L, &spec);
  string_arg(L, 1, &spec);
  const char *bytes = lua_tolstring(L, 1, &n);
  int rank = array_shape_arg(L, 2, spec.func, shape);
  LArray *a = lang_push_array(L, array_dtype_arg(L, 3, spec.func, DT_none), rank, shape);
  if (n != a->nbytes) {
    lua_pushfstring(L, "%I bytes given, %I needed", (LUAI_UACINT)n, (LUAI_UACINT)a->nbytes);
    LANG_FAIL(L, array_shape, spec.func, lua_tostring(L, -1));
  }
  memcpy(a->data, bytes, n);
  if (a->dtype == DT_bool_)
    for (size_t i = 0; i < n; i++) ((uint8_t *)a->data)[i] = bytes[i] != 0;
  return 1;
}

const luaL_Reg array_bytes_methods[] = {{"bytes", l_bytes}, {NULL, NULL}};
