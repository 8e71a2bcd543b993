/* ndarray_shape.c -- room lang: copies of host arrays in another dtype, shape or order of axes. */
#include "ndarray.h"

static int l_copy(lua_State *L) {
  const LArray *a = array_check(L, 1, "array:copy", "self");
  lang_at_most(L, "array:copy", 2, 0);
  LArray *to = lang_push_array(L, a->dtype, a->rank, a->shape);
  memcpy(to->data, a->data, a->nbytes);
  return 1;
}

static int l_astype(lua_State *L) {
  const LArray *a = array_check(L, 1, "array:astype", "self");
  lang_at_most(L, "array:astype", 2, 1);
  array_astype(L, a, lang_check_dtype(L, 2, "array:astype", "dtype"));
  return 1;
}

static int bad_reshape(lua_State *L, const LArray *a, int rank, const int64_t *shape) {
  char from[ARRAY_TEXT], to[ARRAY_TEXT];
  lua_pushfstring(L, "shape %s cannot become %s: sizes are at least 1 (one may be -1) and multiply to %I",
                  array_shape_text(a->rank, a->shape, from), array_shape_text(rank, shape, to), (LUAI_UACINT)a->count);
  return LANG_FAIL(L, array_shape, "array:reshape", lua_tostring(L, -1));
}

static int l_reshape(lua_State *L) {
  const LArray *a = array_check(L, 1, "array:reshape", "self");
  lang_at_most(L, "array:reshape", 2, 1);
  int64_t shape[IR_MAX_RANK], known = 1;
  int rank = lang_check_shape(L, 2, "array:reshape", "shape", shape), open = -1;
  for (int k = 0; k < rank; k++) {
    bool fits = shape[k] == -1 || (shape[k] >= 1 && !__builtin_mul_overflow(known, shape[k], &known));
    if (!fits || (shape[k] == -1 && open >= 0)) return bad_reshape(L, a, rank, shape);
    if (shape[k] == -1) open = k;
  }
  if (open < 0 ? known != a->count : a->count % known != 0) return bad_reshape(L, a, rank, shape);
  if (open >= 0) shape[open] = a->count / known;
  LArray *to = lang_push_array(L, a->dtype, rank, shape);
  memcpy(to->data, a->data, a->nbytes);
  return 1;
}

/* ---- transpose(axes): result axis k is axis axes[k]; without axes they are reversed ------------------------------ */

static void order_of(lua_State *L, const LArray *a, int order[IR_MAX_RANK]) {
  static const char func[] = "array:transpose";
  uint32_t seen = 0;
  for (int k = 0; k < a->rank; k++) order[k] = a->rank - 1 - k;
  if (lua_isnoneornil(L, 2)) return;
  if (lua_type(L, 2) != LUA_TTABLE || !lang_is_list(L, 2)) lang_kind_error(L, 2, func, "axes", "a list of axes");
  for (int k = 0; k < a->rank; k++) {
    lua_rawgeti(L, 2, k + 1);
    order[k] = array_axis(L, lua_gettop(L), a, func);
    seen |= 1u << order[k];
    lua_pop(L, 1);
  }
  if ((int)lua_rawlen(L, 2) != a->rank || seen != (1u << a->rank) - 1)
    LANG_FAIL(L, bind_value, func, "axes", "no order of the axes", "name each axis once");
}

static int l_transpose(lua_State *L) {
  const LArray *a = array_check(L, 1, "array:transpose", "self");
  lang_at_most(L, "array:transpose", 2, 1);
  int order[IR_MAX_RANK] = {0};
  int64_t shape[IR_MAX_RANK], step[IR_MAX_RANK], stride[IR_MAX_RANK], index[IR_MAX_RANK] = {0}, from = 0,
                                                                      size = dtype_bytes(a->dtype);
  order_of(L, a, order);
  for (int k = a->rank - 1; k >= 0; k--) step[k] = k == a->rank - 1 ? 1 : step[k + 1] * a->shape[k + 1];
  for (int k = 0; k < a->rank; k++) {
    shape[k] = a->shape[order[k]];
    stride[k] = step[order[k]];
  }
  LArray *to = lang_push_array(L, a->dtype, a->rank, shape);
  for (int64_t i = 0; i < a->count; i++) {
    memcpy((char *)to->data + i * size, (const char *)a->data + from * size, (size_t)size);
    for (int k = a->rank - 1; k >= 0; k--) {
      from += stride[k];
      if (++index[k] < shape[k]) break;
      from -= stride[k] * shape[k];
      index[k] = 0;
    }
  }
  return 1;
}

const luaL_Reg array_shape_methods[] = {
    {"copy", l_copy}, {"astype", l_astype}, {"reshape", l_reshape}, {"transpose", l_transpose}, {NULL, NULL}};
