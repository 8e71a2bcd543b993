/* gemm.c -- room sim: matrix product: oneDNN when it is there, else the row kernels. */
#include "gemm.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "vmath_isa.h"

/* Of dnnl.h, whose ABI libdnnl.so.2 fixes; declared here so that a build needs no oneDNN headers. Row-major; 0 is
 * success. */
typedef int DnnlSgemm(char transa, char transb, int64_t m, int64_t n, int64_t k, float alpha, const float *a,
                      int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc);
typedef struct Dnnl {
  DnnlSgemm *sgemm;
  int (*get_threads)(void);
  void (*set_threads)(int);
} Dnnl;

enum { UNKNOWN, ABSENT, PRESENT };

/* The library stays loaded. Its threads are OpenMP's, whose thread count belongs to the calling thread: setting it
   around a call disturbs nobody else. A build of oneDNN on another runtime has no such functions and is not used. */
static bool dnnl_load(Dnnl *d) {
  const char *asked = getenv("NKILUA_GEMM");
  if (asked && !strcmp(asked, "plain")) return false;
  void *lib = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!lib) return false;
  *(void **)&d->sgemm = dlsym(lib, "dnnl_sgemm");
  *(void **)&d->get_threads = dlsym(lib, "omp_get_max_threads");
  *(void **)&d->set_threads = dlsym(lib, "omp_set_num_threads");
  return d->sgemm && d->get_threads && d->set_threads;
}

/* Found once; threads that come at the same time load it twice, which dlopen counts, and find the same. */
static bool dnnl_find(Dnnl *out) {
  static _Atomic(DnnlSgemm *) sgemm;
  static _Atomic(int (*)(void)) get_threads;
  static _Atomic(void (*)(int)) set_threads;
  static atomic_int state;
  int s = atomic_load_explicit(&state, memory_order_acquire);
  if (s == UNKNOWN) {
    Dnnl d = {0};
    s = dnnl_load(&d) ? PRESENT : ABSENT;
    atomic_store(&sgemm, d.sgemm);
    atomic_store(&get_threads, d.get_threads);
    atomic_store(&set_threads, d.set_threads);
    atomic_store_explicit(&state, s, memory_order_release);
  }
  if (s == PRESENT) *out = (Dnnl){atomic_load(&sgemm), atomic_load(&get_threads), atomic_load(&set_threads)};
  return s == PRESENT;
}

const char *gemm_backend(void) {
  Dnnl d;
  return dnnl_find(&d) ? "oneDNN" : "plain";
}

void gemm_f32_plain(const Gemm *g) {
  if (g->m > 0 && g->n > 0) vm_isa_chosen()->gemm(g);
}

/* NaNs as all other arithmetic gives them; a library passes on those it meets. */
static void make_canonical(const Gemm *g) {
  const uint32_t canonical = 0x7fc00000;
  if (!vm_isa_chosen()->gemm_has_nan(g)) return;
  for (int64_t i = 0; i < g->m; i++) {
    float *c = g->c + i * g->ldc;
    for (int64_t j = 0; j < g->n; j++)
      if (c[j] != c[j]) memcpy(c + j, &canonical, sizeof canonical);
  }
}

/* Below this many multiplications a call of oneDNN costs more than it saves; the plain kernel does no less than 16
   columns at a time. */
enum { SMALL = 32768, PLAIN_COLUMNS = 16 };

void gemm_f32(const Gemm *g) {
  Dnnl d;
  if (g->m <= 0 || g->n <= 0) return;
  int64_t columns = g->n < PLAIN_COLUMNS ? PLAIN_COLUMNS : g->n;
  bool large = g->k > 0 && g->m * columns >= SMALL / g->k;
  if (large && dnnl_find(&d)) {
    int threads = d.get_threads();
    if (threads != 1) d.set_threads(1);
    int status = d.sgemm('T', 'N', g->m, g->n, g->k, 1.0f, g->a, g->lda, g->b, g->ldb, g->accumulate ? 1.0f : 0.0f,
                         g->c, g->ldc);
    if (threads != 1) d.set_threads(threads);
    if (status == 0) {
      make_canonical(g);
      return;
    }
  }
  gemm_f32_plain(g);
}
