/* json_test.c -- spec/base: the strict JSON reader. */
#include "json.h"

#include <pthread.h>
#include <stdio.h>

#include "support.h"

typedef struct Parsed {
  Arena a;
  Diag d;
  const Json *v;
} Parsed;

static Parsed parse_n(const char *s, size_t n) {
  Parsed p;
  arena_init(&p.a, alloc_std);
  diag_init(&p.d, alloc_std);
  char *exact = malloc(n ? n : 1); /* its own block: a read behind the end is seen by the sanitizer */
  memcpy(exact, s, n);
  p.v = json_parse(&p.a, exact, n, "doc", &p.d);
  free(exact); /* the result must not need the text */
  return p;
}

static Parsed parse(const char *s) { return parse_n(s, strlen(s)); }

static void done(Parsed *p) {
  arena_free(&p->a);
  diag_free(&p->d);
}

static void refused_n(const char *s, size_t n, const char *message) {
  Parsed p = parse_n(s, n);
  assert_null(p.v);
  assert_int_equal(p.d.id, ERR_json);
  assert_string_equal(diag_message(&p.d), message);
  done(&p);
}

static void refused(const char *s, const char *message) { refused_n(s, strlen(s), message); }

static void every_kind_of_value_is_read(void **state) {
  (void)state;
  Parsed p = parse(
      " {\"n\": null, \"t\": true, \"f\": false, \"i\": -7, \"d\": 1.5,\r\n\t\"s\": \"x\", \"a\": [1, 2], \"o\": {}} ");
  assert_non_null(p.v);
  assert_int_equal(p.v->kind, JSON_OBJECT);
  assert_int_equal(p.v->count, 8);
  assert_null(p.v->key);
  assert_int_equal(json_get(p.v, "n")->kind, JSON_NULL);
  assert_int_equal(json_get(p.v, "t")->kind, JSON_BOOL);
  assert_true(json_get(p.v, "t")->b);
  assert_int_equal(json_get(p.v, "f")->kind, JSON_BOOL);
  assert_false(json_get(p.v, "f")->b);
  assert_int_equal(json_get(p.v, "i")->kind, JSON_INT);
  assert_int_equal(json_get(p.v, "i")->i, -7);
  assert_true(json_get(p.v, "i")->f == -7.0);
  assert_int_equal(json_get(p.v, "d")->kind, JSON_FLOAT);
  assert_true(json_get(p.v, "d")->f == 1.5);
  assert_string_equal(json_get(p.v, "s")->s, "x");
  assert_int_equal(json_get(p.v, "s")->len, 1);
  const Json *a = json_get(p.v, "a");
  assert_int_equal(a->kind, JSON_ARRAY);
  assert_int_equal(a->count, 2);
  assert_int_equal(a->child->i, 1);
  assert_int_equal(a->child->next->i, 2);
  assert_null(a->child->next->next);
  assert_null(a->child->key);
  assert_int_equal(json_get(p.v, "o")->count, 0);
  done(&p);
}

static void a_scalar_may_be_the_whole_text(void **state) {
  (void)state;
  Parsed p = parse("3");
  assert_int_equal(p.v->i, 3);
  done(&p);
  p = parse("\"\"");
  assert_int_equal(p.v->kind, JSON_STRING);
  assert_string_equal(p.v->s, "");
  done(&p);
}

static void keys_keep_their_order_and_case(void **state) {
  (void)state;
  Parsed p = parse("{\"b\":1,\"a\":2,\"B\":3,\"\":4}");
  const char *const order[] = {"b", "a", "B", ""};
  const Json *v = p.v->child;
  for (int i = 0; i < 4; i++, v = v->next) assert_string_equal(v->key, order[i]);
  assert_int_equal(json_get(p.v, "B")->i, 3);
  assert_null(json_get(p.v, "A"));
  assert_null(json_get(json_get(p.v, "a"), "a")); /* not an object */
  done(&p);
}

static void integers_are_exact_over_all_of_int64(void **state) {
  (void)state;
  static const struct {
    const char *s;
    int64_t v;
  } rows[] = {{"0", 0},
              {"9007199254740991", INT64_C(9007199254740991)},
              {"9007199254740992", INT64_C(9007199254740992)},
              {"9007199254740993", INT64_C(9007199254740993)},
              {"-9007199254740993", INT64_C(-9007199254740993)},
              {"9223372036854775807", INT64_MAX},
              {"-9223372036854775808", INT64_MIN},
              {"9223372036854775806", INT64_MAX - 1},
              {"-9223372036854775807", INT64_MIN + 1}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    Parsed p = parse(rows[i].s);
    assert_non_null(p.v);
    assert_int_equal(p.v->kind, JSON_INT);
    assert_true(p.v->i == rows[i].v);
    done(&p);
  }
}

static void numbers_that_are_no_int64_are_floats(void **state) {
  (void)state;
  static const struct {
    const char *s;
    double v;
  } rows[] = {{"9223372036854775808", 9223372036854775808.0},
              {"-9223372036854775809", -9223372036854775808.0},
              {"1.0", 1},
              {"1e0", 1},
              {"-0", -0.0},
              {"-0.0", -0.0},
              {"0.1", 0.1},
              {"1E+2", 100},
              {"0.30000000000000004", 0.1 + 0.2},
              {"5e-324", 0x1p-1074},
              {"1e-999", 0},
              {"1.7976931348623157e308", 1.7976931348623157e308}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    Parsed p = parse(rows[i].s);
    assert_non_null(p.v);
    assert_int_equal(p.v->kind, JSON_FLOAT);
    assert_memory_equal(&p.v->f, &rows[i].v, sizeof(double));
    done(&p);
  }
}

/* Some releases of cJSON read at most 63 characters of a number. */
static void numbers_of_any_length_are_read(void **state) {
  (void)state;
  char s[400] = "[0.";
  memset(s + 3, '3', 300);
  strcpy(s + 303, ",12]");
  Parsed p = parse(s);
  assert_non_null(p.v);
  assert_true(p.v->child->f == 1.0 / 3.0);
  assert_int_equal(p.v->child->next->i, 12);
  done(&p);
}

static void malformed_numbers_are_refused(void **state) {
  (void)state;
  refused("012", "doc: number with a leading zero at offset 0");
  refused("-012", "doc: number with a leading zero at offset 0");
  refused("[00]", "doc: number with a leading zero at offset 1");
  refused("1.", "doc: digit expected at offset 2");
  refused("[1.]", "doc: digit expected at offset 3");
  refused(".5", "doc: unexpected byte at offset 0");
  refused("-", "doc: digit expected at offset 1");
  refused("+1", "doc: unexpected byte at offset 0");
  refused("1e", "doc: digit expected at offset 2");
  refused("1e+", "doc: digit expected at offset 3");
  refused("1-2", "doc: malformed number at offset 0");
  refused("0x10", "doc: malformed number at offset 0");
  refused("1\"a\"", "doc: malformed number at offset 0");
  refused("[1 2]", "doc: syntax error at offset 3");
  refused("1e400", "doc: number too large for a double at offset 0");
  refused("[1,-1e309]", "doc: number too large for a double at offset 3");
  refused("NaN", "doc: unexpected byte at offset 0");
  refused("-Infinity", "doc: digit expected at offset 1");
}

static void escapes_are_decoded(void **state) {
  (void)state;
  Parsed p = parse("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20AC\\ud83d\\ude00\xC3\xA9\"");
  assert_non_null(p.v);
  assert_string_equal(p.v->s, "\"\\/\b\f\n\r\tA\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xC3\xA9");
  assert_int_equal(p.v->len, strlen(p.v->s));
  done(&p);
}

static void bad_strings_are_refused(void **state) {
  (void)state;
  refused("\"a", "doc: string without an end at offset 0");
  refused("\"a\\", "doc: string without an end at offset 0");
  refused("\"a\\\"", "doc: string without an end at offset 0");
  refused("[\"a\nb\"]", "doc: control character in a string at offset 3");
  refused("\"a\tb\"", "doc: control character in a string at offset 2");
  refused("\"\\u12g4\"", "doc: four hex digits expected after \\u at offset 1");
  refused("\"\\u12\"", "doc: four hex digits expected after \\u at offset 1");
  refused("\"a\\u0000b\"", "doc: NUL character in a string at offset 2");
  refused("{\"\\u0000\":1}", "doc: NUL character in a string at offset 2");
  static const char *const others[] = {"\"\\x41\"",    "\"\\ud83d\"",        "\"\\ude00\"",
                                       "\"\\ud83dx\"", "\"\\ud83d\\u0041\"", "'a'"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    Parsed p = parse(others[i]);
    assert_null(p.v);
    assert_int_equal(p.d.id, ERR_json);
    done(&p);
  }
}

static void nul_bytes_and_invalid_utf8_are_refused(void **state) {
  (void)state;
  refused_n("\"a\0b\"", 5, "doc: NUL byte at offset 2");
  refused_n("1\0", 2, "doc: NUL byte at offset 1");
  refused_n("\0", 1, "doc: NUL byte at offset 0");
  refused("\"\xFF\"", "doc: invalid UTF-8 at offset 1");
  refused("[\"\xC0\xAF\"]", "doc: invalid UTF-8 at offset 2");
  refused("\"\xED\xA0\x80\"", "doc: invalid UTF-8 at offset 1");
  refused("\xEF\xBB\xBF{}", "doc: unexpected byte at offset 0"); /* byte order mark */
}

static void structure_is_checked(void **state) {
  (void)state;
  refused("", "doc: the text is empty at offset 0");
  refused(" \n ", "doc: there is nothing but white space at offset 3");
  refused("[1,2", "doc: text ends too early at offset 4");
  refused("{\"a\":", "doc: text ends too early at offset 5");
  refused("1 2", "doc: bytes after the value at offset 2");
  refused("{} x", "doc: unexpected byte at offset 3");
  refused("[]]", "doc: bytes after the value at offset 2");
  refused("truefalse", "doc: bytes after the value at offset 4");
  refused("nul", "doc: unexpected byte at offset 0");
  refused("True", "doc: unexpected byte at offset 0");
  refused("[1,]", "doc: syntax error at offset 3");
  refused("{\"a\" 1}", "doc: syntax error at offset 5");
  static const char *const others[] = {
      "[,1]",     "{1:2}",  "{\"a\":1,}", "{\"a\"}",           "{a:1}",      "[1}", "]",   "}",        ",", ":",
      "/* c */1", "1 // c", "[1,,2]",     "{\"a\":1 \"b\":2}", "{\"a\"::1}", "\v1", "\f1", "1\xC2\xA0"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    Parsed p = parse(others[i]);
    assert_null(p.v);
    assert_int_equal(p.d.id, ERR_json);
    done(&p);
  }
}

static void every_truncation_is_refused(void **state) {
  (void)state;
  static const char s[] = "{\"a\": [1.5e3, true, null, \"x\\u00e9\\n\"], \"b\": {\"c\": -12}}";
  for (size_t n = 0; n < sizeof s - 1; n++) {
    Parsed p = parse_n(s, n);
    assert_null(p.v);
    assert_int_equal(p.d.id, ERR_json);
    done(&p);
  }
  Parsed p = parse(s);
  assert_non_null(p.v);
  done(&p);
}

static void duplicate_keys_are_refused_with_their_place(void **state) {
  (void)state;
  refused("{\"a\":1,\"b\":[2],\"a\":3}", "doc: duplicate key 'a' at offset 15");
  refused("{\"a\":1,\"\\u0061\":3}", "doc: duplicate key 'a' at offset 7");
  refused("[{\"x\":{\"k\":1,\"k\":1}}]", "doc: duplicate key 'k' at offset 13");
  Parsed p = parse("{\"a\":{\"a\":1},\"b\":{\"a\":1}}");
  assert_non_null(p.v);
  done(&p);
}

static void many_keys_are_read_and_a_late_duplicate_is_found(void **state) {
  (void)state;
  Text t;
  text_init(&t, alloc_std);
  text_putc(&t, '{');
  for (int i = 0; i < 100000; i++) text_printf(&t, "\"k%d\":%d,", i, i);
  size_t at = t.len;
  text_puts(&t, "\"k77777\":0}");
  char message[80];
  snprintf(message, sizeof message, "doc: duplicate key 'k77777' at offset %zu", at);
  refused_n(t.data, t.len, message);
  t.data[at + 1] = 'q';
  Parsed p = parse_n(t.data, t.len);
  assert_non_null(p.v);
  assert_int_equal(p.v->count, 100001);
  assert_int_equal(json_get(p.v, "k54321")->i, 54321);
  done(&p);
  text_free(&t);
}

static void depth_ends_at_64(void **state) {
  (void)state;
  char s[200] = "";
  memset(s, '[', 64);
  memset(s + 64, ']', 64);
  Parsed p = parse(s);
  assert_non_null(p.v);
  done(&p);
  memset(s, '[', 65);
  memset(s + 65, ']', 65);
  refused(s, "doc: nested deeper than 64 at offset 64");
  Text t;
  text_init(&t, alloc_std);
  for (int i = 0; i < 100000; i++) text_puts(&t, "{\"a\":[");
  p = parse_n(t.data, t.len);
  assert_null(p.v);
  done(&p);
  text_free(&t);
}

static void many_siblings_do_not_count_as_depth(void **state) {
  (void)state;
  Text t;
  text_init(&t, alloc_std);
  for (int i = 0; i < 1000; i++) text_puts(&t, i ? ",[[]]" : "[[[]]");
  text_putc(&t, ']');
  Parsed p = parse_n(t.data, t.len);
  assert_non_null(p.v);
  assert_int_equal(p.v->count, 1000);
  done(&p);
  text_free(&t);
}

static void *parse_often(void *failures) {
  for (int i = 0; i < 300; i++) {
    Parsed good = parse("{\"a\":[1,2,{\"b\":9007199254740993}]}"), bad = parse("[1,]");
    if (!good.v || json_get(json_get(good.v, "a")->child->next->next, "b")->i != INT64_C(9007199254740993))
      ++*(int *)failures;
    if (bad.v || strcmp(diag_message(&bad.d), "doc: syntax error at offset 3") != 0) ++*(int *)failures;
    done(&good);
    done(&bad);
  }
  return NULL;
}

static void threads_may_parse_at_the_same_time(void **state) {
  (void)state;
  pthread_t thread[4];
  int failures[4] = {0};
  for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&thread[i], NULL, parse_often, &failures[i]), 0);
  for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
  for (int i = 0; i < 4; i++) assert_int_equal(failures[i], 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kind_of_value_is_read),
      cmocka_unit_test(a_scalar_may_be_the_whole_text),
      cmocka_unit_test(keys_keep_their_order_and_case),
      cmocka_unit_test(integers_are_exact_over_all_of_int64),
      cmocka_unit_test(numbers_that_are_no_int64_are_floats),
      cmocka_unit_test(numbers_of_any_length_are_read),
      cmocka_unit_test(malformed_numbers_are_refused),
      cmocka_unit_test(escapes_are_decoded),
      cmocka_unit_test(bad_strings_are_refused),
      cmocka_unit_test(nul_bytes_and_invalid_utf8_are_refused),
      cmocka_unit_test(structure_is_checked),
      cmocka_unit_test(every_truncation_is_refused),
      cmocka_unit_test(duplicate_keys_are_refused_with_their_place),
      cmocka_unit_test(many_keys_are_read_and_a_late_duplicate_is_found),
      cmocka_unit_test(depth_ends_at_64),
      cmocka_unit_test(many_siblings_do_not_count_as_depth),
      cmocka_unit_test(threads_may_parse_at_the_same_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
