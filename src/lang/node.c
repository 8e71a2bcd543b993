/* node.c -- room lang: kernels called inside a kernel, the nodes of its program. A kernel of the user's is inlined: its
   body runs here. One of the kernel library is materialized: its specialization, traced once and found by its key from
   then on, is spliced in, and only operands are bound. */
#include <string.h>

#include "call.h"
#include "kernel.h"

static void check_space(KernelCall *call, int i, const char *what) {
  const LTile *t = lang_to_tile(call->L, i);
  if (t && t->space != SP_shared_hbm)
    LANG_HERE(call->L, nested_kernel_memory, call->k->core->func_name, what, space_name(t->space));
}

/* The tile at i when it is a live tensor of the running kernel. */
static const IrTile *tile_at(KernelCall *call, int i, int p) {
  const LTile *t = lang_to_tile(call->L, i);
  return t ? lang_live(call->L, call->c, t, call->k->core->func_name, call->k->core->params[p]) : NULL;
}

static IrNode *begin(KernelCall *call) {
  const KernelCore *core = call->k->core;
  Trace *t = call->c->trace;
  lang_locate_fast(call->L, call->c, t);
  IrNode *node = tr_node_new(t, core->func_name, (uint32_t)core->nparams);
  if (!node) lang_trace_error(call->L, t);
  for (int p = 0; p < core->nparams; p++) {
    const IrTile *tile = tile_at(call, call->first + p, p);
    if (tile && !tr_node_bind(t, node, core->params[p], tile)) lang_trace_error(call->L, t);
  }
  if (core->library && !(node->library = arena_strdup(&t->m->arena, core->library, strlen(core->library)))) {
    DIAG0(t->d, nomem);
    lang_trace_error(call->L, t);
  }
  return node;
}

static void add(KernelCall *call, IrNode *node, uint32_t at, const IrTile *const *results, uint32_t n) {
  Trace *t = call->c->trace;
  if (!tr_node_add(t, node, at, results, n)) lang_trace_error(call->L, t);
}

/* ---- materialized ------------------------------------------------------------------------------------------------ */

/* Pushes the operands that are tensors, as a C list; NULL: one is no run of elements. */
static const IrTile **push_operands(KernelCall *call) {
  int nparams = call->k->core->nparams, n = 0;
  const IrTile **list = lua_newuserdatauv(call->L, ((size_t)nparams + 1) * sizeof *list, 0);
  for (int p = 0; p < nparams; p++) {
    const IrTile *tile = tile_at(call, call->first + p, p);
    if (tile && !tr_is_run(call->c->trace, tile)) return NULL;
    if (tile) list[n++] = tile;
  }
  return list;
}

/* The value that the caller gave for operand i. */
static void push_argument(KernelCall *call, uint32_t i) {
  int p = 0;
  for (; p < call->k->core->nparams; p++)
    if (call->args[p].is_tensor && i-- == 0) break;
  lua_pushvalue(call->L, call->first + p);
}

static void push_results(KernelCall *call, const Artifact *a, const IrTile *const *results) {
  const IrFunc *f = a->module->func[0];
  luaL_checkstack(call->L, (int)f->nrets + 8, "results");
  for (uint32_t k = 0; k < f->nrets; k++) {
    if (f->rets[k] < f->nargs) {
      push_argument(call, f->rets[k]);
    } else {
      lang_new_tile(call->L, call->c, results[k]);
    }
  }
}

/* Pushes the results; -1 with nothing done when the program cannot be used on these operands. */
static int splice(KernelCall *call, IrNode *node) {
  lua_State *L = call->L;
  Trace *t = call->c->trace;
  int top = lua_gettop(L);
  uint32_t at = t->f->nnodes;
  call->node = true;
  const IrTile **operands = push_operands(call);
  if (operands) kernel_request(call);
  const Artifact *a = operands ? kernel_artifact(call) : NULL;
  if (!a || !tr_can_splice(t, a->module, operands)) {
    lua_settop(L, top);
    return -1;
  }
  const IrTile **results = lua_newuserdatauv(L, ((size_t)a->noutputs + 1) * sizeof *results, 0);
  lang_locate_fast(L, call->c, t);
  node->key = arena_strdup(&t->m->arena, a->cache_key, strlen(a->cache_key));
  if (!node->key || !tr_splice(t, a->module, operands, results)) lang_trace_error(L, t);
  add(call, node, at, results, a->noutputs);
  push_results(call, a, results);
  return (int)a->noutputs;
}

/* Where a node is, as the lines above those of the error. */
void node_blame(KernelCall *call) {
  lua_State *L = call->L;
  const Trace *t = call->c->trace;
  Diag d;
  if (!lang_is_error(L, -1)) return;
  int error = lua_gettop(L);
  diag_init(&d, call->c->alloc);
  ir_diag_where(t->m, t->loc, t->iter, &d);
  if (lua_getfield(L, error, "where") == LUA_TSTRING && lua_rawlen(L, -1) > 0 && d.where.len) {
    lua_pushfstring(L, "%s\ncalled from %s", lua_tostring(L, -1), text_str(&d.where));
    lua_setfield(L, error, "where");
  }
  diag_free(&d);
  lua_settop(L, error);
}

/* ---- inlined ----------------------------------------------------------------------------------------------------- */

/* A helper is a part of the body that calls it; a kernel's body is one of its own. */
static int run_body(KernelCall *call, bool helper) {
  lua_State *L = call->L;
  int nparams = call->k->core->nparams;
  kernel_push_function(L, call->kernel);
  lua_replace(L, call->kernel);
  lua_settop(L, call->kernel + nparams);
  if (helper) {
    lua_call(L, nparams, LUA_MULTRET);
  } else {
    lua_pushcfunction(L, drive_on_error);
    lua_insert(L, call->kernel);
    drive_body(L, call->c, nparams, call->kernel);
    lua_remove(L, call->kernel);
  }
  return lua_gettop(L) - call->kernel + 1;
}

/* The tensors among n results on top of the stack, or in the one list there. */
static void add_body(KernelCall *call, IrNode *node, uint32_t at, int n) {
  lua_State *L = call->L;
  int first = lua_gettop(L) - n + 1;
  bool is_list = n == 1 && lua_istable(L, first);
  lua_Unsigned count = is_list ? lua_rawlen(L, first) : (lua_Unsigned)n;
  const IrTile **results = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *results, 0);
  uint32_t found = 0;
  for (lua_Unsigned k = 0; k < count; k++) {
    if (is_list) {
      lua_rawgeti(L, first, (lua_Integer)k + 1);
    } else {
      lua_pushvalue(L, first + (int)k);
    }
    const LTile *t = lang_to_tile(L, -1);
    if (t && t->trace_serial == call->c->trace->serial) results[found++] = t->tile;
    lua_pop(L, 1);
  }
  add(call, node, at, results, found);
  lua_pop(L, 1);
}

/* A jitted kernel keeps its contract: operands and results are in shared_hbm. */
int node_insert(KernelCall *call) {
  lua_State *L = call->L;
  const KernelCore *core = call->k->core;
  if (call->k->ngrid) LANG_HERE(L, nested_kernel_with_spmd_grid, core->func_name);
  if (core->mode == MODE_TRACE) return run_body(call, true);
  for (int p = 0; p < core->nparams; p++) check_space(call, call->first + p, core->params[p]);
  uint32_t at = call->c->trace->f->nnodes;
  IrNode *node = begin(call);
  int n = core->library && core->mode == MODE_AUTO && !call->over ? splice(call, node) : -1;
  if (n >= 0) return n;
  n = run_body(call, false);
  for (int i = 1; i <= lua_gettop(L); i++) check_space(call, i, "a result");
  add_body(call, node, at, n);
  return n;
}

/* ---- as Lua sees them -------------------------------------------------------------------------------------------- */

static void push_node(lua_State *L, const IrModule *m, const IrNode *node) {
  lua_createtable(L, 0, 8);
  lang_set_text(L, "func_name", node->func_name);
  lang_set_text(L, "library", node->library);
  lang_set_text(L, "cache_key", node->key);
  lua_createtable(L, (int)node->noperands, 0);
  for (uint32_t k = 0; k < node->noperands; k++) {
    lua_createtable(L, 0, 2);
    lang_set_text(L, "name", node->operands[k].param);
    lang_set_text(L, "tensor", node->operands[k].tensor);
    lua_rawseti(L, -2, (lua_Integer)k + 1);
  }
  lua_setfield(L, -2, "operands");
  lang_push_names(L, node->results, node->nresults);
  lua_setfield(L, -2, "results");
  lua_pushinteger(L, node->depth);
  lua_setfield(L, -2, "depth");
  if (node->loc) {
    lang_set_text(L, "file", m->locs[node->loc].file);
    lua_pushinteger(L, m->locs[node->loc].line);
    lua_setfield(L, -2, "line");
  }
  class_push(L, lang_ctx(L), node->library ? "InternalMaterializedNkiKernel" : "ExternalNativeNkiKernel");
  lua_setmetatable(L, -2);
}

void node_push_all(lua_State *L, const IrModule *m) {
  lua_Integer n = 0;
  luaL_checkstack(L, 12, NULL);
  lua_newtable(L);
  for (uint32_t f = 0; f < m->nfunc; f++) {
    for (uint32_t k = 0; k < m->func[f]->nnodes; k++) {
      push_node(L, m, m->func[f]->nodes[k]);
      lua_rawseti(L, -2, ++n);
    }
  }
}
