/* drive.c -- room lang: the re-execution driver. specialize_and_call opens a session, calls the kernel function once
   per program of the grid with placeholder tensors, and turns what it returns into outputs. The call is protected:
   whatever the body raises reaches the caller of the kernel unchanged, and the trace stack is as before. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

typedef struct DriveRun {
  KernelCall *call;
  Trace *trace;
  Text before; /* captured state before the run */
  bool impure;
} DriveRun;

/* Stack of run_programs: the run, the kernel function, one slot per parameter. */
enum { S_run = 1, S_function, S_args };

int lang_drive_body(lua_State *L) {
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

static int trace_error(lua_State *L, const DriveRun *run) { return lang_raise(L, run->trace->d); }

/* ---- one program ------------------------------------------------------------------------------------------------- */

/* A tensor becomes an operand of the session; a constant goes in as it is. */
static void push_body(lua_State *L, const DriveRun *run) {
  const FwRequest *r = &run->call->r;
  lua_pushcfunction(L, lang_drive_body);
  lua_pushvalue(L, S_function);
  for (uint32_t p = 0; p < r->nargs; p++) {
    const FwArg *arg = &r->args[p];
    if (!arg->is_tensor) {
      lua_pushvalue(L, S_args + (int)p);
      continue;
    }
    const IrTile *tile = tr_operand(run->trace, arg->name, arg->dtype, arg->rank, arg->shape);
    if (!tile) trace_error(L, run);
    lang_push_tile(L, tile);
  }
}

/* A fault of what the body returned: by now it has no line of its own, so the kernel's is named. */
static int return_error(lua_State *L, const DriveRun *run) {
  Diag *d = &run->call->c->diag;
  char name[256];
  lua_Debug ar;
  lua_pushvalue(L, S_function);
  lua_getinfo(L, ">S", &ar);
  diag_at(d, lang_relative(run->call->c->drive->dir, ar.source, name, sizeof name), ar.linedefined);
  return lang_raise(L, d);
}
#define FAIL_RETURN(L, run, id, ...) (DIAG(&(run)->call->c->diag, id, __VA_ARGS__), return_error((L), (run)))

static const IrTile *returned_tile(lua_State *L, const DriveRun *run, int i, int k) {
  char got[DESCRIBE];
  const LTile *t = lang_to_tile(L, i);
  if (!t) FAIL_RETURN(L, run, kernel_return, run->call->r.func_name, k, lang_describe(L, i, got, sizeof got));
  char name[160];
  snprintf(name, sizeof name, "kernel %.100s: return value %d", run->call->r.func_name, k);
  return lang_live(L, run->call->c, t, name, NULL);
}

/* A plain list or an nki.tuple, alone, is a sequence as several values are: its items take its place. */
static void spread_list(lua_State *L, const DriveRun *run, int first) {
  if (!tuple_push_items(L, run->call->c, first)) lua_pushvalue(L, first);
  lua_replace(L, first);
  lua_Unsigned n = lua_rawlen(L, first);
  char got[DESCRIBE];
  lua_pushnil(L);
  while (lua_next(L, first)) { /* a field with a name would be lost */
    lua_pop(L, 1);
    if (!lua_isinteger(L, -1) || (lua_Unsigned)lua_tointeger(L, -1) - 1 >= n)
      FAIL_RETURN(L, run, kernel_return_field, run->call->r.func_name,
                  lang_describe(L, lua_gettop(L), got, sizeof got));
  }
  if (n > 1000)
    FAIL_RETURN(L, run, kernel_return, run->call->r.func_name, 1001,
                "one too many: a kernel returns at most 1000 tensors");
  luaL_checkstack(L, (int)n + 8, "return values");
  for (lua_Unsigned k = 1; k <= n; k++) lua_rawgeti(L, first, (lua_Integer)k);
  lua_remove(L, first);
}

static void take_returns(lua_State *L, const DriveRun *run, int first) {
  bool is_list = lua_gettop(L) == first && lua_istable(L, first);
  if (is_list) spread_list(L, run, first);
  int n = lua_gettop(L) - first + 1;
  while (!is_list && n > 0 && lua_isnil(L, first + n - 1)) n--; /* `return nil` returns nothing */
  luaL_checkstack(L, 8, NULL);
  const IrTile **tiles = lua_newuserdatauv(L, (size_t)n * sizeof *tiles + 1, 0);
  for (int k = 0; k < n; k++) tiles[k] = returned_tile(L, run, first + k, k + 1);
  if (!tr_return(run->trace, tiles, (uint32_t)n, is_list || n > 1)) trace_error(L, run);
  lang_session_end(run->call->c);
  if (!tr_end_program(run->trace)) trace_error(L, run);
}

/* ---- all programs ------------------------------------------------------------------------------------------------ */

/* A body that changes what it captures would not do the same again: such a run is not stored. */
static void check_pure(lua_State *L, DriveRun *run) {
  KernelCall *call = run->call;
  const KernelCore *core = call->k->core;
  capture_begin(L, call->c, core->dir);
  capture_add(L, call->c, S_function);
  for (uint32_t p = 0; p < call->r.nargs; p++) {
    const FwArg *arg = &call->r.args[p];
    if (!arg->is_tensor && arg->value.kind == CONST_FUNCTION) capture_add(L, call->c, S_args + (int)p);
  }
  const Text *after = capture_bytes(call->c), *before = &run->before;
  size_t n = after->len < before->len ? after->len : before->len, at = 0;
  while (at < n && after->data[at] == before->data[at]) at++;
  bool changed = at < n || after->len != before->len;
  const char *unsure = capture_unsure(call->c);
  if (!unsure) unsure = call->c->outside;
  run->impure = changed || unsure;
  if (!run->impure || !core->cache) return;
  char reason[160] = "the run changed captured state: ";
  if (!changed) strcpy(reason, "what it computes is not settled by captured state: ");
  strncat(reason, changed ? capture_name_at(call->c, at) : unsure, 100);
  fw_cache_reason(core->cache, reason);
}

static int run_programs(lua_State *L) {
  DriveRun *run = lua_touserdata(L, S_run);
  int nargs = (int)run->call->r.nargs, top = lua_gettop(L);
  luaL_checkstack(L, nargs + 16, "kernel arguments");
  for (int64_t p = 0; p < run->trace->m->nprogram; p++) {
    if (!tr_begin_program(run->trace)) trace_error(L, run);
    push_body(L, run);
    lua_call(L, nargs + 1, LUA_MULTRET);
    take_returns(L, run, top + 1);
    lua_settop(L, top);
  }
  check_pure(L, run);
  return 0;
}

/* Keeps the traceback, which dies with the unwinding; the error value stays what it is. */
static int on_error(lua_State *L) {
  LangCtx *c = lang_ctx(L);
  luaL_traceback(L, L, NULL, 1);
  size_t n;
  const char *s = lua_tolstring(L, -1, &n);
  text_clear(&c->traceback);
  text_add(&c->traceback, s, n);
  lua_settop(L, 1);
  return 1;
}

static bool run_protected(DriveRun *run) {
  KernelCall *call = run->call;
  lua_State *L = call->L;
  LangCtx *c = call->c;
  Drive drive = {.up = c->drive, .trace = run->trace, .L = L, .name = call->r.func_name, .dir = call->k->core->dir};
  if (drive.up) drive.dir = drive.up->dir;
  Trace *outer = c->trace;
  c->trace = run->trace;
  c->drive = &drive;
  lua_pushcfunction(L, on_error);
  int handler = lua_gettop(L);
  lua_pushcfunction(L, run_programs);
  lua_pushlightuserdata(L, run);
  kernel_push_function(L, call->kernel);
  for (uint32_t p = 0; p < call->r.nargs; p++) lua_pushvalue(L, call->first + (int)p);
  bool ok = lua_pcall(L, (int)call->r.nargs + 2, 0, handler) == LUA_OK;
  if (!ok) lang_session_end(c);
  lua_remove(L, handler);
  c->trace = outer;
  c->drive = drive.up;
  call->raised = !ok;
  return ok;
}

static bool max_instructions(int64_t *out, Diag *d) {
  const char *s = getenv("NKILUA_MAX_INSTR");
  double v;
  *out = 50000000;
  if (!s || !*s) return true;
  if (!text_to_double(s, strlen(s), &v) || v < 1 || v > 9e15 || v != (double)(int64_t)v)
    return DIAG(d, env_value, "NKILUA_MAX_INSTR", s, "a positive integer");
  *out = (int64_t)v;
  return true;
}

IrModule *drive_specialize(void *ud, const FwRequest *r, bool *has_collectives, bool *impure, Diag *d) {
  KernelCall *call = ud;
  LangCtx *c = call->c;
  TraceSpec spec = {
      .func_name = r->func_name, .target = r->target, .target_is_fallback = r->target_is_fallback, .ngrid = r->ngrid};
  memcpy(spec.grid, r->grid, sizeof spec.grid);
  memcpy(spec.cores, r->cores, sizeof spec.cores);
  spec.legacy = r->legacy;
  *has_collectives = false; /* no row of ops.def is one */
  if (!fw_check_grid(r, d) || !max_instructions(&spec.max_instr, d)) return NULL;
  DriveRun run = {.call = call};
  c->outside = NULL;
  text_init(&run.before, c->alloc);
  text_add(&run.before, r->captured, r->ncaptured);
  run.trace = run.before.oom ? NULL : tr_open(c->alloc, &spec, d);
  if (run.before.oom) DIAG0(d, nomem);
  IrModule *m = run.trace && run_protected(&run) ? tr_finish(run.trace) : NULL;
  const char *warnings = run.trace ? tr_warnings(run.trace) : "";
  if (*warnings) c->warn(c->io_ud, warnings, strlen(warnings));
  *impure = run.impure;
  tr_close(run.trace);
  text_free(&run.before);
  return m;
}

/* ---- inline_function --------------------------------------------------------------------------------------------- */

static void check_space(KernelCall *call, int i, const char *what) {
  const LTile *t = lang_to_tile(call->L, i);
  if (t && t->space != SP_shared_hbm)
    LANG_HERE(call->L, nested_kernel_memory, call->k->core->func_name, what, space_name(t->space));
}

/* The body becomes part of the running kernel. A jitted kernel keeps its contract: operands and results are in
 * shared_hbm. */
int drive_inline(KernelCall *call) {
  lua_State *L = call->L;
  const KernelCore *core = call->k->core;
  bool jitted = core->mode != MODE_TRACE;
  if (call->k->ngrid) LANG_HERE(L, nested_kernel_with_spmd_grid, core->func_name);
  for (int p = 0; jitted && p < core->nparams; p++) check_space(call, call->first + p, core->params[p]);
  kernel_push_function(L, call->kernel);
  lua_replace(L, call->kernel);
  lua_settop(L, call->kernel + core->nparams);
  lua_call(L, core->nparams, LUA_MULTRET);
  for (int i = 1; jitted && i <= lua_gettop(L); i++) check_space(call, i, "a result");
  return lua_gettop(L);
}
