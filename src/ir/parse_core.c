/* parse_core.c -- room ir: the operations that are structure: buffers, index arithmetic, register reads. */
#include "text_ir.h"

static bool core_error(Tx *x, const TxOp *op, const char *at, const char *what) {
  return TX_ERR(x, at, ir_operands, op->spelled, what);
}

static bool need_operands(Tx *x, const TxOp *op, uint32_t n) {
  if (op->noperand == n) return true;
  return core_error(x, op, op->at, n ? "there is one operand" : "there are no operands");
}

/* The result of an operation of structure: required, and of type `index` unless it is a memref. */
static bool begin(Tx *x, TxOp *op, uint32_t operands, bool memref) {
  if (!tx_tail(x, op) || !tx_result(x, op, true) || !need_operands(x, op, operands)) return false;
  bool right =
      memref ? op->result_type.kind == TY_MEMREF : op->result_type.kind == TY_ELT && op->result_type.elt == ELT_index;
  return right ||
         core_error(x, op, op->result_spelled.s, memref ? "the result is a memref<>" : "the result is an index");
}

static bool constant(Tx *x, TxOp *op) {
  static const char *const known[] = {"value", NULL};
  TxAttr *a;
  if (!begin(x, op, 0, false) || !tx_attr_need(x, op, "value", &a) || !tx_attrs_done(x, op, known)) return false;
  if (a->kind != AT_INT || a->elt != ELT_index) return tx_attr_bad(x, op, a, "an integer : index");
  return tx_define(x, op, VK_CONST, 0, a->u.i);
}

/* ---- buffers */
static bool read_address(Tx *x, TxOp *op, IrBufSpec *spec) {
  TxAttr *a = tx_attr(op, "address");
  if (!a) return true;
  const int64_t *v;
  if (!tx_ints(x, op, a, &v)) return false;
  if (a->n != 2 || v[0] < 0 || v[0] > INT32_MAX || v[1] < 0)
    return core_error(x, op, a->at, "address is [partition, byte]");
  if (!space_on_chip(spec->space)) return core_error(x, op, a->at, "only a tensor on chip has an address");
  spec->has_address = true;
  spec->part = (int32_t)v[0];
  spec->byte = v[1];
  return true;
}

/* Space, dtype, shape and name of the result; `shape` of the spec points into op. */
static bool read_spec(Tx *x, TxOp *op, BufKind kind, IrBufSpec *spec) {
  const TxType *t = &op->result_type;
  *spec = (IrBufSpec){.kind = kind, .space = t->space, .rank = t->rank, .shape = t->shape, .loc = op->loc};
  return tx_get_dtype(x, op, t, &spec->dtype) && tx_get_name(x, op, "name", &spec->name);
}

static IrBuf *add_buffer(Tx *x, TxOp *op, const IrBufSpec *spec) {
  IrBuf *b = ir_buf_new(x->m, x->f, spec);
  if (!b) {
    DIAG0(x->d, nomem);
    return NULL;
  }
  if (strcmp(b->name, spec->name) == 0) return tx_define(x, op, VK_BUF, b->id, 0) ? b : NULL;
  const char *text =
      arena_printf(&x->scratch, "a tensor named \"%s\"", tx_cstr(x, (TxStr){spec->name, strlen(spec->name)}));
  TX_ERR(x, tx_attr(op, "name")->at, ir_redefined, text ? text : "");
  return NULL;
}

static bool alloc(Tx *x, TxOp *op) {
  static const char *const known[] = {"address", "dtype", "name", NULL};
  IrBufSpec spec;
  if (!begin(x, op, 0, true) || !read_spec(x, op, BUF_ALLOC, &spec) || !read_address(x, op, &spec)) return false;
  if (!tx_attrs_done(x, op, known)) return false;
  if (spec.space == SP_reg && spec.rank) return core_error(x, op, op->result_spelled.s, "a register has no dimensions");
  const IrBuf *b = add_buffer(x, op, &spec);
  return b && tx_append(x, op, CORE_alloc, &(IrVal){V_INT, 0, {.i = b->id}}, 1);
}

static bool constant_tensor(Tx *x, TxOp *op) {
  static const char *const known[] = {"dtype", "name", "value", NULL};
  IrBufSpec spec;
  TxAttr *a;
  if (!begin(x, op, 0, true) || !read_spec(x, op, BUF_CONST, &spec) || !tx_attr_need(x, op, "value", &a)) return false;
  if (!tx_attrs_done(x, op, known)) return false;
  if (!space_is_hbm(spec.space))
    return core_error(x, op, op->result_spelled.s, "a constant tensor is in private_hbm or shared_hbm");
  if (x->loops) return core_error(x, op, op->at, "constant tensors are not defined inside a loop");
  return tx_dense(x, op, a, &spec, &spec.data) && add_buffer(x, op, &spec);
}

static bool view(Tx *x, TxOp *op) {
  static const char *const known[] = {"dtype", "name", NULL};
  IrBufSpec spec;
  if (!begin(x, op, 1, true) || !read_spec(x, op, BUF_VIEW, &spec) || !tx_attrs_done(x, op, known)) return false;
  if (op->operand[0].value->kind != VK_BUF) return core_error(x, op, op->operand[0].at, "the operand is a tensor");
  const IrBuf *base = x->f->bufs[op->operand[0].value->id];
  if (base->kind == BUF_VIEW) base = x->f->bufs[base->base];
  if (base->space == SP_reg) return core_error(x, op, op->operand[0].at, "the operand is a tensor, not a register");
  if (base->space != spec.space)
    return core_error(x, op, op->result_spelled.s, "a view is in the memory space of its tensor");
  spec.base = base->id;
  return add_buffer(x, op, &spec) != NULL;
}

/* ---- index values */
static bool idx(Tx *x, TxOp *op) {
  static const char *const known[] = {"c", "k", NULL};
  TxAttr *c, *k;
  const int64_t *coef;
  if (!begin(x, op, op->noperand, false) || !tx_attr_need(x, op, "c", &c) || !tx_ints(x, op, c, &coef)) return false;
  k = tx_attr(op, "k");
  if (k && k->kind != AT_INT) return tx_attr_bad(x, op, k, "an integer");
  if (!tx_attrs_done(x, op, known)) return false;
  if (c->n != op->noperand) return core_error(x, op, c->at, "c has one coefficient per operand");
  int64_t *terms = arena_newn(&x->m->arena, int64_t, 2 * (size_t)c->n), n = 0, sum = k ? k->u.i : 0, part;
  if (!terms) return DIAG0(x->d, nomem);
  int64_t *ids = terms + c->n;
  for (uint32_t i = 0; i < op->noperand; i++) {
    const TxValue *v = op->operand[i].value;
    if (v->kind != VK_CONST && v->kind != VK_INDEX)
      return core_error(x, op, op->operand[i].at, "the operands are index values");
    if (v->kind == VK_INDEX) {
      terms[n] = coef[i];
      ids[n++] = v->id;
    } else if (__builtin_mul_overflow(coef[i], v->number, &part) || __builtin_add_overflow(sum, part, &sum)) {
      return core_error(x, op, op->operand[i].at, "the sum of the constant terms does not fit 64 bits");
    }
  }
  IrVal v[3] = {{V_INTS, (uint32_t)n, {.ints = terms}}, {V_INTS, (uint32_t)n, {.ints = ids}}, {V_INT, 0, {.i = sum}}};
  IrIns *ins = tx_append(x, op, CORE_idx, v, 3);
  if (!ins) return false;
  ins->result = ir_new_index(x->f);
  return tx_define(x, op, VK_INDEX, ins->result, 0);
}

bool tx_index_id(Tx *x, const TxOperand *o, uint32_t *id) {
  *id = o->value->id;
  if (o->value->kind == VK_INDEX) return true;
  if (o->value->kind != VK_CONST) return TX_ERR(x, o->at, ir_operands, "operand", "this must be an index value");
  IrVal v[3] = {{V_INTS, 0, {.ints = NULL}}, {V_INTS, 0, {.ints = NULL}}, {V_INT, 0, {.i = o->value->number}}};
  IrIns *ins = ir_append(x->m, x->f, CORE_idx, v, 3);
  if (!ins) return DIAG0(x->d, nomem);
  *id = ins->result = ir_new_index(x->f);
  return true;
}

static bool reg_read(Tx *x, TxOp *op) {
  static const char *const known[] = {NULL};
  if (!begin(x, op, 1, false) || !tx_attrs_done(x, op, known)) return false;
  const TxValue *reg = op->operand[0].value;
  if (reg->kind != VK_BUF || x->f->bufs[reg->id]->space != SP_reg)
    return core_error(x, op, op->operand[0].at, "the operand is a register");
  IrIns *ins = tx_append(x, op, CORE_reg_read, &(IrVal){V_REG, 0, {.reg = reg->id}}, 1);
  if (!ins) return false;
  ins->result = ir_new_index(x->f);
  return tx_define(x, op, VK_INDEX, ins->result, 0);
}

/* ---- terminators */
static bool terminator(Tx *x, TxOp *op, const char *name) {
  static const char *const known[] = {NULL};
  if (!tx_tail(x, op) || !tx_result(x, op, false) || !tx_attrs_done(x, op, known)) return false;
  x->ended = name;
  return true;
}

static bool yield(Tx *x, TxOp *op) {
  if (!terminator(x, op, "scf.yield") || !need_operands(x, op, 0)) return false;
  x->yield_loc = op->loc;
  return true;
}

static bool ret(Tx *x, TxOp *op) {
  if (!terminator(x, op, "func.return")) return false;
  if (x->loops) return core_error(x, op, op->at, "not inside a loop");
  uint32_t *ids = arena_newn(&x->m->arena, uint32_t, op->noperand);
  if (!ids) return DIAG0(x->d, nomem);
  for (uint32_t i = 0; i < op->noperand; i++) {
    const TxValue *v = op->operand[i].value;
    if (v->kind != VK_BUF) return core_error(x, op, op->operand[i].at, "a function returns tensors");
    ids[i] = v->id;
  }
  x->f->rets = ids;
  x->f->nrets = op->noperand;
  return true;
}

static const struct {
  const char *name;
  TxHandler handler;
} core_ops[] = {
    {"nki.alloc", alloc},           {"nki.idx", idx},
    {"nki.reg_read", reg_read},     {"nki.view", view},
    {"nki.const", constant_tensor}, {"arith.constant", constant},
    {"scf.for", tx_op_for},         {"scf.while", tx_op_while},
    {"scf.yield", yield},           {"func.return", ret},
};

TxHandler tx_core_op(TxStr name) {
  for (size_t i = 0; i < sizeof core_ops / sizeof *core_ops; i++)
    if (tx_is(name, core_ops[i].name)) return core_ops[i].handler;
  return NULL;
}

size_t tx_core_names(const char **out) {
  size_t n = sizeof core_ops / sizeof *core_ops;
  for (size_t i = 0; i < n; i++) out[i] = core_ops[i].name;
  return n;
}
