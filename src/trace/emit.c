/* emit.c -- room trace: one instruction after another. This is the path every nl and nisa call takes: no allocation but
   the instruction itself, no text. */
#include <string.h>

#include "impl.h"

static void mark_hbm(Trace *t, const IrTile *tile, bool write) {
  TrImpl *i = impl(t);
  const IrBuf *b = tr_base(t->f, tile);
  if (!space_is_hbm(b->space)) return;
  if (b->kind == BUF_ARG) {
    TrArg *a = &i->args[b->id];
    if (write && !a->written) {
      a->write_loc = t->loc;
      a->write_iter = t->iter;
    }
    a->written = a->written || write;
    a->read = a->read || !write;
  } else if (write && b->shared_ordinal >= 0) {
    i->shared[b->shared_ordinal].written = true;
  }
}

static void mark_all(Trace *t, const IrIns *ins, uint32_t mask, bool write) {
  for (uint32_t left = mask; left; left &= left - 1) {
    const IrVal *v = &ins->v[__builtin_ctz(left)];
    if (v->kind == V_TILE) mark_hbm(t, v->u.tile, write);
    for (uint32_t k = 0; v->kind == V_TILES && k < v->n; k++) mark_hbm(t, v->u.tiles[k], write);
  }
}

IrIns *tr_emit(Trace *t, Op op, const IrVal *v, const char *label) {
  TrImpl *i = impl(t);
  if (t->f->nins >= (uint64_t)t->spec.max_instr) {
    DIAG(t->d, too_many_instructions, t->spec.func_name, (long long)t->spec.max_instr);
    tr_fail_here(t);
    return NULL;
  }
  IrIns *ins = ir_append(t->m, t->f, op, v, (uint32_t)op_info[op].nparams);
  if (!ins) return tr_oom(t), NULL;
  ins->loc = t->loc;
  ins->iter = t->iter;
  if (label) ins->label = arena_strdup(&t->m->arena, label, strlen(label));
  if (!ir_check_ins(t->m, t->f, ins, t->d)) {
    t->f->nins--; /* the kernel may catch the error and go on */
    return NULL;
  }
  mark_all(t, ins, i->src[op], false);
  mark_all(t, ins, i->dst[op], true);
  if (t->loop) tr_carry_note(t, ins);
  return ins;
}
