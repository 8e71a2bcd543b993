/* setup.c -- binds arguments, outputs and shared tensors, and lays out the memory of each program before it runs. */
#include <string.h>

#include "convert.h"
#include "exec.h"

enum { ALIGN = 64, IS_WRITTEN = 1, HAS_VIEW = 2 };

typedef struct Plan { /* memory of one distinct program */
  SimBuf *buf;
  SimMem *mem;    /* of buffers that live in this program alone */
  int64_t *place; /* offset in the arena of such a buffer */
  int64_t *idx;
  uint8_t *said;
  uint8_t *shift; /* by base buffer: log2 of the smallest element */
  uint8_t *flags; /* by base buffer: IS_WRITTEN, HAS_VIEW */
  int64_t bytes;
} Plan;

struct SimSetup {
  Arena arena;
  Pages pages;
  const IrModule *m;
  bool imprecise;
  const SimTensor *operands;
  SimTensor *outputs;
  Plan *plan;
  SimMem *arg;    /* by argument */
  SimMem *shared; /* by ordinal */
  int32_t nshared;
  int64_t front;  /* arena bytes of args and shared tensors; plans begin after them */
  int64_t wanted; /* bytes that the machine would not give; 0: that was not the fault */
};

/* More than any machine has. Sums of sizes stop near it, so that none overflows. */
#define TOO_MUCH ((int64_t)1 << 46)
static void grow(int64_t *sum, int64_t n) {
  if (*sum < TOO_MUCH) *sum += n;
}

static uint32_t base_of(const IrFunc *f, uint32_t id) { return f->bufs[id]->kind == BUF_VIEW ? f->bufs[id]->base : id; }
static int64_t round_up(int64_t n) { return (n + ALIGN - 1) / ALIGN * ALIGN; }

/* ---- facts about a program's buffers ----------------------------------------------------------------------------- */
static uint8_t log2_bytes(DType dt) { return dtype_bytes(dt) == 4 ? 2 : dtype_bytes(dt) == 2 ? 1 : 0; }

/* Which parameters of a row may write HBM: only those can touch an argument. */
static bool may_write_hbm(const IrParam *p) {
  return (p->role == DST || p->role == DST_OPT || p->role == INOUT) &&
         (p->spaces & (1u << SP_shared_hbm | 1u << SP_private_hbm));
}

static bool scan_func(SimSetup *u, const IrFunc *f, Plan *p) {
  p->shift = arena_newn(&u->arena, uint8_t, f->nbufs);
  p->flags = arena_newn(&u->arena, uint8_t, f->nbufs);
  if (u->arena.oom) return false;
  for (uint32_t id = 0; id < f->nbufs; id++) {
    const IrBuf *b = f->bufs[id];
    if (b->kind != BUF_VIEW) {
      p->shift[id] = log2_bytes(b->dtype);
    } else {
      uint8_t shift = log2_bytes(b->dtype);
      if (shift < p->shift[b->base]) p->shift[b->base] = shift;
      p->flags[b->base] |= HAS_VIEW;
    }
  }
  for (uint32_t i = 0; i < f->nins; i++) {
    const IrIns *ins = f->ins[i];
    if (ins->op >= OP_count) continue;
    const OpInfo *op = &op_info[ins->op];
    for (int k = 0; k < op->nparams; k++) {
      if (ins->v[k].kind == V_TILE && may_write_hbm(&op->params[k]))
        p->flags[base_of(f, ins->v[k].u.tile->buf)] |= IS_WRITTEN;
    }
  }
  return true;
}

/* ---- one buffer -------------------------------------------------------------------------------------------------- */
static bool is_narrow(DType dt) { return dtype_is_float(dt) && dt != DT_float32; }

/* Kept as float32 in an imprecise run: what no view looks at as bits. */
static bool widens(const SimSetup *u, const IrBuf *b, uint8_t flags) {
  return u->imprecise && is_narrow(b->dtype) && !(flags & HAS_VIEW);
}

static void mem_init(SimMem *m, const IrBuf *b, uint8_t shift, bool wide) {
  *m = (SimMem){.ir = b, .dt = wide ? DT_float32 : b->dtype, .shift = wide ? 2 : shift};
  m->bytes = b->count < TOO_MUCH ? b->count * dtype_bytes(m->dt) : TOO_MUCH;
  m->written.n = m->started.n = m->bytes >> m->shift;
}

static int64_t bits_bytes(const SimMem *m) { return round_up((m->written.n + 63) / 64 * 8); }
static int64_t mem_room(const SimMem *m) {
  if (m->bytes >= TOO_MUCH) return TOO_MUCH;
  return round_up(m->bytes) + bits_bytes(m) * (m->ir->space == SP_psum ? 2 : 1);
}

/* Gives m the memory at p: shadow first, so that the storage may be elsewhere. */
static void mem_place(SimMem *m, char *p, bool storage) {
  m->written.w = (uint64_t *)(void *)p;
  p += bits_bytes(m);
  if (m->ir->space == SP_psum) {
    m->started.w = (uint64_t *)(void *)p;
    p += bits_bytes(m);
  }
  if (storage) m->home = m->data = p;
}

/* ---- arguments and shared tensors -------------------------------------------------------------------------------- */
/* What all programs say of one buffer that they share. */
static void combine(uint8_t *shift, uint8_t *flags, const Plan *p, uint32_t id) {
  if (p->shift[id] < *shift) *shift = p->shift[id];
  *flags |= p->flags[id];
}

static void make_args(SimSetup *u) {
  const IrFunc *f = u->m->func[0];
  for (uint32_t i = 0; i < f->nargs; i++) {
    uint8_t shift = 2, flags = 0;
    for (uint32_t k = 0; k < u->m->nfunc; k++) combine(&shift, &flags, &u->plan[k], i);
    bool written = flags & IS_WRITTEN;
    mem_init(&u->arg[i], f->bufs[i], shift, written && widens(u, f->bufs[i], flags));
    u->arg[i].constant = !written;
    u->arg[i].keep = true;
    bits_fill(&u->arg[i].written);
  }
}

static bool is_shared(const IrBuf *b) { return b->kind == BUF_ALLOC && b->shared_ordinal >= 0; }

static bool make_shared(SimSetup *u) {
  uint8_t *shift = arena_newn(&u->arena, uint8_t, u->nshared), *flags = arena_newn(&u->arena, uint8_t, u->nshared);
  if (u->arena.oom) return false;
  memset(shift, 2, (size_t)u->nshared);
  for (int pass = 0; pass < 2; pass++) /* collect, then make */
    for (uint32_t k = 0; k < u->m->nfunc; k++)
      for (uint32_t id = 0; id < u->m->func[k]->nbufs; id++) {
        const IrBuf *b = u->m->func[k]->bufs[id];
        if (!is_shared(b)) continue;
        int32_t at = b->shared_ordinal;
        if (pass == 0) {
          combine(&shift[at], &flags[at], &u->plan[k], id);
        } else if (!u->shared[at].ir) {
          mem_init(&u->shared[at], b, shift[at], widens(u, b, flags[at]));
          u->shared[at].keep = true;
        }
      }
  return true;
}

static SimMem *run_mem(SimSetup *u, const IrFunc *f, uint32_t id) {
  const IrBuf *b = f->bufs[base_of(f, id)];
  if (b->kind == BUF_ARG) return &u->arg[b->id];
  return is_shared(b) ? &u->shared[b->shared_ordinal] : NULL;
}

static int32_t alias_of(const IrModule *m, uint32_t operand) {
  for (uint32_t k = 0; k < m->naliases; k++)
    if (m->aliases[k].operand == (int32_t)operand) return m->aliases[k].output;
  return -1;
}

/* Storage that the caller brings: operands, and outputs where the program may write them directly. */
static void bind_storage(SimSetup *u) {
  const IrFunc *f = u->m->func[0];
  for (uint32_t k = 0; k < f->nrets; k++) {
    SimMem *m = run_mem(u, f, f->rets[k]);
    if (m && m->ir->kind == BUF_ALLOC && !m->home && m->dt == m->ir->dtype) m->home = m->data = u->outputs[k].data;
  }
  for (uint32_t i = 0; i < f->nargs; i++) {
    SimMem *m = &u->arg[i];
    int32_t k = alias_of(u->m, i);
    if (m->constant) {
      m->home = m->data = u->operands[i].data;
    } else if (k >= 0 && m->dt == m->ir->dtype) {
      m->home = m->data = u->outputs[k].data;
      if (m->data != u->operands[i].data) memcpy(m->data, u->operands[i].data, (size_t)m->bytes);
    }
  }
}

static int64_t front_room(const SimSetup *u) {
  int64_t room = ALIGN; /* the arena's own head */
  for (uint32_t i = 0; i < u->m->func[0]->nargs; i++)
    if (!u->arg[i].home) grow(&room, mem_room(&u->arg[i]));
  for (int32_t k = 0; k < u->nshared; k++)
    if (u->shared[k].ir) grow(&room, mem_room(&u->shared[k]));
  return room;
}

static void place_front(SimSetup *u) {
  char *p = u->pages.p + ALIGN;
  for (uint32_t i = 0; i < u->m->func[0]->nargs; i++) {
    SimMem *m = &u->arg[i];
    if (m->home) continue;
    mem_place(m, p, true);
    p += mem_room(m);
    if (m->dt == m->ir->dtype) {
      memcpy(m->home, u->operands[i].data, (size_t)m->bytes);
    } else {
      cvt_load(m->ir->dtype, u->operands[i].data, m->ir->count, (float *)(void *)m->home);
    }
  }
  for (int32_t k = 0; k < u->nshared; k++) {
    if (!u->shared[k].ir) continue;
    mem_place(&u->shared[k], p, !u->shared[k].home);
    p += mem_room(&u->shared[k]);
  }
}

/* ---- layout of a program ----------------------------------------------------------------------------------------- */
typedef struct Holes { /* free ranges, by address */
  struct Hole {
    int64_t at, size;
  } * v;
  uint32_t n, cap;
  int64_t top;
} Holes;

static int64_t hole_take(Holes *h, int64_t size) {
  for (uint32_t k = 0; k < h->n; k++) {
    if (h->v[k].size < size) continue;
    int64_t at = h->v[k].at;
    h->v[k].at += size;
    h->v[k].size -= size;
    if (h->v[k].size == 0) memmove(&h->v[k], &h->v[k + 1], (--h->n - k) * sizeof *h->v);
    return at;
  }
  int64_t at = h->top;
  grow(&h->top, size);
  return at;
}

/* Makes one of hole k and the next when they touch. */
static void join(Holes *h, uint32_t k) {
  if (h->v[k].at + h->v[k].size != h->v[k + 1].at) return;
  h->v[k].size += h->v[k + 1].size;
  memmove(&h->v[k + 1], &h->v[k + 2], (h->n - k - 2) * sizeof *h->v);
  h->n--;
}

static bool hole_give(Arena *a, Holes *h, int64_t at, int64_t size) {
  if (h->n == h->cap && !arena_push(a, h->v, h->cap, h->n)) return false;
  uint32_t k = h->n;
  while (k > 0 && h->v[k - 1].at > at) k--;
  memmove(&h->v[k + 1], &h->v[k], (h->n - k) * sizeof *h->v);
  h->v[k] = (struct Hole){at, size};
  h->n++;
  if (k + 1 < h->n) join(h, k);
  if (k > 0) join(h, k - 1);
  return true;
}

static bool is_private(const IrBuf *b) { return b->kind == BUF_ALLOC && b->space != SP_reg && b->shared_ordinal < 0; }

/* Lists, per instruction, the private buffers used there last. */
static bool list_deaths(Arena *a, const IrFunc *f, uint32_t **head, uint32_t **next) {
  uint32_t *first = arena_newn(a, uint32_t, f->nbufs), *last = arena_newn(a, uint32_t, f->nbufs);
  *head = arena_newn(a, uint32_t, f->nins + 1);
  *next = arena_newn(a, uint32_t, f->nbufs);
  if (a->oom || !ir_lifetimes(f, first, last)) return false;
  for (uint32_t id = 0; id < f->nbufs; id++) {
    if (!is_private(f->bufs[id]) || last[id] >= f->nins) continue;
    (*next)[id] = (*head)[last[id]]; /* ids are stored + 1 */
    (*head)[last[id]] = id + 1;
  }
  return true;
}

static bool plan_layout(SimSetup *u, const IrFunc *f, Plan *p) {
  uint32_t *head, *next;
  Holes h = {0};
  p->place = arena_newn(&u->arena, int64_t, f->nbufs);
  if (!list_deaths(&u->arena, f, &head, &next) || !p->place) return false;
  for (uint32_t id = 0; id < f->nbufs; id++) p->place[id] = -1;
  for (uint32_t i = 0; i < f->nins; i++) {
    const IrIns *ins = f->ins[i];
    if (ins->op == CORE_alloc) {
      uint32_t id = (uint32_t)ins->v[0].u.i;
      if (is_private(f->bufs[id]) && p->place[id] < 0) p->place[id] = hole_take(&h, mem_room(&p->mem[id]));
    }
    for (uint32_t id = head[i]; id; id = next[id - 1])
      if (p->place[id - 1] >= 0 && !hole_give(&u->arena, &h, p->place[id - 1], mem_room(&p->mem[id - 1]))) return false;
  }
  p->bytes = h.top;
  return true;
}

static bool plan_func(SimSetup *u, const IrFunc *f, Plan *p) {
  p->buf = arena_newn(&u->arena, SimBuf, f->nbufs);
  p->mem = arena_newn(&u->arena, SimMem, f->nbufs);
  p->idx = arena_newn(&u->arena, int64_t, f->nidx + 1);
  p->said = arena_newn(&u->arena, uint8_t, f->nins);
  if (u->arena.oom) return false;
  for (uint32_t id = 0; id < f->nbufs; id++) {
    const IrBuf *b = f->bufs[id];
    if (b->kind == BUF_CONST) {
      mem_init(&p->mem[id], b, p->shift[id], false);
      p->mem[id].home = p->mem[id].data = (char *)(uintptr_t)b->data; /* never written: constant */
      p->mem[id].constant = p->mem[id].keep = true;
      bits_fill(&p->mem[id].written);
    } else if (is_private(b)) {
      mem_init(&p->mem[id], b, p->shift[id], widens(u, b, p->flags[id]));
    }
  }
  return plan_layout(u, f, p);
}

/* ---- the life of a setup ----------------------------------------------------------------------------------------- */
static bool build(SimSetup *u) {
  const IrModule *m = u->m;
  u->plan = arena_newn(&u->arena, Plan, m->nfunc);
  for (uint32_t k = 0; k < m->nfunc && !u->arena.oom; k++) {
    scan_func(u, m->func[k], &u->plan[k]);
    for (uint32_t id = 0; id < m->func[k]->nbufs; id++)
      if (m->func[k]->bufs[id]->shared_ordinal >= u->nshared) u->nshared = m->func[k]->bufs[id]->shared_ordinal + 1;
  }
  u->arg = arena_newn(&u->arena, SimMem, m->func[0]->nargs);
  u->shared = arena_newn(&u->arena, SimMem, u->nshared);
  if (u->arena.oom) return false;
  make_args(u);
  if (!make_shared(u)) return false;
  bind_storage(u);
  u->front = front_room(u);
  int64_t most = 0;
  for (uint32_t k = 0; k < m->nfunc; k++) {
    if (!plan_func(u, m->func[k], &u->plan[k])) return false;
    if (u->plan[k].bytes > most) most = u->plan[k].bytes;
  }
  if (!pages_take(&u->pages, (size_t)(u->front + most))) {
    u->wanted = u->front + most;
    return false;
  }
  place_front(u);
  return true;
}

static bool fits(const SimTensor *t, const IrBuf *b) {
  int64_t n = 1;
  for (int k = 0; k < t->rank; k++) n *= t->shape[k];
  return t->dtype == b->dtype && n == b->count;
}

static bool tensors_fit(const IrModule *m, const SimTensor *operands, const SimTensor *outputs) {
  const IrFunc *f = m->func[0];
  for (uint32_t i = 0; i < f->nargs; i++)
    if (!fits(&operands[i], f->bufs[i])) return false;
  for (uint32_t k = 0; k < f->nrets; k++)
    if (!fits(&outputs[k], f->bufs[f->rets[k]])) return false;
  return true;
}

SimSetup *setup_new(Sim *s, const SimTensor *operands, SimTensor *outputs) {
  if (!tensors_fit(s->m, operands, outputs)) {
    NK_BUG(s->d, "operands or outputs of another shape or dtype than the program's");
    return NULL;
  }
  Arena a;
  arena_init(&a, s->alloc);
  SimSetup *u = arena_new(&a, SimSetup);
  if (!u) {
    arena_free(&a);
    DIAG0(s->d, nomem);
    return NULL;
  }
  u->arena = a;
  u->m = s->m;
  u->imprecise = s->opt->imprecise;
  u->operands = operands;
  u->outputs = outputs;
  if (build(u)) return u;
  int64_t wanted = u->wanted;
  setup_free(u);
  if (wanted >= TOO_MUCH) {
    DIAG(s->d, sim_memory, "more than", (long long)(TOO_MUCH >> 20));
  } else if (wanted) {
    DIAG(s->d, sim_memory, "some", (long long)(wanted >> 20));
  } else {
    DIAG0(s->d, nomem);
  }
  return NULL;
}

void setup_free(SimSetup *u) {
  if (!u) return;
  pages_give(&u->pages);
  Arena a = u->arena; /* u is in it */
  arena_free(&a);
}

bool setup_program(SimSetup *u, Sim *s, int64_t program) {
  uint32_t k = u->m->program ? u->m->program[program] : 0;
  const IrFunc *f = u->m->func[k];
  Plan *p = &u->plan[k];
  for (uint32_t id = 0; id < f->nbufs; id++) {
    const IrBuf *b = f->bufs[id];
    SimBuf *out = &p->buf[id];
    *out = (SimBuf){.dt = b->dtype, .bytes = (int)dtype_bytes(b->dtype)};
    if (b->space == SP_reg) continue;
    uint32_t base = base_of(f, id);
    SimMem *m = run_mem(u, f, id);
    if (!m) m = &p->mem[base];
    if (base == id && is_private(b)) {
      if (p->place[id] < 0) continue; /* never begins, so it is never used */
      mem_place(m, u->pages.p + u->front + p->place[id], true);
      mem_begin(m);
    }
    out->mem = m;
    if (b->kind != BUF_VIEW) {
      out->dt = m->dt;
      out->bytes = (int)dtype_bytes(m->dt);
    }
  }
  memset(p->said, 0, f->nins);
  s->f = f;
  s->program = program;
  s->buf = p->buf;
  s->idx = p->idx;
  s->said = p->said;
  s->scalar = s->vector = (Lanes){0};
  s->seeded = false;
  return true;
}

bool setup_outputs(SimSetup *u, Sim *s) {
  const IrFunc *f = s->f;
  for (uint32_t k = 0; k < f->nrets; k++) {
    SimMem *m = s->buf[f->rets[k]].mem;
    if (m->written.state != BITS_ALL) {
      mem_fill(m);
      if (!say_output(s, m, u->m->output_names ? u->m->output_names[k] : m->ir->name)) return false;
    }
    if (m->home == u->outputs[k].data) continue;
    if (m->dt == m->ir->dtype) {
      memcpy(u->outputs[k].data, m->data, (size_t)m->bytes);
    } else {
      cvt_store(m->ir->dtype, (const float *)(const void *)m->data, m->ir->count, u->outputs[k].data);
    }
  }
  return true;
}
