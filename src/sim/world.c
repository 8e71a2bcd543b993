/* world.c -- room sim: several ranks in one process: a thread each, meetings in the order of their collectives, and one
 * outcome.
 */
#include "world.h"

#include <stdio.h>
#include <string.h>

#include "threads.h"

typedef enum SeatState { SEAT_RUNS, SEAT_WAITS, SEAT_MEETS, SEAT_ENDED } SeatState;
/* Of several failed ranks the lowest with the gravest fault speaks: its own, then waiting in vain, then being left. */
typedef enum Fault { FAULT_NONE, FAULT_LEFT, FAULT_WAITED, FAULT_OWN } Fault;

typedef struct SimWorld SimWorld;
struct SimSeat { /* of one rank */
  SimWorld *world;
  int rank;
  pthread_t thread;
  SeatState state;
  Fault fault;
  const Offer *offer;   /* while it waits or meets: one for each core */
  const int64_t *ranks; /* the list it waits for */
  int64_t nranks;
  int64_t first;    /* of the meeting: the rank that keeps its round */
  uint64_t round;   /* as the first of a meeting: how many it has seen end */
  int64_t left;     /* as the first: ranks that are still in the meeting */
  const IrIns *end; /* its last instruction */
  Diag *why;        /* while it waits: what to fill when that is in vain */
  const SimTensor *operands;
  SimTensor *outputs;
  SimOptions opt;
  SimReport report;
  Text printed;
  Diag d;
  bool ok;
};
struct SimWorld {
  const IrModule *m;
  Alloc alloc; /* the caller's, for its own thread while no rank runs */
  LockedAlloc shared;
  Alloc seat_alloc; /* the same through shared, for the ranks */
  Gate gate;
  int n, running;
  int ncores; /* of each rank */
  bool stuck; /* nobody runs and nobody will meet */
  struct SimSeat *seat;
};

int world_ranks(const Sim *s) { return s->opt->seat ? s->opt->seat->world->n : 1; }
int world_rank(const Sim *s) { return s->opt->seat ? s->opt->seat->rank : 0; }

/* ---- who meets --------------------------------------------------------------------------------------------------- */
static bool waits_with(const struct SimSeat *a, const struct SimSeat *b) {
  return b->state == SEAT_WAITS && a->nranks == b->nranks &&
         memcmp(a->ranks, b->ranks, (size_t)a->nranks * sizeof *a->ranks) == 0;
}

/* The last one to come opens the meeting. */
static bool try_open(SimWorld *w, struct SimSeat *me) {
  for (int64_t k = 0; k < me->nranks; k++)
    if (!waits_with(me, &w->seat[me->ranks[k]])) return false;
  struct SimSeat *first = &w->seat[me->ranks[0]];
  first->left = me->nranks;
  for (int64_t k = 0; k < me->nranks; k++) {
    struct SimSeat *s = &w->seat[me->ranks[k]];
    s->state = SEAT_MEETS;
    s->first = me->ranks[0];
  }
  w->running += (int)me->nranks;
  return true;
}

/* Names the first rank that does not wait with this one. */
static void say_stuck(const SimWorld *w, struct SimSeat *me) {
  Stop here = {.ins = me->offer->ins}, there = {0};
  for (int64_t k = 0; k < me->nranks; k++) {
    const struct SimSeat *o = &w->seat[me->ranks[k]];
    if (waits_with(me, o)) continue;
    snprintf(here.who, sizeof here.who, "rank %d", me->rank);
    snprintf(there.who, sizeof there.who, "rank %d", o->rank);
    there.ended = o->state != SEAT_WAITS;
    there.ins = there.ended ? o->end : o->offer->ins;
    say_deadlock(me->why, w->m, &here, &there);
    return;
  }
}

/* Nobody runs and nobody meets: those that wait do so in vain, and the lowest says for whom. */
static void look_stuck(SimWorld *w) {
  for (int r = 0; w->running == 0 && !w->stuck && r < w->n; r++) {
    if (w->seat[r].state != SEAT_WAITS) continue;
    w->stuck = true;
    w->seat[r].fault = FAULT_WAITED;
    say_stuck(w, &w->seat[r]);
  }
}

/* ---- what goes wrong --------------------------------------------------------------------------------------------- */
static bool same_attributes(const IrIns *a, const IrIns *b, bool cores) {
  const OpInfo *op = &op_info[a->op];
  for (int k = 0; k < op->nparams; k++) {
    const IrParam *p = &op->params[k];
    bool own = strcmp(p->name, "priority") == 0 || strcmp(p->name, "recv_counts_known") == 0 || p->kind == K_groups;
    if (p->role != ATTR || (own && !cores)) continue;
    if (!ir_val_equal(&a->v[k], &b->v[k])) return false;
  }
  return true;
}

const char *calls_differ(const IrIns *a, const IrIns *b, bool cores) {
  if (a->op != b->op) return "they must meet in the same one";
  return same_attributes(a, b, cores) ? NULL : "their options differ";
}

/* Why two offers are not of one collective, or NULL. */
static const char *differ(const Offer *a, const Offer *b) {
  const char *why = calls_differ(a->ins, b->ins, false);
  if (why) return why;
  if (a->program != b->program) return "they are different programs of the grid";
  if (a->joined != b->joined) return "both cores of the one bring the same tensors, and those of the other do not";
  if (a->nsrc != b->nsrc) return "they bring different numbers of tensors";
  for (uint32_t k = 0; k < a->nsrc; k++) {
    const IrTile *t = a->src[k].tile, *u = b->src[k].tile;
    if (a->src[k].mem->ir->dtype != b->src[k].mem->ir->dtype) return "their tensors have different dtypes";
    bool same = t->rank == u->rank;
    for (int i = 0; same && i < t->rank; i++) same = t->dim[i].count == u->dim[i].count;
    if (!same) return "their tensors have different shapes";
  }
  return NULL;
}

static bool say_differ(Sim *s, const Offer *a, int64_t rank, const Offer *b, const char *why) {
  Text x, y;
  text_init(&x, s->alloc);
  text_init(&y, s->alloc);
  say_stop(&x, s->m, a->ins);
  say_stop(&y, s->m, b->ins);
  DIAG(s->d, rank_differs, text_str(&x), (int)rank, text_str(&y), world_rank(s), why);
  text_free(&x);
  text_free(&y);
  return false;
}

/* All ranks of a meeting come to the same verdict; the first that differs from the first of the list reports it. */
static bool agree(Sim *s, struct SimSeat *me, const Offer **offers) {
  for (int64_t k = 1; k < me->nranks; k++)
    for (int c = 0; c < me->world->ncores; c++) {
      const Offer *a = &offers[0][c], *b = &offers[k][c];
      const char *why = differ(a, b);
      if (!why) continue;
      if (me->ranks[k] != me->rank) return false;
      me->fault = FAULT_OWN;
      return say_differ(s, a, me->ranks[0], b, why);
    }
  me->fault = FAULT_NONE;
  return true;
}

/* ---- meeting ----------------------------------------------------------------------------------------------------- */
/* With the lock: true when the meeting is open. */
static bool wait_open(Sim *s, struct SimSeat *me) {
  SimWorld *w = me->world;
  while (me->state == SEAT_WAITS && !w->stuck && !gate_interrupted(&w->gate)) gate_wait(&w->gate);
  if (me->state == SEAT_MEETS) return true;
  if (w->stuck) {
    if (me->fault == FAULT_NONE) me->fault = FAULT_LEFT;
    return false;
  }
  me->state = SEAT_RUNS; /* interrupted: it counts as running until it ends */
  w->running++;
  me->fault = FAULT_OWN;
  return DIAG0(s->d, interrupted);
}

bool world_meet(Sim *s, const int64_t *ranks, int64_t n, const Offer *mine, const Offer **offers) {
  struct SimSeat *me = s->opt->seat;
  if (!me) {
    offers[0] = mine;
    return true;
  }
  SimWorld *w = me->world;
  pthread_mutex_lock(&w->gate.lock);
  me->offer = mine;
  me->why = s->d;
  me->ranks = ranks;
  me->nranks = n;
  me->state = SEAT_WAITS;
  w->running--;
  if (!try_open(w, me)) look_stuck(w);
  if (me->state == SEAT_MEETS || w->stuck) pthread_cond_broadcast(&w->gate.changed);
  bool open = wait_open(s, me);
  for (int64_t k = 0; open && k < n; k++) offers[k] = w->seat[ranks[k]].offer;
  pthread_mutex_unlock(&w->gate.lock);
  if (!open) return false;
  me->fault = FAULT_LEFT;
  if (agree(s, me, offers)) return true;
  world_leave(s);
  return false;
}

void world_leave(Sim *s) {
  struct SimSeat *me = s->opt->seat;
  if (!me) return;
  SimWorld *w = me->world;
  pthread_mutex_lock(&w->gate.lock);
  struct SimSeat *first = &w->seat[me->first];
  uint64_t round = first->round;
  if (--first->left == 0) {
    first->round++;
    pthread_cond_broadcast(&w->gate.changed);
  }
  while (first->round == round) pthread_cond_wait(&w->gate.changed, &w->gate.lock);
  me->state = SEAT_RUNS;
  pthread_mutex_unlock(&w->gate.lock);
}

/* ---- a run with ranks -------------------------------------------------------------------------------------------- */
static void keep_print(void *ud, const char *s, size_t n) { text_add(ud, s, n); }

static void *run_rank(void *ud) {
  struct SimSeat *me = ud;
  SimWorld *w = me->world;
  me->ok = sim_run(w->m, me->operands, me->outputs, &me->opt, &me->d);
  pthread_mutex_lock(&w->gate.lock);
  if (!me->ok && me->fault == FAULT_NONE) me->fault = FAULT_OWN;
  if (me->state != SEAT_WAITS) w->running--; /* waiting in vain it does not run */
  me->state = SEAT_ENDED;
  look_stuck(w);
  pthread_cond_broadcast(&w->gate.changed);
  pthread_mutex_unlock(&w->gate.lock);
  return NULL;
}

void world_ended(Sim *s) {
  if (s->opt->seat && s->ins) s->opt->seat->end = s->ins;
}

static void open_seat(SimWorld *w, int r, const SimRanks *ranks, const SimOptions *opt) {
  struct SimSeat *s = &w->seat[r];
  Alloc alloc = w->seat_alloc;
  *s = (struct SimSeat){.world = w, .rank = r, .opt = *opt};
  s->operands = ranks->operands + (size_t)r * w->m->func[0]->nargs;
  s->outputs = ranks->outputs + (size_t)r * w->m->func[0]->nrets;
  text_init(&s->report.lines, alloc);
  text_init(&s->printed, alloc);
  diag_init(&s->d, alloc);
  s->opt.alloc = alloc;
  s->opt.report = &s->report;
  s->opt.print = keep_print;
  s->opt.print_ud = &s->printed;
  if (r > 0) s->opt.profile = NULL;
  s->opt.seat = s;
}

/* Starts them all, or none goes on: those that run find that the rest has ended. */
static bool run_all(SimWorld *w, Diag *d) {
  int started = 0;
  bool ok = true;
  while (ok && started < w->n) {
    ok = thread_start(&w->seat[started].thread, run_rank, &w->seat[started]);
    if (ok) started++;
  }
  if (!ok) {
    DIAG0(d, nomem);
    pthread_mutex_lock(&w->gate.lock);
    for (int r = started; r < w->n; r++) {
      w->seat[r].state = SEAT_ENDED;
      w->running--;
    }
    look_stuck(w);
    pthread_cond_broadcast(&w->gate.changed);
    pthread_mutex_unlock(&w->gate.lock);
  }
  for (int r = 0; r < started; r++) pthread_join(w->seat[r].thread, NULL);
  return ok;
}

/* What the ranks printed and reported, in their order; then the one fault that counts. */
static bool gather_outcome(SimWorld *w, const SimOptions *opt, Diag *d) {
  const struct SimSeat *worst = NULL;
  bool ok = true, oom = false;
  for (int r = 0; r < w->n; r++) {
    const struct SimSeat *s = &w->seat[r];
    oom = oom || s->printed.oom;
    opt->print(opt->print_ud, s->printed.data ? s->printed.data : "", s->printed.len);
    text_add(&opt->report->lines, text_str(&s->report.lines), s->report.lines.len);
    opt->report->count += s->report.count;
    ok = ok && s->ok;
    if (s->fault > (worst ? worst->fault : FAULT_NONE)) worst = s;
  }
  if (worst) return diag_copy(d, &worst->d), false;
  if (ok && (oom || opt->report->lines.oom)) return DIAG0(d, nomem);
  return ok;
}

static void close_world(SimWorld *w) {
  for (int r = 0; r < w->n; r++) {
    text_free(&w->seat[r].report.lines);
    text_free(&w->seat[r].printed);
    diag_free(&w->seat[r].d);
  }
  alloc_free(&w->alloc, w->seat, (size_t)w->n * sizeof *w->seat);
  locked_close(&w->shared);
  gate_close(&w->gate);
}

bool sim_run_ranks(const IrModule *m, const SimRanks *ranks, const SimOptions *opt, Diag *d) {
  if (ranks->n < 1 || ranks->n > SIM_MAX_RANKS) return DIAG(d, rank_count, (long long)ranks->n, SIM_MAX_RANKS);
  if (ranks->n == 1) return sim_run(m, ranks->operands, ranks->outputs, opt, d);
  SimWorld w = {.m = m, .alloc = opt->alloc, .n = (int)ranks->n, .running = (int)ranks->n};
  w.seat = alloc_new(&w.alloc, (size_t)w.n * sizeof *w.seat);
  if (!w.seat) return DIAG0(d, nomem);
  w.ncores = (int)ir_core_count(m->cores, m->ngrid);
  w.seat_alloc = locked_open(&w.shared, w.alloc);
  gate_open(&w.gate, opt->interrupt);
  for (int r = 0; r < w.n; r++) open_seat(&w, r, ranks, opt);
  bool ok = run_all(&w, d) && gather_outcome(&w, opt, d);
  close_world(&w);
  return ok;
}
