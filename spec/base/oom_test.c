/* oom_test.c -- spec/base: every function of the room, with its n-th allocation failing, for all n. Whatever fails says
   err_nomem, gives everything back, and never yields a wrong result. */
#include "arena.h"
#include "base64.h"
#include "file.h"
#include "json.h"
#include "npy_files.h"

/* Does the work with this allocator; true when it succeeded, and then its result has been checked. */
typedef bool Work(Alloc alloc, Diag *d);

static void sweep(Work *work) {
  for (int once = 0; once <= 1; once++) {
    long n = 0;
    bool ok = false;
    for (; !ok && n < 10000; n++) {
      Ration r = {.left = n, .once = once};
      Diag d;
      diag_init(&d, once ? alloc_std : ration_alloc(&r)); /* also with a Diag that cannot store its message */
      ok = work(ration_alloc(&r), &d);
      if (!ok) assert_int_equal(d.id, ERR_nomem);
      if (!ok) assert_string_equal(diag_message(&d), "out of memory");
      if (ok) assert_int_equal(d.id, ERR_none);
      diag_free(&d);
      assert_int_equal(r.live, 0);
      assert_false(r.wrong);
    }
    assert_true(ok);
    assert_true(n > 1); /* at least one allocation was refused */
  }
}

static bool read_json(Alloc alloc, Diag *d) {
  Text t;
  text_init(&t, alloc_std);
  text_putc(&t, '[');
  for (int i = 0; i < 40; i++) text_printf(&t, "{\"a\": [1, 2.5, \"x\\n\", null], \"key%d\": {\"k\": %d}},", i, i);
  text_puts(&t, "true]");
  Arena a;
  arena_init(&a, alloc);
  const Json *v = json_parse(&a, t.data, t.len, "doc", d);
  if (v) assert_int_equal(json_get(json_get(v->child, "key0"), "k")->i, 0);
  bool ok = v != NULL;
  arena_free(&a);
  text_free(&t);
  return ok;
}

static void json_reading(void **state) {
  (void)state;
  sweep(read_json);
}

static bool refuse_json(Alloc alloc, Diag *d) {
  Arena a;
  arena_init(&a, alloc);
  static const char s[] = "{\"duplicate\": 1, \"duplicate\": 2}";
  assert_null(json_parse(&a, s, sizeof s - 1, "doc", d));
  bool found = d->id == ERR_json;
  if (found) assert_string_equal(diag_message(d), "doc: duplicate key 'duplicate' at offset 17");
  arena_free(&a);
  diag_clear(d);
  if (!found) DIAG0(d, nomem);
  return found;
}

static void json_refusing(void **state) {
  (void)state;
  sweep(refuse_json);
}

static void put_json(Text *t) {
  JsonWriter w = {.out = t};
  json_begin(&w, '[');
  for (int i = 0; i < 100; i++) {
    json_int(&w, i);
    json_double(&w, 0.1);
    json_string(&w, "bad \xFF byte\n", 11);
  }
  json_end(&w, ']');
}

static bool write_json(Alloc alloc, Diag *d) {
  Text t, good;
  text_init(&t, alloc);
  text_init(&good, alloc_std);
  put_json(&t);
  put_json(&good);
  bool ok = !t.oom;
  if (ok) assert_text(&t, good.data);
  text_free(&t);
  text_free(&good);
  return ok || DIAG0(d, nomem);
}

static void json_writing(void **state) {
  (void)state;
  sweep(write_json);
}

static bool code_base64(Alloc alloc, Diag *d) {
  Text code, plain;
  text_init(&code, alloc);
  text_init(&plain, alloc);
  char data[3000];
  memset(data, 7, sizeof data);
  base64_encode(&code, data, sizeof data);
  bool ok = !code.oom || DIAG0(d, nomem);
  if (ok) ok = base64_decode(&plain, text_str(&code), code.len, d);
  if (ok) assert_memory_equal(plain.data, data, sizeof data);
  text_free(&code);
  text_free(&plain);
  return ok;
}

static void base64_both_ways(void **state) {
  (void)state;
  sweep(code_base64);
}

static const float values[6] = {0, 1, 2, 3, 4, 5};

static bool write_npz(Alloc alloc, Diag *d) {
  NpyArray in[2] = {
      {.name = "a", .descr = "<f4", .rank = 1, .shape = {6}, .data = (const char *)values, .nbytes = 24},
      {.name = "b", .descr = "<f4", .rank = 2, .shape = {2, 3}, .data = (const char *)values, .nbytes = 24}};
  Text t, good;
  text_init(&good, alloc_std);
  npz_write(&good, in, 2);
  text_init(&t, alloc);
  npz_write(&t, in, 2);
  bool ok = !t.oom;
  if (ok) assert_int_equal(t.len, good.len);
  if (ok) assert_memory_equal(t.data, good.data, good.len);
  text_free(&t);
  text_free(&good);
  return ok || DIAG0(d, nomem);
}

static void npz_writing(void **state) {
  (void)state;
  sweep(write_npz);
}

static bool read_npz(Alloc alloc, Diag *d) {
  Text file;
  Arena a;
  Diag none;
  text_init(&file, alloc_std);
  diag_init(&none, alloc_std);
  arena_init(&a, alloc);
  assert_true(base64_decode(&file, DEFLATED, sizeof DEFLATED - 1, &none));
  NpyArray *arrays;
  uint32_t count;
  bool ok = npz_parse(&a, &(FileIn){"w.npz", file.data, file.len, NULL}, &arrays, &count, d);
  if (ok) assert_int_equal(arrays[0].nbytes, 4000);
  arena_free(&a);
  text_free(&file);
  diag_free(&none);
  return ok;
}

static void npz_reading(void **state) {
  (void)state;
  sweep(read_npz);
}

static bool read_file(Alloc alloc, Diag *d) {
  Text t;
  text_init(&t, alloc);
  bool ok = file_read("/proc/self/status", &t, d);
  if (ok) assert_non_null(strstr(t.data, "Pid:"));
  text_free(&t);
  return ok;
}

static void file_reading(void **state) {
  (void)state;
  sweep(read_file);
}

static bool fill_diag(Alloc alloc, Diag *d) {
  Diag mine, copy;
  diag_init(&mine, alloc);
  diag_init(&copy, alloc);
  DIAG(&mine, file_open, "a file with a rather long name, so that the text has to grow more than once", "why");
  diag_note(&mine, "%s", "and a note");
  diag_copy(&copy, &mine);
  bool ok = !mine.message.oom && !mine.notes.oom && !copy.message.oom && !copy.notes.oom;
  assert_int_equal(mine.id, mine.message.oom ? ERR_nomem : ERR_file_open);
  if (ok) assert_string_equal(diag_message(&copy), diag_message(&mine));
  diag_free(&mine);
  diag_free(&copy);
  return ok || DIAG0(d, nomem);
}

static void diags(void **state) {
  (void)state;
  sweep(fill_diag);
}

static bool fill_arena(Alloc alloc, Diag *d) {
  Arena a;
  arena_init(&a, alloc);
  int *v = NULL;
  uint32_t cap = 0, count = 0;
  for (int i = 0; i < 5000; i++)
    if (arena_push(&a, v, cap, count)) v[count++] = i;
  char *s = arena_printf(&a, "%5000d", 1);
  bool ok = !a.oom;
  if (ok) assert_int_equal(v[4999], 4999);
  if (ok) assert_int_equal(strlen(s), 5000);
  arena_free(&a);
  return ok || DIAG0(d, nomem);
}

static void arenas(void **state) {
  (void)state;
  sweep(fill_arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(json_reading),     cmocka_unit_test(json_refusing),
      cmocka_unit_test(json_writing),     cmocka_unit_test(npz_reading),
      cmocka_unit_test(base64_both_ways), cmocka_unit_test(npz_writing),
      cmocka_unit_test(file_reading),     cmocka_unit_test(diags),
      cmocka_unit_test(arenas),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
