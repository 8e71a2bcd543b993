/* nl_elem.c -- room lang: element-wise nl functions and the operators of tiles. */
#include <math.h>

#include "classic.h"
#include "nl.h"

/* ---- result types (facts: classic promotion; comparisons and bit operations keep the tile's type against a number) */

static bool keeps_type(Alu op) {
  AluClass cls = alu_info[op].cls;
  return cls == AC_CMP || cls == AC_LOGIC || cls == AC_BITVEC;
}

static DType result_type(const Operand *x, const Operand *y, bool keeps) {
  if (x->tile && y->tile) return dtype_promote(x->dtype, y->dtype);
  const Operand *tile = x->tile ? x : y, *num = x->tile ? y : x;
  if (keeps) return tile->dtype;
  return dtype_promote(tile->dtype, num->integer ? DT_int32 : DT_float32);
}

/* ---- two operands */

/* One value per partition that tensor_scalar can take: arithmetic in f32 either way, at half the cost of two full
 * tiles. */
static bool is_column(const Operand *o, const IrTile *other) {
  return o->tile && o->dtype == DT_float32 && tile_free(o->tile) == 1 && tile_free(other) > 1 &&
         o->tile->rank == other->rank;
}

static Args_tensor_scalar scalar_args(Alu op, const IrTile *dst, const IrTile *data) {
  Args_tensor_scalar a;
  nl_defaults(OP_tensor_scalar, &a);
  a.dst = nl_t(dst);
  a.data = nl_t(data);
  a.op0 = nl_i(op);
  return a;
}

/* dst = data op operand; reversed: dst = operand op data */
static void emit_scalar(const Call *call, Args_tensor_scalar a, IrVal operand, bool reversed) {
  a.operand0 = operand;
  a.reverse0 = nl_i(reversed);
  nl_emit(call, OP_tensor_scalar, &a);
}

static void emit_tensors(const Call *call, Alu op, const IrTile *dst, const IrTile *x, const IrTile *y) {
  Args_tensor_tensor a;
  nl_defaults(OP_tensor_tensor, &a);
  a.dst = nl_t(dst);
  a.data1 = nl_t(x);
  a.data2 = nl_t(y);
  a.op = nl_i(op);
  nl_emit(call, OP_tensor_tensor, &a);
}

const IrTile *nl_elementwise(const Call *call, Alu op, const Operand *x, const Operand *y, DType out) {
  int64_t shape[IR_MAX_RANK];
  int rank = nl_common_shape(call, x, y, shape);
  const IrTile *a = x->tile, *b = y->tile;
  bool bits = alu_info[op].cls == AC_BITVEC;
  if (op == ALU_power) { /* GpSimd does not reach PSUM */
    a = a ? nl_to_sbuf(call, a) : a;
    b = b ? nl_to_sbuf(call, b) : b;
  }
  if (a && b && x->space == SP_psum && y->space == SP_psum) b = nl_to_sbuf(call, b);
  const IrTile *dst = nl_fresh(call, SP_sbuf, out, rank, shape);
  if (!b)
    emit_scalar(call, scalar_args(op, dst, a), nl_n(y->num), false);
  else if (!a)
    emit_scalar(call, scalar_args(op, dst, b), nl_n(x->num), true);
  else if (!bits && is_column(y, a))
    emit_scalar(call, scalar_args(op, dst, a), nl_t(b), false);
  else if (!bits && is_column(x, b))
    emit_scalar(call, scalar_args(op, dst, b), nl_t(a), true);
  else
    emit_tensors(call, op, dst, nl_broadcast(call, a, rank, shape), nl_broadcast(call, b, rank, shape));
  return dst;
}

static int both_numbers(const Call *call) { return LANG_HERE(call->L, elementwise_numbers, call->row->bind.func); }

int nl_binary(Call *call) {
  lua_State *L = call->L;
  bool tables = lua_type(L, 1) == LUA_TTABLE || lua_type(L, 2) == LUA_TTABLE;
  if (tables && classic_binary(L, call->c, call->row)) return 1;
  Operand x = nl_operand(call, 1, true), y = nl_operand(call, 2, true);
  Alu op = (Alu)call->row->arg;
  if (!x.tile && !y.tile) return both_numbers(call);
  DType out = nl_dtype(call, 3, DT_none);
  if (out == DT_none) out = result_type(&x, &y, keeps_type(op));
  return nl_result(call, nl_elementwise(call, op, &x, &y, out));
}

int nl_sim_binary(Call *call) {
  Operand x = nl_operand(call, 1, true), y = nl_operand(call, 2, true);
  int64_t shape[IR_MAX_RANK];
  if (!x.tile && !y.tile) return both_numbers(call);
  DType out = nl_dtype(call, 3, DT_none);
  if (out == DT_none) out = result_type(&x, &y, false);
  int rank = nl_common_shape(call, &x, &y, shape);
  Args_sim_binary a;
  nl_defaults(OP_sim_binary, &a);
  const IrTile *dst = nl_fresh(call, SP_sbuf, out, rank, shape);
  a.dst = nl_t(dst);
  a.data1 = x.tile ? nl_t(nl_broadcast(call, x.tile, rank, shape)) : nl_n(x.num);
  a.data2 = y.tile ? nl_t(nl_broadcast(call, y.tile, rank, shape)) : nl_n(y.num);
  a.op = nl_i(call->row->arg);
  nl_emit(call, OP_sim_binary, &a);
  return nl_result(call, dst);
}

const IrTile *nl_scaled(const Call *call, const IrTile *t, Alu op, double number, DType out) {
  Operand x = nl_tile_operand(call, t), y = {.num = number};
  return nl_elementwise(call, op, &x, &y, out);
}

/* ---- one operand */

const IrTile *nl_activated(const Call *call, const IrTile *t, Act op, DType out) {
  Args_activation a;
  nl_defaults(OP_activation, &a);
  const IrTile *dst = nl_fresh_like(call, out, t);
  a.dst = nl_t(dst);
  a.op = nl_i(op);
  a.data = nl_t(t);
  nl_emit(call, OP_activation, &a);
  return dst;
}

/* A function whose values are no integers would lose them all in the type of an integer tile. */
static DType float_type(DType d) { return dtype_is_int(d) ? DT_float32 : d; }

static bool keeps_integers(Act op) { return op == ACT_abs || op == ACT_square || op == ACT_sign || op == ACT_relu; }

int nl_activation(Call *call) {
  Operand x = nl_operand(call, 1, false);
  Act op = (Act)call->row->arg;
  DType own = keeps_integers(op) ? x.dtype : float_type(x.dtype);
  return nl_result(call, nl_activated(call, x.tile, op, nl_dtype(call, 2, own)));
}

int nl_unary_alu(Call *call) {
  Operand x = nl_operand(call, 1, false);
  const IrTile *dst = nl_fresh_like(call, nl_dtype(call, 2, x.dtype), x.tile);
  emit_scalar(call, scalar_args((Alu)call->row->arg, dst, x.tile), (IrVal){.kind = V_NONE}, false);
  return nl_result(call, dst);
}

int nl_negative(Call *call) {
  Operand x = nl_operand(call, 1, false);
  return nl_result(call, nl_scaled(call, x.tile, ALU_multiply, -1.0, nl_dtype(call, 2, x.dtype)));
}

int nl_reciprocal(Call *call) {
  Operand x = nl_operand(call, 1, false);
  Args_reciprocal a;
  nl_defaults(OP_reciprocal, &a);
  const IrTile *dst = nl_fresh_like(call, nl_dtype(call, 2, float_type(x.dtype)), x.tile);
  a.dst = nl_t(dst);
  a.data = nl_t(x.tile);
  nl_emit(call, OP_reciprocal, &a);
  return nl_result(call, dst);
}

int nl_sim_unary(Call *call) {
  Operand x = nl_operand(call, 1, false);
  int64_t op = call->row->arg;
  bool rounds = op == sim_unary_op_ceil || op == sim_unary_op_floor || op == sim_unary_op_trunc;
  DType own = rounds ? x.dtype : float_type(x.dtype);
  Args_sim_unary a;
  nl_defaults(OP_sim_unary, &a);
  const IrTile *dst = nl_fresh_like(call, nl_dtype(call, 2, own), x.tile);
  a.dst = nl_t(dst);
  a.data = nl_t(x.tile);
  a.op = nl_i(call->row->arg);
  nl_emit(call, OP_sim_unary, &a);
  return nl_result(call, dst);
}
