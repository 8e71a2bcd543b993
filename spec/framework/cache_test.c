/* cache_test.c -- spec/framework: the specialization cache by itself. */
#include "cache.h"

#include <stdio.h>

#include "module.h"

static Artifact *new_artifact(void) {
  const Plan p = {.name = "k", .fresh = 1, .returned = {10, -1}, .target = TARGET_trn2};
  return plan_artifact(&p);
}

static void put(FwCache *c, const char *key, Artifact *a) { assert_true(cache_put(c, key, strlen(key), a)); }
static const Artifact *get(FwCache *c, const char *key) { return fw_cache_get(c, key, strlen(key)); }

static void finds_by_full_key(void **state) {
  (void)state;
  FwCache *c = fw_cache_new(alloc_std);
  Artifact *a = new_artifact(), *b = new_artifact();
  put(c, "one", a);
  put(c, "one ", b);
  assert_ptr_equal(get(c, "one"), a);
  assert_ptr_equal(get(c, "one "), b);
  assert_null(get(c, "on"));
  assert_null(fw_cache_get(c, "", 0));
  FwCacheInfo info = fw_cache_info(c);
  assert_int_equal(info.hits, 2);
  assert_int_equal(info.misses, 2);
  assert_int_equal(info.entries, 2);
  artifact_release(a);
  assert_int_equal(a->refs, 1); /* the cache holds it */
  fw_cache_free(c);
  assert_int_equal(b->refs, 1);
  artifact_release(b);
}

static void keeps_everything_without_limit(void **state) {
  (void)state;
  FwCache *c = fw_cache_new(alloc_std);
  Artifact *a = new_artifact();
  char key[32];
  for (int i = 0; i < 5000; i++) {
    snprintf(key, sizeof key, "key %d", i);
    put(c, key, a);
  }
  for (int i = 0; i < 5000; i++) {
    snprintf(key, sizeof key, "key %d", i);
    assert_ptr_equal(get(c, key), a);
  }
  assert_int_equal(fw_cache_info(c).entries, 5000);
  assert_int_equal(a->refs, 5001);
  fw_cache_clear(c);
  assert_int_equal(a->refs, 1);
  assert_int_equal(fw_cache_info(c).entries, 0);
  assert_int_equal(fw_cache_info(c).hits, 0);
  assert_null(get(c, "key 1"));
  fw_cache_free(c);
  artifact_release(a);
}

static void limit_drops_the_least_recently_used(void **state) {
  (void)state;
  FwCache *c = fw_cache_new(alloc_std);
  Artifact *a = new_artifact();
  fw_cache_limit(c, 2);
  put(c, "1", a);
  put(c, "2", a);
  assert_non_null(get(c, "1"));
  put(c, "3", a);
  assert_null(get(c, "2"));
  assert_non_null(get(c, "1"));
  assert_non_null(get(c, "3"));
  assert_int_equal(fw_cache_info(c).entries, 2);
  char key[16];
  for (int i = 0; i < 500; i++) { /* removing among colliding slots */
    snprintf(key, sizeof key, "%d", i % 37);
    if (!get(c, key)) put(c, key, a);
    assert_ptr_equal(get(c, key), a);
    assert_true(fw_cache_info(c).entries <= 2);
  }
  fw_cache_free(c);
  assert_int_equal(a->refs, 1);
  artifact_release(a);
}

static void putting_again_replaces(void **state) {
  (void)state;
  FwCache *c = fw_cache_new(alloc_std);
  Artifact *a = new_artifact(), *b = new_artifact();
  put(c, "k", a);
  put(c, "k", b);
  assert_ptr_equal(get(c, "k"), b);
  assert_int_equal(a->refs, 1);
  assert_int_equal(fw_cache_info(c).entries, 1);
  fw_cache_free(c);
  artifact_release(a);
  artifact_release(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(finds_by_full_key),
      cmocka_unit_test(keeps_everything_without_limit),
      cmocka_unit_test(limit_drops_the_least_recently_used),
      cmocka_unit_test(putting_again_replaces),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
