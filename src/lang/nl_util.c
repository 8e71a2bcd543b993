/* nl_util.c -- room lang: what the bodies of nl functions share: operands, fresh tiles, copies, broadcasting. */
#include "nl.h"

void nl_defaults(Op op, void *args) {
  IrVal *v = args;
  for (int i = 0; i < op_info[op].nparams; i++) v[i] = op_info[op].params[i].def;
}

IrIns *nl_emit(const Call *call, Op op, const void *args) {
  lua_State *L = call->L;
  IrIns *ins = tr_emit(call->t, op, args, NULL);
  if (ins) return ins;
  diag_note(call->t->d, "issued by %s", call->row->bind.func);
  lang_trace_error(L, call->t);
  return NULL;
}

Operand nl_tile_operand(const Call *call, const IrTile *tile) {
  return (Operand){.tile = tile, .dtype = nl_dtype_of(call, tile), .space = nl_space_of(call, tile)};
}

/* The dtype that says whether true and false are numbers for the operand at slot: that of the operand beside it, the
   first two of most functions, the second and third of nl.where. */
static DType beside(const Call *call, int slot) {
  int first = call->row->body == nl_where ? 2 : 1;
  const LTile *t = lang_tile_at(call->L, slot == first ? first + 1 : first);
  return t ? t->dtype : DT_none;
}

Operand nl_operand(const Call *call, int slot, bool number_ok) {
  lua_State *L = call->L;
  const LTile *t = lang_tile_at(L, slot);
  const char *func = call->row->bind.func, *param = nl_param(call, slot);
  char got[DESCRIBE];
  if (t) {
    Operand o = {.tile = lang_live(L, call->c, t, func, param), .dtype = t->dtype, .space = t->space};
    if (!space_on_chip(t->space))
      LANG_HERE(L, unsupported_memory, call->row->module, call->row->name, param,
                "sbuf or psum (nl.load brings it there)", lang_describe(L, slot, got, sizeof got));
    return o;
  }
  Operand o = {.integer = !lua_isnumber(L, slot) || lua_isinteger(L, slot)};
  if (!number_ok || !lang_to_number(L, slot, beside(call, slot), &o.num))
    lang_kind_error(L, slot, func, param, number_ok ? "a tile or a number" : "a tile");
  return o;
}

const IrTile *nl_any_tile(const Call *call, int slot) {
  lua_State *L = call->L;
  const LTile *t = lang_tile_at(L, slot);
  if (!t) lang_kind_error(L, slot, call->row->bind.func, nl_param(call, slot), "a tensor");
  return lang_live(L, call->c, t, call->row->bind.func, nl_param(call, slot));
}

DType nl_dtype(const Call *call, int slot, DType dflt) {
  lua_State *L = call->L;
  return lua_isnil(L, slot) ? dflt : lang_check_dtype(L, slot, call->row->bind.func, nl_param(call, slot));
}

Space nl_space(const Call *call, int slot, Space dflt) {
  lua_State *L = call->L;
  if (lua_isnil(L, slot)) return dflt;
  const LToken *tok = lang_token_at(L, slot);
  if (!tok || tok->kind != TOK_SPACE)
    lang_kind_error(L, slot, call->row->bind.func, nl_param(call, slot),
                    "nl.sbuf, nl.psum, nl.private_hbm or nl.shared_hbm");
  return tok->space;
}

const IrTile *nl_fresh(const Call *call, Space space, DType dtype, int rank, const int64_t *shape) {
  lua_State *L = call->L;
  IrBufSpec spec = {.space = space, .dtype = dtype, .rank = rank, .shape = shape};
  const IrTile *t = tr_ndarray(call->t, &spec);
  if (!t) lang_trace_error(L, call->t);
  return t;
}

const IrTile *nl_fresh_like(const Call *call, DType dtype, const IrTile *like) {
  int64_t shape[IR_MAX_RANK];
  for (int d = 0; d < like->rank; d++) shape[d] = like->dim[d].count;
  return nl_fresh(call, SP_sbuf, dtype, like->rank, shape);
}

void nl_copy_to(const Call *call, const IrTile *dst, const IrTile *src) {
  Args_tensor_copy a;
  nl_defaults(OP_tensor_copy, &a);
  a.dst = nl_t(dst);
  a.src = nl_t(src);
  nl_emit(call, OP_tensor_copy, &a);
}

const IrTile *nl_cast_to(const Call *call, const IrTile *t, DType dtype) {
  if (nl_dtype_of(call, t) == dtype) return t;
  const IrTile *dst = nl_fresh_like(call, dtype, t);
  nl_copy_to(call, dst, t);
  return dst;
}

const IrTile *nl_to_sbuf(const Call *call, const IrTile *t) {
  return nl_space_of(call, t) == SP_psum ? nl_copied(call, t) : t;
}

const IrTile *nl_copied(const Call *call, const IrTile *t) {
  const IrTile *dst = nl_fresh_like(call, nl_dtype_of(call, t), t);
  nl_copy_to(call, dst, t);
  return dst;
}

const IrTile *nl_broadcast(const Call *call, const IrTile *t, int rank, const int64_t *shape) {
  lua_State *L = call->L;
  ViewCtx v = lang_view(call->t);
  for (int d = 1; d < rank; d++) {
    if (t->dim[d].count == shape[d]) continue;
    t = view_broadcast(&v, t, d, shape[d]);
    if (!t) lang_trace_error(L, call->t);
  }
  return t;
}

/* Raises: names both tiles. */
static int shapes_differ(const Call *call, const IrTile *x, const IrTile *y, int axis) {
  lua_State *L = call->L;
  Text a, b;
  Diag *d = &call->c->diag;
  text_init(&a, call->c->alloc);
  text_init(&b, call->c->alloc);
  tile_describe(call->t->f, x, &a);
  tile_describe(call->t->f, y, &b);
  const char *func = call->row->bind.func, *s = text_str(&a), *z = text_str(&b);
  if (axis < 0)
    DIAG(d, elementwise_rank, func, s, z);
  else if (axis == 0)
    DIAG(d, num_partition_mismatch, call->row->module, call->row->name, nl_param(call, 1), nl_param(call, 2), s, z);
  else
    DIAG(d, elementwise_shape, func, s, z, axis, (long long)x->dim[axis].count, (long long)y->dim[axis].count);
  text_free(&a);
  text_free(&b);
  return lang_raise_here(L, d);
}

int nl_common_shape(const Call *call, const Operand *x, const Operand *y, int64_t shape[IR_MAX_RANK]) {
  const IrTile *a = x->tile ? x->tile : y->tile, *b = y->tile ? y->tile : a;
  if (a->rank != b->rank) shapes_differ(call, a, b, -1);
  for (int d = 0; d < a->rank; d++) {
    int64_t m = a->dim[d].count, n = b->dim[d].count;
    if (m != n && (d == 0 || (m != 1 && n != 1))) shapes_differ(call, a, b, d);
    shape[d] = m > n ? m : n;
  }
  return a->rank;
}

bool nl_same_shape(const IrTile *a, const IrTile *b) {
  int i = 0, j = 0;
  for (;;) {
    while (i < a->rank && a->dim[i].count == 1) i++;
    while (j < b->rank && b->dim[j].count == 1) j++;
    if (i == a->rank || j == b->rank) return i == a->rank && j == b->rank;
    if (a->dim[i++].count != b->dim[j++].count) return false;
  }
}
