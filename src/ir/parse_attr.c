/* parse_attr.c -- room ir: attributes as small trees, and how an operation asks for its own. */
#include "text_ir.h"

static bool attribute(Tx *x, TxAttr *a, int depth);

static bool too_deep(Tx *x, int depth) {
  return depth > TX_MAX_NESTING && !TX_ERR(x, x->p, ir_deep, "attributes", TX_MAX_NESTING);
}

/* ---- numbers */
static const char *skip_digits(Tx *x, const char *s) {
  while (s < x->end && *s >= '0' && *s <= '9') s++;
  return s;
}

/* ": type" behind a number; 0 when there is none. */
static bool number_type(Tx *x, TxAttr *a) {
  if (!tx_take(x, ':')) return true;
  TxType t;
  const char *at = x->p;
  if (!tx_type(x, &t)) return false;
  if (t.kind != TY_ELT) return TX_ERR(x, at, ir_word, "a number has an integer, index or float type");
  a->elt = (uint8_t)t.elt;
  return true;
}

static bool is_float_elt(int elt) { return elt == ELT_f64 || (elt < DT_count && elt && dtype_is_float((DType)elt)); }

static bool fits_type(Tx *x, const TxAttr *a) {
  if (a->elt == 0 || a->elt == ELT_index || a->elt == ELT_i64) return true;
  if (is_float_elt(a->elt) || a->elt == ELT_f8E3M4)
    return TX_ERR(x, a->at, ir_word, "a float is spelled with a '.' or as 0x and its bits");
  int64_t lo = 0, hi = INT64_MAX;
  if (a->elt < DT_count) dtype_int_range((DType)a->elt, &lo, &hi);
  if (a->elt == DT_int8 || a->elt == DT_int16 || a->elt == DT_int32) hi = 2 * hi + 1; /* signless in MLIR */
  if (a->u.i >= lo && a->u.i <= hi) return true;
  return TX_ERR(x, a->at, ir_word, "this number does not fit its type");
}

/* 0x hex digits ":" f64 or f32: the bits of a float. */
static bool hex_float(Tx *x, TxAttr *a) {
  uint64_t bits = 0;
  int n = 0;
  for (x->p += 2; x->p < x->end; x->p++, n++) {
    char c = *x->p;
    int d = c >= '0' && c <= '9'   ? c - '0'
            : c >= 'A' && c <= 'F' ? c - 'A' + 10
            : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                   : -1;
    if (d < 0) break;
    bits = bits << 4 | (unsigned)d;
  }
  a->kind = AT_FLOAT;
  if (!number_type(x, a)) return false;
  bool single = a->elt == DT_float32;
  if (n != (single ? 8 : 16) || (!single && a->elt != ELT_f64))
    return TX_ERR(x, a->at, ir_word, "the bits of a float are 16 hex digits : f64, or 8 hex digits : f32");
  float f;
  uint32_t low = (uint32_t)bits;
  memcpy(&f, &low, sizeof f);
  memcpy(&a->u.f, &bits, sizeof bits);
  if (single) a->u.f = (double)f;
  return true;
}

static bool decimal_float(Tx *x, TxAttr *a, const char *end) {
  TxStr s = {x->p, (size_t)(end - x->p)};
  x->p = end;
  a->kind = AT_FLOAT;
  if (!number_type(x, a)) return false;
  if (a->elt && !is_float_elt(a->elt)) return TX_ERR(x, a->at, ir_word, "an integer has no '.'");
  float single = 0;
  bool ok = a->elt == DT_float32 ? text_to_float(s.s, s.n, &single) : text_to_double(s.s, s.n, &a->u.f);
  if (a->elt == DT_float32) a->u.f = (double)single;
  return ok || TX_ERR(x, a->at, ir_word, "this is no number, or one too large for its type");
}

static bool number(Tx *x, TxAttr *a) {
  const char *s = x->p, *end = x->end;
  if (end - s > 2 && s[0] == '0' && s[1] == 'x') return hex_float(x, a);
  bool minus = *s == '-';
  const char *digits = s + minus, *e = skip_digits(x, digits);
  if (e == digits) return tx_expected(x, "digits");
  if (e < end && *e == '.') {
    e = skip_digits(x, e + 1);
    if (e < end && (*e == 'e' || *e == 'E')) {
      const char *sign = e + 1 < end && (e[1] == '+' || e[1] == '-') ? e + 2 : e + 1;
      e = skip_digits(x, sign);
      if (e == sign) return TX_ERR(x, a->at, ir_word, "this exponent has no digits");
    }
    return decimal_float(x, a, e);
  }
  int64_t v = 0;
  bool fits = true;
  for (const char *d = digits; d < e; d++) {
    int digit = *d - '0';
    fits = fits && !__builtin_mul_overflow(v, 10, &v) && !__builtin_add_overflow(v, minus ? -digit : digit, &v);
  }
  if (!fits) return TX_ERR(x, a->at, ir_word, "this number does not fit 64 bits");
  x->p = e;
  a->kind = AT_INT;
  a->u.i = v;
  return number_type(x, a) && fits_type(x, a);
}

/* ---- the other kinds */
static bool list(Tx *x, TxAttr *a, int depth) {
  x->p++;
  a->kind = AT_ARRAY;
  if (tx_take(x, ']')) return true;
  TxAttr **end = &a->u.child;
  do {
    TxAttr *e = arena_new(&x->scratch, TxAttr);
    if (!e) return DIAG0(x->d, nomem);
    if (!attribute(x, e, depth + 1)) return false;
    *end = e;
    end = &e->next;
    a->n++;
  } while (tx_take(x, ','));
  return tx_need(x, ']');
}

static bool key(Tx *x, TxAttr *a) {
  tx_space(x);
  a->at = x->p;
  return tx_peek(x, '"') ? tx_string(x, "an attribute name", &a->key) : tx_word(x, "an attribute name", &a->key);
}

/* Entries up to `close`, behind the opening brace; `count` and `end` go on from entries read before. */
static bool entries(Tx *x, TxAttr **first, TxAttr ***end, uint32_t *count, int depth) {
  if (tx_take(x, '}')) return true;
  do {
    TxAttr *e = arena_new(&x->scratch, TxAttr);
    if (!e) return DIAG0(x->d, nomem);
    if (!key(x, e)) return false;
    const char *at = e->at;
    for (const TxAttr *o = *first; o; o = o->next)
      if (tx_eq(o->key, e->key)) return TX_ERR(x, at, ir_attr_twice, tx_cstr(x, e->key));
    if (++*count > TX_MAX_KEYS) return TX_ERR(x, at, ir_word, "more than 256 attributes");
    e->kind = AT_UNIT;
    if (tx_take(x, '=') && !attribute(x, e, depth + 1)) return false;
    e->at = at;
    **end = e;
    *end = &e->next;
  } while (tx_take(x, ','));
  return tx_need(x, '}');
}

static bool symbol(Tx *x, TxAttr *a) {
  x->p++;
  a->kind = AT_SYMBOL;
  return x->p < x->end && *x->p == '"' ? tx_string(x, "a symbol", &a->u.s) : tx_word(x, "a symbol", &a->u.s);
}

/* dense<...> : tensor<...>, kept as text until a constant asks for it. */
static bool dense(Tx *x, TxAttr *a) {
  a->kind = AT_DENSE;
  if (!tx_need(x, '<')) return false;
  const char *start = x->p;
  while (!tx_peek(x, '>')) {
    TxStr s;
    if (x->p >= x->end) return tx_expected(x, "'>'");
    if (*x->p == '"') {
      if (!tx_string(x, "data", &s)) return false;
    } else {
      x->p++;
    }
  }
  a->u.s = (TxStr){start, (size_t)(x->p - start)};
  x->p++;
  if (!tx_need(x, ':')) return false;
  tx_space(x);
  const char *type = x->p;
  TxType t;
  if (!tx_type(x, &t)) return false;
  a->type = (TxStr){type, (size_t)(x->p - type)};
  return t.kind == TY_TENSOR || TX_ERR(x, type, ir_word, "dense<> has a tensor<> type");
}

static bool type_attribute(Tx *x, TxAttr *a) {
  TxType t;
  a->kind = AT_TYPE;
  if (!(*x->p == '(' ? tx_skip_func_type(x) : tx_type(x, &t))) return false;
  a->u.s = (TxStr){a->at, (size_t)(x->p - a->at)};
  return true;
}

static bool attribute(Tx *x, TxAttr *a, int depth) {
  tx_space(x);
  a->at = x->p;
  if (too_deep(x, depth)) return false;
  char c = x->p < x->end ? *x->p : 0;
  if (c == '-' || (c >= '0' && c <= '9')) return number(x, a);
  if (c == '[') return list(x, a, depth);
  if (c == '@') return symbol(x, a);
  if (c == '"') {
    a->kind = AT_STRING;
    return tx_string(x, "a string", &a->u.s);
  }
  if (c == '{') {
    x->p++;
    a->kind = AT_DICT;
    TxAttr **end = &a->u.child;
    return entries(x, &a->u.child, &end, &a->n, depth);
  }
  if (tx_take_word(x, "true") || tx_take_word(x, "false")) {
    a->kind = AT_BOOL;
    a->u.i = x->p[-2] == 'u'; /* tr-u-e, fal-s-e */
    return true;
  }
  if (tx_take_word(x, "unit")) {
    a->kind = AT_UNIT;
    return true;
  }
  if (tx_take_word(x, "dense")) return dense(x, a);
  if (c == '(' || (c >= 'a' && c <= 'z')) return type_attribute(x, a);
  return tx_expected(x, "an attribute value");
}

bool tx_dict(Tx *x, TxOp *op, char close) {
  if (!op->attr_end) op->attr_end = &op->attr;
  if (!entries(x, &op->attr, &op->attr_end, &op->nattr, 0)) return false;
  return close != '>' || tx_need(x, '>');
}
