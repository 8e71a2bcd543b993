/* traced.c -- room lang: a finished trace as Lua sees it: what specialize_and_call returns and the later steps take as
   kernel_return. */
#include "kernel.h"

static const char metatable[] = "nki.traced";

static void traced_open(lua_State *L);

LTraced *traced_push(lua_State *L, IrModule *m) {
  LTraced *t = lua_newuserdatauv(L, sizeof *t, TRACED_BOUND);
  *t = (LTraced){.m = NULL};
  traced_open(L);
  lua_setmetatable(L, -2);
  t->m = m;
  ir_retain(m);
  return t;
}

LTraced *traced_test(lua_State *L, int i) { return luaL_testudata(L, i, metatable); }

LTraced *traced_check(lua_State *L, int i, const char *func) {
  LTraced *t = traced_test(L, i);
  if (!t || !t->m) lang_kind_error(L, i, func, "kernel_return", "what specialize_and_call returned");
  return t;
}

void traced_push_returns(lua_State *L, const IrModule *m) {
  const IrFunc *f = m->func[0];
  lua_createtable(L, (int)f->nrets, 0);
  for (uint32_t i = 0; i < f->nrets; i++) {
    artifact_push_type(L, m->output_names[i], f->bufs[f->rets[i]]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

void traced_push_aliases(lua_State *L, const IrModule *m) {
  lua_createtable(L, (int)m->naliases, 0);
  for (uint32_t i = 0; i < m->naliases; i++) {
    lua_createtable(L, 2, 0);
    lua_pushinteger(L, m->aliases[i].operand);
    lua_rawseti(L, -2, 1);
    lua_pushinteger(L, m->aliases[i].output);
    lua_rawseti(L, -2, 2);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

static int push_ir(lua_State *L, const IrModule *m) {
  LangCtx *c = lang_ctx(L);
  Text *t = lang_scratch_text(L, c);
  if (!ir_print(m, t)) lang_no_memory(L);
  lua_pushlstring(L, text_str(t), t->len);
  return 1;
}

static int l_index(lua_State *L) {
  static const char *const names[] = {
      "ir",           "func_name",    "matmul_mac_count",   "has_collectives", "input_names",
      "output_names", "return_types", "result_is_sequence", "nodes",           NULL};
  const LTraced *t = traced_check(L, 1, "kernel_return");
  if (lua_type(L, 2) != LUA_TSTRING) lang_kind_error(L, 2, "kernel_return", "field", "a name");
  char clip[TEXT_CLIP + 4];
  const char *name = lang_name(L, 2, clip);
  const IrModule *m = t->m;
  if (strcmp(name, "ir") == 0) return push_ir(L, m);
  if (strcmp(name, "func_name") == 0) return lua_pushstring(L, m->name), 1;
  if (strcmp(name, "matmul_mac_count") == 0) return lua_pushinteger(L, ir_mac_count(m)), 1;
  if (strcmp(name, "has_collectives") == 0) return lua_pushboolean(L, t->has_collectives), 1;
  if (strcmp(name, "input_names") == 0) return lang_push_names(L, m->arg_names, m->func[0]->nargs), 1;
  if (strcmp(name, "output_names") == 0) return lang_push_names(L, m->output_names, m->func[0]->nrets), 1;
  if (strcmp(name, "return_types") == 0) return traced_push_returns(L, m), 1;
  if (strcmp(name, "result_is_sequence") == 0) return lua_pushboolean(L, m->result_is_sequence), 1;
  if (strcmp(name, "nodes") == 0) return node_push_all(L, m), 1;
  const char *near = diag_nearest(name, names);
  return LANG_FAIL(L, kernel_no_field, "kernel_return", name, near ? " (did you mean '" : "", near ? near : "",
                   near ? "'?)" : "");
}

static int l_gc(lua_State *L) {
  LTraced *t = traced_test(L, 1);
  if (!t) return 0; /* a script can call this, too */
  artifact_release(t->made);
  ir_release(t->m);
  *t = (LTraced){.m = NULL};
  return 0;
}

static int l_tostring(lua_State *L) {
  const LTraced *t = traced_check(L, 1, "kernel_return");
  lua_pushfstring(L, "trace of %s (%d operands, %d outputs)", t->m->name, (int)t->m->func[0]->nargs,
                  (int)t->m->func[0]->nrets);
  return 1;
}

static void traced_open(lua_State *L) {
  static const luaL_Reg meta[] = {{"__index", l_index}, {"__gc", l_gc}, {"__tostring", l_tostring}, {NULL, NULL}};
  if (luaL_newmetatable(L, metatable)) luaL_setfuncs(L, meta, 0);
}
