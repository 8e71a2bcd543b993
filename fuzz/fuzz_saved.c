/* fuzz_saved.c -- the reader of cache files on any bytes, on any parts in a whole file, and what is said of any key: a
   reason, or the artifact whose own file is the same bytes again. */
#include <stdlib.h>
#include <string.h>

#include "store.h"

static void must(bool ok) {
  if (!ok) abort();
}

static void read_file(const char *data, size_t n) {
  Saved s;
  const char *why = saved_read(data, n, &s);
  const Artifact *a = why ? NULL : saved_artifact(&s, EMIT_TARGET_NATIVE, alloc_std, &why);
  must((a == NULL) == (why != NULL));
  if (!a) return;
  must(a->ir_len == s.ir.n && memcmp(a->ir, s.ir.p, s.ir.n) == 0);
  artifact_release(a);
}

static void say_key(const char *data, size_t n) {
  static const FwPipeline p = {.ud = NULL};
  static const FwRequest r = {.func_name = "k", .captured = "c", .ncaptured = 1};
  Text key;
  Diag d;
  Explain e;
  text_init(&key, alloc_std);
  diag_init(&d, alloc_std);
  must(fw_generate_hash_key(&r, &key, &d));
  explain_begin(&e, &p, &r, alloc_std);
  e.key = (Span){key.data, key.len};
  explain_with(&e, (Span){data, n});
  explain_same_name(&e, (Span){data, n});
  for (const char *c = text_str(&e.said); *c; c++) must(*c >= 0x20 && *c < 0x7f);
  explain_end(&e);
  text_free(&key);
  diag_free(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  const char *data = (const char *)bytes;
  read_file(data, n);
  say_key(data, n);
  size_t cut = n > 1 ? bytes[0] % n : n; /* the first piece is the trail of a file, the second the config's head */
  size_t more = n - cut > 1 ? bytes[1] % (n - cut) : 0;
  const Saved s = {.key = {"k", 1},
                   .warnings = {"", 0},
                   .trail = {data, cut},
                   .head = {data + cut, more},
                   .ir = {data + cut + more, n - cut - more}};
  Text t;
  text_init(&t, alloc_std);
  must(saved_write(&t, &s));
  read_file(t.data, t.len);
  text_free(&t);
  return 0;
}
