/* cache.c -- room framework: key bytes -> artifact. A hash finds, the full key bytes decide. Entries keep their order;
   nothing leaves unless the cache has a limit, then the least recently used one does. */
#include "cache.h"

#include <string.h>

#include "hash.h"

typedef struct Entry {
  struct Entry *prev, *next; /* order: oldest (with a limit: least recently used) first */
  const Artifact *artifact;
  uint64_t hash;
  size_t n;
  unsigned char key[];
} Entry;

struct FwCache {
  Alloc alloc;
  Entry **slots; /* open addressing, a power of two, at most half full */
  size_t nslots;
  Entry *first, *newest;
  Entry *hit; /* last, or NULL: mostly the next one, too */
  int64_t count, limit, hits, misses, impure, disk_hits;
  Text scratch, reason, text;
  const char *last; /* what became of the last call: a constant, or text's */
  FwStore *store;
};

FwCache *fw_cache_new(Alloc alloc) {
  FwCache *c = alloc_new(&alloc, sizeof *c);
  if (!c) return NULL;
  memset(c, 0, sizeof *c);
  c->alloc = alloc;
  text_init(&c->scratch, alloc);
  text_init(&c->reason, alloc);
  text_init(&c->text, alloc);
  return c;
}

static void entry_free(FwCache *c, Entry *e) {
  artifact_release(e->artifact);
  alloc_free(&c->alloc, e, sizeof *e + e->n);
}

void fw_cache_clear(FwCache *c) {
  for (Entry *e = c->first, *next; e; e = next) {
    next = e->next;
    entry_free(c, e);
  }
  alloc_free(&c->alloc, c->slots, c->nslots * sizeof *c->slots);
  c->slots = NULL;
  c->nslots = 0;
  c->first = c->newest = c->hit = NULL;
  c->count = c->hits = c->misses = c->impure = c->disk_hits = 0;
  c->last = NULL;
  text_clear(&c->reason);
}

void fw_cache_free(FwCache *c) {
  if (!c) return;
  fw_cache_clear(c);
  text_free(&c->scratch);
  text_free(&c->reason);
  text_free(&c->text);
  Alloc alloc = c->alloc;
  alloc_free(&alloc, c, sizeof *c);
}

/* The slot of a key, or the empty one where it belongs. */
static Entry **find_slot(const FwCache *c, uint64_t hash, const void *key, size_t n) {
  for (size_t i = hash & (c->nslots - 1);; i = (i + 1) & (c->nslots - 1)) {
    Entry *e = c->slots[i];
    if (!e || (e->hash == hash && e->n == n && memcmp(e->key, key, n) == 0)) return &c->slots[i];
  }
}

static void unlink_entry(FwCache *c, Entry *e) {
  *(e->prev ? &e->prev->next : &c->first) = e->next;
  *(e->next ? &e->next->prev : &c->newest) = e->prev;
}

static void append_entry(FwCache *c, Entry *e) {
  e->prev = c->newest;
  e->next = NULL;
  *(c->newest ? &c->newest->next : &c->first) = e;
  c->newest = e;
}

const Artifact *fw_cache_get(FwCache *c, const void *key, size_t n) {
  Entry *e = c->hit;
  if (!e || e->n != n || memcmp(e->key, key, n) != 0) e = c->nslots ? *find_slot(c, hash64(key, n), key, n) : NULL;
  if (!e) {
    c->misses++;
    return NULL;
  }
  c->hit = e;
  c->hits++;
  c->last = "hit in memory";
  if (c->limit && e != c->newest) {
    unlink_entry(c, e);
    append_entry(c, e);
  }
  return e->artifact;
}

bool fw_cache_next(const FwCache *c, FwEntry *e) {
  const Entry *at = e->at;
  const Entry *next = at ? at->next : c->first;
  if (!next) return false;
  *e = (FwEntry){next, next->key, next->n, next->artifact};
  return true;
}

static bool rehash(FwCache *c, size_t nslots) {
  Entry **slots = alloc_new(&c->alloc, nslots * sizeof *slots);
  if (!slots) return false;
  memset(slots, 0, nslots * sizeof *slots);
  alloc_free(&c->alloc, c->slots, c->nslots * sizeof *c->slots);
  c->slots = slots;
  c->nslots = nslots;
  for (Entry *e = c->first; e; e = e->next) *find_slot(c, e->hash, e->key, e->n) = e;
  return true;
}

/* Removing from an open-addressed table: the entries behind it in its run are put in again. */
static void remove_entry(FwCache *c, Entry *e) {
  size_t mask = c->nslots - 1, i = (size_t)(find_slot(c, e->hash, e->key, e->n) - c->slots);
  c->slots[i] = NULL;
  for (i = (i + 1) & mask; c->slots[i]; i = (i + 1) & mask) {
    Entry *moved = c->slots[i];
    c->slots[i] = NULL;
    *find_slot(c, moved->hash, moved->key, moved->n) = moved;
  }
  unlink_entry(c, e);
  if (c->hit == e) c->hit = NULL;
  c->count--;
  entry_free(c, e);
}

static void shrink(FwCache *c) {
  while (c->limit && c->count > c->limit) remove_entry(c, c->first);
}

void fw_cache_limit(FwCache *c, int64_t cap) {
  c->limit = cap;
  shrink(c);
}

bool cache_put(FwCache *c, const void *key, size_t n, const Artifact *a) {
  if ((size_t)(c->count + 1) * 2 > c->nslots && !rehash(c, c->nslots ? c->nslots * 2 : 16)) return false;
  uint64_t hash = hash64(key, n);
  Entry **slot = find_slot(c, hash, key, n);
  if (*slot) {
    const Artifact *before = (*slot)->artifact;
    (*slot)->artifact = artifact_retain(a);
    artifact_release(before);
    return true;
  }
  Entry *e = alloc_new(&c->alloc, sizeof *e + n);
  if (!e) return false;
  *e = (Entry){.artifact = artifact_retain(a), .hash = hash, .n = n};
  memcpy(e->key, key, n);
  *slot = e;
  append_entry(c, e);
  c->count++;
  shrink(c);
  return true;
}

Text *cache_scratch(FwCache *c) {
  text_clear(&c->scratch);
  return &c->scratch;
}

void cache_count_impure(FwCache *c) { c->impure++; }

void fw_cache_reason(FwCache *c, const char *reason) {
  text_clear(&c->reason);
  text_puts(&c->reason, reason);
}

void fw_cache_note(FwCache *c, const char *last) {
  text_clear(&c->text);
  text_puts(&c->text, last);
  c->last = text_str(&c->text);
}

void fw_cache_attach(FwCache *c, FwStore *s) { c->store = s; }
FwStore *cache_store(const FwCache *c) { return c->store; }

const char *cache_reason(const FwCache *c) { return text_str(&c->reason); }

/* The look-up counted it as a miss. */
void cache_count_disk_hit(FwCache *c) {
  c->misses--;
  c->hits++;
  c->disk_hits++;
}

void cache_explain(const FwCache *c, Explain *e) {
  enum { MOST = 64 };
  const Entry *at = c->newest;
  for (int i = 0; at && i < MOST && e->count > 1; i++, at = at->prev)
    explain_with(e, (Span){(const char *)at->key, at->n});
}

int64_t fw_cache_disk_hits(const FwCache *c) { return c->disk_hits; }

FwCacheInfo fw_cache_info(const FwCache *c) {
  return (FwCacheInfo){c->hits, c->misses, c->count, c->impure, c->disk_hits, c->reason.len ? c->reason.data : NULL,
                       c->last};
}
