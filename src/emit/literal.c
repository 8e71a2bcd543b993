/* literal.c -- emit room: constant tensors as text. */
#include <math.h>
#include <string.h>

#include "hlo.h"

static uint64_t load_bits(const IrBuf *b, int64_t i) {
  uint64_t bits = 0;
  int64_t size = dtype_bytes(b->dtype);
  const unsigned char *p = (const unsigned char *)b->data + i * size;
  for (int64_t k = 0; k < size; k++) bits |= (uint64_t)p[k] << (8 * k);
  return bits;
}

static double float_of_bits(uint32_t bits) {
  float f;
  memcpy(&f, &bits, sizeof f);
  return (double)f;
}

/* sign, exponent and mantissa of a small float; has_inf: the top exponent holds infinity and NaN. */
static double small_float(uint64_t bits, int ebits, int mbits, bool has_inf) {
  int bias = (1 << (ebits - 1)) - 1, top = (1 << ebits) - 1;
  int e = (int)(bits >> mbits) & top, m = (int)(bits & ((UINT64_C(1) << mbits) - 1));
  double sign = (bits >> (ebits + mbits)) & 1 ? -1.0 : 1.0;
  if (e == top && has_inf) return m ? (double)NAN : sign * (double)INFINITY;
  if (e == top && !has_inf && m == (1 << mbits) - 1) return (double)NAN;
  return e ? sign * ldexp(1.0 + ldexp(m, -mbits), e - bias) : sign * ldexp(m, 1 - bias - mbits);
}

static double float_value(const IrBuf *b, int64_t i) {
  uint64_t bits = load_bits(b, i);
  switch ((int)b->dtype) {
    case DT_bfloat16:
      return float_of_bits((uint32_t)bits << 16);
    case DT_float16:
      return small_float(bits, 5, 10, true);
    case DT_float8_e4m3:
      return small_float(bits, 4, 3, true);
    case DT_float8_e5m2:
      return small_float(bits, 5, 2, true);
    case DT_float8_e4m3fn:
      return small_float(bits, 4, 3, false);
    case DT_float8_e8m0fnu:
      return bits == 0xff ? (double)NAN : ldexp(1.0, (int)bits - 127);
    default:
      return float_of_bits((uint32_t)bits);
  }
}

static void put_element(Text *out, const IrBuf *b, int64_t i) {
  switch (dtype_info[b->dtype].cls) {
    case DC_BOOL:
      text_puts(out, load_bits(b, i) ? "true" : "false");
      break;
    case DC_FLT:
    case DC_SCALE: {
      double v = float_value(b, i);
      if (isnan(v)) v = (double)NAN; /* no sign in the text */
      if (isnan(v)) {
        text_puts(out, "nan");
      } else {
        text_float(out, (float)v);
      }
      break;
    }
    case DC_INT: {
      int shift = 64 - 8 * (int)dtype_bytes(b->dtype);
      uint64_t top = load_bits(b, i) << shift;
      text_int(out, (int64_t)top / (INT64_C(1) << shift));
      break;
    }
    case DC_UINT:
    case DC_PACK:
      text_int(out, (int64_t)load_bits(b, i));
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
