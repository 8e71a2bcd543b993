/* index.c -- room lang: registers and affine index values. Integers may be added and multiplied, index values added to
   each other; everything else has no meaning before the kernel runs on a device and raises. Arithmetic on a register
   reads it at that moment. */
#include "call.h"

const char LANG_INDEX[] = "NkiIndex";

const LIndex *lang_live_index(lua_State *L, LangCtx *c, const LIndex *v, const char *func, const char *param) {
  if (!c->trace || c->trace->serial != v->trace_serial) LANG_HERE(L, index_stale, func, param);
  return v;
}

static int overflow(lua_State *L) { return LANG_HERE0(L, index_overflow); }

static int64_t times(lua_State *L, int64_t a, int64_t b) {
  int64_t r = 0;
  if (__builtin_mul_overflow(a, b, &r)) overflow(L);
  return r;
}

static uint32_t read_register(lua_State *L, LangCtx *c, const LIndex *v) {
  uint32_t idx = v->idx;
  if (!idx && !tr_reg_read(c->trace, v->reg, &idx)) lang_trace_error(L, c->trace);
  return idx;
}

uint32_t lang_index_value(lua_State *L, LangCtx *c, const LIndex *v, int64_t scale) {
  TrTerm term = {times(L, v->coef, scale), read_register(L, c, v)};
  if (!tr_affine(c->trace, &term, 1, times(L, v->constant, scale), &term.idx)) lang_trace_error(L, c->trace);
  return term.idx;
}

static const LIndex *operand(lua_State *L, LangCtx *c, int i, const char *op) {
  const LIndex *v = lang_index_at(L, i);
  return v ? lang_live_index(L, c, v, op, "operand") : NULL;
}

/* The register's value at this moment. */
static LIndex read_now(lua_State *L, LangCtx *c, const LIndex *v) {
  return (LIndex){.idx = read_register(L, c, v), .coef = v->coef, .constant = v->constant};
}

static int sum(lua_State *L, LangCtx *c, const LIndex *x, const LIndex *y, int64_t sign) {
  LIndex u = read_now(L, c, x), v = read_now(L, c, y), r = {.coef = 1};
  TrTerm term[2] = {{u.coef, u.idx}, {times(L, v.coef, sign), v.idx}};
  if (__builtin_add_overflow(u.constant, times(L, v.constant, sign), &r.constant)) return overflow(L);
  if (!tr_affine(c->trace, term, 2, 0, &r.idx)) lang_trace_error(L, c->trace);
  lang_push_index(L, c, r);
  return 1;
}

/* x * factor + constant: nothing to compute before it is used */
static int scaled(lua_State *L, LangCtx *c, const LIndex *x, int64_t factor, int64_t constant) {
  LIndex r = read_now(L, c, x);
  r.coef = times(L, r.coef, factor);
  r.constant = times(L, r.constant, factor);
  if (__builtin_add_overflow(r.constant, constant, &r.constant)) return overflow(L);
  lang_push_index(L, c, r);
  return 1;
}

static int refuse(lua_State *L, const char *op) { return LANG_HERE(L, index_arithmetic, op); }

static int index_add(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  const LIndex *x = operand(L, c, 1, "+"), *y = operand(L, c, 2, "+");
  int64_t k;
  if (c->trace) lang_locate_fast(L, c, c->trace);
  if (x && y) return sum(L, c, x, y, 1);
  if (x && lang_to_int(L, 2, &k)) return scaled(L, c, x, 1, k);
  if (y && lang_to_int(L, 1, &k)) return scaled(L, c, y, 1, k);
  return refuse(L, "+");
}

static int index_sub(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  const LIndex *x = operand(L, c, 1, "-"), *y = operand(L, c, 2, "-");
  int64_t k;
  if (c->trace) lang_locate_fast(L, c, c->trace);
  if (x && y) return sum(L, c, x, y, -1);
  if (x && lang_to_int(L, 2, &k)) return scaled(L, c, x, 1, times(L, k, -1));
  if (y && lang_to_int(L, 1, &k)) return scaled(L, c, y, -1, k);
  return refuse(L, "-");
}

static int index_mul(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  const LIndex *x = operand(L, c, 1, "*"), *y = operand(L, c, 2, "*");
  int64_t k;
  if (c->trace) lang_locate_fast(L, c, c->trace);
  if (x && lang_to_int(L, 2, &k)) return scaled(L, c, x, k, 0);
  if (y && lang_to_int(L, 1, &k)) return scaled(L, c, y, k, 0);
  return refuse(L, "*");
}

static int index_unm(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  const LIndex *x = operand(L, c, 1, "-");
  if (!x) return refuse(L, "-");
  lang_locate_fast(L, c, c->trace);
  return scaled(L, c, x, -1, 0);
}

static int index_other(lua_State *L) { return refuse(L, lua_tostring(L, lua_upvalueindex(2))); }

static int index_compare(lua_State *L) {
  return LANG_HERE(L, dynamic_control_flow_not_supported, "a register or index value",
                   "nl.while_loop or nl.fori_loop for loops on the device; for tiles nl.less ... make masks");
}

static int index_tostring(lua_State *L) {
  const LIndex *v = lang_index_at(L, 1);
  if (v && v->idx == 0)
    lua_pushfstring(L, "register %d", (int)v->reg);
  else if (v)
    lua_pushfstring(L, "index value %%i%d * %I + %I", (int)v->idx, (LUAI_UACINT)v->coef, (LUAI_UACINT)v->constant);
  return v ? 1 : 0;
}

static int index_index(lua_State *L) {
  char key[DESCRIBE];
  return LANG_HERE(L, no_such_name, "register", lang_describe(L, 2, key, sizeof key), "", "", "");
}

static void index_metatable(lua_State *L, LangCtx *c) {
  static const luaL_Reg meta[] = {{"__add", index_add},           {"__sub", index_sub},     {"__mul", index_mul},
                                  {"__unm", index_unm},           {"__lt", index_compare},  {"__le", index_compare},
                                  {"__tostring", index_tostring}, {"__index", index_index}, {NULL, NULL}};
  static const char *const other[][2] = {{"__div", "/"},  {"__mod", "%"},  {"__pow", "^"},     {"__idiv", "//"},
                                         {"__band", "&"}, {"__bor", "|"},  {"__bxor", "~"},    {"__bnot", "~"},
                                         {"__shl", "<<"}, {"__shr", ">>"}, {"__concat", ".."}, {"__len", "#"}};
  lua_createtable(L, 0, 24);
  lua_pushlightuserdata(L, c);
  luaL_setfuncs(L, meta, 1);
  for (size_t k = 0; k < sizeof other / sizeof *other; k++) {
    lua_pushlightuserdata(L, c);
    lua_pushstring(L, other[k][1]);
    lua_pushcclosure(L, index_other, 2);
    lua_setfield(L, -2, other[k][0]);
  }
  lang_name_metatable(L, LANG_INDEX);
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
