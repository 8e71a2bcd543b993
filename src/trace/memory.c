/* memory.c -- room trace: tensors, constants, reinterpretations, registers, affine index values. */
#include <string.h>

#include "impl.h"

static const IrTile *no_tile(bool failed) {
  (void)failed;
  return NULL;
}

/* The k-th shared_hbm allocation of every program is one tensor. */
static bool join_shared(Trace *t, const IrBuf *b) {
  TrImpl *i = impl(t);
  uint32_t k = i->nown;
  if (!arena_push(&i->arena, i->own, i->capown, i->nown)) return tr_oom(t);
  i->own[i->nown++] = b->id;
  if (t->program > 0 && k == i->nshared)
    return DIAG(t->d, spmd_allocation_more, t->spec.func_name, (long long)t->program, b->name, k + 1, k);
  if (k == i->nshared) {
    if (!arena_push(&i->arena, i->shared, i->capshared, i->nshared)) return tr_oom(t);
    TrShared *s = &i->shared[i->nshared++];
    *s = (TrShared){.dtype = b->dtype, .rank = b->rank, .named = b->named, .program = t->program, .loc = t->loc};
    s->name = arena_strdup(&i->arena, b->name, strlen(b->name));
    memcpy(s->shape, b->shape, sizeof s->shape);
    return s->name || tr_oom(t);
  }
  const TrShared *s = &i->shared[k];
  bool same = s->dtype == b->dtype && s->rank == b->rank && strcmp(s->name, b->name) == 0;
  for (int d = 0; same && d < b->rank; d++) same = s->shape[d] == b->shape[d];
  if (same) return true;
  Text a, z;
  text_init(&a, i->alloc);
  text_init(&z, i->alloc);
  for (int d = 0; d < s->rank; d++) text_printf(&a, "%s%lld", d ? "," : "", (long long)s->shape[d]);
  for (int d = 0; d < b->rank; d++) text_printf(&z, "%s%lld", d ? "," : "", (long long)b->shape[d]);
  DIAG(t->d, spmd_allocation, k, (long long)s->program, s->name, dtype_name(s->dtype), text_str(&a),
       (long long)t->program, b->name, dtype_name(b->dtype), text_str(&z));
  text_free(&a);
  text_free(&z);
  return false;
}

static IrBuf *new_buffer(Trace *t, const IrBufSpec *spec) {
  IrBufSpec s = *spec;
  s.loc = t->loc;
  IrBuf *b = ir_buf_new(t->m, t->f, &s);
  return b ? b : (tr_oom(t), NULL);
}

/* The instruction at which a buffer or a register begins to exist. */
static bool append_alloc(Trace *t, const IrBuf *b) {
  IrVal v = {.kind = V_INT, .u.i = b->id};
  IrIns *ins = ir_append(t->m, t->f, (Op)CORE_alloc, &v, 1);
  if (!ins) return tr_oom(t);
  ins->loc = t->loc;
  ins->iter = t->iter;
  return true;
}

static bool in_device_loop(const Trace *t) {
  const TrLoop *loop = t->loop;
  while (loop && loop->kind < TR_DYNAMIC) loop = loop->up;
  return loop != NULL;
}

const IrTile *tr_ndarray(Trace *t, const IrBufSpec *spec) {
  if (spec->space == SP_shared_hbm && in_device_loop(t)) {
    DIAG(t->d, shared_hbm_must_in_kernel_level, spec->name ? spec->name : "unnamed");
    return no_tile(tr_fail_here(t));
  }
  if (!ir_check_spec(t->m, spec, t->d)) return no_tile(tr_fail_here(t));
  IrBufSpec s = *spec;
  s.kind = BUF_ALLOC;
  IrBuf *b = new_buffer(t, &s);
  if (!b || !append_alloc(t, b)) return NULL;
  if (b->space == SP_shared_hbm && !join_shared(t, b)) return no_tile(tr_fail_here(t));
  return ir_whole(t->f, b->id);
}

const IrTile *tr_constant(Trace *t, const IrBufSpec *spec) {
  IrBufSpec s = *spec;
  s.kind = BUF_CONST;
  s.space = SP_shared_hbm;
  int64_t bytes = dtype_bytes(spec->dtype);
  if (!ir_check_spec(t->m, &s, t->d)) return no_tile(tr_fail_here(t));
  for (int d = 0; d < spec->rank; d++) bytes *= spec->shape[d];
  for (uint32_t k = 0; k < t->f->nbufs; k++) {
    const IrBuf *b = t->f->bufs[k];
    bool same = b->kind == BUF_CONST && b->dtype == spec->dtype && b->rank == spec->rank;
    for (int d = 0; same && d < b->rank; d++) same = b->shape[d] == spec->shape[d];
    if (same && memcmp(b->data, spec->data, (size_t)bytes) == 0) return ir_whole(t->f, b->id);
  }
  s.data = arena_alloc(&t->m->arena, (size_t)bytes);
  if (!s.data) return no_tile(tr_oom(t));
  memcpy((void *)(uintptr_t)s.data, spec->data, (size_t)bytes);
  IrBuf *b = new_buffer(t, &s);
  return b ? ir_whole(t->f, b->id) : NULL;
}

const IrBuf *tr_view_buffer(Trace *t, const IrBufSpec *spec) {
  for (uint32_t k = spec->base + 1; k < t->f->nbufs; k++) {
    const IrBuf *b = t->f->bufs[k];
    bool same = b->kind == BUF_VIEW && b->base == spec->base && b->dtype == spec->dtype && b->rank == spec->rank;
    for (int d = 0; same && d < b->rank; d++) same = b->shape[d] == spec->shape[d];
    if (same) return b;
  }
  return new_buffer(t, spec);
}

const IrTile *tr_cast(Trace *t, const IrTile *tile, DType to) {
  ViewCtx c = {t->m, t->f, t->d};
  const IrBuf *base = t->f->bufs[tile->buf];
  IrBufSpec s = {.kind = BUF_VIEW, .space = base->space, .dtype = to};
  int64_t shape[IR_MAX_RANK];
  if (base->dtype == to) return tile;
  if (!view_cast_shape(&c, tile, to, shape, &s.rank)) return no_tile(tr_fail_here(t));
  s.shape = shape;
  s.base = base->kind == BUF_VIEW ? base->base : base->id;
  const IrBuf *b = tr_view_buffer(t, &s);
  if (!b) return NULL;
  const IrTile *made = view_cast(&c, tile, b);
  return made ? made : no_tile(tr_fail_here(t));
}

bool tr_reg_alloc(Trace *t, const char *name, uint32_t *reg) {
  IrBufSpec s = {.kind = BUF_ALLOC, .space = SP_reg, .dtype = DT_int32, .name = name};
  IrBuf *b = new_buffer(t, &s);
  if (!b || !append_alloc(t, b)) return false;
  *reg = b->id;
  return true;
}

/* Appends a CORE_ instruction that defines an index value. */
static bool define(Trace *t, int op, const IrVal *v, uint32_t n, uint32_t *out) {
  IrIns *ins = ir_append(t->m, t->f, (Op)op, v, n);
  if (!ins) return tr_oom(t);
  ins->loc = t->loc;
  ins->iter = t->iter;
  ins->result = *out = ir_new_index(t->f);
  return true;
}

bool tr_reg_read(Trace *t, uint32_t reg, uint32_t *idx) {
  IrVal v = {.kind = V_REG, .u.reg = reg};
  return define(t, CORE_reg_read, &v, 1, idx);
}

bool tr_affine(Trace *t, const TrTerm *term, int n, int64_t constant, uint32_t *out) {
  if (n == 1 && term->coef == 1 && constant == 0) {
    *out = term->idx;
    return true;
  }
  int64_t *ints = arena_newn(&t->m->arena, int64_t, 2 * n);
  if (!ints) return tr_oom(t);
  for (int k = 0; k < n; k++) {
    ints[k] = term[k].coef;
    ints[n + k] = term[k].idx;
  }
  IrVal v[3] = {{.kind = V_INTS, .n = (uint32_t)n, .u.ints = ints},
                {.kind = V_INTS, .n = (uint32_t)n, .u.ints = ints + n},
                {.kind = V_INT, .u.i = constant}};
  return define(t, CORE_idx, v, 3, out);
}
