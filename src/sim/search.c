/* search.c -- room sim: Vector engine: the eight largest values, where values are, replacing them, shuffling
 * partitions. */
#include <math.h>
#include <string.h>

#include "convert.h"
#include "exec.h"

enum { EIGHT = 8, WINDOW = 64 }; /* windows are looked over without a branch */

/* ---- max8 -------------------------------------------------------------------------------------------------------- */
/* The order of `maximum`: NaN above all, -0 below +0. */
static bool above(float a, float b) {
  if (isnan(a) || isnan(b)) return isnan(a) && !isnan(b);
  return a > b || (a == b && !signbit(a) && signbit(b));
}

/* Does no element of a window stand above bound? false when not sure: an equal zero or NaN needs a closer look. */
static bool all_below(const float x[WINDOW], float bound) {
  int reach = 0;
  for (int i = 0; i < WINDOW; i++) reach |= !(x[i] < bound);
  return !reach;
}

static void largest(const float *x, int64_t n, float top[EIGHT]) {
  int have = 0;
  for (int64_t i = 0; i < n; i++) {
    if (have == EIGHT && i % WINDOW == 0 && n - i >= WINDOW && all_below(x + i, top[EIGHT - 1])) {
      i += WINDOW - 1;
      continue;
    }
    if (have == EIGHT && !above(x[i], top[EIGHT - 1])) continue;
    int at = have < EIGHT ? have++ : EIGHT - 1;
    for (; at > 0 && above(x[i], top[at - 1]); at--) top[at] = top[at - 1];
    top[at] = x[i];
  }
}

bool sim_max8(Sim *s, const Args_max8 *a) {
  Acc x, dst;
  if (!acc_src(s, a->src.u.tile, &x) || !acc_dst(s, a->dst.u.tile, &dst) || !acc_guard(s, SCR_SNAP0, &x, &dst, false))
    return false;
  for (int64_t p = 0; p < x.parts; p++) {
    const float *row = row_f32(s, SCR_SRC0, &x, p);
    float top[EIGHT] = {0};
    if (!row) return false;
    largest(row, x.free, top);
    row_store(&dst, p, top);
  }
  return true;
}

/* ---- nc_find_index8, nc_match_replace8 --------------------------------------------------------------------------- */
static void store_indices(const Acc *dst, int64_t part, const int64_t at[EIGHT]) {
  Stream st;
  stream_row(&st, dst, part);
  for (int k = 0; k < EIGHT; k++) {
    uint32_t v = at[k] < 0 ? UINT32_MAX : (uint32_t)at[k];
    stream_write(&st, 1, &v); /* little endian: a 16-bit element takes the low half */
  }
}

static bool eight_of(const Acc *vals, int64_t part, float out[EIGHT]) {
  Stream st;
  stream_row(&st, vals, part);
  stream_load(&st, EIGHT, out);
  return true;
}

static bool occurs(const float x[WINDOW], float v) {
  int hit = 0;
  for (int i = 0; i < WINDOW; i++) hit |= x[i] == v;
  return hit;
}

/* The first element equal to v at `from` or later. */
static int64_t find(const float *x, int64_t n, float v, int64_t from) {
  int64_t i = from;
  while (n - i > WINDOW && !occurs(x + i, v)) i += WINDOW;
  for (; i < n; i++)
    if (x[i] == v) return i;
  return -1;
}

bool sim_nc_find_index8(Sim *s, const Args_nc_find_index8 *a) {
  Acc x, vals, dst;
  if (!acc_src(s, a->data.u.tile, &x) || !acc_src(s, a->vals.u.tile, &vals) || !acc_dst(s, a->dst.u.tile, &dst) ||
      !acc_guard(s, SCR_SNAP0, &x, &dst, false) || !acc_guard(s, SCR_SNAP1, &vals, &dst, false))
    return false;
  for (int64_t p = 0; p < x.parts; p++) {
    const float *row = row_f32(s, SCR_SRC0, &x, p);
    float v[EIGHT];
    int64_t at[EIGHT];
    if (!row) return false;
    eight_of(&vals, p, v);
    for (int k = 0; k < EIGHT; k++) {
      int64_t from = 0; /* behind the occurrence that an equal value before it took */
      for (int i = 0; i < k; i++)
        if (v[i] == v[k]) from = at[i] < 0 ? x.free : at[i] + 1;
      at[k] = find(row, x.free, v[k], from);
    }
    store_indices(&dst, p, at);
  }
  return true;
}

/* From the last value to the first, each takes the first equal element that none has taken. */
static void match(const float *row, int64_t n, const float v[EIGHT], int64_t at[EIGHT]) {
  for (int k = EIGHT - 1; k >= 0; k--) {
    int64_t from = 0;
    for (int i = EIGHT - 1; i > k; i--)
      if (v[i] == v[k]) from = at[i] < 0 ? n : at[i] + 1;
    at[k] = find(row, n, v[k], from);
  }
}

typedef struct Replace {
  float imm;
  Acc x, dst;
  char *raw; /* a row as it is stored, when the dtypes are equal */
} Replace;

static void replace_row(const Replace *k, int64_t part, float *row, const int64_t at[EIGHT]) {
  Stream in, out;
  stream_row(&out, &k->dst, part);
  if (k->x.dt != k->dst.dt) {
    for (int i = 0; i < EIGHT; i++)
      if (at[i] >= 0) row[at[i]] = k->imm;
    stream_store(&out, k->x.free, row);
    return;
  }
  _Alignas(4) char elem[4];
  cvt_store(k->dst.dt, &k->imm, 1, elem);
  stream_row(&in, &k->x, part);
  stream_read(&in, k->x.free, k->raw);
  for (int i = 0; i < EIGHT; i++)
    if (at[i] >= 0) memcpy(k->raw + at[i] * k->dst.bytes, elem, (size_t)k->dst.bytes);
  stream_write(&out, k->x.free, k->raw);
}

bool sim_nc_match_replace8(Sim *s, const Args_nc_match_replace8 *a) {
  Replace k = {.imm = (float)a->imm.u.num};
  Acc vals, idx;
  bool indices = a->dst_idx.kind == V_TILE;
  if (!acc_src(s, a->data.u.tile, &k.x) || !acc_src(s, a->vals.u.tile, &vals) || !acc_dst(s, a->dst.u.tile, &k.dst) ||
      !acc_guard(s, SCR_SNAP0, &k.x, &k.dst, true) || !acc_guard(s, SCR_SNAP1, &vals, &k.dst, false))
    return false;
  float *row = scratch(s, SCR_SRC0, (size_t)k.x.free * sizeof(float));
  int64_t *at = scratch(s, SCR_TMP, (size_t)k.x.parts * EIGHT * sizeof(int64_t));
  k.raw = scratch(s, SCR_SRC1, (size_t)k.x.free * 4);
  if (!row || !at || !k.raw) return false;
  for (int64_t p = 0; p < k.x.parts; p++) {
    float v[EIGHT];
    Stream in;
    stream_row(&in, &k.x, p);
    stream_load(&in, k.x.free, row);
    eight_of(&vals, p, v);
    match(row, k.x.free, v, at + p * EIGHT);
    replace_row(&k, p, row, at + p * EIGHT);
  }
  if (!indices) return true;
  if (!acc_dst(s, a->dst_idx.u.tile, &idx)) return false;
  for (int64_t p = 0; p < k.x.parts; p++) store_indices(&idx, p, at + p * EIGHT);
  return true;
}

/* ---- nc_stream_shuffle ------------------------------------------------------------------------------------------- */
enum { QUADRANT = 32, KEEP = 255 };

bool sim_nc_stream_shuffle(Sim *s, const Args_nc_stream_shuffle *a) {
  Acc src, dst;
  const int64_t *mask = a->shuffle_mask.u.ints;
  int64_t from[LANES];
  if (!acc_inout(s, a->src.u.tile, &src) || !acc_inout(s, a->dst.u.tile, &dst)) return false;
  for (int64_t p = 0; p < dst.parts; p++) {
    int64_t m = mask[p % QUADRANT];
    from[p] = m == KEEP ? -1 : p / QUADRANT * QUADRANT + m;
    if (from[p] >= src.parts) return NK_BUG(s->d, "nc_stream_shuffle: a row behind the source");
    Acc row = from[p] < 0 ? src : acc_part(&src, from[p]);
    if (from[p] >= 0 && !acc_check(s, &row)) return false;
  }
  if (!acc_guard(s, SCR_SNAP0, &src, &dst, false)) return false;
  for (int64_t p = 0; p < dst.parts; p++) {
    if (from[p] < 0) continue;
    Acc to = acc_part(&dst, p), row = acc_part(&src, from[p]);
    acc_mark(&to);
    if (!copy_tile(s, &to, &row)) return false;
  }
  return true;
}
