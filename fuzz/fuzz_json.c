/* fuzz_json.c -- the JSON reader on any bytes; what it accepts must survive the indented writer. */
#include <stdlib.h>
#include <string.h>

#include "json.h"

static void must(bool ok) {
  if (!ok) abort();
}

static bool same(const Json *a, const Json *b) {
  if (a->kind != b->kind || a->count != b->count || a->b != b->b || a->i != b->i || a->len != b->len) return false;
  if (memcmp(&a->f, &b->f, sizeof a->f) != 0 || (a->s && memcmp(a->s, b->s, a->len + 1) != 0)) return false;
  if ((a->key == NULL) != (b->key == NULL) || (a->key && strcmp(a->key, b->key) != 0)) return false;
  const Json *c = a->child, *d = b->child;
  for (; c && d; c = c->next, d = d->next)
    if (!same(c, d)) return false;
  return !c && !d;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  Arena a;
  Diag d;
  Text t;
  arena_init(&a, alloc_std);
  diag_init(&d, alloc_std);
  text_init(&t, alloc_std);
  const Json *v = json_parse(&a, (const char *)data, n, "input", &d);
  if (v) {
    must(d.id == ERR_none && json_pretty(&t, v));
    const Json *again = json_parse(&a, text_str(&t), t.len, "pretty", &d);
    must(again && same(v, again));
  } else {
    must(d.id == ERR_json);
  }
  text_free(&t);
  diag_free(&d);
  arena_free(&a);
  return 0;
}
