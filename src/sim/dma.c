/* dma.c -- room sim: copies between HBM and SBUF: whole views, rows picked by a vector of indices, transposes. */
#include <string.h>

#include "exec.h"

static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* The run-time scalar offset of a view is out of range. */
static bool strays(const Sim *s, const IrTile *t) {
  return t->dyn && (s->idx[t->dyn] < 0 || s->idx[t->dyn] > t->dyn_max);
}

/* A whole SBUF tile filled from memory that nothing writes during the run needs no copy until it is written itself. */
static bool borrow(const Acc *dst, const Acc *src) {
  SimMem *m = dst->mem;
  if (!src->mem->constant || !space_on_chip(m->ir->space) || dst->dt != src->dt || !acc_flat(src) || !acc_flat(dst) ||
      dst->off != 0 || acc_count(dst) * dst->bytes != m->bytes)
    return false;
  m->data = src->p;
  return true;
}

static bool copy_plain(Sim *s, const Args_dma_copy *a) {
  Acc src, dst;
  if (!acc_src(s, a->src.u.tile, &src) || !acc_dst(s, a->dst.u.tile, &dst)) return false;
  if (acc_count(&src) != acc_count(&dst)) return NK_BUG(s->d, "dma_copy: counts do not match");
  if (borrow(&dst, &src)) return true;
  return acc_guard(s, SCR_SNAP0, &src, &dst, true) && copy_tile(s, &dst, &src);
}

/* ---- vector offsets: row i of the view is row index[i] of the tensor --------------------------------------------- */
typedef struct Rows {
  Acc acc;
  const IrTile *tile;
  int64_t at[LANES];
  bool vec;
  bool skip; /* oob_mode.skip */
} Rows;

static bool rows_open(Sim *s, const IrTile *t, bool src, Rows *r) {
  r->tile = t;
  r->vec = t->vec != NULL;
  if (!r->vec) return src ? acc_src(s, t, &r->acc) : acc_inout(s, t, &r->acc);
  if (t->dim[0].count > LANES) return NK_BUG(s->d, "a vector offset has more than 128 rows");
  return acc_vec(s, t, r->at) && acc_inout(s, t, &r->acc);
}

/* Row k as a tile of its own. *inside is false when it lies outside and may be skipped. */
static bool rows_at(Sim *s, const Rows *r, int64_t k, Acc *row, bool *inside) {
  const IrBuf *b = s->f->bufs[r->tile->buf];
  *inside = acc_vec_row(&r->acc, b, r->at[k], row);
  if (*inside || r->skip) return true;
  return acc_row_out_of_bound(s, r->tile, k, r->at[k]);
}

/* Reads the source into one run; gone[k] marks rows that were skipped. */
static bool gather(Sim *s, const Rows *src, char *out, bool gone[LANES]) {
  if (!src->vec) {
    Stream st;
    stream_init(&st, &src->acc);
    stream_read(&st, acc_count(&src->acc), out);
    return true;
  }
  for (int64_t k = 0; k < src->acc.parts; k++) {
    Acc row;
    bool inside;
    if (!rows_at(s, src, k, &row, &inside)) return false;
    gone[k] = !inside;
    if (!inside) continue;
    if (!acc_check(s, &row)) return false;
    Stream st;
    stream_init(&st, &row);
    stream_read(&st, row.free, out + k * row.free * row.bytes);
  }
  return true;
}

/* Marks n elements of the stream, a piece of dst of any shape. */
static void mark_piece(const Acc *dst, Stream st, int64_t n) {
  Acc one = *dst;
  one.parts = one.free = 1;
  one.nf = 0;
  for (; n > 0 && (dst->mem->track || dst->mem->written.state != BITS_ALL); n--) {
    one.off = ((char *)stream_direct(&st, 1) - dst->mem->data) / dst->bytes;
    acc_mark(&one);
  }
}

typedef struct Piece {
  int64_t from, to, n; /* elements `from`... of the run go to elements `to`... of the tile */
} Piece;

static bool put(Sim *s, const Acc *run, const Acc *dst, Piece p) {
  Stream st;
  stream_init(&st, dst);
  stream_skip(&st, p.to);
  if (p.n == acc_count(dst)) {
    acc_mark(dst);
  } else {
    mark_piece(dst, st, p.n);
  }
  Acc part = *run;
  part.p += p.from * run->bytes;
  if (run->dt == dst->dt) {
    stream_write(&st, p.n, part.p);
    return true;
  }
  float *block = scratch(s, SCR_TMP, BLOCK * sizeof(float));
  if (!block) return false;
  Stream in;
  stream_init(&in, &part);
  for (int64_t left = p.n; left > 0; left -= BLOCK) {
    stream_load(&in, least(left, BLOCK), block);
    stream_store(&st, least(left, BLOCK), block);
  }
  return true;
}

/* The gathered run into dst, without the source rows that are gone. src_row: elements per source row. */
static bool scatter(Sim *s, const Acc *run, int64_t src_row, const bool gone[LANES], const Rows *dst) {
  int64_t total = run->free, dst_row = dst->vec ? dst->acc.free : total, at = 0;
  bool all = !dst->vec;
  for (int64_t k = 0; k < total / src_row; k++) all &= !gone[k];
  if (all) return put(s, run, &dst->acc, (Piece){0, 0, total});
  while (at < total) {
    int64_t n = least(src_row - at % src_row, dst_row - at % dst_row);
    Acc to = dst->acc;
    bool inside = true;
    if (dst->vec && !rows_at(s, dst, at / dst_row, &to, &inside)) return false;
    if (inside && !gone[at / src_row] && !put(s, run, &to, (Piece){at, at % dst_row, n})) return false;
    at += n;
  }
  return true;
}

static bool copy_rows(Sim *s, const Args_dma_copy *a) {
  Rows src, dst;
  bool gone[LANES] = {false};
  src.skip = dst.skip = a->oob_mode.u.i == oob_mode_skip;
  if (!rows_open(s, a->src.u.tile, true, &src) || !rows_open(s, a->dst.u.tile, false, &dst)) return false;
  int64_t n = acc_count(&src.acc);
  if (n != acc_count(&dst.acc)) return NK_BUG(s->d, "dma_copy: counts do not match");
  if (n == 0) return true;
  char *copy = scratch(s, SCR_SNAP0, (size_t)(n * src.acc.bytes));
  if (!copy || !gather(s, &src, copy, gone)) return false;
  Acc run = src.acc;
  run.p = copy;
  run.parts = 1;
  run.free = n;
  run.nf = 1;
  run.f[0] = (IrDim){1, n};
  return scatter(s, &run, src.vec ? src.acc.free : n, gone, &dst);
}

bool sim_dma_copy(Sim *s, const Args_dma_copy *a) {
  const IrTile *dst = a->dst.u.tile, *src = a->src.u.tile;
  if (a->oob_mode.u.i == oob_mode_skip && (strays(s, dst) || strays(s, src))) return true; /* dst keeps its value */
  return dst->vec || src->vec ? copy_rows(s, a) : copy_plain(s, a);
}

/* ---- dma_transpose ----------------------------------------------------------------------------------------------- */
static const int8_t default_axes[5][4] = {{0}, {0}, {1, 0}, {2, 1, 0}, {3, 1, 2, 0}};

/* Number k of the list: row k mod P, column k div P of the index tensor. */
static bool index_at(Sim *s, const IrTile *vec, int64_t n, int64_t *at) {
  const int64_t parts = tile_parts(vec);
  IrTile column = *vec;
  column.rank = 2;
  column.whole = false;
  for (int64_t k = 0; k < n; k += parts) {
    column.dim[1] = (IrDim){1, 1};
    column.offset = vec->offset + k / parts * vec->dim[1].stride;
    column.dim[0].count = least(parts, n - k);
    Acc acc;
    Stream st;
    if (!acc_src(s, &column, &acc)) return false;
    stream_init(&st, &acc);
    for (int64_t i = k; i < k + column.dim[0].count; i++) {
      uint32_t raw;
      stream_read(&st, 1, &raw);
      at[i] = elem_int(acc.dt, &raw);
    }
  }
  return true;
}

/* The row's elements with their axes in dst's order: the last axis first. */
static void turn_row(const IrTile *t, int64_t bytes, const char *row, char *out) {
  const int8_t *axes = default_axes[t->rank];
  int64_t count[3] = {1, 1, 1}, step[3] = {0, 0, 0};
  for (int k = 0; k + 1 < t->rank; k++) {
    count[k] = t->dim[axes[k]].count;
    step[k] = 1;
    for (int i = axes[k] + 1; i < t->rank; i++) step[k] *= t->dim[i].count;
  }
  for (int64_t i = 0; i < count[0]; i++)
    for (int64_t j = 0; j < count[1]; j++)
      for (int64_t k = 0; k < count[2]; k++, out += bytes)
        memcpy(out, row + (i * step[0] + j * step[1] + k * step[2]) * bytes, (size_t)bytes);
}

/* src with picked rows: row k becomes the last axis' element k of dst; rows outside leave it as it was. */
static bool transpose_rows(Sim *s, const Args_dma_transpose *a) {
  const IrTile *t = a->src.u.tile, *d = a->dst.u.tile;
  const int64_t n = t->dim[0].count;
  const IrBuf *b = s->f->bufs[t->buf];
  Acc src;
  int64_t *at = scratch(s, SCR_SNAP0, (size_t)n * sizeof *at);
  if (!at || !index_at(s, t->vec, n, at) || !acc_inout(s, t, &src)) return false;
  const int64_t bytes = src.bytes, free = src.free;
  char *both = scratch(s, SCR_TMP, (size_t)(2 * free * bytes));
  if (!both) return false;
  for (int64_t k = 0; k < n; k++) {
    Acc row, column;
    if (!acc_vec_row(&src, b, at[k], &row)) {
      if (a->oob_mode.u.i == oob_mode_skip) continue;
      return acc_row_out_of_bound(s, t, k, at[k]);
    }
    IrTile to = *d;
    to.whole = false;
    to.offset += k * d->dim[d->rank - 1].stride;
    to.dim[d->rank - 1].count = 1;
    Stream st;
    if (!acc_check(s, &row) || !acc_dst(s, &to, &column)) return false;
    stream_init(&st, &row);
    stream_read(&st, free, both);
    turn_row(t, bytes, both, both + free * bytes);
    stream_init(&st, &column);
    stream_write(&st, free, both + free * bytes);
  }
  return true;
}

bool sim_dma_transpose(Sim *s, const Args_dma_transpose *a) {
  const IrTile *t = a->src.u.tile;
  if (t->vec) return transpose_rows(s, a);
  if (a->oob_mode.u.i == oob_mode_skip && (strays(s, a->dst.u.tile) || strays(s, t))) return true;
  Acc src, dst;
  IrTile turned = *t;
  if (t->rank < 2 || t->rank > 4) return NK_BUG(s->d, "dma_transpose: rank");
  for (int k = 0; k < t->rank; k++) {
    int64_t from = a->axes.kind == V_INTS ? a->axes.u.ints[k] : default_axes[t->rank][k];
    if (from < 0 || from >= t->rank) return NK_BUG(s->d, "dma_transpose: axes");
    turned.dim[k] = t->dim[from];
  }
  turned.whole = false;
  if (!acc_src(s, &turned, &src) || !acc_dst(s, a->dst.u.tile, &dst) || !acc_guard(s, SCR_SNAP0, &src, &dst, false))
    return false;
  if (acc_count(&src) != acc_count(&dst)) return NK_BUG(s->d, "dma_transpose: counts do not match");
  return copy_turned(s, &dst, &src);
}
