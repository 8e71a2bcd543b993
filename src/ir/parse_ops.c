/* parse_ops.c -- room ir: an instruction of ops.def from its operands and attributes, as its row lays them out. */
#include "text_ir.h"

typedef struct Mem { /* a memref operand and what belongs to it */
  const TxValue *buf;
  const TxOperand *dyn; /* NULL: static */
  const char *at;
  const TxAttr *ap; /* NULL: the whole tensor */
  int64_t dyn_max;
  int param;
  bool vector;  /* the index tensor of `param` */
  IrTile *tile; /* NULL: the whole tensor */
} Mem;

typedef struct RowOp {
  Tx *x;
  TxOp *op;
  const OpInfo *row;
  const TxPlan *plan;
  IrVal *v;
  Mem *mem;
  uint32_t nmem;
  const TxOperand *index; /* leading index operands */
  uint32_t nindex;
  const TxAttr *special[7]; /* by -TX_KEY_ */
} RowOp;
#define SPECIAL(r, key) ((r)->special[-TX_KEY_##key])

static bool op_error(RowOp *r, const char *at, const char *what) {
  return TX_ERR(r->x, at, ir_operands, r->op->spelled, what);
}

static const char *join(RowOp *r, const char *before, const char *name, const char *after) {
  const char *s = arena_printf(&r->x->scratch, "%s '%s' %s", before, name, after);
  return s ? s : "";
}

/* ---- operands */
static bool split_operands(RowOp *r) {
  const TxOp *op = r->op;
  uint32_t i = 0;
  r->mem = arena_newn(&r->x->scratch, Mem, op->noperand);
  if (!r->mem) return DIAG0(r->x->d, nomem);
  r->index = op->operand;
  while (i < op->noperand && op->operand[i].value->kind != VK_BUF) i++;
  r->nindex = i;
  for (; i < op->noperand; i++) {
    const TxOperand *o = &op->operand[i];
    if (o->value->kind == VK_BUF) {
      r->mem[r->nmem++] = (Mem){.buf = o->value, .at = o->at, .param = -1};
      continue;
    }
    Mem *m = &r->mem[r->nmem - 1];
    if (m->dyn) return op_error(r, o->at, "a tensor has one dynamic offset at most");
    m->dyn = o;
  }
  for (i = 0; i < op->noperand; i++)
    if (op->operand[i].value->kind == VK_TEST)
      return op_error(r, op->operand[i].at, "an operand is a tensor, a register or an index");
  return true;
}

static const IrParam *param_of(const RowOp *r, const Mem *m) { return &r->row->params[m->param]; }
static bool is_list(const IrParam *p) { return p->kind == K_tiles || p->kind == K_channels; }

/* The parameter a role names; "src.vector_offset" is the index tensor of src. */
static bool read_role(RowOp *r, const TxAttr *a, Mem *m) {
  if (a->kind != AT_STRING) return op_error(r, a->at, "roles is a list of strings");
  TxStr s = a->u.s, suffix = TX_STR(TX_VECTOR);
  m->vector = s.n > suffix.n && memcmp(s.s + s.n - suffix.n, suffix.s, suffix.n) == 0;
  if (m->vector) s.n -= suffix.n;
  m->param = op_param(r->row, s.s, s.n);
  if (m->param >= 0 && tx_kind_is_operand(param_of(r, m)->kind)) return true;
  const char **names = arena_newn(&r->x->scratch, const char *, r->plan->noperand + 1);
  if (!names) return DIAG0(r->x->d, nomem);
  for (int i = 0; i < r->plan->noperand; i++) names[i] = r->row->params[r->plan->operand[i]].name;
  const char *text =
      arena_printf(&r->x->scratch, "no operand is called '%s'%s", tx_cstr(r->x, s), tx_did_you_mean(r->x, s, names));
  return op_error(r, a->at, text ? text : "");
}

static bool count_error(RowOp *r, const char *what, uint32_t have, uint32_t want) {
  const char *s = arena_printf(&r->x->scratch, "%s: %u given, %u needed", what, have, want);
  return op_error(r, r->op->at, s ? s : "");
}

/* Only a list of tensors has a role more than once, and no role has two index tensors. */
static bool roles_once(RowOp *r) {
  bool *seen = arena_newn(&r->x->scratch, bool, 2 * r->row->nparams);
  if (!seen) return DIAG0(r->x->d, nomem);
  for (uint32_t i = 0; i < r->nmem; i++) {
    const Mem *m = &r->mem[i];
    bool *one = &seen[2 * m->param + m->vector];
    if (*one && m->vector) return op_error(r, m->at, "a tensor has one index tensor at most");
    if (*one && !is_list(param_of(r, m)))
      return op_error(r, m->at, join(r, "operand", param_of(r, m)->name, "is given twice"));
    *one = true;
  }
  return true;
}

static bool assign_roles(RowOp *r) {
  const TxAttr *a = SPECIAL(r, roles);
  if (!a && r->plan->roles) return TX_ERR(r->x, r->op->at, ir_attr_missing, r->op->spelled, "roles");
  if (a && a->kind != AT_ARRAY) return tx_attr_bad(r->x, r->op, a, "a list of strings");
  uint32_t want = a ? a->n : (uint32_t)r->plan->noperand;
  if (want != r->nmem) return count_error(r, "tensor and register operands", r->nmem, want);
  const TxAttr *e = a ? a->u.child : NULL;
  for (uint32_t i = 0; i < r->nmem; i++) {
    if (!a)
      r->mem[i].param = r->plan->operand[i];
    else if (!read_role(r, e, &r->mem[i]))
      return false;
    if (e) e = e->next;
  }
  return !a || roles_once(r);
}

/* Does this index tensor pick rows or elements of m? Of a list of tensors it is the one in hbm. */
static bool picks(const RowOp *r, const Mem *vec, const Mem *m) {
  return vec->vector && !m->vector && vec->param == m->param &&
         (!is_list(param_of(r, m)) || space_is_hbm(r->x->f->bufs[m->buf->id]->space));
}

/* Its run-time numbers, an offset or those of an index tensor, have a limit in ap_max. */
static bool has_limit(const RowOp *r, const Mem *m) {
  bool limit = m->dyn != NULL;
  for (uint32_t j = 0; j < r->nmem; j++) limit = limit || picks(r, &r->mem[j], m);
  return limit;
}

static bool read_ap(RowOp *r) {
  const TxAttr *a = SPECIAL(r, ap), *max = SPECIAL(r, ap_max);
  bool dynamic = false;
  for (uint32_t i = 0; i < r->nmem; i++) dynamic = dynamic || has_limit(r, &r->mem[i]);
  if (a && a->kind != AT_ARRAY) return tx_attr_bad(r->x, r->op, a, "a list with one access pattern per tensor");
  if (max && max->kind != AT_ARRAY) return tx_attr_bad(r->x, r->op, max, "a list of integers");
  if (a && a->n != r->nmem) return count_error(r, "access patterns in ap", a->n, r->nmem);
  if (max && max->n != r->nmem) return count_error(r, "limits in ap_max", max->n, r->nmem);
  if (dynamic && !max) return TX_ERR(r->x, r->op->at, ir_attr_missing, r->op->spelled, "ap_max");
  if (max && !dynamic)
    return op_error(r, max->at, "ap_max is given, but no tensor has a dynamic offset or an index tensor");
  const TxAttr *e = a ? a->u.child : NULL, *l = max ? max->u.child : NULL;
  for (uint32_t i = 0; i < r->nmem; i++) {
    Mem *m = &r->mem[i];
    if (e && e->kind != AT_ARRAY) return op_error(r, e->at, "an access pattern is [] or [offset, [step, num], ...]");
    if (l && (l->kind != AT_INT || l->u.i < 0)) return op_error(r, l->at, "ap_max is a list of integers, 0 or more");
    if (l && l->u.i && !has_limit(r, m)) return op_error(r, l->at, "ap_max is 0 for a tensor without a dynamic offset");
    if (e && e->n) m->ap = e;
    if (l) m->dyn_max = l->u.i;
    if (e) e = e->next;
    if (l) l = l->next;
  }
  return true;
}

static bool fill_pattern(RowOp *r, IrTile *t, const TxAttr *ap) {
  const TxAttr *e = ap->u.child;
  if (e->kind != AT_INT) return op_error(r, e->at, "an access pattern begins with the offset");
  if (ap->n > IR_MAX_RANK + 1) return op_error(r, ap->at, "an access pattern has at most 8 pairs");
  t->offset = e->u.i;
  for (e = e->next; e; e = e->next) {
    const TxAttr *step = e->kind == AT_ARRAY && e->n == 2 ? e->u.child : NULL;
    bool pair = step && step->kind == AT_INT && step->next->kind == AT_INT;
    if (!pair || step->next->u.i < 0)
      return op_error(r, e->at, "an access pattern holds pairs [step, num] with num 0 or more");
    t->dim[t->rank++] = (IrDim){step->u.i, step->next->u.i};
  }
  return true;
}

/* A tile of its own, unless the operand is a whole static tensor. */
static bool make_tile(RowOp *r, Mem *m, bool indirect) {
  const IrBuf *b = r->x->f->bufs[m->buf->id];
  if (!m->ap && !m->dyn && !indirect) return true;
  if (b->space == SP_reg) return op_error(r, m->at, "a register has no access pattern and no offset");
  IrTile *t = m->tile = ir_tile_new(r->x->m);
  if (!t) return DIAG0(r->x->d, nomem);
  const IrTile *whole = ir_whole(r->x->f, b->id);
  if (!m->ap) *t = *whole;
  t->whole = false;
  t->buf = b->id;
  t->dyn_max = m->dyn_max;
  if (m->dyn && !tx_index_id(r->x, m->dyn, &t->dyn)) return false;
  return !m->ap || fill_pattern(r, t, m->ap);
}

static const IrTile *tile_of(const RowOp *r, const Mem *m) { return m->tile ? m->tile : ir_whole(r->x->f, m->buf->id); }

/* The k-th of the values of indirect_dim: a number, or a list with one per index tensor. */
static bool indirect_dim(RowOp *r, uint32_t k, uint32_t n, int *out) {
  const TxAttr *a = SPECIAL(r, indirect_dim);
  if (!a) return TX_ERR(r->x, r->op->at, ir_attr_missing, r->op->spelled, "indirect_dim");
  const TxAttr *e = a;
  if (a->kind == AT_ARRAY) {
    if (a->n != n) return count_error(r, "dimensions in indirect_dim", a->n, n);
    for (e = a->u.child; k > 0; k--) e = e->next;
  } else if (n != 1) {
    return op_error(r, a->at, "indirect_dim is a list with one dimension per index tensor");
  }
  if (e->kind != AT_INT || e->u.i < 0 || e->u.i >= IR_MAX_RANK)
    return op_error(r, a->at, "indirect_dim is a dimension, 0 to 7");
  *out = (int)e->u.i;
  return true;
}

static int count_targets(const RowOp *r, const Mem *vec) {
  int n = 0;
  for (uint32_t i = 0; i < r->nmem; i++) n += picks(r, vec, &r->mem[i]);
  return n;
}

/* Index tensors are attached in the order of the tensors they index, which is also that of indirect_dim. */
static bool attach_vectors(RowOp *r, uint32_t n) {
  uint32_t k = 0;
  if (SPECIAL(r, indirect_dim) && !n)
    return op_error(r, SPECIAL(r, indirect_dim)->at,
                    "indirect_dim is given, but no operand has the role of an index tensor");
  for (uint32_t i = 0; n && i < r->nmem; i++) {
    Mem *m = &r->mem[i], *vec = NULL;
    for (uint32_t j = 0; j < r->nmem; j++)
      if (picks(r, &r->mem[j], m)) vec = &r->mem[j];
    int targets = m->vector ? count_targets(r, m) : 1;
    if (targets == 0) return op_error(r, m->at, "this index tensor belongs to no operand");
    if (targets > 1) return op_error(r, m->at, "this index tensor could belong to several tensors in hbm");
    if (!vec) continue;
    if (r->x->f->bufs[vec->buf->id]->space == SP_reg) return op_error(r, vec->at, "an index tensor is no register");
    m->tile->vec = tile_of(r, vec);
    if (!indirect_dim(r, k++, n, &m->tile->vec_dim)) return false;
  }
  return true;
}

static bool make_tiles(RowOp *r) {
  uint32_t vectors = 0;
  for (uint32_t i = 0; i < r->nmem; i++) vectors += r->mem[i].vector;
  for (uint32_t i = 0; i < r->nmem; i++) {
    Mem *m = &r->mem[i];
    bool indirect = false;
    for (uint32_t j = 0; vectors && !m->vector && j < r->nmem; j++) indirect = indirect || picks(r, &r->mem[j], m);
    if (!make_tile(r, m, indirect)) return false;
  }
  return attach_vectors(r, vectors);
}

/* All tensors of one role, in operand order. */
static bool place_list(RowOp *r, const Mem *m, IrVal *v) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < r->nmem; i++) n += r->mem[i].param == m->param && !r->mem[i].vector;
  const IrTile **list = arena_newn(&r->x->m->arena, const IrTile *, n);
  if (!list) return DIAG0(r->x->d, nomem);
  *v = (IrVal){V_TILES, n, {.tiles = list}};
  for (uint32_t i = 0; i < r->nmem; i++)
    if (r->mem[i].param == m->param && !r->mem[i].vector) *list++ = tile_of(r, &r->mem[i]);
  return true;
}

static bool place_operands(RowOp *r) {
  for (uint32_t i = 0; i < r->nmem; i++) {
    Mem *m = &r->mem[i];
    if (m->vector) continue;
    const IrParam *p = param_of(r, m);
    IrVal *v = &r->v[m->param];
    bool reg = r->x->f->bufs[m->buf->id]->space == SP_reg, wants_reg = p->kind == K_reg || p->kind == K_int_or_reg;
    if (reg != wants_reg)
      return op_error(
          r, m->at, join(r, "operand", p->name, wants_reg ? "must be a register" : "must be a tensor, not a register"));
    if (v->kind != V_NONE && !is_list(p))
      return op_error(r, m->at, join(r, "parameter", p->name, "is an attribute and an operand"));
    if (is_list(p)) {
      if (v->kind == V_NONE && !place_list(r, m, v)) return false;
    } else if (reg) {
      *v = (IrVal){V_REG, 0, {.reg = m->buf->id}};
    } else {
      *v = (IrVal){V_TILE, 0, {.tile = tile_of(r, m)}};
    }
  }
  return true;
}

/* ---- index arguments */
static bool place_index_args(RowOp *r) {
  const TxAttr *a = SPECIAL(r, index_args);
  if (a && a->kind != AT_ARRAY) return tx_attr_bad(r->x, r->op, a, "a list of strings");
  uint32_t want = a ? a->n : 0;
  if (want != r->nindex) return count_error(r, "index operands before the tensors (index_args)", r->nindex, want);
  const TxAttr *e = a ? a->u.child : NULL;
  for (uint32_t i = 0; e; i++, e = e->next) {
    int p = e->kind == AT_STRING ? op_param(r->row, e->u.s.s, e->u.s.n) : -1;
    Kind kind = p < 0 ? K_tile : r->row->params[p].kind;
    if (p < 0 || (kind != K_int && kind != K_int_or_reg))
      return op_error(r, e->at, "index_args names integer parameters");
    if (r->v[p].kind != V_NONE)
      return op_error(r, e->at, join(r, "parameter", r->row->params[p].name, "is given twice"));
    uint32_t id;
    if (!tx_index_id(r->x, &r->index[i], &id)) return false;
    r->v[p] = (IrVal){V_IDX, 0, {.idx = id}};
  }
  return true;
}

/* ---- attributes */
static bool named_member(RowOp *r, const IrParam *p, const TxAttr *a, IrVal *v) {
  if (a->kind != AT_STRING) return tx_attr_bad(r->x, r->op, a, "a string");
  TxStr s = a->u.s;
  int found = 0;
  bool ok;
  const char *const *names;
  if (p->kind == K_alu) {
    ok = (found = (int)alu_parse(s.s, s.n)) != ALU_none;
    names = alu_names();
  } else if (p->kind == K_act) {
    ok = (found = (int)act_parse(s.s, s.n)) != ACT_none;
    names = act_names();
  } else {
    ok = enum_parse((EnumType)p->set, s.s, s.n, &found);
    names = enum_names((EnumType)p->set);
  }
  *v = (IrVal){V_INT, 0, {.i = found}};
  if (ok) return true;
  const char *text =
      arena_printf(&r->x->scratch, "%s cannot be '%s'%s", p->name, tx_cstr(r->x, s), tx_did_you_mean(r->x, s, names));
  return op_error(r, a->at, text ? text : "");
}

static bool number(RowOp *r, const TxAttr *a, IrVal *v) {
  double d = a->kind == AT_FLOAT ? a->u.f : (double)a->u.i;
  bool exact =
      a->kind == AT_FLOAT || (a->kind == AT_INT && a->u.i <= INT64_C(1) << 53 && a->u.i >= -(INT64_C(1) << 53));
  *v = (IrVal){V_NUM, 0, {.num = d}};
  return exact || tx_attr_bad(r->x, r->op, a, "a float");
}

static bool pairs(RowOp *r, const TxAttr *a, IrVal *v) {
  if (a->kind != AT_ARRAY) return tx_attr_bad(r->x, r->op, a, "a list of pairs");
  int64_t *list = arena_newn(&r->x->m->arena, int64_t, 2 * (size_t)a->n);
  if (!list) return DIAG0(r->x->d, nomem);
  *v = (IrVal){V_PAIRS, a->n, {.ints = list}};
  for (const TxAttr *e = a->u.child; e; e = e->next) {
    const TxAttr *c = e->kind == AT_ARRAY && e->n == 2 ? e->u.child : NULL;
    if (!c || c->kind != AT_INT || c->next->kind != AT_INT)
      return op_error(r, e->at, join(r, "attribute", tx_cstr(r->x, a->key), "is a list of [step, num]"));
    *list++ = c->u.i;
    *list++ = c->next->u.i;
  }
  return true;
}

static bool lists(RowOp *r, const TxAttr *a, IrVal *v) {
  size_t n = 0;
  if (a->kind != AT_ARRAY) return tx_attr_bad(r->x, r->op, a, "a list of lists of integers");
  for (const TxAttr *e = a->u.child; e; e = e->next) {
    if (e->kind != AT_ARRAY) return tx_attr_bad(r->x, r->op, a, "a list of lists of integers");
    n += 1 + (size_t)e->n;
  }
  int64_t *list = arena_newn(&r->x->m->arena, int64_t, n);
  if (!list) return DIAG0(r->x->d, nomem);
  *v = (IrVal){V_LISTS, a->n, {.ints = list}};
  for (const TxAttr *e = a->u.child; e; e = e->next) {
    *list++ = e->n;
    for (const TxAttr *i = e->u.child; i; i = i->next) {
      if (i->kind != AT_INT) return tx_attr_bad(r->x, r->op, a, "a list of lists of integers");
      *list++ = i->u.i;
    }
  }
  return true;
}

static bool string(RowOp *r, const TxAttr *a, IrVal *v) {
  if (a->kind != AT_STRING || a->u.s.n > UINT32_MAX) return tx_attr_bad(r->x, r->op, a, "a string");
  char *s = arena_strdup(&r->x->m->arena, a->u.s.s, a->u.s.n);
  *v = (IrVal){V_STR, (uint32_t)a->u.s.n, {.str = s}};
  return s != NULL || DIAG0(r->x->d, nomem);
}

static bool integer(RowOp *r, const TxAttr *a, IrVal *v) {
  *v = (IrVal){V_INT, 0, {.i = a->u.i}};
  return a->kind == AT_INT || tx_attr_bad(r->x, r->op, a, "an integer");
}

static bool read_param(RowOp *r, int i, const TxAttr *a) {
  const IrParam *p = &r->row->params[i];
  IrVal *v = &r->v[i];
  switch (p->kind) {
    case K_number:
    case K_number_or_column:
    case K_number_or_tile:
      return number(r, a, v);
    case K_alu:
    case K_act:
    case K_enum:
      return named_member(r, p, a, v);
    case K_flag:
    case K_tristate:
      *v = (IrVal){V_INT, 0, {.i = a->u.i}};
      return a->kind == AT_BOOL || tx_attr_bad(r->x, r->op, a, "true or false");
    case K_int:
    case K_int_or_reg:
      return integer(r, a, v);
    case K_int_or_ints:
      if (a->kind == AT_INT) return integer(r, a, v);
      /* fall through */
    case K_ints:
      *v = (IrVal){V_INTS, a->n, {.i = 0}};
      return tx_ints(r->x, r->op, a, &v->u.ints);
    case K_pairs:
    case K_routes:
      return pairs(r, a, v);
    case K_groups:
      return lists(r, a, v);
    case K_str:
      return string(r, a, v);
    default:
      return op_error(r, a->at, join(r, "parameter", p->name, "is an operand, not an attribute"));
  }
}

static bool unknown_attribute(RowOp *r, const TxAttr *a) {
  const char **names = arena_newn(&r->x->scratch, const char *, r->plan->nkey + 1);
  if (!names) return DIAG0(r->x->d, nomem);
  for (int i = 0; i < r->plan->nkey; i++) names[i] = r->plan->key[i].name;
  return TX_ERR(r->x, a->at, ir_unknown_attr, r->op->spelled, tx_cstr(r->x, a->key),
                tx_did_you_mean(r->x, a->key, names));
}

static bool read_attributes(RowOp *r) {
  for (const TxAttr *a = r->op->attr; a; a = a->next) {
    int i = 0;
    while (i < r->plan->nkey && !tx_eq(a->key, (TxStr){r->plan->key[i].name, r->plan->key[i].n})) i++;
    if (i == r->plan->nkey) return unknown_attribute(r, a);
    int param = r->plan->key[i].param;
    if (param < 0)
      r->special[-param] = a;
    else if (!read_param(r, param, a))
      return false;
  }
  return true;
}

static bool fill_defaults(RowOp *r) {
  for (int i = 0; i < r->row->nparams; i++) {
    const IrParam *p = &r->row->params[i];
    if (r->v[i].kind != V_NONE) continue;
    if (p->required && tx_kind_is_operand(p->kind) && !is_list(p))
      return op_error(r, r->op->at, join(r, "operand", p->name, "is missing"));
    if (p->required && !is_list(p)) return TX_ERR(r->x, r->op->at, ir_attr_missing, r->op->spelled, p->name);
    r->v[i] = p->def;
  }
  return true;
}

bool tx_row_op(Tx *x, TxOp *op, Op code) {
  RowOp r = {.x = x, .op = op, .row = &op_info[code]};
  if (!tx_tail(x, op) || !tx_result(x, op, false)) return false;
  r.plan = tx_plan(&x->plans, &x->keep, code);
  r.v = arena_newn(&x->scratch, IrVal, r.row->nparams);
  if (!r.plan || !r.v) return DIAG0(x->d, nomem);
  if (!read_attributes(&r) || !split_operands(&r) || !assign_roles(&r) || !read_ap(&r)) return false;
  if (!make_tiles(&r) || !place_operands(&r) || !place_index_args(&r) || !fill_defaults(&r)) return false;
  const char *label = NULL;
  if (SPECIAL(&r, name) && !tx_get_name(x, op, "name", &label)) return false;
  IrIns *ins = tx_append(x, op, code, r.v, (uint32_t)r.row->nparams);
  if (!ins) return false;
  ins->label = label;
  return true;
}
