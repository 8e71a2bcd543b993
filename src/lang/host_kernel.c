/* host_kernel.c -- room lang: kernels that a script returned, and their specialization, for a Host. */
#include "hoststate.h"
#include "kernel.h"

#include <stdlib.h>

typedef struct Ask {
  Host *h;
  const char *name;
  int *ref, from;
  const HostKernelOptions *options;
  Text *out;
  const HostCall *call;
  const Artifact *artifact;
} Ask;

/* ---- finding ------------------------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/* The names of the kernels in the table at index t, sorted, joined by sep; returns how many. */
static int list_names(lua_State *L, int t, const char *sep, Text *out) {
  int n = 0;
  lua_newtable(L);
  int list = lua_gettop(L);
  lua_pushnil(L);
  while (lua_next(L, t)) {
    if (lua_type(L, -2) == LUA_TSTRING && lang_is_kernel(L, -1)) {
      lua_pushvalue(L, -2);
      lua_rawseti(L, list, ++n);
    }
    lua_pop(L, 1);
  }
  const char **names = lua_newuserdatauv(L, ((size_t)n + 1) * sizeof *names, 0);
  for (int i = 0; i < n; i++) {
    lua_rawgeti(L, list, i + 1);
    names[i] = lua_tostring(L, -1); /* the table keeps it */
    lua_pop(L, 1);
  }
  qsort(names, (size_t)n, sizeof *names, by_name);
  for (int i = 0; i < n; i++) text_printf(out, "%s%s", i ? sep : "", names[i]);
  lua_settop(L, list - 1);
  return n;
}

static const char *one_name(lua_State *L, int t) {
  lua_pushnil(L);
  while (lua_next(L, t)) {
    bool found = lua_type(L, -2) == LUA_TSTRING && lang_is_kernel(L, -1);
    lua_pop(L, 1);
    if (found) return lua_tostring(L, -1);
  }
  return NULL;
}

/* Pushes the kernel; the result of the script is at index 2. */
static void choose(lua_State *L, const Ask *ask) {
  LangCtx *c = ask->h->c;
  if (lang_is_kernel(L, 2)) {
    if (ask->name) LANG_FAIL(L, kernel_choice, ask->name, "it returns one kernel, not a table of them");
    lua_pushvalue(L, 2);
    return;
  }
  char got[DESCRIBE];
  if (!lua_istable(L, 2)) LANG_FAIL(L, no_kernel, lua_isnil(L, 2) ? "nothing" : lang_describe(L, 2, got, sizeof got));
  Text *names = lang_scratch_text(L, c);
  int n = list_names(L, 2, ", ", names);
  if (n == 0) LANG_FAIL(L, no_kernel, "a table without kernels");
  if (!ask->name && n > 1) LANG_FAIL(L, kernel_several, text_str(names));
  lua_pushstring(L, ask->name ? ask->name : one_name(L, 2));
  lua_pushvalue(L, -1);
  lua_rawget(L, 2);
  if (!lang_is_kernel(L, -1)) {
    Text *why = lang_scratch_text(L, c);
    text_printf(why, "its kernels are %s", text_str(names));
    LANG_FAIL(L, kernel_choice, ask->name, text_str(why));
  }
}

static int find_kernel(lua_State *L) {
  Ask *ask = lua_touserdata(L, 1);
  lua_rawgeti(L, LUA_REGISTRYINDEX, ask->h->result);
  choose(L, ask);
  *ask->ref = luaL_ref(L, LUA_REGISTRYINDEX);
  return 0;
}

bool host_kernel(Host *h, const char *name, int *ref, Diag *d) {
  Ask ask = {.h = h, .name = name, .ref = ref};
  return host_protect(h, find_kernel, &ask, d);
}

void host_kernel_drop(Host *h, int ref) { luaL_unref(h->L, LUA_REGISTRYINDEX, ref); }

static int names_of(lua_State *L) {
  Ask *ask = lua_touserdata(L, 1);
  lua_rawgeti(L, LUA_REGISTRYINDEX, ask->h->result);
  if (lua_istable(L, 2)) list_names(L, 2, "\n", ask->out);
  return 0;
}

bool host_kernel_names(Host *h, Text *out, Diag *d) {
  Ask ask = {.h = h, .out = out};
  return host_protect(h, names_of, &ask, d);
}

int host_kernel_params(Host *h, int ref) {
  lua_rawgeti(h->L, LUA_REGISTRYINDEX, ref);
  int n = lang_kernel_param_count(h->L, -1);
  lua_pop(h->L, 1);
  return n;
}

const char *host_kernel_param(Host *h, int ref, int i) {
  lua_rawgeti(h->L, LUA_REGISTRYINDEX, ref);
  const char *s = lang_kernel_param(h->L, -1, i);
  lua_pop(h->L, 1);
  return s;
}

/* ---- copies with other options ------------------------------------------------------------------------------- */

static int replace(lua_State *L) {
  Ask *ask = lua_touserdata(L, 1);
  const HostKernelOptions *o = ask->options;
  lua_rawgeti(L, LUA_REGISTRYINDEX, ask->from);
  lua_getfield(L, -1, "replace");
  lua_insert(L, -2);
  lua_newtable(L);
  lang_set_text(L, "mode", o->mode);
  lang_set_text(L, "func_name", o->func_name);
  lang_set_text(L, "platform_target", o->platform_target);
  if (o->enable_cache >= 0) {
    lua_pushboolean(L, o->enable_cache);
    lua_setfield(L, -2, "enable_cache");
  }
  if (o->cache_size) {
    lua_pushinteger(L, o->cache_size);
    lua_setfield(L, -2, "cache_size");
  }
  lua_call(L, 2, 1);
  *ask->ref = luaL_ref(L, LUA_REGISTRYINDEX);
  return 0;
}

bool host_kernel_replace(Host *h, int ref, const HostKernelOptions *o, int *copy, Diag *d) {
  Ask ask = {.h = h, .from = ref, .options = o, .ref = copy};
  return host_protect(h, replace, &ask, d);
}

const char *host_kernel_mode(Host *h, int ref) {
  lua_rawgeti(h->L, LUA_REGISTRYINDEX, ref);
  const char *name = lang_kernel_mode(h->L, -1);
  lua_pop(h->L, 1);
  return name;
}

/* ---- specializing -------------------------------------------------------------------------------------------- */

static void push_value(lua_State *L, LangCtx *c, const ConstValue *v) {
  luaL_checkstack(L, (int)v->nitems + 8, "items of a tuple");
  switch (v->kind) {
    case CONST_NIL:
      lua_pushnil(L);
      return;
    case CONST_BOOL:
      lua_pushboolean(L, v->b);
      return;
    case CONST_INT:
      lua_pushinteger(L, v->i);
      return;
    case CONST_FLOAT:
      lua_pushnumber(L, v->f);
      return;
    case CONST_STRING:
      lua_pushlstring(L, v->s, v->len);
      return;
    case CONST_TUPLE:
      for (uint32_t k = 0; k < v->nitems; k++) push_value(L, c, &v->items[k]);
      lang_push_tuple(L, (int)v->nitems);
      return;
    case CONST_TOKEN:
    case CONST_FUNCTION:
      break;
  }
  NK_BUG(&c->diag, "a host cannot give a token or a function");
  lang_raise(L, &c->diag);
}

static void push_arg(lua_State *L, LangCtx *c, const FwArg *arg) {
  if (!arg->is_tensor) {
    push_value(L, c, &arg->value);
    return;
  }
  lang_push_decl(L, arg->dtype, arg->rank, arg->shape);
}

/* Pushes the positional arguments and one table of the named ones; returns how many values. */
static int push_args(lua_State *L, LangCtx *c, const HostCall *call) {
  int n = 0;
  size_t i = 0;
  luaL_checkstack(L, (int)call->nargs + 8, "kernel arguments");
  for (; i < call->nargs && !call->args[i].name; i++, n++) push_arg(L, c, &call->args[i]);
  if (i == call->nargs) return n;
  lua_newtable(L);
  bool any = false;
  for (; i < call->nargs; i++) {
    lua_pushstring(L, call->args[i].name);
    push_arg(L, c, &call->args[i]);
    any = any || !lua_isnil(L, -1);
    lua_rawset(L, -3);
  }
  if (!any) lua_pop(L, 1); /* all nil: not given */
  return n + any;
}

static void push_kernel(lua_State *L, LangCtx *c, const HostCall *call) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, call->kernel);
  if (call->nopts) {
    lua_getfield(L, -1, "with_opts");
    lua_insert(L, -2);
    lua_createtable(L, 0, (int)call->nopts);
    for (size_t i = 0; i < call->nopts; i++) {
      lua_pushstring(L, call->opts[i].key);
      push_value(L, c, &call->opts[i].value);
      lua_rawset(L, -3);
    }
    lua_call(L, 2, 1);
  }
  if (!call->ngrid) return;
  lua_createtable(L, (int)call->ngrid, 0);
  for (size_t i = 0; i < call->ngrid; i++) {
    if (call->cores && call->cores[i].count)
      lang_push_cores(L, call->grid[i], call->cores[i]);
    else
      lua_pushinteger(L, call->grid[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_gettable(L, -2);
  lua_remove(L, -2);
}

static int specialize(lua_State *L) {
  Ask *ask = lua_touserdata(L, 1);
  LangCtx *c = ask->h->c;
  push_kernel(L, c, ask->call);
  lua_getfield(L, -1, "specialize");
  lua_insert(L, -2);
  int n = push_args(L, c, ask->call);
  lua_call(L, n + 1, 1);
  ask->artifact = artifact_retain(lang_to_artifact(L, -1));
  return 0;
}

bool host_specialize(Host *h, const HostCall *call, const Artifact **out, Diag *d) {
  Ask ask = {.h = h, .call = call};
  bool ok = host_protect(h, specialize, &ask, d);
  *out = ask.artifact;
  return ok;
}
