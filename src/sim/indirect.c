/* indirect.c -- room sim: tensor indirection: the picked elements of a view become memory of their own (a window) for
 * one instruction, with their shadow; so no engine's arithmetic knows of them. */
#include <string.h>

#include "exec.h"

int64_t window_place(const Window *w, int64_t at) {
  int64_t p = at / w->n;
  return w->tile->offset + p * w->row + w->at[p / w->group * w->n + at % w->n];
}

/* ---- the numbers ------------------------------------------------------------------------------------------------- */
static bool bad_number(Sim *s, const Window *w, const int64_t row_column[2], int64_t number) {
  Text where;
  text_init(&where, s->alloc);
  text_printf(&where, "number [%lld, %lld] of its index tensor picks element %lld of %lld per partition",
              (long long)row_column[0], (long long)row_column[1], (long long)number, (long long)w->tile->dyn_max + 1);
  return acc_bad(s, w->tile, &where);
}

/* Element k of partition p, in elements of the buffer. */
static int64_t element(const Acc *a, int64_t p, int64_t k) {
  int64_t at = a->off + p * a->pstride;
  for (int d = a->nf - 1; d >= 0; d--) {
    at += k % a->f[d].count * a->f[d].stride;
    k /= a->f[d].count;
  }
  return at;
}

static bool read_numbers(Sim *s, const Window *w, int64_t *at) {
  Acc x;
  bool written = true;
  if (!acc_resolve(s, w->tile->vec, &x)) return false;
  for (int64_t g = 0; g < w->ngroup; g++)
    for (int64_t i = 0; i < w->n; i++) {
      int64_t e = element(&x, g * w->group + i % w->group, i / w->group);
      written = written && bits_count(&x.mem->written, granule(&x, e), granule(&x, 1)) == granule(&x, 1);
    }
  if (!written && !acc_check(s, &x)) return false;
  for (int64_t g = 0; g < w->ngroup; g++)
    for (int64_t i = 0; i < w->n; i++) {
      const int64_t where[2] = {g * w->group + i % w->group, i / w->group};
      int64_t v = elem_int(x.dt, x.mem->data + element(&x, where[0], where[1]) * x.bytes);
      if (v > w->tile->dyn_max) return bad_number(s, w, where, v);
      at[g * w->n + i] = v;
    }
  return true;
}

/* The same number twice in one list: what is written there is decided by the order, which the hardware does not give.
 */
static bool warn_twice(Sim *s, const Window *w) {
  size_t bytes = (size_t)(w->tile->dyn_max / 8 + 1);
  uint8_t *seen = scratch(s, SCR_TMP, bytes);
  if (!seen) return false;
  for (int64_t g = 0; g < w->ngroup; g++) {
    memset(seen, 0, bytes);
    for (int64_t i = 0; i < w->n; i++) {
      int64_t v = w->at[g * w->n + i];
      if (seen[v / 8] >> (v % 8) & 1) return say_picked_twice(s, w->tile, v), true;
      seen[v / 8] |= (uint8_t)(1u << (v % 8));
    }
  }
  return true;
}

/* ---- elements ---------------------------------------------------------------------------------------------------- */
static inline int64_t bits_at(const Window *w, int64_t element, int64_t bytes) {
  return element * bytes >> w->mem.shift;
}

/* Bits of n granules from one set to another. */
static void copy_bits(Bits *to, int64_t at, const Bits *from, int64_t from_at, int64_t n) {
  for (int64_t k = 0; k < n; k++) {
    if (bits_test(from, from_at + k)) {
      bits_set(to, at + k, 1);
    } else {
      bits_clear(to, at + k, 1);
    }
  }
}

static void gather(Sim *s, Window *w, int64_t bytes) {
  SimMem *m = w->base;
  int64_t n = w->mem.bytes / bytes, per = bytes >> m->shift;
  if (m->written.state != BITS_ALL) mem_fill(m);
  for (int64_t k = 0; k < n; k++) memcpy(w->mem.data + k * bytes, m->data + window_place(w, k) * bytes, (size_t)bytes);
  w->mem.written.state = m->written.state == BITS_ALL ? BITS_ALL : BITS_NONE;
  w->mem.started.state = m->started.state == BITS_ALL ? BITS_ALL : BITS_NONE;
  bool partial = w->dst && op_info[s->ins->op].effects & FX_PARTIAL;
  if (partial) bits_reset(&w->mem.written); /* then exactly what is chosen will be written */
  for (int64_t k = 0; k < n; k++) {
    int64_t from = bits_at(w, window_place(w, k), bytes), to = bits_at(w, k, bytes);
    if (m->written.state == BITS_SOME) copy_bits(&w->mem.written, to, &m->written, from, per);
    if (m->started.state == BITS_SOME) copy_bits(&w->mem.started, to, &m->started, from, per);
  }
}

static void scatter(const Window *w) {
  SimMem *m = w->base;
  int64_t bytes = dtype_bytes(w->mem.dt), per = bytes >> m->shift, n = w->mem.bytes / bytes;
  if (m->data != m->home) mem_own(m, false);
  for (int64_t k = 0; k < n; k++) {
    int64_t at = window_place(w, k), to = bits_at(w, at, bytes), from = bits_at(w, k, bytes);
    if (bits_count(&w->mem.written, from, per) != per) continue;
    memcpy(m->data + at * bytes, w->mem.data + k * bytes, (size_t)bytes);
    bits_set(&m->written, to, per);
    copy_bits(&m->started, to, &w->mem.started, from, per);
  }
}

/* ---- windows ----------------------------------------------------------------------------------------------------- */
static bool writes(const IrIns *ins, const IrTile *t) {
  const OpInfo *op = &op_info[ins->op];
  for (int k = 0; k < op->nparams; k++)
    if (ins->v[k].kind == V_TILE && ins->v[k].u.tile == t && op->params[k].role == DST) return true;
  return false;
}

/* Its memory in one block: numbers, elements, two bit sets. */
static bool make_room(Sim *s, Window *w, int64_t bytes) {
  int64_t numbers = w->ngroup * w->n, elements = w->tile->dim[0].count * w->n * bytes;
  int64_t bits = elements >> w->base->shift, words = (bits + 63) / 64;
  size_t size = (size_t)(8 * (numbers + 2 * words) + elements);
  uint64_t *room = scratch(s, SCR_WINDOW + s->nwindow, size);
  if (!room) return false;
  int64_t *at = (int64_t *)(void *)room;
  w->mem.written = (Bits){.n = bits, .w = room + numbers};
  w->mem.started = (Bits){.n = bits, .w = room + numbers + words};
  w->mem.home = w->mem.data = (char *)(room + numbers + 2 * words);
  w->mem.bytes = elements;
  w->at = at;
  return read_numbers(s, w, at);
}

SimMem *window_open(Sim *s, const IrTile *t, bool dst) {
  bool is_dst = dst && writes(s->ins, t);
  for (int k = 0; k < s->nwindow; k++)
    if (s->window[k].tile == t && s->window[k].dst == is_dst) return &s->window[k].mem;
  if (s->nwindow == WINDOWS) return NK_BUG(s->d, "an instruction has more indirect views than any row"), NULL;
  Window *w = &s->window[s->nwindow];
  const SimBuf *b = &s->buf[t->buf];
  int64_t group = pick_group(ir_engine(s->f, s->ins));
  *w = (Window){.tile = t, .dst = is_dst, .base = b->mem, .n = t->dim[1].count, .group = group};
  w->row = s->f->bufs[t->buf]->row;
  w->ngroup = (t->dim[0].count + group - 1) / group;
  w->mem = (SimMem){.ir = b->mem->ir, .dt = b->dt, .shift = b->mem->shift, .filled = true, .window = w};
  if (!make_room(s, w, b->bytes)) return NULL;
  if (is_dst && !warn_twice(s, w)) return NULL;
  gather(s, w, b->bytes);
  s->nwindow++;
  return &w->mem;
}

void windows_close(Sim *s) {
  for (int k = 0; k < s->nwindow; k++)
    if (s->window[k].dst) scatter(&s->window[k]);
  s->nwindow = 0;
}
