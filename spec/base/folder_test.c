/* folder_test.c -- spec/base: kinds of paths, making folders, their files in order. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "support.h"

static char root[64];

static const char *under(const char *name) {
  static char path[128];
  snprintf(path, sizeof path, "%s/%s", root, name);
  return path;
}

static void touch(const char *name) {
  FILE *f = fopen(under(name), "wb");
  assert_non_null(f);
  fclose(f);
}

static void kinds(void **state) {
  (void)state;
  touch("file");
  assert_int_equal(mkfifo(under("pipe"), 0600), 0);
  assert_int_equal(path_kind(under("nothing")), PATH_NONE);
  assert_int_equal(path_kind(under("file")), PATH_FILE);
  assert_int_equal(path_kind(under("pipe")), PATH_OTHER);
  assert_int_equal(path_kind(root), PATH_FOLDER);
}

static void making(void **state) {
  (void)state;
  Diag d;
  diag_init(&d, alloc_std);
  assert_true(folder_make(under("a/b/c"), &d));
  assert_int_equal(path_kind(under("a/b/c")), PATH_FOLDER);
  assert_true(folder_make(under("a/b/c/"), &d));
  assert_true(folder_make("/", &d));
  assert_false(folder_make(under("file/x"), &d));
  assert_int_equal(d.id, ERR_folder_make);
  diag_clear(&d);
  assert_false(folder_make(under("file"), &d));
  assert_non_null(strstr(diag_message(&d), "/file': it is a file"));
  diag_clear(&d);
  assert_false(folder_make("/proc/no/such", &d));
  assert_string_equal(diag_message(&d), "cannot make the folder '/proc/no/such': No such file or directory");
  diag_free(&d);
}

static void listing(void **state) {
  (void)state;
  Arena arena;
  size_t n;
  arena_init(&arena, alloc_std);
  assert_true(mkdir(under("list"), 0700) == 0);
  const char **names = folder_list(under("list"), ".x", &arena, &n);
  assert_non_null(names);
  assert_int_equal(n, 0);
  for (int i = 9; i >= 0; i--) {
    char name[24];
    snprintf(name, sizeof name, "list/%d.x", i * 7 % 10);
    touch(name);
    snprintf(name, sizeof name, "list/%d.y", i);
    touch(name);
  }
  names = folder_list(under("list"), ".x", &arena, &n);
  assert_int_equal(n, 10);
  for (int i = 0; i < 10; i++) {
    const char want[] = {(char)('0' + i), '.', 'x', '\0'};
    assert_string_equal(names[i], want);
  }
  assert_null(folder_list(under("missing"), ".x", &arena, &n));
  assert_int_equal(n, 0);
  arena_free(&arena);
}

static int open_root(void **state) {
  (void)state;
  strcpy(root, "/tmp/nkilua-folder-XXXXXX");
  return mkdtemp(root) ? 0 : -1;
}

static int drop_root(void **state) {
  char line[128];
  (void)state;
  snprintf(line, sizeof line, "rm -rf '%s'", root);
  return system(line);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kinds),
      cmocka_unit_test(making),
      cmocka_unit_test(listing),
  };
  return cmocka_run_group_tests(tests, open_root, drop_root);
}
