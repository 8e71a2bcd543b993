/* scalar.c -- room sim: the Scalar engine: activations and its accumulator registers. */
#include "exec.h"

static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static VmAct act_vm(Act op) {
  static const uint8_t map[ACT_count] = {
#define ACT(id, range, gen, doc) [ACT_##id] = VA_##id,
#include "enums.def"
  };
  return (VmAct)map[op];
}

typedef struct Job {
  Act op;
  VmAct fn;
  Column scale, bias;
  bool sums;
  Accum acc;
  int64_t bad; /* arguments outside the documented range */
  float first_bad;
} Job;

static void check_range(Job *j, const float *x, int64_t n) {
  const ActInfo *info = &act_info[j->op];
  float lo = (float)info->lo, hi = (float)info->hi;
  int64_t bad = 0;
  if (info->magnitude) {
    for (int64_t i = 0; i < n; i++) {
      float m = x[i] < 0 ? -x[i] : x[i];
      bad += (m < lo) | (m > hi);
    }
  } else {
    for (int64_t i = 0; i < n; i++) bad += (x[i] < lo) | (x[i] > hi);
  }
  for (int64_t i = 0; bad && !j->bad && i < n; i++) { /* find the very first */
    float m = info->magnitude && x[i] < 0 ? -x[i] : x[i];
    if (!(m < lo) && !(m > hi)) continue;
    j->first_bad = x[i];
    break;
  }
  j->bad += bad;
}

static void act_row(void *ctx, int64_t part, const float *const in[], float *out, int64_t n) {
  Job *j = ctx;
  VmActArg arg = {.scale = column_at(&j->scale, part), .bias = column_at(&j->bias, part)};
  if (act_info[j->op].limited) {
    for (int64_t i = 0; i < n; i += BLOCK) {
      int64_t m = least(BLOCK, n - i);
      vm_act(VA_copy, &arg, in[0] + i, out + i, m);
      check_range(j, out + i, m);
      vm_act(j->fn, &VM_ACT_PLAIN, out + i, out + i, m);
    }
    if (j->sums) j->acc.part[part] = vm_reduce(VR_add, out, n, 0.0f);
  } else if (j->sums) {
    j->acc.part[part] = vm_act_sum(j->fn, &arg, in[0], out, n);
  } else {
    vm_act(j->fn, &arg, in[0], out, n);
  }
}

static void act_columns(void *ctx, int64_t part, const float *const in[], float *out, int64_t n) {
  (void)part;
  Job *j = ctx;
  static const Scalar1 times = {ALU_multiply, false, false}, plus = {ALU_add, false, false};
  column_step(&times, &j->scale, in[0], out, n);
  column_step(&plus, &j->bias, out, out, n);
  if (act_info[j->op].limited) check_range(j, out, n);
  vm_act(j->fn, &VM_ACT_PLAIN, out, out, n);
  for (int64_t p = 0; j->sums && p < n; p++) j->acc.part[p] = vm_op(VM_add, 0.0f, out[p]);
}

typedef struct ActArgs {
  const IrVal *dst, *op, *data, *bias, *scale, *reduce_res;
  int cmd;
} ActArgs;

static bool run(Sim *s, const ActArgs *a) {
  Acc x, dst;
  Job j;
  j.op = (Act)a->op->u.i;
  j.fn = act_vm(j.op);
  j.sums = accum_adds(a->cmd);
  j.acc = (Accum){.engine = engine_scalar, .op = ALU_add, .cmd = a->cmd};
  j.bad = 0;
  if (!acc_src(s, a->data->u.tile, &x) || !column_load(s, a->bias, -0.0f, &j.bias) ||
      !column_load(s, a->scale, 1.0f, &j.scale) || !acc_dst(s, a->dst->u.tile, &dst))
    return false;
  j.acc.lane = acc_lane(s, &x);
  j.acc.parts = x.parts;
  bool rows = j.sums || j.bias.tile || j.scale.tile;
  if (!each(s, &(Each){&dst, {&x}, 1, rows, act_row, &j, act_columns})) return false;
  if (j.bad) say_range(s, j.op, j.bad, j.first_bad);
  return accum_run(s, &j.acc, a->reduce_res);
}

bool sim_activation(Sim *s, const Args_activation *a) {
  int cmd = (int)a->reduce_cmd.u.i; /* without reduce_op: idle or reset */
  return run(s, &(ActArgs){&a->dst, &a->op, &a->data, &a->bias, &a->scale, &a->reduce_res, cmd});
}

bool sim_activation_reduce(Sim *s, const Args_activation_reduce *a) {
  return run(s, &(ActArgs){&a->dst, &a->op, &a->data, &a->bias, &a->scale, &a->reduce_res, reduce_cmd_reset_reduce});
}

/* ---- activate2 --------------------------------------------------------------------------------------------------- */
typedef struct Job2 {
  Job act;
  Scalar1 op[2];
  Column v[2], alpha;
} Job2;

static void act2_row(void *ctx, int64_t part, const float *const in[], float *out, int64_t n) {
  Job2 *k = ctx;
  Job *j = &k->act;
  VmActArg arg = VM_ACT_PLAIN;
  arg.alpha = column_at(&k->alpha, part);
  for (int64_t i = 0; i < n; i += BLOCK) {
    int64_t m = least(BLOCK, n - i);
    scalar_step(&k->op[0], column_at(&k->v[0], part), in[0] + i, out + i, m);
    scalar_step(&k->op[1], column_at(&k->v[1], part), out + i, out + i, m);
    if (act_info[j->op].limited) check_range(j, out + i, m);
    vm_act(j->fn, &arg, out + i, out + i, m);
  }
  if (j->sums) j->acc.part[part] = vm_reduce(alu_reduce(j->acc.op), out, n, reduce_identity(j->acc.op));
}

bool sim_activate2(Sim *s, const Args_activate2 *a) {
  Acc x, dst;
  Job2 k;
  Job *j = &k.act;
  bool reduces = a->reduce_op.kind != V_NONE;
  int cmd = reduces || a->reduce_cmd.u.i == reduce_cmd_reset ? (int)a->reduce_cmd.u.i : reduce_cmd_idle;
  j->op = (Act)a->op.u.i;
  j->fn = act_vm(j->op);
  j->sums = accum_adds(cmd);
  j->acc = (Accum){.engine = engine_scalar, .op = reduces ? (Alu)a->reduce_op.u.i : ALU_add, .cmd = cmd};
  j->bad = 0;
  k.op[0] = scalar_of(&a->op0, &a->reverse0);
  k.op[1] = scalar_of(&a->op1, &a->reverse1);
  if (!acc_src(s, a->data.u.tile, &x) || !column_load(s, &a->imm0, 0, &k.v[0]) ||
      !column_load(s, &a->imm1, 0, &k.v[1]) || !column_load(s, &a->relu_param, 0, &k.alpha) ||
      !acc_dst(s, a->dst.u.tile, &dst))
    return false;
  j->acc.lane = acc_lane(s, &x);
  j->acc.parts = x.parts;
  if (!each(s, &(Each){&dst, {&x}, 1, true, act2_row, &k, NULL})) return false;
  if (j->bad) say_range(s, j->op, j->bad, j->first_bad);
  return accum_run(s, &j->acc, &a->reduce_res);
}
