/* drive.c -- room lang: the re-execution driver. specialize_and_call opens a session, calls the kernel function once
   per program of the grid with placeholder tensors, and turns what it returns into outputs. The call is protected:
   whatever the body raises reaches the caller of the kernel unchanged, and the trace stack is as before. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classic.h"
#include "hash.h"
#include "kernel.h"

static const char LANG_FINALIZE[] = "nki.NKIFinalizeException";

typedef struct DriveRun {
  KernelCall *call;
  Trace *trace;
  Text before; /* captured state before the run */
  bool impure, has_collectives;
} DriveRun;

/* Stack of run_programs and of expand: the run, the kernel function, the kernel, one slot per parameter. */
enum { S_run = 1, S_function, S_kernel, S_args };

/* What a class gets to see of a running trace; run is NULL once it has ended. */
typedef struct LTraceCtx {
  DriveRun *run;
} LTraceCtx;
static const char context_name[] = "nki.trace_context";

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
  if (kernel_overrides(run->call, STEP_call_impl)) {
    class_push_method(L, S_kernel, STEP_call_impl);
  } else {
    lua_pushvalue(L, S_function);
  }
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
  char name[LANG_PATH];
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
  bool is_list = lua_gettop(L) == first && lua_istable(L, first) && !classic_at(L, first);
  if (is_list) spread_list(L, run, first);
  int n = lua_gettop(L) - first + 1;
  while (!is_list && n > 0 && lua_isnil(L, first + n - 1)) n--; /* `return nil` returns nothing */
  luaL_checkstack(L, 8, NULL);
  const IrTile **tiles = lua_newuserdatauv(L, (size_t)n * sizeof *tiles + 1, 0);
  for (int k = 0; k < n; k++) tiles[k] = returned_tile(L, run, first + k, k + 1);
  if (!tr_return(run->trace, tiles, (uint32_t)n, is_list || n > 1)) trace_error(L, run);
  lang_session_end(run->call->c);
  lang_locate_end(L, run->call->c);
  if (!tr_end_program(run->trace)) trace_error(L, run);
}

/* ---- all programs ------------------------------------------------------------------------------------------------ */

/* A body that changes what it captures would not do the same again: such a run is not stored. */
static void check_pure(lua_State *L, DriveRun *run) {
  KernelCall *call = run->call;
  const KernelCore *core = call->k->core;
  capture_begin(call->c, core->dir);
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

/* error(nki.NKIFinalizeException(...)) anywhere below the body ends it: what the exception holds is returned. */
static bool finalized(lua_State *L) {
  if (lua_type(L, -1) != LUA_TTABLE || !lua_getmetatable(L, -1)) return false;
  luaL_getmetatable(L, LANG_FINALIZE);
  bool is = lua_rawequal(L, -1, -2);
  lua_pop(L, 2);
  return is;
}

/* What tells an error from another: a body may catch one and raise the next. */
static const void *identity(lua_State *L, int i) {
  static const char plain;
  const void *p = lua_topointer(L, i);
  return p ? p : &plain;
}

void drive_body(lua_State *L, LangCtx *c, int nargs, int handler) {
  if (lua_pcall(L, nargs, LUA_MULTRET, handler) == LUA_OK) return;
  if (!finalized(L)) {
    c->drive->kept = identity(L, -1);
    lua_error(L);
  }
  lua_getfield(L, -1, "n");
  int n = (int)lua_tointeger(L, -1), table = lua_gettop(L) - 1;
  luaL_checkstack(L, n + 8, "return values");
  for (int k = 1; k <= n; k++) lua_rawgeti(L, table, k);
  lua_rotate(L, table, n);
  lua_pop(L, 2);
}

static void run_body(lua_State *L, const DriveRun *run, int handler) {
  int first = lua_gettop(L) + 1;
  push_body(L, run);
  drive_body(L, run->call->c, lua_gettop(L) - first, handler);
}

static void push_context(lua_State *L, DriveRun *run) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, run) != LUA_TNIL) return;
  lua_pop(L, 1);
  LTraceCtx *ctx = lua_newuserdatauv(L, sizeof *ctx, 0);
  ctx->run = run;
  luaL_newmetatable(L, context_name);
  lua_setmetatable(L, -2);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, run);
}

static void drop_context(lua_State *L, const DriveRun *run) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, run) != LUA_TNIL) {
    LTraceCtx *ctx = lua_touserdata(L, -1);
    ctx->run = NULL;
    lua_pushnil(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, run);
  }
  lua_pop(L, 1);
}

static DriveRun *check_context(lua_State *L, int i, const char *func) {
  const LTraceCtx *ctx = luaL_testudata(L, i, context_name);
  if (!ctx || !ctx->run) lang_kind_error(L, i, func, "ctx", "the context of the running trace");
  return ctx->run;
}

/* One step at the end of a trace, overridden or not. */
static void end_step(lua_State *L, DriveRun *run, Step step, bool (*own)(Trace *t)) {
  if (!kernel_overrides(run->call, step)) {
    if (!own(run->trace)) trace_error(L, run);
    return;
  }
  class_push_method(L, S_kernel, step);
  push_context(L, run);
  lua_call(L, 2, 0);
}

/* expand_kernel_with_ctx: every program of the grid, then what is left to do for all of them. */
static int expand(lua_State *L) {
  DriveRun *run = lua_touserdata(L, S_run);
  int nargs = (int)run->call->r.nargs;
  luaL_checkstack(L, nargs + 16, "kernel arguments");
  lua_pushcfunction(L, drive_on_error);
  int top = lua_gettop(L);
  for (int64_t p = 0; p < run->trace->m->nprogram; p++) {
    if (!tr_begin_program(run->trace)) trace_error(L, run);
    run_body(L, run, top);
    take_returns(L, run, top + 1);
    lua_settop(L, top);
  }
  end_step(L, run, STEP_allocate_pending_tensors, tr_allocate_pending_tensors);
  end_step(L, run, STEP_check_return, tr_check_return);
  run->has_collectives = ir_has_collectives(run->trace->m);
  lua_settop(L, top - 1);
  return 0;
}

static void expand_by_class(lua_State *L, DriveRun *run) {
  class_push_method(L, S_kernel, STEP_expand_kernel_with_ctx);
  push_context(L, run);
  bound_push(L, run->call->k->core, S_args);
  lua_call(L, 3, 2);
  const LTraceCtx *ctx = luaL_testudata(L, -2, context_name);
  if (!ctx || ctx->run != run || !lua_isboolean(L, -1))
    LANG_FAIL(L, kernel_step, run->call->r.func_name, "expand_kernel_with_ctx", "must return ctx and has_collectives");
  run->has_collectives = lua_toboolean(L, -1);
  lua_pop(L, 2);
}

static int run_programs(lua_State *L) {
  DriveRun *run = lua_touserdata(L, S_run);
  const LDump *code = dump_push(L, run->call->c, S_function, run->call->k->core->dir);
  hash_hex(code->bytes, code->n, run->call->k->core->code);
  lua_pop(L, 1);
  if (kernel_overrides(run->call, STEP_expand_kernel_with_ctx)) {
    expand_by_class(L, run);
  } else {
    expand(L);
  }
  check_pure(L, run);
  return 0;
}

/* What Lua says when a body that C called tries to yield. */
bool drive_is_yield(lua_State *L, int i) {
  if (lua_type(L, i) != LUA_TSTRING) return false;
  const char *s = lua_tostring(L, i);
  return strcmp(s, "attempt to yield across a C-call boundary") == 0 ||
         strcmp(s, "attempt to yield from outside a coroutine") == 0;
}

/* Keeps the traceback, which dies with the unwinding; the error value stays what it is, but for Lua's word on a yield,
   which names no line. */
int drive_on_error(lua_State *L) {
  LangCtx *c = lang_ctx(L);
  if (c->drive && c->drive->kept == identity(L, 1)) return 1;
  if (c->drive && c->trace && drive_is_yield(L, 1)) {
    DIAG(&c->diag, yield_in_kernel, c->drive->name);
    lang_locate_fast(L, c, c->trace);
    ir_diag_where(c->trace->m, c->trace->loc, c->trace->iter, &c->diag);
    lang_push_error(L, &c->diag);
    lua_replace(L, 1);
  }
  luaL_traceback(L, L, NULL, 1);
  size_t n;
  const char *s = lua_tolstring(L, -1, &n);
  text_clear(&c->traceback);
  text_add(&c->traceback, s, n);
  if (lang_is_error(L, 1)) lua_setfield(L, 1, "traceback");
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
  lang_session_push(L, c);
  int session = lua_gettop(L);
  c->trace = run->trace;
  c->drive = &drive;
  lua_pushcfunction(L, drive_on_error);
  int handler = lua_gettop(L);
  lua_pushcfunction(L, run_programs);
  lua_pushlightuserdata(L, run);
  kernel_push_function(L, call->kernel);
  lua_pushvalue(L, call->kernel);
  for (uint32_t p = 0; p < call->r.nargs; p++) lua_pushvalue(L, call->first + (int)p);
  bool ok = lua_pcall(L, (int)call->r.nargs + 3, 0, handler) == LUA_OK;
  if (call->over) drop_context(L, run);
  if (!ok) lang_session_end(c);
  lang_locate_end(L, c);
  lang_session_set(L, c, session);
  lua_remove(L, handler);
  lua_remove(L, session);
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

/* check_grid as the class has it. */
static int grid_by_class(lua_State *L) {
  const FwRequest *r = lua_touserdata(L, 1);
  class_push_method(L, 2, STEP_check_grid);
  LKernel view = {.ngrid = r->ngrid};
  memcpy(view.grid, r->grid, sizeof view.grid);
  memcpy(view.cores, r->cores, sizeof view.cores);
  kernel_push_grid(L, &view);
  lua_call(L, 2, 0);
  return 0;
}

static bool check_grid(KernelCall *call, const FwRequest *r, Diag *d) {
  lua_State *L = call->L;
  if (!kernel_overrides(call, STEP_check_grid)) return fw_check_grid(r, d);
  lua_pushcfunction(L, grid_by_class);
  lua_pushlightuserdata(L, (void *)(uintptr_t)r);
  lua_pushvalue(L, call->kernel);
  call->raised = lua_pcall(L, 2, 0, 0) != LUA_OK;
  return !call->raised;
}

IrModule *drive_specialize(void *ud, const FwRequest *r, bool *has_collectives, bool *impure, Diag *d) {
  KernelCall *call = ud;
  LangCtx *c = call->c;
  TraceSpec spec = {
      .func_name = r->func_name, .target = r->target, .target_is_fallback = r->target_is_fallback, .ngrid = r->ngrid};
  memcpy(spec.grid, r->grid, sizeof spec.grid);
  memcpy(spec.cores, r->cores, sizeof spec.cores);
  spec.legacy = r->legacy;
  if (!check_grid(call, r, d) || !max_instructions(&spec.max_instr, d)) return NULL;
  DriveRun run = {.call = call};
  const char *outside = c->outside; /* of the kernel that this one is called in */
  c->outside = NULL;
  call->k->core->recompiled = true;
  text_init(&run.before, c->alloc);
  text_add(&run.before, r->captured, r->ncaptured);
  run.trace = run.before.oom ? NULL : tr_open(c->alloc, &spec, d);
  if (run.before.oom) DIAG0(d, nomem);
  IrModule *m = run.trace && run_protected(&run) ? tr_finish(run.trace) : NULL;
  const char *warnings = run.trace ? tr_warnings(run.trace) : "";
  if (*warnings && !call->node) c->warn(c->io_ud, warnings, strlen(warnings)); /* else the kernel around gives them */
  if (m && *warnings) m->warnings = arena_strdup(&m->arena, warnings, strlen(warnings));
  *impure = run.impure;
  *has_collectives = run.has_collectives || (m && ir_has_collectives(m)); /* a class may say so of more */
  if (outside) c->outside = outside;
  tr_close(run.trace);
  text_free(&run.before);
  return m;
}

/* ---- the steps as methods ---------------------------------------------------------------------------------------- */

int step_expand_kernel_with_ctx(lua_State *L) {
  kernel_self(L, "kernel:expand_kernel_with_ctx", 2);
  lua_settop(L, 3);
  DriveRun *run = check_context(L, 2, "expand_kernel_with_ctx");
  const KernelCore *core = run->call->k->core;
  lua_pushcfunction(L, expand);
  lua_pushlightuserdata(L, run);
  kernel_push_function(L, 1);
  lua_pushvalue(L, 1);
  bound_spread(L, core, 3, "expand_kernel_with_ctx");
  lua_call(L, core->nparams + 3, 0);
  lua_pushvalue(L, 2);
  lua_pushboolean(L, run->has_collectives);
  return 2;
}

int step_call_impl(lua_State *L) {
  kernel_self(L, "kernel:call_impl", ANY);
  kernel_push_function(L, 1);
  lua_replace(L, 1);
  lua_pushcfunction(L, lang_drive_body);
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

static int ctx_step(lua_State *L, const char *name, bool (*own)(Trace *t)) {
  kernel_self(L, name, 1);
  DriveRun *run = check_context(L, 2, name);
  if (!own(run->trace)) trace_error(L, run);
  return 0;
}

int step_allocate_pending_tensors(lua_State *L) {
  return ctx_step(L, "kernel:allocate_pending_tensors", tr_allocate_pending_tensors);
}

int step_check_return(lua_State *L) { return ctx_step(L, "kernel:check_return", tr_check_return); }

static int l_say_finalize(lua_State *L) {
  lua_pushliteral(L, "NKIFinalizeException: it ends the body of a kernel, and none is running below this");
  return 1;
}

/* nki.NKIFinalizeException(...) */
int drive_finalize_exception(lua_State *L) {
  int n = lua_gettop(L);
  lua_createtable(L, n, 1);
  lua_insert(L, 1);
  for (int k = n; k >= 1; k--) lua_rawseti(L, 1, k);
  lua_pushinteger(L, n);
  lua_setfield(L, 1, "n");
  if (luaL_newmetatable(L, LANG_FINALIZE)) {
    lua_pushliteral(L, "NKIFinalizeException");
    lua_setfield(L, -2, "__name");
    lua_pushcfunction(L, l_say_finalize);
    lua_setfield(L, -2, "__tostring");
  }
  lua_setmetatable(L, 1);
  return 1;
}
