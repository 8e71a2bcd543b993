/* arena_test.c -- spec/base: the bump allocator and the standard allocator. */
#include "arena.h"

#include "support.h"

static void memory_is_zeroed_and_16_byte_aligned(void **state) {
  (void)state;
  Arena a;
  arena_init(&a, alloc_std);
  for (size_t n = 0; n < 300; n++) {
    unsigned char *p = arena_alloc(&a, n);
    assert_non_null(p);
    assert_int_equal((uintptr_t)p % 16, 0);
    for (size_t i = 0; i < n; i++) assert_int_equal(p[i], 0);
    memset(p, 0xA5, n);
  }
  arena_free(&a);
}

static void blocks_do_not_overlap(void **state) {
  (void)state;
  Arena a;
  arena_init(&a, alloc_std);
  enum { COUNT = 500 };
  uint32_t *block[COUNT];
  for (uint32_t i = 0; i < COUNT; i++) {
    block[i] = arena_newn(&a, uint32_t, i + 1);
    for (uint32_t k = 0; k <= i; k++) block[i][k] = i;
  }
  for (uint32_t i = 0; i < COUNT; i++)
    for (uint32_t k = 0; k <= i; k++) assert_int_equal(block[i][k], i);
  arena_free(&a);
}

static void zero_bytes_give_distinct_valid_pointers(void **state) {
  (void)state;
  Arena a;
  arena_init(&a, alloc_std);
  void *p = arena_alloc(&a, 0), *q = arena_alloc(&a, 0);
  assert_non_null(p);
  assert_ptr_not_equal(p, q);
  arena_free(&a);
}

static void rewind_gives_back_and_hands_out_zeroed_memory_again(void **state) {
  (void)state;
  Ration r = {.left = -1};
  Arena a;
  arena_init(&a, ration_alloc(&r));
  char *kept = arena_strdup(&a, "kept", 4);
  ArenaMark m = arena_mark(&a);
  size_t live = r.live, used = a.used;
  char *first = arena_alloc(&a, 64);
  memset(first, 1, 64);
  memset(arena_alloc(&a, 3 << 20), 1, 3 << 20); /* a chunk of its own */
  assert_true(r.live > live);
  arena_rewind(&a, m);
  assert_int_equal(r.live, live);
  assert_int_equal(a.used, used);
  char *again = arena_alloc(&a, 64);
  assert_ptr_equal(again, first);
  for (int i = 0; i < 64; i++) assert_int_equal(again[i], 0);
  assert_string_equal(kept, "kept");
  arena_free(&a);
  assert_int_equal(r.live, 0);
  assert_false(r.wrong);
}

static void rewind_to_the_empty_arena_frees_everything(void **state) {
  (void)state;
  Ration r = {.left = -1};
  Arena a;
  arena_init(&a, ration_alloc(&r));
  ArenaMark m = arena_mark(&a);
  arena_alloc(&a, 100000);
  arena_rewind(&a, m);
  assert_int_equal(r.live, 0);
  assert_non_null(arena_alloc(&a, 8));
  arena_free(&a);
  assert_int_equal(r.live, 0);
}

static void free_leaves_an_arena_that_works_again(void **state) {
  (void)state;
  Arena a;
  arena_init(&a, alloc_std);
  arena_alloc(&a, 10);
  arena_free(&a);
  assert_int_equal(a.used, 0);
  assert_string_equal(arena_strdup(&a, "again", 5), "again");
  arena_free(&a);
}

static void failure_is_sticky(void **state) {
  (void)state;
  Ration r = {.left = 1, .once = true};
  Arena a;
  arena_init(&a, ration_alloc(&r));
  assert_non_null(arena_alloc(&a, 16));
  assert_null(arena_alloc(&a, 1 << 20));
  assert_true(a.oom);
  assert_null(arena_alloc(&a, 1));
  arena_free(&a);
  assert_false(a.oom);
  assert_int_equal(r.live, 0);
}

static void sizes_that_overflow_are_out_of_memory(void **state) {
  (void)state;
  const size_t most = SIZE_MAX;
  Arena a;
  arena_init(&a, alloc_std);
  assert_null(arena_array(&a, most / 2, 3));
  assert_true(a.oom);
  arena_free(&a);
  assert_null(arena_alloc(&a, most));
  assert_true(a.oom);
  arena_free(&a);
  assert_null(arena_alloc(&a, most - 8));
  arena_free(&a);
  assert_null(arena_strdup(&a, "", most));
  arena_free(&a);
}

static void printf_formats_short_and_long_texts(void **state) {
  (void)state;
  Arena a;
  arena_init(&a, alloc_std);
  assert_string_equal(arena_printf(&a, "%s_%d", "sbuf", 7), "sbuf_7");
  assert_string_equal(arena_printf(&a, "%s", ""), "");
  for (int width = 250; width < 260; width++) { /* around the inner buffer's size */
    char *s = arena_printf(&a, "%*d", width, 5);
    assert_int_equal(strlen(s), width);
    assert_int_equal(s[width - 1], '5');
  }
  arena_free(&a);
}

static void chunks_with_huge_pages_keep_every_block_and_rewind(void **state) {
  (void)state;
  enum { COUNT = 20000, ROOM = 1000 };
  static char *block[COUNT];
  Ration r = {.left = -1};
  Arena a;
  arena_init(&a, ration_alloc(&r));
  ArenaMark m = {0};
  for (int i = 0; i < COUNT; i++) {
    if (i == COUNT / 2) m = arena_mark(&a);
    block[i] = arena_alloc(&a, ROOM);
    assert_non_null(block[i]);
    memset(block[i], i % 101, ROOM);
  }
  assert_true(a.used >= (size_t)COUNT * ROOM && r.live < 2 * (size_t)COUNT * ROOM);
  arena_rewind(&a, m);
  for (int i = 0; i < COUNT / 2; i++)
    for (int k = 0; k < ROOM; k++) assert_int_equal(block[i][k], i % 101);
  char *again = arena_alloc(&a, ROOM);
  for (int k = 0; k < ROOM; k++) assert_int_equal(again[k], 0);
  arena_free(&a);
  assert_int_equal(r.live, 0);
  assert_false(r.wrong);
}

static void grow_keeps_what_was_pushed(void **state) {
  (void)state;
  Arena a;
  arena_init(&a, alloc_std);
  uint64_t *v = NULL;
  uint32_t cap = 0, count = 0;
  for (uint64_t i = 0; i < 5000; i++) {
    assert_true(arena_push(&a, v, cap, count));
    v[count++] = i * i;
  }
  assert_true(cap >= count && cap < 2 * 5000);
  for (uint64_t i = 0; i < 5000; i++) assert_int_equal(v[i], i * i);
  arena_free(&a);
}

static void grow_refuses_a_full_counter(void **state) {
  (void)state;
  Arena a;
  arena_init(&a, alloc_std);
  char *v = NULL;
  uint32_t cap = UINT32_MAX;
  assert_false(arena_grow(&a, &v, &cap, UINT32_MAX, 1));
  assert_true(a.oom);
  arena_free(&a);
}

static void standard_allocator_follows_the_contract(void **state) {
  (void)state;
  char *p = alloc_new(&alloc_std, 4);
  memcpy(p, "abc", 4);
  p = alloc_grow(&alloc_std, p, 4, 1 << 16);
  assert_string_equal(p, "abc");
  alloc_free(&alloc_std, p, 1 << 16);
  alloc_free(&alloc_std, NULL, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_is_zeroed_and_16_byte_aligned),
      cmocka_unit_test(blocks_do_not_overlap),
      cmocka_unit_test(zero_bytes_give_distinct_valid_pointers),
      cmocka_unit_test(rewind_gives_back_and_hands_out_zeroed_memory_again),
      cmocka_unit_test(rewind_to_the_empty_arena_frees_everything),
      cmocka_unit_test(free_leaves_an_arena_that_works_again),
      cmocka_unit_test(failure_is_sticky),
      cmocka_unit_test(sizes_that_overflow_are_out_of_memory),
      cmocka_unit_test(printf_formats_short_and_long_texts),
      cmocka_unit_test(chunks_with_huge_pages_keep_every_block_and_rewind),
      cmocka_unit_test(grow_keeps_what_was_pushed),
      cmocka_unit_test(grow_refuses_a_full_counter),
      cmocka_unit_test(standard_allocator_follows_the_contract),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
