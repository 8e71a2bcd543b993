/* vmath_simd.h -- room sim: the vector primitives the row kernels are written in, for the instruction set the file is
   compiled for. Only correctly rounded IEEE operations and bit moves: no FMA, no estimates, so every lane count gives
   the same bits. vf has VL floats, vd half as many doubles; a mask vm or vmd is combined with & | ^ ~. */
#ifndef NK_SIM_VMATH_SIMD_H
#define NK_SIM_VMATH_SIMD_H
#include <math.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
#define VL 16
#elif defined(__AVX2__)
#define VL 8
#else
#define VL 4
#endif

typedef float vf __attribute__((vector_size(VL * 4)));
typedef int32_t vi __attribute__((vector_size(VL * 4)));
typedef double vd __attribute__((vector_size(VL * 4)));
typedef int64_t vl __attribute__((vector_size(VL * 4)));

static inline vf v_ld(const float *p) {
  vf v;
  memcpy(&v, p, sizeof v);
  return v;
}
static inline void v_st(float *p, vf v) { memcpy(p, &v, sizeof v); }
static inline vf v_set(float s) { return s - (vf){0}; } /* s - 0 keeps -0 */
static inline vd d_set(double s) { return s - (vd){0}; }
static inline vi vi_set(uint32_t s) { return (int32_t)s - (vi){0}; }

#if VL == 16
typedef __mmask16 vm;
typedef __mmask8 vmd;
static inline vm v_lt(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
static inline vm v_le(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
static inline vm v_eq(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
static inline vm v_ne(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_NEQ_UQ); }
static inline vm v_unord(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q); }
static inline vf v_sel(vm m, vf a, vf b) { return _mm512_mask_blend_ps(m, b, a); }
static inline vf v_one_if(vm m) { return _mm512_maskz_mov_ps(m, _mm512_set1_ps(1.0f)); }
static inline uint32_t v_bits(vm m) { return m; }
static inline vf v_sqrt(vf a) { return _mm512_sqrt_ps(a); }
static inline vmd d_lt(vd a, vd b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }
static inline vd d_sel(vmd m, vd a, vd b) { return _mm512_mask_blend_pd(m, b, a); }
static inline vd d_max(vd a, vd b) { return _mm512_max_pd(a, b); } /* either may come out when one is NaN */
static inline vd d_min(vd a, vd b) { return _mm512_min_pd(a, b); }
static inline vd d_low(vf a) { return _mm512_cvtps_pd(_mm512_castps512_ps256(a)); }
static inline vd d_high(vf a) { return _mm512_cvtps_pd(_mm512_extractf32x8_ps(a, 1)); }
static inline vf d_join(vd lo, vd hi) {
  return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(lo)), _mm512_cvtpd_ps(hi), 1);
}
static inline vf v_ld_part(const float *p, int64_t n) { return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p); }
static inline void v_st_part(float *p, vf v, int64_t n) { _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), v); }
#else
typedef vi vm;
typedef vl vmd;
static inline vm v_lt(vf a, vf b) { return a < b; }
static inline vm v_le(vf a, vf b) { return a <= b; }
static inline vm v_eq(vf a, vf b) { return a == b; }
static inline vm v_ne(vf a, vf b) { return a != b; }
static inline vm v_unord(vf a, vf b) { return (a != a) | (b != b); }
static inline vmd d_lt(vd a, vd b) { return a < b; }
static inline vf v_one_if(vm m) { return (vf)(m & (vi)v_set(1.0f)); }
static inline vf v_ld_part(const float *p, int64_t n) {
  vf v = {0};
  memcpy(&v, p, (size_t)n * sizeof *p);
  return v;
}
static inline void v_st_part(float *p, vf v, int64_t n) { memcpy(p, &v, (size_t)n * sizeof *p); }
#if VL == 8
static inline vf v_sel(vm m, vf a, vf b) { return _mm256_blendv_ps(b, a, (__m256)m); }
static inline vd d_sel(vmd m, vd a, vd b) { return _mm256_blendv_pd(b, a, (__m256d)m); }
static inline vd d_max(vd a, vd b) { return _mm256_max_pd(a, b); }
static inline vd d_min(vd a, vd b) { return _mm256_min_pd(a, b); }
static inline uint32_t v_bits(vm m) { return (uint32_t)_mm256_movemask_ps((__m256)m); }
static inline vf v_sqrt(vf a) { return _mm256_sqrt_ps(a); }
static inline vd d_low(vf a) { return _mm256_cvtps_pd(_mm256_castps256_ps128(a)); }
static inline vd d_high(vf a) { return _mm256_cvtps_pd(_mm256_extractf128_ps(a, 1)); }
static inline vf d_join(vd lo, vd hi) { return _mm256_set_m128(_mm256_cvtpd_ps(hi), _mm256_cvtpd_ps(lo)); }
#else
static inline vf v_sel(vm m, vf a, vf b) { return (vf)((m & (vi)a) | (~m & (vi)b)); }
static inline vd d_sel(vmd m, vd a, vd b) { return (vd)((m & (vl)a) | (~m & (vl)b)); }
#if defined(__SSE2__)
static inline uint32_t v_bits(vm m) { return (uint32_t)_mm_movemask_ps((__m128)m); }
static inline vf v_sqrt(vf a) { return _mm_sqrt_ps(a); }
static inline vd d_max(vd a, vd b) { return _mm_max_pd(a, b); }
static inline vd d_min(vd a, vd b) { return _mm_min_pd(a, b); }
static inline vd d_low(vf a) { return _mm_cvtps_pd(a); }
static inline vd d_high(vf a) { return _mm_cvtps_pd(_mm_movehl_ps(a, a)); }
static inline vf d_join(vd lo, vd hi) { return _mm_movelh_ps(_mm_cvtpd_ps(lo), _mm_cvtpd_ps(hi)); }
#else
static inline uint32_t v_bits(vm m) { return (uint32_t)((m[0] & 1) | (m[1] & 2) | (m[2] & 4) | (m[3] & 8)); }
static inline vf v_sqrt(vf a) { return (vf){sqrtf(a[0]), sqrtf(a[1]), sqrtf(a[2]), sqrtf(a[3])}; }
static inline vd d_max(vd a, vd b) { return d_sel(d_lt(b, a), a, b); }
static inline vd d_min(vd a, vd b) { return d_sel(d_lt(a, b), a, b); }
static inline vd d_low(vf a) { return (vd){a[0], a[1]}; }
static inline vd d_high(vf a) { return (vd){a[2], a[3]}; }
static inline vf d_join(vd lo, vd hi) { return (vf){(float)lo[0], (float)lo[1], (float)hi[0], (float)hi[1]}; }
#endif
#endif
#endif

static inline vf v_abs(vf a) { return (vf)((vi)a & vi_set(0x7fffffffu)); }
static inline vf v_sign_of(vf magnitude, vf sign) {
  return (vf)(((vi)sign & vi_set(0x80000000u)) | (vi)v_abs(magnitude));
}
static inline vf v_nan(void) { return (vf)vi_set(0x7fc00000u); }
static inline vf v_canon(vf a) { return v_sel(v_unord(a, a), v_nan(), a); }
static inline vm v_true(vf a) { return v_ne(a, v_set(0.0f)); }

/* -0 < +0: equal operands differ at most in the sign, which and / or settle. */
static inline vf v_max(vf a, vf b) {
  vf r = v_sel(v_lt(a, b), b, a);
  r = v_sel(v_eq(a, b), (vf)((vi)a & (vi)b), r);
  return v_sel(v_unord(a, b), v_nan(), r);
}
static inline vf v_min(vf a, vf b) {
  vf r = v_sel(v_lt(a, b), a, b);
  r = v_sel(v_eq(a, b), (vf)((vi)a | (vi)b), r);
  return v_sel(v_unord(a, b), v_nan(), r);
}
static inline vf v_abs_max(vf a, vf b) { return v_sel(v_unord(a, b), v_nan(), v_sel(v_lt(v_abs(b), v_abs(a)), a, b)); }
static inline vf v_abs_min(vf a, vf b) { return v_sel(v_unord(a, b), v_nan(), v_sel(v_lt(v_abs(a), v_abs(b)), a, b)); }

/* From 2^23 up every float is whole; below, the way through int32 is exact. */
static inline vf v_trunc(vf x) {
  vf small = v_sel(v_lt(v_abs(x), v_set(0x1p23f)), x, v_set(0.0f));
  vf t = v_sign_of(__builtin_convertvector(__builtin_convertvector(small, vi), vf), x);
  return v_sel(v_lt(v_abs(x), v_set(0x1p23f)), t, x);
}
static inline vf v_floor(vf x) {
  vf t = v_trunc(x);
  return v_sign_of(v_sel(v_lt(x, t), t - v_set(1.0f), t), x);
}
static inline vf v_ceil(vf x) {
  vf t = v_trunc(x);
  return v_sign_of(v_sel(v_lt(t, x), t + v_set(1.0f), t), x);
}
static inline vf v_sign(vf x) { return v_sel(v_true(x), v_sign_of(v_set(1.0f), x), v_set(0.0f)); }
#endif
