/* world.c -- several ranks in one process: a thread each, meetings in the order of their collectives, and one outcome.
 */
#include "world.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "locked.h"

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
  const Offer *offer;   /* while it waits or meets */
  const int64_t *ranks; /* the list it waits for */
  int64_t nranks;
  int64_t first;    /* of the meeting: the rank that keeps its round */
  uint64_t round;   /* as the first of a meeting: how many it has seen end */
  int64_t left;     /* as the first: ranks that are still in the meeting */
  uint32_t end_loc; /* line of the last instruction */
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
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int n, running;
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

static const char *file_of(const IrModule *m, uint32_t loc) { return loc && loc < m->nlocs ? m->locs[loc].file : "?"; }
static int line_of(const IrModule *m, uint32_t loc) { return loc && loc < m->nlocs ? m->locs[loc].line : 0; }

/* Names the first rank that does not wait with this one. */
static void say_stuck(const SimWorld *w, struct SimSeat *me) {
  const IrModule *m = w->m;
  const IrIns *ins = me->offer->ins;
  for (int64_t k = 0; k < me->nranks; k++) {
    const struct SimSeat *o = &w->seat[me->ranks[k]];
    if (waits_with(me, o)) continue;
    bool waits = o->state == SEAT_WAITS;
    uint32_t loc = waits ? o->offer->ins->loc : o->end_loc;
    DIAG(&me->d, rank_waits, op_full_name(ins), file_of(m, ins->loc), line_of(m, ins->loc), me->rank, o->rank,
         waits ? "is in " : "has ended after ", waits ? op_full_name(o->offer->ins) : "", waits ? " at " : "",
         file_of(m, loc), line_of(m, loc));
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

/* Until something changes, or a moment later when the caller may be interrupted. */
static void wait_change(SimWorld *w, const Sim *s) {
  struct timespec until;
  if (!s->opt->interrupt) {
    pthread_cond_wait(&w->changed, &w->lock);
    return;
  }
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += 20 * 1000 * 1000;
  if (until.tv_nsec >= 1000 * 1000 * 1000) {
    until.tv_nsec -= 1000 * 1000 * 1000;
    until.tv_sec++;
  }
  pthread_cond_timedwait(&w->changed, &w->lock, &until);
}

static bool is_interrupted(const Sim *s) {
  return s->opt->interrupt && atomic_load_explicit(s->opt->interrupt, memory_order_relaxed);
}

/* ---- what goes wrong --------------------------------------------------------------------------------------------- */
static bool same_attributes(const Offer *a, const Offer *b) {
  const OpInfo *op = &op_info[a->ins->op];
  for (int k = 0; k < op->nparams; k++) {
    const char *name = op->params[k].name;
    if (op->params[k].role != ATTR || strcmp(name, "priority") == 0 || strcmp(name, "recv_counts_known") == 0 ||
        op->params[k].kind == K_groups)
      continue;
    if (!ir_val_equal(&a->ins->v[k], &b->ins->v[k])) return false;
  }
  return true;
}

/* Why two offers are not of one collective, or NULL. */
static const char *differ(const Offer *a, const Offer *b) {
  if (a->ins->op != b->ins->op) return "they must meet in the same one";
  if (a->program != b->program) return "they are different programs of the grid";
  if (!same_attributes(a, b)) return "their options differ";
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

/* All ranks of a meeting come to the same verdict; the first that differs from the first of the list reports it. */
static bool agree(Sim *s, struct SimSeat *me, const Offer **offers) {
  for (int64_t k = 1; k < me->nranks; k++) {
    const Offer *a = offers[0], *b = offers[k];
    const char *why = differ(a, b);
    if (!why) continue;
    if (me->ranks[k] != me->rank) return false;
    me->fault = FAULT_OWN;
    return DIAG(s->d, rank_differs, op_full_name(a->ins), file_of(s->m, a->ins->loc), line_of(s->m, a->ins->loc),
                (int)me->ranks[0], op_full_name(b->ins), file_of(s->m, b->ins->loc), line_of(s->m, b->ins->loc),
                (int)me->ranks[k], why);
  }
  me->fault = FAULT_NONE;
  return true;
}

/* ---- meeting ----------------------------------------------------------------------------------------------------- */
/* With the lock: true when the meeting is open. */
static bool wait_open(Sim *s, struct SimSeat *me) {
  SimWorld *w = me->world;
  while (me->state == SEAT_WAITS && !w->stuck && !is_interrupted(s)) wait_change(w, s);
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
  if (s->thread) return DIAG(s->d, rank_cores, op_full_name(s->ins), me->rank);
  SimWorld *w = me->world;
  pthread_mutex_lock(&w->lock);
  me->offer = mine;
  me->ranks = ranks;
  me->nranks = n;
  me->state = SEAT_WAITS;
  w->running--;
  if (!try_open(w, me)) look_stuck(w);
  if (me->state == SEAT_MEETS || w->stuck) pthread_cond_broadcast(&w->changed);
  bool open = wait_open(s, me);
  for (int64_t k = 0; open && k < n; k++) offers[k] = w->seat[ranks[k]].offer;
  pthread_mutex_unlock(&w->lock);
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
  pthread_mutex_lock(&w->lock);
  struct SimSeat *first = &w->seat[me->first];
  uint64_t round = first->round;
  if (--first->left == 0) {
    first->round++;
    pthread_cond_broadcast(&w->changed);
  }
  while (first->round == round) pthread_cond_wait(&w->changed, &w->lock);
  me->state = SEAT_RUNS;
  pthread_mutex_unlock(&w->lock);
}

/* ---- a run with ranks -------------------------------------------------------------------------------------------- */
static void keep_print(void *ud, const char *s, size_t n) { text_add(ud, s, n); }

static void *run_rank(void *ud) {
  struct SimSeat *me = ud;
  SimWorld *w = me->world;
  me->ok = sim_run(w->m, me->operands, me->outputs, &me->opt, &me->d);
  pthread_mutex_lock(&w->lock);
  if (!me->ok && me->fault == FAULT_NONE) me->fault = FAULT_OWN;
  if (me->state != SEAT_WAITS) w->running--; /* waiting in vain it does not run */
  me->state = SEAT_ENDED;
  look_stuck(w);
  pthread_cond_broadcast(&w->changed);
  pthread_mutex_unlock(&w->lock);
  return NULL;
}

void world_ended(Sim *s) {
  if (s->opt->seat && s->ins) s->opt->seat->end_loc = s->ins->loc;
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
  sigset_t all, old; /* signals are the caller's thread's business */
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  while (ok && started < w->n) {
    ok = pthread_create(&w->seat[started].thread, NULL, run_rank, &w->seat[started]) == 0;
    if (ok) started++;
  }
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  if (!ok) {
    DIAG0(d, nomem);
    pthread_mutex_lock(&w->lock);
    for (int r = started; r < w->n; r++) {
      w->seat[r].state = SEAT_ENDED;
      w->running--;
    }
    look_stuck(w);
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
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

static void open_locks(SimWorld *w) {
  pthread_condattr_t attr;
  pthread_mutex_init(&w->lock, NULL);
  w->seat_alloc = locked_open(&w->shared, w->alloc);
  pthread_condattr_init(&attr);
  pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
  pthread_cond_init(&w->changed, &attr);
  pthread_condattr_destroy(&attr);
}

static void close_world(SimWorld *w) {
  for (int r = 0; r < w->n; r++) {
    text_free(&w->seat[r].report.lines);
    text_free(&w->seat[r].printed);
    diag_free(&w->seat[r].d);
  }
  alloc_free(&w->alloc, w->seat, (size_t)w->n * sizeof *w->seat);
  pthread_cond_destroy(&w->changed);
  locked_close(&w->shared);
  pthread_mutex_destroy(&w->lock);
}

bool sim_run_ranks(const IrModule *m, const SimRanks *ranks, const SimOptions *opt, Diag *d) {
  if (ranks->n < 1 || ranks->n > SIM_MAX_RANKS) return DIAG(d, rank_count, (long long)ranks->n, SIM_MAX_RANKS);
  if (ranks->n == 1) return sim_run(m, ranks->operands, ranks->outputs, opt, d);
  SimWorld w = {.m = m, .alloc = opt->alloc, .n = (int)ranks->n, .running = (int)ranks->n};
  w.seat = alloc_new(&w.alloc, (size_t)w.n * sizeof *w.seat);
  if (!w.seat) return DIAG0(d, nomem);
  open_locks(&w);
  for (int r = 0; r < w.n; r++) open_seat(&w, r, ranks, opt);
  bool ok = run_all(&w, d) && gather_outcome(&w, opt, d);
  close_world(&w);
  return ok;
}
