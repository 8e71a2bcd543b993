/* vector_reduce.c -- room sim: reductions, scans and statistics of the Vector engine. */
#include <string.h>

#include "exec.h"

/* ---- tensor_reduce ----------------------------------------------------------------------------------------------- */
/* Elements per result: the product of the reduced trailing axes. */
static int64_t reduced(const IrTile *t, const IrVal *axis) {
  int64_t first = t->rank;
  const int64_t *list = axis->kind == V_INTS ? axis->u.ints : &axis->u.i;
  int n = axis->kind == V_INTS ? (int)axis->n : 1;
  for (int k = 0; k < n; k++) {
    int64_t ax = list[k] < 0 ? list[k] + t->rank : list[k];
    if (ax < first) first = ax;
  }
  int64_t size = 1;
  for (int64_t k = first; k < t->rank; k++) size *= t->dim[k].count;
  return size;
}

static float fold(Alu op, const float *x, int64_t n) {
  if (op == ALU_subtract) { /* x0 - x1 - x2 ... */
    float r = x[0];
    for (int64_t i = 1; i < n; i++) r = vm_op(VM_subtract, r, x[i]);
    return r;
  }
  return vm_reduce(alu_reduce(op), x, n, reduce_identity(op));
}

/* Few elements to a result, ACROSS results at a time: column j holds element j of each, and columns are folded in the
   order of vm_reduce, so the bytes are the same. */
enum { FEW = 16, ACROSS = 256, MANY = 8 };
typedef struct Columns {
  VmOp op;
  float identity;
  int64_t each_n;
  float *v; /* each_n of ACROSS */
} Columns;

static bool columns_make(Sim *s, Alu op, int64_t each_n, int64_t results, Columns *c) {
  bool fits = op == ALU_add || op == ALU_multiply || op == ALU_maximum || op == ALU_minimum;
  *c = (Columns){alu_vm(op), reduce_identity(op), each_n, NULL};
  if (!fits || each_n > FEW || results < MANY) return true;
  c->v = scratch(s, SCR_TMP, (size_t)(each_n * ACROSS) * sizeof(float));
  return c->v != NULL;
}

static void columns_fold(const Columns *c, const float *x, float *r, int64_t results) {
  for (int64_t at = 0; at < results; at += ACROSS, x += ACROSS * c->each_n) {
    int64_t n = results - at < ACROSS ? results - at : ACROSS, live = c->each_n, half = 1;
    for (int64_t j = 0; j < live; j++)
      for (int64_t i = 0; i < n; i++) c->v[j * ACROSS + i] = x[i * live + j];
    while (half * 2 < live) half *= 2;
    for (; half > 0; live = half, half /= 2)
      for (int64_t j = 0; j + half < live; j++) {
        float *to = c->v + j * ACROSS;
        vm_binary(c->op, to, to + half * ACROSS, to, n);
      }
    vm_binary_s(c->op, c->v, c->identity, r + at, n);
  }
}

static bool reduce_bits(Sim *s, Alu op, const Acc *x, Acc *dst, int64_t each_n) {
  char *row = scratch(s, SCR_SRC0, (size_t)(x->free * x->bytes));
  if (!row) return false;
  Stream out;
  stream_init(&out, dst);
  uint32_t init = op == ALU_bitwise_and ? UINT32_MAX : 0;
  for (int64_t p = 0; p < x->parts; p++) {
    Stream in;
    stream_row(&in, x, p);
    stream_read(&in, x->free, row);
    for (int64_t i = 0; i < x->free; i += each_n) {
      uint32_t r = vm_bits_reduce(alu_bit(op), x->bytes, row + i * x->bytes, each_n, init);
      stream_write(&out, 1, &r); /* little endian: the low bytes come first */
    }
  }
  return true;
}

bool sim_tensor_reduce(Sim *s, const Args_tensor_reduce *a) {
  Acc x, dst;
  Alu op = (Alu)a->op.u.i;
  if (!acc_src(s, a->data.u.tile, &x) || !acc_dst(s, a->dst.u.tile, &dst) || !acc_guard(s, SCR_SNAP0, &x, &dst, false))
    return false;
  int64_t n = reduced(a->data.u.tile, &a->axis);
  if (n <= 0 || acc_count(&x) / n != acc_count(&dst)) return NK_BUG(s->d, "tensor_reduce: counts do not match");
  if (alu_info[op].cls == AC_BITVEC) return reduce_bits(s, op, &x, &dst, n);
  int64_t results = x.free / n;
  float *r = scratch(s, SCR_DST, (size_t)results * sizeof(float));
  Columns columns;
  if (!r || !columns_make(s, op, n, results, &columns)) return false;
  Stream out;
  stream_init(&out, &dst);
  for (int64_t p = 0; p < x.parts; p++) {
    const float *row = row_f32(s, SCR_SRC0, &x, p);
    if (!row) return false;
    if (columns.v) {
      columns_fold(&columns, row, r, results);
    } else {
      for (int64_t k = 0; k < results; k++) r[k] = fold(op, row + k * n, n);
    }
    if (a->negate.u.i) vm_binary_s(VM_multiply, r, -1.0f, r, results);
    stream_store(&out, results, r);
  }
  return true;
}

/* ---- tensor_tensor_scan ------------------------------------------------------------------------------------------ */
typedef struct Scan {
  VmScan job;
  Column initial;
} Scan;

static void scan_row(void *ctx, int64_t part, const float *const in[], float *out, int64_t n) {
  Scan *k = ctx;
  k->job.init = column_at(&k->initial, part);
  vm_scan(&k->job, in[0], in[1], out, n);
}

bool sim_tensor_tensor_scan(Sim *s, const Args_tensor_tensor_scan *a) {
  Acc x, y, dst;
  Scan k = {{alu_vm((Alu)a->op0.u.i), alu_vm((Alu)a->op1.u.i), a->reverse0.u.i != 0, a->reverse1.u.i != 0, 0.0f},
            {false, false, {0}}};
  if (!acc_src(s, a->data0.u.tile, &x) || !acc_src(s, a->data1.u.tile, &y) ||
      !column_load(s, &a->initial, 0, &k.initial) || !acc_dst(s, a->dst.u.tile, &dst))
    return false;
  return each(s, &(Each){&dst, {&x, &y}, 2, true, scan_row, &k, NULL});
}

/* ---- bn_stats, bn_aggr ------------------------------------------------------------------------------------------- */
/* count, mean and sum of squared deviations of x[0], x[2], x[4] ...; tmp has room for (n + 1) / 2. */
static void stats(const float *x, int64_t n, float *tmp, float out[3]) {
  int64_t m = 0;
  for (int64_t i = 0; i < n; i += 2) tmp[m++] = x[i];
  float mean = 0.0f, m2 = 0.0f;
  if (m > 0) {
    mean = vm_reduce(VR_add, tmp, m, 0.0f) / (float)m;
    vm_binary_s(VM_subtract, tmp, mean, tmp, m);
    m2 = vm_reduce(VR_sum_squares, tmp, m, 0.0f);
  }
  out[0] = (float)m;
  out[1] = mean;
  out[2] = m2;
}

bool sim_bn_stats(Sim *s, const Args_bn_stats *a) {
  Acc x, dst;
  if (!acc_src(s, a->data.u.tile, &x) || !acc_dst(s, a->dst.u.tile, &dst) || !acc_guard(s, SCR_SNAP0, &x, &dst, false))
    return false;
  float *tmp = scratch(s, SCR_TMP, (size_t)(x.free + 1) * sizeof(float));
  if (!tmp) return false;
  Stream out;
  stream_init(&out, &dst);
  for (int64_t p = 0; p < x.parts; p++) {
    const float *row = row_f32(s, SCR_SRC0, &x, p);
    if (!row) return false;
    float r[6];
    stats(row, x.free, tmp, r);
    stats(row + 1, x.free - 1, tmp, r + 3);
    stream_store(&out, 6, r);
  }
  return true;
}

bool sim_bn_aggr(Sim *s, const Args_bn_aggr *a) {
  Acc x, dst;
  if (!acc_src(s, a->data.u.tile, &x) || !acc_dst(s, a->dst.u.tile, &dst) || !acc_guard(s, SCR_SNAP0, &x, &dst, false))
    return false;
  Stream out;
  stream_init(&out, &dst);
  for (int64_t p = 0; p < x.parts; p++) {
    const float *t = row_f32(s, SCR_SRC0, &x, p);
    if (!t) return false;
    float count = 0.0f, sum = 0.0f, m2 = 0.0f;
    for (int64_t i = 0; i + 2 < x.free; i += 3) {
      count += t[i];
      sum += t[i] * t[i + 1];
    }
    float mean = vm_op(VM_divide, sum, count);
    for (int64_t i = 0; i + 2 < x.free; i += 3) {
      float d = t[i + 1] - mean;
      m2 += t[i + 2] + t[i] * (d * d);
    }
    float r[2] = {mean, vm_op(VM_divide, m2, count)};
    stream_store(&out, 2, r);
  }
  return true;
}
