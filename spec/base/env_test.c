/* env_test.c -- spec/base: reading several environment variables at once. */
#include "env.h"

#include <stdlib.h>
#include <unistd.h>

#include "support.h"

static const char *const names[] = {"NK_FIRST", "NK_SECOND"};

static void values_are_what_getenv_gives(void **state) {
  (void)state;
  const char *values[2] = {"before", "before"};
  unsetenv("NK_SECOND");
  setenv("NK_FIRST", "one", 1);
  env_read(names, 2, values);
  assert_string_equal(values[0], "one");
  assert_null(values[1]);
  setenv("NK_FIRST", "", 1);
  setenv("NK_SECOND", "a=b", 1);
  env_read(names, 2, values);
  assert_string_equal(values[0], "");
  assert_string_equal(values[1], "a=b");
}

static void longer_and_shorter_names_are_others(void **state) {
  (void)state;
  const char *values[2];
  unsetenv("NK_FIRST");
  unsetenv("NK_SECOND");
  setenv("NK_FIRST_OF_ALL", "x", 1);
  setenv("NK_FIRS", "x", 1);
  setenv("N", "x", 1);
  env_read(names, 2, values);
  assert_null(values[0]);
  assert_null(values[1]);
}

static void the_first_of_two_entries_counts_and_an_empty_environment_has_none(void **state) {
  (void)state;
  extern char **environ;
  char *twice[] = {"NK_FIRST", "NK_FIRST=a", "NK_FIRST=b", NULL}, **before = environ;
  const char *values[2];
  environ = twice;
  env_read(names, 2, values);
  assert_string_equal(values[0], "a");
  assert_string_equal(getenv("NK_FIRST"), "a");
  environ = NULL;
  env_read(names, 2, values);
  environ = before;
  assert_null(values[0]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_what_getenv_gives),
      cmocka_unit_test(longer_and_shorter_names_are_others),
      cmocka_unit_test(the_first_of_two_entries_counts_and_an_empty_environment_has_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
