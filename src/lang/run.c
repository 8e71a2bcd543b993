/* run.c -- room lang: running an artifact on arrays. In place means: an operand that the kernel writes and returns is updated, but only when
   the whole run succeeded. */
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

/* ---- without Lua ------------------------------------------------------------------------------------------------------------- */

static void shape_of(SimTensor *t, const IrBuf *b) {
  t->dtype = b->dtype;
  t->rank = b->rank;
  memcpy(t->shape, b->shape, sizeof t->shape);
  t->data = NULL;
}

static size_t bytes_of(const SimTensor *t) {
  size_t n = (size_t)dtype_bytes(t->dtype);
  for (int i = 0; i < t->rank; i++) n *= (size_t)t->shape[i];
  return n;
}

static bool is_written(const Artifact *a, int32_t operand) {
  for (uint32_t i = 0; i < a->module->nfunc; i++)
    if (fw_operand_written(a->module->func[i], (uint32_t)operand)) return true;
  return false;
}

/* Memory that two operands share may not be written through one of them. */
static bool check_overlap(const LangRun *run, Diag *d) {
  const Artifact *a = run->a;
  for (uint32_t k = 0; k < a->noutputs; k++) {
    int32_t w = artifact_alias(a, k);
    if (w < 0 || !is_written(a, w)) continue;
    const SimTensor *mine = &run->operands[w];
    uintptr_t lo = (uintptr_t)mine->data, hi = lo + bytes_of(mine);
    for (uint32_t i = 0; i < a->ninputs; i++) {
      uintptr_t other = (uintptr_t)run->operands[i].data;
      if ((int32_t)i == w || other >= hi || other + bytes_of(&run->operands[i]) <= lo) continue;
      return DIAG(d, array_bound_twice, a->func_name, a->input_names[w], a->input_names[i], a->input_names[w]);
    }
  }
  return true;
}

static void free_outputs(const LangRun *run) {
  for (uint32_t k = 0; k < run->a->noutputs; k++) {
    SimTensor *t = &run->outputs[k];
    if (t->data) run->c->alloc.fn(run->c->alloc.ud, t->data, bytes_of(t) + 1, 0);
    t->data = NULL;
  }
}

static bool new_outputs(const LangRun *run, Diag *d) {
  for (uint32_t k = 0; k < run->a->noutputs; k++) shape_of(&run->outputs[k], artifact_output(run->a, k));
  for (uint32_t k = 0; k < run->a->noutputs; k++) {
    run->outputs[k].data = alloc_new(&run->c->alloc, bytes_of(&run->outputs[k]) + 1);
    if (!run->outputs[k].data) return DIAG0(d, nomem);
  }
  return true;
}

static void update_operands(const LangRun *run) {
  for (uint32_t k = 0; k < run->a->noutputs; k++) {
    int32_t i = artifact_alias(run->a, k);
    if (i < 0 || !is_written(run->a, i)) continue;
    SimTensor *out = &run->outputs[k];
    memcpy(run->operands[i].data, out->data, bytes_of(out));
    alloc_free(&run->c->alloc, out->data, bytes_of(out) + 1);
    out->data = NULL;
  }
}

bool lang_run(const LangRun *run, Diag *d) {
  LangCtx *c = run->c;
  const char *precise = getenv("NKI_PRECISE_FP");
  SimOptions opt = {.strict = c->strict, .interrupt = &c->interrupt, .print = c->write, .print_ud = c->io_ud};
  opt.imprecise = precise && strcmp(precise, "0") == 0;
  SimReport report = {.count = 0};
  text_init(&report.lines, c->alloc);
  for (uint32_t k = 0; k < run->a->noutputs; k++) run->outputs[k].data = NULL;
  bool ok = check_overlap(run, d) && new_outputs(run, d) &&
            sim_run(run->a->module, c->alloc, run->operands, run->outputs, &opt, &report, d);
  if (report.lines.len) c->warn(c->io_ud, report.lines.data, report.lines.len);
  text_free(&report.lines);
  if (!ok) free_outputs(run);
  if (ok && run->in_place) update_operands(run);
  return ok;
}

/* ---- with Lua: arrays in, arrays out ---------------------------------------------------------------------------------------------- */

/* Fills operands from the arrays at first .. first + ninputs - 1. */
static void take_operands(lua_State *L, const Artifact *a, int first, SimTensor *operands) {
  char got[DESCRIBE], text[DESCRIBE + 128];
  for (uint32_t i = 0; i < a->ninputs; i++) {
    const IrBuf *want = artifact_input(a, i);
    const LArray *have = lang_to_array(L, first + (int)i);
    bool same = have && have->dtype == want->dtype && have->rank == want->rank &&
                memcmp(have->shape, want->shape, (size_t)have->rank * sizeof *have->shape) == 0;
    if (!same) {
      Text *t = lang_scratch_text(L, lang_ctx(L));
      text_printf(t, "operand '%s' must be an array %s[", a->input_names[i], dtype_name(want->dtype));
      for (int k = 0; k < want->rank; k++) text_printf(t, k ? ",%lld" : "%lld", (long long)want->shape[k]);
      text_printf(t, "], got %s", lang_describe(L, first + (int)i, got, sizeof got));
      (void)text;
      LANG_FAIL(L, artifact_operands, a->func_name, text_str(t));
    }
    shape_of(&operands[i], want);
    operands[i].data = have->data;
  }
}

int artifact_simulate(lua_State *L, LangCtx *c, const Artifact *a, int first) {
  luaL_checkstack(L, (int)a->noutputs + 8, "outputs");
  SimTensor *tensors = lua_newuserdatauv(L, ((size_t)a->ninputs + a->noutputs) * sizeof *tensors, 0);
  LangRun run = {.c = c, .a = a, .operands = tensors, .outputs = tensors + a->ninputs, .in_place = false};
  take_operands(L, a, first, tensors);
  int base = lua_gettop(L);
  if (!lang_run(&run, &c->diag)) lang_raise(L, &c->diag);
  /* From here on an error of memory would leak the outputs, so they are moved into arrays that exist already. */
  return push_outputs(L, &run, first, base);
}
