/* specialize_test.c -- spec/framework: the pipeline, driven by a trace callback of the test's own. */
#include "module.h"

typedef struct Fake {
  const Plan *plan;
  int traces, encodes;
  bool impure, collectives, fail, again;
  FwCache *cache;
} Fake;

static FwPipeline pipeline_of(Fake *fake);

static IrModule *trace(void *ud, const FwRequest *r, bool *has_collectives, bool *impure, Diag *d) {
  Fake *fake = ud;
  fake->traces++;
  *has_collectives = fake->collectives;
  *impure = fake->impure;
  if (fake->fail) return DIAG(d, grid, r->func_name, "no"), NULL;
  if (fake->again) { /* the body specializes another signature with the same cache */
    fake->again = false;
    FwRequest other = *r;
    other.captured = "inner";
    other.ncaptured = 5;
    FwPipeline p = pipeline_of(fake);
    artifact_release(fw_specialize(fake->cache, &p, &other, alloc_std, d));
  }
  return plan_module(fake->plan, d);
}

static bool encode(void *ud, const FwRequest *r, Artifact *a, Diag *d) {
  ((Fake *)ud)->encodes++;
  (void)r;
  return config_encode(a, d);
}

static FwPipeline pipeline_of(Fake *fake) {
  return (FwPipeline){.ud = fake, .specialize_and_call = trace, .encode_backend_config = encode};
}

static const Plan plan = {.name = "k", .returned = {0, -1}, .write_operand = true, .target = TARGET_trn2};
static const FwArg args[] = {{.name = "a", .is_tensor = true, .dtype = DT_float32, .rank = 2, .shape = {4, 8}},
                             {.name = "c", .value = {.kind = CONST_INT, .i = 7}},
                             {.name = "b", .is_tensor = true, .dtype = DT_bfloat16, .rank = 2, .shape = {4, 8}}};
static const FwRequest request = {
    .func_name = "k", .target = TARGET_trn2, .args = args, .nargs = 3, .captured = "x", .ncaptured = 1};

static void a_hit_is_the_same_artifact(void **state) {
  (void)state;
  Fake fake = {.plan = &plan, .collectives = true};
  FwPipeline p = pipeline_of(&fake);
  FwCache *c = fw_cache_new(alloc_std);
  Diag d;
  diag_init(&d, alloc_std);
  const Artifact *a = fw_specialize(c, &p, &request, alloc_std, &d);
  if (!a) fail_msg("%s", diag_message(&d));
  const Artifact *b = fw_specialize(c, &p, &request, alloc_std, &d);
  assert_ptr_equal(a, b);
  assert_int_equal(fake.traces, 1);
  assert_int_equal(fake.encodes, 1);
  assert_int_equal(strlen(a->cache_key), 32);
  assert_true(a->has_collectives);
  assert_non_null(strstr(a->config_json, "\"has_collectives\":true"));
  assert_int_equal(a->nconstants, 1);
  assert_string_equal(a->constants[0].name, "c");
  assert_int_equal(a->module->naliases, 1);
  FwRequest other = request;
  other.captured = "y";
  const Artifact *e = fw_specialize(c, &p, &other, alloc_std, &d);
  assert_ptr_not_equal(a, e);
  assert_string_not_equal(a->cache_key, e->cache_key);
  assert_int_equal(fw_cache_info(c).hits, 1);
  assert_int_equal(fw_cache_info(c).misses, 2);
  fw_cache_free(c);
  assert_int_equal(a->refs, 2); /* ours */
  artifact_release(a);
  artifact_release(b);
  artifact_release(e);
  diag_free(&d);
}

typedef struct Count {
  int64_t calls;
} Count;

static void *counting(void *ud, void *ptr, size_t osize, size_t nsize) {
  if (nsize) ((Count *)ud)->calls++;
  return alloc_std.fn(alloc_std.ud, ptr, osize, nsize);
}

static void a_hit_allocates_nothing(void **state) {
  (void)state;
  Count count = {0};
  const Alloc alloc = {counting, &count};
  Fake fake = {.plan = &plan};
  FwPipeline p = pipeline_of(&fake);
  FwCache *c = fw_cache_new(alloc);
  Diag d;
  diag_init(&d, alloc);
  artifact_release(fw_specialize(c, &p, &request, alloc, &d));
  int64_t before = count.calls;
  assert_true(before > 0);
  for (int i = 0; i < 10; i++) artifact_release(fw_specialize(c, &p, &request, alloc, &d));
  assert_true(count.calls == before);
  fw_cache_free(c);
  diag_free(&d);
}

static void impure_runs_are_not_stored(void **state) {
  (void)state;
  Fake fake = {.plan = &plan, .impure = true};
  FwPipeline p = pipeline_of(&fake);
  FwCache *c = fw_cache_new(alloc_std);
  Diag d;
  diag_init(&d, alloc_std);
  for (int i = 1; i <= 2; i++) {
    const Artifact *a = fw_specialize(c, &p, &request, alloc_std, &d);
    assert_non_null(a);
    assert_int_equal(a->refs, 1);
    artifact_release(a);
    assert_int_equal(fake.traces, i);
  }
  fw_cache_reason(c, "the run changed captured state: n");
  FwCacheInfo info = fw_cache_info(c);
  assert_int_equal(info.impure, 2);
  assert_int_equal(info.entries, 0);
  assert_string_equal(info.last_reason, "the run changed captured state: n");
  fw_cache_free(c);
  diag_free(&d);
}

static void failures_are_not_stored(void **state) {
  (void)state;
  Fake fake = {.plan = &plan, .fail = true};
  FwPipeline p = pipeline_of(&fake);
  FwCache *c = fw_cache_new(alloc_std);
  Diag d;
  diag_init(&d, alloc_std);
  assert_null(fw_specialize(c, &p, &request, alloc_std, &d));
  assert_string_equal(diag_message(&d), "kernel k: no");
  diag_clear(&d);
  fake.fail = false;
  const Plan twice = {.name = "k", .returned = {0, 0, -1}, .write_operand = true, .target = TARGET_trn2};
  fake.plan = &twice;
  assert_null(fw_specialize(c, &p, &request, alloc_std, &d));
  assert_int_equal(d.id, ERR_alias_twice);
  assert_int_equal(fw_cache_info(c).entries, 0);
  fw_cache_free(c);
  diag_free(&d);
}

static void without_a_cache_every_call_traces(void **state) {
  (void)state;
  Fake fake = {.plan = &plan};
  FwPipeline p = pipeline_of(&fake);
  Diag d;
  diag_init(&d, alloc_std);
  const Artifact *a = fw_specialize(NULL, &p, &request, alloc_std, &d),
                 *b = fw_specialize(NULL, &p, &request, alloc_std, &d);
  assert_ptr_not_equal(a, b);
  assert_string_equal(a->cache_key, b->cache_key);
  assert_string_equal(a->backend_config, b->backend_config);
  assert_int_equal(fake.traces, 2);
  artifact_release(a);
  artifact_release(b);
  diag_free(&d);
}

/* The look-up's storage is used by the inner call; the outer entry must keep its own key. */
static void a_trace_may_use_the_cache(void **state) {
  (void)state;
  FwCache *c = fw_cache_new(alloc_std);
  Fake fake = {.plan = &plan, .again = true, .cache = c};
  FwPipeline p = pipeline_of(&fake);
  Diag d;
  diag_init(&d, alloc_std);
  const Artifact *a = fw_specialize(c, &p, &request, alloc_std, &d);
  assert_int_equal(fake.traces, 2);
  assert_int_equal(fw_cache_info(c).entries, 2);
  const Artifact *b = fw_specialize(c, &p, &request, alloc_std, &d);
  assert_ptr_equal(a, b);
  assert_int_equal(fake.traces, 2);
  artifact_release(a);
  artifact_release(b);
  fw_cache_free(c);
  diag_free(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_hit_is_the_same_artifact),        cmocka_unit_test(a_hit_allocates_nothing),
      cmocka_unit_test(impure_runs_are_not_stored),        cmocka_unit_test(failures_are_not_stored),
      cmocka_unit_test(without_a_cache_every_call_traces), cmocka_unit_test(a_trace_may_use_the_cache),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
