/* kernel_bind.c -- room lang: bind_arguments and _map_args. The arguments of a call become one slot per parameter, then
   a request: a tensor is reduced to shape and dtype, anything else is a constant. A call by name and a call by position
   make the same request. */
#include <string.h>

#include "env.h"
#include "kernel.h"

/* ---- names -> slots ---------------------------------------------------------------------------------------------- */

static const char *list_params(lua_State *L, LangCtx *c, const KernelCore *core) {
  Text *t = lang_scratch_text(L, c);
  for (int i = 0; i < core->nparams; i++) text_printf(t, "%s%s", i ? ", " : "", core->params[i]);
  return core->nparams ? text_str(t) : "none";
}

static int param_index(const KernelCore *core, const char *name) {
  for (int i = 0; i < core->nparams; i++)
    if (strcmp(core->params[i], name) == 0) return i;
  return -1;
}

static int unknown_param(lua_State *L, LangCtx *c, const KernelCore *core, const char *name) {
  const char **names = lua_newuserdatauv(L, ((size_t)core->nparams + 1) * sizeof *names, 0);
  for (int i = 0; i < core->nparams; i++) names[i] = core->params[i];
  names[core->nparams] = NULL;
  const char *near = diag_nearest(name, names);
  return LANG_FAIL(L, kernel_keyword, core->func_name, name, near ? " (did you mean '" : "", near ? near : "",
                   near ? "'?)" : "", list_params(L, c, core));
}

enum { NOT_KEYWORDS, KEYWORDS, EMPTY_TABLE };

/* A table without metatable whose keys are names. */
static int kind_of_table(lua_State *L, const KernelCore *core, int i) {
  if (!lua_istable(L, i)) return NOT_KEYWORDS;
  if (lua_getmetatable(L, i)) return lua_pop(L, 1), NOT_KEYWORDS;
  bool names = false, list = false;
  lua_pushnil(L);
  while (lua_next(L, i)) {
    lua_pop(L, 1);
    *(lua_type(L, -1) == LUA_TSTRING ? &names : &list) = true;
  }
  if (names && list) LANG_FAIL(L, kernel_mixed, core->func_name);
  return names ? KEYWORDS : list ? NOT_KEYWORDS : EMPTY_TABLE;
}

/* Moves the keywords of the table behind the slots, all of them strings, to their slots, of which the first npos are
 * taken. */
static void spread(lua_State *L, const KernelCore *core, int first, int npos) {
  int table = first + core->nparams;
  lua_pushnil(L);
  while (lua_next(L, table)) {
    char clip[TEXT_CLIP + 4];
    const char *name = lang_name(L, -2, clip);
    int p = param_index(core, name);
    if (p < 0) unknown_param(L, lang_ctx(L), core, name);
    if (p < npos && !lua_isnil(L, first + p)) LANG_FAIL(L, kernel_twice, core->func_name, name);
    lua_replace(L, first + p);
  }
}

void kernel_bind(lua_State *L, LangCtx *c, const LKernel *k, int kernel) {
  const KernelCore *core = k->core;
  int first = kernel + 1, n = core->nparams, npos = lua_gettop(L) - kernel;
  luaL_checkstack(L, n + 8, "kernel arguments");
  int kind = npos > 0 ? kind_of_table(L, core, lua_gettop(L)) : NOT_KEYWORDS;
  if (kind == EMPTY_TABLE && npos <= n) kind = NOT_KEYWORDS; /* it fills a parameter, which will refuse it */
  if (kind != NOT_KEYWORDS) npos--;
  while (kind == NOT_KEYWORDS && npos > n && lua_isnil(L, kernel + npos)) npos--;
  if (npos > n) LANG_FAIL(L, kernel_surplus, core->func_name, n, list_params(L, c, core), npos);
  if (kind == NOT_KEYWORDS) {
    if (npos < n || lua_gettop(L) > kernel + n) lua_settop(L, kernel + n);
    return;
  }
  int table = first + npos;
  lua_settop(L, first + n);
  if (npos < n) { /* the table goes behind the slots, its place becomes nil */
    lua_pushvalue(L, table);
    lua_replace(L, first + n);
    lua_pushnil(L);
    lua_replace(L, table);
  }
  spread(L, core, first, npos);
  lua_settop(L, kernel + n);
}

/* ---- slots -> request -------------------------------------------------------------------------------------------- */

static void set_tensor(FwArg *arg, DType dtype, int rank, const int64_t *shape) {
  arg->is_tensor = true;
  arg->dtype = dtype;
  arg->rank = rank;
  memcpy(arg->shape, shape, (size_t)rank * sizeof *shape);
}

/* is_framework_tensor and map_framework_tensor. */
static bool map_tensor(KernelCall *call, int p) {
  lua_State *L = call->L;
  int i = call->first + p;
  const LDecl *d = lang_decl_at(L, i);
  if (d) {
    set_tensor(&call->args[p], d->dtype, d->rank, d->shape);
    call->decl = p;
    return true;
  }
  const LArray *a = lang_array_at(L, i);
  if (a) {
    if (call->over & KERNEL_MAP_STEPS) return false; /* the class says that it is none */
    if (!a->data) LANG_FAIL(L, array_freed, call->k->core->func_name, call->args[p].name);
    set_tensor(&call->args[p], a->dtype, a->rank, a->shape);
    call->array = p;
    return true;
  }
  const LTile *t = lang_tile_at(L, i);
  if (!t) return false;
  int64_t shape[IR_MAX_RANK];
  for (int k = 0; call->node && k < t->tile->rank; k++) shape[k] = t->tile->dim[k].count;
  if (call->node) set_tensor(&call->args[p], t->dtype, t->tile->rank, shape);
  call->tile = p;
  return true;
}

static void map_args(KernelCall *call) {
  const KernelCore *core = call->k->core;
  char got[DESCRIBE];
  for (int p = 0; p < core->nparams; p++) {
    FwArg *arg = &call->args[p];
    arg->name = core->params[p];
    arg->is_tensor = false;
    if (map_tensor(call, p)) continue;
    if (!constant_of(call, call->first + p, &arg->value))
      LANG_FAIL(call->L, nki_param_not_hashable, core->func_name, arg->name,
                lang_describe(call->L, call->first + p, got, sizeof got));
  }
}

/* Option of the command line, of the kernel, environment; the machine is asked once per context. */
static void choose_target(KernelCall *call, const char *env) {
  LangCtx *c = call->c;
  FwRequest *r = &call->r;
  if (call->node) {
    r->target = c->trace->spec.target;
    r->target_is_fallback = c->trace->spec.target_is_fallback;
    return;
  }
  const char *name = c->target ? c->target : call->k->core->target;
  bool ask_machine = !name && !(env && *env);
  if (ask_machine && c->host_known) {
    r->target = c->host_target;
    r->target_is_fallback = c->host_fallback;
    return;
  }
  const char *warning;
  if (!fw_get_platform_target(name, &r->target, &r->target_is_fallback, &warning, &c->diag))
    lang_raise(call->L, &c->diag);
  if (warning) lang_warn_once(c, warning);
  if (!ask_machine) return;
  c->host_known = true;
  c->host_target = r->target;
  c->host_fallback = r->target_is_fallback;
}

void kernel_target(KernelCall *call) {
  static const char *const names[] = {"NEURON_PLATFORM_TARGET_OVERRIDE", "NKI_DMA_TRANSPOSE_AS_PE_TRANSPOSE"};
  const char *values[2];
  env_read(names, 2, values);
  call->r.environment = values[1]; /* nl.tile_size asks it */
  choose_target(call, values[0]);
}

void kernel_request(KernelCall *call) {
  const KernelCore *core = call->k->core;
  FwRequest *r = &call->r;
  r->func_name = core->func_name;
  r->not_on_disk = NULL;
  r->args = call->args;
  r->nargs = (uint32_t)core->nparams;
  r->ngrid = call->k->ngrid;
  for (int i = 0; i < r->ngrid; i++) {
    r->grid[i] = call->k->grid[i];
    r->cores[i] = call->k->cores[i];
  }
  r->opts = call->k->opts;
  r->nopts = call->k->nopts;
  r->legacy = core->mode == MODE_LEGACY;
  r->call_target = core->mode == MODE_TORCHXLA ? EMIT_TARGET_TORCH : EMIT_TARGET_NATIVE;
  kernel_target(call);
  if (call->over & KERNEL_MAP_STEPS) class_map(call);
  capture_begin(call->c, core->dir);
  kernel_push_function(call->L, call->kernel);
  capture_add(call->L, call->c, -1);
  lua_pop(call->L, 1);
  map_args(call);
  const Text *bytes = capture_bytes(call->c);
  r->captured = bytes->data;
  r->ncaptured = bytes->len;
  if (call->over) r->captured = lua_pushlstring(call->L, bytes->data, bytes->len); /* a step may make requests itself */
}
