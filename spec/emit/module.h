/* module.h -- spec/emit: also of spec/framework: small modules as a trace makes them. */
#ifndef SPEC_MODULE_H
#define SPEC_MODULE_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fw.h"
#include "trace.h"

typedef struct Plan {
  const char *name;       /* kernel */
  const char *arg[2];     /* operands, f32 [4,8] and bf16 [4,8] */
  int fresh;              /* outputs the kernel allocates: copies of operand 0 */
  int returned[3];        /* outputs: operand i as i, fresh tensor i as 10 + i; ends with -1 */
  bool sequence;          /* returned as a list */
  bool constant;          /* fresh tensor 0 is a copy of a constant [2,2] bf16 instead */
  const IrBufSpec *table; /* that constant, when it is another one */
  bool write_operand;     /* operand 0 is stored to */
  Target target;
  bool fallback;
  int ngrid;
  int64_t grid[2];
  IrCores cores[2];
} Plan;

/* Two outputs: a constant, and operand 0, which is written. */
__attribute__((unused)) static const Plan plan_in_place = {
    .name = "step", .returned = {0, -1}, .write_operand = true, .target = TARGET_trn2};
__attribute__((unused)) static const Plan plan_two = {
    .name = "two", .fresh = 1, .returned = {10, 0, -1}, .constant = true, .write_operand = true, .target = TARGET_trn2};

static inline const IrTile *plan_alloc(Trace *t, Space space, DType dtype, const int64_t *shape, const char *name) {
  IrBufSpec spec = {.kind = BUF_ALLOC, .space = space, .dtype = dtype, .rank = 2, .shape = shape, .name = name};
  const IrTile *tile = tr_ndarray(t, &spec);
  assert_non_null(tile);
  return tile;
}

static inline void plan_copy_at(Trace *t, const IrTile *dst, const IrTile *src, const char *file) {
  const OpInfo *op = &op_info[OP_dma_copy];
  IrVal v[8] = {{0}};
  for (int i = 0; i < op->nparams; i++) v[i] = op->params[i].def;
  v[0] = (IrVal){.kind = V_TILE, .u.tile = dst};
  v[1] = (IrVal){.kind = V_TILE, .u.tile = src};
  t->loc = ir_loc(t->m, file, 3, false, 0);
  if (!tr_emit(t, OP_dma_copy, v, NULL)) fail_msg("%s", diag_message(t->d));
}

static inline void plan_copy(Trace *t, const IrTile *dst, const IrTile *src) { plan_copy_at(t, dst, src, "k.lua"); }

static inline void plan_program(Trace *t, const Plan *p) {
  static const int64_t shape[2] = {4, 8}, small[2] = {2, 2};
  static const unsigned char bf16[8] = {0x80, 0x3f, 0x00, 0x40, 0x40, 0x40, 0x80, 0x40}; /* 1 2 3 4 */
  assert_true(tr_begin_program(t));
  const IrTile *arg[2], *fresh[2], *out[3];
  for (int i = 0; i < 2; i++)
    arg[i] = tr_operand(t, p->arg[i] ? p->arg[i] : i ? "b" : "a", i ? DT_bfloat16 : DT_float32, 2, shape);
  for (int i = 0; i < p->fresh; i++) {
    const IrTile *src = arg[0];
    IrBufSpec spec = {.kind = BUF_CONST,
                      .space = SP_private_hbm,
                      .dtype = DT_bfloat16,
                      .rank = 2,
                      .shape = small,
                      .name = "table",
                      .data = bf16};
    if (p->constant && i == 0) assert_non_null(src = tr_constant(t, p->table ? p->table : &spec));
    const IrBuf *b = t->f->bufs[src->buf];
    fresh[i] = plan_alloc(t, SP_shared_hbm, b->dtype, b->shape, NULL);
    const IrTile *tile = plan_alloc(t, SP_sbuf, b->dtype, b->shape, NULL);
    plan_copy(t, tile, src);
    plan_copy(t, fresh[i], tile);
  }
  if (p->write_operand) {
    const IrTile *tile = plan_alloc(t, SP_sbuf, DT_float32, shape, NULL);
    plan_copy(t, tile, arg[0]);
    plan_copy(t, arg[0], tile);
  }
  uint32_t n = 0;
  for (; n < 3 && p->returned[n] >= 0; n++)
    out[n] = p->returned[n] >= 10 ? fresh[p->returned[n] - 10] : arg[p->returned[n]];
  if (!tr_return(t, out, n, p->sequence || n > 1) || !tr_end_program(t)) fail_msg("%s", diag_message(t->d));
}

static inline IrModule *plan_module_in(const Plan *p, Alloc alloc, Diag *d) {
  TraceSpec spec = {.func_name = p->name,
                    .target = p->target,
                    .target_is_fallback = p->fallback,
                    .ngrid = p->ngrid,
                    .max_instr = 1000};
  memcpy(spec.grid, p->grid, sizeof p->grid);
  memcpy(spec.cores, p->cores, sizeof p->cores);
  Trace *t = tr_open(alloc, &spec, d);
  if (!t) fail_msg("%s", diag_message(d));
  for (int64_t i = 0; i < t->m->nprogram; i++) plan_program(t, p);
  IrModule *m = tr_finish(t);
  if (!m) fail_msg("%s", diag_message(d));
  tr_close(t);
  return m;
}

static inline IrModule *plan_module(const Plan *p, Diag *d) { return plan_module_in(p, alloc_std, d); }

/* The artifact of a plan, assembled as fw_specialize does. */
static inline Artifact *plan_artifact(const Plan *p) {
  Diag d;
  diag_init(&d, alloc_std);
  IrModule *m = plan_module(p, &d);
  FwRequest r = {.func_name = p->name};
  if (!fw_generate_operand_output_aliases(&r, m, &d)) fail_msg("%s", diag_message(&d));
  diag_free(&d);
  Artifact *a = artifact_new(alloc_std, m);
  ir_release(m);
  assert_non_null(a);
  return a;
}
#endif
