/* measure.c -- room api: runs that are measured: how long they took, and where the time went. */
#include "api.h"
#include "clock.h"
#include "say.h"

struct nkl_profile {
  const Artifact *artifact;
  SimProfile sim;
  Arena arena; /* of the rows */
  SimProfileRow *rows[NKL_BY_CORE + 1];
  const char **names[NKL_BY_CORE + 1];
  uint32_t n[NKL_BY_CORE + 1];
};
_Static_assert((int)NKL_BY_LINE == (int)SIM_BY_LINE && (int)NKL_BY_CORE == (int)SIM_BY_CORE, "sums are one list");

double nkl_percentile(const double *ascending, size_t n, double percent) {
  return ascending && n && percent >= 0 && percent <= 100 ? clock_percentile(ascending, n, percent) : 0;
}

void nkl_profile_options_init(nkl_profile_options *o) { API_SET(o, (nkl_profile_options){.struct_size = sizeof *o}); }

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static void silent(void *ud, const char *s, size_t n) { (void)ud, (void)s, (void)n; }

/* Runs of one program on the same operands and into the same outputs. */
typedef struct Runs {
  nkl_sim sim;
  ApiRun run;
  SimTensor *operands, *outputs;
  size_t noutputs; /* of all ranks */
  int64_t done;
} Runs;

static size_t bytes_of_outputs(const Runs *r) { return r->noutputs * sizeof(SimTensor) + 1; }

static bool open_runs(Runs *r, const Artifact *a, const nkl_sim *s, const char *who, Diag *d) {
  Alloc alloc = a->arena.alloc;
  *r = (Runs){.done = 0};
  nkl_sim_init(&r->sim);
  if (!API_STRUCT(who, nkl_sim, &r->sim, s, d)) return false;
  if (r->sim.in_place) return DIAG(d, api_use, who, "a measured run leaves its inputs alone, so not in_place");
  if (!api_operands(a, &r->sim, who, &r->operands, d)) return false;
  r->noutputs = a->noutputs * (size_t)(r->sim.ranks ? r->sim.ranks : 1);
  r->run = (ApiRun){a, r->operands, r->sim.inputs, &r->sim, NULL};
  r->outputs = alloc_new(&alloc, bytes_of_outputs(r));
  if (!r->outputs) return DIAG0(d, nomem);
  memset(r->outputs, 0, bytes_of_outputs(r));
  return api_check_operands(&r->run, d) && api_new_outputs(&r->run, r->outputs, d);
}

static void close_runs(Runs *r, const Artifact *a) {
  Alloc alloc = a->arena.alloc;
  for (size_t k = 0; r->outputs && k < r->noutputs; k++) tensor_free(alloc, &r->outputs[k]);
  alloc_free(&alloc, r->outputs, bytes_of_outputs(r));
  api_operands_free(a, &r->sim, r->operands);
}

/* One run says what it has to say; the others are silent. */
static bool run_once(Runs *r, double *us, Diag *d) {
  int64_t began = clock_ns();
  bool ok = api_simulate(&r->run, r->outputs, d);
  if (us) *us = (double)(clock_ns() - began) / 1e3;
  if (r->done++ == 0) r->sim.print = r->sim.warn = silent;
  return ok;
}

static nkl_status end(bool ok, Diag *d, nkl_error_buf *err) {
  nkl_status s = ok ? NKL_OK : api_fail_buf(err, d);
  diag_free(d);
  return s;
}

nkl_status nkl_bench(const nkl_program *p, const nkl_sim *s, int64_t warmup, int64_t iters, double *us,
                     nkl_error_buf *err) {
  API_CHECK(err, p, us);
  const Artifact *a = api_artifact(p);
  Diag d;
  Runs r;
  diag_init(&d, a->arena.alloc);
  if (warmup < 0 || iters < 1) {
    DIAG(&d, api_use, "nkl_bench", "warmup must be at least 0 and iters at least 1");
    return end(false, &d, err);
  }
  bool ok = open_runs(&r, a, s, "nkl_bench", &d);
  for (int64_t i = 0; ok && i < warmup; i++) ok = run_once(&r, NULL, &d);
  for (int64_t i = 0; ok && i < iters; i++) ok = run_once(&r, &us[i], &d);
  if (ok) clock_sort(us, (size_t)iters);
  close_runs(&r, a);
  return end(ok, &d, err);
}

/* ---- profiles ---------------------------------------------------------------------------------------------------- */

static bool sum(nkl_profile *f) {
  bool ok = true;
  for (int by = 0; ok && by <= NKL_BY_CORE; by++) {
    f->rows[by] = sim_profile_rows(&f->sim, (SimProfileBy)by, &f->arena, &f->n[by]);
    f->names[by] = f->rows[by] ? arena_newn(&f->arena, const char *, f->n[by] + 1) : NULL;
    ok = f->names[by] != NULL;
    for (uint32_t i = 0; ok && i < f->n[by]; i++) {
      int op = f->rows[by][i].op;
      f->names[by][i] = op ? arena_printf(&f->arena, "%s.%s", op_info[op].dialect, op_info[op].name) : "";
      ok = f->names[by][i] != NULL;
    }
  }
  return ok;
}

static bool profile_run(nkl_profile *f, const nkl_sim *s, const nkl_profile_options *o, Diag *d) {
  Runs r;
  bool ok = open_runs(&r, f->artifact, s, "nkl_profile_run", d);
  for (int64_t i = 0; ok && i < o->warmup; i++) ok = run_once(&r, NULL, d);
  f->sim.max_events = o->max_events;
  r.run.profile = &f->sim;
  ok = ok && run_once(&r, NULL, d) && (sum(f) || DIAG0(d, nomem));
  close_runs(&r, f->artifact);
  return ok;
}

static bool profile_new(const Artifact *a, nkl_profile **out, Diag *d) {
  Alloc alloc = a->arena.alloc;
  nkl_profile *f = *out = alloc_new(&alloc, sizeof *f);
  if (!f) return DIAG0(d, nomem);
  *f = (nkl_profile){.artifact = artifact_retain(a)};
  arena_init(&f->arena, alloc);
  return sim_profile_init(&f->sim, alloc, a->module) || DIAG0(d, nomem);
}

nkl_status nkl_profile_run(const nkl_program *p, const nkl_sim *s, const nkl_profile_options *o, nkl_profile **out,
                           nkl_error_buf *err) {
  nkl_profile_options options;
  Diag d;
  API_SET(out, NULL);
  API_CHECK(err, p, out);
  const Artifact *a = api_artifact(p);
  diag_init(&d, a->arena.alloc);
  nkl_profile_options_init(&options);
  bool ok = API_STRUCT(__func__, nkl_profile_options, &options, o, &d);
  if (ok && (options.warmup < 0 || options.max_events < 0))
    ok = DIAG(&d, api_use, __func__, "warmup and max_events must be at least 0");
  ok = ok && profile_new(a, out, &d) && profile_run(*out, s, &options, &d);
  if (!ok) {
    nkl_profile_release(*out);
    *out = NULL;
  }
  return end(ok, &d, err);
}

void nkl_profile_release(nkl_profile *f) {
  if (!f) return;
  const Artifact *a = f->artifact;
  Alloc alloc = f->arena.alloc;
  arena_free(&f->arena);
  sim_profile_free(&f->sim);
  alloc_free(&alloc, f, sizeof *f);
  artifact_release(a);
}

double nkl_profile_us(const nkl_profile *f) { return f ? (double)f->sim.ns / 1e3 : 0; }

static bool is_sum(nkl_profile_by by) { return (int)by >= 0 && by <= NKL_BY_CORE; }

size_t nkl_profile_row_count(const nkl_profile *f, nkl_profile_by by) { return f && is_sum(by) ? f->n[by] : 0; }

nkl_status nkl_profile_row_at(const nkl_profile *f, nkl_profile_by by, size_t i, nkl_profile_row *out) {
  API_SET(out, (nkl_profile_row){.op = "", .engine = "", .file = ""});
  API_CHECK(NULL, f, out);
  if (i >= nkl_profile_row_count(f, by)) return NKL_ERR_ARG;
  const SimProfileRow *r = &f->rows[by][i];
  *out = (nkl_profile_row){.op = f->names[by][i],
                           .engine = r->engine ? engine_name(r->engine) : "",
                           .file = r->loc ? r->loc->file : "",
                           .line = r->loc ? r->loc->line : 0,
                           .core = r->core,
                           .calls = r->calls,
                           .elements = r->elements,
                           .bytes = r->bytes,
                           .us = (double)r->ns / 1e3};
  return NKL_OK;
}

nkl_status nkl_profile_render(const nkl_profile *f, nkl_profile_format format, nkl_buf *out, nkl_error_buf *err) {
  Text t;
  Diag d;
  API_SET(out, (nkl_buf)NKL_BUF_INIT);
  API_CHECK(err, f, out);
  text_init(&t, f->arena.alloc);
  diag_init(&d, f->arena.alloc);
  bool known = (int)format >= 0 && format <= NKL_PROFILE_TRACE;
  bool ok = known || DIAG(&d, api_use, "nkl_profile_render", "there is no such format");
  if (ok && format == NKL_PROFILE_TRACE) ok = sim_profile_trace(&f->sim, &t) || DIAG0(&d, nomem);
  if (ok && format != NKL_PROFILE_TRACE)
    ok = sim_profile_render(&f->sim, format == NKL_PROFILE_JSON, &t) || DIAG0(&d, nomem);
  if (ok && !api_take(&t, out)) ok = DIAG0(&d, nomem);
  text_free(&t);
  return end(ok, &d, err);
}
