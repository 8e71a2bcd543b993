/* region.c -- room trace: do two accesses of one buffer touch the same elements? Used for a warning, so a doubt counts
   as no overlap only where the patterns prove it. */
#include <stdlib.h>

#include "impl.h"

/* Splits a flat element position into coordinates of the buffer. */
static void coordinates(const IrBuf *b, int64_t at, int64_t out[IR_MAX_RANK]) {
  for (int d = b->rank - 1; d > 0; d--) {
    out[d] = at % b->shape[d];
    at /= b->shape[d];
  }
  out[0] = at;
}

/* One pattern dim becomes a step along the buffer dim whose stride divides it; false when it spans several. */
static bool add_dim(const IrBuf *b, const IrDim *dim, Region *r) {
  if (dim->count == 1 || dim->stride == 0) return true;
  int64_t unit = 1;
  int d = b->rank - 1;
  while (d > 0 && dim->stride >= unit * b->shape[d]) unit *= b->shape[d--];
  if (dim->stride % unit != 0 || r->dim[d].count != 1) return false;
  r->dim[d].step = dim->stride / unit;
  r->dim[d].count = dim->count;
  return r->dim[d].start + (dim->count - 1) * r->dim[d].step < b->shape[d];
}

/* The offset moves by up to t->dyn_max elements along the outermost dim that is no longer than that. */
static void stretch(const IrBuf *b, const IrTile *t, Region *r) {
  int64_t unit = 1;
  int d = b->rank - 1;
  if (t->dyn_max == 0) return;
  while (d > 0 && t->dyn_max >= unit * b->shape[d]) unit *= b->shape[d--];
  int64_t span = (r->dim[d].count - 1) * r->dim[d].step + 1 + t->dyn_max / unit;
  r->reach = r->count / r->dim[d].count * span;
  r->dim[d].count = span;
  r->dim[d].step = 1;
}

/* Rows picked by a vector: any. */
static void stretch_rows(const IrBuf *b, const IrTile *t, Region *r) {
  int d = t->vec_dim;
  r->dim[d].start = 0;
  r->dim[d].count = b->shape[d];
  r->dim[d].step = 1;
}

static void put_box(const IrBuf *b, const IrTile *t, Region *r) {
  int64_t at[IR_MAX_RANK] = {0};
  coordinates(b, t->offset, at);
  for (int d = 0; d < b->rank; d++) {
    r->dim[d].start = t->whole ? 0 : at[d];
    r->dim[d].count = t->whole ? b->shape[d] : 1;
    r->dim[d].step = 1;
  }
  r->rank = b->rank;
  for (int d = t->vec ? 1 : 0; d < t->rank && !t->whole; d++)
    if (!add_dim(b, &t->dim[d], r)) r->rank = 0;
  if (t->dyn) stretch(b, t, r);
  if (t->vec) stretch_rows(b, t, r);
}

/* Elements that an index tensor may pick: of each partition on chip, else of the rows of a view. */
static int64_t reach_of_picks(const IrTile *t) {
  if (tile_is_picked(t)) return tile_parts(t) * (t->dyn_max + 1);
  return tile_free(t) * (t->dyn_max / t->dim[0].stride + 1);
}

bool region_of(const IrFunc *f, const IrTile *t, Region *r) {
  const IrBuf *b = f->bufs[t->buf];
  int64_t last = t->offset, bytes = dtype_bytes(b->dtype);
  if (b->rank == 0) return false;
  *r = (Region){.count = tile_count(t)};
  for (int d = t->vec ? 1 : 0; d < t->rank; d++) last += t->dim[d].stride * (t->dim[d].count - 1);
  r->reach = r->count;
  r->lo = (t->vec ? 0 : t->offset) * bytes;
  r->hi = (t->vec ? b->count : last + t->dyn_max + 1) * bytes - 1;
  if (t->vec) r->reach = reach_of_picks(t);
  if (!t->vec || (t->vec_dim == 0 && t->dim[0].stride == b->row)) put_box(b, t, r); /* else only the interval counts */
  if (b->kind != BUF_VIEW) return true;
  int64_t base = dtype_bytes(f->bufs[b->base]->dtype); /* its elements are others: only the interval counts */
  r->count = r->count * bytes / base;
  r->reach = r->reach * bytes / base;
  r->rank = 0;
  return true;
}

static int64_t gcd(int64_t a, int64_t b) {
  while (b) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

bool region_overlap(const Region *a, const Region *b) {
  if (a->lo > b->hi || b->lo > a->hi) return false;
  for (int d = 0; d < a->rank && a->rank == b->rank; d++) {
    int64_t a_last = a->dim[d].start + (a->dim[d].count - 1) * a->dim[d].step;
    int64_t b_last = b->dim[d].start + (b->dim[d].count - 1) * b->dim[d].step;
    if (a->dim[d].start > b_last || b->dim[d].start > a_last) return false;
    /* one index only: any step would do, so it must not narrow the test */
    int64_t step = gcd(a->dim[d].count > 1 ? a->dim[d].step : 0, b->dim[d].count > 1 ? b->dim[d].step : 0);
    if (step > 1 && llabs(a->dim[d].start - b->dim[d].start) % step != 0) return false;
  }
  return true;
}

bool region_equal(const Region *a, const Region *b) {
  if (a->lo != b->lo || a->hi != b->hi || a->count != b->count || a->reach != b->reach || a->rank != b->rank)
    return false;
  for (int d = 0; d < a->rank; d++)
    if (a->dim[d].start != b->dim[d].start || a->dim[d].count != b->dim[d].count || a->dim[d].step != b->dim[d].step)
      return false;
  return true;
}

bool region_holds(const Region *box, const Region *r) {
  if (box->rank == 0 || r->rank != box->rank) return false;
  for (int d = 0; d < r->rank; d++) {
    int64_t last = r->dim[d].start + (r->dim[d].count - 1) * r->dim[d].step;
    if (r->dim[d].start < box->dim[d].start || last >= box->dim[d].start + box->dim[d].count) return false;
  }
  return true;
}
