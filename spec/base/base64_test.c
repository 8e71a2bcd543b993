/* base64_test.c -- spec/base: strict base64. */
#include "base64.h"

#include <stdio.h>

#include "support.h"

static void known_pairs_encode_and_decode(void **state) {
  (void)state;
  static const struct {
    const char *plain, *code;
  } rows[] = {{"", ""},
              {"f", "Zg=="},
              {"fo", "Zm8="},
              {"foo", "Zm9v"},
              {"foob", "Zm9vYg=="},
              {"fooba", "Zm9vYmE="},
              {"foobar", "Zm9vYmFy"},
              {"\xFB\xFF\xFE", "+//+"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    Text code, plain;
    Diag d;
    text_init(&code, alloc_std);
    text_init(&plain, alloc_std);
    diag_init(&d, alloc_std);
    base64_encode(&code, rows[i].plain, strlen(rows[i].plain));
    assert_text(&code, rows[i].code);
    assert_true(base64_decode(&plain, rows[i].code, strlen(rows[i].code), &d));
    assert_text(&plain, rows[i].plain);
    assert_int_equal(plain.len, strlen(rows[i].plain));
    text_free(&code);
    text_free(&plain);
    diag_free(&d);
  }
}

static void check_round_trip(const char *data, size_t n) {
  Text code, plain;
  Diag d;
  text_init(&code, alloc_std);
  text_init(&plain, alloc_std);
  diag_init(&d, alloc_std);
  base64_encode(&code, data, n);
  assert_int_equal(code.len, (n + 2) / 3 * 4);
  assert_null(code.data ? strpbrk(code.data, "\r\n") : NULL);
  assert_true(base64_decode(&plain, text_str(&code), code.len, &d));
  assert_int_equal(plain.len, n);
  assert_memory_equal(text_str(&plain), data, n);
  text_free(&code);
  text_free(&plain);
  diag_free(&d);
}

static void every_length_around_the_line_breaks_survives(void **state) {
  (void)state;
  enum { MOST = 8000 };
  static char data[MOST];
  uint64_t seed = 42;
  for (size_t i = 0; i < MOST; i++) data[i] = (char)next_random(&seed);
  for (size_t n = 0; n < 400; n++) check_round_trip(data, n);
  for (size_t n = 3400; n < 3520; n++) check_round_trip(data, n); /* around the encoder's piece */
  check_round_trip(data, MOST);
}

static void texts_of_several_pieces_survive(void **state) {
  (void)state;
  size_t n = 3000001;
  char *data = malloc(n);
  uint64_t seed = 7;
  for (size_t i = 0; i < n; i++) data[i] = (char)next_random(&seed);
  check_round_trip(data, n);
  free(data);
}

static void every_byte_value_survives(void **state) {
  (void)state;
  char data[256];
  for (int i = 0; i < 256; i++) data[i] = (char)i;
  check_round_trip(data, sizeof data);
}

static void both_directions_append(void **state) {
  (void)state;
  Text t;
  Diag d;
  text_init(&t, alloc_std);
  diag_init(&d, alloc_std);
  text_puts(&t, "<");
  base64_encode(&t, "foo", 3);
  assert_true(base64_decode(&t, "Zm9v", 4, &d));
  assert_true(base64_decode(&t, "", 0, &d));
  assert_text(&t, "<Zm9vfoo");
  text_free(&t);
  diag_free(&d);
}

static void what_is_not_canonical_is_refused_with_its_offset(void **state) {
  (void)state;
  static const struct {
    const char *s;
    size_t n;
    const char *message;
  } rows[] = {
      {"Q", 1, "length is not a multiple of 4: text ends at offset 1 of the base64 text"},
      {"Zm9vY", 5, "length is not a multiple of 4: text ends at offset 5 of the base64 text"},
      {"Zg=", 3, "length is not a multiple of 4: text ends at offset 3 of the base64 text"},
      {"====", 4, "misplaced '=' at offset 0 of the base64 text"},
      {"Z===", 4, "misplaced '=' at offset 1 of the base64 text"},
      {"Zg==Zg==", 8, "misplaced '=' at offset 2 of the base64 text"},
      {"Zg=a", 4, "misplaced '=' at offset 2 of the base64 text"},
      {"Zm 9v", 5, "byte outside the alphabet at offset 2 of the base64 text"},
      {"Zm9v\n", 5, "byte outside the alphabet at offset 4 of the base64 text"},
      {"Zm9-", 4, "byte outside the alphabet at offset 3 of the base64 text"},
      {"Zm9_", 4, "byte outside the alphabet at offset 3 of the base64 text"},
      {"Zm\0v", 4, "byte outside the alphabet at offset 2 of the base64 text"},
      {"Zm9\xFF", 4, "byte outside the alphabet at offset 3 of the base64 text"},
      {"Zh==", 4, "unused bits are not zero at offset 1 of the base64 text"},
      {"Zm9=", 4, "unused bits are not zero at offset 2 of the base64 text"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    Text t;
    Diag d;
    text_init(&t, alloc_std);
    diag_init(&d, alloc_std);
    text_puts(&t, "kept");
    assert_false(base64_decode(&t, rows[i].s, rows[i].n, &d));
    assert_int_equal(d.id, ERR_base64);
    assert_string_equal(diag_message(&d), rows[i].message);
    assert_text(&t, "kept");
    text_free(&t);
    diag_free(&d);
  }
}

/* Of the 64 characters a group may end with before its padding, only those with zero unused bits are legal. */
static void exactly_the_canonical_tails_are_accepted(void **state) {
  (void)state;
  static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  int two = 0, one = 0;
  for (int i = 0; i < 64; i++) {
    Text t;
    Diag d;
    text_init(&t, alloc_std);
    diag_init(&d, alloc_std);
    char s[5] = {'A', alphabet[i], '=', '=', '\0'};
    two += base64_decode(&t, s, 4, &d);
    char u[5] = {'A', 'A', alphabet[i], '=', '\0'};
    one += base64_decode(&t, u, 4, &d);
    text_free(&t);
    diag_free(&d);
  }
  assert_int_equal(two, 4);
  assert_int_equal(one, 16);
}

static void a_foreign_byte_is_found_wherever_it_is(void **state) {
  (void)state;
  enum { LONG = 400 };
  char s[LONG], want[96];
  Text t;
  Diag d;
  text_init(&t, alloc_std);
  diag_init(&d, alloc_std);
  for (size_t i = 0; i < LONG; i++) {
    memset(s, 'A', sizeof s);
    if (i + 5 < LONG) s[i + 5] = '!'; /* the first one counts */
    s[i] = i % 3 ? '=' : (char)0x80;
    if (i + 2 >= LONG && i % 3) continue; /* padding */
    snprintf(want, sizeof want, "%s at offset %zu of the base64 text",
             i % 3 ? "misplaced '='" : "byte outside the alphabet", i);
    diag_clear(&d);
    assert_false(base64_decode(&t, s, sizeof s, &d));
    assert_string_equal(diag_message(&d), want);
  }
  text_free(&t);
  diag_free(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_pairs_encode_and_decode),
      cmocka_unit_test(every_length_around_the_line_breaks_survives),
      cmocka_unit_test(texts_of_several_pieces_survive),
      cmocka_unit_test(every_byte_value_survives),
      cmocka_unit_test(both_directions_append),
      cmocka_unit_test(what_is_not_canonical_is_refused_with_its_offset),
      cmocka_unit_test(exactly_the_canonical_tails_are_accepted),
      cmocka_unit_test(a_foreign_byte_is_found_wherever_it_is),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
