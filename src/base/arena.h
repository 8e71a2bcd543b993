/* arena.h -- room base: bump allocator. Everything of one trace, one artifact or one run lives in one arena and dies
   with it. Failure is sticky: once an allocation fails, `oom` stays set and later calls return NULL; a stage checks it
   once. */
#ifndef NK_ARENA_H
#define NK_ARENA_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "alloc.h"

typedef struct ArenaChunk ArenaChunk;
typedef struct Arena {
  Alloc alloc;
  ArenaChunk *chunk; /* newest first */
  char *cur, *end;
  size_t used; /* bytes handed out, for accounting */
  bool oom;
} Arena;

typedef struct ArenaMark {
  ArenaChunk *chunk;
  char *cur;
  size_t used;
} ArenaMark;

void arena_init(Arena *a, Alloc alloc);
void arena_free(Arena *a); /* frees every chunk; the arena may be initialised again */
/* 16-byte aligned, zeroed; NULL (and a->oom) when memory is out or n overflows. n == 0 gives a valid pointer. */
void *arena_alloc(Arena *a, size_t n);
/* The same, but the bytes are left as they are: for who writes all of them at once. */
static inline void *arena_raw(Arena *a, size_t n);
/* n * size with an overflow check. */
void *arena_array(Arena *a, size_t n, size_t size);
/* NUL-terminated copy of s[0..n). */
char *arena_strdup(Arena *a, const char *s, size_t n);
char *arena_printf(Arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Everything allocated after the mark is given back by rewind. */
ArenaMark arena_mark(const Arena *a);
void arena_rewind(Arena *a, ArenaMark m);

enum { ARENA_ALIGN = 16 };
void *arena_slow(Arena *a, size_t n); /* what arena_raw does when it is not quick */
static inline void *arena_raw(Arena *a, size_t n) {
#ifndef NK_ASAN
  size_t left = (size_t)(a->end - a->cur); /* a multiple of ARENA_ALIGN; 0 without a chunk */
  if (n - 1 < left && !a->oom) {
    char *p = a->cur;
    size_t room = (n + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
    a->cur += room;
    a->used += room;
    return p;
  }
#endif
  return arena_slow(a, n);
}

#define arena_new(a, T) ((T *)arena_alloc((a), sizeof(T)))
#define arena_newn(a, T, n) ((T *)arena_array((a), (size_t)(n), sizeof(T)))

/* Make room for one more element in an arena-backed array; false when out of memory.
   The old storage is left to the arena (doubling, so at most as much again is wasted). */
bool arena_grow(Arena *a, void *array_pp, uint32_t *cap, uint32_t count, size_t size);
#define arena_push(a, ptr, cap, count) arena_grow((a), &(ptr), &(cap), (count), sizeof *(ptr))
#endif
