/* rules_collective.c -- room ir: what lists of tensors, groups of ranks and channels must be. */
#include <stdio.h>
#include <string.h>

#include "check_util.h"

static const IrVal *val(const IrCheck *c, uint8_t arg) { return &c->ins->v[arg - 1]; }
static const char *name_of(const IrCheck *c, uint8_t arg) { return c->op->params[arg - 1].name; }

/* ---- groups */
static bool bad_group(const IrCheck *c, uint8_t arg, const char *why) {
  Say s;
  return DIAG(c->d, replica_group, c->op->full, name_of(c, arg), say_lists(val(c, arg), &s), why);
}

bool rule_groups_disjoint(const IrCheck *c, const uint8_t *arg) {
  char why[96];
  if (ir_groups_fault(val(c, *arg), why)) return bad_group(c, *arg, why);
  return true;
}

bool rule_groups_equal(const IrCheck *c, const uint8_t *arg) {
  const IrVal *v = val(c, *arg);
  const int64_t *g = v->u.ints;
  for (uint32_t k = 0; k < v->n; k++, g += 1 + *g)
    if (*g != *v->u.ints) return bad_group(c, *arg, "the lists must have the same length");
  return true;
}

static bool twice(const IrVal *routes, uint32_t k, int end) {
  for (uint32_t i = 0; i < k; i++)
    if (routes->u.ints[2 * i + (uint32_t)end] == routes->u.ints[2 * k + (uint32_t)end]) return true;
  return false;
}

bool rule_routes_once(const IrCheck *c, const uint8_t *arg) {
  const IrVal *v = val(c, *arg);
  char text[96];
  if (v->n == 0) return BAD(c, instruction_invalid, "source_target_pairs has no pair");
  for (uint32_t k = 0; k < v->n; k++) {
    for (int end = 0; end < 2; end++) {
      if (!twice(v, k, end)) continue;
      snprintf(text, sizeof text, "rank %lld is the %s of two pairs", LL(v->u.ints[2 * k + (uint32_t)end]),
               end ? "target" : "source");
      return BAD(c, instruction_invalid, text);
    }
  }
  return true;
}

/* ---- lists of tensors */
bool rule_paired(const IrCheck *c, const uint8_t *arg) {
  const IrVal *a = val(c, arg[0]), *b = val(c, arg[1]);
  bool ok = true;
  if (a->n != b->n) return BAD(c, list_lengths, name_of(c, arg[0]), a->n, name_of(c, arg[1]), b->n);
  for (uint32_t k = 0; k < a->n; k++) {
    Say s, t;
    if (dtype_of(c, a->u.tiles[k]) == dtype_of(c, b->u.tiles[k])) continue;
    ok = BAD(c, dtype_mismatch, name_of(c, arg[0]), name_of(c, arg[1]), text_of(c, a->u.tiles[k], &s),
             text_of(c, b->u.tiles[k], &t));
  }
  return ok;
}

static bool in_hbm(const IrCheck *c, const IrTile *t) { return space_is_hbm(buf_of(c, t)->space); }

bool rule_one_memory(const IrCheck *c, const uint8_t *arg) {
  const IrVal *first = val(c, arg[0]);
  Say s, t;
  if (first->n == 0) return BAD(c, argument_missing, name_of(c, arg[0]));
  bool hbm = in_hbm(c, first->u.tiles[0]);
  for (const uint8_t *a = arg; *a; a++) {
    const IrVal *v = val(c, *a);
    for (uint32_t k = 0; k < v->n; k++)
      if (in_hbm(c, v->u.tiles[k]) != hbm)
        return BAD(c, collective_memory, name_of(c, arg[0]), text_of(c, first->u.tiles[0], &s), name_of(c, *a),
                   text_of(c, v->u.tiles[k], &t));
    if (!hbm && v->n > 1) return BAD(c, coalesced_memory, name_of(c, *a), v->n, text_of(c, v->u.tiles[0], &s));
  }
  return true;
}

bool rule_one_tensor(const IrCheck *c, const uint8_t *arg) {
  bool ok = true;
  for (; *arg; arg++)
    if (val(c, *arg)->n != 1) ok = BAD(c, list_one, name_of(c, *arg), val(c, *arg)->n);
  return ok;
}

bool tile_same_shape(const IrTile *a, const IrTile *b) {
  bool same = a->rank == b->rank;
  for (int i = 0; same && i < a->rank; i++) same = a->dim[i].count == b->dim[i].count;
  return same;
}

bool rule_same_shapes(const IrCheck *c, const uint8_t *arg) {
  const IrVal *a = val(c, arg[0]), *b = val(c, arg[1]);
  bool ok = true;
  for (uint32_t k = 0; k < a->n && k < b->n; k++) {
    Say s, t;
    if (tile_same_shape(a->u.tiles[k], b->u.tiles[k])) continue;
    ok = BAD(c, shape_required, name_of(c, arg[1]), say_dims(a->u.tiles[k], &s), text_of(c, b->u.tiles[k], &t));
  }
  return ok;
}

bool rule_flat(const IrCheck *c, const uint8_t *arg) {
  bool ok = true;
  for (; *arg; arg++) {
    const IrVal *v = val(c, *arg);
    for (uint32_t k = 0; k < v->n; k++) {
      Say s;
      if (tile_is_contiguous(c->func, v->u.tiles[k])) continue;
      ok = BAD(c, tensor_flat, name_of(c, *arg), text_of(c, v->u.tiles[k], &s));
    }
  }
  return ok;
}

/* ---- channels, counts */
/* arg: channel_ids, replica_group, lists with one tensor for each channel. */
bool rule_channels(const IrCheck *c, const uint8_t *arg) {
  const IrVal *ids = val(c, arg[0]), *groups = val(c, arg[1]);
  uint32_t n = ids->kind == V_INTS ? ids->n : 1, most = groups->n > 1 ? 2 : 4;
  char text[160];
  for (uint32_t k = 0; ids->kind == V_INTS && k < n; k++)
    for (uint32_t i = 0; i < k; i++)
      if (ids->u.ints[i] == ids->u.ints[k]) {
        snprintf(text, sizeof text, "channel_ids names channel %lld twice", LL(ids->u.ints[k]));
        return BAD(c, channel, text);
      }
  if (n > most) {
    snprintf(text, sizeof text, "%u channels; a group of all ranks has at most 4, several groups have 2", n);
    return BAD(c, channel, text);
  }
  for (arg += 2; *arg; arg++) {
    if (val(c, *arg)->n == n) continue;
    snprintf(text, sizeof text, "%s has tensors for %u channels and channel_ids names %u", name_of(c, *arg),
             val(c, *arg)->n, n);
    return BAD(c, channel, text);
  }
  return true;
}

/* arg: metadata_tensor, replica_group, has_rdispls. */
bool rule_metadata(const IrCheck *c, const uint8_t *arg) {
  const IrTile *t = val(c, arg[0])->u.tile;
  int64_t n = val(c, arg[1])->n ? *val(c, arg[1])->u.ints : 0;
  bool rdispls = val(c, arg[2])->u.i, hbm = in_hbm(c, t);
  const IrDim *dim = t->dim + (hbm ? 0 : 1);
  bool good = t->rank == (hbm ? 2 : 3) && (hbm || t->dim[0].count == 1) && dim[1].count == n && dim[0].count <= 4 &&
              dim[0].count >= (rdispls ? 4 : 3);
  if (good) return true;
  char want[96];
  Say s;
  snprintf(want, sizeof want, "(%s, %lld) in hbm or (1, %s, %lld) in sbuf", rdispls ? "4" : "3 or 4", LL(n),
           rdispls ? "4" : "3 or 4", LL(n));
  return BAD(c, shape_required, name_of(c, arg[0]), want, text_of(c, t, &s));
}
