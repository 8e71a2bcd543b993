/* vmath_generic.c -- room sim: the row kernels for any CPU: plain C, which on x86-64 means SSE2. */
#define VM_TABLE vm_generic
#define VM_NAME "generic"
#include "vmath_table.h"
