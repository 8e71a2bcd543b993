/* vmath_isa.h -- room sim: the kernels of one instruction set as a table. vmath_generic.c, vmath_avx2.c and
   vmath_avx512.c compile the same sources with different flags and define one table each. Private to vmath, convert,
   gemm and their specs. */
#ifndef NK_SIM_VMATH_ISA_H
#define NK_SIM_VMATH_ISA_H
#include "convert.h"
#include "gemm.h"
#include "vmath.h"

typedef void VmRowVV(const float *a, const float *b, float *dst, int64_t n);
typedef void VmRowVS(const float *a, float s, float *dst, int64_t n);
typedef void VmRowSV(float s, const float *b, float *dst, int64_t n);
typedef void VmRowV(const float *a, float *dst, int64_t n);
typedef void VmRowAct(const VmActArg *arg, const float *x, float *dst, int64_t n);
typedef float VmRowReduce(const float *a, int64_t n, float init);
typedef void VmRowBits(const VmBits *job, void *dst, int64_t n);
typedef void VmRowInts(const VmInts *job, uint32_t *dst, int64_t n);
typedef void GemmKernel(const Gemm *g);
typedef void CvtLoad(const void *src, int64_t n, float *dst);
typedef void CvtStore(const float *src, int64_t n, void *dst);

typedef struct VmIsa {
  const char *name;
  VmRowVV *vv[VM_binary_count];
  VmRowVS *vs[VM_binary_count];
  VmRowSV *sv[VM_binary_count];
  VmRowV *unary[VM_op_count]; /* indexed by VmOp, the binary part is empty */
  VmRowAct *act[VA_count];
  VmRowReduce *reduce[VR_count];
  VmRowBits *bits;
  VmRowInts *ints;
  GemmKernel *gemm;
  bool (*gemm_has_nan)(const Gemm *g); /* in C */
  CvtLoad *load[DT_count];             /* NULL: no single element per container */
  CvtStore *store[DT_count];
  CvtLoad *load_fp4; /* n is the number of nibbles, a multiple of 4 */
  CvtStore *store_fp4;
} VmIsa;

extern const VmIsa vm_generic;
#if defined(__x86_64__)
extern const VmIsa vm_avx2, vm_avx512;
#endif

/* The best that this CPU has, or the one that the environment variable NKILUA_ISA names ("generic", "avx2", "avx512")
   if the CPU has it. Chosen at the first use and kept. */
const VmIsa *vm_isa_chosen(void);
/* The table of that name, NULL when this CPU cannot run it. */
const VmIsa *vm_isa_named(const char *name);
#endif
