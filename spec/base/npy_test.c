/* npy_test.c -- spec/base: .npy files, those that NumPy 2 wrote (as base64) and those cut or changed by hand. */
#include <stdio.h>

#include "npy_files.h"

/* numpy.arange(6, dtype="<f4").reshape(2, 3) in versions 1, 2, 3 and in Fortran order */
#define F4_BODY                                                                                              \
  "eydkZXNjcic6ICc8ZjQnLCAnZm9ydHJhbl9vcmRlcic6IEZhbHNlLCAnc2hhcGUnOiAoMiwgMyksIH0gICAgICAgICAgICAgICAgICAg" \
  "ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAAAAAAACAPwAAAEAAAEBAAACAQAAAoEA="
static const char V2[] = "k05VTVBZAgB0AAAA" F4_BODY;
static const char V3[] = "k05VTVBZAwB0AAAA" F4_BODY;
static const char V1[] =
    "k05VTVBZAQB2AHsnZGVzY3InOiAnPGY0JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDIsIDMpLCB9ICAgICAgICAgICAgICAg"
    "ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAAAAAAACAPwAAAEAAAEBAAACAQAAAoEA=";
static const char FORTRAN[] =
    "k05VTVBZAQB2AHsnZGVzY3InOiAnPGY0JywgJ2ZvcnRyYW5fb3JkZXInOiBUcnVlLCAnc2hhcGUnOiAoMiwgMyksIH0gICAgICAgICAgICAgICAg"
    "ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAAAAAAABAQAAAgD8AAIBAAAAAQAAAoEA=";
/* array([1, 2, 3], ">i2"), array(7, "<i8"), zeros((0, 5), "|u1"), array(["ab", "c"]) */
static const char BIG[] =
    "k05VTVBZAQB2AHsnZGVzY3InOiAnPmkyJywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDMsKSwgfSAgICAgICAgICAgICAgICAg"
    "ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAAQACAAM=";
static const char SCALAR[] =
    "k05VTVBZAQB2AHsnZGVzY3InOiAnPGk4JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKCksIH0gICAgICAgICAgICAgICAgICAg"
    "ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoHAAAAAAAAAA==";
static const char EMPTY[] =
    "k05VTVBZAQB2AHsnZGVzY3InOiAnfHUxJywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDAsIDUpLCB9ICAgICAgICAgICAgICAg"
    "ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAo=";
static const char UNICODE_TEXT[] =
    "k05VTVBZAQB2AHsnZGVzY3InOiAnPFUyJywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDIsKSwgfSAgICAgICAgICAgICAgICAg"
    "ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAphAAAAYgAAAGMAAAAAAAAA";
/* array([None, "x"], dtype=object); zeros(2, [("a", "<f4"), ("b", "<i4")]) */
static const char PICKLE[] =
    "k05VTVBZAQB2AHsnZGVzY3InOiAnfE8nLCAnZm9ydHJhbl9vcmRlcic6IEZhbHNlLCAnc2hhcGUnOiAoMiwpLCB9ICAgICAgICAgICAgICAgICAg"
    "ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAqABJWPAAAAAAAAAIwWbnVtcHkuX2NvcmUubXVsdGlhcnJheZSMDF9y"
    "ZWNvbnN0cnVjdJSTlIwFbnVtcHmUjAduZGFycmF5lJOUSwCFlEMBYpSHlFKUKEsBSwKFlGgDjAVkdHlwZZSTlIwCTziUiYiHlFKUKEsDjAF8lE5O"
    "Tkr/////Sv////9LP3SUYoldlChOjAF4lGV0lGIu";
static const char STRUCTURED[] =
    "k05VTVBZAQB2AHsnZGVzY3InOiBbKCdhJywgJzxmNCcpLCAoJ2InLCAnPGk0JyldLCAnZm9ydHJhbl9vcmRlcic6IEZhbHNlLCAnc2hhcGUnOiAo"
    "MiwpLCB9ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAAAAAAAAAAAAAAAAAAAAA";
static bool parse(File *f) {
  diag_clear(&f->d);
  return npy_parse(&(FileIn){"a.npy", f->bytes, f->n, NULL}, &f->array, &f->d);
}

static void versions_1_2_and_3_are_read(void **state) {
  (void)state;
  const char *const codes[] = {V1, V2, V3};
  for (int i = 0; i < 3; i++) {
    File f = open_base64(codes[i]);
    assert_true(parse(&f));
    assert_null(f.array.name);
    assert_string_equal(f.array.descr, "<f4");
    assert_false(f.array.fortran_order);
    assert_int_equal(f.array.rank, 2);
    assert_int_equal(f.array.shape[0], 2);
    assert_int_equal(f.array.shape[1], 3);
    assert_int_equal(f.array.itemsize, 4);
    assert_int_equal(f.array.nbytes, 24);
    float values[6];
    memcpy(values, f.array.data, sizeof values);
    for (int k = 0; k < 6; k++) assert_true(values[k] == (float)k);
    close_file(&f);
  }
}

static void other_layouts_are_read(void **state) {
  (void)state;
  File f = open_base64(FORTRAN);
  assert_true(parse(&f));
  assert_true(f.array.fortran_order);
  close_file(&f);
  f = open_base64(BIG);
  assert_true(parse(&f));
  assert_string_equal(f.array.descr, ">i2");
  assert_int_equal(f.array.rank, 1);
  assert_memory_equal(f.array.data, "\0\1\0\2\0\3", 6);
  close_file(&f);
  f = open_base64(SCALAR);
  assert_true(parse(&f));
  assert_int_equal(f.array.rank, 0);
  assert_int_equal(f.array.nbytes, 8);
  close_file(&f);
  f = open_base64(EMPTY);
  assert_true(parse(&f));
  assert_int_equal(f.array.rank, 2);
  assert_int_equal(f.array.shape[1], 5);
  assert_int_equal(f.array.nbytes, 0);
  close_file(&f);
  f = open_base64(UNICODE_TEXT);
  assert_true(parse(&f));
  assert_int_equal(f.array.itemsize, 8);
  close_file(&f);
}

static void objects_and_structs_are_refused(void **state) {
  (void)state;
  File f = open_base64(PICKLE);
  assert_false(parse(&f));
  assert_int_equal(f.d.id, ERR_npy_format);
  assert_string_equal(diag_message(&f.d), "a.npy: pickled objects are not supported (offset 20)");
  close_file(&f);
  f = open_base64(STRUCTURED);
  assert_false(parse(&f));
  assert_string_equal(diag_message(&f.d), "a.npy: structured dtypes are not supported (offset 20)");
  close_file(&f);
}

/* A version 1 file with this dict, then n zero bytes. */
static File with_dict(const char *dict, size_t n) {
  Text t;
  text_init(&t, alloc_std);
  text_add(&t, "\x93NUMPY\1\0", 8);
  text_putc(&t, (char)(strlen(dict) & 0xFF));
  text_putc(&t, (char)(strlen(dict) >> 8));
  text_puts(&t, dict);
  for (size_t i = 0; i < n; i++) text_putc(&t, '\0');
  File f = open_bytes(t.data, t.len);
  text_free(&t);
  return f;
}

static void the_header_is_read_as_python_writes_it(void **state) {
  (void)state;
  static const char *const dicts[] = {
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n",
      "{\"shape\":(2,),\"fortran_order\":False,\"descr\":\"<f4\"}",
      "  { 'fortran_order' : False , 'shape' : ( 2 , ) , 'descr' : '<f4' }  \n",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2L,)}\n",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1)}\n",
  };
  for (size_t i = 0; i < sizeof dicts / sizeof *dicts; i++) {
    File f = with_dict(dicts[i], 8);
    assert_true(parse(&f));
    assert_int_equal(f.array.nbytes, 8);
    assert_int_equal(f.array.shape[0], 2);
    close_file(&f);
  }
}

static void descriptors_tell_the_size_of_an_element(void **state) {
  (void)state;
  static const struct {
    const char *descr;
    int64_t size;
  } rows[] = {{"|b1", 1},   {"|u1", 1},      {"<f2", 2},           {"<V2", 2}, {"|V1", 1}, {"<f1", 1}, {"<f8", 8},
              {"<c16", 16}, {"bfloat16", 2}, {"float8_e4m3fn", 1}, {"|S7", 7}, {"f4", 4},  {"=i8", 8}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char dict[120];
    snprintf(dict, sizeof dict, "{'descr': '%s', 'fortran_order': False, 'shape': ()}", rows[i].descr);
    File f = with_dict(dict, (size_t)rows[i].size);
    assert_true(parse(&f));
    assert_int_equal(f.array.itemsize, rows[i].size);
    assert_string_equal(f.array.descr, rows[i].descr);
    close_file(&f);
  }
}

static void bad_headers_are_refused_with_their_reason(void **state) {
  (void)state;
#define REST ", 'fortran_order': False, 'shape': ()}"
  static const struct {
    const char *dict, *reason;
  } rows[] = {
      {"", "header is not a dict (offset 10)"},
      {"['descr']", "header is not a dict (offset 10)"},
      {"{}", "header lacks descr, fortran_order or shape (offset 12)"},
      {"{'descr': '<f4', 'shape': ()}", "header lacks descr, fortran_order or shape (offset 39)"},
      {"{'descr': '<f4', 'descr': '<f4'" REST, "key occurs twice in the header (offset 27)"},
      {"{'descr': '<f4', 'extra': 1" REST, "unknown key in the header (offset 27)"},
      {"{'descr': '<f4' 'shape': ()}", "',' or '}' expected in the header (offset 26)"},
      {"{'descr' '<f4'" REST, "':' expected in the header (offset 19)"},
      {"{'descr: '<f4'" REST, "unknown key in the header (offset 11)"},
      {"{'descr", "string without an end in the header (offset 12)"},
      {"{'descr': '<f4'" REST " x", "bytes after the header's dict (offset 64)"},
      {"{'descr': '<f4'" REST "\n\x01", "bytes after the header's dict (offset 64)"},
      {"{'descr': ''" REST, "unknown descr (offset 20)"},
      {"{'descr': '<q4'" REST, "unknown descr (offset 20)"},
      {"{'descr': '<f'" REST, "unknown descr (offset 20)"},
      {"{'descr': '<f0'" REST, "unknown descr (offset 20)"},
      {"{'descr': '<f4x'" REST, "unknown descr (offset 20)"},
      {"{'descr': '<f9999999999'" REST, "unknown descr (offset 20)"},
      {"{'descr': 'float32'" REST, "unknown descr (offset 20)"},
      {"{'descr': '<M8[ns]'" REST, "unknown descr (offset 20)"},
      {"{'descr': '<f4aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'" REST, "unknown descr (offset 20)"},
      {"{'descr': '<\\x664'" REST, "string without an end in the header (offset 21)"},
      {"{'descr': 4" REST, "quoted string expected in the header (offset 20)"},
      {"{'descr': ('<f4', (2,))" REST, "structured dtypes are not supported (offset 20)"},
      {"{'descr': '<f4', 'fortran_order': 1, 'shape': ()}", "fortran_order is not True or False (offset 44)"},
      {"{'descr': '<f4', 'fortran_order': Fals", "fortran_order is not True or False (offset 44)"},
      {"{'shape': 3}", "shape is not a tuple (offset 20)"},
      {"{'shape': (3)}", "shape is not a tuple (offset 23)"},
      {"{'shape': (3, -1)}", "non-negative integer expected in shape (offset 24)"},
      {"{'shape': (,)}", "non-negative integer expected in shape (offset 21)"},
      {"{'shape': (2.5,)}", "',' or ')' expected in shape (offset 22)"},
      {"{'shape': (2 3)}", "',' or ')' expected in shape (offset 23)"},
      {"{'shape': (2,", "non-negative integer expected in shape (offset 23)"},
      {"{'shape': (9223372036854775808,)}", "dimension too large (offset 21)"},
      {"{'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}",
       "more than 32 dimensions (offset 85)"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807,)}", "shape is too large (offset 83)"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (4294967296, 4294967296, 0)}",
       "shape is too large (offset 88)"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (0, 4294967296, 4294967296)}",
       "shape is too large (offset 88)"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char expected[120];
    snprintf(expected, sizeof expected, "a.npy: %s", rows[i].reason);
    File f = with_dict(rows[i].dict, 0);
    assert_false(parse(&f));
    assert_int_equal(f.d.id, ERR_npy_format);
    assert_string_equal(diag_message(&f.d), expected);
    close_file(&f);
  }
}

static void thirty_two_dimensions_are_read(void **state) {
  (void)state;
  File f = with_dict(
      "{'descr': '|u1', 'fortran_order': False, 'shape': "
      "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2)}",
      2);
  assert_true(parse(&f));
  assert_int_equal(f.array.rank, 32);
  assert_int_equal(f.array.shape[31], 2);
  close_file(&f);
}

static void wrong_magic_and_versions_are_refused(void **state) {
  (void)state;
  File f = open_base64(V1);
  f.bytes[0] = 'N';
  assert_false(parse(&f));
  assert_string_equal(diag_message(&f.d), "a.npy: not a .npy file (offset 0)");
  f.bytes[0] = '\x93';
  static const char versions[][2] = {{0, 0}, {4, 0}, {1, 1}, {-1, 0}};
  for (int i = 0; i < 4; i++) {
    memcpy(f.bytes + 6, versions[i], 2);
    assert_false(parse(&f));
    assert_string_equal(diag_message(&f.d), "a.npy: unknown .npy version (offset 6)");
  }
  close_file(&f);
}

static void every_truncation_and_one_byte_more_are_refused(void **state) {
  (void)state;
  const char *const codes[] = {V1, V2, V3, SCALAR, EMPTY};
  for (int i = 0; i < 5; i++) {
    File whole = open_base64(codes[i]);
    for (size_t n = 0; n < whole.n; n++) {
      File f = open_bytes(whole.bytes, n);
      assert_false(parse(&f));
      assert_int_equal(f.d.id, ERR_npy_format);
      close_file(&f);
    }
    char *more = calloc(1, whole.n + 1);
    memcpy(more, whole.bytes, whole.n);
    File f = open_bytes(more, whole.n + 1);
    assert_false(parse(&f));
    char expected[80];
    snprintf(expected, sizeof expected, "a.npy: bytes after the data (offset %zu)", whole.n);
    assert_string_equal(diag_message(&f.d), expected);
    free(more);
    close_file(&f);
    close_file(&whole);
  }
}

static void a_written_file_is_byte_equal_to_numpys(void **state) {
  (void)state;
  static const float values[6] = {0, 1, 2, 3, 4, 5};
  static const int64_t seven = 7;
  const NpyArray arrays[] = {
      {.descr = "<f4", .rank = 2, .shape = {2, 3}, .data = (const char *)values, .nbytes = sizeof values},
      {.descr = "<i8", .rank = 0, .data = (const char *)&seven, .nbytes = sizeof seven},
      {.descr = "|u1", .rank = 2, .shape = {0, 5}}};
  const char *const numpys[] = {V1, SCALAR, EMPTY};
  Text t;
  text_init(&t, alloc_std);
  for (int i = 0; i < 3; i++) {
    File f = open_base64(numpys[i]);
    text_clear(&t);
    npy_write(&t, &arrays[i]);
    assert_int_equal(t.len, f.n);
    assert_memory_equal(t.data, f.bytes, f.n);
    close_file(&f);
  }
  text_free(&t);
}

static void written_data_starts_at_a_multiple_of_64(void **state) {
  (void)state;
  for (int32_t rank = 0; rank <= NPY_MAX_RANK; rank++) {
    NpyArray array = {.descr = "<f4", .rank = rank == 1 ? 2 : rank, .data = "\0\0\0", .nbytes = rank ? 0 : 4};
    for (int i = 0; i < NPY_MAX_RANK; i++) array.shape[i] = i % 2 ? 1 : 0;
    array.shape[0] = INT64_C(1000000000000);
    array.shape[1] = 0;
    Text t;
    text_init(&t, alloc_std);
    npy_write(&t, &array);
    File f = open_bytes(t.data, t.len);
    assert_true(parse(&f));
    assert_int_equal((f.array.data - f.bytes) % 64, 0);
    assert_memory_equal(f.array.shape, array.shape, (size_t)f.array.rank * sizeof *array.shape);
    close_file(&f);
    text_free(&t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(versions_1_2_and_3_are_read),
      cmocka_unit_test(other_layouts_are_read),
      cmocka_unit_test(objects_and_structs_are_refused),
      cmocka_unit_test(the_header_is_read_as_python_writes_it),
      cmocka_unit_test(descriptors_tell_the_size_of_an_element),
      cmocka_unit_test(bad_headers_are_refused_with_their_reason),
      cmocka_unit_test(thirty_two_dimensions_are_read),
      cmocka_unit_test(wrong_magic_and_versions_are_refused),
      cmocka_unit_test(every_truncation_and_one_byte_more_are_refused),
      cmocka_unit_test(a_written_file_is_byte_equal_to_numpys),
      cmocka_unit_test(written_data_starts_at_a_multiple_of_64),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
