/* faults.c -- room lang: all faults of the arguments of one call, in the order of its parameters. Only called when one
   is known to be there: the binders themselves stop at the first. */
#include "faults.h"

#include <stdio.h>

#include "call.h"

enum { MOST = 16 };

/* The string keys of the table at kw that are no parameter, in alphabetical order: Lua's own order is another in every
   run. */
static int unknown_names(lua_State *L, const BindSpec *spec, int kw, const char *out[MOST]) {
  int n = 0;
  lua_pushnil(L);
  while (lua_next(L, kw)) {
    lua_pop(L, 1);
    const char *name = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
    if (!name || lang_param(spec, name) >= 0) continue;
    int at = n < MOST ? n : MOST - 1;
    if (n >= MOST && strcmp(name, out[at]) >= 0) continue;
    for (; at > 0 && strcmp(out[at - 1], name) > 0; at--) out[at] = out[at - 1];
    out[at] = name;
    if (n < MOST) n++;
  }
  return n;
}

static void say_unknown(lua_State *L, const BindSpec *spec, int kw) {
  const char *names[MOST];
  int n = unknown_names(L, spec, kw, names);
  for (int k = 0; k < n; k++) lang_say_unknown(L, spec, names[k]);
}

int faults_call(lua_State *L, const BindSpec *spec, int npos, int kw) {
  LangCtx *c = lang_ctx(L);
  diag_clear(&c->diag);
  luaL_checkstack(L, 8, spec->func);
  say_unknown(L, spec, kw);
  for (int k = npos; k < spec->n; k++) {
    if (!spec->required[k]) continue;
    lua_pushstring(L, spec->names[k]);
    if (lua_rawget(L, kw) == LUA_TNIL) DIAG(&c->diag, bind_missing, spec->func, spec->names[k]);
    lua_pop(L, 1);
  }
  return lang_raise_here(L, &c->diag);
}

/* ---- instructions */

const char *faults_want(const IrParam *p, char buf[FAULTS_WANT]) {
  switch (p->kind) {
    case K_tile:
    case K_column:
      return "a tensor";
    case K_number:
      return "a number";
    case K_number_or_column:
    case K_number_or_tile:
      return "a number or a tensor";
    case K_alu:
      return "an operator such as nl.add";
    case K_act:
      return "an activation such as nl.exp";
    case K_enum:
      snprintf(buf, FAULTS_WANT, "a member of nisa.%s", enum_type_name((EnumType)p->set));
      return buf;
    case K_flag:
    case K_tristate:
      return "true or false";
    case K_int:
      return "an integer";
    case K_reg:
      return "a register";
    case K_int_or_reg:
      return "an integer or a register";
    default:
      return "a list";
  }
}

bool faults_token_fits(const LToken *tok, const IrParam *p) {
  if (!tok) return false;
  if (p->kind == K_enum) return tok->kind == TOK_ENUM && tok->etype == (EnumType)p->set;
  return tok->kind == TOK_OP && (p->kind == K_alu ? tok->alu != ALU_none : tok->act != ACT_none);
}

/* Has the value at i the kind of p, in a call that writes `written`? What a list holds is looked at when it is bound.
 */
static bool fits(lua_State *L, int i, const IrParam *p, DType written) {
  int64_t v;
  double f;
  bool tile = lang_tile_at(L, i) != NULL, number = lang_to_number(L, i, written, &f);
  if (lua_isnoneornil(L, i)) return true;
  switch (p->kind) {
    case K_tile:
    case K_column:
      return tile;
    case K_number:
      return number;
    case K_number_or_column:
    case K_number_or_tile:
      return number || tile;
    case K_alu:
    case K_act:
    case K_enum:
      return faults_token_fits(lang_token_at(L, i), p);
    case K_flag:
    case K_tristate:
      return lua_isboolean(L, i);
    case K_int:
      return lang_to_int(L, i, &v);
    case K_reg:
      return lang_index_at(L, i) != NULL;
    case K_int_or_reg:
      return lang_to_int(L, i, &v) || lang_index_at(L, i);
    default:
      return true;
  }
}

static void misfit(lua_State *L, const BindSpec *spec, const IrParam *p, int i) {
  char want[FAULTS_WANT], got[DESCRIBE];
  DIAG(&lang_ctx(L)->diag, bind_kind, spec->func, p->name, faults_want(p, want), lang_describe(L, i, got, sizeof got));
}

/* Pushes the argument of parameter k, nil when it has none. */
static void push_argument(lua_State *L, const IrParam *p, int k, int npos, int kw) {
  if (k < npos) {
    lua_pushvalue(L, k + 1);
  } else if (kw) {
    lua_pushstring(L, p->name);
    lua_rawget(L, kw);
  } else {
    lua_pushnil(L);
  }
}

/* By the argument itself: dst may be bound later than what is written there, since keywords come in any order. */
DType faults_written(lua_State *L, const OpInfo *op, int npos, int kw) {
  if (op->params[0].role != DST) return DT_none;
  push_argument(L, &op->params[0], 0, npos, kw);
  const LTile *t = lang_tile_at(L, -1);
  lua_pop(L, 1);
  return t ? t->dtype : DT_none;
}

void faults_instruction(lua_State *L, const BindSpec *spec, const OpInfo *op, int npos, int kw) {
  LangCtx *c = lang_ctx(L);
  uint32_t missing = 0;
  diag_clear(&c->diag);
  luaL_checkstack(L, 8, spec->func);
  DType written = faults_written(L, op, npos, kw);
  for (int k = 0; k < op_public(op); k++) {
    const IrParam *p = &op->params[k];
    push_argument(L, p, k, npos, kw);
    if (!fits(L, lua_gettop(L), p, written)) misfit(L, spec, p, lua_gettop(L));
    if (p->required && lua_isnil(L, -1)) missing |= 1u << k;
    lua_pop(L, 1);
  }
  if (kw) say_unknown(L, spec, kw);
  for (; missing; missing &= missing - 1) {
    const char *name = op->params[__builtin_ctz(missing)].name;
    DIAG(&c->diag, argument_missing, op->dialect, op->name, name);
  }
  if (c->diag.id != ERR_none) lang_raise_here(L, &c->diag);
}
