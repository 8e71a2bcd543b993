/* oom_test.c -- spec/api: from the k-th allocation on there is no memory, for every k, and nothing leaks, crashes or
 * succeeds by halves. */
#include "support.h"

typedef struct Counter {
  long calls, limit; /* allocations that grow; from number limit on they fail, or that one alone */
  int once;
  long live; /* bytes */
} Counter;

static void *counted(void *ud, void *p, size_t osize, size_t nsize) {
  Counter *k = ud;
  if (!p) osize = 0;
  if (nsize > osize) {
    long number = k->calls++;
    if (k->once ? number == k->limit : number >= k->limit) return NULL;
  }
  if (nsize == 0) {
    free(p);
    k->live -= (long)osize;
    return NULL;
  }
  void *q = realloc(p, nsize);
  if (q) k->live += (long)nsize - (long)osize;
  return q;
}

/* When all is well until now. */
static nkl_status measure(nkl_status status, const nkl_program *p, const nkl_sim *s) {
  nkl_profile *f = NULL;
  nkl_buf text = NKL_BUF_INIT;
  nkl_profile_options o;
  double us;
  nkl_profile_options_init(&o);
  o.max_events = 100;
  if (status == NKL_OK) status = nkl_bench(p, s, 0, 1, &us, NULL);
  if (status == NKL_OK) status = nkl_profile_run(p, s, &o, &f, NULL);
  for (int format = 0; status == NKL_OK && format <= NKL_PROFILE_TRACE; format++) {
    nkl_buf_free(&text);
    status = nkl_profile_render(f, (nkl_profile_format)format, &text, NULL);
  }
  nkl_buf_free(&text);
  if (status == NKL_OK) status = nkl_program_plan(p, NULL, 1, &text, NULL);
  nkl_buf_free(&text);
  nkl_profile_release(f);
  return status;
}

static nkl_status run_all(nkl_ctx *c) {
  static const float data[] = {1, 2, 3, 4, 5, 6};
  nkl_kernel *k = NULL;
  nkl_program *p = NULL;
  nkl_bound *b = NULL;
  nkl_tensor *t = NULL, *inputs[2] = {NULL, NULL}, *sum = NULL;
  nkl_buf text = NKL_BUF_INIT, line = NKL_BUF_INIT;
  nkl_request r;
  nkl_sim s;
  nkl_tensor_desc d = desc_of(NKL_F32, 2, (int64_t[]){2, 3});
  static const char *const words[] = {"f32[2,3]:iota", "b=f32[2,3]", "scale={1,'x'}", NULL}, source[] = ADD_SCALED;
  nkl_request_init(&r);
  nkl_sim_init(&s);
  d.data = (void *)(uintptr_t)data;
  d.nbytes = sizeof data;
  nkl_status status = nkl_load_string(c, source, sizeof source - 1, "@script.lua");
  if (status == NKL_OK) status = nkl_get_kernel(c, NULL, &k);
  if (status == NKL_OK) status = nkl_tensor_new(c, &d, &t);
  if (status == NKL_OK) status = nkl_bind_words(c, k, words, 2, NULL, &b);
  r.kernel = k;
  if (status == NKL_OK) r.args = nkl_bound_args(b, &r.nargs);
  if (status == NKL_OK) status = nkl_specialize(c, &r, &p);
  if (status == NKL_OK) status = nkl_bound_inputs(c, b, p, inputs);
  s.inputs = inputs;
  s.ninputs = 2;
  if (status == NKL_OK) status = nkl_simulate(p, &s, &sum, NULL);
  if (status == NKL_OK) status = nkl_program_render(p, NKL_FMT_CONFIG_JSON, &text, NULL);
  if (status == NKL_OK) status = nkl_tensor_summary(c, sum, "sum", 0, &line);
  status = measure(status, p, &s);
  nkl_buf_free(&text);
  nkl_buf_free(&line);
  nkl_tensor_release(sum);
  nkl_tensor_release(t);
  nkl_bound_free(b);
  nkl_program_release(p);
  nkl_kernel_release(k);
  return status;
}

static nkl_status run_with(Counter *k, long limit, int once) {
  nkl_ctx *c;
  nkl_options o;
  nkl_options_init(&o);
  *k = (Counter){0, limit, once, 0};
  o.alloc = counted;
  o.alloc_ud = k;
  o.target = "trn2";
  nkl_status s = nkl_open(&c, &o);
  if (s == NKL_OK) s = run_all(c);
  nkl_close(c);
  return s;
}

/* A cache or a message may do without; what is computed may not be half. */
static void sweep(int once) {
  Counter k;
  assert_int_equal(run_with(&k, 1L << 40, once), NKL_OK);
  assert_int_equal(k.live, 0);
  long total = k.calls;
  assert_true(total > 500);
  for (long limit = 0; limit < total; limit++) {
    nkl_status s = run_with(&k, limit, once);
    if (k.live != 0) fail_msg("%ld bytes are left when allocation %ld of %ld fails", k.live, limit, total);
    if (s != NKL_ERR_NOMEM && s != NKL_OK)
      fail_msg("%s when allocation %ld of %ld fails", nkl_status_name(s), limit, total);
    if (s == NKL_OK && !once && limit < total / 2) fail_msg("success when allocation %ld of %ld fails", limit, total);
  }
}

static void memory_may_end_at_any_allocation(void **state) {
  (void)state;
  sweep(0);
}

static void any_one_allocation_may_fail(void **state) {
  (void)state;
  sweep(1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(memory_may_end_at_any_allocation),
                                     cmocka_unit_test(any_one_allocation_may_fail)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
