/* place.c -- room ir: addresses of on-chip buffers. docs/semantics.md, section "Placement", is the description.
   Two live buffers conflict when both their partitions and their bytes overlap. Buffers are taken in order of
   allocation and get the lowest free offset; when that fails, once more largest first over all lifetimes. address= is
   kept as given. */
#include "place.h"

#include <stdlib.h>
#include <string.h>

enum { BANK = 2048, RETRY_MAX = 32768 };
#define HUGE_BYTES (INT64_C(1) << 40)

static bool overlaps(const Slot *a, const Slot *b) {
  return a->part < b->part + b->parts && b->part < a->part + a->parts && a->byte < b->byte + b->bytes &&
         b->byte < a->byte + a->bytes;
}
static bool lives_with(const Slot *a, const Slot *b) { return a->first <= b->last && b->first <= a->last; }

/* SBUF: multiples of 4 bytes. PSUM: inside one bank when it fits, else from the start of a bank. */
static int64_t aligned(const Slot *s, int64_t byte) {
  byte = (byte + IR_PLACE_ALIGN - 1) / IR_PLACE_ALIGN * IR_PLACE_ALIGN;
  if (!s->psum) return byte;
  bool split = s->bytes > BANK ? byte % BANK != 0 : byte % BANK + s->bytes > BANK;
  return split ? (byte + BANK - 1) / BANK * BANK : byte;
}

/* Lowest offset where s overlaps none of the others (those it lives with); moves behind each one it hits, so each pass
   over the list raises the offset or ends. */
static bool fit(Slot *s, Slot *const *others, uint32_t n, int64_t capacity) {
  s->byte = 0;
  for (bool moved = true; moved;) {
    moved = false;
    s->byte = aligned(s, s->byte);
    for (uint32_t i = 0; i < n; i++) {
      if (!lives_with(s, others[i]) || !overlaps(s, others[i])) continue;
      s->byte = aligned(s, others[i]->byte + others[i]->bytes);
      moved = true;
    }
  }
  return s->byte + s->bytes <= capacity;
}

static int by_first(const void *a, const void *b) {
  const Slot *x = *(Slot *const *)a, *y = *(Slot *const *)b;
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  return x->buf->id < y->buf->id ? -1 : x->buf->id > y->buf->id;
}

static int by_size(const void *a, const void *b) {
  const Slot *x = *(Slot *const *)a, *y = *(Slot *const *)b;
  if (x->fixed != y->fixed) return x->fixed ? -1 : 1;
  if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
  return by_first(a, b);
}

/* In order of allocation, against those still alive. Fixed buffers that come later are obstacles from the start. */
static Slot *place_in_order(Place *p) {
  uint32_t live = 0, fixed = p->nfixed;
  Slot **near = p->scratch;
  for (uint32_t i = 0; i < p->n; i++) {
    Slot *s = p->slot[i];
    uint32_t kept = 0;
    for (uint32_t k = 0; k < live; k++)
      if (near[fixed + k]->last >= s->first) near[fixed + kept++] = near[fixed + k];
    live = kept;
    if (s->fixed) continue;
    if (!fit(s, near, fixed + live, p->capacity)) return s;
    near[fixed + live++] = s;
  }
  return NULL;
}

/* Largest first; each against all placed before it. */
static Slot *place_by_size(Place *p) {
  memcpy(p->scratch, p->slot, p->n * sizeof *p->slot);
  qsort(p->scratch, p->n, sizeof *p->scratch, by_size);
  for (uint32_t i = 0; i < p->n; i++)
    if (!p->scratch[i]->fixed && !fit(p->scratch[i], p->scratch, i, p->capacity)) return p->scratch[i];
  return NULL;
}

/* The buffers with address=, in order of allocation, each against those still alive. Leaves them in scratch[0..nfixed).
 */
static bool check_fixed(Place *p) {
  uint32_t live = 0;
  Slot **list = p->scratch;
  for (uint32_t i = 0; i < p->n; i++) {
    Slot *s = p->slot[i];
    if (!s->fixed) continue;
    uint32_t kept = 0;
    for (uint32_t k = 0; k < live; k++)
      if (list[k]->last >= s->first) list[kept++] = list[k];
    live = kept;
    for (uint32_t k = 0; k < live; k++)
      if (overlaps(s, list[k])) return place_overlap(p, list[k], s);
    list[live++] = s;
  }
  p->nfixed = 0;
  for (uint32_t i = 0; i < p->n; i++)
    if (p->slot[i]->fixed) list[p->nfixed++] = p->slot[i];
  return true;
}

static bool place_space(Place *p) {
  qsort(p->slot, p->n, sizeof *p->slot, by_first);
  if (!check_fixed(p)) return false;
  Slot *stuck = place_in_order(p);
  if (stuck && p->n <= RETRY_MAX && place_peak(p, NULL) <= p->capacity) stuck = place_by_size(p);
  if (stuck) return place_failed(p, stuck);
  for (uint32_t i = 0; i < p->n; i++) {
    p->slot[i]->buf->byte = p->slot[i]->byte;
    p->slot[i]->buf->part = p->slot[i]->part;
  }
  return true;
}

/* The buffers of one space, in p->slot. */
static void collect(Place *p, Slot *slots, const uint32_t *first, const uint32_t *last) {
  p->n = 0;
  for (uint32_t i = 0; i < p->f->nbufs; i++) {
    IrBuf *b = p->f->bufs[i];
    if (b->kind != BUF_ALLOC || b->space != (p->psum ? SP_psum : SP_sbuf)) continue;
    Slot *s = &slots[p->n];
    *s = (Slot){b, first[i], last[i], 0, (int32_t)b->shape[0], 0, b->part_bytes, b->has_address, p->psum};
    if (b->has_address) {
      s->part = b->part;
      s->byte = b->byte;
    }
    if (s->bytes > HUGE_BYTES) s->bytes = HUGE_BYTES; /* sums stay far from overflow */
    p->slot[p->n++] = s;
  }
}

static bool place_func(IrModule *m, IrFunc *f, Diag *d) {
  Place p = {.m = m, .f = f, .d = d};
  const ChipInfo *chip = chip_of(m->target);
  ArenaMark mark = arena_mark(&m->arena);
  uint32_t *first = arena_newn(&m->arena, uint32_t, f->nbufs), *last = arena_newn(&m->arena, uint32_t, f->nbufs);
  Slot *slots = arena_newn(&m->arena, Slot, f->nbufs);
  p.slot = arena_newn(&m->arena, Slot *, f->nbufs);
  p.scratch = arena_newn(&m->arena, Slot *, f->nbufs);
  if (m->arena.oom) return DIAG0(d, nomem);
  ir_lifetimes(f, first, last);
  bool ok = true;
  for (int psum = 0; psum < 2; psum++) {
    p.psum = psum;
    p.capacity = psum ? chip->psum_bytes : chip->sbuf_physical;
    collect(&p, slots, first, last);
    if (!place_space(&p)) ok = false;
  }
  for (uint32_t i = 0; i < f->nbufs; i++) {
    IrBuf *b = f->bufs[i];
    if (b->kind != BUF_VIEW) continue;
    b->part = f->bufs[b->base]->part;
    b->byte = f->bufs[b->base]->byte;
  }
  arena_rewind(&m->arena, mark);
  return ok;
}

bool ir_place(IrModule *m, Diag *d) {
  for (uint32_t i = 0; i < m->nfunc; i++)
    if (!place_func(m, m->func[i], d)) return false;
  return true;
}
