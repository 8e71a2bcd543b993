/* parse_loop.c -- room ir: device loops: scf.for, and scf.while whose condition is "the register is not 0". */
#include "text_ir.h"

static bool loop_error(Tx *x, const TxOp *op, const char *at, const char *what) {
  return TX_ERR(x, at, ir_operands, op->spelled, what);
}

static bool enter(Tx *x, const TxOp *op) {
  if (x->loops == TX_MAX_LOOPS) return TX_ERR(x, op->at, ir_deep, "loops", TX_MAX_LOOPS);
  x->loops++;
  return true;
}

/* The body up to its '}', then the end instruction, linked with `begin`. */
static bool body(Tx *x, const char *owner, uint32_t begin, Op end_code) {
  uint32_t scope = x->values.count;
  if (!tx_block(x, "scf.yield", owner)) return false;
  tx_cut(&x->values, scope);
  IrIns *end = ir_append(x->m, x->f, end_code, NULL, 0);
  if (!end) return DIAG0(x->d, nomem);
  end->loc = x->yield_loc;
  end->match = begin;
  x->f->ins[begin]->match = x->f->nins - 1;
  x->loops--;
  return true;
}

/* ---- scf.for */
static bool bound(Tx *x, const TxOp *op, uint32_t i, IrVal *v) {
  const TxValue *value = op->operand[i].value;
  if (value->kind == VK_CONST)
    *v = (IrVal){V_INT, 0, {.i = value->number}};
  else if (value->kind == VK_INDEX)
    *v = (IrVal){V_IDX, 0, {.idx = value->id}};
  else
    return loop_error(x, op, op->operand[i].at, "the operands are lower bound, upper bound and step, of type index");
  return true;
}

static bool loop_variable(Tx *x, const TxOp *op, IrIns *ins) {
  TxValue v = {.kind = VK_INDEX};
  const char *at;
  TxType type;
  if (!tx_need(x, '{') || !tx_block_header(x) || !tx_block_arg(x, &v.name, &at, &v.type, &type)) return false;
  if (type.kind != TY_ELT || type.elt != ELT_index) return loop_error(x, op, at, "the loop variable is an index");
  if (!tx_need(x, ')') || !tx_need(x, ':')) return false;
  v.id = ins->result = ir_new_index(x->f);
  return tx_add(x, &x->values, v, at);
}

bool tx_op_for(Tx *x, TxOp *op) {
  static const char *const known[] = {"nki.range", NULL};
  IrVal v[3];
  if (op->noperand != 3)
    return loop_error(x, op, op->at, "the operands are lower bound, upper bound and step, of type index");
  for (uint32_t i = 0; i < 3; i++)
    if (!bound(x, op, i, &v[i])) return false;
  if (v[2].kind != V_INT || v[2].u.i < 1)
    return loop_error(x, op, op->operand[2].at, "the step is a constant, 1 or more");
  uint32_t begin = x->f->nins, scope = x->values.count;
  IrIns *ins = tx_append(x, op, CORE_for, v, 3);
  if (!ins || !enter(x, op) || !tx_need(x, '(') || !loop_variable(x, op, ins)) return false;
  if (!body(x, op->spelled, begin, CORE_end_for) || !tx_need(x, ')')) return false;
  tx_cut(&x->values, scope);
  TxStr range;
  if (!tx_tail(x, op) || !tx_result(x, op, false) || !tx_get_string(x, op, "nki.range", &range)) return false;
  if (!tx_is(range, "dynamic")) return loop_error(x, op, tx_attr(op, "nki.range")->at, "nki.range is \"dynamic\"");
  ins->loc = op->loc;
  return tx_attrs_done(x, op, known);
}

/* ---- scf.while */
/* One operation of the condition region, which must have this name. */
static bool step(Tx *x, TxOp *op, const char *name, uint32_t noperand) {
  *op = (TxOp){0};
  const char *at = x->p;
  if (!tx_head(x, op)) return false;
  if (tx_is(op->name, name) && op->noperand == noperand) return tx_tail(x, op);
  return TX_ERR(x, at, ir_misplaced, "scf.while",
                "its condition is nki.reg_read, arith.cmpi of that with 0, predicate 1 (not equal), and scf.condition");
}

static bool plain(Tx *x, const TxOp *op) {
  static const char *const known[] = {"predicate", NULL};
  return tx_attrs_done(x, op, known);
}

static bool read_register(Tx *x, uint32_t *reg) {
  TxOp op;
  if (!step(x, &op, "nki.reg_read", 1) || !tx_result(x, &op, true) || !plain(x, &op)) return false;
  const TxValue *v = op.operand[0].value;
  bool is_reg = v->kind == VK_BUF && x->f->bufs[v->id]->space == SP_reg;
  if (!is_reg) return loop_error(x, &op, op.operand[0].at, "the operand is a register");
  bool index = op.result_type.kind == TY_ELT && op.result_type.elt == ELT_index;
  if (!index) return loop_error(x, &op, op.result_spelled.s, "the result is an index");
  *reg = v->id;
  return tx_define(x, &op, VK_TEST, 0, 0);
}

static bool compare(Tx *x, TxStr *test) {
  TxOp op;
  TxAttr *a;
  const TxValue *newest = &x->values.list[x->values.count - 1];
  if (!step(x, &op, "arith.cmpi", 2) || !tx_result(x, &op, true) || !tx_attr_need(x, &op, "predicate", &a))
    return false;
  if (!plain(x, &op)) return false;
  if (a->kind != AT_INT || a->u.i != 1)
    return loop_error(x, &op, a->at, "the predicate of a loop condition is 1 (not equal)");
  const TxValue *zero = op.operand[1].value;
  if (op.operand[0].value != newest || zero->kind != VK_CONST || zero->number != 0)
    return loop_error(x, &op, op.operand[0].at, "a loop condition compares the register just read with the constant 0");
  if (op.result_type.kind != TY_ELT || op.result_type.elt != DT_bool_)
    return loop_error(x, &op, op.result_spelled.s, "the result is an i1");
  *test = op.result;
  return tx_define(x, &op, VK_TEST, 0, 0);
}

static bool condition(Tx *x, uint32_t *reg) {
  TxOp op;
  TxStr test = {"", 0};
  if (!tx_need(x, '{') || !read_register(x, reg) || !compare(x, &test)) return false;
  if (!step(x, &op, "scf.condition", 1) || !tx_result(x, &op, false) || !plain(x, &op)) return false;
  if (!tx_eq(op.operand[0].value->name, test))
    return loop_error(x, &op, op.operand[0].at, "the operand is the result of arith.cmpi");
  return tx_need(x, '}');
}

bool tx_op_while(Tx *x, TxOp *op) {
  static const char *const known[] = {NULL};
  if (op->noperand) return loop_error(x, op, op->at, "there are no operands");
  uint32_t begin = x->f->nins, scope = x->values.count, reg = 0;
  if (!enter(x, op) || !tx_need(x, '(') || !condition(x, &reg)) return false;
  tx_cut(&x->values, scope);
  IrIns *ins = tx_append(x, op, CORE_while, &(IrVal){V_REG, 0, {.reg = reg}}, 1);
  if (!ins || !tx_need(x, ',') || !tx_need(x, '{')) return false;
  if (tx_peek(x, '^')) return loop_error(x, op, x->p, "the body has no arguments");
  if (!body(x, op->spelled, begin, CORE_end_while) || !tx_need(x, ')')) return false;
  if (!tx_tail(x, op) || !tx_result(x, op, false)) return false;
  ins->loc = op->loc;
  return tx_attrs_done(x, op, known);
}
