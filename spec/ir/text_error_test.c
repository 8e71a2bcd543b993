/* text_error_test.c -- spec/ir: text that is not a module gets one error at the right place, and never more than that.
 */
#include <stdio.h>

#include "random.h"
#include "text_support.h"

/* A module that is legal in every respect, with most of the grammar in it. */
static const char BASE[] =
    "\"func.func\"() ({\n"
    "^bb0(%x: memref<256x64xf32, \"shared_hbm\">, %n: memref<1x1xi32, \"shared_hbm\">):\n"
    "  %c0 = \"arith.constant\"() {value = 0 : index} : () -> index\n"
    "  %c1 = \"arith.constant\"() {value = 1 : index} : () -> index\n"
    "  %k = \"nki.const\"() {name = \"k\", value = dense<\"0x00000040\"> : tensor<128x1xf32>} : () -> "
    "memref<128x1xf32, \"shared_hbm\">\n"
    "  %out = \"nki.alloc\"() {name = \"out\"} : () -> memref<256x64xf32, \"shared_hbm\"> loc(\"a.lua\":4:0)\n"
    "  %reg = \"nki.alloc\"() {name = \"reg\"} : () -> memref<i32, \"reg\">\n"
    "  \"nisa.register_load\"(%reg, %n) : (memref<i32, \"reg\">, memref<1x1xi32, \"shared_hbm\">) -> ()\n"
    "  %ub = \"nki.reg_read\"(%reg) : (memref<i32, \"reg\">) -> index\n"
    "  \"scf.for\"(%c0, %ub, %c1) ({\n"
    "  ^bb0(%i: index):\n"
    "    %t = \"nki.alloc\"() {address = [0, 512], name = \"t\"} : () -> memref<128x64xf32, \"sbuf\">\n"
    "    %w = \"nki.view\"(%t) {name = \"w\"} : (memref<128x64xf32, \"sbuf\">) -> memref<128x64xi32, \"sbuf\">\n"
    "    %b = \"nki.alloc\"() {name = \"b\"} : () -> memref<128x1xf32, \"sbuf\">\n"
    "    %o = \"nki.idx\"(%i) {c = [8192], k = 0} : (index) -> index\n"
    "    \"nisa.dma_copy\"(%t, %x, %o) {ap = [[], [0, [64, 128], [1, 64]]], ap_max = [0, 8192], name = \"load\"} : "
    "(memref<128x64xf32, \"sbuf\">, memref<256x64xf32, \"shared_hbm\">, index) -> () loc(callsite(\"a.lua\":9:0 at "
    "\"main.lua\":2:0))\n"
    "    \"nisa.dma_copy\"(%b, %k) : (memref<128x1xf32, \"sbuf\">, memref<128x1xf32, \"shared_hbm\">) -> ()\n"
    "    \"nisa.activation\"(%t, %t, %b) {op = \"exp\", roles = [\"dst\", \"data\", \"bias\"], scale = 0.5} : "
    "(memref<128x64xf32, \"sbuf\">, memref<128x64xf32, \"sbuf\">, memref<128x1xf32, \"sbuf\">) -> ()\n"
    "    \"nisa.iota\"(%w) {pattern = [[1, 64]]} : (memref<128x64xi32, \"sbuf\">) -> ()\n"
    "    \"nisa.dma_copy\"(%out, %o, %t) {ap = [[0, [64, 128], [1, 64]], []], ap_max = [8192, 0]} : "
    "(memref<256x64xf32, \"shared_hbm\">, index, memref<128x64xf32, \"sbuf\">) -> ()\n"
    "    \"scf.yield\"() : () -> ()\n"
    "  }) {nki.range = \"dynamic\"} : (index, index, index) -> ()\n"
    "  \"scf.while\"() ({\n"
    "    %v = \"nki.reg_read\"(%reg) : (memref<i32, \"reg\">) -> index\n"
    "    %go = \"arith.cmpi\"(%v, %c0) {predicate = 1} : (index, index) -> i1\n"
    "    \"scf.condition\"(%go) : (i1) -> ()\n"
    "  }, {\n"
    "    \"nisa.register_move\"(%reg) {roles = [\"dst\"], src = 0} : (memref<i32, \"reg\">) -> ()\n"
    "    \"scf.yield\"() : () -> ()\n"
    "  }) : () -> ()\n"
    "  \"func.return\"(%out) : (memref<256x64xf32, \"shared_hbm\">) -> ()\n"
    "}) {function_type = (memref<256x64xf32, \"shared_hbm\">, memref<1x1xi32, \"shared_hbm\">) -> memref<256x64xf32, "
    "\"shared_hbm\">, "
    "nki.args = [\"x\", \"n\"], nki.grid = [], nki.outputs = [\"out\"], nki.target = \"trn2\", nki.version = 1, "
    "sym_name = \"f\"} : () -> ()\n";

typedef struct Fault {
  const char *from, *to; /* the first occurrence of `from` is replaced */
  ErrId id;
  const char *says;
} Fault;

static const Fault faults[] = {
#define F(from, to, id, says) {from, to, ERR_##id, says},
#include "text_faults.def"
#undef F
};

static char *edited(const char *from, const char *to) {
  const char *at = strstr(BASE, from);
  if (!at) fail_msg("not in the text: %s", from);
  size_t before = (size_t)(at - BASE), n = sizeof BASE + strlen(to);
  char *text = malloc(n);
  memcpy(text, BASE, before);
  snprintf(text + before, n - before, "%s%s", to, at + strlen(from));
  return text;
}

static void the_text_itself_is_right(void **state) {
  (void)state;
  Diag d;
  diag_init(&d, alloc_std);
  IrModule *m = ir_parse(alloc_std, BASE, strlen(BASE), "base", &d);
  if (!m) fail_msg("%s\n%s", diag_message(&d), text_str(&d.notes));
  assert_round_trip(m);
  ir_release(m);
  diag_free(&d);
}

static void every_fault_is_named(void **state) {
  (void)state;
  int wrong = 0;
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    const Fault *f = &faults[i];
    char *text = edited(f->from, f->to);
    Diag d;
    diag_init(&d, alloc_std);
    IrModule *m = ir_parse_unverified(alloc_std, text, strlen(text), "t.mlir", &d);
    bool right =
        !m && d.id == f->id && strstr(diag_message(&d), f->says) && strncmp(diag_message(&d), "t.mlir:", 7) == 0;
    right = right && d.notes.len == 0;
    if (!right)
      print_error("%s -> %s\n  wanted %s: %s\n  got    %s: %s\n", f->from, f->to, err_name(f->id), f->says,
                  m ? "a module" : err_name(d.id), diag_message(&d));
    wrong += !right;
    ir_release(m);
    diag_free(&d);
    free(text);
  }
  assert_int_equal(wrong, 0);
}

static void positions_are_lines_and_columns(void **state) {
  (void)state;
  char *text = edited("{c = [8192], k = 0}", "{c = [8192], z = 0}");
  Diag d;
  diag_init(&d, alloc_std);
  assert_null(ir_parse_unverified(alloc_std, text, strlen(text), "t", &d));
  assert_string_equal(diag_message(&d), "t:15:37: nki.idx has no attribute 'z'");
  diag_free(&d);
  free(text);
}

/* What the hardware would refuse is found by ir_parse, with the line of the kernel. */
static void parsing_verifies(void **state) {
  (void)state;
  char *text = edited("[1, 64]]], ap_max = [0, 8192]", "[1, 65]]], ap_max = [0, 8192]");
  Diag d;
  diag_init(&d, alloc_std);
  assert_null(ir_parse(alloc_std, text, strlen(text), "t", &d));
  assert_true(d.id != ERR_none && d.id != ERR_internal);
  assert_string_equal(d.file, "a.lua");
  assert_int_equal(d.line, 9);
  diag_free(&d);
  free(text);
}

/* Returns whether it parsed; a refusal must have a message, and what is accepted must print and read back. */
static bool parses(const char *text, size_t n) {
  Diag d;
  diag_init(&d, alloc_std);
  char *exact = malloc(n ? n : 1); /* so that a read beyond the end is seen */
  memcpy(exact, text, n);
  IrModule *m = ir_parse(alloc_std, exact, n, "t", &d);
  assert_int_equal(m != NULL, d.id == ERR_none);
  assert_true(d.id != ERR_internal);
  if (m) assert_round_trip(m);
  free(exact);
  ir_release(m);
  diag_free(&d);
  return m != NULL;
}

static void no_truncation_is_accepted(void **state) {
  (void)state;
  size_t n = strlen(BASE);
  for (size_t i = 0; i + 1 < n; i++)
    if (parses(BASE, i)) fail_msg("accepted with %zu of %zu bytes", i, n);
  assert_true(parses(BASE, n - 1)); /* the last byte is the newline */
}

/* With NKILUA_EVERY in the environment every other byte is put in every place, as .ci/run does; else some. */
static void no_damaged_byte_does_harm(void **state) {
  (void)state;
  static const char telling[] = " \"\\{}()[]<>%^,:=-0x9a\n/\x80\xFF"; /* and the NUL */
  bool every = getenv("NKILUA_EVERY") != NULL;
  size_t n = strlen(BASE), accepted = 0;
  char *text = malloc(n);
  memcpy(text, BASE, n);
  for (size_t i = 0; i < n; i++) {
    for (int byte = 0; byte < 256; byte++) {
      const char *at = memchr(telling, byte, sizeof telling);
      if (!every && !(at && (i + (size_t)(at - telling)) % 5 == 0)) continue;
      text[i] = (char)byte;
      accepted += parses(text, n);
    }
    text[i] = BASE[i];
  }
  assert_in_range(accepted, 1, every ? n * 100 : n * 2);
  free(text);
}

static void no_missing_piece_does_harm(void **state) {
  (void)state;
  size_t n = strlen(BASE);
  char *text = malloc(n);
  for (size_t cut = 1; cut < 40; cut += 6)
    for (size_t i = 0; i + cut <= n; i += 3) {
      memcpy(text, BASE, i);
      memcpy(text + i, BASE + i + cut, n - i - cut);
      parses(text, n - cut);
    }
  free(text);
}

/* The head of the text, then its tail from any other place on, 0 to 3 times over. */
static void no_splice_does_harm(void **state) {
  (void)state;
  size_t n = strlen(BASE), accepted = 0;
  char *text = malloc(5 * n);
  for (uint64_t k = 0; k < 3000; k++) {
    size_t head = (size_t)(random_bits(1, 4 * k) % n), len = head;
    memcpy(text, BASE, head);
    for (uint64_t piece = 0; piece < k % 4; piece++) {
      size_t from = (size_t)(random_bits(2, 4 * k + piece) % n), most = n - from;
      size_t size = (size_t)(random_bits(3, 4 * k + piece) % (most < 200 ? most : 200));
      memcpy(text + len, BASE + from, size);
      len += size;
    }
    size_t tail = (size_t)(random_bits(4, k) % n);
    memcpy(text + len, BASE + tail, n - tail);
    accepted += parses(text, len + n - tail);
  }
  assert_in_range(accepted, 0, 30);
  free(text);
}

/* ---- memory */
typedef struct Ration {
  long left;
  size_t live;
} Ration;

static void *ration(void *ud, void *ptr, size_t osize, size_t nsize) {
  Ration *r = ud;
  if (nsize == 0) {
    r->live -= osize;
    free(ptr);
    return NULL;
  }
  if (r->left == 0) return NULL;
  r->left--;
  r->live += nsize - osize;
  return realloc(ptr, nsize);
}

static void running_out_of_memory_is_an_error(void **state) {
  (void)state;
  bool done = false;
  for (long k = 0; !done; k++) {
    Ration r = {.left = k};
    Alloc alloc = {ration, &r};
    Diag d;
    diag_init(&d, alloc_std);
    IrModule *m = ir_parse(alloc, BASE, strlen(BASE), "t", &d);
    if (!m) assert_int_equal(d.id, ERR_nomem);
    if (m) {
      Text t;
      text_init(&t, alloc);
      done = ir_print(m, &t);
      assert_int_equal(done, !t.oom);
      text_free(&t);
    }
    ir_release(m);
    assert_int_equal(r.live, 0);
    diag_free(&d);
    assert_true(k < 1000);
  }
}

/* Texts that grow: n times `piece` in the middle of a loop body or of an attribute. */
static void deep_and_long_texts_end(void **state) {
  (void)state;
  static const struct {
    const char *before, *piece, *after;
    size_t n;
    ErrId id;
  } list[] = {
      {"\"func.func\"() ({\n}) {a = ", "[", "", 100000, ERR_ir_deep},
      {"\"func.func\"() ({\n}) {a = ", "{b = ", "", 100000, ERR_ir_deep},
      {"\"func.func\"() ({\n}) {a = [", "0, ", "0]} : () -> ()", 100000, ERR_ir_attr_missing},
      {"\"func.func\"() ({\n}) {", "a, ", "b} : () -> ()", 100000, ERR_ir_attr_twice},
      {"\"func.func\"() ({\n}) {} : () -> () loc(", "callsite(\"a\":1:1 at ", "\"b\":1:1", 100000, ERR_ir_syntax},
      {"\"func.func\"() ({\n}) {} : () -> () loc(", "callsite(", "\"b\":1:1", 100000, ERR_ir_deep},
      {"\"builtin.module\"() ({", "\"builtin.module\"() ({", "", 100000, ERR_ir_misplaced},
      {"\"func.func\"() (", "{", "", 100000, ERR_ir_word},
      {"", "// comment\n", "", 100000, ERR_ir_syntax},
      {"\"", "x", "\"() : () -> ()", 1000000, ERR_ir_misplaced},
  };
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    Text t;
    Diag d;
    text_init(&t, alloc_std);
    diag_init(&d, alloc_std);
    text_puts(&t, list[i].before);
    for (size_t k = 0; k < list[i].n; k++) text_puts(&t, list[i].piece);
    text_puts(&t, list[i].after);
    assert_null(ir_parse(alloc_std, text_str(&t), t.len, "t", &d));
    if (d.id != list[i].id) fail_msg("%zu: %s: %s", i, err_name(d.id), diag_message(&d));
    assert_true(strlen(diag_message(&d)) < 400);
    text_free(&t);
    diag_free(&d);
  }
}

static void loops_nest_to_a_limit(void **state) {
  (void)state;
  for (size_t n = TX_MAX_LOOPS; n <= TX_MAX_LOOPS + 1; n++) {
    Text t;
    Diag d;
    text_init(&t, alloc_std);
    diag_init(&d, alloc_std);
    text_puts(&t, "\"func.func\"() ({\n%c1 = \"arith.constant\"() {value = 1 : index} : () -> index\n");
    for (size_t k = 0; k < n; k++) text_printf(&t, "\"scf.for\"(%%c1, %%c1, %%c1) ({\n^bb0(%%i%zu: index):\n", k);
    for (size_t k = 0; k < n; k++)
      text_puts(&t, "\"scf.yield\"() : () -> ()\n}) {nki.range = \"dynamic\"} : (index, index, index) -> ()\n");
    text_puts(&t,
              "\"func.return\"() : () -> ()\n}) {function_type = () -> (), nki.grid = [], nki.outputs = [], nki.target "
              "= \"trn2\", "
              "nki.version = 1, sym_name = \"f\"} : () -> ()\n");
    IrModule *m = ir_parse_unverified(alloc_std, text_str(&t), t.len, "t", &d);
    assert_int_equal(d.id, n > TX_MAX_LOOPS ? ERR_ir_deep : ERR_none);
    if (m) assert_round_trip(m);
    ir_release(m);
    text_free(&t);
    diag_free(&d);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_text_itself_is_right),
      cmocka_unit_test(every_fault_is_named),
      cmocka_unit_test(positions_are_lines_and_columns),
      cmocka_unit_test(parsing_verifies),
      cmocka_unit_test(no_truncation_is_accepted),
      cmocka_unit_test(no_damaged_byte_does_harm),
      cmocka_unit_test(no_splice_does_harm),
      cmocka_unit_test(no_missing_piece_does_harm),
      cmocka_unit_test(running_out_of_memory_is_an_error),
      cmocka_unit_test(deep_and_long_texts_end),
      cmocka_unit_test(loops_nest_to_a_limit),
  };
  return cmocka_run_group_tests_name("ir text errors", tests, NULL, NULL);
}
