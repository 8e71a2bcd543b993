/* class.c -- room lang: kernels whose class is written in Lua (lua/nki/kernel_classes.lua has the base classes). A
   class is a table that finds what it lacks in its base; which steps of the pipeline it overrides is found out at every
   call, by comparison with the steps of the base classes. */
#include <dirent.h>
#include <string.h>

#include "kernel.h"

static const char bases_key; /* registry: table, step -> the base function */

static const char *const step_names[] = {
#define STEP(name, base) #name,
#include "steps.def"
#undef STEP
};

/* Pushes what the kernel's own fields, else its class have under the name on top of the stack, which it replaces. */
static void find(lua_State *L, int fields, int class) {
  if (lua_istable(L, fields)) {
    lua_pushvalue(L, -1);
    if (lua_rawget(L, fields) != LUA_TNIL) {
      lua_remove(L, -2);
      return;
    }
    lua_pop(L, 1);
  }
  lua_gettable(L, class);
}

/* Pushes fields and class of a kernel. */
static bool push_class(lua_State *L, int kernel) {
  lua_getiuservalue(L, kernel, KERNEL_CORE);
  lua_getiuservalue(L, -1, CORE_FIELDS);
  lua_getiuservalue(L, -2, CORE_CLASS);
  lua_remove(L, -3);
  if (lua_istable(L, -1)) return true;
  lua_pop(L, 2);
  return false;
}

uint32_t class_overrides(lua_State *L, LangCtx *c, int kernel) {
  uint32_t over = 0;
  (void)c;
  kernel = lua_absindex(L, kernel);
  luaL_checkstack(L, 12, NULL);
  int top = lua_gettop(L);
  if (!push_class(L, kernel)) return 0;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &bases_key);
  for (int s = 0; s < STEP_count; s++) {
    lua_pushstring(L, step_names[s]);
    lua_pushvalue(L, -1);
    lua_rawget(L, top + 3);
    lua_insert(L, -2);
    find(L, top + 1, top + 2);
    if (!lua_isnil(L, -1) && !lua_rawequal(L, -1, -2)) over |= 1u << s;
    lua_pop(L, 2);
  }
  lua_settop(L, top);
  return over;
}

void class_push_method(lua_State *L, int kernel, Step s) {
  kernel = lua_absindex(L, kernel);
  luaL_checkstack(L, 12, NULL);
  int top = lua_gettop(L);
  push_class(L, kernel);
  lua_pushstring(L, step_names[s]);
  find(L, top + 1, top + 2);
  lua_replace(L, top + 1);
  lua_settop(L, top + 1);
  lua_pushvalue(L, kernel);
}

/* The class of a kernel that nki.jit made. */
static const char *class_of_mode(KernelMode mode) {
  static const char *const names[] = {[MODE_AUTO] = "UnifiedKernel",
                                      [MODE_SIMULATION] = "SimulateKernel",
                                      [MODE_JAX] = "JAXKernel",
                                      [MODE_TORCHXLA] = "PyTorchXLAKernel",
                                      [MODE_LEGACY] = "LegacyFrameworkKernel",
                                      [MODE_FRAMEWORK] = "FrameworkKernel",
                                      [MODE_TRACE] = "TraceKernel"};
  return names[mode];
}

static void class_push_of(lua_State *L, LangCtx *c, int kernel) {
  if (push_class(L, kernel)) {
    lua_remove(L, -2);
    return;
  }
  class_push(L, c, class_of_mode(lang_to_kernel(L, kernel)->core->mode));
}

bool class_find(lua_State *L, LangCtx *c, int kernel, const char *name) {
  int top = lua_gettop(L);
  if (!push_class(L, kernel)) {
    lua_pushnil(L);
    class_push_of(L, c, kernel);
  }
  lua_pushstring(L, name);
  find(L, top + 1, top + 2);
  lua_replace(L, top + 1);
  lua_settop(L, top + 1);
  if (!lua_isnil(L, -1)) return true;
  lua_pop(L, 1);
  return false;
}

void class_bind(KernelCall *call) {
  lua_State *L = call->L;
  int n = lua_gettop(L) - 1;
  class_push_method(L, 1, STEP_bind_arguments);
  for (int i = 1; i <= n; i++) lua_pushvalue(L, 1 + i);
  kernel_call_method(L, call->k->core, n + 1, 1);
  lua_replace(L, 2);
  lua_settop(L, 2);
  call->first = 3;
  bound_spread(L, call->k->core, 2, "bind_arguments");
}

void class_map(KernelCall *call) {
  lua_State *L = call->L;
  const KernelCore *core = call->k->core;
  class_push_method(L, call->kernel, STEP__map_args);
  bound_push(L, core, call->first);
  kernel_call_method(L, core, 2, 1);
  int mapped = lua_gettop(L);
  bound_spread(L, core, mapped, "_map_args");
  for (int p = core->nparams - 1; p >= 0; p--) lua_replace(L, call->first + p);
  lua_settop(L, mapped - 1);
}

/* ---- primitives of the base classes ------------------------------------------------------------------------------ */

int step_bind_arguments(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  const LKernel *k = kernel_self(L, "kernel:bind_arguments", ANY);
  kernel_bind(L, c, k, 1);
  bound_push(L, k->core, 2);
  return 1;
}

/* key(kernel, BoundArguments): the canonical bytes of a request. */
static int l_key(lua_State *L) {
  KernelCall call;
  FwArg args[KERNEL_FAST_ARGS];
  kernel_begin_bound(L, &call, args, "kernel:_generate_hash_key");
  kernel_request(&call);
  Text *key = lang_scratch_text(L, call.c);
  if (!fw_generate_hash_key(&call.r, key, &call.c->diag)) lang_raise(L, &call.c->diag);
  lua_pushlstring(L, text_str(key), key->len);
  return 1;
}

/* (kernel, grid): nil is the kernel's own, {} is none. */
int step_check_grid(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  const LKernel *k = kernel_self(L, "kernel:check_grid", 1);
  FwRequest r = {.func_name = k->core->func_name};
  KernelCall call = {.c = c, .k = k, .L = L, .kernel = 1};
  LKernel view = *k;
  lua_settop(L, 2);
  bool none = lua_istable(L, 2) && luaL_len(L, 2) == 0;
  if (none) view.ngrid = 0;
  if (!none && !lua_isnil(L, 2)) kernel_check_grid(L, r.func_name, 2, &view);
  r.ngrid = view.ngrid;
  memcpy(r.grid, view.grid, sizeof r.grid);
  memcpy(r.cores, view.cores, sizeof r.cores);
  kernel_target(&call);
  r.target = call.r.target;
  if (!fw_check_grid(&r, &c->diag)) lang_raise(L, &c->diag);
  return 0;
}

int step_specialize_and_call(lua_State *L) {
  KernelCall call;
  FwArg args[KERNEL_FAST_ARGS];
  bool has_collectives = false, impure = false;
  kernel_begin_bound(L, &call, args, "kernel:specialize_and_call");
  kernel_request(&call);
  luaL_checkstack(L, call.k->core->nparams + 32, "kernel arguments");
  IrModule *m = drive_specialize(&call, &call.r, &has_collectives, &impure, &call.c->diag);
  if (call.raised) kernel_reraise(&call);
  if (!m) lang_raise(L, &call.c->diag);
  LTraced *t = traced_push(L, m);
  ir_release(m);
  t->has_collectives = has_collectives;
  t->impure = impure;
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, TRACED_KERNEL);
  lua_pushvalue(L, 2);
  lua_setiuservalue(L, -2, TRACED_BOUND);
  lua_pushboolean(L, has_collectives);
  return 2;
}

static int l_base(lua_State *L) { /* base(name, function): a step that is written in Lua */
  lua_settop(L, 2);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &bases_key);
  lua_insert(L, 1);
  lua_rawset(L, 1);
  return 0;
}

/* kind(value): "array", "decl", "tile", "trace", "kernel", or nil for anything else. */
static int l_kind(lua_State *L) {
  const char *kind = NULL;
  lua_settop(L, 1);
  if (lang_to_array(L, 1)) kind = "array";
  if (lang_to_decl(L, 1)) kind = "decl";
  if (lang_tile_at(L, 1)) kind = "tile";
  if (traced_test(L, 1)) kind = "trace";
  if (lang_to_kernel(L, 1)) kind = "kernel";
  lua_pushstring(L, kind);
  return 1;
}

/* check_hashable(kernel, value, parameter or nil): raises when the value can be no constant argument. */
static int l_check_hashable(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  char got[DESCRIBE];
  ConstValue value;
  KernelCall call = {.c = c, .L = L, .kernel = 1, .k = kernel_self(L, "kernel:_return_shape_dtype_or_hashable", 2)};
  lua_settop(L, 3);
  capture_begin(c, call.k->core->dir);
  if (!constant_of(&call, 2, &value))
    LANG_FAIL(L, nki_param_not_hashable, call.k->core->func_name, luaL_optstring(L, 3, "?"),
              lang_describe(L, 2, got, sizeof got));
  return 0;
}

static int l_in_kernel(lua_State *L) { return lua_pushboolean(L, lang_upctx(L)->trace != NULL), 1; }

static int l_class_of(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  if (!lang_to_kernel(L, 1)) {
    lua_pushnil(L);
    return 1;
  }
  class_push_of(L, c, 1);
  return 1;
}

/* fields(kernel): what was assigned to it, by name. */
static int l_fields(lua_State *L) {
  lua_settop(L, 1);
  lua_getiuservalue(L, 1, KERNEL_CORE);
  if (lua_getiuservalue(L, -1, CORE_FIELDS) != LUA_TTABLE) lua_newtable(L);
  return 1;
}

/* overrides(kernel): has its class, or it alone, steps of its own besides `call`? */
static int l_overrides(lua_State *L) {
  lua_pushboolean(L, (class_overrides(L, lang_upctx(L), 1) & ~(1u << STEP_call)) != 0);
  return 1;
}

/* plan(artifact, dir, neff, trace, compile options): what a run on a device would do, and what it lacks or nil. */
static int l_plan(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  lua_settop(L, 5);
  const Artifact *a = lang_to_artifact(L, 1);
  if (!a) return lang_kind_error(L, 1, "kernel:plan", "artifact", "an artifact");
  FwBaremetal b = {luaL_optstring(L, 2, NULL), luaL_optstring(L, 3, NULL), luaL_optstring(L, 4, NULL),
                   luaL_optstring(L, 5, NULL)};
  Text *plan = lang_scratch_text(L, c), *missing = lang_scratch_text(L, c);
  fw_baremetal_plan(a, &b, plan);
  fw_baremetal_missing(missing);
  lua_pushlstring(L, text_str(plan), plan->len);
  if (missing->len)
    lua_pushlstring(L, text_str(missing), missing->len);
  else
    lua_pushnil(L);
  return 2;
}

/* entries(folder): how many it has, or nil when it is none. */
static int l_entries(lua_State *L) {
  lua_Integer n = 0;
  DIR *dir = opendir(luaL_checkstring(L, 1));
  for (const struct dirent *e; dir && (e = readdir(dir));)
    n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
  if (dir) closedir(dir);
  if (dir)
    lua_pushinteger(L, n);
  else
    lua_pushnil(L);
  return 1;
}

/* The per-instance cache in its order: {{key = bytes, result = artifact}, ...} */
int class_push_cache(lua_State *L, const LKernel *k) {
  FwEntry e = {.at = NULL};
  lua_newtable(L);
  for (lua_Integer i = 1; fw_cache_next(k->core->cache, &e); i++) {
    lua_createtable(L, 0, 2);
    lua_pushlstring(L, e.key, e.nkey);
    lua_setfield(L, -2, "key");
    lang_push_artifact(L, e.artifact);
    lua_setfield(L, -2, "result");
    lua_rawseti(L, -2, i);
  }
  return 1;
}

static void class_open(lua_State *L, LangCtx *c) {
  static const luaL_Reg functions[] = {{"key", l_key},
                                       {"base", l_base},
                                       {"measure", measure_runs},
                                       {"profile", measure_profile},
                                       {"percentile", measure_percentile},
                                       {"plan", l_plan},
                                       {"entries", l_entries},
                                       {"options", kernel_options},
                                       {"class_of", l_class_of},
                                       {"fields", l_fields},
                                       {"overrides", l_overrides},
                                       {"in_kernel", l_in_kernel},
                                       {"kind", l_kind},
                                       {"check_hashable", l_check_hashable},
                                       {"check_bound", bound_check},
                                       {"new", kernel_new},
                                       {"replace", kernel_replace},
                                       {"specialize", kernel_specialize},
                                       {"dump_config", kernel_dump_config},
                                       {"simulate", kernel_simulate},
#define STEP(name, base) STEP_ROW_##base(name)
#define STEP_ROW_C(name) {#name, step_##name},
#define STEP_ROW_LUA(name)
#include "steps.def"
#undef STEP
                                       {NULL, NULL}};
  luaL_newlibtable(L, functions);
  lua_pushlightuserdata(L, c);
  luaL_setfuncs(L, functions, 1);
  lua_newtable(L);
  for (int s = 0; s < STEP_count; s++) {
    lua_getfield(L, -2, step_names[s]);
    lua_setfield(L, -2, step_names[s]);
  }
  lua_rawsetp(L, LUA_REGISTRYINDEX, &bases_key);
}

/* ---- public names that are defined in Lua ------------------------------------------------------------------------ */

static const char module_key; /* registry: the contents of module nki, complete once the Lua half has run */

/* Runs the Lua half, once; the contents of nki are on top of the stack. */
static void load_half(lua_State *L, LangCtx *c) {
  static const char *const halves[] = {"nki.kernel_classes", "nki.numpy_kernels", "nki.nodes"};
  int module = lua_gettop(L);
  class_open(L, c); /* the primitives */
  for (int i = 0; i < 3; i++) lang_half_add(L, c, halves[i], module);
  lua_settop(L, module);
}

/* A name that nki lacks: the Lua half is loaded, then the name is looked for again. Upvalues: context, what to do when
   it is still missing, whether the half is loaded. */
static int l_late(lua_State *L) {
  lua_settop(L, 2);
  if (!lua_toboolean(L, lua_upvalueindex(3))) {
    lua_pushboolean(L, true);
    lua_replace(L, lua_upvalueindex(3));
    lua_pushvalue(L, 1);
    load_half(L, lang_upctx(L));
    lua_pop(L, 1);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, 1) != LUA_TNIL) return 1;
    lua_pop(L, 1);
  }
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_insert(L, 1);
  lua_call(L, 2, 1);
  return 1;
}

void class_late(lua_State *L) {
  LangCtx *c = lang_ctx(L);
  lua_getmetatable(L, -1);
  lua_getfield(L, -1, "__index"); /* the contents */
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &module_key);
  lua_getmetatable(L, -1);
  lua_pushlightuserdata(L, c);
  lua_getfield(L, -2, "__index");
  lua_pushboolean(L, false);
  lua_pushcclosure(L, l_late, 3);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 3);
}

void class_push(lua_State *L, LangCtx *c, const char *name) {
  (void)c;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &module_key) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_getglobal(L, "require");
    lua_pushliteral(L, "nki");
    lua_call(L, 1, 1);
    lua_pop(L, 1);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &module_key);
  }
  lua_getfield(L, -1, name);
  lua_remove(L, -2);
}
