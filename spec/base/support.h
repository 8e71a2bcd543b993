/* support.h -- spec/base: what the tests of this folder share. */
#ifndef NK_SPEC_BASE_SUPPORT_H
#define NK_SPEC_BASE_SUPPORT_H
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "diag.h"
#include "text.h"

/* An allocator that can fail and that checks its callers: sizes given back must be those asked for. */
typedef struct Ration {
  long left;   /* allocations that still succeed; negative: no limit */
  bool once;   /* only the first refused one fails */
  size_t live; /* bytes not yet given back */
  long calls;  /* allocations asked for */
  bool wrong;  /* a size did not match */
} Ration;

enum { RATION_HEAD = 16 }; /* the size is kept in front of the block */

static inline void *ration_fn(void *ud, void *ptr, size_t osize, size_t nsize) {
  Ration *r = ud;
  char *base = ptr ? (char *)ptr - RATION_HEAD : NULL;
  size_t had = 0;
  if (base) memcpy(&had, base, sizeof had);
  if (had != osize) r->wrong = true;
  if (nsize == 0) {
    r->live -= had;
    free(base);
    return NULL;
  }
  r->calls++;
  if (r->left == 0) {
    if (r->once) r->left = -1;
    return NULL;
  }
  if (r->left > 0) r->left--;
  char *fresh = realloc(base, nsize + RATION_HEAD);
  if (!fresh) return NULL;
  memcpy(fresh, &nsize, sizeof nsize);
  r->live += nsize - had;
  return fresh + RATION_HEAD;
}

static inline Alloc ration_alloc(Ration *r) { return (Alloc){ration_fn, r}; }

/* A small generator with a fixed seed: every run tests the same values. */
static inline uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

#define assert_text(t, expected) assert_string_equal(text_str(t), (expected))
#endif
