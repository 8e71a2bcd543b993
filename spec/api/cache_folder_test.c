/* cache_folder_test.c -- spec/api: contexts of several threads, and of several processes, that share the folder of a
   persistent cache. Whoever comes first writes; what is read is what would have been traced. */
#include <dirent.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

enum { WORKERS = 4, KEYS = 6, ROUNDS = 8 };
static const float six[] = {1, 2, 3, 4, 5, 6}, ones[] = {1, 1, 1, 1, 1, 1};
static char folder[] = "/tmp/nkilua-cache-XXXXXX";
static nkl_buf expected[KEYS]; /* the configs, from a context without a folder */
static pthread_barrier_t start;

static int count(const char *text, const char *part) {
  int n = 0;
  for (const char *at = text; (at = strstr(at, part)); at++) n++;
  return n;
}

static nkl_ctx *open_at(const char *cache_dir, Said *said) {
  nkl_ctx *c;
  nkl_options o;
  nkl_options_init(&o);
  o.target = "trn2";
  o.cache_dir = cache_dir;
  o.flags |= NKL_OPT_EXPLAIN_CACHE;
  o.warn = hear;
  o.warn_ud = said;
  return nkl_open(&c, &o) == NKL_OK ? c : NULL;
}

/* The program of key `number`, or NULL. */
static nkl_program *of_number(nkl_ctx *c, nkl_kernel *k, nkl_tensor *t, int number) {
  nkl_program *p = NULL;
  nkl_arg args[] = {tensor_arg(t), tensor_arg(t), {.kind = NKL_ARG_INT, .u.i = number}};
  return specialize(c, k, args, 3, &p) == NKL_OK ? p : NULL;
}

static int same_config(const nkl_program *p, int number) {
  nkl_buf config = NKL_BUF_INIT;
  int same = nkl_program_render(p, NKL_FMT_BACKEND_CONFIG, &config, NULL) == NKL_OK &&
             config.size == expected[number].size && memcmp(config.data, expected[number].data, config.size) == 0;
  nkl_buf_free(&config);
  return same;
}

static int runs(nkl_ctx *c, const nkl_program *p, int number) {
  nkl_tensor *in[] = {matrix(c, 2, 3, six), matrix(c, 2, 3, ones)}, *sum = NULL;
  nkl_sim s;
  nkl_sim_init(&s);
  s.inputs = in;
  s.ninputs = 2;
  int right = nkl_simulate(p, &s, &sum, NULL) == NKL_OK && floats(sum)[5] == 6 + (float)number;
  nkl_tensor_release(sum);
  nkl_tensor_release(in[0]);
  nkl_tensor_release(in[1]);
  return right;
}

/* Every key once, beginning with key `first`; 0, or which step went wrong: cmocka's assertions are for one thread. */
static int use_folder(int first, Said *said) {
  nkl_kernel *k = NULL;
  nkl_ctx *c = open_at(folder, said);
  int failed = !c ? 1 : load(c, ADD_SCALED) != NKL_OK || nkl_get_kernel(c, NULL, &k) != NKL_OK ? 2 : 0;
  nkl_tensor *t = failed ? NULL : matrix(c, 2, 3, ones);
  for (int i = 0; i < KEYS && !failed; i++) {
    int number = (first + i) % KEYS;
    nkl_program *p = of_number(c, k, t, number);
    failed = !p ? 3 : !same_config(p, number) ? 4 : !runs(c, p, number) ? 5 : 0;
    nkl_program_release(p);
  }
  nkl_tensor_release(t);
  nkl_kernel_release(k);
  nkl_close(c);
  const int disk = count(said->text, "hit on disk\n"), traced = count(said->text, "; kept in memory and on disk\n");
  return failed || (disk + traced == KEYS && count(said->text, "\n") == KEYS) ? failed : 6; /* no warning */
}

static void *in_thread(void *arg) {
  Said said = {.n = 0};
  pthread_barrier_wait(&start);
  return (void *)(intptr_t)use_folder((int)(intptr_t)arg, &said);
}

/* Removes the files; how many there were of finished ones, -1 when there was any other. */
static int emptied(void) {
  int n = 0, other = 0;
  char path[512];
  DIR *dir = opendir(folder);
  for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    const char *end = strrchr(e->d_name, '.');
    if (end && strcmp(end, ".nkc") == 0)
      n++;
    else
      other++;
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    assert_int_equal(unlink(path), 0);
  }
  closedir(dir);
  return other ? -1 : n;
}

/* One more finds all of it. */
static void all_is_there(void) {
  Said said = {.n = 0};
  assert_int_equal(use_folder(0, &said), 0);
  assert_int_equal(count(said.text, "hit on disk\n"), KEYS);
  assert_int_equal(emptied(), KEYS);
}

static void threads_share_a_folder(void **state) {
  (void)state;
  for (int round = 0; round < ROUNDS; round++) {
    pthread_t thread[WORKERS];
    assert_int_equal(pthread_barrier_init(&start, NULL, WORKERS), 0);
    for (intptr_t i = 0; i < WORKERS; i++)
      assert_int_equal(pthread_create(&thread[i], NULL, in_thread, (void *)(round % 2 ? i : 0)), 0);
    for (int i = 0; i < WORKERS; i++) {
      void *failed;
      pthread_join(thread[i], &failed);
      assert_int_equal((intptr_t)failed, 0);
    }
    pthread_barrier_destroy(&start);
    all_is_there();
  }
}

static void processes_share_a_folder(void **state) {
  (void)state;
  for (int round = 0; round < ROUNDS; round++) {
    pid_t child[WORKERS];
    int go[2];
    assert_int_equal(pipe(go), 0);
    fflush(NULL);
    for (int i = 0; i < WORKERS; i++) {
      child[i] = fork();
      if (child[i]) continue;
      Said said = {.n = 0};
      char byte;
      close(go[1]);
      if (read(go[0], &byte, 1) != 0) _exit(99); /* all begin when the writer closes */
      _exit(use_folder(round % 2 ? i : 0, &said));
    }
    close(go[0]);
    close(go[1]);
    for (int i = 0; i < WORKERS; i++) {
      int status;
      assert_int_equal(waitpid(child[i], &status, 0), child[i]);
      assert_int_equal(status, 0);
    }
    all_is_there();
  }
}

static int setup(void **state) {
  (void)state;
  Said said = {.n = 0};
  if (!mkdtemp(folder)) return -1;
  nkl_ctx *c = open_at("", &said);
  nkl_kernel *k = kernel_of(c, ADD_SCALED);
  nkl_tensor *t = matrix(c, 2, 3, ones);
  for (int i = 0; i < KEYS; i++) {
    nkl_program *p = of_number(c, k, t, i);
    assert_int_equal(nkl_program_render(p, NKL_FMT_BACKEND_CONFIG, &expected[i], NULL), NKL_OK);
    nkl_program_release(p);
  }
  nkl_tensor_release(t);
  nkl_kernel_release(k);
  nkl_close(c);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  for (int i = 0; i < KEYS; i++) nkl_buf_free(&expected[i]);
  return rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(threads_share_a_folder),
                                     cmocka_unit_test(processes_share_a_folder)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
