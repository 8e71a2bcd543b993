/* access.c -- room sim: where the elements of a tile are, whether they were written, and keeping reads before writes.
 */
#include <string.h>

#include "exec.h"

/* ---- resolution -------------------------------------------------------------------------------------------------- */
static void merge_free(Acc *a, const IrTile *t) {
  a->free = 1;
  a->nf = 0;
  for (int k = 1; k < t->rank; k++) {
    int64_t n = t->dim[k].count, stride = t->dim[k].stride;
    a->free *= n;
    if (n == 1) continue;
    IrDim *last = a->nf ? &a->f[a->nf - 1] : NULL;
    if (last && last->stride == stride * n) {
      last->stride = stride;
      last->count *= n;
    } else {
      a->f[a->nf++] = (IrDim){stride, n};
    }
  }
}

static void grow(int64_t stride, int64_t count, int64_t *lo, int64_t *hi) {
  *(stride > 0 ? hi : lo) += stride * (count - 1);
}

bool acc_bad(Sim *s, const IrTile *t, Text *where) {
  Text name, tensor;
  text_init(&name, s->alloc);
  text_init(&tensor, s->alloc);
  text_printf(&name, "%s: %s", op_full_name(s->ins), param_of(s->ins, t));
  tile_describe(s->f, ir_whole(s->f, t->buf), &tensor);
  DIAG(s->d, tensor_access_out_of_bound, text_str(&name), text_str(&tensor), text_str(where));
  text_free(&name);
  text_free(&tensor);
  text_free(where);
  return false;
}

/* Always false, s->d filled. */
static bool out_of_bound(Sim *s, const IrTile *t, int64_t start) {
  Text where;
  text_init(&where, s->alloc);
  text_puts(&where, "it begins at index ");
  say_index(&where, s->f->bufs[t->buf], start);
  text_printf(&where, ", run-time offset %lld of at most %lld elements", (long long)(start - t->offset),
              (long long)t->dyn_max);
  return acc_bad(s, t, &where);
}

bool acc_row_out_of_bound(Sim *s, const IrTile *t, int64_t row, int64_t index) {
  Text where;
  text_init(&where, s->alloc);
  text_printf(&where, "row %lld of its vector offset is index %lld of dimension %d, which has %lld", (long long)row,
              (long long)index, t->vec_dim, (long long)(t->dyn_max / t->dim[0].stride + 1));
  return acc_bad(s, t, &where);
}

/* A whole static buffer: nothing to merge or to check. */
static void resolve_whole(const IrTile *t, Acc *a) {
  int64_t free = 1;
  for (int k = 1; k < t->rank; k++) free *= t->dim[k].count;
  a->off = 0;
  a->parts = t->rank ? t->dim[0].count : 1;
  a->pstride = a->free = free;
  a->nf = free > 1;
  a->f[0] = (IrDim){1, free};
  a->p = a->mem->data;
  a->lo = a->p;
  a->hi = a->p + a->mem->bytes;
}

static bool resolve_picked(Sim *s, const IrTile *t, bool dst, Acc *a) {
  SimMem *m = window_open(s, t, dst);
  if (!m) return false;
  int bytes = (int)s->buf[t->buf].bytes;
  int64_t n = t->dim[1].count;
  *a = (Acc){.tile = t, .mem = m, .dt = m->dt, .bytes = bytes, .p = m->data, .lo = m->data, .hi = m->data + m->bytes};
  a->parts = t->dim[0].count;
  a->pstride = a->free = n;
  a->nf = n > 1;
  a->f[0] = (IrDim){1, n};
  return true;
}

bool acc_resolve(Sim *s, const IrTile *t, Acc *a) {
  const SimBuf *b = &s->buf[t->buf];
  SimMem *m = b->mem;
  a->tile = t;
  a->mem = m;
  a->dt = b->dt;
  a->bytes = b->bytes;
  if (t->whole) {
    resolve_whole(t, a);
    return true;
  }
  int64_t off = t->offset;
  if (t->dyn) {
    int64_t v = s->idx[t->dyn];
    if (v < 0 || v > t->dyn_max) return out_of_bound(s, t, t->offset + v);
    off += v;
  }
  a->off = off;
  a->parts = t->rank ? t->dim[0].count : 1;
  a->pstride = t->rank && !t->vec ? t->dim[0].stride : 0;
  merge_free(a, t);
  int64_t lo = off, hi = off;
  if (a->parts * a->free > 0) {
    grow(a->pstride, a->parts, &lo, &hi);
    for (int k = 0; k < a->nf; k++) grow(a->f[k].stride, a->f[k].count, &lo, &hi);
    /* With a vector offset the rows are checked one by one (acc_vec_row). */
    if (!t->vec && (lo < 0 || (hi + 1) * b->bytes > m->bytes)) return NK_BUG(s->d, "a tile leaves its buffer");
  }
  a->p = m->data + off * b->bytes;
  a->lo = m->data + lo * b->bytes;
  a->hi = m->data + (hi + 1) * b->bytes;
  return true;
}

/* ---- shadow ------------------------------------------------------------------------------------------------------ */
void runs_init(Runs *r, const Acc *a) {
  *r = (Runs){.at = a->off, .n = 1, .done = acc_count(a) == 0};
  if (a->parts > 1 && a->pstride != 0) r->d[r->nd++] = (IrDim){a->pstride, a->parts};
  for (int k = 0; k < a->nf; k++)
    if (a->f[k].stride != 0) r->d[r->nd++] = a->f[k];
  if (r->nd && r->d[r->nd - 1].stride == 1) r->n = r->d[--r->nd].count;
  while (r->nd && r->n > 1 && r->d[r->nd - 1].stride == r->n) r->n *= r->d[--r->nd].count;
}

void runs_next(Runs *r) {
  for (int k = r->nd - 1; k >= 0; k--) {
    r->at += r->d[k].stride;
    if (++r->i[k] < r->d[k].count) return;
    r->at -= r->d[k].stride * r->d[k].count;
    r->i[k] = 0;
  }
  r->done = true;
}

/* The runs of the innermost dimension, which are done at once: leaves the walk over the others. In granules. */
static IrDim runs_every(Runs *r, const Acc *a) {
  if (r->nd == 0) return (IrDim){0, 1};
  IrDim last = r->d[--r->nd];
  return (IrDim){granule(a, last.stride), last.count};
}

typedef struct Missing {
  int64_t n, ends[2];
} Missing;

/* Which of the elements at granule `at` were not written? */
static void missing_of(const Acc *a, int64_t at, int64_t n, Missing *m) {
  int64_t per = granule(a, 1);
  for (int64_t g = at; g < at + n; g += per) {
    if (bits_count(&a->mem->written, g, per) == per) continue;
    int64_t place = acc_place(a, g / per);
    if (m->n == 0 || place < m->ends[0]) m->ends[0] = place;
    if (m->n == 0 || place > m->ends[1]) m->ends[1] = place;
    m->n++;
  }
}

static bool unwritten(Sim *s, const Acc *a) {
  const Bits *w = &a->mem->written;
  Missing m = {.n = 0};
  Runs r;
  runs_init(&r, a);
  for (IrDim every = runs_every(&r, a); !r.done; runs_next(&r)) {
    int64_t at = granule(a, r.at), n = granule(a, r.n);
    if (bits_count_every(w, at, n, every) == n * every.count) continue;
    for (int64_t i = 0; i < every.count; i++) missing_of(a, at + i * every.stride, n, &m);
  }
  if (m.n == 0) return true;
  mem_fill(a->mem);
  return say_unwritten(s, a, m.n, m.ends);
}

bool acc_check(Sim *s, const Acc *a) {
  if (a->mem->track) track_touch(a->mem->track, a, false);
  if (a->mem->written.state == BITS_ALL || acc_count(a) == 0) return true;
  return unwritten(s, a);
}

static inline bool covers(const Acc *a) {
  return a->off == 0 && acc_count(a) * a->bytes == a->mem->bytes && acc_flat(a);
}

void acc_mark(const Acc *a) {
  SimMem *m = a->mem;
  if (m->track) track_touch(m->track, a, true);
  if (m->written.state == BITS_ALL && m->started.state == BITS_NONE) return;
  if (covers(a)) {
    bits_fill(&m->written);
    bits_reset(&m->started);
    return;
  }
  Runs r;
  runs_init(&r, a);
  for (IrDim every = runs_every(&r, a); !r.done; runs_next(&r)) {
    bits_set_every(&m->written, granule(a, r.at), granule(a, r.n), every);
    bits_clear_every(&m->started, granule(a, r.at), granule(a, r.n), every);
  }
}

static int64_t count_bits(const Acc *a, const Bits *b) {
  if (b->state != BITS_SOME) return b->state == BITS_ALL ? acc_count(a) : 0;
  int64_t set = 0, per = granule(a, 1);
  Runs r;
  runs_init(&r, a);
  for (IrDim every = runs_every(&r, a); !r.done; runs_next(&r))
    set += bits_count_every(b, granule(a, r.at), granule(a, r.n), every) / per;
  return set;
}

int64_t acc_written(const Acc *a) { return count_bits(a, &a->mem->written); }
int64_t acc_started(const Acc *a) { return count_bits(a, &a->mem->started); }

void acc_start(const Acc *a) {
  SimMem *m = a->mem;
  if (covers(a)) {
    bits_fill(&m->written);
    bits_fill(&m->started);
    return;
  }
  Runs r;
  runs_init(&r, a);
  for (IrDim every = runs_every(&r, a); !r.done; runs_next(&r)) {
    bits_set_every(&m->written, granule(a, r.at), granule(a, r.n), every);
    bits_set_every(&m->started, granule(a, r.at), granule(a, r.n), every);
  }
}

static bool resolve(Sim *s, const IrTile *t, bool dst, Acc *a) {
  return tile_is_picked(t) ? resolve_picked(s, t, dst, a) : acc_resolve(s, t, a);
}

bool acc_src(Sim *s, const IrTile *t, Acc *a) { return resolve(s, t, false, a) && acc_check(s, a); }

bool acc_inout(Sim *s, const IrTile *t, Acc *a) {
  if (!resolve(s, t, true, a)) return false;
  if (a->mem->data != a->mem->home) {
    mem_own(a->mem, false);
    return resolve(s, t, true, a);
  }
  return true;
}

bool acc_dst(Sim *s, const IrTile *t, Acc *a) {
  if (!resolve(s, t, true, a)) return false;
  if (a->mem->data != a->mem->home) {
    mem_own(a->mem, covers(a));
    if (!resolve(s, t, true, a)) return false;
  }
  acc_mark(a);
  return true;
}

/* ---- overlap ----------------------------------------------------------------------------------------------------- */
static bool acc_same(const Acc *a, const Acc *b) {
  if (a->p != b->p || a->dt != b->dt || a->parts != b->parts || a->free != b->free || a->nf != b->nf) return false;
  if (a->parts > 1 && a->pstride != b->pstride) return false;
  for (int k = 0; k < a->nf; k++)
    if (a->f[k].stride != b->f[k].stride || a->f[k].count != b->f[k].count) return false;
  return true;
}

bool acc_guard(Sim *s, int slot, Acc *src, const Acc *dst, bool in_place) {
  if (src->lo >= dst->hi || dst->lo >= src->hi) return true;
  if (in_place && acc_same(src, dst)) return true;
  char *copy = scratch(s, slot, (size_t)(acc_count(src) * src->bytes));
  if (!copy) return false;
  Acc to = *src;
  to.p = copy;
  to.lo = copy;
  to.hi = copy + acc_count(src) * src->bytes;
  to.pstride = src->free;
  to.nf = src->free > 1;
  to.f[0] = (IrDim){1, src->free};
  copy_elems(&to, src);
  *src = to;
  return true;
}

/* ---- lanes and vector offsets ------------------------------------------------------------------------------------ */
int acc_lane(const Sim *s, const Acc *a) {
  const IrBuf *b = s->f->bufs[a->tile->buf];
  int64_t per_part = b->rank > 0 && b->shape[0] > 0 ? b->count / b->shape[0] : 1;
  int64_t lane = a->mem->ir->part + (per_part > 0 ? acc_place(a, a->off) / per_part : 0);
  return lane < 0 || lane + a->parts > LANES ? 0 : (int)lane;
}

bool acc_vec(Sim *s, const IrTile *t, int64_t *rows) {
  Acc a;
  if (!acc_src(s, t->vec, &a)) return false;
  if (acc_count(&a) != t->dim[0].count) return NK_BUG(s->d, "a vector offset has another count than its tile");
  Stream st;
  stream_init(&st, &a);
  for (int64_t k = 0; k < t->dim[0].count; k++) {
    uint32_t raw;
    stream_read(&st, 1, &raw);
    rows[k] = elem_int(a.dt, &raw);
  }
  return true;
}

bool acc_vec_row(const Acc *a, const IrBuf *buf, int64_t row, Acc *out) {
  int64_t step = a->tile->dim[0].stride;
  if (row < 0 || row > a->tile->dyn_max / step) return false;
  int64_t first = a->off + row * step, lo = first, hi = first;
  for (int k = 0; k < a->nf; k++) grow(a->f[k].stride, a->f[k].count, &lo, &hi);
  if (lo < 0 || hi >= buf->count) return false;
  *out = *a;
  out->off = first;
  out->parts = 1;
  out->pstride = 0;
  out->p = a->mem->data + out->off * a->bytes;
  out->lo = a->mem->data + lo * a->bytes;
  out->hi = a->mem->data + (hi + 1) * a->bytes;
  return true;
}
