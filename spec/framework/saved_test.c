/* saved_test.c -- spec/framework: an artifact in a file is that artifact; bytes that are not exactly what was written
   are refused. */
#include "saved.h"

#include <fcntl.h>
#include <unistd.h>

#include "file.h"

#include "random.h"

static const IrIns *ins_at(const Artifact *a, uint32_t f, uint32_t i) { return a->module->func[f]->ins[i]; }

/* The text of an error at an instruction: line, chain and iterations. */
static Text where_of(const Artifact *a, const IrIns *ins) {
  Diag d;
  diag_init(&d, alloc_std);
  ir_diag_where(a->module, ins->loc, ins->iter, &d);
  Text where = d.where;
  text_init(&d.where, alloc_std);
  diag_free(&d);
  return where;
}

static bool same_string(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static void same_nodes(const IrModule *a, const IrModule *b, uint32_t f) {
  assert_int_equal(a->func[f]->nnodes, b->func[f]->nnodes);
  for (uint32_t i = 0; i < a->func[f]->nnodes; i++) {
    const IrNode *x = a->func[f]->nodes[i], *y = b->func[f]->nodes[i];
    assert_string_equal(x->func_name, y->func_name);
    assert_true(same_string(x->library, y->library) && same_string(x->key, y->key));
    assert_int_equal(x->depth, y->depth);
    assert_int_equal(x->noperands, y->noperands);
    for (uint32_t k = 0; k < x->noperands; k++) {
      assert_string_equal(x->operands[k].param, y->operands[k].param);
      assert_string_equal(x->operands[k].tensor, y->operands[k].tensor);
    }
    assert_int_equal(x->nresults, y->nresults);
    for (uint32_t k = 0; k < x->nresults; k++) assert_string_equal(x->results[k], y->results[k]);
    assert_int_equal(x->loc != 0, y->loc != 0);
    if (!x->loc) continue;
    assert_string_equal(a->locs[x->loc].file, b->locs[y->loc].file);
    assert_int_equal(a->locs[x->loc].line, b->locs[y->loc].line);
  }
}

static void same_artifact(const Artifact *a, const Artifact *b) {
  assert_string_equal(a->backend_config, b->backend_config);
  assert_string_equal(a->ir, b->ir);
  assert_string_equal(a->config_json, b->config_json);
  assert_string_equal(a->func_name, b->func_name);
  assert_string_equal(a->cache_key, b->cache_key);
  assert_string_equal(a->call_target, b->call_target);
  assert_string_equal(a->module->warnings, b->module->warnings);
  assert_int_equal(a->module->naliases, b->module->naliases);
  assert_memory_equal(a->module->aliases, b->module->aliases, a->module->naliases * sizeof(IrAlias));
  assert_int_equal(a->nconstants, b->nconstants);
  assert_int_equal(a->nopts, b->nopts);
  assert_int_equal(a->module->nfunc, b->module->nfunc);
  for (uint32_t f = 0; f < a->module->nfunc; f++) {
    assert_int_equal(a->module->func[f]->nins, b->module->func[f]->nins);
    same_nodes(a->module, b->module, f);
    for (uint32_t i = 0; i < a->module->func[f]->nins; i++) {
      Text x = where_of(a, ins_at(a, f, i)), y = where_of(b, ins_at(b, f, i));
      assert_string_equal(text_str(&x), text_str(&y));
      text_free(&x);
      text_free(&y);
    }
  }
}

static void there_and_back(void **state) {
  (void)state;
  Artifact *a = saved_make(0.1);
  Text where = where_of(a, ins_at(a, 0, 1));
  assert_non_null(strstr(text_str(&where), "in the iteration with value -4 of the loop at k.lua:3"));
  assert_non_null(strstr(text_str(&where), "in the iteration with value 3 of the loop at k.lua:2"));
  text_free(&where);
  Text t = saved_bytes(a);
  Saved s;
  const char *why = saved_read(t.data, t.len, &s);
  if (why) fail_msg("%s", why);
  assert_int_equal(s.key.n, sizeof KEY_TEXT - 1);
  assert_memory_equal(s.key.p, KEY_TEXT, s.key.n);
  a->call_target = EMIT_TARGET_TORCH; /* told by the request, as the key does */
  const Artifact *b = saved_artifact(&s, EMIT_TARGET_TORCH, alloc_std, &why);
  if (!b) fail_msg("%s", why);
  same_artifact(a, b);
  Text again = saved_bytes(b);
  assert_int_equal(t.len, again.len);
  assert_memory_equal(t.data, again.data, t.len);
  text_free(&again);
  text_free(&t);
  artifact_release(a);
  artifact_release(b);
}

static const char *read_it(const char *data, size_t n) {
  Saved s;
  char *copy = malloc(n ? n : 1); /* of exactly that size, for the sanitizer */
  memcpy(copy, data, n);
  const char *why = saved_read(copy, n, &s);
  free(copy);
  return why;
}

static void every_byte(void **state) {
  (void)state;
  Artifact *a = saved_make(0.1);
  Text t = saved_bytes(a);
  for (size_t i = 0; i < t.len; i++) {
    char keep = t.data[i];
    for (int byte = 0; byte < 256; byte++) {
      t.data[i] = (char)byte;
      if (t.data[i] != keep && !read_it(t.data, t.len)) fail_msg("byte %zu: a change is not noticed", i);
    }
    t.data[i] = keep;
  }
  assert_null(read_it(t.data, t.len));
  text_free(&t);
  artifact_release(a);
}

static void every_length(void **state) {
  (void)state;
  Artifact *a = saved_make(0.1);
  Text t = saved_bytes(a);
  for (size_t n = 0; n < t.len; n++) assert_non_null(read_it(t.data, n));
  assert_string_equal(read_it(t.data, 20), "is damaged");
  assert_string_equal(read_it(t.data, 3), "is not one of nkilua's");
  size_t whole = t.len;
  text_add(&t, "\0", 1);
  assert_string_equal(read_it(t.data, t.len), "is damaged");
  assert_null(read_it(t.data, whole));
  text_free(&t);
  artifact_release(a);
}

static void splices(void **state) {
  (void)state;
  Artifact *made[2] = {saved_make(0.1), saved_make(0.2)};
  Text t[2] = {saved_bytes(made[0]), saved_bytes(made[1])};
  char *all = malloc(t[0].len + t[1].len);
  for (uint64_t k = 0; k < 5000; k++) {
    const Text *x = &t[k & 1], *y = &t[k >> 1 & 1];
    size_t i = (size_t)(random_bits(1, k) % x->len), j = k & 4 ? i : (size_t)(random_bits(2, k) % y->len);
    if (j > y->len) j = y->len;
    memcpy(all, x->data, i);
    memcpy(all + i, y->data + j, y->len - j);
    size_t n = i + y->len - j;
    bool whole = (n == t[0].len && memcmp(all, t[0].data, n) == 0) || (n == t[1].len && memcmp(all, t[1].data, n) == 0);
    assert_true((read_it(all, n) == NULL) == whole);
  }
  free(all);
  for (int i = 0; i < 2; i++) {
    text_free(&t[i]);
    artifact_release(made[i]);
  }
}

/* Whole, by its checksum, but not what an artifact is made of. */
static void refused(Saved s, const char *want) {
  Text t;
  Saved back;
  const char *why;
  text_init(&t, alloc_std);
  assert_true(saved_write(&t, &s));
  assert_null(saved_read(t.data, t.len, &back));
  assert_null(saved_artifact(&back, EMIT_TARGET_NATIVE, alloc_std, &why));
  assert_string_equal(why, want);
  text_free(&t);
}

static void contents_that_do_not_fit(void **state) {
  (void)state;
  Artifact *a = saved_make(0.1), *other = saved_make(0.2);
  Text t = saved_bytes(a), longer;
  Saved s, bad;
  assert_null(saved_read(t.data, t.len, &s));
  bad = s;
  bad.head.n -= 4;
  refused(bad, "does not read back");
  text_init(&longer, alloc_std);
  text_add(&longer, s.head.p, s.head.n);
  text_putc(&longer, ' '); /* which the reader of JSON takes */
  bad.head = (Span){longer.data, longer.len};
  refused(bad, "does not read back");
  bad = s;
  bad.ir.n -= 4;
  refused(bad, "does not read back");
  bad.ir = (Span){NULL, 0};
  refused(bad, "does not read back");
  bad = s; /* the program of another call, whose constant differs */
  bad.ir = (Span){other->ir, other->ir_len};
  refused(bad, "does not read back");
  bad = s;
  for (bad.trail.n = 0; bad.trail.n < s.trail.n; bad.trail.n++) refused(bad, "does not read back");
  bad = s;
  for (bad.nodes.n = 0; bad.nodes.n < s.nodes.n; bad.nodes.n++) refused(bad, "does not read back");
  text_free(&longer);
  text_free(&t);
  artifact_release(a);
  artifact_release(other);
}

static void another_build_or_format(void **state) {
  (void)state;
  Artifact *a = saved_make(0.1);
  Text t = saved_bytes(a);
  char hex[33], *build = t.data + 24;
  assert_memory_equal(build, fw_build_id, strlen(fw_build_id));
  assert_memory_equal(build, NKILUA_BUILD_VERSION "+", strlen(NKILUA_BUILD_VERSION "+"));
  build[7] ^= 1;
  hash_hex(t.data, t.len - 32, hex);
  memcpy(t.data + t.len - 32, hex, 32);
  assert_string_equal(read_it(t.data, t.len), "is of another nkilua version");
  t.data[8]++;
  assert_string_equal(read_it(t.data, t.len), "has another format");
  text_free(&t);
  artifact_release(a);
}

static void put(const char *path, size_t at, const char *bytes, size_t n) {
  int fd = open(path, O_WRONLY);
  assert_int_equal(pwrite(fd, bytes, n, (off_t)at), n);
  close(fd);
}

/* What is wrong with a large file is said although all behind the first `there` bytes is gone before it is asked for.
 */
static void of_large(const char *path, size_t there, const char *want) {
  FileView v;
  Saved s;
  Diag d;
  diag_init(&d, alloc_std);
  text_init(&v.bytes, alloc_std);
  assert_true(file_view(path, &(FileKind){"it may have", SIZE_MAX, NULL}, &v, &d));
  assert_int_equal(truncate(path, (off_t)there), 0);
  const char *why = saved_read_file(&v.in, &s, &d);
  assert_int_equal(truncate(path, (off_t)v.in.n), 0);
  if (want) assert_string_equal(why, want);
  if (!want) assert_null(why);
  file_view_close(&v);
  diag_free(&d);
}

static void a_large_file_is_read_as_far_as_it_is_ours(void **state) {
  (void)state;
  enum { LARGE = 2 << 20, HEAD = 8 + 8 + 8 };
  char path[] = "/tmp/nk-saved-XXXXXX", *ir = calloc(1, LARGE);
  Text t;
  Diag d;
  diag_init(&d, alloc_std);
  text_init(&t, alloc_std);
  const Saved s = {
      .key = {"key", 3}, .warnings = {"", 0}, .trail = {"", 0}, .nodes = {"", 0}, .head = {"", 0}, .ir = {ir, LARGE}};
  assert_true(saved_write(&t, &s));
  close(mkstemp(path));
  assert_true(file_write(path, t.data, t.len, &d));
  of_large(path, t.len, NULL);
  of_large(path, t.len / 2, "cannot be read"); /* nothing of it is wrong */
  assert_true(file_write(path, t.data, t.len, &d));
  put(path, t.len - 40, "x", 1);
  of_large(path, t.len, "is damaged");
  put(path, t.len, "x", 1);
  of_large(path, t.len / 2, "is damaged"); /* longer than its parts */
  put(path, HEAD, "?", 1);
  of_large(path, HEAD + strlen(fw_build_id), "is of another nkilua version");
  put(path, HEAD - 8, "\377", 1);
  of_large(path, HEAD, "is of another nkilua version");
  put(path, HEAD - 1, "\177", 1);
  of_large(path, HEAD, "is damaged");
  put(path, 8, "?", 1);
  of_large(path, 16, "has another format");
  put(path, 0, "?", 1);
  of_large(path, 16, "is not one of nkilua's");
  unlink(path);
  text_free(&t);
  free(ir);
  diag_free(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(there_and_back),
      cmocka_unit_test(every_byte),
      cmocka_unit_test(every_length),
      cmocka_unit_test(splices),
      cmocka_unit_test(contents_that_do_not_fit),
      cmocka_unit_test(a_large_file_is_read_as_far_as_it_is_ours),
      cmocka_unit_test(another_build_or_format),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
