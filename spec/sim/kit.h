/* kit.h -- spec/sim: builds small modules for the simulator's tests: one function, instructions by parameter name, run
 * and compare. */
#ifndef NK_SPEC_SIM_KIT_H
#define NK_SPEC_SIM_KIT_H
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim.h"

enum { KIT_MAX = 16 };

typedef struct Kit {
  IrModule *m;
  IrFunc *f;
  Diag d;
  SimReport report;
  SimOptions opt;
  Text printed;
  SimTensor in[KIT_MAX], out[KIT_MAX];
  uint32_t nin, nout;
  uint32_t rets[KIT_MAX];
  int line;    /* of the next instruction */
  bool verify; /* ir_verify before running; off for modules that are wrong on purpose */
} Kit;

void kit_open(Kit *k, Target target);
void kit_close(Kit *k);
#define SHAPE(...) \
  (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]) { __VA_ARGS__ }
/* An argument whose values are the caller's array (before any other buffer); a tensor returned as the next output. */
const IrTile *kit_in(Kit *k, DType dt, void *data, int rank, const int64_t *shape);
const IrTile *kit_out(Kit *k, DType dt, int rank, const int64_t *shape);
const IrTile *kit_buf(Kit *k, Space space, DType dt, int rank, const int64_t *shape);
const IrTile *kit_cast(Kit *k, const IrTile *t, DType dt, int rank, const int64_t *shape); /* BUF_VIEW */
/* A view: pairs of stride, count; dim 0 first. */
const IrTile *kit_ap(Kit *k, const IrTile *of, int64_t offset, int npairs, const int64_t *pairs);
#define PAIRS(...) \
  (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t) / 2), (const int64_t[]) { __VA_ARGS__ }
const IrTile *kit_dyn(Kit *k, const IrTile *t, uint32_t idx, int64_t max);
uint32_t kit_reg(Kit *k);
uint32_t kit_read(Kit *k, uint32_t reg);
uint32_t kit_affine(Kit *k, int64_t coef, uint32_t idx, int64_t add);
uint32_t kit_for(Kit *k, IrVal lower, IrVal upper, int64_t step);
void kit_while(Kit *k, uint32_t reg);
void kit_end(Kit *k); /* of the innermost loop */

IrVal T(const IrTile *t);
IrVal N(double v);
IrVal I(int64_t v);
IrVal X(uint32_t idx);
IrVal REG(uint32_t reg);
IrVal LIST(Kit *k, int n, const int64_t *v); /* V_INTS, or V_PAIRS from PAIRS() through LIST_PAIRS */
IrVal LIST_PAIRS(Kit *k, int npairs, const int64_t *v);
IrVal S(const char *s);
/* kit_ins(k, OP_tensor_copy, "dst", T(d), "src", T(s), NULL): the rest gets its default. */
IrIns *kit_ins(Kit *k, Op op, ...);
void kit_load(Kit *k, const IrTile *dst, const IrTile *src); /* dma_copy */

bool kit_run(Kit *k);
void kit_ok(Kit *k);                                              /* runs; fails the test with the message otherwise */
float kit_f32(const Kit *k, int out, int64_t at);                 /* of a float32 output */
void kit_expect(const Kit *k, int out, int n, const float *want); /* bit for bit, any NaN equals any NaN */
#define EXPECT(k, out, ...) \
  kit_expect(k, out, (int)(sizeof((float[]){__VA_ARGS__}) / sizeof(float)), (const float[]){__VA_ARGS__})
void kit_contains(const char *text, const char *part);
/* A kernel of one element-wise instruction is: in, load, op, store. */
const IrTile *kit_to_sbuf(Kit *k, const IrTile *t); /* a new SBUF tile, loaded */
const IrTile *kit_const(Kit *k, DType dt, const void *data, int rank, const int64_t *shape);
const IrTile *kit_loaded(Kit *k, DType dt, const void *data, int rank, const int64_t *shape); /* a constant, loaded */
void kit_store(Kit *k,
               const IrTile *t); /* a new output of t's shape and dtype, filled from t (through SBUF when in PSUM) */
#endif
