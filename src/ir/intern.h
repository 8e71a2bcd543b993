/* intern.h -- room ir: private; hash tables that find names, locations and iterations in O(1). */
#ifndef NK_INTERN_H
#define NK_INTERN_H
#include "ir.h"

/* Open addressing, at most half full; a slot holds an entry's number + 1, 0 = free. */
typedef struct HashSlots {
  uint32_t *slot;
  uint32_t cap, count; /* cap: a power of two or 0 */
} HashSlots;

typedef struct NameEntry {
  const char *name;
  uint64_t hash;
  uint32_t len;
  uint32_t next; /* first suffix to try for a clash: wanted_<next> */
} NameEntry;

typedef struct IrNames {
  HashSlots slots;
  NameEntry *entry;
  uint32_t nentry, capentry;
  uint32_t ordinal[SP_count]; /* buffers of each space so far */
  uint32_t shared;            /* shared_hbm allocations so far */
} IrNames;

typedef struct IrIntern {
  HashSlots files, locs, iters;
  const char **file;
  uint32_t nfile, capfile;
  uint32_t last_loc; /* most instructions of a run come from the line of the one before */
} IrIntern;

/* The buffer's name, made unique in f and entered there; NULL wanted: "<space>_<ordinal>". NULL when out of memory. */
const char *names_add(IrModule *m, IrFunc *f, const char *wanted, Space space);
#endif
