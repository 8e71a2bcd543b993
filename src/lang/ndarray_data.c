/* ndarray_data.c -- room lang: elements of host arrays as numbers, and what the other files of host arrays share. */
#include <math.h>
#include <stdio.h>

#include "convert.h"
#include "ndarray.h"

bool array_is_packed(DType d) { return dtype_info[d].cls == DC_PACK; }

LArray *array_check(lua_State *L, int i, const char *func, const char *param) {
  LArray *a = lang_to_array(L, i);
  if (!a) lang_kind_error(L, i, func, param, "an array");
  if (!a->data) LANG_FAIL(L, array_freed, func, param);
  return a;
}

LArray *array_numeric(lua_State *L, int i, const char *func, const char *param) {
  LArray *a = array_check(L, i, func, param);
  if (array_is_packed(a->dtype)) LANG_FAIL(L, array_packed, func, param, dtype_name(a->dtype));
  return a;
}

/* ---- elements ---------------------------------------------------------------------------------------------------- */

/* 32-bit integers do not fit f32, which the conversion rows of the simulator go through. */

static void read_wide(const LArray *a, int64_t at, int64_t n, double *out) {
  const char *p = (const char *)a->data + at * 4;
  for (int64_t k = 0; k < n; k++, p += 4) {
    uint32_t u;
    memcpy(&u, p, sizeof u);
    out[k] = a->dtype == DT_int32 ? (double)(int32_t)u : (double)u;
  }
}

void array_read(const LArray *a, int64_t at, int64_t n, double *out) {
  float block[ARRAY_BLOCK];
  if (dtype_is_wide_int(a->dtype)) {
    read_wide(a, at, n, out);
    return;
  }
  cvt_load(a->dtype, (const char *)a->data + at * dtype_bytes(a->dtype), n, block);
  for (int64_t k = 0; k < n; k++) out[k] = block[k];
}

double array_at(const LArray *a, int64_t i) {
  double v;
  array_read(a, i, 1, &v);
  return v;
}

static int does_not_fit(const ArrayOut *out, int64_t at, double v) {
  char path[ARRAY_TEXT], number[64], legal[64];
  int64_t index[IR_MAX_RANK], lo, hi;
  array_unravel(out->a, at, index);
  dtype_int_range(out->a->dtype, &lo, &hi);
  snprintf(number, sizeof number, "%.17g", isnan(v) ? fabs(v) : v); /* no "-nan" */
  snprintf(legal, sizeof legal, "%s holds integers %lld..%lld", dtype_name(out->a->dtype), (long long)lo,
           (long long)hi);
  return LANG_FAIL(out->L, array_element, out->func, array_path_text(out->a->rank, index, path), number, legal);
}

static void write_integers(const ArrayOut *out, int64_t at, int64_t n, const double *in) {
  int64_t lo, hi, size = dtype_bytes(out->a->dtype);
  char *p = (char *)out->a->data + at * size;
  dtype_int_range(out->a->dtype, &lo, &hi);
  for (int64_t k = 0; k < n; k++, p += size) {
    double v = in[k];
    if (!(v >= (double)lo && v <= (double)hi) || v != floor(v)) does_not_fit(out, at + k, v);
    uint32_t u = (uint32_t)(int64_t)v;
    uint16_t h = (uint16_t)u;
    uint8_t b = (uint8_t)u;
    if (size == 4) memcpy(p, &u, sizeof u);
    if (size == 2) memcpy(p, &h, sizeof h);
    if (size == 1) memcpy(p, &b, sizeof b);
  }
}

void array_write(const ArrayOut *out, int64_t at, int64_t n, const double *in) {
  float block[ARRAY_BLOCK];
  if (dtype_is_int(out->a->dtype)) {
    write_integers(out, at, n, in);
    return;
  }
  for (int64_t k = 0; k < n; k++) block[k] = (float)in[k];
  cvt_store(out->a->dtype, block, n, (char *)out->a->data + at * dtype_bytes(out->a->dtype));
}

void array_push_number(lua_State *L, DType dtype, double v) {
  if (dtype == DT_bool_) {
    lua_pushboolean(L, v != 0);
  } else if (dtype_is_int(dtype)) {
    lua_pushinteger(L, (lua_Integer)v);
  } else {
    lua_pushnumber(L, v);
  }
}

/* Floats become integers as on the device: nearest even, saturating, NaN is 0. Integers convert exactly and saturate.
 */
static double to_integer(DType dtype, double v) {
  int64_t lo, hi;
  if (isnan(v)) return 0;
  dtype_int_range(dtype, &lo, &hi);
  v = nearbyint(v);
  return v < (double)lo ? (double)lo : v > (double)hi ? (double)hi : v;
}

LArray *array_astype(lua_State *L, const LArray *a, DType dtype) {
  double block[ARRAY_BLOCK];
  LArray *to = lang_push_array(L, dtype, a->rank, a->shape);
  if (a->dtype == dtype) {
    memcpy(to->data, a->data, a->nbytes);
    return to;
  }
  if (array_is_packed(a->dtype) || array_is_packed(dtype))
    LANG_FAIL(L, array_packed, "array:astype", "dtype", dtype_name(array_is_packed(dtype) ? dtype : a->dtype));
  for (int64_t i = 0; i < a->count; i += ARRAY_BLOCK) {
    int64_t n = a->count - i < ARRAY_BLOCK ? a->count - i : ARRAY_BLOCK;
    array_read(a, i, n, block);
    for (int64_t k = 0; k < n && dtype_is_int(dtype); k++)
      block[k] = dtype == DT_bool_ ? block[k] != 0 : to_integer(dtype, block[k]);
    array_write(&(ArrayOut){L, "array:astype", to}, i, n, block);
  }
  return to;
}

/* ---- texts and axes ---------------------------------------------------------------------------------------------- */

const char *array_shape_text(int rank, const int64_t *shape, char buf[ARRAY_TEXT]) {
  int at = snprintf(buf, ARRAY_TEXT, "{");
  for (int k = 0; k < rank; k++)
    at += snprintf(buf + at, (size_t)(ARRAY_TEXT - at), k ? ", %lld" : "%lld", (long long)shape[k]);
  snprintf(buf + at, (size_t)(ARRAY_TEXT - at), "}");
  return buf;
}

const char *array_path_text(int rank, const int64_t *index, char buf[ARRAY_TEXT]) {
  int at = 0;
  buf[0] = '\0';
  for (int k = 0; k < rank; k++) at += snprintf(buf + at, (size_t)(ARRAY_TEXT - at), "[%lld]", (long long)index[k]);
  if (rank == 0) snprintf(buf, ARRAY_TEXT, "[]");
  return buf;
}

void array_unravel(const LArray *a, int64_t at, int64_t index[IR_MAX_RANK]) {
  for (int k = a->rank - 1; k >= 0; k--) {
    index[k] = at % a->shape[k];
    at /= a->shape[k];
  }
}

int array_axis(lua_State *L, int i, const LArray *a, const char *func) {
  char shape[ARRAY_TEXT];
  int64_t axis = lang_check_int(L, i, func, "axis");
  if (axis < -a->rank || axis >= a->rank)
    LANG_FAIL(L, array_axis, func, (long long)axis, array_shape_text(a->rank, a->shape, shape), a->rank);
  return (int)(axis < 0 ? axis + a->rank : axis);
}
