/* cores.c -- room sim: a run on several physical cores: one thread per core, its programs in order; core 0 is the
   caller's thread. They meet at core_barrier, sendrecv and collectives. Whoever comes last does the work of the meeting
   while the others rest. What is seen from outside follows from the program alone: faults of a lower core win, reports
   and prints are in order. */
#include <stdio.h>
#include <string.h>

#include "threads.h"
#include "world.h"

typedef enum CoreState { CS_RUNS, CS_RESTS, CS_ENDED, CS_FAULT, CS_CANCELLED } CoreState;

typedef struct Parcel { /* what a sendrecv sends, in a scratch block of its core */
  const IrTile *dst;    /* where the sender takes its own */
  Acc run;              /* the elements in row-major order */
  Acc arrived;          /* the other's elements, in room that is made before */
} Parcel;

struct Core {
  struct Cores *all;
  Sim sim;
  SimOptions opt;
  Diag d;
  Text printed; /* since the last meeting */
  CoreState state;
  atomic_int cancel;
  int64_t program; /* the one it runs, or ran last */
};

typedef struct Cores {
  Gate gate; /* its lock: of all states, round and outbox */
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
static bool deadlock(Cores *all, struct Core *c, const struct Core *other) {
  Stop here = {.ins = c->sim.ins}, there = {.ins = other->sim.ins, .ended = other->state == CS_ENDED};
  snprintf(here.who, sizeof here.who, "program %lld on core %d", (long long)c->program, c->sim.core);
  snprintf(there.who, sizeof there.who, "program %lld on core %d", (long long)other->program, other->sim.core);
  c->state = CS_FAULT;
  return say_deadlock(&c->d, all->m, &here, &there);
}

static bool same_tile(const Sim *a, const IrTile *x, const Sim *b, const IrTile *y) {
  bool same = a->f->bufs[x->buf]->dtype == b->f->bufs[y->buf]->dtype && x->rank == y->rank;
  for (int k = 0; same && k < x->rank; k++) same = x->dim[k].count == y->dim[k].count;
  return same;
}

static bool check_parcel(Sim *s, const Sim *other) {
  const Parcel *p = s->brought;
  const IrTile *sent = ARGS(sendrecv, other->ins)->src.u.tile;
  if (same_tile(s, p->dst, other, sent)) return true;
  const IrLoc *at = &s->m->locs[other->ins->loc];
  Text dst, src;
  text_init(&dst, s->alloc);
  text_init(&src, s->alloc);
  tile_describe(s->f, p->dst, &dst);
  tile_describe(other->f, sent, &src);
  DIAG(s->d, sendrecv_mismatch, (long long)ARGS(sendrecv, s->ins)->pipe_id.u.i, (long long)s->program, text_str(&dst),
       (long long)other->program, other->ins->loc ? at->file : "?", at->line, text_str(&src));
  text_free(&dst);
  text_free(&src);
  return false;
}

static void take_parcel(Sim *s, const Sim *from) {
  Parcel *p = s->brought;
  const Acc *sent = &((const Parcel *)from->brought)->run;
  void *room = p->arrived.p;
  p->arrived = *sent;
  p->arrived.p = room;
  memcpy(room, sent->p, (size_t)(acc_count(sent) * sent->bytes));
}

static bool exchange(Sim *const *s, int ncores) {
  (void)ncores;
  if (!check_parcel(s[0], s[1]) || !check_parcel(s[1], s[0])) return false;
  take_parcel(s[0], s[1]);
  take_parcel(s[1], s[0]);
  return true;
}

static bool differ(Cores *all, struct Core *c, const struct Core *other, const char *why) {
  Text x, y;
  text_init(&x, all->caller->alloc);
  text_init(&y, all->caller->alloc);
  say_stop(&x, all->m, c->sim.ins);
  say_stop(&y, all->m, other->sim.ins);
  DIAG(&c->d, core_differs, text_str(&x), (long long)c->program, c->sim.core, text_str(&y), (long long)other->program,
       other->sim.core, why);
  text_free(&x);
  text_free(&y);
  return false;
}

/* Do the two wait for the same thing? */
static bool agree(Cores *all, struct Core *c, const struct Core *other) {
  const IrIns *x = c->sim.ins, *y = other->sim.ins;
  if (x->op != y->op) return deadlock(all, c, other);
  if (x->op == OP_sendrecv && ARGS(sendrecv, x)->pipe_id.u.i != ARGS(sendrecv, y)->pipe_id.u.i)
    return deadlock(all, c, other);
  const char *why = op_info[x->op].effects & FX_COLLECTIVE ? calls_differ(x, y, true) : NULL;
  return !why || differ(all, c, other, why);
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

/* What they meet for: each sees what the others have written before it, and behind it what the work has. */
static bool work_together(Cores *all, MeetFn *work) {
  struct Core *c = all->core;
  Sim *sim[SIM_CORES];
  for (int k = 1; k < all->n; k++)
    if (!agree(all, &c[0], &c[k])) return false;
  for (int k = 0; k < all->n; k++) sim[k] = &c[k].sim;
  if (!share(all, false, &c[0].d)) return false;
  return !work || (work(sim, all->n) && share(all, false, &c[0].d));
}

/* Everybody rests. A fault goes to one core, and the others are cancelled when they see it; where it is another rank's,
   all are. */
static void resolve(Cores *all, MeetFn *work) {
  struct Core *c = all->core;
  if (work_together(all, work)) {
    collect_prints(all, all->n);
    for (int k = 0; k < all->n; k++) c[k].state = CS_RUNS;
    all->round++;
    return;
  }
  for (int k = 0; k < all->n; k++) c[k].state = CS_CANCELLED;
  for (int k = 0; k < all->n; k++) {
    if (!c[k].d.id) continue;
    c[k].state = CS_FAULT;
    return;
  }
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
  while (all->round == round && c->state == CS_RESTS && !stuck(all, c)) {
    gate_wait(&all->gate);
    if (all->round != round || c->state != CS_RESTS || !gate_interrupted(&all->gate)) continue;
    DIAG0(&c->d, interrupted);
    c->state = CS_FAULT;
  }
}

/* False: c->d is filled, or the fault that counts is elsewhere. */
static bool meet(struct Core *c, MeetFn *work) {
  Cores *all = c->all;
  pthread_mutex_lock(&all->gate.lock);
  uint64_t round = all->round;
  c->state = CS_RESTS;
  if (everybody_rests(all)) {
    resolve(all, work);
    pthread_cond_broadcast(&all->gate.changed);
  }
  rest(all, c, round);
  bool met = all->round != round;
  if (!met) pthread_cond_broadcast(&all->gate.changed);
  if (met && c->sim.core == 0 && !hand_out_prints(all)) met = DIAG0(&c->d, nomem);
  pthread_mutex_unlock(&all->gate.lock);
  return met;
}

bool cores_meet(Sim *s, void *brought, MeetFn *work) {
  s->brought = brought;
  return s->thread ? meet(s->thread, work) : work(&s, 1);
}

bool sim_core_barrier(Sim *s, const Args_core_barrier *a) {
  (void)a;
  return s->thread ? meet(s->thread, NULL) : NK_BUG(s->d, "a barrier of one core");
}

bool sim_sendrecv(Sim *s, const Args_sendrecv *a) {
  Acc src, dst;
  if (!s->thread) return NK_BUG(s->d, "sendrecv on one core");
  if (!acc_src(s, a->src.u.tile, &src)) return false;
  size_t bytes = (size_t)acc_count(&src) * 4; /* of the widest element, whatever the other side stores */
  Parcel p = {.dst = a->dst.u.tile, .run = src};
  p.run.p = scratch(s, SCR_SNAP0, bytes);
  p.arrived.p = scratch(s, SCR_SNAP1, bytes);
  if (!p.run.p || !p.arrived.p) return false;
  p.run.pstride = src.free;
  p.run.nf = src.free > 1;
  p.run.f[0] = (IrDim){1, src.free};
  copy_elems(&p.run, &src);
  return cores_meet(s, &p, exchange) && acc_dst(s, a->dst.u.tile, &dst) && copy_tile(s, &dst, &p.arrived);
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
  FpEnv env;
  fp_enter(&env);
  bool ok = run_programs(c);
  fp_leave(&env);
  pthread_mutex_lock(&all->gate.lock);
  if (ok) c->state = CS_ENDED;
  if (!ok && c->state != CS_CANCELLED) c->state = c->d.id ? CS_FAULT : CS_CANCELLED;
  for (int k = c->sim.core + 1; c->state == CS_FAULT && k < all->n; k++) atomic_store(&all->core[k].cancel, 1);
  pthread_cond_broadcast(&all->gate.changed);
  pthread_mutex_unlock(&all->gate.lock);
  return NULL;
}

static void run_all(Cores *all) {
  pthread_t thread[SIM_CORES];
  int started = 1;
  while (started < all->n && thread_start(&thread[started], core_main, &all->core[started])) started++;
  if (started == all->n) {
    core_main(&all->core[0]);
  } else {
    DIAG0(&all->core[0].d, nomem);
    pthread_mutex_lock(&all->gate.lock);
    all->core[0].state = CS_FAULT;
    for (int k = 1; k < all->n; k++) atomic_store(&all->core[k].cancel, 1);
    pthread_cond_broadcast(&all->gate.changed);
    pthread_mutex_unlock(&all->gate.lock);
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
  gate_open(&all->gate, all->caller->opt->interrupt);
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
  gate_close(&all->gate);
}

/* Reports and prints of the cores up to the one with the fault, then the races; the fault. */
static bool finish(Cores *all) {
  Sim *s = all->caller;
  int n = 0;
  while (n < all->n && all->core[n].state != CS_FAULT) n++;
  const struct Core *fault = n < all->n ? &all->core[n] : NULL;
  Diag *d = s->d;
  bool ended = true; /* else one of them has a fault, or another rank */
  for (int k = 0; k < all->n; k++) ended = ended && all->core[k].state == CS_ENDED;
  bool ok = ended && share(all, true, d);
  if (fault && !diag_copy(d, &fault->d)) DIAG0(d, nomem);
  for (int64_t p = 0; p < all->m->nprogram; p++)
    if (ir_core_of(all->m, p) <= n) report_join(s->report, &all->reports[p]);
  report_join(s->report, &all->races);
  collect_prints(all, n < all->n ? n + 1 : n);
  if (!hand_out_prints(all) && ok) ok = DIAG0(d, nomem);
  s->ins = all->core[0].sim.ins;
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
