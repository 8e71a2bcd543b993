/* pool_test.c -- spec/base: small blocks on free lists. */
#include "pool.h"

#include "support.h"

enum { SLOTS = 400, ROUNDS = 60000, LARGEST = 600 };

typedef struct Slot {
  unsigned char *p;
  size_t n;
  unsigned char fill;
} Slot;

static void assert_holds(const Slot *s, size_t n) {
  for (size_t i = 0; i < n; i++) assert_int_equal(s->p[i], s->fill);
}

static void blocks_keep_their_bytes_whatever_is_made_and_freed_around_them(void **state) {
  (void)state;
  Ration r = {.left = -1};
  Pool pool;
  Slot slot[SLOTS] = {0};
  uint64_t seed = 7;
  pool_init(&pool, ration_alloc(&r));
  for (int i = 0; i < ROUNDS; i++) {
    Slot *s = &slot[next_random(&seed) % SLOTS];
    size_t n = next_random(&seed) % 3 ? next_random(&seed) % LARGEST : 0;
    s->p = pool_realloc(&pool, s->p, s->n, n);
    assert_int_equal((uintptr_t)s->p % 16, 0);
    assert_true((s->p == NULL) == (n == 0));
    assert_holds(s, n < s->n ? n : s->n);
    *s = (Slot){s->p, n, (unsigned char)next_random(&seed)};
    if (n) memset(s->p, s->fill, n);
  }
  for (int i = 0; i < SLOTS; i++) {
    assert_holds(&slot[i], slot[i].n);
    pool_realloc(&pool, slot[i].p, slot[i].n, 0);
  }
  pool_free(&pool);
  assert_int_equal(r.live, 0);
  assert_false(r.wrong);
}

static void a_freed_size_is_handed_out_again_without_the_allocator(void **state) {
  (void)state;
  Ration r = {.left = -1};
  Pool pool;
  pool_init(&pool, ration_alloc(&r));
  void *first = pool_realloc(&pool, NULL, 0, 100);
  pool_realloc(&pool, first, 100, 0);
  long calls = r.calls;
#ifndef NK_ASAN /* there every block is the allocator's own */
  assert_ptr_equal(pool_realloc(&pool, NULL, 0, 97), first);
  assert_int_equal(r.calls, calls);
  pool_realloc(&pool, first, 97, 0);
#else
  (void)calls;
#endif
  pool_free(&pool);
  assert_int_equal(r.live, 0);
}

static void without_memory_the_old_block_stays_and_later_calls_may_succeed(void **state) {
  (void)state;
  for (long left = 0; left < 6; left++) {
    Ration r = {.left = left, .once = true};
    Pool pool;
    pool_init(&pool, ration_alloc(&r));
    static const size_t sizes[] = {40, 200, 1000, 5000, 90, 300, 16};
    Slot s = {NULL, 0, 0};
    int refused = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      void *q = pool_realloc(&pool, s.p, s.n, sizes[i]);
      if (!q) {
        refused++;
        assert_holds(&s, s.n);
        continue;
      }
      s.p = q;
      assert_holds(&s, s.n < sizes[i] ? s.n : sizes[i]);
      s = (Slot){q, sizes[i], (unsigned char)(i + 1)};
      memset(s.p, s.fill, s.n);
    }
    assert_true(refused <= 1);
    if (left < 3) assert_int_equal(refused, 1);
    pool_realloc(&pool, s.p, s.n, 0);
    pool_free(&pool);
    assert_int_equal(r.live, 0);
    assert_false(r.wrong);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_keep_their_bytes_whatever_is_made_and_freed_around_them),
      cmocka_unit_test(a_freed_size_is_handed_out_again_without_the_allocator),
      cmocka_unit_test(without_memory_the_old_block_stays_and_later_calls_may_succeed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
