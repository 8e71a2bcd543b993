/* results.c -- room cli: simulating a program, then checking, writing and printing what it computed, in that order:
   nothing is written when anything fails. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct Results {
  const Options *o;
  nkl_ctx *c;
  const nkl_program *p;
  const Bounds *b;
  size_t ninputs, noutputs; /* of all ranks */
  nkl_tensor **inputs, **outputs;
  const char **names;   /* of the outputs; with --ranks 'output_0[2]' */
  char *texts;          /* those names, when they are our own */
  nkl_file *files;      /* one per --output */
  nkl_tensor **desired; /* one per --check */
} Results;

/* ---- NAME=FILE ----------------------------------------------------------------------------------------------- */

typedef struct Named {
  const char *file;
  size_t output; /* which; noutputs: none was named */
} Named;

static int output_named(const Results *r, const char *name, size_t n, size_t *out) {
  for (*out = 0; *out < r->noutputs; ++*out)
    if (strlen(r->names[*out]) == n && memcmp(r->names[*out], name, n) == 0) return EXIT_OK;
  fflush(stdout);
  message("there is no output '%.*s'; the outputs are", (int)n, name);
  for (size_t i = 0; i < r->noutputs; i++) fprintf(stderr, "  %s\n", r->names[i]);
  return EXIT_USAGE;
}

/* A word up to '=' is a name unless it holds a character that none has. */
static int split(const Results *r, const char *word, Named *out) {
  size_t n = strcspn(word, "=/. ");
  out->file = word;
  out->output = r->noutputs;
  if (word[n] != '=') return EXIT_OK;
  if (n == 0) {
    message("'%s' names no output before its '='; write NAME=FILE or FILE", word);
    return EXIT_USAGE;
  }
  out->file = word + n + 1;
  return output_named(r, word, n, &out->output);
}

static int check_names(const Results *r) {
  Named named;
  for (size_t i = 0; i < r->o->output.n; i++)
    if (split(r, r->o->output.item[i], &named) != EXIT_OK || !can_write(r->o, r->c, named.file, 1)) return EXIT_USAGE;
  for (size_t i = 0; i < r->o->check.n; i++) {
    if (split(r, r->o->check.item[i], &named) != EXIT_OK) return EXIT_USAGE;
    if (named.output < r->noutputs || r->noutputs == 1) continue;
    message("--check %s: there are %zu outputs, so name one, NAME=FILE", r->o->check.item[i], r->noutputs);
    return EXIT_USAGE;
  }
  return EXIT_OK;
}

/* ---- running ------------------------------------------------------------------------------------------------- */

static int simulate(Results *r) {
  nkl_error_buf err = NKL_ERROR_BUF_INIT;
  nkl_sim sim;
  size_t each = nkl_program_input_count(r->p);
  for (int k = 0; k < r->b->n; k++)
    if (nkl_bound_inputs(r->c, r->b->rank[k], r->p, r->inputs + (size_t)k * each) != NKL_OK) return fail_usage(r->c);
  nkl_sim_init(&sim);
  sim.ranks = (uint32_t)r->b->n;
  sim.inputs = r->inputs;
  sim.ninputs = r->ninputs;
  sim.strict = r->o->strict;
  sim.interrupt = r->c;
  if (nkl_simulate(r->p, &sim, r->outputs, &err) != NKL_OK) {
    memset(r->outputs, 0, r->noutputs * sizeof *r->outputs);
    return fail_buf(&err);
  }
  return EXIT_OK;
}

/* The output that a --check is about: the only one when none is named. */
static size_t output_of(const Results *r, const Named *named) {
  return named->output < r->noutputs ? named->output : 0;
}

/* ---- checking ------------------------------------------------------------------------------------------------ */

/* Before the run, so that a file that cannot be read costs nothing. Raw bytes, as an .npz holds bfloat16, are what the
   output is. */
static int load_desired(const Results *r) {
  for (size_t i = 0; i < r->o->check.n; i++) {
    Named named;
    nkl_io io;
    if (split(r, r->o->check.item[i], &named) != EXIT_OK) return EXIT_USAGE;
    nkl_program_output(r->p, output_of(r, &named) % nkl_program_output_count(r->p), &io);
    if (nkl_tensor_load_word(r->c, named.file, io.dtype, &r->desired[i]) != NKL_OK) return fail_usage(r->c);
  }
  return EXIT_OK;
}

static int check_one(const Results *r, const char *word, const nkl_tensor *desired) {
  Named named;
  nkl_buf report = NKL_BUF_INIT;
  int64_t mismatches = 0;
  if (split(r, word, &named) != EXIT_OK) return EXIT_USAGE;
  size_t k = output_of(r, &named);
  double rtol = option_number(r->o->rtol, 1e-5), atol = option_number(r->o->atol, 1e-8);
  int compared = nkl_tensor_compare(r->c, r->outputs[k], desired, rtol, atol, &mismatches, &report) == NKL_OK;
  if (!compared || mismatches > 0)
    message("--check %s: %s: %s", word, r->names[k], compared ? report.data : nkl_last_error(r->c)->message);
  nkl_buf_free(&report);
  return compared && mismatches == 0 ? EXIT_OK : EXIT_MISMATCH;
}

static int check(const Results *r) {
  int worst = EXIT_OK;
  for (size_t i = 0; i < r->o->check.n; i++) {
    int status = check_one(r, r->o->check.item[i], r->desired[i]);
    if (status != EXIT_OK && worst != EXIT_USAGE) worst = status;
  }
  return worst;
}

/* ---- writing and printing ------------------------------------------------------------------------------------ */

static int write_files(Results *r) {
  for (size_t i = 0; i < r->o->output.n; i++) {
    Named named;
    if (split(r, r->o->output.item[i], &named) != EXIT_OK) return EXIT_USAGE;
    int one = named.output < r->noutputs;
    r->files[i] = (nkl_file){named.file, r->outputs + (one ? named.output : 0), r->names + (one ? named.output : 0),
                             one ? 1 : r->noutputs};
  }
  return nkl_tensor_save(r->c, r->files, r->o->output.n) == NKL_OK ? EXIT_OK : fail_usage(r->c);
}

/* Results go to standard output, unless a tensor itself does. */
static FILE *channel(const Results *r) {
  for (size_t i = 0; i < r->o->output.n; i++)
    if (r->files[i].path && strcmp(r->files[i].path, "-") == 0) return stderr; /* no path: nothing was written */
  return stdout;
}

static int print(const Results *r) {
  FILE *out = channel(r);
  int json = r->o->json;
  if (json) fputs("{\"outputs\":[", out);
  for (size_t i = 0; i < r->noutputs; i++) {
    nkl_buf line = NKL_BUF_INIT;
    if (nkl_tensor_summary(r->c, r->outputs[i], r->names[i], json, &line) != NKL_OK) return fail(r->c);
    fprintf(out, "%s%s%s", json && i ? "," : "", line.data, json ? "" : "\n");
    nkl_buf_free(&line);
  }
  if (json) fputs("]}\n", out);
  return EXIT_OK;
}

/* Names of the outputs, with the rank behind them when --ranks was given. */
static int name_outputs(Results *r) {
  size_t each = nkl_program_output_count(r->p), bytes = 1;
  int ranks = option_ranks(r->o);
  nkl_io io;
  for (size_t i = 0; i < each; i++) {
    nkl_program_output(r->p, i, &io);
    bytes += (strlen(io.name) + sizeof "[255]") * (size_t)r->b->n;
  }
  char *text = r->texts = malloc(bytes);
  for (size_t i = 0; text && i < r->noutputs; i++) {
    nkl_program_output(r->p, i % each, &io);
    r->names[i] = ranks ? text : io.name;
    if (ranks) text += sprintf(text, "%s[%d]", io.name, (int)(i / each)) + 1;
  }
  return text ? EXIT_OK : EXIT_FAILED;
}

static int prepare(Results *r) {
  r->ninputs = nkl_program_input_count(r->p) * (size_t)r->b->n;
  r->noutputs = nkl_program_output_count(r->p) * (size_t)r->b->n;
  r->inputs = calloc(r->ninputs + 1, sizeof *r->inputs);
  r->outputs = calloc(r->noutputs + 1, sizeof *r->outputs);
  r->names = calloc(r->noutputs + 1, sizeof *r->names);
  r->files = calloc(r->o->output.n + 1, sizeof *r->files);
  r->desired = calloc(r->o->check.n + 1, sizeof *r->desired);
  if (!r->inputs || !r->outputs || !r->names || !r->files || !r->desired || name_outputs(r) != EXIT_OK) {
    message("out of memory");
    return EXIT_FAILED;
  }
  return check_names(r);
}

int results(const Options *o, nkl_ctx *c, const nkl_program *p, const Bounds *b) {
  Results r = {.o = o, .c = c, .p = p, .b = b};
  int status = prepare(&r);
  if (status == EXIT_OK) status = load_desired(&r);
  if (status == EXIT_OK) status = simulate(&r);
  if (status == EXIT_OK) status = check(&r);
  if (status == EXIT_OK) status = write_files(&r);
  if (status == EXIT_OK || status == EXIT_MISMATCH) {
    int printed = print(&r);
    if (status == EXIT_OK) status = printed;
  }
  for (size_t i = 0; i < r.noutputs && r.outputs; i++) nkl_tensor_release(r.outputs[i]);
  for (size_t i = 0; i < o->check.n && r.desired; i++) nkl_tensor_release(r.desired[i]);
  free(r.desired);
  free(r.inputs);
  free(r.outputs);
  free(r.names);
  free(r.texts);
  free(r.files);
  return status;
}
