/* where.c -- room ir: source locations of a fault: its line, the call chain above it, the loop iterations around it. */
#include <string.h>

#include "ir.h"

enum { MAX_FRAMES = 20 };

static void add_line(Diag *d, const char *prefix, const IrLoc *l) {
  if (d->where.len) text_putc(&d->where, '\n');
  text_printf(&d->where, "%s%s:%d", prefix, l->file, l->line);
}

/* A recursion calls from one line over and over: the outermost location of such a run. */
static uint32_t same_line(const IrModule *m, uint32_t i) {
  for (uint32_t up = m->locs[i].parent; up && up < m->nlocs; up = m->locs[i].parent) {
    const IrLoc *l = &m->locs[i], *u = &m->locs[up];
    if (u->line != l->line || u->tail != l->tail || strcmp(u->file, l->file) != 0) break;
    i = up;
  }
  return i;
}

void ir_diag_where(const IrModule *m, uint32_t loc, uint32_t iter, Diag *d) {
  if (d->where.len || d->line) return; /* the first location given is kept */
  const char *prefix = "";
  int frames = 0;
  for (uint32_t i = loc; i && i < m->nlocs && frames < MAX_FRAMES; i = m->locs[i].parent, frames++) {
    const IrLoc *l = &m->locs[i];
    if (i == loc) diag_at(d, l->file, l->line);
    add_line(d, prefix, l);
    uint32_t last = i == loc ? i : same_line(m, i);
    if (last != i) text_puts(&d->where, " (repeatedly)");
    i = last;
    if (l->tail) text_puts(&d->where, "\n(tail call)");
    prefix = "called from ";
  }
  frames = 0;
  for (uint32_t i = iter; i && i < m->niters && frames < MAX_FRAMES; i = m->iters[i].parent, frames++) {
    const IrIter *it = &m->iters[i];
    if (d->where.len) text_putc(&d->where, '\n');
    text_printf(&d->where, "in the iteration with value %lld", (long long)it->value);
    if (it->loop_loc && it->loop_loc < m->nlocs)
      text_printf(&d->where, " of the loop at %s:%d", m->locs[it->loop_loc].file, m->locs[it->loop_loc].line);
  }
}
