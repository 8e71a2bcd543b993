/* print_ins.c -- room ir: one instruction of ops.def as a line of text, from its row. */
#include "print_ir.h"

static void add_operand(Print *p, PrOperand o) {
  if (p->noperand == p->capoperand && !arena_push(&p->tmp, p->operand, p->capoperand, p->noperand)) return;
  p->operand[p->noperand++] = o;
}

static void collect_operands(Print *p, const IrIns *ins, const OpInfo *row, const TxPlan *plan) {
  p->noperand = 0;
  for (int k = 0; k < plan->noperand; k++) {
    const IrVal *v = &ins->v[plan->operand[k]];
    const char *role = row->params[plan->operand[k]].name;
    if (v->kind == V_TILE) add_operand(p, (PrOperand){v->u.tile->buf, v->u.tile, role, false});
    if (v->kind == V_REG) add_operand(p, (PrOperand){v->u.reg, NULL, role, false});
    for (uint32_t i = 0; v->kind == V_TILES && i < v->n; i++)
      add_operand(p, (PrOperand){v->u.tiles[i]->buf, v->u.tiles[i], role, false});
  }
  uint32_t n = p->noperand;
  for (uint32_t k = 0; k < n; k++) {
    const IrTile *t = p->operand[k].tile, *vec = t ? t->vec : NULL;
    if (vec) add_operand(p, (PrOperand){vec->buf, vec, p->operand[k].role, true});
  }
}

static void print_ap(Print *p) {
  pr_lit(p, "[");
  for (uint32_t k = 0; k < p->noperand; k++) {
    const IrTile *t = p->operand[k].tile;
    if (k) pr_lit(p, ", ");
    pr_lit(p, "[");
    if (t && !t->whole) {
      pr_int(p, t->offset);
      for (int i = 0; i < t->rank; i++) {
        pr_lit(p, ", [");
        pr_int(p, t->dim[i].stride);
        pr_lit(p, ", ");
        pr_int(p, t->dim[i].count);
        pr_lit(p, "]");
      }
    }
    pr_lit(p, "]");
  }
  pr_lit(p, "]");
}

static void print_roles(Print *p) {
  pr_lit(p, "[");
  for (uint32_t k = 0; k < p->noperand; k++) {
    if (k) pr_lit(p, ", ");
    pr_lit(p, "\"");
    pr_puts(p, p->operand[k].role);
    if (p->operand[k].vector) pr_lit(p, TX_VECTOR);
    pr_lit(p, "\"");
  }
  pr_lit(p, "]");
}

static bool has_limit(const IrTile *t) { return t && (t->dyn || t->vec); }

static void print_max(Print *p) {
  pr_lit(p, "[");
  for (uint32_t k = 0; k < p->noperand; k++) {
    const IrTile *t = p->operand[k].tile;
    if (k) pr_lit(p, ", ");
    pr_int(p, has_limit(t) ? t->dyn_max : 0);
  }
  pr_lit(p, "]");
}

/* One number for the usual single index tensor, else a list in operand order. */
static void print_indirect_dim(Print *p) {
  int64_t dim[8];
  uint32_t n = 0;
  for (uint32_t k = 0; k < p->noperand && n < 8; k++) {
    const IrTile *t = p->operand[k].tile;
    if (t && t->vec && !p->operand[k].vector) dim[n++] = t->vec_dim;
  }
  if (n == 1)
    pr_int(p, dim[0]);
  else
    pr_list(p, dim, n);
}

static void print_index_args(Print *p, const IrIns *ins, const OpInfo *row) {
  bool comma = false;
  pr_lit(p, "[");
  for (int i = 0; i < row->nparams; i++) {
    if (ins->v[i].kind != V_IDX) continue;
    pr_puts(p, comma ? ", \"" : "\"");
    pr_puts(p, row->params[i].name);
    pr_lit(p, "\"");
    comma = true;
  }
  pr_lit(p, "]");
}

static void print_member(Print *p, const IrParam *param, int64_t i) {
  const char *name = NULL;
  if (param->kind == K_alu && i > 0 && i < ALU_count) name = alu_info[i].name;
  if (param->kind == K_act && i > 0 && i < ACT_count) name = act_info[i].name;
  if (param->kind == K_enum && i >= 0 && i <= INT32_MAX) name = enum_name((EnumType)param->set, (int)i);
  if (name)
    pr_quoted(p, name, strlen(name));
  else
    pr_int(p, i);
}

static void print_lists(Print *p, const IrVal *v) {
  const int64_t *list = v->u.ints;
  pr_lit(p, "[");
  for (uint32_t i = 0; i < v->n; i++, list += 1 + *list) {
    if (i) pr_lit(p, ", ");
    pr_list(p, list + 1, (uint32_t)*list);
  }
  pr_lit(p, "]");
}

static void print_value(Print *p, const IrParam *param, const IrVal *v) {
  switch ((ValKind)v->kind) {
    case V_NUM:
      pr_double(p, v->u.num);
      break;
    case V_INTS:
      pr_list(p, v->u.ints, v->n);
      break;
    case V_STR:
      pr_quoted(p, v->u.str, v->n);
      break;
    case V_INT:
      if (param->kind == K_flag || param->kind == K_tristate)
        pr_puts(p, v->u.i ? "true" : "false");
      else
        print_member(p, param, v->u.i);
      break;
    case V_PAIRS:
      pr_lit(p, "[");
      for (uint32_t i = 0; i < v->n; i++) {
        if (i) pr_lit(p, ", ");
        pr_list(p, v->u.ints + 2 * i, 2);
      }
      pr_lit(p, "]");
      break;
    case V_LISTS:
      print_lists(p, v);
      break;
    default:
      break;
  }
}

static bool is_attribute(const IrParam *param, const IrVal *v) {
  switch ((ValKind)v->kind) {
    case V_NUM:
    case V_INT:
    case V_INTS:
    case V_PAIRS:
    case V_LISTS:
    case V_STR:
      return !tx_is_default(param, v);
    default:
      return false;
  }
}

typedef struct Shown { /* which attributes that are not parameters an instruction has */
  bool ap, dynamic, vector, index;
} Shown;

static Shown what_shows(const Print *p, const IrIns *ins) {
  Shown s = {0};
  for (uint32_t k = 0; k < p->noperand; k++) {
    const IrTile *t = p->operand[k].tile;
    s.ap = s.ap || (t && !t->whole);
    s.dynamic = s.dynamic || has_limit(t);
    s.vector = s.vector || p->operand[k].vector;
  }
  for (int i = 0; i < ins->nval; i++) s.index = s.index || ins->v[i].kind == V_IDX;
  return s;
}

static bool shows(const Shown *s, const IrIns *ins, const TxPlan *plan, int key) {
  switch (key) {
    case TX_KEY_ap:
      return s->ap;
    case TX_KEY_ap_max:
      return s->dynamic;
    case TX_KEY_index_args:
      return s->index;
    case TX_KEY_indirect_dim:
      return s->vector;
    case TX_KEY_name:
      return ins->label != NULL;
    default:
      return plan->roles || s->vector;
  }
}

static void print_special(Print *p, const IrIns *ins, const OpInfo *row, int key) {
  switch (key) {
    case TX_KEY_ap:
      print_ap(p);
      break;
    case TX_KEY_ap_max:
      print_max(p);
      break;
    case TX_KEY_index_args:
      print_index_args(p, ins, row);
      break;
    case TX_KEY_indirect_dim:
      print_indirect_dim(p);
      break;
    case TX_KEY_name:
      pr_quoted(p, ins->label, strlen(ins->label));
      break;
    default:
      print_roles(p);
      break;
  }
}

static void print_attributes(Print *p, const IrIns *ins, const OpInfo *row, const TxPlan *plan) {
  Shown s = what_shows(p, ins);
  bool any = false;
  for (int k = 0; k < plan->nkey; k++) {
    int param = plan->key[k].param;
    bool show = param >= 0 ? is_attribute(&row->params[param], &ins->v[param]) : shows(&s, ins, plan, param);
    if (!show) continue;
    if (any)
      pr_lit(p, ", ");
    else
      pr_lit(p, " {");
    any = true;
    pr_add(p, plan->key[k].name, plan->key[k].n);
    pr_lit(p, " = ");
    if (param >= 0)
      print_value(p, &row->params[param], &ins->v[param]);
    else
      print_special(p, ins, row, param);
  }
  if (any) pr_lit(p, "}");
}

/* Index arguments, then every memref with its dynamic offset behind it: as values or as types. */
static void print_operands(Print *p, const IrIns *ins, bool types) {
  bool comma = false;
  for (int i = 0; i < ins->nval; i++) {
    if (ins->v[i].kind != V_IDX) continue;
    if (comma) pr_lit(p, ", ");
    if (types)
      pr_lit(p, TX_INDEX_TYPE);
    else
      pr_index_ref(p, ins->v[i].u.idx);
    comma = true;
  }
  for (uint32_t k = 0; k < p->noperand; k++) {
    const PrOperand *o = &p->operand[k];
    if (comma) pr_lit(p, ", ");
    comma = true;
    pr_str(p, types ? p->buf[o->buf].type : p->buf[o->buf].ref);
    if (!o->tile || !o->tile->dyn) continue;
    pr_lit(p, ", ");
    if (types)
      pr_lit(p, TX_INDEX_TYPE);
    else
      pr_index_ref(p, o->tile->dyn);
  }
}

void pr_ins(Print *p, const IrIns *ins) {
  const OpInfo *row = &op_info[ins->op];
  const TxPlan *plan = tx_plan(&p->plans, &p->tmp, (Op)ins->op);
  if (!plan) return;
  collect_operands(p, ins, row, plan);
  pr_indent(p);
  pr_lit(p, "\"");
  pr_puts(p, row->dialect);
  pr_lit(p, ".");
  pr_puts(p, row->name);
  pr_lit(p, "\"(");
  print_operands(p, ins, false);
  pr_lit(p, ")");
  print_attributes(p, ins, row, plan);
  pr_lit(p, " : (");
  print_operands(p, ins, true);
  pr_lit(p, ") -> ()");
  pr_loc(p, ins->loc);
  pr_lit(p, "\n");
}
