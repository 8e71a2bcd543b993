/* kernel.c -- room lang: the kernel object and the C half of module nki. */
#include <string.h>

#include "kernel.h"

const char LANG_KERNEL[] = "nki.kernel";

bool lang_is_kernel(lua_State *L, int i) { return lang_to_kernel(L, i) != NULL; }

LKernel *kernel_self(lua_State *L, const char *func, int most) {
  LKernel *k = lang_to_kernel(L, 1);
  if (!k) lang_kind_error(L, 1, func, "self", "a kernel, which nki.jit makes");
  if (most != ANY) lang_at_most(L, func, 2, most);
  return k;
}

int lang_kernel_param_count(lua_State *L, int i) { return lang_to_kernel(L, i)->core->nparams; }

const char *lang_kernel_param(lua_State *L, int i, int param) { return lang_to_kernel(L, i)->core->params[param]; }

static void set_library(lua_State *L, const char *module) {
  const LKernel *k = lang_to_kernel(L, -1);
  if (k) k->core->library = module;
}

void kernel_from_library(lua_State *L, const char *module) {
  set_library(L, module);
  if (!lua_istable(L, -1)) return;
  lua_pushnil(L);
  while (lua_next(L, -2)) {
    set_library(L, module);
    lua_pop(L, 1);
  }
}

/* ---- launch views ------------------------------------------------------------------------------------------------ */

static LKernel *push_view(lua_State *L, const LKernel *k) {
  LKernel *view = lua_newuserdatauv(L, sizeof *view, KERNEL_BASE);
  *view = *k;
  for (int i = KERNEL_CORE; i < KERNEL_BASE; i++) {
    lua_getiuservalue(L, 1, i);
    lua_setiuservalue(L, -2, i);
  }
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, KERNEL_BASE);
  luaL_setmetatable(L, LANG_KERNEL);
  return view;
}

/* k[4], k[{4, 2}] */
static int launch(lua_State *L, const LKernel *k) {
  LKernel *view = push_view(L, k);
  kernel_check_grid(L, k->core->func_name, 2, view);
  return 1;
}

static int l_with_opts(lua_State *L) {
  const LKernel *k = kernel_self(L, "kernel:with_opts", 1);
  lua_settop(L, 2);
  LKernel *view = push_view(L, k);
  view->opts = kernel_check_opts(L, "kernel:with_opts", 2, k, &view->nopts);
  lua_setiuservalue(L, 3, KERNEL_OPTS);
  return 1;
}

/* ---- methods and fields ------------------------------------------------------------------------------------------ */

static int l_cache_info(lua_State *L) {
  const LKernel *k = kernel_self(L, "kernel:cache_info", 0);
  FwCacheInfo info = fw_cache_info(k->core->cache);
  lua_createtable(L, 0, 7);
  lua_pushinteger(L, info.disk_hits);
  lua_setfield(L, -2, "disk_hits");
  lua_pushstring(L, info.last);
  lua_setfield(L, -2, "last");
  lua_pushinteger(L, info.hits);
  lua_setfield(L, -2, "hits");
  lua_pushinteger(L, info.misses);
  lua_setfield(L, -2, "misses");
  lua_pushinteger(L, info.entries);
  lua_setfield(L, -2, "entries");
  lua_pushinteger(L, info.impure);
  lua_setfield(L, -2, "impure");
  lua_pushstring(L, info.last_reason);
  lua_setfield(L, -2, "reason");
  return 1;
}

static int l_clear_cache(lua_State *L) {
  const LKernel *k = kernel_self(L, "kernel:clear_cache", 0);
  fw_cache_clear(k->core->cache);
  lua_getiuservalue(L, 1, KERNEL_CORE);
  lua_pushnil(L);
  lua_setiuservalue(L, -2, CORE_RESULTS);
  return 0;
}

static void push_grid(lua_State *L, const LKernel *k) {
  lua_createtable(L, k->ngrid, 0);
  for (int i = 0; i < k->ngrid; i++) {
    lua_pushinteger(L, k->grid[i]);
    lua_rawseti(L, -2, i + 1);
  }
}

/* What a specialization made now would be for: the name of the target, or whether it is a guess. */
static int push_target(lua_State *L, const LKernel *k, bool guess) {
  KernelCall call = {.c = lang_upctx(L), .k = k, .L = L, .kernel = 1};
  kernel_target(&call);
  if (guess)
    lua_pushboolean(L, call.r.target_is_fallback);
  else
    lua_pushstring(L, target_name(call.r.target));
  return 1;
}

static int field(lua_State *L, const LKernel *k, const char *name) {
  static const char *const names[] = {
      "func_name",  "params",      "grid",         "specialize",      "dump_config", "func",
      "cache_info", "clear_cache", "simulate",     "with_opts",       "recompiled",  "opts",
      "signature",  "library",     "enable_cache", "platform_target", NULL};
  if (strcmp(name, "func_name") == 0 || strcmp(name, "kernel_name") == 0)
    return lua_pushstring(L, k->core->func_name), 1;
  if (strcmp(name, "opts") == 0) return kernel_push_opts(L, k), 1;
  if (strcmp(name, "enable_cache") == 0) return lua_pushboolean(L, k->core->enable_cache), 1;
  if (strcmp(name, "platform_target") == 0) return push_target(L, k, false);
  if (strcmp(name, "platform_target_is_fallback") == 0) return push_target(L, k, true);
  if (strcmp(name, "params") == 0 || strcmp(name, "signature") == 0)
    return lang_push_names(L, (const char *const *)k->core->params, (uint32_t)k->core->nparams), 1;
  if (strcmp(name, "grid") == 0) return push_grid(L, k), 1;
  if (strcmp(name, "recompiled") == 0) return lua_pushboolean(L, k->core->recompiled), 1;
  if (strcmp(name, "previous_code") == 0) return lua_pushstring(L, k->core->code), 1;
  if (strcmp(name, "library") == 0) return lua_pushstring(L, k->core->library), 1;
  if (strcmp(name, "func") == 0) return kernel_push_function(L, 1), 1;
  if (strcmp(name, "__neuron_kernel_interface_kernel_cache__") == 0) return class_push_cache(L, k);
  if (class_find(L, lang_upctx(L), 1, name)) return 1;
  const char *near = diag_nearest(name, names);
  return LANG_FAIL(L, kernel_no_field, "a kernel", name, near ? " (did you mean '" : "", near ? near : "",
                   near ? "'?)" : "");
}

static int l_newindex(lua_State *L) {
  const LKernel *k = kernel_self(L, "kernel", ANY);
  if (!k->core->custom || lua_type(L, 2) != LUA_TSTRING)
    return LANG_FAIL(L, read_only, "a kernel that no class of your own made");
  lua_getiuservalue(L, 1, KERNEL_CORE);
  if (lua_getiuservalue(L, -1, CORE_FIELDS) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, -3, CORE_FIELDS);
  }
  lua_pushvalue(L, 2);
  lua_pushvalue(L, 3);
  lua_rawset(L, -3);
  return 0;
}

/* What a class or an instance has under the name goes before what every kernel has. */
static int class_index(lua_State *L, const LKernel *k) {
  char clip[TEXT_CLIP + 4];
  return k->core->custom && lua_type(L, 2) == LUA_TSTRING && class_find(L, lang_upctx(L), 1, lang_name(L, 2, clip));
}

/* Methods first: upvalue 2 is their table. */
static int l_index(lua_State *L) {
  const LKernel *k = kernel_self(L, "kernel", ANY);
  if (class_index(L, k)) return 1;
  lua_pushvalue(L, 2);
  if (lua_rawget(L, lua_upvalueindex(2)) != LUA_TNIL) return 1;
  lua_settop(L, 2);
  char clip[TEXT_CLIP + 4];
  return lua_type(L, 2) == LUA_TSTRING ? field(L, k, lang_name(L, 2, clip)) : launch(L, k);
}

static int l_tostring(lua_State *L) {
  const LKernel *k = kernel_self(L, "kernel", ANY);
  lua_pushfstring(L, "kernel %s(", k->core->func_name);
  for (int i = 0; i < k->core->nparams; i++) {
    lua_pushfstring(L, i ? ", %s" : "%s", k->core->params[i]);
    lua_concat(L, 2);
  }
  lua_pushliteral(L, ")");
  lua_concat(L, 2);
  return 1;
}

static void open_metatable(lua_State *L, LangCtx *c) {
  static const luaL_Reg methods[] = {{"specialize", kernel_specialize},
                                     {"dump_config", kernel_dump_config},
                                     {"simulate", kernel_simulate},
                                     {"cache_info", l_cache_info},
                                     {"clear_cache", l_clear_cache},
                                     {"with_opts", l_with_opts},
                                     {NULL, NULL}};
  static const luaL_Reg meta[] = {
      {"__call", kernel_call}, {"__tostring", l_tostring}, {"__newindex", l_newindex}, {NULL, NULL}};
  luaL_newmetatable(L, LANG_KERNEL);
  lua_pushlightuserdata(L, c);
  luaL_setfuncs(L, meta, 1);
  lua_pushlightuserdata(L, c);
  luaL_newlibtable(L, methods);
  lua_pushlightuserdata(L, c);
  luaL_setfuncs(L, methods, 1);
  lua_pushcclosure(L, l_index, 2);
  lua_setfield(L, -2, "__index");
  c->mt_kernel = lua_topointer(L, -1);
  lua_pop(L, 1);
}

/* ---- module nki -------------------------------------------------------------------------------------------------- */

/* Upvalues: context, kernel, number of ranks or 0. */
static int l_run(lua_State *L) {
  int64_t ranks = lua_tointeger(L, lua_upvalueindex(3));
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_insert(L, 1);
  return ranks ? ranks_simulate(L, lang_upctx(L), ranks) : kernel_simulate(L);
}

/* nki.simulate(k): a function that runs k on arrays, whatever its mode; nki.simulate(k, {ranks = n}): on n ranks. */
static int l_simulate(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  if (!lang_to_kernel(L, 1)) return lang_kind_error(L, 1, "nki.simulate", "kernel", "what nki.jit gives");
  lang_at_most(L, "nki.simulate", 1, 2);
  lua_settop(L, 2);
  int64_t ranks = ranks_option(L, 2, "nki.simulate");
  lua_pushlightuserdata(L, c);
  lua_pushvalue(L, 1);
  lua_pushinteger(L, ranks);
  lua_pushcclosure(L, l_run, 3);
  return 1;
}

int lang_open_kernel(lua_State *L) {
  LangCtx *c = lang_ctx(L);
  static const luaL_Reg functions[] = {{"jit", kernel_jit},
                                       {"trace", kernel_trace_helper},
                                       {"simulate", l_simulate},
                                       {"simulate_kernel", kernel_simulate},
                                       {"decl", array_decl},
                                       {"decode", artifact_decode},
                                       {"NKIFinalizeException", drive_finalize_exception},
                                       {NULL, NULL}};
  if (!c->mt_kernel) open_metatable(L, c);
  if (!c->mt_artifact) artifact_open(L, c);
  luaL_newlibtable(L, functions);
  lua_pushlightuserdata(L, c);
  luaL_setfuncs(L, functions, 1);
  tuple_open(L, c);
  lua_setfield(L, -2, "tuple");
  lang_strict(L, "nki");
  class_late(L);
  return 1;
}
