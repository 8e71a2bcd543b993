/* pipeline.c -- room lang: the steps of FwPipeline as a class in Lua has them. A step runs protected: what it raises
   stays on the stack until fw_specialize has given back what it holds. */
#include <string.h>

#include "base64.h"
#include "kernel.h"

typedef struct StepRun {
  KernelCall *call;
  IrModule *m;
  Artifact *a;
  Text *key;
  int64_t count;
  bool has_collectives, impure;
} StepRun;

/* Stack of a protected step. */
enum { P_run = 1, P_kernel, P_bound, P_traced, P_outputs, P_top = P_outputs };

static StepRun *run_of(lua_State *L) { return lua_touserdata(L, P_run); }

static const char *who(lua_State *L) { return run_of(L)->call->k->core->func_name; }

static int wrong(lua_State *L, const char *step, const char *text) {
  return LANG_FAIL(L, kernel_step, who(L), step, text);
}

/* Calls f with what a step may need; nresults values stay on the stack of the call. */
static bool protect(StepRun *run, lua_CFunction f, int nresults) {
  KernelCall *call = run->call;
  lua_State *L = call->L;
  lua_pushcfunction(L, drive_on_error);
  int handler = lua_gettop(L);
  lua_pushcfunction(L, f);
  lua_pushlightuserdata(L, run);
  lua_pushvalue(L, call->kernel);
  lua_pushinteger(L, call->first);
  if (call->traced)
    lua_pushvalue(L, call->traced);
  else
    lua_pushnil(L);
  if (call->outputs)
    lua_pushvalue(L, call->outputs);
  else
    lua_pushnil(L);
  for (int p = 0; p < call->k->core->nparams; p++) lua_pushvalue(L, call->first + p);
  call->raised = lua_pcall(L, P_top + call->k->core->nparams, nresults, handler) != LUA_OK;
  lua_remove(L, handler);
  return !call->raised;
}

/* Makes P_bound, P_traced and P_outputs what their names say. */
static void unpack(lua_State *L) {
  StepRun *run = run_of(L);
  bound_push(L, run->call->k->core, P_top + 1);
  lua_replace(L, P_bound);
  lua_settop(L, P_top);
  if (run->m && lua_isnil(L, P_traced)) {
    LTraced *t = traced_push(L, run->m);
    t->has_collectives = run->has_collectives;
    t->aliased = true;
    lua_pushvalue(L, P_kernel);
    lua_setiuservalue(L, -2, TRACED_KERNEL);
    lua_pushvalue(L, P_bound);
    lua_setiuservalue(L, -2, TRACED_BOUND);
    lua_replace(L, P_traced);
  }
  if (!run->m) return;
  if (run->a) {
    LTraced *t = traced_check(L, P_traced, "kernel_return");
    artifact_release(t->made);
    t->made = artifact_retain(run->a);
  }
  if (!lua_isnil(L, P_outputs)) return;
  traced_push_returns(L, run->m);
  lua_replace(L, P_outputs);
}

/* The trace stays on the call's stack for the steps behind. */
static int keep_traced(lua_State *L) {
  unpack(L);
  lua_settop(L, P_traced);
  return 1;
}

static bool need_traced(StepRun *run) {
  if (run->call->traced) return true;
  if (!protect(run, keep_traced, 1)) return false;
  run->call->traced = lua_gettop(run->call->L);
  return true;
}

/* ---- key --------------------------------------------------------------------------------------------------------- */

static int p_key(lua_State *L) {
  unpack(L);
  StepRun *run = run_of(L);
  Step step = kernel_overrides(run->call, STEP__arg_hash_key) ? STEP__arg_hash_key : STEP__generate_hash_key;
  class_push_method(L, P_kernel, step);
  lua_pushvalue(L, P_bound);
  lua_call(L, 2, 1);
  if (lua_type(L, -1) != LUA_TSTRING) wrong(L, "_generate_hash_key", "must return a string");
  size_t n;
  const char *s = lua_tolstring(L, -1, &n);
  text_clear(run->key); /* the step may have used the same cache */
  text_add(run->key, s, n);
  return 0;
}

static bool c_key(void *ud, const FwRequest *r, Text *key, Diag *d) {
  StepRun run = {.call = ud, .key = key};
  (void)r;
  return protect(&run, p_key, 0) && (!key->oom || DIAG0(d, nomem));
}

/* ---- trace ------------------------------------------------------------------------------------------------------- */

static int p_trace(lua_State *L) {
  unpack(L);
  StepRun *run = run_of(L);
  class_push_method(L, P_kernel, STEP_specialize_and_call);
  lua_pushvalue(L, P_bound);
  lua_call(L, 2, 2);
  const LTraced *t = traced_test(L, -2);
  if (!t || !lua_isboolean(L, -1))
    wrong(L, "specialize_and_call", "must return a trace, as the base class does, and has_collectives");
  run->m = ir_retain(t->m);
  run->impure = t->impure;
  run->has_collectives = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return 1;
}

static IrModule *c_trace(void *ud, const FwRequest *r, bool *has_collectives, bool *impure, Diag *d) {
  StepRun run = {.call = ud};
  (void)r, (void)d;
  if (!protect(&run, p_trace, 1)) return NULL;
  run.call->traced = lua_gettop(run.call->L);
  *has_collectives = run.has_collectives;
  *impure = run.impure;
  return run.m;
}

/* ---- returns ----------------------------------------------------------------------------------------------------- */

static void check_output(lua_State *L, const IrModule *m, uint32_t k) {
  const IrBuf *b = m->func[0]->bufs[m->func[0]->rets[k]];
  int64_t dim[IR_MAX_RANK];
  int item = lua_gettop(L);
  if (!lua_istable(L, item))
    wrong(L, "translate_return_types", "must return one table of name, shape and dtype per output");
  lua_getfield(L, item, "shape");
  lua_getfield(L, item, "dtype");
  lua_getfield(L, item, "name");
  if (lua_type(L, -1) != LUA_TSTRING || lua_type(L, -2) != LUA_TSTRING)
    wrong(L, "translate_return_types", "must return one table of name, shape and dtype per output");
  int rank = lang_check_shape(L, item + 1, "translate_return_types", "shape", dim);
  bool same = rank == b->rank && strcmp(lua_tostring(L, -2), dtype_name(b->dtype)) == 0;
  for (int i = 0; same && i < rank; i++) same = dim[i] == b->shape[i];
  if (!same) wrong(L, "translate_return_types", "gives an output another shape or dtype than the trace does");
}

/* Names are the class's to choose; they go into the module before it is printed. */
static int p_returns(lua_State *L) {
  unpack(L);
  StepRun *run = run_of(L);
  IrModule *m = run->m;
  class_push_method(L, P_kernel, STEP_translate_return_types);
  lua_pushvalue(L, P_traced);
  lua_call(L, 2, 2);
  if (!lua_istable(L, -2) || !lua_isboolean(L, -1) || luaL_len(L, -2) != (lua_Integer)m->func[0]->nrets)
    wrong(L, "translate_return_types", "must return the list of all outputs, and result_is_sequence");
  int list = lua_gettop(L) - 1;
  const char **names = arena_newn(&m->arena, const char *, m->func[0]->nrets);
  for (uint32_t k = 0; names && k < m->func[0]->nrets; k++) {
    lua_geti(L, list, (lua_Integer)k + 1);
    check_output(L, m, k);
    names[k] = arena_strdup(&m->arena, lua_tostring(L, -1), lua_rawlen(L, -1));
    if (!names[k]) names = NULL;
    lua_settop(L, list + 1);
  }
  if (!names) lang_no_memory(L);
  m->output_names = names;
  m->result_is_sequence = lua_toboolean(L, -1);
  lua_settop(L, list);
  return 1;
}

static bool c_returns(void *ud, const FwRequest *r, IrModule *m, Diag *d) {
  StepRun run = {.call = ud, .m = m};
  (void)r, (void)d;
  if (!need_traced(&run) || !protect(&run, p_returns, 1)) return false;
  run.call->outputs = lua_gettop(run.call->L);
  return true;
}

/* ---- aliases ----------------------------------------------------------------------------------------------------- */

static int32_t alias_index(lua_State *L, int pair, int i, uint32_t n) {
  int64_t v;
  lua_geti(L, pair, i);
  if (!lang_to_int(L, -1, &v) || v < 0 || v >= (int64_t)n)
    wrong(L, "generate_operand_output_aliases", "must return pairs {operand, output} of indices from 0");
  lua_pop(L, 1);
  return (int32_t)v;
}

static int p_aliases(lua_State *L) {
  unpack(L);
  StepRun *run = run_of(L);
  IrModule *m = run->m;
  const IrFunc *f = m->func[0];
  class_push_method(L, P_kernel, STEP_generate_operand_output_aliases);
  lua_pushvalue(L, P_bound);
  lua_pushvalue(L, P_outputs);
  lua_pushvalue(L, P_traced);
  lua_call(L, 4, 1);
  if (!lua_istable(L, -1)) wrong(L, "generate_operand_output_aliases", "must return a list of pairs");
  lua_Unsigned n = (lua_Unsigned)luaL_len(L, -1);
  if (n > f->nrets) wrong(L, "generate_operand_output_aliases", "returns more pairs than there are outputs");
  int list = lua_gettop(L);
  IrAlias *aliases = arena_newn(&m->arena, IrAlias, n);
  if (!aliases) lang_no_memory(L);
  for (lua_Unsigned k = 0; k < n; k++) {
    if (lua_geti(L, list, (lua_Integer)k + 1) != LUA_TTABLE)
      wrong(L, "generate_operand_output_aliases", "must return a list of pairs");
    aliases[k].operand = alias_index(L, list + 1, 1, f->nargs);
    aliases[k].output = alias_index(L, list + 1, 2, f->nrets);
    if (f->rets[aliases[k].output] != (uint32_t)aliases[k].operand || (k && aliases[k].output <= aliases[k - 1].output))
      wrong(L, "generate_operand_output_aliases", "may leave pairs out, but an output is an alias of what it returns");
    lua_pop(L, 1);
  }
  m->aliases = aliases;
  m->naliases = (uint32_t)n;
  return 0;
}

static bool c_aliases(void *ud, const FwRequest *r, IrModule *m, Diag *d) {
  StepRun run = {.call = ud, .m = m};
  (void)r, (void)d;
  return need_traced(&run) && protect(&run, p_aliases, 0);
}

/* ---- count, config, result --------------------------------------------------------------------------------------- */

static int p_macs(lua_State *L) {
  unpack(L);
  StepRun *run = run_of(L);
  class_push_method(L, P_kernel, STEP_matmul_mac_count);
  lua_pushvalue(L, P_traced);
  lua_call(L, 2, 1);
  if (!lang_to_int(L, -1, &run->count) || run->count < 0) wrong(L, "matmul_mac_count", "must return a count");
  return 0;
}

static bool c_macs(void *ud, const FwRequest *r, IrModule *m, int64_t *count, Diag *d) {
  StepRun run = {.call = ud, .m = m};
  (void)r, (void)d;
  if (!need_traced(&run) || !protect(&run, p_macs, 0)) return false;
  *count = run.count;
  return true;
}

static int p_encode(lua_State *L) {
  unpack(L);
  StepRun *run = run_of(L);
  Artifact *a = run->a;
  class_push_method(L, P_kernel, STEP_encode_backend_config);
  lua_pushboolean(L, a->has_collectives);
  lua_pushvalue(L, P_traced);
  lua_call(L, 3, 1);
  size_t n = 0;
  const char *s = lua_type(L, -1) == LUA_TSTRING ? lua_tolstring(L, -1, &n) : NULL;
  Text *json = lang_scratch_text(L, run->call->c);
  Diag *d = &run->call->c->diag;
  if (!s || !base64_decode(json, s, n, d)) {
    diag_clear(d);
    wrong(L, "encode_backend_config", "must return base64 text");
  }
  a->backend_config = arena_strdup(&a->arena, s, n);
  a->backend_config_len = n;
  a->config_json = arena_strdup(&a->arena, text_str(json), json->len);
  a->config_json_len = json->len;
  if (!a->backend_config || !a->config_json) lang_no_memory(L);
  return 0;
}

static bool c_encode(void *ud, const FwRequest *r, Artifact *a, Diag *d) {
  StepRun run = {.call = ud, .m = (IrModule *)(uintptr_t)a->module, .a = a};
  (void)r;
  return config_encode(a, d) && need_traced(&run) && protect(&run, p_encode, 0);
}

/* Results of artifacts that are not, or no longer, in the cache go when there are many. */
static void sweep_results(lua_State *L, const KernelCore *core, int results) {
  FwEntry e = {.at = NULL};
  lua_newtable(L);
  while (fw_cache_next(core->cache, &e)) {
    lua_rawgetp(L, results, e.artifact);
    lua_rawsetp(L, -2, e.artifact);
  }
  lua_setiuservalue(L, results - 1, CORE_RESULTS);
}

/* What assemble_result returned, on top of the stack: kept for later hits. */
static void keep_result(lua_State *L, const Artifact *a) {
  const KernelCore *core = run_of(L)->call->k->core;
  int value = lua_gettop(L);
  lua_getiuservalue(L, P_kernel, KERNEL_CORE);
  if (lua_getiuservalue(L, -1, CORE_RESULTS) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, value + 1, CORE_RESULTS);
  }
  lua_Integer n = 0;
  lua_pushnil(L);
  while (lua_next(L, value + 2)) lua_pop(L, 1), n++;
  if (n > 2 * fw_cache_info(core->cache).entries + 64) {
    sweep_results(L, core, value + 2);
    lua_settop(L, value + 1);
    lua_getiuservalue(L, -1, CORE_RESULTS);
  }
  lua_pushvalue(L, value);
  lua_rawsetp(L, -2, a);
}

/* The order of the page: config, names, aliases, constants, types, collectives, key, return, sequence. */
static int p_assemble(lua_State *L) {
  unpack(L);
  StepRun *run = run_of(L);
  const Artifact *a = run->a;
  luaL_checkstack(L, 16, NULL);
  class_push_method(L, P_kernel, STEP_assemble_result);
  lang_push_artifact(L, a);
  int artifact = lua_gettop(L);
  static const char *const fields[] = {"backend_config", "input_names", "output_names", "operand_output_aliases",
                                       "constant_values"};
  for (int i = 0; i < 5; i++) lua_getfield(L, artifact, fields[i]);
  lua_pushvalue(L, P_outputs);
  lua_pushboolean(L, a->has_collectives);
  lua_pushstring(L, a->cache_key);
  lua_pushvalue(L, P_traced);
  lua_pushboolean(L, a->result_is_sequence);
  lua_remove(L, artifact);
  lua_call(L, 11, 1);
  bool own = lang_to_artifact(L, -1) == a;
  if (!own && !lua_istable(L, -1)) wrong(L, "assemble_result", "must return what the base class does, or a table");
  if (own) lua_pushnil(L);
  keep_result(L, a);
  return 0;
}

static bool c_assemble(void *ud, const FwRequest *r, Artifact *a, Diag *d) {
  StepRun run = {.call = ud, .m = (IrModule *)(uintptr_t)a->module, .a = a};
  (void)r, (void)d;
  return need_traced(&run) && protect(&run, p_assemble, 0);
}

void class_push_result(KernelCall *call, const Artifact *a) {
  lua_State *L = call->L;
  if (!kernel_overrides(call, STEP_assemble_result)) return;
  int top = lua_gettop(L);
  lua_getiuservalue(L, call->kernel, KERNEL_CORE);
  lua_getiuservalue(L, -1, CORE_RESULTS);
  if (lua_istable(L, -1) && lua_rawgetp(L, -1, a) != LUA_TNIL) lua_replace(L, top);
  lua_settop(L, top);
}

void class_pipeline(KernelCall *call, FwPipeline *p) {
  if (call->over >> STEP__arg_hash_key & 1 || call->over >> STEP__generate_hash_key & 1 ||
      call->over >> STEP__return_shape_dtype_or_hashable & 1)
    p->generate_hash_key = c_key;
  if (kernel_overrides(call, STEP_specialize_and_call)) p->specialize_and_call = c_trace;
  if (kernel_overrides(call, STEP_translate_return_types)) p->translate_return_types = c_returns;
  if (kernel_overrides(call, STEP_generate_operand_output_aliases)) p->generate_operand_output_aliases = c_aliases;
  if (kernel_overrides(call, STEP_matmul_mac_count)) p->matmul_mac_count = c_macs;
  if (kernel_overrides(call, STEP_encode_backend_config)) p->encode_backend_config = c_encode;
  if (kernel_overrides(call, STEP_assemble_result)) p->assemble_result = c_assemble;
}

/* ---- the steps as methods ---------------------------------------------------------------------------------------- */

/* (kernel, BoundArguments, trace): assembles the artifact of a trace. */
static int l_make(lua_State *L) {
  KernelCall call;
  FwArg args[KERNEL_FAST_ARGS];
  LTraced *t = traced_check(L, 3, "kernel:assemble_result");
  lua_settop(L, 2); /* the caller has the trace, too */
  kernel_begin_bound(L, &call, args, "kernel:assemble_result");
  kernel_request(&call);
  Diag *d = &call.c->diag;
  if (!t->aliased && !fw_generate_operand_output_aliases(&call.r, t->m, d)) lang_raise(L, d);
  t->aliased = true;
  const Artifact *a = fw_assemble_result(&call.r, t->m, t->has_collectives, call.c->alloc, d);
  if (!a) lang_raise(L, d);
  artifact_release(t->made);
  t->made = a;
  return 0;
}

static const Artifact *made_of(lua_State *L, LTraced *t, int traced) {
  if (t->made) return t->made;
  lua_pushlightuserdata(L, lang_upctx(L));
  lua_pushcclosure(L, l_make, 1);
  lua_pushvalue(L, 1);
  lua_getiuservalue(L, traced, TRACED_BOUND);
  lua_pushvalue(L, traced);
  lua_call(L, 3, 0);
  return t->made;
}

/* (kernel, has_collectives, kernel_return) */
int step_encode_backend_config(lua_State *L) {
  kernel_self(L, "kernel:encode_backend_config", 2);
  lua_settop(L, 3);
  LTraced *t = traced_check(L, 3, "kernel:encode_backend_config");
  if (!lua_isboolean(L, 2)) lang_kind_error(L, 2, "kernel:encode_backend_config", "has_collectives", "true or false");
  if (t->made && t->made->has_collectives != lua_toboolean(L, 2)) {
    artifact_release(t->made);
    t->made = NULL;
  }
  t->has_collectives = lua_toboolean(L, 2);
  const Artifact *a = made_of(L, t, 3);
  lua_pushlstring(L, a->backend_config, a->backend_config_len);
  return 1;
}

/* (kernel, inputs, outputs, kernel_return) */
int step_generate_operand_output_aliases(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  kernel_self(L, "kernel:generate_operand_output_aliases", 3);
  lua_settop(L, 4);
  LTraced *t = traced_check(L, 4, "kernel:generate_operand_output_aliases");
  FwRequest r = {.func_name = t->m->name};
  if (!fw_generate_operand_output_aliases(&r, t->m, &c->diag)) lang_raise(L, &c->diag);
  t->aliased = true;
  traced_push_aliases(L, t->m);
  return 1;
}

static bool same_names(lua_State *L, int i, const char *const *names, uint32_t n) {
  if (!lua_istable(L, i) || luaL_len(L, i) != (lua_Integer)n) return false;
  for (uint32_t k = 0; k < n; k++) {
    lua_geti(L, i, (lua_Integer)k + 1);
    bool same = lua_type(L, -1) == LUA_TSTRING && strcmp(lua_tostring(L, -1), names[k]) == 0;
    lua_pop(L, 1);
    if (!same) return false;
  }
  return true;
}

/* (kernel, config, input_names, output_names, aliases, constant_values, outputs, has_collectives, key, kernel_return,
   result_is_sequence): the record, which is what the earlier steps made. */
int step_assemble_result(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  kernel_self(L, "kernel:assemble_result", 10);
  lua_settop(L, 11);
  LTraced *t = traced_check(L, 10, "kernel:assemble_result");
  const Artifact *a = made_of(L, t, 10);
  const char *differs = NULL;
  size_t n;
  const char *s = lua_type(L, 2) == LUA_TSTRING ? lua_tolstring(L, 2, &n) : NULL;
  if (!s || n != a->backend_config_len || memcmp(s, a->backend_config, n) != 0) differs = "backend_config";
  if (!same_names(L, 3, a->input_names, a->ninputs)) differs = "input_names";
  if (!same_names(L, 4, a->output_names, a->noutputs)) differs = "output_names";
  if (lua_toboolean(L, 8) != a->has_collectives) differs = "has_collectives";
  if (lua_toboolean(L, 11) != a->result_is_sequence) differs = "result_is_sequence";
  if (differs) {
    DIAG(&c->diag, kernel_step, a->func_name, "assemble_result: what the earlier steps made differs in", differs);
    lang_raise(L, &c->diag);
  }
  lang_push_artifact(L, a);
  return 1;
}
