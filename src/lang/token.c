/* token.c -- room lang: named immutable values (nl.add, nl.sbuf, nisa.engine.vector) and strict module tables. */
#include <stdio.h>

#include "call.h"
#include "nl.h"

const char LANG_TOKEN[] = "NkiToken";
static const char token_table; /* registry: name -> token, so that a module opened twice has the same tokens */

int lang_token_call(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  const LToken *tok = lang_token_at(L, 1);
  if (!tok) return lang_kind_error(L, 1, "token", "self", "a value such as nl.add");
  c->row = NULL;
  if (tok->call < 0) return LANG_HERE(L, token_call, tok->name);
  lua_remove(L, 1);
  return lang_row_enter(L, c, &nl_rows[tok->call]);
}

static int token_index(lua_State *L) {
  const LToken *tok = lang_token_at(L, 1);
  char clip[TEXT_CLIP + 4];
  const char *key = lua_isstring(L, 2) ? lang_name(L, 2, clip) : NULL;
  if (!tok || !key) return lang_kind_error(L, 2, tok ? tok->name : "token", "field", "'name' or 'value'");
  if (strcmp(key, "name") == 0) {
    const char *dot = strrchr(tok->name, '.');
    lua_pushstring(L, dot ? dot + 1 : tok->name);
    return 1;
  }
  if (strcmp(key, "value") == 0 && tok->kind != TOK_OP) {
    if (tok->kind == TOK_SPACE)
      lua_pushstring(L, space_name(tok->space));
    else if (enum_is_text(tok->etype))
      lua_pushstring(L, enum_name(tok->etype, tok->value));
    else
      lua_pushinteger(L, tok->value);
    return 1;
  }
  return LANG_HERE(L, no_such_name, tok->name, lang_clip(L, 2, clip), "", "", "");
}

static int token_tostring(lua_State *L) {
  const LToken *tok = lang_token_at(L, 1);
  lua_pushstring(L, tok ? tok->name : "token");
  return 1;
}

static int token_frozen(lua_State *L) {
  const LToken *tok = lang_token_at(L, 1);
  return LANG_HERE(L, read_only, tok ? tok->name : "token");
}

static void token_metatable(lua_State *L, LangCtx *c) {
  static const luaL_Reg meta[] = {{"__call", lang_token_call},
                                  {"__index", token_index},
                                  {"__newindex", token_frozen},
                                  {"__tostring", token_tostring},
                                  {NULL, NULL}};
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, LANG_TOKEN) == LUA_TTABLE) return;
  lua_pop(L, 1);
  lua_createtable(L, 0, 6);
  lua_pushlightuserdata(L, c);
  luaL_setfuncs(L, meta, 1);
  lang_name_metatable(L, LANG_TOKEN);
  c->mt_token = lua_topointer(L, -1);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, LANG_TOKEN);
}

/* Pushes the token called full; true when it is new and must be filled in. */
static bool push_token(lua_State *L, LangCtx *c, const char *full, LToken **out) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &token_table) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &token_table);
  }
  if (lua_getfield(L, -1, full) == LUA_TUSERDATA) {
    *out = lua_touserdata(L, -1);
    lua_remove(L, -2);
    return false;
  }
  lua_pop(L, 1);
  LToken *tok = lua_newuserdatauv(L, sizeof *tok, 1);
  memset(tok, 0, sizeof *tok);
  tok->tag = LANG_TOKEN;
  tok->call = -1;
  tok->name = lua_pushstring(L, full);
  lua_setiuservalue(L, -2, 1); /* keeps the name alive */
  token_metatable(L, c);
  lua_setmetatable(L, -2);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, full);
  lua_remove(L, -2);
  *out = tok;
  return true;
}

void lang_set_text(lua_State *L, const char *key, const char *s) {
  if (!s) return;
  lua_pushstring(L, s);
  lua_setfield(L, -2, key);
}

void lang_name_metatable(lua_State *L, const char *name) {
  lua_pushstring(L, name);
  lua_setfield(L, -2, "__name");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
}

LToken *lang_to_token(lua_State *L, int i) { return lang_token_at(L, i); }

void lang_push_space(lua_State *L, LangCtx *c, Space s) {
  char full[32];
  LToken *tok;
  snprintf(full, sizeof full, "nl.%s", space_name(s));
  if (!push_token(L, c, full, &tok)) return;
  tok->kind = TOK_SPACE;
  tok->space = s;
}

void lang_push_op(lua_State *L, LangCtx *c, const char *name, int call) {
  char full[64];
  LToken *tok;
  snprintf(full, sizeof full, "nl.%s", name);
  if (!push_token(L, c, full, &tok)) return;
  tok->kind = TOK_OP;
  tok->alu = alu_parse(name, strlen(name));
  tok->act = act_parse(name, strlen(name));
  tok->call = call;
}

void lang_push_enum(lua_State *L, LangCtx *c, EnumType t, int value, const char *module) {
  char full[96];
  LToken *tok;
  snprintf(full, sizeof full, "%s.%s.%s", module, enum_type_name(t), enum_name(t, value));
  if (!push_token(L, c, full, &tok)) return;
  tok->kind = TOK_ENUM;
  tok->etype = t;
  tok->value = value;
}

void lang_add_enum(lua_State *L, LangCtx *c, EnumType t, const char *module) {
  char full[64];
  int value;
  lua_newtable(L);
  for (const char *const *n = enum_names(t); *n; n++) {
    if (!enum_parse(t, *n, strlen(*n), &value)) continue;
    lang_push_enum(L, c, t, value, module);
    lua_setfield(L, -2, *n);
  }
  snprintf(full, sizeof full, "%s.%s", module, enum_type_name(t));
  lang_strict(L, full);
  lua_setfield(L, -2, enum_type_name(t));
}

/* ---- strict tables */

enum { NAMES = 512 };

/* What Python finds as a field of `nki` and Lua by require. */
static bool is_module(const char *module, const char *key) {
  static const char *const modules[] = {"language", "isa", "collectives", "ndarray", "testing", "kernels"};
  for (size_t i = 0; strcmp(module, "nki") == 0 && i < sizeof modules / sizeof *modules; i++)
    if (strcmp(key, modules[i]) == 0) return true;
  return false;
}

static int strict_missing(lua_State *L) {
  const char *names[NAMES + 1];
  const char *module = lua_tostring(L, lua_upvalueindex(1)), *key = luaL_tolstring(L, 2, NULL), *near = NULL;
  int n = 0;
  if (lua_type(L, 2) == LUA_TSTRING) {
    lua_pushnil(L);
    while (n < NAMES && lua_next(L, 1)) {
      if (lua_type(L, -2) == LUA_TSTRING) names[n++] = lua_tostring(L, -2);
      lua_pop(L, 1);
    }
    names[n] = NULL;
    near = diag_nearest(key, names);
  }
  char hint[96] = "", clip[TEXT_CLIP + 4];
  if (lua_type(L, 2) == LUA_TSTRING) key = lang_clip(L, 2, clip);
  if (is_module(module, key))
    return LANG_HERE(L, no_such_name, module, key, "; it is a module: require \"nki.", key,
                     strcmp(key, "kernels") == 0 ? ".softmax\" for one" : "\"");
  if (near) snprintf(hint, sizeof hint, "; did you mean %s.", module);
  return LANG_HERE(L, no_such_name, module, key, hint, near ? near : "", near ? "?" : "");
}

static int strict_frozen(lua_State *L) { return LANG_HERE(L, read_only, lua_tostring(L, lua_upvalueindex(1))); }

static int strict_next(lua_State *L) {
  lua_settop(L, 2);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_replace(L, 1);
  if (lua_next(L, 1)) return 2;
  lua_pushnil(L);
  return 1;
}

static int strict_pairs(lua_State *L) {
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pushvalue(L, 1);
  lua_pushnil(L);
  return 3;
}

void lang_strict(lua_State *L, const char *name) {
  int contents = lua_gettop(L);
  lua_createtable(L, 0, 1);
  lua_pushstring(L, name);
  lua_pushcclosure(L, strict_missing, 1);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, contents);
  lua_newtable(L); /* the proxy */
  lua_createtable(L, 0, 5);
  lua_pushvalue(L, contents);
  lua_setfield(L, -2, "__index");
  lua_pushstring(L, name);
  lua_pushcclosure(L, strict_frozen, 1);
  lua_setfield(L, -2, "__newindex");
  lua_pushvalue(L, contents);
  lua_pushcclosure(L, strict_next, 1);
  lua_pushcclosure(L, strict_pairs, 1);
  lua_setfield(L, -2, "__pairs");
  lang_name_metatable(L, name);
  lua_setmetatable(L, -2);
  lua_replace(L, contents);
}
