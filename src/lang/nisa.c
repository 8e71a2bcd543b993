/* nisa.c -- room lang: instructions as Lua functions, one C closure per row of ops.def; the arguments go straight from
   the Lua stack into the instruction's values, so a call makes no table and no copy. */
#include <stdio.h>

#include "classic.h"
#include "faults.h"
#include "half.h"
#include "instruction.h"
#include "nl.h"

enum { MAX_PARAMS = 24, MAX_LIST = 64, MAX_PAIRS = 4096 };

/* One row as a Lua function: upvalue 2 of its closure. Lua makes one object of equal short strings, so a parameter's
   name is known by its address, and so are the tokens that fitted last; user value 1 keeps those objects alive. */
typedef struct Callee {
  LangCtx *c;
  const OpInfo *op;
  int npublic; /* parameters that a call may name */
  bool strict; /* a call that does not fit is an error; else it is tried as a classic one */
  const void *key[MAX_PARAMS];
  uint8_t order[MAX_PARAMS]; /* parameter of the k-th keyword of the last call: calls mostly look alike */
  const void *token[MAX_PARAMS];
  int64_t token_value[MAX_PARAMS];
} Callee;

typedef struct Binding { /* of one call */
  lua_State *L;
  LangCtx *c;
  Trace *t;
  const OpInfo *op;
  Callee *callee;
  const char *label;
  IrIns *ins;           /* being filled in: not yet part of the trace */
  int npos, kw;         /* arguments by position; where the keywords are, 0: none */
  uint32_t given;       /* mask of the parameters that have an argument */
  bool strict, classic; /* strict as in Callee; classic: the call does not fit, binding stopped */
} Binding;

static const char *func_name(const Binding *b) { return b->op->full; }
const char *lang_nisa_name(const void *callee) { return ((const Callee *)callee)->op->full; }

/* Parameter names for messages: those of the row, then `name`. */
static void spec_of(const Binding *b, BindSpec *spec, const char **names) {
  int n = 0;
  for (; n < op_public(b->op); n++) names[n] = b->op->params[n].name;
  names[n++] = "name";
  *spec = (BindSpec){.func = func_name(b), .names = names, .n = n};
}

/* Raises what else is wrong with the arguments, too. */
static int wrong(const Binding *b, int i, const char *param, const char *want) {
  BindSpec spec;
  const char *names[MAX_PARAMS + 1];
  spec_of(b, &spec, names);
  i = lua_absindex(b->L, i);
  faults_instruction(b->L, &spec, b->op, b->npos, b->kw);
  return lang_kind_error(b->L, i, func_name(b), param, want);
}

/* The same where the argument may stand in its classic place: raises only in a strict call. */
static void misfit(Binding *b, int i, const char *param, const char *want) {
  if (b->strict) wrong(b, i, param, want);
  b->classic = true;
}

/* ---- one value */

static inline bool tile_value(Binding *b, int i, const IrParam *p, IrVal *out) {
  const LTile *t = lang_tile_at(b->L, i);
  if (!t) return false;
  if (t->trace_serial != b->t->serial) lang_live(b->L, b->c, t, func_name(b), p->name);
  *out = (IrVal){.kind = V_TILE, .u.tile = t->tile};
  return true;
}

static void number_value(Binding *b, int i, const IrParam *p, IrVal *out, const char *want) {
  double number;
  if (!lang_to_number(b->L, i, lua_isboolean(b->L, i) ? faults_written(b->L, b->op, b->npos, b->kw) : DT_none, &number))
    misfit(b, i, p->name, want);
  else
    *out = (IrVal){.kind = V_NUM, .u.num = number};
}

static void remember_token(const Binding *b, int i, const IrParam *p, int64_t v) {
  lua_State *L = b->L;
  ptrdiff_t k = p - b->op->params;
  i = lua_absindex(L, i);
  lua_getiuservalue(L, lua_upvalueindex(2), 1);
  lua_pushvalue(L, i);
  lua_rawseti(L, -2, b->op->nparams + k + 1);
  lua_pop(L, 1);
  b->callee->token[k] = lua_touserdata(L, i);
  b->callee->token_value[k] = v;
}

static void token_value(Binding *b, int i, const IrParam *p, IrVal *out) {
  const LToken *tok = lang_token_at(b->L, i);
  char want[FAULTS_WANT];
  if (!faults_token_fits(tok, p)) wrong(b, i, p->name, faults_want(p, want));
  int64_t v = p->kind == K_enum ? tok->value : p->kind == K_alu ? (int64_t)tok->alu : (int64_t)tok->act;
  *out = (IrVal){.kind = V_INT, .u.i = v};
  remember_token(b, i, p, v);
}

static int64_t *ints_room(Binding *b, size_t n) {
  int64_t *ints = arena_newn(&b->t->m->arena, int64_t, n);
  if (!ints) DIAG0(b->t->d, nomem), lang_trace_error(b->L, b->t);
  return ints;
}

/* A plain list with more entries than a shape can have. */
static void long_list(Binding *b, int i, const IrParam *p, IrVal *out) {
  size_t n = lua_rawlen(b->L, i);
  int64_t *ints = ints_room(b, n);
  if (!lang_is_list(b->L, i)) wrong(b, i, p->name, "a list of integers");
  for (size_t k = 0; k < n; k++) {
    lua_rawgeti(b->L, i, (lua_Integer)k + 1);
    if (!lang_to_int(b->L, -1, &ints[k])) wrong(b, -1, p->name, "a list of integers");
    lua_pop(b->L, 1);
  }
  *out = (IrVal){.kind = V_INTS, .n = (uint32_t)n, .u.ints = ints};
}

static void list_value(Binding *b, int i, const IrParam *p, IrVal *out) {
  int64_t dims[IR_MAX_RANK];
  i = lua_absindex(b->L, i);
  if (lua_type(b->L, i) == LUA_TTABLE && lua_rawlen(b->L, i) > IR_MAX_RANK && lua_rawlen(b->L, i) <= MAX_LIST) {
    long_list(b, i, p, out);
    return;
  }
  int n = lang_check_shape(b->L, i, func_name(b), p->name, dims);
  *out = (IrVal){.kind = V_NONE};
  if (n == 0) return;
  int64_t *ints = ints_room(b, (size_t)n);
  memcpy(ints, dims, (size_t)n * sizeof *ints);
  *out = (IrVal){.kind = V_INTS, .n = (uint32_t)n, .u.ints = ints};
}

static void pairs_value(Binding *b, int i, const IrParam *p, IrVal *out) {
  lua_State *L = b->L;
  const char *want = p->kind == K_pairs ? "a list of {step, num} pairs" : "a list of {source, target} pairs";
  i = lua_absindex(L, i);
  size_t n = lang_list_length(L, i);
  if (n < 1 || n > MAX_PAIRS) wrong(b, i, p->name, want);
  int64_t *ints = ints_room(b, 2 * n);
  for (size_t k = 0; k < n; k++) {
    lua_rawgeti(L, i, (lua_Integer)k + 1);
    if (lang_list_length(L, -1) != 2) wrong(b, -1, p->name, want);
    for (int j = 0; j < 2; j++) {
      lua_rawgeti(L, -1, j + 1);
      if (!lang_to_int(L, -1, &ints[2 * k + (size_t)j])) wrong(b, -1, p->name, "a list of pairs of integers");
      lua_pop(L, 1);
    }
    lua_pop(L, 1);
  }
  *out = (IrVal){.kind = V_PAIRS, .n = (uint32_t)n, .u.ints = ints};
}

static void tiles_value(Binding *b, int i, const IrParam *p, IrVal *out) {
  lua_State *L = b->L;
  i = lua_absindex(L, i);
  size_t n = lang_list_length(L, i);
  if (n < 1) wrong(b, i, p->name, "a list of tensors");
  const IrTile **tiles = arena_newn(&b->t->m->arena, const IrTile *, n);
  if (!tiles) DIAG0(b->t->d, nomem), lang_trace_error(L, b->t);
  for (size_t k = 0; k < n; k++) {
    IrVal one = {0};
    lua_rawgeti(L, i, (lua_Integer)k + 1);
    if (!tile_value(b, -1, p, &one)) wrong(b, -1, p->name, "a list of tensors");
    tiles[k] = one.u.tile;
    lua_pop(L, 1);
  }
  *out = (IrVal){.kind = V_TILES, .n = (uint32_t)n, .u.tiles = tiles};
}

/* A list of lists of one tensor. */
static void channels_value(Binding *b, int i, const IrParam *p, IrVal *out) {
  static const char want[] = "a list with a list of one tensor for each channel";
  lua_State *L = b->L;
  i = lua_absindex(L, i);
  size_t n = lang_list_length(L, i);
  if (n < 1 || n > MAX_LIST) wrong(b, i, p->name, want);
  const IrTile **tiles = arena_newn(&b->t->m->arena, const IrTile *, n);
  if (!tiles) DIAG0(b->t->d, nomem), lang_trace_error(L, b->t);
  for (size_t k = 0; k < n; k++) {
    IrVal one = {0};
    lua_rawgeti(L, i, (lua_Integer)k + 1);
    if (lang_list_length(L, -1) != 1) wrong(b, -1, p->name, want);
    lua_rawgeti(L, -1, 1);
    if (!tile_value(b, -1, p, &one)) wrong(b, -1, p->name, want);
    tiles[k] = one.u.tile;
    lua_pop(L, 2);
  }
  *out = (IrVal){.kind = V_TILES, .n = (uint32_t)n, .u.tiles = tiles};
}

static void groups_value(Binding *b, int i, const IrParam *p, IrVal *out) {
  i = lua_absindex(b->L, i);
  int64_t *ints = ints_room(b, groups_read(b->L, i, func_name(b), p->name, NULL).room + 1);
  GroupList list = groups_read(b->L, i, func_name(b), p->name, ints);
  *out = (IrVal){.kind = V_LISTS, .n = list.n, .u.ints = ints};
}

static void register_value(Binding *b, int i, const IrParam *p, IrVal *out) {
  const LIndex *x = lang_index_at(b->L, i);
  int64_t v;
  if (x) {
    lang_live_index(b->L, b->c, x, func_name(b), p->name);
    if (x->idx == 0)
      *out = (IrVal){.kind = V_REG, .u.reg = x->reg};
    else if (p->kind == K_reg)
      LANG_HERE(b->L, index_frozen, func_name(b), p->name);
    else
      *out = (IrVal){.kind = V_IDX, .u.idx = lang_index_value(b->L, b->c, x, 1)};
  } else if (p->kind == K_int_or_reg && lang_to_int(b->L, i, &v)) {
    *out = (IrVal){.kind = V_INT, .u.i = v};
  } else {
    wrong(b, i, p->name, p->kind == K_reg ? "a register" : "an integer or a register");
  }
}

static void other_value(Binding *b, int i, const IrParam *p, IrVal *out) {
  int64_t v;
  switch (p->kind) {
    case K_flag:
    case K_tristate:
      if (!lua_isboolean(b->L, i)) wrong(b, i, p->name, "true or false");
      *out = (IrVal){.kind = V_INT, .u.i = lua_toboolean(b->L, i)};
      break;
    case K_int:
    case K_int_or_ints:
      if (lang_to_int(b->L, i, &v))
        *out = (IrVal){.kind = V_INT, .u.i = v};
      else if (p->kind == K_int)
        wrong(b, i, p->name, "an integer");
      else
        list_value(b, i, p, out);
      break;
    case K_ints:
      list_value(b, i, p, out);
      break;
    case K_pairs:
    case K_routes:
      pairs_value(b, i, p, out);
      break;
    case K_tiles:
      tiles_value(b, i, p, out);
      break;
    case K_channels:
      channels_value(b, i, p, out);
      break;
    case K_groups:
      groups_value(b, i, p, out);
      break;
    case K_reg:
    case K_int_or_reg:
      register_value(b, i, p, out);
      break;
    default:
      wrong(b, i, p->name, "something this parameter has no Lua form for");
      break;
  }
}

static void no_tile_value(Binding *b, int i, const IrParam *p, IrVal *out) {
  switch (p->kind) {
    case K_tile:
    case K_column:
      misfit(b, i, p->name, "a tensor");
      break;
    case K_number:
      number_value(b, i, p, out, "a number");
      break;
    case K_number_or_column:
    case K_number_or_tile:
      number_value(b, i, p, out, "a number or a tensor");
      break;
    case K_alu:
    case K_act:
    case K_enum:
      token_value(b, i, p, out);
      break;
    default:
      other_value(b, i, p, out);
      break;
  }
}

static inline bool may_be_tile(Kind kind) { return kind <= K_number_or_tile && kind != K_number; }

static inline bool known_token(const Binding *b, int i, int k, IrVal *out) {
  const void *token = b->callee->token[k];
  if (!token || lua_touserdata(b->L, i) != token) return false;
  *out = (IrVal){.kind = V_INT, .u.i = b->callee->token_value[k]};
  return true;
}

static inline void value(Binding *b, int i, int k) {
  const IrParam *p = &b->op->params[k];
  IrVal *out = &b->ins->v[k];
  if (may_be_tile(p->kind) ? !tile_value(b, i, p, out) : !known_token(b, i, k, out)) {
    if (lua_isnil(b->L, i)) return;
    no_tile_value(b, i, p, out);
  }
  b->given |= 1u << k;
}

static void label_value(Binding *b, int i) {
  size_t n;
  if (lua_isnil(b->L, i)) return;
  if (lua_type(b->L, i) != LUA_TSTRING) wrong(b, i, "name", "a string");
  b->label = lua_tolstring(b->L, i, &n);
  if (!text_is_plain(b->label, n)) wrong(b, i, "name", "UTF-8 text without NUL");
}

/* ---- the call */

/* The parameter that has this key, the nth of this call; -1 when none has. */
static int find_param(const Binding *b, int nth, const void *key) {
  Callee *callee = b->callee;
  for (int k = 0; k < b->op->nparams; k++) {
    if (callee->key[k] != key) continue;
    if (nth < b->op->nparams) callee->order[nth] = (uint8_t)k;
    return k;
  }
  return -1;
}

/* The same of the key at -2. */
static inline int keyword_param(const Binding *b, int nth) {
  const Callee *callee = b->callee;
  const void *key = lua_topointer(b->L, -2);
  int k = nth < b->op->nparams ? callee->order[nth] : 0;
  return callee->key[k] == key ? k : find_param(b, nth, key);
}

static void keyword(Binding *b, int nth) { /* key at -2, value at -1 */
  lua_State *L = b->L;
  int k = keyword_param(b, nth);
  if (k >= 0) {
    if (b->given >> k & 1) LANG_HERE(L, bind_twice, func_name(b), b->op->params[k].name);
    value(b, -1, k);
    return;
  }
  if (lua_type(L, -2) != LUA_TSTRING) {
    if (lua_type(L, -2) == LUA_TNUMBER) LANG_HERE(L, bind_mixed, func_name(b));
    LANG_HERE(L, bind_key, func_name(b), luaL_typename(L, -2));
  }
  const char *key = lua_tostring(L, -2);
  if (lang_has_nul(L, -2)) LANG_HERE(L, bind_key, func_name(b), "string with a NUL byte");
  if (strcmp(key, "name") == 0) {
    label_value(b, -1);
    return;
  }
  if (!b->strict) {
    b->classic = true;
    return;
  }
  BindSpec spec;
  const char *names[MAX_PARAMS + 1];
  spec_of(b, &spec, names);
  faults_instruction(L, &spec, b->op, b->npos, b->kw);
}

static bool takes_list(const OpInfo *op, int k) {
  if (k >= op->nparams) return false;
  Kind kind = op->params[k].kind;
  return kind == K_ints || kind == K_int_or_ints || (kind >= K_pairs && kind <= K_channels);
}

/* Is the table at top the keywords? Sets `more`: they are not empty, and the first pair lies above it. */
static bool is_keywords(Binding *b, int top, bool *more) {
  lua_State *L = b->L;
  if (!lua_getmetatable(L, top)) {
    lua_pushnil(L);
    *more = lua_next(L, top);
    if (!*more) return !takes_list(b->op, top - 1);
    if (lua_type(L, -2) == LUA_TSTRING) return true; /* nearly every call */
  }
  lua_settop(L, top);
  *more = false;
  if (!lang_is_keywords(L, top, takes_list(b->op, top - 1))) return false;
  lua_pushnil(L);
  *more = lua_next(L, top);
  return true;
}

static void bind(Binding *b, int top) {
  lua_State *L = b->L;
  int n = b->callee->npublic, npos = top;
  bool more = false, kw = top > 0 && lua_type(L, top) == LUA_TTABLE && is_keywords(b, top, &more);
  if (kw) npos--;
  b->npos = npos;
  b->kw = kw ? top : 0;
  if (npos > n + 1) LANG_HERE(L, bind_surplus, func_name(b), n + 1, npos);
  for (int k = 0; k < npos && k < n && !b->classic; k++) value(b, k + 1, k);
  if (b->classic) return;
  if (npos > n) label_value(b, n + 1);
  for (int nth = 0; more; nth++) {
    keyword(b, nth);
    lua_pop(L, 1);
    more = !b->classic && lua_next(L, top);
  }
}

/* Is a parameter missing that the current form demands? */
static bool lacks(const Binding *b) {
  for (int k = 0; k < op_public(b->op); k++)
    if (b->op->params[k].required && !(b->given >> k & 1)) return true;
  return false;
}

static void begin(Binding *b, int top) {
  b->label = NULL;
  b->given = 0;
  b->classic = false;
  b->ins = tr_begin_ins(b->t, (Op)(b->op - op_info));
  if (!b->ins) lang_trace_error(b->L, b->t);
  bind(b, top);
}

/* The call, whose arguments are 1..top, as a classic one: true and its result on top, or it begins anew, strictly. */
static bool as_classic(Binding *b, int top) {
  lua_State *L = b->L;
  diag_clear(b->t->d);
  lua_settop(L, top);
  luaL_checkstack(L, top + 8, NULL);
  lua_pushstring(L, b->op->name);
  for (int i = 1; i <= top; i++) lua_pushvalue(L, i);
  classic_call(L, b->c, "classic_isa.call", top + 1, 2);
  if (lua_toboolean(L, -2)) return true;
  lua_settop(L, top);
  b->strict = true;
  begin(b, top);
  return false;
}

/* The register that the instruction fills; pushed as the call's value. */
static void push_result(Binding *b, IrVal *out) {
  LIndex r = {.coef = 1};
  if (!tr_reg_alloc(b->t, NULL, &r.reg)) lang_trace_error(b->L, b->t);
  *out = (IrVal){.kind = V_REG, .u.reg = r.reg};
  lang_push_index(b->L, b->c, r);
}

int lang_nisa_call(lua_State *L) {
  Binding b;
  int top = lua_gettop(L);
  b.L = L;
  b.callee = lua_touserdata(L, lua_upvalueindex(2));
  b.c = b.callee->c;
  b.t = b.c->trace;
  b.op = b.callee->op;
  b.strict = b.callee->strict;
  if (!b.t) {
    lang_need_trace(L, b.c, func_name(&b));
  }
  lang_locate_fast(L, b.c, b.t); /* before the values: reading a register is an instruction of this line, too */
  begin(&b, top);
  if (b.classic && as_classic(&b, top)) return 1;
  bool result = b.callee->npublic < b.op->nparams;
  if (result) push_result(&b, &b.ins->v[b.op->nparams - 1]);
  if (!tr_emit_ins(b.t, b.ins, b.label)) {
    if (b.strict || !lacks(&b)) lang_trace_error(L, b.t);
    if (as_classic(&b, top)) return 1;
    if (!tr_emit_ins(b.t, b.ins, b.label)) lang_trace_error(L, b.t);
  }
  if (!result) lua_pushlightuserdata(L, instruction_handle(b.t));
  return 1;
}

/* ---- its function */

void nisa_push_callee(lua_State *L, LangCtx *c, const OpInfo *op, bool strict) {
  lua_pushlightuserdata(L, c);
  Callee *callee = lua_newuserdatauv(L, sizeof *callee, 1);
  *callee = (Callee){.c = c, .op = op, .npublic = op_public(op), .strict = strict};
  lua_createtable(L, op->nparams, 0);
  for (int k = 0; k < op_public(op); k++) {
    lua_pushstring(L, op->params[k].name);
    callee->key[k] = lua_topointer(L, -1);
    lua_rawseti(L, -2, k + 1);
  }
  for (int k = op_public(op); k < op->nparams; k++) callee->key[k] = callee; /* no key */
  lua_setiuservalue(L, -2, 1);
  lua_pushcclosure(L, lang_nisa_call, 2);
}

void nisa_push_strict(lua_State *L, LangCtx *c, const char *name) {
  Op op = op_parse(name, strlen(name));
  if (op == OP_none) luaL_error(L, "no instruction '%s'", name);
  nisa_push_callee(L, c, &op_info[op], true);
}
