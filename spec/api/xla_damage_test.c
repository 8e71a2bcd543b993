/* xla_damage_test.c -- spec/api: frames, attributes, buffers and configs that nkl_xla_ffi_execute refuses. */
#include "xla_frame.h"

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
  f.other_name = (XlaSpan){"strictness", 10};
  refused(&f, XLA_INVALID_ARGUMENT, "err_xla_attribute", "no attribute 'strictness'; there are 'config' and 'strict'");
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

static void a_strict_run_is_an_attribute(void **state) {
  (void)state;
  unsigned char truth = 0;
  XlaScalar strict = {XLA_PRED, &truth};
  Frame f;
  for (int value = 0; value < 2; value++) {
    fresh_numbers();
    start(&f, unwritten.data);
    add_buffer(&f, &f.frame.args, a);
    add_buffer(&f, &f.frame.rets, out);
    f.frame.attrs.size = 2;
    f.attr_kinds[1] = XLA_ATTR_SCALAR;
    f.values[1] = &strict;
    truth = (unsigned char)value;
    if (value) {
      refused(&f, XLA_INVALID_ARGUMENT, "err_unwritten", "script.lua:4: ");
    } else {
      accepted(&f);
    }
  }
  strict.dtype = 4;
  refused(&f, XLA_INVALID_ARGUMENT, "err_xla_frame", "the attribute 'strict' is no truth value");
  strict = (XlaScalar){XLA_PRED, NULL};
  refused(&f, XLA_INVALID_ARGUMENT, "err_xla_frame", "the attribute 'strict' is no truth value");
  f.attr_kinds[1] = XLA_ATTR_STRING;
  refused(&f, XLA_INVALID_ARGUMENT, "err_xla_frame", "the attribute 'strict' is no truth value");
}

static void lists_without_entries_are_damaged(void **state) {
  (void)state;
  Frame f;
  start_add(&f);
  f.frame.args.items = NULL;
  refused(&f, XLA_INVALID_ARGUMENT, "err_xla_frame", "the list of operands is damaged");
  start_add(&f);
  f.frame.rets.kinds = NULL;
  refused(&f, XLA_INVALID_ARGUMENT, "err_xla_frame", "the list of results is damaged");
  for (int i = 0; i < 7; i++) {
    start_add(&f);
    if (i == 0) f.frame.attrs.names = NULL;
    if (i == 1) f.frame.attrs.values = NULL;
    if (i == 2) f.frame.attrs.kinds = NULL;
    if (i == 3) f.frame.attrs.size = -1;
    if (i == 4) f.names[0] = NULL;
    if (i == 5) f.values[0] = NULL;
    if (i == 6) f.config_name.p = NULL;
    refused(&f, XLA_INVALID_ARGUMENT, "err_xla_frame", "the list of attributes is damaged");
  }
  start_add(&f);
  f.config.p = NULL;
  refused(&f, XLA_INVALID_ARGUMENT, "err_xla_frame", "there is no attribute 'config'");
}

/* What is no metadata query is answered as a call. */
static void a_short_extension_is_passed_over(void **state) {
  (void)state;
  XlaMetadataExtension e = {{sizeof(XlaExtension), XLA_EXTENSION_METADATA, NULL}, NULL};
  Frame f;
  start_add(&f);
  f.frame.extension = &e.base;
  accepted(&f);
  assert_sum(out);
}

/* Every cut of a small config and every change of one of its bytes: an error of XLA's or the program that it still is.
 */
static void it_survives_damaged_configs(void **state) {
  (void)state;
  Frame f;
  char *copy = malloc(add.size);
  assert_non_null(copy);
  size_t accepted_ones = 0;
  for (size_t i = 0; i < add.size; i++) {
    start_add(&f);
    f.config.len = i;
    assert_ptr_equal(nkl_xla_ffi_execute(&f.frame), &made);
    assert_int_equal(made.code, XLA_INVALID_ARGUMENT);
    memcpy(copy, add.data, add.size);
    copy[i] = (char)(copy[i] == 'A' ? 'B' : 'A');
    start_add(&f);
    f.config.p = copy;
    if (nkl_xla_ffi_execute(&f.frame)) {
      assert_non_null(strstr(made.message, "[err_"));
    } else {
      accepted_ones++; /* another name or constant */
    }
  }
  assert_true(accepted_ones < add.size / 4);
  free(copy);
}

static void it_refuses_buffers_of_another_program(void **state) {
  (void)state;
  Frame f;
  start_add(&f);
  f.frame.args.size = 1;
  refused(&f, XLA_INVALID_ARGUMENT, "err_input_count", "add_scaled: wrong number of tensors: it takes 2, got 1");
  start_add(&f);
  f.frame.rets.size = 0;
  refused(&f, XLA_INVALID_ARGUMENT, "err_output_count", "has 1, and there is room for 0");
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
  int64_t many[8] = {4, 8, 1, 1, 1, 1, 1, 1};
  start_add(&f);
  f.buffers[0].rank = INT64_MAX;
  f.buffers[0].dims = many;
  refused(&f, XLA_INVALID_ARGUMENT, "err_input_data", "'a' is f32[4,8,1,1,1,1,1,1,...]; it must be f32[4,8]");
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
  f.args[0] = NULL;
  refused(&f, XLA_INVALID_ARGUMENT, "err_xla_frame", "an operand is no buffer");
  start_add(&f);
  f.buffers[0].rank = -1;
  refused(&f, XLA_INVALID_ARGUMENT, "err_xla_frame", "an operand is no buffer");
  start_add(&f);
  f.buffers[0].dims = NULL;
  refused(&f, XLA_INVALID_ARGUMENT, "err_xla_frame", "an operand is no buffer");
  start_add(&f);
  f.buffers[0].data = (char *)a + 1;
  refused(&f, XLA_INVALID_ARGUMENT, "err_xla_frame", "a buffer does not lie on whole elements");
  start_add(&f);
  f.buffers[1].struct_size -= 8;
  refused(&f, XLA_INVALID_ARGUMENT, "err_xla_frame", "an operand is no buffer");
  assert_float_equal(out[0], -1, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_refuses_damaged_frames),
      cmocka_unit_test(it_never_reports_success_for_a_frame_it_cannot_answer),
      cmocka_unit_test(it_refuses_other_attributes),
      cmocka_unit_test(it_refuses_buffers_of_another_program),
      cmocka_unit_test(it_refuses_what_is_no_buffer),
      cmocka_unit_test(a_strict_run_is_an_attribute),
      cmocka_unit_test(lists_without_entries_are_damaged),
      cmocka_unit_test(a_short_extension_is_passed_over),
      cmocka_unit_test(it_survives_damaged_configs),
  };
  return cmocka_run_group_tests(tests, setup_programs, teardown_programs);
}
