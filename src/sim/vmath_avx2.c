/* vmath_avx2.c -- room sim: the row kernels for AVX2, without FMA. vmath.cmake gives this file its flags. */
#include "vmath_isa.h"
#if defined(__x86_64__)
#define VM_TABLE vm_avx2
#define VM_NAME "avx2"
#include "vmath_table.h"
#endif
