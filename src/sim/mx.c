/* mx.c -- room sim: numbers that share a power-of-two scale: 8 partitions by 4 elements, one container per partition.
 */
#include <math.h>
#include <string.h>

#include "convert.h"
#include "exec.h"

/* 2^(byte - 127), byte below 255. */
static float scale_value(uint8_t byte) {
  uint32_t bits = byte ? (uint32_t)byte << 23 : 1u << 22;
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* The scale's byte, 2^(byte - 127): 2^(floor(log2 amax) - (emax - 1)). *exponent: of the scale the group is divided by.
 */
static uint8_t scale_of(float amax, bool finite, int emax, int *exponent) {
  *exponent = 0;
  if (!finite) return 0xff;
  int e = -127;
  if (amax > 0) {
    (void)frexpf(amax, &e); /* amax in [2^(e-1), 2^e) */
    e -= emax;
  }
  *exponent = e < -127 ? -127 : e;
  return (uint8_t)(*exponent + 127);
}

/* Scales one group in place; v: its first element, in rows of n. */
static uint8_t scale_group(float *v, int64_t n, int emax) {
  float amax = 0;
  bool finite = true;
  int e;
  for (int64_t k = 0; k < 32; k++) {
    float x = fabsf(v[k / 4 * n + k % 4]);
    finite &= isfinite(x) != 0;
    if (x > amax) amax = x;
  }
  uint8_t byte = scale_of(amax, finite, emax, &e);
  const float by = scale_value((uint8_t)(127 - e)); /* e is -127..120: a product with a power of two rounds once */
  for (int64_t k = 0; k < 32; k++) v[k / 4 * n + k % 4] *= by;
  return byte;
}

bool sim_quantize_mx(Sim *s, const Args_quantize_mx *a) {
  Acc x, dst, sc;
  if (!acc_src(s, a->src.u.tile, &x) || !acc_dst(s, a->dst.u.tile, &dst) || !acc_inout(s, a->dst_scale.u.tile, &sc))
    return false;
  int emax = dst.dt == DT_float8_e4m3fn_x4 ? 8 : 15;
  float *v = scratch(s, SCR_SRC0, (size_t)acc_count(&x) * sizeof(float));
  char *row = scratch(s, SCR_DST, (size_t)(dst.free * dst.bytes));
  uint8_t *bytes = scratch(s, SCR_TMP, (size_t)dst.free);
  if (!v || !row || !bytes) return false;
  Stream st;
  stream_init(&st, &x);
  stream_load(&st, acc_count(&x), v);
  for (int64_t p = 0; p < x.parts; p += 8) {
    for (int64_t m = 0; m < dst.free; m++) bytes[m] = scale_group(v + p * x.free + 4 * m, x.free, emax);
    Acc part = acc_part(&sc, mx_scale_row(p));
    acc_mark(&part);
    stream_row(&st, &part, 0);
    stream_write(&st, dst.free, bytes);
  }
  for (int64_t p = 0; p < x.parts; p++) {
    cvt_pack(dst.dt, v + p * x.free, dst.free, row);
    stream_row(&st, &dst, p);
    stream_write(&st, dst.free, row);
  }
  return true;
}

/* Partition p of data as four rows of n = data->free numbers times their scales. */
static bool unpack_part(Sim *s, const Acc *data, const Acc *scale, int64_t p, float *out) {
  int64_t n = data->free;
  float *v = scratch(s, SCR_SNAP0, (size_t)n * 4 * sizeof(float));
  char *raw = scratch(s, SCR_SNAP1, (size_t)(n * data->bytes));
  uint8_t *bytes = scratch(s, SCR_SNAP2, (size_t)n);
  if (!v || !raw || !bytes) return false;
  Stream st;
  stream_row(&st, data, p);
  stream_read(&st, n, raw);
  cvt_unpack(data->dt, raw, n, v);
  Acc part = acc_part(scale, mx_scale_row(p));
  stream_row(&st, &part, 0);
  stream_read(&st, n, bytes);
  for (int64_t m = 0; m < n; m++) {
    float x = bytes[m] == 0xff ? NAN : scale_value(bytes[m]);
    for (int64_t q = 0; q < 4; q++) out[q * n + m] = vm_op(VM_multiply, v[4 * m + q], x);
  }
  return true;
}

float *mx_unpack(Sim *s, int slot, const IrTile *data, const IrTile *scale) {
  Acc x, sc;
  if (!acc_src(s, data, &x) || !acc_inout(s, scale, &sc)) return NULL;
  float *out = scratch(s, slot, (size_t)acc_count(&x) * 4 * sizeof(float));
  for (int64_t p = 0; out && p < x.parts; p++) {
    Acc part = acc_part(&sc, mx_scale_row(p));
    if (p % 8 == 0 && !acc_check(s, &part)) return NULL;
    if (!unpack_part(s, &x, &sc, p, out + p * 4 * x.free)) return NULL;
  }
  return out;
}
