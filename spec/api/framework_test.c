/* framework_test.c -- spec/api: a framework of the host: its three hooks, and the bytes of its tensors. */
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

typedef struct Object { /* a tensor of this host: two rows of three */
  const char *dtype;
  float data[6];
  int mapped, dirty;
} Object;

static int is_object(void *ud, const void *obj) { return ud && *(const char *const *)obj != NULL; }

static nkl_status map_object(void *ud, const void *obj, int32_t *rank, int64_t shape[NKL_MAX_RANK],
                             const void **host_dtype) {
  (void)ud;
  const Object *o = obj;
  *rank = 2;
  shape[0] = 2;
  shape[1] = 3;
  *host_dtype = o->dtype;
  return strcmp(o->dtype, "broken") == 0 ? NKL_ERR_HOST : NKL_OK;
}

static nkl_dtype translate(void *ud, const void *host_dtype) {
  (void)ud;
  return strcmp(host_dtype, "float") == 0 ? NKL_F32 : NKL_INVALID;
}

static nkl_status map_data(void *ud, void *obj, int writable, nkl_tensor_desc *d) {
  (void)ud;
  (void)writable;
  Object *o = obj;
  o->mapped++;
  d->dtype = NKL_F32;
  d->rank = 2;
  d->shape[0] = 2;
  d->shape[1] = 3;
  d->data = o->data;
  d->nbytes = sizeof o->data;
  return NKL_OK;
}

static void unmap_data(void *ud, void *obj, int dirty) {
  (void)ud;
  Object *o = obj;
  o->mapped--;
  o->dirty += dirty;
}

static nkl_arg object_arg(Object *o) {
  nkl_arg a = {.kind = NKL_ARG_FRAMEWORK};
  a.u.obj = o;
  return a;
}

static void take_config(const nkl_program *p, nkl_buf *config) {
  nkl_error_buf err = NKL_ERROR_BUF_INIT;
  assert_int_equal(nkl_program_render(p, NKL_FMT_BACKEND_CONFIG, config, &err), NKL_OK);
}

/* Three callbacks are all a framework needs: they drive the pipeline that declarations drive. */
static void three_callbacks_drive_the_same_pipeline(void **state) {
  (void)state;
  nkl_framework f;
  nkl_framework_init(&f);
  f.ud = &f;
  f.is_framework_tensor = is_object;
  f.map_framework_tensor = map_object;
  f.translate_to_neuron_dtype = translate;
  assert_int_equal(nkl_set_framework(c, &f), NKL_OK);
  Object object = {"float", {0}, 0, 0};
  nkl_tensor_desc d;
  nkl_tensor_desc_init(&d);
  d.dtype = NKL_F32;
  d.rank = 2;
  d.shape[0] = 2;
  d.shape[1] = 3;
  nkl_arg mine = object_arg(&object), plain = {.kind = NKL_ARG_DECL};
  plain.u.decl = &d;
  nkl_kernel *k = kernel_of(c, DOUBLE_IN_PLACE);
  nkl_program *p, *q;
  nkl_buf a = NKL_BUF_INIT, b = NKL_BUF_INIT;
  assert_int_equal(specialize(c, k, &mine, 1, &p), NKL_OK);
  assert_int_equal(specialize(c, k, &plain, 1, &q), NKL_OK);
  take_config(p, &a);
  take_config(q, &b);
  assert_string_equal(a.data, b.data);
  assert_string_equal(nkl_program_cache_key(p), nkl_program_cache_key(q));
  nkl_buf_free(&a);
  nkl_buf_free(&b);
  nkl_program_release(p);
  nkl_program_release(q);
  nkl_kernel_release(k);
  assert_int_equal(nkl_set_framework(c, NULL), NKL_OK);
}

static void objects_of_a_framework_are_arguments(void **state) {
  (void)state;
  nkl_framework f;
  nkl_framework_init(&f);
  f.name = "toy";
  f.ud = &f;
  assert_int_equal(nkl_set_framework(c, &f), NKL_ERR_ARG);
  f.is_framework_tensor = is_object;
  f.map_framework_tensor = map_object;
  f.translate_to_neuron_dtype = translate;
  assert_int_equal(nkl_set_framework(c, &f), NKL_OK);
  Object a = {"float", {1, 2, 3, 4, 5, 6}, 0, 0}, wide = {"double", {0}, 0, 0}, broken = {"broken", {0}, 0, 0},
         none = {NULL, {0}, 0, 0};
  nkl_kernel *k = kernel_of(c, DOUBLE_IN_PLACE);
  nkl_arg arg = object_arg(&a);
  nkl_program *p;
  nkl_tensor *outputs[2];
  size_t n;
  assert_int_equal(specialize(c, k, &arg, 1, &p), NKL_OK);
  nkl_program_release(p);
  arg = object_arg(&wide);
  assert_int_equal(specialize(c, k, &arg, 1, &p), NKL_ERR_UNSUPPORTED);
  assert_error(c, NKL_ERR_UNSUPPORTED, "err_framework_dtype", "'toy'");
  arg = object_arg(&broken);
  assert_int_equal(specialize(c, k, &arg, 1, &p), NKL_ERR_HOST);
  assert_error(c, NKL_ERR_HOST, "err_framework_callback", "map_framework_tensor failed with NKL_ERR_HOST");
  arg = object_arg(&none);
  assert_int_equal(specialize(c, k, &arg, 1, &p), NKL_ERR_ARG);
  assert_error(c, NKL_ERR_ARG, "err_framework", "neither a tensor of the framework nor a constant");
  arg = object_arg(&a);
  nkl_request r;
  nkl_request_init(&r);
  r.kernel = k;
  r.args = &arg;
  r.nargs = 1;
  assert_int_equal(nkl_call(c, &r, NULL, outputs, 2, &n), NKL_ERR_ARG); /* no map_data */
  f.map_data = map_data;
  f.unmap_data = unmap_data;
  assert_int_equal(nkl_set_framework(c, &f), NKL_OK);
  assert_int_equal(nkl_call(c, &r, NULL, outputs, 1, &n), NKL_ERR_ARG);
  assert_error(c, NKL_ERR_ARG, "err_output_count", "has 2, and there is room for 1");
  nkl_sim s;
  nkl_sim_init(&s);
  for (int in_place = 0; in_place < 2; in_place++) {
    s.in_place = in_place;
    if (nkl_call(c, &r, &s, outputs, 2, &n) != NKL_OK) fail_msg("%s", nkl_last_error(c)->message);
    assert_int_equal(n, 2);
    assert_true(floats(outputs[0])[5] == 12);
    assert_true(a.data[5] == (in_place ? 12 : 6));
    assert_int_equal(a.dirty, in_place);
    assert_int_equal(a.mapped, 0);
    nkl_tensor_release(outputs[0]);
    nkl_tensor_release(outputs[1]);
  }
  nkl_kernel_release(k);
  assert_int_equal(nkl_set_framework(c, NULL), NKL_OK);
}

/* Only what the kernel wrote is written back, and not when another operand has the same memory. */
static void shared_memory_of_objects_is_not_updated_in_place(void **state) {
  (void)state;
  static const char source[] =
      "local nki, nl = require 'nki', require 'nki.language'\n"
      "return {passes = nki.jit(function(a, b) nl.store(a, nl.load(b)) return a, b end),\n"
      "        reads = nki.jit(function(a, b) return a, b end)}\n";
  nkl_framework f;
  nkl_framework_init(&f);
  f.name = "toy";
  f.ud = &f;
  f.is_framework_tensor = is_object;
  f.map_framework_tensor = map_object;
  f.translate_to_neuron_dtype = translate;
  f.map_data = map_data;
  f.unmap_data = unmap_data;
  assert_int_equal(nkl_set_framework(c, &f), NKL_OK);
  assert_int_equal(nkl_load_string(c, source, sizeof source - 1, "=x"), NKL_OK);
  nkl_kernel *passes, *reads;
  assert_int_equal(nkl_get_kernel(c, "passes", &passes), NKL_OK);
  assert_int_equal(nkl_get_kernel(c, "reads", &reads), NKL_OK);
  Object a = {"float", {1, 2, 3, 4, 5, 6}, 0, 0}, b = {"float", {7, 7, 7, 7, 7, 7}, 0, 0};
  nkl_arg args[2] = {object_arg(&a), object_arg(&a)};
  nkl_tensor *outputs[2];
  size_t n;
  nkl_request r;
  nkl_request_init(&r);
  r.kernel = passes;
  r.args = args;
  r.nargs = 2;
  nkl_sim s;
  nkl_sim_init(&s);
  s.in_place = 1;
  assert_int_equal(nkl_call(c, &r, &s, outputs, 2, &n), NKL_ERR_ARG);
  assert_error(c, NKL_ERR_ARG, "err_array_bound_twice", "'a'");
  assert_true(a.data[5] == 6 && a.mapped == 0 && a.dirty == 0);
  args[1] = object_arg(&b);
  assert_int_equal(nkl_call(c, &r, &s, outputs, 2, &n), NKL_OK);
  assert_true(a.data[5] == 7 && a.dirty == 1 && b.dirty == 0);
  nkl_tensor_release(outputs[0]);
  nkl_tensor_release(outputs[1]);
  r.kernel = reads;
  args[1] = args[0];
  assert_int_equal(nkl_call(c, &r, &s, outputs, 2, &n), NKL_OK); /* nothing is written */
  assert_true(a.mapped == 0 && a.dirty == 1);
  nkl_tensor_release(outputs[0]);
  nkl_tensor_release(outputs[1]);
  nkl_kernel_release(passes);
  nkl_kernel_release(reads);
  assert_int_equal(nkl_set_framework(c, NULL), NKL_OK);
}

int main(void) {
#define IN_CONTEXT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
  const struct CMUnitTest tests[] = {
      IN_CONTEXT(three_callbacks_drive_the_same_pipeline),
      IN_CONTEXT(objects_of_a_framework_are_arguments),
      IN_CONTEXT(shared_memory_of_objects_is_not_updated_in_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
