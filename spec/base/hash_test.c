/* hash_test.c -- spec/base: content hashes. */
#include "hash.h"

#include "support.h"

/* Values published with XXH3 (xxhsum -H3 and -H2 print these). */
static void hashes_are_xxh3(void **state) {
  (void)state;
  char hex[33];
  assert_true(hash64("", 0) == UINT64_C(0x2d06800538d394c2));
  hash_hex("", 0, hex);
  assert_string_equal(hex, "99aa06d3014798d86001c324468d497f");
}

static void every_byte_counts(void **state) {
  (void)state;
  char text[64] = {0}, before[33], hex[33];
  hash_hex(text, sizeof text, before);
  uint64_t h = hash64(text, sizeof text);
  for (size_t i = 0; i < sizeof text; i++) {
    text[i] = 1;
    hash_hex(text, sizeof text, hex);
    assert_string_not_equal(hex, before);
    assert_true(hash64(text, sizeof text) != h);
    text[i] = 0;
  }
}

static void length_counts(void **state) {
  (void)state;
  char zeros[8] = {0};
  assert_true(hash64(zeros, 3) != hash64(zeros, 4));
}

static void the_address_does_not_count(void **state) {
  (void)state;
  char a[40], b[41];
  memset(a, 'x', sizeof a);
  memset(b, 'x', sizeof b);
  assert_true(hash64(a, 40) == hash64(b + 1, 40));
}

static void hex_is_32_lower_case_digits(void **state) {
  (void)state;
  char hex[33];
  memset(hex, '#', sizeof hex);
  hash_hex("kernel", 6, hex);
  assert_int_equal(strspn(hex, "0123456789abcdef"), 32);
  assert_int_equal(hex[32], '\0');
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hashes_are_xxh3),
      cmocka_unit_test(every_byte_counts),
      cmocka_unit_test(length_counts),
      cmocka_unit_test(the_address_does_not_count),
      cmocka_unit_test(hex_is_32_lower_case_digits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
