/* text_test.c -- spec/base: the growable buffer. */
#include "text.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>

#include "support.h"

static void an_empty_text_is_the_empty_string(void **state) {
  (void)state;
  Text t;
  text_init(&t, alloc_std);
  assert_text(&t, "");
  text_add(&t, "", 0);
  assert_text(&t, "");
  assert_int_equal(t.len, 0);
  text_free(&t);
}

static void appending_keeps_a_nul_behind_the_end(void **state) {
  (void)state;
  Text t;
  text_init(&t, alloc_std);
  for (int i = 0; i < 10000; i++) {
    text_putc(&t, (char)('a' + i % 26));
    assert_int_equal(t.len, i + 1);
    assert_int_equal(t.data[t.len], '\0');
  }
  for (int i = 0; i < 10000; i++) assert_int_equal(t.data[i], 'a' + i % 26);
  text_free(&t);
}

static void nul_bytes_are_kept(void **state) {
  (void)state;
  Text t;
  text_init(&t, alloc_std);
  text_add(&t, "a\0b", 3);
  text_puts(&t, "c");
  assert_int_equal(t.len, 4);
  assert_memory_equal(t.data, "a\0bc", 5);
  text_free(&t);
}

static void integers_print_over_the_whole_range(void **state) {
  (void)state;
  Text t;
  text_init(&t, alloc_std);
  const int64_t values[] = {0, -1, 7, 10, 1234567890123, INT64_MAX, INT64_MIN};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    text_int(&t, values[i]);
    text_putc(&t, ' ');
  }
  assert_text(&t, "0 -1 7 10 1234567890123 9223372036854775807 -9223372036854775808 ");
  text_free(&t);
}

static void printf_appends_texts_of_any_length(void **state) {
  (void)state;
  Text t;
  text_init(&t, alloc_std);
  size_t expected = 0;
  for (int width = 1; width < 400; width++) {
    text_printf(&t, "%*d", width, 1);
    expected += (size_t)width;
    assert_int_equal(t.len, expected);
    assert_int_equal(t.data[t.len - 1], '1');
    assert_int_equal(t.data[t.len], '\0');
  }
  text_free(&t);
}

/* Any installed locale with a decimal comma will do. */
static bool use_comma_locale(void) {
  static const char *const names[] = {"de_DE.UTF-8", "de_DE",       "fr_FR.UTF-8",
                                      "es_ES.UTF-8", "it_IT.UTF-8", "pl_PL.UTF-8"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (setlocale(LC_ALL, names[i]) && strcmp(localeconv()->decimal_point, ",") == 0) return true;
  return false;
}

static void numbers_ignore_the_locale(void **state) {
  (void)state;
  if (!use_comma_locale()) skip();
  Text t;
  text_init(&t, alloc_std);
  text_printf(&t, "%.2f ", 0.25);
  text_double(&t, 0.1);
  text_putc(&t, ' ');
  text_float(&t, 1.5e-9f);
  double d = 0;
  float f = 0;
  bool ok = text_to_double("2.5", 3, &d) && text_to_float("2.5", 3, &f), comma = text_to_double("2,5", 3, &d);
  setlocale(LC_ALL, "C");
  assert_text(&t, "0.25 0.1 1.5e-09");
  assert_true(ok);
  assert_true(d == 2.5 && f == 2.5f);
  assert_false(comma);
  text_free(&t);
}

static void printf_leaves_the_locale_of_the_thread_alone(void **state) {
  (void)state;
  Text t;
  text_init(&t, alloc_std);
  locale_t mine = duplocale(LC_GLOBAL_LOCALE), before = uselocale(mine);
  text_printf(&t, "%d", 1);
  locale_t after = uselocale(before);
  freelocale(mine);
  assert_true(after == mine);
  before = uselocale((locale_t)0);
  text_printf(&t, "%d", 1);
  assert_true(uselocale((locale_t)0) == before);
  assert_text(&t, "11");
  text_free(&t);
}

static void failure_is_sticky_and_clear_makes_the_text_valid_again(void **state) {
  (void)state;
  Ration r = {.left = 1, .once = true};
  Text t;
  text_init(&t, ration_alloc(&r));
  text_puts(&t, "start");
  char big[1000];
  memset(big, 'x', sizeof big);
  text_add(&t, big, sizeof big);
  assert_true(t.oom);
  text_puts(&t, "more");
  assert_text(&t, "start"); /* nothing after the failure is kept */
  text_clear(&t);
  assert_false(t.oom);
  text_puts(&t, "again");
  assert_text(&t, "again");
  text_free(&t);
  assert_int_equal(r.live, 0);
  assert_false(r.wrong);
}

static void a_failed_printf_leaves_no_half_text(void **state) {
  (void)state;
  Ration r = {.left = 1};
  Text t;
  text_init(&t, ration_alloc(&r));
  assert_non_null(text_reserve(&t, 200)); /* room enough to begin with */
  text_puts(&t, "start");
  text_printf(&t, "%500d", 1);
  assert_true(t.oom);
  assert_text(&t, "start");
  text_free(&t);
  assert_int_equal(r.live, 0);
}

static void a_length_that_overflows_is_out_of_memory(void **state) {
  (void)state;
  Text t;
  text_init(&t, alloc_std);
  text_putc(&t, 'a');
  assert_null(text_reserve(&t, SIZE_MAX));
  assert_true(t.oom);
  text_free(&t);
}

static void reserve_and_commit_append(void **state) {
  (void)state;
  Text t;
  text_init(&t, alloc_std);
  text_puts(&t, "ab");
  char *p = text_reserve(&t, 1000);
  assert_non_null(p);
  assert_text(&t, "ab");
  memset(p, 'c', 1000);
  text_commit(&t, 1000);
  assert_int_equal(t.len, 1002);
  assert_int_equal(t.data[1002], '\0');
  assert_int_equal(t.data[1001], 'c');
  text_free(&t);
}

static void well_formed_utf8_is_told_from_the_rest(void **state) {
  (void)state;
  static const char *const good[] = {"",
                                     "abc",
                                     "\xC2\x80",
                                     "\xDF\xBF",
                                     "\xE0\xA0\x80",
                                     "\xED\x9F\xBF",
                                     "\xEE\x80\x80",
                                     "\xEF\xBF\xBF",
                                     "\xF0\x90\x80\x80",
                                     "\xF4\x8F\xBF\xBF"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) assert_true(text_is_utf8(good[i], strlen(good[i]), NULL));
  static const char *const bad[] = {"\x80",
                                    "\xBF",
                                    "\xC0\x80",
                                    "\xC1\xBF",
                                    "\xE0\x9F\xBF",
                                    "\xED\xA0\x80",
                                    "\xF0\x8F\xBF\xBF",
                                    "\xF4\x90\x80\x80",
                                    "\xF5\x80\x80\x80",
                                    "\xFF",
                                    "\xC2",
                                    "\xE2\x82",
                                    "\xF0\x9F\x98",
                                    "\xC2\x41",
                                    "\xE2\x41\x82",
                                    "\xE2\x82\x41",
                                    "\xF0\x9F\x98\x41"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char text[16] = "ab";
    strcat(text, bad[i]);
    size_t at = 99;
    assert_false(text_is_utf8(text, strlen(text), &at));
    assert_int_equal(at, 2);
  }
}

static void assert_clips(const char *expected, const char *s, size_t n) {
  char buf[TEXT_CLIP + 4];
  assert_ptr_equal(text_clip(buf, s, n), buf);
  assert_string_equal(buf, expected);
}

static void a_quoted_text_is_cut_at_a_whole_character(void **state) {
  (void)state;
  char s[200], cut[200];
  assert_clips("", "", 0);
  assert_clips("a\\x00b", "a\0b", 3);
  assert_clips("a\\xffb\\x0a\\x7f\\xc3",
               "a\xff"
               "b\n\x7f\xc3",
               6); /* no UTF-8, control characters */
  memset(s, 'a', sizeof s);
  snprintf(cut, sizeof cut, "%.80s", s);
  assert_clips(cut, s, 80);
  snprintf(cut, sizeof cut, "%.80s...", s);
  assert_clips(cut, s, 81);
  memcpy(s + 79, "\xc3\xa4", 2); /* a character that would end at byte 81 */
  snprintf(cut, sizeof cut, "%.79s...", s);
  assert_clips(cut, s, 100);
  memcpy(s + 78, "\xc3\xa4", 2);
  snprintf(cut, sizeof cut, "%.80s...", s);
  assert_clips(cut, s, 100);
}

static void numbers_of_messages_have_one_nan(void **state) {
  (void)state;
  char buf[TEXT_NUMBER];
  assert_string_equal(text_number(buf, NAN, 14), "nan");
  assert_string_equal(text_number(buf, -NAN, 14), "nan");
  assert_string_equal(text_number(buf, -INFINITY, 14), "-inf");
  assert_string_equal(text_number(buf, 0.1, 14), "0.1");
  assert_string_equal(text_number(buf, 1.0 / 3, 3), "0.333");
  assert_string_equal(text_number(buf, -0.0, 6), "-0");
  assert_ptr_equal(text_number(buf, 1e300, 17), buf);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_empty_text_is_the_empty_string),
      cmocka_unit_test(appending_keeps_a_nul_behind_the_end),
      cmocka_unit_test(nul_bytes_are_kept),
      cmocka_unit_test(integers_print_over_the_whole_range),
      cmocka_unit_test(printf_appends_texts_of_any_length),
      cmocka_unit_test(numbers_ignore_the_locale),
      cmocka_unit_test(printf_leaves_the_locale_of_the_thread_alone),
      cmocka_unit_test(failure_is_sticky_and_clear_makes_the_text_valid_again),
      cmocka_unit_test(a_failed_printf_leaves_no_half_text),
      cmocka_unit_test(a_length_that_overflows_is_out_of_memory),
      cmocka_unit_test(reserve_and_commit_append),
      cmocka_unit_test(well_formed_utf8_is_told_from_the_rest),
      cmocka_unit_test(a_quoted_text_is_cut_at_a_whole_character),
      cmocka_unit_test(numbers_of_messages_have_one_nan),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
