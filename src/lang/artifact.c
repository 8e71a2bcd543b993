/* artifact.c -- room lang: the artifact as Lua sees it: fields of the custom-call record, and its texts. */
#include <math.h>
#include <string.h>

#include "kernel.h"

const char LANG_ARTIFACT[] = "nki.artifact";

typedef struct LArtifact {
  const Artifact *a;
  size_t bytes; /* lang_extern_take */
} LArtifact;

const Artifact *lang_to_artifact(lua_State *L, int i) {
  const LArtifact *u = lang_test(L, i, lang_ctx(L)->mt_artifact);
  return u ? u->a : NULL;
}

/* There is room on the stack. */
static void push(lua_State *L, LangCtx *c, const Artifact *a) {
  if (!c->mt_artifact) artifact_open(L, c);
  lua_rawgeti(L, LUA_REGISTRYINDEX, c->artifacts);
  if (lua_rawgetp(L, -1, a) == LUA_TNIL) {
    lua_pop(L, 1);
    LArtifact *u = lua_newuserdatauv(L, sizeof *u, 0);
    *u = (LArtifact){0};
    luaL_setmetatable(L, LANG_ARTIFACT);
    u->a = artifact_retain(a);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, -3, a);
    lang_extern_take(L, c, u->bytes = a->arena.used + a->module->arena.used);
  }
  lua_replace(L, -2);
}

void lang_push_artifact(lua_State *L, const Artifact *a) {
  luaL_checkstack(L, 6, NULL);
  push(L, lang_ctx(L), a);
}

void artifact_push_made(lua_State *L, LangCtx *c, const Artifact *a) {
  artifact_release(c->held); /* of a call that an error left just here */
  c->held = a;
  push(L, c, a);
  c->held = NULL;
  artifact_release(a);
}

static const Artifact *self(lua_State *L, const char *func) {
  const Artifact *a = lang_to_artifact(L, 1);
  if (!a) lang_kind_error(L, 1, func, "self", "an artifact");
  return a;
}

/* ---- fields ------------------------------------------------------------------------------------------------------ */

void lang_push_names(lua_State *L, const char *const *names, uint32_t n) {
  lua_createtable(L, (int)n, 0);
  for (uint32_t i = 0; i < n; i++) {
    lua_pushstring(L, names[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

static int f_aliases(lua_State *L, const Artifact *a) { return traced_push_aliases(L, a->module), 1; }

void artifact_push_type(lua_State *L, const char *name, const IrBuf *b) {
  lua_createtable(L, 0, 3);
  lua_pushstring(L, name);
  lua_setfield(L, -2, "name");
  lua_pushstring(L, dtype_name(b->dtype));
  lua_setfield(L, -2, "dtype");
  lang_push_shape(L, b->rank, b->shape);
  lua_setfield(L, -2, "shape");
}

static int f_return_types(lua_State *L, const Artifact *a) {
  traced_push_returns(L, a->module);
  return 1;
}

static void push_json(lua_State *L, const Json *v);

/* A value of the decoded config by key. */
static int push_config(lua_State *L, const Artifact *a, const char *key) {
  LangCtx *c = lang_ctx(L);
  Arena *arena = lang_scratch_arena(L, c);
  const Json *root = json_parse(arena, a->config_json, a->config_json_len, "config", &c->diag);
  if (!root) lang_raise(L, &c->diag);
  push_json(L, key ? json_get(root, key) : root);
  return 1;
}

static void push_json(lua_State *L, const Json *v) {
  luaL_checkstack(L, 8, "config");
  switch (v->kind) {
    case JSON_NULL:
      lua_pushnil(L);
      return;
    case JSON_BOOL:
      lua_pushboolean(L, v->b);
      return;
    case JSON_INT:
      lua_pushinteger(L, v->i);
      return;
    case JSON_FLOAT:
      lua_pushnumber(L, v->f);
      return;
    case JSON_STRING:
      lua_pushlstring(L, v->s, v->len);
      return;
    case JSON_ARRAY:
    case JSON_OBJECT:
      break;
  }
  lua_newtable(L);
  lua_Integer i = 0;
  for (const Json *child = v->child; child; child = child->next) {
    push_json(L, child);
    if (v->kind == JSON_ARRAY) {
      lua_rawseti(L, -2, ++i);
    } else {
      lua_setfield(L, -2, child->key);
    }
  }
}

static int f_backend_config(lua_State *L, const Artifact *a) {
  return lua_pushlstring(L, a->backend_config, a->backend_config_len), 1;
}
static int f_config_json(lua_State *L, const Artifact *a) {
  return lua_pushlstring(L, a->config_json, a->config_json_len), 1;
}
static int f_config(lua_State *L, const Artifact *a) { return push_config(L, a, NULL); }
static int f_ir(lua_State *L, const Artifact *a) { return lua_pushlstring(L, a->ir, a->ir_len), 1; }
static int f_input_names(lua_State *L, const Artifact *a) { return lang_push_names(L, a->input_names, a->ninputs), 1; }
static int f_output_names(lua_State *L, const Artifact *a) {
  return lang_push_names(L, a->output_names, a->noutputs), 1;
}
/* Numbers that JSON had to write as strings become numbers again: the list of {kind, value} on top of the stack. */
static void exact_values(lua_State *L) {
  int list = lua_gettop(L), entry = list + 1;
  luaL_checkstack(L, 8, "constant_values");
  for (lua_Integer i = 1; lua_geti(L, list, i) == LUA_TTABLE; i++) {
    lua_getfield(L, entry, "kind");
    lua_getfield(L, entry, "value");
    const char *kind = lua_tostring(L, -2), *s = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
    if (strcmp(kind, "tuple") == 0) exact_values(L);
    bool number = s && strcmp(kind, "int") == 0 && lua_stringtonumber(L, s);
    if (s && strcmp(kind, "float") == 0) {
      number = true;
      lua_pushnumber(L, *s == 'N' ? (lua_Number)NAN : *s == '-' ? -(lua_Number)INFINITY : (lua_Number)INFINITY);
    }
    if (number) lua_setfield(L, entry, "value");
    lua_settop(L, list);
  }
  lua_settop(L, list);
}

static int f_constant_values(lua_State *L, const Artifact *a) {
  push_config(L, a, "constant_values");
  return exact_values(L), 1;
}
static int f_grid(lua_State *L, const Artifact *a) { return push_config(L, a, "grid"); }
static int f_cores(lua_State *L, const Artifact *a) { return push_config(L, a, "cores"); }
static int f_opts(lua_State *L, const Artifact *a) { return push_config(L, a, "opts"); }
static int f_has_collectives(lua_State *L, const Artifact *a) { return lua_pushboolean(L, a->has_collectives), 1; }
static int f_nodes(lua_State *L, const Artifact *a) { return node_push_all(L, a->module), 1; }
static int f_macs(lua_State *L, const Artifact *a) { return lua_pushinteger(L, a->matmul_mac_count), 1; }
static int f_cache_key(lua_State *L, const Artifact *a) { return lua_pushstring(L, a->cache_key), 1; }
static int f_is_sequence(lua_State *L, const Artifact *a) { return lua_pushboolean(L, a->result_is_sequence), 1; }
static int f_func_name(lua_State *L, const Artifact *a) { return lua_pushstring(L, a->func_name), 1; }
static int f_target(lua_State *L, const Artifact *a) { return lua_pushstring(L, target_name(a->module->target)), 1; }
static int f_fallback(lua_State *L, const Artifact *a) { return lua_pushboolean(L, a->module->target_is_fallback), 1; }
static int f_call_target(lua_State *L, const Artifact *a) { return lua_pushstring(L, a->call_target), 1; }

typedef struct Field {
  const char *name;
  int (*push)(lua_State *L, const Artifact *a);
} Field;

static const Field fields[] = {
    {"backend_config", f_backend_config},
    {"cache_key", f_cache_key},
    {"config", f_config},
    {"config_json", f_config_json},
    {"constant_values", f_constant_values},
    {"cores", f_cores},
    {"custom_call_target", f_call_target},
    {"func_name", f_func_name},
    {"grid", f_grid},
    {"has_collectives", f_has_collectives},
    {"input_names", f_input_names},
    {"ir", f_ir},
    {"matmul_mac_count", f_macs},
    {"nodes", f_nodes},
    {"operand_output_aliases", f_aliases},
    {"opts", f_opts},
    {"output_names", f_output_names},
    {"platform_target", f_target},
    {"platform_target_is_fallback", f_fallback},
    {"result_is_sequence", f_is_sequence},
    {"return_types", f_return_types},
};
enum { FIELDS = sizeof fields / sizeof *fields, METHODS = 4 };

static int no_field(lua_State *L, const char *name) {
  const char *names[FIELDS + METHODS + 1] = {"hlo", "hlo_proto", "stablehlo", "simulate"};
  for (int i = 0; i < FIELDS; i++) names[i + METHODS] = fields[i].name;
  const char *near = diag_nearest(name, names);
  return LANG_FAIL(L, kernel_no_field, "an artifact", name, near ? " (did you mean '" : "", near ? near : "",
                   near ? "'?)" : "");
}

/* Upvalue 1: the methods. */
static int l_index(lua_State *L) {
  const Artifact *a = self(L, "artifact");
  lua_settop(L, 2);
  lua_pushvalue(L, 2);
  if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) return 1;
  if (lua_type(L, 2) != LUA_TSTRING) return no_field(L, luaL_typename(L, 2));
  char clip[TEXT_CLIP + 4];
  const char *name = lang_name(L, 2, clip);
  for (int i = 0; i < FIELDS; i++)
    if (strcmp(fields[i].name, name) == 0) return fields[i].push(L, a);
  return no_field(L, name);
}

/* ---- methods ----------------------------------------------------------------------------------------------------- */

static int push_text(lua_State *L, const char *func, bool (*make)(const Artifact *a, Text *out, Diag *d)) {
  const Artifact *a = self(L, func);
  lang_at_most(L, func, 2, 0);
  LangCtx *c = lang_ctx(L);
  Text *t = lang_scratch_text(L, c);
  if (!make(a, t, &c->diag)) lang_raise(L, &c->diag);
  lua_pushlstring(L, text_str(t), t->len);
  return 1;
}

static int l_hlo(lua_State *L) { return push_text(L, "artifact:hlo", hlo_text); }
static int l_hlo_proto(lua_State *L) { return push_text(L, "artifact:hlo_proto", hlo_proto); }
static int l_stablehlo(lua_State *L) { return push_text(L, "artifact:stablehlo", stablehlo_text); }

/* Leaves, for each rank, the operands of all arguments, which are n from 2 on; returns the index of the first. */
static int spread_ranks(lua_State *L, const Artifact *a, int64_t ranks) {
  int n = (int)a->ninputs, first = lua_gettop(L) + 1;
  luaL_checkstack(L, (int)ranks * n + 8, "operands of all ranks");
  for (int64_t r = 0; r < ranks; r++)
    for (int i = 0; i < n; i++) ranks_pick(L, 2 + i, r, ranks, a->input_names[i]);
  return first;
}

/* a:simulate(x, y), or by operand name: a:simulate{x = ..., y = ...}; a last table {ranks = n} runs it on n ranks. */
static int l_simulate(lua_State *L) {
  const Artifact *a = self(L, "artifact:simulate");
  LangCtx *c = lang_ctx(L);
  int n = (int)a->ninputs, given = lua_gettop(L) - 1;
  char text[96];
  int64_t ranks = 0;
  luaL_checkstack(L, n + 8, "operands");
  if (given >= 1 && (given == n + 1 || given == 2) && ranks_is_options(L, given + 1)) {
    ranks = ranks_option(L, given + 1, "artifact:simulate");
    lua_settop(L, given--);
  }
  if (given == 1 && lua_istable(L, 2) && lua_rawlen(L, 2) == 0 && !luaL_getmetafield(L, 2, "__index")) {
    for (int i = 0; i < n; i++) lua_getfield(L, 2, a->input_names[i]);
    lua_pushnil(L);
    for (int count = 0; lua_next(L, 2); count++, lua_pop(L, 1)) {
      int known = 0;
      while (known < n && !(lua_type(L, -2) == LUA_TSTRING && strcmp(lua_tostring(L, -2), a->input_names[known]) == 0))
        known++;
      if (known == n) LANG_FAIL(L, artifact_operands, a->func_name, "a key of the table is not the name of an operand");
    }
    lua_remove(L, 2);
  } else if (given != n) {
    lua_pushfstring(L, "%d operands are needed, got %d", n, given);
    strncpy(text, lua_tostring(L, -1), sizeof text - 1);
    text[sizeof text - 1] = '\0';
    LANG_FAIL(L, artifact_operands, a->func_name, text);
  }
  return artifact_simulate(L, c, a, ranks ? spread_ranks(L, a, ranks) : 2, ranks);
}

static int l_gc(lua_State *L) {
  LArtifact *u = lang_test(L, 1, lang_ctx(L)->mt_artifact);
  if (!u) return 0; /* a script can call this, too */
  artifact_release(u->a);
  lang_extern_give(lang_ctx(L), u->bytes);
  *u = (LArtifact){0};
  return 0;
}

static int l_tostring(lua_State *L) {
  const Artifact *a = self(L, "artifact");
  lua_pushfstring(L, "artifact %s (operands: %d, outputs: %d, %s)", a->func_name, (int)a->ninputs, (int)a->noutputs,
                  target_name(a->module->target));
  return 1;
}

/* nki.decode(backend_config): the artifact again, without the source. */
int artifact_decode(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  size_t n;
  lang_at_most(L, "nki.decode", 1, 1);
  if (lua_type(L, 1) != LUA_TSTRING) return lang_kind_error(L, 1, "nki.decode", "config", "a string");
  const char *text = lua_tolstring(L, 1, &n);
  const Artifact *a = config_decode(c->alloc, text, n, &c->diag);
  if (!a) lang_raise(L, &c->diag);
  artifact_push_made(L, c, a);
  return 1;
}

void artifact_open(lua_State *L, LangCtx *c) {
  static const luaL_Reg methods[] = {
      {"hlo", l_hlo}, {"hlo_proto", l_hlo_proto}, {"stablehlo", l_stablehlo}, {"simulate", l_simulate}, {NULL, NULL}};
  static const luaL_Reg meta[] = {{"__gc", l_gc}, {"__tostring", l_tostring}, {NULL, NULL}};
  luaL_newmetatable(L, LANG_ARTIFACT);
  luaL_setfuncs(L, meta, 0);
  luaL_newlib(L, methods);
  lua_pushcclosure(L, l_index, 1);
  lua_setfield(L, -2, "__index");
  lua_newtable(L); /* address -> userdata, weak values: one userdata per artifact while a script holds it */
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "v");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  c->artifacts = luaL_ref(L, LUA_REGISTRYINDEX);
  c->mt_artifact = lua_topointer(L, -1); /* last: all is there */
  lua_pop(L, 1);
}
