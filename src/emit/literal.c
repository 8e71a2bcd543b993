/* literal.c -- room emit: constant tensors as text. */
#include <math.h>

#include "hlo.h"

uint64_t literal_bits(const IrBuf *b, int64_t i) {
  uint64_t bits = 0;
  int64_t size = dtype_bytes(b->dtype);
  const unsigned char *p = (const unsigned char *)b->data + i * size;
  for (int64_t k = 0; k < size; k++) bits |= (uint64_t)p[k] << (8 * k);
  return bits;
}

/* How a float is stored. has_inf: the top exponent holds infinity and NaN, else only all ones are NaN. */
typedef struct FloatForm {
  int ebits, mbits;
  bool has_inf;
} FloatForm;

static FloatForm form_of(DType t) {
  switch ((int)t) {
    case DT_bfloat16:
      return (FloatForm){8, 7, true};
    case DT_float16:
      return (FloatForm){5, 10, true};
    case DT_float8_e4m3:
      return (FloatForm){4, 3, true};
    case DT_float8_e5m2:
      return (FloatForm){5, 2, true};
    case DT_float8_e4m3fn:
      return (FloatForm){4, 3, false};
    default:
      return (FloatForm){8, 23, true};
  }
}

/* As XLA reads it: the mantissa of a NaN is spelled unless it is the usual one, the highest bit alone. */
static void put_nan(Text *out, FloatForm form, uint64_t mantissa) {
  text_puts(out, "nan");
  if (form.has_inf && mantissa != UINT64_C(1) << (form.mbits - 1))
    text_printf(out, "(0x%llx)", (unsigned long long)mantissa);
}

static void put_float(Text *out, DType t, uint64_t bits) {
  FloatForm form = form_of(t);
  int bias = (1 << (form.ebits - 1)) - 1, top = (1 << form.ebits) - 1;
  int e = (int)(bits >> form.mbits) & top;
  uint64_t ones = (UINT64_C(1) << form.mbits) - 1, m = bits & ones;
  bool special = e == top && (form.has_inf || m == ones);
  if (bits >> (form.ebits + form.mbits) & 1) text_putc(out, '-');
  if (special && (m || !form.has_inf)) {
    put_nan(out, form, m);
  } else if (special) {
    text_puts(out, "inf");
  } else {
    double fraction = ldexp((double)m, -form.mbits);
    text_float(out, (float)(e ? ldexp(1.0 + fraction, e - bias) : ldexp(fraction, 1 - bias)));
  }
}

/* An exponent alone: no sign, no zero. Spelled as a double: XLA rounds upwards, and 2^-127 cut to a float's digits is
   more than it. */
static void put_scale(Text *out, uint64_t bits) {
  if (bits == 0xff) {
    text_puts(out, "nan");
  } else {
    text_double(out, ldexp(1.0, (int)bits - 127));
  }
}

static void put_element(Text *out, const IrBuf *b, int64_t i) {
  switch (dtype_info[b->dtype].cls) {
    case DC_BOOL:
      text_puts(out, literal_bits(b, i) ? "true" : "false");
      break;
    case DC_FLT:
      put_float(out, b->dtype, literal_bits(b, i));
      break;
    case DC_SCALE:
      put_scale(out, literal_bits(b, i));
      break;
    case DC_INT: {
      int shift = 64 - 8 * (int)dtype_bytes(b->dtype);
      uint64_t top = literal_bits(b, i) << shift;
      text_int(out, (int64_t)top / (INT64_C(1) << shift));
      break;
    }
    case DC_UINT:
    case DC_PACK:
      text_int(out, (int64_t)literal_bits(b, i));
      break;
  }
}

static void put_nested(Text *out, const IrBuf *b, int dim, int64_t *next, const char *brackets) {
  if (dim == b->rank) {
    put_element(out, b, (*next)++);
    return;
  }
  const char *blank = brackets[0] == '{' ? " " : "";
  text_printf(out, "%c%s", brackets[0], blank);
  for (int64_t i = 0; i < b->shape[dim]; i++) {
    if (i) text_puts(out, ", ");
    put_nested(out, b, dim + 1, next, brackets);
  }
  text_printf(out, "%s%c", blank, brackets[1]);
}

void literal_put(Text *out, const IrBuf *b, const char *brackets) {
  int64_t next = 0;
  put_nested(out, b, 0, &next, brackets);
}

void literal_put_hex(Text *out, const IrBuf *b) {
  const unsigned char *p = b->data;
  size_t n = (size_t)(b->count * dtype_bytes(b->dtype));
  char *to = text_reserve(out, 2 * n);
  if (!to) return;
  for (size_t i = 0; i < n; i++) {
    *to++ = "0123456789ABCDEF"[p[i] >> 4];
    *to++ = "0123456789ABCDEF"[p[i] & 15];
  }
  text_commit(out, 2 * n);
}
