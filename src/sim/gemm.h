/* gemm.h -- room sim: C = A^T B (+ C) in f32, the tensor engine's product. */
#ifndef NK_SIM_GEMM_H
#define NK_SIM_GEMM_H
#include <stdbool.h>
#include <stdint.h>

/* A is K rows of M, B is K rows of N, C is M rows of N; ld* is the distance of rows in elements. C does not overlap A
   or B; without `accumulate` its old content is not read. */
typedef struct Gemm {
  int64_t m, n, k;
  const float *a;
  int64_t lda;
  const float *b;
  int64_t ldb;
  float *c;
  int64_t ldc;
  bool accumulate;
} Gemm;

/* Uses oneDNN, loaded at the first product that is large enough to gain from it, else the kernel of vm_isa_chosen().
   That one adds products in the order of k with two roundings each, then that sum to C, and gives the same bytes on
   every instruction set; oneDNN's bytes depend on the CPU, not on threads: it runs on the calling thread only. */
void gemm_f32(const Gemm *g);
/* The same without oneDNN. */
void gemm_f32_plain(const Gemm *g);
/* Which library does large products: "oneDNN", or "plain" when libdnnl.so.2 is not there or NKILUA_GEMM=plain. */
const char *gemm_backend(void);
#endif
