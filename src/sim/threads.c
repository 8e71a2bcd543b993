/* threads.c -- room sim: one allocator for all threads of a run, their gate, and who waits for whom in vain. */
#include "threads.h"

#include <signal.h>
#include <time.h>

#include "exec.h"

/* ---- memory ------------------------------------------------------------------------------------------------------ */
static void *locked_alloc(void *ud, void *p, size_t old, size_t n) {
  LockedAlloc *l = ud;
  pthread_mutex_lock(&l->lock);
  void *q = l->inner.fn(l->inner.ud, p, old, n);
  pthread_mutex_unlock(&l->lock);
  return q;
}

Alloc locked_open(LockedAlloc *l, Alloc inner) {
  l->inner = inner;
  pthread_mutex_init(&l->lock, NULL);
  return (Alloc){locked_alloc, l};
}

void locked_close(LockedAlloc *l) { pthread_mutex_destroy(&l->lock); }

/* ---- waiting ----------------------------------------------------------------------------------------------------- */
enum { POLL_NS = 20 * 1000 * 1000, SECOND_NS = 1000 * 1000 * 1000 };

void gate_open(Gate *g, const atomic_int *interrupt) {
  pthread_condattr_t attr;
  pthread_condattr_init(&attr);
  pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
  pthread_cond_init(&g->changed, &attr);
  pthread_condattr_destroy(&attr);
  pthread_mutex_init(&g->lock, NULL);
  g->interrupt = interrupt;
}

void gate_close(Gate *g) {
  pthread_cond_destroy(&g->changed);
  pthread_mutex_destroy(&g->lock);
}

void gate_wait(Gate *g) {
  struct timespec until;
  if (!g->interrupt) {
    pthread_cond_wait(&g->changed, &g->lock);
    return;
  }
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += POLL_NS;
  if (until.tv_nsec >= SECOND_NS) {
    until.tv_nsec -= SECOND_NS;
    until.tv_sec++;
  }
  pthread_cond_timedwait(&g->changed, &g->lock, &until);
}

bool gate_interrupted(const Gate *g) {
  return g->interrupt && atomic_load_explicit(g->interrupt, memory_order_relaxed);
}

bool thread_start(pthread_t *thread, void *(*body)(void *), void *arg) {
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  bool ok = pthread_create(thread, NULL, body, arg) == 0;
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  return ok;
}

/* ---- waiting in vain --------------------------------------------------------------------------------------------- */
static void say_place(Text *t, const IrModule *m, const IrIns *ins) {
  if (ins->loc && ins->loc < m->nlocs) text_printf(t, " (%s:%d)", m->locs[ins->loc].file, m->locs[ins->loc].line);
}

void say_stop(Text *t, const IrModule *m, const IrIns *ins) {
  text_puts(t, op_full_name(ins));
  if (ins->op == OP_sendrecv) text_printf(t, " with pipe_id %lld", (long long)ARGS(sendrecv, ins)->pipe_id.u.i);
  say_place(t, m, ins);
}

bool say_deadlock(Diag *d, const IrModule *m, const Stop *me, const Stop *other) {
  Text here, there;
  text_init(&here, d->message.alloc);
  text_init(&there, d->message.alloc);
  say_stop(&here, m, me->ins);
  text_puts(&there, other->ended ? "has ended" : "waits at ");
  if (!other->ended) say_stop(&there, m, other->ins);
  if (other->ended && other->ins) say_place(&there, m, other->ins);
  DIAG(d, deadlock, me->who, text_str(&here), other->who, text_str(&there));
  text_free(&here);
  text_free(&there);
  return false;
}
