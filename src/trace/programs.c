/* programs.c -- room trace: what a program returns, and how the programs of a grid become one module. */
#include "impl.h"

static const char *ordinal_name(const Trace *t, const TrOut *o) {
  const TrImpl *i = impl(t);
  return o->is_arg ? i->args[o->index].name : i->shared[o->index].name;
}

/* An output is a whole tensor in shared_hbm, as it was made. */
static bool check_output(Trace *t, const IrTile *tile, uint32_t k) {
  const IrBuf *b = t->f->bufs[tile->buf];
  const char *kernel = t->spec.func_name;
  if (b->space != SP_shared_hbm) return DIAG(t->d, io_space, kernel, k, b->name, space_name(b->space));
  if (b->kind == BUF_CONST) return DIAG(t->d, output_constant, kernel, k, b->name);
  bool same = tile->whole && b->kind != BUF_VIEW && tile->rank == b->rank;
  for (int d = 0; same && d < b->rank; d++) same = tile->dim[d].count == b->shape[d];
  if (same) return true;
  Text what;
  text_init(&what, impl(t)->alloc);
  tile_describe(t->f, tile, &what);
  DIAG(t->d, output_view, kernel, k, text_str(&what), t->f->bufs[b->kind == BUF_VIEW ? b->base : b->id]->name);
  text_free(&what);
  return false;
}

bool tr_return(Trace *t, const IrTile *const *outputs, uint32_t n, bool is_sequence) {
  TrImpl *i = impl(t);
  i->nmine = 0;
  for (uint32_t k = 0; k < n; k++) {
    if (!check_output(t, outputs[k], k)) return tr_fail_here(t);
    const IrBuf *b = t->f->bufs[outputs[k]->buf];
    bool is_arg = b->kind == BUF_ARG;
    if (!arena_push(&i->arena, i->mine, i->capmine, i->nmine)) return tr_oom(t);
    i->mine[i->nmine++] = (TrOut){is_arg, is_arg ? b->id : (uint32_t)b->shared_ordinal, b->loc};
  }
  if (!i->has_outs) i->is_sequence = is_sequence;
  if (i->is_sequence != is_sequence)
    return DIAG(t->d, spmd_sequence, t->spec.func_name, (long long)t->program), tr_fail_here(t);
  i->returned = true;
  return true;
}

/* All programs return the same outputs; the first one's are kept. */
static bool join_outputs(Trace *t) {
  TrImpl *i = impl(t);
  if (i->nown < i->nshared)
    return DIAG(t->d, spmd_allocation_fewer, t->spec.func_name, i->shared[i->nown].name, (long long)t->program, i->nown,
                i->nshared);
  if (!i->has_outs) {
    i->has_outs = true;
    for (uint32_t k = 0; k < i->nmine; k++) {
      if (!arena_push(&i->arena, i->outs, i->capouts, i->nouts)) return tr_oom(t);
      i->outs[i->nouts++] = i->mine[k];
    }
    return true;
  }
  if (i->nmine != i->nouts)
    return DIAG(t->d, spmd_output_count, t->spec.func_name, i->nouts, (long long)t->program, i->nmine);
  for (uint32_t k = 0; k < i->nouts; k++)
    if (i->outs[k].is_arg != i->mine[k].is_arg || i->outs[k].index != i->mine[k].index)
      return DIAG(t->d, spmd_output, t->spec.func_name, k, ordinal_name(t, &i->outs[k]), (long long)t->program,
                  ordinal_name(t, &i->mine[k]));
  return true;
}

static bool check_closed(Trace *t) {
  TrImpl *i = impl(t);
  for (const TrLoop *loop = t->loop; loop; loop = loop->up) {
    const IrLoc *at = &t->m->locs[loop->loc];
    const char *what = loop->kind >= TR_DYNAMIC ? "a device loop" : "a loop";
    if (loop->kind < TR_DYNAMIC) continue;
    DIAG(t->d, loop_left_open, what, loop->loc ? at->file : "?", loop->loc ? at->line : 0);
    ir_diag_where(t->m, loop->loc, 0, t->d);
    return false;
  }
  if (i->reorder) {
    const IrLoc *at = &t->m->locs[i->reorder_loc];
    DIAG(t->d, no_reorder_open, i->reorder_loc ? at->file : "?", i->reorder_loc ? at->line : 0);
    ir_diag_where(t->m, i->reorder_loc, 0, t->d);
    return false;
  }
  return true;
}

bool tr_end_program(Trace *t) {
  TrImpl *i = impl(t);
  IrModule *m = t->m;
  if (!i->began || !i->returned) return NK_BUG(t->d, "a program ends without tr_return");
  if (!check_closed(t) || !join_outputs(t)) return tr_fail_here(t);
  t->f->rets = arena_newn(&m->arena, uint32_t, i->nmine);
  if (!t->f->rets) return tr_oom(t);
  t->f->nrets = i->nmine;
  for (uint32_t k = 0; k < i->nmine; k++)
    t->f->rets[k] = i->mine[k].is_arg ? i->mine[k].index : i->own[i->mine[k].index];
  if (t->program == i->capprogram) {
    int64_t cap = i->capprogram ? i->capprogram * 2 : 8;
    uint32_t *grown = arena_newn(&i->arena, uint32_t, cap);
    if (!grown) return tr_oom(t);
    for (int64_t k = 0; k < t->program; k++) grown[k] = i->program[k];
    i->program = grown;
    i->capprogram = cap;
  }
  uint32_t same = 0;
  while (same < m->nfunc - 1 && !ir_func_equal(m, m->func[same], t->f)) same++;
  i->program[t->program++] = same;
  if (same < m->nfunc - 1) {
    ir_func_drop(m);
    /* its memory goes with it unless a table that others use has grown meanwhile */
    if (m->nlocs == i->mark_locs && m->niters == i->mark_iters) {
      m->func = i->mark_func;
      arena_rewind(&m->arena, i->mark);
    }
  }
  t->f = NULL;
  i->began = false;
  i->done++;
  return !m->arena.oom || tr_oom(t);
}
