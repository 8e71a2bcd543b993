/* convert_test.c -- spec/sim: conversions against NumPy's and ml_dtypes' checksums, against a slow reference, and at
 * the edges.
 */
#include "convert.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the above first */
#include <cmocka.h>

#include "vmath_isa.h"

static const char *const isa_names[] = {"generic", "avx2", "avx512"};

static float of(uint32_t u) {
  float x;
  memcpy(&x, &u, 4);
  return x;
}
static uint32_t bits(float x) {
  uint32_t u;
  memcpy(&u, &x, 4);
  return u;
}
static uint32_t code_at(const void *p, int bytes, int64_t i) {
  if (bytes == 1) return ((const uint8_t *)p)[i];
  if (bytes == 2) return ((const uint16_t *)p)[i];
  return ((const uint32_t *)p)[i];
}
static uint64_t weight(uint64_t i) { return (i * 0x9E3779B97F4A7C15u) | 1; }

/* ---- the sample of spec/oracles/convert.py ---- */
enum { UPPER = 1 << 16, LOWS = 48, WHOLE = (1 << 18) + 5, ENDS = 7, NEAR = WHOLE + ENDS };
enum { SAMPLE = LOWS * UPPER + 3 * NEAR };
/* Every integer and half up to 2^16, then where 32-bit integers end or lose their halves. */
static float point(int64_t i) {
  static const float ends[ENDS] = {0x1p31f, -0x1p31f, 0x1p32f, 0x1p24f, 0x1p23f, -0x1p23f, 0x1p22f + 0.5f};
  return i < WHOLE ? (float)(i - (1 << 17) - 2) / 2 : ends[i - WHOLE];
}
static float *sample(void) {
  static const uint32_t tail[6] = {0, 1, 0xfff, 0x1000, 0x1001, 0x1fff};
  float *x = malloc(SAMPLE * sizeof *x);
  assert_non_null(x);
  for (uint32_t l = 0; l < LOWS; l++)
    for (uint32_t i = 0; i < UPPER; i++) x[l * UPPER + i] = of(i << 16 | l / 6 << 13 | tail[l % 6]);
  for (int64_t d = 0; d < 3; d++)
    for (int64_t i = 0; i < NEAR; i++) x[LOWS * UPPER + d * NEAR + i] = of(bits(point(i)) + (uint32_t)d - 1);
  return x;
}
typedef struct Sums {
  DType dtype;
  uint64_t stored, loaded;
} Sums;
#define SUM(dtype, stored, loaded) {DT_##dtype, stored, loaded},
#define PAIR(from, to, sum)
static const Sums sums[] = {
#include "convert_sums.inc"
};
#undef SUM
#undef PAIR
typedef struct Pair {
  DType from, to;
  uint64_t sum;
} Pair;
#define SUM(dtype, stored, loaded)
#define PAIR(from, to, sum) {DT_##from, DT_##to, sum},
static const Pair pairs[] = {
#include "convert_sums.inc"
};
static int width(DType t) {
  if (t == DT_int32 || t == DT_uint32 || t == DT_float32 || t == DT_tfloat32) return 4;
  return t == DT_float16 || t == DT_bfloat16 || t == DT_int16 || t == DT_uint16 ? 2 : 1;
}

/* What one number of a packed type is. */
static DType element(DType t) {
  return t == DT_float8_e5m2_x4 ? DT_float8_e5m2 : t == DT_float8_e4m3fn_x4 ? DT_float8_e4m3fn : t;
}

/* All codes of a type of one or two bytes. */
static int64_t all_codes(int bytes, uint16_t out[65536]) {
  for (int64_t i = 0; i < 65536; i++) {
    if (bytes == 2) out[i] = (uint16_t)i;
    if (bytes == 1 && i < 256) ((uint8_t *)out)[i] = (uint8_t)i;
  }
  return bytes == 2 ? 65536 : 256;
}

static uint64_t stored_sum(const VmIsa *isa, DType t, const float *x, uint32_t *out) {
  uint64_t sum = 0;
  if (t == DT_float4_e2m1fn_x4) {
    isa->store_fp4(x, SAMPLE, out);
    for (int64_t i = 0; i < SAMPLE; i++)
      sum += ((((uint8_t *)out)[i / 2] >> (i % 2 * 4) & 15u) + 1) * weight((uint64_t)i);
    return sum;
  }
  isa->store[element(t)](x, SAMPLE, out);
  for (int64_t i = 0; i < SAMPLE; i++) sum += ((uint64_t)code_at(out, width(t), i) + 1) * weight((uint64_t)i);
  return sum;
}
static uint64_t loaded_sum(const VmIsa *isa, DType t, const float *x, float *out) {
  int bytes = width(t);
  int64_t n = bytes == 4 ? SAMPLE : bytes == 2 ? 65536 : 256;
  uint64_t sum = 0;
  if (t == DT_float4_e2m1fn_x4) {
    static const uint8_t codes[8] = {0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe};
    isa->load_fp4(codes, n = 16, out);
  } else if (bytes == 4) {
    isa->load[t](x, n, out);
  } else {
    uint16_t code[65536];
    isa->load[element(t)](code, all_codes(bytes, code), out);
  }
  for (int64_t i = 0; i < n; i++) sum += ((uint64_t)bits(out[i]) + 1) * weight((uint64_t)i);
  return sum;
}

static void same_as_numpy(void **state) {
  (void)state;
  float *x = sample(), *out = malloc(SAMPLE * sizeof *out);
  assert_non_null(out);
  for (size_t k = 0; k < sizeof isa_names / sizeof *isa_names; k++) {
    const VmIsa *isa = vm_isa_named(isa_names[k]);
    for (size_t i = 0; isa && i < sizeof sums / sizeof *sums; i++) {
      uint64_t stored = stored_sum(isa, sums[i].dtype, x, (uint32_t *)out),
               loaded = loaded_sum(isa, sums[i].dtype, x, out);
      if (stored != sums[i].stored || loaded != sums[i].loaded)
        fail_msg("%s, row %zu: stored 0x%016llx, loaded 0x%016llx", isa->name, i, (unsigned long long)stored,
                 (unsigned long long)loaded);
    }
  }
  free(x);
  free(out);
}

/* Every code of 8 and 16 bits as every other type, through f32. */
static void pairs_as_numpy(void **state) {
  (void)state;
  static uint16_t code[65536];
  static float wide[65536];
  static uint32_t out[65536];
  for (size_t k = 0; k < sizeof isa_names / sizeof *isa_names; k++) {
    const VmIsa *isa = vm_isa_named(isa_names[k]);
    for (size_t i = 0; isa && i < sizeof pairs / sizeof *pairs; i++) {
      const Pair *p = &pairs[i];
      int64_t n = all_codes(width(p->from), code);
      uint64_t sum = 0;
      isa->load[p->from](code, n, wide);
      isa->store[p->to](wide, n, out);
      for (int64_t c = 0; c < n; c++) sum += ((uint64_t)code_at(out, width(p->to), c) + 1) * weight((uint64_t)c);
      if (sum != p->sum) fail_msg("%s, pair %zu: 0x%016llx", isa->name, i, (unsigned long long)sum);
    }
  }
}

/* ---- the slow reference: the nearest of all values of a format, from the format's definition ---- */
typedef struct Format {
  DType dtype;
  int e, m;
  int codes; /* finite codes without sign: 0 .. codes - 1; the next one counts as the value overflow goes to */
  uint32_t over, nan;
} Format;
static const Format formats[] = {
    {DT_float16, 5, 10, 0x7c00, 0x7c00, 0x7e00}, {DT_bfloat16, 8, 7, 0x7f80, 0x7f80, 0x7fc0},
    {DT_float8_e4m3, 4, 3, 0x78, 0x78, 0x7c},    {DT_float8_e5m2, 5, 2, 0x7c, 0x7c, 0x7e},
    {DT_float8_e4m3fn, 4, 3, 0x7f, 0x7f, 0x7f},
};
static double value_of(const Format *f, int code) {
  int bias = (1 << (f->e - 1)) - 1, e = code >> f->m, m = code & ((1 << f->m) - 1);
  return e ? ldexp((1 << f->m) + m, e - bias - f->m) : ldexp(m, 1 - bias - f->m);
}
/* Bisection for the code at or below |x|, then the nearer neighbour, the even one on a tie. */
static uint32_t slow_code(const Format *f, float x) {
  uint32_t sign = bits(x) >> 31 << (f->e + f->m);
  if (isnan(x)) return sign | f->nan;
  double a = fabs((double)x);
  if (isinf(x)) return sign | f->over;
  int lo = 0, hi = f->codes;
  while (hi - lo > 1) {
    int mid = (lo + hi) / 2;
    *(value_of(f, mid) <= a ? &lo : &hi) = mid;
  }
  double below = a - value_of(f, lo), above = value_of(f, lo + 1) - a;
  int code = below < above || (below == above && lo % 2 == 0) ? lo : lo + 1;
  return sign | (code >= f->codes ? f->over : (uint32_t)code);
}
static void check_format(const VmIsa *isa, const Format *f, const float *x, int64_t n) {
  uint16_t out[4096];
  isa->store[f->dtype](x, n, out);
  for (int64_t i = 0; i < n; i++) {
    uint32_t want = slow_code(f, x[i]), got = code_at(out, width(f->dtype), i);
    if (got != want)
      fail_msg("%s, format %d: %a (0x%08x) gave 0x%x, want 0x%x", isa->name, f->dtype, (double)x[i], bits(x[i]), got,
               want);
  }
}
/* Every value, every midpoint, and what lies next to them; then a walk over all of f32. */
static void nearest_even(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof isa_names / sizeof *isa_names; k++) {
    const VmIsa *isa = vm_isa_named(isa_names[k]);
    for (size_t j = 0; isa && j < sizeof formats / sizeof *formats; j++) {
      const Format *f = &formats[j];
      for (int code = 0; code < f->codes; code++) {
        double v = value_of(f, code), mid = (v + value_of(f, code + 1)) / 2;
        float near[12], points[2] = {(float)v, (float)mid};
        for (int p = 0; p < 2; p++)
          for (int d = 0; d < 3; d++) {
            near[p * 6 + d] = of(bits(points[p]) + (uint32_t)d - (points[p] > 0));
            near[p * 6 + d + 3] = -near[p * 6 + d];
          }
        check_format(isa, f, near, 12);
      }
      float x[4096];
      for (uint32_t u = 0, i = 0; i < 16 * 4096; i++, u += 0x10003 + (i & 0xfff)) {
        x[i % 4096] = isnan(of(u)) ? of(0x7fc00000) : of(u);
        if (i % 4096 == 4095) check_format(isa, f, x, 4096);
      }
    }
  }
}

/* ---- literal edges ---- */
typedef struct Edge {
  DType dtype;
  uint32_t from, to;
} Edge;
static const Edge edges[] = {
    {DT_float8_e4m3, 0x43700000, 0x77}, /* 240, the largest */
    {DT_float8_e4m3, 0x43780000, 0x78}, /* 248: tie, to inf */
    {DT_float8_e4m3, 0x4377ffff, 0x77},
    {DT_float8_e4m3, 0xff7fffff, 0xf8},
    {DT_float8_e4m3, 0x7f800001, 0x7c},
    {DT_float8_e4m3, 0xffc00000, 0xfc},
    {DT_float8_e4m3fn, 0x43e00000, 0x7e}, /* 448, the largest */
    {DT_float8_e4m3fn, 0x43e80000, 0x7e}, /* 464: tie, stays */
    {DT_float8_e4m3fn, 0x43e80001, 0x7f},
    {DT_float8_e4m3fn, 0xff800000, 0xff},
    {DT_float8_e5m2, 0x47600000, 0x7b}, /* 57344 */
    {DT_float8_e5m2, 0x47700000, 0x7c},
    {DT_float16, 0x477fefff, 0x7bff},
    {DT_float16, 0x477ff000, 0x7c00},
    {DT_float16, 0xff7fffff, 0xfc00},
    {DT_float16, 0x33000000, 0x0000}, /* 2^-25: half the smallest, to even */
    {DT_float16, 0x33000001, 0x0001},
    {DT_float16, 0x7fc12345, 0x7e09},
    {DT_float16, 0x7f800001, 0x7c01},
    {DT_float16, 0x80000000, 0x8000},
    {DT_bfloat16, 0x7f7fffff, 0x7f80},
    {DT_bfloat16, 0xff7fffff, 0xff80},
    {DT_bfloat16, 0x00008000, 0x0000},
    {DT_bfloat16, 0x00008001, 0x0001},
    {DT_bfloat16, 0x00018000, 0x0002},
    {DT_bfloat16, 0xffc12345, 0xffc0},
    {DT_tfloat32, 0x3f801000, 0x3f800000},
    {DT_tfloat32, 0x3f803000, 0x3f804000},
    {DT_tfloat32, 0x7f7fffff, 0x7f800000},
    {DT_tfloat32, 0x7f800001, 0x7fc00000},
    {DT_tfloat32, 0xffc12345, 0xffc00000},
    {DT_tfloat32, 0x00001001, 0x00002000},
    {DT_float8_e8m0fnu, 0x3f800000, 0x7f},
    {DT_float8_e8m0fnu, 0x3fc00000, 0x80},
    {DT_float8_e8m0fnu, 0x3fbfffff, 0x7f},
    {DT_float8_e8m0fnu, 0x00000000, 0xff},
    {DT_float8_e8m0fnu, 0xbf800000, 0xff},
    {DT_float8_e8m0fnu, 0x7f400000, 0xff},
    {DT_float8_e8m0fnu, 0x00400000, 0x00},
    {DT_float8_e8m0fnu, 0x00400001, 0x01},
    {DT_uint8, 0x3f000000, 0}, /* 0.5, 1.5, 2.5 */
    {DT_uint8, 0x3fc00000, 2},
    {DT_uint8, 0x40200000, 2},
    {DT_uint8, 0x437f8000, 255},
    {DT_uint8, 0xbf800000, 0},
    {DT_uint8, 0x7f800000, 255},
    {DT_uint8, 0x7fc00000, 0},
    {DT_int8, 0xc3008000, 0x80},
    {DT_int8, 0xff800000, 0x80},
    {DT_int8, 0xc2ff0000, 0x80}, /* -127.5 */
    {DT_int8, 0x42ff0000, 127},
    {DT_int16, 0x46ffff00, 0x7fff},
    {DT_uint16, 0x477fff80, 0xffff},
    {DT_int32, 0x4f000000, 0x7fffffff},
    {DT_int32, 0x4effffff, 0x7fffff80},
    {DT_int32, 0xcf000000, 0x80000000},
    {DT_int32, 0xff800000, 0x80000000},
    {DT_int32, 0xffc00000, 0},
    {DT_int32, 0x4b000001, 0x800001},
    {DT_int32, 0xcafffffe, 0xff800001}, /* -8388607 */
    {DT_uint32, 0x4f800000, 0xffffffff},
    {DT_uint32, 0x4f7fffff, 0xffffff00},
    {DT_uint32, 0x4f000000, 0x80000000},
    {DT_uint32, 0xcf000000, 0},
    {DT_bool_, 0x7fc00000, 1},
    {DT_bool_, 0x80000000, 0},
    {DT_bool_, 0x00000001, 1},
    {DT_float32, 0x7f800001, 0x7f800001},
};
static void literal_edges(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
    uint32_t out = 0;
    float x = of(edges[i].from);
    cvt_store(edges[i].dtype, &x, 1, &out);
    if (out != edges[i].to) fail_msg("edge %zu: 0x%08x gave 0x%x, want 0x%x", i, edges[i].from, out, edges[i].to);
  }
}

/* Rounding of 32-bit integers on load, and truth values stored by others. */
static void loads(void **state) {
  (void)state;
  const uint32_t u[4] = {0xffffffff, 0x01000001, 0x01000003, 0x80000080};
  const uint8_t truth[2] = {2, 0};
  float x[4];
  cvt_load(DT_uint32, u, 4, x);
  assert_true(x[0] == 0x1p32f && x[1] == 0x1p24f && x[2] == 0x1.000004p24f && x[3] == 0x1p31f);
  cvt_load(DT_int32, u, 4, x);
  assert_true(x[0] == -1.0f && x[1] == 0x1p24f && x[3] == -0x1p31f + 128);
  cvt_load(DT_bool_, truth, 2, x);
  assert_true(x[0] == 1.0f && x[1] == 0.0f);
}

/* The last element and nothing behind it, at every length and shift; strides backward, zero and long. */
static void lengths_and_strides(void **state) {
  (void)state;
  static const DType some[] = {DT_float32, DT_bfloat16, DT_float8_e5m2, DT_int16, DT_uint8};
  float x[1300], y[1300];
  for (int i = 0; i < 1300; i++) x[i] = (float)(i % 97);
  for (size_t t = 0; t < sizeof some / sizeof *some; t++) {
    int w = width(some[t]);
    uint8_t out[2 * 1300 * 4];
    for (int64_t n = 0; n < 70; n++) {
      memset(out, 0x5a, sizeof out);
      cvt_store(some[t], x + n % 5, n, out + w);
      for (int64_t i = 0; i < w; i++) assert_true(out[i] == 0x5a && out[w + n * w + i] == 0x5a);
      y[n] = 77.0f;
      cvt_load(some[t], out + w, n, y);
      for (int64_t i = 0; i < n; i++) assert_true(some[t] == DT_float8_e5m2 || y[i] == x[n % 5 + i]);
      assert_true(y[n] == 77.0f);
    }
    memset(out, 0x5a, sizeof out);
    cvt_store_strided(some[t], x, 1290, out, 2);
    for (int i = 0; i < 1290 * w; i++) assert_int_equal(out[(2 * (i / w) + 1) * w + i % w], 0x5a);
    cvt_load_strided(some[t], out + 2 * 1289 * w, -2, 1290, y);
    if (some[t] != DT_float8_e5m2)
      for (int i = 0; i < 1290; i++) assert_true(y[i] == x[1289 - i]);
    cvt_load_strided(some[t], out + 2 * w, 0, 600, y);
    for (int i = 0; i < 600; i++) assert_true(y[i] == 1.0f);
  }
}

/* Four numbers per container, the first in the lowest byte or nibble; ml_dtypes' saturation and NaN of fp4. */
static void packed(void **state) {
  (void)state;
  const float x[8] = {1.0f, -2.0f, 0.5f, 448.0f, -0.0f, 6.0f, 5.0f, 0.25f};
  float y[8];
  uint32_t w[2];
  uint16_t h[2];
  cvt_pack(DT_float8_e4m3fn_x4, x, 2, w);
  assert_int_equal(w[0], 0x7e30c038);
  cvt_unpack(DT_float8_e4m3fn_x4, w, 2, y);
  assert_memory_equal(x, y, sizeof x);
  cvt_pack(DT_float8_e5m2_x4, x, 1, w);
  assert_int_equal(w[0], 0x5f38c03c);
  cvt_pack(DT_float4_e2m1fn_x4, x, 2, h);
  assert_int_equal(h[0], 0x71c2);
  assert_int_equal(h[1], 0x0678);
  cvt_unpack(DT_float4_e2m1fn_x4, h, 2, y);
  const float back[8] = {1.0f, -2.0f, 0.5f, 6.0f, -0.0f, 6.0f, 4.0f, 0.0f};
  assert_memory_equal(back, y, sizeof back);
  const float odd[4] = {INFINITY, -100.0f, NAN, -3.0f};
  cvt_pack(DT_float4_e2m1fn_x4, odd, 1, h);
  assert_int_equal(h[0], 0xd8f7);
  cvt_unpack(DT_float4_e2m1fn_x4, h, 1, y);
  assert_true(y[0] == 6.0f && y[1] == -6.0f && y[2] == 0.0f && signbit(y[2]) && y[3] == -3.0f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(same_as_numpy), cmocka_unit_test(pairs_as_numpy), cmocka_unit_test(nearest_even),
      cmocka_unit_test(literal_edges), cmocka_unit_test(loads),          cmocka_unit_test(lengths_and_strides),
      cmocka_unit_test(packed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
