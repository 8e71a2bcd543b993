/* vmath_support.h -- spec/sim: what the specs of vector math share. Included after cmocka.h. */
#ifndef SPEC_SIM_VMATH_SUPPORT_H
#define SPEC_SIM_VMATH_SUPPORT_H
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "vmath_isa.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
static inline float of(uint32_t u) {
  float x;
  memcpy(&x, &u, 4);
  return x;
}
static inline uint32_t bits(float x) {
  uint32_t u;
  memcpy(&u, &x, 4);
  return u;
}
static inline uint32_t next(uint32_t *seed) { return *seed = *seed * 1664525u + 1013904223u; }
/* Numbers of all kinds: specials, any bit pattern, everyday magnitudes. */
static inline void fill(float *x, int64_t n, uint32_t seed) {
  static const float special[] = {0.0f,      -0.0f,      1.0f,      -1.0f, 0.5f,   INFINITY, -INFINITY, NAN,
                                  0x1p-149f, -0x1p-140f, 0x1p-126f, 3e38f, -3e38f, 2.0f,     3.0f,      -2.5f};
  for (int64_t i = 0; i < n; i++) {
    uint32_t u = next(&seed) >> 8, v = next(&seed);
    if (u % 4 == 0) x[i] = special[v >> 28];
    if (u % 4 == 1) x[i] = of(v);
    if (u % 4 > 1) x[i] = ((float)(v >> 8) - 0x1p23f) * 0x1p-20f;
  }
}
static inline void same(const float *want, const float *got, int64_t n, const char *what, int op) {
  for (int64_t i = 0; i < n; i++)
    if (bits(want[i]) != bits(got[i]))
      fail_msg("%s %d: element %d is 0x%08x, want 0x%08x", what, op, (int)i, bits(got[i]), bits(want[i]));
}

/* The tables this CPU can run, NULL for the others. */
static inline const VmIsa *isa_at(size_t k) {
  static const char *const names[] = {"generic", "avx2", "avx512"};
  return k < COUNT(names) ? vm_isa_named(names[k]) : NULL;
}
#endif
