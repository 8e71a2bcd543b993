/* locked.c -- room sim: one allocator for all threads of a run. */
#include "locked.h"

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
