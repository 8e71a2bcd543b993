/* simulate.c -- room api: running programs on tensors of the host. */
#include "api.h"

void nkl_sim_init(nkl_sim *s) { API_SET(s, (nkl_sim){.struct_size = sizeof *s}); }

static SimTensor shape_of(const IrBuf *b) {
  SimTensor t = {.dtype = b->dtype, .rank = b->rank};
  memcpy(t.shape, b->shape, sizeof t.shape);
  return t;
}

static size_t ranks_of(const nkl_sim *s) { return s->ranks ? s->ranks : 1; }
static size_t all_inputs(const ApiRun *run) { return ranks_of(run->sim) * run->artifact->ninputs; }
static size_t all_outputs(const ApiRun *run) { return ranks_of(run->sim) * run->artifact->noutputs; }

static bool check_ranks(const nkl_sim *s, Diag *d) {
  return ranks_of(s) <= SIM_MAX_RANKS || DIAG(d, rank_count, (long long)s->ranks, SIM_MAX_RANKS);
}

bool api_check_operands(const ApiRun *run, Diag *d) {
  for (size_t at = 0; at < all_inputs(run); at++) {
    uint32_t i = (uint32_t)(at % run->artifact->ninputs);
    SimTensor want = shape_of(artifact_input(run->artifact, i)), *have = &run->operands[at];
    bool same = want.dtype == have->dtype && want.rank == have->rank;
    for (int k = 0; same && k < want.rank; k++) same = want.shape[k] == have->shape[k];
    if (same) continue;
    Text a, b;
    text_init(&a, d->message.alloc);
    text_init(&b, d->message.alloc);
    shape_describe(have->dtype, have->rank, have->shape, &a);
    shape_describe(want.dtype, want.rank, want.shape, &b);
    if (run->sim->ranks > 1) text_printf(&a, " on rank %zu", at / run->artifact->ninputs);
    DIAG(d, input_data, run->artifact->func_name, run->artifact->input_names[i], text_str(&a), text_str(&b));
    text_free(&a);
    text_free(&b);
    return false;
  }
  return true;
}

/* Output k of all is an operand itself, updated: which of all, else -1. */
static int64_t in_place(const ApiRun *run, size_t k) {
  uint32_t rank = (uint32_t)(k / run->artifact->noutputs);
  int32_t i = run->sim->in_place ? fw_updated_operand(run->artifact, (uint32_t)(k % run->artifact->noutputs)) : -1;
  int64_t at = (int64_t)rank * run->artifact->ninputs + i;
  return i >= 0 && run->operand[at] ? at : -1;
}

/* Memory that is updated in place may not be that of another operand. */
static bool check_overlap(const ApiRun *run, Diag *d) {
  return !run->sim->in_place || host_check_overlap(run->artifact, (int64_t)ranks_of(run->sim), run->operands, d);
}

bool api_new_outputs(const ApiRun *run, SimTensor *out, Diag *d) {
  Alloc alloc = run->artifact->arena.alloc;
  for (size_t k = 0; k < all_outputs(run); k++) {
    uint32_t i = (uint32_t)(k % run->artifact->noutputs);
    out[k] = shape_of(artifact_output(run->artifact, i));
    out[k].data = alloc_new(&alloc, (size_t)tensor_bytes(&out[k]) + 1);
    if (out[k].data) continue;
    DIAG0(d, nomem);
    diag_prefix(d, run->artifact->output_names[i]);
    return false;
  }
  return true;
}

bool api_simulate(const ApiRun *run, SimTensor *out, Diag *d) {
  const nkl_sim *s = run->sim;
  Alloc alloc = run->artifact->arena.alloc;
  SimOptions opt = {.strict = s->strict != 0};
  if (!host_environment(&opt.imprecise, d) || !fw_check_logical_cores(run->artifact->module, d)) return false;
  opt.interrupt = s->interrupt && s->interrupt->host ? host_interrupt_flag(s->interrupt->host) : NULL;
  opt.print = s->print ? s->print : host_to_stdout;
  opt.print_ud = s->print_ud;
  SimReport report = {.count = 0};
  opt.alloc = alloc;
  opt.report = &report;
  opt.profile = run->profile;
  text_init(&report.lines, alloc);
  const SimRanks ranks = {.n = (int64_t)ranks_of(s), .operands = run->operands, .outputs = out};
  bool ok = sim_run_ranks(run->artifact->module, &ranks, &opt, d);
  if (report.lines.len) (s->warn ? s->warn : host_to_stderr)(s->warn_ud, report.lines.data, report.lines.len);
  text_free(&report.lines);
  if (!ok && opt.interrupt && d->id == ERR_interrupted) host_calm(s->interrupt->host);
  return ok;
}

/* The outputs become tensors; what is updated in place is copied last, when nothing can fail any more. */
static bool hand_out(const ApiRun *run, SimTensor *out, nkl_tensor **outputs, Diag *d) {
  size_t n = all_outputs(run);
  Alloc alloc = run->artifact->arena.alloc;
  for (size_t k = 0; k < n; k++) {
    if (in_place(run, k) >= 0) continue;
    outputs[k] = api_tensor(alloc, &out[k]);
    if (!outputs[k]) return DIAG0(d, nomem);
  }
  for (size_t k = 0; k < n; k++) {
    int64_t i = in_place(run, k);
    if (i < 0) continue;
    memcpy(run->operands[i].data, out[k].data, (size_t)tensor_bytes(&out[k]));
    outputs[k] = nkl_tensor_retain(run->operand[i]);
  }
  return true;
}

bool api_run(const ApiRun *run, nkl_tensor **outputs, Diag *d) {
  size_t n = all_outputs(run);
  Alloc alloc = run->artifact->arena.alloc;
  for (size_t k = 0; k < n; k++) outputs[k] = NULL;
  SimTensor *out = alloc_new(&alloc, n * sizeof *out + 1);
  if (!out) return DIAG0(d, nomem);
  memset(out, 0, n * sizeof *out);
  bool ok = api_check_operands(run, d) && check_overlap(run, d) && api_new_outputs(run, out, d) &&
            api_simulate(run, out, d) && hand_out(run, out, outputs, d);
  for (size_t k = 0; k < n; k++) {
    tensor_free(alloc, &out[k]);
    if (ok) continue;
    nkl_tensor_release(outputs[k]);
    outputs[k] = NULL;
  }
  alloc_free(&alloc, out, n * sizeof *out + 1);
  return ok;
}

static size_t bytes_of_operands(const Artifact *a, const nkl_sim *s) {
  return ranks_of(s) * a->ninputs * sizeof(SimTensor) + 1;
}

bool api_operands(const Artifact *a, const nkl_sim *s, const char *who, SimTensor **out, Diag *d) {
  size_t n = ranks_of(s) * a->ninputs;
  *out = NULL;
  if (!check_ranks(s, d)) return false;
  if (s->ninputs != n) return DIAG(d, input_count, a->func_name, n, s->ninputs);
  if (!api_list(who, "inputs", s->inputs, n, d)) return false;
  Alloc alloc = a->arena.alloc;
  *out = alloc_new(&alloc, bytes_of_operands(a, s));
  if (!*out) return DIAG0(d, nomem);
  for (size_t i = 0; i < n; i++) (*out)[i] = s->inputs[i]->t;
  return true;
}

void api_operands_free(const Artifact *a, const nkl_sim *s, SimTensor *operands) {
  Alloc alloc = a->arena.alloc;
  alloc_free(&alloc, operands, bytes_of_operands(a, s));
}

static bool run_inputs(const Artifact *a, const nkl_sim *s, nkl_tensor **outputs, Diag *d) {
  SimTensor *operands;
  if (!api_operands(a, s, "nkl_simulate", &operands, d)) return false;
  ApiRun run = {a, operands, s->inputs, s, NULL};
  bool ok = api_run(&run, outputs, d);
  api_operands_free(a, s, operands);
  return ok;
}

nkl_status nkl_simulate(const nkl_program *p, const nkl_sim *sim, nkl_tensor **outputs, nkl_error_buf *err) {
  API_CHECK(err, p, outputs);
  const Artifact *a = api_artifact(p);
  nkl_sim s;
  Diag d;
  nkl_sim_init(&s);
  diag_init(&d, a->arena.alloc);
  bool ok = API_STRUCT(__func__, nkl_sim, &s, sim, &d);
  ok = ok && run_inputs(a, &s, outputs, &d);
  for (size_t k = 0; !ok && k < ranks_of(&s) * a->noutputs && ranks_of(&s) <= SIM_MAX_RANKS; k++) outputs[k] = NULL;
  nkl_status status = ok ? NKL_OK : api_fail_buf(err, &d);
  diag_free(&d);
  return status;
}
