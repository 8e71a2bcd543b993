/* fuzz_npy.c -- the .npy and .npz readers on any bytes; accepted arrays are read whole and written and read again. */
#include <stdlib.h>
#include <string.h>

#include "npy.h"

static void must(bool ok) {
  if (!ok) abort();
}

/* The array as another file must come back the same. Touches every byte of the data. */
static void check_array(const NpyArray *v, Diag *d) {
  Text t;
  NpyArray again = {.name = NULL};
  text_init(&t, alloc_std);
  must(v->rank >= 0 && v->rank <= NPY_MAX_RANK && v->itemsize > 0 && v->nbytes % v->itemsize == 0);
  npy_write(&t, v);
  must(npy_parse(&(FileIn){"again", text_str(&t), t.len, NULL}, &again, d));
  must(again.nbytes == v->nbytes && again.rank == v->rank && strcmp(again.descr, v->descr) == 0);
  must(memcmp(again.shape, v->shape, (size_t)v->rank * sizeof *v->shape) == 0);
  must(v->nbytes == 0 || memcmp(again.data, v->data, (size_t)v->nbytes) == 0);
  text_free(&t);
}

static void check_archive(Arena *a, const NpyArray *v, uint32_t count, Diag *d) {
  Text t;
  NpyArray *again;
  uint32_t n;
  text_init(&t, alloc_std);
  npz_write(&t, v, count);
  must(npz_parse(a, &(FileIn){"again", text_str(&t), t.len, NULL}, &again, &n, d));
  must(n == count);
  for (uint32_t i = 0; i < n; i++) must(strcmp(again[i].name, v[i].name) == 0);
  text_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  Arena a;
  Diag d;
  NpyArray one, *many;
  uint32_t count;
  const FileIn in = {"input", (const char *)data, n, NULL};
  arena_init(&a, alloc_std);
  diag_init(&d, alloc_std);
  if (npy_parse(&in, &one, &d)) check_array(&one, &d);
  must(d.id == ERR_none || d.id == ERR_npy_format);
  diag_clear(&d);
  if (npz_parse(&a, &in, &many, &count, &d)) {
    for (uint32_t i = 0; i < count; i++) check_array(&many[i], &d);
    check_archive(&a, many, count, &d);
  }
  must(d.id == ERR_none || d.id == ERR_npy_format);
  diag_free(&d);
  arena_free(&a);
  return 0;
}
