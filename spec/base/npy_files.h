/* npy_files.h -- spec/base: .npy and .npz files in memory. */
#ifndef NK_SPEC_BASE_NPY_FILES_H
#define NK_SPEC_BASE_NPY_FILES_H
#include "base64.h"
#include "npy.h"
#include "support.h"

/* savez_compressed(f, x=zeros(1000, "<f4"), e=zeros(0, "<f4")) */
#define DEFLATED                                                                                                     \
  "UEsDBC0AAAAIAAAAIQClwJRO//////////8FABQAeC5ucHkBABAAIBAAAAAAAABjAAAAAAAAAJvsF+obEMnIUMZQrZ6SWpxcpG6loG6TZqKuo6Ce" \
  "ll9UUpSYF59flJIKEndLzClOBYoXZyQWpAL5GoYGBgY6mjoKtQrkAi6GUTAKRsEoGAWjYBSMglEwCkbBKBgFo2AUDDgAAFBLAwQtAAAACAAAACEA" \
  "zdtp/P//////////BQAUAGUubnB5AQAQAIAAAAAAAAAARAAAAAAAAACb7BfqGxDJyFDGUK2eklqcXKRupaBuk2airqOgnpZfVFKUmBefX5SSChJ3" \
  "S8wpTgWKF2ckFqQC+RoGOpo6CrUKFAAuAFBLAQItAy0AAAAIAAAAIQClwJROYwAAACAQAAAFAAAAAAAAAAAAAACAAQAAAAB4Lm5weVBLAQItAy0A" \
  "AAAIAAAAIQDN22n8RAAAAIAAAAAFAAAAAAAAAAAAAACAAZoAAABlLm5weVBLBQYAAAAAAgACAGYAAAAVAQAAAAA="

typedef struct File {
  char *bytes; /* exactly n of them, so that the sanitizer sees a read behind the end */
  size_t n;
  Arena a;
  Diag d;
  NpyArray array, *arrays;
  uint32_t count;
} File;

static inline File open_bytes(const void *bytes, size_t n) {
  File f = {.bytes = malloc(n ? n : 1), .n = n};
  memcpy(f.bytes, bytes, n);
  arena_init(&f.a, alloc_std);
  diag_init(&f.d, alloc_std);
  return f;
}

static inline File open_base64(const char *code) {
  Text t;
  Diag d;
  text_init(&t, alloc_std);
  diag_init(&d, alloc_std);
  assert_true(base64_decode(&t, code, strlen(code), &d));
  File f = open_bytes(t.data, t.len);
  text_free(&t);
  diag_free(&d);
  return f;
}

static inline void close_file(File *f) {
  free(f->bytes);
  arena_free(&f->a);
  diag_free(&f->d);
}

#endif
