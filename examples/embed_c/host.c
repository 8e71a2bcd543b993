/* host.c -- a C program that loads a kernel, specializes it for shapes, looks at the result and runs it on its own
   memory. C11 and C++11. embed_c examples/inplace_update.lua */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nkilua.h"

enum { ROWS = 256, COLS = 64 };
static float weights[ROWS * COLS], grad[ROWS * COLS];

static int check(nkl_ctx *c, nkl_status s) {
  if (s == NKL_OK) return 1;
  const nkl_error *e = nkl_last_error(c);
  if (e->line > 0) fprintf(stderr, "%s:%d: ", e->file, e->line);
  fprintf(stderr, "%s: %s\n", e->id, e->message);
  return 0;
}

/* A tensor over memory of this program's own. */
static int wrap(nkl_ctx *c, float *data, nkl_tensor **out) {
  nkl_tensor_desc d;
  nkl_tensor_desc_init(&d);
  d.dtype = NKL_F32;
  d.rank = 2;
  d.shape[0] = ROWS;
  d.shape[1] = COLS;
  d.data = data;
  d.nbytes = sizeof weights;
  return check(c, nkl_tensor_wrap(c, &d, NULL, NULL, out));
}

static void describe(const nkl_program *p) {
  nkl_buf config = NKL_BUF_INIT;
  if (nkl_program_render(p, NKL_FMT_BACKEND_CONFIG, &config, NULL) == NKL_OK) printf("config %s\n", config.data);
  nkl_buf_free(&config);
  for (size_t i = 0; i < nkl_program_alias_count(p); i++) {
    int32_t operand = 0, output = 0;
    if (nkl_program_alias(p, i, &operand, &output) == NKL_OK)
      printf("alias operand %" PRId32 " output %" PRId32 "\n", operand, output);
  }
}

/* weights -= 0.5 * grad, in place. */
static int train(nkl_ctx *c, const char *script) {
  nkl_kernel *kernel = NULL;
  nkl_program *program = NULL;
  nkl_tensor *inputs[2] = {NULL, NULL}, *output = NULL;
  nkl_error_buf err = NKL_ERROR_BUF_INIT;
  int ok = check(c, nkl_load_file(c, script)) && check(c, nkl_get_kernel(c, NULL, &kernel)) &&
           wrap(c, weights, &inputs[0]) && wrap(c, grad, &inputs[1]);
  nkl_arg args[3];
  memset(args, 0, sizeof args);
  args[0].kind = args[1].kind = NKL_ARG_TENSOR;
  args[0].u.t = inputs[0];
  args[1].u.t = inputs[1];
  args[2].name = "rate";
  args[2].kind = NKL_ARG_NUM;
  args[2].u.n = 0.5;
  nkl_request request;
  nkl_request_init(&request);
  request.kernel = kernel;
  request.args = args;
  request.nargs = 3;
  ok = ok && check(c, nkl_specialize(c, &request, &program));
  if (ok) {
    nkl_sim sim;
    nkl_sim_init(&sim);
    sim.inputs = inputs;
    sim.ninputs = 2;
    sim.in_place = 1;
    describe(program);
    ok = nkl_simulate(program, &sim, &output, &err) == NKL_OK;
    if (!ok) fprintf(stderr, "%s: %s\n", err.error.id, err.error.message);
  }
  nkl_error_buf_free(&err);
  nkl_tensor_release(output);
  nkl_program_release(program);
  nkl_tensor_release(inputs[0]);
  nkl_tensor_release(inputs[1]);
  nkl_kernel_release(kernel);
  return ok;
}

int main(int argc, char **argv) {
  nkl_ctx *c = NULL;
  if (argc != 2) {
    fprintf(stderr, "usage: embed_c SCRIPT\n");
    return EXIT_FAILURE;
  }
  for (int i = 0; i < ROWS * COLS; i++) weights[i] = (float)i, grad[i] = 2;
  int ok = check(c, nkl_open(&c, NULL)) && train(c, argv[1]);
  nkl_close(c);
  if (ok)
    printf("weights %.1f %.1f ... %.1f\n", (double)weights[0], (double)weights[1], (double)weights[ROWS * COLS - 1]);
  return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
