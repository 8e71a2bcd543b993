/* parse_ask.c -- room ir: how an operation asks for its attributes, and the messages when they are not as they must be.
 */
#include "text_ir.h"

const char *tx_attr_noun(const TxAttr *a) {
  static const char *const nouns[] = {
      "an integer", "a float", "a string",     "true or false", "a bare name without a value",
      "a symbol",   "a list",  "a dictionary", "dense data",    "a type"};
  return nouns[a->kind];
}

TxAttr *tx_attr(TxOp *op, const char *key) {
  for (TxAttr *a = op->attr; a; a = a->next)
    if (tx_is(a->key, key)) {
      a->used = true;
      return a;
    }
  return NULL;
}

bool tx_attr_bad(Tx *x, const TxOp *op, const TxAttr *a, const char *wanted) {
  return TX_ERR(x, a->at, ir_attr_kind, tx_cstr(x, a->key), op->spelled, wanted, tx_attr_noun(a));
}

bool tx_attr_need(Tx *x, TxOp *op, const char *key, TxAttr **out) {
  *out = tx_attr(op, key);
  return *out || TX_ERR(x, op->at, ir_attr_missing, op->spelled, key);
}

bool tx_attrs_done(Tx *x, const TxOp *op, const char *const *known) {
  for (const TxAttr *a = op->attr; a; a = a->next)
    if (!a->used)
      return TX_ERR(x, a->at, ir_unknown_attr, op->spelled, tx_cstr(x, a->key), tx_did_you_mean(x, a->key, known));
  return true;
}

bool tx_get_string(Tx *x, TxOp *op, const char *key, TxStr *out) {
  TxAttr *a;
  if (!tx_attr_need(x, op, key, &a)) return false;
  *out = a->u.s;
  return a->kind == AT_STRING || tx_attr_bad(x, op, a, "a string");
}

bool tx_get_name(Tx *x, TxOp *op, const char *key, const char **out) {
  TxStr s;
  if (!tx_get_string(x, op, key, &s)) return false;
  *out = tx_name(x, s, tx_attr(op, key)->at);
  return *out != NULL;
}

bool tx_ints(Tx *x, const TxOp *op, const TxAttr *a, const int64_t **out) {
  if (a->kind != AT_ARRAY) return tx_attr_bad(x, op, a, "a list of integers");
  int64_t *v = arena_newn(&x->m->arena, int64_t, a->n);
  if (!v) return DIAG0(x->d, nomem);
  uint32_t i = 0;
  for (const TxAttr *e = a->u.child; e; e = e->next) {
    if (e->kind != AT_INT)
      return TX_ERR(x, e->at, ir_attr_kind, tx_cstr(x, a->key), op->spelled, "a list of integers", tx_attr_noun(e));
    v[i++] = e->u.i;
  }
  *out = v;
  return true;
}

/* The dtype that the type says, or the one of the attribute, which must print as this type. */
bool tx_get_dtype(Tx *x, TxOp *op, const TxType *type, DType *out) {
  *out = (DType)type->elt;
  TxAttr *a = tx_attr(op, "dtype");
  if (a && a->kind != AT_STRING) return tx_attr_bad(x, op, a, "a string");
  if (type->kind != TY_MEMREF || type->elt >= DT_count)
    return TX_ERR(x, op->result_spelled.s, ir_operands, op->spelled,
                  "the result is a memref<> of an element type of NKI");
  if (!a) return true;
  *out = dtype_parse(a->u.s.s, a->u.s.n);
  if (*out == DT_none)
    return TX_ERR(x, a->at, ir_operands, op->spelled,
                  arena_printf(&x->scratch, "unknown dtype%s", tx_did_you_mean(x, a->u.s, dtype_names())));
  if (strcmp(dtype_info[*out].mlir, tx_elt_name(type->elt)) == 0) return true;
  return TX_ERR(x, a->at, ir_operands, op->spelled,
                arena_printf(&x->scratch, "dtype %s is spelled %s in a type, not %s", dtype_name(*out),
                             dtype_info[*out].mlir, tx_elt_name(type->elt)));
}
