/* view_ap.c -- room ir: explicit access patterns over the storage, and reinterpretation as another dtype. */
#include <stdio.h>
#include <string.h>

#include "view_util.h"

int64_t view_ap_scale(const IrFunc *f, const IrTile *t, int indirect_dim) {
  const IrBuf *b = tile_buf(f, t);
  if (indirect_dim < 0 || indirect_dim >= b->rank) return 0;
  int64_t scale = 1;
  for (int i = indirect_dim + 1; i < b->rank; i++) scale *= b->shape[i];
  return scale;
}

/* The pairs as dims; on chip the first one walks partitions. */
static bool ap_dims(ViewCtx *c, const IrTile *t, const ViewAp *ap, IrTile *r) {
  Say s;
  const IrBuf *b = tile_buf(c->f, t);
  bool chip = space_on_chip(b->space);
  if (ap->npairs < 1 || ap->npairs > IR_MAX_RANK)
    return DIAG(c->d, view_ap_pairs, say_tile(c->f, t, &s), ap->npairs, IR_MAX_RANK);
  r->rank = (uint8_t)ap->npairs;
  int64_t total = 1;
  for (int i = 0; i < ap->npairs; i++) {
    r->dim[i] = (IrDim){ap->pairs[2 * i], ap->pairs[2 * i + 1]};
    if (r->dim[i].stride < 0 || r->dim[i].count < 1 || __builtin_mul_overflow(total, r->dim[i].count, &total))
      return DIAG(c->d, view_ap_pair, say_tile(c->f, t, &s), i, (long long)r->dim[i].stride,
                  (long long)r->dim[i].count);
  }
  if (!chip) return true;
  if (r->dim[0].count > 1 && r->dim[0].stride != buf_row(b))
    return DIAG(c->d, view_ap_partition, say_tile(c->f, t, &s), (long long)r->dim[0].stride, (long long)buf_row(b));
  r->dim[0].stride = buf_row(b);
  if (r->rank == 1) r->dim[r->rank++] = (IrDim){1, 1};
  return true;
}

/* How far the run-time offset may move the pattern without leaving the storage (on chip: the partition). */
static int64_t room_after(const IrFunc *f, const IrTile *r) {
  const IrBuf *b = tile_buf(f, r);
  bool chip = space_on_chip(b->space);
  int64_t row = chip ? buf_row(b) : b->count, last = r->offset % row;
  for (int i = chip ? 1 : 0; i < r->rank; i++) last += r->dim[i].stride * (r->dim[i].count - 1);
  return row - 1 - last;
}

static bool ap_dynamic(ViewCtx *c, const IrTile *t, const ViewAp *ap, IrTile *r) {
  Say s;
  if (ap->scalar_idx && ap->vec) return DIAG(c->d, view_one_dynamic, say_tile(c->f, t, &s));
  if ((ap->scalar_idx || ap->vec) && view_ap_scale(c->f, t, ap->indirect_dim) == 0)
    return DIAG(c->d, view_dim, "ap (indirect_dim)", say_tile(c->f, t, &s), ap->indirect_dim,
                tile_buf(c->f, t)->rank - 1);
  if (ap->scalar_idx) {
    if (ap->indirect_dim == 0 && tile_on_chip(c->f, t)) return view_free_dim(c, t, "ap", 0, "selected at run time");
    r->dyn = ap->scalar_idx;
    r->dyn_max = room_after(c->f, r);
  }
  return true;
}

/* Rows of the storage that the pattern may be moved to without leaving it. */
static int64_t rows_in_reach(const IrBuf *b, const IrTile *r) {
  int64_t last = r->offset;
  for (int i = 1; i < r->rank; i++) last += r->dim[i].stride * (r->dim[i].count - 1);
  int64_t rows = (b->count - 1 - last) / buf_row(b) + 1;
  return rows < b->shape[0] ? rows : b->shape[0];
}

const IrTile *view_ap(ViewCtx *c, const IrTile *t, const ViewAp *ap) {
  Say s, dims;
  if (t->dyn || t->vec) return DIAG(c->d, view_ap_indirect, "ap", say_tile(c->f, t, &s)), NULL;
  IrTile *r = view_edit(c, t);
  if (!r || !ap_dims(c, t, ap, r)) return NULL;
  char what[440], limit[80];
  bool overflow = ap->has_offset && __builtin_add_overflow(t->offset, ap->offset, &r->offset);
  IrTile fit = *r;
  if (ap->vec) fit.dim[0].count = 1; /* rows are picked at run time */
  if (overflow || !tile_fits(c->f, &fit)) {
    const IrBuf *b = tile_buf(c->f, t);
    snprintf(what, sizeof what, "pattern %s at offset %lld", say_pattern(r, &dims), (long long)r->offset);
    snprintf(limit, sizeof limit, space_on_chip(b->space) ? "each partition has %lld elements" : "it has %lld elements",
             (long long)(space_on_chip(b->space) ? buf_row(b) : b->count));
    return DIAG(c->d, tensor_access_out_of_bound, what, say_buf(b, &s), limit), NULL;
  }
  if (!ap_dynamic(c, t, ap, r)) return NULL;
  if (!ap->vec) return view_done(c, r);
  r->dim[0].stride = buf_row(tile_buf(c->f, t));
  const int64_t rows = r->dim[0].count, given = tile_count(ap->vec);
  if (tile_free(ap->vec) == 1 ? rows != given : rows > given)
    return DIAG(c->d, view_ap_vector, say_tile(c->f, t, &s), (long long)given, (long long)rows), NULL;
  r->dim[0].count = rows_in_reach(tile_buf(c->f, t), r);
  return view_pick_rows(c, r, ap->indirect_dim, ap->vec, rows);
}

/* ---- another dtype over the same bytes */

static const IrBuf *root_of(const IrFunc *f, const IrBuf *b) { return b->kind == BUF_VIEW ? f->bufs[b->base] : b; }

bool view_cast_shape(ViewCtx *c, const IrTile *t, DType to, int64_t shape[IR_MAX_RANK], int *rank) {
  Say s;
  const IrBuf *b = root_of(c->f, tile_buf(c->f, t));
  int64_t from = dtype_bytes(b->dtype), size = dtype_bytes(to);
  if (t->dyn || t->vec) return DIAG(c->d, view_ap_indirect, "view", say_tile(c->f, t, &s));
  *rank = b->rank;
  memcpy(shape, b->shape, sizeof b->shape);
  int64_t *last = &shape[b->rank - 1];
  if (*last * from % size == 0) {
    *last = *last * from / size;
    return true;
  }
  /* the last dim does not divide: the storage as one run, on chip one run per partition */
  bool chip = space_on_chip(b->space);
  int64_t run = chip ? buf_row(b) : b->count;
  *rank = chip ? 2 : 1;
  shape[*rank - 1] = run * from / size;
  if (run * from % size == 0) return true;
  return DIAG(c->d, view_cast, say_tile(c->f, t, &s), dtype_name(to), "its storage is not a whole number of elements");
}

const IrTile *view_cast(ViewCtx *c, const IrTile *t, const IrBuf *newbuf) {
  Say s;
  const IrBuf *b = tile_buf(c->f, t);
  int64_t from = dtype_bytes(b->dtype), to = dtype_bytes(newbuf->dtype);
  const char *why = NULL;
  if (root_of(c->f, newbuf) != root_of(c->f, b)) return NK_BUG(c->d, "view_cast between different storages"), NULL;
  if (t->dyn || t->vec) return DIAG(c->d, view_ap_indirect, "view", say_tile(c->f, t, &s)), NULL;
  IrTile *r = view_edit(c, t);
  if (!r) return NULL;
  r->buf = newbuf->id;
  if (from != to) {
    IrDim *last = &r->dim[r->rank - 1];
    if (last->count > 1 && last->stride != 1) why = "its last dimension is not contiguous";
    if (last->count * from % to) why = "its last dimension is not a whole number of elements";
    if (r->offset * from % to) why = "it does not start at a multiple of the element size";
    *last = (IrDim){1, last->count * from / to};
    r->offset = r->offset * from / to;
    for (int i = 0; i + 1 < r->rank; i++) {
      if (r->dim[i].count > 1 && r->dim[i].stride * from % to) why = "a stride is not a multiple of the element size";
      r->dim[i].stride = r->dim[i].stride * from / to;
    }
  }
  if (why) return DIAG(c->d, view_cast, say_tile(c->f, t, &s), dtype_name(newbuf->dtype), why), NULL;
  return view_done(c, r);
}
