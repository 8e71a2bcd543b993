/* run.c -- room lang: running an artifact on host arrays. An operand that the kernel writes and returns is updated in
   place, but only when the whole run succeeded. */
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "kernel.h"

typedef struct HostRun {
  LangCtx *c;
  const Artifact *a;
  SimTensor *operands, *outputs;
} HostRun;

static size_t bytes_of(const SimTensor *t) {
  size_t n = (size_t)dtype_bytes(t->dtype);
  for (int i = 0; i < t->rank; i++) n *= (size_t)t->shape[i];
  return n;
}

/* Memory that two operands share may not be written through one of them. */
static bool check_overlap(const HostRun *run, Diag *d) {
  const Artifact *a = run->a;
  for (uint32_t k = 0; k < a->noutputs; k++) {
    int32_t w = fw_updated_operand(a, k);
    if (w < 0) continue;
    uintptr_t lo = (uintptr_t)run->operands[w].data, hi = lo + bytes_of(&run->operands[w]);
    for (uint32_t i = 0; i < a->ninputs; i++) {
      uintptr_t other = (uintptr_t)run->operands[i].data;
      if ((int32_t)i == w || other >= hi || other + bytes_of(&run->operands[i]) <= lo) continue;
      return DIAG(d, array_bound_twice, a->func_name, a->input_names[w], a->input_names[i], a->input_names[w]);
    }
  }
  return true;
}

bool host_imprecise(bool *out, Diag *d) {
  const char *s = getenv("NKI_PRECISE_FP");
  *out = s && strcmp(s, "0") == 0;
  if (!s || !*s || *out || strcmp(s, "1") == 0) return true;
  return DIAG(d, env_value, "NKI_PRECISE_FP", s, "0 or 1");
}

static bool simulate(const HostRun *run, Diag *d) {
  LangCtx *c = run->c;
  SimOptions opt = {.strict = c->strict, .interrupt = &c->interrupt, .print = c->write, .print_ud = c->io_ud};
  if (!host_imprecise(&opt.imprecise, d) || !fw_check_logical_cores(run->a->module, d)) return false;
  SimReport report = {.count = 0};
  opt.alloc = c->alloc;
  opt.profile = c->profile;
  opt.report = &report;
  text_init(&report.lines, c->alloc);
  bool ok = check_overlap(run, d) && sim_run(run->a->module, run->operands, run->outputs, &opt, d);
  if (report.lines.len) c->warn(c->io_ud, report.lines.data, report.lines.len);
  text_free(&report.lines);
  return ok;
}

static SimTensor tensor_of(const IrBuf *b, void *data) {
  SimTensor t = {.dtype = b->dtype, .rank = b->rank, .data = data};
  memcpy(t.shape, b->shape, sizeof t.shape);
  return t;
}

static void put_type(Text *t, const IrBuf *b) {
  text_printf(t, "%s[", dtype_name(b->dtype));
  for (int k = 0; k < b->rank; k++) text_printf(t, k ? ",%lld" : "%lld", (long long)b->shape[k]);
  text_puts(t, "]");
}

static SimTensor take_operand(lua_State *L, const HostRun *run, uint32_t i, int at) {
  const IrBuf *want = artifact_input(run->a, i);
  const LArray *have = lang_to_array(L, at);
  if (have && !have->data) LANG_FAIL(L, array_freed, run->a->func_name, run->a->input_names[i]);
  if (have && have->dtype == want->dtype && have->rank == want->rank &&
      memcmp(have->shape, want->shape, (size_t)have->rank * sizeof *have->shape) == 0)
    return tensor_of(want, have->data);
  char got[DESCRIBE];
  Text *t = lang_scratch_text(L, run->c);
  text_printf(t, "operand '%s' must be an array ", run->a->input_names[i]);
  put_type(t, want);
  text_printf(t, ", got %s", lang_describe(L, at, got, sizeof got));
  LANG_FAIL(L, artifact_operands, run->a->func_name, text_str(t));
  return (SimTensor){.data = NULL};
}

int artifact_simulate(lua_State *L, LangCtx *c, const Artifact *a, int first) {
  int n = (int)a->noutputs;
  luaL_checkstack(L, n + 8, "outputs");
  SimTensor *tensors = lua_newuserdatauv(L, ((size_t)a->ninputs + a->noutputs) * sizeof *tensors, 0);
  HostRun run = {.c = c, .a = a, .operands = tensors, .outputs = tensors + a->ninputs};
  int results = lua_gettop(L) + 1;
  for (uint32_t k = 0; k < a->noutputs; k++) {
    const IrBuf *b = artifact_output(a, k);
    run.outputs[k] = tensor_of(b, lang_push_array(L, b->dtype, b->rank, b->shape)->data);
  }
  /* Last: a finalizer that ran meanwhile may have freed an operand. */
  for (uint32_t i = 0; i < a->ninputs; i++) run.operands[i] = take_operand(L, &run, i, first + (int)i);
  if (!simulate(&run, &c->diag)) lang_raise(L, &c->diag);
  for (uint32_t k = 0; k < a->noutputs; k++) {
    int32_t operand = fw_updated_operand(a, k);
    if (operand < 0) continue;
    memcpy(run.operands[operand].data, run.outputs[k].data, bytes_of(&run.outputs[k]));
    lua_pushvalue(L, first + operand);
    lua_replace(L, results + (int)k);
  }
  return n;
}
