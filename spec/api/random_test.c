/* random_test.c -- spec/api: random numbers of one program that 1, 2 or 4 threads run at the same time: those of the
   generator that docs/semantics.md describes, in every thread. */
#include <pthread.h>
#include <stdbool.h>

#include "support.h"

#define DRAWN                                                                        \
  "local nki, nl, nisa = require 'nki', require 'nki.language', require 'nki.isa'\n" \
  "return nki.jit(function(seed)\n"                                                  \
  "  local words = nl.ndarray({64, 33}, nl.uint32)\n"                                \
  "  nl.random_seed(nl.load(seed, nl.int32))\n"                                      \
  "  nisa.rng(words)\n"                                                              \
  "  local out = nl.ndarray({64, 33}, nl.uint32, {buffer = nl.shared_hbm})\n"        \
  "  nl.store(out, words)\n"                                                         \
  "  return out\n"                                                                   \
  "end, {func_name = 'drawn', platform_target = 'trn1'})\n"
enum { LANES = 64, WORDS = 33, SEED = 77, ROUNDS = 30, MOST = 4 };

static nkl_program *program;
static nkl_tensor *seed;
static uint32_t wanted[LANES * WORDS];

static uint64_t mix(uint64_t z) {
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static void want(void) {
  for (uint64_t lane = 0; lane < LANES; lane++) {
    uint32_t x = (uint32_t)(mix(mix(SEED) + (24 * lane + 1) * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
    for (int i = 0; i < WORDS; i++) {
      x ^= x << 13;
      x ^= x >> 17;
      x ^= x << 5;
      wanted[lane * WORDS + (uint64_t)i] = x;
    }
  }
}

/* NULL when every round gives the wanted words. */
static void *draw(void *arg) {
  (void)arg;
  for (int round = 0; round < ROUNDS; round++) {
    nkl_tensor *in[] = {seed}, *out = NULL;
    nkl_sim s = sim_of(in, 1, NULL, NULL);
    if (nkl_simulate(program, &s, &out, NULL) != NKL_OK) return (void *)1;
    bool same = memcmp(floats(out), wanted, sizeof wanted) == 0;
    nkl_tensor_release(out);
    if (!same) return (void *)2;
  }
  return NULL;
}

static void words_do_not_depend_on_threads(void **state) {
  (void)state;
  static const float value[] = {SEED};
  want();
  nkl_ctx *c = open_quiet(NULL, NULL);
  seed = matrix(c, 1, 1, value);
  program = program_of(c, DRAWN, &seed, 1);
  for (int n = 1; n <= MOST; n *= 2) {
    pthread_t threads[MOST];
    for (int i = 0; i < n; i++) assert_int_equal(pthread_create(&threads[i], NULL, draw, NULL), 0);
    for (int i = 0; i < n; i++) {
      void *failed;
      pthread_join(threads[i], &failed);
      assert_int_equal((intptr_t)failed, 0);
    }
  }
  nkl_program_release(program);
  nkl_tensor_release(seed);
  nkl_close(c);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(words_do_not_depend_on_threads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
