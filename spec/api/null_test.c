/* null_test.c -- spec/api: no pointer that is NULL harms; what may not be NULL is refused by name. */
#include <unistd.h>

#include "support.h"

static nkl_ctx *c;
static nkl_kernel *k;
static nkl_program *p;
static nkl_tensor *t;
static nkl_bound *b;
static nkl_profile *f;
/* Other arguments. */
static struct {
  char dir[40], file[60], other[60], text[60];
  const char *argv[2], *words[1];
  nkl_script script;
  nkl_tensor_desc desc, desc_out;
  nkl_file files[1];
  nkl_tensor *inputs[1];
  nkl_arg args[1];
  nkl_kernel_options options;
  nkl_request request;
  nkl_sim sim;
  nkl_buf config;
  int64_t grid[NKL_MAX_RANK];
  nkl_cores cores[NKL_MAX_RANK];
  double us[3];
} x;
/* Results. */
typedef struct Results {
  nkl_ctx *ctx;
  nkl_kernel *kernel;
  nkl_program *program;
  nkl_tensor *tensor;
  nkl_bound *bound;
  nkl_profile *profile;
  nkl_buf buf;
  const void *data;
  const char *text[2];
  nkl_error_buf err;
  nkl_io io;
  nkl_node node;
  nkl_profile_row row;
  int number;
  int32_t operand, output;
  int64_t mismatches;
  size_t count;
} Results;
static Results o;

#define COPY                                                               \
  "local nki, nl = require 'nki', require 'nki.language'\n"                \
  "return nki.jit(function(a)\n"                                           \
  "  local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})\n" \
  "  nl.store(out, nl.load(a))\n"                                          \
  "  return out\n"                                                         \
  "end, {func_name = 'copy'})\n"

static void tidy(void) {
  nkl_close(o.ctx);
  nkl_kernel_release(o.kernel);
  nkl_program_release(o.program);
  nkl_tensor_release(o.tensor);
  nkl_bound_free(o.bound);
  nkl_profile_release(o.profile);
  nkl_buf_free(&o.buf);
  nkl_error_buf_free(&o.err);
  memset(&o, 0, sizeof o);
  o.err = (nkl_error_buf)NKL_ERROR_BUF_INIT;
}

static int setup(void **state) {
  (void)state;
  static const float ones[6] = {1, 1, 1, 1, 1, 1};
  static const int64_t grid[] = {1};
  c = open_quiet(NULL, NULL);
  k = kernel_of(c, COPY);
  t = matrix(c, 2, 3, ones);
  x.args[0] = tensor_arg(t);
  nkl_request_init(&x.request);
  x.request = (nkl_request){.struct_size = sizeof x.request, .kernel = k, .args = x.args, .nargs = 1};
  x.request.grid = grid;
  x.request.ngrid = 1;
  if (nkl_specialize(c, &x.request, &p) != NKL_OK) fail_msg("%s", nkl_last_error(c)->message);
  strcpy(x.dir, "/tmp/nkilua-null-XXXXXX");
  assert_non_null(mkdtemp(x.dir));
  snprintf(x.file, sizeof x.file, "%s/x.npy", x.dir);
  snprintf(x.other, sizeof x.other, "%s/y.npy", x.dir);
  x.inputs[0] = t;
  x.files[0] = (nkl_file){.path = x.file, .tensors = x.inputs, .count = 1};
  assert_int_equal(nkl_tensor_save(c, x.files, 1), NKL_OK);
  x.argv[0] = "program";
  x.words[0] = "a=f32[2,3]:ones";
  assert_int_equal(nkl_bind_words(c, k, x.words, 1, NULL, &b), NKL_OK);
  nkl_script_init(&x.script);
  x.script.source = "return";
  x.script.source_len = 6;
  nkl_tensor_describe(t, &x.desc);
  nkl_kernel_options_init(&x.options);
  x.sim = sim_of(x.inputs, 1, NULL, NULL);
  x.sim.print = x.sim.warn = NULL;
  assert_int_equal(nkl_profile_run(p, &x.sim, NULL, &f, NULL), NKL_OK);
  assert_int_equal(nkl_program_render(p, NKL_FMT_BACKEND_CONFIG, &x.config, NULL), NKL_OK);
  snprintf(x.text, sizeof x.text, "%s/x.b64", x.dir);
  assert_int_equal(nkl_file_write(c, x.text, x.config.data, x.config.size), NKL_OK);
  tidy();
  return 0;
}

static int teardown(void **state) {
  (void)state;
  nkl_buf_free(&x.config);
  nkl_profile_release(f);
  nkl_bound_free(b);
  nkl_tensor_release(t);
  nkl_program_release(p);
  nkl_kernel_release(k);
  nkl_close(c);
  assert_int_equal(unlink(x.file), 0);
  assert_int_equal(unlink(x.text), 0);
  assert_int_equal(rmdir(x.dir), 0); /* nothing else was written */
  return 0;
}

/* ---- every pointer of every function --------------------------------------------------------------------------- */

static void is_status(const char *row, nkl_status have, nkl_status want) {
  if (have != want) fail_msg("%s: %s, not %s", row, nkl_status_name(have), nkl_status_name(want));
  if (have == NKL_OK) return;
  if (o.ctx || o.kernel || o.program || o.tensor || o.bound || o.profile || o.buf.data || o.data || o.text[0] ||
      o.text[1] || o.count)
    fail_msg("%s: a result is left", row);
}

/* What the context or the buffer says. */
static const nkl_error *error(void) { return o.err.error.status != NKL_OK ? &o.err.error : nkl_last_error(c); }

static void says(const char *row, const char *want) {
  if (!strstr(error()->message, want)) fail_msg("%s: '%s' is not in '%s'", row, want, error()->message);
}

#define ROW(func, param) #func ", " #param
#define MUTE(func, param, args)                        \
  is_status(ROW(func, param), func args, NKL_ERR_ARG); \
  tidy();
#define SAYS(func, param, args)                         \
  is_status(ROW(func, param), func args, NKL_ERR_ARG);  \
  says(ROW(func, param), #func ": " #param " is NULL"); \
  tidy();
#define OTHER(func, param, args, id_)                  \
  is_status(ROW(func, param), func args, NKL_ERR_ARG); \
  assert_string_equal(error()->id, id_);               \
  tidy();
#define FINE(func, param, args)                   \
  is_status(ROW(func, param), func args, NKL_OK); \
  tidy();
#define GIVES(func, param, args, value) \
  assert_true((func args) == (value));  \
  tidy();
#define TEXT(func, param, args, text) assert_string_equal(func args, text);
#define DOES(func, param, args) (void)func args;

static void a_pointer_that_is_null_is_refused_by_name(void **state) {
  (void)state;
#include "null_cases.def"
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_pointer_that_is_null_is_refused_by_name, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
