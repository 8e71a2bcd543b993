/* dtype_test.c -- spec/ir: element types, memory spaces, targets, enumerations. */
#include "support.h"

static DType dt(const char *s) { return dtype_parse(s, strlen(s)); }

static void every_dtype_answers_to_its_name_and_aliases(void **state) {
  (void)state;
  for (int d = 1; d < DT_count; d++) {
    assert_int_equal(dt(dtype_info[d].name), d);
    assert_string_equal(dtype_names()[d - 1], dtype_info[d].name);
    char words[128];
    strcpy(words, dtype_info[d].aliases);
    for (char *w = strtok(words, " "); w; w = strtok(NULL, " ")) assert_int_equal(dt(w), d);
  }
  assert_null(dtype_names()[DT_count - 1]);
}

static void names_are_found_whole_only(void **state) {
  (void)state;
  const char *wrong[] = {"", "float", "float32 ", "f3", "bf", "float64", "f16 fp16", "F32", " "};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) assert_int_equal(dt(wrong[i]), DT_none);
  assert_int_equal(dtype_parse("float32xyz", 7), DT_float32);
}

static void sizes_and_classes(void **state) {
  (void)state;
  assert_int_equal(dtype_bytes(DT_float4_e2m1fn_x4), 2);
  assert_int_equal(dtype_bytes(DT_float8_e5m2_x4), 4);
  assert_int_equal(dtype_bytes(DT_bool_), 1);
  assert_int_equal(dtype_bytes(DT_tfloat32), 4);
  assert_true(dtype_is_int(DT_bool_));
  assert_false(dtype_is_int(DT_float8_e8m0fnu));
  assert_false(dtype_is_float(DT_float8_e8m0fnu));
}

typedef struct Promotion {
  const char *a, *b, *want;
} Promotion;

/* First the pairs the public text lists, then those its principle settles. */
static const Promotion promotions[] = {
    {"int32", "float16", "float16"},
    {"uint16", "tfloat32", "tfloat32"},
    {"float32", "tfloat32", "float32"},
    {"float32", "bfloat16", "float32"},
    {"float16", "bfloat16", "float32"},
    {"float8_e4m3", "float16", "float16"},
    {"float8_e4m3", "bfloat16", "bfloat16"},
    {"float8_e4m3", "float8_e5m2", "bfloat16"},
    {"int16", "int32", "int32"},
    {"uint8", "uint16", "uint16"},
    {"uint16", "int32", "int32"},
    {"int8", "uint8", "int16"},
    {"int8", "uint16", "int32"},
    {"int32", "uint32", "float32"},
    {"float32", "float8_e5m2", "float32"},
    {"uint32", "int16", "float32"},
    {"uint8", "int16", "int16"},
    {"bfloat16", "tfloat32", "tfloat32"},
    {"float16", "tfloat32", "tfloat32"},
    {"bool_", "int8", "int8"},
    {"bool_", "uint32", "uint32"},
    {"bool_", "float16", "float16"},
    {"float8_e4m3", "float8_e4m3fn", "bfloat16"},
    {"uint32", "bfloat16", "bfloat16"},
    {"bool_", "bool_", "bool_"},
    {"int16", "uint16", "int32"},
    {"uint8", "int32", "int32"},
};

static void promotion_follows_the_table_in_both_orders(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof promotions / sizeof *promotions; i++) {
    const Promotion *p = &promotions[i];
    DType got = dtype_promote(dt(p->a), dt(p->b));
    if (got != dt(p->want)) fail_msg("%s, %s -> %s, expected %s", p->a, p->b, dtype_name(got), p->want);
    assert_int_equal(dtype_promote(dt(p->b), dt(p->a)), got);
  }
}

static void promotion_is_commutative_and_keeps_equal_types(void **state) {
  (void)state;
  for (int a = 1; a < DT_count; a++)
    for (int b = 1; b < DT_count; b++) {
      DType r = dtype_promote((DType)a, (DType)b);
      assert_int_equal(r, dtype_promote((DType)b, (DType)a));
      if (a == b) assert_int_equal(r, a);
      bool plain =
          (dtype_is_float((DType)a) || dtype_is_int((DType)a)) && (dtype_is_float((DType)b) || dtype_is_int((DType)b));
      if (a != b && !plain) assert_int_equal(r, DT_none);
      if (plain) assert_int_not_equal(r, DT_none);
    }
}

static void int_ranges(void **state) {
  (void)state;
  static const struct {
    DType d;
    int64_t lo, hi;
  } rows[] = {{DT_bool_, 0, 1},
              {DT_uint8, 0, 255},
              {DT_int8, -128, 127},
              {DT_uint16, 0, 65535},
              {DT_int16, -32768, 32767},
              {DT_uint32, 0, 4294967295},
              {DT_int32, INT32_MIN, INT32_MAX}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    int64_t lo = 7, hi = 7;
    dtype_int_range(rows[i].d, &lo, &hi);
    assert_int_equal(lo, rows[i].lo);
    assert_int_equal(hi, rows[i].hi);
  }
}

static void spaces_by_name(void **state) {
  (void)state;
  Space s;
  for (int i = 0; i < SP_count; i++) {
    assert_true(space_parse(space_name((Space)i), strlen(space_name((Space)i)), &s));
    assert_int_equal(s, i);
  }
  assert_true(space_parse("hbm", 3, &s));
  assert_int_equal(s, SP_private_hbm);
  assert_false(space_parse("hb", 2, &s));
}

static void targets_by_name_and_alias(void **state) {
  (void)state;
  static const struct {
    const char *name;
    Target t;
    Gen gen;
  } rows[] = {{"trn1", TARGET_trn1, gen2},   {"gen2", TARGET_trn1, gen2},   {"core_v2", TARGET_trn1, gen2},
              {"trn1n", TARGET_trn1n, gen2}, {"inf2", TARGET_inf2, gen2},   {"gen3", TARGET_trn2, gen3},
              {"trn2n", TARGET_trn2n, gen3}, {"core_v4", TARGET_trn3, gen4}};
  Target t;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    assert_true(target_parse(rows[i].name, strlen(rows[i].name), &t));
    assert_int_equal(t, rows[i].t);
    assert_int_equal(chip_of(t)->gen, rows[i].gen);
  }
  assert_false(target_parse("trn", 3, &t));
  assert_false(target_parse("", 0, &t));
  assert_int_equal(chip_of(TARGET_trn1)->sbuf_physical, 196608);
  assert_int_equal(chip_of(TARGET_trn2)->sbuf_physical, 229376);
  assert_int_equal(chip_of(TARGET_trn3)->sbuf_physical, 262144);
}

static void enum_lists_end_where_their_type_ends(void **state) {
  (void)state;
  static const int sizes[ET_count] = {0, 7, 5, 4, 2, 2, 3, 2, 3, 6};
  for (int t = 1; t < ET_count; t++) {
    const char *const *names = enum_names((EnumType)t);
    int n = 0, value;
    for (; names[n]; n++) {
      assert_true(enum_parse((EnumType)t, names[n], strlen(names[n]), &value));
      assert_string_equal(enum_name((EnumType)t, value), names[n]);
      assert_true(enum_has((EnumType)t, value));
    }
    assert_int_equal(n, sizes[t]);
    assert_false(enum_parse((EnumType)t, "nosuch", 6, &value));
    assert_null(enum_name((EnumType)t, 99));
    assert_false(enum_has((EnumType)t, 99));
  }
  assert_string_equal(enum_name(ET_engine, engine_vector), "vector");
  assert_null(enum_name(ET_dma_engine, 0));
  assert_false(enum_has(ET_nc_version, 1));
}

static void operators_and_activations(void **state) {
  (void)state;
  for (int i = 1; i < ALU_count; i++) assert_int_equal(alu_parse(alu_info[i].name, strlen(alu_info[i].name)), i);
  for (int i = 1; i < ACT_count; i++) assert_int_equal(act_parse(act_info[i].name, strlen(act_info[i].name)), i);
  assert_int_equal(alu_parse("ad", 2), ALU_none);
  assert_int_equal(act_parse("nosuch", 6), ACT_none);
  assert_true(act_info[ACT_log].limited);
  assert_true(act_info[ACT_reciprocal].magnitude);
  assert_false(act_info[ACT_exp].limited);
  assert_true(alu_info[ALU_power].engines == EM_GPSIMD);
}

static void every_rule_of_a_row_names_its_parameters(void **state) {
  (void)state;
  for (int op = 1; op < OP_count; op++)
    for (const IrRuleUse *r = op_rules((Op)op); r->rule != RULE_none; r++) {
      assert_true(r->rule < RULE_count);
      assert_int_not_equal(r->arg[0], 0);
      for (int i = 0; i < 6 && r->arg[i]; i++) assert_true(r->arg[i] <= op_info[op].nparams);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_dtype_answers_to_its_name_and_aliases),
      cmocka_unit_test(names_are_found_whole_only),
      cmocka_unit_test(sizes_and_classes),
      cmocka_unit_test(promotion_follows_the_table_in_both_orders),
      cmocka_unit_test(promotion_is_commutative_and_keeps_equal_types),
      cmocka_unit_test(int_ranges),
      cmocka_unit_test(spaces_by_name),
      cmocka_unit_test(targets_by_name_and_alias),
      cmocka_unit_test(enum_lists_end_where_their_type_ends),
      cmocka_unit_test(operators_and_activations),
      cmocka_unit_test(every_rule_of_a_row_names_its_parameters),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
