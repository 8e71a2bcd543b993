/* vector.c -- room sim: element-wise instructions of the Vector engine (and those it shares with GpSimd and Scalar). */
#include <string.h>

#include "convert.h"
#include "exec.h"

static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- tensor_tensor ----------------------------------------------------------------------------------------------- */
typedef struct Binary {
  VmOp op;
  float col[LANES]; /* the second operand when it is one value per partition */
} Binary;

static void binary_piece(void *ctx, int64_t part, const float *const in[], float *out, int64_t n) {
  (void)part;
  vm_binary(((const Binary *)ctx)->op, in[0], in[1], out, n);
}

static void binary_row(void *ctx, int64_t part, const float *const in[], float *out, int64_t n) {
  const Binary *b = ctx;
  vm_binary_s(b->op, in[0], b->col[part], out, n);
}

static void bits_piece(void *ctx, const void *const in[], void *out, int64_t n) {
  VmBits *job = ctx;
  job->a = (VmIn){in[0], false};
  job->b = (VmIn){in[1], false};
  vm_bits(job, out, n);
}

static void ints_piece(void *ctx, const void *const in[], void *out, int64_t n) {
  VmInts *job = ctx;
  job->a = (VmIn){in[0], false};
  job->b = (VmIn){in[1], false};
  vm_ints(job, out, n);
}

/* GpSimd has true integer arithmetic for 32-bit integers; what vmath lists is done so. */
static bool int_op(Alu op, VmInt *out) {
  static const int8_t map[ALU_count] = {[ALU_add] = VI_add + 1,
                                        [ALU_subtract] = VI_subtract + 1,
                                        [ALU_multiply] = VI_multiply + 1,
                                        [ALU_maximum] = VI_maximum + 1,
                                        [ALU_minimum] = VI_minimum + 1,
                                        [ALU_equal] = VI_equal + 1,
                                        [ALU_not_equal] = VI_not_equal + 1,
                                        [ALU_greater_equal] = VI_greater_equal + 1,
                                        [ALU_greater] = VI_greater + 1,
                                        [ALU_less_equal] = VI_less_equal + 1,
                                        [ALU_less] = VI_less + 1};
  *out = (VmInt)(map[op] - 1);
  return map[op] != 0;
}

static bool use_ints(Sim *s, Alu op, const Acc *a, const Acc *b) {
  VmInt unused;
  return a->dt == b->dt && dtype_is_wide_int(a->dt) && int_op(op, &unused) && ir_engine(s->f, s->ins) == engine_gpsimd;
}

/* Exact integers of 32 bits, then to the destination: 32-bit ones keep the bits, others convert the value. */
static bool tensor_ints(Sim *s, Alu op, Acc *src[2], Acc *dst) {
  VmInts job = {.is_signed = src[0]->dt == DT_int32};
  int_op(op, &job.op);
  if (dtype_is_wide_int(dst->dt)) return each_raw(s, &(Raws){dst, {src[0], src[1]}, 2, ints_piece, &job});
  int64_t n = acc_count(dst);
  uint32_t *wide = scratch(s, SCR_TMP, (size_t)n * 4);
  if (!wide) return false;
  Acc whole = {.dt = src[0]->dt, .bytes = 4, .p = (char *)wide, .parts = 1, .free = n, .nf = 1, .f = {{1, n}}};
  whole.lo = whole.p;
  whole.hi = whole.p + n * 4;
  if (!each_raw(s, &(Raws){&whole, {src[0], src[1]}, 2, ints_piece, &job})) return false;
  Stream st;
  stream_init(&st, dst);
  float block[256];
  for (int64_t i = 0; i < n; i += 256) {
    cvt_load(whole.dt, wide + i, least(256, n - i), block);
    stream_store(&st, least(256, n - i), block);
  }
  return true;
}

/* One value per partition, repeated along the free elements. */
static bool repeated(const Acc *a) { return a->nf == 1 && a->f[0].stride == 0 && a->parts <= LANES; }

bool sim_tensor_tensor(Sim *s, const Args_tensor_tensor *a) {
  Acc x, y, dst;
  Alu op = (Alu)a->op.u.i;
  if (!acc_src(s, a->data1.u.tile, &x) || !acc_src(s, a->data2.u.tile, &y) || !acc_dst(s, a->dst.u.tile, &dst))
    return false;
  if (alu_info[op].cls == AC_BITVEC) {
    VmBits job = {.op = alu_bit(op), .bytes = dst.bytes};
    return each_raw(s, &(Raws){&dst, {&x, &y}, 2, bits_piece, &job});
  }
  if (use_ints(s, op, &x, &y)) return tensor_ints(s, op, (Acc *[]){&x, &y}, &dst);
  Binary b;
  b.op = alu_vm(op);
  if (!repeated(&y)) return each(s, &(Each){&dst, {&x, &y}, 2, false, binary_piece, &b, NULL});
  y.free = 1;
  y.nf = 0;
  Stream st;
  stream_init(&st, &y);
  stream_load(&st, y.parts, b.col);
  return each(s, &(Each){&dst, {&x}, 1, true, binary_row, &b, NULL});
}

/* ---- tensor_scalar ----------------------------------------------------------------------------------------------- */
typedef struct Steps {
  Scalar1 op[2];
  int n;
  Column v[2];
} Steps;

static void steps_row(void *ctx, int64_t part, const float *const in[], float *out, int64_t n) {
  const Steps *k = ctx;
  float v0 = column_at(&k->v[0], part), v1 = column_at(&k->v[1], part);
  if (k->n == 1) {
    scalar_step(&k->op[0], v0, in[0], out, n);
    return;
  }
  for (int64_t i = 0; i < n; i += BLOCK) {
    int64_t m = least(BLOCK, n - i);
    scalar_step(&k->op[0], v0, in[0] + i, out + i, m);
    scalar_step(&k->op[1], v1, out + i, out + i, m);
  }
}

static void steps_columns(void *ctx, int64_t part, const float *const in[], float *out, int64_t n) {
  (void)part;
  const Steps *k = ctx;
  column_step(&k->op[0], &k->v[0], in[0], out, n);
  if (k->n == 2) column_step(&k->op[1], &k->v[1], out, out, n);
}

Scalar1 scalar_of(const IrVal *op, const IrVal *reverse) {
  Alu alu = (Alu)op->u.i;
  return (Scalar1){alu, alu_info[alu].arity == 1, reverse->u.i != 0};
}

/* A bit operand as an unsigned integer per partition. */
static bool bit_column(Sim *s, const IrVal *v, uint32_t out[LANES], bool *tile) {
  *tile = v->kind == V_TILE;
  out[0] = v->kind == V_NUM ? (uint32_t)(int64_t)v->u.num : v->kind == V_INT ? (uint32_t)v->u.i : 0;
  if (!*tile) return true;
  Acc a;
  if (!acc_src(s, v->u.tile, &a)) return false;
  if (acc_count(&a) > LANES) return NK_BUG(s->d, "a column has more than 128 elements");
  Stream st;
  stream_init(&st, &a);
  for (int64_t k = 0; k < acc_count(&a); k++) {
    uint32_t raw = 0;
    float f;
    if (dtype_is_int(a.dt)) {
      stream_read(&st, 1, &raw);
      out[k] = (uint32_t)elem_int(a.dt, &raw);
    } else {
      stream_load(&st, 1, &f);
      cvt_store(DT_int32, &f, 1, &out[k]);
    }
  }
  return true;
}

static bool scalar_bits(Sim *s, const Args_tensor_scalar *a, Acc *x) {
  uint32_t v[2][LANES];
  bool tile[2];
  Acc dst;
  int steps = a->op1.kind == V_NONE ? 1 : 2;
  if (!bit_column(s, &a->operand0, v[0], &tile[0]) || !bit_column(s, &a->operand1, v[1], &tile[1]) ||
      !acc_dst(s, a->dst.u.tile, &dst) || !acc_guard(s, SCR_SNAP0, x, &dst, true))
    return false;
  const Scalar1 op[2] = {scalar_of(&a->op0, &a->reverse0), scalar_of(steps == 2 ? &a->op1 : &a->op0, &a->reverse1)};
  char *row = scratch(s, SCR_SRC0, (size_t)(x->free * x->bytes));
  if (!row) return false;
  for (int64_t p = 0; p < dst.parts; p++) {
    Stream in, out;
    stream_row(&in, x, p);
    stream_row(&out, &dst, p);
    stream_read(&in, x->free, row);
    for (int k = 0; k < steps; k++) {
      VmIn data = {row, false}, operand = {&v[k][tile[k] ? p : 0], true};
      VmBits job = {alu_bit(op[k].op), dst.bytes, op[k].reverse ? operand : data, op[k].reverse ? data : operand};
      vm_bits(&job, row, x->free);
    }
    stream_write(&out, dst.free, row);
  }
  return true;
}

bool sim_tensor_scalar(Sim *s, const Args_tensor_scalar *a) {
  Acc x, dst;
  if (!acc_src(s, a->data.u.tile, &x)) return false;
  if (alu_info[a->op0.u.i].cls == AC_BITVEC) return scalar_bits(s, a, &x);
  Steps k;
  k.n = a->op1.kind == V_NONE ? 1 : 2;
  k.op[0] = scalar_of(&a->op0, &a->reverse0);
  if (k.n == 2) k.op[1] = scalar_of(&a->op1, &a->reverse1);
  if (!column_load(s, &a->operand0, 0, &k.v[0]) || !column_load(s, &a->operand1, 0, &k.v[1]) ||
      !acc_dst(s, a->dst.u.tile, &dst))
    return false;
  return each(s, &(Each){&dst, {&x}, 1, k.v[0].tile || k.v[1].tile, steps_row, &k, steps_columns});
}

/* ---- scalar_tensor_tensor ---------------------------------------------------------------------------------------- */
static void stt_row(void *ctx, int64_t part, const float *const in[], float *out, int64_t n) {
  const Steps *k = ctx;
  VmOp op1 = alu_vm(k->op[1].op);
  float t[512]; /* out may be the second operand itself */
  for (int64_t i = 0; i < n; i += 512) {
    int64_t m = least(512, n - i);
    scalar_step(&k->op[0], column_at(&k->v[0], part), in[0] + i, t, m);
    vm_binary(op1, k->op[1].reverse ? in[1] + i : t, k->op[1].reverse ? t : in[1] + i, out + i, m);
  }
}

static void stt_columns(void *ctx, int64_t part, const float *const in[], float *out, int64_t n) {
  (void)part;
  const Steps *k = ctx;
  float t[LANES];
  column_step(&k->op[0], &k->v[0], in[0], t, n);
  vm_binary(alu_vm(k->op[1].op), k->op[1].reverse ? in[1] : t, k->op[1].reverse ? t : in[1], out, n);
}

bool sim_scalar_tensor_tensor(Sim *s, const Args_scalar_tensor_tensor *a) {
  Acc x, y, dst;
  Steps k;
  k.n = 2;
  k.op[0] = scalar_of(&a->op0, &a->reverse0);
  k.op[1] = scalar_of(&a->op1, &a->reverse1);
  if (!acc_src(s, a->data.u.tile, &x) || !column_load(s, &a->operand0, 0, &k.v[0]) ||
      !acc_src(s, a->operand1.u.tile, &y) || !acc_dst(s, a->dst.u.tile, &dst))
    return false;
  return each(s, &(Each){&dst, {&x, &y}, 2, k.v[0].tile, stt_row, &k, stt_columns});
}

/* ---- reciprocal, tensor_copy, memset ----------------------------------------------------------------------------- */
static void reciprocal_piece(void *ctx, int64_t part, const float *const in[], float *out, int64_t n) {
  (void)ctx, (void)part;
  vm_unary(VM_reciprocal, in[0], out, n);
}

bool sim_reciprocal(Sim *s, const Args_reciprocal *a) {
  Acc x, dst;
  if (!acc_src(s, a->data.u.tile, &x) || !acc_dst(s, a->dst.u.tile, &dst)) return false;
  return each(s, &(Each){&dst, {&x}, 1, false, reciprocal_piece, NULL, NULL});
}

bool sim_tensor_copy(Sim *s, const Args_tensor_copy *a) {
  Acc src, dst;
  if (!acc_src(s, a->src.u.tile, &src) || !acc_dst(s, a->dst.u.tile, &dst)) return false;
  return acc_guard(s, SCR_SNAP0, &src, &dst, true) && copy_tile(s, &dst, &src);
}

bool sim_memset(Sim *s, const Args_memset *a) {
  Acc dst;
  if (!acc_dst(s, a->dst.u.tile, &dst)) return false;
  double v = a->value.kind == V_NUM ? a->value.u.num : (double)a->value.u.i;
  _Alignas(4) char elem[4] = {0};
  char *block = scratch(s, SCR_DST, BLOCK * 4);
  if (!block) return false;
  elem_of(dst.dt, v, elem);
  for (int k = 0; k < BLOCK; k++) memcpy(block + k * dst.bytes, elem, (size_t)dst.bytes);
  Stream st;
  stream_init(&st, &dst);
  for (int64_t left = acc_count(&dst); left > 0; left -= BLOCK) stream_write(&st, least(left, BLOCK), block);
  return true;
}
