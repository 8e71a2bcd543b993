/* hlo_test.c -- spec/emit: HLO and StableHLO text around a custom-call. The config is replaced by a short one: its text
 * is tested elsewhere. */
#include "module.h"

#define OP "op_type=\"xla___op_NkiKernelCallImpl\" op_name=\"xla___op_NkiKernelCallImpl\""

static Artifact *artifact_of(const Plan *p) {
  Artifact *a = plan_artifact(p);
  a->backend_config = "eyJhIjoxfQ==";
  a->backend_config_len = strlen(a->backend_config);
  return a;
}

typedef bool (*Maker)(const Artifact *a, Text *out, Diag *d);

static void check(const Artifact *a, Maker make, const char *want) {
  Text out;
  Diag d;
  text_init(&out, alloc_std);
  diag_init(&d, alloc_std);
  assert_true(make(a, &out, &d));
  assert_string_equal(text_str(&out), want);
  text_free(&out);
  diag_free(&d);
}

static void one_output(void **state) {
  (void)state;
  Artifact *a = artifact_of(&plan_in_place);
  a->has_collectives = true;
  check(
      a, hlo_text,
      "HloModule jit_step, input_output_alias={ {}: (0, {}, may-alias) }, "
      "entry_computation_layout={(f32[4,8]{1,0}, bf16[4,8]{1,0})->f32[4,8]{1,0}}\n\n"
      "ENTRY %main (a: f32[4,8], b: bf16[4,8]) -> f32[4,8] {\n"
      "  %a = f32[4,8]{1,0} parameter(0)\n"
      "  %b = bf16[4,8]{1,0} parameter(1)\n"
      "  ROOT %custom-call.0 = f32[4,8]{1,0} custom-call(%a, %b), custom_call_target=\"AwsNeuronCustomNativeKernel\", "
      "output_to_operand_aliasing={{}: (0, {})}, api_version=API_VERSION_STATUS_RETURNING, "
      "frontend_attributes={has_collectives=\"1\"}, "
      "metadata={" OP
      " source_file=\"k.lua\" source_line=3}, "
      "backend_config=\"eyJhIjoxfQ==\"\n"
      "}\n");
  check(a, stablehlo_text,
        "module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {\n"
        "  func.func public @main(%arg0: tensor<4x8xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<4x8xbf16>) -> "
        "(tensor<4x8xf32> {jax.result_info = \"result\"}) {\n"
        "    %0 = stablehlo.custom_call @AwsNeuronCustomNativeKernel(%arg0, %arg1) {api_version = 2 : i32, "
        "backend_config = \"eyJhIjoxfQ==\", "
        "mhlo.frontend_attributes = {has_collectives = \"1\"}, operand_layouts = [dense<[1, 0]> : tensor<2xindex>, "
        "dense<[1, 0]> : tensor<2xindex>], output_operand_aliases = "
        "[#stablehlo.output_operand_alias<output_tuple_indices = [], "
        "operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : "
        "(tensor<4x8xf32>, tensor<4x8xbf16>) -> tensor<4x8xf32>\n"
        "    return %0 : tensor<4x8xf32>\n"
        "  }\n"
        "}\n");
  artifact_release(a);
}

static void two_outputs_with_a_constant(void **state) {
  (void)state;
  Artifact *a = artifact_of(&plan_two);
  check(a, hlo_text,
        "HloModule jit_two, input_output_alias={ {1}: (0, {}, may-alias) }, "
        "entry_computation_layout={(f32[4,8]{1,0}, bf16[4,8]{1,0})->(bf16[2,2]{1,0}, f32[4,8]{1,0})}\n\n"
        "ENTRY %main (a: f32[4,8], b: bf16[4,8]) -> (bf16[2,2], f32[4,8]) {\n"
        "  %a = f32[4,8]{1,0} parameter(0)\n"
        "  %b = bf16[4,8]{1,0} parameter(1)\n"
        "  %constant.0 = bf16[2,2]{1,0} constant({ { 1.0, 2.0 }, { 3.0, 4.0 } })\n"
        "  %custom-call.0 = (bf16[2,2]{1,0}, f32[4,8]{1,0}) custom-call(%a, %b, %constant.0), "
        "custom_call_target=\"AwsNeuronCustomNativeKernel\", "
        "output_to_operand_aliasing={{1}: (0, {})}, api_version=API_VERSION_STATUS_RETURNING, "
        "metadata={" OP
        " source_file=\"k.lua\" source_line=3}, "
        "backend_config=\"eyJhIjoxfQ==\"\n"
        "  %get-tuple-element.0 = bf16[2,2]{1,0} get-tuple-element(%custom-call.0), index=0\n"
        "  %get-tuple-element.1 = f32[4,8]{1,0} get-tuple-element(%custom-call.0), index=1\n"
        "  ROOT %tuple.0 = (bf16[2,2]{1,0}, f32[4,8]{1,0}) tuple(%get-tuple-element.0, %get-tuple-element.1)\n"
        "}\n");
  check(a, stablehlo_text,
        "module @jit_two attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {\n"
        "  func.func public @main(%arg0: tensor<4x8xf32> {tf.aliasing_output = 1 : i32}, %arg1: tensor<4x8xbf16>) -> "
        "(tensor<2x2xbf16> {jax.result_info = \"result[0]\"}, tensor<4x8xf32> {jax.result_info = \"result[1]\"}) {\n"
        "    %cst0 = stablehlo.constant dense<\"0x803F004040408040\"> : tensor<2x2xbf16>\n"
        "    %0:2 = stablehlo.custom_call @AwsNeuronCustomNativeKernel(%arg0, %arg1, %cst0) {api_version = 2 : i32, "
        "backend_config = \"eyJhIjoxfQ==\", "
        "operand_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 0]> : "
        "tensor<2xindex>], "
        "output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [1], operand_index = 0, "
        "operand_tuple_indices = []>], "
        "result_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<[1, 0]> : tensor<2xindex>]} : "
        "(tensor<4x8xf32>, tensor<4x8xbf16>, tensor<2x2xbf16>) -> (tensor<2x2xbf16>, tensor<4x8xf32>)\n"
        "    return %0#0, %0#1 : tensor<2x2xbf16>, tensor<4x8xf32>\n"
        "  }\n"
        "}\n");
  artifact_release(a);
}

/* What torch-xla emits: the original API, and no aliases but those of the entry. */
static void torch_form(void **state) {
  (void)state;
  Artifact *a = artifact_of(&plan_in_place);
  a->call_target = EMIT_TARGET_TORCH;
  check(a, hlo_text,
        "HloModule jit_step, input_output_alias={ {}: (0, {}, may-alias) }, "
        "entry_computation_layout={(f32[4,8]{1,0}, bf16[4,8]{1,0})->f32[4,8]{1,0}}\n\n"
        "ENTRY %main (a: f32[4,8], b: bf16[4,8]) -> f32[4,8] {\n"
        "  %a = f32[4,8]{1,0} parameter(0)\n"
        "  %b = bf16[4,8]{1,0} parameter(1)\n"
        "  ROOT %custom-call.0 = f32[4,8]{1,0} custom-call(%a, %b), custom_call_target=\"AwsNeuronNkiKernel\", "
        "metadata={" OP
        " source_file=\"k.lua\" source_line=3}, "
        "backend_config=\"eyJhIjoxfQ==\"\n"
        "}\n");
  check(a, stablehlo_text,
        "module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {\n"
        "  func.func public @main(%arg0: tensor<4x8xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<4x8xbf16>) -> "
        "(tensor<4x8xf32> {jax.result_info = \"result\"}) {\n"
        "    %0 = stablehlo.custom_call @AwsNeuronNkiKernel(%arg0, %arg1) {api_version = 1 : i32, "
        "backend_config = \"eyJhIjoxfQ==\", operand_layouts = [dense<[1, 0]> : tensor<2xindex>, "
        "dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : "
        "(tensor<4x8xf32>, tensor<4x8xbf16>) -> tensor<4x8xf32>\n"
        "    return %0 : tensor<4x8xf32>\n"
        "  }\n"
        "}\n");
  artifact_release(a);
}

/* One output that was returned as a list: a 1-tuple in HLO, which StableHLO does not have. */
static void sequence_of_one(void **state) {
  (void)state;
  const Plan p = {.name = "one", .returned = {0, -1}, .sequence = true, .write_operand = true, .target = TARGET_trn2};
  Artifact *a = artifact_of(&p);
  Text out;
  Diag d;
  text_init(&out, alloc_std);
  diag_init(&d, alloc_std);
  assert_true(hlo_text(a, &out, &d));
  assert_non_null(strstr(text_str(&out), "input_output_alias={ {0}: (0, {}, may-alias) }"));
  assert_non_null(strstr(text_str(&out), "  %custom-call.0 = (f32[4,8]{1,0}) custom-call("));
  assert_non_null(strstr(text_str(&out), "output_to_operand_aliasing={{0}: (0, {})}"));
  assert_non_null(strstr(text_str(&out), "  ROOT %tuple.0 = (f32[4,8]{1,0}) tuple(%get-tuple-element.0)\n"));
  text_clear(&out);
  assert_true(stablehlo_text(a, &out, &d));
  assert_non_null(strstr(text_str(&out), "output_tuple_indices = []"));
  assert_non_null(strstr(text_str(&out), "{jax.result_info = \"result[0]\"}"));
  text_free(&out);
  diag_free(&d);
  artifact_release(a);
}

/* A constant [1,n] of these bytes is spelled so. */
static void spelled(DType t, const void *bytes, int64_t n, const char *want) {
  const int64_t shape[2] = {1, n};
  const IrBufSpec spec = {
      .kind = BUF_CONST, .space = SP_private_hbm, .dtype = t, .rank = 2, .shape = shape, .name = "c", .data = bytes};
  const Plan p = {.name = "c",
                  .fresh = 1,
                  .returned = {10, -1},
                  .constant = true,
                  .table = &spec,
                  .target = dtype_info[t].gen == gen4 ? TARGET_trn3 : TARGET_trn2};
  Artifact *a = artifact_of(&p);
  Text out;
  Diag d;
  text_init(&out, alloc_std);
  diag_init(&d, alloc_std);
  assert_true(hlo_text(a, &out, &d));
  const char *at = strstr(text_str(&out), " constant({ ");
  assert_non_null(at);
  if (strncmp(at + strlen(" constant({ "), want, strlen(want)) != 0) fail_msg("%s is not in %s", want, at);
  text_free(&out);
  diag_free(&d);
  artifact_release(a);
}

/* NaN with its sign and mantissa, so that the text holds the bits. */
static void constants_are_exact(void **state) {
  (void)state;
  const uint32_t f32[] = {0x80000000, 0x3dcccccd, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7f800001, 1};
  spelled(DT_float32, f32, 8, "{ -0.0, 0.1, inf, -inf, nan, -nan, nan(0x1), 1.0e-45 } }");
  const uint16_t f16[] = {0x0001, 0x7e01, 0x7c00, 0xfbff};
  spelled(DT_float16, f16, 4, "{ 5.9604645e-08, nan(0x201), inf, -65504.0 } }");
  spelled(DT_bfloat16, (const uint16_t[]){0x7fc0, 0xff81}, 2, "{ nan, -nan(0x1) } }");
  spelled(DT_float8_e4m3, "\x78\x7c\x7f\x77", 4, "{ inf, nan, nan(0x7), 240.0 } }");
  spelled(DT_float8_e5m2, "\x7c\x7e\xfd\x7b", 4, "{ inf, nan, -nan(0x1), 57344.0 } }");
  spelled(DT_float8_e4m3fn, "\x7f\xff\x7e\x01", 4, "{ nan, -nan, 448.0, 0.001953125 } }");
  spelled(DT_float8_e8m0fnu, "\x00\x7f\xff", 3, "{ 5.877471754111438e-39, 1.0, nan } }");
  spelled(DT_int8, "\x80\x7f", 2, "{ -128, 127 } }");
  spelled(DT_uint32, (const uint32_t[]){0xffffffff, 0}, 2, "{ 4294967295, 0 } }");
  spelled(DT_int32, (const uint32_t[]){0x80000000, 5}, 2, "{ -2147483648, 5 } }");
  spelled(DT_bool_, "\1\0", 2, "{ true, false } }");
}

/* Words that HLO's lexer does not take for names. */
static void illegal_names(void **state) {
  (void)state;
  const Plan p = {
      .name = "my kernel-1", .arg = {"bf16", "__x"}, .returned = {0, -1}, .write_operand = true, .target = TARGET_trn2};
  Artifact *a = artifact_of(&p);
  Text out;
  Diag d;
  text_init(&out, alloc_std);
  diag_init(&d, alloc_std);
  assert_true(hlo_text(a, &out, &d));
  assert_non_null(strstr(text_str(&out), "HloModule jit_my_kernel-1, "));
  assert_non_null(
      strstr(text_str(&out), "ENTRY %main (bf16_: f32[4,8], x__x: bf16[4,8]) -> f32[4,8] {\n  %bf16_ = f32"));
  assert_non_null(strstr(text_str(&out), "custom-call(%bf16_, %x__x)"));
  text_clear(&out);
  assert_true(stablehlo_text(a, &out, &d));
  assert_non_null(strstr(text_str(&out), "module @\"jit_my_kernel-1\" attributes"));
  text_free(&out);
  diag_free(&d);
  artifact_release(a);
}

/* Whatever stands in front of a name, it must not become one of XLA's; to XLA "x" and "x.0" are one name. */
static void names_that_xla_would_change(void **state) {
  (void)state;
  static const struct {
    const char *arg[2], *want;
  } cases[] = {{{"%x=1", "\342\211\244"}, "ENTRY %main (_x_1: f32[4,8], x___: bf16[4,8])"},
               {{"9", "_9"}, "ENTRY %main (_9: f32[4,8], _9_: bf16[4,8])"},
               {{"custom-call", "a"}, "%custom-call.0_ = f32[4,8]{1,0} custom-call("},
               {{"x", "x.0"}, "ENTRY %main (x: f32[4,8], x.0_: bf16[4,8])"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const Plan p = {.name = "k", .arg = {cases[i].arg[0], cases[i].arg[1]}, .returned = {0, -1}, .target = TARGET_trn2};
    Artifact *a = artifact_of(&p);
    Text out;
    Diag d;
    text_init(&out, alloc_std);
    diag_init(&d, alloc_std);
    assert_true(hlo_text(a, &out, &d));
    if (!strstr(text_str(&out), cases[i].want)) fail_msg("'%s' is not in %s", cases[i].want, text_str(&out));
    text_free(&out);
    diag_free(&d);
    artifact_release(a);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_output),
      cmocka_unit_test(two_outputs_with_a_constant),
      cmocka_unit_test(torch_form),
      cmocka_unit_test(sequence_of_one),
      cmocka_unit_test(constants_are_exact),
      cmocka_unit_test(illegal_names),
      cmocka_unit_test(names_that_xla_would_change),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
