/* support.h -- spec/ir: a module with one function to build in, short forms of buffers, values and expectations. */
#ifndef NK_SPEC_IR_SUPPORT_H
#define NK_SPEC_IR_SUPPORT_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ir.h"

typedef struct Fix {
  IrModule *m;
  IrFunc *f;
  Diag d;
  ViewCtx v;
} Fix;

__attribute__((unused)) static void fix_open(Fix *x, Target t) {
  x->m = ir_module_new(alloc_std, t);
  x->f = ir_func_new(x->m, "k");
  diag_init(&x->d, alloc_std);
  x->v = (ViewCtx){x->m, x->f, &x->d};
}

__attribute__((unused)) static void fix_close(Fix *x) {
  diag_free(&x->d);
  ir_release(x->m);
}

/* A buffer; spec's shape ends with 0. On-chip and HBM allocations get their nki.alloc at once. */
__attribute__((unused)) static IrBuf *new_buf(Fix *x, IrBufSpec spec) {
  while (spec.shape[spec.rank]) spec.rank++;
  IrBuf *b = ir_buf_new(x->m, x->f, &spec);
  assert_non_null(b);
  IrVal v = {V_INT, 0, {.i = b->id}};
  if (spec.kind == BUF_ALLOC) assert_non_null(ir_append(x->m, x->f, (Op)CORE_alloc, &v, 1));
  return b;
}
#define SHAPE(...) ((const int64_t[]){__VA_ARGS__, 0})
#define NEW_BUF(x, kind_, space_, dtype_, name_, shape_) \
  new_buf(x, (IrBufSpec){.kind = kind_, .space = space_, .dtype = dtype_, .name = name_, .shape = shape_})
#define SBUF(x, dt, name, ...) NEW_BUF(x, BUF_ALLOC, SP_sbuf, DT_##dt, name, SHAPE(__VA_ARGS__))
#define PSUM(x, dt, name, ...) NEW_BUF(x, BUF_ALLOC, SP_psum, DT_##dt, name, SHAPE(__VA_ARGS__))
#define HBM(x, dt, name, ...) NEW_BUF(x, BUF_ALLOC, SP_shared_hbm, DT_##dt, name, SHAPE(__VA_ARGS__))

__attribute__((unused)) static const IrTile *whole(Fix *x, const IrBuf *b) { return ir_whole(x->f, b->id); }

/* The same buffer, [start, start+count) of dims 0 and 1. */
__attribute__((unused)) static const IrTile *part(Fix *x, const IrTile *t, const int64_t cut[4]) {
  IrSlice s[2] = {{.start = cut[0], .count = cut[1], .step = 1}, {.start = cut[2], .count = cut[3], .step = 1}};
  const IrTile *r = view_index(&x->v, t, s, 2);
  if (!r) fail_msg("%s", diag_message(&x->d));
  return r;
}

#define VT(t) ((IrVal){V_TILE, 0, {.tile = (t)}})
#define VB(x, b) VT(whole(x, b))
#define VN(v) ((IrVal){V_NUM, 0, {.num = (v)}})
#define VI(v) ((IrVal){V_INT, 0, {.i = (v)}})
#define NONE ((IrVal){V_NONE, 0, {.i = 0}})

/* An instruction with all defaults; set parameters with set(). */
__attribute__((unused)) static IrIns *new_ins(Fix *x, Op op) {
  IrVal v[32];
  const OpInfo *info = &op_info[op];
  for (int i = 0; i < info->nparams; i++) v[i] = info->params[i].def;
  IrIns *ins = ir_append(x->m, x->f, op, v, (uint32_t)info->nparams);
  assert_non_null(ins);
  return ins;
}
__attribute__((unused)) static void set(IrIns *ins, const char *param, IrVal v) {
  int i = op_param(&op_info[ins->op], param, strlen(param));
  if (i < 0) fail_msg("no parameter %s of %s", param, op_info[ins->op].name);
  ins->v[i] = v;
}

__attribute__((unused)) static void accept(Fix *x, const IrIns *ins) {
  diag_clear(&x->d);
  if (!ir_check_ins(x->m, x->f, ins, &x->d)) fail_msg("refused: %s", diag_message(&x->d));
}
/* The instruction is refused with this id and a message that holds every one of the words (NULL-terminated). */
__attribute__((unused)) static void refuse_words(Fix *x, const IrIns *ins, ErrId id, const char *const *words) {
  diag_clear(&x->d);
  if (ir_check_ins(x->m, x->f, ins, &x->d)) fail_msg("accepted, expected %s", err_name(id));
  if (x->d.id != id) fail_msg("%s: %s; expected %s", err_name(x->d.id), diag_message(&x->d), err_name(id));
  for (int i = 0; words[i]; i++)
    if (!strstr(diag_message(&x->d), words[i])) fail_msg("'%s' lacks '%s'", diag_message(&x->d), words[i]);
}
#define REFUSE(x, ins, id, ...) refuse_words(x, ins, ERR_##id, (const char *const[]){__VA_ARGS__, NULL})

__attribute__((unused)) static void expect_error(const Diag *d, ErrId id, const char *word) {
  if (d->id != id) fail_msg("%s: %s; expected %s", err_name(d->id), diag_message(d), err_name(id));
  if (!strstr(diag_message(d), word)) fail_msg("'%s' lacks '%s'", diag_message(d), word);
}
#endif
