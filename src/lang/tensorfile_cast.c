/* tensorfile_cast.c -- room lang: elements of foreign files as elements of our dtypes. */
#include <math.h>
#include <string.h>

#include "convert.h"
#include "tensorfile.h"

enum { BLOCK = 4096 };

double tensor_at(DType dtype, const void *data, int64_t i) {
  const char *p = (const char *)data + i * dtype_bytes(dtype);
  int32_t s;
  uint32_t u;
  float f;
  if (dtype == DT_int32) return memcpy(&s, p, sizeof s), s;
  memcpy(&u, p, (size_t)dtype_bytes(dtype)); /* p may be aligned to nothing: it may lie in a file */
  if (dtype == DT_uint32) return u;
  cvt_load(dtype, &u, 1, &f);
  return f;
}

static void put_integer(DType dtype, void *p, int64_t v) {
  switch (dtype_bytes(dtype)) {
    case 1:
      *(uint8_t *)p = (uint8_t)v;
      break;
    case 2: {
      uint16_t h = (uint16_t)v;
      memcpy(p, &h, sizeof h);
      break;
    }
    default: {
      uint32_t w = (uint32_t)v;
      memcpy(p, &w, sizeof w);
    }
  }
}

bool tensor_put(DType dtype, void *data, int64_t i, double v) {
  char *p = (char *)data + i * dtype_bytes(dtype);
  if (!dtype_is_int(dtype)) {
    float f = (float)v;
    cvt_store(dtype, &f, 1, p);
    return true;
  }
  int64_t lo, hi;
  dtype_int_range(dtype, &lo, &hi);
  if (!(v >= (double)lo && v <= (double)hi) || v != floor(v)) return false;
  put_integer(dtype, p, (int64_t)v);
  return true;
}

/* Element i of a file as a double; exact except for 64-bit integers beyond 2^53. */
static double number_at(const CastSource *from, const char *src, int64_t i) {
  const char *p = src + i * from->size;
  int64_t s = 0;
  uint64_t u = 0;
  double f;
  if (from->dtype != DT_none) return tensor_at(from->dtype, src, i);
  if (from->kind == 'f') return memcpy(&f, p, sizeof f), f;
  if (from->kind == 'i') return memcpy(&s, p, sizeof s), (double)s;
  return memcpy(&u, p, sizeof u), (double)u;
}

static bool does_not_fit(const SimTensor *to, int64_t i, double v, const char *what, Diag *d) {
  Text number;
  text_init(&number, d->message.alloc);
  if (isfinite(v)) {
    text_double(&number, v);
  } else {
    text_puts(&number, isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
  }
  DIAG(d, cast_value, what, (long long)i, text_str(&number), dtype_name(to->dtype));
  text_free(&number);
  return false;
}

static bool to_integers(const CastSource *from, const char *src, const SimTensor *to, const char *what, Diag *d) {
  int64_t n = tensor_count(to);
  for (int64_t i = 0; i < n; i++) {
    double v = number_at(from, src, i);
    if (!tensor_put(to->dtype, to->data, i, v)) return does_not_fit(to, i, v, what, d);
  }
  return true;
}

static void to_floats(const CastSource *from, const char *src, const SimTensor *to) {
  float block[BLOCK];
  int64_t n = tensor_count(to), size = dtype_bytes(to->dtype);
  for (int64_t i = 0; i < n; i += BLOCK) {
    int64_t m = n - i < BLOCK ? n - i : BLOCK;
    for (int64_t k = 0; k < m; k++) block[k] = (float)number_at(from, src, i + k);
    cvt_store(to->dtype, block, m, (char *)to->data + i * size);
  }
}

static void to_bools(const CastSource *from, const char *src, const SimTensor *to) {
  int64_t n = tensor_count(to);
  for (int64_t i = 0; i < n; i++) ((uint8_t *)to->data)[i] = src[i * from->size] != 0;
}

/* Raw bytes of the size asked for; so are unsigned integers of 1 or 2 bytes asked for as a float of that size (NumPy
   has no bfloat16 and no float8, so their bits are kept in uint16 and uint8), and of any size as a packed type. */
static bool is_raw(const CastSource *from, DType to) {
  if (from->size != dtype_bytes(to)) return false;
  if (from->kind == 'V') return true;
  bool packed = dtype_info[to].cls == DC_PACK || to == DT_float8_e8m0fnu;
  return from->kind == 'u' && (packed || (dtype_is_float(to) && from->size <= 2));
}

bool tensor_cast(const CastSource *from, const void *src, const SimTensor *to, const char *what, Diag *d) {
  bool same = from->dtype == to->dtype || is_raw(from, to->dtype);
  bool packed = dtype_info[to->dtype].cls == DC_PACK || to->dtype == DT_float8_e8m0fnu;
  bool from_packed = from->dtype != DT_none && dtype_info[from->dtype].cls == DC_PACK;
  if (same && to->dtype == DT_bool_) {
    to_bools(from, src, to);
  } else if (same) {
    memcpy(to->data, src, (size_t)tensor_bytes(to));
  } else if (packed || from_packed || from->kind == 'V') {
    return DIAG(d, cast_kind, what, from->size, dtype_name(to->dtype));
  } else if (dtype_is_int(to->dtype)) {
    return to_integers(from, src, to, what, d);
  } else {
    to_floats(from, src, to);
  }
  return true;
}
