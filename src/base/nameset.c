/* nameset.c -- room base: open-addressing set, so that a million names take linear time. */
#include "nameset.h"

#include <string.h>

#include "hash.h"

typedef struct NameSlot {
  const char *name; /* NULL: free */
  size_t len;
  uint64_t hash;
} NameSlot;

bool nameset_init(NameSet *set, Arena *a, uint32_t count) {
  set->size = 8;
  while (set->size / 2 < count && set->size < UINT32_C(1) << 31) set->size *= 2;
  set->slots = arena_newn(a, NameSlot, set->size);
  return set->slots != NULL;
}

bool nameset_add(NameSet *set, const char *name, size_t len) {
  uint64_t hash = hash64(name, len);
  uint32_t mask = set->size - 1, i = (uint32_t)hash & mask;
  for (; set->slots[i].name; i = (i + 1) & mask) {
    const NameSlot *s = &set->slots[i];
    if (s->hash == hash && s->len == len && memcmp(s->name, name, len) == 0) return false;
  }
  set->slots[i] = (NameSlot){name, len, hash};
  return true;
}
