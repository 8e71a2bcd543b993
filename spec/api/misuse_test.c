/* misuse_test.c -- spec/api: calls that a host gets wrong are refused and leave everything usable. */
#include "support.h"

static nkl_ctx *c;
static nkl_kernel *k;
static nkl_tensor *t;
static const float ones[6] = {1, 1, 1, 1, 1, 1};

static int setup(void **state) {
  (void)state;
  c = open_quiet(NULL, NULL);
  k = kernel_of(c, ADD_SCALED);
  t = matrix(c, 2, 3, ones);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  nkl_tensor_release(t);
  nkl_kernel_release(k);
  nkl_close(c);
  return 0;
}

static void refused(nkl_status s, const char *part) {
  assert_int_equal(s, NKL_ERR_ARG);
  assert_error(c, NKL_ERR_ARG, "err_api_use", part);
}

/* ---- lists ----------------------------------------------------------------------------------------------------- */

static void words_that_are_null_are_refused(void **state) {
  (void)state;
  nkl_bound *b;
  const char *words[] = {"a=f32[2,3]", NULL};
  refused(nkl_bind_words(c, k, words, 2, NULL, &b), "nkl_bind_words: words[1] is NULL");
  assert_null(b);
  refused(nkl_set_arg(c, words, 2, 0), "nkl_set_arg: argv[1] is NULL");
  refused(nkl_set_arg(c, words, -1, 0), "script_index is not one of argv");
  refused(nkl_set_arg(c, words, 1, 2), "script_index is not one of argv");
  refused(nkl_run_specs(c, words, 2), "nkl_run_specs: argv[1] is NULL");
  nkl_script s;
  nkl_script_init(&s);
  s.source = "return 1";
  s.source_len = 8;
  s.argv = words;
  s.argc = 2;
  refused(nkl_load(c, &s), "nkl_load: argv[1] is NULL");
}

static void files_that_are_null_are_refused(void **state) {
  (void)state;
  nkl_tensor *tensors[] = {t, NULL};
  nkl_file file = {.path = "no/such/dir/x.npz", .tensors = tensors, .count = 2};
  refused(nkl_tensor_save(c, &file, 1), "nkl_tensor_save: tensors[1] is NULL");
  file.tensors = NULL;
  refused(nkl_tensor_save(c, &file, 1), "nkl_tensor_save: tensors is NULL and its count is 2");
  file.path = NULL;
  refused(nkl_tensor_save(c, &file, 1), "nkl_tensor_save: the path of a file is NULL");
  file = (nkl_file){.path = "no/such/dir/x.npz", .tensors = tensors, .count = 1};
  refused(nkl_tensor_save(c, &file, 1), "nkl_tensor_save: names is NULL and its count is 1");
  const char *names[] = {NULL};
  file.names = names;
  refused(nkl_tensor_save(c, &file, 1), "nkl_tensor_save: names[0] is NULL");
  file.path = "no/such/dir/x.safetensors";
  refused(nkl_tensor_save(c, &file, 1), "nkl_tensor_save: names[0] is NULL");
}

static void inputs_that_are_null_are_refused(void **state) {
  (void)state;
  nkl_tensor *inputs[] = {t, t}, *none[] = {t, NULL}, *out;
  nkl_program *p = program_of(c, ADD_SCALED, inputs, 2);
  nkl_error_buf err = NKL_ERROR_BUF_INIT;
  nkl_profile *f;
  double us;
  nkl_sim s = sim_of(none, 2, NULL, NULL);
  s.print = s.warn = NULL;
  assert_int_equal(nkl_simulate(p, &s, &out, &err), NKL_ERR_ARG);
  assert_string_equal(err.error.message, "nkl_simulate: inputs[1] is NULL");
  assert_null(out);
  assert_int_equal(nkl_bench(p, &s, 0, 1, &us, &err), NKL_ERR_ARG);
  assert_string_equal(err.error.message, "nkl_bench: inputs[1] is NULL");
  s.inputs = NULL;
  assert_int_equal(nkl_profile_run(p, &s, NULL, &f, &err), NKL_ERR_ARG);
  assert_string_equal(err.error.message, "nkl_profile_run: inputs is NULL and its count is 2");
  assert_null(f);
  nkl_error_buf_free(&err);
  nkl_program_release(p);
}

static void texts_of_no_length_may_be_null(void **state) {
  (void)state;
  nkl_buf b;
  nkl_program *p;
  nkl_error_buf err = NKL_ERROR_BUF_INIT;
  int incomplete;
  assert_int_equal(nkl_load_string(c, NULL, 0, NULL), NKL_OK);
  assert_int_equal(nkl_eval(c, NULL, 0, NULL, &incomplete, &b), NKL_OK);
  nkl_buf_free(&b);
  assert_int_equal(nkl_complete(c, NULL, 0, &b), NKL_OK);
  nkl_buf_free(&b);
  assert_int_equal(nkl_program_decode(NULL, 0, &p, &err), NKL_ERR_FORMAT);
  assert_null(p);
  nkl_error_buf_free(&err);
  assert_int_equal(nkl_dtype_parse("", 0), NKL_INVALID);
}

/* ---- tuples ---------------------------------------------------------------------------------------------------- */

/* The second parameter is a constant that it only carries. */
#define CARRY                                                              \
  "local nki, nl = require 'nki', require 'nki.language'\n"                \
  "return nki.jit(function(a, constant)\n"                                 \
  "  local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})\n" \
  "  nl.store(out, nl.load(a))\n"                                          \
  "  return out\n"                                                         \
  "end)\n"

/* Decoded again, when it is one. */
static nkl_status with_constant(nkl_arg constant) {
  nkl_kernel *carry = kernel_of(c, CARRY);
  nkl_program *p, *again;
  nkl_buf config;
  nkl_arg args[] = {tensor_arg(t), constant};
  nkl_status s = specialize(c, carry, args, 2, &p);
  nkl_kernel_release(carry);
  if (s != NKL_OK) {
    assert_null(p);
    return s;
  }
  nkl_error_buf err = NKL_ERROR_BUF_INIT;
  assert_int_equal(nkl_program_render(p, NKL_FMT_BACKEND_CONFIG, &config, NULL), NKL_OK);
  s = nkl_program_decode(config.data, config.size, &again, &err);
  if (s != NKL_OK) fail_msg("%s", err.error.message);
  nkl_buf_free(&config);
  nkl_program_release(again);
  nkl_program_release(p);
  return s;
}

static nkl_arg tuple_of(const nkl_arg *items, size_t n) {
  nkl_arg a = {.kind = NKL_ARG_TUPLE};
  a.u.tuple.items = items;
  a.u.tuple.n = n;
  return a;
}

static void tuples_have_an_end(void **state) {
  (void)state;
  nkl_arg self[2] = {{0}}, deep[31], wide[8][16];
  self[0] = self[1] = tuple_of(self, 2);
  refused(with_constant(self[0]), "nkl_specialize: a tuple is more than 30 tuples deep");
  deep[30] = (nkl_arg){.kind = NKL_ARG_INT};
  for (int i = 29; i >= 0; i--) deep[i] = tuple_of(&deep[i + 1], 1);
  refused(with_constant(tuple_of(&deep[0], 1)), "more than 30 tuples deep");
  assert_int_equal(with_constant(deep[0]), NKL_OK);
  for (int i = 7; i >= 0; i--)
    for (int j = 0; j < 16; j++) wide[i][j] = i == 7 ? (nkl_arg){.kind = NKL_ARG_INT} : tuple_of(wide[i + 1], 16);
  refused(with_constant(tuple_of(wide[0], 16)), "nkl_specialize: tuples have more than 1048576 items");
}

static void a_tuple_may_be_long(void **state) {
  (void)state;
  static nkl_arg items[2000];
  for (int i = 0; i < 2000; i++) items[i] = (nkl_arg){.kind = NKL_ARG_INT, .u.i = i};
  assert_int_equal(with_constant(tuple_of(items, 2000)), NKL_OK);
}

static void an_empty_text_may_be_null(void **state) {
  (void)state;
  static const char source[] =
      "local nl = require 'nki.language'\nreturn require 'nki'.jit(function(a, text)\n"
      "assert(text == '')\nlocal out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})\n"
      "nl.store(out, nl.load(a)) return out end)";
  nkl_kernel *copy = kernel_of(c, source);
  nkl_arg args[] = {tensor_arg(t), {.kind = NKL_ARG_STR}};
  nkl_program *p;
  if (specialize(c, copy, args, 2, &p) != NKL_OK) fail_msg("%s", nkl_last_error(c)->message);
  nkl_program_release(p);
  nkl_kernel_release(copy);
}

/* ---- structs --------------------------------------------------------------------------------------------------- */

static void structs_of_other_versions(void **state) {
  (void)state;
  struct {
    nkl_script s;
    char newer[64];
  } large = {.newer = {0}};
  nkl_script_init(&large.s);
  large.s.source = "return 1";
  large.s.source_len = 8;
  large.s.struct_size = sizeof large;
  assert_int_equal(nkl_load(c, &large.s), NKL_OK);
  large.newer[63] = 1;
  refused(nkl_load(c, &large.s), "nkl_load: the nkl_script is of a newer version, and a field that 0.");
  large.s.struct_size = UINT32_MAX;
  refused(nkl_load(c, &large.s), "nkl_load: the nkl_script was not initialised with nkl_script_init");
  large.s.struct_size = 3;
  refused(nkl_load(c, &large.s), "not initialised with nkl_script_init");
  large.s.struct_size = offsetof(nkl_script, argv);
  large.s.argc = -1; /* not there */
  assert_int_equal(nkl_load(c, &large.s), NKL_OK);
}

static void a_declaration_is_initialised(void **state) {
  (void)state;
  nkl_tensor_desc d = {.dtype = NKL_F32, .rank = 1, .shape = {4}};
  nkl_arg args[] = {{.kind = NKL_ARG_DECL}, tensor_arg(t)};
  nkl_program *p;
  args[0].u.decl = &d;
  refused(specialize(c, k, args, 2, &p), "the nkl_tensor_desc was not initialised with nkl_tensor_desc_init");
}

/* ---- memory of tensors ----------------------------------------------------------------------------------------- */

static void strides_stay_within_the_bytes(void **state) {
  (void)state;
  static const struct {
    int64_t strides[2];
    size_t nbytes;
  } cases[] = {{{4, 8}, 23},         {{-12, -4}, 23},          {{INT64_MAX, 4}, 24},
               {{INT64_MIN, 4}, 24}, {{4, INT64_MAX / 2}, 24}, {{INT64_MAX / 2, INT64_MAX / 4}, 24},
               {{0, 4}, 11}};
  nkl_tensor *made;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    nkl_tensor_desc d = desc_of(NKL_F32, 2, (int64_t[]){2, 3});
    d.data = (void *)(uintptr_t)(ones + (i == 1 ? 5 : 0));
    memcpy(d.byte_strides, cases[i].strides, sizeof cases[i].strides);
    d.nbytes = cases[i].nbytes;
    refused(nkl_tensor_new(c, &d, &made), "nkl_tensor_new: nbytes is less than the strides reach");
    assert_null(made);
  }
}

static void what_is_borrowed_is_aligned(void **state) {
  (void)state;
  static _Alignas(4) char bytes[32];
  const float want[6] = {1, 2, 3, 4, 5, 6};
  nkl_tensor *made;
  nkl_tensor_desc d = desc_of(NKL_F32, 2, (int64_t[]){2, 3});
  d.data = memcpy(bytes + 1, want, sizeof want);
  d.nbytes = sizeof want;
  refused(nkl_tensor_wrap(c, &d, NULL, NULL, &made), "not aligned to the size of its elements; nkl_tensor_new copies");
  assert_null(made);
  assert_int_equal(nkl_tensor_new(c, &d, &made), NKL_OK);
  assert_memory_equal(floats(made), want, sizeof want);
  nkl_tensor_release(made);
  d.byte_strides[0] = 4; /* the transpose, from an odd address */
  d.byte_strides[1] = 8;
  assert_int_equal(nkl_tensor_new(c, &d, &made), NKL_OK);
  assert_memory_equal(floats(made), ((float[]){1, 3, 5, 2, 4, 6}), sizeof want);
  nkl_tensor_release(made);
}

/* ---- callbacks ------------------------------------------------------------------------------------------------- */

typedef struct Again {
  nkl_ctx *c, *other;
  nkl_kernel *k;
  int calls;
} Again;

/* Enters the context that is running, and then another one. */
static void enter_again(void *ud, const char *text, size_t len) {
  Again *a = ud;
  nkl_buf b;
  nkl_program *p;
  nkl_request r;
  int incomplete;
  (void)text, (void)len;
  a->calls++;
  assert_int_equal(load(a->c, "return 1"), NKL_ERR_ARG);
  assert_int_equal(nkl_eval(a->c, "1", 1, NULL, &incomplete, &b), NKL_ERR_ARG);
  assert_null(b.data);
  nkl_request_init(&r);
  r.kernel = a->k;
  assert_int_equal(nkl_specialize(a->c, &r, &p), NKL_ERR_ARG);
  assert_null(p);
  assert_int_equal(nkl_last_error(a->c)->status, NKL_OK); /* that of the call that is running */
  nkl_warnings(a->c, 1);
  nkl_close(a->c);
  if (a->other) assert_int_equal(load(a->other, "return 2"), NKL_OK);
}

static void a_context_is_busy_during_its_callbacks(void **state) {
  (void)state;
  nkl_options o;
  Again a = {.other = c};
  nkl_options_init(&o);
  o.target = "trn2";
  o.write = o.warn = enter_again;
  o.write_ud = o.warn_ud = &a;
  assert_int_equal(nkl_open(&a.c, &o), NKL_OK);
  assert_int_equal(load(a.c, "print 'x' warn('@on') warn('y') coroutine.wrap(print)('z') error('boom', 0)"),
                   NKL_ERR_SCRIPT);
  assert_true(a.calls >= 3);
  assert_error(a.c, NKL_ERR_SCRIPT, "err_lua", "boom");
  load_ok(a.c, "return 1"); /* and it is free again */
  nkl_close(a.c);
}

#define SAYING                                                           \
  "local nl = require 'nki.language'\n"                                  \
  "return require 'nki'.jit(function(a)\n"                               \
  "local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})\n" \
  "local x = nl.load(a) nl.device_print('x', x) nl.store(out, x) return out end)"

static void a_context_is_busy_while_it_simulates(void **state) {
  (void)state;
  Again a = {.c = c, .k = kernel_of(c, SAYING)};
  nkl_arg args[] = {tensor_arg(t)};
  nkl_request r;
  nkl_tensor *out;
  nkl_sim s;
  size_t n;
  nkl_request_init(&r);
  r.kernel = a.k;
  r.args = args;
  r.nargs = 1;
  nkl_sim_init(&s);
  s.print = enter_again;
  s.print_ud = &a;
  if (nkl_call(c, &r, &s, &out, 1, &n) != NKL_OK) fail_msg("%s", nkl_last_error(c)->message);
  assert_true(a.calls >= 1);
  assert_memory_equal(floats(out), ones, sizeof ones);
  nkl_tensor_release(out);
  nkl_kernel_release(a.k);
  load_ok(c, "return 1");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(words_that_are_null_are_refused),
      TEST(files_that_are_null_are_refused),
      TEST(inputs_that_are_null_are_refused),
      TEST(texts_of_no_length_may_be_null),
      TEST(tuples_have_an_end),
      TEST(a_tuple_may_be_long),
      TEST(an_empty_text_may_be_null),
      TEST(structs_of_other_versions),
      TEST(a_declaration_is_initialised),
      TEST(strides_stay_within_the_bytes),
      TEST(what_is_borrowed_is_aligned),
      TEST(a_context_is_busy_during_its_callbacks),
      TEST(a_context_is_busy_while_it_simulates),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
