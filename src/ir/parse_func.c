/* parse_func.c -- room ir: functions and what their attributes say about the module. */
#include "text_ir.h"

static bool func_error(Tx *x, const char *at, const char *what) {
  return TX_ERR(x, at, ir_operands, "func.func", what);
}

static bool get_list(Tx *x, TxOp *op, const char *key, bool required, TxAttr **out) {
  *out = tx_attr(op, key);
  if (!*out && required) return TX_ERR(x, op->at, ir_attr_missing, op->spelled, key);
  return !*out || (*out)->kind == AT_ARRAY || tx_attr_bad(x, op, *out, "a list");
}

static bool get_flag(Tx *x, TxOp *op, const char *key, bool *out) {
  TxAttr *a = tx_attr(op, key);
  *out = a && a->u.i;
  return !a || a->kind == AT_BOOL || tx_attr_bad(x, op, a, "true or false");
}

/* A list of names, in the module. */
static bool get_names(Tx *x, const TxOp *op, const TxAttr *list, const char ***out) {
  const char **names = arena_newn(&x->m->arena, const char *, list->n);
  if (!names) return DIAG0(x->d, nomem);
  *out = names;
  for (const TxAttr *a = list->u.child; a; a = a->next) {
    if (a->kind != AT_STRING)
      return TX_ERR(x, a->at, ir_attr_kind, tx_cstr(x, list->key), op->spelled, "a list of strings", tx_attr_noun(a));
    *names = tx_name(x, a->u.s, a->at);
    if (!*names++) return false;
  }
  return true;
}

/* ---- what the first function says of the module */
static bool grid(Tx *x, TxOp *op) {
  IrModule *m = x->m;
  TxAttr *a;
  const int64_t *v;
  if (!get_list(x, op, "nki.grid", true, &a) || !tx_ints(x, op, a, &v)) return false;
  if (a->n > IR_MAX_GRID) return func_error(x, a->at, "a grid has at most 8 dimensions");
  m->ngrid = (int)a->n;
  m->nprogram = 1;
  for (int i = 0; i < m->ngrid; i++) {
    m->grid[i] = v[i];
    if (v[i] < 1 || __builtin_mul_overflow(m->nprogram, v[i], &m->nprogram))
      return func_error(x, a->at,
                        "the dimensions of a grid are 1 or more, and so many programs can be counted in 64 bits");
  }
  return true;
}

/* [cores, block] of every axis; an axis on one core is [1, 1], and one axis at least is on several. */
static bool cores(Tx *x, TxOp *op) {
  IrModule *m = x->m;
  TxAttr *a;
  if (!get_list(x, op, "nki.cores", false, &a)) return false;
  if (!a) return true;
  if ((int)a->n != m->ngrid) return func_error(x, a->at, "nki.cores has one entry per axis of the grid");
  IrCores *c = m->cores;
  for (const TxAttr *e = a->u.child; e; e = e->next, c++) {
    const TxAttr *p = e->kind == AT_ARRAY && e->n == 2 ? e->u.child : NULL;
    if (!p || p->kind != AT_INT || p->next->kind != AT_INT)
      return func_error(x, e->at, "nki.cores is a list of [cores, block]");
    int64_t size = m->grid[c - m->cores];
    *c = (IrCores){p->u.i, p->next->u.i};
    bool even = c->count >= 1 && size % c->count == 0 && (c->block == 1 || c->block == size / c->count);
    if (!even || (c->count == 1 && c->block != 1))
      return func_error(x, e->at,
                        "an axis has the same number of programs on each core, in blocks of 1 or of all of them, and "
                        "[1, 1] on one core");
  }
  return ir_core_count(m->cores, m->ngrid) > 1 || func_error(x, a->at, "nki.cores is left out for a grid on one core");
}

static bool target(Tx *x, TxOp *op) {
  TxStr s;
  if (!tx_get_string(x, op, "nki.target", &s)) return false;
  if (target_parse(s.s, s.n, &x->m->target))
    return get_flag(x, op, "nki.target_is_fallback", &x->m->target_is_fallback);
  const char *text =
      arena_printf(&x->scratch, "unknown target '%s'%s", tx_cstr(x, s), tx_did_you_mean(x, s, target_names()));
  return func_error(x, tx_attr(op, "nki.target")->at, text ? text : "");
}

/* Function of every program, when there are several functions; checked once all are read. */
static bool programs(Tx *x, TxOp *op) {
  TxAttr *a;
  const int64_t *v;
  if (!get_list(x, op, "nki.programs", false, &a)) return false;
  if (!a) return true;
  x->programs_at = a->at;
  if (!tx_ints(x, op, a, &v)) return false;
  if (a->n != x->m->nprogram) return func_error(x, a->at, "nki.programs has one entry per program of the grid");
  x->programs = arena_newn(&x->m->arena, uint32_t, a->n);
  if (!x->programs) return DIAG0(x->d, nomem);
  for (uint32_t i = 0; i < a->n; i++) {
    if (v[i] < 0 || v[i] > INT32_MAX) return func_error(x, a->at, "nki.programs holds numbers of functions");
    x->programs[i] = (uint32_t)v[i];
  }
  return true;
}

static bool aliases(Tx *x, TxOp *op) {
  IrModule *m = x->m;
  TxAttr *a;
  if (!get_list(x, op, "nki.aliases", false, &a)) return false;
  if (!a) return true;
  m->aliases = arena_newn(&m->arena, IrAlias, a->n);
  if (!m->aliases) return DIAG0(x->d, nomem);
  for (const TxAttr *e = a->u.child; e; e = e->next) {
    const TxAttr *p = e->kind == AT_ARRAY && e->n == 2 ? e->u.child : NULL;
    if (!p || p->kind != AT_INT || p->next->kind != AT_INT)
      return func_error(x, e->at, "nki.aliases is a list of [operand, output]");
    int64_t operand = p->u.i, output = p->next->u.i;
    bool fits = operand >= 0 && operand < x->f->nargs && output >= 0 && output < x->f->nrets;
    if (!fits || x->f->rets[output] != operand)
      return func_error(x, e->at, "an alias is an argument and the output that returns it");
    if (m->naliases && m->aliases[m->naliases - 1].output >= output)
      return func_error(x, e->at, "aliases are ordered by output");
    m->aliases[m->naliases++] = (IrAlias){(int32_t)operand, (int32_t)output};
  }
  return true;
}

static bool outputs(Tx *x, TxOp *op) {
  TxAttr *a;
  if (!get_list(x, op, "nki.outputs", true, &a) || !get_names(x, op, a, &x->m->output_names)) return false;
  return a->n == x->f->nrets || func_error(x, a->at, "nki.outputs has one name per tensor returned");
}

static bool bound(Tx *x, TxOp *op) {
  TxStr s;
  if (!tx_attr(op, "nki.bound")) return true;
  if (!tx_get_string(x, op, "nki.bound", &s)) return false;
  x->m->bound = tx_name(x, s, tx_attr(op, "nki.bound")->at);
  return x->m->bound != NULL;
}

/* ---- arguments */
static bool argument_dtype(Tx *x, const TxAttr *a, const TxType *type, const char *at, DType *out) {
  *out = (DType)type->elt;
  if (type->kind != TY_MEMREF || type->elt >= DT_count || type->space == SP_reg)
    return func_error(x, at, "an argument is a tensor");
  if (!a) return true;
  if (a->kind != AT_STRING) return func_error(x, a->at, "nki.arg_dtypes is a list of strings");
  *out = dtype_parse(a->u.s.s, a->u.s.n);
  if (*out != DT_none && strcmp(dtype_info[*out].mlir, tx_elt_name(type->elt)) == 0) return true;
  return func_error(x, a->at, "this dtype is unknown or is not spelled as the argument's element type");
}

bool tx_block_header(Tx *x) {
  tx_space(x);
  if (!tx_take(x, '^') || !tx_take_word(x, "bb0")) return tx_expected(x, "'^bb0'");
  return tx_need(x, '(');
}

bool tx_block_arg(Tx *x, TxStr *name, const char **at, TxStr *spelled, TxType *type) {
  tx_space(x);
  *at = x->p;
  if (!tx_value_name(x, name) || !tx_need(x, ':')) return false;
  tx_space(x);
  *spelled = (TxStr){x->p, 0};
  if (!tx_type(x, type)) return false;
  spelled->n = (size_t)(x->p - spelled->s);
  uint32_t loc;
  return tx_loc(x, &loc);
}

static bool argument(Tx *x, const char *name, const TxAttr *dtype) {
  TxValue v = {.kind = VK_BUF, .id = x->f->nbufs};
  TxType type;
  const char *at;
  IrBufSpec spec = {.kind = BUF_ARG, .name = name};
  if (!tx_block_arg(x, &v.name, &at, &v.type, &type) || !argument_dtype(x, dtype, &type, v.type.s, &spec.dtype))
    return false;
  spec.space = type.space;
  spec.rank = type.rank;
  spec.shape = type.shape;
  const IrBuf *b = ir_buf_new(x->m, x->f, &spec);
  if (!b) return DIAG0(x->d, nomem);
  if (strcmp(b->name, name) != 0) return func_error(x, at, "two arguments have the same name");
  return tx_add(x, &x->values, v, at);
}

/* The block's arguments, with their names and dtypes from the function's attributes. */
static bool arguments(Tx *x, TxOp *op) {
  TxAttr *names, *dtypes;
  const char **name;
  bool any = tx_peek(x, '^');
  if (!get_list(x, op, "nki.args", any, &names) || !get_list(x, op, "nki.arg_dtypes", false, &dtypes)) return false;
  uint32_t n = names ? names->n : 0;
  if (dtypes && dtypes->n != n) return func_error(x, dtypes->at, "nki.arg_dtypes has one entry per argument");
  if (names && !get_names(x, op, names, &name)) return false;
  if (names && x->m->nfunc == 1) x->m->arg_names = name;
  if (!any && n) return func_error(x, names->at, "nki.args has one name per argument");
  if (!any) return true;
  if (!tx_block_header(x)) return false;
  const TxAttr *dtype = dtypes ? dtypes->u.child : NULL;
  uint32_t i = 0;
  if (!tx_take(x, ')')) {
    do {
      if (i == n) return func_error(x, x->p, "nki.args has one name per argument");
      if (!argument(x, name[i++], dtype)) return false;
      if (dtype) dtype = dtype->next;
    } while (tx_take(x, ','));
    if (!tx_need(x, ')')) return false;
  }
  return tx_need(x, ':') && (i == n || func_error(x, names->at, "nki.args has one name per argument"));
}

/* ---- functions */
static bool version(Tx *x, TxOp *op) {
  TxAttr *a;
  if (!tx_attr_need(x, op, "nki.version", &a)) return false;
  if (a->kind != AT_INT) return tx_attr_bad(x, op, a, "an integer");
  return a->u.i == TX_VERSION || func_error(x, a->at, "this build reads nki.version 1");
}

static bool body(Tx *x, TxOp *op) {
  TxAttr *type;
  if (!tx_need(x, '{') || !arguments(x, op) || !tx_block(x, "func.return", op->spelled)) return false;
  if (!tx_attr_need(x, op, "function_type", &type)) return false;
  if (type->kind != AT_TYPE || *type->u.s.s != '(') return tx_attr_bad(x, op, type, "a function type");
  return tx_check_func_type(x, type, x->f->rets, x->f->nrets);
}

/* Names and dtypes of the arguments are in the attributes, which stand behind the body: they are read first. */
static bool function(Tx *x, TxOp *op) {
  static const char *const known[] = {"function_type",
                                      "nki.aliases",
                                      "nki.arg_dtypes",
                                      "nki.args",
                                      "nki.bound",
                                      "nki.cores",
                                      "nki.grid",
                                      "nki.has_collectives",
                                      "nki.outputs",
                                      "nki.programs",
                                      "nki.result_is_sequence",
                                      "nki.target",
                                      "nki.target_is_fallback",
                                      "nki.version",
                                      "sym_name",
                                      NULL};
  static const char *const later[] = {"function_type", "nki.arg_dtypes", "nki.args", "nki.version", "sym_name", NULL};
  const char *name;
  if (op->noperand) return func_error(x, op->operand[0].at, "there are no operands");
  if (!tx_need(x, '(') || !tx_peek(x, '{')) return tx_expected(x, "'{'");
  const char *region = x->p;
  if (!tx_skip_braces(x) || !tx_need(x, ')') || !tx_tail(x, op) || !tx_result(x, op, false)) return false;
  const char *after = x->p, *end = x->end;
  if (!version(x, op) || !tx_get_name(x, op, "sym_name", &name)) return false;
  if (!tx_add(x, &x->funcs, (TxValue){.name = {name, strlen(name)}}, op->at)) return false;
  bool first = x->m->nfunc == 0;
  x->f = ir_func_new(x->m, name);
  if (!x->f) return DIAG0(x->d, nomem);
  if (first) x->m->name = x->f->name;
  if (first && (!grid(x, op) || !cores(x, op) || !target(x, op) || !programs(x, op))) return false;
  if (first && !get_flag(x, op, "nki.result_is_sequence", &x->m->result_is_sequence)) return false;
  if (first && !get_flag(x, op, "nki.has_collectives", &x->m->has_collectives)) return false;
  if (first && !bound(x, op)) return false;
  tx_cut(&x->values, 0);
  x->p = region;
  x->end = after; /* the body cannot run beyond its function */
  if (!body(x, op)) return false;
  x->p = after;
  x->end = end;
  if (first && (!aliases(x, op) || !outputs(x, op))) return false;
  return tx_attrs_done(x, op, first ? known : later); /* the first one speaks for the module */
}

static bool module_programs(Tx *x) {
  IrModule *m = x->m;
  if (!m->nfunc) return tx_expected(x, "a function (\"func.func\")");
  if (m->nfunc > 1 && !x->programs) return TX_ERR(x, x->text, ir_attr_missing, "the first func.func", "nki.programs");
  for (int64_t i = 0; x->programs && i < m->nprogram; i++)
    if (x->programs[i] >= m->nfunc)
      return func_error(x, x->programs_at, "nki.programs names a function that is not there");
  if (m->nfunc > 1) m->program = x->programs;
  return true;
}

/* One operation outside functions. */
static bool top(Tx *x, bool wrapped, bool *wrapper) {
  static const char *const none[] = {NULL};
  ArenaMark mark = arena_mark(&x->scratch);
  TxOp op = {0};
  if (!tx_head(x, &op)) return false;
  *wrapper = tx_is(op.name, "builtin.module") && !wrapped && x->m->nfunc == 0;
  if (*wrapper) {
    if (!tx_need(x, '(') || !tx_need(x, '{')) return false;
    while (!tx_take(x, '}')) {
      bool inner;
      if (x->p >= x->end) return tx_expected(x, "an operation or '}'");
      if (!top(x, true, &inner)) return false;
    }
    if (!tx_need(x, ')') || !tx_tail(x, &op) || !tx_attrs_done(x, &op, none)) return false;
  } else if (!tx_is(op.name, "func.func")) {
    return TX_ERR(x, op.at, ir_misplaced, op.spelled, "not outside a function; a text is one or more func.func");
  } else if (!function(x, &op)) {
    return false;
  }
  arena_rewind(&x->scratch, mark);
  return true;
}

bool tx_module(Tx *x) {
  bool wrapper = false;
  for (tx_space(x); x->p < x->end; tx_space(x)) {
    if (wrapper) return tx_expected(x, "the end of the text");
    if (!top(x, false, &wrapper)) return false;
  }
  return module_programs(x);
}
