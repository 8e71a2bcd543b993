/* xla_test.c -- spec/api: nkl_xla_ffi_execute on call frames made by hand, good ones and bad ones. */
#include <pthread.h>

#include "../../src/api/xla_ffi.h"
#include "support.h"

enum { ROWS = 4, COLS = 8, N = ROWS * COLS };
enum { F32 = 11, BF16 = 16, F64 = 12 };

/* ---- XLA's side ------------------------------------------------------------------------------------------------ */

struct XlaError {
  char message[1024];
  int code;
};
static struct XlaError made;

static XlaError *make_error(XlaErrorArgs *args) {
  if (args->struct_size != XLA_END(XlaErrorArgs, code)) fail_msg("struct_size %zu", args->struct_size);
  snprintf(made.message, sizeof made.message, "%s", args->message);
  made.code = args->code;
  return &made;
}

static const XlaApi api = {
    .struct_size = sizeof(XlaApi), .version = {sizeof(XlaVersion), NULL, 0, 3}, .error_create = make_error};

/* A frame of the config's program with up to four operands and results. */
typedef struct Frame {
  XlaFrame frame;
  XlaBuffer buffers[8];
  int64_t dims[8][2];
  int kinds[8], attr_kinds[2];
  void *args[4], *rets[4], *values[2];
  XlaSpan config, other, config_name, other_name, *names[2];
} Frame;

static void add_buffer(Frame *f, XlaList *list, void *data) {
  int at = (int)(f->frame.args.size + f->frame.rets.size);
  f->dims[at][0] = ROWS;
  f->dims[at][1] = COLS;
  f->buffers[at] = (XlaBuffer){XLA_END(XlaBuffer, dims), NULL, F32, data, 2, f->dims[at]};
  list->items[list->size++] = &f->buffers[at];
}

static void start(Frame *f, const char *config) {
  *f = (Frame){.config = {config, strlen(config)}, .config_name = {"configuration", 6}};
  f->other_name = (XlaSpan){"strictness", 6};
  for (int i = 0; i < 8; i++) f->kinds[i] = XLA_BUFFER;
  f->attr_kinds[0] = f->attr_kinds[1] = XLA_ATTR_STRING;
  f->names[0] = &f->config_name;
  f->names[1] = &f->other_name;
  f->values[0] = &f->config;
  f->values[1] = &f->other;
  f->frame = (XlaFrame){.struct_size = XLA_END(XlaFrame, attrs), .api = &api, .stage = XLA_STAGE_EXECUTE};
  f->frame.args = (XlaList){XLA_END(XlaList, items), NULL, 0, f->kinds, f->args};
  f->frame.rets = (XlaList){XLA_END(XlaList, items), NULL, 0, f->kinds, f->rets};
  f->frame.attrs = (XlaAttrs){XLA_END(XlaAttrs, values), NULL, 1, f->attr_kinds, f->names, f->values};
}

static void accepted(Frame *f) {
  struct XlaError *e = nkl_xla_ffi_execute(&f->frame);
  if (e) fail_msg("%s", e->message);
}

static void refused(Frame *f, XlaCode code, const char *id, const char *part) {
  struct XlaError *e = nkl_xla_ffi_execute(&f->frame);
  assert_ptr_equal(e, &made);
  if (!strstr(e->message, part)) fail_msg("'%s' is not in '%s'", part, e->message);
  if (!strstr(e->message, id)) fail_msg("'%s' is not in '%s'", id, e->message);
  assert_int_equal(e->code, code);
}

/* ---- the programs ---------------------------------------------------------------------------------------------- */

/* Writes its output before it reads b. */
#define COPY_THEN_ADD                                                      \
  "local nki, nl = require 'nki', require 'nki.language'\n"                \
  "return nki.jit(function(a, b)\n"                                        \
  "  local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})\n" \
  "  nl.store(out, nl.load(a))\n"                                          \
  "  nl.store(out, nl.load(out) + nl.load(b) * 2)\n"                       \
  "  return out\n"                                                         \
  "end, {func_name = 'copy_then_add'})\n"
static nkl_buf add, twice, late;
static float a[N], b[N], out[N], out2[N];

static nkl_buf config_of(const char *source, size_t n, double scale) {
  nkl_ctx *c = open_quiet(NULL, NULL);
  nkl_kernel *k = kernel_of(c, source);
  nkl_tensor_desc d = desc_of(NKL_F32, 2, (int64_t[]){ROWS, COLS});
  nkl_arg args[3] = {{.kind = NKL_ARG_DECL}, {.kind = NKL_ARG_DECL}, {.kind = NKL_ARG_NUM, .u.n = scale}};
  nkl_program *p;
  nkl_buf text;
  args[0].u.decl = args[1].u.decl = &d;
  assert_int_equal(specialize(c, k, args, n, &p), NKL_OK);
  assert_int_equal(nkl_program_render(p, NKL_FMT_BACKEND_CONFIG, &text, NULL), NKL_OK);
  nkl_program_release(p);
  nkl_kernel_release(k);
  nkl_close(c);
  return text;
}

static int setup(void **state) {
  (void)state;
  add = config_of(ADD_SCALED, 3, 2);
  twice = config_of(DOUBLE_IN_PLACE, 1, 0);
  late = config_of(COPY_THEN_ADD, 2, 0);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  nkl_buf_free(&add);
  nkl_buf_free(&twice);
  nkl_buf_free(&late);
  return 0;
}

static void fresh_numbers(void) {
  for (int i = 0; i < N; i++) {
    a[i] = (float)i;
    b[i] = (float)(i * i);
    out[i] = out2[i] = -1;
  }
}

static void start_add(Frame *f) {
  fresh_numbers();
  start(f, add.data);
  add_buffer(f, &f->frame.args, a);
  add_buffer(f, &f->frame.args, b);
  add_buffer(f, &f->frame.rets, out);
}

static void assert_sum(const float *sum) {
  for (int i = 0; i < N; i++) assert_float_equal(sum[i], (float)i + 2 * (float)(i * i), 0);
}

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

/* ---- refusals -------------------------------------------------------------------------------------------------- */

static void it_refuses_damaged_frames(void **state) {
  (void)state;
  XlaApi old = api;
  Frame f;
  start_add(&f);
  f.frame.struct_size = XLA_END(XlaFrame, rets);
  refused(&f, XLA_INVALID_ARGUMENT, "err_xla_frame", "ends before its attributes");
  start_add(&f);
  f.frame.args.struct_size -= 8;
  refused(&f, XLA_INVALID_ARGUMENT, "err_xla_frame", "the list of operands is damaged");
  start_add(&f);
  f.frame.rets.size = -1;
  refused(&f, XLA_INVALID_ARGUMENT, "err_xla_frame", "the list of results is damaged");
  start_add(&f);
  f.frame.attrs.struct_size = 0;
  refused(&f, XLA_INVALID_ARGUMENT, "err_xla_frame", "the list of attributes is damaged");
  start_add(&f);
  old.version.major = 1;
  f.frame.api = &old;
  refused(&f, XLA_UNIMPLEMENTED, "err_xla_version", "XLA's FFI has version 1.3; nkl_xla_ffi_execute knows 0.1 to 0.3");
}

/* No error object can be made without XLA's table; the answer still is not success. */
static void it_never_reports_success_for_a_frame_it_cannot_answer(void **state) {
  (void)state;
  XlaApi empty = {.struct_size = XLA_END(XlaApi, internal), .error_create = make_error};
  Frame f;
  assert_non_null(nkl_xla_ffi_execute(NULL));
  start_add(&f);
  f.frame.api = NULL;
  assert_non_null(nkl_xla_ffi_execute(&f.frame));
  f.frame.api = &empty;
  assert_non_null(nkl_xla_ffi_execute(&f.frame));
  start_add(&f);
  f.frame.struct_size = 8;
  assert_non_null(nkl_xla_ffi_execute(&f.frame));
  assert_float_equal(out[0], -1, 0);
}

static void it_refuses_other_attributes(void **state) {
  (void)state;
  Frame f;
  start_add(&f);
  f.frame.attrs.size = 2;
  refused(&f, XLA_INVALID_ARGUMENT, "err_xla_attribute", "there is an attribute 'strict'; the only one is 'config'");
  start_add(&f);
  f.frame.attrs.size = 0;
  refused(&f, XLA_INVALID_ARGUMENT, "err_xla_frame", "there is no attribute 'config'");
  start_add(&f);
  f.attr_kinds[0] = 3;
  refused(&f, XLA_INVALID_ARGUMENT, "err_xla_frame", "the attribute 'config' is no string");
  start_add(&f);
  f.config = (XlaSpan){"eyJ9", 4};
  refused(&f, XLA_INVALID_ARGUMENT, "err_json", "backend_config");
}

static void it_refuses_buffers_of_another_program(void **state) {
  (void)state;
  Frame f;
  start_add(&f);
  f.frame.args.size = 1;
  refused(&f, XLA_INVALID_ARGUMENT, "err_input_count", "add_scaled takes 2 tensors, got 1");
  start_add(&f);
  f.frame.rets.size = 0;
  refused(&f, XLA_INVALID_ARGUMENT, "err_output_count", "has 1 outputs, and there is room for 0");
  start_add(&f);
  f.buffers[1].dtype = BF16;
  refused(&f, XLA_INVALID_ARGUMENT, "err_input_data", "add_scaled: 'b' is bf16[4,8]; it must be f32[4,8]");
  start_add(&f);
  f.buffers[2].dtype = F64;
  refused(&f, XLA_INVALID_ARGUMENT, "err_input_data", "'output_0' is XLA type 12 [4,8]; it must be f32[4,8]");
  start_add(&f);
  f.dims[0][1] = 9;
  refused(&f, XLA_INVALID_ARGUMENT, "err_input_data", "'a' is f32[4,9]; it must be f32[4,8]");
  start_add(&f);
  f.buffers[0].rank = 1;
  refused(&f, XLA_INVALID_ARGUMENT, "err_input_data", "'a' is f32[4]; it must be f32[4,8]");
}

static void it_refuses_what_is_no_buffer(void **state) {
  (void)state;
  Frame f;
  start_add(&f);
  f.kinds[0] = 2;
  refused(&f, XLA_INVALID_ARGUMENT, "err_xla_frame", "an operand is no buffer");
  start_add(&f);
  f.buffers[2].data = NULL;
  refused(&f, XLA_INVALID_ARGUMENT, "err_xla_frame", "a result is no buffer");
  start_add(&f);
  f.buffers[1].struct_size -= 8;
  refused(&f, XLA_INVALID_ARGUMENT, "err_xla_frame", "an operand is no buffer");
  assert_float_equal(out[0], -1, 0);
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
      cmocka_unit_test(it_refuses_damaged_frames),
      cmocka_unit_test(it_never_reports_success_for_a_frame_it_cannot_answer),
      cmocka_unit_test(it_refuses_other_attributes),
      cmocka_unit_test(it_refuses_buffers_of_another_program),
      cmocka_unit_test(it_refuses_what_is_no_buffer),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
