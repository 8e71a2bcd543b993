/* layout.c -- room sim: where the buffers of one program live: at free ranges of one arena, given back after their last
 * use. */
#include <string.h>

#include "exec.h"

typedef struct Holes { /* free ranges, by address */
  struct Hole {
    int64_t at, size;
  } * v;
  uint32_t n, cap;
  int64_t top;
} Holes;

static int64_t hole_take(Holes *h, int64_t size) {
  for (uint32_t k = 0; k < h->n; k++) {
    if (h->v[k].size < size) continue;
    int64_t at = h->v[k].at;
    h->v[k].at += size;
    h->v[k].size -= size;
    if (h->v[k].size == 0) memmove(&h->v[k], &h->v[k + 1], (--h->n - k) * sizeof *h->v);
    return at;
  }
  int64_t at = h->top;
  if (h->top < SIM_TOO_MUCH) h->top += size;
  return at;
}

/* Makes one of hole k and the next when they touch. */
static void join(Holes *h, uint32_t k) {
  if (h->v[k].at + h->v[k].size != h->v[k + 1].at) return;
  h->v[k].size += h->v[k + 1].size;
  memmove(&h->v[k + 1], &h->v[k + 2], (h->n - k - 2) * sizeof *h->v);
  h->n--;
}

static bool hole_give(Arena *a, Holes *h, int64_t at, int64_t size) {
  if (h->n == h->cap && !arena_push(a, h->v, h->cap, h->n)) return false;
  uint32_t k = h->n;
  while (k > 0 && h->v[k - 1].at > at) k--;
  memmove(&h->v[k + 1], &h->v[k], (h->n - k) * sizeof *h->v);
  h->v[k] = (struct Hole){at, size};
  h->n++;
  if (k + 1 < h->n) join(h, k);
  if (k > 0) join(h, k - 1);
  return true;
}

/* Lists, per instruction, the private buffers used there last. */
static bool list_deaths(Arena *a, const IrFunc *f, uint32_t **head, uint32_t **next) {
  uint32_t *first = arena_newn(a, uint32_t, f->nbufs), *last = arena_newn(a, uint32_t, f->nbufs);
  *head = arena_newn(a, uint32_t, f->nins + 1);
  *next = arena_newn(a, uint32_t, f->nbufs);
  if (a->oom || !ir_lifetimes(f, first, last)) return false;
  for (uint32_t id = 0; id < f->nbufs; id++) {
    if (!buf_is_private(f->bufs[id]) || last[id] >= f->nins) continue;
    (*next)[id] = (*head)[last[id]]; /* ids are stored + 1 */
    (*head)[last[id]] = id + 1;
  }
  return true;
}

bool layout_private(Arena *a, const IrFunc *f, const int64_t *room, int64_t *place, int64_t *bytes) {
  uint32_t *head, *next;
  Holes h = {0};
  if (!list_deaths(a, f, &head, &next)) return false;
  for (uint32_t id = 0; id < f->nbufs; id++) place[id] = -1;
  for (uint32_t i = 0; i < f->nins; i++) {
    const IrIns *ins = f->ins[i];
    if (ins->op == CORE_alloc) {
      uint32_t id = (uint32_t)ins->v[0].u.i;
      if (buf_is_private(f->bufs[id]) && place[id] < 0) place[id] = hole_take(&h, room[id]);
    }
    for (uint32_t id = head[i]; id; id = next[id - 1])
      if (place[id - 1] >= 0 && !hole_give(a, &h, place[id - 1], room[id - 1])) return false;
  }
  *bytes = h.top;
  return true;
}
