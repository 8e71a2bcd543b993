/* text_test.c -- spec/ir: what is printed reads back as the same module, and other spellings of it do as well. */
#include <stdio.h>

#include "text_support.h"

static void every_row_reads_back(void **state) {
  (void)state;
  for (int op = OP_none + 1; op < OP_count; op++)
    for (uint64_t seed = 1; seed <= 100; seed++) {
      Bank b;
      bank_open(&b, seed * 7919 + (uint64_t)op);
      for (int k = 0; k < 3; k++) bank_instruction(&b, (Op)op);
      assert_round_trip(b.m);
      ir_release(b.m);
    }
}

static void attribute_names_of_rows_do_not_clash(void **state) {
  (void)state;
  Arena a;
  arena_init(&a, alloc_std);
  TxPlans plans = {0};
  for (int op = OP_none + 1; op < OP_count; op++) {
    const TxPlan *plan = tx_plan(&plans, &a, (Op)op);
    assert_non_null(plan);
    for (int i = 1; i < plan->nkey; i++) assert_true(strcmp(plan->key[i - 1].name, plan->key[i].name) < 0);
  }
  arena_free(&a);
}

/* ---- a module with every kind of structure */
static const int64_t tall[2] = {128, 4};

static IrBuf *tensor(IrModule *m, IrFunc *f, BufKind kind, Space space, const char *name) {
  IrBufSpec spec = {.kind = kind, .space = space, .dtype = DT_float32, .rank = 2, .shape = tall, .name = name};
  return ir_buf_new(m, f, &spec);
}

static IrIns *allocate(IrModule *m, IrFunc *f, const IrBuf *b) {
  return ir_append(m, f, CORE_alloc, &(IrVal){V_INT, 0, {.i = b->id}}, 1);
}

static IrIns *open_for(IrModule *m, IrFunc *f, IrVal lower, IrVal upper, int64_t step) {
  IrIns *ins = ir_append(m, f, CORE_for, (IrVal[]){lower, upper, {V_INT, 0, {.i = step}}}, 3);
  ins->result = ir_new_index(f);
  return ins;
}

static IrIns *close_loop(IrModule *m, IrFunc *f, Op end, uint32_t begin) {
  f->ins[begin]->match = f->nins;
  IrIns *ins = ir_append(m, f, end, NULL, 0);
  ins->match = begin;
  return ins;
}

/* Loops in loops, a view inside one, index arithmetic, locations on all of it. */
static void structured_body(IrModule *m, IrFunc *f, const IrBuf *reg, uint32_t at) {
  IrIns *outer = open_for(m, f, (IrVal){V_INT, 0, {.i = -3}}, (IrVal){V_INT, 0, {.i = 12}}, 2);
  uint32_t outer_at = f->nins - 1;
  outer->loc = at;
  IrBuf *tile = tensor(m, f, BUF_ALLOC, SP_sbuf, NULL);
  allocate(m, f, tile);
  IrBufSpec view = {
      .kind = BUF_VIEW, .space = SP_sbuf, .dtype = DT_int32, .rank = 2, .shape = tall, .base = tile->id, .loc = at};
  ir_buf_new(m, f, &view);
  ir_append(m, f, CORE_while, &(IrVal){V_REG, 0, {.reg = reg->id}}, 1);
  uint32_t loop_at = f->nins - 1;
  int64_t *term = arena_newn(&m->arena, int64_t, 2);
  term[0] = -5;
  term[1] = outer->result;
  IrVal sum[3] = {{V_INTS, 1, {.ints = term}}, {V_INTS, 1, {.ints = term + 1}}, {V_INT, 0, {.i = 9}}};
  IrIns *idx = ir_append(m, f, CORE_idx, sum, 3);
  idx->result = ir_new_index(f);
  open_for(m, f, (IrVal){V_IDX, 0, {.idx = idx->result}}, (IrVal){V_INT, 0, {.i = 0}}, 1);
  close_loop(m, f, CORE_end_for, f->nins - 1);
  close_loop(m, f, CORE_end_while, loop_at);
  close_loop(m, f, CORE_end_for, outer_at)->loc = at;
}

static IrModule *structured(void) {
  static const char *out_names[] = {"y", "output_1"};
  static uint32_t program[4] = {0, 1, 1, 0};
  IrModule *m = ir_module_new(alloc_std, TARGET_trn2);
  for (int k = 0; k < 2; k++) {
    IrFunc *f = ir_func_new(m, "kernel");
    uint32_t caller = ir_loc(m, "main.lua", 3, true, ir_loc(m, "main.lua", 9, false, 0));
    uint32_t at = ir_loc(m, "kernels/a \"b\".lua", 10 + k, false, caller);
    tensor(m, f, BUF_ARG, SP_shared_hbm, "x");
    tensor(m, f, BUF_ARG, SP_shared_hbm, "y");
    IrBuf *out = tensor(m, f, BUF_ALLOC, SP_shared_hbm, NULL);
    allocate(m, f, out)->loc = at;
    IrBuf *reg = ir_buf_new(m, f, &(IrBufSpec){.kind = BUF_ALLOC, .space = SP_reg, .dtype = DT_int32});
    allocate(m, f, reg);
    structured_body(m, f, reg, at);
    f->rets = arena_newn(&m->arena, uint32_t, 2);
    f->rets[0] = 1;
    f->rets[1] = out->id;
    f->nrets = 2;
  }
  m->name = "kernel";
  m->ngrid = 2;
  m->grid[0] = m->grid[1] = 2;
  m->cores[1] = (IrCores){2, 1};
  m->nprogram = 4;
  m->program = program;
  m->aliases = arena_new(&m->arena, IrAlias);
  m->aliases[0] = (IrAlias){1, 0};
  m->naliases = 1;
  m->result_is_sequence = m->target_is_fallback = true;
  m->output_names = out_names;
  return m;
}

static void structure_reads_back(void **state) {
  (void)state;
  IrModule *m = structured();
  assert_round_trip(m);
  Text t;
  text_init(&t, alloc_std);
  assert_true(ir_print(m, &t));
  static const char *const lines[] = {
      "  %c-3 = \"arith.constant\"() {value = -3 : index} : () -> index\n  %c0 = \"arith.constant\"",
      "\n  \"scf.for\"(%c-3, %c12, %c2) ({\n  ^bb0(%i0: index):\n",
      "    %sbuf_0 = \"nki.alloc\"() {name = \"sbuf_0\"} : () -> memref<128x4xf32, \"sbuf\">\n"
      "    %sbuf_1 = \"nki.view\"(%sbuf_0) {name = \"sbuf_1\"} : (memref<128x4xf32, \"sbuf\">) -> memref<128x4xi32, "
      "\"sbuf\"> "
      "loc(callsite(\"kernels/a \\22b\\22.lua\":10:0 at callsite(\"main.lua\":3:0 at callsite(\"(tail call)\":0:0 at "
      "\"main.lua\":9:0))))\n",
      "      %i1 = \"nki.reg_read\"(%reg_0) : (memref<i32, \"reg\">) -> index\n"
      "      %more = \"arith.cmpi\"(%i1, %c0) {predicate = 1} : (index, index) -> i1\n"
      "      \"scf.condition\"(%more) : (i1) -> ()\n    }, {\n",
      "      %i2 = \"nki.idx\"(%i0) {c = [-5], k = 9} : (index) -> index\n",
      "  \"func.return\"(%y, %shared_hbm_2) :",
      "nki.aliases = [[1, 0]], nki.args = [\"x\", \"y\"], nki.cores = [[1, 1], [2, 1]], nki.grid = [2, 2], nki.outputs "
      "= [\"y\", \"output_1\"], "
      "nki.programs = [0, 1, 1, 0], nki.result_is_sequence = true, nki.target = \"trn2\", nki.target_is_fallback = "
      "true, "
      "nki.version = 1, sym_name = \"kernel\"} : () -> ()\n\"func.func\"() ({\n",
      "nki.args = [\"x\", \"y\"], nki.version = 1, sym_name = \"kernel_1\"} : () -> ()\n",
  };
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    if (!strstr(text_str(&t), lines[i])) fail_msg("not printed: %s\nin: %s", lines[i], text_str(&t));
  text_free(&t);
  ir_release(m);
}

static void every_dtype_of_a_constant_reads_back(void **state) {
  (void)state;
  for (int d = DT_none + 1; d < DT_count; d++)
    for (int splat = 0; splat < 2; splat++) {
      unsigned char data[24];
      for (size_t i = 0; i < sizeof data; i++)
        data[i] = splat ? (unsigned char)(i % (size_t)dtype_bytes((DType)d) == 0) : (unsigned char)(i * 11);
      int64_t shape[3] = {3, 1, 2};
      IrModule *m = ir_module_new(alloc_std, TARGET_trn3);
      IrFunc *f = ir_func_new(m, "f");
      m->name = "f";
      IrBufSpec spec = {
          .kind = BUF_CONST, .space = SP_shared_hbm, .dtype = (DType)d, .rank = 3, .shape = shape, .data = data};
      f->rets = &ir_buf_new(m, f, &spec)->id;
      f->nrets = 1;
      assert_round_trip(m);
      ir_release(m);
    }
}

/* ---- other spellings */
#define HEAD "\"func.func\"() ({\n"
#define TAIL                                                                                                       \
  "  \"func.return\"() : () -> ()\n}) {function_type = () -> (), nki.args = [], nki.grid = [], nki.outputs = [], " \
  "nki.target = \"trn2\", nki.version = 1, sym_name = \"f\"} : () -> ()\n"

static void assert_canonical(const char *text, const char *wanted) {
  Text t;
  text_init(&t, alloc_std);
  IrModule *m = parse_or_fail(text, strlen(text));
  assert_true(ir_print(m, &t));
  assert_string_equal(text_str(&t), wanted);
  text_free(&t);
  ir_release(m);
}

static void other_spellings_are_read(void **state) {
  (void)state;
  const char *canonical = HEAD
      "  %a = \"nki.alloc\"() {name = \"a\"} : () -> memref<128x4xf32, \"sbuf\">\n"
      "  \"nisa.memset\"(%a) {engine = \"vector\", name = \"fill\", value = 1.0e+30} : (memref<128x4xf32, \"sbuf\">) "
      "-> ()\n" TAIL;
  assert_canonical(canonical, canonical);
  assert_canonical(
      "// a comment\n\"builtin.module\" ( ) ( { \"func.func\"() <{sym_name = \"f\", function_type = () -> ()}> ({\n"
      "  %0 = \"nki.alloc\"() <{name = \"\\61\"}> : () -> (memref<128x4xf32,\"sbuf\">) loc(unknown)\n"
      "  \"nisa.memset\" ( %0 ){value = 1.000000e+30 : f64, name=\"fill\", \"engine\" = \"vector\"} : ( memref< "
      "128x4xf32 , \"sbuf\" > )->()// }\n"
      "  \"func.return\"() : () -> ()\n}) {nki.version = 1 : i64, nki.target = \"trn2\", nki.grid = [], nki.outputs = "
      "[]} : () -> ()\n"
      "}) : () -> ()",
      canonical);
}

static void constants_are_read_in_every_spelling(void **state) {
  (void)state;
  static const struct {
    const char *type, *value, *hex;
  } list[] = {
      {"2xf32", "[1.0, -0.0]", "0000803F00000080"},
      {"2xf32", "[0x7FC00001, 1.500000e+00]", "0100C07F0000C03F"},
      {"2xbf16", "[1.0, 3.389531e+38]", "803F7F7F"},
      {"2xbf16", "[1.00390625, 1.01171875]", "803F823F"},
      {"2xf16", "[6.5504e+04, 5.960464e-08]", "FF7B0100"},
      {"2xtf32", "[1.00048828125, 1.0009765625]", "0000803F0020803F"},
      {"2xf8E4M3", "[2.4e+02, 0.001953125]", "7701"},
      {"2xf8E5M2", "[57344.0, -1.0]", "7BBC"},
      {"2xf8E4M3FN", "[448.0, 0.0146484375]", "7E08"},
      {"2xi8", "[-128, 127]", "807F"},
      {"2xui16", "[1, 65535]", "0100FFFF"},
      {"2xi32", "[-1, 258]", "FFFFFFFF02010000"},
      {"2xi1", "[true, false]", "0100"},
      {"2xf8E4M3FN", "[0x7F, 0xFF]", "7FFF"},
      {"1x2xi32", "[[7, 8]]", "0700000008000000"},
      {"2x2xi8", "3", "03"},
      {"2x2xi8", "\"0x0a\"", "0A"},
      {"0x3xf32", "", ""},
  };
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    char text[1024], wanted[1024];
    const char *elt = strrchr(list[i].type, 'x') + 1, *carrier = strcmp(elt, "i1") == 0     ? "i8"
                                                                 : strcmp(elt, "tf32") == 0 ? "f32"
                                                                                            : elt;
    const char *quote = *list[i].hex ? "\"" : "";
    snprintf(text, sizeof text,
             HEAD
             "%%0 = \"nki.const\"() {value = dense<%s> : tensor<%s>, name = \"c\"} : () -> memref<%s, "
             "\"shared_hbm\">\n" TAIL,
             list[i].value, list[i].type, list[i].type);
    snprintf(wanted, sizeof wanted,
             HEAD
             "  %%c = \"nki.const\"() {name = \"c\", value = dense<%s%s%s%s> : tensor<%.*s%s>} : () -> memref<%s, "
             "\"shared_hbm\">\n" TAIL,
             quote, *quote ? "0x" : "", list[i].hex, quote, (int)(elt - list[i].type), list[i].type, carrier,
             list[i].type);
    assert_canonical(text, wanted);
  }
}

static void constant_index_operands_are_read(void **state) {
  (void)state;
  assert_canonical(HEAD
                   "%five = \"arith.constant\"() {value = 5 : index} : () -> index\n"
                   "%0 = \"nki.idx\"(%five, %five) {c = [2, -3], k = 1} : (index, index) -> index\n"
                   "%a = \"nki.alloc\"() {name = \"a\"} : () -> memref<4x4xf32, \"sbuf\">\n"
                   "\"nisa.memset\"(%a, %five) {value = 0, ap = [[0, [4, 2], [1, 1]]], ap_max = [8]} : "
                   "(memref<4x4xf32, \"sbuf\">, index) -> ()\n" TAIL,
                   HEAD
                   "  %i0 = \"nki.idx\"() {c = [], k = -4} : () -> index\n"
                   "  %a = \"nki.alloc\"() {name = \"a\"} : () -> memref<4x4xf32, \"sbuf\">\n"
                   "  %i1 = \"nki.idx\"() {c = [], k = 5} : () -> index\n"
                   "  \"nisa.memset\"(%a, %i1) {ap = [[0, [4, 2], [1, 1]]], ap_max = [8], value = 0.0} : "
                   "(memref<4x4xf32, \"sbuf\">, index) -> ()\n" TAIL);
}

static void numbers_are_read_in_every_spelling(void **state) {
  (void)state;
  static const struct {
    const char *spelled, *printed;
  } list[] = {
      {"0.1 : f32", "0.10000000149011612"},
      {"0.1", "0.1"},
      {"3", "3.0"},
      {"-0.0 : f64", "-0.0"},
      {"0x3DCCCCCD : f32", "0.10000000149011612"},
      {"1.5e+00", "1.5"},
      {"25.E-1", "2.5"},
      {"-7 : i64", "-7.0"},
      {"0x7FF0000000000000 : f64", "0x7FF0000000000000 : f64"},
      {"0x7FC00000 : f32", "0x7FF8000000000000 : f64"},
  };
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    static const char form[] = HEAD
        "  %%a = \"nki.alloc\"() {name = \"a\"} : () -> memref<4x4xf32, \"sbuf\">\n"
        "  \"nisa.memset\"(%%a) {value = %s} : (memref<4x4xf32, \"sbuf\">) -> ()\n" TAIL;
    char text[1024], wanted[1024];
    snprintf(text, sizeof text, form, list[i].spelled);
    snprintf(wanted, sizeof wanted, form, list[i].printed);
    assert_canonical(text, wanted);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_row_reads_back),
      cmocka_unit_test(attribute_names_of_rows_do_not_clash),
      cmocka_unit_test(structure_reads_back),
      cmocka_unit_test(every_dtype_of_a_constant_reads_back),
      cmocka_unit_test(other_spellings_are_read),
      cmocka_unit_test(constants_are_read_in_every_spelling),
      cmocka_unit_test(numbers_are_read_in_every_spelling),
      cmocka_unit_test(constant_index_operands_are_read),
  };
  return cmocka_run_group_tests_name("ir text", tests, NULL, NULL);
}
