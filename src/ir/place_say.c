/* place_say.c -- room ir: what to tell about buffers that do not fit: numbers in bytes per partition and the live
 * tiles. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "place.h"
#include "say.h"

#define LL(x) ((long long)(x))

/* "198,024" */
static const char *grouped(int64_t v, char out[32]) {
  char raw[24];
  int n = snprintf(raw, sizeof raw, "%lld", LL(v)), k = 0;
  for (int i = 0; i < n; i++) {
    out[k++] = raw[i];
    if ((n - 1 - i) % 3 == 0 && i + 1 < n) out[k++] = ',';
  }
  out[k] = '\0';
  return out;
}

typedef struct Event {
  uint32_t pos;
  int64_t bytes; /* < 0: dies before this position */
} Event;

static int by_pos(const void *a, const void *b) {
  const Event *x = a, *y = b;
  if (x->pos != y->pos) return x->pos < y->pos ? -1 : 1;
  return (x->bytes > 0) - (y->bytes > 0);
}

int64_t place_peak(const Place *p, uint32_t *at) {
  Event *e = arena_newn(&p->m->arena, Event, (size_t)p->n * 2);
  if (!e) return 0;
  for (uint32_t i = 0; i < p->n; i++) {
    int64_t bytes = (p->slot[i]->bytes + 3) / 4 * 4;
    e[2 * i] = (Event){p->slot[i]->first, bytes};
    e[2 * i + 1] = (Event){p->slot[i]->last + 1, -bytes};
  }
  qsort(e, (size_t)p->n * 2, sizeof *e, by_pos);
  int64_t now = 0, peak = 0;
  for (uint32_t i = 0; i < p->n * 2; i++) {
    now += e[i].bytes;
    if (now <= peak) continue;
    peak = now;
    if (at) *at = e[i].pos;
  }
  return peak;
}

static void say_line(const Place *p, const IrBuf *b, char out[160]) {
  out[0] = '\0';
  if (b->loc == 0 || b->loc >= p->m->nlocs) return;
  snprintf(out, 160, ", %.120s:%d", p->m->locs[b->loc].file, p->m->locs[b->loc].line);
}

static int by_bytes(const void *a, const void *b) {
  const Slot *x = *(Slot *const *)a, *y = *(Slot *const *)b;
  if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
  return x->buf->id < y->buf->id ? -1 : x->buf->id > y->buf->id;
}

/* The tiles alive at instruction `at`, largest first, one note each. */
static void note_live(const Place *p, uint32_t at) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->n; i++)
    if (p->slot[i]->first <= at && at <= p->slot[i]->last) p->scratch[n++] = p->slot[i];
  qsort(p->scratch, n, sizeof *p->scratch, by_bytes);
  for (uint32_t i = 0; i < n && i < 20; i++) {
    Say s;
    char num[32], line[160];
    say_line(p, p->scratch[i]->buf, line);
    diag_note(p->d, "live: %s, %s bytes per partition%s", say_buf(p->scratch[i]->buf, &s),
              grouped(p->scratch[i]->bytes, num), line);
  }
  if (n > 20) diag_note(p->d, "and %u smaller tiles", n - 20);
}

static void blame(const Place *p, const IrBuf *b) { ir_diag_where(p->m, b->loc, 0, p->d); }

bool place_failed(const Place *p, const Slot *stuck) {
  Say s;
  char a[32], b[32], c[32];
  uint32_t at = stuck->first;
  int64_t peak = place_peak(p, &at);
  const char *space = p->psum ? "psum" : "sbuf";
  if (peak > p->capacity) {
    /* the allocation that crossed the line is the one to look at */
    const Slot *last = stuck;
    for (uint32_t i = 0; i < p->n; i++)
      if (p->slot[i]->first == at) last = p->slot[i];
    DIAG(p->d, memory_overflow, space, grouped(peak, a), grouped(p->capacity, b), say_buf(last->buf, &s));
    blame(p, last->buf);
  } else {
    at = stuck->first;
    DIAG(p->d, memory_fragmented, space, say_buf(stuck->buf, &s), grouped(stuck->bytes, a), grouped(peak, b),
         grouped(p->capacity, c));
    blame(p, stuck->buf);
  }
  note_live(p, at);
  return false;
}

bool place_overlap(const Place *p, const Slot *a, const Slot *b) {
  Say s, t;
  const Slot *later = a->buf->id > b->buf->id ? a : b, *earlier = later == a ? b : a;
  DIAG(p->d, memory_overlap, say_buf(later->buf, &s), LL(later->byte), LL(later->byte + later->bytes - 1),
       say_buf(earlier->buf, &t), LL(earlier->byte), LL(earlier->byte + earlier->bytes - 1));
  blame(p, later->buf);
  return false;
}
