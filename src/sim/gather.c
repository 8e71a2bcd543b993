/* gather.c -- room sim: GpSimd: picking elements by index tiles, runs of equal ids, positions of nonzero elements,
 * top-k. */
#include <math.h>
#include <string.h>

#include "convert.h"
#include "exec.h"

enum { CORE = 16 /* partitions of one GpSimd core */ };

/* An index that leaves its row: the run stops. */
static bool bad_index(Sim *s, const Acc *index, const char *what, const int64_t at_value_size[3]) {
  Text name, tensor, where;
  text_init(&name, s->alloc);
  text_init(&tensor, s->alloc);
  text_init(&where, s->alloc);
  text_printf(&name, "%s: %s", op_full_name(s->ins), param_of(s->ins, index->tile));
  tile_describe(s->f, ir_whole(s->f, index->tile->buf), &tensor);
  text_printf(&where, "its element %lld is %lld, and %s has %lld elements per partition", (long long)at_value_size[0],
              (long long)at_value_size[1], what, (long long)at_value_size[2]);
  DIAG(s->d, tensor_access_out_of_bound, text_str(&name), text_str(&tensor), text_str(&where));
  text_free(&name);
  text_free(&tensor);
  text_free(&where);
  return false;
}

/* n elements stored as dt into a row of dst. */
static bool put_row(Sim *s, const Acc *dst, int64_t part, const Acc *like, const char *raw) {
  Stream st;
  stream_row(&st, dst, part);
  if (like->dt == dst->dt) {
    stream_write(&st, dst->free, raw);
    return true;
  }
  float *row = scratch(s, SCR_DST, (size_t)dst->free * sizeof(float));
  if (!row) return false;
  cvt_load(like->dt, raw, dst->free, row);
  stream_store(&st, dst->free, row);
  return true;
}

/* Of uint32 indices. */
static uint32_t *index_row(Sim *s, const Acc *index, int64_t part) {
  uint32_t *row = scratch(s, SCR_SRC1, (size_t)index->free * 4);
  if (!row) return NULL;
  Stream st;
  stream_row(&st, index, part);
  stream_read(&st, index->free, row);
  return row;
}

static char *raw_row(Sim *s, const Acc *a, int64_t part) {
  char *row = scratch(s, SCR_SRC0, (size_t)(a->free * a->bytes));
  if (!row) return NULL;
  Stream st;
  stream_row(&st, a, part);
  stream_read(&st, a->free, row);
  return row;
}

#define GATHER(T)                                             \
  do {                                                        \
    const T *row_ = (const T *)(const void *)row;             \
    T *out_ = (T *)(void *)out;                               \
    for (; i < n && at[i] < size; i++) out_[i] = row_[at[i]]; \
  } while (0)

/* out[i] = row[at[i]] up to the first index that is not below size; where it is, n when there is none. */
static int64_t gather(const uint32_t *at, int64_t n, const char *row, char *out, const int64_t size_bytes[2]) {
  int64_t i = 0, size = size_bytes[0];
  BY_BYTES(size_bytes[1], GATHER);
  return i;
}

bool sim_nc_n_gather(Sim *s, const Args_nc_n_gather *a) {
  Acc x, index, dst;
  if (!acc_src(s, a->data.u.tile, &x) || !acc_src(s, a->indices.u.tile, &index) || !acc_dst(s, a->dst.u.tile, &dst) ||
      !acc_guard(s, SCR_SNAP0, &x, &dst, false) || !acc_guard(s, SCR_SNAP1, &index, &dst, false))
    return false;
  char *out = scratch(s, SCR_TMP, (size_t)(dst.free * x.bytes));
  if (!out) return false;
  for (int64_t p = 0; p < dst.parts; p++) {
    const uint32_t *at = index_row(s, &index, p);
    const char *row = raw_row(s, &x, p);
    if (!at || !row) return false;
    int64_t end = gather(at, dst.free, row, out, (int64_t[]){x.free, x.bytes});
    if (end < dst.free) return bad_index(s, &index, "data", (int64_t[]){p * dst.free + end, at[end], x.free});
    if (!put_row(s, &dst, p, &x, out)) return false;
  }
  return true;
}

/* ---- local_gather ------------------------------------------------------------------------------------------------ */
/* The indices of the core whose first partition is `first`, partition by partition of each column. */
static bool core_indices(const Acc *index, int64_t first, int64_t n, uint32_t *out) {
  for (int64_t p = 0; p < CORE; p++) {
    Stream st;
    stream_row(&st, index, first + p);
    for (int64_t j = p; j < n; j += CORE) {
      out[j] = 0;
      stream_read(&st, 1, &out[j]);
    }
  }
  return true;
}

bool sim_local_gather(Sim *s, const Args_local_gather *a) {
  Acc x, index, dst;
  if (!acc_src(s, a->src_buffer.u.tile, &x) || !acc_src(s, a->index.u.tile, &index) ||
      !acc_dst(s, a->dst.u.tile, &dst) || !acc_guard(s, SCR_SNAP0, &x, &dst, false) ||
      !acc_guard(s, SCR_SNAP1, &index, &dst, false))
    return false;
  int64_t e = a->num_elem_per_idx.u.i, n = dst.free / e; /* n: valid indices, as the check found */
  char *out = scratch(s, SCR_TMP, (size_t)(dst.free * x.bytes));
  uint32_t *at = scratch(s, SCR_SRC1, (size_t)n * 4);
  if (!out || !at) return false;
  for (int64_t p = 0; p < dst.parts; p++) {
    if (p % CORE == 0) core_indices(&index, p, n, at);
    const char *row = raw_row(s, &x, p);
    if (!row) return false;
    for (int64_t j = 0; j < n; j++) {
      if (at[j] + e > x.free) return bad_index(s, &index, "src_buffer", (int64_t[]){j, at[j], x.free});
      memcpy(out + j * e * x.bytes, row + at[j] * x.bytes, (size_t)(e * x.bytes));
    }
    if (!put_row(s, &dst, p, &x, out)) return false;
  }
  return true;
}

/* ---- sequence_bounds --------------------------------------------------------------------------------------------- */
static void load_ids(const Acc *a, double *ids) {
  Stream st;
  stream_init(&st, a);
  for (int64_t i = 0; i < a->free; i++) {
    uint32_t raw;
    float f;
    if (a->dt == DT_int32) {
      stream_read(&st, 1, &raw);
      ids[i] = (double)(int32_t)raw;
    } else {
      stream_load(&st, 1, &f);
      ids[i] = f;
    }
  }
}

bool sim_sequence_bounds(Sim *s, const Args_sequence_bounds *a) {
  Acc x, dst;
  if (!acc_src(s, a->segment_ids.u.tile, &x)) return false;
  int64_t n = x.free;
  double *ids = scratch(s, SCR_TMP, (size_t)n * sizeof(double));
  float *out = scratch(s, SCR_DST, (size_t)n * 2 * sizeof(float));
  if (!ids || !out) return false;
  load_ids(&x, ids);
  if (!acc_dst(s, a->dst.u.tile, &dst)) return false;
  for (int64_t i = 0, end; i < n; i = end) {
    for (end = i + 1; end < n && ids[end] == ids[i];) end++;
    for (int64_t k = i; k < end; k++) {
      out[k] = ids[i] == 0 ? (float)n : (float)i;
      out[n + k] = ids[i] == 0 ? -1.0f : (float)end;
    }
  }
  Stream st;
  stream_init(&st, &dst);
  stream_store(&st, 2 * n, out);
  return true;
}

/* ---- nonzero_with_count ------------------------------------------------------------------------------------------ */
/* Partitions 0, 16, 32 ...: the first of each core. */
static bool nonzero_row(Sim *s, const Acc *x, const Acc *dst, const Args_nonzero_with_count *a) {
  int64_t n = 0;
  int32_t *out = scratch(s, SCR_TMP, (size_t)(x->free + 1) * 4);
  const char *raw = raw_row(s, x, 0);
  if (!out || !raw) return false;
  for (int64_t i = 0; i < x->free; i++) {
    uint32_t bits;
    memcpy(&bits, raw + 4 * i, 4);
    if (x->dt == DT_int32 ? bits != 0 : bits << 1 != 0) /* -0.0 is zero, NaN is not */
      out[n++] = (int32_t)((uint32_t)i + (uint32_t)a->index_offset.u.i);
  }
  for (int64_t i = n; i < x->free; i++) out[i] = (int32_t)a->padding_val.u.i;
  out[x->free] = (int32_t)n;
  Stream st;
  stream_init(&st, dst);
  stream_write(&st, x->free + 1, out);
  return true;
}

bool sim_nonzero_with_count(Sim *s, const Args_nonzero_with_count *a) {
  Acc x, dst;
  if (!acc_inout(s, a->src.u.tile, &x) || !acc_inout(s, a->dst.u.tile, &dst)) return false;
  for (int64_t p = 0; p < x.parts; p += CORE) {
    Acc row = acc_part(&x, p);
    if (!acc_check(s, &row)) return false;
  }
  if (!acc_guard(s, SCR_SNAP0, &x, &dst, false)) return false;
  for (int64_t p = 0; p < x.parts; p += CORE) {
    Acc in = acc_part(&x, p), out = acc_part(&dst, p);
    acc_mark(&out);
    if (!nonzero_row(s, &in, &out, a)) return false;
  }
  return true;
}

/* ---- topk -------------------------------------------------------------------------------------------------------- */
/* Larger keys are larger values in the order of `maximum`; of equal values the one with the smaller index. */
static uint64_t key_of(float v, int64_t i) {
  uint32_t b;
  memcpy(&b, &v, 4);
  b = isnan(v) ? UINT32_MAX : b >> 31 ? ~b : b | UINT32_C(1) << 31;
  return (uint64_t)b << 32 | (UINT32_MAX - (uint32_t)i);
}

static void sift(uint64_t *key, int64_t at, int64_t n) {
  for (int64_t child; (child = 2 * at + 1) < n; at = child) {
    if (child + 1 < n && key[child + 1] > key[child]) child++;
    if (key[at] >= key[child]) return;
    uint64_t t = key[at];
    key[at] = key[child];
    key[child] = t;
  }
}

/* The k largest of n keys to the end, ascending (a heap whose top goes behind it, k times). */
static void largest_last(uint64_t *key, int64_t n, int64_t k) {
  for (int64_t i = n / 2; i-- > 0;) sift(key, i, n);
  for (int64_t end = n - 1; end > 0 && end >= n - k; end--) {
    uint64_t t = key[0];
    key[0] = key[end];
    key[end] = t;
    sift(key, 0, end);
  }
}

/* Element e of a core is at partition e mod 16, column e div 16. */
static void snake(const Acc *x, int64_t first, int64_t n, float *out) {
  for (int64_t p = 0; p < CORE && p < n; p++) {
    Stream st;
    stream_row(&st, x, first + p);
    for (int64_t e = p; e < n; e += CORE) stream_load(&st, 1, &out[e]);
  }
}

/* Were those elements written? The rest of src is not read. */
static bool snake_check(Sim *s, const Acc *x, int64_t n) {
  for (int64_t p = 0; p < x->parts && x->mem->written.state != BITS_ALL; p++) {
    Stream st;
    Acc one = *x;
    stream_row(&st, x, p);
    one.parts = one.free = 1;
    one.nf = 0;
    for (int64_t e = p % CORE; e < n; e += CORE) {
      one.off = ((const char *)stream_direct(&st, 1) - x->mem->data) / x->bytes;
      if (!acc_check(s, &one)) return false;
    }
  }
  return true;
}

typedef struct TopK {  /* of one core */
  const float *v;      /* the snake */
  const uint64_t *key; /* of the results, ascending */
} TopK;

static bool topk_store(Sim *s, const TopK *top, const Acc *dst, const Acc *idx, int64_t first) {
  int64_t k = dst->free;
  float *v = scratch(s, SCR_DST, (size_t)k * sizeof(float));
  uint32_t *at = scratch(s, SCR_SRC1, (size_t)k * 4);
  if (!v || !at) return false;
  for (int64_t i = 0; i < k; i++) {
    at[i] = UINT32_MAX - (uint32_t)top->key[i];
    v[i] = top->v[at[i]];
  }
  for (int64_t p = first; p < first + CORE; p++) {
    Stream st;
    row_store(dst, p, v);
    stream_row(&st, idx, p);
    stream_write(&st, k, at);
  }
  return true;
}

bool sim_topk(Sim *s, const Args_topk *a) {
  Acc x, dst, idx;
  int64_t n = a->n.u.i;
  if (!acc_inout(s, a->src.u.tile, &x) || !snake_check(s, &x, n) || !acc_dst(s, a->val_dst.u.tile, &dst) ||
      !acc_dst(s, a->idx_dst.u.tile, &idx) || !acc_guard(s, SCR_SNAP0, &x, &dst, false) ||
      !acc_guard(s, SCR_SNAP1, &x, &idx, false))
    return false;
  float *v = scratch(s, SCR_SRC0, (size_t)n * sizeof(float));
  uint64_t *key = scratch(s, SCR_TMP, (size_t)n * sizeof(uint64_t));
  if (!v || !key) return false;
  for (int64_t p = 0; p < x.parts; p += CORE) {
    snake(&x, p, n, v);
    for (int64_t i = 0; i < n; i++) key[i] = key_of(v[i], i);
    largest_last(key, n, dst.free);
    if (!topk_store(s, &(TopK){v, key + (n - dst.free)}, &dst, &idx, p)) return false;
  }
  return true;
}
