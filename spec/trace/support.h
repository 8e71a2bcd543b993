/* support.h -- spec/trace: a session with one or more programs, and short spellings for instructions. */
#ifndef NK_SPEC_TRACE_SUPPORT_H
#define NK_SPEC_TRACE_SUPPORT_H
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace.h"

typedef struct Bench {
  Diag d;
  Trace *t;
  const IrTile *a, *b; /* operands of 128 x 64 float32 */
} Bench;

static inline TraceSpec bench_spec(void) {
  return (TraceSpec){.func_name = "k", .target = TARGET_trn2, .max_instr = 1000000};
}

/* Opens a session and its first program with operands a and b. */
static inline void bench_program(Bench *x) {
  const int64_t shape[2] = {128, 64};
  assert_true(tr_begin_program(x->t));
  x->a = tr_operand(x->t, "a", DT_float32, 2, shape);
  x->b = tr_operand(x->t, "b", DT_float32, 2, shape);
  assert_non_null(x->b);
}

static inline void bench_open(Bench *x, TraceSpec spec) {
  diag_init(&x->d, alloc_std);
  x->t = tr_open(alloc_std, &spec, &x->d);
  assert_non_null(x->t);
  bench_program(x);
}

static inline void bench_close(Bench *x) {
  tr_close(x->t);
  diag_free(&x->d);
}

static inline const IrTile *tensor(Bench *x, Space space, DType dtype, int64_t p, int64_t f) {
  const int64_t shape[2] = {p, f};
  IrBufSpec s = {.space = space, .dtype = dtype, .rank = 2, .shape = shape};
  return tr_ndarray(x->t, &s);
}

static inline void defaults(Op op, void *args) {
  IrVal *v = args;
  for (int i = 0; i < op_info[op].nparams; i++) v[i] = op_info[op].params[i].def;
}
static inline IrVal vt(const IrTile *t) { return (IrVal){.kind = V_TILE, .u.tile = t}; }
static inline IrVal vn(double n) { return (IrVal){.kind = V_NUM, .u.num = n}; }
static inline IrVal vi(int64_t i) { return (IrVal){.kind = V_INT, .u.i = i}; }

static inline IrIns *copy(Bench *x, const IrTile *dst, const IrTile *src) { /* DMA */
  Args_dma_copy a;
  defaults(OP_dma_copy, &a);
  a.dst = vt(dst);
  a.src = vt(src);
  return tr_emit(x->t, OP_dma_copy, (const IrVal *)&a, NULL);
}

static inline IrIns *scale(Bench *x, const IrTile *dst, const IrTile *src, double by) {
  Args_tensor_scalar a;
  defaults(OP_tensor_scalar, &a);
  a.dst = vt(dst);
  a.data = vt(src);
  a.op0 = vi(ALU_multiply);
  a.operand0 = vn(by);
  return tr_emit(x->t, OP_tensor_scalar, (const IrVal *)&a, NULL);
}

static inline IrIns *fill(Bench *x, const IrTile *dst, double value) {
  Args_memset a;
  defaults(OP_memset, &a);
  a.dst = vt(dst);
  a.value = vn(value);
  return tr_emit(x->t, OP_memset, (const IrVal *)&a, NULL);
}

static inline void at_line(Bench *x, int line) { x->t->loc = ir_loc(x->t->m, "k.lua", line, false, 0); }

#define assert_fails(x, id_, part)                                                                             \
  do {                                                                                                         \
    assert_int_equal((x)->d.id, ERR_##id_);                                                                    \
    if (!strstr(diag_message(&(x)->d), (part))) fail_msg("'%s' is not in: %s", (part), diag_message(&(x)->d)); \
    diag_clear(&(x)->d);                                                                                       \
  } while (0)

/* The end of a trace, in the order of the page. */
static inline IrModule *bench_finish(Trace *t) {
  return tr_allocate_pending_tensors(t) && tr_check_return(t) ? tr_finish(t) : NULL;
}
#endif
