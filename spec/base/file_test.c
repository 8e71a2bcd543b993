/* file_test.c -- spec/base: whole files in and out. Every test works in a folder of its own. */
#include "file.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "npy.h"
#include "support.h"

typedef struct Folder {
  char path[64];
  int before; /* working directory to go back to */
} Folder;

static int enter(void **state) {
  static Folder f;
  strcpy(f.path, "/tmp/nk-file-test-XXXXXX");
  f.before = open(".", O_RDONLY);
  if (!mkdtemp(f.path) || chdir(f.path) != 0) return -1;
  *state = &f;
  return 0;
}

static int count_entries(void) {
  DIR *dir = opendir(".");
  int n = 0;
  for (struct dirent *e = readdir(dir); e; e = readdir(dir)) n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
  closedir(dir);
  return n;
}

static int leave(void **state) {
  Folder *f = *state;
  DIR *dir = opendir(".");
  for (struct dirent *e = readdir(dir); e; e = readdir(dir))
    if (unlink(e->d_name) != 0) rmdir(e->d_name);
  closedir(dir);
  if (fchdir(f->before) != 0) return -1;
  close(f->before);
  return rmdir(f->path);
}

static void write_or_fail(const char *path, const char *data, size_t n) {
  Diag d;
  diag_init(&d, alloc_std);
  bool ok = file_write(path, data, n, &d);
  if (!ok) print_error("%s\n", diag_message(&d));
  assert_true(ok);
  diag_free(&d);
}

static void assert_contents(const char *path, const char *data, size_t n) {
  Diag d;
  Text t;
  diag_init(&d, alloc_std);
  text_init(&t, alloc_std);
  assert_true(file_read(path, &t, &d));
  assert_int_equal(t.len, n);
  assert_memory_equal(text_str(&t), data, n);
  text_free(&t);
  diag_free(&d);
}

static void what_is_written_is_read(void **state) {
  (void)state;
  write_or_fail("a.bin", "x\0y\n", 4);
  assert_contents("a.bin", "x\0y\n", 4);
  write_or_fail("empty", "", 0);
  assert_contents("empty", "", 0);
  size_t n = 1000003;
  char *big = malloc(n);
  for (size_t i = 0; i < n; i++) big[i] = (char)(i * 7);
  write_or_fail("big", big, n);
  assert_contents("big", big, n);
  free(big);
}

static void reading_appends(void **state) {
  (void)state;
  write_or_fail("a", "file", 4);
  Text t;
  Diag d;
  text_init(&t, alloc_std);
  diag_init(&d, alloc_std);
  text_puts(&t, "start ");
  assert_true(file_read("a", &t, &d));
  assert_text(&t, "start file");
  text_free(&t);
  diag_free(&d);
}

static void a_file_without_a_known_size_is_read(void **state) {
  (void)state;
  Text t;
  Diag d;
  text_init(&t, alloc_std);
  diag_init(&d, alloc_std);
  assert_true(file_read("/proc/self/status", &t, &d)); /* its size is given as 0 */
  assert_true(t.len > 100);
  assert_non_null(strstr(t.data, "Pid:"));
  text_free(&t);
  diag_free(&d);
}

static void refused_read(const char *path, ErrId id, const char *message) {
  Text t;
  Diag d;
  text_init(&t, alloc_std);
  diag_init(&d, alloc_std);
  text_puts(&t, "kept");
  assert_false(file_read(path, &t, &d));
  assert_int_equal(d.id, id);
  assert_string_equal(diag_message(&d), message);
  assert_text(&t, "kept");
  text_free(&t);
  diag_free(&d);
}

/* A pipe tells no size, so the text has to grow on the way. */
static void a_read_that_runs_out_of_memory_leaves_nothing(void **state) {
  (void)state;
  enum { MORE = 300000 };
  assert_int_equal(mkfifo("pipe", 0600), 0);
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    signal(SIGPIPE, SIG_DFL);
    int fd = open("pipe", O_WRONLY);
    static char zeros[MORE];
    _exit(write(fd, zeros, MORE) == MORE ? 0 : 1);
  }
  Ration r = {.left = 2};
  Text t;
  Diag d;
  text_init(&t, ration_alloc(&r));
  diag_init(&d, alloc_std);
  text_puts(&t, "kept");
  assert_false(file_read("pipe", &t, &d));
  waitpid(child, NULL, 0);
  assert_int_equal(d.id, ERR_nomem);
  assert_text(&t, "kept");
  assert_int_equal(t.len, 4);
  text_free(&t);
  diag_free(&d);
  assert_int_equal(r.live, 0);
}

static void a_missing_file_and_a_folder_are_errors(void **state) {
  (void)state;
  refused_read("none.npy", ERR_file_open, "cannot open 'none.npy': No such file or directory");
  refused_read(".", ERR_file_open, "cannot open '.': it is a folder");
}

static void standard_input_and_output_are_called_dash(void **state) {
  (void)state;
  write_or_fail("in", "piped", 5);
  fflush(stdout);
  int in = dup(0), out = dup(1), from = open("in", O_RDONLY), to = open("out", O_WRONLY | O_CREAT, 0600);
  dup2(from, 0);
  dup2(to, 1);
  Text t;
  Diag d;
  text_init(&t, alloc_std);
  diag_init(&d, alloc_std);
  bool read_ok = file_read("-", &t, &d);
  printf("printed before, ");
  bool write_ok = file_write("-", "written after", 13, &d);
  dup2(in, 0);
  dup2(out, 1);
  close(in);
  close(out);
  close(from);
  close(to);
  assert_true(read_ok && write_ok);
  assert_text(&t, "piped");
  assert_contents("out", "printed before, written after", 29);
  text_free(&t);
  diag_free(&d);
}

static void a_new_file_gets_the_mode_of_the_umask(void **state) {
  (void)state;
  mode_t before = umask(027);
  write_or_fail("a", "x", 1);
  umask(before);
  struct stat st;
  assert_int_equal(stat("a", &st), 0);
  assert_int_equal(st.st_mode & 0777, 0640);
}

static void a_replaced_file_keeps_its_mode(void **state) {
  (void)state;
  write_or_fail("a", "old and longer", 14);
  assert_int_equal(chmod("a", 0600), 0);
  write_or_fail("a", "new", 3);
  struct stat st;
  assert_int_equal(stat("a", &st), 0);
  assert_int_equal(st.st_mode & 0777, 0600);
  assert_contents("a", "new", 3);
  assert_int_equal(count_entries(), 1); /* no temporary file stays */
}

static void a_reader_of_the_old_file_keeps_it_whole(void **state) {
  (void)state;
  write_or_fail("a", "old", 3);
  int fd = open("a", O_RDONLY);
  write_or_fail("a", "new", 3);
  char got[4] = "";
  assert_int_equal(read(fd, got, 3), 3);
  close(fd);
  assert_string_equal(got, "old");
}

static void a_symbolic_link_keeps_pointing(void **state) {
  (void)state;
  write_or_fail("target", "old", 3);
  assert_int_equal(symlink("target", "link"), 0);
  write_or_fail("link", "new", 3);
  struct stat st;
  assert_int_equal(lstat("link", &st), 0);
  assert_true(S_ISLNK(st.st_mode));
  assert_contents("target", "new", 3);
}

/* A pipe of our own stands for every device: were there a fault, a real one would be replaced on the tester's machine.
 */
static void a_pipe_is_written_to_and_stays(void **state) {
  (void)state;
  assert_int_equal(mkfifo("pipe", 0600), 0);
  int reader = open("pipe", O_RDONLY | O_NONBLOCK);
  write_or_fail("pipe", "through", 7);
  char got[8] = "";
  assert_int_equal(read(reader, got, 7), 7);
  close(reader);
  assert_string_equal(got, "through");
  struct stat st;
  assert_int_equal(stat("pipe", &st), 0);
  assert_true(S_ISFIFO(st.st_mode));
  assert_int_equal(count_entries(), 1);
}

static void a_full_standard_output_is_an_error(void **state) {
  (void)state;
  Diag d;
  diag_init(&d, alloc_std);
  fflush(stdout);
  int out = dup(1), full = open("/dev/full", O_WRONLY); /* only ever through its descriptor */
  dup2(full, 1);
  bool ok = file_write("-", "x", 1, &d);
  dup2(out, 1);
  close(out);
  close(full);
  assert_false(ok);
  assert_int_equal(d.id, ERR_file_write);
  assert_string_equal(diag_message(&d), "cannot write 'standard output': No space left on device");
  diag_free(&d);
}

static void refused_write(const char *path, const char *message) {
  Diag d;
  diag_init(&d, alloc_std);
  int before = count_entries();
  assert_false(file_write(path, "x", 1, &d));
  assert_int_equal(d.id, ERR_file_write);
  assert_string_equal(diag_message(&d), message);
  assert_int_equal(count_entries(), before);
  diag_free(&d);
}

static void a_link_to_no_file_is_followed(void **state) {
  (void)state;
  assert_int_equal(mkdir("sub", 0700) | symlink("sub/second", "first") | symlink("third", "sub/second"), 0);
  write_or_fail("first", "new", 3);
  assert_contents("sub/third", "new", 3);
  struct stat st;
  assert_int_equal(lstat("first", &st) | !S_ISLNK(st.st_mode), 0);
  assert_int_equal(symlink("none/x", "astray") | symlink("round", "round"), 0);
  refused_write("astray", "cannot write 'astray': there is no such folder");
  refused_write("round", "cannot write 'round': Too many levels of symbolic links");
  assert_int_equal(lstat("astray", &st) | lstat("round", &st), 0);
  assert_int_equal(unlink("sub/second") | unlink("sub/third") | rmdir("sub"), 0);
}

static void what_cannot_be_written_is_an_error_and_leaves_nothing(void **state) {
  (void)state;
  assert_int_equal(mkdir("dir", 0700), 0);
  refused_write("dir", "cannot write 'dir': it is a folder");
  refused_write("none/a", "cannot write 'none/a': there is no such folder");
  refused_write("", "cannot write '': it is no name");
  refused_write("dir/", "cannot write 'dir/': it is a folder");
  refused_write("none/", "cannot write 'none/': there is no such folder");
  char name[300];
  memset(name, 'n', 256);
  name[256] = '\0';
  char message[400];
  snprintf(message, sizeof message, "cannot write '%s': File name too long", name);
  refused_write(name, message);
}

static void a_name_as_long_as_the_system_allows_is_written(void **state) {
  (void)state;
  char name[256];
  memset(name, 'n', 255);
  name[255] = '\0';
  write_or_fail(name, "x", 1);
  assert_contents(name, "x", 1);
}

/* In a child, because the superuser may write everything and has to become somebody else first. */
static void a_read_only_file_stays(void **state) {
  (void)state;
  write_or_fail("a", "old", 3);
  assert_int_equal(chmod("a", 0444), 0);
  assert_int_equal(chmod(".", 0777), 0);
  Diag d;
  diag_init(&d, alloc_std);
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(3);
    if (file_write("a", "new", 3, &d)) _exit(1);
    _exit(strcmp(diag_message(&d), "cannot write 'a': Permission denied") == 0 ? 0 : 2);
  }
  int status = -1;
  waitpid(child, &status, 0);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  assert_contents("a", "old", 3);
  assert_int_equal(count_entries(), 1);
  diag_free(&d);
}

/* A full disk in the middle of the write: the old file must still be there. */
static void a_failed_write_keeps_the_old_file(void **state) {
  (void)state;
  write_or_fail("a", "old", 3);
  Diag d;
  diag_init(&d, alloc_std);
  char *big = malloc(1 << 20);
  memset(big, 'x', 1 << 20);
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){1000, 1000});
    _exit(file_write("a", big, 1 << 20, &d) ? 1 : d.id == ERR_file_write ? 0 : 2);
  }
  int status = -1;
  waitpid(child, &status, 0);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  assert_contents("a", "old", 3);
  assert_int_equal(count_entries(), 1);
  free(big);
  diag_free(&d);
}

#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, enter, leave)

static void several_files_are_written_all_or_none(void **state) {
  (void)state;
  Diag d;
  diag_init(&d, alloc_std);
  write_or_fail("b", "old", 3);
  FileOut files[] = {{"a", "1", 1}, {"b", "22", 2}, {"no/such/folder", "3", 1}};
  assert_false(file_write_all(files, 3, &d));
  assert_int_equal(d.id, ERR_file_write);
  assert_non_null(strstr(diag_message(&d), "no/such/folder"));
  assert_contents("b", "old", 3);
  assert_int_equal(count_entries(), 1);
  diag_clear(&d);
  assert_true(file_write_all(files, 2, &d));
  assert_contents("a", "1", 1);
  assert_contents("b", "22", 2);
  assert_int_equal(count_entries(), 2);
  assert_true(file_write_all(files, 0, &d));
  diag_free(&d);
}

static void a_view_reads_what_is_asked_for(void **state) {
  (void)state;
  enum { N = 3 << 20 };
  char *big = malloc(N);
  for (size_t i = 0; i < N; i++) big[i] = (char)(i * 7 >> 3);
  write_or_fail("big", big, N);
  FileView v;
  Diag d;
  diag_init(&d, alloc_std);
  text_init(&v.bytes, alloc_std);
  assert_true(file_view("big", &npy_kind, &v, &d));
  assert_int_equal(v.in.n, N);
  assert_true(file_need(&v.in, N - 5, 5, &d) && file_need(&v.in, 1000, 2000000, &d));
  assert_memory_equal(v.in.data + N - 5, big + N - 5, 5);
  assert_memory_equal(v.in.data + 1000, big + 1000, 2000000);
  const FileIn part = {"part", v.in.data + 100, 50, v.in.source};
  assert_true(file_need(&part, 7, 43, &d));
  assert_memory_equal(part.data + 7, big + 107, 43);
  assert_int_equal(truncate("big", N - 100), 0);
  assert_false(file_need(&v.in, N - 200, 200, &d));
  assert_string_equal(diag_message(&d), "cannot read 'big': it became shorter while it was read");
  file_view_close(&v);
  diag_free(&d);
  free(big);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      IN_FOLDER(what_is_written_is_read),
      IN_FOLDER(reading_appends),
      IN_FOLDER(a_file_without_a_known_size_is_read),
      IN_FOLDER(a_read_that_runs_out_of_memory_leaves_nothing),
      IN_FOLDER(a_missing_file_and_a_folder_are_errors),
      IN_FOLDER(standard_input_and_output_are_called_dash),
      IN_FOLDER(a_new_file_gets_the_mode_of_the_umask),
      IN_FOLDER(a_replaced_file_keeps_its_mode),
      IN_FOLDER(a_reader_of_the_old_file_keeps_it_whole),
      IN_FOLDER(a_symbolic_link_keeps_pointing),
      IN_FOLDER(a_link_to_no_file_is_followed),
      IN_FOLDER(a_pipe_is_written_to_and_stays),
      IN_FOLDER(a_full_standard_output_is_an_error),
      IN_FOLDER(what_cannot_be_written_is_an_error_and_leaves_nothing),
      IN_FOLDER(a_name_as_long_as_the_system_allows_is_written),
      IN_FOLDER(a_read_only_file_stays),
      IN_FOLDER(a_failed_write_keeps_the_old_file),
      IN_FOLDER(a_view_reads_what_is_asked_for),
      IN_FOLDER(several_files_are_written_all_or_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
