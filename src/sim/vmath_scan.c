/* vmath_scan.c -- room sim: recurrences over a row: one element after the other, so no vectors here. */
#include <math.h>

#include "vmath.h"
#include "vmath_isa.h"

static float canon(float x) { return x != x ? NAN : x; }

float vm_op(VmOp op, float a, float b) {
  switch (op) {
    case VM_add:
      return canon(a + b);
    case VM_subtract:
      return canon(a - b);
    case VM_multiply:
      return canon(a * b);
    case VM_divide:
      return canon(a / b);
    case VM_maximum:
      if (a != b && a == a && b == b) return a < b ? b : a;
      break;
    case VM_minimum:
      if (a != b && a == a && b == b) return a < b ? a : b;
      break;
    default:
      break;
  }
  const VmIsa *isa = vm_isa_chosen();
  if (op < VM_binary_count) {
    isa->vs[op](&a, b, &a, 1);
  } else {
    isa->unary[op](&a, &a, 1);
  }
  return a;
}

/* Recurrences of sums and products, op commuting with itself reversed: a NaN stays one, so it gets its one form only
   where it is stored, off the chain from element to element. */
#define SUM(x, y) ((x) + (y))
#define PRODUCT(x, y) ((x) * (y))
#define RECUR(next)                 \
  for (int64_t i = 0; i < n; i++) { \
    r = next;                       \
    dst[i] = canon(r);              \
  }                                 \
  return canon(r)

static float cumulate_any(VmOp op, const float *x, float r, float *dst, int64_t n) {
  for (int64_t i = 0; i < n; i++) dst[i] = r = vm_op(op, x[i], r);
  return r;
}

float vm_cumulate(VmOp op, const float *x, float init, float *dst, int64_t n) {
  float r = init;
  if (op == VM_add) {
    RECUR(SUM(x[i], r));
  }
  if (op == VM_multiply) {
    RECUR(PRODUCT(x[i], r));
  }
  return cumulate_any(op, x, r, dst, n);
}

static float scan_any(const VmScan *s, const float *a, const float *b, float *dst, int64_t n) {
  float r = s->init;
  for (int64_t i = 0; i < n; i++) {
    r = s->reverse0 ? vm_op(s->op0, r, a[i]) : vm_op(s->op0, a[i], r);
    r = s->reverse1 ? vm_op(s->op1, b[i], r) : vm_op(s->op1, r, b[i]);
    dst[i] = r;
  }
  return r;
}

float vm_scan(const VmScan *s, const float *a, const float *b, float *dst, int64_t n) {
  float r = s->init;
  bool product0 = s->op0 == VM_multiply, product1 = s->op1 == VM_multiply;
  if ((!product0 && s->op0 != VM_add) || (!product1 && s->op1 != VM_add)) return scan_any(s, a, b, dst, n);
  if (product0 && product1) {
    RECUR(PRODUCT(PRODUCT(a[i], r), b[i]));
  }
  if (product0) {
    RECUR(SUM(PRODUCT(a[i], r), b[i]));
  }
  if (product1) {
    RECUR(PRODUCT(SUM(a[i], r), b[i]));
  }
  RECUR(SUM(SUM(a[i], r), b[i]));
}
