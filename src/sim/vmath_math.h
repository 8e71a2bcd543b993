/* vmath_math.h -- room sim: elementary functions on vectors. The only file that sees SLEEF.

   SLEEF's "cinz" family is its deterministic one for CPUs without FMA: the SSE2, AVX and AVX-512 members return the
   same bits for every input. What is composed of exponentials (and tanh and erf, where the FMA-less f32 functions are
   slow) is computed here in f64 with polynomials good to about 1e-10 and rounded once: right to within 0.51 ulp of f32
   without tricks against cancellation. */
#ifndef NK_SIM_VMATH_MATH_H
#define NK_SIM_VMATH_MATH_H
#include <sleef.h>

#include "vmath_simd.h"

#if VL == 16
#define SLEEF_NAME(f, u) Sleef_cinz_##f##f16_##u##avx512fnofma
#elif VL == 8
#define SLEEF_NAME(f, u) Sleef_cinz_##f##f8_##u##avx
#elif defined(__SSE2__)
#define SLEEF_NAME(f, u) Sleef_cinz_##f##f4_##u##sse2
#endif

#ifdef SLEEF_NAME
#define SLEEF1(f, u, x) SLEEF_NAME(f, u)(x)
#define SLEEF2(f, u, x, y) SLEEF_NAME(f, u)(x, y)
#else
#define SLEEF_ONE(f, u) Sleef_cinz_##f##f1_##u##purec
#define SLEEF1(f, u, x) \
  ((vf){SLEEF_ONE(f, u)(x[0]), SLEEF_ONE(f, u)(x[1]), SLEEF_ONE(f, u)(x[2]), SLEEF_ONE(f, u)(x[3])})
#define SLEEF2(f, u, x, y)                                                                     \
  ((vf){SLEEF_ONE(f, u)(x[0], y[0]), SLEEF_ONE(f, u)(x[1], y[1]), SLEEF_ONE(f, u)(x[2], y[2]), \
        SLEEF_ONE(f, u)(x[3], y[3])})
#endif

static inline vf v_exp(vf x) { return SLEEF1(exp, u10, x); }
static inline vf v_log(vf x) { return SLEEF1(log, u10, x); }
static inline vf v_sin(vf x) { return SLEEF1(sin, u10, x); }
static inline vf v_cos(vf x) { return SLEEF1(cos, u10, x); }
static inline vf v_tan(vf x) { return SLEEF1(tan, u10, x); }
static inline vf v_atan(vf x) { return SLEEF1(atan, u10, x); }
static inline vf v_pow(vf x, vf y) { return SLEEF2(pow, u10, x, y); }

/* Exact remainders, lane by lane: no instruction is generated for these, only nl.mod and nl.fmod get here. */
static inline vf v_fmod(vf a, vf b) {
  for (int i = 0; i < VL; i++) a[i] = fmodf(a[i], b[i]);
  return a;
}
static inline vf v_mod(vf a, vf b) {
  vf r = v_fmod(a, b), zero = v_set(0.0f);
  vm other_side = v_true(r) & (v_lt(r, zero) ^ v_lt(b, zero));
  r = v_sel(other_side, r + b, r);
  return v_sel(v_eq(r, zero), v_sign_of(zero, b), r);
}

/* ---- f64 cores. Their results for NaN do not matter: the row loops put NaN where x is NaN. ---- */
#define v_wide(f, x) d_join(f(d_low(x)), f(d_high(x)))

static inline vd d_at_least(vd x, double lo) { return d_max(x, d_set(lo)); }
static inline vd d_at_most(vd x, double hi) { return d_min(x, d_set(hi)); }
static inline vd d_abs(vd x) { return (vd)((vl)x & (INT64_MAX - (vl){0})); }
static inline vd d_sign_of(vd magnitude, vd sign) { return (vd)((vl)magnitude | ((vl)sign & (INT64_MIN - (vl){0}))); }

/* e^x for any x; what is outside [-708, 709] is taken there, where f32 has long reached 0 or inf. Adding 1.5 * 2^52
   rounds x / ln 2 to a whole number n and leaves n in the low bits, from where the shift moves it to the exponent. */
static inline vd d_exp(vd x) {
  const double magic = 0x1.8p52;
  x = d_at_most(d_at_least(x, -708.0), 709.0);
  vd t = x * 0x1.71547652b82fep0 + magic;
  vd r = x - (t - magic) * 0x1.62e42fefa39efp-1;
  vd r2 = r * r, r4 = r2 * r2;
  vd p01 = 0x1.ffffffffabab7p-1 + r * 0x1.000000010b7ffp+0;
  vd p23 = 0x1.00000059d9870p-1 + r * 0x1.55555343b1caep-3;
  vd p45 = 0x1.55546859674bbp-5 + r * 0x1.1112fa5df64e3p-7;
  vd p67 = 0x1.6da4c0d5fb294p-10 + r * 0x1.9eb712641b102p-13;
  vd p = (p01 + r2 * p23) + r4 * (p45 + r2 * p67);
  return (vd)((vl)p + ((vl)t << 52));
}

/* e^(z^2) erfc(z) for 0 <= z <= 29. */
static inline vd d_erfcx(vd z) {
  vd t = (z - 3.0) / (z + 3.0);
  static const double c[] = {0x1.40c522dad4c2fp+0,   -0x1.15c084196935dp-3,  -0x1.85a1831f8ff4bp-5,
                             0x1.09834fc0fca25p-3,   -0x1.e88a38c54af09p-4,  0x1.17cc290a61ed9p-4,
                             -0x1.8594342e8dc4cp-6,  0x1.4a405a290a14ep-9,   0x1.f48de166ff0cfp-10,
                             -0x1.8b7035ab372f2p-11, -0x1.13ef24c3d51ffp-13, 0x1.7df5aa8c428e7p-14,
                             0x1.1f9c0a3c8145ap-16};
  vd p = d_set(c[12]);
  for (int i = 11; i >= 0; i--) p = p * t + c[i];
  return p / (1.0 + 2.0 * z);
}

static inline vd d_sigmoid(vd x) { return 1.0 / (1.0 + d_exp(-x)); }

static inline vd d_tanh(vd x) {
  vd u = x * x, m = d_abs(x);
  vd e = d_exp(-2.0 * m);
  vd big = d_sign_of((1.0 - e) / (1.0 + e), x);
  vd p = 0x1.11103b7a7423dp-3 + u * (-0x1.b9852e93f2ce7p-5 + u * 0x1.508710268906dp-6);
  vd small = x * (0x1.ffffffffddfacp-1 + u * (-0x1.555554806d0f7p-2 + u * p));
  return d_sel(d_lt(m, d_set(0.25)), small, big);
}

static inline vd d_erf(vd x) {
  vd u = x * x, m = d_at_most(d_abs(x), 20.0);
  vd big = d_sign_of(1.0 - d_exp(-m * m) * d_erfcx(m), x);
  vd p = -0x1.b8201756b0461p-6 + u * (0x1.54ceb228ac635p-8 + u * -0x1.9353ba1d728cfp-11);
  vd small = x * (0x1.20dd75041af17p+0 + u * (-0x1.8127466e3babdp-2 + u * (0x1.ce2ef1ab19246p-4 + u * p)));
  return d_sel(d_lt(m, d_set(0.5)), small, big);
}
static inline vd d_erf_dx(vd x) { return 0x1.20dd750429b6dp+0 * d_exp(-(x * x)); }

/* The normal distribution's integral up to x, given e = e^(-x^2 / 2); |x| <= 40. */
static inline vd d_normal(vd x, vd e) {
  vd tail = 0.5 * e * d_erfcx(d_abs(x) * 0x1.6a09e667f3bcdp-1);
  return d_sel(d_lt(x, d_set(0.0)), tail, 1.0 - tail);
}
/* x f(x) with f -> 0 exponentially: -inf becomes a number whose product is -0. */
static inline vd d_left(vd x) { return d_at_least(x, -1000.0); }

static inline vd d_gelu(vd x) {
  vd c = d_at_most(d_at_least(x, -40.0), 40.0);
  return d_at_least(x, -40.0) * d_normal(c, d_exp(-0.5 * c * c));
}
static inline vd d_gelu_dx(vd x) {
  vd c = d_at_most(d_at_least(x, -40.0), 40.0);
  vd e = d_exp(-0.5 * c * c);
  return d_normal(c, e) + c * e * 0x1.9884533d43651p-2;
}
static inline vd d_silu(vd x) { return d_left(x) * d_sigmoid(x); }
/* The derivative of x sigmoid(k x): s + k x s (1 - s), 1 - s as e s. */
static inline vd d_silu_slope(vd x, double k) {
  vd c = d_at_most(d_at_least(k * x, -500.0), 500.0), e = d_exp(-c), s = 1.0 / (1.0 + e);
  return s + c * s * (e * s);
}
static inline vd d_silu_dx(vd x) { return d_silu_slope(x, 1.0); }
static inline vd d_gelu_sigmoid(vd x) { return d_left(x) * d_sigmoid(1.702 * x); }
static inline vd d_gelu_sigmoid_dx(vd x) { return d_silu_slope(x, 1.702); }
/* x/2 (1 + tanh u) = x sigmoid(2 u) */
static inline vd d_gelu_tanh(vd x) {
  vd u = 0x1.9884533d43651p-1 * (x + 0.044715 * (x * x * x));
  return d_left(x) * d_sigmoid(2.0 * u);
}
/* tanh(ln(1 + w)) = w (w + 2) / (w (w + 2) + 2) */
static inline vd d_mish(vd x) {
  vd w = d_exp(d_at_most(x, 40.0)), n = w * (w + 2.0);
  return d_left(x) * (n / (n + 2.0));
}
static inline vf v_softplus(vf x) {
  vf e = v_wide(d_exp, -v_abs(x)), log = SLEEF1(log1p, u10, e);
  return v_max(x, v_set(0.0f)) + v_sel(v_lt(e, v_set(0x1p-25f)), e, log);
}
#endif
