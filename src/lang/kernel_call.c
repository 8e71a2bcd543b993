/* kernel_call.c -- room lang: calling a kernel. Arrays run it, declarations specialize it, tensors of a running kernel
 * inline it. */
#include <string.h>

#include "kernel.h"

/* Kernels that run each other, or themselves, would end in Lua's "C stack overflow", which names nothing. */
static void check_nesting(lua_State *L, const LangCtx *c, const LKernel *k) {
  enum { MOST = 48 };
  int n = 0;
  lua_Debug ar;
  for (int level = 0; c->trace && lua_getstack(L, level, &ar); level++) {
    lua_getinfo(L, "f", &ar);
    lua_CFunction f = lua_tocfunction(L, -1);
    n += f == kernel_call || f == kernel_simulate || f == kernel_specialize || f == kernel_dump_config ||
         f == step_dump_config_with_boundargs || f == step_call || f == step_inline_function;
    lua_pop(L, 1);
  }
  if (n > MOST) LANG_HERE(L, kernel_nesting, k->core->func_name, MOST);
}

static LKernel *open_call(lua_State *L, KernelCall *call, const char *who, int most) {
  LangCtx *c = lang_upctx(L);
  LKernel *k = kernel_self(L, who, most);
  diag_clear(&c->diag); /* an error of memory inside lang_raise leaves one filled */
  *call = (KernelCall){.c = c, .k = k, .L = L, .kernel = 1, .first = 2, .array = -1, .decl = -1, .tile = -1};
  check_nesting(L, c, k);
  if (k->core->custom) call->over = class_overrides(L, c, 1);
  return k;
}

static void take_args(KernelCall *call, FwArg *args) {
  int n = call->k->core->nparams;
  call->args = n > KERNEL_FAST_ARGS ? lua_newuserdatauv(call->L, (size_t)n * sizeof *args, 0) : args;
}

/* Binds and classifies; args: room for KERNEL_FAST_ARGS. */
static void begin_call(lua_State *L, KernelCall *call, FwArg *args, const char *who) {
  LKernel *k = open_call(L, call, who, ANY);
  if (kernel_overrides(call, STEP_bind_arguments)) {
    class_bind(call);
  } else {
    kernel_bind(L, call->c, k, 1);
  }
  take_args(call, args);
}

void kernel_begin_bound(lua_State *L, KernelCall *call, FwArg *args, const char *who) {
  const LKernel *k = open_call(L, call, who, 1);
  lua_settop(L, 2);
  call->first = lua_gettop(L) + 1;
  bound_spread(L, k->core, 2, who);
  take_args(call, args);
}

static const char *param(const KernelCall *call, int p) { return call->k->core->params[p]; }

/* A call is wholly of one kind. */
static void check_mix(KernelCall *call) {
  const char *name = call->k->core->func_name;
  if (call->array >= 0 && call->decl >= 0)
    LANG_FAIL(call->L, kernel_tensor_mix, name, param(call, call->decl), param(call, call->array));
  if (call->tile >= 0) LANG_FAIL(call->L, kernel_tile_outside, name, param(call, call->tile));
}

void kernel_reraise(KernelCall *call) {
  diag_clear(&call->c->diag);
  if (drive_is_yield(call->L, -1)) LANG_FAIL(call->L, yield_in_kernel, call->k->core->func_name);
  if (call->node) node_blame(call);
  lua_error(call->L);
}

void kernel_call_method(lua_State *L, const KernelCore *core, int nargs, int nresults) {
  int function = lua_gettop(L) - nargs;
  lua_pushcfunction(L, drive_on_error);
  lua_insert(L, function);
  int status = lua_pcall(L, nargs, nresults, function);
  lua_remove(L, function);
  if (status == LUA_OK) return;
  if (drive_is_yield(L, -1)) LANG_FAIL(L, yield_in_kernel, core->func_name);
  lua_error(L);
}

/* The artifact of the call: found, or traced. Its userdata is pushed, so that an error later cannot leak it. */
const Artifact *kernel_artifact(KernelCall *call) {
  LangCtx *c = call->c;
  const KernelCore *core = call->k->core;
  FwPipeline pipeline = {.ud = call, .specialize_and_call = drive_specialize, .describe_captured = capture_describe};
  if (core->mode == MODE_TRACE) LANG_FAIL(call->L, kernel_outside, core->func_name);
  luaL_checkstack(call->L, core->nparams + 32, "kernel arguments"); /* drive_specialize may not raise */
  if (call->over) class_pipeline(call, &pipeline);
  call->k->core->recompiled = false;
  kernel_cache_open(call);
  int64_t disk_hits = fw_cache_disk_hits(core->cache);
  const Artifact *a = fw_specialize(core->enable_cache ? core->cache : NULL, &pipeline, &call->r, c->alloc, &c->diag);
  if (call->raised) kernel_reraise(call);
  if (!a) lang_raise(call->L, &c->diag);
  artifact_push_made(call->L, c, a);
  kernel_cache_say(call, a, disk_hits);
  return a;
}

/* ---- dump_config_with_boundargs and what is made of it ----------------------------------------------------------- */

static int push_record(KernelCall *call, const Artifact *a) {
  lua_State *L = call->L;
  int made = lua_gettop(L);
  lua_pushlstring(L, a->backend_config, a->backend_config_len);
  lang_push_names(L, a->input_names, a->ninputs);
  lang_push_names(L, a->output_names, a->noutputs);
  lua_pushvalue(L, made);
  class_push_result(call, a);
  return 4;
}

/* Leaves backend_config, input_names, output_names and the result of the bound call on the stack. */
static int dump(KernelCall *call, bool requested) {
  lua_State *L = call->L;
  if (kernel_overrides(call, STEP_dump_config_with_boundargs)) {
    class_push_method(L, call->kernel, STEP_dump_config_with_boundargs);
    bound_push(L, call->k->core, call->first);
    kernel_call_method(L, call->k->core, 2, 4);
    return 4;
  }
  if (!requested) kernel_request(call);
  check_mix(call);
  return push_record(call, kernel_artifact(call));
}

int step_dump_config_with_boundargs(lua_State *L) {
  KernelCall call;
  FwArg args[KERNEL_FAST_ARGS];
  kernel_begin_bound(L, &call, args, "kernel:dump_config_with_boundargs");
  kernel_request(&call);
  check_mix(&call);
  return push_record(&call, kernel_artifact(&call));
}

int kernel_dump_config(lua_State *L) {
  KernelCall call;
  FwArg args[KERNEL_FAST_ARGS];
  begin_call(L, &call, args, "kernel:dump_config");
  dump(&call, false);
  lua_pop(L, 1);
  return 3;
}

/* The record of a call: the artifact, or what a class makes of it. */
static int record(KernelCall *call, bool requested) {
  if (call->over) {
    dump(call, requested);
    return 1;
  }
  if (!requested) kernel_request(call);
  check_mix(call);
  kernel_artifact(call);
  return 1;
}

int kernel_specialize(lua_State *L) {
  KernelCall call;
  FwArg args[KERNEL_FAST_ARGS];
  begin_call(L, &call, args, "kernel:specialize");
  return record(&call, false);
}

/* Pushes the arrays that are operands, in operand order, and returns the index of the first. In a legacy kernel some
   tensors are no operands; the artifact's names tell. */
static int push_operands(KernelCall *call, const Artifact *a) {
  lua_State *L = call->L;
  luaL_checkstack(L, (int)a->ninputs + 8, "operands");
  int first = lua_gettop(L) + 1;
  uint32_t next = 0;
  for (int p = 0; p < call->k->core->nparams && next < a->ninputs; p++) {
    if (!call->args[p].is_tensor || strcmp(param(call, p), a->input_names[next]) != 0) continue;
    lua_pushvalue(L, call->first + p);
    next++;
  }
  return first;
}

/* A legacy kernel's output that was a parameter goes where the caller put it. */
static void copy_to_parameters(KernelCall *call, const Artifact *a, int outputs) {
  lua_State *L = call->L;
  for (uint32_t k = 0; k < a->noutputs; k++) {
    const LArray *from = lang_to_array(L, outputs + (int)k);
    for (int p = 0; p < call->k->core->nparams; p++) {
      if (!call->args[p].is_tensor || strcmp(param(call, p), a->output_names[k]) != 0) continue;
      LArray *to = lang_to_array(L, call->first + p);
      if (to == from || to->nbytes != from->nbytes) continue;
      memcpy(to->data, from->data, to->nbytes);
      lua_pushvalue(L, call->first + p);
      lua_replace(L, outputs + (int)k);
    }
  }
}

static int run(KernelCall *call) {
  lua_State *L = call->L;
  const KernelCore *core = call->k->core;
  check_mix(call);
  if (call->decl >= 0) LANG_FAIL(L, kernel_decl_run, core->func_name, param(call, call->decl), "a simulation");
  const Artifact *a = kernel_artifact(call);
  int first = push_operands(call, a);
  int n = artifact_simulate(L, call->c, a, first, 0);
  if (core->mode == MODE_LEGACY) copy_to_parameters(call, a, lua_gettop(L) - n + 1);
  return n;
}

int kernel_operands(lua_State *L) {
  KernelCall call;
  FwArg args[KERNEL_FAST_ARGS];
  const Artifact *a = lang_to_artifact(L, lua_upvalueindex(2));
  begin_call(L, &call, args, "nki.simulate");
  kernel_request(&call);
  check_mix(&call);
  const KernelCore *core = call.k->core;
  if (call.decl >= 0) LANG_FAIL(L, kernel_decl_run, core->func_name, param(&call, call.decl), "a simulation");
  if (core->mode == MODE_LEGACY)
    LANG_FAIL(L, kernel_option, "nki.simulate",
              "a kernel of mode legacy writes into its arguments and does not run on ranks");
  if (a) {
    lua_pushvalue(L, lua_upvalueindex(2));
  } else {
    a = kernel_artifact(&call);
  }
  push_operands(&call, a);
  return 1 + (int)a->ninputs;
}

int kernel_simulate(lua_State *L) {
  KernelCall call;
  FwArg args[KERNEL_FAST_ARGS];
  begin_call(L, &call, args, "nki.simulate_kernel");
  kernel_request(&call);
  return run(&call);
}

/* Inside a kernel a call without arrays and declarations is part of that kernel. */
static bool is_inlined(KernelCall *call) {
  if (!call->c->trace) return false;
  for (int p = 0; p < call->k->core->nparams; p++) {
    int i = call->first + p;
    if (lang_array_at(call->L, i) || lang_decl_at(call->L, i)) return false;
  }
  return true;
}

static int inline_function(KernelCall *call) {
  lua_State *L = call->L;
  if (!kernel_overrides(call, STEP_inline_function)) return node_insert(call);
  int top = lua_gettop(L), n = call->k->core->nparams;
  class_push_method(L, call->kernel, STEP_inline_function);
  for (int p = 0; p < n; p++) lua_pushvalue(L, call->first + p);
  kernel_call_method(L, call->k->core, n + 1, LUA_MULTRET);
  return lua_gettop(L) - top;
}

int step_inline_function(lua_State *L) {
  KernelCall call;
  FwArg args[KERNEL_FAST_ARGS];
  lang_need_trace(L, lang_upctx(L), "inline_function");
  begin_call(L, &call, args, "kernel:inline_function");
  return node_insert(&call);
}

static int call_kernel(KernelCall *call) {
  if (is_inlined(call)) return inline_function(call);
  KernelMode mode = call->k->core->mode;
  if (mode == MODE_JAX || mode == MODE_TORCHXLA || mode == MODE_FRAMEWORK) return record(call, false);
  kernel_request(call);
  return mode != MODE_SIMULATION && call->decl >= 0 ? record(call, true) : run(call);
}

int step_call(lua_State *L) {
  KernelCall call;
  FwArg args[KERNEL_FAST_ARGS];
  begin_call(L, &call, args, "kernel:call");
  return call_kernel(&call);
}

int kernel_call(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  const LKernel *k = kernel_self(L, "kernel", ANY);
  if (!k->core->custom || !(class_overrides(L, c, 1) >> STEP_call & 1)) return step_call(L);
  class_push_method(L, 1, STEP_call);
  lua_pop(L, 1);
  lua_insert(L, 1); /* the method, then the kernel, then the arguments */
  kernel_call_method(L, k->core, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}
