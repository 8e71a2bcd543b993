/* support.h -- spec/api: what the tests of the C interface share. They see the public header and the shared library
 * only. */
#ifndef NK_SPEC_API_SUPPORT_H
#define NK_SPEC_API_SUPPORT_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include "nkilua.h"

/* Text received by a write callback. */
typedef struct Said {
  char text[8192];
  size_t n;
} Said;

static inline void hear(void *ud, const char *s, size_t n) {
  Said *said = ud;
  if (said->n + n >= sizeof said->text) n = sizeof said->text - 1 - said->n;
  memcpy(said->text + said->n, s, n);
  said->n += n;
  said->text[said->n] = '\0';
}

static inline nkl_ctx *open_quiet(Said *out, Said *warn) {
  static Said nobody;
  nkl_ctx *c;
  nkl_options o;
  nkl_options_init(&o);
  o.target = "trn2";
  o.write = o.warn = hear;
  nobody.n = 0;
  o.write_ud = out ? out : &nobody;
  o.warn_ud = warn ? warn : &nobody;
  assert_int_equal(nkl_open(&c, &o), NKL_OK);
  return c;
}

static inline nkl_status load(nkl_ctx *c, const char *source) {
  return nkl_load_string(c, source, strlen(source), "@script.lua");
}

static inline void load_ok(nkl_ctx *c, const char *source) {
  if (load(c, source) != NKL_OK) fail_msg("%s", nkl_last_error(c)->message);
}

/* The last error: status, id, and a part of the message. */
static inline void assert_error(nkl_ctx *c, nkl_status status, const char *id, const char *part) {
  const nkl_error *e = nkl_last_error(c);
  assert_int_equal(e->status, status);
  assert_string_equal(e->id, id);
  if (!strstr(e->message, part)) fail_msg("'%s' is not in '%s'", part, e->message);
}

static inline nkl_tensor_desc desc_of(nkl_dtype dtype, int rank, const int64_t *shape) {
  nkl_tensor_desc d;
  nkl_tensor_desc_init(&d);
  d.dtype = dtype;
  d.rank = rank;
  for (int i = 0; i < rank; i++) d.shape[i] = shape[i];
  return d;
}

static inline nkl_tensor *matrix(nkl_ctx *c, int64_t rows, int64_t cols, const float *data) {
  nkl_tensor *t;
  nkl_tensor_desc d = desc_of(NKL_F32, 2, (int64_t[]){rows, cols});
  d.data = (void *)(uintptr_t)data;
  d.nbytes = (size_t)(rows * cols) * sizeof *data;
  assert_int_equal(nkl_tensor_new(c, &d, &t), NKL_OK);
  return t;
}

static inline const float *floats(const nkl_tensor *t) {
  nkl_tensor_desc d;
  nkl_tensor_describe(t, &d);
  return d.data;
}

/* Adds two tensors; the third parameter is a constant. */
#define ADD_SCALED                                                         \
  "local nki, nl = require 'nki', require 'nki.language'\n"                \
  "return nki.jit(function(a, b, scale)\n"                                 \
  "  local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})\n" \
  "  nl.store(out, nl.load(a) + nl.load(b) * (scale or 1))\n"              \
  "  return out\n"                                                         \
  "end, {func_name = 'add_scaled'})\n"
/* Doubles x in place and also returns how much it added. */
#define DOUBLE_IN_PLACE                                                      \
  "local nki, nl = require 'nki', require 'nki.language'\n"                  \
  "return nki.jit(function(x)\n"                                             \
  "  local old = nl.load(x)\n"                                               \
  "  local added = nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm})\n" \
  "  nl.store(x, old * 2)\n"                                                 \
  "  nl.store(added, old)\n"                                                 \
  "  return x, added\n"                                                      \
  "end, {func_name = 'double'})\n"

static inline nkl_kernel *kernel_of(nkl_ctx *c, const char *source) {
  nkl_kernel *k;
  load_ok(c, source);
  assert_int_equal(nkl_get_kernel(c, NULL, &k), NKL_OK);
  return k;
}

static inline nkl_arg tensor_arg(nkl_tensor *t) {
  nkl_arg a = {.kind = NKL_ARG_TENSOR};
  a.u.t = t;
  return a;
}

static inline nkl_status specialize(nkl_ctx *c, nkl_kernel *k, const nkl_arg *args, size_t n, nkl_program **out) {
  nkl_request r;
  nkl_request_init(&r);
  r.kernel = k;
  r.args = args;
  r.nargs = n;
  return nkl_specialize(c, &r, out);
}

/* The program of a script's kernel for these tensors. */
static inline nkl_program *program_of(nkl_ctx *c, const char *source, nkl_tensor *const *inputs, size_t n) {
  nkl_kernel *k = kernel_of(c, source);
  nkl_program *p;
  nkl_arg args[4];
  for (size_t i = 0; i < n; i++) args[i] = tensor_arg(inputs[i]);
  if (specialize(c, k, args, n, &p) != NKL_OK) fail_msg("%s", nkl_last_error(c)->message);
  nkl_kernel_release(k);
  return p;
}

static inline nkl_sim sim_of(nkl_tensor *const *inputs, size_t n, Said *out, Said *warn) {
  nkl_sim s;
  nkl_sim_init(&s);
  s.inputs = inputs;
  s.ninputs = n;
  s.print = s.warn = hear;
  s.print_ud = out;
  s.warn_ud = warn;
  return s;
}
#endif
