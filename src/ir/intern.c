/* intern.c -- room ir: names of buffers, source locations and iterations, each found by hash. */
#include "intern.h"

#include <string.h>

#include "hash.h"

static uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t x = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
  return x ^ (x >> 29);
}

/* Walks the chain of a hash: for (i = first; slot[i]; i = next). */
static uint32_t probe_start(const HashSlots *h, uint64_t hash) { return (uint32_t)(hash >> 16) & (h->cap - 1); }

static void put(HashSlots *h, uint64_t hash, uint32_t number) {
  uint32_t i = probe_start(h, hash);
  while (h->slot[i]) i = (i + 1) & (h->cap - 1);
  h->slot[i] = number + 1;
}

/* Room for one more; hash_of(ctx, n) gives the hash of entry n again. */
static bool make_room(Arena *a, HashSlots *h, uint64_t (*hash_of)(const void *ctx, uint32_t n), const void *ctx) {
  if (h->count * 2 < h->cap) return true;
  if (h->cap > UINT32_MAX / 4) return false;
  HashSlots old = *h, fresh = {NULL, old.cap ? old.cap * 2 : 64, old.count};
  fresh.slot = arena_newn(a, uint32_t, fresh.cap);
  if (!fresh.slot) return false;
  for (uint32_t i = 0; i < old.cap; i++)
    if (old.slot[i]) put(&fresh, hash_of(ctx, old.slot[i] - 1), old.slot[i] - 1);
  *h = fresh;
  return true;
}

/* ---- names */

static uint64_t name_hash(const void *ctx, uint32_t n) { return ((const IrNames *)ctx)->entry[n].hash; }

static NameEntry *find_name(const IrNames *set, const char *s, size_t n, uint64_t hash) {
  if (!set->slots.cap) return NULL;
  uint32_t i = probe_start(&set->slots, hash), number;
  while ((number = set->slots.slot[i]) != 0) {
    NameEntry *e = &set->entry[number - 1];
    if (e->hash == hash && e->len == n && memcmp(e->name, s, n) == 0) return e;
    i = (i + 1) & (set->slots.cap - 1);
  }
  return NULL;
}

static const char *enter_name(IrModule *m, IrNames *set, const char *name, size_t n, uint64_t hash) {
  if (!make_room(&m->arena, &set->slots, name_hash, set)) return NULL;
  if (!arena_push(&m->arena, set->entry, set->capentry, set->nentry)) return NULL;
  set->entry[set->nentry] = (NameEntry){name, hash, (uint32_t)n, 1};
  put(&set->slots, hash, set->nentry);
  set->nentry++;
  set->slots.count++;
  return name;
}

const char *ir_unique_name(IrModule *m, const IrFunc *f, const char *wanted) {
  size_t n = strlen(wanted);
  NameEntry *clash = find_name(f->names, wanted, n, hash64(wanted, n));
  if (!clash) return arena_strdup(&m->arena, wanted, n);
  for (;;) {
    ArenaMark mark = arena_mark(&m->arena);
    char *name = arena_printf(&m->arena, "%s_%u", wanted, clash->next);
    if (!name) return NULL;
    size_t len = strlen(name);
    if (!find_name(f->names, name, len, hash64(name, len))) return name;
    arena_rewind(&m->arena, mark);
    clash->next++;
  }
}

const char *names_add(IrModule *m, IrFunc *f, const char *wanted, Space space) {
  char own[40];
  uint32_t ordinal = f->names->ordinal[space]++;
  if (!wanted) { /* "<space>_<ordinal>" */
    size_t n = strlen(space_name(space));
    memcpy(own, space_name(space), n);
    own[n++] = '_';
    char digits[12];
    int k = 0;
    do digits[k++] = (char)('0' + ordinal % 10);
    while (ordinal /= 10);
    while (k) own[n++] = digits[--k];
    own[n] = '\0';
    wanted = own;
  }
  const char *name = ir_unique_name(m, f, wanted);
  if (!name) return NULL;
  size_t n = strlen(name);
  return enter_name(m, f->names, name, n, hash64(name, n));
}

/* ---- locations */

static uint64_t file_hash(const void *ctx, uint32_t n) {
  const char *s = ((const IrIntern *)ctx)->file[n];
  return hash64(s, strlen(s));
}

/* The module's copy of a file name: equal names have equal pointers. */
static const char *intern_file(IrModule *m, const char *file) {
  IrIntern *in = m->intern;
  size_t n = strlen(file);
  uint64_t hash = hash64(file, n);
  if (in->files.cap) {
    uint32_t i = probe_start(&in->files, hash), number;
    while ((number = in->files.slot[i]) != 0) {
      if (strcmp(in->file[number - 1], file) == 0) return in->file[number - 1];
      i = (i + 1) & (in->files.cap - 1);
    }
  }
  char *copy = arena_strdup(&m->arena, file, n);
  if (!copy || !make_room(&m->arena, &in->files, file_hash, in)) return NULL;
  if (!arena_push(&m->arena, in->file, in->capfile, in->nfile)) return NULL;
  in->file[in->nfile] = copy;
  put(&in->files, hash, in->nfile++);
  in->files.count++;
  return copy;
}

static uint64_t loc_hash_of(const char *file, int line, bool tail, uint32_t parent) {
  uint64_t h = mix((uint64_t)(uintptr_t)file, (uint64_t)(uint32_t)line << 1 | tail);
  return mix(h, parent);
}
static uint64_t loc_hash(const void *ctx, uint32_t n) {
  const IrLoc *l = &((const IrModule *)ctx)->locs[n];
  return loc_hash_of(l->file, l->line, l->tail, l->parent);
}

static bool same_loc(const IrLoc *l, int line, bool tail, uint32_t parent) {
  return l->line == line && l->tail == tail && l->parent == parent;
}

uint32_t ir_loc(IrModule *m, const char *file, int line, bool tail, uint32_t parent) {
  IrIntern *in = m->intern;
  if (in->last_loc && same_loc(&m->locs[in->last_loc], line, tail, parent) &&
      strcmp(m->locs[in->last_loc].file, file) == 0)
    return in->last_loc;
  const char *name = intern_file(m, file);
  if (!name) return 0;
  uint64_t hash = loc_hash_of(name, line, tail, parent);
  if (in->locs.cap) {
    uint32_t i = probe_start(&in->locs, hash), number;
    while ((number = in->locs.slot[i]) != 0) {
      const IrLoc *l = &m->locs[number - 1];
      if (l->file == name && same_loc(l, line, tail, parent)) return in->last_loc = number - 1;
      i = (i + 1) & (in->locs.cap - 1);
    }
  }
  if (!arena_push(&m->arena, m->locs, m->caplocs, m->nlocs)) return 0;
  if (m->nlocs == 0) m->nlocs = 1; /* locs[0] stands for "unknown" */
  if (!make_room(&m->arena, &in->locs, loc_hash, m)) return 0;
  m->locs[m->nlocs] = (IrLoc){name, line, tail, parent};
  put(&in->locs, hash, m->nlocs);
  in->locs.count++;
  return in->last_loc = m->nlocs++;
}

/* ---- iterations */

static uint64_t iter_hash_of(uint32_t parent, uint32_t loop_loc, int64_t value) {
  return mix(mix((uint64_t)value, loop_loc), (uint64_t)parent + 1);
}
static uint64_t iter_hash(const void *ctx, uint32_t n) {
  const IrIter *it = &((const IrModule *)ctx)->iters[n];
  return iter_hash_of(it->parent, it->loop_loc, it->value);
}

uint32_t ir_iter(IrModule *m, uint32_t parent, uint32_t loop_loc, int64_t value) {
  HashSlots *h = &m->intern->iters;
  uint64_t hash = iter_hash_of(parent, loop_loc, value);
  if (h->cap) {
    uint32_t i = probe_start(h, hash), number;
    while ((number = h->slot[i]) != 0) {
      const IrIter *it = &m->iters[number - 1];
      if (it->parent == parent && it->loop_loc == loop_loc && it->value == value) return number - 1;
      i = (i + 1) & (h->cap - 1);
    }
  }
  if (!arena_push(&m->arena, m->iters, m->capiters, m->niters)) return 0;
  if (m->niters == 0) m->niters = 1;
  if (!make_room(&m->arena, h, iter_hash, m)) return 0;
  m->iters[m->niters] = (IrIter){parent, loop_loc, value};
  put(h, hash, m->niters);
  h->count++;
  return m->niters++;
}
