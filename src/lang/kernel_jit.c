/* kernel_jit.c -- room lang: nki.jit: a Lua function and its options become a kernel. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

static const char core_name[] = "nki.kernel_core";

/* Where bind_options leaves the arguments of nki.jit. */
enum {
  P_fn = 1,
  P_mode,
  P_grid,
  P_func_name,
  P_enable_cache,
  P_platform_target,
  P_opts,
  P_cache_size,
  P_count = P_cache_size
};

static int l_free_core(lua_State *L) {
  KernelCore *core = lua_touserdata(L, 1);
  if (!core->lent) fw_cache_free(core->cache);
  arena_free(&core->arena);
  return 0;
}

static KernelCore *push_core(lua_State *L, LangCtx *c) {
  KernelCore *core = lua_newuserdatauv(L, sizeof *core, CORE_VALUES);
  memset(core, 0, sizeof *core);
  arena_init(&core->arena, c->alloc);
  if (luaL_newmetatable(L, core_name)) {
    lua_pushcfunction(L, l_free_core);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  core->cache = fw_cache_new(c->alloc);
  core->enable_cache = true;
  return core;
}

static const char *keep(lua_State *L, KernelCore *core, const char *s) {
  const char *copy = arena_strdup(&core->arena, s, strlen(s));
  if (!copy) lang_no_memory(L);
  return copy;
}

/* ---- the function ------------------------------------------------------------------------------------------------ */

static void read_params(lua_State *L, KernelCore *core, const char *who) {
  const int fn = P_fn;
  lua_Debug ar;
  if (lua_iscfunction(L, fn)) LANG_FAIL(L, kernel_function, who, "a kernel is a Lua function, not one written in C");
  lua_pushvalue(L, fn);
  lua_getinfo(L, ">Su", &ar);
  if (ar.isvararg) LANG_FAIL(L, kernel_function, who, "a kernel cannot take '...': every parameter needs a name");
  core->nparams = ar.nparams;
  core->params = arena_newn(&core->arena, const char *, ar.nparams);
  if (!core->params) lang_no_memory(L);
  for (int i = 0; i < ar.nparams; i++) {
    lua_pushvalue(L, fn);
    const char *name = lua_getlocal(L, NULL, i + 1); /* leaves the function where it is */
    lua_pop(L, 1);
    if (!name) LANG_FAIL(L, kernel_function, who, "the function is stripped of its parameter names");
    for (int k = 0; k < i; k++)
      if (strcmp(core->params[k], name) == 0) LANG_FAIL(L, kernel_function, who, "two parameters have the same name");
    core->params[i] = keep(L, core, name);
  }
  char dir[LANG_PATH];
  core->dir = keep(L, core, lang_dir_of(ar.source, dir, sizeof dir));
  const char *file = strrchr(ar.source, '/');
  file = file ? file + 1 : ar.source + 1;
  if (ar.source[0] != '@' || !*file) {
    core->func_name = "unnamed";
    return;
  }
  size_t stem = strlen(file) > 4 && strcmp(file + strlen(file) - 4, ".lua") == 0 ? strlen(file) - 4 : strlen(file);
  core->func_name = arena_strdup(&core->arena, file, stem);
  if (!core->func_name) lang_no_memory(L);
}

/* ---- options ----------------------------------------------------------------------------------------------------- */

static const char *check_string(lua_State *L, const char *who, int i, const char *what) {
  char text[96], got[DESCRIBE];
  if (lua_type(L, i) == LUA_TSTRING) return lua_tostring(L, i);
  snprintf(text, sizeof text, "%s must be a string, got %.40s", what, lang_describe(L, i, got, sizeof got));
  LANG_FAIL(L, kernel_option, who, text);
  return NULL;
}

static void set_name(lua_State *L, KernelCore *core, const char *who) {
  const char *name = check_string(L, who, P_func_name, "func_name");
  size_t n = lua_rawlen(L, P_func_name);
  const char *why = NULL;
  if (n == 0) why = "it is empty";
  if (n > 255) why = "it is longer than 255 bytes";
  if (strlen(name) != n) why = "it holds a NUL byte";
  if (!text_is_utf8(name, n, NULL)) why = "it is not UTF-8";
  for (size_t k = 0; k < n && !why; k++)
    if ((unsigned char)name[k] < 0x20 || name[k] == 0x7f) why = "it holds a control character";
  char clip[TEXT_CLIP + 4];
  if (why) LANG_FAIL(L, func_name, text_clip(clip, name, n), why);
  core->func_name = keep(L, core, name);
}

static const char *const mode_names[] = {"auto",      "simulation", "jax",       "torchxla", "legacy",
                                         "framework", "benchmark",  "baremetal", NULL};
enum { OF_CLASSES = 5, IN_LUA = 6 }; /* from here on: no mode of nki.jit; a class in Lua */
static const KernelMode modes[] = {MODE_AUTO, MODE_SIMULATION, MODE_JAX, MODE_TORCHXLA, MODE_LEGACY, MODE_FRAMEWORK};

static int find_mode(lua_State *L, const char *who) {
  check_string(L, who, P_mode, "mode");
  char text[TEXT_CLIP + 160], clip[TEXT_CLIP + 4];
  const char *name = lang_name(L, P_mode, clip);
  int k = 0;
  while (mode_names[k] && (k == OF_CLASSES || strcmp(mode_names[k], name) != 0)) k++;
  if (mode_names[k]) return k;
  snprintf(text, sizeof text, "no mode '%s'; modes are auto, simulation, jax, torchxla, legacy, benchmark, baremetal",
           lang_clip(L, P_mode, clip));
  LANG_FAIL(L, kernel_option, who, text);
  return 0;
}

const char *lang_kernel_mode(lua_State *L, int i) {
  KernelMode mode = lang_to_kernel(L, i)->core->mode;
  int k = 0;
  while (k < OF_CLASSES && modes[k] != mode) k++;
  return mode_names[k];
}

/* A positive integer, or one that is spread over physical cores. */
static bool grid_axis(lua_State *L, int i, LKernel *k, int axis) {
  const LCores *c = lang_cores_at(L, i);
  k->cores[axis] = c ? c->cores : (IrCores){0, 0};
  if (c) k->grid[axis] = c->size;
  return c || (lang_to_int(L, i, &k->grid[axis]) && k->grid[axis] >= 1);
}

void kernel_check_grid(lua_State *L, const char *name, int i, LKernel *k) {
  char text[DESCRIBE + 40], got[DESCRIBE];
  k->ngrid = 1;
  if (grid_axis(L, i, k, 0)) return;
  if (!lang_is_sequence(L, i)) {
    snprintf(text, sizeof text, "its grid is %s", lang_describe(L, i, got, sizeof got));
    LANG_FAIL(L, kernel_grid, name, text);
  }
  lua_Integer n = luaL_len(L, i);
  if (n < 1 || n > IR_MAX_GRID) {
    snprintf(text, sizeof text, "its grid has %lld axes", (long long)n);
    LANG_FAIL(L, kernel_grid, name, text);
  }
  for (int axis = 0; axis < n; axis++) {
    lua_geti(L, i, axis + 1);
    if (!grid_axis(L, -1, k, axis)) {
      snprintf(text, sizeof text, "axis %d of its grid is %s", axis, lang_describe(L, lua_gettop(L), got, sizeof got));
      LANG_FAIL(L, kernel_grid, name, text);
    }
    lua_pop(L, 1);
  }
  k->ngrid = (int)n;
}

void kernel_push_grid(lua_State *L, const LKernel *k) {
  lua_createtable(L, k->ngrid, 0);
  for (int i = 0; i < k->ngrid; i++) {
    if (k->cores[i].count)
      lang_push_cores(L, k->grid[i], k->cores[i]);
    else
      lua_pushinteger(L, k->grid[i]);
    lua_rawseti(L, -2, i + 1);
  }
}

/* ---- nki.jit ----------------------------------------------------------------------------------------------------- */

static void read_cache(lua_State *L, KernelCore *core, const char *who) {
  if (!lua_isnil(L, P_enable_cache)) {
    if (!lua_isboolean(L, P_enable_cache)) LANG_FAIL(L, kernel_option, who, "enable_cache must be true or false");
    core->enable_cache = lua_toboolean(L, P_enable_cache);
  }
  if (lua_isnil(L, P_cache_size)) return;
  int64_t size;
  if (!lang_to_int(L, P_cache_size, &size) || size < 1)
    LANG_FAIL(L, kernel_option, who, "cache_size must be a positive integer");
  core->cache_size = size;
  fw_cache_limit(core->cache, size);
}

/* An unknown target is an error here already, not at the first call. */
static void read_target(lua_State *L, LangCtx *c, KernelCore *core, const char *who) {
  if (lua_isnil(L, P_platform_target)) return;
  Target t;
  bool fallback;
  const char *warning;
  char clip[TEXT_CLIP + 4];
  check_string(L, who, P_platform_target, "platform_target");
  core->target = keep(L, core, lang_name(L, P_platform_target, clip));
  if (!fw_get_platform_target(core->target, &t, &fallback, &warning, &c->diag)) lang_raise(L, &c->diag);
}

static void make_kernel(lua_State *L, LangCtx *c, const char *who) {
  LKernel *k = lua_newuserdatauv(L, sizeof *k, KERNEL_FUNCTION);
  memset(k, 0, sizeof *k);
  int self = lua_gettop(L);
  KernelCore *core = push_core(L, c);
  if (!core->cache) lang_no_memory(L);
  read_params(L, core, who);
  lua_setiuservalue(L, self, KERNEL_CORE);
  lua_pushvalue(L, P_fn);
  lua_setiuservalue(L, self, KERNEL_FUNCTION);
  if (!lua_isnil(L, P_func_name)) set_name(L, core, who);
  if (!lua_isnil(L, P_mode)) core->mode = modes[find_mode(L, who)];
  if (!lua_isnil(L, P_grid)) kernel_check_grid(L, core->func_name, P_grid, k);
  read_cache(L, core, who);
  read_target(L, c, core, who);
  if (!lua_isnil(L, P_opts)) {
    k->opts = kernel_check_opts(L, who, P_opts, NULL, &k->nopts);
    lua_setiuservalue(L, self, KERNEL_OPTS);
  }
  k->core = core;
  k->tag = LANG_KERNEL;
  lua_settop(L, self);
  luaL_setmetatable(L, LANG_KERNEL);
}

/* nki.jit{...}: the options first, the function later. */
static int l_decorate(lua_State *L) {
  lua_settop(L, 1);
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pushcclosure(L, kernel_jit, 1);
  lua_insert(L, 1);
  lua_call(L, 2, 1);
  return 1;
}

static const char *const option_names[] = {"fn",   "mode",      "grid", "func_name", "enable_cache", "platform_target",
                                           "opts", "cache_size"};

static void bind_options(lua_State *L, const char *who) {
  static const bool required[P_count] = {false};
  const BindSpec spec = {
      .func = who, .names = option_names, .required = required, .n = P_count, .list_mask = 1u << (P_grid - 1)};
  lang_bind(L, &spec);
  if (lua_isfunction(L, P_fn)) return;
  char text[DESCRIBE + 48], got[DESCRIBE];
  snprintf(text, sizeof text, "parameter 'fn' must be a Lua function, got %s", lang_describe(L, P_fn, got, sizeof got));
  LANG_FAIL(L, kernel_function, who, text);
}

/* A mode that is a class in Lua: nki.BenchmarkKernel(fn, options). */
static int jit_by_class(lua_State *L, LangCtx *c, int mode) {
  class_push(L, c, strcmp(mode_names[mode], "benchmark") == 0 ? "BenchmarkKernel" : "BaremetalKernel");
  lua_getfield(L, -1, "of_jit");
  lua_insert(L, -2);
  lua_pushvalue(L, P_fn);
  lua_newtable(L);
  for (int i = P_mode + 1; i <= P_count; i++) {
    lua_pushvalue(L, i);
    lua_setfield(L, -2, option_names[i - 1]);
  }
  lua_call(L, 3, 1);
  return 1;
}

int kernel_jit(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  if (lua_gettop(L) == 1 && lua_istable(L, 1)) {
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_pushcclosure(L, l_decorate, 2);
    return 1;
  }
  bind_options(L, "nki.jit");
  int mode = lua_isnil(L, P_mode) ? 0 : find_mode(L, "nki.jit");
  if (mode >= IN_LUA) return jit_by_class(L, c, mode);
  make_kernel(L, c, "nki.jit");
  return 1;
}

/* ---- classes ----------------------------------------------------------------------------------------------------- */

/* (function, options) -> kernel. Upvalues: context, class or nil, who is called. */
static int l_construct(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  int class = lua_upvalueindex(2);
  const char *who = lua_tostring(L, lua_upvalueindex(3));
  bind_options(L, who);
  bool of_class = lua_istable(L, class);
  if (of_class) {
    if (!lua_isnil(L, P_mode)) LANG_FAIL(L, kernel_option, who, "the class of a kernel says its mode");
    lua_getfield(L, class, "mode");
    lua_replace(L, P_mode);
  }
  int mode = lua_isnil(L, P_mode)                                           ? 0
             : strcmp(lua_tostring(L, P_mode), mode_names[OF_CLASSES]) == 0 ? OF_CLASSES
                                                                            : find_mode(L, who);
  if (mode >= IN_LUA) LANG_FAIL(L, kernel_option, who, "only nki.jit takes the modes benchmark and baremetal");
  lua_pushnil(L);
  lua_replace(L, P_mode);
  make_kernel(L, c, who);
  KernelCore *core = ((LKernel *)lua_touserdata(L, -1))->core;
  core->mode = modes[mode];
  if (!of_class) return 1;
  lua_pushliteral(L, "native");
  if (lua_rawget(L, class) != LUA_TNIL) return lua_pop(L, 1), 1; /* all that it does, C does */
  lua_pop(L, 1);
  core->custom = true;
  lua_getiuservalue(L, -1, KERNEL_CORE);
  lua_pushvalue(L, class);
  lua_setiuservalue(L, -2, CORE_CLASS);
  lua_pop(L, 1);
  return 1;
}

/* (class, function, options, who is called): who: the class's name when it is not given. */
int kernel_new(lua_State *L) {
  lua_settop(L, 4);
  if (!lua_istable(L, 1))
    return lang_kind_error(L, 1, "Kernel:new", "class", "a class of kernels, such as nki.UnifiedKernel");
  lua_pushlightuserdata(L, lang_upctx(L));
  lua_pushvalue(L, 1);
  lua_pushliteral(L, "__name");
  lua_rawget(L, 1);
  lua_pushstring(L, luaL_optstring(L, 4, lua_isstring(L, -1) ? lua_tostring(L, -1) : "nki.jit"));
  lua_remove(L, -2);
  lua_pushcclosure(L, l_construct, 3);
  lua_pushvalue(L, 2);
  if (!lua_isnil(L, 3)) lua_pushvalue(L, 3);
  lua_call(L, lua_isnil(L, 3) ? 1 : 2, 1);
  return 1;
}

/* Pushes the options that would make the kernel again. */
static void push_options(lua_State *L, const LKernel *k) {
  const KernelCore *core = k->core;
  lua_createtable(L, 0, P_count);
  lua_pushstring(L, core->func_name);
  lua_setfield(L, -2, "func_name");
  lua_pushboolean(L, core->enable_cache);
  lua_setfield(L, -2, "enable_cache");
  lua_pushstring(L, core->target);
  lua_setfield(L, -2, "platform_target");
  if (core->cache_size) {
    lua_pushinteger(L, core->cache_size);
    lua_setfield(L, -2, "cache_size");
  }
  kernel_push_opts(L, k);
  lua_setfield(L, -2, "opts");
  if (!k->ngrid) return;
  kernel_push_grid(L, k);
  lua_setfield(L, -2, "grid");
}

/* options(kernel): a table that makes it again. */
int kernel_options(lua_State *L) {
  const LKernel *k = kernel_self(L, "kernel", ANY);
  push_options(L, k);
  return 1;
}

static const char replace_name[] = "kernel:replace";

/* From the core on top of the stack to the one below it. */
static void copy_fields(lua_State *L) {
  int to = lua_gettop(L) - 1;
  if (lua_getiuservalue(L, -1, CORE_FIELDS) == LUA_TTABLE) {
    lua_newtable(L);
    lua_pushnil(L);
    while (lua_next(L, to + 2)) lua_pushvalue(L, -2), lua_insert(L, -2), lua_rawset(L, to + 3);
    lua_setiuservalue(L, to, CORE_FIELDS);
  }
  lua_settop(L, to + 1);
}

/* A copy keeps class, fields, cache and, when no other is given, mode; the cache is its own when it gets a size. */
static void inherit(lua_State *L, int from, bool own_mode, bool own_cache) {
  LKernel *copy = lua_touserdata(L, -1);
  KernelCore *core = copy->core;
  const KernelCore *original = ((LKernel *)lua_touserdata(L, from))->core;
  if (own_mode && original->custom) LANG_FAIL(L, kernel_option, replace_name, "the class of a kernel says its mode");
  if (!own_mode) core->mode = original->mode;
  core->custom = original->custom;
  lua_getiuservalue(L, -1, KERNEL_CORE);
  lua_getiuservalue(L, from, KERNEL_CORE);
  lua_getiuservalue(L, -1, CORE_CLASS);
  lua_setiuservalue(L, -3, CORE_CLASS);
  copy_fields(L);
  if (!own_cache) {
    if (original->lent) {
      lua_getiuservalue(L, -1, CORE_LENDER);
      lua_replace(L, -2);
    }
    fw_cache_free(core->cache);
    core->cache = original->cache;
    core->lent = true;
    lua_setiuservalue(L, -2, CORE_LENDER);
  }
  lua_settop(L, lua_gettop(L) - (own_cache ? 2 : 1));
}

int kernel_replace(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  const LKernel *k = kernel_self(L, replace_name, 1);
  if (lua_isnoneornil(L, 2)) {
    lua_settop(L, 1);
    lua_newtable(L);
  }
  lua_settop(L, 2);
  if (!lua_istable(L, 2)) LANG_FAIL(L, kernel_option, replace_name, "it takes a table of options by name");
  bool own_cache = lua_getfield(L, 2, "cache_size") != LUA_TNIL, own_mode = lua_getfield(L, 2, "mode") != LUA_TNIL;
  lua_pop(L, 2);
  push_options(L, k);
  kernel_push_function(L, 1); /* 4: the function */
  lua_pushnil(L);
  while (lua_next(L, 2)) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    if (lua_type(L, -2) == LUA_TSTRING && strcmp(lua_tostring(L, -2), "func") == 0) {
      lua_replace(L, 4);
      lua_pop(L, 1);
    } else {
      lua_rawset(L, 3);
    }
  }
  lua_pushlightuserdata(L, c);
  lua_pushnil(L);
  lua_pushstring(L, replace_name);
  lua_pushcclosure(L, l_construct, 3);
  lua_pushvalue(L, 4);
  lua_pushvalue(L, 3);
  lua_call(L, 2, 1);
  inherit(L, 1, own_mode, own_cache);
  return 1;
}

/* ---- helpers ----------------------------------------------------------------------------------------------------- */

/* nki.trace(fn): a helper that is only called inside a kernel and may take tiles from any memory. */
int kernel_trace_helper(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  if (lua_gettop(L) != 1 || !lua_isfunction(L, 1))
    LANG_FAIL(L, kernel_function, "nki.trace", "it takes one Lua function, and no options");
  lua_settop(L, P_count);
  make_kernel(L, c, "nki.trace");
  LKernel *k = lua_touserdata(L, -1);
  k->core->mode = MODE_TRACE;
  return 1;
}
