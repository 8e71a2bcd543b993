/* nameset.h -- room base: private; "has this name occurred before?" for untrusted lists of names. */
#ifndef NK_NAMESET_H
#define NK_NAMESET_H
#include "arena.h"

typedef struct NameSet {
  struct NameSlot *slots; /* power of two, at most half full */
  uint32_t size;
} NameSet;

/* Room for count names; false when out of memory. */
bool nameset_init(NameSet *set, Arena *a, uint32_t count);
/* False when the name is there already. The set keeps the pointer. Call at most count times. */
bool nameset_add(NameSet *set, const char *name, size_t len);
#endif
