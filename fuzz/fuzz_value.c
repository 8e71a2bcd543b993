/* fuzz_value.c -- the VALUE grammar of the command line on any bytes: a value, or one message of its own. */
#include <stdlib.h>

#include "host.h"

static void drop(void *ud, const char *s, size_t n) {
  (void)ud;
  (void)s;
  (void)n;
}

static Host *host(void) {
  static Host *h;
  if (h) return h;
  Diag d;
  diag_init(&d, alloc_std);
  HostSpec spec = {.alloc = alloc_std, .write = drop, .warn = drop};
  h = host_open(&spec, &d);
  if (!h) abort();
  return h;
}

static void must(bool ok) {
  if (!ok) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  Arena a;
  Diag d;
  HostValue v;
  HostWord word = {(const char *)data, n, "x"};
  arena_init(&a, alloc_std);
  diag_init(&d, alloc_std);
  if (host_value(host(), &word, &a, &v, &d)) {
    must(d.id == ERR_none && v.rank >= 0 && v.rank <= IR_MAX_RANK);
    must(v.kind != HV_FILE || v.path != NULL);
    must(v.kind != HV_ARRAY || v.dtype != DT_none);
    for (int i = 0; i < v.rank; i++) must(v.shape[i] >= 1);
  } else {
    must(d.id == ERR_value);
  }
  diag_free(&d);
  arena_free(&a);
  return 0;
}
