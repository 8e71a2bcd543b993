/* checks_collective.c -- room ir: groups of ranks, and the shapes that collectives ask for. */
#include <stdio.h>

#include "check_util.h"

bool ir_groups_fault(const IrVal *groups, char why[96]) {
  const int64_t *g = groups->u.ints;
  if (groups->n == 0) {
    snprintf(why, 96, "there is no list of ranks");
    return true;
  }
  for (uint32_t k = 0; k < groups->n; k++, g += 1 + *g) {
    if (*g == 0) {
      snprintf(why, 96, "a list of ranks is empty");
      return true;
    }
    for (const int64_t *r = g + 1; r <= g + *g; r++) {
      int64_t size, place;
      if (ir_group_of(groups, *r, &size, &place) == g + 1 && g + 1 + place == r) continue;
      snprintf(why, 96, "rank %lld is named twice; the lists of ranks must be disjoint", LL(*r));
      return true;
    }
  }
  return false;
}

/* 1 where the rules have refused the group already. */
static int64_t group_size(const IrVal *groups) { return groups->n && *groups->u.ints ? *groups->u.ints : 1; }

static bool bad_dim(const IrCheck *c, int64_t dim, const char *why) {
  return BAD(c, argument_value, "collective_dim", dim ? "1" : "0", why);
}

/* dim[d] of the larger tensor is n times that of the smaller one, the others are equal. */
static bool check_share(const IrCheck *c, const IrTile *large, const IrTile *small, int d) {
  int64_t n = group_size(&c->ins->v[op_param(c->op, "replica_group", 13)]);
  IrTile want = *small;
  bool gather = c->ins->op == OP_all_gather;
  Say s, t;
  if (small->rank == large->rank && small->rank > d) {
    if (gather) {
      if (__builtin_mul_overflow(want.dim[d].count, n, &want.dim[d].count)) want.dim[d].count = INT64_MAX;
      if (tile_same_shape(large, &want)) return true;
    } else {
      if (large->dim[d].count % n)
        return BAD(c, group_share, "dimension 0", "srcs", LL(large->dim[d].count), LL(n), text_of(c, large, &s));
      want = *large;
      want.dim[d].count /= n;
      if (tile_same_shape(small, &want)) return true;
    }
  } else {
    want = gather ? *small : *large; /* the rank is what must be as in srcs */
  }
  return BAD(c, shape_required, "dsts", say_dims(&want, &s), text_of(c, gather ? large : small, &t));
}

bool check_all_gather(const IrCheck *c) {
  const Args_all_gather *a = ARGS(all_gather, c->ins);
  int64_t d = a->collective_dim.u.i;
  Say s;
  bool ok = true;
  for (uint32_t k = 0; k < a->srcs.n && k < a->dsts.n; k++) {
    const IrTile *src = a->srcs.u.tiles[k];
    bool hbm = space_is_hbm(buf_of(c, src)->space);
    if (d != 0 && d != 1) return false; /* the row has said so */
    if (hbm && d) return bad_dim(c, d, "tensors in hbm are gathered along dimension 0");
    if (!hbm && src->rank != 2) return BAD(c, shape_required, "srcs", "(P, F) in sbuf", text_of(c, src, &s));
    if (!check_share(c, a->dsts.u.tiles[k], src, (int)d)) ok = false;
  }
  return ok;
}

bool check_reduce_scatter(const IrCheck *c) {
  const Args_reduce_scatter *a = ARGS(reduce_scatter, c->ins);
  bool ok = true;
  if (a->collective_dim.u.i == 1) return bad_dim(c, 1, "srcs are shared out along dimension 0");
  for (uint32_t k = 0; k < a->srcs.n && k < a->dsts.n; k++)
    if (!check_share(c, a->srcs.u.tiles[k], a->dsts.u.tiles[k], 0)) ok = false;
  return ok;
}

bool check_all_to_all(const IrCheck *c) {
  const Args_all_to_all *a = ARGS(all_to_all, c->ins);
  int64_t n = group_size(&a->replica_group);
  bool ok = true;
  if (a->collective_dim.u.i == 1) return bad_dim(c, 1, "slices are taken along dimension 0");
  for (uint32_t k = 0; k < a->srcs.n; k++) {
    const IrTile *src = a->srcs.u.tiles[k];
    Say s;
    if (src->dim[0].count % n == 0) continue;
    ok = BAD(c, group_share, "dimension 0", "srcs", LL(src->dim[0].count), LL(n), text_of(c, src, &s));
  }
  return ok;
}

/* Without displacements dst has a block of one size for each rank. */
static bool check_blocks(const IrCheck *c, const IrTile *dst, int64_t n) {
  Say s;
  if (tile_count(dst) % n == 0) return true;
  return BAD(c, group_share, "the number of elements", "dsts", LL(tile_count(dst)), LL(n), text_of(c, dst, &s));
}

bool check_all_gather_v(const IrCheck *c) {
  const Args_all_gather_v *a = ARGS(all_gather_v, c->ins);
  const int64_t *g = a->replica_group.u.ints;
  Say s;
  bool ok = check_two_cores(c);
  for (uint32_t k = 0; k < a->replica_group.n; k++, g += 1 + *g)
    if (*g != 4)
      return DIAG(c->d, replica_group, c->op->full, "replica_group", say_lists(&a->replica_group, &s),
                  "every list must have 4 ranks");
  if (a->has_rdispls.u.i) return BAD(c, argument_value, "has_rdispls", "true", "it is not supported here");
  return (a->dsts.n != 1 || check_blocks(c, a->dsts.u.tiles[0], 4)) && ok;
}

bool check_all_to_all_v(const IrCheck *c) {
  const Args_all_to_all_v *a = ARGS(all_to_all_v, c->ins);
  if (a->has_rdispls.u.i || a->dsts.n != 1 || a->replica_group.n == 0) return true;
  return check_blocks(c, a->dsts.u.tiles[0], group_size(&a->replica_group));
}
