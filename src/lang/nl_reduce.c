/* nl_reduce.c -- room lang: reductions over trailing free axes. */
#include "nl.h"

/* axis at slot 2: an integer or a list -> the first reduced axis; the run must end at the last axis and not include axis 0. */
static int first_axis(lua_State *L, const Call *call, const IrTile *t) {
  int64_t axis[IR_MAX_RANK];
  int n = 1, first = t->rank;
  bool seen[IR_MAX_RANK] = {false};
  const char *func = call->row->bind.func;
  if (lua_type(L, 2) == LUA_TTABLE)
    n = lang_check_shape(L, 2, func, "axis", axis);
  else
    axis[0] = lang_check_int(L, 2, func, "axis");
  for (int k = 0; k < n; k++) {
    int64_t a = axis[k] < 0 ? axis[k] + t->rank : axis[k];
    if (a < 1 || a >= t->rank || seen[a])
      LANG_HERE(L, bind_value, func, "axis", "not a set of free axes", "axis 0 is the partition axis, and each axis counts once");
    seen[a] = true;
    if (a < first) first = (int)a;
  }
  for (int a = first; a < t->rank; a++)
    if (!seen[a])
      LANG_HERE(L, bind_value, func, "axis", "not a run of axes that ends at the last one", "only trailing free axes are reduced");
  if (n == 0) LANG_HERE(L, bind_value, func, "axis", "an empty list", "name at least one free axis");
  return first;
}

static int reduced_shape(const IrTile *t, int first, bool keep, int64_t shape[IR_MAX_RANK]) {
  int rank = 0;
  for (int d = 0; d < t->rank; d++) {
    if (d < first)
      shape[rank++] = t->dim[d].count;
    else if (keep)
      shape[rank++] = 1;
  }
  if (rank < 2) shape[rank++] = 1;
  return rank;
}

static bool flag(lua_State *L, const Call *call, int slot) {
  if (lua_isnoneornil(L, slot)) return false;
  if (!lua_isboolean(L, slot)) lang_kind_error(L, slot, call->row->bind.func, nl_param(call, slot), "true or false");
  return lua_toboolean(L, slot);
}

static const IrTile *reduce(lua_State *L, const Call *call, const IrTile *t, Alu op, int first, bool keep, DType out) {
  int64_t shape[IR_MAX_RANK];
  Args_tensor_reduce a;
  nl_defaults(OP_tensor_reduce, &a);
  int rank = reduced_shape(t, first, keep, shape);
  const IrTile *dst = nl_fresh(L, call, SP_sbuf, out, rank, shape);
  int64_t *axes = arena_newn(&call->t->m->arena, int64_t, IR_MAX_RANK);
  if (!axes) DIAG0(call->t->d, nomem), lang_trace_error(L, call->t);
  for (int d = first; d < t->rank; d++) axes[d - first] = d;
  a.dst = nl_t(dst);
  a.op = nl_i(op);
  a.data = nl_t(t);
  a.axis = first == t->rank - 1 ? nl_i(first) : (IrVal){.kind = V_INTS, .n = (uint32_t)(t->rank - first), .u.ints = axes};
  a.keepdims = nl_i(keep);
  nl_emit(L, call, OP_tensor_reduce, &a);
  return dst;
}

int nl_reduce(lua_State *L, Call *call) {
  Operand x = nl_operand(L, call, 1, false);
  int first = first_axis(L, call, x.tile);
  bool keep = call->row->bind.n > 3 && flag(L, call, 4);
  return nl_result(L, call, reduce(L, call, x.tile, (Alu)call->row->arg, first, keep, nl_dtype(L, call, 3, x.dtype)));
}

static double share(const IrTile *t, int first) {
  int64_t n = 1;
  for (int d = first; d < t->rank; d++) n *= t->dim[d].count;
  return 1.0 / (double)n;
}

/* Integers have no useful mean of their own type. */
static DType mean_type(DType d) { return dtype_is_int(d) ? DT_float32 : d; }

int nl_mean(lua_State *L, Call *call) {
  Operand x = nl_operand(L, call, 1, false);
  int first = first_axis(L, call, x.tile);
  bool keep = flag(L, call, 4);
  DType out = nl_dtype(L, call, 3, mean_type(x.dtype));
  const IrTile *sum = reduce(L, call, x.tile, ALU_add, first, keep, DT_float32);
  return nl_result(L, call, nl_scaled(L, call, sum, ALU_multiply, share(x.tile, first), out));
}

/* Two passes in f32: the mean, then the mean of the squared differences. */
int nl_var(lua_State *L, Call *call) {
  Operand x = nl_operand(L, call, 1, false);
  int first = first_axis(L, call, x.tile);
  double each = share(x.tile, first);
  DType out = nl_dtype(L, call, 3, mean_type(x.dtype));
  (void)flag(L, call, 4); /* the axes are always kept */
  const IrTile *mean = nl_scaled(L, call, reduce(L, call, x.tile, ALU_add, first, true, DT_float32), ALU_multiply, each, DT_float32);
  Operand m = nl_tile_operand(call, mean);
  const IrTile *diff = nl_elementwise(L, call, ALU_subtract, &x, &m, DT_float32);
  const IrTile *square = nl_activated(L, call, diff, ACT_square, DT_float32);
  const IrTile *sum = reduce(L, call, square, ALU_add, first, true, DT_float32);
  return nl_result(L, call, nl_scaled(L, call, sum, ALU_multiply, each, out));
}
