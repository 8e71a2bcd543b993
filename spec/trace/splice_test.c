/* splice_test.c -- spec/trace: a finished program put into a running one gives the program that its body would have
 * given there. */
#include "file.h"
#include "support.h"

typedef struct Outer {
  Diag d;
  Trace *t;
  const IrTile *operand[2], *result[2];
} Outer;

/* spec/trace/splice.mlir: device loops, registers, index arithmetic, a constant, views with another dtype, rows picked
   by an index tensor, lists, an address, a label. */
static IrModule *with_everything(Diag *d) {
  Text text;
  text_init(&text, alloc_std);
  assert_true(file_read("spec/trace/splice.mlir", &text, d));
  IrModule *m = ir_parse(alloc_std, text_str(&text), text.len, "splice.mlir", d);
  assert_non_null(m);
  text_free(&text);
  return m;
}

/* out = a, row by row; a is [4,16]. */
static IrModule *copies(Diag *d) {
  static const char text[] =
      "\"func.func\"() ({\n"
      "^bb0(%a: memref<4x16xf32, \"shared_hbm\">):\n"
      "  %out = \"nki.alloc\"() {name = \"out\"} : () -> memref<4x16xf32, \"shared_hbm\">\n"
      "  %t = \"nki.alloc\"() {name = \"t\"} : () -> memref<1x16xf32, \"sbuf\">\n"
      "  \"nisa.dma_copy\"(%t, %a) {ap = [[], [16, [16, 1], [1, 16]]]} : (memref<1x16xf32, \"sbuf\">, memref<4x16xf32, "
      "\"shared_hbm\">) -> ()\n"
      "  \"nisa.dma_copy\"(%out, %t) {ap = [[16, [16, 1], [1, 16]], []]} : (memref<4x16xf32, \"shared_hbm\">, "
      "memref<1x16xf32, \"sbuf\">) -> ()\n"
      "  \"func.return\"(%out) : (memref<4x16xf32, \"shared_hbm\">) -> ()\n"
      "}) {function_type = (memref<4x16xf32, \"shared_hbm\">) -> memref<4x16xf32, \"shared_hbm\">, nki.args = [\"a\"], "
      "nki.grid = [], nki.outputs = [\"out\"], nki.target = \"trn2\", nki.version = 1, sym_name = \"copies\"} : () -> "
      "()\n";
  IrModule *m = ir_parse(alloc_std, text, sizeof text - 1, "copies", d);
  assert_non_null(m);
  return m;
}

static void outer_open(Outer *x, const char *name, int64_t rows) {
  const int64_t a[2] = {rows, 16}, r[2] = {8, 1};
  TraceSpec spec = bench_spec();
  spec.func_name = name;
  *x = (Outer){.t = NULL};
  diag_init(&x->d, alloc_std);
  x->t = tr_open(alloc_std, &spec, &x->d);
  assert_non_null(x->t);
  assert_true(tr_begin_program(x->t));
  x->operand[0] = tr_operand(x->t, "a", DT_float32, 2, a);
  x->operand[1] = tr_operand(x->t, "rows", DT_int32, 2, r);
}

static void outer_close(Outer *x) {
  tr_close(x->t);
  diag_free(&x->d);
}

static IrModule *outer_end(Outer *x, uint32_t n) {
  assert_true(tr_return(x->t, x->result, n, n > 1));
  assert_true(tr_end_program(x->t));
  IrModule *m = bench_finish(x->t);
  if (!m) fail_msg("%s", diag_message(&x->d));
  return m;
}

static void assert_text(const IrModule *m, const char *part, bool there) {
  Text t;
  text_init(&t, alloc_std);
  assert_true(ir_print(m, &t));
  if ((strstr(text_str(&t), part) != NULL) != there) fail_msg("'%s' in:\n%s", part, text_str(&t));
  text_free(&t);
}

static void a_program_spliced_alone_is_itself(void **state) {
  Outer x;
  Text want, got;
  (void)state;
  outer_open(&x, "all", 8);
  IrModule *m = with_everything(&x.d);
  assert_true(tr_can_splice(x.t, m, x.operand));
  assert_true(tr_splice(x.t, m, x.operand, x.result));
  assert_ptr_equal(x.result[1], x.operand[0]);
  IrModule *made = outer_end(&x, 2);
  made->aliases = m->aliases; /* which the trace does not make; nor does it take the number of a tensor for its name */
  made->naliases = m->naliases;
  assert_string_equal(made->output_names[0], "output_0");
  text_init(&want, alloc_std);
  text_init(&got, alloc_std);
  assert_true(ir_print(m, &want) && ir_print(made, &got));
  assert_string_equal(text_str(&want), text_str(&got));
  text_free(&want);
  text_free(&got);
  ir_release(m);
  ir_release(made);
  outer_close(&x);
}

/* Its memory must not be the other module's. */
static void a_spliced_program_outlives_the_other_module(void **state) {
  Outer x;
  (void)state;
  outer_open(&x, "all", 8);
  IrModule *m = with_everything(&x.d);
  x.t->loc = ir_loc(x.t->m, "outer.lua", 7, false, 0);
  uint32_t here = x.t->loc;
  m->warnings = "warning: one\n";
  const IrTile *before[2];
  assert_true(tr_splice(x.t, m, x.operand, before));
  assert_true(tr_splice(x.t, m, x.operand, x.result));
  assert_int_equal(x.t->loc, here);
  assert_string_equal(tr_warnings(x.t), "warning: one\n");
  ir_release(m);
  IrModule *made = outer_end(&x, 2);
  assert_text(made, "loc(callsite(\"k.lua\":4:0 at \"outer.lua\":7:0))", true);
  assert_text(made, "replica_group = [[0, 1]]", true);
  assert_text(made, "name = \"label\"", true);
  ir_release(made);
  outer_close(&x);
}

static const IrTile *rows(Outer *x, int64_t start, int64_t count, int64_t step) {
  ViewCtx c = {x->t->m, x->t->f, x->t->d};
  const IrTile *t = view_slice(&c, x->operand[0], 0, (IrSlice){.start = start, .count = count, .step = step});
  assert_non_null(t);
  return t;
}

static void an_operand_in_the_midst_of_a_tensor(void **state) {
  Outer x;
  (void)state;
  outer_open(&x, "k", 12);
  IrModule *m = copies(&x.d);
  const IrTile *part = rows(&x, 8, 4, 1), *again[1];
  assert_true(tr_can_splice(x.t, m, &part));
  assert_true(tr_splice(x.t, m, &part, x.result));
  assert_true(tr_splice(x.t, m, x.result, again)); /* and the result of that */
  const IrTile *out = x.result[0];
  x.result[0] = again[0];
  IrModule *made = outer_end(&x, 1);
  assert_text(made, "\"nisa.dma_copy\"(%t, %a) {ap = [[], [144, [16, 1], [1, 16]]]}", true);
  assert_text(made, "\"nisa.dma_copy\"(%t_1, %out) {ap = [[], [16, [16, 1], [1, 16]]]}", true);
  assert_string_equal(made->output_names[0], "out_1");
  (void)out;
  ir_release(m);
  ir_release(made);
  outer_close(&x);
}

/* A run that happens to be a whole tensor in other words prints as a whole tensor. */
static void a_reshaped_operand(void **state) {
  Outer x;
  (void)state;
  outer_open(&x, "k", 1);
  IrModule *m = copies(&x.d);
  const int64_t flat[1] = {64}, shape[2] = {4, 16};
  IrBufSpec spec = {.space = SP_private_hbm, .dtype = DT_float32, .rank = 1, .shape = flat};
  ViewCtx c = {x.t->m, x.t->f, x.t->d};
  const IrTile *run = view_reshape(&c, tr_ndarray(x.t, &spec), shape, 2);
  assert_true(tr_can_splice(x.t, m, &run));
  assert_true(tr_splice(x.t, m, &run, x.result));
  IrModule *made = outer_end(&x, 1);
  assert_text(made, "(%t, %private_hbm_0) {ap = [[], [16, [16, 1], [1, 16]]]}", true);
  ir_release(m);
  ir_release(made);
  outer_close(&x);
}

static void what_cannot_be_spliced(void **state) {
  Outer x;
  (void)state;
  outer_open(&x, "k", 16);
  IrModule *m = copies(&x.d), *all = with_everything(&x.d);
  const IrTile *odd = rows(&x, 0, 4, 2), *part = rows(&x, 8, 8, 1);
  assert_false(tr_can_splice(x.t, m, &odd)); /* every other row */
  const IrTile *operands[2] = {part, x.operand[1]};
  assert_false(tr_can_splice(x.t, all, operands)); /* reads it through a view and at offsets known at run time */
  all->nprogram = 2;
  outer_close(&x);
  outer_open(&x, "k", 8);
  assert_false(tr_can_splice(x.t, all, x.operand)); /* a grid */
  all->nprogram = 1;
  assert_true(tr_can_splice(x.t, all, x.operand));
  x.t->m->target = TARGET_trn3;
  assert_false(tr_can_splice(x.t, all, x.operand));
  outer_close(&x);
  ir_release(m);
  ir_release(all);
}

/* A kernel may catch the error and go on. */
static void a_failure_leaves_no_loop_open(void **state) {
  Outer x;
  (void)state;
  outer_open(&x, "k", 8);
  IrModule *m = with_everything(&x.d);
  x.t->spec.max_instr = 16;
  assert_false(tr_splice(x.t, m, x.operand, x.result));
  assert_fails(&x, too_many_instructions, "16");
  assert_null(x.t->loop);
  x.t->spec.max_instr = 1000;
  IrModule *simple = copies(&x.d);
  const IrTile *part = rows(&x, 4, 4, 1);
  assert_true(tr_splice(x.t, simple, &part, x.result));
  IrModule *made = outer_end(&x, 1);
  assert_non_null(made);
  ir_release(m);
  ir_release(simple);
  ir_release(made);
  outer_close(&x);
}

static void nodes_are_in_the_order_of_the_calls(void **state) {
  Outer x;
  (void)state;
  outer_open(&x, "k", 8);
  IrFunc *f = x.t->f;
  IrNode *first = tr_node_new(x.t, "first", 2), *inside = tr_node_new(x.t, "inside", 1);
  assert_true(tr_node_bind(x.t, first, "p", x.operand[1]));
  assert_true(tr_node_bind(x.t, first, "q", rows(&x, 0, 4, 1)));
  assert_true(tr_node_add(x.t, inside, f->nnodes, NULL, 0));
  assert_true(tr_node_add(x.t, first, 0, x.operand, 2));
  assert_true(tr_node_add(x.t, tr_node_new(x.t, "last", 0), f->nnodes, NULL, 0));
  static const char *const names[] = {"first", "inside", "last"};
  static const uint32_t depths[] = {0, 1, 0};
  assert_int_equal(f->nnodes, 3);
  for (int k = 0; k < 3; k++) {
    assert_string_equal(f->nodes[k]->func_name, names[k]);
    assert_int_equal(f->nodes[k]->depth, depths[k]);
  }
  assert_string_equal(first->operands[0].param, "p");
  assert_string_equal(first->operands[0].tensor, "rows");
  assert_string_equal(first->operands[1].tensor, "a");
  assert_int_equal(first->nresults, 2);
  assert_string_equal(first->results[0], "a");
  outer_close(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_program_spliced_alone_is_itself),
      cmocka_unit_test(a_spliced_program_outlives_the_other_module),
      cmocka_unit_test(an_operand_in_the_midst_of_a_tensor),
      cmocka_unit_test(a_reshaped_operand),
      cmocka_unit_test(what_cannot_be_spliced),
      cmocka_unit_test(a_failure_leaves_no_loop_open),
      cmocka_unit_test(nodes_are_in_the_order_of_the_calls),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
