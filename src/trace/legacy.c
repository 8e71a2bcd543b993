/* legacy.c -- room trace: the pass-by-reference kernels of LegacyFrameworkKernel. A written parameter is an output; one
   that is never read is no operand at all: its buffer becomes a shared_hbm allocation. */
#include <string.h>

#include "impl.h"

/* New ids of the arguments of a function: kept ones first, then the ones that become allocations. Other ids stay. */
typedef struct Renumber {
  uint32_t *id; /* by old id, for arguments */
  uint32_t nargs, kept;
} Renumber;

static bool drops(const TrArg *a) { return a->written && !a->read; }

static bool add_outputs(Trace *t) {
  TrImpl *i = impl(t);
  for (uint32_t a = 0; a < i->nargs; a++) {
    bool returned = false;
    for (uint32_t k = 0; k < i->nouts; k++) returned = returned || (i->outs[k].is_arg && i->outs[k].index == a);
    if (returned || !i->args[a].written) continue;
    if (!arena_push(&i->arena, i->outs, i->capouts, i->nouts)) return tr_oom(t);
    i->outs[i->nouts++] = (TrOut){true, a, i->args[a].write_loc};
    if (i->nouts > 1) i->is_sequence = true;
    for (uint32_t k = 0; k < t->m->nfunc; k++) {
      IrFunc *f = t->m->func[k];
      uint32_t *rets = arena_newn(&t->m->arena, uint32_t, f->nrets + 1);
      if (!rets) return tr_oom(t);
      memcpy(rets, f->rets, f->nrets * sizeof *rets);
      rets[f->nrets++] = a;
      f->rets = rets;
    }
  }
  return true;
}

static const IrTile *move_tile(Trace *t, const Renumber *r, const IrTile *tile) {
  if (tile->buf >= r->nargs && !tile->vec) return tile;
  IrTile *copy = ir_tile_new(t->m);
  if (!copy) return tile;
  *copy = *tile;
  if (tile->buf < r->nargs) copy->buf = r->id[tile->buf];
  if (tile->vec) copy->vec = move_tile(t, r, tile->vec);
  return copy;
}

static bool move_operands(Trace *t, const Renumber *r, IrFunc *f) {
  for (uint32_t k = 0; k < f->nins; k++) {
    for (uint32_t p = 0; p < f->ins[k]->nval; p++) {
      IrVal *v = &f->ins[k]->v[p];
      if (v->kind == V_TILE) v->u.tile = move_tile(t, r, v->u.tile);
      if (v->kind != V_TILES) continue;
      const IrTile **list = arena_newn(&t->m->arena, const IrTile *, v->n);
      if (!list) return tr_oom(t);
      for (uint32_t j = 0; j < v->n; j++) list[j] = move_tile(t, r, v->u.tiles[j]);
      v->u.tiles = list;
    }
  }
  return true;
}

/* Puts the allocations of the dropped arguments in front of the instructions. */
static bool insert_allocs(Trace *t, IrFunc *f, const Renumber *r) {
  uint32_t extra = r->nargs - r->kept, old = f->nins;
  for (uint32_t k = 0; k < extra; k++) {
    IrVal v = {.kind = V_INT, .u.i = r->kept + k};
    if (!ir_append(t->m, f, (Op)CORE_alloc, &v, 1)) return tr_oom(t);
  }
  IrIns **fresh = arena_newn(&t->m->arena, IrIns *, extra);
  if (!fresh) return tr_oom(t);
  memcpy(fresh, f->ins + old, extra * sizeof *fresh);
  memmove(f->ins + extra, f->ins, old * sizeof *f->ins);
  memcpy(f->ins, fresh, extra * sizeof *fresh);
  for (uint32_t k = extra; k < f->nins; k++) {
    int op = f->ins[k]->op;
    if (op == CORE_for || op == CORE_while || op == CORE_end_for || op == CORE_end_while) f->ins[k]->match += extra;
  }
  return true;
}

static bool rewrite(Trace *t, IrFunc *f, const Renumber *r, int32_t ordinal) {
  IrBuf **bufs = arena_newn(&t->m->arena, IrBuf *, r->nargs);
  const IrTile **whole = arena_newn(&t->m->arena, const IrTile *, r->nargs);
  if (!bufs || !whole) return tr_oom(t);
  for (uint32_t a = 0; a < r->nargs; a++) {
    IrBuf *b = f->bufs[a];
    b->id = r->id[a];
    bufs[b->id] = b;
    whole[b->id] = move_tile(t, r, f->whole[a]);
    if (b->id < r->kept) continue;
    b->kind = BUF_ALLOC;
    b->named = true;
    b->shared_ordinal = ordinal + (int32_t)(b->id - r->kept);
  }
  memcpy(f->bufs, bufs, r->nargs * sizeof *bufs);
  memcpy(f->whole, whole, r->nargs * sizeof *whole);
  f->nargs = r->kept;
  for (uint32_t k = r->nargs; k < f->nbufs; k++)
    if (f->bufs[k]->kind == BUF_VIEW && f->bufs[k]->base < r->nargs) f->bufs[k]->base = r->id[f->bufs[k]->base];
  for (uint32_t k = 0; k < f->nrets; k++)
    if (f->rets[k] < r->nargs) f->rets[k] = r->id[f->rets[k]];
  return move_operands(t, r, f) && insert_allocs(t, f, r);
}

/* The session's own tables after the renumbering. */
static bool move_tables(Trace *t, const Renumber *r) {
  TrImpl *i = impl(t);
  uint32_t ordinal = i->nshared;
  for (uint32_t a = 0; a < r->nargs; a++) {
    const IrBuf *b = t->m->func[0]->bufs[r->id[a]];
    if (r->id[a] < r->kept) continue;
    if (!arena_push(&i->arena, i->shared, i->capshared, i->nshared)) return tr_oom(t);
    TrShared *s = &i->shared[i->nshared++];
    *s = (TrShared){.dtype = b->dtype, .rank = b->rank, .name = b->name, .named = true, .written = true};
    memcpy(s->shape, b->shape, sizeof s->shape);
  }
  for (uint32_t k = 0; k < i->nouts; k++) {
    TrOut *o = &i->outs[k];
    if (!o->is_arg) continue;
    o->is_arg = r->id[o->index] < r->kept;
    o->index = o->is_arg ? r->id[o->index] : ordinal + r->id[o->index] - r->kept;
  }
  TrArg *args = arena_newn(&i->arena, TrArg, r->nargs);
  if (!args) return tr_oom(t);
  for (uint32_t a = 0; a < r->nargs; a++) args[r->id[a]] = i->args[a];
  i->args = args;
  i->nargs = r->kept;
  return true;
}

bool tr_legacy(Trace *t) {
  TrImpl *i = impl(t);
  Renumber r = {.nargs = i->nargs};
  if (!add_outputs(t)) return false;
  r.id = arena_newn(&i->arena, uint32_t, i->nargs);
  if (!r.id) return tr_oom(t);
  for (uint32_t a = 0; a < i->nargs; a++)
    if (!drops(&i->args[a])) r.id[a] = r.kept++;
  uint32_t next = r.kept;
  for (uint32_t a = 0; a < i->nargs; a++)
    if (drops(&i->args[a])) r.id[a] = next++;
  if (r.kept == r.nargs) return true;
  for (uint32_t k = 0; k < t->m->nfunc; k++)
    if (!rewrite(t, t->m->func[k], &r, (int32_t)i->nshared)) return false;
  return move_tables(t, &r);
}
