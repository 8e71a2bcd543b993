/* vmath.c -- room sim: vector math: which instruction set, and the public entries on its table. */
#include "vmath.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "vmath_isa.h"

#if defined(__x86_64__)
static bool has_avx2(void) { return __builtin_cpu_supports("avx2"); }
static bool has_avx512(void) {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

const VmIsa *vm_isa_named(const char *name) {
#if defined(__x86_64__)
  if (!strcmp(name, vm_avx512.name)) return has_avx512() ? &vm_avx512 : NULL;
  if (!strcmp(name, vm_avx2.name)) return has_avx2() ? &vm_avx2 : NULL;
#endif
  return !strcmp(name, vm_generic.name) ? &vm_generic : NULL;
}

/* Several threads may find the table at the same time: they find the same one. */
const VmIsa *vm_isa_chosen(void) {
  static _Atomic(const VmIsa *) chosen;
  const VmIsa *t = atomic_load_explicit(&chosen, memory_order_acquire);
  if (t) return t;
  const char *asked = getenv("NKILUA_ISA");
  static const char *const order[] = {"avx512", "avx2", "generic"};
  t = asked ? vm_isa_named(asked) : NULL;
  for (int i = 0; !t; i++) t = vm_isa_named(order[i]);
  atomic_store_explicit(&chosen, t, memory_order_release);
  return t;
}

void vm_binary(VmOp op, const float *a, const float *b, float *dst, int64_t n) {
  assert(op < VM_binary_count);
  vm_isa_chosen()->vv[op](a, b, dst, n);
}
void vm_binary_s(VmOp op, const float *a, float s, float *dst, int64_t n) {
  assert(op < VM_binary_count);
  vm_isa_chosen()->vs[op](a, s, dst, n);
}
void vm_s_binary(VmOp op, float s, const float *b, float *dst, int64_t n) {
  assert(op < VM_binary_count);
  vm_isa_chosen()->sv[op](s, b, dst, n);
}
void vm_unary(VmOp op, const float *a, float *dst, int64_t n) {
  assert(op >= VM_binary_count && op < VM_op_count);
  vm_isa_chosen()->unary[op](a, dst, n);
}

void vm_act(VmAct f, const VmActArg *arg, const float *x, float *dst, int64_t n) {
  vm_isa_chosen()->act[f](arg, x, dst, n);
}
float vm_act_sum(VmAct f, const VmActArg *arg, const float *x, float *dst, int64_t n) {
  vm_act(f, arg, x, dst, n);
  return vm_reduce(VR_add, dst, n, arg->sum);
}
float vm_reduce(VmReduce op, const float *a, int64_t n, float init) { return vm_isa_chosen()->reduce[op](a, n, init); }

void vm_bits(const VmBits *job, void *dst, int64_t n) {
  VmBits j = *job;
  if (j.op == VB_invert) j.b = j.a;
  if (n > 0) vm_isa_chosen()->bits(&j, dst, n);
}
void vm_ints(const VmInts *job, uint32_t *dst, int64_t n) {
  if (n > 0) vm_isa_chosen()->ints(job, dst, n);
}

static uint32_t bits_at(const void *a, int bytes, int64_t i) {
  if (bytes == 1) return ((const uint8_t *)a)[i];
  if (bytes == 2) return ((const uint16_t *)a)[i];
  return ((const uint32_t *)a)[i];
}
uint32_t vm_bits_reduce(VmBit op, int bytes, const void *a, int64_t n, uint32_t init) {
  assert(op == VB_bitwise_and || op == VB_bitwise_or || op == VB_bitwise_xor);
  for (int64_t i = 0; i < n; i++) {
    uint32_t x = bits_at(a, bytes, i);
    init = op == VB_bitwise_and ? init & x : op == VB_bitwise_or ? init | x : init ^ x;
  }
  return init;
}
