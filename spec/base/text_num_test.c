/* text_num_test.c -- spec/base: doubles and floats to shortest decimal and back. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "support.h"

static const char *spell(Text *t, double v) {
  text_clear(t);
  text_double(t, v);
  return text_str(t);
}

static const char *spell_float(Text *t, float v) {
  text_clear(t);
  text_float(t, v);
  return text_str(t);
}

/* Expected spellings are those of Python's repr, with ".0" put before an exponent. */
static void doubles_print_as_the_shortest_decimal(void **state) {
  (void)state;
  static const struct {
    double v;
    const char *text;
  } rows[] = {
      {0.0, "0.0"},
      {-0.0, "-0.0"},
      {1.0, "1.0"},
      {-1.0, "-1.0"},
      {0.1, "0.1"},
      {0.1 + 0.2, "0.30000000000000004"},
      {1.0 / 3.0, "0.3333333333333333"},
      {1.0000000000000002, "1.0000000000000002"},
      {100.5, "100.5"},
      {123456789.125, "123456789.125"},
      {1e15, "1000000000000000.0"},
      {9007199254740991.0, "9007199254740991.0"},
      {9007199254740992.0, "9007199254740992.0"},
      {9007199254740994.0, "9007199254740994.0"},
      {9999999999999998.0, "9999999999999998.0"},
      {1e16, "1.0e+16"},
      {1e22, "1.0e+22"},
      {1e23, "1.0e+23"},
      {1e30, "1.0e+30"},
      {-1.5e300, "-1.5e+300"},
      {0.0001, "0.0001"},
      {0.00012345, "0.00012345"},
      {0.00001, "1.0e-05"},
      {1e-7, "1.0e-07"},
      {1.25e-10, "1.25e-10"},
      {5.684341886080802e-14, "5.684341886080802e-14"}, /* 2^-44: the nearest 16 digits do not read back, the next do */
      {0x1p-1074, "5.0e-324"},
      {0x1p-1073, "1.0e-323"},
      {DBL_MIN, "2.2250738585072014e-308"},
      {DBL_MAX, "1.7976931348623157e+308"},
      {DBL_EPSILON, "2.220446049250313e-16"},
      {(double)INFINITY, "inf"},
      {-(double)INFINITY, "-inf"},
      {(double)NAN, "nan"},
      {-(double)NAN, "nan"},
  };
  Text t;
  text_init(&t, alloc_std);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) assert_string_equal(spell(&t, rows[i].v), rows[i].text);
  text_free(&t);
}

static void floats_print_as_the_shortest_decimal(void **state) {
  (void)state;
  static const struct {
    float v;
    const char *text;
  } rows[] = {
      {0.0f, "0.0"},
      {-0.0f, "-0.0"},
      {0.1f, "0.1"},
      {1.0f / 3.0f, "0.33333334"},
      {16777216.0f, "16777216.0"},
      {16777218.0f, "16777218.0"},
      {33554432.0f, "33554432.0"},
      {123456790.0f, "123456790.0"},
      {1e10f, "10000000000.0"},
      {FLT_MAX, "3.4028235e+38"},
      {FLT_MIN, "1.1754944e-38"},
      {0x1p-149f, "1.0e-45"},
      {0x1p-148f, "3.0e-45"},
      {FLT_EPSILON, "1.1920929e-07"},
      {INFINITY, "inf"},
      {-INFINITY, "-inf"},
      {NAN, "nan"},
  };
  Text t;
  text_init(&t, alloc_std);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) assert_string_equal(spell_float(&t, rows[i].v), rows[i].text);
  text_free(&t);
}

/* [-]digits.digits[(e|E)[+-]digits]: what MLIR reads as a float. */
static bool is_mlir_float(const char *s) {
  s += *s == '-';
  size_t n = strspn(s, "0123456789");
  if (n == 0 || s[n] != '.') return false;
  s += n + 1;
  n = strspn(s, "0123456789");
  if (n == 0) return false;
  s += n;
  if (*s == '\0') return true;
  if (*s != 'e') return false;
  s += 1 + (s[1] == '+' || s[1] == '-');
  n = strspn(s, "0123456789");
  return n > 0 && s[n] == '\0';
}

static void every_double_reads_back_exactly(void **state) {
  (void)state;
  Text t;
  text_init(&t, alloc_std);
  uint64_t seed = 88172645463325252u;
  for (int i = 0; i < 100000; i++) {
    uint64_t bits = next_random(&seed);
    if (i % 4 == 0) bits &= UINT64_C(0x800FFFFFFFFFFFFF); /* subnormals */
    if (i % 4 == 1) bits &= UINT64_C(0xFFF0000000000000); /* powers of two */
    double v, back;
    memcpy(&v, &bits, sizeof v);
    if (!isfinite(v)) continue;
    const char *s = spell(&t, v);
    assert_true(is_mlir_float(s));
    assert_true(text_to_double(s, t.len, &back));
    assert_memory_equal(&back, &v, sizeof v);
  }
  text_free(&t);
}

static void every_float_reads_back_exactly(void **state) {
  (void)state;
  Text t;
  text_init(&t, alloc_std);
  uint64_t seed = 2463534242u;
  for (int i = 0; i < 100000; i++) {
    uint32_t bits = (uint32_t)next_random(&seed);
    if (i % 4 == 0) bits &= 0x807FFFFFu;
    if (i % 4 == 1) bits &= 0xFF800000u;
    float v, back;
    memcpy(&v, &bits, sizeof v);
    if (!isfinite(v)) continue;
    const char *s = spell_float(&t, v);
    assert_true(is_mlir_float(s));
    assert_true(text_to_float(s, t.len, &back));
    assert_memory_equal(&back, &v, sizeof v);
  }
  text_free(&t);
}

static void fifteen_digits_print_as_no_more_than_fifteen(void **state) {
  (void)state;
  Text t;
  text_init(&t, alloc_std);
  uint64_t seed = 1234567;
  for (int i = 0; i < 20000; i++) {
    int64_t digits = (int64_t)(next_random(&seed) % UINT64_C(1000000000000000)); /* 15 digits always survive */
    double v = (double)digits / 1e20;                                            /* correctly rounded: both are exact */
    char expected[40];
    snprintf(expected, sizeof expected, "%.14e", v);
    const char *s = spell(&t, v);
    double back;
    assert_true(text_to_double(expected, strlen(expected), &back) && back == v);
    assert_true(strcspn(s, "e") <= strcspn(expected, "e"));
  }
  text_free(&t);
}

static void numbers_are_read_exactly(void **state) {
  (void)state;
  static const struct {
    const char *s;
    double v;
  } rows[] = {
      {"0", 0},
      {"-0", -0.0},
      {"1", 1},
      {"+1.5", 1.5},
      {"1.", 1},
      {".5", 0.5},
      {"-.5e1", -5},
      {"1e5", 1e5},
      {"1E-5", 1e-5},
      {"1e+05", 1e5},
      {"007.250", 7.25},
      {"9007199254740993", 9007199254740992.0},                     /* a tie: to even */
      {"9007199254740993.0000000000000000001", 9007199254740994.0}, /* just over the tie */
      {"2.4703282292062327e-324", 0},
      {"2.4703282292062328e-324", 0x1p-1074},
      {"1e-400", 0},
      {"1e-4294967296", 0}, /* whose exponent is 0 in 32 bits */
      {"0e999999999999999999999999", 0},
      {"0.000e-99999999999999999999", 0},
      {"1.7976931348623157e308", DBL_MAX},
      {"inf", (double)INFINITY},
      {"-inf", -(double)INFINITY},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    double v = 99;
    assert_true(text_to_double(rows[i].s, strlen(rows[i].s), &v));
    assert_memory_equal(&v, &rows[i].v, sizeof v);
  }
  double nan = 0;
  assert_true(text_to_double("nan", 3, &nan));
  assert_true(isnan(nan));
}

static void what_is_no_decimal_number_is_refused(void **state) {
  (void)state;
  static const char *const bad[] = {"",
                                    ".",
                                    "-",
                                    "+",
                                    "e5",
                                    "1e",
                                    "1e+",
                                    "1.5.2",
                                    " 1",
                                    "1 ",
                                    "0x1",
                                    "1f",
                                    "--1",
                                    "1e5x",
                                    "1,5",
                                    "1_000",
                                    "NaN",
                                    "+nan",
                                    "-nan",
                                    "Inf",
                                    "in",
                                    "inf ",
                                    "infinity",
                                    "nan(1)",
                                    "1e400",
                                    "-1e400",
                                    "1e999999999999999999999",
                                    "1e4294967296"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    double d;
    float f;
    assert_false(text_to_double(bad[i], strlen(bad[i]), &d));
    assert_false(text_to_float(bad[i], strlen(bad[i]), &f));
  }
  float f;
  assert_false(text_to_float("1e39", 4, &f));
}

static void reading_stops_at_the_given_length(void **state) {
  (void)state;
  double v;
  assert_true(text_to_double("1.5e3", 3, &v));
  assert_true(v == 1.5);
  assert_true(text_to_double("12", 1, &v));
  assert_true(v == 1);
}

/* 1 + 2^-53 is the tie between 1 and its successor; its decimal has 53 places. A digit far behind must tip it over. */
static void digits_beyond_any_buffer_still_count(void **state) {
  (void)state;
  enum { LONG = 5000 };
  static const char tie[] = "1.00000000000000011102230246251565404236316680908203125";
  char s[LONG + 1];
  memset(s, '0', LONG);
  memcpy(s, tie, sizeof tie - 1);
  double v;
  assert_true(text_to_double(s, LONG, &v));
  assert_true(v == 1.0);
  s[LONG - 1] = '1';
  assert_true(text_to_double(s, LONG, &v));
  assert_true(v == 1.0000000000000002);
  memset(s, '0', LONG); /* many leading zeros, and a point far inside */
  memcpy(s + LONG - 4, "12.5", 4);
  assert_true(text_to_double(s, LONG, &v));
  assert_true(v == 12.5);
  memset(s, '9', LONG); /* 10^5000 does not fit, but 10^5000 * 10^-4999 does */
  assert_false(text_to_double(s, LONG, &v));
  memcpy(s + LONG - 6, "e-4993", 6);
  assert_true(text_to_double(s, LONG, &v));
  assert_true(v == 10.0);
}

/* Read as a double first, this value would round to the tie between two floats and then to even. */
static void floats_are_rounded_once(void **state) {
  (void)state;
  static const char s[] = "1.00000005960464477540000000001";
  double d = 0;
  float f = 0;
  assert_true(text_to_double(s, sizeof s - 1, &d) && text_to_float(s, sizeof s - 1, &f));
  assert_true((float)d == 1.0f);
  assert_true(f == 1.0f + FLT_EPSILON);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(doubles_print_as_the_shortest_decimal),
      cmocka_unit_test(floats_print_as_the_shortest_decimal),
      cmocka_unit_test(every_double_reads_back_exactly),
      cmocka_unit_test(every_float_reads_back_exactly),
      cmocka_unit_test(fifteen_digits_print_as_no_more_than_fifteen),
      cmocka_unit_test(numbers_are_read_exactly),
      cmocka_unit_test(what_is_no_decimal_number_is_refused),
      cmocka_unit_test(reading_stops_at_the_given_length),
      cmocka_unit_test(digits_beyond_any_buffer_still_count),
      cmocka_unit_test(floats_are_rounded_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
