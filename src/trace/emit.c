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
    int p = __builtin_ctz(left);
    const IrVal *v = &ins->v[p];
    if (write && op_info[ins->op].params[p].role == INOUT && !ir_writes(ins, p)) continue;
    if (v->kind == V_TILE) mark_hbm(t, v->u.tile, write);
    for (uint32_t k = 0; v->kind == V_TILES && k < v->n; k++) mark_hbm(t, v->u.tiles[k], write);
  }
}

IrIns *tr_begin_ins(Trace *t, Op op) {
  IrIns *ins = ir_ins_new(t->m, op, (uint32_t)op_info[op].nparams);
  if (!ins) return tr_oom(t), NULL;
  memcpy(ins->v, op_info[op].defaults, ins->nval * sizeof *ins->v);
  return ins;
}

static bool check(Trace *t, const IrIns *ins, struct TrPassed *passed) {
  uint32_t spaces;
  if (passed->ins && ir_ins_alike(t->f, passed->ins, ins)) return true;
  if (!ir_check_ins_spaces(t->m, t->f, ins, &spaces, t->d)) return false;
  *passed = (struct TrPassed){ins, spaces};
  return true;
}

bool tr_emit_ins(Trace *t, IrIns *ins, const char *label) {
  TrImpl *i = impl(t);
  struct TrPassed *passed = &i->passed[ins->op];
  if (t->f->nins >= (uint64_t)t->spec.max_instr) {
    DIAG(t->d, too_many_instructions, t->spec.func_name, (long long)t->spec.max_instr);
    return tr_fail_here(t);
  }
  ins->loc = t->loc;
  ins->iter = t->iter;
  if (label) ins->label = arena_strdup(&t->m->arena, label, strlen(label));
  if (!check(t, ins, passed)) return false; /* the kernel may catch the error and go on */
  if (!ir_ins_push(t->m, t->f, ins)) return tr_oom(t);
  if (passed->spaces & (1u << SP_private_hbm | 1u << SP_shared_hbm)) {
    mark_all(t, ins, i->src[ins->op], false);
    mark_all(t, ins, i->dst[ins->op], true);
  }
  if (t->loop && !t->folds) tr_carry_note(t, ins);
  return true;
}

IrIns *tr_emit(Trace *t, Op op, const IrVal *v, const char *label) {
  IrIns *ins = tr_begin_ins(t, op);
  if (!ins) return NULL;
  memcpy(ins->v, v, ins->nval * sizeof *v);
  return tr_emit_ins(t, ins, label) ? ins : NULL;
}

/* Does what is written lie in the tensor of `tile` and, for all that is known, outside of box (NULL: holds nothing)? */
static bool lies_beyond(const Trace *t, const IrTile *written, const IrTile *tile, const Region *box) {
  Region r;
  if (tr_base(t->f, written) != tr_base(t->f, tile)) return false;
  return !box || !region_of(t->f, written, &r) || !region_holds(box, &r);
}

bool tr_wrote_beyond(const Trace *t, const IrTile *tile, const IrTile *box, uint32_t from) {
  Region region;
  const Region *in = box && region_of(t->f, box, &region) ? &region : NULL;
  for (uint32_t k = from; k < t->f->nins; k++) {
    const IrIns *ins = t->f->ins[k];
    uint32_t left = ins->op < OP_count ? impl(t)->dst[ins->op] : 0; /* structure writes no tile */
    for (; left; left &= left - 1) {
      const IrVal *v = &ins->v[__builtin_ctz(left)];
      if (v->kind == V_TILE && lies_beyond(t, v->u.tile, tile, in)) return true;
      for (uint32_t i = 0; v->kind == V_TILES && i < v->n; i++)
        if (lies_beyond(t, v->u.tiles[i], tile, in)) return true;
    }
  }
  return false;
}
