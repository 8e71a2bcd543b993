/* pool.c -- room base: small blocks on free lists; what is larger comes from the allocator itself. */
#include "pool.h"

#include <string.h>

void pool_init(Pool *p, Alloc alloc) {
  *p = (Pool){0};
  arena_init(&p->arena, alloc);
}

void pool_free(Pool *p) {
  arena_free(&p->arena);
  pool_init(p, p->arena.alloc);
}

void *pool_more(Pool *p, size_t nsize) {
  void *block = arena_raw(&p->arena, pool_list(nsize) * POOL_STEP);
  p->arena.oom = false; /* the next caller may have luck again */
  return block;
}

void *pool_resize(Pool *p, void *block, size_t osize, size_t nsize) {
  const Alloc *base = &p->arena.alloc;
  bool was_small = pool_small(osize);
  if (!was_small && !pool_small(nsize)) return base->fn(base->ud, block, osize, nsize);
  if (was_small && pool_small(nsize) && pool_list(osize) == pool_list(nsize)) return block;
  void *moved = pool_realloc(p, NULL, 0, nsize);
  if (!moved) return NULL;
  memcpy(moved, block, osize < nsize ? osize : nsize);
  pool_realloc(p, block, osize, 0);
  return moved;
}
