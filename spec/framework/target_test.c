/* target_test.c -- spec/framework: platform target and launch grid. */
#include <stdlib.h>

#include "module.h"

typedef struct Answer {
  bool ok, fallback;
  Target target;
  const char *warning;
  Diag d;
} Answer;

static Answer ask(const char *name, const char *env) {
  Answer a;
  diag_init(&a.d, alloc_std);
  if (env) {
    setenv("NEURON_PLATFORM_TARGET_OVERRIDE", env, 1);
  } else {
    unsetenv("NEURON_PLATFORM_TARGET_OVERRIDE");
  }
  a.ok = fw_get_platform_target(name, &a.target, &a.fallback, &a.warning, &a.d);
  return a;
}

static void option_then_environment(void **state) {
  (void)state;
  Answer a = ask("gen3", "inf2");
  assert_true(a.ok);
  assert_int_equal(a.target, TARGET_trn2);
  assert_string_equal(target_name(a.target), "trn2");
  a = ask(NULL, "core_v4");
  assert_true(a.ok);
  assert_int_equal(a.target, TARGET_trn3);
  assert_false(a.fallback);
  assert_null(a.warning);
}

static void unknown_names_are_errors(void **state) {
  (void)state;
  Answer a = ask("trn22", NULL);
  assert_false(a.ok);
  assert_int_equal(a.d.id, ERR_unknown_platform_target);
  assert_non_null(strstr(diag_message(&a.d),
                         "platform_target: no platform target 'trn22' (did you mean 'trn2'?); targets are trn1, "));
  diag_free(&a.d);
  a = ask(NULL, "h100");
  assert_false(a.ok);
  assert_non_null(
      strstr(diag_message(&a.d), "NEURON_PLATFORM_TARGET_OVERRIDE: no platform target 'h100'; targets are trn1, "));
  diag_free(&a.d);
}

/* Neither named nor known from the machine (no test machine is one): trn1, said to be a guess. An empty variable is
 * none. */
static void guess(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    Answer a = ask(NULL, i ? "" : NULL);
    assert_true(a.ok);
    assert_true(a.fallback == (a.warning != NULL));
    if (!a.fallback) skip(); /* running on such a machine */
    assert_int_equal(a.target, TARGET_trn1);
    assert_string_equal(a.warning, "Unable to read MLA target. Assuming cross compile to trn1.");
  }
}

static void a_product_name_is_an_instance_type(void **state) {
  (void)state;
  static const struct {
    const char *product;
    Target target;
  } known[] = {{"trn1.32xlarge\n", TARGET_trn1}, {"trn1n.32xlarge\n", TARGET_trn1n}, {"inf2.xlarge", TARGET_inf2},
               {"trn2.48xlarge\n", TARGET_trn2}, {"trn2n\n", TARGET_trn2n},          {"trn3.x.y", TARGET_trn3}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    Target t = TARGET_count;
    assert_true(fw_target_of_product(known[i].product, &t));
    assert_int_equal(t, known[i].target);
  }
  static const char *const none[] = {"",
                                     "\n",
                                     ".trn1",
                                     "m5.large\n",
                                     "trn",
                                     "trn1 .32xlarge",
                                     "Trn1.32xlarge",
                                     "trn10.xlarge",
                                     "xtrn1",
                                     "Standard PC (Q35 + ICH9, 2009)\n"};
  for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
    Target t = TARGET_trn3;
    if (fw_target_of_product(none[i], &t)) fail_msg("'%s' is a target", none[i]);
    assert_int_equal(t, TARGET_trn3);
  }
}

static void check_grid(const FwRequest *r, const char *message) {
  Diag d;
  diag_init(&d, alloc_std);
  assert_true(fw_check_grid(r, &d) == (message == NULL));
  if (message) assert_string_equal(diag_message(&d), message);
  diag_free(&d);
}

static void grids(void **state) {
  (void)state;
  FwRequest r = {.func_name = "k", .target = TARGET_trn1, .ngrid = 2, .grid = {4, 2}};
  check_grid(&r, NULL);
  r.cores[0] = (IrCores){2, 2};
  check_grid(&r,
             "kernel k: a grid over several physical cores needs trn2, trn2n or trn3; the target is trn1, which has 1");
  r.target = TARGET_trn2;
  check_grid(&r, NULL);
  r.cores[1] = (IrCores){2, 1};
  check_grid(&r, "kernel k: the grid spans 4 physical cores; trn2 has 2");
  r.cores[1] = (IrCores){1, 2};
  check_grid(&r, NULL);
  r.grid[1] = 0;
  check_grid(&r, "kernel k: every dim of a grid is at least 1");
  r.grid[0] = r.grid[1] = INT64_MAX;
  check_grid(&r, "kernel k: the grid has more than 1048576 programs");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(option_then_environment),
      cmocka_unit_test(unknown_names_are_errors),
      cmocka_unit_test(guess),
      cmocka_unit_test(a_product_name_is_an_instance_type),
      cmocka_unit_test(grids),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
