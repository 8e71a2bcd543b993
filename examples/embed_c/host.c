/* host.c -- a C program that loads a kernel (weights -= rate * grad), specializes it for shapes, prints its config and
   aliases, and runs it on its own memory. C11 and C++11. embed_c examples/inplace_update.lua */
#include <stdio.h>
#include <stdlib.h>

#include "nkilua.h"

enum { ROWS = 256, COLS = 64 };
static float weights[ROWS * COLS], grad[ROWS * COLS];

static void check(const nkl_error *e, nkl_status s) {
  if (s == NKL_OK) return;
  if (e->line > 0) fprintf(stderr, "%s:%d: ", e->file, e->line);
  fprintf(stderr, "%s: %s\n", e->id, e->message);
  exit(EXIT_FAILURE);
}

int main(int argc, char **argv) {
  if (argc != 2) return fprintf(stderr, "usage: embed_c SCRIPT\n"), EXIT_FAILURE;
  for (int i = 0; i < ROWS * COLS; i++) weights[i] = (float)i, grad[i] = 2;
  nkl_ctx *c = NULL;
  nkl_status opened = nkl_open(&c, NULL);
  const nkl_error *e = nkl_last_error(c); /* of the latest call */
  check(e, opened);
  nkl_kernel *kernel = NULL;
  check(e, nkl_load_file(c, argv[1]));
  check(e, nkl_get_kernel(c, NULL, &kernel));

  nkl_tensor_desc desc;
  nkl_tensor_desc_init(&desc);
  desc.dtype = NKL_F32, desc.rank = 2, desc.shape[0] = ROWS, desc.shape[1] = COLS, desc.nbytes = sizeof weights;
  nkl_tensor *inputs[2] = {NULL, NULL}, *output = NULL;
  nkl_arg args[3] = {{NULL, NKL_ARG_TENSOR, {0}}, {NULL, NKL_ARG_TENSOR, {0}}, {"rate", NKL_ARG_NUM, {0}}};
  for (int i = 0; i < 2; i++) {
    desc.data = i == 0 ? weights : grad;
    check(e, nkl_tensor_wrap(c, &desc, NULL, NULL, &inputs[i]));
    args[i].u.t = inputs[i];
  }
  args[2].u.n = 0.5;
  nkl_request request;
  nkl_request_init(&request);
  request.kernel = kernel, request.args = args, request.nargs = 3;
  nkl_program *program = NULL;
  check(e, nkl_specialize(c, &request, &program));

  nkl_buf config = NKL_BUF_INIT;
  nkl_error_buf err = NKL_ERROR_BUF_INIT; /* of calls that need no context */
  check(&err.error, nkl_program_render(program, NKL_FMT_BACKEND_CONFIG, &config, &err));
  printf("config %s\n", config.data);
  int32_t operand, out;
  for (size_t i = 0; nkl_program_alias(program, i, &operand, &out) == NKL_OK; i++)
    printf("alias operand %d output %d\n", (int)operand, (int)out);

  nkl_sim sim;
  nkl_sim_init(&sim);
  sim.inputs = inputs, sim.ninputs = 2, sim.in_place = 1;
  check(&err.error, nkl_simulate(program, &sim, &output, &err));
  printf("weights %.1f %.1f ... %.1f\n", weights[0], weights[1], weights[ROWS * COLS - 1]);

  nkl_buf_free(&config);
  nkl_error_buf_free(&err);
  nkl_tensor_release(output);
  nkl_tensor_release(inputs[0]);
  nkl_tensor_release(inputs[1]);
  nkl_program_release(program);
  nkl_kernel_release(kernel);
  nkl_close(c);
  return EXIT_SUCCESS;
}
