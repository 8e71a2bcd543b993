/* profile.c -- room sim: takes down where the host's time goes while a program runs: a measurement of the simulator,
   not a model of a device. */
#include <string.h>

#include "clock.h"
#include "exec.h"

enum { FIRST_EVENTS = 256 };

const char sim_profile_time[] = "host time of the simulator";

static bool init_core(SimCoreProfile *c, Arena *a, const IrModule *m) {
  c->open = -1;
  c->func = arena_newn(a, SimInsTime *, m->nfunc);
  for (uint32_t i = 0; c->func && i < m->nfunc; i++) {
    c->func[i] = arena_newn(a, SimInsTime, m->func[i]->nins);
    if (!c->func[i]) return false;
    memset(c->func[i], 0, m->func[i]->nins * sizeof *c->func[i]);
  }
  return c->func != NULL;
}

bool sim_profile_init(SimProfile *p, Alloc alloc, const IrModule *m) {
  *p = (SimProfile){.m = m, .ncores = (int)ir_core_count(m->cores, m->ngrid)};
  arena_init(&p->arena, alloc);
  p->core = arena_newn(&p->arena, SimCoreProfile, p->ncores);
  if (!p->core) return false;
  memset(p->core, 0, (size_t)p->ncores * sizeof *p->core);
  for (int k = 0; k < p->ncores; k++)
    if (!init_core(&p->core[k], &p->arena, m)) return false;
  return true;
}

void sim_profile_free(SimProfile *p) {
  for (int k = 0; p->core && k < p->ncores; k++)
    alloc_free(&p->arena.alloc, p->core[k].event, (size_t)p->core[k].cap * sizeof *p->core[k].event);
  arena_free(&p->arena);
  p->core = NULL;
}

int64_t profile_begin(SimProfile *p) {
  int64_t now = clock_ns();
  if (!p->runs) p->epoch = now;
  return now;
}

void profile_end(SimProfile *p, int64_t began) {
  p->runs++;
  p->ns += clock_ns() - began;
}

/* ---- the timeline ------------------------------------------------------------------------------------------------ */

/* Room for one more; the allocator of a run with several threads is locked. */
static bool grow(Sim *s, SimCoreProfile *c) {
  if (c->nevents < c->cap) return true;
  int64_t cap = c->cap ? 2 * c->cap : FIRST_EVENTS;
  SimEvent *e = alloc_grow(&s->alloc, c->event, (size_t)c->cap * sizeof *e, (size_t)cap * sizeof *e);
  if (!e) return DIAG0(s->d, nomem);
  c->event = e;
  c->cap = cap;
  return true;
}

static SimEvent event_of(const Sim *s, const ProfileWalk *w, int64_t began) {
  return (SimEvent){.at = began - s->opt->profile->epoch,
                    .program = s->program,
                    .parent = w->core->open,
                    .func = w->func,
                    .ins = w->pc};
}

/* false: no memory. What finds no room in the timeline is counted. */
static bool put(Sim *s, SimCoreProfile *c, SimEvent e) {
  if (c->nevents >= s->opt->profile->max_events) {
    c->left_out++;
    return true;
  }
  if (!grow(s, c)) return false;
  c->event[c->nevents++] = e;
  return true;
}

static bool open_stretch(Sim *s, ProfileWalk *w, SimEvent e) {
  SimCoreProfile *c = w->core;
  int64_t before = c->nevents;
  if (!put(s, c, e)) return false;
  if (c->nevents > before) {
    c->open = before;
  } else {
    c->skipped++; /* all that follow are skipped too, so the skipped ones are the innermost */
  }
  return true;
}

static void close_stretch(ProfileWalk *w, int64_t now) {
  SimCoreProfile *c = w->core;
  if (c->skipped) {
    c->skipped--;
  } else {
    SimEvent *e = &c->event[c->open];
    e->ns = now - w->epoch - e->at;
    c->open = e->parent;
  }
}

/* ---- hooks of the walk ------------------------------------------------------------------------------------------- */

bool profile_enter(Sim *s, ProfileWalk *w) {
  SimProfile *p = s->opt->profile;
  *w = (ProfileWalk){.core = NULL};
  if (!p) return true;
  w->core = &p->core[s->core];
  w->epoch = p->epoch;
  w->timeline = p->max_events > 0;
  w->pc = w->from = s->f->nins;
  while (w->func < s->m->nfunc && s->m->func[w->func] != s->f) w->func++;
  if (w->func == s->m->nfunc) return NK_BUG(s->d, "a function of another module runs");
  SimEvent e = event_of(s, w, clock_ns());
  e.whole = true;
  return !w->timeline || open_stretch(s, w, e);
}

void profile_leave(ProfileWalk *w) {
  if (w->timeline) close_stretch(w, clock_ns());
}

void profile_start(ProfileWalk *w, uint32_t pc) {
  w->from = w->pc;
  w->pc = pc;
  w->began = clock_ns();
}

/* A loop is one stretch, from where its head is reached from above to where it goes on below. */
static bool loop(Sim *s, ProfileWalk *w, const IrIns *ins, uint32_t next) {
  bool again = w->from == ins->match, through = next == w->pc + 1;
  if ((ins->op == CORE_for || (ins->op == CORE_while && !again)) && through)
    return open_stretch(s, w, event_of(s, w, w->began));
  if ((ins->op == CORE_end_for && through) || (ins->op == CORE_while && again && !through))
    close_stretch(w, clock_ns());
  return true;
}

bool profile_stop(Sim *s, ProfileWalk *w, const IrIns *ins, uint32_t next) {
  int64_t ns = clock_ns() - w->began;
  SimInsTime *t = &w->core->func[w->func][w->pc];
  t->calls++;
  t->ns += ns;
  if (!w->timeline) return true;
  if (ins->op >= OP_count) return loop(s, w, ins, next);
  SimEvent e = event_of(s, w, w->began);
  e.ns = ns;
  return put(s, w->core, e);
}
