/* view.c -- room ir: indexing, slicing, selecting; what all views share. A view is a new tile over the same buffer. */
#include <stdio.h>

#include "view_util.h"

IrTile *view_edit(ViewCtx *c, const IrTile *t) {
  Say s;
  if (tile_is_picked(t)) {
    DIAG(c->d, view_picked, say_tile(c->f, t, &s));
    return NULL;
  }
  IrTile *r = ir_tile_new(c->m);
  if (!r) {
    DIAG0(c->d, nomem);
    return NULL;
  }
  *r = *t;
  r->whole = false;
  return r;
}

static bool same_as_whole(const IrTile *r, const IrTile *whole) {
  if (r->rank != whole->rank || r->offset != 0 || r->dyn || r->vec) return false;
  for (int i = 0; i < r->rank; i++) {
    if (r->dim[i].count != whole->dim[i].count) return false;
    if (r->dim[i].count > 1 && r->dim[i].stride != whole->dim[i].stride) return false;
  }
  return true;
}

const IrTile *view_done(ViewCtx *c, IrTile *r) {
  const IrTile *whole = ir_whole(c->f, r->buf);
  if (same_as_whole(r, whole)) return whole;
  if (tile_on_chip(c->f, r)) r->dim[0].stride = buf_row(tile_buf(c->f, r));
  for (int i = r->rank; i < IR_MAX_RANK; i++) r->dim[i] = (IrDim){0, 0};
  return r;
}

bool view_has_dim(ViewCtx *c, const IrTile *t, const char *what, int dim) {
  Say s;
  if (dim >= 0 && dim < t->rank) return true;
  return DIAG(c->d, view_dim, what, say_tile(c->f, t, &s), dim, t->rank - 1);
}

bool view_fixed0(const ViewCtx *c, const IrTile *t) { return t->vec || tile_on_chip(c->f, t); }

bool view_free_dim(ViewCtx *c, const IrTile *t, const char *what, int dim, const char *verb) {
  Say s;
  if (dim != 0 || !view_fixed0(c, t)) return true;
  if (t->vec) return DIAG(c->d, view_indexed_dim, what, say_tile(c->f, t, &s), verb);
  return DIAG(c->d, view_partition, what, say_tile(c->f, t, &s), verb);
}

bool view_sizes(ViewCtx *c, const IrTile *t, int64_t *shape, int n, int64_t count) {
  Say s, want;
  int hole = -1;
  int64_t product = 1;
  bool good = n >= 1 && n <= IR_MAX_RANK;
  for (int i = 0; good && i < n; i++) {
    if (shape[i] == -1 && hole < 0) {
      hole = i;
    } else {
      good = shape[i] >= 1 && !__builtin_mul_overflow(product, shape[i], &product);
    }
  }
  if (good && hole >= 0 && count % product == 0) {
    shape[hole] = count / product;
    product = count;
  }
  if (good && product == count) return true;
  int shown = n < 0 ? 0 : n > IR_MAX_RANK ? IR_MAX_RANK : n;
  return DIAG(c->d, view_shape, say_tile(c->f, t, &s), say_shape(shape, shown, &want), (long long)count);
}

/* Offset of the last element beyond the first along dims first.. ; false on overflow. */
static bool extent(const IrTile *t, int first, int64_t *out) {
  int64_t sum = 0, total = 1, part;
  for (int i = 0; i < t->rank; i++) { /* the number of elements must be a number too */
    if (t->dim[i].count < 1 || t->dim[i].stride < 0) return false;
    if (__builtin_mul_overflow(total, t->dim[i].count, &total)) return false;
  }
  for (int i = first; i < t->rank; i++) {
    if (__builtin_mul_overflow(t->dim[i].stride, t->dim[i].count - 1, &part)) return false;
    if (__builtin_add_overflow(sum, part, &sum)) return false;
  }
  *out = sum;
  return true;
}

bool tile_fits(const IrFunc *f, const IrTile *t) {
  const IrBuf *b = tile_buf(f, t);
  if (t->rank < 1 || t->rank > IR_MAX_RANK || t->offset < 0 || t->dyn_max < 0) return false;
  bool chip = space_on_chip(b->space);
  int64_t ext;
  if (!extent(t, chip || t->vec ? 1 : 0, &ext)) return false;
  if (__builtin_add_overflow(ext, t->dyn_max, &ext)) return false;
  if (!chip) return ext < b->count && t->offset < b->count - ext;
  int64_t row = buf_row(b), part = t->offset / row, first = t->offset % row;
  if (t->rank < 2 || t->dim[0].count < 1 || (t->dim[0].count > 1 && t->dim[0].stride != row)) return false;
  return ext < row && first < row - ext && part < b->shape[0] && t->dim[0].count <= b->shape[0] - part;
}

/* ---- indexing */

static bool out_of_dim(ViewCtx *c, const IrTile *t, int k, const IrSlice *s) {
  Say say;
  char what[128], limit[64];
  snprintf(limit, sizeof limit, "the dimension has %lld elements", (long long)t->dim[k].count);
  int64_t stop;
  bool far = __builtin_mul_overflow(s->count, s->step, &stop) || __builtin_add_overflow(stop, s->start, &stop);
  if (far) stop = INT64_MAX;
  if (s->is_index) {
    snprintf(what, sizeof what, "index %lld of dimension %d", (long long)s->start, k);
  } else if (s->count < 1 || s->step < 1) {
    snprintf(what, sizeof what, "slice of %lld elements with step %lld of dimension %d", (long long)s->count,
             (long long)s->step, k);
  } else {
    snprintf(what, sizeof what, "slice [%lld, %lld) with step %lld of dimension %d", (long long)s->start,
             (long long)stop, (long long)s->step, k);
  }
  return DIAG(c->d, tensor_access_out_of_bound, what, say_tile(c->f, t, &say), limit);
}

/* Takes dim k of t as s says, adding its start to r; false when s leaves the dim. */
static bool take(ViewCtx *c, const IrTile *t, int k, const IrSlice *s, IrTile *r) {
  Say say;
  IrDim d = t->dim[k];
  int64_t span, last, count = s->is_index ? 1 : s->count, step = count == 1 ? 1 : s->step;
  bool inside = s->start >= 0 && count >= 1 && step >= 1 && !__builtin_mul_overflow(count - 1, step, &span) &&
                !__builtin_add_overflow(span, s->start, &last) && last < d.count;
  if (!inside) return out_of_dim(c, t, k, s);
  if (k == 0 && step > 1 && tile_on_chip(c->f, t)) return view_free_dim(c, t, "slice", 0, "taken with a step");
  r->offset += s->start * d.stride;
  if (!s->dynamic) return true;
  if (!view_free_dim(c, t, "index", k, "selected at run time")) return false;
  if (t->vec || r->dyn) return DIAG(c->d, view_one_dynamic, say_tile(c->f, t, &say));
  r->dyn = s->idx;
  r->dyn_max = (d.count - 1 - last) * d.stride;
  return true;
}

static bool takes_all(const IrSlice *s, int64_t count) {
  return !s->is_index && !s->dynamic && s->start == 0 && s->count == count && (s->step == 1 || count == 1);
}

const IrTile *view_index(ViewCtx *c, const IrTile *t, const IrSlice *s, int n) {
  if (n != t->rank) return NK_BUG(c->d, "view_index takes one slice per dim"), NULL;
  if (t->vec && !takes_all(&s[0], t->dim[0].count)) {
    view_free_dim(c, t, "index", 0, "indexed again");
    return NULL;
  }
  IrTile *r = view_edit(c, t);
  if (!r) return NULL;
  bool chip = tile_on_chip(c->f, t);
  r->rank = 0;
  for (int k = 0; k < n; k++) {
    if (!take(c, t, k, &s[k], r)) return NULL;
    bool keep = !s[k].is_index || (chip && k == 0);
    int64_t count = s[k].is_index ? 1 : s[k].count;
    if (keep) r->dim[r->rank++] = (IrDim){t->dim[k].stride * (count == 1 ? 1 : s[k].step), count};
  }
  /* on chip at least (partitions, 1); elsewhere at least one dim */
  if (r->rank < (chip ? 2 : 1)) r->dim[r->rank++] = (IrDim){1, 1};
  return view_done(c, r);
}

/* All dims whole but one. */
static const IrTile *one_slice(ViewCtx *c, const IrTile *t, int dim, IrSlice s) {
  IrSlice all[IR_MAX_RANK];
  for (int i = 0; i < t->rank; i++) all[i] = (IrSlice){.count = t->dim[i].count, .step = 1};
  all[dim] = s;
  return view_index(c, t, all, t->rank);
}

const IrTile *view_slice(ViewCtx *c, const IrTile *t, int dim, IrSlice s) {
  if (!view_has_dim(c, t, "slice", dim)) return NULL;
  s.is_index = false;
  return one_slice(c, t, dim, s);
}

const IrTile *view_select(ViewCtx *c, const IrTile *t, int dim, IrSlice s) {
  if (!view_has_dim(c, t, "select", dim) || !view_free_dim(c, t, "select", dim, "removed")) return NULL;
  s.is_index = true;
  return one_slice(c, t, dim, s);
}

bool tile_is_index(const IrFunc *f, const IrTile *t) {
  const IrBuf *b = tile_buf(f, t);
  return b->space == SP_sbuf && dtype_is_int(b->dtype) && b->dtype != DT_bool_ && !t->vec && !t->dyn;
}

/* A column with one index for each row, or several columns (dma_transpose) with at least as many. */
static bool is_index_of(const IrFunc *f, const IrTile *vec, int64_t rows) {
  if (!tile_is_index(f, vec) || rows < 1) return false;
  return tile_free(vec) == 1 ? rows == tile_parts(vec) : rows <= tile_count(vec);
}

const IrTile *view_vector_select(ViewCtx *c, const IrTile *t, int dim, const IrTile *vec) {
  return view_pick_rows(c, t, dim, vec, tile_free(vec) == 1 ? tile_parts(vec) : 0);
}

const IrTile *view_pick_rows(ViewCtx *c, const IrTile *t, int dim, const IrTile *vec, int64_t rows) {
  Say s, v;
  const IrBuf *b = tile_buf(c->f, t);
  if (dim != 0) return DIAG(c->d, view_vector_dim, say_tile(c->f, t, &s), dim), NULL;
  if (!space_is_hbm(b->space)) return DIAG(c->d, view_vector_memory, say_tile(c->f, t, &s)), NULL;
  if (t->vec || t->dyn) return DIAG(c->d, view_one_dynamic, say_tile(c->f, t, &s)), NULL;
  if (!is_index_of(c->f, vec, rows))
    return DIAG(c->d, view_vector_column, say_tile(c->f, t, &s), say_tile(c->f, vec, &v)), NULL;
  int64_t step = t->dim[0].stride, reach = step * (t->dim[0].count - 1);
  if (t->dim[0].count == 1 && step < 1) step = 1;
  if (step < 1) return DIAG(c->d, view_vector_rows, say_tile(c->f, t, &s)), NULL;
  IrTile *r = view_edit(c, t);
  if (!r) return NULL;
  r->vec = vec;
  r->vec_dim = 0;
  r->dyn_max = reach;
  r->dim[0] = (IrDim){step, rows};
  return view_done(c, r);
}

const IrTile *view_within(ViewCtx *c, const IrTile *t, const IrTile *run) {
  IrTile *r = view_edit(c, t);
  if (!r) return NULL;
  r->buf = run->buf;
  r->offset += run->offset;
  return view_done(c, r);
}
