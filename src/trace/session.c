/* session.c -- room trace: opening and closing a session; where a failure happened. */
#include <stdatomic.h>
#include <string.h>

#include "impl.h"

typedef struct Box { /* one allocation for the session's two halves */
  Trace t;
  TrImpl i;
} Box;

static uint64_t new_serial(void) {
  static atomic_uint_fast64_t serial = 1; /* only ever compared for equality */
  return atomic_fetch_add(&serial, 1);
}

static bool is_tile(Kind k) {
  return k == K_tile || k == K_column || k == K_number_or_column || k == K_number_or_tile || k == K_tiles ||
         k == K_channels;
}

static void make_masks(TrImpl *i) {
  for (int op = 1; op < OP_count; op++) {
    for (int p = 0; p < op_info[op].nparams; p++) {
      const IrParam *par = &op_info[op].params[p];
      if (!is_tile(par->kind)) continue;
      if (role_writes(par->role)) i->dst[op] |= 1u << p;
      if (par->role == SRC || par->role == SRC_OPT || par->role == INOUT) i->src[op] |= 1u << p;
    }
  }
}

bool tr_oom(Trace *t) { return DIAG0(t->d, nomem); }

bool tr_fail_here(Trace *t) {
  ir_diag_where(t->m, t->loc, t->iter, t->d);
  return false;
}

Trace *tr_open(Alloc alloc, const TraceSpec *spec, Diag *d) {
  Box *box = alloc_new(&alloc, sizeof *box);
  if (!box) return DIAG0(d, nomem), NULL;
  *box = (Box){.t = {.d = d, .spec = *spec, .impl = &box->i}, .i = {.alloc = alloc}};
  Trace *t = &box->t;
  arena_init(&box->i.arena, alloc);
  text_init(&box->i.warnings, alloc);
  make_masks(&box->i);
  t->m = ir_module_new(alloc, spec->target);
  if (!t->m) {
    tr_oom(t);
    tr_close(t);
    return NULL;
  }
  t->m->target_is_fallback = spec->target_is_fallback;
  t->m->name = arena_strdup(&t->m->arena, spec->func_name, strlen(spec->func_name));
  t->spec.func_name = t->m->name;
  t->m->ngrid = spec->ngrid;
  t->m->nprogram = 1;
  for (int a = 0; a < spec->ngrid; a++) {
    t->m->grid[a] = spec->grid[a];
    t->m->cores[a] = spec->cores[a];
    if (__builtin_mul_overflow(t->m->nprogram, spec->grid[a], &t->m->nprogram) || spec->grid[a] < 1) {
      DIAG(d, grid_size, spec->func_name, a, (long long)spec->grid[a]);
      tr_close(t);
      return NULL;
    }
  }
  t->serial = new_serial();
  if (t->m->arena.oom) {
    tr_oom(t);
    tr_close(t);
    return NULL;
  }
  return t;
}

void tr_close(Trace *t) {
  if (!t) return;
  Box *box = (Box *)(void *)t;
  Alloc alloc = box->i.alloc;
  ir_release(t->m);
  text_free(&box->i.warnings);
  arena_free(&box->i.arena);
  alloc_free(&alloc, box, sizeof *box);
}

const char *tr_warnings(const Trace *t) { return text_str(&impl(t)->warnings); }

bool tr_begin_program(Trace *t) {
  TrImpl *i = impl(t);
  if (t->program >= t->m->nprogram) return NK_BUG(t->d, "more programs than the grid has");
  if (i->began) return NK_BUG(t->d, "the previous program is not ended");
  i->mark = arena_mark(&t->m->arena);
  memset(i->passed, 0, sizeof i->passed);
  i->mark_func = t->m->func;
  i->mark_locs = t->m->nlocs;
  i->mark_iters = t->m->niters;
  t->f = ir_func_new(t->m, t->spec.func_name);
  if (!t->f) return tr_oom(t);
  t->serial = new_serial();
  t->loc = t->iter = 0;
  t->loop = NULL;
  i->began = true;
  i->returned = false;
  i->nown = i->nmine = 0;
  i->reorder = 0;
  return true;
}

const IrTile *tr_operand(Trace *t, const char *name, DType dtype, int rank, const int64_t *shape) {
  TrImpl *i = impl(t);
  IrBufSpec spec = {.kind = BUF_ARG, .space = SP_shared_hbm, .dtype = dtype, .rank = rank, .shape = shape};
  uint32_t at = t->f->nargs;
  spec.name = name;
  IrBuf *b = ir_buf_new(t->m, t->f, &spec);
  if (!b) return tr_oom(t), NULL;
  if (at >= i->nargs) {
    if (!arena_push(&i->arena, i->args, i->capargs, i->nargs)) return tr_oom(t), NULL;
    i->args[i->nargs++] = (TrArg){.name = b->name};
  }
  return ir_whole(t->f, b->id);
}

int64_t tr_program_id(const Trace *t, int axis) {
  int64_t rest = t->program;
  for (int a = t->spec.ngrid - 1; a > axis; a--) rest /= t->spec.grid[a];
  return t->spec.ngrid ? rest % t->spec.grid[axis] : 0;
}
