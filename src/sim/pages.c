/* pages.c -- room sim: the memory tiles live in: whole huge pages, aligned to them, one such arena kept for the next
   run. A first touch of a 4 KiB page costs more than the work on it, so fresh memory per run would dominate. */
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "exec.h"

#define HUGE_PAGE ((size_t)2 << 20)
#define KEEP_AT_MOST ((size_t)256 << 20)

/* The spare arena, or NULL. It begins with its own size. */
static _Atomic(char *) spare;

static void unmap(char *p, size_t size) { munmap(p, size); }

static char *map(size_t size) {
  char *raw = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) return NULL;
  size_t skip = (HUGE_PAGE - (uintptr_t)raw % HUGE_PAGE) % HUGE_PAGE;
  if (skip) unmap(raw, skip);
  if (skip != HUGE_PAGE) unmap(raw + skip + size, HUGE_PAGE - skip);
  madvise(raw + skip, size, MADV_HUGEPAGE); /* only advice */
  return raw + skip;
}

/* Address space is not memory: what the machine cannot hold would be given, and the process killed when it is used. */
static bool fits_machine(size_t size) {
  long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
  return pages <= 0 || bytes <= 0 || size / (size_t)bytes < (size_t)pages;
}

bool pages_take(Pages *a, size_t size) {
  if (size > SIZE_MAX / 2 || !fits_machine(size)) return false;
  size = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
  char *p = atomic_exchange(&spare, NULL);
  if (p) {
    size_t have = *(size_t *)(void *)p;
    if (have >= size) {
      *a = (Pages){p, have};
      return true;
    }
    unmap(p, have);
  }
  p = map(size);
  if (!p) return false;
  *a = (Pages){p, size};
  return true;
}

void pages_give(Pages *a) {
  if (!a->p) return;
  char *none = NULL;
  if (a->size <= KEEP_AT_MOST) {
    *(size_t *)(void *)a->p = a->size;
    if (atomic_compare_exchange_strong(&spare, &none, a->p)) return;
  }
  unmap(a->p, a->size);
}

__attribute__((destructor)) static void drop_spare(void) {
  char *p = atomic_exchange(&spare, NULL);
  if (p) unmap(p, *(size_t *)(void *)p);
}
