/* scalar.c -- the Scalar engine: activations and its accumulator registers. */
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
  float sum[LANES];
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
    if (j->sums) j->sum[part] = vm_reduce(VR_add, out, n, 0.0f);
  } else if (j->sums) {
    j->sum[part] = vm_act_sum(j->fn, &arg, in[0], out, n);
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
  for (int64_t p = 0; j->sums && p < n; p++) j->sum[p] = vm_op(VM_add, 0.0f, out[p]);
}

/* What the registers hold after the instruction, and what is read out. */
static bool accumulate(Sim *s, const Job *j, int cmd, int lane, int64_t parts) {
  for (int64_t p = 0; p < parts && cmd != reduce_cmd_idle; p++) {
    float *reg = &s->scalar.v[lane + p];
    bool *set = &s->scalar.set[lane + p];
    if (cmd == reduce_cmd_reduce && !*set) {
      *reg = 0.0f;
      if (!say_lane(s, "Scalar", lane + (int)p)) return false;
    }
    *set = true;
    if (cmd == reduce_cmd_reset || cmd == reduce_cmd_reset_reduce) *reg = 0.0f;
    if (cmd != reduce_cmd_reset) *reg = vm_op(VM_add, *reg, j->sum[p]);
  }
  return true;
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
  j.sums = a->cmd == reduce_cmd_reduce || a->cmd == reduce_cmd_reset_reduce;
  j.bad = 0;
  if (!acc_src(s, a->data->u.tile, &x) || !column_load(s, a->bias, -0.0f, &j.bias) ||
      !column_load(s, a->scale, 1.0f, &j.scale) || !acc_dst(s, a->dst->u.tile, &dst))
    return false;
  int lane = acc_lane(s, &x);
  bool rows = j.sums || j.bias.tile || j.scale.tile;
  if (!each(s, &(Each){&dst, {&x}, 1, rows, act_row, &j, act_columns})) return false;
  if (j.bad) say_range(s, j.op, j.bad, j.first_bad);
  if (!accumulate(s, &j, a->cmd, lane, x.parts)) return false;
  if (a->reduce_res->kind != V_TILE) return true;
  for (int64_t p = 0; p < x.parts; p++) {
    if (s->scalar.set[lane + p]) continue;
    s->scalar.v[lane + p] = 0.0f;
    if (!say_lane(s, "Scalar", lane + (int)p)) return false;
  }
  return column_store(s, a->reduce_res->u.tile, s->scalar.v + lane);
}

bool sim_activation(Sim *s, const Args_activation *a) {
  int cmd = a->reduce_op.kind == V_NONE ? reduce_cmd_idle : (int)a->reduce_cmd.u.i;
  return run(s, &(ActArgs){&a->dst, &a->op, &a->data, &a->bias, &a->scale, &a->reduce_res, cmd});
}

bool sim_activation_reduce(Sim *s, const Args_activation_reduce *a) {
  return run(s, &(ActArgs){&a->dst, &a->op, &a->data, &a->bias, &a->scale, &a->reduce_res, reduce_cmd_reset_reduce});
}
