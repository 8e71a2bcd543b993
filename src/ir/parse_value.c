/* parse_value.c -- room ir: the names a text defines, with the scopes of its regions. */
#include "text_ir.h"

uint64_t tx_hash(TxStr s) {
  uint64_t h = s.n * UINT64_C(0x9E3779B97F4A7C15), w;
  for (; s.n >= 8; s.s += 8, s.n -= 8) {
    memcpy(&w, s.s, 8);
    h = (h ^ w) * UINT64_C(0xD6E8FEB86659FD93);
    h ^= h >> 32;
  }
  w = 0;
  for (size_t i = 0; i < s.n; i++) w = w << 8 | (unsigned char)s.s[i];
  h = (h ^ w) * UINT64_C(0xD6E8FEB86659FD93);
  return h ^ h >> 29;
}

const TxValue *tx_find(const TxTable *t, TxStr name) {
  if (!t->nslot) return NULL;
  uint64_t h = tx_hash(name);
  for (uint32_t i = (uint32_t)h & (t->nslot - 1); t->slot[i]; i = (i + 1) & (t->nslot - 1)) {
    const TxValue *v = &t->list[t->slot[i] - 1];
    if (v->hash == h && tx_eq(v->name, name)) return v;
  }
  return NULL;
}

static void place(TxTable *t, uint32_t k) {
  uint32_t i = (uint32_t)t->list[k].hash & (t->nslot - 1);
  while (t->slot[i]) i = (i + 1) & (t->nslot - 1);
  t->slot[i] = k + 1;
}

static bool grow(Tx *x, TxTable *t) {
  if (t->count == t->cap && !arena_push(&x->keep, t->list, t->cap, t->count)) return false;
  if ((uint64_t)(t->count + 1) * 2 <= t->nslot) return true;
  uint32_t n = t->nslot ? t->nslot * 2 : 256;
  uint32_t *slot = arena_newn(&x->keep, uint32_t, n);
  if (!slot) return false;
  t->slot = slot;
  t->nslot = n;
  for (uint32_t k = 0; k < t->count; k++) place(t, k);
  return true;
}

bool tx_add(Tx *x, TxTable *t, TxValue v, const char *at) {
  if (tx_find(t, v.name)) {
    const char *name = arena_printf(&x->scratch, t == &x->values ? "%%%s" : "\"%s\"", tx_cstr(x, v.name));
    return TX_ERR(x, at, ir_redefined, name ? name : "");
  }
  if (!grow(x, t)) return DIAG0(x->d, nomem);
  v.hash = tx_hash(v.name);
  t->list[t->count] = v;
  place(t, t->count++);
  return true;
}

/* The newest name is the last of its probe run, so freeing slots newest first leaves every older one findable. */
void tx_cut(TxTable *t, uint32_t count) {
  while (t->count > count) {
    uint32_t k = --t->count, i = (uint32_t)t->list[k].hash & (t->nslot - 1);
    while (t->slot[i] != k + 1) i = (i + 1) & (t->nslot - 1);
    t->slot[i] = 0;
  }
}
