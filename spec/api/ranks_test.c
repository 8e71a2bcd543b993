/* ranks_test.c -- spec/api: a program on several ranks, with a collective between them. */
#include "support.h"

#define SUM                                                                \
  "local nki, nl = require 'nki', require 'nki.language'\n"                \
  "local ncc = require 'nki.collectives'\n"                                \
  "return nki.jit(function(a, b)\n"                                        \
  "  ncc.all_reduce({a}, {a}, {{0, 1, 2}}, nl.add)\n"                      \
  "  local out = nl.ndarray(b.shape, b.dtype, {buffer = nl.shared_hbm})\n" \
  "  ncc.collective_permute({b}, {out}, {{0, 1}, {1, 2}, {2, 0}})\n"       \
  "  return a, out\n"                                                      \
  "end, {func_name = 'sum', platform_target = 'trn1'})\n"
enum { RANKS = 3 };

typedef struct Run {
  nkl_ctx *c;
  nkl_program *p;
  nkl_tensor *in[2 * RANKS], *out[2 * RANKS];
  nkl_sim s;
  nkl_error_buf err;
} Run;

static void open_run(Run *r) {
  *r = (Run){.err = NKL_ERROR_BUF_INIT};
  r->c = open_quiet(NULL, NULL);
  nkl_kernel *k = kernel_of(r->c, SUM);
  for (int i = 0; i < 2 * RANKS; i++) {
    float v[2] = {(float)i, (float)(10 * i)};
    r->in[i] = matrix(r->c, 1, 2, v);
  }
  nkl_arg args[] = {tensor_arg(r->in[0]), tensor_arg(r->in[1])};
  assert_int_equal(specialize(r->c, k, args, 2, &r->p), NKL_OK);
  nkl_kernel_release(k);
  nkl_sim_init(&r->s);
  r->s.inputs = r->in;
  r->s.ninputs = 2 * RANKS;
  r->s.ranks = RANKS;
}

static void close_run(Run *r) {
  for (int i = 0; i < 2 * RANKS; i++) {
    nkl_tensor_release(r->in[i]);
    nkl_tensor_release(r->out[i]);
  }
  nkl_error_buf_free(&r->err);
  nkl_program_release(r->p);
  nkl_close(r->c);
}

static void outputs_are_by_rank(void **state) {
  (void)state;
  Run r;
  open_run(&r);
  assert_int_equal(nkl_program_has_collectives(r.p), 1);
  assert_int_equal(nkl_simulate(r.p, &r.s, r.out, &r.err), NKL_OK);
  for (int k = 0; k < RANKS; k++) {
    assert_true(floats(r.out[2 * k])[1] == 60); /* 10 * (0 + 2 + 4) */
    int from = (k + RANKS - 1) % RANKS;
    assert_true(floats(r.out[2 * k + 1])[0] == (float)(2 * from + 1));
    assert_true(r.out[2 * k] != r.in[2 * k]);
    assert_true(floats(r.in[2 * k])[1] == (float)(20 * k));
  }
  close_run(&r);
}

static void operands_are_updated_in_place(void **state) {
  (void)state;
  Run r;
  open_run(&r);
  r.s.in_place = 1;
  assert_int_equal(nkl_simulate(r.p, &r.s, r.out, &r.err), NKL_OK);
  for (int k = 0; k < RANKS; k++) {
    assert_ptr_equal(r.out[2 * k], r.in[2 * k]);
    assert_true(floats(r.in[2 * k])[0] == 6);
    nkl_tensor_release(r.out[2 * k]);
    nkl_tensor_release(r.out[2 * k + 1]);
  }
  nkl_tensor *own = r.in[2];
  r.in[2] = r.in[0];
  assert_int_equal(nkl_simulate(r.p, &r.s, r.out, &r.err), NKL_ERR_ARG);
  assert_string_equal(r.err.error.id, "err_array_of_ranks");
  assert_null(r.out[0]);
  r.in[2] = own;
  close_run(&r);
}

static void wrong_runs_are_refused(void **state) {
  (void)state;
  Run r;
  open_run(&r);
  r.s.ninputs = 2;
  assert_int_equal(nkl_simulate(r.p, &r.s, r.out, &r.err), NKL_ERR_ARG);
  assert_string_equal(r.err.error.message, "sum: wrong number of tensors: it takes 6, got 2");
  r.s.ninputs = 600;
  r.s.ranks = 300;
  nkl_tensor *many[600];
  for (int i = 0; i < 600; i++) many[i] = r.in[i % 2];
  r.s.inputs = many;
  assert_int_equal(nkl_simulate(r.p, &r.s, r.out, &r.err), NKL_ERR_ARG);
  assert_string_equal(r.err.error.id, "err_rank_count");
  assert_string_equal(r.err.error.message, "the number of ranks is 300; a run has 1 to 256");
  r.s.ranks = UINT32_MAX;
  assert_int_equal(nkl_simulate(r.p, &r.s, r.out, &r.err), NKL_ERR_ARG);
  assert_string_equal(r.err.error.id, "err_rank_count"); /* before the lists are counted */
  r.s.inputs = r.in;
  r.s.ninputs = 2 * RANKS;
  r.s.ranks = 3;
  static const float three[] = {1, 2, 3};
  nkl_tensor *own = r.in[5];
  r.in[5] = matrix(r.c, 1, 3, three);
  assert_int_equal(nkl_simulate(r.p, &r.s, r.out, &r.err), NKL_ERR_ARG);
  assert_non_null(strstr(r.err.error.message, "'b' is float32[1,3] on rank 2; it must be float32[1,2]"));
  nkl_tensor_release(r.in[5]);
  r.in[5] = own;
  close_run(&r);
}

static void a_call_is_one_rank(void **state) {
  (void)state;
  Run r;
  open_run(&r);
  nkl_kernel *k = kernel_of(r.c, SUM);
  nkl_request q;
  size_t n;
  nkl_arg args[] = {tensor_arg(r.in[0]), tensor_arg(r.in[1])};
  nkl_request_init(&q);
  q.kernel = k;
  q.args = args;
  q.nargs = 2;
  assert_int_equal(nkl_call(r.c, &q, &r.s, r.out, 2 * RANKS, &n), NKL_ERR_ARG);
  assert_non_null(strstr(nkl_last_error(r.c)->message, "nkl_call: it runs one rank"));
  nkl_kernel_release(k);
  close_run(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(outputs_are_by_rank),
      cmocka_unit_test(operands_are_updated_in_place),
      cmocka_unit_test(wrong_runs_are_refused),
      cmocka_unit_test(a_call_is_one_rank),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
