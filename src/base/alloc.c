/* alloc.c -- room base: the C library's allocator behind the Alloc contract. */
#include "alloc.h"

#include <stdlib.h>

static void *std_fn(void *ud, void *ptr, size_t osize, size_t nsize) {
  (void)ud;
  (void)osize;
  if (nsize == 0) {
    free(ptr);
    return NULL;
  }
  return realloc(ptr, nsize);
}

const Alloc alloc_std = {std_fn, NULL};
