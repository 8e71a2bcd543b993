/* gpsimd.c -- room sim: affine patterns and the reduction across partitions. */
#include <string.h>

#include "convert.h"
#include "exec.h"

/* ---- affine patterns --------------------------------------------------------------------------------------------- */
/* The free part of the pattern, without the partition's: offset + sum of index * step, wrapping in 32 bits. */
static uint32_t *affine_row(Sim *s, const IrVal *pattern, int64_t offset, int64_t n) {
  uint32_t *row = scratch(s, SCR_SRC1, (size_t)n * 4);
  if (!row) return NULL;
  int64_t have = 1;
  row[0] = (uint32_t)offset;
  for (uint32_t k = pattern->n; k-- > 0;) { /* fastest first: repeat what is there, a step further each time */
    uint32_t step = (uint32_t)pattern->u.ints[2 * k];
    int64_t num = pattern->u.ints[2 * k + 1];
    if (have * num > n) return NK_BUG(s->d, "a pattern is longer than its tile"), NULL;
    for (int64_t i = 1; i < num; i++)
      for (int64_t j = 0; j < have; j++) row[i * have + j] = row[j] + (uint32_t)i * step;
    have *= num;
  }
  if (have != n) return NK_BUG(s->d, "a pattern is shorter than its tile"), NULL;
  return row;
}

/* int32 values as elements of dst: 32-bit integers keep the bits, the rest goes through f32. */
static void store_ints(Stream *st, const uint32_t *v, int64_t n) {
  if (dtype_is_wide_int(st->dt)) {
    stream_write(st, n, v);
    return;
  }
  float block[256];
  for (int64_t i = 0; i < n; i += 256) {
    int64_t k = n - i < 256 ? n - i : 256;
    cvt_load(DT_int32, v + i, k, block);
    stream_store(st, k, block);
  }
}

bool sim_iota(Sim *s, const Args_iota *a) {
  Acc dst;
  if (!acc_dst(s, a->dst.u.tile, &dst)) return false;
  uint32_t *row = affine_row(s, &a->pattern, a->offset.u.i, dst.free);
  if (!row) return false;
  for (int64_t p = 0; p < dst.parts; p++) {
    Stream st;
    stream_row(&st, &dst, p);
    store_ints(&st, row, dst.free);
    for (int64_t i = 0; i < dst.free; i++) row[i] += (uint32_t)a->channel_multiplier.u.i;
  }
  return true;
}

#define WHERE_NOT(cmp) \
  for (int64_t i = 0; i < n; i++) out[i] = !((int32_t)row[i] cmp 0)

/* out[i]: does row[i] compare false with 0? */
static void affine_false(Alu op, const uint32_t *row, uint8_t *out, int64_t n) {
  switch ((int)op) {
    case ALU_equal:
      WHERE_NOT(==);
      break;
    case ALU_not_equal:
      WHERE_NOT(!=);
      break;
    case ALU_greater_equal:
      WHERE_NOT(>=);
      break;
    case ALU_greater:
      WHERE_NOT(>);
      break;
    case ALU_less_equal:
      WHERE_NOT(<=);
      break;
    default:
      WHERE_NOT(<);
  }
}

bool sim_affine_select(Sim *s, const Args_affine_select *a) {
  Acc x, dst;
  if (!acc_src(s, a->on_true_tile.u.tile, &x) || !acc_dst(s, a->dst.u.tile, &dst) ||
      !acc_guard(s, SCR_SNAP0, &x, &dst, true))
    return false;
  uint32_t *row = affine_row(s, &a->pattern, a->offset.u.i, dst.free);
  char *vals = scratch(s, SCR_SRC0, (size_t)dst.free * 4);
  uint8_t *other_at = scratch(s, SCR_TMP, (size_t)dst.free);
  if (!row || !vals || !other_at) return false;
  bool raw = x.dt == dst.dt; /* bits as they are, else through f32 */
  float other_f = (float)a->on_false_value.u.num;
  _Alignas(4) char other[4] = {0};
  if (raw) {
    elem_of(dst.dt, a->on_false_value.u.num, other);
  } else {
    memcpy(other, &other_f, 4);
  }
  const Take take = {other_at, other, true, raw ? dst.bytes : 4};
  for (int64_t p = 0; p < dst.parts; p++) {
    Stream in, out;
    stream_row(&in, &x, p);
    stream_row(&out, &dst, p);
    affine_false((Alu)a->cmp_op.u.i, row, other_at, dst.free);
    if (raw) {
      stream_read(&in, dst.free, vals);
      take_elems(&take, vals, dst.free);
      stream_write(&out, dst.free, vals);
    } else {
      stream_load(&in, dst.free, (float *)(void *)vals);
      take_elems(&take, vals, dst.free);
      stream_store(&out, dst.free, (const float *)(const void *)vals);
    }
    for (int64_t i = 0; i < dst.free; i++) row[i] += (uint32_t)a->channel_multiplier.u.i;
  }
  return true;
}

/* ---- tensor_partition_reduce ------------------------------------------------------------------------------------- */
static bool partition_bits(Sim *s, Alu op, const Acc *x, Acc *dst) {
  size_t size = (size_t)(x->free * x->bytes);
  char *acc = scratch(s, SCR_DST, size), *row = scratch(s, SCR_SRC0, size);
  if (!acc || !row) return false;
  for (int64_t p = 0; p < x->parts; p++) {
    Stream in;
    stream_row(&in, x, p);
    stream_read(&in, x->free, p ? row : acc);
    if (p) vm_bits(&(VmBits){alu_bit(op), x->bytes, {acc, false}, {row, false}}, acc, x->free);
  }
  Stream out;
  stream_init(&out, dst);
  stream_write(&out, x->free, acc);
  return true;
}

bool sim_tensor_partition_reduce(Sim *s, const Args_tensor_partition_reduce *a) {
  Acc x, dst;
  Alu op = (Alu)a->op.u.i;
  if (!acc_src(s, a->data.u.tile, &x) || !acc_dst(s, a->dst.u.tile, &dst) || !acc_guard(s, SCR_SNAP0, &x, &dst, false))
    return false;
  if (acc_count(&dst) != x.free) return NK_BUG(s->d, "tensor_partition_reduce: counts do not match");
  if (alu_info[op].cls == AC_BITVEC) return partition_bits(s, op, &x, &dst);
  float *acc = scratch(s, SCR_DST, (size_t)x.free * sizeof(float));
  if (!acc) return false;
  VmOp each_op = op == ALU_maximum ? VM_maximum : VM_add;
  for (int64_t p = 0; p < x.parts; p++) {
    const float *row = row_f32(s, SCR_SRC0, &x, p);
    if (!row) return false;
    if (p == 0) {
      memcpy(acc, row, (size_t)x.free * sizeof(float));
    } else {
      vm_binary(each_op, acc, row, acc, x.free);
    }
  }
  if (op == ALU_average) vm_binary_s(VM_divide, acc, (float)x.parts, acc, x.free);
  Stream out;
  stream_init(&out, &dst);
  stream_store(&out, x.free, acc);
  return true;
}
