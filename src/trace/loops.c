/* loops.c -- room trace: traced loops only bracket their iterations; device loops are instructions. */
#include "impl.h"

static TrLoop *push(Trace *t, int kind) {
  TrImpl *i = impl(t);
  TrLoop *loop = i->spare;
  if (loop) {
    i->spare = loop->up;
    for (uint32_t k = 0; loop->ncarry && k < loop->capcarry; k++) loop->carry[k].buf = 0;
  } else if (!(loop = arena_new(&i->arena, TrLoop))) {
    tr_oom(t);
    return NULL;
  }
  *loop = (TrLoop){.up = t->loop,
                   .id = ++i->next_loop,
                   .kind = kind,
                   .loc = t->loc,
                   .iter = t->iter,
                   .first_buf = t->f->nbufs,
                   .iter_buf = t->f->nbufs,
                   .ins = t->f->nins,
                   .carry = loop->carry,
                   .capcarry = loop->capcarry};
  t->loop = loop;
  return loop;
}

static void pop(Trace *t) {
  TrLoop *loop = t->loop;
  t->loop = loop->up;
  t->iter = loop->iter;
  loop->up = impl(t)->spare;
  impl(t)->spare = loop;
}

static TrLoop *find(Trace *t, uint32_t id) {
  TrLoop *loop = t->loop;
  while (loop && loop->id != id) loop = loop->up;
  return loop;
}

static const char *kind_name(int kind) {
  static const char *const names[] = {"nl.affine_range", "nl.sequential_range", "nl.static_range",
                                      "nl.dynamic_range or nl.fori_loop", "nl.while_loop"};
  return names[kind];
}

/* Loops inside `loop` that are still open: traced ones just end; a device loop cannot. */
static bool drop_inner(Trace *t, const TrLoop *loop) {
  while (t->loop != loop) {
    if (t->loop->kind >= TR_DYNAMIC) {
      const IrLoc *at = &t->m->locs[t->loop->loc];
      DIAG(t->d, loop_left_open, kind_name(t->loop->kind), t->loop->loc ? at->file : "?", t->loop->loc ? at->line : 0);
      return tr_fail_here(t);
    }
    pop(t);
  }
  return true;
}

uint32_t tr_loop_open(Trace *t, TrRange kind) {
  TrLoop *loop = push(t, (int)kind);
  return loop ? loop->id : 0;
}

bool tr_iter_begin(Trace *t, uint32_t id, int64_t value) {
  TrLoop *loop = find(t, id);
  if (!loop) return DIAG0(t->d, loop_not_open), tr_fail_here(t);
  if (!drop_inner(t, loop)) return false;
  if (loop->trips++ && loop->kind == TR_AFFINE) tr_carry_iteration(loop);
  loop->iter_buf = t->f->nbufs;
  t->iter = ir_iter(t->m, loop->iter, loop->loc, value);
  return !t->m->arena.oom || tr_oom(t);
}

int tr_open_loops(const Trace *t, TrOpen *out, int max) {
  int n = 0;
  uint32_t iter = t->iter;
  for (const TrLoop *loop = t->loop; loop && loop->kind < TR_DYNAMIC && n < max; loop = loop->up) {
    if (iter != loop->iter) out[n++] = (TrOpen){loop->id, t->m->iters[iter].value};
    iter = loop->iter;
  }
  return n;
}

bool tr_loop_close(Trace *t, uint32_t id) {
  TrLoop *loop = find(t, id);
  if (!loop) return true;
  if (!drop_inner(t, loop)) return false;
  pop(t);
  return true;
}

static uint32_t device_begin(Trace *t, int kind, const IrVal *v, uint32_t n, uint32_t *idx) {
  if (impl(t)->reorder) {
    DIAG(t->d, no_reorder_loop, kind_name(kind));
    tr_fail_here(t);
    return 0;
  }
  TrLoop *loop = push(t, kind);
  IrIns *ins = loop ? ir_append(t->m, t->f, (Op)(kind == TR_WHILE ? CORE_while : CORE_for), v, n) : NULL;
  if (!ins) {
    tr_oom(t);
    return 0;
  }
  ins->loc = t->loc;
  ins->iter = t->iter;
  if (idx) ins->result = *idx = ir_new_index(t->f);
  return loop->id;
}

uint32_t tr_for_begin(Trace *t, IrVal lower, IrVal upper, int64_t step, uint32_t *idx) {
  IrVal v[3] = {lower, upper, {.kind = V_INT, .u.i = step}};
  if (step < 1) {
    DIAG(t->d, loop_step, kind_name(TR_DYNAMIC), (long long)step);
    tr_fail_here(t);
    return 0;
  }
  return device_begin(t, TR_DYNAMIC, v, 3, idx);
}

uint32_t tr_while_begin(Trace *t, uint32_t reg) {
  IrVal v = {.kind = V_REG, .u.reg = reg};
  return device_begin(t, TR_WHILE, &v, 1, NULL);
}

bool tr_device_end(Trace *t, uint32_t id) {
  TrLoop *loop = find(t, id);
  if (!loop || loop->kind < TR_DYNAMIC) return DIAG0(t->d, loop_not_open), tr_fail_here(t);
  if (!drop_inner(t, loop)) return false;
  IrIns *end = ir_append(t->m, t->f, (Op)(loop->kind == TR_WHILE ? CORE_end_while : CORE_end_for), NULL, 0);
  if (!end) return tr_oom(t);
  end->loc = loop->loc;
  end->iter = loop->iter;
  end->match = loop->ins;
  t->f->ins[loop->ins]->match = t->f->nins - 1;
  pop(t);
  return true;
}

bool tr_no_reorder(Trace *t, bool open) {
  TrImpl *i = impl(t);
  if (!open && i->reorder == 0) return NK_BUG(t->d, "no_reorder closed twice");
  if (open && i->reorder++ == 0) i->reorder_loc = t->loc;
  if (!open) i->reorder--;
  return true;
}
