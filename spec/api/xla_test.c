/* xla_test.c -- spec/api: nkl_xla_ffi_execute on call frames made by hand: registration and runs. What it refuses is in
   xla_damage_test.c. */
#include <pthread.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "xla_frame.h"

/* ---- registration ---------------------------------------------------------------------------------------------- */

static void it_answers_with_the_version_of_the_caller(void **state) {
  (void)state;
  static const struct {
    int major, minor, want;
  } cases[] = {{0, 1, 1}, {0, 2, 2}, {0, 3, 3}, {0, 9, 3}, {0, 0, 3}, {1, 1, 3}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    XlaApi caller = api;
    XlaMetadata m = {.struct_size = sizeof m, .traits = 7, .state_type = 7};
    XlaMetadataExtension e = {{sizeof e, XLA_EXTENSION_METADATA, NULL}, &m};
    XlaExtension before = {sizeof before, 99, &e.base};
    XlaFrame f = {.struct_size = XLA_END(XlaFrame, attrs), .extension = &before, .api = &caller};
    caller.version = (XlaVersion){sizeof(XlaVersion), NULL, cases[i].major, cases[i].minor};
    assert_null(nkl_xla_ffi_execute(&f));
    assert_int_equal(m.version.major, 0);
    assert_int_equal(m.version.minor, cases[i].want);
    assert_int_equal(m.version.struct_size, XLA_END(XlaVersion, minor));
    assert_int_equal(m.traits, 0);
    assert_int_equal(m.state_type, 0);
  }
}

static void it_writes_no_further_than_the_caller_knows(void **state) {
  (void)state;
  XlaMetadata m = {.struct_size = XLA_END(XlaMetadata, traits), .traits = 7, .state_type = 7};
  XlaMetadataExtension e = {{sizeof e, XLA_EXTENSION_METADATA, NULL}, &m};
  XlaFrame f = {.struct_size = XLA_END(XlaFrame, attrs), .extension = &e.base, .api = &api};
  assert_null(nkl_xla_ffi_execute(&f));
  assert_int_equal(m.traits, 0);
  assert_int_equal(m.state_type, 7);
}

static void it_does_nothing_in_other_stages(void **state) {
  (void)state;
  Frame f;
  start_add(&f);
  for (f.frame.stage = 0; f.frame.stage < XLA_STAGE_EXECUTE; f.frame.stage++)
    assert_null(nkl_xla_ffi_execute(&f.frame));
  assert_float_equal(out[3], -1, 0);
}

/* ---- runs ------------------------------------------------------------------------------------------------------ */

static void it_runs_the_program_of_the_config(void **state) {
  (void)state;
  Frame f;
  start_add(&f);
  accepted(&f);
  assert_sum(out);
  assert_float_equal(a[5], 5, 0);
}

static void an_output_may_lie_on_the_input_that_it_aliases(void **state) {
  (void)state;
  Frame f;
  for (int shared = 0; shared < 2; shared++) {
    fresh_numbers();
    start(&f, twice.data);
    add_buffer(&f, &f.frame.args, a);
    add_buffer(&f, &f.frame.rets, shared ? a : out);
    add_buffer(&f, &f.frame.rets, out2);
    accepted(&f);
    for (int i = 0; i < N; i++) {
      assert_float_equal((shared ? a : out)[i], 2 * i, 0);
      assert_float_equal(out2[i], i, 0);
      if (!shared) assert_float_equal(a[i], i, 0);
    }
  }
}

/* Memory that XLA shares where the program says nothing of it, wholly or in part. */
static void an_output_may_lie_on_any_input(void **state) {
  (void)state;
  Frame f;
  float room[N + 4];
  start_add(&f);
  f.config = (XlaSpan){late.data, late.size};
  f.buffers[2].data = b;
  accepted(&f);
  assert_sum(b);
  start_add(&f);
  f.config = (XlaSpan){late.data, late.size};
  memcpy(room + 4, b, sizeof b);
  f.buffers[1].data = room + 4;
  f.buffers[2].data = room;
  accepted(&f);
  assert_sum(room);
}

static void one_buffer_may_be_two_inputs(void **state) {
  (void)state;
  Frame f;
  start_add(&f);
  f.buffers[1].data = a;
  accepted(&f);
  for (int i = 0; i < N; i++) assert_float_equal(out[i], 3 * i, 0);
}

static void it_keeps_its_answers_apart_when_there_are_many_programs(void **state) {
  (void)state;
  nkl_buf configs[80];
  Frame f;
  for (int i = 0; i < 80; i++) configs[i] = config_of(ADD_SCALED, 3, i + 0.5);
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < 80; i++) {
      start_add(&f);
      f.config = (XlaSpan){configs[i].data, configs[i].size};
      accepted(&f);
      assert_float_equal(out[2], 2 + 4 * (i + 0.5), 0);
    }
  }
  for (int i = 0; i < 80; i++) nkl_buf_free(&configs[i]);
}

static void *run_often(void *arg) {
  (void)arg;
  float sum[N];
  Frame f;
  for (int i = 0; i < 50; i++) {
    start(&f, i % 2 ? add.data : twice.data);
    add_buffer(&f, &f.frame.args, a);
    if (i % 2) add_buffer(&f, &f.frame.args, b);
    add_buffer(&f, &f.frame.rets, sum);
    float added[N];
    if (i % 2 == 0) add_buffer(&f, &f.frame.rets, added);
    if (nkl_xla_ffi_execute(&f.frame)) return "refused";
    if (sum[3] != (i % 2 ? 21.0F : 6.0F)) return "wrong";
  }
  return NULL;
}

static void threads_share_it(void **state) {
  (void)state;
  pthread_t threads[4];
  fresh_numbers();
  for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, run_often, NULL), 0);
  for (int i = 0; i < 4; i++) {
    void *failed;
    pthread_join(threads[i], &failed);
    if (failed) fail_msg("%s", (char *)failed);
  }
}

/* Threads of XLA's flush subnormals to zero; the numbers are those of a thread that does not. */
static void the_caller_may_flush_subnormals(void **state) {
  (void)state;
#if defined(__x86_64__)
  const double tiny = 5e-324, small = 1e-310;
  nkl_buf configs[2] = {config_of(ADD_SCALED, 3, tiny), config_of(ADD_SCALED, 3, small)};
  unsigned before = _mm_getcsr();
  for (int i = 0; i < 2; i++) {
    Frame f;
    start_add(&f);
    a[3] = 0x1p-140F;
    f.config = (XlaSpan){configs[i].data, configs[i].size};
    _mm_setcsr(0x1f80 | 0x8040 | 0x2000); /* and round down */
    struct XlaError *e = nkl_xla_ffi_execute(&f.frame);
    unsigned left = _mm_getcsr();
    _mm_setcsr(before);
    if (e) fail_msg("%s", e->message);
    assert_int_equal(left & 0xffc0, (0x1f80 | 0x8040 | 0x2000) & 0xffc0);
    assert_memory_equal(&out[3], &a[3], sizeof *out);
    nkl_buf_free(&configs[i]);
  }
#else
  skip();
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_answers_with_the_version_of_the_caller),
      cmocka_unit_test(it_writes_no_further_than_the_caller_knows),
      cmocka_unit_test(it_does_nothing_in_other_stages),
      cmocka_unit_test(it_runs_the_program_of_the_config),
      cmocka_unit_test(an_output_may_lie_on_the_input_that_it_aliases),
      cmocka_unit_test(an_output_may_lie_on_any_input),
      cmocka_unit_test(one_buffer_may_be_two_inputs),
      cmocka_unit_test(it_keeps_its_answers_apart_when_there_are_many_programs),
      cmocka_unit_test(threads_share_it),
      cmocka_unit_test(the_caller_may_flush_subnormals),
  };
  return cmocka_run_group_tests(tests, setup_programs, teardown_programs);
}
