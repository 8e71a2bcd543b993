/* memory.c -- room sim: what becomes of one buffer's storage: begin, borrow, sentinel, scratch, elements from numbers.
 */
#include <math.h>
#include <string.h>

#include "convert.h"
#include "exec.h"

void mem_begin(SimMem *m) {
  if (m->keep) return;
  m->data = m->home;
  m->filled = false;
  bits_reset(&m->written);
  bits_reset(&m->started);
}

void mem_own(SimMem *m, bool overwritten) {
  if (!overwritten) memcpy(m->home, m->data, (size_t)m->bytes);
  m->data = m->home;
}

/* 16 bytes of what never-written elements read as: NaN in floats, 0xa5 elsewhere. */
static void sentinel(const SimMem *m, char out[16]) {
  memset(out, 0xa5, 16);
  if (!dtype_is_float(m->dt) && m->dt != DT_float8_e8m0fnu) return;
  float nan4[16];
  for (int k = 0; k < 16; k++) nan4[k] = NAN;
  cvt_store(m->dt, nan4, 16 / dtype_bytes(m->dt), out);
}

void mem_fill(SimMem *m) {
  if (m->filled || m->written.state == BITS_ALL) return;
  _Alignas(4) char pattern[16];
  sentinel(m, pattern);
  size_t step = (size_t)1 << m->shift;
  if (m->written.state == BITS_NONE) {
    int64_t at = 0;
    for (; at + 16 <= m->bytes; at += 16) memcpy(m->home + at, pattern, 16);
    memcpy(m->home + at, pattern, (size_t)(m->bytes - at));
  } else {
    for (int64_t g = 0; g < m->written.n; g++) {
      size_t at = (size_t)g << m->shift;
      if (!bits_test(&m->written, g)) memcpy(m->home + at, pattern + at % 16, step);
    }
  }
  m->filled = true;
}

void *scratch(Sim *s, int slot, size_t bytes) {
  if (s->scratch[slot].size >= bytes && s->scratch[slot].p) return s->scratch[slot].p;
  size_t want = bytes < 16384 ? 16384 : bytes;
  alloc_free(&s->alloc, s->scratch[slot].p, s->scratch[slot].size);
  s->scratch[slot].p = alloc_new(&s->alloc, want);
  s->scratch[slot].size = s->scratch[slot].p ? want : 0;
  if (!s->scratch[slot].p) DIAG0(s->d, nomem);
  return s->scratch[slot].p;
}

int elem_of(DType dt, double v, void *out) {
  int bytes = (int)dtype_bytes(dt);
  if (dt == DT_bool_) {
    *(uint8_t *)out = v != 0; /* not rounded: 0.25 is true; so is NaN */
  } else if (dtype_is_int(dt)) {
    int64_t lo, hi;
    dtype_int_range(dt, &lo, &hi);
    double r = isnan(v) ? 0 : nearbyint(v);
    uint32_t bits = (uint32_t)(r <= (double)lo ? lo : r >= (double)hi ? hi : (int64_t)r);
    memcpy(out, &bits, (size_t)bytes); /* little endian */
  } else if (dtype_info[dt].cls == DC_PACK) {
    memset(out, 0, (size_t)bytes); /* zero is their only number */
  } else {
    float f = (float)v;
    cvt_store(dt, &f, 1, out);
  }
  return bytes;
}

int64_t elem_int(DType dt, const void *p) {
  uint32_t raw = 0;
  memcpy(&raw, p, (size_t)dtype_bytes(dt));
  if (dtype_info[dt].cls != DC_INT) return raw;
  switch (dtype_bytes(dt)) {
    case 1:
      return (int8_t)raw;
    case 2:
      return (int16_t)raw;
    default:
      return (int32_t)raw;
  }
}
