/* arena.c -- room base: bump allocator over chunks that double in size. */
#include "arena.h"

#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>

#include "text.h"

#ifdef NK_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(p, n) ASAN_POISON_MEMORY_REGION((p), (n))
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION((p), (n))
#else
#define POISON(p, n) ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#endif

enum { ALIGN = ARENA_ALIGN, FIRST_CHUNK = 4096, MAX_CHUNK = 8 << 20, LARGE = 1 << 18, HUGE_PAGE = 2 << 20 };

struct ArenaChunk {
  ArenaChunk *older;
  size_t size; /* of the whole chunk, header included */
};

enum { HEADER = (sizeof(ArenaChunk) + ALIGN - 1) / ALIGN * ALIGN };

void arena_init(Arena *a, Alloc alloc) { *a = (Arena){.alloc = alloc}; }

static void drop_chunks(Arena *a, ArenaChunk *keep) {
  while (a->chunk != keep) {
    ArenaChunk *c = a->chunk;
    a->chunk = c->older;
    UNPOISON((char *)c + HEADER, c->size - HEADER);
    alloc_free(&a->alloc, c, c->size);
  }
}

void arena_free(Arena *a) {
  drop_chunks(a, NULL);
  arena_init(a, a->alloc);
}

/* Where the first whole huge page of a chunk begins; NULL when it has none. Long traces spend more on first touches of
   4 KiB pages than on what they write there. Only advice, whoever allocated the chunk. */
static char *huge_pages(ArenaChunk *c) {
  uintptr_t begin = (uintptr_t)c, end = begin + c->size;
  uintptr_t first = (begin + HEADER + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
  if (end < first + HUGE_PAGE) return NULL;
  madvise((void *)first, (end - first) & ~(uintptr_t)(HUGE_PAGE - 1), MADV_HUGEPAGE);
  return (char *)c + (first - begin);
}

/* Chunks double, but for one leap to where a huge page fits. */
static size_t next_size(const Arena *a) {
  if (!a->chunk) return FIRST_CHUNK;
  size_t size = a->chunk->size * 2;
  if (size > MAX_CHUNK) return MAX_CHUNK;
  return size > LARGE && size < 2 * HUGE_PAGE ? 2 * HUGE_PAGE : size;
}

static bool add_chunk(Arena *a, size_t room) {
  size_t size = next_size(a);
  /* A few large texts in a row would leave most of ever larger chunks empty. */
  bool own = size < room + HEADER || (room > LARGE && room > size / 2);
  if (own) size = room + HEADER;
  ArenaChunk *c = alloc_new(&a->alloc, size);
  if (!c) return false;
  c->older = a->chunk;
  c->size = size;
  a->chunk = c;
  char *huge = huge_pages(c);
  a->cur = huge && !own ? huge : (char *)c + HEADER; /* what lies before the huge pages is never touched */
  a->end = a->cur + (size_t)((char *)c + size - a->cur) / ALIGN * ALIGN;
  POISON(a->cur, (size_t)(a->end - a->cur));
  return true;
}

void *arena_slow(Arena *a, size_t n) {
  if (a->oom) return NULL;
  if (n > SIZE_MAX / 4) {
    a->oom = true;
    return NULL;
  }
  size_t room = n ? (n + ALIGN - 1) / ALIGN * ALIGN : ALIGN;
  bool fits = a->chunk && (size_t)(a->end - a->cur) >= room;
  if (!fits && !add_chunk(a, room)) {
    a->oom = true;
    return NULL;
  }
  char *p = a->cur;
  a->cur += room;
  a->used += room;
  UNPOISON(p, n);
  return p;
}

void *arena_alloc(Arena *a, size_t n) {
  void *p = arena_raw(a, n);
  if (p) memset(p, 0, n);
  return p;
}

void *arena_array(Arena *a, size_t n, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(n, size, &bytes)) {
    a->oom = true;
    return NULL;
  }
  return arena_alloc(a, bytes);
}

char *arena_strdup(Arena *a, const char *s, size_t n) {
  if (n == SIZE_MAX) a->oom = true;
  char *p = n == SIZE_MAX ? NULL : arena_raw(a, n + 1);
  if (!p) return NULL;
  if (n) memcpy(p, s, n);
  p[n] = '\0';
  return p;
}

char *arena_printf(Arena *a, const char *fmt, ...) {
  va_list ap, again;
  va_start(ap, fmt);
  va_copy(again, ap);
  char small[256];
  int n = text_vsnprintf(small, sizeof small, fmt, ap);
  char *p = NULL;
  if (n >= 0) p = arena_alloc(a, (size_t)n + 1);
  if (n < 0) a->oom = true; /* text_vsnprintf fails only for want of memory or of INT_MAX */
  if (p && (size_t)n < sizeof small) memcpy(p, small, (size_t)n);
  if (p && (size_t)n >= sizeof small) text_vsnprintf(p, (size_t)n + 1, fmt, again);
  va_end(again);
  va_end(ap);
  return p;
}

ArenaMark arena_mark(const Arena *a) { return (ArenaMark){a->chunk, a->cur, a->used}; }

void arena_rewind(Arena *a, ArenaMark m) {
  drop_chunks(a, m.chunk);
  a->cur = m.cur;
  a->end = m.chunk ? (char *)m.chunk + m.chunk->size : NULL;
  a->used = m.used;
  if (a->cur) POISON(a->cur, (size_t)(a->end - a->cur));
}

bool arena_grow(Arena *a, void *array_pp, uint32_t *cap, uint32_t count, size_t size) {
  if (count < *cap) return true;
  if (count == UINT32_MAX) a->oom = true;
  uint32_t want = *cap < 8 ? 8 : *cap <= UINT32_MAX / 2 ? *cap * 2 : UINT32_MAX;
  void *fresh = arena_array(a, want, size);
  if (!fresh) return false;
  void *old; /* through memcpy: the caller's variable is a T *, not a void * */
  memcpy(&old, array_pp, sizeof old);
  if (count) memcpy(fresh, old, (size_t)count * size);
  memcpy(array_pp, &fresh, sizeof fresh);
  *cap = want;
  return true;
}
