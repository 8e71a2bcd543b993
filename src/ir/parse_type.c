/* parse_type.c -- room ir: types of the text: element types, memref, tensor, and lists of them. */
#include "text_ir.h"

static const struct {
  const char *name;
  int elt;
} other_elts[] = {
    {"index", ELT_index}, {"i64", ELT_i64}, {"ui64", ELT_ui64}, {"f64", ELT_f64}, {"f8E3M4", ELT_f8E3M4},
};

const char *tx_elt_name(int elt) {
  if (elt < DT_count) return dtype_info[elt].mlir;
  for (size_t i = 0; i < sizeof other_elts / sizeof *other_elts; i++)
    if (other_elts[i].elt == elt) return other_elts[i].name;
  return "";
}

static bool element_type(Tx *x, int *out) {
  const char *at = x->p;
  TxStr word;
  if (!tx_word(x, "a type", &word)) return false;
  *out = (int)tx_dtype_of_mlir(word);
  if (*out != DT_none) return true;
  for (size_t i = 0; i < sizeof other_elts / sizeof *other_elts; i++)
    if (tx_is(word, other_elts[i].name)) {
      *out = other_elts[i].elt;
      return true;
    }
  x->p = at;
  return tx_expected(x, "a type (index, i1, i8 ... ui32, f16, bf16, f32, tf32, f8E4M3, f8E5M2, f8E4M3FN, memref<...>)");
}

static bool tx_type_equal(const TxType *a, const TxType *b) {
  if (a->kind != b->kind || a->elt != b->elt) return false;
  if (a->kind == TY_ELT) return true;
  if (a->kind == TY_MEMREF && a->space != b->space) return false;
  return a->rank == b->rank && memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0;
}

/* {digits "x"} element, which is one word to a lexer: 128x512xf32. */
static bool shaped(Tx *x, TxType *t) {
  t->count = 1;
  for (;;) {
    tx_space(x);
    const char *at = x->p;
    if (at >= x->end || *at < '0' || *at > '9') break;
    int64_t size;
    if (!tx_digits(x, &size)) return false;
    if (x->p >= x->end || *x->p != 'x') return tx_expected(x, "'x' behind a size");
    x->p++;
    if (t->rank == IR_MAX_RANK) return TX_ERR(x, at, ir_word, "a tensor has at most 8 dimensions");
    if (__builtin_mul_overflow(t->count, size, &t->count)) return TX_ERR(x, at, ir_word, "this tensor is too large");
    t->shape[t->rank++] = size;
  }
  if (!element_type(x, &t->elt)) return false;
  int64_t bytes = t->elt < DT_count ? dtype_bytes((DType)t->elt) : 8;
  if (__builtin_mul_overflow(t->count, bytes, &bytes)) return TX_ERR(x, x->p, ir_word, "this tensor is too large");
  return true;
}

static bool memory_space(Tx *x, Space *out) {
  tx_space(x);
  const char *at = x->p;
  TxStr name;
  if (!tx_string(x, "a memory space in quotes", &name)) return false;
  if (space_parse(name.s, name.n, out)) return true;
  return TX_ERR(x, at, ir_word,
                "unknown memory space; there are \"reg\", \"sbuf\", \"psum\", \"private_hbm\" and \"shared_hbm\"");
}

bool tx_type(Tx *x, TxType *out) {
  *out = (TxType){.kind = TY_ELT};
  if (tx_take_word(x, "memref"))
    out->kind = TY_MEMREF;
  else if (tx_take_word(x, "tensor"))
    out->kind = TY_TENSOR;
  else
    return element_type(x, &out->elt);
  if (!tx_need(x, '<') || !shaped(x, out)) return false;
  if (out->kind == TY_MEMREF && (!tx_need(x, ',') || !memory_space(x, &out->space))) return false;
  return tx_need(x, '>');
}

/* ---- lists of types */
static bool skip_types(Tx *x) { /* behind '(' */
  if (tx_take(x, ')')) return true;
  do {
    TxType t;
    if (!tx_type(x, &t)) return false;
  } while (tx_take(x, ','));
  return tx_need(x, ')');
}

bool tx_skip_func_type(Tx *x) {
  if (!tx_need(x, '(') || !skip_types(x) || !tx_need_arrow(x)) return false;
  TxType t;
  return tx_take(x, '(') ? skip_types(x) : tx_type(x, &t);
}

/* The next type must be that of v, which is nearly always spelled as at its definition. */
static bool need_type_of(Tx *x, const TxValue *v) {
  tx_space(x);
  const char *at = x->p;
  size_t n = v->type.n, left = (size_t)(x->end - at);
  if (left > n && memcmp(at, v->type.s, n) == 0 && (at[n] == ',' || at[n] == ')')) {
    x->p = at + n;
    return true;
  }
  TxType got, want;
  if (!tx_type(x, &got)) return false;
  const char *end = x->p;
  Tx there = *x; /* reads the definition again; it was sound */
  there.p = v->type.s;
  there.end = v->type.s + n;
  if (tx_type(&there, &want) && tx_type_equal(&got, &want)) return true;
  const char *name = arena_printf(&x->scratch, "%%%s", tx_cstr(x, v->name));
  return TX_ERR(x, at, ir_type, name ? name : "", tx_cstr(x, v->type), tx_cstr(x, (TxStr){at, (size_t)(end - at)}));
}

/* Most results have the type of one of the last few, spelled alike; a memref ends with its '>'. */
static bool result_type(Tx *x, TxType *out) {
  const char *at = x->p;
  size_t left = (size_t)(x->end - at);
  for (unsigned i = 0; i < TX_MEMREFS; i++) {
    TxStr text = x->memref[i].text;
    if (!text.n || text.n > left || memcmp(text.s, at, text.n) != 0) continue;
    *out = x->memref[i].type;
    x->p = at + text.n;
    return true;
  }
  if (!tx_type(x, out)) return false;
  unsigned slot = x->nmemref++ % TX_MEMREFS;
  if (out->kind != TY_MEMREF) return true;
  x->memref[slot].text = (TxStr){at, (size_t)(x->p - at)};
  x->memref[slot].type = *out;
  return true;
}

static bool need_result_type(Tx *x, TxOp *op) {
  bool paren = tx_take(x, '(');
  if (paren && tx_take(x, ')')) return !op->result_at || tx_expected(x, "a result type");
  tx_space(x);
  const char *at = x->p;
  if (!result_type(x, &op->result_type)) return false;
  op->result_spelled = (TxStr){at, (size_t)(x->p - at)};
  return !paren || tx_need(x, ')');
}

bool tx_need_types(Tx *x, TxOp *op) {
  if (!tx_need(x, ':') || !tx_need(x, '(')) return false;
  for (uint32_t i = 0; i < op->noperand; i++) {
    if (i && !tx_need(x, ',')) return false;
    if (!need_type_of(x, op->operand[i].value)) return false;
  }
  return tx_need(x, ')') && tx_need_arrow(x) && need_result_type(x, op);
}

/* ---- function_type */
static bool need_buffer_type(Tx *x, const IrBuf *b, const char *what) {
  tx_space(x);
  const char *at = x->p;
  TxType t;
  if (!tx_type(x, &t)) return false;
  const char *mlir = dtype_info[b->dtype].mlir;
  TxType want = {TY_MEMREF, tx_dtype_of_mlir((TxStr){mlir, strlen(mlir)}), b->space, b->rank, {0}, 0};
  memcpy(want.shape, b->shape, sizeof want.shape);
  if (tx_type_equal(&t, &want)) return true;
  return TX_ERR(x, at, ir_operands, "function_type", what);
}

bool tx_check_func_type(Tx *x, const TxAttr *a, const uint32_t *out, uint32_t nout) {
  const char *p = x->p, *end = x->end;
  const IrFunc *f = x->f;
  x->p = a->u.s.s; /* the attribute was read as a type before: only its content can be wrong */
  x->end = a->u.s.s + a->u.s.n;
  bool ok = tx_need(x, '(');
  for (uint32_t i = 0; ok && i < f->nargs; i++)
    ok = (i == 0 || tx_need(x, ',')) && need_buffer_type(x, f->bufs[i], "this is not the type of the block's argument");
  ok = ok && tx_need(x, ')') && tx_need_arrow(x);
  bool paren = ok && tx_take(x, '(');
  if (ok && !paren && nout != 1)
    ok = TX_ERR(x, x->p, ir_operands, "function_type", "the function returns another number of tensors");
  for (uint32_t i = 0; ok && i < nout; i++)
    ok = (i == 0 || tx_need(x, ',')) &&
         need_buffer_type(x, f->bufs[out[i]], "this is not the type of the tensor returned");
  if (ok && paren) ok = tx_need(x, ')');
  x->p = p;
  x->end = end;
  return ok;
}
