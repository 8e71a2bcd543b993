/* alias_test.c -- spec/framework: generate_operand_output_aliases and what it refuses; which operands a kernel writes.
 */
#include "module.h"

static IrModule *module_of(const Plan *p) {
  Diag d;
  diag_init(&d, alloc_std);
  IrModule *m = plan_module(p, &d);
  diag_free(&d);
  return m;
}

static void refused(IrModule *m, const char *message) {
  const FwRequest r = {.func_name = "k"};
  Diag d;
  diag_init(&d, alloc_std);
  assert_false(fw_generate_operand_output_aliases(&r, m, &d));
  assert_string_equal(diag_message(&d), message);
  diag_free(&d);
  ir_release(m);
}

static void returned_operands_are_aliases(void **state) {
  (void)state;
  const Plan p = {.name = "k", .fresh = 1, .returned = {1, 10, 0}, .write_operand = true, .target = TARGET_trn2};
  IrModule *m = module_of(&p);
  const FwRequest r = {.func_name = "k"};
  Diag d;
  diag_init(&d, alloc_std);
  assert_true(fw_generate_operand_output_aliases(&r, m, &d));
  assert_int_equal(m->naliases, 2);
  assert_int_equal(m->aliases[0].operand, 1);
  assert_int_equal(m->aliases[0].output, 0);
  assert_int_equal(m->aliases[1].operand, 0);
  assert_int_equal(m->aliases[1].output, 2);
  diag_free(&d);
  ir_release(m);
}

static void one_operand_twice(void **state) {
  (void)state;
  const Plan p = {.name = "k", .returned = {1, 1, -1}, .target = TARGET_trn2};
  refused(module_of(&p), "kernel k: outputs 0 and 1 are both operand 1 ('b'); an operand may be returned once");
}

static void fresh_tensor_twice_is_two_outputs(void **state) {
  (void)state;
  const Plan p = {.name = "k", .fresh = 1, .returned = {10, 10, -1}, .target = TARGET_trn2};
  IrModule *m = module_of(&p);
  const FwRequest r = {.func_name = "k"};
  Diag d;
  diag_init(&d, alloc_std);
  assert_true(fw_generate_operand_output_aliases(&r, m, &d));
  assert_int_equal(m->naliases, 0);
  diag_free(&d);
  ir_release(m);
}

/* A trace does not let these through; a host's own pipeline might. */
static void other_buffers(void **state) {
  (void)state;
  const Plan p = {.name = "k", .fresh = 1, .returned = {10, -1}, .constant = true, .target = TARGET_trn2};
  IrModule *m = module_of(&p);
  IrFunc *f = m->func[0];
  for (uint32_t b = 0; b < f->nbufs; b++)
    if (f->bufs[b]->kind == BUF_CONST) f->rets[0] = b;
  refused(m,
          "kernel k: output 0 is the constant tensor 'table'; only an operand or a tensor the kernel allocated can be "
          "returned");
  m = module_of(&p);
  f = m->func[0];
  f->bufs[f->rets[0]]->kind = BUF_VIEW;
  f->bufs[f->rets[0]]->base = 1;
  refused(m,
          "kernel k: output 0 is a reinterpretation of operand 1 ('b'): return the whole tensor with its own shape and "
          "dtype, or store into a new one");
}

static void written(void **state) {
  (void)state;
  const Plan in_place = {.name = "k", .returned = {0, -1}, .write_operand = true, .target = TARGET_trn2};
  IrModule *m = module_of(&in_place);
  assert_true(fw_operand_written(m->func[0], 0));
  assert_false(fw_operand_written(m->func[0], 1));
  ir_release(m);
  const Plan copy = {.name = "k", .fresh = 1, .returned = {10, -1}, .target = TARGET_trn2};
  m = module_of(&copy);
  assert_false(fw_operand_written(m->func[0], 0));
  ir_release(m);
  Artifact *a = plan_artifact(&in_place);
  assert_int_equal(fw_updated_operand(a, 0), 0);
  artifact_release(a);
  const Plan pass = {.name = "k", .returned = {0, 1, -1}, .write_operand = true, .target = TARGET_trn2};
  a = plan_artifact(&pass);
  assert_int_equal(fw_updated_operand(a, 0), 0);
  assert_int_equal(artifact_alias(a, 1), 1);
  assert_int_equal(fw_updated_operand(a, 1), -1); /* nobody writes it */
  artifact_release(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(returned_operands_are_aliases),
      cmocka_unit_test(one_operand_twice),
      cmocka_unit_test(fresh_tensor_twice_is_two_outputs),
      cmocka_unit_test(other_buffers),
      cmocka_unit_test(written),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
