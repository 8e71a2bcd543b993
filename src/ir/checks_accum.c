/* checks_accum.c -- room ir: instructions that use the accumulator registers. */
#include <stdio.h>

#include "check_util.h"

static bool no_cmd(const IrCheck *c, const IrVal *cmd, int not, const char *why) {
  if (cmd->u.i != not ) return true;
  return BAD(c, argument_value, "reduce_cmd", enum_name(ET_reduce_cmd, not ), why);
}

/* An initial value and reduce_cmd load_reduce come together. */
static bool init_with_load(const IrCheck *c, const char *param, bool given, const IrVal *cmd) {
  bool load = cmd->u.i == reduce_cmd_load_reduce;
  char why[80];
  if (given == load) return true;
  snprintf(why, sizeof why, load ? "reduce_cmd load_reduce needs %s" : "%s is read with reduce_cmd load_reduce only",
           param);
  return BAD(c, instruction_invalid, why);
}

bool check_select_reduce(const IrCheck *c) {
  const Args_select_reduce *a = ARGS(select_reduce, c->ins);
  return no_cmd(c, &a->reduce_cmd, reduce_cmd_load_reduce, "select_reduce has no initial value to load");
}

bool check_tensor_scalar_reduce(const IrCheck *c) {
  const Args_tensor_scalar_reduce *a = ARGS(tensor_scalar_reduce, c->ins);
  bool ok = init_with_load(c, "reduce_init", a->reduce_init.kind != V_NONE, &a->reduce_cmd);
  if (a->reverse0.u.i) ok = BAD(c, argument_value, "reverse0", "true", "tensor_scalar_reduce cannot swap its operands");
  if (a->reduce_res_negate.u.i && a->reduce_res.kind == V_NONE)
    ok = BAD(c, instruction_invalid, "reduce_res_negate needs reduce_res");
  return ok;
}

bool check_tensor_scalar_cumulative(const IrCheck *c) {
  const Args_tensor_scalar_cumulative *a = ARGS(tensor_scalar_cumulative, c->ins);
  bool ok = init_with_load(c, "imm1", a->imm1.kind != V_NONE, &a->reduce_cmd);
  const char *why = "a running result starts at a value: reset_reduce, reduce or load_reduce";
  return no_cmd(c, &a->reduce_cmd, reduce_cmd_idle, why) && no_cmd(c, &a->reduce_cmd, reduce_cmd_reset, why) && ok;
}

bool check_exponential(const IrCheck *c) {
  const Args_exponential *a = ARGS(exponential, c->ins);
  const IrVal *init = &a->reduce_init;
  bool given = is_tile(init) || (init->kind == V_NUM && init->u.num != 0);
  bool ok = a->reduce_cmd.u.i == reduce_cmd_load_reduce || init_with_load(c, "reduce_init", given, &a->reduce_cmd);
  return no_cmd(c, &a->reduce_cmd, reduce_cmd_reset, "exponential takes idle, reset_reduce, reduce and load_reduce") &&
         ok;
}

/* (multiply, add), (multiply, subtract), and multiply, add, subtract or bypass before bypass. */
static bool activate2_ops(const IrCheck *c, const Args_activate2 *a) {
  int64_t op0 = a->op0.u.i, op1 = a->op1.u.i;
  if (op1 == ALU_bypass || op0 == ALU_multiply) return true;
  char why[160];
  snprintf(why, sizeof why, "(op0, op1) is (%s, %s); before %s only multiply is possible", alu_info[op0].name,
           alu_info[op1].name, alu_info[op1].name);
  return BAD(c, instruction_invalid, why);
}

bool check_activate2(const IrCheck *c) {
  const Args_activate2 *a = ARGS(activate2, c->ins);
  const IrVal *slope = &a->relu_param, *cmd = &a->reduce_cmd;
  bool ok = activate2_ops(c, a);
  if (a->op.u.i != ACT_prelu && (is_tile(slope) || (slope->kind == V_NUM && slope->u.num != 0)))
    ok = BAD(c, instruction_invalid, "relu_param is the slope of prelu and of no other activation");
  if (!no_cmd(c, cmd, reduce_cmd_load_reduce, "activate2 has no initial value to load")) ok = false;
  if (a->reduce_op.kind != V_NONE) return ok;
  if (cmd->u.i == reduce_cmd_reduce || cmd->u.i == reduce_cmd_reset_reduce)
    ok = BAD(c, argument_value, "reduce_cmd", enum_name(ET_reduce_cmd, (int)cmd->u.i), "it needs reduce_op");
  if (a->reduce_res.kind != V_NONE) ok = BAD(c, instruction_invalid, "reduce_res needs reduce_op");
  return ok;
}
