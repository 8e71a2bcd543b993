/* config_read_test.c -- spec/emit: strict reading of a backend_config. */
#include "base64.h"
#include "module.h"

static const Plan plan = {.name = "look",
                          .fresh = 1,
                          .returned = {10, 0, -1},
                          .constant = true,
                          .write_operand = true,
                          .target = TARGET_trn2,
                          .ngrid = 1,
                          .grid = {2}};

static Artifact *make(void) {
  const ConstValue items[] = {{.kind = CONST_INT, .i = INT64_MAX}, {.kind = CONST_BOOL, .b = true}};
  const ConstValue list[] = {{.name = "f", .kind = CONST_FLOAT, .f = 0.1},
                             {.name = "raw", .kind = CONST_STRING, .s = "\x00\xff\xfe", .len = 3},
                             {.name = "p", .kind = CONST_TUPLE, .items = items, .nitems = 2}};
  const KernelOpt opts[] = {{"a", {.kind = CONST_INT, .i = 1}}, {"b", {.kind = CONST_STRING, .s = "x", .len = 1}}};
  Diag d;
  diag_init(&d, alloc_std);
  Artifact *a = plan_artifact(&plan, &d);
  assert_true(artifact_set_constants(a, list, 3));
  assert_true(artifact_set_opts(a, opts, 2));
  if (!config_encode(a, &d)) fail_msg("%s", diag_message(&d));
  diag_free(&d);
  return a;
}

static const Artifact *decode_json(const char *json, size_t n, Diag *d) {
  Text b64;
  text_init(&b64, alloc_std);
  base64_encode(&b64, json, n);
  const Artifact *a = config_decode(alloc_std, text_str(&b64), b64.len, d);
  text_free(&b64);
  return a;
}

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

static void faults_are_named(void **state) {
  (void)state;
  refused("\"kernel_format\":\"nkilua-mlir\"", "\"kernel_format\":\"bir\"",
          "backend_config: kernel_format is 'bir'; this build reads 'nkilua-mlir'");
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

/* Any one byte replaced: refused with a message, or a config that is itself consistent. */
static void single_byte_damage(void **state) {
  (void)state;
  static const char bytes[] = {'0', '1', 'x', '"', ',', '{', '}', ' ', '\0', '\x80'};
  Artifact *a = make();
  Diag d;
  diag_init(&d, alloc_std);
  char *json = strdup(a->config_json);
  int accepted = 0;
  for (size_t i = 0; i < a->config_json_len; i++) {
    for (size_t k = 0; k < sizeof bytes; k++) {
      if (json[i] == bytes[k]) continue;
      char keep = json[i];
      json[i] = bytes[k];
      diag_clear(&d);
      const Artifact *b = decode_json(json, a->config_json_len, &d);
      json[i] = keep;
      assert_true((b == NULL) == (d.id != ERR_none));
      accepted += b != NULL;
      artifact_release(b);
    }
  }
  /* What may be damaged unseen: values of scalars and options, names of scalars, names that only the text of the
   * program holds, blanks. */
  assert_in_range(accepted, 1, a->config_json_len);
  free(json);
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
      cmocka_unit_test(single_byte_damage),  cmocka_unit_test(cut_short),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
