/* vmath_avx512.c -- room sim: the row kernels for AVX-512 F, BW, DQ, VL, without FMA. vmath.cmake gives this file its
 * flags. */
#include "vmath_isa.h"
#if defined(__x86_64__)
#define VM_TABLE vm_avx512
#define VM_NAME "avx512"
#include "vmath_table.h"
#endif
