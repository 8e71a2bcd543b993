/* setup.c -- room sim: binds arguments, outputs and shared tensors, and lays out the memory of each program before it
 * runs. */
#include <string.h>

#include "convert.h"
#include "exec.h"

enum { ALIGN = 64, IS_WRITTEN = 1, HAS_VIEW = 2 };

typedef struct Plan { /* what is known of one distinct program */
  int64_t *place;     /* offset in the arena of a buffer that lives in this program alone */
  int64_t bytes;
  uint8_t *shift; /* by base buffer: log2 of the smallest element */
  uint8_t *flags; /* by base buffer: IS_WRITTEN, HAS_VIEW */
} Plan;

typedef struct State { /* of one distinct program, while a core runs it */
  SimBuf *buf;
  SimMem *mem; /* of buffers that live in this program alone */
  int64_t *idx;
  uint8_t *said;
} State;

/* What one physical core sees: arguments that nothing writes are the caller's; of the others, and of shared tensors,
   each core has a copy, and core 0's is the one that remains (races.c brings them up to date). */
typedef struct Side {
  SimMem *arg;    /* by argument */
  SimMem *shared; /* by ordinal */
  State *state;   /* by function */
  Track *track;   /* of what is written and outlives a program, the same order on every core */
} Side;

struct SimSetup {
  Arena arena;
  Pages pages;
  const IrModule *m;
  bool imprecise;
  const SimTensor *operands;
  SimTensor *outputs;
  Plan *plan; /* by function */
  Side *side; /* by core */
  int ncores;
  uint32_t ntracks;
  int32_t nshared;
  int64_t front;  /* arena bytes of args and shared tensors; plans begin after them */
  int64_t most;   /* arena bytes of the largest program; each core has so many */
  int64_t wanted; /* bytes that the machine would not give; 0: that was not the fault */
};

static void grow(int64_t *sum, int64_t n) {
  if (*sum < SIM_TOO_MUCH) *sum += n;
}

static uint32_t base_of(const IrFunc *f, uint32_t id) { return f->bufs[id]->kind == BUF_VIEW ? f->bufs[id]->base : id; }
static int64_t round_up(int64_t n) { return (n + ALIGN - 1) / ALIGN * ALIGN; }

/* ---- facts about a program's buffers ----------------------------------------------------------------------------- */
static uint8_t log2_bytes(DType dt) { return dtype_bytes(dt) == 4 ? 2 : dtype_bytes(dt) == 2 ? 1 : 0; }

/* Parameters of an instruction that may write HBM: only those can touch an argument. */
static bool may_write_hbm(const IrIns *ins, int p) {
  return (op_info[ins->op].params[p].spaces & (1u << SP_shared_hbm | 1u << SP_private_hbm)) && ir_writes(ins, p);
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
      const IrVal *v = &ins->v[k];
      if ((v->kind != V_TILE && v->kind != V_TILES) || !may_write_hbm(ins, k)) continue;
      if (v->kind == V_TILE) p->flags[base_of(f, v->u.tile->buf)] |= IS_WRITTEN;
      for (uint32_t j = 0; v->kind == V_TILES && j < v->n; j++) p->flags[base_of(f, v->u.tiles[j]->buf)] |= IS_WRITTEN;
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
  m->bytes = b->count < SIM_TOO_MUCH ? b->count * dtype_bytes(m->dt) : SIM_TOO_MUCH;
  m->written.n = m->started.n = m->bytes >> m->shift;
}

static int64_t bits_bytes(const SimMem *m) { return round_up((m->written.n + 63) / 64 * 8); }
static int64_t mem_room(const SimMem *m) {
  if (m->bytes >= SIM_TOO_MUCH) return SIM_TOO_MUCH;
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
    for (int c = 0; c < u->ncores; c++) {
      SimMem *m = &u->side[c].arg[i];
      mem_init(m, f->bufs[i], shift, written && widens(u, f->bufs[i], flags));
      m->constant = !written;
      m->keep = true;
      bits_fill(&m->written);
    }
  }
}

static bool is_shared(const IrBuf *b) { return b->kind == BUF_ALLOC && b->shared_ordinal >= 0; }

static void make_one_shared(SimSetup *u, const IrBuf *b, uint8_t shift, uint8_t flags) {
  for (int c = 0; c < u->ncores; c++) {
    SimMem *m = &u->side[c].shared[b->shared_ordinal];
    if (m->ir) return;
    mem_init(m, b, shift, widens(u, b, flags));
    m->keep = true;
  }
}

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
        } else {
          make_one_shared(u, b, shift[at], flags[at]);
        }
      }
  return true;
}

static SimMem *run_mem(const SimSetup *u, int core, const IrFunc *f, uint32_t id) {
  const IrBuf *b = f->bufs[base_of(f, id)];
  if (b->kind == BUF_ARG) return &u->side[core].arg[b->id];
  return is_shared(b) ? &u->side[core].shared[b->shared_ordinal] : NULL;
}

static int32_t alias_of(const IrModule *m, uint32_t operand) {
  for (uint32_t k = 0; k < m->naliases; k++)
    if (m->aliases[k].operand == (int32_t)operand) return m->aliases[k].output;
  return -1;
}

/* Storage that the caller brings: operands, and outputs where core 0 may write them directly. */
static void bind_storage(SimSetup *u) {
  const IrFunc *f = u->m->func[0];
  for (uint32_t k = 0; k < f->nrets; k++) {
    SimMem *m = run_mem(u, 0, f, f->rets[k]);
    if (m && m->ir->kind == BUF_ALLOC && !m->home && m->dt == m->ir->dtype) m->home = m->data = u->outputs[k].data;
  }
  for (uint32_t i = 0; i < f->nargs; i++) {
    SimMem *m = &u->side[0].arg[i];
    int32_t k = alias_of(u->m, i);
    for (int c = 0; m->constant && c < u->ncores; c++)
      u->side[c].arg[i].home = u->side[c].arg[i].data = u->operands[i].data;
    if (m->constant || k < 0 || m->dt != m->ir->dtype) continue;
    m->home = m->data = u->outputs[k].data;
    if (m->data != u->operands[i].data) memcpy(m->data, u->operands[i].data, (size_t)m->bytes);
  }
}

static int64_t front_room(const SimSetup *u) {
  int64_t room = ALIGN; /* the arena's own head */
  for (int c = 0; c < u->ncores; c++) {
    const Side *side = &u->side[c];
    for (uint32_t i = 0; i < u->m->func[0]->nargs; i++)
      if (!side->arg[i].home) grow(&room, mem_room(&side->arg[i]));
    for (int32_t k = 0; k < u->nshared; k++)
      if (side->shared[k].ir) grow(&room, mem_room(&side->shared[k]));
  }
  return room;
}

static void place_arg(SimSetup *u, SimMem *m, uint32_t i, char **p) {
  if (m->home) return;
  mem_place(m, *p, true);
  *p += mem_room(m);
  if (m->dt == m->ir->dtype) {
    memcpy(m->home, u->operands[i].data, (size_t)m->bytes);
  } else {
    cvt_load(m->ir->dtype, u->operands[i].data, m->ir->count, (float *)(void *)m->home);
  }
}

static void place_front(SimSetup *u) {
  char *p = u->pages.p + ALIGN;
  for (int c = 0; c < u->ncores; c++) {
    Side *side = &u->side[c];
    for (uint32_t i = 0; i < u->m->func[0]->nargs; i++) place_arg(u, &side->arg[i], i, &p);
    for (int32_t k = 0; k < u->nshared; k++) {
      SimMem *m = &side->shared[k];
      if (!m->ir) continue;
      mem_place(m, p, !m->home);
      p += mem_room(m);
    }
  }
}

/* What programs of a grid share and write is watched. */
static bool track_front(SimSetup *u) {
  if (u->m->nprogram < 2) return true;
  uint32_t nargs = u->m->func[0]->nargs;
  for (int c = 0; c < u->ncores; c++) {
    Side *side = &u->side[c];
    side->track = arena_newn(&u->arena, Track, nargs + (uint32_t)u->nshared);
    if (!side->track) return false;
    uint32_t n = 0;
    for (uint32_t i = 0; i < nargs + (uint32_t)u->nshared; i++) {
      SimMem *m = i < nargs ? &side->arg[i] : &side->shared[i - nargs];
      if (!m->ir || m->constant) continue;
      m->track = &side->track[n++];
      m->track->mem = m;
    }
    u->ntracks = n;
  }
  return true;
}

/* ---- programs ---------------------------------------------------------------------------------------------------- */
static bool state_init(SimSetup *u, const IrFunc *f, const Plan *p, State *st) {
  st->buf = arena_newn(&u->arena, SimBuf, f->nbufs);
  st->mem = arena_newn(&u->arena, SimMem, f->nbufs);
  st->idx = arena_newn(&u->arena, int64_t, f->nidx + 1);
  st->said = arena_newn(&u->arena, uint8_t, f->nins);
  if (u->arena.oom) return false;
  for (uint32_t id = 0; id < f->nbufs; id++) {
    const IrBuf *b = f->bufs[id];
    if (b->kind == BUF_CONST) {
      mem_init(&st->mem[id], b, p->shift[id], false);
      st->mem[id].home = st->mem[id].data = (char *)(uintptr_t)b->data; /* never written: constant */
      st->mem[id].constant = st->mem[id].keep = true;
      bits_fill(&st->mem[id].written);
    } else if (buf_is_private(b)) {
      mem_init(&st->mem[id], b, p->shift[id], widens(u, b, p->flags[id]));
    }
  }
  return true;
}

static bool plan_func(SimSetup *u, uint32_t k) {
  const IrFunc *f = u->m->func[k];
  Plan *p = &u->plan[k];
  for (int c = 0; c < u->ncores; c++)
    if (!state_init(u, f, p, &u->side[c].state[k])) return false;
  int64_t *room = arena_newn(&u->arena, int64_t, f->nbufs);
  p->place = arena_newn(&u->arena, int64_t, f->nbufs);
  if (!room || !p->place) return false;
  for (uint32_t id = 0; id < f->nbufs; id++)
    if (buf_is_private(f->bufs[id])) room[id] = mem_room(&u->side[0].state[k].mem[id]);
  return layout_private(&u->arena, f, room, p->place, &p->bytes);
}

/* ---- the life of a setup ----------------------------------------------------------------------------------------- */
static bool make_sides(SimSetup *u) {
  const IrModule *m = u->m;
  u->ncores = (int)ir_core_count(m->cores, m->ngrid);
  u->side = arena_newn(&u->arena, Side, u->ncores);
  for (int c = 0; u->side && c < u->ncores; c++) {
    u->side[c].arg = arena_newn(&u->arena, SimMem, m->func[0]->nargs);
    u->side[c].shared = arena_newn(&u->arena, SimMem, u->nshared);
    u->side[c].state = arena_newn(&u->arena, State, m->nfunc);
  }
  return !u->arena.oom;
}

static bool build(SimSetup *u) {
  const IrModule *m = u->m;
  u->plan = arena_newn(&u->arena, Plan, m->nfunc);
  for (uint32_t k = 0; k < m->nfunc && !u->arena.oom; k++) {
    scan_func(u, m->func[k], &u->plan[k]);
    for (uint32_t id = 0; id < m->func[k]->nbufs; id++)
      if (m->func[k]->bufs[id]->shared_ordinal >= u->nshared) u->nshared = m->func[k]->bufs[id]->shared_ordinal + 1;
  }
  if (u->arena.oom || !make_sides(u)) return false;
  make_args(u);
  if (!make_shared(u)) return false;
  bind_storage(u);
  u->front = front_room(u);
  for (uint32_t k = 0; k < m->nfunc; k++) {
    if (!plan_func(u, k)) return false;
    if (u->plan[k].bytes > u->most) u->most = u->plan[k].bytes;
  }
  int64_t all = u->front;
  for (int c = 0; c < u->ncores; c++) grow(&all, u->most);
  if (!pages_take(&u->pages, (size_t)all)) {
    u->wanted = all;
    return false;
  }
  place_front(u);
  return track_front(u);
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
  if (wanted >= SIM_TOO_MUCH) {
    DIAG(s->d, sim_memory, "more than", (long long)(SIM_TOO_MUCH >> 20));
  } else if (wanted) {
    DIAG(s->d, sim_memory, "some", (long long)(wanted >> 20));
  } else {
    DIAG0(s->d, nomem);
  }
  return NULL;
}

void setup_free(SimSetup *u) {
  if (!u) return;
  for (int c = 0; u->side && c < u->ncores; c++)
    for (uint32_t k = 0; u->side[c].track && k < u->ntracks; k++) track_free(&u->side[c].track[k], u->arena.alloc);
  pages_give(&u->pages);
  Arena a = u->arena; /* u is in it */
  arena_free(&a);
}

Track *setup_tracks(SimSetup *u, int core, uint32_t *n) {
  *n = u->ntracks;
  return u->side[core].track;
}

static void begin_buffers(SimSetup *u, Sim *s, uint32_t k) {
  const IrFunc *f = u->m->func[k];
  State *st = &u->side[s->core].state[k];
  const int64_t *place = u->plan[k].place;
  char *arena = u->pages.p + u->front + s->core * u->most;
  for (uint32_t id = 0; id < f->nbufs; id++) {
    const IrBuf *b = f->bufs[id];
    SimBuf *out = &st->buf[id];
    *out = (SimBuf){.dt = b->dtype, .bytes = (int)dtype_bytes(b->dtype)};
    if (b->space == SP_reg) continue;
    uint32_t base = base_of(f, id);
    SimMem *m = run_mem(u, s->core, f, id);
    if (!m) m = &st->mem[base];
    if (base == id && buf_is_private(b)) {
      if (place[id] < 0) continue; /* never begins, so it is never used */
      mem_place(m, arena + place[id], true);
      mem_begin(m);
    }
    out->mem = m;
    if (b->kind != BUF_VIEW) {
      out->dt = m->dt;
      out->bytes = (int)dtype_bytes(m->dt);
    }
  }
}

void setup_program(SimSetup *u, Sim *s, int64_t program) {
  uint32_t k = u->m->program ? u->m->program[program] : 0;
  State *st = &u->side[s->core].state[k];
  begin_buffers(u, s, k);
  for (uint32_t t = 0; t < u->ntracks; t++) track_program(&u->side[s->core].track[t], s);
  memset(st->said, 0, u->m->func[k]->nins);
  s->f = u->m->func[k];
  s->program = program;
  s->buf = st->buf;
  s->idx = st->idx;
  s->said = st->said;
  s->scalar = s->vector = (Lanes){0};
  s->seeded = false;
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
