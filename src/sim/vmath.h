/* vmath.h -- room sim: vector math of the simulator: arithmetic on rows of numbers, nothing of tiles, IR or memory.

   A row is n contiguous elements, aligned to the element. dst may be an operand itself (same start) but may not
   overlap one otherwise. Results are the same bytes on every instruction set, for every alignment and however a row
   is cut into shorter ones, except that a reduction's sum depends on where rows are cut. The caller holds the FP
   environment of fp_enter. NaN results are 0x7fc00000. */
#ifndef NK_SIM_VMATH_H
#define NK_SIM_VMATH_H
#include <stdbool.h>
#include <stdint.h>

#include "fpenv.h"

typedef enum VmOp {
#define BINARY(id, expr) VM_##id,
#include "vmath.def"
  VM_binary_count,
  VM_before_unary = VM_binary_count - 1,
#define UNARY(id, expr) VM_##id,
#include "vmath.def"
  VM_op_count
} VmOp;

typedef enum VmAct {
#define ACT(id, expr) VA_##id,
#include "vmath.def"
  VA_count
} VmAct;

typedef enum VmReduce {
#define REDUCE(id) VR_##id,
#include "vmath.def"
  VR_count
} VmReduce;

typedef enum VmBit {
#define BIT(id, expr) VB_##id,
#include "vmath.def"
  VB_count
} VmBit;

typedef enum VmInt {
#define INTOP(id, expr) VI_##id,
#include "vmath.def"
  VI_count
} VmInt;

/* dst = a op b; dst = a op s; dst = s op b. max and min propagate NaN and order -0 below +0; comparisons and logic give
   1.0 or 0.0, NaN counts as true; abs_max and abs_min give b on a tie and NaN when either is NaN; power is within 1 ulp
   with IEEE special cases; mod has the divisor's sign, fmod the dividend's, both exact. */
void vm_binary(VmOp op, const float *a, const float *b, float *dst, int64_t n);
void vm_binary_s(VmOp op, const float *a, float s, float *dst, int64_t n);
void vm_s_binary(VmOp op, float s, const float *b, float *dst, int64_t n);
void vm_unary(VmOp op, const float *a, float *dst, int64_t n);
float vm_op(VmOp op, float a, float b); /* one element; b is ignored by unary operators */

/* dst = f(x * scale + bias), product and sum rounded one after the other. bias -0.0 is "no bias": it changes no x. */
typedef struct VmActArg {
  float scale, bias;
  float alpha; /* prelu's slope */
  float sum;   /* vm_act_sum adds to it */
} VmActArg;
#define VM_ACT_PLAIN ((VmActArg){1.0f, -0.0f, 0.0f, 0.0f})
void vm_act(VmAct f, const VmActArg *arg, const float *x, float *dst, int64_t n);
/* The same; returns vm_reduce(VR_add, dst, n, arg->sum). */
float vm_act_sum(VmAct f, const VmActArg *arg, const float *x, float *dst, int64_t n);

/* init op (the row folded). Sums and products: 32 interleaved partial results (element i goes to i mod 32, in order),
   folded in halves 16, 8, 4, 2, 1, then init op that. Maximum and minimum do not depend on order; abs_max and abs_min
   give the last of tied elements. The logical ones read init as a truth value; sum_squares adds x * x. */
float vm_reduce(VmReduce op, const float *a, int64_t n, float init);

/* Recurrences over a row, in order, in f32: r = x[i] op r; and r = (a[i] op0 r) op1 b[i], operands of op0 or op1
   swapped when reversed. Return the last r. */
typedef struct VmScan {
  VmOp op0, op1;
  bool reverse0, reverse1;
  float init;
} VmScan;
float vm_cumulate(VmOp op, const float *x, float init, float *dst, int64_t n);
float vm_scan(const VmScan *s, const float *a, const float *b, float *dst, int64_t n);

/* Integer rows. An operand with `one` set is a single value used for the whole row. */
typedef struct VmIn {
  const void *p;
  bool one;
} VmIn;
/* Bits of unsigned elements of 1, 2 or 4 bytes; a shift by the width or more gives 0; invert ignores b. */
typedef struct VmBits {
  VmBit op;
  int bytes;
  VmIn a, b;
} VmBits;
void vm_bits(const VmBits *job, void *dst, int64_t n);
uint32_t vm_bits_reduce(VmBit op, int bytes, const void *a, int64_t n, uint32_t init); /* and, or, xor */
/* int32 (is_signed) or uint32: sums and products wrap; comparisons give 1 or 0. */
typedef struct VmInts {
  VmInt op;
  bool is_signed;
  VmIn a, b;
} VmInts;
void vm_ints(const VmInts *job, uint32_t *dst, int64_t n);
#endif
