/* nl_create.c -- room lang: nl functions that make tensors. */
#include "nl.h"

static void read_address(const Call *call, int slot, IrBufSpec *spec) {
  lua_State *L = call->L;
  const char *func = call->row->bind.func;
  int64_t at[2];
  if (lua_isnil(L, slot)) return;
  if (lang_list_length(L, slot) != 2) lang_kind_error(L, slot, func, "address", "a list {partition, byte}");
  for (int k = 0; k < 2; k++) {
    lua_rawgeti(L, slot, k + 1);
    at[k] = lang_check_int(L, -1, func, "address");
    lua_pop(L, 1);
  }
  if (at[0] < 0 || at[0] > 127) LANG_HERE(L, bind_value, func, "address", "out of range", "partitions are 0 to 127");
  spec->has_address = true;
  spec->part = (int32_t)at[0];
  spec->byte = at[1];
}

static const char *read_name(const Call *call, int slot) {
  lua_State *L = call->L;
  size_t n;
  if (lua_isnil(L, slot)) return NULL;
  if (lua_type(L, slot) != LUA_TSTRING) lang_kind_error(L, slot, call->row->bind.func, "name", "a string");
  const char *s = lua_tolstring(L, slot, &n);
  if (!text_is_plain(s, n))
    LANG_HERE(L, bind_value, call->row->bind.func, "name", "not plain text", "names are UTF-8 without NUL");
  return n ? s : NULL; /* the public default is the empty string */
}

/* shape is parameter 1; dtype, buffer and name follow each other from slot `dtype` on. */
static IrBufSpec read_spec(const Call *call, int64_t shape[IR_MAX_RANK], int dtype) {
  IrBufSpec spec = {.shape = shape};
  spec.rank = lang_check_shape(call->L, 1, call->row->bind.func, "shape", shape);
  spec.dtype = nl_dtype(call, dtype, DT_none);
  spec.space = nl_space(call, dtype + 1, SP_sbuf);
  spec.name = read_name(call, dtype + 2);
  return spec;
}

static const IrTile *make(const Call *call, const IrBufSpec *spec) {
  lua_State *L = call->L;
  const IrTile *t = tr_ndarray(call->t, spec);
  if (!t) lang_trace_error(L, call->t);
  return t;
}

static void fill(const Call *call, const IrTile *t, double value) {
  Args_memset a;
  nl_defaults(OP_memset, &a);
  a.dst = nl_t(t);
  a.value = nl_n(value);
  nl_emit(call, OP_memset, &a);
}

static int made_with_value(const Call *call, const IrBufSpec *spec, double value) {
  lua_State *L = call->L;
  if (space_is_hbm(spec->space))
    LANG_HERE(L, hbm_tensor_with_init_value_not_supported, call->row->bind.func, space_name(spec->space));
  const IrTile *t = make(call, spec);
  fill(call, t, value);
  return nl_result(call, t);
}

int nl_ndarray(Call *call) {
  int64_t shape[IR_MAX_RANK];
  IrBufSpec spec = read_spec(call, shape, 2);
  read_address(call, 5, &spec);
  return nl_result(call, make(call, &spec));
}

int nl_filled(Call *call) {
  int64_t shape[IR_MAX_RANK];
  IrBufSpec spec = read_spec(call, shape, 2);
  return made_with_value(call, &spec, call->row->arg);
}

int nl_full(Call *call) {
  lua_State *L = call->L;
  int64_t shape[IR_MAX_RANK];
  IrBufSpec spec = read_spec(call, shape, 3);
  double value = 0;
  if (!lang_to_number(L, 2, spec.dtype, &value)) lang_kind_error(L, 2, call->row->bind.func, "fill_value", "a number");
  return made_with_value(call, &spec, value);
}

int nl_like(Call *call) {
  const IrTile *x = nl_any_tile(call, 1);
  int64_t shape[IR_MAX_RANK];
  IrBufSpec spec = {.shape = shape, .rank = x->rank};
  for (int d = 0; d < x->rank; d++) shape[d] = x->dim[d].count;
  spec.dtype = nl_dtype(call, 2, nl_dtype_of(call, x));
  spec.space = nl_space(call, 3, nl_space_of(call, x));
  spec.name = read_name(call, 4);
  if (call->row->arg) return made_with_value(call, &spec, 0);
  return nl_result(call, make(call, &spec));
}
