/* print_plan.c -- room ir: the layout of an instruction in text, derived from its row. */
#include "text_ir.h"

bool tx_kind_is_operand(Kind k) {
  switch (k) {
    case K_tile:
    case K_column:
    case K_number_or_column:
    case K_number_or_tile:
    case K_tiles:
    case K_channels:
    case K_reg:
    case K_int_or_reg:
      return true;
    default:
      return false;
  }
}

/* The operand may be missing, a plain number, or several tensors. */
static bool needs_role(const IrParam *p) {
  return tx_kind_is_operand(p->kind) &&
         (!p->required || (p->kind != K_tile && p->kind != K_column && p->kind != K_reg));
}

static void add_key(TxPlan *plan, const char *name, int param) {
  int i = plan->nkey++;
  for (; i > 0 && strcmp(plan->key[i - 1].name, name) > 0; i--) plan->key[i] = plan->key[i - 1];
  plan->key[i] = (TxKey){name, strlen(name), param};
}

const TxPlan *tx_plan(TxPlans *plans, Arena *a, Op op) {
  if (plans->plan[op]) return plans->plan[op];
  const OpInfo *row = &op_info[op];
  TxPlan *plan = arena_new(a, TxPlan);
  int *operand = arena_newn(a, int, row->nparams + 1);
  TxKey *key = arena_newn(a, TxKey, row->nparams + 6);
  if (!plan || !operand || !key) return NULL;
  plan->operand = operand;
  plan->key = key;
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < row->nparams; i++)
      if (tx_kind_is_operand(row->params[i].kind) && role_writes(row->params[i].role) == (pass == 0))
        operand[plan->noperand++] = i;
  for (int i = 0; i < row->nparams; i++) {
    const IrParam *p = &row->params[i];
    plan->roles = plan->roles || needs_role(p);
    add_key(plan, p->name, i);
  }
  add_key(plan, "ap", TX_KEY_ap);
  add_key(plan, "ap_max", TX_KEY_ap_max);
  add_key(plan, "index_args", TX_KEY_index_args);
  add_key(plan, "indirect_dim", TX_KEY_indirect_dim);
  add_key(plan, "name", TX_KEY_name);
  add_key(plan, "roles", TX_KEY_roles);
  return plans->plan[op] = plan;
}

bool tx_is_default(const IrParam *p, const IrVal *v) {
  if (v->kind != p->def.kind) return false;
  if (v->kind == V_NONE) return true;
  if (v->kind == V_INT) return v->u.i == p->def.u.i;
  return v->kind == V_NUM && memcmp(&v->u.num, &p->def.u.num, sizeof v->u.num) == 0;
}

DType tx_dtype_of_mlir(TxStr name) {
  for (int d = DT_none + 1; d < DT_count; d++)
    if (tx_is(name, dtype_info[d].mlir)) return (DType)d;
  return DT_none;
}

bool tx_dtype_hidden(DType d) {
  const char *mlir = dtype_info[d].mlir;
  return tx_dtype_of_mlir((TxStr){mlir, strlen(mlir)}) != d;
}

/* MLIR packs the bits of i1 and keeps tf32 in three bytes. */
const char *tx_dense_elt(DType d) {
  if (d == DT_bool_) return "i8";
  return d == DT_tfloat32 ? "f32" : dtype_info[d].mlir;
}
