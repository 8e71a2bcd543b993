/* cores.c -- a run on several physical cores: one thread per core, its programs in order; core 0 is the caller's
   thread. They meet at core_barrier and sendrecv. Whoever comes last does the work of the meeting while the others
   rest. What is seen from outside follows from the program alone: faults of a lower core win, reports and prints are in
   order. */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "exec.h"
#include "locked.h"

enum { POLL_MS = 20 }; /* an interrupt wakes nobody: those who rest look for it */

typedef enum CoreState { CS_RUNS, CS_RESTS, CS_ENDED, CS_FAULT, CS_CANCELLED } CoreState;

typedef struct Parcel { /* what a sendrecv sends, in a scratch block of its core */
  const IrTile *dst;    /* where the sender takes its own */
  Acc run;              /* the elements in row-major order */
  void *inbox;          /* room for what the other sends */
} Parcel;

struct Core {
  struct Cores *all;
  Sim sim;
  SimOptions opt;
  Diag d;
  Text printed; /* since the last meeting */
  CoreState state;
  Parcel parcel;
  Acc arrived; /* the other's elements, in the inbox */
  atomic_int cancel;
  int64_t program; /* the one it runs, or ran last */
};

typedef struct Cores {
  pthread_mutex_t lock; /* of all states, round and outbox */
  pthread_cond_t moved;
  SimSetup *setup;
  const IrModule *m;
  Sim *caller;
  int n;
  uint64_t round;
  struct Core *core;
  SimReport *reports, races; /* reports: by program */
  Text outbox;               /* prints in order, for the caller's thread to hand out */
} Cores;

/* ---- meetings ---------------------------------------------------------------------------------------------------- */
static void say_stop(Text *t, const struct Core *c) {
  const IrIns *ins = c->sim.ins;
  const IrLoc *at = &c->sim.m->locs[ins->loc];
  text_printf(t, "%s", op_full_name(ins));
  if (ins->op == OP_sendrecv) text_printf(t, " with pipe_id %lld", (long long)ARGS(sendrecv, ins)->pipe_id.u.i);
  if (ins->loc) text_printf(t, " (%s:%d)", at->file, at->line);
}

static bool deadlock(Cores *all, struct Core *c, const struct Core *other) {
  Text me, what;
  text_init(&me, all->caller->alloc);
  text_init(&what, all->caller->alloc);
  say_stop(&me, c);
  if (other->state == CS_ENDED) {
    const IrIns *ins = other->sim.ins;
    text_printf(&what, "program %lld on core %d has ended", (long long)other->program, other->sim.core);
    if (ins && ins->loc) text_printf(&what, " (%s:%d)", all->m->locs[ins->loc].file, all->m->locs[ins->loc].line);
  } else {
    text_printf(&what, "program %lld on core %d waits at ", (long long)other->program, other->sim.core);
    say_stop(&what, other);
  }
  DIAG(&c->d, core_deadlock, text_str(&me), (long long)c->program, c->sim.core, text_str(&what));
  text_free(&me);
  text_free(&what);
  c->state = CS_FAULT;
  return false;
}

static bool same_tile(const Sim *a, const IrTile *x, const Sim *b, const IrTile *y) {
  bool same = a->f->bufs[x->buf]->dtype == b->f->bufs[y->buf]->dtype && x->rank == y->rank;
  for (int k = 0; same && k < x->rank; k++) same = x->dim[k].count == y->dim[k].count;
  return same;
}

static bool check_parcel(Cores *all, struct Core *c, struct Core *other) {
  const IrTile *sent = ARGS(sendrecv, other->sim.ins)->src.u.tile;
  if (same_tile(&c->sim, c->parcel.dst, &other->sim, sent)) return true;
  const IrLoc *at = &all->m->locs[other->sim.ins->loc];
  Text dst, src;
  text_init(&dst, all->caller->alloc);
  text_init(&src, all->caller->alloc);
  tile_describe(c->sim.f, c->parcel.dst, &dst);
  tile_describe(other->sim.f, sent, &src);
  DIAG(&c->d, sendrecv_mismatch, (long long)ARGS(sendrecv, c->sim.ins)->pipe_id.u.i, (long long)c->program,
       text_str(&dst), (long long)other->program, other->sim.ins->loc ? at->file : "?", at->line, text_str(&src));
  text_free(&dst);
  text_free(&src);
  c->state = CS_FAULT;
  return false;
}

/* Do the two wait for the same thing? */
static bool agree(const struct Core *a, const struct Core *b) {
  const IrIns *x = a->sim.ins, *y = b->sim.ins;
  if (x->op != y->op) return false;
  return x->op != OP_sendrecv || ARGS(sendrecv, x)->pipe_id.u.i == ARGS(sendrecv, y)->pipe_id.u.i;
}

static void take_parcel(struct Core *c, const struct Core *from) {
  c->arrived = from->parcel.run;
  c->arrived.p = c->parcel.inbox;
  memcpy(c->parcel.inbox, from->parcel.run.p, (size_t)(acc_count(&from->parcel.run) * from->parcel.run.bytes));
}

static bool exchange(Cores *all) {
  struct Core *c = all->core;
  if (!check_parcel(all, &c[0], &c[1]) || !check_parcel(all, &c[1], &c[0])) return false;
  take_parcel(&c[0], &c[1]);
  take_parcel(&c[1], &c[0]);
  return true;
}

static bool share(Cores *all, bool last, Diag *d) {
  uint32_t n;
  setup_tracks(all->setup, 0, &n);
  for (uint32_t k = 0; k < n; k++) {
    Track *t[SIM_CORES];
    for (int c = 0; c < all->n; c++) t[c] = &setup_tracks(all->setup, c, &n)[k];
    if (!tracks_meet(t, all->n, last, &all->races, d)) return false;
  }
  return true;
}

static void collect_prints(Cores *all, int ncores) {
  for (int k = 0; k < ncores; k++) {
    Text *t = &all->core[k].printed;
    text_add(&all->outbox, text_str(t), t->len);
    if (t->oom) all->outbox.oom = true;
    text_clear(t);
  }
}

/* Everybody rests. A fault goes to one core, and the others are cancelled when they see it. */
static void resolve(Cores *all) {
  struct Core *c = all->core;
  bool ok = true;
  for (int k = 1; ok && k < all->n; k++) ok = agree(&c[0], &c[k]) || deadlock(all, &c[0], &c[k]);
  if (ok && c[0].sim.ins->op == OP_sendrecv) ok = exchange(all);
  if (ok && !share(all, false, &c[0].d)) {
    c[0].state = CS_FAULT;
    ok = false;
  }
  if (!ok) return;
  collect_prints(all, all->n);
  for (int k = 0; k < all->n; k++) c[k].state = CS_RUNS;
  all->round++;
}

static bool hand_out_prints(Cores *all) {
  const SimOptions *opt = all->caller->opt;
  if (all->outbox.oom) return false;
  if (all->outbox.len) opt->print(opt->print_ud, text_str(&all->outbox), all->outbox.len);
  text_clear(&all->outbox);
  return true;
}

static bool everybody_rests(const Cores *all) {
  for (int k = 0; k < all->n; k++)
    if (all->core[k].state != CS_RESTS) return false;
  return true;
}

/* A partner that will never come; or somebody's fault, this core's too. */
static bool stuck(Cores *all, struct Core *c) {
  for (int k = 0; k < all->n; k++) {
    struct Core *other = &all->core[k];
    if (other == c) continue;
    if (other->state == CS_ENDED) return !deadlock(all, c, other);
    if (other->state < CS_FAULT) continue;
    c->state = CS_CANCELLED;
    return true;
  }
  return false;
}

static void rest(Cores *all, struct Core *c, uint64_t round) {
  const atomic_int *stop = all->caller->opt->interrupt;
  while (all->round == round && c->state == CS_RESTS && !stuck(all, c)) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += POLL_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_cond_timedwait(&all->moved, &all->lock, &until);
    if (all->round != round || !stop || !atomic_load_explicit(stop, memory_order_relaxed)) continue;
    DIAG0(&c->d, interrupted);
    c->state = CS_FAULT;
  }
}

/* Waits for all cores; false: c->d is filled, or another core's fault counts. */
static bool meet(Sim *s) {
  struct Core *c = s->thread;
  if (!c) return NK_BUG(s->d, "cores meet where there is one");
  Cores *all = c->all;
  pthread_mutex_lock(&all->lock);
  uint64_t round = all->round;
  c->state = CS_RESTS;
  if (everybody_rests(all)) {
    resolve(all);
    pthread_cond_broadcast(&all->moved);
  }
  rest(all, c, round);
  bool met = all->round != round;
  if (!met) pthread_cond_broadcast(&all->moved);
  if (met && s->core == 0 && !hand_out_prints(all)) met = DIAG0(s->d, nomem);
  pthread_mutex_unlock(&all->lock);
  return met;
}

bool sim_core_barrier(Sim *s, const Args_core_barrier *a) {
  (void)a;
  return meet(s);
}

bool sim_sendrecv(Sim *s, const Args_sendrecv *a) {
  Acc src, dst;
  if (!s->thread) return NK_BUG(s->d, "sendrecv on one core");
  if (!acc_src(s, a->src.u.tile, &src)) return false;
  size_t bytes = (size_t)acc_count(&src) * 4; /* of the widest element, whatever the other side stores */
  Parcel *p = &s->thread->parcel;
  *p = (Parcel){.dst = a->dst.u.tile, .run = src, .inbox = scratch(s, SCR_SNAP1, bytes)};
  p->run.p = scratch(s, SCR_SNAP0, bytes);
  if (!p->run.p || !p->inbox) return false;
  p->run.pstride = src.free;
  p->run.nf = src.free > 1;
  p->run.f[0] = (IrDim){1, src.free};
  copy_elems(&p->run, &src);
  return meet(s) && acc_dst(s, a->dst.u.tile, &dst) && copy_tile(s, &dst, &s->thread->arrived);
}

/* ---- one core ---------------------------------------------------------------------------------------------------- */
static void print_later(void *ud, const char *text, size_t n) { text_add(ud, text, n); }

static bool run_programs(struct Core *c) {
  Cores *all = c->all;
  for (int64_t p = 0; p < all->m->nprogram; p++) {
    if (ir_core_of(all->m, p) != c->sim.core) continue;
    c->program = p;
    c->sim.report = &all->reports[p];
    setup_program(all->setup, &c->sim, p);
    if (!walk(&c->sim)) return false;
  }
  return true;
}

/* The first fault in core order is the run's: what lower cores do still matters, what higher ones do does not. */
static void *core_main(void *arg) {
  struct Core *c = arg;
  Cores *all = c->all;
  VmEnv env;
  vm_enter(&env);
  bool ok = run_programs(c);
  vm_leave(&env);
  pthread_mutex_lock(&all->lock);
  if (ok) c->state = CS_ENDED;
  if (!ok && c->state != CS_CANCELLED) c->state = c->d.id ? CS_FAULT : CS_CANCELLED;
  for (int k = c->sim.core + 1; c->state == CS_FAULT && k < all->n; k++) atomic_store(&all->core[k].cancel, 1);
  pthread_cond_broadcast(&all->moved);
  pthread_mutex_unlock(&all->lock);
  return NULL;
}

static bool start(struct Core *c, pthread_t *thread) {
  sigset_t all, old; /* signals are the caller's thread's business */
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  bool ok = pthread_create(thread, NULL, core_main, c) == 0;
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  return ok;
}

static void run_all(Cores *all) {
  pthread_t thread[SIM_CORES];
  int started = 1;
  while (started < all->n && start(&all->core[started], &thread[started])) started++;
  if (started == all->n) {
    core_main(&all->core[0]);
  } else {
    DIAG0(&all->core[0].d, nomem);
    pthread_mutex_lock(&all->lock);
    all->core[0].state = CS_FAULT;
    for (int k = 1; k < all->n; k++) atomic_store(&all->core[k].cancel, 1);
    pthread_cond_broadcast(&all->moved);
    pthread_mutex_unlock(&all->lock);
  }
  for (int k = 1; k < started; k++) pthread_join(thread[k], NULL);
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */
static void open_core(Cores *all, int k) {
  struct Core *c = &all->core[k];
  c->all = all;
  c->sim = *all->caller;
  c->opt = *all->caller->opt;
  diag_init(&c->d, all->caller->alloc);
  text_init(&c->printed, all->caller->alloc);
  c->opt.print = print_later;
  c->opt.print_ud = &c->printed;
  c->sim.opt = &c->opt;
  c->sim.d = &c->d;
  c->sim.core = k;
  c->sim.thread = c;
  c->sim.cancel = &c->cancel;
  c->sim.shares_core = all->m->nprogram > all->n;
}

static bool open_all(Cores *all) {
  const Alloc *alloc = &all->caller->alloc;
  pthread_condattr_t attr;
  pthread_condattr_init(&attr);
  pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
  pthread_cond_init(&all->moved, &attr);
  pthread_condattr_destroy(&attr);
  pthread_mutex_init(&all->lock, NULL);
  text_init(&all->outbox, *alloc);
  text_init(&all->races.lines, *alloc);
  all->core = alloc_new(alloc, (size_t)all->n * sizeof *all->core);
  all->reports = alloc_new(alloc, (size_t)all->m->nprogram * sizeof *all->reports);
  if (all->core) memset(all->core, 0, (size_t)all->n * sizeof *all->core);
  for (int k = 0; all->core && k < all->n; k++) open_core(all, k);
  for (int64_t p = 0; all->reports && p < all->m->nprogram; p++) {
    all->reports[p].count = 0;
    text_init(&all->reports[p].lines, *alloc);
  }
  return (all->core && all->reports) || DIAG0(all->caller->d, nomem);
}

static void close_all(Cores *all) {
  const Alloc *alloc = &all->caller->alloc;
  for (int k = 0; all->core && k < all->n; k++) {
    struct Core *c = &all->core[k];
    for (int i = 0; i < SCR_COUNT; i++) alloc_free(alloc, c->sim.scratch[i].p, c->sim.scratch[i].size);
    text_free(&c->printed);
    diag_free(&c->d);
  }
  for (int64_t p = 0; all->reports && p < all->m->nprogram; p++) text_free(&all->reports[p].lines);
  alloc_free(alloc, all->core, (size_t)all->n * sizeof *all->core);
  alloc_free(alloc, all->reports, (size_t)all->m->nprogram * sizeof *all->reports);
  text_free(&all->outbox);
  text_free(&all->races.lines);
  pthread_cond_destroy(&all->moved);
  pthread_mutex_destroy(&all->lock);
}

/* Reports and prints of the cores up to the one with the fault, then the races; the fault. */
static bool finish(Cores *all) {
  Sim *s = all->caller;
  int n = 0;
  while (n < all->n && all->core[n].state != CS_FAULT) n++;
  const struct Core *fault = n < all->n ? &all->core[n] : NULL;
  Diag *d = s->d;
  bool ok = !fault && share(all, true, d);
  if (fault && !diag_copy(d, &fault->d)) DIAG0(d, nomem);
  for (int64_t p = 0; p < all->m->nprogram; p++)
    if (ir_core_of(all->m, p) <= n) report_join(s->report, &all->reports[p]);
  report_join(s->report, &all->races);
  collect_prints(all, n < all->n ? n + 1 : n);
  if (!hand_out_prints(all) && ok) ok = DIAG0(d, nomem);
  s->f = all->core[0].sim.f;
  s->buf = all->core[0].sim.buf;
  return ok;
}

bool cores_run(SimSetup *u, Sim *s) {
  LockedAlloc locked;
  Alloc inner = s->alloc;
  s->alloc = locked_open(&locked, inner);
  Cores all = {.setup = u, .m = s->m, .caller = s, .n = (int)ir_core_count(s->m->cores, s->m->ngrid)};
  bool ok = all.n == SIM_CORES ? open_all(&all) : NK_BUG(s->d, "a target with another number of cores");
  if (ok) {
    run_all(&all);
    ok = finish(&all);
  }
  close_all(&all);
  s->alloc = inner;
  locked_close(&locked);
  return ok;
}
