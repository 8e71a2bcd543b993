/* vector_select.c -- room sim: instructions of the Vector engine that choose between values. */
#include <string.h>

#include "convert.h"
#include "exec.h"

static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- tensor_copy_predicated -------------------------------------------------------------------------------------- */
typedef struct Pick {
  bool reverse;
  int pred_bytes, bytes;
  bool one; /* src is a number */
  _Alignas(4) char elem[4];
} Pick;

static bool holds(const Pick *k, const char *pred, int64_t i) {
  uint32_t raw = 0;
  memcpy(&raw, pred + i * k->pred_bytes, (size_t)k->pred_bytes);
  return (raw != 0) != k->reverse;
}

/* Marks (or, to check, asks) the elements of a tile where the predicate holds. */
static bool at_chosen(Sim *s, const Pick *k, const Acc *pred, const Acc *tile, bool mark) {
  Stream ps, ts;
  stream_init(&ps, pred);
  stream_init(&ts, tile);
  Acc one = *tile;
  one.parts = one.free = 1;
  one.nf = 0;
  for (int64_t left = acc_count(tile); left > 0; left--) {
    uint32_t raw;
    stream_read(&ps, 1, &raw);
    char *p = stream_direct(&ts, 1);
    if (!holds(k, (const char *)&raw, 0)) continue;
    one.off = (p - tile->mem->data) / tile->bytes;
    if (mark) {
      acc_mark(&one);
    } else if (!acc_check(s, &one)) {
      return false;
    }
  }
  return true;
}

#define TRUE_AT(T) \
  for (int64_t i = 0; i < n; i++) out[i] = (((const T *)(const void *)pred)[i] != 0) != reverse

static void true_at(const Pick *k, const char *restrict pred, uint8_t *restrict out, int64_t n) {
  bool reverse = k->reverse;
  BY_BYTES(k->pred_bytes, TRUE_AT);
}

static void pick_block(const Pick *k, const char *src, const char *pred, char *dst, int64_t n) {
  uint8_t take[BLOCK];
  true_at(k, pred, take, n);
  take_elems(&(Take){take, k->one ? k->elem : src, k->one, k->bytes}, dst, n);
}

/* src as dst stores it: itself, or a converted copy when an imprecise run keeps the two differently. */
static bool same_storage(Sim *s, Acc *src, const Acc *dst) {
  if (src->dt == dst->dt) return true;
  int64_t n = acc_count(src);
  char *copy = scratch(s, SCR_SNAP2, (size_t)(n * dst->bytes));
  if (!copy) return false;
  Acc to = *src;
  to.dt = dst->dt;
  to.bytes = dst->bytes;
  to.p = copy;
  to.lo = copy;
  to.hi = copy + n * dst->bytes;
  to.pstride = src->free;
  to.nf = src->free > 1;
  to.f[0] = (IrDim){1, src->free};
  if (!copy_tile(s, &to, src)) return false;
  *src = to;
  return true;
}

static bool pick_all(Sim *s, const Pick *k, Acc *a[3]) { /* src (or NULL), predicate, dst */
  Stream st[3];
  char *block[3];
  for (int i = 0; i < 3; i++) {
    if (a[i]) stream_init(&st[i], a[i]);
    if (!(block[i] = scratch(s, SCR_SRC0 + i, BLOCK * 4))) return false;
  }
  for (int64_t left = acc_count(a[2]); left > 0;) {
    int64_t n = least(left, BLOCK);
    if (a[0]) stream_read(&st[0], n, block[0]);
    stream_read(&st[1], n, block[1]);
    Stream before = st[2];
    stream_read(&st[2], n, block[2]);
    pick_block(k, block[0], block[1], block[2], n);
    stream_write(&before, n, block[2]);
    left -= n;
  }
  return true;
}

bool sim_tensor_copy_predicated(Sim *s, const Args_tensor_copy_predicated *a) {
  Acc src, pred, dst, *from = a->src.kind == V_TILE ? &src : NULL;
  if (!acc_src(s, a->predicate.u.tile, &pred) || !acc_inout(s, a->dst.u.tile, &dst)) return false;
  Pick k = {.reverse = a->reverse_pred.u.i != 0, .pred_bytes = pred.bytes, .bytes = dst.bytes, .one = !from};
  if (from) {
    if (!acc_inout(s, a->src.u.tile, &src)) return false;
    if (src.mem->written.state != BITS_ALL && !at_chosen(s, &k, &pred, &src, false)) return false;
    if (!acc_guard(s, SCR_SNAP0, &src, &dst, true) || !same_storage(s, &src, &dst)) return false;
  } else {
    elem_of(dst.dt, a->src.kind == V_NUM ? a->src.u.num : (double)a->src.u.i, k.elem);
  }
  if ((dst.mem->written.state != BITS_ALL || dst.mem->started.state != BITS_NONE) &&
      !at_chosen(s, &k, &pred, &dst, true))
    return false;
  return acc_guard(s, SCR_SNAP1, &pred, &dst, false) && pick_all(s, &k, (Acc *[]){from, &pred, &dst});
}

/* ---- range_select ------------------------------------------------------------------------------------------------ */
typedef struct Range {
  VmOp cmp[2];
  Column bound[2];
  float *index, *keep[2]; /* rows */
  float other;
  Accum acc;
} Range;

static void range_row(void *ctx, int64_t part, const float *const in[], float *out, int64_t n) {
  Range *r = ctx;
  for (int k = 0; k < 2; k++) vm_binary_s(r->cmp[k], r->index, column_at(&r->bound[k], part), r->keep[k], n);
  for (int64_t i = 0; i < n; i++)
    out[i] = choose((r->keep[0][i] != 0.0f) & (r->keep[1][i] != 0.0f), in[0][i], r->other);
  if (accum_adds(r->acc.cmd)) r->acc.part[part] = vm_reduce(VR_maximum, out, n, -__builtin_inff());
}

static bool range_rows(Sim *s, Range *r, int64_t n, double start) {
  float *rows = scratch(s, SCR_TMP, (size_t)n * 3 * sizeof(float));
  if (!rows) return false;
  r->index = rows;
  r->keep[0] = rows + n;
  r->keep[1] = rows + 2 * n;
  for (int64_t i = 0; i < n; i++) r->index[i] = (float)start + (float)i;
  return true;
}

bool sim_range_select(Sim *s, const Args_range_select *a) {
  Acc x, dst;
  Range r = {.cmp = {alu_vm((Alu)a->comp_op0.u.i), alu_vm((Alu)a->comp_op1.u.i)},
             .other = (float)a->on_false_value.u.num};
  r.acc = (Accum){.engine = engine_vector, .op = ALU_maximum, .cmd = (int)a->reduce_cmd.u.i};
  if (!acc_src(s, a->on_true_tile.u.tile, &x) || !column_load(s, &a->bound0, 0, &r.bound[0]) ||
      !column_load(s, &a->bound1, 0, &r.bound[1]) || !acc_dst(s, a->dst.u.tile, &dst) ||
      !range_rows(s, &r, x.free, a->range_start.u.num))
    return false;
  r.acc.lane = acc_lane(s, &x);
  r.acc.parts = x.parts;
  return each(s, &(Each){&dst, {&x}, 1, true, range_row, &r, NULL}) && accum_run(s, &r.acc, &a->reduce_res);
}

/* ---- select_reduce ----------------------------------------------------------------------------------------------- */
typedef struct Select {
  bool reverse;
  Column other;
  Accum acc;
} Select;

static void select_row(void *ctx, int64_t part, const float *const in[], float *out, int64_t n) {
  Select *k = ctx;
  float other = column_at(&k->other, part);
  for (int64_t i = 0; i < n; i++) out[i] = choose((in[0][i] != 0.0f) != k->reverse, in[1][i], other);
  if (accum_adds(k->acc.cmd)) k->acc.part[part] = vm_reduce(VR_maximum, out, n, -__builtin_inff());
}

bool sim_select_reduce(Sim *s, const Args_select_reduce *a) {
  Acc pred, x, dst;
  Select k = {.reverse = a->reverse_pred.u.i != 0};
  k.acc = (Accum){.engine = engine_vector, .op = ALU_maximum, .cmd = (int)a->reduce_cmd.u.i};
  if (!acc_src(s, a->predicate.u.tile, &pred) || !acc_src(s, a->on_true.u.tile, &x) ||
      !column_load(s, &a->on_false, 0, &k.other) || !acc_dst(s, a->dst.u.tile, &dst))
    return false;
  k.acc.lane = acc_lane(s, &x);
  k.acc.parts = x.parts;
  return each(s, &(Each){&dst, {&pred, &x}, 2, true, select_row, &k, NULL}) && accum_run(s, &k.acc, &a->reduce_res);
}
