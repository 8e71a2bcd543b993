/* checks_gather.c -- room ir: searches, shuffles and gathers. */
#include <stdio.h>

#include "check_util.h"

static bool free_size(const IrCheck *c, const char *param, const IrTile *t, int64_t want) {
  if (tile_free(t) == want) return true;
  Say s, w;
  const int64_t shape[2] = {tile_parts(t), want};
  return BAD(c, shape_required, param, say_shape(shape, 2, &w), text_of(c, t, &s));
}

static bool searchable(const IrCheck *c, const char *param, const IrTile *t) {
  if (tile_free(t) >= 8 && tile_free(t) <= 16384) return true;
  Say s;
  return BAD(c, shape_required, param, "(P,n) with 8 to 16384 elements per partition", text_of(c, t, &s));
}

bool check_max8(const IrCheck *c) {
  const Args_max8 *a = ARGS(max8, c->ins);
  bool ok = searchable(c, "src", a->src.u.tile);
  return free_size(c, "dst", a->dst.u.tile, 8) && ok;
}

bool check_nc_find_index8(const IrCheck *c) {
  const Args_nc_find_index8 *a = ARGS(nc_find_index8, c->ins);
  bool ok = searchable(c, "data", a->data.u.tile);
  if (!free_size(c, "vals", a->vals.u.tile, 8)) ok = false;
  return free_size(c, "dst", a->dst.u.tile, 8) && ok;
}

bool check_nc_match_replace8(const IrCheck *c) {
  const Args_nc_match_replace8 *a = ARGS(nc_match_replace8, c->ins);
  bool ok = searchable(c, "data", a->data.u.tile);
  if (!free_size(c, "vals", a->vals.u.tile, 8)) ok = false;
  if (is_tile(&a->dst_idx) && !free_size(c, "dst_idx", a->dst_idx.u.tile, 8)) ok = false;
  return ok;
}

/* Where a shuffle may start is decided by the larger of the two tiles. */
static bool shuffle_start(const IrCheck *c, const char *param, const IrTile *t, int64_t parts) {
  const IrBuf *b = buf_of(c, t);
  int64_t first = b->part + t->offset / buf_row(b);
  if (parts > 128 || start_is_legal(first, parts)) return true;
  Say s;
  return BAD(c, start_partition, param, LL(first), LL(parts), parts == 1 ? "" : "s", parts > 64 ? "0 only" : "0 or 64",
             text_of(c, t, &s));
}

bool check_nc_stream_shuffle(const IrCheck *c) {
  const Args_nc_stream_shuffle *a = ARGS(nc_stream_shuffle, c->ins);
  const IrTile *dst = a->dst.u.tile, *src = a->src.u.tile;
  const int64_t *mask = a->shuffle_mask.u.ints;
  int64_t nd = tile_parts(dst), ns = tile_parts(src), most = nd > ns ? nd : ns;
  char why[160];
  bool ok = true;
  if (a->shuffle_mask.n != 32) {
    snprintf(why, sizeof why, "shuffle_mask has %u entries; it needs 32", a->shuffle_mask.n);
    ok = BAD(c, instruction_invalid, why);
  }
  for (int64_t p = 0; p < nd && ok; p++) {
    int64_t m = mask[p % 32], from = p / 32 * 32 + m;
    if (m < 0 || m >= 255 || (m < 32 && from < ns)) continue; /* the row has refused what is no byte */
    if (m >= 32) {
      snprintf(why, sizeof why, "shuffle_mask[%lld] is %lld; an entry is 0..31, or 255 for no change", LL(p % 32),
               LL(m));
    } else {
      snprintf(why, sizeof why, "partition %lld of dst would come from partition %lld of src, which has %lld", LL(p),
               LL(from), LL(ns));
    }
    ok = BAD(c, instruction_invalid, why);
  }
  if (nd != ns && nd <= 128 && ns <= 128) { /* the smaller one's own rule is weaker */
    if (!shuffle_start(c, "dst", dst, most)) ok = false;
    if (!shuffle_start(c, "src", src, most)) ok = false;
  }
  return ok;
}

bool check_local_gather(const IrCheck *c) {
  const Args_local_gather *a = ARGS(local_gather, c->ins);
  const IrTile *dst = a->dst.u.tile, *index = a->index.u.tile;
  int64_t e = a->num_elem_per_idx.u.i, most = 16 * tile_free(index);
  int64_t n = a->num_valid_indices.kind == V_INT ? a->num_valid_indices.u.i : most;
  char why[160];
  bool ok = true;
  Say s;
  if (tile_parts(index) % 16)
    ok = BAD(c, shape_required, "index", "(P,n) with P a multiple of 16", text_of(c, index, &s));
  if (e > 0 && (e & (e - 1))) {
    snprintf(why, sizeof why, "num_elem_per_idx is %lld; it is 1, 2, 4, 8, 16 or 32", LL(e));
    ok = BAD(c, instruction_invalid, why);
  }
  if (most > 4096)
    ok = BAD(c, size_of_dimension_exceed_arch_limit, "indices per 16 partitions", LL(most), 4096LL,
             text_of(c, index, &s));
  if (n > most) {
    snprintf(why, sizeof why, "num_valid_indices is %lld, but index has %lld per 16 partitions", LL(n), LL(most));
    ok = BAD(c, instruction_invalid, why);
  }
  bool counted = n >= 1 && n <= 4096 && e >= 1 && e <= 32; /* the row has said so otherwise */
  return (!counted || free_size(c, "dst (num_valid_indices * num_elem_per_idx)", dst, n * e)) && ok;
}

bool check_sequence_bounds(const IrCheck *c) {
  const Args_sequence_bounds *a = ARGS(sequence_bounds, c->ins);
  const IrTile *dst = a->dst.u.tile, *ids = a->segment_ids.u.tile;
  const int64_t shape[3] = {1, 2, tile_free(ids)};
  Say s, w;
  bool ok = tile_parts(ids) == 1 || BAD(c, shape_required, "segment_ids", "(1,n): one partition", text_of(c, ids, &s));
  bool rows = dst->rank > 1 && dst->dim[1].count == 2 && tile_free(dst) == 2 * tile_free(ids);
  return (rows || BAD(c, shape_required, "dst (starts, then ends)", say_shape(shape, 3, &w), text_of(c, dst, &s))) &&
         ok;
}

bool check_nonzero_with_count(const IrCheck *c) {
  const Args_nonzero_with_count *a = ARGS(nonzero_with_count, c->ins);
  return free_size(c, "dst (indices and their number)", a->dst.u.tile, tile_free(a->src.u.tile) + 1);
}

bool check_topk(const IrCheck *c) {
  const Args_topk *a = ARGS(topk, c->ins);
  const IrTile *src = a->src.u.tile;
  int64_t n = a->n.u.i, k = tile_free(a->val_dst.u.tile);
  char why[160];
  bool ok = true;
  Say s;
  if (tile_parts(src) % 16) ok = BAD(c, shape_required, "src", "(P,m) with P a multiple of 16", text_of(c, src, &s));
  if (tile_free(src) < (n + 15) / 16) {
    snprintf(why, sizeof why, "(P,m) with 16*m elements, at least n = %lld", LL(n));
    ok = BAD(c, shape_required, "src", why, text_of(c, src, &s));
  }
  if ((n >= 8 && k > n) || k >= 32768) {
    snprintf(why, sizeof why, "(P,K) with K at most n = %lld and below 32768", LL(n));
    ok = BAD(c, shape_required, "val_dst", why, text_of(c, a->val_dst.u.tile, &s));
  }
  return ok;
}
