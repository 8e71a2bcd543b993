/* build.c -- room ir: the only writer of modules. Everything it makes lives in the module's arena. */
#include <string.h>

#include "hash.h"
#include "intern.h"
#include "ir.h"
#include "sat.h"

IrModule *ir_module_new(Alloc alloc, Target target) {
  IrModule *m = alloc_new(&alloc, sizeof *m);
  if (!m) return NULL;
  memset(m, 0, sizeof *m);
  arena_init(&m->arena, alloc);
  m->refs = 1;
  m->target = target;
  m->nprogram = 1;
  m->intern = arena_new(&m->arena, IrIntern);
  if (m->intern) return m;
  arena_free(&m->arena);
  alloc_free(&alloc, m, sizeof *m);
  return NULL;
}

IrModule *ir_retain(const IrModule *m) {
  IrModule *own = (IrModule *)(uintptr_t)m; /* the count is the one field that changes in a frozen module */
  __atomic_fetch_add(&own->refs, 1, __ATOMIC_RELAXED);
  return own;
}

void ir_release(const IrModule *m) {
  if (!m) return;
  IrModule *own = (IrModule *)(uintptr_t)m;
  if (__atomic_sub_fetch(&own->refs, 1, __ATOMIC_ACQ_REL) != 0) return;
  Alloc alloc = own->arena.alloc;
  arena_free(&own->arena);
  alloc_free(&alloc, own, sizeof *own);
}

IrFunc *ir_func_new(IrModule *m, const char *name) {
  uint32_t n = m->nfunc; /* the list has room for the next power of two */
  bool full = (n & (n - 1)) == 0;
  IrFunc **list = full ? arena_newn(&m->arena, IrFunc *, n ? 2 * (size_t)n : 1) : m->func;
  IrFunc *f = arena_new(&m->arena, IrFunc);
  char *copy = arena_strdup(&m->arena, name, strlen(name));
  IrNames *set = arena_new(&m->arena, IrNames);
  if (!list || !f || !copy || !set) return NULL;
  if (full && n) memcpy(list, m->func, n * sizeof *list);
  f->name = copy;
  f->names = set;
  list[m->nfunc++] = f;
  m->func = list;
  return f;
}

void ir_func_drop(IrModule *m) {
  if (m->nfunc) m->nfunc--;
}

/* ---- buffers */

/* bufs and whole grow together and share capbufs. */
static bool grow_bufs(IrModule *m, IrFunc *f) {
  if (f->nbufs < f->capbufs) return true;
  uint32_t cap = f->capbufs, cap2 = f->capbufs;
  if (!arena_push(&m->arena, f->bufs, cap, f->nbufs)) return false;
  if (!arena_push(&m->arena, f->whole, cap2, f->nbufs)) return false;
  f->capbufs = cap;
  return true;
}

static void fill_whole(IrTile *t, const IrBuf *b) {
  t->buf = b->id;
  t->rank = (uint8_t)b->rank;
  t->whole = true;
  int64_t stride = 1;
  for (int i = b->rank - 1; i >= 0; i--) {
    t->dim[i] = (IrDim){stride, b->shape[i]};
    stride = mul_sat(stride, b->shape[i]);
  }
}

IrBuf *ir_buf_new(IrModule *m, IrFunc *f, const IrBufSpec *spec) {
  IrBuf *b = arena_new(&m->arena, IrBuf);
  IrTile *whole = arena_new(&m->arena, IrTile);
  if (!b || !whole || !grow_bufs(m, f)) return NULL;
  *b = (IrBuf){.id = f->nbufs,
               .kind = spec->kind,
               .space = spec->space,
               .dtype = spec->dtype,
               .rank = spec->rank,
               .count = 1,
               .named = spec->name != NULL,
               .base = spec->base,
               .shared_ordinal = -1,
               .has_address = spec->has_address,
               .part = spec->part,
               .byte = spec->byte,
               .loc = spec->loc,
               .data = spec->data};
  for (int i = 0; i < spec->rank; i++) {
    b->shape[i] = spec->shape[i];
    b->count = mul_sat(b->count, spec->shape[i]);
  }
  int64_t parts = spec->rank > 0 && spec->shape[0] > 0 ? spec->shape[0] : 1;
  b->row = b->count / parts;
  if (space_on_chip(b->space)) b->part_bytes = mul_sat(b->row, dtype_bytes(b->dtype));
  if (spec->kind == BUF_VIEW) { /* starts where its storage starts */
    b->part = f->bufs[spec->base]->part;
    b->byte = f->bufs[spec->base]->byte;
  }
  b->plain = space_on_chip(b->space) && b->kind != BUF_CONST && b->part == 0 && parts <= 128 && b->rank >= 2 &&
             b->rank <= 5 && b->row <= (b->space == SP_psum ? 4096 : 65536);
  if (spec->kind == BUF_ALLOC && spec->space == SP_shared_hbm) b->shared_ordinal = (int32_t)f->names->shared++;
  b->name = names_add(m, f, spec->name, spec->space);
  if (!b->name) return NULL;
  fill_whole(whole, b);
  f->bufs[f->nbufs] = b;
  f->whole[f->nbufs++] = whole;
  if (spec->kind == BUF_ARG) f->nargs = f->nbufs;
  return b;
}

IrTile *ir_tile_new(IrModule *m) { return arena_new(&m->arena, IrTile); }

const IrTile *ir_whole(const IrFunc *f, uint32_t buf) { return f->whole[buf]; }

/* ---- instructions */

IrIns *ir_ins_new(IrModule *m, Op op, uint32_t nval) {
  IrIns *ins = arena_raw(&m->arena, sizeof *ins + nval * sizeof *ins->v);
  if (!ins) return NULL;
  memset(ins, 0, sizeof *ins);
  ins->op = (uint16_t)op;
  ins->nval = (uint16_t)nval;
  return ins;
}

bool ir_ins_push(IrModule *m, IrFunc *f, IrIns *ins) {
  if (f->nins == f->capins && !arena_push(&m->arena, f->ins, f->capins, f->nins)) return false;
  f->ins[f->nins++] = ins;
  return true;
}

IrIns *ir_append(IrModule *m, IrFunc *f, Op op, const IrVal *v, uint32_t nval) {
  IrIns *ins = ir_ins_new(m, op, nval);
  if (!ins) return NULL;
  if (nval) memcpy(ins->v, v, nval * sizeof *v);
  return ir_ins_push(m, f, ins) ? ins : NULL;
}

uint32_t ir_new_index(IrFunc *f) { return ++f->nidx; }
