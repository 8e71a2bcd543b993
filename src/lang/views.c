/* views.c -- room lang: attributes and methods of NkiTensor. A method is a view (no instruction) unless its doc in
 * tile.def says copy. */
#include <stdio.h>

#include "nl.h"
#include "tile.h"

#define LIST(i) (1u << (i))
#define TM(name, body, arg, lists, params, doc) static int body(Call *call);

#include "tile.def"

enum {
  AT_none,
#define AT(name, doc) AT_##name,
#include "tile.def"
};

/* ---- helpers */

static const IrTile *self(const Call *call) { return nl_any_tile(call, 1); }

static int result(const Call *call, const IrTile *t) {
  lua_State *L = call->L;
  if (!t) lang_trace_error(L, call->t);
  lang_new_tile(L, call->c, t);
  return 1;
}

/* An axis, negative counting from the end; `extra` more places than axes (expand_dim). */
static int axis(const Call *call, const IrTile *t, int slot, int extra) {
  lua_State *L = call->L;
  int64_t d = lang_check_int(L, slot, call->row->bind.func, nl_param(call, slot)), n = t->rank + extra;
  if (d < 0) d += n;
  if (d < 0 || d >= n) {
    char what[64];
    snprintf(what, sizeof what, "%lld", (long long)lua_tointeger(L, slot));
    LANG_HERE(L, bind_value, call->row->bind.func, nl_param(call, slot), what, "no such axis of the tensor");
  }
  return (int)d;
}

static int dims(const Call *call, int slot, int64_t out[IR_MAX_RANK]) {
  lua_State *L = call->L;
  return lang_check_shape(L, slot, call->row->bind.func, nl_param(call, slot), out);
}

/* ---- attributes */

static void push_strides(lua_State *L, const IrTile *t) {
  lua_createtable(L, t->rank, 0);
  for (int d = 0; d < t->rank; d++) {
    lua_pushinteger(L, t->dim[d].stride);
    lua_rawseti(L, -2, d + 1);
  }
}

int tile_attribute(lua_State *L, LangCtx *c, const LTile *lt, int what) {
  int64_t shape[IR_MAX_RANK];
  if (what == AT_dtype) return lua_pushstring(L, dtype_name(lt->dtype)), 1;
  if (what == AT_buffer) return lang_push_space(L, c, lt->space), 1;
  if (what == AT_itemsize) return lua_pushinteger(L, dtype_bytes(lt->dtype)), 1;
  static const char *const names[] = {
      "NkiTensor",
#define AT(name, doc) "NkiTensor." #name,
#include "tile.def"
  };
  const IrTile *t = lang_live(L, c, lt, names[what], NULL);
  switch (what) {
    case AT_shape:
      for (int d = 0; d < t->rank; d++) shape[d] = t->dim[d].count;
      lang_push_shape(L, t->rank, shape);
      break;
    case AT_strides:
      push_strides(L, t);
      break;
    case AT_offset:
      lua_pushinteger(L, t->offset);
      break;
    case AT_name:
      lua_pushstring(L, c->trace->f->bufs[lt->buf]->name);
      break;
    case AT_ndim:
      lua_pushinteger(L, t->rank);
      break;
    case AT_size:
      lua_pushinteger(L, tile_count(t));
      break;
    default:
      lua_pushnil(L);
  }
  return 1;
}

/* ---- queries */

static int tile_is_contiguous_(Call *call) {
  lua_State *L = call->L;
  lua_pushboolean(L, tile_is_contiguous(call->t->f, self(call)));
  return 1;
}

static int tile_get_pattern(Call *call) {
  lua_State *L = call->L;
  const IrTile *t = self(call);
  lua_createtable(L, t->rank, 0);
  for (int d = 0; d < t->rank; d++) {
    lua_createtable(L, 2, 0);
    lua_pushinteger(L, t->dim[d].stride);
    lua_rawseti(L, -2, 1);
    lua_pushinteger(L, t->dim[d].count);
    lua_rawseti(L, -2, 2);
    lua_rawseti(L, -2, d + 1);
  }
  return 1;
}

static int tile_is_indirect(Call *call) {
  lua_State *L = call->L;
  const IrTile *t = self(call);
  lua_pushboolean(L, t->dyn != 0 || t->vec != NULL);
  return 1;
}

static int tile_assert_shape(Call *call) {
  lua_State *L = call->L;
  const IrTile *t = self(call);
  int64_t want[IR_MAX_RANK];
  int n = dims(call, 2, want);
  bool same = n == t->rank;
  for (int d = 0; same && d < n; d++) same = t->dim[d].count == want[d];
  if (!same) {
    char got[DESCRIBE], list[128] = "";
    size_t used = 0;
    for (int d = 0; d < n && used < sizeof list - 24; d++)
      used += (size_t)snprintf(list + used, sizeof list - used, "%s%lld", d ? ", " : "the shape {", (long long)want[d]);
    snprintf(list + used, sizeof list - used, "}");
    LANG_HERE(L, annotation_shape_mismatch, lang_describe(L, 1, got, sizeof got), list);
  }
  lua_settop(L, 1);
  return 1;
}

/* ---- views */

static int tile_permute(Call *call) {
  const IrTile *t = self(call);
  ViewCtx v = lang_view(call->t);
  int64_t order[IR_MAX_RANK];
  int n = dims(call, 2, order);
  for (int d = 0; d < n; d++)
    if (order[d] < 0) order[d] += t->rank;
  return result(call, view_permute(&v, t, order, n));
}

static int tile_broadcast(Call *call) {
  lua_State *L = call->L;
  const IrTile *t = self(call);
  ViewCtx v = lang_view(call->t);
  int d = axis(call, t, 2, 0);
  return result(call, view_broadcast(&v, t, d, lang_check_int(L, 3, call->row->bind.func, "size")));
}

static int tile_expand_dim(Call *call) {
  const IrTile *t = self(call);
  ViewCtx v = lang_view(call->t);
  return result(call, view_expand_dim(&v, t, axis(call, t, 2, 1)));
}

static int tile_squeeze_dim(Call *call) {
  const IrTile *t = self(call);
  ViewCtx v = lang_view(call->t);
  return result(call, view_squeeze_dim(&v, t, axis(call, t, 2, 0)));
}

static int tile_reshape_dim(Call *call) {
  const IrTile *t = self(call);
  ViewCtx v = lang_view(call->t);
  int64_t shape[IR_MAX_RANK];
  int d = axis(call, t, 2, 0), n = dims(call, 3, shape);
  return result(call, view_reshape_dim(&v, t, d, shape, n));
}

static int tile_flatten_dims(Call *call) {
  const IrTile *t = self(call);
  ViewCtx v = lang_view(call->t);
  int first = axis(call, t, 2, 0), last = axis(call, t, 3, 0);
  return result(call, view_flatten_dims(&v, t, first, last));
}

static int tile_reshape(Call *call) {
  const IrTile *t = self(call);
  ViewCtx v = lang_view(call->t);
  int64_t shape[IR_MAX_RANK];
  int n = dims(call, 2, shape);
  return result(call, view_reshape(&v, t, shape, n));
}

static int tile_slice(Call *call) {
  lua_State *L = call->L;
  const IrTile *t = self(call);
  ViewCtx v = lang_view(call->t);
  const char *func = call->row->bind.func;
  int d = axis(call, t, 2, 0);
  int64_t size = t->dim[d].count, start = lang_check_int(L, 3, func, "start"), end = lang_check_int(L, 4, func, "end");
  int64_t step = lua_isnil(L, 5) ? 1 : lang_check_int(L, 5, func, "step");
  if (step < 1) LANG_HERE(L, bind_value, func, "step", "below 1", "a slice moves forward");
  char what[96], limit[128], of[DESCRIBE];
  snprintf(what, sizeof what, "slice [%lld, %lld) of axis %d", (long long)start, (long long)end, d);
  if (start < 0) start += size;
  if (end < 0) end += size;
  if (start < 0 || start >= end || end > size) {
    bool empty = start >= end && start >= 0 && start <= size && end >= 0;
    snprintf(limit, sizeof limit, "%saxis %d has %lld elements",
             empty ? "it is empty, its stop must be above its start; " : "", d, (long long)size);
    LANG_HERE(L, tensor_access_out_of_bound, what, lang_describe(L, 1, of, sizeof of), limit);
  }
  return result(call,
                view_slice(&v, t, d, (IrSlice){.start = start, .count = (end - start - 1) / step + 1, .step = step}));
}

/* A run-time scalar: a register, an index value, or a (1,1) integer tile, which is loaded into a register now. scale:
 * elements per step. */
static bool scalar_offset(const Call *call, int slot, int64_t scale, uint32_t *idx) {
  lua_State *L = call->L;
  const LIndex *x = lang_index_at(L, slot);
  const char *func = call->row->bind.func, *param = nl_param(call, slot);
  if (x) {
    *idx = lang_index_value(L, call->c, lang_live_index(L, call->c, x, func, param), scale);
    return true;
  }
  const LTile *t = lang_tile_at(L, slot);
  if (!t) return false;
  LIndex r = {.coef = 1};
  Args_register_load a;
  nl_defaults(OP_register_load, &a);
  if (!tr_reg_alloc(call->t, NULL, &r.reg)) lang_trace_error(L, call->t);
  a.dst = (IrVal){.kind = V_REG, .u.reg = r.reg};
  a.src = nl_t(lang_live(L, call->c, t, func, param));
  nl_emit(call, OP_register_load, &a);
  *idx = lang_index_value(L, call->c, &r, scale);
  return true;
}

static int tile_select(Call *call) {
  lua_State *L = call->L;
  const IrTile *t = self(call);
  ViewCtx v = lang_view(call->t);
  int d = axis(call, t, 2, 0);
  IrSlice s = {.is_index = true, .count = 1, .step = 1};
  int64_t at;
  if (lang_to_int(L, 3, &at)) {
    s.start = at < 0 ? at + t->dim[d].count : at;
  } else if (scalar_offset(call, 3, t->dim[d].stride, &s.idx)) {
    s.dynamic = true;
  } else {
    lang_kind_error(L, 3, call->row->bind.func, "index", "an integer, a register, an index value or a (1,1) tile");
  }
  return result(call, view_select(&v, t, d, s));
}

static int tile_vector_select(Call *call) {
  const IrTile *t = self(call);
  ViewCtx v = lang_view(call->t);
  int d = axis(call, t, 2, 0);
  return result(call, view_vector_select(&v, t, d, nl_any_tile(call, 3)));
}

static int tile_indirect(Call *call) {
  lua_State *L = call->L;
  const IrTile *t = self(call);
  ViewCtx v = lang_view(call->t);
  const char *func = call->row->bind.func;
  int64_t n = lua_isnil(L, 3) ? 0 : lang_check_int(L, 3, func, "num_elem");
  if (!lua_isnil(L, 3) && n < 1) LANG_HERE(L, bind_value, func, "num_elem", "below 1", "a view has elements");
  return result(call, view_indirect(&v, t, nl_any_tile(call, 2), n));
}

static int read_pairs(const Call *call, int slot, int64_t *pairs) {
  lua_State *L = call->L;
  const char *func = call->row->bind.func;
  static const char want[] = "a list of {stride, count} pairs";
  size_t n = lang_list_length(L, slot);
  if (n < 1 || n > IR_MAX_RANK) lang_kind_error(L, slot, func, "pattern", want);
  for (size_t k = 0; k < n; k++) {
    lua_rawgeti(L, slot, (lua_Integer)k + 1);
    if (lang_list_length(L, -1) != 2) lang_kind_error(L, -1, func, "pattern", want);
    for (int j = 0; j < 2; j++) {
      lua_rawgeti(L, -1, j + 1);
      pairs[2 * k + (size_t)j] = lang_check_int(L, -1, func, "pattern");
      lua_pop(L, 1);
    }
    lua_pop(L, 1);
  }
  return (int)n;
}

/* Elements of the tensor that one step of an index on axis d passes over. */
static int64_t base_step(const IrBuf *b, int64_t d) {
  int64_t n = 1;
  for (int k = (int)d + 1; k < b->rank; k++) n *= b->shape[k];
  return n;
}

static int tile_ap(Call *call) {
  lua_State *L = call->L;
  const IrTile *t = self(call);
  ViewCtx v = lang_view(call->t);
  const char *func = call->row->bind.func;
  int64_t pairs[2 * IR_MAX_RANK], indirect = lua_isnil(L, 6) ? 0 : lang_check_int(L, 6, func, "indirect_dim");
  if (!lua_isnil(L, 7)) {
    DType to = lang_check_dtype(L, 7, func, "dtype");
    t = tr_cast(call->t, ir_whole(call->t->f, t->buf), to);
    if (!t) lang_trace_error(L, call->t);
  }
  const IrBuf *b = call->t->f->bufs[t->buf];
  if (indirect < 0 || indirect >= b->rank)
    LANG_HERE(L, bind_value, func, "indirect_dim", "no axis of the tensor", "axes count from 0");
  ViewAp ap = {.pairs = pairs, .indirect_dim = (int)indirect};
  ap.npairs = read_pairs(call, 2, pairs);
  if (!lua_isnil(L, 3)) {
    ap.has_offset = true;
    ap.offset = lang_check_int(L, 3, func, "offset");
  }
  if (!lua_isnil(L, 5)) ap.vec = nl_any_tile(call, 5);
  if (!lua_isnil(L, 4) && !scalar_offset(call, 4, base_step(b, indirect), &ap.scalar_idx))
    lang_kind_error(L, 4, func, "scalar_offset", "a register, an index value or a (1,1) tile");
  return result(call, view_ap(&v, t, &ap));
}

static int tile_view_(Call *call) {
  lua_State *L = call->L;
  const IrTile *t = self(call);
  return result(call, tr_cast(call->t, t, lang_check_dtype(L, 2, call->row->bind.func, "dtype")));
}

/* ---- through nl and the Lua half */

static int forward(const Call *call, const char *name) {
  lua_State *L = call->L;
  Call other = {L, call->c, nl_row(name), call->t};
  lua_settop(L, other.row->bind.n);
  return other.row->body(&other);
}
static int tile_astype(Call *call) { return forward(call, "copy"); }
static int tile_broadcast_to(Call *call) { return forward(call, "broadcast_to"); }
static int tile_expand_dims(Call *call) { return forward(call, "expand_dims"); }

/* The axis sizes of a pattern are a table with names as keys, which the binder would take for keywords; so keywords are
   looked for only when the pattern itself is among them. */
static int rearrange_entry(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  const LRow *row = lua_touserdata(L, lua_upvalueindex(2));
  int top = lua_gettop(L);
  if (top < 2 || top > 4 || (top == 2 && lua_type(L, 2) != LUA_TSTRING)) return lang_row_enter(L, c, row);
  if (lua_type(L, 2) == LUA_TSTRING && top == 3) {
    lua_pushnil(L);
    lua_insert(L, 3); /* no dst_pattern: it is in the string */
  }
  lua_settop(L, 4);
  return lang_row_body(L, c, row);
}

/* rearrange("b (h w) -> b w h", {h = 4}) or rearrange(src, dst, {h = 4}) with lists of names and lists of names. */
static int tile_rearrange(Call *call) {
  lua_State *L = call->L;
  self(call);
  lang_half(L, call->c, "nki.rearrange");
  lua_insert(L, 1);
  lua_call(L, 4, 1);
  return 1;
}

/* ---- the table of methods */

#define TM(name, body, arg, lists, params, doc) static const char *const names_##name[] = {params NULL};
#define A(x) #x,
#define O(x) #x,
#include "tile.def"

#define TM(name, body, arg, lists, params, doc) static const bool required_##name[] = {params false};
#define A(x) true,
#define O(x) false,
#include "tile.def"

static const LRow rows[] = {
#define TM(name_, body_, arg_, lists_, params_, doc_)                         \
  {.module = "NkiTensor",                                                     \
   .name = #name_,                                                            \
   .body = body_,                                                             \
   .arg = arg_,                                                               \
   .bind = {"NkiTensor." #name_, names_##name_, required_##name_,             \
            (int)(sizeof names_##name_ / sizeof *names_##name_) - 1, lists_}, \
   .doc = doc_},
#define A(x)
#define O(x)
#include "tile.def"
};

/* One table for each state: x.permute and nl.NkiTensor.permute are the same function. Nobody writes to it. */
void tile_push_methods(lua_State *L, LangCtx *c) {
  static const char methods;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &methods) == LUA_TTABLE) return;
  lua_pop(L, 1);
  lua_newtable(L);
#define AT(name, doc) (lua_pushinteger(L, AT_##name), lua_setfield(L, -2, #name));
#include "tile.def"
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    lua_pushlightuserdata(L, c);
    lua_pushlightuserdata(L, (void *)(uintptr_t)&rows[k]);
    lua_pushcclosure(L, rows[k].body == tile_rearrange ? rearrange_entry : lang_row_call, 2);
    lua_setfield(L, -2, rows[k].name);
  }
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &methods);
}
