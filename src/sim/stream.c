/* stream.c -- room sim: the elements of a tile one after the other, in row-major order, whatever the pattern. */
#include <string.h>

#include "convert.h"
#include "exec.h"

static void push(Stream *st, int64_t stride, int64_t count) {
  if (count == 1) return;
  IrDim *last = st->nd ? &st->d[st->nd - 1] : NULL;
  if (last && last->stride == stride * count) {
    *last = (IrDim){stride, last->count * count};
  } else {
    st->d[st->nd++] = (IrDim){stride, count};
  }
}

static void finish(Stream *st) {
  if (st->nd == 0) st->d[st->nd++] = (IrDim){1, 1};
  for (int k = 0; k < st->nd; k++) st->i[k] = 0;
}

void stream_row(Stream *st, const Acc *a, int64_t part) {
  st->p = acc_row(a, part);
  st->dt = a->dt;
  st->bytes = a->bytes;
  st->nd = 0;
  st->at = 0;
  for (int k = 0; k < a->nf; k++) st->d[st->nd++] = a->f[k];
  finish(st);
}

void stream_init(Stream *st, const Acc *a) {
  st->p = a->p;
  st->dt = a->dt;
  st->bytes = a->bytes;
  st->nd = 0;
  st->at = 0;
  push(st, a->pstride, a->parts);
  for (int k = 0; k < a->nf; k++) push(st, a->f[k].stride, a->f[k].count);
  finish(st);
}

int64_t stream_run(const Stream *st) { return st->d[st->nd - 1].count - st->at; }

/* Passes n elements of the innermost run. */
static inline void pass(Stream *st, int64_t n) {
  int k = st->nd - 1;
  st->at += n;
  if (st->at < st->d[k].count) return;
  st->at = 0;
  while (--k >= 0) {
    st->p += st->d[k].stride * st->bytes;
    if (++st->i[k] < st->d[k].count) return;
    st->p -= st->d[k].stride * st->d[k].count * st->bytes;
    st->i[k] = 0;
  }
}

static inline char *here(const Stream *st) { return st->p + st->at * st->d[st->nd - 1].stride * st->bytes; }

void *stream_direct(Stream *st, int64_t n) {
  if (stream_run(st) < n || (st->d[st->nd - 1].stride != 1 && n != 1)) return NULL;
  char *p = here(st);
  pass(st, n);
  return p;
}

static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

void stream_load(Stream *st, int64_t n, float *dst) {
  int64_t stride = st->d[st->nd - 1].stride;
  while (n > 0) {
    int64_t k = least(n, stream_run(st));
    if (stride == 1) {
      cvt_load(st->dt, here(st), k, dst);
    } else {
      cvt_load_strided(st->dt, here(st), stride, k, dst);
    }
    pass(st, k);
    dst += k;
    n -= k;
  }
}

void stream_store(Stream *st, int64_t n, const float *src) {
  int64_t stride = st->d[st->nd - 1].stride;
  while (n > 0) {
    int64_t k = least(n, stream_run(st));
    if (stride == 1) {
      cvt_store(st->dt, src, k, here(st));
    } else {
      cvt_store_strided(st->dt, src, k, here(st), stride);
    }
    pass(st, k);
    src += k;
    n -= k;
  }
}

/* ---- bits as they are -------------------------------------------------------------------------------------------- */
#define COPY(T)                                                                 \
  do {                                                                          \
    const T *from_ = (const T *)(const void *)src;                              \
    T *to_ = (T *)(void *)dst;                                                  \
    for (int64_t k_ = 0; k_ < n; k_++) to_[k_ * dstride] = from_[k_ * sstride]; \
  } while (0)

static void copy_run(char *dst, int64_t dstride, const char *src, int64_t sstride, const int64_t n_bytes[2]) {
  int64_t n = n_bytes[0];
  if (dstride == 1 && sstride == 1) {
    memcpy(dst, src, (size_t)(n * n_bytes[1]));
  } else {
    BY_BYTES(n_bytes[1], COPY);
  }
}

/* By masks: which element is taken is often as good as random, and a branch on it costs more than all the rest. */
#define TAKE(T)                                                      \
  do {                                                               \
    const uint8_t *restrict take_ = k->take;                         \
    const T *restrict from_ = k->from;                               \
    T *restrict to_ = to;                                            \
    int64_t step_ = !k->one;                                         \
    for (int64_t i = 0; i < n; i++) {                                \
      T all_ = (T)(0 - (T)(take_[i] != 0));                          \
      to_[i] = (T)((from_[i * step_] & all_) | (to_[i] & (T)~all_)); \
    }                                                                \
  } while (0)

void take_elems(const Take *k, void *to, int64_t n) { BY_BYTES(k->bytes, TAKE); }

void stream_read(Stream *st, int64_t n, void *out) {
  char *dst = out;
  while (n > 0) {
    int64_t k[2] = {least(n, stream_run(st)), st->bytes};
    copy_run(dst, 1, here(st), st->d[st->nd - 1].stride, k);
    pass(st, k[0]);
    dst += k[0] * st->bytes;
    n -= k[0];
  }
}

void stream_write(Stream *st, int64_t n, const void *in) {
  const char *src = in;
  while (n > 0) {
    int64_t k[2] = {least(n, stream_run(st)), st->bytes};
    copy_run(here(st), st->d[st->nd - 1].stride, src, 1, k);
    pass(st, k[0]);
    src += k[0] * st->bytes;
    n -= k[0];
  }
}

void stream_skip(Stream *st, int64_t n) {
  while (n > 0) {
    int64_t k = least(n, stream_run(st));
    pass(st, k);
    n -= k;
  }
}

/* Rows often lie a page or more apart, where no processor looks ahead by itself. */
static void look_ahead(const char *dst, const char *src, int64_t bytes) {
  enum { LINE = 64, LEAST = 256, MOST = 4096 };
  if (bytes < LEAST) return;
  for (int64_t i = 0; i < bytes && i < MOST; i += LINE) {
    __builtin_prefetch(src + i, 0);
    __builtin_prefetch(dst + i, 1);
  }
}

void copy_elems(const Acc *dst, const Acc *src) {
  int64_t n = acc_count(dst);
  if (n == 0) return;
  Stream d, s;
  stream_init(&d, dst);
  stream_init(&s, src);
  int64_t dstride = d.d[d.nd - 1].stride, sstride = s.d[s.nd - 1].stride;
  while (n > 0) {
    int64_t k[2] = {least(stream_run(&d), stream_run(&s)), dst->bytes};
    char *to = here(&d), *from = here(&s);
    pass(&d, k[0]);
    pass(&s, k[0]);
    n -= k[0];
    if (n > 0 && dstride == 1 && sstride == 1) look_ahead(here(&d), here(&s), k[0] * k[1]);
    copy_run(to, dstride, from, sstride, k);
  }
}

bool copy_tile(Sim *sim, const Acc *dst, const Acc *src) {
  if (dst->dt == src->dt) {
    copy_elems(dst, src);
    return true;
  }
  Stream d, s;
  stream_init(&d, dst);
  stream_init(&s, src);
  float *block = scratch(sim, SCR_TMP, BLOCK * sizeof(float));
  if (!block) return false;
  for (int64_t n = acc_count(dst); n > 0;) {
    int64_t k = least(n, BLOCK);
    float *to = d.dt == DT_float32 && stream_run(&d) >= k ? stream_direct(&d, k) : NULL;
    const float *from = !to && s.dt == DT_float32 && stream_run(&s) >= k ? stream_direct(&s, k) : NULL;
    if (to) {
      stream_load(&s, k, to);
    } else if (from) {
      stream_store(&d, k, from);
    } else {
      stream_load(&s, k, block);
      stream_store(&d, k, block);
    }
    n -= k;
  }
  return true;
}
