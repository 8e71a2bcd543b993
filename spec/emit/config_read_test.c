/* config_read_test.c -- spec/emit: strict reading of a backend_config. */
#include "whole.h"

static void decodes_to_the_same(void **state) {
  (void)state;
  Artifact *a = make();
  Diag d;
  diag_init(&d, alloc_std);
  const Artifact *b = config_decode(alloc_std, a->backend_config, a->backend_config_len, &d);
  if (!b) fail_msg("%s", diag_message(&d));
  assert_string_equal(b->backend_config, a->backend_config);
  assert_string_equal(b->ir, a->ir);
  assert_string_equal(b->func_name, "look");
  assert_string_equal(b->cache_key, "");
  assert_int_equal(b->nconstants, 3);
  assert_int_equal(b->constants[1].len, 3);
  assert_memory_equal(b->constants[1].s, "\x00\xff\xfe", 3);
  assert_true(b->constants[2].items[0].i == INT64_MAX);
  assert_int_equal(b->ntensors, 1);
  assert_int_equal(artifact_alias(b, 0), -1);
  assert_int_equal(artifact_alias(b, 1), 0);
  artifact_release(b);
  diag_free(&d);
  artifact_release(a);
}

static void one_newline_may_follow(void **state) {
  (void)state;
  Artifact *a = make();
  char *line = malloc(a->backend_config_len + 2);
  Diag d;
  diag_init(&d, alloc_std);
  memcpy(line, a->backend_config, a->backend_config_len);
  memcpy(line + a->backend_config_len, "\n\n", 2);
  const Artifact *b = config_decode(alloc_std, line, a->backend_config_len + 1, &d);
  assert_non_null(b);
  artifact_release(b);
  assert_null(config_decode(alloc_std, line, a->backend_config_len + 2, &d));
  assert_int_equal(d.id, ERR_base64);
  free(line);
  diag_free(&d);
  artifact_release(a);
}

/* The config with `from` replaced by `to` is refused with this message. */
static void refused(const char *from, const char *to, const char *message) {
  Artifact *a = make();
  const char *at = strstr(a->config_json, from);
  if (!at) fail_msg("'%s' is not in the config", from);
  Text json;
  text_init(&json, alloc_std);
  text_add(&json, a->config_json, (size_t)(at - a->config_json));
  text_puts(&json, to);
  text_puts(&json, at + strlen(from));
  Diag d;
  diag_init(&d, alloc_std);
  assert_null(decode_json(text_str(&json), json.len, &d));
  assert_string_equal(diag_message(&d), message);
  diag_free(&d);
  text_free(&json);
  artifact_release(a);
}

/* As much as a message quotes. */
#define TEN "0123456789"
#define LONG TEN TEN TEN TEN TEN TEN TEN TEN

static void faults_are_named(void **state) {
  (void)state;
  refused("\"kernel_format\":\"nkilua-mlir\"", "\"kernel_format\":\"bir\"",
          "backend_config: kernel_format is 'bir'; this build reads 'nkilua-mlir'");
  refused("\"kernel_format\":\"nkilua-mlir\"", "\"kernel_format\":\"" LONG LONG "\"",
          "backend_config: kernel_format is '" LONG "...'; this build reads 'nkilua-mlir'");
  refused("\"tiled\":true", "\"tiled\":true,\"" LONG "+\":1", "backend_config: unknown key '" LONG "...'");
  refused("\"kernel_version\":1", "\"kernel_version\":2",
          "backend_config: kernel_version is 2; this build reads up to 1");
  refused("\"kernel_version\":1", "\"kernel_version\":0", "backend_config: 'kernel_version': must be at least 1");
  refused("\"kernel_version\":1", "\"kernel_version\":\"99\"", "backend_config: 'kernel_version' must be an integer");
  refused("\"tiled\":true,", "", "backend_config: missing key 'tiled'");
  refused("\"tiled\":true", "\"tiled\":true,\"extra\":1", "backend_config: unknown key 'extra'");
  refused("\"tiled\":true", "\"tiled\":1", "backend_config: 'tiled' must be true or false");
  refused("\"tiled\":true", "\"tiled\":false",
          "backend_config: 'tiled' is not what the program in serialize_ir_string says");
  refused("\"func_name\":\"look\"", "\"func_name\":\"took\"",
          "backend_config: 'func_name' is not what the program in serialize_ir_string says");
  refused("\"cores\":[[2,1]]", "\"cores\":[]",
          "backend_config: 'cores' is not what the program in serialize_ir_string says");
  refused(",\"cores\":[[2,1]]", "", "backend_config: missing key 'cores'");
  refused("\"grid\":[2]", "\"grid\":[3]", "backend_config: 'grid' is not what the program in serialize_ir_string says");
  refused("\"matmul_mac_count\":0", "\"matmul_mac_count\":7",
          "backend_config: 'matmul_mac_count' is not what the program in serialize_ir_string says");
  refused("\"platform_target\":\"trn2\"", "\"platform_target\":\"trn3\"",
          "backend_config: 'platform_target' is not what the program in serialize_ir_string says");
  refused("[[0,1]]", "[[0,0]]",
          "backend_config: 'operand_output_aliases' is not what the program in serialize_ir_string says");
  refused("\"input_names\":[\"a\",\"b\"]", "\"input_names\":[\"b\",\"a\"]",
          "backend_config: 'input_names' is not what the program in serialize_ir_string says");
  refused("gD8AQEBAgEA=", "gD8AQEBAgEE=",
          "backend_config: 'constant_values' is not what the program in serialize_ir_string says");
  refused("\"name\":\"f\",\"kind\":\"float\",\"value\":0.1", "\"name\":\"f\",\"kind\":\"float\",\"value\":0.2",
          "backend_config: 'constant_values' is not what the program in serialize_ir_string says");
  refused("\"name\":\"f\"", "\"name\":\"g\"",
          "backend_config: 'constant_values' is not what the program in serialize_ir_string says");
  refused("\"opts\":{\"a\":1", "\"opts\":{\"a\":2",
          "backend_config: 'opts' is not what the program in serialize_ir_string says");
  refused("\"opts\":{\"a\":1,\"b\":\"x\"}", "\"opts\":{}",
          "backend_config: 'opts' is not what the program in serialize_ir_string says");
  refused("nki.bound = \\\"", "nki.bound = \\\"0",
          "backend_config: 'constant_values' is not what the program in serialize_ir_string says");
  refused("\"kind\":\"float\"", "\"kind\":\"int\"", "backend_config: 'constant_values': an int has an integer value");
  refused("\"kind\":\"float\"", "\"kind\":\"flaot\"",
          "backend_config: 'constant_values': an entry is {name, kind, value} with a known kind");
  refused("\"kind\":\"bytes\",\"value\":\"AP/+\"", "\"kind\":\"bytes\",\"value\":\"AP/\"",
          "length is not a multiple of 4: text ends at offset 3 of the base64 text");
  refused("\"opts\":{\"a\":1,\"b\":\"x\"}", "\"opts\":{\"b\":\"x\",\"a\":1}",
          "backend_config: 'opts': keys must be sorted");
  refused("\"opts\":{\"a\":1", "\"opts\":{\"a\":null",
          "backend_config: 'opts': a value is true, false, a number or a string");
  refused("\"9223372036854775807\"", "\"9223372036854775808\"",
          "backend_config: 'constant_values': an int has an integer value");
  refused("\"9223372036854775807\"", "\"12\"", "backend_config: 'constant_values': an int has an integer value");
}

static void other_documents(void **state) {
  (void)state;
  Diag d;
  diag_init(&d, alloc_std);
  assert_null(decode_json("[1]", 3, &d));
  assert_string_equal(diag_message(&d), "backend_config: 'backend_config' must be an object");
  diag_clear(&d);
  assert_null(decode_json("{}", 2, &d));
  assert_string_equal(diag_message(&d), "backend_config: missing key 'kernel_version'");
  diag_clear(&d);
  assert_null(config_decode(alloc_std, "", 0, &d));
  assert_int_equal(d.id, ERR_json);
  diag_free(&d);
}

/* What says the same in another spelling has the canonical texts. */
static void spelled(const Artifact *a, const char *from, const char *to) {
  Text json;
  Diag d;
  const char *at = strstr(a->config_json, from);
  text_init(&json, alloc_std);
  diag_init(&d, alloc_std);
  text_add(&json, a->config_json, (size_t)(at - a->config_json));
  text_puts(&json, to);
  text_puts(&json, at + strlen(from));
  const Artifact *b = decode_json(text_str(&json), json.len, &d);
  if (!b) fail_msg("%s", diag_message(&d));
  assert_string_equal(b->backend_config, a->backend_config);
  assert_string_equal(b->config_json, a->config_json);
  assert_string_equal(b->ir, a->ir);
  artifact_release(b);
  diag_free(&d);
  text_free(&json);
}

static void other_spellings(void **state) {
  (void)state;
  Artifact *a = make();
  spelled(a, "{", " {");
  spelled(a, ",\"func_name\"", ", \"func_name\"");
  spelled(a, "\"result_is_sequence\":", "\"result_is_sequence\": ");
  spelled(a, "\"serialize_ir_string\":\"", "\"serialize_ir_string\": \"");
  spelled(a, "\"serialize_ir_string\":\"\\\"", "\"serialize_ir_string\":\"\\u0022");
  spelled(a, "({\\n", "({\\u000A");
  spelled(a, "sym_name = ", "sym_name =\\t"); /* also the program's own */
  spelled(a, "} : () -> ()\\n\"", "} : () -> ()\"");
  spelled(a, "\"func_name\":\"look\"", "\"func_name\":\"l\\u006fok\"");
  artifact_release(a);
}

/* What the program does not show is said in its text, and only there and in the config at once. */
static void collectives_that_a_class_claims(void **state) {
  (void)state;
  Artifact *a = make();
  Diag d;
  diag_init(&d, alloc_std);
  assert_null(strstr(a->ir, "has_collectives"));
  refused("\"has_collectives\":false", "\"has_collectives\":true",
          "backend_config: 'has_collectives' is not what the program in serialize_ir_string says");
  refused(", nki.outputs", ", nki.has_collectives = true, nki.outputs",
          "backend_config: 'has_collectives' is not what the program in serialize_ir_string says");
  a->has_collectives = true;
  assert_true(config_encode(a, &d));
  assert_non_null(strstr(a->ir, ", nki.has_collectives = true, nki.outputs = "));
  const Artifact *b = config_decode(alloc_std, a->backend_config, a->backend_config_len, &d);
  if (!b) fail_msg("%s", diag_message(&d));
  assert_true(b->has_collectives);
  assert_string_equal(b->backend_config, a->backend_config);
  artifact_release(b);
  diag_free(&d);
  artifact_release(a);
}

static void cut_short(void **state) {
  (void)state;
  Artifact *a = make();
  Diag d;
  diag_init(&d, alloc_std);
  for (size_t n = 0; n < a->config_json_len; n++) {
    diag_clear(&d);
    assert_null(decode_json(a->config_json, n, &d));
    assert_true(d.id != ERR_none);
  }
  for (size_t n = 0; n < a->backend_config_len; n++) {
    diag_clear(&d);
    assert_null(config_decode(alloc_std, a->backend_config, n, &d));
  }
  diag_free(&d);
  artifact_release(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(decodes_to_the_same), cmocka_unit_test(one_newline_may_follow),
      cmocka_unit_test(faults_are_named),    cmocka_unit_test(other_documents),
      cmocka_unit_test(other_spellings),     cmocka_unit_test(collectives_that_a_class_claims),
      cmocka_unit_test(cut_short),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
