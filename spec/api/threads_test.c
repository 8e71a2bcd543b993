/* threads_test.c -- spec/api: a context per thread, and one program for all of them. */
#include <pthread.h>

#include "support.h"

enum { THREADS = 4, ROUNDS = 20 };
static const float six[] = {1, 2, 3, 4, 5, 6}, ones[] = {1, 1, 1, 1, 1, 1};
static nkl_program *shared;

static nkl_status simulate(nkl_ctx *c, const nkl_program *p, float *last) {
  nkl_tensor *in[] = {matrix(c, 2, 3, six), matrix(c, 2, 3, ones)}, *sum;
  nkl_sim s;
  nkl_sim_init(&s);
  s.inputs = in;
  s.ninputs = 2;
  nkl_status status = nkl_simulate(p, &s, &sum, NULL);
  if (status == NKL_OK) *last = floats(sum)[5];
  nkl_tensor_release(sum);
  nkl_tensor_release(in[0]);
  nkl_tensor_release(in[1]);
  return status;
}

/* 0, or which step went wrong; cmocka's assertions belong to its own thread. */
static void *work(void *arg) {
  intptr_t number = (intptr_t)arg;
  nkl_options o;
  nkl_options_init(&o);
  o.target = number % 2 ? "trn1" : "trn2";
  for (int round = 0; round < ROUNDS; round++) {
    static const char source[] = ADD_SCALED;
    nkl_ctx *c;
    nkl_kernel *k = NULL;
    nkl_program *p = NULL;
    nkl_tensor *t = NULL;
    float last = 0;
    if (nkl_open(&c, &o) != NKL_OK) return (void *)1;
    if (nkl_load_string(c, source, sizeof source - 1, "@script.lua") != NKL_OK || nkl_get_kernel(c, NULL, &k) != NKL_OK)
      return (void *)2;
    t = matrix(c, 2, 3, ones);
    nkl_arg args[] = {tensor_arg(t), tensor_arg(t), {.kind = NKL_ARG_INT, .u.i = number}};
    if (specialize(c, k, args, 3, &p) != NKL_OK) return (void *)3;
    if (strcmp(nkl_program_target(p), o.target) != 0) return (void *)4;
    if (simulate(c, p, &last) != NKL_OK || last != 6 + (float)number) return (void *)5;
    nkl_program *mine = nkl_program_retain(shared);
    if (simulate(c, mine, &last) != NKL_OK || last != 106) return (void *)6;
    nkl_program_release(mine);
    nkl_tensor_release(t);
    nkl_program_release(p);
    nkl_kernel_release(k);
    nkl_close(c);
  }
  return NULL;
}

static void contexts_do_not_know_each_other(void **state) {
  (void)state;
  nkl_ctx *c = open_quiet(NULL, NULL);
  nkl_kernel *k = kernel_of(c, ADD_SCALED);
  nkl_tensor *t = matrix(c, 2, 3, ones);
  nkl_arg args[] = {tensor_arg(t), tensor_arg(t), {.kind = NKL_ARG_INT, .u.i = 100}};
  assert_int_equal(specialize(c, k, args, 3, &shared), NKL_OK);
  pthread_t threads[THREADS];
  for (intptr_t i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)(i + 1)), 0);
  for (int i = 0; i < THREADS; i++) {
    void *failed;
    pthread_join(threads[i], &failed);
    assert_int_equal((intptr_t)failed, 0);
  }
  nkl_program_release(shared);
  nkl_tensor_release(t);
  nkl_kernel_release(k);
  nkl_close(c);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(contexts_do_not_know_each_other)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
