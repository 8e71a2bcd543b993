/* diag_test.c -- spec/base: failures, their names and their suggestions. */
#include "diag.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

static void a_failure_holds_id_and_message(void **state) {
  (void)state;
  Diag d;
  diag_init(&d, alloc_std);
  assert_int_equal(d.id, ERR_none);
  assert_string_equal(diag_message(&d), "");
  assert_false(DIAG(&d, file_open, "a.npy", "no such file"));
  assert_int_equal(d.id, ERR_file_open);
  assert_string_equal(diag_message(&d), "cannot open 'a.npy': no such file");
  assert_int_equal(d.notes.len, 0);
  diag_free(&d);
}

static void a_second_failure_becomes_a_note(void **state) {
  (void)state;
  Diag d;
  diag_init(&d, alloc_std);
  DIAG(&d, file_open, "a", "x");
  assert_false(DIAG(&d, file_read, "b", "y"));
  diag_note(&d, "only %d left", 3);
  assert_int_equal(d.id, ERR_file_open);
  assert_string_equal(diag_message(&d), "cannot open 'a': x");
  assert_text(&d.notes, "note: cannot read 'b': y\nnote: only 3 left");
  diag_free(&d);
}

static void a_message_is_one_line_whatever_it_quotes(void **state) {
  (void)state;
  Diag d;
  diag_init(&d, alloc_std);
  DIAG(&d, file_open, "a\nb\x1b[31m\t\x7f", "\xC3\xA9");
  assert_string_equal(diag_message(&d), "cannot open 'a\\nb\\x1b[31m\\x09\\x7f': \xC3\xA9");
  diag_free(&d);
}

static void clear_makes_it_empty(void **state) {
  (void)state;
  Diag d;
  diag_init(&d, alloc_std);
  DIAG(&d, file_open, "a", "x");
  diag_note(&d, "n");
  diag_at(&d, "k.lua", 3);
  text_puts(&d.where, "k.lua:3");
  diag_clear(&d);
  assert_int_equal(d.id, ERR_none);
  assert_string_equal(diag_message(&d), "");
  assert_int_equal(d.notes.len, 0);
  assert_int_equal(d.where.len, 0);
  assert_string_equal(d.file, "");
  assert_int_equal(d.line, 0);
  diag_free(&d);
}

static void the_first_location_is_kept(void **state) {
  (void)state;
  Diag d;
  diag_init(&d, alloc_std);
  diag_at(&d, "inner.lua", 7);
  diag_at(&d, "outer.lua", 1);
  assert_string_equal(d.file, "inner.lua");
  assert_int_equal(d.line, 7);
  diag_free(&d);
}

static void a_long_file_name_keeps_its_end(void **state) {
  (void)state;
  char name[600];
  memset(name, 'a', sizeof name);
  memcpy(name + sizeof name - 10, "/kern.lua", 10);
  Diag d;
  diag_init(&d, alloc_std);
  diag_at(&d, name, 1);
  assert_int_equal(strlen(d.file), sizeof d.file - 1);
  assert_memory_equal(d.file, "...a", 4);
  assert_string_equal(d.file + strlen(d.file) - 9, "/kern.lua");
  diag_free(&d);
}

static void a_name_that_just_fits_is_not_cut(void **state) {
  (void)state;
  char name[256];
  memset(name, 'b', 255);
  name[255] = '\0';
  Diag d;
  diag_init(&d, alloc_std);
  diag_at(&d, name, 1);
  assert_string_equal(d.file, name);
  diag_free(&d);
}

static void a_copy_has_everything(void **state) {
  (void)state;
  Diag d, copy;
  diag_init(&d, alloc_std);
  diag_init(&copy, alloc_std);
  DIAG(&copy, file_open, "old", "old");
  diag_note(&copy, "old");
  DIAG(&d, file_write, "a", "x");
  diag_note(&d, "n");
  diag_at(&d, "k.lua", 3);
  text_puts(&d.where, "k.lua:3");
  assert_true(diag_copy(&copy, &d));
  diag_free(&d);
  assert_int_equal(copy.id, ERR_file_write);
  assert_string_equal(diag_message(&copy), "cannot write 'a': x");
  assert_text(&copy.notes, "note: n");
  assert_text(&copy.where, "k.lua:3");
  assert_string_equal(copy.file, "k.lua");
  assert_int_equal(copy.line, 3);
  diag_free(&copy);
}

static void without_memory_the_failure_is_out_of_memory(void **state) {
  (void)state;
  Ration r = {.left = 0};
  Diag d, copy;
  diag_init(&d, ration_alloc(&r));
  assert_false(DIAG(&d, file_open, "a", "x"));
  assert_int_equal(d.id, ERR_nomem);
  assert_string_equal(diag_message(&d), "out of memory");
  diag_init(&copy, ration_alloc(&r));
  Diag from;
  diag_init(&from, alloc_std);
  DIAG(&from, file_open, "a", "x");
  assert_false(diag_copy(&copy, &from));
  assert_int_equal(copy.id, ERR_nomem);
  diag_free(&from);
  diag_free(&copy);
  diag_free(&d);
  assert_int_equal(r.live, 0);
}

static void every_error_has_a_name_that_finds_it(void **state) {
  (void)state;
  for (int i = 1; i < ERR_count; i++) {
    const char *name = err_name((ErrId)i);
    assert_memory_equal(name, "err_", 4);
    assert_int_equal(err_by_name(name), i);
    assert_true(err_status((ErrId)i) < 0);
    assert_true(strlen(err_format((ErrId)i)) > 0);
  }
  assert_string_equal(err_name(ERR_nomem), "err_nomem");
  assert_int_equal(err_status(ERR_nomem), ST_NOMEM);
  assert_int_equal(err_status(ERR_none), ST_OK);
  assert_int_equal(err_by_name("err_no_such_error"), ERR_none);
  assert_int_equal(err_by_name("nomem"), ERR_none);
}

/* A debug build stops at our own fault; a release build reports it. */
static void our_own_fault_aborts_or_reports(void **state) {
  (void)state;
#ifdef NDEBUG
  Diag d;
  diag_init(&d, alloc_std);
  assert_false(diag_bug(&d, "/somewhere/file.c", 12, "lost count"));
  assert_int_equal(d.id, ERR_internal);
  assert_string_equal(diag_message(&d), "internal error at file.c:12: lost count");
  diag_free(&d);
#else
  pid_t child = fork();
  if (child == 0) {
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(SIGABRT, SIG_DFL);
    fclose(stderr);
    diag_bug(NULL, "file.c", 12, "lost count");
    _exit(0);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
#endif
}

static const char *const names[] = {"load",     "store",      "float32",       "float16",
                                    "bfloat16", "activation", "tensor_tensor", NULL};

static void the_nearest_name_is_suggested(void **state) {
  (void)state;
  assert_string_equal(diag_nearest("laod", names), "load");
  assert_string_equal(diag_nearest("lod", names), "load");
  assert_string_equal(diag_nearest("stroe", names), "store");
  assert_string_equal(diag_nearest("FLOAT32", names), "float32");
  assert_string_equal(diag_nearest("float31", names), "float32");
  assert_string_equal(diag_nearest("float61", names), "float16");
  assert_string_equal(diag_nearest("bfloat", names), "bfloat16");
  assert_string_equal(diag_nearest("activatoin", names), "activation");
  assert_string_equal(diag_nearest("tensortensor", names), "tensor_tensor");
  const char *const tie[] = {"load", "lead", NULL};
  assert_string_equal(diag_nearest("lxad", tie), "load");
}

static void a_far_name_is_not_suggested(void **state) {
  (void)state;
  assert_null(diag_nearest("matmul", names));
  assert_null(diag_nearest("", names));
  assert_null(diag_nearest("x", names));
  char longer[200];
  memset(longer, 'l', sizeof longer - 1);
  longer[sizeof longer - 1] = '\0';
  assert_null(diag_nearest(longer, names));
  const char *const none[] = {NULL};
  assert_null(diag_nearest("load", none));
  const char *const single[] = {"y", "", NULL}; /* nothing of the name would be left */
  assert_null(diag_nearest("x", single));
  const char *const odd[] = {"", longer, NULL};
  assert_null(diag_nearest("load", odd));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_failure_holds_id_and_message),
      cmocka_unit_test(a_second_failure_becomes_a_note),
      cmocka_unit_test(a_message_is_one_line_whatever_it_quotes),
      cmocka_unit_test(clear_makes_it_empty),
      cmocka_unit_test(the_first_location_is_kept),
      cmocka_unit_test(a_long_file_name_keeps_its_end),
      cmocka_unit_test(a_name_that_just_fits_is_not_cut),
      cmocka_unit_test(a_copy_has_everything),
      cmocka_unit_test(without_memory_the_failure_is_out_of_memory),
      cmocka_unit_test(every_error_has_a_name_that_finds_it),
      cmocka_unit_test(our_own_fault_aborts_or_reports),
      cmocka_unit_test(the_nearest_name_is_suggested),
      cmocka_unit_test(a_far_name_is_not_suggested),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
