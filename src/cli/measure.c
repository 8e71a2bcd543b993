/* measure.c -- room cli: bench and profile: runs of a kernel that are measured. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { BENCH_WARMUP = 10, BENCH_ITERS = 100, PROFILE_WARMUP = 1, MAX_EVENTS = 1000000 };

typedef struct Measuring {
  const Options *o;
  Specialized s;
  nkl_tensor **inputs;
  nkl_sim sim;
} Measuring;

static int open_measuring(const Options *o, Measuring *m) {
  memset(m, 0, sizeof *m);
  m->o = o;
  int status = specialize(o, 0, &m->s);
  if (status != EXIT_OK) return status;
  if (!m->s.program) return fail_usage(m->s.ctx); /* a script without a kernel */
  size_t each = nkl_program_input_count(m->s.program), n = each * (size_t)m->s.bound.n;
  m->inputs = calloc(n + 1, sizeof *m->inputs);
  if (!m->inputs) {
    message("out of memory");
    return EXIT_FAILED;
  }
  for (int r = 0; r < m->s.bound.n; r++)
    if (nkl_bound_inputs(m->s.ctx, m->s.bound.rank[r], m->s.program, m->inputs + (size_t)r * each) != NKL_OK)
      return fail_usage(m->s.ctx);
  nkl_sim_init(&m->sim);
  m->sim.inputs = m->inputs;
  m->sim.ninputs = n;
  m->sim.ranks = (uint32_t)m->s.bound.n;
  m->sim.strict = o->strict;
  m->sim.interrupt = m->s.ctx;
  return EXIT_OK;
}

static void close_measuring(Measuring *m) {
  free(m->inputs);
  specialized_free(&m->s);
}

/* ---- bench --------------------------------------------------------------------------------------------------- */

static const int percents[] = {0, 1, 10, 25, 50, 90, 99, 100};
enum { PERCENTS = sizeof percents / sizeof *percents };

static double mean_of(const double *us, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += us[i];
  return sum / (double)n;
}

static void print_json(const double *us, size_t n, int64_t warmup) {
  printf("{\"time\":\"host time of the simulator\",\"unit\":\"us\",\"warmup\":%lld,\"iters\":%zu,\"mean\":%.3f,",
         (long long)warmup, n, mean_of(us, n));
  printf("\"percentiles\":{");
  for (int i = 0; i < PERCENTS; i++)
    printf("%s\"%d\":%.3f", i ? "," : "", percents[i], nkl_percentile(us, n, percents[i]));
  printf("}}\n");
}

static void print_text(const double *us, size_t n, int64_t warmup) {
  printf("host time of the simulator, not of a device: %zu run%s after %lld of warm-up, in microseconds\n", n,
         n == 1 ? "" : "s", (long long)warmup);
  for (int i = 0; i < PERCENTS; i++) printf("p%-4d %14.3f\n", percents[i], nkl_percentile(us, n, percents[i]));
  printf("mean  %14.3f\n", mean_of(us, n));
}

static int bench(const Measuring *m) {
  nkl_error_buf err = NKL_ERROR_BUF_INIT;
  int64_t warmup = option_count(m->o->warmup, BENCH_WARMUP), iters = option_count(m->o->iters, BENCH_ITERS);
  double *us = calloc((size_t)iters, sizeof *us);
  if (!us) {
    message("out of memory");
    return EXIT_FAILED;
  }
  int status = nkl_bench(m->s.program, &m->sim, warmup, iters, us, &err) == NKL_OK ? EXIT_OK : fail_buf(&err);
  setlocale(LC_NUMERIC, "C"); /* the script may have changed it */
  if (status == EXIT_OK) (m->o->json ? print_json : print_text)(us, (size_t)iters, warmup);
  free(us);
  return status;
}

int cmd_bench(const Options *o) {
  Measuring m;
  int status = open_measuring(o, &m);
  if (status == EXIT_OK) status = bench(&m);
  close_measuring(&m);
  return status;
}

/* ---- profile ------------------------------------------------------------------------------------------------- */

static int render(const nkl_profile *f, nkl_profile_format format, nkl_buf *out) {
  nkl_error_buf err = NKL_ERROR_BUF_INIT;
  return nkl_profile_render(f, format, out, &err) == NKL_OK ? EXIT_OK : fail_buf(&err);
}

static int write_timeline(const Measuring *m, const nkl_profile *f) {
  nkl_buf text = NKL_BUF_INIT;
  int status = m->o->output.n ? render(f, NKL_PROFILE_TRACE, &text) : EXIT_OK;
  if (status == EXIT_OK && nkl_files_write(m->s.ctx, m->o->output.item, m->o->output.n, text.data, text.size) != NKL_OK)
    status = fail(m->s.ctx);
  nkl_buf_free(&text);
  return status;
}

/* Tables go to standard output, unless the timeline itself does. */
static int print_profile(const Measuring *m, const nkl_profile *f) {
  nkl_buf text = NKL_BUF_INIT;
  FILE *out = stdout;
  for (size_t i = 0; i < m->o->output.n; i++)
    if (strcmp(m->o->output.item[i], "-") == 0) out = stderr;
  int status = render(f, m->o->json ? NKL_PROFILE_JSON : NKL_PROFILE_TEXT, &text);
  if (status == EXIT_OK) fwrite(text.data, 1, text.size, out);
  nkl_buf_free(&text);
  return status;
}

static int profile(const Measuring *m) {
  nkl_error_buf err = NKL_ERROR_BUF_INIT;
  nkl_profile_options options;
  nkl_profile *f;
  for (size_t i = 0; i < m->o->output.n; i++)
    if (!can_write(m->o, m->s.ctx, m->o->output.item[i], 0)) return EXIT_USAGE;
  nkl_profile_options_init(&options);
  options.warmup = option_count(m->o->warmup, PROFILE_WARMUP);
  options.max_events = m->o->output.n ? MAX_EVENTS : 0;
  if (nkl_profile_run(m->s.program, &m->sim, &options, &f, &err) != NKL_OK) return fail_buf(&err);
  int status = write_timeline(m, f);
  if (status == EXIT_OK) status = print_profile(m, f);
  if (m->s.bound.n > 1) fprintf(stderr, "note: these are the times of rank 0 of %d\n", m->s.bound.n);
  nkl_profile_release(f);
  return status;
}

int cmd_profile(const Options *o) {
  Measuring m;
  int status = open_measuring(o, &m);
  if (status == EXIT_OK) status = profile(&m);
  close_measuring(&m);
  return status;
}
