/* nl_reduce.c -- room lang: reductions over trailing free axes. */
#include "nl.h"

int nl_first_axis(lua_State *L, int at, const char *func, const IrTile *t) {
  int64_t list[IR_MAX_RANK];
  IrVal axis = {.kind = V_INTS, .u.ints = list};
  if (lua_type(L, at) == LUA_TTABLE)
    axis.n = (uint32_t)lang_check_shape(L, at, func, "axis", list);
  else
    axis = (IrVal){.kind = V_INT, .u.i = lang_check_int(L, at, func, "axis")};
  int first = ir_reduce_first(&axis, t->rank);
  if (first > 0) return first;
  Trace *trace = lang_ctx(L)->trace;
  ir_bad_reduce_axes(trace->f, t, &axis, (const char *[]){func, "axis"}, trace->d);
  return lang_trace_error(L, trace);
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

static bool flag(const Call *call, int slot) {
  lua_State *L = call->L;
  if (lua_isnoneornil(L, slot)) return false;
  if (!lua_isboolean(L, slot)) lang_kind_error(L, slot, call->row->bind.func, nl_param(call, slot), "true or false");
  return lua_toboolean(L, slot);
}

typedef struct Reduction {
  const IrTile *t;
  int first; /* reduced are this axis and all behind it */
  bool keep;
} Reduction;

static const IrTile *reduce(const Call *call, Reduction r, Alu op, DType out) {
  int64_t shape[IR_MAX_RANK];
  Args_tensor_reduce a;
  nl_defaults(OP_tensor_reduce, &a);
  int rank = reduced_shape(r.t, r.first, r.keep, shape), n = r.t->rank - r.first;
  const IrTile *dst = nl_fresh(call, SP_sbuf, out, rank, shape);
  int64_t *axes = arena_newn(&call->t->m->arena, int64_t, IR_MAX_RANK);
  if (!axes) DIAG0(call->t->d, nomem), lang_trace_error(call->L, call->t);
  for (int d = 0; d < n; d++) axes[d] = r.first + d;
  a.dst = nl_t(dst);
  a.op = nl_i(op);
  a.data = nl_t(r.t);
  a.axis = n == 1 ? nl_i(r.first) : (IrVal){.kind = V_INTS, .n = (uint32_t)n, .u.ints = axes};
  a.keepdims = nl_i(r.keep);
  nl_emit(call, OP_tensor_reduce, &a);
  return dst;
}

/* Axis and keepdims of the call. */
static Reduction reduction(const Call *call, const IrTile *t) {
  int first = nl_first_axis(call->L, 2, call->row->bind.func, t);
  return (Reduction){t, first, call->row->bind.n > 3 && flag(call, 4)};
}

int nl_reduce(Call *call) {
  Operand x = nl_operand(call, 1, false);
  return nl_result(call, reduce(call, reduction(call, x.tile), (Alu)call->row->arg, nl_dtype(call, 3, x.dtype)));
}

static double share(Reduction r) {
  int64_t n = 1;
  for (int d = r.first; d < r.t->rank; d++) n *= r.t->dim[d].count;
  return 1.0 / (double)n;
}

/* Sum in f32 times 1/n. */
static const IrTile *mean_of(const Call *call, Reduction r, DType out) {
  return nl_scaled(call, reduce(call, r, ALU_add, DT_float32), ALU_multiply, share(r), out);
}

/* Integers have no useful mean of their own type. */
static DType mean_type(DType d) { return dtype_is_int(d) ? DT_float32 : d; }

int nl_mean(Call *call) {
  Operand x = nl_operand(call, 1, false);
  Reduction r = reduction(call, x.tile);
  return nl_result(call, mean_of(call, r, nl_dtype(call, 3, mean_type(x.dtype))));
}

/* Two passes in f32: the mean, then the mean of the squared differences. The axes are kept, whatever keepdims says. */
int nl_var(Call *call) {
  Operand x = nl_operand(call, 1, false);
  Reduction r = reduction(call, x.tile);
  DType out = nl_dtype(call, 3, mean_type(x.dtype));
  r.keep = true;
  Operand mean = nl_tile_operand(call, mean_of(call, r, DT_float32));
  const IrTile *diff = nl_elementwise(call, ALU_subtract, &x, &mean, DT_float32);
  r.t = nl_activated(call, diff, ACT_square, DT_float32);
  return nl_result(call, mean_of(call, r, out));
}
