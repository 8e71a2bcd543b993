/* convert_rows.h -- room sim: row loops between storage types and f32. Included once per instruction set; branch-free
   scalar expressions that the compiler turns into vectors. */
#ifndef NK_SIM_CONVERT_ROWS_H
#define NK_SIM_CONVERT_ROWS_H
#include <string.h>

#include "vmath_isa.h"

static inline uint32_t f_bits(float x) {
  uint32_t u;
  memcpy(&u, &x, 4);
  return u;
}
static inline float f_of(uint32_t u) {
  float x;
  memcpy(&x, &u, 4);
  return x;
}

/* A small float format: exponent and mantissa bits; `inf` has inf and NaN above the largest finite code. */
typedef struct SmallFloat {
  uint32_t e, m;
  bool inf;
} SmallFloat;
#define F16 ((SmallFloat){5, 10, true})
#define E4M3 ((SmallFloat){4, 3, true})
#define E5M2 ((SmallFloat){5, 2, true})
#define E4M3FN ((SmallFloat){4, 3, false})
#define E2M1FN ((SmallFloat){2, 1, false})

/* 2^k as a float. */
static inline float f_pow2(int k) { return f_of((uint32_t)(k + 127) << 23); }

/* |x| given as bits -> code, nearest even, running on past the largest code on overflow. Below the smallest normal,
   adding 2^23 quanta makes the FPU round to a whole number of quanta. */
static inline uint32_t small_code(uint32_t a, SmallFloat f) {
  uint32_t bias = (1u << (f.e - 1)) - 1, cut = 23 - f.m;
  uint32_t normal = ((a + ((1u << (cut - 1)) - 1) + ((a >> cut) & 1)) >> cut) - ((127 - bias) << f.m);
  float quanta = f_pow2(24 - (int)bias - (int)f.m);
  uint32_t tiny = f_bits(f_of(a) + quanta) - f_bits(quanta);
  return a < (128 - bias) << 23 ? tiny : normal;
}
/* Code without sign -> f32 bits, for codes that are not inf or NaN. */
static inline uint32_t small_bits(uint32_t c, SmallFloat f) {
  uint32_t bias = (1u << (f.e - 1)) - 1;
  uint32_t tiny = f_bits((float)(int32_t)c * f_pow2(1 - (int)bias - (int)f.m));
  return c >> f.m ? (c << (23 - f.m)) + ((127 - bias) << 23) : tiny;
}
static inline uint32_t min_u(uint32_t a, uint32_t b) { return a < b ? a : b; }
static inline bool nan_bits(uint32_t a) { return a > 0x7f800000u; }

static inline uint8_t to_f8(float x, SmallFloat f) {
  uint32_t u = f_bits(x), a = u & 0x7fffffffu, top = f.inf ? ((1u << f.e) - 1) << f.m : 0x7f;
  uint32_t nan = f.inf ? top | 1u << (f.m - 1) : 0x7f;
  return (uint8_t)((u >> 24 & 0x80) | (nan_bits(a) ? nan : min_u(small_code(a, f), top)));
}
static inline float from_f8(uint8_t c, SmallFloat f) {
  uint32_t m = c & 0x7fu, top = f.inf ? ((1u << f.e) - 1) << f.m : 0x7f;
  uint32_t special = f.inf && m == top ? 0x7f800000u : 0x7fc00000u;
  return f_of((uint32_t)(c & 0x80u) << 24 | (m >= top ? special : small_bits(m, f)));
}
static inline uint16_t to_f16(float x) {
  uint32_t u = f_bits(x), a = u & 0x7fffffffu, payload = a >> 13 & 0x3ff;
  uint32_t nan = 0x7c00 + payload + (payload == 0);
  return (uint16_t)((u >> 16 & 0x8000) | (nan_bits(a) ? nan : min_u(small_code(a, F16), 0x7c00)));
}
static inline float from_f16(uint16_t c) {
  uint32_t m = c & 0x7fffu;
  return f_of((uint32_t)(c & 0x8000u) << 16 | (m >= 0x7c00 ? 0x7f800000u | m << 13 : small_bits(m, F16)));
}
static inline uint16_t to_bf16(float x) {
  uint32_t u = f_bits(x), r = (u + 0x7fff + (u >> 16 & 1)) >> 16;
  return (uint16_t)(nan_bits(u & 0x7fffffffu) ? (u >> 16 & 0x8000) | 0x7fc0 : r);
}
static inline float to_tf32(float x) {
  uint32_t u = f_bits(x), r = (u + 0xfff + (u >> 13 & 1)) & ~0x1fffu;
  return f_of(nan_bits(u & 0x7fffffffu) ? (u & 0x80000000u) | 0x7fc00000u : r);
}
/* ml_dtypes: ties go up, except that what lies below 2^-127 goes to 2^-127 and what lies above goes to 2^-126. */
static inline uint8_t to_e8m0(float x) {
  uint32_t u = f_bits(x);
  uint32_t code = u <= 0x400000u ? 0 : min_u((u + 0x400000u) >> 23, 0xff);
  return (uint8_t)(u == 0 || u >= 0x7f800000u ? 0xff : code);
}
static inline float from_e8m0(uint8_t c) {
  uint32_t u = c == 0 ? 0x400000u : (uint32_t)c << 23;
  return f_of(c == 0xff ? 0x7fc00000u : u);
}
/* ml_dtypes: NaN gives a zero of the other sign. */
static inline uint8_t to_fp4(float x) {
  uint32_t u = f_bits(x), a = u & 0x7fffffffu, sign = u >> 28 & 8;
  return (uint8_t)(nan_bits(a) ? sign ^ 8 : sign | min_u(small_code(a, E2M1FN), 7));
}
static inline float from_fp4(uint32_t c) { return f_of((c & 8) << 28 | small_bits(c & 7, E2M1FN)); }

/* Nearest even, saturating. Every comparison is false for NaN, which leaves 0. Whole numbers from 2^23 up need no
   rounding; below, adding 2^23 with the number's sign rounds. */
static inline float f_whole(float x) {
  float big = f_of((f_bits(x) & 0x80000000u) | 0x4b000000u);
  return (f_bits(x) & 0x7fffffffu) < 0x4b000000u ? (x + big) - big : x;
}
static inline float f_clamp(float x, float lo, float hi) {
  float y = x >= lo ? x : (x < lo ? lo : 0.0f);
  return y > hi ? hi : y;
}
static inline int32_t to_small_int(float x, float lo, float hi) { return (int32_t)f_whole(f_clamp(x, lo, hi)); }
static inline int32_t to_i32(float x) {
  int32_t r = (int32_t)f_whole(f_clamp(x, -0x1p31f, 0x1.fffffep30f));
  return x >= 0x1p31f ? INT32_MAX : r;
}
static inline uint32_t to_u32(float x) {
  float y = f_whole(f_clamp(x, 0.0f, 0x1.fffffep31f));
  bool upper = y >= 0x1p31f;
  uint32_t r = (uint32_t)(int32_t)(upper ? y - 0x1p31f : y) + (upper ? 0x80000000u : 0);
  return x >= 0x1p32f ? UINT32_MAX : r;
}

#define PLAIN(c) ((float)(c))
#define BF16_LOAD(c) f_of((uint32_t)(c) << 16)
#define E4M3_LOAD(c) from_f8(c, E4M3)
#define E4M3_SAVE(x) to_f8(x, E4M3)
#define E5M2_LOAD(c) from_f8(c, E5M2)
#define E5M2_SAVE(x) to_f8(x, E5M2)
#define E4M3FN_LOAD(c) from_f8(c, E4M3FN)
#define E4M3FN_SAVE(x) to_f8(x, E4M3FN)
#define BOOL_LOAD(c) ((c) != 0 ? 1.0f : 0.0f)
#define BOOL_SAVE(x) (f_bits(x) << 1 != 0)
#define U8_SAVE(x) to_small_int(x, 0.0f, 255.0f)
#define I8_SAVE(x) to_small_int(x, -128.0f, 127.0f)
#define U16_SAVE(x) to_small_int(x, 0.0f, 65535.0f)
#define I16_SAVE(x) to_small_int(x, -32768.0f, 32767.0f)

#define CONVERT(id, T, load, save)                                                   \
  static void load_##id(const void *restrict src, int64_t n, float *restrict dst) {  \
    const T *s = src;                                                                \
    for (int64_t i = 0; i < n; i++) dst[i] = load(s[i]);                             \
  }                                                                                  \
  static void store_##id(const float *restrict src, int64_t n, void *restrict dst) { \
    T *d = dst;                                                                      \
    for (int64_t i = 0; i < n; i++) d[i] = (T)save(src[i]);                          \
  }
#include "convert.def"

static void load_fp4(const void *restrict src, int64_t n, float *restrict dst) {
  const uint8_t *s = src;
  for (int64_t i = 0; i < n; i += 2) {
    dst[i] = from_fp4(s[i / 2] & 15u);
    dst[i + 1] = from_fp4(s[i / 2] >> 4);
  }
}
static void store_fp4(const float *restrict src, int64_t n, void *restrict dst) {
  uint8_t *d = dst;
  for (int64_t i = 0; i < n; i += 2) d[i / 2] = (uint8_t)(to_fp4(src[i]) | to_fp4(src[i + 1]) << 4);
}
#endif
