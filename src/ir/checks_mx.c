/* checks_mx.c -- room ir: packed tiles and their scales. */
#include <stdio.h>

#include "check_util.h"

/* Partitions of a scale tile: up to the last that is used. */
static int64_t scale_rows(int64_t parts) { return (parts - 1) / 32 * 32 + (parts - 1) % 32 / 8 + 1; }

/* One scale for each container of 8 partitions; data has containers, n of them per partition. */
static bool scale_tile(const IrCheck *c, const char *param, const IrTile *scale, const int64_t parts_n[2]) {
  int64_t least = scale_rows(parts_n[0]);
  if (tile_free(scale) == parts_n[1] && tile_parts(scale) >= least && tile_parts(scale) <= parts_n[0]) return true;
  char want[80];
  Say s;
  snprintf(want, sizeof want, "[%lld..%lld,%lld]", LL(least), LL(parts_n[0]), LL(parts_n[1]));
  return BAD(c, shape_required, param, want, text_of(c, scale, &s));
}

static bool whole_quadrants(const IrCheck *c, const char *param, const IrTile *t) {
  if (tile_parts(t) % 32 == 0) return true;
  Say s;
  return BAD(c, shape_required, param, "(P,n) with P a multiple of 32", text_of(c, t, &s));
}

bool check_quantize_mx(const IrCheck *c) {
  const Args_quantize_mx *a = ARGS(quantize_mx, c->ins);
  const IrTile *dst = a->dst.u.tile, *src = a->src.u.tile;
  Say s, w;
  bool ok = whole_quadrants(c, "src", src);
  if (tile_free(src) % 4) return BAD(c, shape_required, "src", "(P,n) with n a multiple of 4", text_of(c, src, &s));
  const int64_t shape[2] = {tile_parts(src), tile_free(src) / 4};
  if (tile_free(dst) != shape[1]) ok = BAD(c, shape_required, "dst", say_shape(shape, 2, &w), text_of(c, dst, &s));
  return ok && scale_tile(c, "dst_scale", a->dst_scale.u.tile, shape);
}

static bool mx_limit(const IrCheck *c, const char *what, int64_t most, const IrTile *t) {
  if (tile_free(t) <= most) return true;
  Say s;
  return BAD(c, size_of_dimension_exceed_arch_limit, what, LL(tile_free(t)), LL(most), text_of(c, t, &s));
}

/* Parts of the array are 32 or 64 rows by all its columns. */
static bool mx_tiling(const IrCheck *c, const Args_nc_matmul_mx *a) {
  const IrVal *at = &a->tile_position, *size = &a->tile_size;
  bool here = at->kind == V_INTS && at->n, sized = size->kind == V_INTS && size->n;
  if (!here && !sized) return true;
  if (!here || !sized || at->n != 2 || size->n != 2)
    return BAD(c, instruction_invalid,
               "tile_position and tile_size are given together, each as two integers (rows, columns)");
  int64_t rows = size->u.ints[0];
  char why[160];
  const char *problem = NULL;
  if (size->u.ints[1] != 128 || at->u.ints[1] != 0) problem = "the columns are 128 and start at 0";
  if (rows != 32 && rows != 64 && rows != 128) {
    problem = "the rows are 32, 64 or 128";
  } else if (at->u.ints[0] % rows) {
    problem = "the first row is a multiple of the rows";
  } else if (tile_parts(a->stationary.u.tile) > rows) {
    problem = "stationary has more partitions than that";
  }
  if (!problem) return true;
  snprintf(why, sizeof why, "tile_position (%lld, %lld) and tile_size (%lld, %lld): %s", LL(at->u.ints[0]),
           LL(at->u.ints[1]), LL(rows), LL(size->u.ints[1]), problem);
  return BAD(c, instruction_invalid, why);
}

bool check_nc_matmul_mx(const IrCheck *c) {
  const Args_nc_matmul_mx *a = ARGS(nc_matmul_mx, c->ins);
  const IrTile *dst = a->dst.u.tile, *st = a->stationary.u.tile, *mv = a->moving.u.tile;
  Say s, t;
  const int64_t k = tile_parts(st), m = tile_free(st), n = tile_free(mv);
  bool ok = whole_quadrants(c, "stationary", st);
  if (tile_parts(mv) != k)
    ok = BAD(c, num_partition_mismatch, "stationary", "moving", text_of(c, st, &s), text_of(c, mv, &t));
  if (!mx_limit(c, "free size of stationary", 128, st)) ok = false;
  if (!mx_limit(c, "free size of moving", dtype_bytes(dtype_of(c, dst)) == 4 ? 4096 : 8192, mv)) ok = false;
  if (m % 2) ok = BAD(c, shape_required, "stationary", "(K,M) with M even", text_of(c, st, &s));
  if (tile_parts(dst) != m || tile_free(dst) != n) {
    const int64_t shape[2] = {m, n};
    ok = BAD(c, shape_required, "dst", say_shape(shape, 2, &t), text_of(c, dst, &s));
  }
  if (!scale_tile(c, "stationary_scale", a->stationary_scale.u.tile, (const int64_t[]){k, m})) ok = false;
  if (!scale_tile(c, "moving_scale", a->moving_scale.u.tile, (const int64_t[]){tile_parts(mv), n})) ok = false;
  return mx_tiling(c, a) && ok;
}
