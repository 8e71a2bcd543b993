/* view_reshape.c -- room ir: views that rename or regroup dims without moving a byte. */
#include <string.h>

#include "view_util.h"

const IrTile *view_permute(ViewCtx *c, const IrTile *t, const int64_t *dims, int n) {
  Say s, got;
  uint32_t seen = 0;
  if (n == t->rank)
    for (int i = 0; i < n; i++)
      if (dims[i] >= 0 && dims[i] < n) seen |= 1u << dims[i];
  if (n != t->rank || seen != (1u << n) - 1) {
    int shown = n < 0 ? 0 : n > IR_MAX_RANK ? IR_MAX_RANK : n;
    return DIAG(c->d, view_permutation, say_tile(c->f, t, &s), say_shape(dims, shown, &got), t->rank - 1), NULL;
  }
  if (dims[0] != 0 && !view_free_dim(c, t, "permute", 0, "moved from the front")) return NULL;
  IrTile *r = view_edit(c, t);
  if (!r) return NULL;
  for (int i = 0; i < n; i++) r->dim[i] = t->dim[dims[i]];
  return view_done(c, r);
}

const IrTile *view_broadcast(ViewCtx *c, const IrTile *t, int dim, int64_t size) {
  Say s;
  if (!view_has_dim(c, t, "broadcast", dim) || !view_free_dim(c, t, "broadcast", dim, "broadcast")) return NULL;
  if (t->dim[dim].count != 1 || size < 1)
    return DIAG(c->d, view_broadcast, say_tile(c->f, t, &s), dim, (long long)t->dim[dim].count, (long long)size), NULL;
  IrTile *r = view_edit(c, t);
  if (!r) return NULL;
  int64_t total;
  if (__builtin_mul_overflow(tile_count(t), size, &total))
    return DIAG(c->d, view_broadcast, say_tile(c->f, t, &s), dim, (long long)t->dim[dim].count, (long long)size), NULL;
  r->dim[dim] = (IrDim){0, size};
  return view_done(c, r);
}

static bool has_room(ViewCtx *c, const IrTile *t, int rank) {
  Say s;
  if (rank <= IR_MAX_RANK) return true;
  return DIAG(c->d, exceed_max_supported_dimension, "view of ", say_tile(c->f, t, &s), rank, IR_MAX_RANK);
}

const IrTile *view_expand_dim(ViewCtx *c, const IrTile *t, int dim) {
  Say s;
  if (dim < 0 || dim > t->rank)
    return DIAG(c->d, view_dim, "expand_dim", say_tile(c->f, t, &s), dim, (int)t->rank), NULL;
  if (!view_free_dim(c, t, "expand_dim", dim, "moved from the front") || !has_room(c, t, t->rank + 1)) return NULL;
  IrTile *r = view_edit(c, t);
  if (!r) return NULL;
  /* the stride of a size-1 dim is free; this one keeps merges with the next dim possible */
  int64_t stride = dim < t->rank ? t->dim[dim].stride * t->dim[dim].count : 1;
  memmove(&r->dim[dim + 1], &t->dim[dim], (size_t)(t->rank - dim) * sizeof r->dim[0]);
  r->dim[dim] = (IrDim){stride, 1};
  r->rank++;
  return view_done(c, r);
}

const IrTile *view_squeeze_dim(ViewCtx *c, const IrTile *t, int dim) {
  Say s;
  if (!view_has_dim(c, t, "squeeze_dim", dim) || !view_free_dim(c, t, "squeeze_dim", dim, "removed")) return NULL;
  int least = tile_on_chip(c->f, t) ? 2 : 1;
  if (t->dim[dim].count != 1)
    return DIAG(c->d, view_squeeze, say_tile(c->f, t, &s), dim, (long long)t->dim[dim].count), NULL;
  if (t->rank <= least) return DIAG(c->d, view_least_rank, "squeeze_dim", say_tile(c->f, t, &s), least), NULL;
  IrTile *r = view_edit(c, t);
  if (!r) return NULL;
  memmove(&r->dim[dim], &t->dim[dim + 1], (size_t)(t->rank - dim - 1) * sizeof r->dim[0]);
  r->rank--;
  return view_done(c, r);
}

/* Gives in[0..n) the sizes shape[0..m), whose product is the same, or fails when that would need other strides.
   Both lists are cut into the shortest groups of equal product; a group's old dims must be one dense run. */
static bool regroup(const IrDim *in, int n, const int64_t *shape, int m, IrDim *out) {
  IrDim old[IR_MAX_RANK];
  int k = 0;
  for (int i = 0; i < n; i++)
    if (in[i].count != 1) old[k++] = in[i];
  int o = 0, w = 0;
  while (w < m && o < k) {
    int o1 = o + 1, w1 = w + 1;
    int64_t have = old[o].count, want = shape[w];
    while (have != want) {
      if (want < have) {
        want *= shape[w1++];
      } else {
        have *= old[o1++].count;
      }
    }
    for (int i = o; i + 1 < o1; i++)
      if (old[i].stride != old[i + 1].stride * old[i + 1].count) return false;
    int64_t stride = old[o1 - 1].stride;
    for (int i = w1 - 1; i >= w; i--) {
      out[i] = (IrDim){stride, shape[i]};
      stride *= shape[i];
    }
    o = o1;
    w = w1;
  }
  for (; w < m; w++) out[w] = (IrDim){1, 1};
  return true;
}

typedef struct DimRange {
  int first, last; /* inclusive */
} DimRange;

/* Replaces the dims of the range by the given sizes. */
static const IrTile *replace_dims(ViewCtx *c, const IrTile *t, DimRange old, const int64_t *shape, int m) {
  int first = old.first, last = old.last;
  Say s, want;
  IrDim out[IR_MAX_RANK];
  if (!has_room(c, t, t->rank - (last - first + 1) + m)) return NULL;
  if (!regroup(&t->dim[first], last - first + 1, shape, m, out))
    return DIAG(c->d, view_strides, say_tile(c->f, t, &s), first, last, say_shape(shape, m, &want)), NULL;
  IrTile *r = view_edit(c, t);
  if (!r) return NULL;
  memcpy(&r->dim[first], out, (size_t)m * sizeof out[0]);
  memcpy(&r->dim[first + m], &t->dim[last + 1], (size_t)(t->rank - last - 1) * sizeof out[0]);
  r->rank = (uint8_t)(t->rank - (last - first + 1) + m);
  return view_done(c, r);
}

const IrTile *view_reshape_dim(ViewCtx *c, const IrTile *t, int dim, const int64_t *shape, int n) {
  int64_t sizes[IR_MAX_RANK] = {0};
  if (!view_has_dim(c, t, "reshape_dim", dim)) return NULL;
  if (n >= 1 && n <= IR_MAX_RANK) memcpy(sizes, shape, (size_t)n * sizeof sizes[0]);
  if (!view_sizes(c, t, sizes, n, t->dim[dim].count)) return NULL;
  if (sizes[0] != t->dim[dim].count && !view_free_dim(c, t, "reshape_dim", dim, "split")) return NULL;
  return replace_dims(c, t, (DimRange){dim, dim}, sizes, n);
}

const IrTile *view_flatten_dims(ViewCtx *c, const IrTile *t, int first, int last) {
  Say s;
  if (!view_has_dim(c, t, "flatten_dims", first) || !view_has_dim(c, t, "flatten_dims", last)) return NULL;
  if (first > last) return DIAG(c->d, view_dim_order, say_tile(c->f, t, &s), first, last), NULL;
  if (first == last) return t;
  if (!view_free_dim(c, t, "flatten_dims", first, "merged")) return NULL;
  int64_t count = 1;
  for (int i = first; i <= last; i++) count *= t->dim[i].count;
  return replace_dims(c, t, (DimRange){first, last}, &count, 1);
}

const IrTile *view_reshape(ViewCtx *c, const IrTile *t, const int64_t *shape, int n) {
  Say s;
  int64_t sizes[IR_MAX_RANK] = {0};
  if (n >= 1 && n <= IR_MAX_RANK) memcpy(sizes, shape, (size_t)n * sizeof sizes[0]);
  if (!view_sizes(c, t, sizes, n, tile_count(t))) return NULL;
  if (!view_fixed0(c, t)) return replace_dims(c, t, (DimRange){0, t->rank - 1}, sizes, n);
  if (sizes[0] != t->dim[0].count) {
    view_free_dim(c, t, "reshape", 0, "split or merged");
    return NULL;
  }
  int least = tile_on_chip(c->f, t) ? 2 : 1;
  if (n < least) return DIAG(c->d, view_least_rank, "reshape", say_tile(c->f, t, &s), least), NULL;
  if (t->rank == 1 && n == 1) return t;
  if (t->rank == 1) { /* rows picked by a vector offset: the new dims have size 1 */
    IrTile *r = view_edit(c, t);
    if (!r) return NULL;
    for (int i = 1; i < n; i++) r->dim[i] = (IrDim){1, 1};
    r->rank = (uint8_t)n;
    return view_done(c, r);
  }
  if (n == 1) { /* all other sizes are 1 */
    IrTile *r = view_edit(c, t);
    if (!r) return NULL;
    r->rank = 1;
    return view_done(c, r);
  }
  return replace_dims(c, t, (DimRange){1, t->rank - 1}, sizes + 1, n - 1);
}

bool tile_is_contiguous(const IrFunc *f, const IrTile *t) {
  int64_t want = 1;
  for (int i = t->rank - 1; i >= (tile_on_chip(f, t) ? 1 : 0); i--) {
    if (t->dim[i].count != 1 && t->dim[i].stride != want) return false;
    want *= t->dim[i].count;
  }
  return !t->vec;
}
