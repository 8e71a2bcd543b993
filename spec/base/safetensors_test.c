/* safetensors_test.c -- spec/base: what is written reads back; holes, overlaps, wrong sizes, duplicates and truncations
 * are refused. */
#include "safetensors.h"

#include "support.h"

static Text file_of(const char *header, const char *data) {
  Text t;
  text_init(&t, alloc_std);
  size_t n = strlen(header);
  for (int i = 0; i < 8; i++) text_putc(&t, (char)(n >> (8 * i)));
  text_puts(&t, header);
  text_puts(&t, data);
  return t;
}

static bool parses(const char *bytes, size_t n, uint32_t *count) {
  Arena a;
  Diag d;
  SafeTensor *list;
  arena_init(&a, alloc_std);
  diag_init(&d, alloc_std);
  bool ok = safetensors_parse(&a, &(FileIn){"w.safetensors", bytes, n, NULL}, &list, count, &d);
  assert_int_equal(ok, d.id == ERR_none);
  diag_free(&d);
  arena_free(&a);
  return ok;
}

static bool accepts(const char *header, const char *data) {
  Text t = file_of(header, data);
  uint32_t count;
  bool ok = parses(t.data, t.len, &count);
  text_free(&t);
  return ok;
}

static void written_file_reads_back(void **state) {
  (void)state;
  SafeTensor in[2] = {{.name = "a", .dtype = "BF16", .rank = 2, .shape = {2, 3}, .data = "abcdefghijkl", .nbytes = 12},
                      {.name = "s", .dtype = "F32", .rank = 0, .data = "wxyz", .nbytes = 4}};
  Text t;
  text_init(&t, alloc_std);
  safetensors_write(&t, in, 2);
  Arena a;
  Diag d;
  SafeTensor *out;
  uint32_t count;
  arena_init(&a, alloc_std);
  diag_init(&d, alloc_std);
  assert_true(safetensors_parse(&a, &(FileIn){"f", t.data, t.len, NULL}, &out, &count, &d));
  assert_int_equal(count, 2);
  assert_string_equal(out[0].name, "a");
  assert_string_equal(out[0].dtype, "BF16");
  assert_int_equal(out[0].shape[1], 3);
  assert_memory_equal(out[0].data, "abcdefghijkl", 12);
  assert_int_equal(out[1].rank, 0);
  assert_memory_equal(out[1].data, "wxyz", 4);
  for (size_t cut = 0; cut < t.len; cut++) assert_false(parses(t.data, cut, &count));
  text_free(&t);
  diag_free(&d);
  arena_free(&a);
}

static void faulty_headers_are_refused(void **state) {
  (void)state;
  assert_true(accepts("{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}", "xy"));
  assert_true(
      accepts("{\"__metadata__\":{\"k\":\"v\"},\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}", "xy"));
  assert_false(accepts("{\"__metadata__\":{\"k\":1}}", ""));
  assert_false(accepts("{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,3]}}", "xyz")); /* hole */
  assert_false(accepts("{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}", "xyz")); /* tail */
  assert_false(accepts("{\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,2]}}", "xy"));  /* size */
  assert_false(accepts("{\"a\":{\"dtype\":\"Q8\",\"shape\":[2],\"data_offsets\":[0,2]}}", "xy"));  /* dtype */
  assert_false(accepts("{\"a\":{\"dtype\":\"U8\",\"shape\":[-2],\"data_offsets\":[0,2]}}", "xy"));
  assert_false(accepts("{\"a\":{\"dtype\":\"U8\",\"shape\":[2.0],\"data_offsets\":[0,2]}}", "xy"));
  assert_false(accepts("{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904,2],\"data_offsets\":[0,0]}}", ""));
  assert_false(
      accepts("{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
              "\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}",
              "xy")); /* duplicate */
  assert_false(
      accepts("{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
              "\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,3]}}",
              "xyz")); /* overlap */
}

static void the_header_may_have_any_order(void **state) {
  (void)state;
  Text t = file_of(
      "{\"late\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,3]},"
      "\"none\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[1,1]},"
      "\"early\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}",
      "xyz");
  Arena a;
  Diag d;
  SafeTensor *out;
  uint32_t count;
  arena_init(&a, alloc_std);
  diag_init(&d, alloc_std);
  assert_true(safetensors_parse(&a, &(FileIn){"f", t.data, t.len, NULL}, &out, &count, &d));
  assert_int_equal(count, 3);
  assert_string_equal(out[0].name, "early");
  assert_string_equal(out[1].name, "none");
  assert_string_equal(out[2].name, "late");
  assert_memory_equal(out[2].data, "yz", 2);
  text_free(&t);
  diag_free(&d);
  arena_free(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(written_file_reads_back),
                                     cmocka_unit_test(faulty_headers_are_refused),
                                     cmocka_unit_test(the_header_may_have_any_order)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
