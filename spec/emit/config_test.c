/* config_test.c -- spec/emit: what encode_backend_config writes. */
#include <locale.h>
#include <math.h>

#include "base64.h"
#include "module.h"

static const Plan copy = {.name = "copy", .fresh = 1, .returned = {10, -1}, .target = TARGET_trn2};

static void encode(Artifact *a) {
  Diag d;
  diag_init(&d, alloc_std);
  if (!config_encode(a, &d)) fail_msg("%s", diag_message(&d));
  diag_free(&d);
}

static void keys_are_in_order(void **state) {
  (void)state;
  static const char *const keys[] = {"kernel_version",
                                     "func_name",
                                     "grid",
                                     "has_collectives",
                                     "matmul_mac_count",
                                     "platform_target",
                                     "platform_target_is_fallback",
                                     "opts",
                                     "serialize_dims",
                                     "serialize_ir_string",
                                     "tiled",
                                     "constant_values",
                                     "kernel_return",
                                     "result_is_sequence",
                                     "kernel_format",
                                     "mac_count",
                                     "operand_output_aliases",
                                     "input_names",
                                     "output_names",
                                     "cores"};
  Artifact *a = plan_artifact(&copy);
  encode(a);
  Arena arena;
  Diag d;
  arena_init(&arena, alloc_std);
  diag_init(&d, alloc_std);
  const Json *v = json_parse(&arena, a->config_json, a->config_json_len, "config", &d);
  assert_non_null(v);
  const Json *child = v->child;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++, child = child->next) {
    assert_non_null(child);
    assert_string_equal(child->key, keys[i]);
  }
  assert_null(child);
  assert_string_equal(json_get(v, "serialize_ir_string")->s, a->ir);
  arena_free(&arena);
  diag_free(&d);
  artifact_release(a);
}

/* The text around the program, byte by byte. */
static void check_text(Artifact *a, const char *before, const char *after) {
  encode(a);
  const char *ir = strstr(a->config_json, "\"serialize_ir_string\":"), *tail = strstr(a->config_json, "\",\"tiled\":");
  assert_non_null(ir);
  assert_non_null(tail);
  char *head = strndup(a->config_json, (size_t)(ir - a->config_json));
  assert_string_equal(head, before);
  assert_string_equal(tail + 2, after);
  free(head);
}

static void plain_copy(void **state) {
  (void)state;
  Artifact *a = plan_artifact(&copy);
  check_text(
      a,
      "{\"kernel_version\":1,\"func_name\":\"copy\",\"grid\":[],\"has_collectives\":false,\"matmul_mac_count\":0,"
      "\"platform_target\":\"trn2\",\"platform_target_is_fallback\":false,\"opts\":{},\"serialize_dims\":{\"operands\":"
      "["
      "{\"name\":\"a\",\"dtype\":\"float32\",\"shape\":[4,8]},{\"name\":\"b\",\"dtype\":\"bfloat16\",\"shape\":[4,8]}],"
      "\"outputs\":[{\"name\":\"output_0\",\"dtype\":\"float32\",\"shape\":[4,8]}]},",
      "\"tiled\":true,\"constant_values\":[],\"kernel_return\":[{\"name\":\"output_0\",\"dtype\":\"float32\",\"shape\":"
      "[4,8]}],"
      "\"result_is_sequence\":false,\"kernel_format\":\"nkilua-mlir\",\"mac_count\":0,\"operand_output_aliases\":[],"
      "\"input_names\":[\"a\",\"b\"],\"output_names\":[\"output_0\"],\"cores\":[]}");
  artifact_release(a);
}

static void grid_alias_sequence(void **state) {
  (void)state;
  const Plan p = {.name = "step",
                  .returned = {0, -1},
                  .sequence = true,
                  .write_operand = true,
                  .target = TARGET_trn1,
                  .fallback = true,
                  .ngrid = 2,
                  .grid = {2, 1}};
  Artifact *a = plan_artifact(&p);
  check_text(
      a,
      "{\"kernel_version\":1,\"func_name\":\"step\",\"grid\":[2,1],\"has_collectives\":false,\"matmul_mac_count\":0,"
      "\"platform_target\":\"trn1\",\"platform_target_is_fallback\":true,\"opts\":{},\"serialize_dims\":{\"operands\":["
      "{\"name\":\"a\",\"dtype\":\"float32\",\"shape\":[4,8]},{\"name\":\"b\",\"dtype\":\"bfloat16\",\"shape\":[4,8]}],"
      "\"outputs\":[{\"name\":\"a\",\"dtype\":\"float32\",\"shape\":[4,8]}]},",
      "\"tiled\":true,\"constant_values\":[],\"kernel_return\":[{\"name\":\"a\",\"dtype\":\"float32\",\"shape\":[4,8]}]"
      ","
      "\"result_is_sequence\":true,\"kernel_format\":\"nkilua-mlir\",\"mac_count\":0,\"operand_output_aliases\":[[0,0]]"
      ","
      "\"input_names\":[\"a\",\"b\"],\"output_names\":[\"a\"],\"cores\":[]}");
  artifact_release(a);
}

static const char *constants_of(const ConstValue *list, uint32_t n) {
  static char text[2048];
  Artifact *a = plan_artifact(&copy);
  assert_true(artifact_set_constants(a, list, n));
  encode(a);
  const char *from = strstr(a->config_json, "\"constant_values\":") + strlen("\"constant_values\":");
  const char *to = strstr(from, ",\"kernel_return\"");
  assert_true((size_t)(to - from) < sizeof text);
  memcpy(text, from, (size_t)(to - from));
  text[to - from] = '\0';
  artifact_release(a);
  return text;
}

static void constant_kinds(void **state) {
  (void)state;
  const ConstValue items[] = {{.kind = CONST_INT, .i = 2}, {.kind = CONST_FLOAT, .f = 2.0}};
  const ConstValue list[] = {{.name = "n", .kind = CONST_NIL},
                             {.name = "t", .kind = CONST_BOOL, .b = true},
                             {.name = "i", .kind = CONST_INT, .i = 1},
                             {.name = "big", .kind = CONST_INT, .i = INT64_MIN},
                             {.name = "f", .kind = CONST_FLOAT, .f = 1.0},
                             {.name = "z", .kind = CONST_FLOAT, .f = -0.0},
                             {.name = "x", .kind = CONST_FLOAT, .f = (double)NAN},
                             {.name = "inf", .kind = CONST_FLOAT, .f = -(double)INFINITY},
                             {.name = "s", .kind = CONST_STRING, .s = "a\"\n", .len = 3},
                             {.name = "raw", .kind = CONST_STRING, .s = "\x00\xff\xfe", .len = 3},
                             {.name = "op", .kind = CONST_TOKEN, .s = "nl.exp", .len = 6},
                             {.name = "p", .kind = CONST_TUPLE, .items = items, .nitems = 2}};
  assert_string_equal(
      constants_of(list, 12),
      "[{\"name\":\"n\",\"kind\":\"nil\",\"value\":null},{\"name\":\"t\",\"kind\":\"bool\",\"value\":true},"
      "{\"name\":\"i\",\"kind\":\"int\",\"value\":1},{\"name\":\"big\",\"kind\":\"int\",\"value\":\"-"
      "9223372036854775808\"},"
      "{\"name\":\"f\",\"kind\":\"float\",\"value\":1.0},{\"name\":\"z\",\"kind\":\"float\",\"value\":-0.0},"
      "{\"name\":\"x\",\"kind\":\"float\",\"value\":\"NaN\"},{\"name\":\"inf\",\"kind\":\"float\",\"value\":\"-"
      "Infinity\"},"
      "{\"name\":\"s\",\"kind\":\"string\",\"value\":\"a\\\"\\n\"},{\"name\":\"raw\",\"kind\":\"bytes\",\"value\":\"AP/"
      "+\"},"
      "{\"name\":\"op\",\"kind\":\"token\",\"value\":\"nl.exp\"},"
      "{\"name\":\"p\",\"kind\":\"tuple\",\"value\":[{\"kind\":\"int\",\"value\":2},{\"kind\":\"float\",\"value\":2.0}]"
      "}]");
}

static void constant_tensors_come_last(void **state) {
  (void)state;
  const Plan p = {.name = "look", .fresh = 1, .returned = {10, -1}, .constant = true, .target = TARGET_trn2};
  Artifact *a = plan_artifact(&p);
  const ConstValue one = {.name = "n", .kind = CONST_INT, .i = 1};
  assert_true(artifact_set_constants(a, &one, 1));
  encode(a);
  assert_non_null(strstr(
      a->config_json,
      "\"constant_values\":[{\"name\":\"n\",\"kind\":\"int\",\"value\":1},"
      "{\"name\":\"table\",\"kind\":\"tensor\",\"dtype\":\"bfloat16\",\"shape\":[2,2],\"data\":\"gD8AQEBAgEA=\"}],"));
  artifact_release(a);
}

static void options_are_carried(void **state) {
  (void)state;
  const KernelOpt opts[] = {{"debug", {.kind = CONST_BOOL, .b = true}},
                            {"level", {.kind = CONST_INT, .i = 3}},
                            {"ratio", {.kind = CONST_FLOAT, .f = 0.5}},
                            {"tag", {.kind = CONST_STRING, .s = "x", .len = 1}}};
  Artifact *a = plan_artifact(&copy);
  assert_true(artifact_set_opts(a, opts, 4));
  encode(a);
  assert_non_null(strstr(a->config_json, "\"opts\":{\"debug\":true,\"level\":3,\"ratio\":0.5,\"tag\":\"x\"},"));
  artifact_release(a);
}

static void option_text_must_be_text(void **state) {
  (void)state;
  const KernelOpt opt = {"tag", {.kind = CONST_STRING, .s = "\xff", .len = 1}};
  Artifact *a = plan_artifact(&copy);
  Diag d;
  diag_init(&d, alloc_std);
  assert_true(artifact_set_opts(a, &opt, 1));
  assert_false(config_encode(a, &d));
  assert_int_equal(d.id, ERR_config_text);
  assert_string_equal(diag_message(&d), "backend_config: a value of opts is not UTF-8 text without NUL bytes");
  diag_free(&d);
  artifact_release(a);
}

/* One line of base64, the same in every locale. */
static void is_byte_stable(void **state) {
  (void)state;
  const ConstValue f = {.name = "f", .kind = CONST_FLOAT, .f = 0.1};
  Artifact *a = plan_artifact(&copy), *b = plan_artifact(&copy);
  assert_true(artifact_set_constants(a, &f, 1));
  assert_true(artifact_set_constants(b, &f, 1));
  encode(a);
  setlocale(LC_ALL, "de_DE.UTF-8");
  encode(b);
  setlocale(LC_ALL, "C");
  assert_int_equal(a->backend_config_len, b->backend_config_len);
  assert_memory_equal(a->backend_config, b->backend_config, a->backend_config_len);
  assert_null(memchr(a->backend_config, '\n', a->backend_config_len));
  Text text;
  text_init(&text, alloc_std);
  Diag d;
  diag_init(&d, alloc_std);
  assert_true(base64_decode(&text, a->backend_config, a->backend_config_len, &d));
  assert_string_equal(text_str(&text), a->config_json);
  text_free(&text);
  diag_free(&d);
  artifact_release(a);
  artifact_release(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(keys_are_in_order),          cmocka_unit_test(plain_copy),
      cmocka_unit_test(grid_alias_sequence),        cmocka_unit_test(constant_kinds),
      cmocka_unit_test(constant_tensors_come_last), cmocka_unit_test(options_are_carried),
      cmocka_unit_test(option_text_must_be_text),   cmocka_unit_test(is_byte_stable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
