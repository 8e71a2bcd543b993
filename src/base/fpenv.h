/* fpenv.h -- room base: the state of the FP unit that all arithmetic here assumes. A host's threads may have another
   one (XLA's flush subnormals to zero), so whoever is called from outside enters first and leaves last. */
#ifndef NK_FPENV_H
#define NK_FPENV_H
#if defined(__x86_64__)
#include <immintrin.h>
typedef struct FpEnv {
  unsigned csr;
} FpEnv;
#else
#include <fenv.h>
typedef struct FpEnv {
  fenv_t env;
} FpEnv;
#endif

/* Round to nearest, subnormals kept, no traps between enter and leave. */
static inline void fp_enter(FpEnv *saved) {
#if defined(__x86_64__)
  saved->csr = _mm_getcsr();
  _mm_setcsr(0x1f80);
#else
  fegetenv(&saved->env);
  fesetenv(FE_DFL_ENV);
#endif
}

static inline void fp_leave(const FpEnv *saved) {
#if defined(__x86_64__)
  _mm_setcsr(saved->csr);
#else
  fesetenv(&saved->env);
#endif
}
#endif
