/* target.c -- room cli: a script, a kernel of it, values for its parameters, and the specialization they make. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static int open_context(const Options *o, Specialized *s) {
  nkl_options options;
  nkl_options_init(&options);
  options.target = o->target;
  options.flags = (o->strict ? NKL_OPT_STRICT : 0) | (o->explain_cache ? NKL_OPT_EXPLAIN_CACHE : 0);
  return context_open(&s->ctx, &options);
}

/* The script sees itself as arg[0] and the words behind it as its arguments. */
static int load_script(const Options *o, Specialized *s) {
  const char **argv = calloc(o->operand.n + 2, sizeof *argv);
  nkl_script script;
  if (!argv) {
    message("out of memory");
    return EXIT_FAILED;
  }
  argv[0] = "nkilua";
  for (size_t i = 0; i < o->operand.n; i++) argv[i + 1] = o->operand.item[i];
  nkl_script_init(&script);
  script.path = o->operand.item[0];
  script.argv = argv;
  script.argc = (int)o->operand.n + 1;
  script.script_index = 1;
  nkl_status status = nkl_load(s->ctx, &script);
  free(argv);
  return status == NKL_OK ? EXIT_OK : fail(s->ctx);
}

/* A script without a kernel has done its work by running, unless something was asked of the kernel. */
static int needs_kernel(const Options *o) {
  return o->operand.n > 1 || o->kernel || o->output.n || o->check.n || o->grid || o->ranks;
}

/* A parameter without a value is nil in the kernel. An error of a nil seldom says whose it is; other errors are not
   about parameters that were left out. */
static void note_missing(const Specialized *s, const nkl_request *r) {
  const nkl_error *e = nkl_last_error(s->ctx);
  if (!strstr(e->message, "nil") && strcmp(e->id, "err_bind_missing") != 0) return;
  int count = nkl_kernel_param_count(s->kernel);
  for (int i = 0; i < count; i++) {
    const char *name = nkl_kernel_param_name(s->kernel, i);
    size_t k = 0;
    while (k < r->nargs && strcmp(r->args[k].name, name) != 0) k++;
    if (k == r->nargs) fprintf(stderr, "note: no value was given for parameter '%s'\n", name);
  }
}

static int make_program(const Options *o, int shapes_only, Specialized *s) {
  const BindTo to = {.ctx = s->ctx, .kernel = s->kernel, .shapes_only = shapes_only};
  nkl_request request;
  int64_t grid[NKL_MAX_RANK];
  nkl_cores cores[NKL_MAX_RANK];
  int bound = bind_ranks(o, &to, &s->bound);
  if (bound != EXIT_OK) return bound;
  nkl_request_init(&request);
  request.kernel = s->kernel;
  request.args = nkl_bound_args(s->bound.rank[0], &request.nargs);
  request.grid = grid;
  request.cores = cores;
  request.ngrid = o->grid ? (size_t)option_grid(o->grid, grid, cores) : 0;
  if (nkl_specialize(s->ctx, &request, &s->program) == NKL_OK) return EXIT_OK;
  int status = fail(s->ctx);
  note_missing(s, &request);
  return status;
}

int specialize(const Options *o, int shapes_only, Specialized *out) {
  memset(out, 0, sizeof *out);
  int status = open_context(o, out);
  if (status == EXIT_OK) status = load_script(o, out);
  if (status != EXIT_OK) return status;
  if (nkl_get_kernel(out->ctx, o->kernel, &out->kernel) != NKL_OK) {
    int none = strcmp(nkl_last_error(out->ctx)->id, "err_no_kernel") == 0;
    return none && !shapes_only && !needs_kernel(o) ? EXIT_OK : fail_usage(out->ctx);
  }
  return make_program(o, shapes_only, out);
}

void specialized_free(Specialized *s) {
  nkl_program_release(s->program);
  bounds_free(&s->bound);
  nkl_kernel_release(s->kernel);
  context_close(s->ctx);
}
