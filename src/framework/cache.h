/* cache.h -- room framework: private; what specialize.c needs of a cache. */
#ifndef NK_CACHE_H
#define NK_CACHE_H
#include "store.h"

/* Emptied storage for the key of the next look-up, so that a hit allocates nothing. */
Text *cache_scratch(FwCache *c);
/* Retains a; replaces an entry of the same key. */
bool cache_put(FwCache *c, const void *key, size_t n, const Artifact *a);
void cache_count_impure(FwCache *c);
void cache_count_disk_hit(FwCache *c);
FwStore *cache_store(const FwCache *c);           /* NULL: none */
const char *cache_reason(const FwCache *c);       /* of the last impure run */
void cache_explain(const FwCache *c, Explain *e); /* with the newest entries */
#endif
