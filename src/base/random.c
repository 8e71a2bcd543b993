/* random.c -- room base: counter-based random numbers. Only + - * / and sqrt on doubles, so every machine gives the
 * same bytes. */
#include "random.h"

#include <math.h>

#include "hash.h"

static uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

uint64_t random_bits(uint64_t seed, uint64_t i) { return mix(mix(seed) + (i + 1) * UINT64_C(0x9e3779b97f4a7c15)); }

static double unit(uint64_t bits) { return (double)(bits >> 11) * 0x1p-53; }

double random_uniform(uint64_t seed, uint64_t i) { return unit(random_bits(seed, i)); }

/* ln x for 0 < x < 1 from the exponent and the series of 2 atanh((m-1)/(m+1)), m in [sqrt(1/2), sqrt 2). */
static double natural_log(double x) {
  int e = 0;
  double m = frexp(x, &e);
  if (m < 0.70710678118654752440) {
    m *= 2;
    e--;
  }
  double s = (m - 1) / (m + 1), s2 = s * s, term = s, sum = 0;
  for (int k = 1; k < 40; k += 2) {
    sum += term / k;
    term *= s2;
  }
  return e * 0.69314718055994530942 + 2 * sum;
}

double random_normal(uint64_t seed, uint64_t i) {
  uint64_t stream = random_bits(seed, i);
  for (uint64_t attempt = 0;; attempt += 2) { /* each round succeeds with probability pi/4 */
    double u = 2 * unit(random_bits(stream, attempt)) - 1, v = 2 * unit(random_bits(stream, attempt + 1)) - 1;
    double r = u * u + v * v;
    if (r > 0 && r < 1) return u * sqrt(-2 * natural_log(r) / r);
  }
}

uint64_t random_seed_named(uint64_t seed, const char *name, size_t n) { return mix(seed) ^ hash64(name, n); }
