/* oom_test.c -- spec/framework: every allocation of the pipeline, and of reading and printing an artifact, fails once.
 */
#include <stdio.h>

#include "../base/support.h"
#include "module.h"

typedef struct Given {
  IrModule *m;
  Ration *r;
  long left; /* allocations allowed once the trace is over */
} Given;

static IrModule *trace(void *ud, const FwRequest *r, bool *has_collectives, bool *impure, Diag *d) {
  Given *g = ud;
  (void)r, (void)has_collectives, (void)impure, (void)d;
  return ir_retain(g->m);
}

static const Plan plan = {
    .name = "k", .fresh = 1, .returned = {10, 0, -1}, .constant = true, .write_operand = true, .target = TARGET_trn2};
static const ConstValue items[] = {{.kind = CONST_STRING, .s = "x", .len = 1},
                                   {.kind = CONST_STRING, .s = "\xff", .len = 1}};
static const FwArg args[] = {{.name = "a", .is_tensor = true, .dtype = DT_float32, .rank = 2, .shape = {4, 8}},
                             {.name = "c", .value = {.kind = CONST_TUPLE, .items = items, .nitems = 2}},
                             {.name = "b", .is_tensor = true, .dtype = DT_bfloat16, .rank = 2, .shape = {4, 8}}};
static const KernelOpt opts[] = {{"level", {.kind = CONST_STRING, .s = "high", .len = 4}}};
static const FwRequest request = {
    .func_name = "k", .target = TARGET_trn2, .args = args, .nargs = 3, .opts = opts, .nopts = 1};

/* One call with a fresh cache, with the folder dir behind it unless that is NULL; true when memory sufficed for all of
 * it. Want of memory for the folder is never an error of its own: at worst the call traces. */
static bool attempt(Ration *r, const char *dir, long left) {
  const Alloc alloc = ration_alloc(r);
  Diag d;
  *r = (Ration){.left = -1};
  diag_init(&d, alloc_std);
  Given g = {.m = plan_module_in(&plan, alloc, &d)};
  FwPipeline p = {.ud = &g, .specialize_and_call = trace};
  r->left = left;
  FwStore *store = dir ? fw_store_new(alloc, dir, true) : NULL;
  FwCache *c = fw_cache_new(alloc);
  if (c && store) fw_cache_attach(c, store);
  const Artifact *a = c ? fw_specialize(c, &p, &request, alloc, &d) : NULL;
  const Artifact *again = a ? fw_specialize(c, &p, &request, alloc, &d) : NULL;
  assert_true(again == NULL || again == a);
  if (c) assert_true(a ? d.id == ERR_none : d.id == ERR_nomem);
  if (c) assert_int_equal(fw_cache_info(c).entries, a != NULL);
  if (a) assert_int_equal(strlen(a->cache_key), 32);
  bool ok = a && again && (store || !dir) && r->left != 0;
  artifact_release(a);
  artifact_release(again);
  fw_cache_free(c);
  fw_store_free(store);
  ir_release(g.m);
  diag_free(&d);
  assert_false(r->wrong);
  assert_true(r->live == 0);
  return ok;
}

static void specialize(void **state) {
  (void)state;
  Ration r;
  long n = 0;
  while (!attempt(&r, NULL, n)) assert_true(++n < 10000);
  assert_true(n > 10);
}

static void with_a_folder(void **state) {
  (void)state;
  char dir[] = "/tmp/nkilua-oom-XXXXXX", line[80];
  Ration r;
  assert_non_null(mkdtemp(dir));
  for (int warm = 0; warm < 2; warm++) {
    long n = 0;
    for (; !attempt(&r, dir, n); n++) {
      assert_true(n < 10000);
      snprintf(line, sizeof line, "%s '%s'/*", warm ? "true" : "rm -rf", dir);
      assert_int_equal(n % 8 || warm ? 0 : system(line), 0);
    }
    assert_true(n > 10);
  }
  snprintf(line, sizeof line, "rm -rf '%s'", dir);
  assert_int_equal(system(line), 0);
}

static void decode_and_print(void **state) {
  (void)state;
  Diag d;
  diag_init(&d, alloc_std);
  Artifact *a = plan_artifact(&plan);
  assert_true(
      artifact_set_constants(a, &(ConstValue){.name = "c", .kind = CONST_TUPLE, .items = items, .nitems = 2}, 1));
  assert_true(artifact_set_opts(a, opts, 1));
  assert_true(config_encode(a, &d));
  bool done = false;
  for (long n = 0; !done; n++) {
    Ration r = {.left = n};
    const Alloc alloc = ration_alloc(&r);
    diag_clear(&d);
    Text out;
    text_init(&out, alloc);
    const Artifact *b = config_decode(alloc, a->backend_config, a->backend_config_len, &d);
    if (!b) assert_int_equal(d.id, ERR_nomem);
    done = b && hlo_text(b, &out, &d) && stablehlo_text(b, &out, &d) && hlo_proto(b, &out, &d);
    if (b && !done) assert_int_equal(d.id, ERR_nomem);
    text_free(&out);
    artifact_release(b);
    assert_false(r.wrong);
    assert_true(r.live == 0);
    assert_true(n < 100000);
  }
  artifact_release(a);
  diag_free(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(specialize), cmocka_unit_test(with_a_folder),
                                     cmocka_unit_test(decode_and_print)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
