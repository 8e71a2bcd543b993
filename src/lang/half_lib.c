/* half_lib.c -- room lang: the functions in C that files of the Lua half are given as `lib`. */
#include "half.h"

#include <stdio.h>

#include <lualib.h>

#include "classic.h"
#include "instruction.h"
#include "nl.h"
#include "tile.h"

/* fault(id, ...): raises err_<id>, its format of errors.def filled in. */
static int lib_fault(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  char name[80];
  int top = lua_gettop(L);
  snprintf(name, sizeof name, "err_%s", luaL_checkstring(L, 1));
  ErrId id = err_by_name(name);
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_getfield(L, -1, LUA_STRLIBNAME);
  lua_remove(L, -2);
  luaL_gsub(L, err_format(id), "%lld", "%d");
  lua_getfield(L, -2, "format");
  lua_replace(L, 1);
  lua_insert(L, 2);
  lua_pop(L, 1);
  lua_call(L, top, 1);
  diag_failf(&c->diag, id, "%s", lua_tostring(L, -1));
  return lang_raise_here(L, &c->diag);
}

/* kind(v): what a value of ours is, nil when it is none. */
static int lib_kind(lua_State *L) {
  const char *kind = NULL;
  if (lang_tile_at(L, 1))
    kind = "tile";
  else if (lang_index_at(L, 1))
    kind = "index";
  else if (lang_token_at(L, 1))
    kind = "token";
  else if (lang_ds_at(L, 1))
    kind = "ds";
  else if (lang_to_array(L, 1))
    kind = "array";
  else if (lang_to_decl(L, 1))
    kind = "decl";
  else if (lua_type(L, 1) == LUA_TTABLE && luaL_getmetafield(L, 1, "__name") == LUA_TSTRING)
    kind = strcmp(lua_tostring(L, -1), "NkiShape") == 0 ? "shape" : NULL;
  lua_pushstring(L, kind);
  return 1;
}

static int lib_rename(lua_State *L) {
  char buf[DESCRIBE];
  luaL_checkany(L, 1);
  lua_pushstring(L, lang_describe(L, 1, buf, sizeof buf));
  return 1;
}

static int lib_on_chip(lua_State *L) {
  const LTile *t = lang_tile_at(L, 1);
  lua_pushboolean(L, t && space_on_chip(t->space));
  return 1;
}

static int lib_integer(lua_State *L) {
  lua_pushinteger(L, lang_check_int(L, 1, luaL_checkstring(L, 2), luaL_checkstring(L, 3)));
  return 1;
}

static int lib_shape(lua_State *L) {
  int64_t dim[IR_MAX_RANK];
  int rank = lang_check_shape(L, 1, "shape", "sizes", dim);
  lang_push_shape(L, rank, dim);
  return 1;
}

static int lib_dtype(lua_State *L) {
  lua_pushstring(L, dtype_name(lang_check_dtype(L, 1, luaL_checkstring(L, 2), "dtype")));
  return 1;
}

static int lib_promote(lua_State *L) {
  DType a = lang_check_dtype(L, 1, "promote", "a"), b = lang_check_dtype(L, 2, "promote", "b");
  lua_pushstring(L, dtype_name(dtype_promote(a, b)));
  return 1;
}

/* partial(): some tile is written in a box only, so assignments ask the classic layer from now on. How many
   instructions there are. */
static int lib_partial(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  c->partial = true;
  lua_pushinteger(L, c->trace ? c->trace->f->nins : 0);
  return 1;
}

/* wrote_beyond(tile, box or nil, from): has an instruction since then written tile's tensor outside of the box? */
static int lib_wrote_beyond(lua_State *L) {
  const LangCtx *c = lang_upctx(L);
  const LTile *t = lang_tile_at(L, 1), *box = lang_tile_at(L, 2);
  lua_Integer from = luaL_checkinteger(L, 3);
  lua_pushboolean(L, t && c->trace && tr_wrote_beyond(c->trace, t->tile, box ? box->tile : NULL, (uint32_t)from));
  return 1;
}

/* loops(): open traced loops, innermost first, as {{handle, value}, ...}; the serial of the trace. */
static int lib_loops(lua_State *L) {
  const LangCtx *c = lang_upctx(L);
  TrOpen open[64];
  int n = c->trace ? tr_open_loops(c->trace, open, 64) : 0;
  lua_createtable(L, n, 0);
  for (int k = 0; k < n; k++) {
    lua_createtable(L, 2, 0);
    lua_pushinteger(L, open[k].id);
    lua_rawseti(L, -2, 1);
    lua_pushinteger(L, open[k].value);
    lua_rawseti(L, -2, 2);
    lua_rawseti(L, -2, k + 1);
  }
  lua_pushinteger(L, c->trace ? (lua_Integer)c->trace->serial : 0);
  return 2;
}

/* session(): the serial of the running program, and whether a loop is open in it. */
static int lib_session(lua_State *L) {
  const LangCtx *c = lang_upctx(L);
  lua_pushinteger(L, c->trace ? (lua_Integer)c->trace->serial : 0);
  lua_pushboolean(L, c->trace && c->trace->loop);
  return 2;
}

/* reads_outside(): the running body reads a file, which no cache key holds. */
static int lib_reads_outside(lua_State *L) {
  lang_upctx(L)->outside = "a file that nl.shared_constant reads";
  return 0;
}

/* constant(array): a tensor in HBM that the program carries. */
static int lib_constant(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  const LArray *a = lang_to_array(L, 1);
  if (!a || !a->data) return luaL_error(L, "no array");
  int64_t one = 1;
  IrBufSpec spec = {.dtype = a->dtype, .rank = a->rank, .shape = a->shape, .data = a->data};
  if (a->rank == 0) spec.rank = 1, spec.shape = &one;
  const IrTile *t = tr_constant(c->trace, &spec);
  if (!t) lang_trace_error(L, c->trace);
  lang_new_tile(L, c, t);
  return 1;
}

static int lib_is_instruction(lua_State *L) {
  lua_pushboolean(L, instruction_at(L, 1));
  return 1;
}

static int lib_is_dtype(lua_State *L) {
  size_t n;
  const char *s = lua_type(L, 1) == LUA_TSTRING ? lua_tolstring(L, 1, &n) : NULL;
  lua_pushboolean(L, s && dtype_parse(s, n) != DT_none);
  return 1;
}

/* Is it an error of ours that a rule of the language or the hardware raised? */
static int lib_is_validation_error(lua_State *L) {
  const LangCtx *c = lang_upctx(L);
  bool ours = lua_type(L, 1) == LUA_TTABLE && lua_getmetatable(L, 1) && lua_topointer(L, -1) == c->mt_error;
  if (ours) {
    lua_pushliteral(L, "id");
    lua_rawget(L, 1);
    ours = lua_isstring(L, -1) && err_status(err_by_name(lua_tostring(L, -1))) == ST_TRACE;
  }
  lua_pushboolean(L, ours);
  return 1;
}

/* methods(): the methods of tensors by name. */
static int lib_methods(lua_State *L) {
  tile_push_methods(L, lang_upctx(L));
  return 1;
}

/* line(): a number that stands for the user's line. */
static int lib_line(lua_State *L) {
  const LangCtx *c = lang_upctx(L);
  lua_pushinteger(L, c->trace ? c->trace->loc : 0);
  return 1;
}

/* fold(dst, x, op): dst = dst op x, an accumulation that affine loops may carry. */
static int lib_fold(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  const LTile *dst = lang_tile_at(L, 1), *x = lang_tile_at(L, 2);
  const LToken *op = lang_token_at(L, 3);
  if (!x || !dst) lang_kind_error(L, 2, "nl.loop_reduce", "x", "a tile");
  if (!op || op->alu == ALU_none) lang_kind_error(L, 3, "nl.loop_reduce", "op", "an operator such as nl.add");
  Args_tensor_tensor a;
  nl_defaults(OP_tensor_tensor, &a);
  a.dst = nl_t(lang_live(L, c, dst, "nl.loop_reduce", "dst"));
  a.data1 = a.dst;
  a.data2 = nl_t(lang_live(L, c, x, "nl.loop_reduce", "x"));
  a.op = nl_i(op->alu);
  c->trace->folds = true;
  const IrIns *ins = tr_emit(c->trace, OP_tensor_tensor, (const IrVal *)(const void *)&a, NULL);
  c->trace->folds = false;
  if (!ins) lang_trace_error(L, c->trace);
  return 0;
}

/* is_list(v): a table without keys but 1..n. */
static int lib_is_list(lua_State *L) {
  lua_pushboolean(L, lua_istable(L, 1) && lang_is_list(L, 1));
  return 1;
}

/* first_axis(tile, axis, who): see nl_first_axis. */
static int lib_first_axis(lua_State *L) {
  lua_pushinteger(L, nl_first_axis(L, 2, luaL_checkstring(L, 3), lang_tile_at(L, 1)->tile));
  return 1;
}

/* isa(name): the instruction in its current form only. */
static int lib_isa(lua_State *L) {
  nisa_push_strict(L, lang_upctx(L), luaL_checkstring(L, 1));
  return 1;
}

static int lib_half(lua_State *L) {
  lang_half(L, lang_upctx(L), luaL_checkstring(L, 1));
  return 1;
}

void half_push_lib(lua_State *L, LangCtx *c) {
  static const luaL_Reg fns[] = {{"fault", lib_fault},       {"kind", lib_kind},
                                 {"rename", lib_rename},     {"on_chip", lib_on_chip},
                                 {"integer", lib_integer},   {"shape", lib_shape},
                                 {"dtype", lib_dtype},       {"promote", lib_promote},
                                 {"partial", lib_partial},   {"wrote_beyond", lib_wrote_beyond},
                                 {"loops", lib_loops},       {"line", lib_line},
                                 {"isa", lib_isa},           {"half", lib_half},
                                 {"facts", lint_facts},      {"fold", lib_fold},
                                 {"session", lib_session},   {"is_instruction", lib_is_instruction},
                                 {"is_dtype", lib_is_dtype}, {"is_validation_error", lib_is_validation_error},
                                 {"methods", lib_methods},   {"reads_outside", lib_reads_outside},
                                 {"constant", lib_constant}, {"first_axis", lib_first_axis},
                                 {"is_list", lib_is_list},   {NULL, NULL}};
  static const char lib;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &lib) == LUA_TTABLE) return;
  lua_pop(L, 1);
  lua_createtable(L, 0, sizeof fns / sizeof *fns);
  lua_pushlightuserdata(L, c);
  luaL_setfuncs(L, fns, 1);
  instruction_push_depends_on(L, c);
  lua_setfield(L, -2, "depends_on");
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &lib);
}
