/* parse.c -- room ir: IR text (docs/ir.md) to a module: operations, their locations, and the entry point. */
#include "text_ir.h"

enum { MAX_OPERANDS = 4096 };

/* ---- the pieces of an operation */
static bool operand(Tx *x, TxOp *op) {
  tx_space(x);
  TxOperand o = {NULL, x->p};
  TxStr name;
  if (!tx_value_name(x, &name)) return false;
  o.value = tx_find(&x->values, name);
  if (!o.value) return TX_ERR(x, o.at, ir_undefined, tx_cstr(x, (TxStr){name.s - 1, name.n + 1}));
  if (op->noperand == MAX_OPERANDS) return TX_ERR(x, o.at, ir_word, "an operation has at most 4096 operands");
  if (op->noperand == op->capoperand && !arena_push(&x->scratch, op->operand, op->capoperand, op->noperand))
    return DIAG0(x->d, nomem);
  op->operand[op->noperand++] = o;
  return true;
}

bool tx_head(Tx *x, TxOp *op) {
  tx_space(x);
  if (tx_peek(x, '%')) {
    op->result_at = x->p;
    if (!tx_value_name(x, &op->result)) return false;
    if (tx_peek(x, ':') || tx_peek(x, ','))
      return TX_ERR(x, op->result_at, ir_word, "an operation has one result at most");
    if (!tx_need(x, '=')) return false;
    tx_space(x);
  }
  op->at = x->p;
  if (!tx_string(x, "an operation: its name in quotes", &op->name)) return false;
  op->spelled = tx_cstr(x, op->name);
  if (!tx_need(x, '(')) return false;
  if (!tx_take(x, ')')) {
    do {
      if (!operand(x, op)) return false;
    } while (tx_take(x, ','));
    if (!tx_need(x, ')')) return false;
  }
  return !tx_take(x, '<') || (tx_need(x, '{') && tx_dict(x, op, '>'));
}

bool tx_tail(Tx *x, TxOp *op) {
  if (tx_take(x, '{') && !tx_dict(x, op, '}')) return false;
  return tx_need_types(x, op) && tx_loc(x, &op->loc);
}

bool tx_result(Tx *x, const TxOp *op, bool wanted) {
  bool named = op->result_at != NULL, typed = op->result_type.kind != TY_NONE;
  if (named == wanted && typed == wanted) return true;
  const char *at = named ? op->result_at : op->at;
  return TX_ERR(x, at, ir_operands, op->spelled, wanted ? "has one result, which needs a name" : "has no result");
}

bool tx_define(Tx *x, const TxOp *op, TxValueKind kind, uint32_t id, int64_t number) {
  TxValue v = {.name = op->result, .kind = kind, .id = id, .number = number, .type = op->result_spelled};
  return tx_add(x, &x->values, v, op->result_at);
}

IrIns *tx_append(Tx *x, const TxOp *op, Op code, const IrVal *v, uint32_t nval) {
  IrIns *ins = ir_append(x->m, x->f, code, v, nval);
  if (ins)
    ins->loc = op->loc;
  else
    DIAG0(x->d, nomem);
  return ins;
}

/* ---- locations */
typedef struct Frames {
  struct Frame {
    TxStr file;
    int line;
    const char *at;
  } * list;
  uint32_t count, cap;
} Frames;

static bool frame(Tx *x, Frames *f) {
  tx_space(x);
  struct Frame one = {.at = x->p};
  int64_t line, column;
  if (tx_take_word(x, "unknown")) return true;
  if (!tx_string(x, "a location: \"file\":line:column", &one.file)) return false;
  if (!tx_need(x, ':') || !tx_digits(x, &line) || !tx_need(x, ':') || !tx_digits(x, &column)) return false;
  if (line > INT32_MAX) return TX_ERR(x, one.at, ir_word, "this line number is too large");
  if (memchr(one.file.s, 0, one.file.n)) return TX_ERR(x, one.at, ir_word, "a name cannot hold a NUL byte");
  one.line = (int)line;
  if (f->count == f->cap && !arena_push(&x->scratch, f->list, f->cap, f->count)) return DIAG0(x->d, nomem);
  f->list[f->count++] = one;
  return true;
}

/* A frame, or callsite(callee at caller): innermost first. */
static bool frames(Tx *x, Frames *f, int depth) {
  int64_t open = 0;
  if (depth > TX_MAX_NESTING) return TX_ERR(x, x->p, ir_deep, "locations", TX_MAX_NESTING);
  for (; tx_take_word(x, "callsite"); open++) {
    if (!tx_need(x, '(') || !frames(x, f, depth + 1)) return false;
    if (!tx_take_word(x, "at")) return tx_expected(x, "'at'");
  }
  if (!frame(x, f)) return false;
  while (open--)
    if (!tx_need(x, ')')) return false;
  return true;
}

static bool intern(Tx *x, const Frames *f, uint32_t *out) {
  bool tail = false;
  for (uint32_t i = f->count; i-- > 0;) {
    const struct Frame *one = &f->list[i];
    bool marker = one->line == 0 && tx_is(one->file, TX_TAIL_CALL);
    if (marker && i == 0) return TX_ERR(x, one->at, ir_word, "a location does not begin with " TX_TAIL_CALL);
    if (marker) {
      tail = true;
      continue;
    }
    char *file = arena_strdup(&x->scratch, one->file.s, one->file.n);
    if (!file) return DIAG0(x->d, nomem);
    *out = ir_loc(x->m, file, one->line, tail, *out);
    tail = false;
  }
  return true;
}

/* The text of a location whose opening parenthesis is at x->p, found without reading it; empty when it does not close.
 */
static TxStr span(const Tx *x) {
  int64_t depth = 0;
  for (const char *s = x->p; s < x->end && *s != '\n'; s++) {
    if (*s == '(') depth++;
    if (*s == ')' && --depth == 0) return (TxStr){x->p, (size_t)(s + 1 - x->p)};
    if (*s != '"') continue;
    for (s++; s < x->end && *s != '"' && *s != '\n'; s++)
      if (*s == '\\') s++;
    if (s >= x->end) break;
  }
  return (TxStr){x->p, 0};
}

/* Most locations repeat one of the last few, spelled alike. */
bool tx_loc(Tx *x, uint32_t *out) {
  *out = 0;
  if (!tx_take_word(x, "loc")) return true;
  tx_space(x);
  TxStr text = span(x);
  uint64_t slot = tx_hash(text) % TX_CACHE;
  if (text.n && tx_eq(text, x->loc[slot].text)) {
    *out = x->loc[slot].id;
    x->p += text.n;
    return true;
  }
  Frames f = {0};
  if (!tx_need(x, '(') || !frames(x, &f, 0) || !tx_need(x, ')') || !intern(x, &f, out)) return false;
  x->loc[slot].text = text;
  x->loc[slot].id = *out;
  return true;
}

/* ---- one operation */
static Op row_of(TxStr name) {
  const char *dot = memchr(name.s, '.', name.n);
  size_t prefix = dot ? (size_t)(dot - name.s) : 0;
  Op op = dot ? op_parse(dot + 1, name.n - prefix - 1) : OP_none;
  bool same =
      op != OP_none && strlen(op_info[op].dialect) == prefix && memcmp(op_info[op].dialect, name.s, prefix) == 0;
  return same ? op : OP_none;
}

static Op cached_row(Tx *x, TxStr name) {
  uint64_t slot = tx_hash(name) % TX_CACHE;
  if (!tx_eq(name, x->op[slot].name)) {
    x->op[slot].op = (int)row_of(name);
    x->op[slot].name = name;
  }
  return (Op)x->op[slot].op;
}

static bool unknown_op(Tx *x, const TxOp *op) {
  static const char *const elsewhere[] = {"func.func", "builtin.module", "arith.cmpi", "scf.condition", NULL};
  for (int i = 0; elsewhere[i]; i++)
    if (tx_is(op->name, elsewhere[i])) return TX_ERR(x, op->at, ir_misplaced, op->spelled, "not at this place");
  const char **names = arena_newn(&x->scratch, const char *, OP_count + 16);
  if (!names) return DIAG0(x->d, nomem);
  size_t n = tx_core_names(names);
  for (int i = OP_none + 1; i < OP_count; i++) {
    names[n] = arena_printf(&x->scratch, "%s.%s", op_info[i].dialect, op_info[i].name);
    if (!names[n++]) return DIAG0(x->d, nomem);
  }
  return TX_ERR(x, op->at, ir_unknown_op, op->spelled, tx_did_you_mean(x, op->name, names));
}

static bool operation(Tx *x) {
  ArenaMark mark = arena_mark(&x->scratch);
  TxOp op = {0};
  if (!tx_head(x, &op)) return false;
  /* A name with escapes is decoded into scratch memory, which is no key for the cache. */
  bool in_text = op.name.s >= x->text && op.name.s < x->end;
  Op row = in_text ? cached_row(x, op.name) : row_of(op.name);
  TxHandler handler = row == OP_none ? tx_core_op(op.name) : NULL;
  bool ok = row != OP_none ? tx_row_op(x, &op, row) : handler ? handler(x, &op) : unknown_op(x, &op);
  if (ok) arena_rewind(&x->scratch, mark);
  return ok;
}

bool tx_block(Tx *x, const char *terminator, const char *owner) {
  x->ended = NULL;
  while (!tx_take(x, '}')) {
    if (x->p >= x->end) return tx_expected(x, "an operation or '}'");
    if (x->ended) return TX_ERR(x, x->p, ir_misplaced, x->ended, "must be the last operation of its block");
    if (!operation(x)) return false;
  }
  const char *ended = x->ended;
  x->ended = NULL;
  if (ended && strcmp(ended, terminator) == 0) return true;
  const char *text = arena_printf(&x->scratch, "its block must end with %s", terminator);
  return TX_ERR(x, x->p - 1, ir_misplaced, owner, text ? text : "");
}

/* ---- entry points */
IrModule *ir_parse_unverified(Alloc alloc, const char *text, size_t n, const char *what, Diag *d) {
  if (!text) text = "";
  Tx *x = alloc_new(&alloc, sizeof *x);
  if (!x) {
    DIAG0(d, nomem);
    return NULL;
  }
  *x = (Tx){.text = text, .p = text, .end = text + n, .what = what, .d = d};
  arena_init(&x->keep, alloc);
  arena_init(&x->scratch, alloc);
  IrModule *m = x->m = ir_module_new(alloc, TARGET_trn1);
  bool ok = m ? tx_module(x) : DIAG0(d, nomem);
  if (ok && m->arena.oom) ok = DIAG0(d, nomem);
  arena_free(&x->scratch);
  arena_free(&x->keep);
  alloc_free(&alloc, x, sizeof *x);
  if (ok) return m;
  ir_release(m);
  return NULL;
}

IrModule *ir_parse(Alloc alloc, const char *text, size_t n, const char *what, Diag *d) {
  IrModule *m = ir_parse_unverified(alloc, text, n, what, d);
  if (!m || (ir_verify(m, d) && ir_place(m, d))) return m;
  ir_release(m);
  return NULL;
}
