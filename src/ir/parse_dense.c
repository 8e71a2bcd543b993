/* parse_dense.c -- room ir: the bytes of a constant from dense<...>: hex bytes, one value for all, or nested lists. */
#include <math.h>

#include "text_ir.h"

typedef struct Dense {
  Tx *x; /* its p and end are those of the inside of <...> */
  const IrBufSpec *spec;
  size_t size; /* of an element */
  unsigned char *to, *end;
} Dense;

static bool bad(Dense *e, const char *what) { return TX_ERR(e->x, e->x->p, ir_operands, "dense<>", what); }

/* ---- one element */
typedef struct Layout {
  int exponent, mantissa;
  bool infinite; /* the largest exponent is inf and NaN, else only the largest code is NaN */
  int shift;     /* of the code in its container */
} Layout;

static Layout layout_of(DType d) {
  switch (d) {
    case DT_float16:
      return (Layout){5, 10, true, 0};
    case DT_bfloat16:
      return (Layout){8, 7, true, 0};
    case DT_tfloat32:
      return (Layout){8, 10, true, 13};
    case DT_float8_e4m3:
      return (Layout){4, 3, true, 0};
    case DT_float8_e5m2:
      return (Layout){5, 2, true, 0};
    case DT_float8_e4m3fn:
      return (Layout){4, 3, false, 0};
    default:
      return (Layout){8, 23, true, 0};
  }
}

/* Nearest code, ties to even; false when v is beyond the largest finite value. */
static bool float_code(double v, Layout l, uint32_t *out) {
  uint32_t sign = signbit(v) ? UINT32_C(1) << (l.exponent + l.mantissa) : 0, code = 0;
  double a = fabs(v);
  int lowest = 2 - (1 << (l.exponent - 1)), e;
  frexp(a, &e);
  if (a > 0) {
    int exponent = e - 1 > lowest ? e - 1 : lowest;
    double units =
        nearbyint(ldexp(a, l.mantissa - exponent)); /* a carry out of the mantissa raises the exponent by itself */
    if (exponent - lowest >= 1 << l.exponent) return false;
    code = ((uint32_t)(exponent - lowest) << l.mantissa) + (uint32_t)units;
  }
  uint32_t top = UINT32_C(1) << (l.exponent + l.mantissa);
  if (code >= (l.infinite ? top - (UINT32_C(1) << l.mantissa) : top - 1)) return false;
  *out = (sign | code) << l.shift;
  return true;
}

static void put(Dense *e, uint32_t bits) {
  for (size_t i = 0; i < e->size; i++) *e->to++ = (unsigned char)(bits >> (8 * i));
}

static bool float_bits(Dense *e) { /* 0x and the bits of the element, most significant digit first */
  Tx *x = e->x;
  uint32_t bits = 0;
  size_t n = 0;
  for (x->p += 2; x->p < x->end && tx_hex_digit(*x->p) >= 0; x->p++, n++)
    bits = bits << 4 | (uint32_t)tx_hex_digit(*x->p);
  bool stored = n == 2 * e->size;
  if (!stored) return bad(e, "the bits of an element have two hex digits per byte");
  put(e, bits);
  return true;
}

static bool integer(Dense *e, TxStr s) {
  bool minus = s.n && *s.s == '-';
  int64_t v = 0, lo, hi;
  for (size_t i = minus; i < s.n; i++) {
    if (s.s[i] < '0' || s.s[i] > '9') return bad(e, "an element of an integer tensor is an integer");
    if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, s.s[i] - '0', &v))
      return bad(e, "element out of range");
  }
  if (s.n == (size_t)minus) return bad(e, "an element is missing");
  if (minus) v = -v;
  dtype_int_range(e->spec->dtype, &lo, &hi);
  if (v < lo || v > hi) return bad(e, "element out of range of the dtype");
  put(e, (uint32_t)v);
  return true;
}

static bool scalar(Dense *e) {
  Tx *x = e->x;
  DType d = e->spec->dtype;
  tx_space(x);
  if (e->to + e->size > e->end) return bad(e, "more elements than the shape holds");
  if (d == DT_bool_ && (tx_take_word(x, "true") || tx_take_word(x, "false"))) {
    put(e, x->p[-2] == 'u');
    return true;
  }
  const char *s = x->p;
  if (dtype_is_float(d) && x->end - s > 1 && s[0] == '0' && s[1] == 'x') return float_bits(e);
  while (s < x->end && *s != ',' && *s != ']' && *s > ' ') s++;
  TxStr word = {x->p, (size_t)(s - x->p)};
  if (!dtype_is_float(d)) {
    if (!integer(e, word)) return false;
  } else {
    uint32_t code;
    float single;
    double v;
    bool point = memchr(word.s, '.', word.n) != NULL;
    bool ok = point && word.n && word.s[0] != '+' && text_to_double(word.s, word.n, &v) &&
              text_to_float(word.s, word.n, &single);
    if (!ok) return bad(e, "an element of a float tensor is a number with a '.'");
    memcpy(&code, &single, sizeof code);
    if (d == DT_float32)
      ok = isfinite(single);
    else
      ok = float_code(v, layout_of(d), &code);
    if (!ok) return bad(e, "element out of range of the dtype");
    put(e, code);
  }
  x->p = s;
  return true;
}

/* ---- all elements */
static bool nested(Dense *e, int dim) {
  if (dim == e->spec->rank) return scalar(e);
  int64_t n = 0;
  if (!tx_need(e->x, '[')) return false;
  do {
    if (!nested(e, dim + 1)) return false;
    n++;
  } while (tx_take(e->x, ','));
  if (!tx_need(e->x, ']')) return false;
  return n == e->spec->shape[dim] || bad(e, "a list is not as long as its dimension");
}

/* The first element, again and again. */
static void repeat(Dense *e) {
  size_t have = e->size, all = (size_t)(e->end - (e->to - have));
  unsigned char *first = e->to - have;
  while (have < all) {
    size_t n = all - have < have ? all - have : have;
    memcpy(first + have, first, n);
    have += n;
  }
}

static bool hex_bytes(Dense *e, TxStr s) {
  size_t all = (size_t)(e->end - e->to);
  bool prefix = s.n >= 2 && s.s[0] == '0' && s.s[1] == 'x';
  if (!prefix || s.n % 2) return bad(e, "a string of bytes is \"0x\" and two hex digits per byte");
  size_t n = s.n / 2 - 1;
  if (n != all && n != e->size) return bad(e, "the bytes are neither one element nor the whole tensor");
  if (n > all) return bad(e, "the tensor is empty");
  for (size_t i = 0; i < n; i++) {
    int high = tx_hex_digit(s.s[2 * i + 2]), low = tx_hex_digit(s.s[2 * i + 3]);
    if (high < 0 || low < 0) return bad(e, "a string of bytes is \"0x\" and two hex digits per byte");
    *e->to++ = (unsigned char)(high * 16 + low);
  }
  if (n < all) repeat(e);
  return true;
}

static bool elements(Dense *e) {
  Tx *x = e->x;
  TxStr s;
  bool one = !tx_peek(x, '[') && x->p < x->end;
  if (tx_peek(x, '"')) {
    if (!tx_string(x, "data", &s) || !hex_bytes(e, s)) return false;
  } else if (x->p >= x->end) {
    if (e->to != e->end) return bad(e, "no elements, but the tensor is not empty");
  } else if (one && e->to == e->end) {
    return bad(e, "the tensor is empty");
  } else {
    if (!(one ? scalar(e) : nested(e, 0))) return false;
    if (one)
      repeat(e);
    else if (e->to != e->end)
      return bad(e, "fewer elements than the shape holds");
  }
  tx_space(x);
  return x->p == x->end || bad(e, "unexpected text behind the elements");
}

static bool check_type(Tx *x, const TxAttr *a, const IrBufSpec *spec) {
  Tx sub = *x;
  TxType t;
  sub.p = a->type.s;
  sub.end = a->type.s + a->type.n;
  if (!tx_type(&sub, &t)) return NK_BUG(x->d, "a tensor type was read once and not twice");
  bool same = t.rank == spec->rank;
  for (int i = 0; same && i < t.rank; i++) same = t.shape[i] == spec->shape[i];
  if (!same) return TX_ERR(x, a->type.s, ir_operands, "dense<>", "the tensor's shape is not that of the result");
  const char *elt = tx_elt_name(t.elt), *bytes = tx_dense_elt(spec->dtype), *own = dtype_info[spec->dtype].mlir;
  bool hex = a->u.s.n && *a->u.s.s == '"';
  if (strcmp(elt, bytes) == 0 || (!hex && strcmp(elt, own) == 0)) return true;
  const char *text =
      arena_printf(&x->scratch, "elements of dtype %s are written as tensor<...x%s>", dtype_name(spec->dtype), bytes);
  return TX_ERR(x, a->type.s, ir_operands, "dense<>", text ? text : "");
}

bool tx_dense(Tx *x, const TxOp *op, const TxAttr *a, const IrBufSpec *spec, const void **out) {
  if (a->kind != AT_DENSE) return tx_attr_bad(x, op, a, "dense<> data");
  if (!check_type(x, a, spec)) return false;
  int64_t count = 1, size = dtype_bytes(spec->dtype); /* their product was found to fit when the type was read */
  for (int i = 0; i < spec->rank; i++) count *= spec->shape[i];
  int64_t limit = TX_MAX_SPLAT + 2 * (int64_t)(x->end - x->text);
  if (count * size > limit - x->splat)
    return TX_ERR(x, a->at, ir_operands, op->spelled,
                  "constants may take 256 MiB more than the text; pass a larger tensor as an operand");
  x->splat += count * size;
  unsigned char *data = arena_array(&x->m->arena, (size_t)count, (size_t)size);
  if (!data) return DIAG0(x->d, nomem);
  const char *p = x->p, *end = x->end;
  x->p = a->u.s.s;
  x->end = a->u.s.s + a->u.s.n;
  Dense e = {x, spec, (size_t)size, data, data + count * size};
  bool ok = elements(&e);
  x->p = p;
  x->end = end;
  *out = data;
  return ok;
}
