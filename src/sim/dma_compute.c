/* dma_compute.c -- room sim: sums of tensors in the DMA engines, whole or at rows picked by a vector of indices. */
#include "exec.h"

/* sum = sum + the tile, in f32; the first one is taken as it is. */
static bool add_tile(Sim *s, const Acc *a, bool first, float *sum) {
  Stream st;
  stream_init(&st, a);
  if (first) {
    stream_load(&st, acc_count(a), sum);
    return true;
  }
  float *block = scratch(s, SCR_SRC0, BLOCK * sizeof(float));
  if (!block) return false;
  for (int64_t at = 0, n; at < acc_count(a); at += n) {
    n = acc_count(a) - at < BLOCK ? acc_count(a) - at : BLOCK;
    stream_load(&st, n, block);
    vm_binary(VM_add, sum + at, block, sum + at, n);
  }
  return true;
}

static bool sum_plain(Sim *s, const Args_dma_compute *a) {
  Acc x, dst;
  float *sum = scratch(s, SCR_SNAP0, (size_t)tile_count(a->dst.u.tile) * sizeof(float));
  if (!sum) return false;
  for (uint32_t k = 0; k < a->srcs.n; k++)
    if (!acc_src(s, a->srcs.u.tiles[k], &x) || !add_tile(s, &x, k == 0, sum)) return false;
  if (!acc_dst(s, a->dst.u.tile, &dst)) return false;
  Stream st;
  stream_init(&st, &dst);
  stream_store(&st, acc_count(&dst), sum);
  return true;
}

/* Two sources, of which one is rows of HBM. Their sums go to those rows, or to the partitions of dst. */
typedef struct Picked {
  const IrTile *tile; /* with the indices */
  Acc rows, other, dst;
  uint32_t first; /* is the indexed one the first of the two? 0: yes */
  int64_t at[LANES];
  bool inside[LANES];
} Picked;

static bool find_rows(Sim *s, Picked *k, bool skip, bool scatter) {
  const IrBuf *b = s->f->bufs[k->tile->buf];
  for (int64_t p = 0; p < k->rows.parts; p++) {
    Acc row;
    k->inside[p] = acc_vec_row(&k->rows, b, k->at[p], &row);
    if (!k->inside[p] && !skip) return acc_row_out_of_bound(s, k->tile, p, k->at[p]);
    if (k->inside[p] && !acc_check(s, &row)) return false;
    for (int64_t q = 0; scatter && q < p; q++)
      if (k->at[q] == k->at[p] && k->inside[p]) say_duplicate(s, k->tile, k->at[p]);
  }
  return true;
}

static bool sum_rows(Sim *s, const Args_dma_compute *a) {
  Picked k = {.first = a->srcs.u.tiles[0]->vec ? 0 : 1};
  k.tile = a->srcs.u.tiles[k.first];
  bool scatter = a->dst.u.tile->vec != NULL;
  if (tile_parts(k.tile) > LANES) return NK_BUG(s->d, "a vector offset has more than 128 rows");
  if (!acc_vec(s, k.tile, k.at) || !acc_inout(s, k.tile, &k.rows) ||
      !acc_src(s, a->srcs.u.tiles[1 - k.first], &k.other) || !acc_inout(s, a->dst.u.tile, &k.dst) ||
      !find_rows(s, &k, a->oob_mode.u.i == oob_mode_skip, scatter))
    return false;
  const IrBuf *b = s->f->bufs[k.tile->buf];
  int64_t n = k.rows.free;
  float *sum = scratch(s, SCR_SNAP0, (size_t)(k.rows.parts * n) * sizeof(float));
  if (!sum) return false;
  for (int64_t p = 0; p < k.rows.parts; p++) {
    Acc row, mine = acc_part(&k.other, p);
    if (!k.inside[p]) continue;
    acc_vec_row(&k.rows, b, k.at[p], &row);
    const Acc *both[2] = {k.first ? &mine : &row, k.first ? &row : &mine};
    if (!add_tile(s, both[0], true, sum + p * n) || !add_tile(s, both[1], false, sum + p * n)) return false;
  }
  for (int64_t p = 0; p < k.rows.parts; p++) {
    Acc to = acc_part(&k.dst, p);
    if (!k.inside[p]) continue;
    if (scatter) acc_vec_row(&k.dst, b, k.at[p], &to);
    acc_mark(&to);
    row_store(&to, 0, sum + p * n);
  }
  return true;
}

bool sim_dma_compute(Sim *s, const Args_dma_compute *a) {
  for (uint32_t k = 0; k < a->srcs.n; k++)
    if (a->srcs.u.tiles[k]->vec) return sum_rows(s, a);
  return sum_plain(s, a);
}
