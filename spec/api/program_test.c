/* program_test.c -- spec/api: kernels, requests, programs and what can be asked of them. */
#include "support.h"

static nkl_ctx *c;
static Said warn;

static int setup(void **state) {
  (void)state;
  warn.n = 0;
  c = open_quiet(NULL, &warn);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  nkl_close(c);
  return 0;
}

static nkl_arg decl(const nkl_tensor_desc *d) {
  nkl_arg a = {.kind = NKL_ARG_DECL};
  a.u.decl = d;
  return a;
}

static nkl_program *add_scaled(double scale, nkl_kernel **out) {
  nkl_program *p;
  nkl_kernel *k = kernel_of(c, ADD_SCALED);
  nkl_tensor_desc d = desc_of(NKL_F32, 2, (int64_t[]){4, 8});
  nkl_arg args[] = {decl(&d), decl(&d), {.name = "scale", .kind = NKL_ARG_NUM, .u.n = scale}};
  if (specialize(c, k, args, 3, &p) != NKL_OK) fail_msg("%s", nkl_last_error(c)->message);
  if (out) {
    *out = k;
  } else {
    nkl_kernel_release(k);
  }
  return p;
}

/* ---- kernels ------------------------------------------------------------------------------------------------- */

static void no_kernel(const char *source, const char *name, const char *id, const char *part) {
  nkl_kernel *k;
  load_ok(c, source);
  assert_int_equal(nkl_get_kernel(c, name, &k), NKL_ERR_ARG);
  assert_null(k);
  assert_error(c, NKL_ERR_ARG, id, part);
}

static void kernels_are_found_in_what_a_script_returned(void **state) {
  (void)state;
  nkl_kernel *k;
  nkl_buf names;
  assert_int_equal(nkl_get_kernel(c, NULL, &k), NKL_ERR_ARG); /* nothing was loaded */
  no_kernel("return 3", NULL, "err_no_kernel", "returns 3;");
  no_kernel("", NULL, "err_no_kernel", "nothing");
  no_kernel("return {}", NULL, "err_no_kernel", "table without kernels");
  no_kernel(ADD_SCALED, "x", "err_kernel_choice", "'x'");
  static const char table[] =
      "local nki = require 'nki'\nlocal function f(a) return a end\n"
      "return {second = nki.jit(f), first = nki.jit(f), other = 3}";
  no_kernel(table, NULL, "err_kernel_several", "first, second");
  no_kernel(table, "third", "err_kernel_choice", "first, second");
  no_kernel(table, "other", "err_kernel_choice", "'other'");
  assert_int_equal(nkl_kernel_names(c, &names), NKL_OK);
  assert_string_equal(names.data, "first\nsecond");
  nkl_buf_free(&names);
  assert_int_equal(nkl_get_kernel(c, "second", &k), NKL_OK);
  nkl_kernel_release(k);
  load_ok(c, "local nki = require 'nki'\nreturn {only = nki.jit(function(a) return a end)}");
  assert_int_equal(nkl_get_kernel(c, NULL, &k), NKL_OK);
  nkl_kernel_release(nkl_kernel_retain(k));
  nkl_kernel_release(k);
  k = kernel_of(c, ADD_SCALED);
  assert_int_equal(nkl_kernel_names(c, &names), NKL_OK);
  assert_string_equal(names.data, "");
  nkl_buf_free(&names);
  assert_int_equal(nkl_kernel_param_count(k), 3);
  assert_string_equal(nkl_kernel_param_name(k, 2), "scale");
  assert_null(nkl_kernel_param_name(k, 3));
  assert_null(nkl_kernel_param_name(k, -1));
  nkl_kernel_release(k);
  nkl_kernel_release(NULL);
}

static void one_signature_is_one_program(void **state) {
  (void)state;
  nkl_kernel *k;
  nkl_program *p = add_scaled(2, &k), *q;
  nkl_tensor_desc d = desc_of(NKL_F32, 2, (int64_t[]){4, 8});
  nkl_arg scale = {.name = "scale", .kind = NKL_ARG_NUM, .u.n = 2}, b = decl(&d), named = decl(&d);
  named.name = "a";
  b.name = "b";
  nkl_arg by_name[] = {scale, b, named};
  assert_int_equal(specialize(c, k, by_name, 3, &q), NKL_OK);
  assert_ptr_equal(p, q);
  nkl_program_release(q);
  by_name[0].kind = NKL_ARG_INT; /* 2 is not 2.0 */
  by_name[0].u.i = 2;
  assert_int_equal(specialize(c, k, by_name, 3, &q), NKL_OK);
  assert_ptr_not_equal(p, q);
  assert_string_not_equal(nkl_program_cache_key(p), nkl_program_cache_key(q));
  nkl_program_release(q);
  nkl_program_release(p);
  nkl_kernel_release(k);
}

static void every_kind_of_constant_arrives(void **state) {
  (void)state;
  static const char source[] =
      "local nki, nl = require 'nki', require 'nki.language'\n"
      "return nki.jit(function(x, n, b, i, f, s, t)\n"
      "  assert(n == nil and b == true and math.type(i) == 'integer' and i == -7 and f == 0.5 and s == 'a\\0b')\n"
      "  assert(#t == 3 and t[1] == 1 and t[2] == 'y' and t[3][1] == false, 'tuple')\n"
      "  local out = nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm})\n"
      "  nl.store(out, nl.load(x))\n"
      "  return out\n"
      "end)";
  nkl_kernel *k = kernel_of(c, source);
  nkl_program *p;
  nkl_tensor_desc d = desc_of(NKL_BF16, 2, (int64_t[]){4, 8});
  nkl_arg inner = {.kind = NKL_ARG_BOOL},
          items[3] = {{.kind = NKL_ARG_INT, .u.i = 1}, {.kind = NKL_ARG_STR}, {.kind = NKL_ARG_TUPLE}};
  items[1].u.s.p = "y";
  items[1].u.s.len = 1;
  items[2].u.tuple.items = &inner;
  items[2].u.tuple.n = 1;
  nkl_arg args[7] = {decl(&d),
                     {.kind = NKL_ARG_NIL},
                     {.kind = NKL_ARG_BOOL, .u.b = 1},
                     {.kind = NKL_ARG_INT, .u.i = -7},
                     {.kind = NKL_ARG_NUM, .u.n = 0.5},
                     {.kind = NKL_ARG_STR},
                     {.kind = NKL_ARG_TUPLE}};
  args[5].u.s.p = "a\0b";
  args[5].u.s.len = 3;
  args[6].u.tuple.items = items;
  args[6].u.tuple.n = 3;
  if (specialize(c, k, args, 7, &p) != NKL_OK) fail_msg("%s", nkl_last_error(c)->message);
  nkl_program_release(p);
  items[1].kind = NKL_ARG_DECL;
  assert_int_equal(specialize(c, k, args, 7, &p), NKL_ERR_ARG);
  assert_error(c, NKL_ERR_ARG, "err_api_use", "tuple");
  nkl_kernel_release(k);
}

static void wrong_requests_are_refused(void **state) {
  (void)state;
  nkl_kernel *k = kernel_of(c, ADD_SCALED);
  nkl_program *p;
  nkl_tensor_desc d = desc_of(NKL_F32, 2, (int64_t[]){4, 8}), bad = desc_of(NKL_F32, 2, (int64_t[]){4, -8});
  nkl_arg args[] = {decl(&d), decl(&d), decl(&d), decl(&d)};
  nkl_request r = {.struct_size = 0};
  assert_int_equal(nkl_specialize(c, &r, &p), NKL_ERR_ARG);
  nkl_request_init(&r);
  assert_int_equal(nkl_specialize(c, &r, &p), NKL_ERR_ARG);
  assert_error(c, NKL_ERR_ARG, "err_api_use", "not one of this context");
  assert_int_equal(specialize(c, k, args, 4, &p), NKL_ERR_ARG);
  assert_error(c, NKL_ERR_ARG, "err_kernel_surplus", "too many arguments: at most 3");
  args[3].name = "bias";
  assert_int_equal(specialize(c, k, args, 4, &p), NKL_ERR_ARG);
  assert_error(c, NKL_ERR_ARG, "err_kernel_keyword", "no parameter 'bias'");
  args[1] = decl(&bad);
  assert_int_equal(specialize(c, k, args, 2, &p), NKL_ERR_ARG);
  assert_error(c, NKL_ERR_ARG, "err_framework", "#1");
  nkl_arg obj = {.kind = NKL_ARG_FRAMEWORK};
  assert_int_equal(specialize(c, k, &obj, 1, &p), NKL_ERR_ARG);
  assert_error(c, NKL_ERR_ARG, "err_framework", "no framework was set");
  assert_null(p);
  nkl_kernel_release(k);
}

static void faults_of_a_body_have_its_line_and_traceback(void **state) {
  (void)state;
  nkl_program *p;
  nkl_tensor_desc d = desc_of(NKL_F32, 2, (int64_t[]){400, 8});
  nkl_arg args[] = {decl(&d), decl(&d)};
  nkl_kernel *k = kernel_of(c, ADD_SCALED);
  assert_int_equal(specialize(c, k, args, 2, &p), NKL_ERR_TRACE); /* 400 partitions */
  assert_non_null(strstr(nkl_last_error(c)->message, "400"));
  assert_string_equal(nkl_last_error(c)->file, "script.lua");
  assert_int_equal(nkl_last_error(c)->line, 4);
  nkl_kernel_release(k);
  k = kernel_of(c,
                "local nki = require 'nki'\nlocal function deep() error('inner') end\nreturn nki.jit(function(a)\n  "
                "deep()\nend)");
  assert_int_equal(specialize(c, k, args, 1, &p), NKL_ERR_SCRIPT);
  assert_error(c, NKL_ERR_SCRIPT, "err_lua", "inner");
  assert_int_equal(nkl_last_error(c)->line, 2);
  assert_non_null(strstr(nkl_last_error(c)->traceback, "script.lua:4: in"));
  nkl_kernel_release(k);
}

static void grids_and_options_are_part_of_the_program(void **state) {
  (void)state;
  static const char source[] =
      "local nki, nl = require 'nki', require 'nki.language'\n"
      "return nki.jit(function(x)\n"
      "  local out = nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm})\n"
      "  local part = nl.ds(nl.program_id(0) * 2, 2)\n"
      "  nl.store(out[part], nl.load(x[part]))\n"
      "  return out\n"
      "end)";
  nkl_kernel *k = kernel_of(c, source);
  nkl_program *p;
  nkl_buf b;
  int64_t grid[NKL_MAX_RANK], two[] = {2};
  nkl_tensor_desc d = desc_of(NKL_F32, 2, (int64_t[]){4, 8});
  nkl_arg arg = decl(&d);
  nkl_opt opts[] = {{"zeta", {.kind = NKL_ARG_INT, .u.i = 3}}, {"alpha", {.kind = NKL_ARG_BOOL, .u.b = 1}}};
  nkl_request r;
  nkl_request_init(&r);
  r.kernel = k;
  r.args = &arg;
  r.nargs = 1;
  r.grid = two;
  r.ngrid = 1;
  r.opts = opts;
  r.nopts = 2;
  if (nkl_specialize(c, &r, &p) != NKL_OK) fail_msg("%s", nkl_last_error(c)->message);
  assert_int_equal(nkl_program_grid(p, grid), 1);
  assert_int_equal(grid[0], 2);
  assert_int_equal(nkl_program_render(p, NKL_FMT_CONFIG_JSON, &b, NULL), NKL_OK);
  char *alpha = strstr(b.data, "\"alpha\": true"), *zeta = strstr(b.data, "\"zeta\": 3");
  assert_true(alpha && zeta && alpha < zeta);
  nkl_buf_free(&b);
  nkl_program_release(p);
  r.grid = (const int64_t[]){0};
  assert_int_equal(nkl_specialize(c, &r, &p), NKL_ERR_ARG);
  nkl_kernel_release(k);
}

/* ---- programs ------------------------------------------------------------------------------------------------ */

static void a_program_tells_its_fields(void **state) {
  (void)state;
  nkl_program *p = add_scaled(2, NULL);
  nkl_io io;
  int64_t grid[NKL_MAX_RANK];
  assert_string_equal(nkl_program_name(p), "add_scaled");
  assert_string_equal(nkl_program_target(p), "trn2");
  assert_int_equal(nkl_program_target_is_fallback(p), 0);
  assert_int_equal(strlen(nkl_program_cache_key(p)), 32);
  assert_int_equal(nkl_program_mac_count(p), 0);
  assert_int_equal(nkl_program_has_collectives(p), 0);
  assert_int_equal(nkl_program_result_is_sequence(p), 0);
  assert_int_equal(nkl_program_grid(p, grid), 0);
  assert_int_equal(nkl_program_input_count(p), 2);
  assert_int_equal(nkl_program_output_count(p), 1);
  assert_int_equal(nkl_program_input(p, 1, &io), NKL_OK);
  assert_string_equal(io.name, "b");
  assert_int_equal(io.dtype, NKL_F32);
  assert_int_equal(io.rank, 2);
  assert_int_equal(io.shape[1], 8);
  assert_int_equal(nkl_program_input(p, 2, &io), NKL_ERR_ARG);
  assert_null(io.name);
  assert_int_equal(nkl_program_output(p, 0, &io), NKL_OK);
  assert_string_equal(io.name, "output_0");
  assert_int_equal(nkl_program_output(p, 1, &io), NKL_ERR_ARG);
  assert_int_equal(nkl_program_alias_count(p), 0);
  nkl_program_release(p);
  nkl_program_release(NULL);
}

static void cores_of_a_grid(void **state) {
  (void)state;
  static const char source[] =
      "local nki, nl = require 'nki', require 'nki.language'\n"
      "return nki.jit(function(x, n)\n"
      "  local out = nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm})\n"
      "  nl.store(out[nl.ds(nl.program_id(1), 1)], nl.load(x[nl.ds(nl.program_id(1), 1)]))\n"
      "  return out\n"
      "end, {platform_target = 'trn2'})";
  nkl_kernel *k = kernel_of(c, source);
  nkl_tensor_desc d = desc_of(NKL_F32, 2, (int64_t[]){8, 8});
  nkl_arg arg = decl(&d);
  int64_t grid[NKL_MAX_RANK] = {3, 8};
  nkl_cores cores[NKL_MAX_RANK] = {{1, 7}, {2, 4}}, got[NKL_MAX_RANK];
  nkl_request r;
  nkl_program *p;
  nkl_request_init(&r);
  r.kernel = k;
  r.args = &arg;
  r.nargs = 1;
  r.grid = grid;
  r.cores = cores;
  r.ngrid = 2;
  assert_int_equal(nkl_specialize(c, &r, &p), NKL_OK);
  assert_int_equal(nkl_program_cores(p, got), 2);
  assert_true(got[0].count == 1 && got[0].block == 1 && got[1].count == 2 && got[1].block == 4);
  nkl_program_release(p);
  static const int64_t wrong[][2] = {{3, 1}, {2, 3}, {2, 0}, {-2, 1}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    cores[1] = (nkl_cores){wrong[i][0], wrong[i][1]};
    assert_int_equal(nkl_specialize(c, &r, &p), NKL_ERR_ARG);
    assert_error(c, NKL_ERR_ARG, "err_host_cores", "an axis of 8 programs cannot be spread over");
  }
  cores[1] = (nkl_cores){4, 1};
  assert_int_equal(nkl_specialize(c, &r, &p), NKL_ERR_TRACE);
  assert_error(c, NKL_ERR_TRACE, "err_grid_cores", "spans 4 physical cores; trn2 has 2");
  nkl_kernel_release(k);
}

static void a_request_names_the_list_it_lacks(void **state) {
  (void)state;
  nkl_kernel *k = kernel_of(c, "return require 'nki'.jit(function(x) return x end, {platform_target = 'trn2'})");
  nkl_tensor_desc d = desc_of(NKL_F32, 2, (int64_t[]){8, 8});
  nkl_arg arg = decl(&d);
  nkl_opt unnamed = {.value = {.kind = NKL_ARG_INT}};
  nkl_cores cores = {2, 1};
  int64_t size = 1;
  const nkl_request wrong[] = {{.nargs = 1},
                               {.args = &arg, .nargs = 1, .ngrid = 1, .cores = &cores},
                               {.args = &arg, .nargs = 1, .grid = &size, .ngrid = SIZE_MAX},
                               {.args = &arg, .nargs = 1, .nopts = 1},
                               {.args = &arg, .nargs = 1, .opts = &unnamed, .nopts = 1}};
  const char *said[] = {"args is NULL and nargs is not 0", "grid is NULL and ngrid is not 0", "ngrid is not 0 to 8",
                        "opts is NULL and nopts is not 0", "the key of an option is NULL"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    nkl_program *p;
    nkl_request r = wrong[i];
    r.struct_size = sizeof r;
    r.kernel = k;
    assert_int_equal(nkl_specialize(c, &r, &p), NKL_ERR_ARG);
    assert_error(c, NKL_ERR_ARG, "err_api_use", said[i]);
    assert_null(p);
  }
  nkl_kernel_release(k);
}

static void nodes_are_told(void **state) {
  (void)state;
  static const char source[] =
      "local nki, softmax = require 'nki', require 'nki.kernels.softmax'\n"
      "local inner = nki.jit(function(p) local y = softmax(p) return y end, {func_name = 'inner'})\n"
      "return nki.jit(function(x)\n"
      "  local y = inner(x)\n"
      "  return y\n"
      "end)";
  nkl_kernel *k = kernel_of(c, source);
  nkl_tensor_desc d = desc_of(NKL_F32, 2, (int64_t[]){4, 8});
  nkl_arg arg = decl(&d);
  nkl_program *p;
  nkl_node n;
  const char *param, *tensor, *again;
  assert_int_equal(specialize(c, k, &arg, 1, &p), NKL_OK);
  assert_int_equal(nkl_program_node_count(p), 2);
  assert_int_equal(nkl_program_node(p, 0, &n), NKL_OK);
  assert_string_equal(n.class_name, "ExternalNativeNkiKernel");
  assert_string_equal(n.func_name, "inner");
  assert_null(n.library);
  assert_null(n.cache_key);
  assert_string_equal(n.file, "script.lua");
  assert_int_equal(n.line, 4);
  assert_true(n.depth == 0 && n.noperands == 1 && n.nresults == 1);
  assert_int_equal(nkl_program_node(p, 1, &n), NKL_OK);
  assert_string_equal(n.class_name, "InternalMaterializedNkiKernel");
  assert_string_equal(n.library, "nki.kernels.softmax");
  assert_int_equal(strlen(n.cache_key), 32);
  assert_int_equal(n.depth, 1);
  assert_int_equal(nkl_program_node_operand(p, 1, 0, &param, &tensor), NKL_OK);
  assert_string_equal(param, "x");
  assert_string_equal(tensor, "x");
  assert_int_equal(nkl_program_node_result(p, 1, 0, &tensor), NKL_OK);
  assert_int_equal(nkl_program_node_result(p, 0, 0, &again), NKL_OK);
  assert_string_equal(tensor, again);
  assert_int_equal(nkl_program_node_operand(p, 1, 1, &param, &tensor), NKL_ERR_ARG);
  assert_null(param);
  assert_int_equal(nkl_program_node_result(p, 2, 0, &tensor), NKL_ERR_ARG);
  assert_int_equal(nkl_program_node(p, 2, &n), NKL_ERR_ARG);
  assert_null(n.func_name);
  nkl_program_release(p);
  nkl_kernel_release(k);
}

static void aliases_are_told(void **state) {
  (void)state;
  nkl_kernel *k = kernel_of(c, DOUBLE_IN_PLACE);
  nkl_program *p;
  nkl_tensor_desc d = desc_of(NKL_F32, 2, (int64_t[]){4, 8});
  nkl_arg arg = decl(&d);
  int32_t operand = -1, output = -1;
  assert_int_equal(specialize(c, k, &arg, 1, &p), NKL_OK);
  assert_int_equal(nkl_program_result_is_sequence(p), 1);
  assert_int_equal(nkl_program_alias_count(p), 1);
  assert_int_equal(nkl_program_alias(p, 0, &operand, &output), NKL_OK);
  assert_int_equal(operand, 0);
  assert_int_equal(output, 0);
  assert_int_equal(nkl_program_alias(p, 1, &operand, &output), NKL_ERR_ARG);
  assert_int_equal(operand, -1);
  assert_int_equal(output, -1);
  nkl_program_release(p);
  nkl_kernel_release(k);
}

static void a_program_renders_in_every_form(void **state) {
  (void)state;
  static const char *const parts[] = {
      "nisa.tensor_tensor",    "eyJ",           "\"func_name\": \"add_scaled\"", "HloModule",
      "stablehlo.custom_call", "jit_add_scaled"};
  nkl_program *p = add_scaled(2, NULL);
  nkl_error_buf err = NKL_ERROR_BUF_INIT;
  nkl_buf b;
  for (int f = NKL_FMT_IR; f <= NKL_FMT_HLO_PROTO; f++) {
    assert_int_equal(nkl_program_render(p, (nkl_format)f, &b, &err), NKL_OK);
    if (!strstr(b.data, parts[f])) fail_msg("no %s in %s", parts[f], b.data);
    if (f != NKL_FMT_HLO_PROTO) assert_int_equal(strlen(b.data), b.size); /* that one is binary */
    nkl_buf_free(&b);
  }
  assert_int_equal(nkl_program_render(p, (nkl_format)17, &b, &err), NKL_ERR_ARG);
  assert_null(b.data);
  assert_string_equal(err.error.id, "err_api_use");
  nkl_error_buf_free(&err);
  nkl_program_release(p);
}

static void a_decoded_program_is_the_same_program(void **state) {
  (void)state;
  nkl_program *p = add_scaled(2, NULL), *q;
  nkl_error_buf err = NKL_ERROR_BUF_INIT;
  nkl_buf config, again;
  assert_int_equal(nkl_program_render(p, NKL_FMT_BACKEND_CONFIG, &config, &err), NKL_OK);
  assert_int_equal(nkl_program_decode(config.data, config.size, &q, &err), NKL_OK);
  for (int f = NKL_FMT_IR; f <= NKL_FMT_HLO_PROTO; f++) {
    nkl_buf a, b;
    assert_int_equal(nkl_program_render(p, (nkl_format)f, &a, &err), NKL_OK);
    assert_int_equal(nkl_program_render(q, (nkl_format)f, &b, &err), NKL_OK);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
    nkl_buf_free(&a);
    nkl_buf_free(&b);
  }
  assert_string_equal(nkl_program_cache_key(q), "");
  nkl_program_release(q);
  config.data[config.size / 2] = '!';
  assert_int_equal(nkl_program_decode(config.data, config.size, &q, &err), NKL_ERR_FORMAT);
  assert_null(q);
  assert_string_equal(err.error.id, "err_base64");
  assert_int_equal(nkl_program_decode("", 0, &q, &err), NKL_ERR_FORMAT); /* the buffer is used again */
  assert_int_equal(nkl_program_decode("", 0, &q, NULL), NKL_ERR_FORMAT);
  nkl_error_buf_free(&err);
  nkl_error_buf_free(&err);
  assert_string_equal(err.error.message, "");
  nkl_buf_free(&config);
  assert_int_equal(nkl_program_render(p, NKL_FMT_IR, &again, &err), NKL_OK);
  nkl_buf_free(&again);
  nkl_program_release(p);
}

static void the_target_of_the_environment_is_used(void **state) {
  (void)state;
  nkl_ctx *other;
  nkl_options o;
  nkl_options_init(&o);
  o.write = o.warn = hear;
  o.write_ud = o.warn_ud = &warn;
  setenv("NEURON_PLATFORM_TARGET_OVERRIDE", "trn3", 1);
  assert_int_equal(nkl_open(&other, &o), NKL_OK);
  nkl_ctx *before = c;
  c = other;
  nkl_program *p = add_scaled(1, NULL);
  assert_string_equal(nkl_program_target(p), "trn3");
  assert_int_equal(nkl_program_target_is_fallback(p), 0);
  nkl_program_release(p);
  unsetenv("NEURON_PLATFORM_TARGET_OVERRIDE");
  c = before;
  nkl_close(other);
}

int main(void) {
#define IN_CONTEXT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
  const struct CMUnitTest tests[] = {
      IN_CONTEXT(kernels_are_found_in_what_a_script_returned),
      IN_CONTEXT(one_signature_is_one_program),
      IN_CONTEXT(every_kind_of_constant_arrives),
      IN_CONTEXT(wrong_requests_are_refused),
      IN_CONTEXT(faults_of_a_body_have_its_line_and_traceback),
      IN_CONTEXT(grids_and_options_are_part_of_the_program),
      IN_CONTEXT(a_program_tells_its_fields),
      IN_CONTEXT(cores_of_a_grid),
      IN_CONTEXT(a_request_names_the_list_it_lacks),
      IN_CONTEXT(nodes_are_told),
      IN_CONTEXT(aliases_are_told),
      IN_CONTEXT(a_program_renders_in_every_form),
      IN_CONTEXT(a_decoded_program_is_the_same_program),
      IN_CONTEXT(the_target_of_the_environment_is_used),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
