/* vector_accum.c -- room sim: instructions of the Vector engine that fold what they compute into the accumulator
 * registers. */
#include "exec.h"

static Scalar1 step_of(const IrVal *op, bool reverse) {
  Alu alu = (Alu)op->u.i;
  return (Scalar1){alu, alu_info[alu].arity == 1, reverse};
}

/* ---- tensor_scalar_reduce ---------------------------------------------------------------------------------------- */
typedef struct Reduce {
  Scalar1 op;
  Column v;
  Accum acc;
} Reduce;

static void reduce_row(void *ctx, int64_t part, const float *const in[], float *out, int64_t n) {
  Reduce *k = ctx;
  scalar_step(&k->op, column_at(&k->v, part), in[0], out, n);
  if (accum_adds(k->acc.cmd)) k->acc.part[part] = vm_reduce(alu_reduce(k->acc.op), out, n, reduce_identity(k->acc.op));
}

bool sim_tensor_scalar_reduce(Sim *s, const Args_tensor_scalar_reduce *a) {
  Acc x, dst;
  Reduce k = {.op = step_of(&a->op0, false)};
  k.acc = (Accum){.engine = engine_vector,
                  .op = (Alu)a->reduce_op.u.i,
                  .cmd = (int)a->reduce_cmd.u.i,
                  .negate = a->reduce_res_negate.u.i != 0};
  if (!acc_src(s, a->data.u.tile, &x) || !column_load(s, &a->operand0, 0, &k.v) ||
      !column_load(s, &a->reduce_init, 0, &k.acc.init) || !acc_dst(s, a->dst.u.tile, &dst))
    return false;
  k.acc.lane = acc_lane(s, &x);
  k.acc.parts = x.parts;
  return each(s, &(Each){&dst, {&x}, 1, true, reduce_row, &k, NULL}) && accum_run(s, &k.acc, &a->reduce_res);
}

/* ---- tensor_scalar_cumulative ------------------------------------------------------------------------------------ */
typedef struct Cumulate {
  Scalar1 op;
  Column v;
  VmOp op1;
  float *reg; /* of the first partition */
} Cumulate;

static void cumulate_row(void *ctx, int64_t part, const float *const in[], float *out, int64_t n) {
  Cumulate *k = ctx;
  scalar_step(&k->op, column_at(&k->v, part), in[0], out, n);
  k->reg[part] = vm_cumulate(k->op1, out, k->reg[part], out, n);
}

bool sim_tensor_scalar_cumulative(Sim *s, const Args_tensor_scalar_cumulative *a) {
  Acc x, dst;
  Alu op1 = (Alu)a->op1.u.i;
  Cumulate k = {.op = step_of(&a->op0, false), .op1 = alu_vm(op1)};
  Accum acc = {.engine = engine_vector, .op = op1, .cmd = (int)a->reduce_cmd.u.i};
  if (!acc_src(s, a->src.u.tile, &x) || !column_load(s, &a->imm0, 0, &k.v) || !column_load(s, &a->imm1, 0, &acc.init) ||
      !acc_dst(s, a->dst.u.tile, &dst))
    return false;
  acc.lane = acc_lane(s, &x);
  acc.parts = x.parts;
  if (!accum_begin(s, &acc)) return false;
  k.reg = accum_lanes(s, &acc)->v + acc.lane;
  return each(s, &(Each){&dst, {&x}, 1, true, cumulate_row, &k, NULL});
}

/* ---- exponential ------------------------------------------------------------------------------------------------- */
typedef struct Expo {
  Column max;
  Accum acc;
} Expo;

static void expo_row(void *ctx, int64_t part, const float *const in[], float *out, int64_t n) {
  Expo *k = ctx;
  VmActArg arg = {.scale = 1.0f, .bias = -column_at(&k->max, part)};
  if (accum_adds(k->acc.cmd)) {
    k->acc.part[part] = vm_act_sum(VA_exp, &arg, in[0], out, n);
  } else {
    vm_act(VA_exp, &arg, in[0], out, n);
  }
}

bool sim_exponential(Sim *s, const Args_exponential *a) {
  Acc x, dst;
  Expo k;
  k.acc = (Accum){.engine = engine_vector, .op = ALU_add, .cmd = (int)a->reduce_cmd.u.i};
  if (!acc_src(s, a->src.u.tile, &x) || !column_load(s, &a->max_value, 0, &k.max) ||
      !column_load(s, &a->reduce_init, 0, &k.acc.init) || !acc_dst(s, a->dst.u.tile, &dst))
    return false;
  k.acc.lane = acc_lane(s, &x);
  k.acc.parts = x.parts;
  return each(s, &(Each){&dst, {&x}, 1, true, expo_row, &k, NULL}) && accum_run(s, &k.acc, &a->reduce_res);
}
