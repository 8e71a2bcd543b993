/* checks_vector.c -- room ir: element-wise instructions, reductions and statistics. */
#include <math.h>
#include <stdio.h>

#include "check_util.h"

static bool plain(DType d) { return dtype_is_float(d) || dtype_is_int(d); }

/* "[p,n]" for messages */
static const char *shape2(int64_t p, int64_t n, Say *s) {
  const int64_t shape[2] = {p, n};
  return say_shape(shape, 2, s);
}

/* Packed and scale types are moved, never converted. */
static bool convertible(const IrCheck *c, const char *dst_name, const IrTile *dst, const char *src_name,
                        const IrTile *src) {
  DType d = dtype_of(c, dst), s = dtype_of(c, src);
  if (d == s || (plain(d) && plain(s))) return true;
  Say x, y;
  return BAD(c, dtype_mismatch, dst_name, src_name, text_of(c, dst, &x), text_of(c, src, &y));
}

bool check_tensor_copy(const IrCheck *c) {
  const Args_tensor_copy *a = ARGS(tensor_copy, c->ins);
  bool ok = convertible(c, "dst", a->dst.u.tile, "src", a->src.u.tile);
  if (c->engine == engine_scalar && c->gen == gen2)
    ok = BAD(c, argument_generation, "engine scalar", 3, target_name(c->module->target), (int)c->gen);
  return ok;
}

/* May `value` be stored into elements of dtype d without changing it? why: the rule that says no. */
static bool fits_dtype(double value, DType d, char why[80]) {
  int64_t lo, hi;
  switch (dtype_info[d].cls) {
    case DC_FLT:
      return true;
    case DC_PACK:
      snprintf(why, 80, "packed types take 0 only");
      return value == 0;
    case DC_SCALE: {
      int e;
      double m = frexp(value, &e);
      snprintf(why, 80, "a scale is a power of two, 2^-127..2^127");
      return m == 0.5 && e >= -126 && e <= 128;
    }
    default:
      break;
  }
  dtype_int_range(d, &lo, &hi);
  snprintf(why, 80, "%s takes integers %lld..%lld", dtype_name(d), LL(lo), LL(hi));
  return value >= (double)lo && value <= (double)hi && value == floor(value);
}

static bool number_fits(const IrCheck *c, const char *param, double value, DType d) {
  char why[80], num[TEXT_NUMBER];
  if (fits_dtype(value, d, why)) return true;
  return BAD(c, argument_value, param, text_number(num, value, 17), why);
}

bool check_memset(const IrCheck *c) {
  const Args_memset *a = ARGS(memset, c->ins);
  return number_fits(c, "value", a->value.u.num, dtype_of(c, a->dst.u.tile));
}

/* One of tensor_scalar's operands: arithmetic takes f32 columns, bitwise takes integers as wide as data. */
static bool scalar_operand(const IrCheck *c, const char *param, const IrVal *op, const IrVal *v, const IrTile *data) {
  if (op->kind == V_NONE || v->kind == V_NONE) return true;
  bool bits = alu_info[op->u.i].cls == AC_BITVEC;
  Say s;
  if (v->kind == V_NUM)
    return !bits || alu_info[op->u.i].arity == 1 || number_fits(c, param, v->u.num, dtype_of(c, data));
  DType d = dtype_of(c, v->u.tile);
  if (!bits) {
    if (d == DT_float32) return true;
    return BAD(c, unsupported_dtype, param, text_of(c, v->u.tile, &s), "float32 for an arithmetic operator");
  }
  if (dtype_is_int(d) && dtype_bytes(d) == dtype_bytes(dtype_of(c, data))) return true;
  return BAD(c, unsupported_dtype, param, text_of(c, v->u.tile, &s), "integers as wide as data for a bitwise operator");
}

/* Scalar engine, gen3+: (multiply, add), (multiply, -), (add, -). */
static bool scalar_engine_ops(const IrCheck *c, const Args_tensor_scalar *a) {
  if (c->engine != engine_scalar) return true;
  if (c->gen == gen2)
    return BAD(c, argument_generation, "engine scalar", 3, target_name(c->module->target), (int)c->gen);
  int64_t op0 = a->op0.u.i, op1 = a->op1.kind == V_NONE ? ALU_none : a->op1.u.i;
  if ((op0 == ALU_multiply && (op1 == ALU_add || op1 == ALU_none)) || (op0 == ALU_add && op1 == ALU_none)) return true;
  return BAD(c, instruction_invalid, "engine scalar executes (multiply, add), multiply alone or add alone");
}

bool check_tensor_scalar(const IrCheck *c) {
  const Args_tensor_scalar *a = ARGS(tensor_scalar, c->ins);
  bool ok = scalar_operand(c, "operand0", &a->op0, &a->operand0, a->data.u.tile);
  if (!scalar_operand(c, "operand1", &a->op1, &a->operand1, a->data.u.tile)) ok = false;
  return scalar_engine_ops(c, a) && ok;
}

/* ---- Scalar engine */

static bool activation_bias(const IrCheck *c, const IrVal *bias, Act op) {
  if (bias->kind == V_NONE || c->gen > gen2) return true;
  bool ok = true;
  if (bias->kind == V_NUM)
    ok = BAD(c, argument_generation, "a bias that is a number, not a (P,1) tensor,", 3, target_name(c->module->target),
             (int)c->gen);
  if (op == ACT_reciprocal)
    ok = BAD(c, argument_generation, "bias with reciprocal", 3, target_name(c->module->target), (int)c->gen);
  return ok;
}

/* Only activate2 has prelu's slope. */
static bool activation_slope(const IrCheck *c, Act op) {
  return op != ACT_prelu ||
         BAD(c, instruction_invalid, "op prelu has a slope, which only nisa.activate2 takes (relu_param)");
}

bool check_activation(const IrCheck *c) {
  const Args_activation *a = ARGS(activation, c->ins);
  bool ok = activation_bias(c, &a->bias, (Act)a->op.u.i), reduces = a->reduce_op.kind != V_NONE;
  if (!activation_slope(c, (Act)a->op.u.i)) ok = false;
  if (a->reduce_cmd.u.i == reduce_cmd_load_reduce)
    ok = BAD(c, argument_value, "reduce_cmd", "load_reduce", "activation has no initial value to load");
  if (!reduces && a->reduce_cmd.u.i != reduce_cmd_idle && a->reduce_cmd.u.i != reduce_cmd_reset)
    ok = BAD(c, argument_value, "reduce_cmd", enum_name(ET_reduce_cmd, (int)a->reduce_cmd.u.i),
             "it needs reduce_op add");
  if (!reduces && a->reduce_res.kind != V_NONE) ok = BAD(c, instruction_invalid, "reduce_res needs reduce_op add");
  return ok;
}

bool check_activation_reduce(const IrCheck *c) {
  const Args_activation_reduce *a = ARGS(activation_reduce, c->ins);
  bool bias = activation_bias(c, &a->bias, (Act)a->op.u.i);
  return activation_slope(c, (Act)a->op.u.i) && bias;
}

/* ---- reductions and statistics */

bool check_tensor_reduce(const IrCheck *c) {
  const Args_tensor_reduce *a = ARGS(tensor_reduce, c->ins);
  const IrTile *dst = a->dst.u.tile, *data = a->data.u.tile;
  Say s, t;
  bool ok = true;
  if (a->negate.u.i && alu_info[a->op.u.i].cls == AC_BITVEC)
    ok = BAD(c, argument_value, "negate", "true", "a bitwise result is not negated");
  int first = ir_reduce_first(&a->axis, data->rank);
  if (first == 0) return ok; /* reported by its rule */
  int64_t want = 1;
  for (int i = 1; i < first; i++) want *= data->dim[i].count;
  if (tile_free(dst) != want)
    ok = BAD(c, shape_required, "dst", shape2(tile_parts(data), want, &s), text_of(c, dst, &t));
  return ok;
}

bool check_tensor_partition_reduce(const IrCheck *c) {
  const Args_tensor_partition_reduce *a = ARGS(tensor_partition_reduce, c->ins);
  const IrTile *dst = a->dst.u.tile, *data = a->data.u.tile;
  Say s, t;
  if (tile_parts(dst) == 1 && tile_free(dst) == tile_free(data)) return true;
  return BAD(c, shape_required, "dst", shape2(1, tile_free(data), &s), text_of(c, dst, &t));
}

bool check_bn_stats(const IrCheck *c) {
  const Args_bn_stats *a = ARGS(bn_stats, c->ins);
  const IrTile *dst = a->dst.u.tile, *data = a->data.u.tile;
  Say s, t;
  bool ok = true;
  if (tile_free(data) > 512)
    ok = BAD(c, size_of_dimension_exceed_arch_limit, "free size of data", LL(tile_free(data)), 512LL,
             text_of(c, data, &s));
  if (tile_free(dst) != 6) ok = BAD(c, shape_required, "dst", shape2(tile_parts(data), 6, &s), text_of(c, dst, &t));
  return ok;
}

bool check_bn_aggr(const IrCheck *c) {
  const Args_bn_aggr *a = ARGS(bn_aggr, c->ins);
  const IrTile *dst = a->dst.u.tile, *data = a->data.u.tile;
  Say s, t;
  bool ok = true;
  if (tile_free(data) % 3)
    ok = BAD(c, shape_required, "data", "of (count, mean, count*variance) triples per partition", text_of(c, data, &s));
  if (tile_free(dst) != 2) ok = BAD(c, shape_required, "dst", shape2(tile_parts(data), 2, &s), text_of(c, dst, &t));
  return ok;
}

bool check_sim_binary(const IrCheck *c) {
  const Args_sim_binary *a = ARGS(sim_binary, c->ins);
  if (is_tile(&a->data1) || is_tile(&a->data2)) return true;
  return BAD(c, instruction_invalid, "data1 and data2 are both numbers; one must be a tensor");
}
