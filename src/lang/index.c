/* index.c -- room lang: registers and affine index values. Integers may be added and multiplied, index values added to each other;
   everything else has no meaning before the kernel runs on a device and raises. Arithmetic on a register reads it at that moment. */
#include "call.h"

const char LANG_INDEX[] = "NkiIndex";

LIndex *lang_to_index(lua_State *L, int i) { return lang_index_at(L, i); }

const LIndex *lang_live_index(lua_State *L, LangCtx *c, const LIndex *v, const char *func, const char *param) {
  if (!c->trace || c->trace->serial != v->trace_serial) LANG_HERE(L, index_stale, func, param);
  return v;
}

uint32_t lang_index_value(lua_State *L, LangCtx *c, const LIndex *v, int64_t scale, bool with_constant) {
  uint32_t idx = v->idx;
  Trace *t = c->trace;
  if (!idx && !tr_reg_read(t, v->reg, &idx)) lang_trace_error(L, t);
  int64_t constant = with_constant ? v->constant * scale : 0;
  if (!tr_affine(t, 1, &scale, &idx, constant, &idx)) lang_trace_error(L, t);
  return idx;
}

static const LIndex *operand(lua_State *L, LangCtx *c, int i, const char *op) {
  const LIndex *v = lang_index_at(L, i);
  return v ? lang_live_index(L, c, v, op, "operand") : NULL;
}

/* Value of a register at this moment; the constant stays outside. */
static LIndex read_now(lua_State *L, LangCtx *c, const LIndex *v) {
  LIndex r = *v;
  r.idx = lang_index_value(L, c, v, 1, false);
  r.reg = 0;
  r.frozen = false;
  return r;
}

static int overflow(lua_State *L, const char *op) { return LANG_HERE(L, index_overflow, op); }

/* a*x + b*y + constant, either of x, y possibly absent */
static int sum(lua_State *L, LangCtx *c, const LIndex *x, int64_t a, const LIndex *y, int64_t b) {
  LIndex u = read_now(L, c, x), v = {0}, r = {0};
  int64_t coef[2] = {a, b}, left, right = 0;
  if (y) v = read_now(L, c, y);
  uint32_t idx[2] = {u.idx, v.idx};
  if (__builtin_mul_overflow(u.constant, a, &left) || (y && __builtin_mul_overflow(v.constant, b, &right)) ||
      __builtin_add_overflow(left, right, &r.constant))
    return overflow(L, "arithmetic");
  if (!tr_affine(c->trace, y ? 2 : 1, coef, idx, 0, &r.idx)) lang_trace_error(L, c->trace);
  lang_push_index(L, c, r);
  return 1;
}

static int add_constant(lua_State *L, LangCtx *c, const LIndex *x, int64_t k) {
  LIndex r = read_now(L, c, x);
  if (__builtin_add_overflow(r.constant, k, &r.constant)) return overflow(L, "addition");
  lang_push_index(L, c, r);
  return 1;
}

static int refuse(lua_State *L, const char *op) { return LANG_HERE(L, index_arithmetic, op); }

static int index_add(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  const LIndex *x = operand(L, c, 1, "+"), *y = operand(L, c, 2, "+");
  int64_t k;
  if (c->trace) lang_locate_fast(L, c, c->trace);
  if (x && y) return sum(L, c, x, 1, y, 1);
  if (x && lang_to_int(L, 2, &k)) return add_constant(L, c, x, k);
  if (y && lang_to_int(L, 1, &k)) return add_constant(L, c, y, k);
  return refuse(L, "+");
}

static int index_sub(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  const LIndex *x = operand(L, c, 1, "-"), *y = operand(L, c, 2, "-");
  int64_t k;
  if (c->trace) lang_locate_fast(L, c, c->trace);
  if (x && y) return sum(L, c, x, 1, y, -1);
  if (x && lang_to_int(L, 2, &k) && k != INT64_MIN) return add_constant(L, c, x, -k);
  if (y && lang_to_int(L, 1, &k)) {
    sum(L, c, y, -1, NULL, 0);
    return add_constant(L, c, lang_index_at(L, -1), k);
  }
  return refuse(L, "-");
}

static int index_mul(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  const LIndex *x = operand(L, c, 1, "*"), *y = operand(L, c, 2, "*");
  int64_t k;
  if (c->trace) lang_locate_fast(L, c, c->trace);
  if (x && lang_to_int(L, 2, &k)) return sum(L, c, x, k, NULL, 0);
  if (y && lang_to_int(L, 1, &k)) return sum(L, c, y, k, NULL, 0);
  return refuse(L, "*");
}

static int index_unm(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  const LIndex *x = operand(L, c, 1, "-");
  if (!x) return refuse(L, "-");
  lang_locate_fast(L, c, c->trace);
  return sum(L, c, x, -1, NULL, 0);
}

static int index_other(lua_State *L) { return refuse(L, lua_tostring(L, lua_upvalueindex(2))); }

static int index_compare(lua_State *L) {
  return LANG_HERE(L, dynamic_control_flow_not_supported, "a register or index value",
                   "nl.while_loop or nl.fori_loop for loops on the device");
}

static int index_tostring(lua_State *L) {
  const LIndex *v = lang_index_at(L, 1);
  if (v && v->idx == 0)
    lua_pushfstring(L, "register %d", (int)v->reg);
  else if (v)
    lua_pushfstring(L, "index value %%i%d + %I", (int)v->idx, (LUAI_UACINT)v->constant);
  return v ? 1 : 0;
}

static int index_index(lua_State *L) {
  char key[DESCRIBE];
  return LANG_HERE(L, no_such_name, "register", lang_describe(L, 2, key, sizeof key), "", "", "");
}

static void index_metatable(lua_State *L, LangCtx *c) {
  static const luaL_Reg meta[] = {{"__add", index_add},         {"__sub", index_sub},      {"__mul", index_mul},
                                  {"__unm", index_unm},         {"__lt", index_compare},   {"__le", index_compare},
                                  {"__tostring", index_tostring}, {"__index", index_index}, {NULL, NULL}};
  static const char *const other[][2] = {{"__div", "/"},  {"__mod", "%"},  {"__pow", "^"}, {"__idiv", "//"}, {"__band", "&"},
                                         {"__bor", "|"},  {"__bxor", "~"}, {"__bnot", "~"}, {"__shl", "<<"},  {"__shr", ">>"},
                                         {"__concat", ".."}, {"__len", "#"}};
  lua_createtable(L, 0, 24);
  lua_pushlightuserdata(L, c);
  luaL_setfuncs(L, meta, 1);
  for (size_t k = 0; k < sizeof other / sizeof *other; k++) {
    lua_pushlightuserdata(L, c);
    lua_pushstring(L, other[k][1]);
    lua_pushcclosure(L, index_other, 2);
    lua_setfield(L, -2, other[k][0]);
  }
  lua_pushstring(L, LANG_INDEX);
  lua_setfield(L, -2, "__name");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  c->mt_index = lua_topointer(L, -1);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, LANG_INDEX);
}

void lang_push_index(lua_State *L, LangCtx *c, LIndex v) {
  LIndex *p = lua_newuserdatauv(L, sizeof *p, 0);
  *p = v;
  p->tag = LANG_INDEX;
  p->trace_serial = c->trace->serial;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, LANG_INDEX) != LUA_TTABLE) {
    lua_pop(L, 1);
    index_metatable(L, c);
  }
  lua_setmetatable(L, -2);
}
