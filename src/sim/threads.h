/* threads.h -- room sim: what the threads of a run have in common: the caller's allocator, which may be no friend of
   threads; a gate where they wait for each other; and the words for those that wait in vain. */
#ifndef NK_SIM_THREADS_H
#define NK_SIM_THREADS_H
#include <pthread.h>
#include <stdatomic.h>

#include "ir.h"

typedef struct LockedAlloc {
  pthread_mutex_t lock;
  Alloc inner;
} LockedAlloc;
Alloc locked_open(LockedAlloc *l, Alloc inner); /* l stays where it is until locked_close */
void locked_close(LockedAlloc *l);

typedef struct Gate {
  pthread_mutex_t lock; /* of everything that those who wait look at */
  pthread_cond_t changed;
  const atomic_int *interrupt; /* may be NULL */
} Gate;
void gate_open(Gate *g, const atomic_int *interrupt);
void gate_close(Gate *g);
/* With the lock, until something changes. An interrupt wakes nobody, so where there may be one it is looked for: a
   moment is the longest that this takes. */
void gate_wait(Gate *g);
bool gate_interrupted(const Gate *g);

bool thread_start(pthread_t *thread, void *(*body)(void *), void *arg); /* gets no signals: they are the caller's */

/* Somebody who waits, or for whom one waits. */
typedef struct Stop {
  char who[64];     /* "rank 3" */
  const IrIns *ins; /* where it waits, or its last one; may be NULL */
  bool ended;
} Stop;
void say_stop(Text *t, const IrModule *m, const IrIns *ins); /* "nisa.sendrecv with pipe_id 2 (k.lua:7)" */
bool say_deadlock(Diag *d, const IrModule *m, const Stop *me, const Stop *other); /* always false */
#endif
