/* locked.h -- room sim: the caller's allocator, which may be no friend of threads, for all threads of a run. */
#ifndef NK_SIM_LOCKED_H
#define NK_SIM_LOCKED_H
#include <pthread.h>

#include "alloc.h"

typedef struct LockedAlloc {
  pthread_mutex_t lock;
  Alloc inner;
} LockedAlloc;
Alloc locked_open(LockedAlloc *l, Alloc inner); /* l stays where it is until locked_close */
void locked_close(LockedAlloc *l);
#endif
