/* call_test.c -- spec/api: simulation, words of a command line. */
#include "support.h"

static nkl_ctx *c;
static Said out, warn;

static int setup(void **state) {
  (void)state;
  out.n = warn.n = 0;
  c = open_quiet(&out, &warn);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  nkl_close(c);
  return 0;
}

static const float six[] = {1, 2, 3, 4, 5, 6}, ones[] = {1, 1, 1, 1, 1, 1};

static void tensors_are_computed(void **state) {
  (void)state;
  nkl_tensor *in[] = {matrix(c, 2, 3, six), matrix(c, 2, 3, ones)}, *sum;
  nkl_program *p = program_of(c, ADD_SCALED, in, 2);
  nkl_sim s = sim_of(in, 2, &out, &warn);
  static const float want[] = {2, 3, 4, 5, 6, 7};
  assert_int_equal(nkl_simulate(p, &s, &sum, NULL), NKL_OK);
  assert_memory_equal(floats(sum), want, sizeof want);
  assert_int_equal(warn.n, 0);
  nkl_tensor_release(sum);
  nkl_program_release(p);
  nkl_tensor_release(in[0]);
  nkl_tensor_release(in[1]);
}

static void wrong_inputs_are_refused(void **state) {
  (void)state;
  nkl_tensor *in[] = {matrix(c, 2, 3, six), matrix(c, 2, 3, ones)}, *flat = matrix(c, 1, 6, six), *sum;
  nkl_tensor *mixed[] = {in[0], flat};
  nkl_program *p = program_of(c, ADD_SCALED, in, 2);
  nkl_error_buf err = NKL_ERROR_BUF_INIT;
  nkl_sim s = sim_of(in, 1, &out, &warn);
  assert_int_equal(nkl_simulate(p, &s, &sum, &err), NKL_ERR_ARG);
  assert_string_equal(err.error.id, "err_input_count");
  assert_null(sum);
  s = sim_of(mixed, 2, &out, &warn);
  assert_int_equal(nkl_simulate(p, &s, &sum, &err), NKL_ERR_ARG);
  assert_string_equal(err.error.id, "err_input_data");
  assert_non_null(strstr(err.error.message, "'b' is float32[1,6]; it must be float32[2,3]"));
  s.struct_size = 1;
  assert_int_equal(nkl_simulate(p, &s, &sum, &err), NKL_ERR_ARG);
  assert_string_equal(err.error.id, "err_api_use");
  nkl_error_buf_free(&err);
  nkl_program_release(p);
  nkl_tensor_release(in[0]);
  nkl_tensor_release(in[1]);
  nkl_tensor_release(flat);
}

static void inputs_change_only_when_in_place_is_asked_for(void **state) {
  (void)state;
  float mine[6];
  nkl_tensor *x, *outputs[2];
  nkl_tensor_desc d = desc_of(NKL_F32, 2, (int64_t[]){2, 3});
  static const float doubled[] = {2, 4, 6, 8, 10, 12};
  memcpy(mine, six, sizeof mine);
  d.data = mine;
  d.nbytes = sizeof mine;
  assert_int_equal(nkl_tensor_wrap(c, &d, NULL, NULL, &x), NKL_OK);
  nkl_program *p = program_of(c, DOUBLE_IN_PLACE, &x, 1);
  nkl_sim s = sim_of(&x, 1, &out, &warn);
  assert_int_equal(nkl_simulate(p, &s, outputs, NULL), NKL_OK);
  assert_memory_equal(mine, six, sizeof mine);
  assert_memory_equal(floats(outputs[0]), doubled, sizeof doubled);
  assert_memory_equal(floats(outputs[1]), six, sizeof six);
  nkl_tensor_release(outputs[0]);
  nkl_tensor_release(outputs[1]);
  s.in_place = 1;
  assert_int_equal(nkl_simulate(p, &s, outputs, NULL), NKL_OK);
  assert_ptr_equal(outputs[0], x);
  assert_memory_equal(mine, doubled, sizeof mine);
  assert_memory_equal(floats(outputs[1]), six, sizeof six);
  nkl_tensor_release(outputs[0]);
  nkl_tensor_release(outputs[1]);
  nkl_tensor_release(x);
  nkl_program_release(p);
}

static void shared_memory_is_not_updated_in_place(void **state) {
  (void)state;
  static const char source[] =
      "local nki, nl = require 'nki', require 'nki.language'\n"
      "return nki.jit(function(x, y)\n"
      "  nl.store(x, nl.load(x) + nl.load(y))\n"
      "  return x\n"
      "end)";
  nkl_tensor *in[] = {matrix(c, 2, 3, six), NULL}, *sum;
  nkl_error_buf err = NKL_ERROR_BUF_INIT;
  in[1] = in[0];
  nkl_program *p = program_of(c, source, in, 2);
  nkl_sim s = sim_of(in, 2, &out, &warn);
  s.in_place = 1;
  assert_int_equal(nkl_simulate(p, &s, &sum, &err), NKL_ERR_ARG);
  assert_string_equal(err.error.id, "err_array_bound_twice");
  assert_memory_equal(floats(in[0]), six, sizeof six);
  s.in_place = 0;
  assert_int_equal(nkl_simulate(p, &s, &sum, &err), NKL_OK);
  assert_true(floats(sum)[5] == 12);
  nkl_tensor_release(sum);
  nkl_error_buf_free(&err);
  nkl_tensor_release(in[0]);
  nkl_program_release(p);
}

#define HALF_WRITTEN                                                       \
  "local nki, nl = require 'nki', require 'nki.language'\n"                \
  "return nki.jit(function(x)\n"                                           \
  "  local t = nl.ndarray({2, 3}, x.dtype)\n"                              \
  "  t[{{0, 2}, {0, 2}}] = 1\n"                                            \
  "  local out = nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm})\n" \
  "  nl.store(out, t)\n"                                                   \
  "  return out\n"                                                         \
  "end)"

static void unwritten_elements_are_reported_or_refused(void **state) {
  (void)state;
  nkl_tensor *x = matrix(c, 2, 3, six), *y;
  nkl_error_buf err = NKL_ERROR_BUF_INIT;
  nkl_program *p = program_of(c, HALF_WRITTEN, &x, 1);
  nkl_sim s = sim_of(&x, 1, &out, &warn);
  assert_int_equal(nkl_simulate(p, &s, &y, &err), NKL_OK);
  assert_non_null(strstr(warn.text, "script.lua:6"));
  assert_true(floats(y)[0] == 1 && floats(y)[2] != floats(y)[2]);
  nkl_tensor_release(y);
  s.strict = 1;
  assert_int_equal(nkl_simulate(p, &s, &y, &err), NKL_ERR_SIM);
  assert_null(y);
  assert_string_equal(err.error.id, "err_unwritten");
  assert_int_equal(err.error.line, 6);
  nkl_error_buf_free(&err);
  nkl_program_release(p);
  nkl_tensor_release(x);
}

static void handles_outlive_their_context(void **state) {
  (void)state;
  nkl_ctx *first = c;
  nkl_tensor *in[] = {matrix(first, 2, 3, six), matrix(first, 2, 3, ones)}, *sum;
  nkl_program *p = program_of(c, ADD_SCALED, in, 2);
  nkl_close(first);
  c = open_quiet(NULL, NULL); /* for teardown */
  nkl_sim s = sim_of(in, 2, &out, &warn);
  nkl_buf b;
  assert_int_equal(nkl_simulate(p, &s, &sum, NULL), NKL_OK);
  assert_true(floats(sum)[5] == 7);
  assert_int_equal(nkl_program_render(p, NKL_FMT_HLO, &b, NULL), NKL_OK);
  nkl_buf_free(&b);
  nkl_program_release(p);
  nkl_tensor_release(in[0]);
  nkl_tensor_release(in[1]);
  assert_true(floats(sum)[0] == 2);
  nkl_tensor_release(sum);
}

static void an_interrupt_stops_a_simulation(void **state) {
  (void)state;
  nkl_tensor *in[] = {matrix(c, 2, 3, six), matrix(c, 2, 3, ones)}, *sum;
  nkl_error_buf err = NKL_ERROR_BUF_INIT;
  nkl_program *p = program_of(c, ADD_SCALED, in, 2);
  nkl_sim s = sim_of(in, 2, &out, &warn);
  s.interrupt = c;
  nkl_interrupt(c);
  assert_int_equal(nkl_simulate(p, &s, &sum, &err), NKL_ERR_CANCELLED);
  assert_int_equal(nkl_simulate(p, &s, &sum, &err), NKL_OK); /* once */
  nkl_tensor_release(sum);
  nkl_error_buf_free(&err);
  nkl_program_release(p);
  nkl_tensor_release(in[0]);
  nkl_tensor_release(in[1]);
}

/* ---- words --------------------------------------------------------------------------------------------------- */

static void refuses(nkl_kernel *k, const char *word, const char *id, const char *part) {
  nkl_bound *b;
  assert_int_not_equal(nkl_bind_words(c, k, &word, 1, NULL, &b), NKL_OK);
  assert_null(b);
  assert_string_equal(nkl_last_error(c)->id, id);
  if (!strstr(nkl_last_error(c)->message, part))
    fail_msg("%s: '%s' is not in '%s'", word, part, nkl_last_error(c)->message);
}

static void wrong_words_get_one_clear_message(void **state) {
  (void)state;
  static const char *const words[][3] = {{"c=3", "err_word_unknown", "no parameter 'c'"},
                                         {"scal=3", "err_word_unknown", "did you mean 'scale'?"},
                                         {"a=hello", "err_value", "a: 'hello' is not a value"},
                                         {"a=f33[2]", "err_value", "no dtype 'f33'"},
                                         {"a=f32[2]:nil", "err_value", "a fill is :zeros"},
                                         {"a=f32[0]", "err_value", "sizes are at least 1"},
                                         {"a=f32[1,1,1,1,1,1,1,1,1]", "err_value", "at most 8 dimensions"},
                                         {"a=i32[2]:normal(1)", "err_fill", "only floats can be random"},
                                         {"a=i8[200]:iota", "err_fill", "128 does not fit"},
                                         {"a=u8[2]:full(-1)", "err_fill", "-1 does not fit"},
                                         {"a=f16[2]:full(1e6)", "err_fill", "does not fit"},
                                         {"a=none.npy", "err_file_open", "none.npy"},
                                         {"", "err_value", "argument: ''"},
                                         {"a=", "err_value", "a: ''"}};
  nkl_kernel *k = kernel_of(c, ADD_SCALED);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) refuses(k, words[i][0], words[i][1], words[i][2]);
  static const char *const twice[] = {"a=3", "a=4"}, *const behind[] = {"a=3", "4"},
                           *const surplus[] = {"1", "2", "3", "4"};
  nkl_bound *b;
  assert_int_equal(nkl_bind_words(c, k, twice, 2, NULL, &b), NKL_ERR_ARG);
  assert_error(c, NKL_ERR_ARG, "err_word_twice", "'a=3' and 'a=4'");
  assert_int_equal(nkl_bind_words(c, k, behind, 2, NULL, &b), NKL_ERR_ARG);
  assert_error(c, NKL_ERR_ARG, "err_word_position", "'4'");
  assert_int_equal(nkl_bind_words(c, k, surplus, 4, NULL, &b), NKL_ERR_ARG);
  assert_error(c, NKL_ERR_ARG, "err_word_surplus", "a, b, scale");
  nkl_kernel_release(k);
}

static void words_become_arguments(void **state) {
  (void)state;
  static const char *const words[] = {"f32[2,3]:iota", "scale={1, \"x\", nil, {true}}", "b=bf16[4]"};
  nkl_kernel *k = kernel_of(c, ADD_SCALED);
  nkl_bound *b;
  nkl_bind_options o;
  size_t n;
  if (nkl_bind_words(c, k, words, 3, NULL, &b) != NKL_OK) fail_msg("%s", nkl_last_error(c)->message);
  const nkl_arg *args = nkl_bound_args(b, &n);
  assert_int_equal(n, 3);
  assert_string_equal(args[0].name, "a");
  assert_int_equal(args[0].kind, NKL_ARG_TENSOR);
  assert_true(floats(args[0].u.t)[5] == 5);
  assert_int_equal(args[1].kind, NKL_ARG_TUPLE);
  assert_int_equal(args[1].u.tuple.n, 4);
  assert_int_equal(args[1].u.tuple.items[2].kind, NKL_ARG_NIL);
  assert_int_equal(args[1].u.tuple.items[3].u.tuple.items[0].kind, NKL_ARG_BOOL);
  nkl_kernel_release(k);
  assert_string_equal(args[2].name, "b"); /* the arguments stay */
  nkl_bound_free(b);
  nkl_bound_free(NULL);
  k = kernel_of(c, ADD_SCALED);
  nkl_bind_options_init(&o);
  o.shapes_only = 1;
  assert_int_equal(nkl_bind_words(c, k, words, 1, &o, &b), NKL_OK);
  args = nkl_bound_args(b, &n);
  assert_int_equal(args[0].kind, NKL_ARG_DECL);
  assert_int_equal(args[0].u.decl->shape[1], 3);
  nkl_bound_free(b);
  nkl_kernel_release(k);
}

static float first_of(nkl_kernel *k, const char *word, uint64_t seed) {
  nkl_bound *b;
  nkl_bind_options o;
  size_t n;
  nkl_bind_options_init(&o);
  o.seed = seed;
  assert_int_equal(nkl_bind_words(c, k, &word, 1, &o, &b), NKL_OK);
  float v = floats(nkl_bound_args(b, &n)[0].u.t)[0];
  nkl_bound_free(b);
  return v;
}

static void fills_depend_on_seed_and_name_alone(void **state) {
  (void)state;
  nkl_kernel *k = kernel_of(c, ADD_SCALED);
  assert_true(first_of(k, "a=f32[4]", 0) == first_of(k, "a=f32[4]:normal", 0));
  assert_true(first_of(k, "a=f32[4]:normal(7)", 0) == first_of(k, "a=f32[900]", 7));
  assert_true(first_of(k, "a=f32[4]", 0) != first_of(k, "b=f32[4]", 0));
  assert_true(first_of(k, "a=f32[4]", 0) != first_of(k, "a=f32[4]", 1));
  float u = first_of(k, "a=f32[4]:uniform(3)", 0);
  assert_true(u >= 0 && u < 1);
  assert_true(first_of(k, "a=f32[4]:ones", 0) == 1 && first_of(k, "a=f32[4]:full(-2.5)", 0) == -2.5f);
  nkl_kernel_release(k);
}

static void a_program_takes_words_for_what_it_was_made_with(void **state) {
  (void)state;
  nkl_kernel *k = kernel_of(c, ADD_SCALED);
  nkl_tensor *in[] = {matrix(c, 2, 3, six), matrix(c, 2, 3, ones)}, *inputs[2];
  nkl_arg args[] = {tensor_arg(in[0]), tensor_arg(in[1]), {.kind = NKL_ARG_NUM, .u.n = 2.5}};
  nkl_program *p;
  nkl_bound *b;
  static const char *const words[] = {"f32[2,3]", "2.5", "f32[2,3]"}, *const other[] = {"scale=2"},
                           *const kind[] = {"a=3"}, *const tensor[] = {"scale=f32[2]"};
  assert_int_equal(specialize(c, k, args, 3, &p), NKL_OK);
  assert_int_equal(nkl_bind_program(c, p, words, 3, NULL, &b), NKL_OK);
  assert_int_equal(nkl_bound_inputs(c, b, p, inputs), NKL_OK);
  assert_non_null(inputs[1]);
  nkl_bound_free(b);
  assert_int_equal(nkl_bind_program(c, p, words, 1, NULL, &b), NKL_OK);
  assert_int_equal(nkl_bound_inputs(c, b, p, inputs), NKL_ERR_ARG);
  assert_error(c, NKL_ERR_ARG, "err_input_missing", "'b'");
  nkl_bound_free(b);
  assert_int_equal(nkl_bind_program(c, p, other, 1, NULL, &b), NKL_ERR_ARG);
  assert_error(c, NKL_ERR_ARG, "err_word_constant", "another value of 'scale'");
  assert_int_equal(nkl_bind_program(c, p, tensor, 1, NULL, &b), NKL_ERR_ARG);
  assert_error(c, NKL_ERR_ARG, "err_word_constant", "'scale'");
  assert_int_equal(nkl_bind_program(c, p, kind, 1, NULL, &b), NKL_ERR_ARG);
  assert_error(c, NKL_ERR_ARG, "err_word_tensor", "'a'");
  nkl_program_release(p);
  nkl_tensor_release(in[0]);
  nkl_tensor_release(in[1]);
  nkl_kernel_release(k);
}

static void a_call_runs_on_tensors(void **state) {
  (void)state;
  nkl_kernel *k = kernel_of(c, ADD_SCALED);
  nkl_tensor *a = matrix(c, 2, 3, six), *b = matrix(c, 2, 3, ones), *sum;
  nkl_tensor_desc d = desc_of(NKL_F32, 2, (int64_t[]){2, 3});
  nkl_arg args[] = {tensor_arg(a), {.name = "scale", .kind = NKL_ARG_INT, .u.i = 10}, {.name = "b"}};
  size_t n;
  args[2].kind = NKL_ARG_TENSOR;
  args[2].u.t = b;
  nkl_request r;
  nkl_request_init(&r);
  r.kernel = k;
  r.args = args;
  r.nargs = 3;
  if (nkl_call(c, &r, NULL, &sum, 1, &n) != NKL_OK) fail_msg("%s", nkl_last_error(c)->message);
  assert_int_equal(n, 1);
  assert_true(floats(sum)[0] == 11 && floats(sum)[5] == 16);
  nkl_tensor_release(sum);
  args[2].kind = NKL_ARG_DECL;
  args[2].u.decl = &d;
  assert_int_equal(nkl_call(c, &r, NULL, &sum, 1, &n), NKL_ERR_ARG);
  assert_error(c, NKL_ERR_ARG, "err_kernel_decl_run", "'b' has no data");
  nkl_tensor_release(a);
  nkl_tensor_release(b);
  nkl_kernel_release(k);
}

int main(void) {
#define IN_CONTEXT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
  const struct CMUnitTest tests[] = {
      IN_CONTEXT(tensors_are_computed),
      IN_CONTEXT(wrong_inputs_are_refused),
      IN_CONTEXT(inputs_change_only_when_in_place_is_asked_for),
      IN_CONTEXT(shared_memory_is_not_updated_in_place),
      IN_CONTEXT(unwritten_elements_are_reported_or_refused),
      IN_CONTEXT(handles_outlive_their_context),
      IN_CONTEXT(an_interrupt_stops_a_simulation),
      IN_CONTEXT(wrong_words_get_one_clear_message),
      IN_CONTEXT(words_become_arguments),
      IN_CONTEXT(fills_depend_on_seed_and_name_alone),
      IN_CONTEXT(a_program_takes_words_for_what_it_was_made_with),
      IN_CONTEXT(a_call_runs_on_tensors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
