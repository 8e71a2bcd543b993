/* peak.h -- spec/sim: the most memory that a run held at once. */
#ifndef NK_SPEC_SIM_PEAK_H
#define NK_SPEC_SIM_PEAK_H
#include <stdatomic.h>

#include "kit.h"

typedef struct Peak {
  _Atomic int64_t now, most;
} Peak;

static inline void *peak_fn(void *ud, void *p, size_t old, size_t n) {
  Peak *peak = ud;
  const int64_t more = (int64_t)n - (p ? (int64_t)old : 0), now = atomic_fetch_add(&peak->now, more) + more;
  if (now > peak->most) peak->most = now;
  return alloc_std.fn(alloc_std.ud, p, old, n);
}

/* Runs what the kit has, which must succeed; returns the peak. */
static inline int64_t peak_of_run(Kit *k) {
  Peak peak = {0, 0};
  k->opt.alloc = (Alloc){peak_fn, &peak};
  kit_ok(k);
  return peak.most;
}
#endif
