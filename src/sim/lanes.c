/* lanes.c -- room sim: element-wise work on tiles: whole runs where the patterns allow it, blocks through scratch
 * elsewhere. */
#include <math.h>
#include <string.h>

#include "convert.h"
#include "exec.h"

static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

enum { SHORT_RUN = 64 /* a direct run shorter than this is not worth a call of its own */ };

typedef struct Operand { /* one stream of an element-wise job */
  Stream st;
  float *scratch; /* where pieces go that cannot be used in place */
  const void *now;
  bool direct;
} Operand;

static bool usable(const Stream *st) { return st->dt == DT_float32 && st->d[st->nd - 1].stride == 1; }

/* Length of the next piece: the longest that every operand can give directly, else a block. */
static int64_t piece(const Operand *o, int n, int64_t left) {
  int64_t k = left;
  for (int i = 0; i < n; i++) {
    int64_t run = usable(&o[i].st) ? stream_run(&o[i].st) : 0;
    k = least(k, run >= SHORT_RUN ? run : BLOCK);
  }
  return k;
}

static void take(Operand *o, int64_t n, bool load) {
  o->direct = usable(&o->st) && stream_run(&o->st) >= n;
  if (o->direct) {
    o->now = stream_direct(&o->st, n);
  } else {
    o->now = o->scratch;
    if (load) stream_load(&o->st, n, o->scratch);
  }
}

/* Every operand is one run of f32: a single call. */
static bool each_flat(const Each *e, LaneFn *fn) {
  const float *in[3] = {NULL, NULL, NULL};
  if (!acc_flat_f32(e->dst)) return false;
  for (int i = 0; i < e->nsrc; i++) {
    if (!acc_flat_f32(e->src[i])) return false;
    in[i] = (const float *)(const void *)e->src[i]->p;
  }
  fn(e->ctx, 0, in, (float *)(void *)e->dst->p, acc_count(e->dst));
  return true;
}

static bool each_piece(Sim *s, const Each *e, LaneFn *fn) {
  if (each_flat(e, fn)) return true;
  Operand o[4]; /* the destination is the last */
  const float *in[3] = {NULL, NULL, NULL};
  for (int i = 0; i <= e->nsrc; i++) {
    stream_init(&o[i].st, i < e->nsrc ? e->src[i] : e->dst);
    o[i].scratch = scratch(s, i < e->nsrc ? SCR_SRC0 + i : SCR_DST, BLOCK * sizeof(float));
    if (!o[i].scratch) return false;
  }
  Operand *d = &o[e->nsrc];
  for (int64_t left = acc_count(e->dst); left > 0;) {
    int64_t n = piece(o, e->nsrc + 1, left);
    for (int i = 0; i < e->nsrc; i++) {
      take(&o[i], n, true);
      in[i] = o[i].now;
    }
    take(d, n, false);
    fn(e->ctx, 0, in, (float *)(uintptr_t)d->now, n);
    if (!d->direct) stream_store(&d->st, n, d->scratch);
    left -= n;
  }
  return true;
}

static bool row_direct(const Acc *a) { return a->dt == DT_float32 && acc_row_run(a); }

const float *row_f32(Sim *s, int slot, const Acc *a, int64_t part) {
  if (row_direct(a)) return (const float *)(const void *)acc_row(a, part);
  float *row = scratch(s, slot, (size_t)a->free * sizeof(float));
  if (!row) return NULL;
  Stream st;
  stream_row(&st, a, part);
  stream_load(&st, a->free, row);
  return row;
}

void row_store(const Acc *a, int64_t part, const float *v) {
  Stream st;
  stream_row(&st, a, part);
  stream_store(&st, a->free, v);
}

static bool each_row(Sim *s, const Each *e) {
  const float *in[3] = {NULL, NULL, NULL};
  bool direct = row_direct(e->dst);
  float *block = direct ? NULL : scratch(s, SCR_DST, (size_t)e->dst->free * sizeof(float));
  if (!direct && !block) return false;
  for (int64_t p = 0; p < e->dst->parts; p++) {
    for (int i = 0; i < e->nsrc; i++)
      if (!(in[i] = row_f32(s, SCR_SRC0 + i, e->src[i], p))) return false;
    float *out = direct ? (float *)(void *)acc_row(e->dst, p) : block;
    e->fn(e->ctx, p, in, out, e->dst->free);
    if (!direct) row_store(e->dst, p, block);
  }
  return true;
}

bool each(Sim *s, const Each *e) {
  for (int i = 0; i < e->nsrc; i++)
    if (!acc_guard(s, SCR_SNAP0 + i, e->src[i], e->dst, true)) return false;
  if (!e->rows) return each_piece(s, e, e->fn);
  /* A column has as many rows as elements: one call over the partitions instead. */
  return e->dst->free == 1 && e->columns ? each_piece(s, e, e->columns) : each_row(s, e);
}

bool each_raw(Sim *s, const Raws *r) {
  Stream in[2], out;
  const void *now[2] = {NULL, NULL};
  void *block[3];
  for (int i = 0; i < r->nsrc; i++) {
    if (!acc_guard(s, SCR_SNAP0 + i, r->src[i], r->dst, true)) return false;
    stream_init(&in[i], r->src[i]);
    if (!(block[i] = scratch(s, SCR_SRC0 + i, BLOCK * 4))) return false;
  }
  stream_init(&out, r->dst);
  if (!(block[2] = scratch(s, SCR_DST, BLOCK * 4))) return false;
  for (int64_t left = acc_count(r->dst); left > 0;) {
    int64_t n = least(left, BLOCK);
    for (int i = 0; i < r->nsrc; i++) {
      now[i] = stream_direct(&in[i], n);
      if (now[i]) continue;
      stream_read(&in[i], n, block[i]);
      now[i] = block[i];
    }
    void *direct = stream_direct(&out, n);
    r->fn(r->ctx, now, direct ? direct : block[2], n);
    if (!direct) stream_write(&out, n, block[2]);
    left -= n;
  }
  return true;
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */
bool column_load(Sim *s, const IrVal *v, float absent, Column *c) {
  c->tile = v->kind == V_TILE;
  c->given = v->kind != V_NONE;
  if (!c->tile) {
    c->v[0] = v->kind == V_NUM ? (float)v->u.num : v->kind == V_INT ? (float)v->u.i : absent;
    return true;
  }
  Acc a;
  if (!acc_src(s, v->u.tile, &a)) return false;
  if (acc_count(&a) > LANES) return NK_BUG(s->d, "a column has more than 128 elements");
  Stream st;
  stream_init(&st, &a);
  stream_load(&st, acc_count(&a), c->v);
  return true;
}

bool column_store(Sim *s, const IrTile *t, const float *v) {
  Acc a;
  if (!acc_dst(s, t, &a)) return false;
  if (acc_count(&a) > LANES) return NK_BUG(s->d, "a column has more than 128 elements");
  Stream st;
  stream_init(&st, &a);
  stream_store(&st, acc_count(&a), v);
  return true;
}

/* ---- operators --------------------------------------------------------------------------------------------------- */
#define SAME(id) [ALU_##id] = VM_##id
VmOp alu_vm(Alu op) {
  static const uint8_t map[ALU_count] = {
      SAME(add),        SAME(subtract),    SAME(multiply),    SAME(maximum),    SAME(minimum),       SAME(equal),
      SAME(not_equal),  SAME(greater),     SAME(less),        SAME(less_equal), SAME(greater_equal), SAME(logical_and),
      SAME(logical_or), SAME(logical_xor), SAME(logical_not), SAME(power),      SAME(rsqrt),         SAME(reciprocal),
      SAME(abs),        SAME(abs_max),     SAME(abs_min),     SAME(square),     SAME(relu),          SAME(bypass)};
  return (VmOp)map[op];
}
#undef SAME

VmReduce alu_reduce(Alu op) {
  switch ((int)op) {
    case ALU_multiply:
      return VR_multiply;
    case ALU_maximum:
      return VR_maximum;
    case ALU_minimum:
      return VR_minimum;
    case ALU_abs_max:
      return VR_abs_max;
    case ALU_abs_min:
      return VR_abs_min;
    case ALU_logical_and:
      return VR_logical_and;
    case ALU_logical_or:
      return VR_logical_or;
    case ALU_logical_xor:
      return VR_logical_xor;
    default:
      return VR_add;
  }
}

float reduce_identity(Alu op) {
  switch ((int)op) {
    case ALU_multiply:
    case ALU_logical_and:
      return 1.0f;
    case ALU_maximum:
      return -INFINITY;
    case ALU_minimum:
    case ALU_abs_min:
      return INFINITY;
    default:
      return 0.0f;
  }
}

VmBit alu_bit(Alu op) {
  switch ((int)op) {
    case ALU_bitwise_or:
      return VB_bitwise_or;
    case ALU_bitwise_xor:
      return VB_bitwise_xor;
    case ALU_invert:
      return VB_invert;
    case ALU_left_shift:
      return VB_left_shift;
    case ALU_right_shift:
      return VB_right_shift;
    default:
      return VB_bitwise_and;
  }
}

void scalar_step(const Scalar1 *k, float operand, const float *in, float *out, int64_t n) {
  VmOp op = alu_vm(k->op);
  if (k->unary) {
    vm_unary(op, in, out, n);
  } else if (k->reverse) {
    vm_s_binary(op, operand, in, out, n);
  } else {
    vm_binary_s(op, in, operand, out, n);
  }
}

void column_step(const Scalar1 *k, const Column *c, const float *in, float *out, int64_t n) {
  if (k->unary || !c->tile) {
    scalar_step(k, c->v[0], in, out, n);
  } else {
    vm_binary(alu_vm(k->op), k->reverse ? c->v : in, k->reverse ? in : c->v, out, n);
  }
}
