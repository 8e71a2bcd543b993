/* lifetimes.c -- room ir: what each instruction uses, and from where to where each buffer is alive. */
#include <string.h>

#include "uses.h"

void ins_each_buf(const IrFunc *f, const IrIns *ins, void (*use)(void *ctx, uint32_t buf), void *ctx) {
  if (ins->op == CORE_alloc) return;
  for (uint32_t i = 0; i < ins->nval; i++) {
    const IrVal *v = &ins->v[i];
    if (v->kind == V_REG) use(ctx, v->u.reg);
    if (v->kind == V_TILES)
      for (uint32_t k = 0; k < v->n; k++) {
        use(ctx, v->u.tiles[k]->buf);
        if (v->u.tiles[k]->vec) use(ctx, v->u.tiles[k]->vec->buf);
      }
    if (v->kind != V_TILE) continue;
    use(ctx, v->u.tile->buf);
    if (v->u.tile->vec) use(ctx, v->u.tile->vec->buf);
  }
  (void)f;
}

enum { MAX_LOOPS = 64 }; /* a use deeper inside lasts to the end of the deepest loop kept: longer, never too short */

typedef struct Walk {
  const IrFunc *f;
  uint32_t *first, *last;
  uint32_t pos;
  uint32_t begin[MAX_LOOPS], end[MAX_LOOPS];
  int depth;
} Walk;

static void use_buf(void *ctx, uint32_t buf) {
  Walk *w = ctx;
  if (buf >= w->f->nbufs) return;
  if (w->f->bufs[buf]->kind == BUF_VIEW) buf = w->f->bufs[buf]->base;
  if (buf >= w->f->nbufs) return;
  uint32_t until = w->pos;
  int open = w->depth < MAX_LOOPS ? w->depth : MAX_LOOPS;
  if (w->depth > MAX_LOOPS) until = w->end[MAX_LOOPS - 1];
  for (int i = 0; i < open; i++) { /* outermost loop that the buffer comes into from outside */
    if (w->begin[i] < w->first[buf]) continue;
    until = w->end[i];
    break;
  }
  if (until > w->last[buf]) w->last[buf] = until;
}

/* Position of the end that closes the loop opened at `at`; the last instruction when there is none. */
static uint32_t loop_end(const IrFunc *f, uint32_t at) {
  uint32_t m = f->ins[at]->match;
  if (m > at && m < f->nins && (f->ins[m]->op == CORE_end_for || f->ins[m]->op == CORE_end_while)) return m;
  int depth = 0;
  for (uint32_t i = at; i < f->nins; i++) {
    int op = f->ins[i]->op;
    if (op == CORE_for || op == CORE_while) depth++;
    if ((op == CORE_end_for || op == CORE_end_while) && --depth == 0) return i;
  }
  return f->nins - 1;
}

bool ir_lifetimes(const IrFunc *f, uint32_t *first, uint32_t *last) {
  Walk w = {.f = f, .first = first, .last = last};
  memset(first, 0, f->nbufs * sizeof *first);
  memset(last, 0, f->nbufs * sizeof *last);
  for (w.pos = 0; w.pos < f->nins; w.pos++) {
    const IrIns *ins = f->ins[w.pos];
    int op = ins->op;
    if (op == CORE_alloc && ins->v[0].u.i >= 0 && ins->v[0].u.i < f->nbufs) {
      uint32_t b = (uint32_t)ins->v[0].u.i;
      first[b] = last[b] = w.pos;
      continue;
    }
    if (op == CORE_for || op == CORE_while) {
      if (w.depth < MAX_LOOPS) {
        w.begin[w.depth] = w.pos;
        w.end[w.depth] = loop_end(f, w.pos);
      }
      w.depth++;
    }
    ins_each_buf(f, ins, use_buf, &w); /* a while reads its register before every iteration: inside the loop */
    if ((op == CORE_end_for || op == CORE_end_while) && w.depth) w.depth--;
  }
  for (uint32_t i = 0; i < f->nbufs; i++) { /* views live as long as their storage */
    const IrBuf *b = f->bufs[i];
    if (b->kind != BUF_VIEW || b->base >= f->nbufs) continue;
    first[i] = first[b->base];
    last[i] = last[b->base];
  }
  return true;
}
