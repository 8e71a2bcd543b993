/* fuzz_config.c -- the backend_config reader on any bytes, and on any text in base64: one message, or an artifact whose
   own encoding reads back to itself and that prints in every form. */
#include <stdlib.h>
#include <string.h>

#include "base64.h"
#include "emit.h"

static void must(bool ok) {
  if (!ok) abort();
}

static void check(const char *text, size_t n) {
  Diag d;
  diag_init(&d, alloc_std);
  const Artifact *a = config_decode(alloc_std, text, n, &d);
  must((a == NULL) == (d.id != ERR_none));
  if (a) {
    const Artifact *b = config_decode(alloc_std, a->backend_config, a->backend_config_len, &d);
    must(b && strcmp(a->backend_config, b->backend_config) == 0);
    Text t;
    text_init(&t, alloc_std);
    must(hlo_text(a, &t, &d) && stablehlo_text(a, &t, &d) && hlo_proto(a, &t, &d));
    text_free(&t);
    artifact_release(b);
  }
  artifact_release(a);
  diag_free(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  check((const char *)data, n);
  Text t;
  text_init(&t, alloc_std);
  base64_encode(&t, data, n);
  check(text_str(&t), t.len);
  text_free(&t);
  return 0;
}
