/* kernel_test.c -- spec/api: copies of a kernel with other options, and grids on physical cores. */
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "support.h"

static nkl_ctx *c;
static nkl_kernel *k;
static nkl_tensor_desc four;

/* Returns nothing, which only a legacy kernel may; says how often its body runs. */
#define BY_REFERENCE                                        \
  "local nki, nl = require 'nki', require 'nki.language'\n" \
  "return nki.jit(function(a, out)\n"                       \
  "  print('run')\n"                                        \
  "  nl.store(out, nl.load(a))\n"                           \
  "end, {func_name = 'by_reference'})\n"
/* One row per program. */
#define ROWS                                                               \
  "local nki, nl = require 'nki', require 'nki.language'\n"                \
  "return nki.jit(function(a)\n"                                           \
  "  local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})\n" \
  "  local row = nl.ds(nl.program_id(0), 1)\n"                             \
  "  nl.store(out[row], nl.load(a[row]))\n"                                \
  "  return out\n"                                                         \
  "end, {func_name = 'rows'})\n"

static nkl_ctx *open_anywhere(Said *out) { /* the target is the kernel's */
  nkl_options o;
  nkl_options_init(&o);
  o.write = o.warn = hear;
  o.write_ud = o.warn_ud = out;
  assert_int_equal(nkl_open(&c, &o), NKL_OK);
  return c;
}

static void begin(const char *source, Said *out) {
  out->n = 0;
  out->text[0] = '\0';
  k = kernel_of(open_anywhere(out), source);
  four = desc_of(NKL_F32, 2, (int64_t[]){4, 8});
}

static void end(void) {
  nkl_kernel_release(k);
  nkl_close(c);
}

static nkl_status ask(nkl_kernel *kernel, size_t nargs, const int64_t *grid, const nkl_cores *cores, nkl_program **p) {
  nkl_arg args[2] = {{.kind = NKL_ARG_DECL}, {.kind = NKL_ARG_DECL}};
  nkl_request r;
  args[0].u.decl = args[1].u.decl = &four;
  nkl_request_init(&r);
  r.kernel = kernel;
  r.args = args;
  r.nargs = nargs;
  r.grid = grid;
  r.ngrid = grid ? 1 : 0;
  r.cores = cores;
  return nkl_specialize(c, &r, p);
}

static nkl_kernel *copy_of(nkl_kernel *kernel, const nkl_kernel_options *o) {
  nkl_kernel *copy;
  if (nkl_kernel_replace(kernel, o, &copy) != NKL_OK) fail_msg("%s", nkl_last_error(c)->message);
  return copy;
}

/* ---- options --------------------------------------------------------------------------------------------------- */

static void a_copy_has_another_mode(void **state) {
  (void)state;
  Said said;
  nkl_program *p;
  nkl_kernel_options o;
  begin(BY_REFERENCE, &said);
  assert_string_equal(nkl_kernel_mode(k), "auto");
  assert_int_equal(ask(k, 2, NULL, NULL, &p), NKL_ERR_TRACE);
  assert_error(c, NKL_ERR_TRACE, "err_tensor_output_not_written_to", "it returns no tensor");
  nkl_kernel_options_init(&o);
  o.mode = "legacy";
  nkl_kernel *legacy = copy_of(k, &o);
  assert_string_equal(nkl_kernel_mode(legacy), "legacy");
  assert_string_equal(nkl_kernel_mode(k), "auto");
  assert_int_equal(ask(legacy, 2, NULL, NULL, &p), NKL_OK);
  assert_int_equal(nkl_program_output_count(p), 1);
  nkl_program_release(p);
  nkl_kernel_release(legacy);
  end();
}

static void a_copy_has_another_name_and_target(void **state) {
  (void)state;
  Said said;
  nkl_program *p;
  nkl_kernel_options o;
  begin(ADD_SCALED, &said);
  nkl_kernel_options_init(&o);
  nkl_kernel *same = copy_of(k, &o);
  o.func_name = "sum";
  o.platform_target = "trn3";
  nkl_kernel *other = copy_of(same, &o);
  assert_int_equal(ask(other, 2, NULL, NULL, &p), NKL_OK);
  assert_string_equal(nkl_program_name(p), "sum");
  assert_string_equal(nkl_program_target(p), "trn3");
  nkl_program_release(p);
  nkl_kernel_release(same);
  nkl_kernel_release(other);
  end();
}

static void count_runs(const nkl_kernel_options *o, const char *want) {
  Said said;
  nkl_program *p;
  begin(BY_REFERENCE, &said);
  nkl_kernel *copy = copy_of(k, o);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(ask(copy, 2, NULL, NULL, &p), NKL_OK);
    nkl_program_release(p);
  }
  assert_string_equal(said.text, want);
  nkl_kernel_release(copy);
  end();
}

static void a_copy_without_a_cache_runs_its_body_each_time(void **state) {
  (void)state;
  nkl_kernel_options o;
  nkl_kernel_options_init(&o);
  o.mode = "legacy";
  count_runs(&o, "run\n");
  o.enable_cache = 0;
  count_runs(&o, "run\nrun\n");
  o.enable_cache = 1;
  o.cache_size = 3;
  count_runs(&o, "run\n");
}

static void bad_options_are_refused(void **state) {
  (void)state;
  static const struct {
    nkl_kernel_options o;
    const char *id, *part;
  } cases[] = {
      {{.mode = "tpu", .enable_cache = -1}, "err_kernel_option", "no mode 'tpu'; modes are auto, simulation"},
      {{.mode = "baremetal", .enable_cache = -1}, "err_kernel_option", "only nki.jit takes the modes"},
      {{.mode = "benchmark", .enable_cache = -1}, "err_kernel_option", "only nki.jit takes the modes"},
      {{.func_name = "", .enable_cache = -1}, "err_func_name", "it is empty"},
      {{.platform_target = "trn9", .enable_cache = -1}, "err_unknown_platform_target", "trn9"},
      {{.cache_size = -1, .enable_cache = -1}, "err_kernel_option", "cache_size must be a positive integer"},
  };
  Said said;
  nkl_kernel *copy;
  begin(ADD_SCALED, &said);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    nkl_kernel_options o = cases[i].o;
    o.struct_size = sizeof o;
    assert_int_not_equal(nkl_kernel_replace(k, &o, &copy), NKL_OK);
    assert_null(copy);
    assert_error(c, NKL_ERR_ARG, cases[i].id, cases[i].part);
  }
  nkl_kernel_options empty = {0};
  assert_int_equal(nkl_kernel_replace(k, &empty, &copy), NKL_ERR_ARG);
  assert_error(c, NKL_ERR_ARG, "err_api_use", "not initialised with nkl_kernel_options_init");
  end();
}

/* ---- cores ----------------------------------------------------------------------------------------------------- */

static void grid_text(nkl_program *p, const char *want) {
  nkl_buf config;
  assert_int_equal(nkl_program_render(p, NKL_FMT_IR, &config, NULL), NKL_OK);
  if (!strstr(config.data, want)) fail_msg("'%s' is not in %s", want, config.data);
  nkl_buf_free(&config);
  nkl_program_release(p);
}

static void an_axis_goes_to_physical_cores(void **state) {
  (void)state;
  static const struct {
    nkl_cores cores;
    const char *want;
  } cases[] = {{{0, 0}, "nki.grid = [4]"}, {{2, 1}, "nki.cores = [[2, 1]]"}, {{2, 2}, "nki.cores = [[2, 2]]"}};
  Said said;
  nkl_program *p;
  nkl_kernel_options o;
  begin(ROWS, &said);
  nkl_kernel_options_init(&o);
  o.platform_target = "trn2";
  nkl_kernel *trn2 = copy_of(k, &o);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (ask(trn2, 1, (int64_t[]){4}, &cases[i].cores, &p) != NKL_OK) fail_msg("%s", nkl_last_error(c)->message);
    grid_text(p, cases[i].want);
  }
  o.platform_target = "trn1";
  nkl_kernel *trn1 = copy_of(k, &o);
  assert_int_not_equal(ask(trn1, 1, (int64_t[]){2}, &(nkl_cores){2, 1}, &p), NKL_OK);
  assert_string_equal(nkl_last_error(c)->id, "err_multi_cores_spmd_not_supported");
  nkl_kernel_release(trn1);
  nkl_kernel_release(trn2);
  end();
}

static void an_uneven_share_is_refused(void **state) {
  (void)state;
  static const nkl_cores cases[] = {{3, 1}, {-2, 1}, {2, 0}, {2, 3}};
  Said said;
  nkl_program *p;
  begin(ROWS, &said);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(ask(k, 1, (int64_t[]){4}, &cases[i], &p), NKL_ERR_ARG);
    assert_error(c, NKL_ERR_ARG, "err_host_cores", "cores[0]: an axis of 4 programs cannot be spread over");
  }
  assert_int_equal(ask(k, 1, (int64_t[]){0}, &(nkl_cores){2, 1}, &p), NKL_ERR_ARG);
  end();
}

/* Config and numbers of a kernel do not depend on the FP environment of the thread that asks. */
static void the_host_may_flush_subnormals(void **state) {
  (void)state;
#if defined(__x86_64__)
  nkl_buf config[2];
  unsigned before = _mm_getcsr();
  for (int i = 0; i < 2; i++) {
    Said said;
    nkl_program *p, *again;
    nkl_arg args[3] = {{.kind = NKL_ARG_DECL}, {.kind = NKL_ARG_DECL}, {.kind = NKL_ARG_NUM, .u.n = 3e-320}};
    begin(ADD_SCALED, &said);
    args[0].u.decl = args[1].u.decl = &four;
    if (i) _mm_setcsr(0x1f80 | 0x8040 | 0x2000);
    assert_int_equal(specialize(c, k, args, 3, &p), NKL_OK);
    assert_int_equal(nkl_program_render(p, NKL_FMT_BACKEND_CONFIG, &config[i], NULL), NKL_OK);
    assert_int_equal(nkl_program_decode(config[i].data, config[i].size, &again, NULL), NKL_OK);
    _mm_setcsr(before);
    nkl_program_release(again);
    nkl_program_release(p);
    end();
  }
  assert_string_equal(config[0].data, config[1].data);
  nkl_buf_free(&config[0]);
  nkl_buf_free(&config[1]);
#else
  skip();
#endif
}

static void a_tuple_does_not_end_with_nil(void **state) {
  (void)state;
  Said said;
  nkl_program *p;
  nkl_arg items[2] = {{.kind = NKL_ARG_INT, .u.i = 1}, {.kind = NKL_ARG_NIL}}, arg = {.kind = NKL_ARG_TUPLE};
  begin(ADD_SCALED, &said);
  arg.u.tuple.items = items;
  arg.u.tuple.n = 2;
  assert_int_equal(specialize(c, k, &arg, 1, &p), NKL_ERR_ARG);
  assert_error(c, NKL_ERR_ARG, "err_api_use", "a tuple ends with nil");
  end();
}

static void refused(const nkl_arg *args, size_t n, const char *id, const char *part) {
  nkl_program *p;
  assert_int_equal(specialize(c, k, args, n, &p), NKL_ERR_ARG);
  assert_error(c, NKL_ERR_ARG, id, part);
}
/* What a table of Lua's would take silently, and what no memory stands behind. */
static void arguments_are_checked(void **state) {
  (void)state;
  Said said;
  begin(ADD_SCALED, &said);
  nkl_tensor_desc odd = four;
  nkl_arg a = {.name = "a", .kind = NKL_ARG_DECL, .u.decl = &four},
          again = {.name = "a", .kind = NKL_ARG_INT, .u.i = 1};
  nkl_arg tensor = {.kind = NKL_ARG_TENSOR}, decl = {.kind = NKL_ARG_DECL}, string = {.kind = NKL_ARG_STR};
  nkl_arg tuple = {.kind = NKL_ARG_TUPLE};
  string.u.s.len = tuple.u.tuple.n = 3;
  refused((nkl_arg[]){a, again}, 2, "err_api_use", "argument 'a' is given twice");
  refused(&tensor, 1, "err_framework", "argument #0: it is NULL");
  refused(&decl, 1, "err_framework", "argument #0: it is NULL");
  refused(&string, 1, "err_api_use", "a string is NULL");
  refused(&tuple, 1, "err_api_use", "the items of a tuple are NULL");
  a.u.decl = &odd;
  for (int wrong = -1; wrong <= 99; wrong += 100) {
    odd.dtype = (nkl_dtype)wrong;
    refused(&a, 1, "err_framework", "dtype is not one");
    assert_int_equal(nkl_dtype_size(odd.dtype), 0);
    assert_string_equal(nkl_dtype_name(odd.dtype), "invalid");
  }
  nkl_opt opts[2] = {{"level", again}, {"level", again}};
  nkl_program *p;
  nkl_request r;
  nkl_request_init(&r);
  r.kernel = k;
  r.opts = opts;
  r.nopts = 2;
  assert_int_equal(nkl_specialize(c, &r, &p), NKL_ERR_ARG);
  assert_error(c, NKL_ERR_ARG, "err_api_use", "option 'level' is given twice");
  assert_int_equal(nkl_require(c, NULL, NULL), NKL_ERR_ARG);
  assert_int_equal(nkl_set_arg(c, NULL, 1, 0), NKL_ERR_ARG);
  nkl_buf text = NKL_BUF_INIT;
  size_t n;
  assert_int_equal(nkl_lint(c, NULL, 0, &text, &n), NKL_ERR_ARG);
  end();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_copy_has_another_mode),
      cmocka_unit_test(a_copy_has_another_name_and_target),
      cmocka_unit_test(a_copy_without_a_cache_runs_its_body_each_time),
      cmocka_unit_test(bad_options_are_refused),
      cmocka_unit_test(an_axis_goes_to_physical_cores),
      cmocka_unit_test(an_uneven_share_is_refused),
      cmocka_unit_test(the_host_may_flush_subnormals),
      cmocka_unit_test(a_tuple_does_not_end_with_nil),
      cmocka_unit_test(arguments_are_checked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
