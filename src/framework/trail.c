/* trail.c -- room framework: the loop iterations of a module's instructions. They are no part of the program and not in
   its text, but run-time messages name them, and a program from a file says what the traced one says. */
#include <string.h>

#include "store.h"

static const IrLoc *line_of(const IrModule *m, const IrIter *it) {
  static const IrLoc none = {.file = ""};
  return it->loop_loc && it->loop_loc < m->nlocs ? &m->locs[it->loop_loc] : &none;
}

void trail_write(Text *out, const IrModule *m) {
  text_put_u64(out, m->niters);
  for (uint32_t i = 1; i < m->niters; i++) {
    const IrIter *it = &m->iters[i];
    const IrLoc *loc = line_of(m, it);
    text_put_u64(out, it->parent);
    text_put_u64(out, (uint64_t)it->value);
    text_put_u64(out, (uint64_t)loc->line);
    text_put_u64(out, strlen(loc->file));
    text_puts(out, loc->file);
  }
  if (m->niters <= 1) return;
  for (uint32_t f = 0; f < m->nfunc; f++) {
    text_put_u64(out, m->func[f]->nins);
    for (uint32_t i = 0; i < m->func[f]->nins; i++) text_put_u64(out, m->func[f]->ins[i]->iter);
  }
}

/* A name that ends with its span. */
static uint32_t loc_of(IrModule *m, Span file, int line) {
  char *name = file.n ? arena_strdup(&m->arena, file.p, file.n) : NULL;
  return name ? ir_loc(m, name, line, false, 0) : 0;
}

/* number: of each iteration in m; two that only calls above the loop tell apart are one from now on. */
static bool read_iters(Bytes *b, IrModule *m, uint32_t *number, uint64_t n) {
  for (uint64_t i = 1; i < n; i++) {
    uint64_t parent = bytes_u64(b), value = bytes_u64(b), line = bytes_u64(b);
    Span file = bytes_str(b);
    if (b->bad || parent >= i || line > INT32_MAX) return false;
    number[i] = ir_iter(m, number[parent], loc_of(m, file, (int)line), (int64_t)value);
    if (m->arena.oom) return false;
  }
  return true;
}

bool trail_read(Span trail, IrModule *m) {
  Bytes b = {trail.p, trail.n, false};
  uint64_t n = bytes_u64(&b);
  if (b.bad || n > trail.n) return false;
  uint32_t *number = arena_newn(&m->arena, uint32_t, n);
  if (!number || !read_iters(&b, m, number, n)) return false;
  for (uint32_t f = 0; n > 1 && f < m->nfunc; f++) {
    if (bytes_u64(&b) != m->func[f]->nins) return false;
    for (uint32_t i = 0; i < m->func[f]->nins; i++) {
      uint64_t iter = bytes_u64(&b);
      if (iter >= n) return false;
      m->func[f]->ins[i]->iter = number[iter];
    }
  }
  return !b.bad && b.left == 0;
}
