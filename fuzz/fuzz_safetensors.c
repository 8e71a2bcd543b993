/* fuzz_safetensors.c -- the .safetensors reader on any bytes; what it accepts can be written and read again. */
#include <stdlib.h>
#include <string.h>

#include "safetensors.h"

static void must(bool ok) {
  if (!ok) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  Arena a;
  Diag d;
  Text t;
  SafeTensor *list, *again;
  uint32_t count, count2;
  arena_init(&a, alloc_std);
  diag_init(&d, alloc_std);
  text_init(&t, alloc_std);
  if (safetensors_parse(&a, &(FileIn){"input", (const char *)data, n, NULL}, &list, &count, &d)) {
    for (uint32_t i = 0; i < count; i++) {
      must(list[i].data >= (const char *)data && list[i].data + list[i].nbytes <= (const char *)data + n);
      must(list[i].rank >= 0 && list[i].rank <= NPY_MAX_RANK);
    }
    safetensors_write(&t, list, count);
    must(safetensors_parse(&a, &(FileIn){"again", text_str(&t), t.len, NULL}, &again, &count2, &d) && count2 == count);
    for (uint32_t i = 0; i < count; i++) {
      must(strcmp(list[i].name, again[i].name) == 0 && list[i].nbytes == again[i].nbytes);
      must(memcmp(list[i].data, again[i].data, (size_t)list[i].nbytes) == 0);
    }
  }
  text_free(&t);
  diag_free(&d);
  arena_free(&a);
  return 0;
}
