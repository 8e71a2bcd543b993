/* measure_test.c -- spec/api: repeated runs, profiles, and what a device would need. How long anything took is never
   looked at. */
#include "support.h"

static nkl_ctx *c;
static Said printed, warned;

/* Says something in every run, and stores a tile half of which was never written. */
#define HALF                                                               \
  "local nki, nl = require 'nki', require 'nki.language'\n"                \
  "return nki.jit(function(x)\n"                                           \
  "  local out = nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm})\n" \
  "  nl.device_print('said ', nl.load(x))\n"                               \
  "  nl.store(out, nl.ndarray(x.shape, x.dtype))\n"                        \
  "  return out\n"                                                         \
  "end, {func_name = 'half'})\n"

static int setup(void **state) {
  (void)state;
  printed.n = warned.n = 0;
  c = open_quiet(NULL, NULL);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  nkl_close(c);
  return 0;
}

static void refused(nkl_status status, nkl_error_buf *err, const char *part) {
  assert_int_equal(status, NKL_ERR_ARG);
  if (!strstr(err->error.message, part)) fail_msg("'%s' is not in '%s'", part, err->error.message);
  nkl_error_buf_free(err);
}

static int times(const Said *said, const char *word) {
  int n = 0;
  for (const char *p = said->text; said->n && (p = strstr(p, word)); p++) n++;
  return n;
}

static void bench_gives_ascending_times(void **state) {
  (void)state;
  nkl_error_buf err = NKL_ERROR_BUF_INIT;
  double us[5];
  nkl_tensor *x = matrix(c, 2, 2, (const float[]){1, 2, 3, 4}), *two[] = {x, x};
  nkl_program *p = program_of(c, ADD_SCALED, two, 2);
  nkl_sim s = sim_of(two, 2, &printed, &warned);
  assert_int_equal(nkl_bench(p, &s, 2, 5, us, &err), NKL_OK);
  for (int i = 0; i < 5; i++) assert_true(us[i] >= (i ? us[i - 1] : 0));
  assert_true(nkl_percentile(us, 5, 0) == us[0] && nkl_percentile(us, 5, 100) == us[4]);
  assert_true(nkl_percentile((const double[]){1, 2, 4}, 3, 75) == 3);
  assert_true(nkl_percentile((const double[]){7}, 1, 50) == 7);
  refused(nkl_bench(p, &s, -1, 5, us, &err), &err, "warmup");
  refused(nkl_bench(p, &s, 0, 0, us, &err), &err, "iters");
  s.ninputs = 1;
  refused(nkl_bench(p, &s, 0, 1, us, &err), &err, "it takes 2, got 1");
  s.ninputs = 2;
  s.in_place = 1;
  refused(nkl_bench(p, &s, 0, 1, us, &err), &err, "in_place");
  s.struct_size = 0;
  refused(nkl_bench(p, &s, 0, 1, us, &err), &err, "nkl_sim_init");
  nkl_program_release(p);
  nkl_tensor_release(x);
}

static void inputs_stay_and_one_run_speaks(void **state) {
  (void)state;
  nkl_error_buf err = NKL_ERROR_BUF_INIT;
  double us[3];
  nkl_tensor *x = matrix(c, 2, 2, (const float[]){1, 2, 3, 4});
  nkl_program *p = program_of(c, DOUBLE_IN_PLACE, &x, 1);
  nkl_sim s = sim_of(&x, 1, &printed, &warned);
  assert_int_equal(nkl_bench(p, &s, 1, 3, us, &err), NKL_OK);
  assert_memory_equal(floats(x), ((const float[]){1, 2, 3, 4}), 16);
  nkl_program_release(p);
  p = program_of(c, HALF, &x, 1);
  assert_int_equal(nkl_bench(p, &s, 1, 3, us, &err), NKL_OK);
  assert_int_equal(times(&printed, "said "), 1);
  assert_int_equal(times(&warned, "never written"), 1);
  s.strict = 1;
  assert_int_equal(nkl_bench(p, &s, 1, 3, us, &err), NKL_ERR_SIM);
  assert_string_equal(err.error.id, "err_unwritten");
  nkl_error_buf_free(&err);
  nkl_interrupt(c);
  s.interrupt = c;
  assert_int_equal(nkl_bench(p, &s, 1, 3, us, &err), NKL_ERR_CANCELLED);
  nkl_error_buf_free(&err);
  nkl_program_release(p);
  nkl_tensor_release(x);
}

static void a_profile_tells_its_rows(void **state) {
  (void)state;
  nkl_error_buf err = NKL_ERROR_BUF_INIT;
  nkl_profile *f;
  nkl_profile_row r;
  nkl_buf text = NKL_BUF_INIT;
  nkl_tensor *x = matrix(c, 2, 4, (const float[]){1, 2, 3, 4, 5, 6, 7, 8}), *two[] = {x, x};
  nkl_program *p = program_of(c, ADD_SCALED, two, 2);
  nkl_sim s = sim_of(two, 2, &printed, &warned);
  nkl_profile_options o;
  nkl_profile_options_init(&o);
  o.warmup = 1;
  o.max_events = 3;
  assert_int_equal(nkl_profile_run(p, &s, &o, &f, &err), NKL_OK);
  nkl_program_release(p); /* the profile keeps it */
  assert_int_equal(nkl_profile_row_count(f, NKL_BY_CORE), 1);
  assert_int_equal(nkl_profile_row_at(f, NKL_BY_CORE, 0, &r), NKL_OK);
  assert_true(r.us <= nkl_profile_us(f) && r.core == 0 && !*r.op && !*r.engine && !*r.file);
  int64_t copies = 0;
  double sum = 0;
  for (size_t i = 0; i < nkl_profile_row_count(f, NKL_BY_LINE); i++) {
    nkl_profile_row row;
    assert_int_equal(nkl_profile_row_at(f, NKL_BY_LINE, i, &row), NKL_OK);
    assert_string_equal(row.file, "script.lua");
    assert_int_equal(row.line, 4);
    assert_int_equal(row.elements, 8 * row.calls);
    assert_int_equal(row.bytes, 4 * row.elements);
    if (strcmp(row.op, "nisa.dma_copy") == 0) copies += row.calls;
    sum += row.us;
  }
  assert_int_equal(copies, 3);
  assert_true(sum > r.us - 0.01 && sum < r.us + 0.01);
  assert_int_equal(nkl_profile_row_at(f, NKL_BY_LINE, 99, &r), NKL_ERR_ARG);
  assert_string_equal(r.op, "");
  assert_int_equal(nkl_profile_row_count(f, (nkl_profile_by)9), 0);
  assert_int_equal(nkl_profile_render(f, NKL_PROFILE_TRACE, &text, &err), NKL_OK);
  assert_non_null(strstr(text.data, "\"events_left_out\":3}"));
  nkl_buf_free(&text);
  assert_int_equal(nkl_profile_render(f, NKL_PROFILE_JSON, &text, &err), NKL_OK);
  assert_non_null(strstr(text.data, "{\"time\":\"host time of the simulator\",\"runs\":1,"));
  nkl_buf_free(&text);
  refused(nkl_profile_render(f, (nkl_profile_format)7, &text, &err), &err, "no such format");
  nkl_profile_release(f);
  nkl_profile_release(NULL);
  nkl_tensor_release(x);
}

static void profiles_refuse_what_is_wrong(void **state) {
  (void)state;
  nkl_error_buf err = NKL_ERROR_BUF_INIT;
  nkl_profile *f;
  nkl_tensor *x = matrix(c, 2, 2, (const float[]){1, 2, 3, 4});
  nkl_program *p = program_of(c, HALF, &x, 1);
  nkl_sim s = sim_of(&x, 1, &printed, &warned);
  nkl_profile_options o = {.struct_size = 0};
  refused(nkl_profile_run(p, &s, &o, &f, &err), &err, "nkl_profile_options_init");
  nkl_profile_options_init(&o);
  o.warmup = -1;
  refused(nkl_profile_run(p, &s, &o, &f, &err), &err, "at least 0");
  s.strict = 1;
  assert_int_equal(nkl_profile_run(p, &s, NULL, &f, &err), NKL_ERR_SIM);
  assert_null(f);
  nkl_error_buf_free(&err);
  nkl_program_release(p);
  nkl_tensor_release(x);
}

static void a_plan_says_what_a_device_would_run(void **state) {
  (void)state;
  nkl_error_buf err = NKL_ERROR_BUF_INIT;
  nkl_buf text;
  nkl_plan_options o;
  nkl_tensor *x = matrix(c, 2, 2, (const float[]){1, 2, 3, 4});
  nkl_program *p = program_of(c, ADD_SCALED, (nkl_tensor *[]){x, x}, 2);
  nkl_plan_options_init(&o);
  o.dir = "it's";
  o.trace = "t.ntff";
  o.compile_options = "-O1";
  assert_int_equal(nkl_program_plan(p, &o, 0, &text, &err), NKL_OK);
  static const char want[] =
      "run neuronx-cc compile --framework XLA --target trn2 --output 'it'\\''s/file.neff' -O1 "
      "'it'\\''s/add_scaled.hlo.pb'\nwrite 'it'\\''s/add_scaled.hlo.pb'\nwrite 'it'\\''s/file.neff'\n"
      "write 'it'\\''s/t.ntff'\n";
  assert_memory_equal(text.data, want, sizeof want - 1);
  nkl_buf_free(&text);
  assert_int_equal(nkl_program_plan(p, NULL, 1, &text, &err), NKL_OK);
  static const char json[] =
      "{\"run\":\"neuronx-cc compile --framework XLA --target trn2 --output file.neff add_scaled.hlo.pb\","
      "\"write\":[\"add_scaled.hlo.pb\",\"file.neff\"],\"missing\":";
  assert_memory_equal(text.data, json, sizeof json - 1);
  nkl_buf_free(&text);
  o.struct_size = 0;
  refused(nkl_program_plan(p, &o, 0, &text, &err), &err, "nkl_plan_options_init");
  nkl_program_release(p);
  nkl_tensor_release(x);
}

int main(void) {
#define IN_CONTEXT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
  const struct CMUnitTest tests[] = {
      IN_CONTEXT(bench_gives_ascending_times),
      IN_CONTEXT(inputs_stay_and_one_run_speaks),
      IN_CONTEXT(a_profile_tells_its_rows),
      IN_CONTEXT(profiles_refuse_what_is_wrong),
      IN_CONTEXT(a_plan_says_what_a_device_would_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
