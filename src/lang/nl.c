/* nl.c -- room lang: the module nki.language: the rows of nl.def, constants, and the Lua compositions. */
#include <math.h>
#include <stdio.h>

#include "classic.h"
#include "nl.h"

#define LIST(i) (1u << (i))
#define IN false
#define ANYWHERE true

#define NL(name, body, arg, where, lists, params, doc) static const char *const names_##name[] = {params NULL};
#define A(x) #x,
#define O(x) #x,
#include "nl.def"

#define NL(name, body, arg, where, lists, params, doc) static const bool required_##name[] = {params false};
#define A(x) true,
#define O(x) false,
#include "nl.def"

const LRow nl_rows[] = {
#define NL(name_, body_, arg_, where_, lists_, params_, doc_)                                                       \
  {.module = "nl",                                                                                                  \
   .name = #name_,                                                                                                  \
   .body = body_,                                                                                                   \
   .arg = arg_,                                                                                                     \
   .anywhere = where_,                                                                                              \
   .bind = {"nl." #name_, names_##name_, required_##name_, (int)(sizeof names_##name_ / sizeof *names_##name_) - 1, \
            lists_},                                                                                                \
   .doc = doc_},
#define A(x)
#define O(x)
#include "nl.def"
};
const int nl_nrows = (int)(sizeof nl_rows / sizeof *nl_rows);

const LRow *nl_row(const char *name) { return lang_row_named(nl_rows, nl_nrows, name); }

static void add_functions(lua_State *L, LangCtx *c) {
  for (int i = 0; i < nl_nrows; i++) {
    const char *name = nl_rows[i].name;
    size_t n = strlen(name);
    if (alu_parse(name, n) != ALU_none || act_parse(name, n) != ACT_none)
      lang_push_op(L, c, name, i);
    else
      lang_push_row(L, c, &nl_rows[i]);
    lua_setfield(L, -2, name);
  }
}

/* Operators and activations that are values only. */
static void add_values(lua_State *L, LangCtx *c, const char *const *names) {
  for (; *names; names++) {
    if (lua_getfield(L, -1, *names) == LUA_TNIL) {
      lang_push_op(L, c, *names, -1);
      lua_setfield(L, -3, *names);
    }
    lua_pop(L, 1);
  }
}

static void add_memories(lua_State *L, LangCtx *c) {
  lua_newtable(L);
  for (int s = SP_sbuf; s < SP_count; s++) {
    lang_push_space(L, c, (Space)s);
    lua_pushvalue(L, -1);
    lua_setfield(L, -4, space_name((Space)s));
    lua_setfield(L, -2, space_name((Space)s));
  }
  lang_push_space(L, c, SP_private_hbm);
  lua_setfield(L, -3, "hbm");
  lang_strict(L, "nl.MemoryRegion");
  lua_setfield(L, -2, "MemoryRegion");
}

static void add_min(lua_State *L, const char *name, double least) {
  char full[16];
  lua_newtable(L);
  lua_pushnumber(L, least);
  lua_setfield(L, -2, "min");
  snprintf(full, sizeof full, "nl.%s", name);
  lang_strict(L, full);
  lua_setfield(L, -2, name);
}

/* Classic functions, in Lua, loaded when one is called. */
static void add_classic(lua_State *L, LangCtx *c) {
  static const char *const names[] = {"arange", "par_dim",     "loop_reduce", "atomic_rmw",
                                      "finfo",  "static_cast", "gemm_grid",   "gemm_stationary_grid"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    char name[64], public[64];
    snprintf(name, sizeof name, "classic_language.%s", names[k]);
    snprintf(public, sizeof public, "nl.%s", names[k]);
    classic_push(L, c, name, public, nl_half_row(names[k]));
    lua_setfield(L, -2, names[k]);
  }
  classic_push_mgrid(L, c);
  lua_setfield(L, -2, "mgrid");
}

int lang_open_nl(lua_State *L) {
  LangCtx *c = lang_ctx(L);
  lua_createtable(L, 0, nl_nrows + 64);
  for (int d = DT_none + 1; d < DT_count; d++) {
    lua_pushstring(L, dtype_name((DType)d));
    lua_setfield(L, -2, dtype_name((DType)d));
  }
  add_functions(L, c);
  add_values(L, c, alu_names());
  add_values(L, c, act_names());
  add_memories(L, c);
  add_min(L, "fp32", -0x1.fffffep127);
  add_min(L, "bfp16", -HUGE_VAL);
  add_classic(L, c);
  nl_push_tile_size(L, c);
  lua_setfield(L, -2, "tile_size");
  lang_half(L, c, "nki.language"); /* a function that adds the compositions to the table it is given */
  lua_pushvalue(L, -2);
  lua_call(L, 1, 0);
  lang_half_classes(L, c, "language");
  lang_strict(L, "nl");
  return 1;
}
