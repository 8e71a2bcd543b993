/* alloc.h -- room base: the allocator every room is handed; same contract as lua_Alloc (nsize 0 frees, NULL on
 * failure). */
#ifndef NK_ALLOC_H
#define NK_ALLOC_H
#include <stddef.h>

/* Is the compiler's address checker on? */
#if defined(__SANITIZE_ADDRESS__)
#define NK_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NK_ASAN 1
#endif
#endif

typedef struct Alloc {
  void *(*fn)(void *ud, void *ptr, size_t osize, size_t nsize);
  void *ud;
} Alloc;

/* realloc and free of the C library; never fails to free. */
extern const Alloc alloc_std;

static inline void *alloc_new(const Alloc *a, size_t n) { return a->fn(a->ud, NULL, 0, n); }
static inline void *alloc_grow(const Alloc *a, void *p, size_t old, size_t n) { return a->fn(a->ud, p, old, n); }
static inline void alloc_free(const Alloc *a, void *p, size_t n) {
  if (p) a->fn(a->ud, p, n, 0);
}
#endif
