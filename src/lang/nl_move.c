/* nl_move.c -- room lang: load, store, copies, transposes, matmul, selection, assignment to a view. */
#include <stdio.h>

#include "classic.h"
#include "nl.h"

static const IrTile *in_hbm(const Call *call, int slot) {
  lua_State *L = call->L;
  const IrTile *t = nl_any_tile(call, slot);
  char got[DESCRIBE];
  if (!space_is_hbm(nl_space_of(call, t)))
    LANG_HERE(L, unsupported_memory, call->row->module, call->row->name, nl_param(call, slot), "hbm",
              lang_describe(L, slot, got, sizeof got));
  return t;
}

static void check_matrix(const Call *call, const IrTile *t, int slot) {
  lua_State *L = call->L;
  char got[DESCRIBE], func[64];
  if (t->rank > 2) {
    snprintf(func, sizeof func, "%s: parameter '%s', ", call->row->bind.func, nl_param(call, slot));
    LANG_HERE(L, exceed_max_supported_dimension, func, lang_describe(L, slot, got, sizeof got), (int)t->rank, 2);
  }
  if (t->rank != 2) LANG_HERE(L, two_dimensional, call->row->bind.func, nl_param(call, slot), (int)t->rank);
}

static void dma(const Call *call, const IrTile *dst, const IrTile *src) {
  Args_dma_copy a;
  nl_defaults(OP_dma_copy, &a);
  a.dst = nl_t(dst);
  a.src = nl_t(src);
  nl_emit(call, OP_dma_copy, &a);
}

/* Raises. "nl.store" and "assignment" store y into x. */
static int differ(const Call *call, const char *func, const IrTile *x, const IrTile *y) {
  lua_State *L = call->L;
  bool stores = strcmp(func, "nl.store") == 0 || strcmp(func, "assignment") == 0;
  Text a, b;
  Diag *d = &call->c->diag;
  text_init(&a, call->c->alloc);
  text_init(&b, call->c->alloc);
  tile_describe(call->t->f, x, &a);
  tile_describe(call->t->f, y, &b);
  int64_t n = tile_parts(x) * tile_free(x), m = tile_parts(y) * tile_free(y);
  const char *dot = strchr(func, '.');
  if (stores && n < m)
    DIAG(d, store_dst_shape_smaller_than_other_shape, dot ? "nl" : "NkiTensor", dot ? dot + 1 : func, "dst",
         (long long)n, "", "value", (long long)m, text_str(&a), text_str(&b));
  else
    DIAG(d, shape_mismatch, func, text_str(&a), text_str(&b));
  text_free(&a);
  text_free(&b);
  return lang_raise_here(L, d);
}

int nl_load(Call *call) {
  lua_State *L = call->L;
  const IrTile *src = in_hbm(call, 1);
  if (src->rank < 2)
    LANG_HERE(L, bind_value, call->row->bind.func, "src", "of rank 1",
              "a tile has partitions and free elements: use src:reshape{1, n} or src:reshape{n, 1}");
  const IrTile *dst = nl_fresh_like(call, nl_dtype(call, 2, nl_dtype_of(call, src)), src);
  dma(call, dst, src);
  return nl_result(call, dst);
}

int nl_store(Call *call) {
  lua_State *L = call->L;
  const IrTile *dst = in_hbm(call, 1);
  Operand value = nl_operand(call, 2, false);
  char got[DESCRIBE];
  if (value.space == SP_psum)
    LANG_HERE(L, unsupported_memory, "nl", "store", "value", "sbuf (nl.copy brings it there)",
              lang_describe(L, 2, got, sizeof got));
  if (!nl_same_shape(dst, value.tile)) differ(call, "nl.store", dst, value.tile);
  if (call->c->partial && lang_tile_at(L, 2) && classic_assign(L, call->c, 1, 2)) return 0;
  dma(call, dst, value.tile);
  return 0;
}

int nl_load_transpose2d(Call *call) {
  const IrTile *src = in_hbm(call, 1);
  DType own = nl_dtype_of(call, src), out = nl_dtype(call, 2, own);
  check_matrix(call, src, 1);
  char got[DESCRIBE];
  if (src->vec || src->dyn)
    LANG_HERE(call->L, indirect_indices_are_not_supported_with_nki_api, "nl", "load_transpose2d", "src",
              lang_describe(call->L, 1, got, sizeof got));
  int64_t shape[2] = {src->dim[1].count, src->dim[0].count};
  const IrTile *dst = nl_fresh(call, SP_sbuf, own, 2, shape);
  Args_dma_transpose a;
  nl_defaults(OP_dma_transpose, &a);
  a.dst = nl_t(dst);
  a.src = nl_t(src);
  nl_emit(call, OP_dma_transpose, &a);
  return nl_result(call, nl_cast_to(call, dst, out));
}

int nl_copy(Call *call) {
  Operand x = nl_operand(call, 1, false);
  const IrTile *dst = nl_fresh_like(call, nl_dtype(call, 2, x.dtype), x.tile);
  nl_copy_to(call, dst, x.tile);
  return nl_result(call, dst);
}

/* Vector up to 32 x 32; Tensor engine into PSUM for floats; DMA for wide integers, which the Tensor engine does not
 * take. */
static const IrTile *transposed(const Call *call, const IrTile *x) {
  int64_t p = tile_parts(x), f = tile_free(x), shape[2] = {f, p};
  DType dtype = nl_dtype_of(call, x);
  bool small = p <= 32 && f <= 32, matmul = DM_MATMUL >> dtype & 1;
  if (!small) x = nl_to_sbuf(call, x);
  if (!small && !matmul) {
    if (x->dyn) x = nl_copied(call, x); /* gen2's DMA transposes what stands still */
    Args_dma_transpose t;
    nl_defaults(OP_dma_transpose, &t);
    const IrTile *dst = nl_fresh(call, SP_sbuf, dtype, 2, shape);
    t.dst = nl_t(dst);
    t.src = nl_t(x);
    nl_emit(call, OP_dma_transpose, &t);
    return dst;
  }
  Args_nc_transpose a;
  nl_defaults(OP_nc_transpose, &a);
  const IrTile *dst = nl_fresh(call, small ? SP_sbuf : SP_psum, dtype, 2, shape);
  a.dst = nl_t(dst);
  a.data = nl_t(x);
  a.engine = nl_i(small ? engine_vector : engine_tensor);
  nl_emit(call, OP_nc_transpose, &a);
  return dst;
}

int nl_transpose(Call *call) {
  Operand x = nl_operand(call, 1, false);
  check_matrix(call, x.tile, 1);
  return nl_result(call, nl_cast_to(call, transposed(call, x.tile), nl_dtype(call, 2, x.dtype)));
}

int nl_matmul(Call *call) {
  lua_State *L = call->L;
  Operand x = nl_operand(call, 1, false), y = nl_operand(call, 2, false);
  bool turned = lua_toboolean(L, 3);
  if (!lua_isnil(L, 3) && !lua_isboolean(L, 3)) lang_kind_error(L, 3, "nl.matmul", "transpose_x", "true or false");
  check_matrix(call, x.tile, 1);
  check_matrix(call, y.tile, 2);
  const IrTile *stationary = nl_to_sbuf(call, turned ? x.tile : transposed(call, x.tile));
  const IrTile *moving = nl_to_sbuf(call, y.tile);
  int64_t shape[2] = {tile_free(stationary), tile_free(moving)};
  if (tile_parts(stationary) != tile_parts(moving)) differ(call, "nl.matmul: the contracted axes", x.tile, y.tile);
  const IrTile *dst = nl_fresh(call, SP_psum, DT_float32, 2, shape);
  Args_nc_matmul a;
  nl_defaults(OP_nc_matmul, &a);
  a.dst = nl_t(dst);
  a.stationary = nl_t(stationary);
  a.moving = nl_t(moving);
  nl_emit(call, OP_nc_matmul, &a);
  return nl_result(call, dst);
}

/* One partition to all: DMA copies that double what is there; every dtype stays bit exact. */
static void spread_partitions(const Call *call, const IrTile *dst, const IrTile *src) {
  lua_State *L = call->L;
  ViewCtx v = lang_view(call->t);
  int64_t total = tile_parts(dst);
  IrSlice first = {.count = 1, .step = 1};
  const IrTile *to = view_slice(&v, dst, 0, first);
  if (!to) lang_trace_error(L, call->t);
  dma(call, to, src);
  for (int64_t have = 1; have < total;) {
    int64_t n = have < total - have ? have : total - have;
    const IrTile *from = view_slice(&v, dst, 0, (IrSlice){.count = n, .step = 1});
    to = view_slice(&v, dst, 0, (IrSlice){.start = have, .count = n, .step = 1});
    if (!from || !to) lang_trace_error(L, call->t);
    dma(call, to, from);
    have += n;
  }
}

static const IrTile *broadcast_to(const Call *call, const IrTile *x, int rank, const int64_t *shape, DType out) {
  bool spread = rank == x->rank && x->dim[0].count == 1 && shape[0] > 1;
  const IrTile *dst = nl_fresh(call, SP_sbuf, out, rank, shape);
  for (int d = 0; d < rank && rank == x->rank; d++)
    if (x->dim[d].count != shape[d] && x->dim[d].count != 1) differ(call, call->row->bind.func, x, dst);
  if (rank != x->rank) differ(call, call->row->bind.func, x, dst);
  if (!spread) {
    nl_copy_to(call, dst, nl_broadcast(call, x, rank, shape));
    return dst;
  }
  int64_t one[IR_MAX_RANK];
  memcpy(one, shape, sizeof *one * (size_t)rank);
  one[0] = 1;
  const IrTile *row = nl_fresh(call, SP_sbuf, out, rank, one);
  nl_copy_to(call, row, nl_broadcast(call, x, rank, one));
  spread_partitions(call, dst, row);
  return dst;
}

int nl_broadcast_to(Call *call) {
  lua_State *L = call->L;
  Operand x = nl_operand(call, 1, false);
  int64_t shape[IR_MAX_RANK];
  int rank = lang_check_shape(L, 2, call->row->bind.func, "shape", shape);
  DType out = call->row->bind.n > 2 ? nl_dtype(call, 3, x.dtype) : x.dtype;
  return nl_result(call, broadcast_to(call, x.tile, rank, shape, out));
}

int nl_expand_dims(Call *call) {
  lua_State *L = call->L;
  const IrTile *x = nl_any_tile(call, 1);
  int64_t axis = lang_check_int(L, 2, call->row->bind.func, "axis");
  ViewCtx v = lang_view(call->t);
  if (axis < 0) axis += x->rank + 1;
  if (axis < INT8_MIN || axis > INT8_MAX) axis = -1;
  const IrTile *r = view_expand_dim(&v, x, (int)axis);
  if (!r) lang_trace_error(L, call->t);
  return nl_result(call, r);
}

/* ---- selection */

/* A number or a tile of another dtype goes through `dst`-typed memory. */
static const IrTile *as_dtype(const Call *call, const Operand *o, DType dtype, int rank, const int64_t *shape) {
  return nl_broadcast(call, nl_cast_to(call, o->tile, dtype), rank, shape);
}

static const IrTile *predicate(const Call *call, const Operand *cond, bool other_in_psum) {
  uint32_t ready = DM(uint8) | DM(uint16) | DM(uint32) | DM(bool_);
  if (ready >> cond->dtype & 1) return other_in_psum ? nl_to_sbuf(call, cond->tile) : cond->tile;
  return nl_scaled(call, cond->tile, ALU_not_equal, 0, DT_uint8);
}

static DType where_type(const Operand *x, const Operand *y) {
  if (x->tile && y->tile) return dtype_promote(x->dtype, y->dtype);
  if (!x->tile && !y->tile) return x->integer && y->integer ? DT_int32 : DT_float32;
  const Operand *tile = x->tile ? x : y, *num = x->tile ? y : x;
  return dtype_promote(tile->dtype, num->integer ? DT_int32 : DT_float32);
}

int nl_where(Call *call) {
  Operand cond = nl_operand(call, 1, false), x = nl_operand(call, 2, true), y = nl_operand(call, 3, true);
  DType out = nl_dtype(call, 4, DT_none);
  int64_t shape[IR_MAX_RANK], other[IR_MAX_RANK];
  if (out == DT_none) out = where_type(&x, &y);
  int rank = nl_common_shape(call, &cond, x.tile ? &x : &cond, shape);
  nl_common_shape(call, &cond, y.tile ? &y : &cond, other);
  for (int d = 0; d < rank; d++) shape[d] = other[d] > shape[d] ? other[d] : shape[d];
  const IrTile *dst = nl_fresh(call, SP_sbuf, out, rank, shape);
  if (y.tile) {
    nl_copy_to(call, dst, nl_broadcast(call, y.tile, rank, shape));
  } else {
    Args_memset m;
    nl_defaults(OP_memset, &m);
    m.dst = nl_t(dst);
    m.value = nl_n(y.num);
    nl_emit(call, OP_memset, &m);
  }
  Args_tensor_copy_predicated a;
  nl_defaults(OP_tensor_copy_predicated, &a);
  const IrTile *src = x.tile ? as_dtype(call, &x, out, rank, shape) : NULL;
  bool in_psum = src && nl_space_of(call, src) == SP_psum;
  a.dst = nl_t(dst);
  a.src = src ? nl_t(src) : nl_n(x.num);
  a.predicate = nl_t(nl_broadcast(call, predicate(call, &cond, in_psum), rank, shape));
  nl_emit(call, OP_tensor_copy_predicated, &a);
  return nl_result(call, dst);
}

/* ---- t[key] = value */

static const LRow assign_row = {.module = "NkiTensor", .name = "assignment", .bind = {.func = "assignment"}};

static void assign_number(const Call *call, const IrTile *dst, double value) {
  lua_State *L = call->L;
  Args_memset m;
  nl_defaults(OP_memset, &m);
  bool hbm = space_is_hbm(nl_space_of(call, dst));
  const IrTile *to = dst;
  if (hbm && dst->rank > 1 && dst->dim[0].count > 128)
    LANG_HERE(L, bind_value, "assignment", "value", "a number for more than 128 rows of HBM",
              "fill at most 128 rows at a time");
  if (hbm && dst->rank > 1) to = nl_fresh_like(call, nl_dtype_of(call, dst), dst);
  if (hbm && dst->rank == 1)
    to = nl_fresh(call, SP_sbuf, nl_dtype_of(call, dst), 2, (const int64_t[]){1, dst->dim[0].count});
  m.dst = nl_t(to);
  m.value = nl_n(value);
  nl_emit(call, OP_memset, &m);
  if (hbm) dma(call, dst, to);
}

void nl_assign(lua_State *L, LangCtx *c, const IrTile *dst, int i) {
  Call call = {L, c, &assign_row, c->trace};
  const LTile *t = lang_tile_at(L, i);
  double number;
  if (lang_to_number(L, i, nl_dtype_of(&call, dst), &number)) {
    assign_number(&call, dst, number);
    return;
  }
  if (!t) lang_kind_error(L, i, "assignment", "value", "a tensor or a number");
  const IrTile *src = lang_live(L, c, t, "assignment", "value");
  if (!nl_same_shape(dst, src)) {
    int64_t shape[IR_MAX_RANK];
    bool fits = src->rank == dst->rank && src->dim[0].count == dst->dim[0].count;
    for (int d = 0; fits && d < dst->rank; d++) {
      shape[d] = dst->dim[d].count;
      fits = src->dim[d].count == shape[d] || src->dim[d].count == 1;
    }
    if (!fits) differ(&call, "assignment", dst, src);
    src = nl_broadcast(&call, src, dst->rank, shape);
  }
  if (space_on_chip(nl_space_of(&call, dst)) && space_on_chip(t->space))
    nl_copy_to(&call, dst, src);
  else
    dma(&call, dst, src);
}
