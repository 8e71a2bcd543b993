/* xla_programs.c -- room api: programs by content. A compiled XLA program calls its kernels over and over, each time
   with the whole config; it is decoded at the first call and found by hash and bytes from then on. */
#include <pthread.h>

#include "api.h"
#include "hash.h"

enum { SLOTS = 64 };

typedef struct Slot {
  uint64_t hash, used; /* used: when, in calls of the table */
  char *config;        /* a copy; NULL: the slot is free */
  size_t len;
  nkl_program *program;
} Slot;

/* Everything below is guarded by lock, which is never held while a config is decoded. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Slot slots[SLOTS];
static uint64_t clock_now;

static Slot *find(uint64_t hash, const char *config, size_t len) {
  for (int i = 0; i < SLOTS; i++) {
    Slot *s = &slots[i];
    if (s->config && s->hash == hash && s->len == len && memcmp(s->config, config, len) == 0) return s;
  }
  return NULL;
}

static Slot *least_used(void) {
  Slot *least = slots;
  for (int i = 0; i < SLOTS; i++) {
    if (!slots[i].config) return &slots[i];
    if (slots[i].used < least->used) least = &slots[i];
  }
  return least;
}

static nkl_program *take(Slot *s) {
  s->used = ++clock_now;
  return nkl_program_retain(s->program);
}

static nkl_program *lookup(uint64_t hash, const char *config, size_t len) {
  pthread_mutex_lock(&lock);
  Slot *s = find(hash, config, len);
  nkl_program *p = s ? take(s) : NULL;
  pthread_mutex_unlock(&lock);
  return p;
}

/* Takes over p and copy. Another thread may have been faster: then its program is the one. */
static nkl_program *keep(uint64_t hash, char *copy, size_t len, nkl_program *p) {
  Slot old = {.config = copy, .len = len, .program = p};
  pthread_mutex_lock(&lock);
  Slot *s = find(hash, copy, len);
  if (!s) {
    s = least_used();
    old = *s;
    *s = (Slot){.hash = hash, .config = copy, .len = len, .program = p};
  }
  p = take(s);
  pthread_mutex_unlock(&lock);
  nkl_program_release(old.program);
  alloc_free(&alloc_std, old.config, old.len + 1);
  return p;
}

nkl_program *api_cached_program(const char *config, size_t len, Diag *d) {
  uint64_t hash = hash64(config, len);
  nkl_program *p = lookup(hash, config, len);
  if (p) return p;
  p = api_program(config_decode(alloc_std, config, len, d));
  if (!p) return NULL;
  char *copy = alloc_new(&alloc_std, len + 1);
  if (!copy) return p; /* it runs all the same; the next call decodes again */
  memcpy(copy, config, len);
  return keep(hash, copy, len, p);
}
