/* checks_dma.c -- room ir: what DMA refuses beyond the shared rules. */
#include <stdio.h>

#include "check_util.h"

static bool plain_dtype(DType d) { return dtype_is_float(d) || dtype_is_int(d); }

/* Descriptor modes: none is static, hwdge cannot index rows or convert, swdge can do all. */
static bool check_dge(const IrCheck *c, int mode, const IrTile *dst, const IrTile *src) {
  const char *name = enum_name(ET_dge_mode, mode);
  bool vec = dst->vec || src->vec, dyn = dst->dyn || src->dyn;
  if (mode == dge_mode_none && (vec || dyn))
    return BAD(c, argument_value, "dge_mode", name, "a view with a run-time offset needs swdge or hwdge");
  if (mode != dge_mode_hwdge) return true;
  bool ok =
      c->gen >= gen3 || BAD(c, argument_generation, "dge_mode hwdge", 3, target_name(c->module->target), (int)c->gen);
  if (vec) ok = BAD(c, argument_value, "dge_mode", name, "a vector offset needs swdge");
  if (dtype_of(c, dst) == dtype_of(c, src) || c->ins->op == OP_dma_transpose) return ok; /* that one has a rule */
  return BAD(c, dtype_mismatch, "dst", "src (dge_mode hwdge)", dtype_name(dtype_of(c, dst)),
             dtype_name(dtype_of(c, src)));
}

/* `engine` names the queue that issues the transfer. */
static bool check_queue(const IrCheck *c, int queue, int mode) {
  if (queue == engine_unknown) return true;
  if (queue == engine_gpsimd) {
    if (mode == dge_mode_unknown || mode == dge_mode_swdge) return true;
    return BAD(c, argument_value, "engine", "gpsimd", "it issues transfers with dge_mode swdge only");
  }
  if (queue != engine_scalar && queue != engine_sync)
    return BAD(c, engine_set, engine_name(queue), "scalar, sync, gpsimd");
  if (mode == dge_mode_unknown || mode == dge_mode_hwdge) {
    if (c->gen >= gen3) return true;
    return BAD(c, argument_generation, "engine scalar or sync", 3, target_name(c->module->target), (int)c->gen);
  }
  return BAD(c, argument_value, "engine", engine_name(queue), "it issues transfers with dge_mode hwdge only");
}

bool check_dma_copy(const IrCheck *c) {
  const Args_dma_copy *a = ARGS(dma_copy, c->ins);
  const IrTile *dst = a->dst.u.tile, *src = a->src.u.tile;
  int mode = (int)a->dge_mode.u.i;
  DType d = dtype_of(c, dst), s = dtype_of(c, src);
  bool ok = true;
  if (d != s && !(plain_dtype(d) && plain_dtype(s)))
    ok = BAD(c, dtype_mismatch, "dst", "src (packed and scale types do not convert)", dtype_name(d), dtype_name(s));
  if (dst->vec && src->vec) ok = BAD(c, instruction_invalid, "only one of dst and src may have a vector offset");
  if (a->oob_mode.u.i == oob_mode_skip && !dst->vec && !src->vec && !dst->dyn && !src->dyn)
    ok = BAD(c, argument_value, "oob_mode", "skip", "it needs a view with a run-time offset");
  if (!check_dge(c, mode, dst, src)) ok = false;
  return check_queue(c, (int)a->engine.u.i, mode) && ok;
}

/* The order of axes per rank: 2-D (1,0), 3-D (2,1,0), 4-D (3,1,2,0). */
static const int64_t *transpose_order(int rank) {
  static const int64_t order[3][4] = {{1, 0}, {2, 1, 0}, {3, 1, 2, 0}};
  return rank >= 2 && rank <= 4 ? order[rank - 2] : NULL;
}

static bool check_hwdge_transpose(const IrCheck *c, const IrTile *src) {
  Say s;
  int64_t rows = src->dim[0].count, last = src->dim[src->rank - 1].count, inner = src->dim[src->rank - 2].count;
  bool few = rows == 1 || rows == 2 || rows == 4 || rows == 8 || rows == 16;
  bool fits = src->rank == 2 ? rows == 16 : few && rows * inner % 16 == 0;
  if (fits && last <= 128 && dtype_bytes(dtype_of(c, src)) == 2) return true;
  return BAD(c, shape_required, "src (dge_mode hwdge)",
             "[16,n<=128] or, in 3-D and 4-D, [1|2|4|8|16,...] with a multiple of 16 rows, of a 2-byte dtype",
             text_of(c, src, &s));
}

/* Rows of src picked by a list in SBUF: number k is in row k mod P and column k div P of the (P,K) index tensor. */
static bool check_picked_rows(const IrCheck *c, const IrTile *src) {
  const IrTile *index = src->vec;
  const int64_t rows = tile_parts(index);
  const IrDim *dim = src->dim;
  Say s;
  bool ok = true, flat = src->rank < 4 || dim[1].count == 1 || dim[2].count == 1;
  if (dtype_of(c, index) != DT_uint32)
    ok = BAD(c, unsupported_dtype, "the index of src", text_of(c, index, &s), "uint32");
  if (rows % 16 || (rows != 128 && tile_free(index) > 1))
    ok = BAD(c, shape_required, "the index of src", "(P,1) with P a multiple of 16, or (128,K)", text_of(c, index, &s));
  if (dim[0].count % 16 || dim[src->rank - 1].count > 128 || !flat || dtype_bytes(dtype_of(c, src)) != 2)
    ok = BAD(c, shape_required, "src (picked rows)",
             "[16*n,...,m<=128], in 4-D with 1 as second or third size, of a 2-byte dtype", text_of(c, src, &s));
  return ok;
}

static bool check_moved(const IrCheck *c, const IrTile *dst, const IrTile *src) {
  if (!src->vec && !src->dyn && !dst->dyn) return true;
  bool ok = c->gen >= gen3 ||
            BAD(c, argument_generation, "a run-time offset", 3, target_name(c->module->target), (int)c->gen);
  return (!src->vec || check_picked_rows(c, src)) && ok;
}

bool check_dma_transpose(const IrCheck *c) {
  const Args_dma_transpose *a = ARGS(dma_transpose, c->ins);
  const IrTile *dst = a->dst.u.tile, *src = a->src.u.tile;
  Say s, want;
  const int64_t *order = transpose_order(src->rank);
  if (!order) return BAD(c, shape_required, "src", "of 2 to 4 dimensions", text_of(c, src, &s));
  bool same = a->axes.kind == V_NONE || (int)a->axes.n == src->rank;
  int64_t shape[4] = {0};
  bool fits = dst->rank == src->rank;
  for (int i = 0; i < src->rank; i++) {
    shape[i] = src->dim[order[i]].count;
    if (same && a->axes.kind != V_NONE && a->axes.u.ints[i] != order[i]) same = false;
    if (fits && dst->dim[i].count != shape[i]) fits = false;
  }
  bool ok = true;
  if (!same) {
    Say got;
    int n = a->axes.n > IR_MAX_RANK ? IR_MAX_RANK : (int)a->axes.n;
    say_shape(order, src->rank, &want);
    ok = BAD(c, shape_required, "axes", want.s, say_shape(a->axes.u.ints, n, &got));
  }
  if (!fits) ok = BAD(c, shape_required, "dst", say_shape(shape, src->rank, &want), text_of(c, dst, &s));
  if (a->oob_mode.u.i == oob_mode_skip && !src->dyn && !src->vec)
    ok = BAD(c, argument_value, "oob_mode", "skip", "it needs a src view with a run-time offset");
  int mode = (int)a->dge_mode.u.i;
  if (!check_dge(c, mode, dst, src)) ok = false;
  if (!check_moved(c, dst, src)) ok = false;
  return (mode != dge_mode_hwdge || check_hwdge_transpose(c, src)) && ok;
}

/* ---- dma_compute */

/* Rows picked by a vector offset: two sources, one of them indexed; dst is that very view, or one partition per row. */
static bool compute_rows(const IrCheck *c, const Args_dma_compute *a, const IrTile *rows) {
  const IrTile *dst = a->dst.u.tile, *const *src = a->srcs.u.tiles;
  Say s, t;
  if (a->srcs.n != 2) return BAD(c, instruction_invalid, "with a vector offset there are exactly two srcs");
  const IrTile *other = src[0] == rows ? src[1] : src[0];
  if (other->vec) return BAD(c, instruction_invalid, "only one of srcs may have a vector offset");
  bool ok = true;
  if (!a->unique_indices.u.i)
    ok = BAD(c, argument_value, "unique_indices", "false", "rows that are picked twice cannot be summed");
  const IrTile *on_chip[2] = {other, dst->vec ? NULL : dst};
  for (int i = 0; i < 2; i++) {
    const IrTile *x = on_chip[i];
    if (!x || (buf_of(c, x)->space == SP_sbuf && tile_parts(x) == tile_parts(rows) && tile_free(x) == tile_free(rows)))
      continue;
    ok = BAD(c, shape_required, i ? "dst" : "the src without an offset", "one partition in sbuf per picked row",
             text_of(c, x, &s));
  }
  if (dst->vec && !tile_equal(dst, rows))
    ok = BAD(c, instruction_invalid, "dst with a vector offset must be the same view as the src that has one");
  if (dst->dyn || other->dyn) {
    text_of(c, dst->dyn ? dst : other, &t);
    ok = BAD(c, dynamic_offset, dst->dyn ? "dst" : "srcs", "run-time", t.s);
  }
  return ok;
}

static bool compute_scales(const IrCheck *c, const Args_dma_compute *a) {
  if (a->scales.kind == V_NONE) return true;
  char why[80];
  bool ok = a->scales.n == a->srcs.n;
  if (!ok) {
    snprintf(why, sizeof why, "scales has %u numbers and srcs %u tensors; there is one for each", a->scales.n,
             a->srcs.n);
    BAD(c, instruction_invalid, why);
  }
  for (uint32_t i = 0; i < a->scales.n; i++) {
    if (a->scales.u.ints[i] == 1) continue;
    snprintf(why, sizeof why, "scales[%u] is %lld; every number must be 1", i, LL(a->scales.u.ints[i]));
    return BAD(c, instruction_invalid, why);
  }
  return ok;
}

bool check_dma_compute(const IrCheck *c) {
  const Args_dma_compute *a = ARGS(dma_compute, c->ins);
  const IrTile *dst = a->dst.u.tile, *rows = NULL;
  Say s, t;
  if (a->srcs.n < 1 || a->srcs.n > 16) {
    char why[64];
    snprintf(why, sizeof why, "srcs has %u tensors; 1 to 16 are legal", a->srcs.n);
    return BAD(c, instruction_invalid, why);
  }
  bool ok = compute_scales(c, a);
  for (uint32_t i = 0; i < a->srcs.n; i++) {
    const IrTile *x = a->srcs.u.tiles[i];
    if (x->vec && !rows) rows = x;
    if (tile_count(x) != tile_count(dst))
      ok = BAD(c, num_elements_mismatch, "dst", LL(tile_count(dst)), "", "srcs", LL(tile_count(x)), text_of(c, dst, &s),
               text_of(c, x, &t));
  }
  if (a->oob_mode.u.i == oob_mode_skip && !rows)
    ok = BAD(c, argument_value, "oob_mode", "skip", "it needs a src with a vector offset");
  if (!rows && dst->vec) return BAD(c, instruction_invalid, "dst has a vector offset and none of srcs has one");
  return (!rows || compute_rows(c, a, rows)) && ok;
}
