/* kernel_call.c -- room lang: calling a kernel. Arrays run it, declarations specialize it, tensors of a running kernel
 * inline it. */
#include <string.h>

#include "kernel.h"

void kernel_push_function(lua_State *L, int kernel) {
  lua_getiuservalue(L, kernel, 1);
  lua_getiuservalue(L, -1, 1);
  lua_remove(L, -2);
}

static LKernel *self(lua_State *L, LangCtx *c) {
  LKernel *k = lang_to_kernel(L, c, 1);
  if (!k) luaL_typeerror(L, 1, "nki kernel");
  return k;
}

/* Kernels that run each other, or themselves, would end in Lua's "C stack overflow", which names nothing. */
static void check_nesting(lua_State *L, const LangCtx *c, const LKernel *k) {
  enum { MOST = 48 };
  int n = 0;
  lua_Debug ar;
  for (int level = 0; c->trace && lua_getstack(L, level, &ar); level++) {
    lua_getinfo(L, "f", &ar);
    lua_CFunction f = lua_tocfunction(L, -1);
    n += f == kernel_call || f == kernel_simulate || f == kernel_specialize || f == kernel_dump_config;
    lua_pop(L, 1);
  }
  if (n > MOST) LANG_HERE(L, kernel_nesting, k->core->func_name, MOST);
}

/* Binds and classifies. args: room for KERNEL_FAST_ARGS, on the caller's C stack. */
static void begin(lua_State *L, KernelCall *call, FwArg *args) {
  LangCtx *c = lang_upctx(L);
  LKernel *k = self(L, c);
  diag_clear(&c->diag); /* an error of memory inside lang_raise leaves one filled */
  *call =
      (KernelCall){.c = c, .k = k, .L = L, .kernel = 1, .first = 2, .args = args, .array = -1, .decl = -1, .tile = -1};
  check_nesting(L, c, k);
  kernel_bind(L, c, k, 1);
  if (k->core->nparams > KERNEL_FAST_ARGS)
    call->args = lua_newuserdatauv(L, (size_t)k->core->nparams * sizeof *args, 0);
}

static const char *param(const KernelCall *call, int p) { return call->k->core->params[p]; }

/* A call is wholly of one kind. */
static void check_mix(KernelCall *call) {
  const char *name = call->k->core->func_name;
  if (call->array >= 0 && call->decl >= 0)
    LANG_FAIL(call->L, kernel_tensor_mix, name, param(call, call->decl), param(call, call->array));
  if (call->tile >= 0) LANG_FAIL(call->L, kernel_tile_outside, name, param(call, call->tile));
}

/* What Lua says when a body that C called tries to yield. */
static bool is_yield(lua_State *L) {
  if (lua_type(L, -1) != LUA_TSTRING) return false;
  const char *s = lua_tostring(L, -1);
  return strcmp(s, "attempt to yield across a C-call boundary") == 0 ||
         strcmp(s, "attempt to yield from outside a coroutine") == 0;
}

/* The artifact of the call: found, or traced. Its userdata is pushed, so that an error later cannot leak it. */
static const Artifact *specialize(KernelCall *call) {
  LangCtx *c = call->c;
  const KernelCore *core = call->k->core;
  static const FwPipeline defaults = {.specialize_and_call = drive_specialize};
  FwPipeline pipeline = defaults;
  pipeline.ud = call;
  if (core->mode == MODE_TRACE) LANG_FAIL(call->L, kernel_outside, core->func_name);
  luaL_checkstack(call->L, core->nparams + 16, "kernel arguments"); /* drive_specialize may not raise */
  const Artifact *a = fw_specialize(core->enable_cache ? core->cache : NULL, &pipeline, &call->r, c->alloc, &c->diag);
  if (call->raised) {
    diag_clear(&c->diag);
    if (is_yield(call->L)) LANG_FAIL(call->L, yield_in_kernel, core->func_name);
    lua_error(call->L); /* unchanged, whatever it is */
  }
  if (!a) lang_raise(call->L, &c->diag);
  artifact_push_made(call->L, c, a);
  return a;
}

static const Artifact *specialize_at(lua_State *L) {
  KernelCall call;
  FwArg args[KERNEL_FAST_ARGS];
  begin(L, &call, args);
  kernel_request(&call);
  check_mix(&call);
  return specialize(&call);
}

int kernel_specialize(lua_State *L) {
  specialize_at(L);
  return 1;
}

int kernel_dump_config(lua_State *L) {
  const Artifact *a = specialize_at(L);
  lua_pushlstring(L, a->backend_config, a->backend_config_len);
  lua_createtable(L, (int)a->ninputs, 0);
  for (uint32_t i = 0; i < a->ninputs; i++) {
    lua_pushstring(L, a->input_names[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_createtable(L, (int)a->noutputs, 0);
  for (uint32_t i = 0; i < a->noutputs; i++) {
    lua_pushstring(L, a->output_names[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 3;
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
  const Artifact *a = specialize(call);
  int first = push_operands(call, a);
  int n = artifact_simulate(L, call->c, a, first);
  if (core->mode == MODE_LEGACY) copy_to_parameters(call, a, lua_gettop(L) - n + 1);
  return n;
}

int kernel_simulate(lua_State *L) {
  KernelCall call;
  FwArg args[KERNEL_FAST_ARGS];
  begin(L, &call, args);
  kernel_request(&call);
  return run(&call);
}

/* Inside a kernel a call without arrays and declarations is part of that kernel. */
static bool is_inlined(KernelCall *call) {
  if (!call->c->trace) return false;
  for (int p = 0; p < call->k->core->nparams; p++) {
    int i = call->first + p;
    if (lang_test(call->L, i, call->c->mt_array) || lang_test(call->L, i, call->c->mt_decl)) return false;
  }
  return true;
}

int kernel_call(lua_State *L) {
  KernelCall call;
  FwArg args[KERNEL_FAST_ARGS];
  begin(L, &call, args);
  if (is_inlined(&call)) return drive_inline(&call);
  kernel_request(&call);
  KernelMode mode = call.k->core->mode;
  bool record = mode == MODE_JAX || mode == MODE_TORCHXLA || (mode != MODE_SIMULATION && call.decl >= 0);
  if (!record) return run(&call);
  check_mix(&call);
  specialize(&call);
  return 1;
}
