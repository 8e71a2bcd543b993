/* random_test.c -- spec/base: fixed bytes, right distribution. */
#include "random.h"

#include <math.h>

#include "support.h"

static void bits_are_the_same_on_every_machine(void **state) {
  (void)state;
  /* SplitMix64: the first output for state 0 is e220a8397b1dcdaf; mix(0) is 0, so that is element 0 of seed 0. */
  assert_int_equal(random_bits(0, 0), UINT64_C(0xe220a8397b1dcdaf));
  assert_int_equal(random_bits(0, 1), UINT64_C(0x6e789e6aa1b965f4));
}

static void moments_are_those_of_the_distributions(void **state) {
  (void)state;
  enum { N = 200000 };
  double su = 0, s1 = 0, s2 = 0, s4 = 0;
  for (int i = 0; i < N; i++) {
    double u = random_uniform(7, (uint64_t)i), x = random_normal(7, (uint64_t)i);
    assert_true(u >= 0 && u < 1);
    assert_true(isfinite(x));
    su += u;
    s1 += x;
    s2 += x * x;
    s4 += x * x * x * x;
  }
  assert_true(fabs(su / N - 0.5) < 0.005); /* more than five standard errors of each moment */
  assert_true(fabs(s1 / N) < 0.012);
  assert_true(fabs(s2 / N - 1) < 0.02);
  assert_true(fabs(s4 / N - 3) < 0.12);
}

static void names_give_different_streams(void **state) {
  (void)state;
  assert_true(random_seed_named(1, "a", 1) != random_seed_named(1, "b", 1));
  assert_true(random_seed_named(1, "a", 1) != random_seed_named(2, "a", 1));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(bits_are_the_same_on_every_machine),
                                     cmocka_unit_test(moments_are_those_of_the_distributions),
                                     cmocka_unit_test(names_give_different_streams)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
