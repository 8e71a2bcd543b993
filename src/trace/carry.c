/* carry.c -- room trace: values carried between iterations of affine_range, whose iterations a device may run in any
   order. A read of elements that this iteration has not written but an earlier one has is reported, once per buffer and
   loop. A matmul that accumulates does not read its destination here, so accumulation over affine iterations stays
   legal. */
#include <string.h>

#include "impl.h"

static Carry *lookup(Trace *t, TrLoop *loop, uint32_t buf, bool make) {
  uint32_t mask = loop->capcarry - 1, i = 0;
  if (loop->capcarry) {
    for (i = buf * 0x9E3779B1u & mask; loop->carry[i].buf; i = (i + 1) & mask)
      if (loop->carry[i].buf == buf + 1) return &loop->carry[i];
  }
  if (!make) return NULL;
  if (loop->ncarry * 2 >= loop->capcarry) {
    uint32_t cap = loop->capcarry ? loop->capcarry * 2 : 8;
    Carry *fresh = arena_newn(&impl(t)->arena, Carry, cap);
    if (!fresh) return NULL;
    for (uint32_t k = 0; k < loop->capcarry; k++) {
      if (!loop->carry[k].buf) continue;
      uint32_t at = (loop->carry[k].buf - 1) * 0x9E3779B1u & (cap - 1);
      while (fresh[at].buf) at = (at + 1) & (cap - 1);
      fresh[at] = loop->carry[k];
    }
    loop->carry = fresh;
    loop->capcarry = cap;
    return lookup(t, loop, buf, true);
  }
  loop->carry[i] = (Carry){.buf = buf + 1};
  loop->ncarry++;
  return &loop->carry[i];
}

static void remember(Trace *t, RegionSet *set, const Region *r) {
  if (!set->r) set->r = arena_newn(&impl(t)->arena, Region, CARRY_KEPT);
  if (!set->r) return;
  for (uint32_t i = 0; i < set->n; i++)
    if (region_equal(&set->r[i], r)) return;
  set->r[set->next] = *r;
  set->next = (set->next + 1) % CARRY_KEPT;
  if (set->n < CARRY_KEPT) set->n++;
}

void tr_carry_iteration(TrLoop *loop) {
  for (uint32_t k = 0; k < loop->capcarry; k++) {
    Carry *c = &loop->carry[k];
    if (!c->buf || c->now.n == 0) continue;
    if (c->earlier.n == 0) { /* swap, so that the first iteration copies nothing */
      RegionSet empty = c->earlier;
      c->earlier = c->now;
      c->now = (RegionSet){.r = empty.r};
      continue;
    }
    for (uint32_t i = 0; i < c->now.n; i++) {
      bool known = false;
      for (uint32_t j = 0; j < c->earlier.n; j++) known = known || region_equal(&c->earlier.r[j], &c->now.r[i]);
      if (known) continue;
      c->earlier.r[c->earlier.next] = c->now.r[i];
      c->earlier.next = (c->earlier.next + 1) % CARRY_KEPT;
      if (c->earlier.n < CARRY_KEPT) c->earlier.n++;
    }
    c->now.n = c->now.next = 0;
  }
}

/* Has this iteration written what is read? Where an offset is known at run time only, the doubt is the user's: the same
   pattern counts as the same place. */
static bool fresh(const Carry *c, const Region *read) {
  int64_t written = 0;
  for (uint32_t i = 0; c && i < c->now.n; i++) {
    const Region *w = &c->now.r[i];
    if (region_moves(read) && region_equal(w, read)) return true;
    if (region_overlap(w, read) && !(region_moves(read) && region_moves(w))) written += w->count;
  }
  return written >= read->reach;
}

typedef enum Carried { CARRIED_NOT, CARRIED_PERHAPS, CARRIED } Carried;

static Carried carried(const TrLoop *loop, const Carry *c, const IrBuf *b, const Region *read) {
  Carried worst = CARRIED_NOT;
  if (fresh(c, read)) return CARRIED_NOT;
  if (b->id >= loop->first_buf) return CARRIED; /* made in an earlier iteration, which also wrote it */
  for (uint32_t i = 0; c && i < c->earlier.n; i++) {
    const Region *w = &c->earlier.r[i];
    if (!region_overlap(w, read)) continue;
    if (!region_moves(w) && !region_moves(read)) return CARRIED;
    worst = CARRIED_PERHAPS;
  }
  return worst;
}

/* First time that this line of this loop is warned about? */
static bool new_place(Trace *t, uint32_t loc, uint32_t loop) {
  TrImpl *i = impl(t);
  for (uint32_t k = 0; k < i->nplaces; k++)
    if (i->places[k].loc == loc && i->places[k].loop == loop) return false;
  if (!arena_push(&i->arena, i->places, i->capplaces, i->nplaces)) return false;
  i->places[i->nplaces++] = (struct TrPlace){loc, loop};
  return true;
}

static void warn(Trace *t, const TrLoop *loop, const char *what, uint32_t loc) {
  const IrLoc *at = &t->m->locs[loc], *head = &t->m->locs[loop->loc];
  Text line;
  text_init(&line, impl(t)->alloc);
  text_printf(&line,
              "warning: %s:%d: %s a value from one iteration of the affine_range loop at %s:%d to the next; "
              "its iterations may run in any order (use nl.sequential_range, or accumulate with matmuls in PSUM)\n",
              loc ? at->file : "?", loc ? at->line : 0, what, loop->loc ? head->file : "?", loop->loc ? head->line : 0);
  Text *all = &impl(t)->warnings;
  if (line.oom || !strstr(text_str(all), text_str(&line))) text_puts(all, text_str(&line));
  text_free(&line);
}

static void note(Trace *t, TrLoop *loop, const IrTile *tile, const IrIns *ins, bool write) {
  const IrBuf *b = tr_base(t->f, tile);
  Region r;
  if (b->id >= loop->iter_buf || !region_of(t->f, tile, &r)) return;
  Carry *c = lookup(t, loop, b->id, write);
  if (write) {
    if (c) remember(t, &c->now, &r);
    return;
  }
  Carried how = c && c->warned ? CARRIED_NOT : carried(loop, c, b, &r);
  if (how == CARRIED_NOT) return;
  if (!c) c = lookup(t, loop, b->id, true);
  if (c) c->warned = true;
  if (!new_place(t, ins->loc, loop->loc)) return;
  Text what;
  text_init(&what, impl(t)->alloc);
  text_printf(&what, how == CARRIED ? "'%s' carries" : "'%s', used at an offset known at run time only, may carry",
              b->name);
  warn(t, loop, text_str(&what), ins->loc);
  text_free(&what);
}

static void note_all(Trace *t, TrLoop *loop, const IrIns *ins, uint32_t mask, bool write) {
  for (uint32_t left = mask; left; left &= left - 1) {
    const IrVal *v = &ins->v[__builtin_ctz(left)];
    if (v->kind == V_TILE) note(t, loop, v->u.tile, ins, write);
    for (uint32_t i = 0; v->kind == V_TILES && i < v->n; i++) note(t, loop, v->u.tiles[i], ins, write);
  }
}

void tr_carry_note(Trace *t, const IrIns *ins) {
  uint32_t reads = impl(t)->src[ins->op], writes = impl(t)->dst[ins->op];
  if (op_info[ins->op].effects & FX_PARTIAL) reads |= writes;
  for (TrLoop *loop = t->loop; loop; loop = loop->up) {
    if (loop->kind != TR_AFFINE) continue;
    note_all(t, loop, ins, reads, false);
    note_all(t, loop, ins, writes, true);
  }
}
