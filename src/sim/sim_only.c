/* sim_only.c -- room sim: engine `sim`: functions no instruction does. */
#include "exec.h"

typedef struct Binary {
  VmOp op;
  float a, b;
} Binary;

static void both(void *ctx, int64_t part, const float *const in[], float *out, int64_t n) {
  (void)part;
  vm_binary(((const Binary *)ctx)->op, in[0], in[1], out, n);
}
static void left_number(void *ctx, int64_t part, const float *const in[], float *out, int64_t n) {
  (void)part;
  vm_s_binary(((const Binary *)ctx)->op, ((const Binary *)ctx)->a, in[0], out, n);
}
static void right_number(void *ctx, int64_t part, const float *const in[], float *out, int64_t n) {
  (void)part;
  vm_binary_s(((const Binary *)ctx)->op, in[0], ((const Binary *)ctx)->b, out, n);
}

static float number(const IrVal *v) { return v->kind == V_INT ? (float)v->u.i : (float)v->u.num; }

bool sim_sim_binary(Sim *s, const Args_sim_binary *a) {
  static const VmOp ops[] = {
      [sim_binary_op_divide] = VM_divide, [sim_binary_op_mod] = VM_mod, [sim_binary_op_fmod] = VM_fmod};
  Acc x, y, dst;
  bool ta = a->data1.kind == V_TILE, tb = a->data2.kind == V_TILE;
  Binary k = {ops[a->op.u.i], 0, 0};
  if (!ta && !tb) return NK_BUG(s->d, "sim_binary of two numbers");
  if (ta && !acc_src(s, a->data1.u.tile, &x)) return false;
  if (tb && !acc_src(s, a->data2.u.tile, &y)) return false;
  if (!acc_dst(s, a->dst.u.tile, &dst)) return false;
  if (!ta) k.a = number(&a->data1);
  if (!tb) k.b = number(&a->data2);
  if (ta && tb) return each(s, &(Each){&dst, {&x, &y}, 2, false, both, &k, NULL});
  return each(s, &(Each){&dst, {ta ? &x : &y}, 1, false, ta ? right_number : left_number, &k, NULL});
}

static void unary(void *ctx, int64_t part, const float *const in[], float *out, int64_t n) {
  (void)part;
  vm_act(*(const VmAct *)ctx, &VM_ACT_PLAIN, in[0], out, n);
}

bool sim_sim_unary(Sim *s, const Args_sim_unary *a) {
  static const VmAct ops[] = {
      [sim_unary_op_ceil] = VA_ceil, [sim_unary_op_floor] = VA_floor, [sim_unary_op_trunc] = VA_trunc,
      [sim_unary_op_sin] = VA_sin,   [sim_unary_op_cos] = VA_cos,     [sim_unary_op_tan] = VA_tan};
  Acc x, dst;
  VmAct op = ops[a->op.u.i];
  if (!acc_src(s, a->data.u.tile, &x) || !acc_dst(s, a->dst.u.tile, &dst)) return false;
  return each(s, &(Each){&dst, {&x}, 1, false, unary, &op, NULL});
}
