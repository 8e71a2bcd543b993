/* walk.c -- room sim: runs a module: programs in row-major order (on several physical cores: cores.c), instructions in
   order, device loops and index values. */
#include <string.h>

#include "exec.h"
#include "world.h"

static bool step(Sim *s, const IrIns *ins) {
  switch (ins->op) {
#define P(...)
#define R(...)
#define OP(name, ...) \
  case OP_##name:     \
    return sim_##name(s, ARGS(name, ins));
#include "ops.def"
    default:
      return NK_BUG(s->d, "an instruction of no row");
  }
}

static void do_alloc(Sim *s, const IrIns *ins) {
  SimBuf *b = &s->buf[ins->v[0].u.i];
  if (b->mem) {
    mem_begin(b->mem);
  } else {
    b->set = false;
  }
}

/* Wraps on overflow; a use as an offset is range-checked. */
static void do_idx(Sim *s, const IrIns *ins) {
  uint64_t sum = (uint64_t)ins->v[2].u.i;
  for (uint32_t k = 0; k < ins->v[0].n; k++)
    sum += (uint64_t)ins->v[0].u.ints[k] * (uint64_t)s->idx[ins->v[1].u.ints[k]];
  s->idx[ins->result] = (int64_t)sum;
}

static int64_t bound(const Sim *s, const IrVal *v) { return v->kind == V_IDX ? s->idx[v->u.idx] : v->u.i; }

/* Executes a structure instruction and says where to go on. */
static bool core(Sim *s, const IrIns *ins, uint32_t *next) {
  int64_t v;
  switch (ins->op) {
    case CORE_alloc:
      do_alloc(s, ins);
      return true;
    case CORE_idx:
      do_idx(s, ins);
      return true;
    case CORE_reg_read:
      return reg_get(s, ins->v[0].u.reg, &s->idx[ins->result]);
    case CORE_for:
      s->idx[ins->result] = bound(s, &ins->v[0]);
      if (s->idx[ins->result] >= bound(s, &ins->v[1])) *next = ins->match + 1;
      return true;
    case CORE_end_for: {
      const IrIns *head = s->f->ins[ins->match];
      v = s->idx[head->result];
      int64_t end = bound(s, &head->v[1]), by = head->v[2].u.i;
      if (v >= end - by) return true; /* no overflow: by >= 1 and v < end */
      s->idx[head->result] = v + by;
      *next = ins->match + 1;
      return true;
    }
    case CORE_while:
      if (!reg_get(s, ins->v[0].u.reg, &v)) return false;
      if (v == 0) *next = ins->match + 1;
      return true;
    case CORE_end_while:
      *next = ins->match;
      return true;
    default:
      return NK_BUG(s->d, "an unknown structure instruction");
  }
}

/* Location, call chain, traced iterations; then the device loops around and the program. */
static bool blame(Sim *s) {
  if (s->d->id == ERR_data_race) return false; /* which says that of its own two */
  ir_diag_where(s->m, s->ins->loc, s->ins->iter, s->d);
  for (uint32_t k = s->pc; k-- > 0;) {
    const IrIns *head = s->f->ins[k];
    if (head->op == CORE_for && head->match > s->pc)
      diag_note(s->d, "in the device loop at line %d, iteration with index %lld",
                head->loc && head->loc < s->m->nlocs ? s->m->locs[head->loc].line : 0, (long long)s->idx[head->result]);
  }
  return say_whose(s, s->program, s->d);
}

bool walk(Sim *s) {
  const IrFunc *f = s->f;
  ProfileWalk times;
  if (!profile_enter(s, &times)) return false;
  for (uint32_t pc = 0; pc < f->nins;) {
    const IrIns *ins = f->ins[pc];
    uint32_t next = pc + 1;
    s->pc = pc;
    s->ins = ins;
    if (s->opt->interrupt && atomic_load_explicit(s->opt->interrupt, memory_order_relaxed)) {
      DIAG0(s->d, interrupted);
      return blame(s);
    }
    if (s->cancel && atomic_load_explicit(s->cancel, memory_order_relaxed)) return false;
    if (times.core) profile_start(&times, pc);
    if (!(ins->op < OP_count ? step(s, ins) : core(s, ins, &next)) || s->halted) return blame(s);
    if (s->nwindow) windows_close(s);
    if (times.core && !profile_stop(s, &times, ins, next)) return blame(s);
    pc = next;
  }
  if (times.core) profile_leave(&times);
  return true;
}

static bool run(Sim *s, const SimTensor *operands, SimTensor *outputs) {
  SimSetup *u = setup_new(s, operands, outputs);
  bool ok = u != NULL;
  if (ok && ir_core_count(s->m->cores, s->m->ngrid) > 1) {
    ok = cores_run(u, s);
  } else {
    s->shares_core = s->m->nprogram > 1;
    for (int64_t p = 0; ok && p < s->m->nprogram; p++) {
      setup_program(u, s, p);
      ok = walk(s);
    }
  }
  ok = ok && setup_outputs(u, s);
  setup_free(u);
  return ok;
}

bool sim_run(const IrModule *m, const SimTensor *operands, SimTensor *outputs, const SimOptions *opt, Diag *d) {
  Sim s = {.m = m, .opt = opt, .report = opt->report, .d = d, .alloc = opt->alloc, .gen = chip_of(m->target)->gen};
  FpEnv env;
  int64_t began = opt->profile ? profile_begin(opt->profile) : 0;
  fp_enter(&env);
  bool ok = run(&s, operands, outputs);
  fp_leave(&env);
  if (opt->profile) profile_end(opt->profile, began);
  world_ended(&s);
  for (int k = 0; k < SCR_COUNT; k++) alloc_free(&s.alloc, s.scratch[k].p, s.scratch[k].size);
  if (ok && s.report->lines.oom) return DIAG0(d, nomem);
  return ok;
}
