/* fuzz_base64.c -- the decoder on any bytes; what it accepts is exactly what the encoder writes for the result. */
#include <stdlib.h>
#include <string.h>

#include "base64.h"

static void must(bool ok) {
  if (!ok) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  Text t, again;
  Diag d;
  text_init(&t, alloc_std);
  text_init(&again, alloc_std);
  diag_init(&d, alloc_std);
  if (base64_decode(&t, (const char *)data, n, &d)) {
    base64_encode(&again, text_str(&t), t.len);
    must(again.len == n && memcmp(text_str(&again), data, n) == 0);
  } else {
    must(d.id == ERR_base64 && t.len == 0);
  }
  diag_clear(&d);
  text_clear(&t);
  text_clear(&again);
  base64_encode(&t, data, n);
  must(base64_decode(&again, text_str(&t), t.len, &d));
  must(again.len == n && memcmp(text_str(&again), data, n) == 0);
  text_free(&t);
  text_free(&again);
  diag_free(&d);
  return 0;
}
