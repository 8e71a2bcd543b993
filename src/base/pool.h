/* pool.h -- room base: small blocks on free lists over an arena, for who frees and makes the same sizes all the time,
   as Lua does with its tables. Its owner knows the size of what it frees (the lua_Alloc contract). Blocks go back to
   the allocator only with the pool. Under AddressSanitizer every block is the allocator's own, so that it sees each
   one's bounds. */
#ifndef NK_POOL_H
#define NK_POOL_H
#include "arena.h"

enum { POOL_STEP = 16, POOL_MOST = 256, POOL_SIZES = POOL_MOST / POOL_STEP + 1 };

typedef struct PoolBlock {
  struct PoolBlock *next;
} PoolBlock;

typedef struct Pool {
  Arena arena;
  PoolBlock *free[POOL_SIZES]; /* [k]: blocks of k * POOL_STEP bytes */
} Pool;

void pool_init(Pool *p, Alloc alloc);
void pool_free(Pool *p); /* all small blocks; larger ones are their owner's to free before */

#ifdef NK_ASAN
static inline bool pool_small(size_t n) { return n > 0 && false; }
#else
static inline bool pool_small(size_t n) { return n - 1 < POOL_MOST; }
#endif
static inline size_t pool_list(size_t n) { return (n + POOL_STEP - 1) / POOL_STEP; }
void *pool_more(Pool *p, size_t nsize);                              /* a small block when its list is empty */
void *pool_resize(Pool *p, void *block, size_t osize, size_t nsize); /* of a block that is there */

/* As Alloc.fn: 16-byte aligned; NULL when memory is out, then the old block stays. */
static inline void *pool_realloc(Pool *p, void *block, size_t osize, size_t nsize) {
  PoolBlock *b = block;
  if (!block) {
    if (!nsize) return NULL; /* Lua asks for nothing often */
    if (!pool_small(nsize)) return alloc_new(&p->arena.alloc, nsize);
    b = p->free[pool_list(nsize)];
    if (!b) return pool_more(p, nsize);
    p->free[pool_list(nsize)] = b->next;
    return b;
  }
  if (nsize || !pool_small(osize)) return pool_resize(p, block, osize, nsize);
  b->next = p->free[pool_list(osize)];
  p->free[pool_list(osize)] = b;
  return NULL;
}
#endif
