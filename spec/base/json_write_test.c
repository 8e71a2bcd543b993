/* json_write_test.c -- spec/base: the JSON writer, compact and indented. */
#include <math.h>

#include "json.h"
#include "support.h"

static void commas_are_put_where_needed(void **state) {
  (void)state;
  Text t;
  text_init(&t, alloc_std);
  JsonWriter w = {.out = &t};
  json_begin(&w, '{');
  json_key(&w, "a");
  json_int(&w, 1);
  json_key(&w, "b");
  json_begin(&w, '[');
  json_begin(&w, '[');
  json_end(&w, ']');
  json_begin(&w, '{');
  json_end(&w, '}');
  json_null(&w);
  json_bool(&w, true);
  json_bool(&w, false);
  json_cstr(&w, "s");
  json_double(&w, 0.5);
  json_double(&w, (double)NAN);
  json_end(&w, ']');
  json_key(&w, "c");
  json_begin(&w, '{');
  json_key(&w, "d");
  json_cstr(&w, "");
  json_end(&w, '}');
  json_end(&w, '}');
  assert_text(&t, "{\"a\":1,\"b\":[[],{},null,true,false,\"s\",0.5,\"NaN\"],\"c\":{\"d\":\"\"}}");
  text_free(&t);
}

static void integers_beyond_2_to_53_are_strings(void **state) {
  (void)state;
  Text t;
  text_init(&t, alloc_std);
  JsonWriter w = {.out = &t};
  const int64_t two53 = INT64_C(9007199254740992);
  json_begin(&w, '[');
  json_int(&w, two53 - 1);
  json_int(&w, two53);
  json_int(&w, two53 + 1);
  json_int(&w, -two53);
  json_int(&w, -two53 - 1);
  json_int(&w, INT64_MAX);
  json_int(&w, INT64_MIN);
  json_end(&w, ']');
  assert_text(&t,
              "[9007199254740991,9007199254740992,\"9007199254740993\",-9007199254740992,\"-9007199254740993\","
              "\"9223372036854775807\",\"-9223372036854775808\"]");
  text_free(&t);
}

static void doubles_are_shortest_and_non_finite_ones_strings(void **state) {
  (void)state;
  Text t;
  text_init(&t, alloc_std);
  JsonWriter w = {.out = &t};
  json_begin(&w, '[');
  const double values[] = {0.1 + 0.2, 1, -0.0, 1e30, (double)INFINITY, -(double)INFINITY, (double)NAN, -(double)NAN};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) json_double(&w, values[i]);
  json_end(&w, ']');
  assert_text(&t, "[0.30000000000000004,1.0,-0.0,1.0e+30,\"Infinity\",\"-Infinity\",\"NaN\",\"NaN\"]");
  text_free(&t);
}

static void strings_are_escaped(void **state) {
  (void)state;
  Text t;
  text_init(&t, alloc_std);
  JsonWriter w = {.out = &t};
  assert_true(json_cstr(&w, "a\"b\\c/\b\f\n\r\t\x01\x1f\x7f\xC3\xA9"));
  assert_text(&t, "\"a\\\"b\\\\c/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\xC3\xA9\"");
  text_free(&t);
}

static void a_string_that_is_no_utf8_text_is_reported(void **state) {
  (void)state;
  Text t;
  text_init(&t, alloc_std);
  JsonWriter w = {.out = &t};
  assert_false(json_string(&w, "a\xFF\xC3\"b\x80", 6));
  assert_text(&t, "\"a\xEF\xBF\xBD\xEF\xBF\xBD\\\"b\xEF\xBF\xBD\"");
  text_clear(&t);
  w.need_comma = false;
  assert_false(json_string(&w, "a\0b", 3));
  assert_text(&t, "\"a\\u0000b\"");
  text_free(&t);
}

static void what_is_written_is_read_back(void **state) {
  (void)state;
  Text t;
  Arena a;
  Diag d;
  text_init(&t, alloc_std);
  arena_init(&a, alloc_std);
  diag_init(&d, alloc_std);
  JsonWriter w = {.out = &t};
  char all[256];
  size_t n = 0;
  for (char c = 1; c > 0 && c < 127; c++) all[n++] = c;
  json_begin(&w, '[');
  assert_true(json_string(&w, all, n));
  uint64_t seed = 99;
  double values[500];
  for (int i = 0; i < 500; i++) {
    do {
      uint64_t bits = next_random(&seed);
      memcpy(&values[i], &bits, sizeof bits);
    } while (!isfinite(values[i]));
    json_double(&w, values[i]);
  }
  json_end(&w, ']');
  const Json *v = json_parse(&a, t.data, t.len, "doc", &d);
  assert_non_null(v);
  assert_int_equal(v->child->len, n);
  assert_memory_equal(v->child->s, all, n);
  const Json *e = v->child->next;
  for (int i = 0; i < 500; i++, e = e->next) assert_true(e->f == values[i]);
  text_free(&t);
  arena_free(&a);
  diag_free(&d);
}

static void pretty_indents_by_two_and_keeps_scalars_on_a_line(void **state) {
  (void)state;
  Text t;
  Arena a;
  Diag d;
  text_init(&t, alloc_std);
  arena_init(&a, alloc_std);
  diag_init(&d, alloc_std);
  static const char s[] =
      "{\"grid\":[4,2],\"e\":[],\"o\":{},\"al\":[[0,1],[1,0]],\"k\":{\"a\\n\":null,\"f\":0.5,\"b\":[true,\"x\"]},"
      "\"big\":9007199254740993}";
  static const char expected[] =
      "{\n"
      "  \"grid\": [4, 2],\n"
      "  \"e\": [],\n"
      "  \"o\": {},\n"
      "  \"al\": [\n"
      "    [0, 1],\n"
      "    [1, 0]\n"
      "  ],\n"
      "  \"k\": {\n"
      "    \"a\\n\": null,\n"
      "    \"f\": 0.5,\n"
      "    \"b\": [true, \"x\"]\n"
      "  },\n"
      "  \"big\": 9007199254740993\n"
      "}";
  const Json *v = json_parse(&a, s, sizeof s - 1, "doc", &d);
  assert_non_null(v);
  assert_true(json_pretty(&t, v));
  assert_text(&t, expected);
  const Json *again = json_parse(&a, t.data, t.len, "doc", &d);
  assert_non_null(again);
  text_clear(&t);
  assert_true(json_pretty(&t, again));
  assert_text(&t, expected);
  text_free(&t);
  arena_free(&a);
  diag_free(&d);
}

/* json_spells says of every text what json_string writes, and of nothing else. */
static void a_spelling_is_recognized(void **state) {
  (void)state;
  enum { LONG = 9000 };
  static char s[LONG];
  uint64_t seed = 5;
  for (size_t i = 0; i < LONG; i++) s[i] = (char)(1 + next_random(&seed) % 127);
  for (size_t n = 0; n < LONG; n += n < 40 ? 1 : 997) {
    Text t;
    text_init(&t, alloc_std);
    json_string(&(JsonWriter){.out = &t}, s, n);
    assert_true(json_spells(t.data, t.len, s, n));
    assert_false(json_spells(t.data, t.len - 1, s, n));
    assert_false(n > 0 && json_spells(t.data, t.len, s, n - 1));
    for (size_t i = 0; i < t.len; i += i < 20 ? 1 : 501) {
      t.data[i] ^= 1;
      assert_false(json_spells(t.data, t.len, s, n));
      t.data[i] ^= 1;
    }
    text_free(&t);
  }
  assert_false(json_spells("\"", 1, "", 0));
  assert_false(json_spells("\"\\ufffd\"", 8, "\xff", 1));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(commas_are_put_where_needed),
      cmocka_unit_test(integers_beyond_2_to_53_are_strings),
      cmocka_unit_test(doubles_are_shortest_and_non_finite_ones_strings),
      cmocka_unit_test(strings_are_escaped),
      cmocka_unit_test(a_string_that_is_no_utf8_text_is_reported),
      cmocka_unit_test(what_is_written_is_read_back),
      cmocka_unit_test(a_spelling_is_recognized),
      cmocka_unit_test(pretty_indents_by_two_and_keeps_scalars_on_a_line),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
