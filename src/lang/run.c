/* run.c -- room lang: running an artifact on host arrays, once or on several ranks. An operand that the kernel writes
   and returns is updated in place, but only when the whole run succeeded. */
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "kernel.h"
#include "tensorfile.h"

typedef struct HostRun {
  LangCtx *c;
  const Artifact *a;
  int64_t ranks;                 /* 0: a run without ranks, whose results are no lists */
  SimTensor *operands, *outputs; /* by rank */
} HostRun;

static int64_t runs_of(const HostRun *run) { return run->ranks ? run->ranks : 1; }

/* Another one of the operands of all ranks that has memory in common with operand w; -1: none has. */
static int64_t shared_with(int64_t n, const SimTensor *operands, int64_t w) {
  for (int64_t i = 0; i < n; i++)
    if (i != w && tensors_overlap(&operands[w], &operands[i])) return i;
  return -1;
}

bool host_check_overlap(const Artifact *a, int64_t ranks, const SimTensor *operands, Diag *d) {
  for (int64_t r = 0; r < ranks; r++)
    for (uint32_t k = 0; k < a->noutputs; k++) {
      int32_t w = fw_updated_operand(a, k);
      int64_t other = w < 0 ? -1 : shared_with(ranks * a->ninputs, operands, r * a->ninputs + w);
      if (other < 0) continue;
      if (other / a->ninputs == r)
        return DIAG(d, array_bound_twice, a->func_name, a->input_names[w], a->input_names[other], a->input_names[w]);
      return DIAG(d, array_of_ranks, a->func_name, a->input_names[w], (int)r, (int)(other / a->ninputs));
    }
  return true;
}

/* value ends with NULL. */
static bool env_known(const char *name, const char *const *value, const char *allowed, Diag *d) {
  const char *s = getenv(name);
  if (!s || !*s) return true;
  for (; *value; value++)
    if (strcmp(s, *value) == 0) return true;
  return DIAG(d, env_value, name, s, allowed);
}

bool host_environment(bool *imprecise, Diag *d) {
  static const char *const precise[] = {"0", "1", NULL}, *const isa[] = {"generic", "avx2", "avx512", NULL},
                           *const gemm[] = {"plain", NULL};
  const char *s = getenv("NKI_PRECISE_FP");
  *imprecise = s && strcmp(s, "0") == 0;
  return env_known("NKI_PRECISE_FP", precise, "0 or 1", d) &&
         env_known("NKILUA_ISA", isa, "generic, avx2 or avx512", d) && env_known("NKILUA_GEMM", gemm, "plain", d);
}

static bool simulate(const HostRun *run, Diag *d) {
  LangCtx *c = run->c;
  SimOptions opt = {.strict = c->strict, .interrupt = &c->interrupt, .print = c->write, .print_ud = c->io_ud};
  if (!host_environment(&opt.imprecise, d) || !fw_check_logical_cores(run->a->module, d)) return false;
  SimReport report = {.count = 0};
  opt.alloc = c->alloc;
  opt.profile = c->profile;
  opt.report = &report;
  text_init(&report.lines, c->alloc);
  const SimRanks ranks = {.n = runs_of(run), .operands = run->operands, .outputs = run->outputs};
  bool ok = host_check_overlap(run->a, ranks.n, run->operands, d) && sim_run_ranks(run->a->module, &ranks, &opt, d);
  if (report.lines.len) c->warn(c->io_ud, report.lines.data, report.lines.len);
  text_free(&report.lines);
  return ok;
}

static SimTensor tensor_of(const IrBuf *b, void *data) {
  SimTensor t = {.dtype = b->dtype, .rank = b->rank, .data = data};
  memcpy(t.shape, b->shape, sizeof t.shape);
  return t;
}

/* Operand i of all ranks: the array at `at`. */
static SimTensor take_operand(lua_State *L, const HostRun *run, int64_t i, int at) {
  const IrBuf *want = artifact_input(run->a, (uint32_t)(i % run->a->ninputs));
  const char *name = run->a->input_names[i % run->a->ninputs];
  const LArray *have = lang_to_array(L, at);
  if (have && !have->data) LANG_FAIL(L, array_freed, run->a->func_name, name);
  if (have && have->dtype == want->dtype && have->rank == want->rank &&
      memcmp(have->shape, want->shape, (size_t)have->rank * sizeof *have->shape) == 0)
    return tensor_of(want, have->data);
  char got[DESCRIBE];
  Text *t = lang_scratch_text(L, run->c);
  text_printf(t, "operand '%s' ", name);
  if (run->ranks) text_printf(t, "of rank %d ", (int)(i / run->a->ninputs));
  text_puts(t, "must be an array ");
  shape_describe(want->dtype, want->rank, want->shape, t);
  text_printf(t, ", got %s", lang_describe(L, at, got, sizeof got));
  LANG_FAIL(L, artifact_operands, run->a->func_name, text_str(t));
  return (SimTensor){.data = NULL};
}

/* The arrays of output k; a list of them by rank is left on the stack, without ranks the one array. */
static void make_output(lua_State *L, HostRun *run, uint32_t k) {
  const IrBuf *b = artifact_output(run->a, k);
  if (run->ranks) lua_createtable(L, (int)run->ranks, 0);
  for (int64_t r = 0; r < runs_of(run); r++) {
    LArray *array = lang_push_output(L, b->dtype, b->rank, b->shape);
    run->outputs[r * run->a->noutputs + k] = tensor_of(b, array->data);
    if (run->ranks) lua_rawseti(L, -2, r + 1);
  }
}

/* An operand that was written takes the result, and is the result. */
static void update_operands(lua_State *L, const HostRun *run, int first, int results) {
  const Artifact *a = run->a;
  for (uint32_t k = 0; k < a->noutputs; k++) {
    int32_t operand = fw_updated_operand(a, k);
    for (int64_t r = 0; operand >= 0 && r < runs_of(run); r++) {
      const SimTensor *from = &run->outputs[r * a->noutputs + k];
      memcpy(run->operands[r * a->ninputs + operand].data, from->data, (size_t)tensor_bytes(from));
      lua_pushvalue(L, first + (int)(r * a->ninputs) + operand);
      if (run->ranks) {
        lua_rawseti(L, results + (int)k, r + 1);
      } else {
        lua_replace(L, results + (int)k);
      }
    }
  }
}

int artifact_simulate(lua_State *L, LangCtx *c, const Artifact *a, int first, int64_t ranks) {
  int n = (int)a->noutputs;
  HostRun run = {.c = c, .a = a, .ranks = ranks};
  size_t all = (size_t)runs_of(&run);
  luaL_checkstack(L, n + 8, "outputs");
  SimTensor *tensors = lua_newuserdatauv(L, all * ((size_t)a->ninputs + a->noutputs) * sizeof *tensors, 0);
  run.operands = tensors;
  run.outputs = tensors + all * a->ninputs;
  int results = lua_gettop(L) + 1;
  for (uint32_t k = 0; k < a->noutputs; k++) make_output(L, &run, k);
  /* Last: a finalizer that ran meanwhile may have freed an operand. */
  for (int64_t i = 0; i < (int64_t)all * a->ninputs; i++) run.operands[i] = take_operand(L, &run, i, first + (int)i);
  if (!simulate(&run, &c->diag)) lang_raise(L, &c->diag);
  update_operands(L, &run, first, results);
  return n;
}
