/* verify_tables.c -- room ir: grid, program table, aliases, and what the programs of a module must have in common. */
#include "verify.h"

static bool same_shape(const IrBuf *a, const IrBuf *b) {
  if (a->dtype != b->dtype || a->rank != b->rank || a->space != b->space) return false;
  for (int i = 0; i < a->rank; i++)
    if (a->shape[i] != b->shape[i]) return false;
  return true;
}

/* The k-th shared_hbm allocations of f, by ordinal. */
static uint32_t shared_tensors(const IrFunc *f, const IrBuf **out) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < f->nbufs; i++)
    if (f->bufs[i]->shared_ordinal >= 0) out[n++] = f->bufs[i];
  return n;
}

static bool same_output(const IrFunc *a, const IrFunc *b, uint32_t i) {
  uint32_t x = a->rets[i], y = b->rets[i];
  if (x >= a->nbufs || y >= b->nbufs) return false;
  const IrBuf *p = a->bufs[x], *q = b->bufs[y];
  return p->kind == q->kind && (p->kind == BUF_ARG ? x == y : p->shared_ordinal == q->shared_ordinal);
}

/* Programs share arguments, shared_hbm tensors and outputs. */
static bool same_interface(const IrModule *m, const IrFunc *a, const IrFunc *b, Diag *d) {
  if (a->nargs != b->nargs || a->nrets != b->nrets)
    return DIAG(d, ir_module, "the programs differ in arguments or outputs");
  for (uint32_t i = 0; i < a->nargs; i++)
    if (!same_shape(a->bufs[i], b->bufs[i]))
      return DIAG(d, ir_programs_differ, a->name, b->name, "argument", a->bufs[i]->name);
  for (uint32_t i = 0; i < a->nrets; i++)
    if (!same_output(a, b, i))
      return DIAG(d, ir_programs_differ, a->name, b->name, "output",
                  b->rets[i] < b->nbufs ? b->bufs[b->rets[i]]->name : "?");
  Arena tmp;
  arena_init(&tmp, m->arena.alloc);
  const IrBuf **x = arena_newn(&tmp, const IrBuf *, a->nbufs), **y = arena_newn(&tmp, const IrBuf *, b->nbufs);
  bool ok = x && y;
  if (!ok) DIAG0(d, nomem);
  uint32_t nx = ok ? shared_tensors(a, x) : 0, ny = ok ? shared_tensors(b, y) : 0;
  for (uint32_t i = 0; ok && i < nx && i < ny; i++)
    if (!same_shape(x[i], y[i])) ok = DIAG(d, ir_programs_differ, a->name, b->name, "shared tensor", y[i]->name);
  arena_free(&tmp);
  return ok;
}

bool verify_tables(const IrModule *m, Diag *d) {
  if (m->nfunc == 0) return DIAG(d, ir_module, "it has no function");
  int64_t programs = 1;
  if (m->ngrid < 0 || m->ngrid > IR_MAX_GRID) return DIAG(d, ir_module, "the grid has too many axes");
  for (int i = 0; i < m->ngrid; i++)
    if (m->grid[i] < 1 || __builtin_mul_overflow(programs, m->grid[i], &programs))
      return DIAG(d, ir_module, "a grid axis has no programs");
  if (programs != m->nprogram) return DIAG(d, ir_module, "the number of programs is not the product of the grid");
  if (!ir_check_cores(m->name ? m->name : "?", m->target, (IrGrid){m->ngrid, m->grid, m->cores}, d)) return false;
  if (!m->program && m->nfunc > 1) return DIAG(d, ir_module, "several functions need a program table");
  for (int64_t p = 0; m->program && p < m->nprogram; p++)
    if (m->program[p] >= m->nfunc) return DIAG(d, ir_module, "the program table names a function that is not there");
  const IrFunc *f0 = m->func[0];
  for (uint32_t k = 1; k < m->nfunc; k++)
    if (!same_interface(m, f0, m->func[k], d)) return false;
  for (uint32_t i = 0; i < m->naliases; i++) {
    IrAlias al = m->aliases[i];
    bool good = al.operand >= 0 && al.output >= 0 && (uint32_t)al.operand < f0->nargs &&
                (uint32_t)al.output < f0->nrets && f0->rets[al.output] == (uint32_t)al.operand;
    if (!good) return DIAG(d, ir_module, "an alias does not name an operand that is returned as that output");
  }
  return true;
}
