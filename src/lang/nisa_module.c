/* nisa_module.c -- room lang: the modules nki.isa and nki.collectives: their rows of ops.def and what is no row. */
#include <stdio.h>

#include "classic.h"
#include "half.h"
#include "instruction.h"
#include "nl.h"

static const char *const x_names[] = {"x", NULL};
static const bool x_required[] = {false};
static int nisa_get_nc_sub_version(Call *call);
static const LRow rows[] = {{.module = "nisa",
                             .name = "register_alloc",
                             .body = nisa_register_alloc,
                             .bind = {"nisa.register_alloc", x_names, x_required, 1, 0}},
                            {.module = "nisa",
                             .name = "get_nc_version",
                             .body = nisa_get_nc_version,
                             .anywhere = true,
                             .bind = {"nisa.get_nc_version", x_names, x_required, 0, 0}},
                            {.module = "nisa",
                             .name = "get_nc_sub_version",
                             .body = nisa_get_nc_sub_version,
                             .anywhere = true,
                             .bind = {"nisa.get_nc_sub_version", x_names, x_required, 0, 0}}};

/* The simulator is the first silicon of each generation. */
static int nisa_get_nc_sub_version(Call *call) {
  lua_pushinteger(call->L, 0);
  return 1;
}

static void add_engine_aliases(lua_State *L, LangCtx *c) {
  static const char *const names[] = {"tensor", "vector", "scalar", "gpsimd", "unknown"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    char full[32];
    int v = 0;
    enum_parse(ET_engine, names[k], strlen(names[k]), &v);
    snprintf(full, sizeof full, "%s_engine", names[k]);
    lang_push_enum(L, c, ET_engine, v, "nisa");
    lua_setfield(L, -2, full);
  }
}

/* The functions of a dialect; the simulator's own are reached through nl. */
static void push_rows(lua_State *L, LangCtx *c, const char *dialect) {
  lua_createtable(L, 0, OP_count + 24);
  for (int op = OP_none + 1; op < OP_count; op++) {
    if (strcmp(op_info[op].dialect, dialect) != 0) continue;
    nisa_push_callee(L, c, &op_info[op], strcmp(dialect, "nisa") != 0); /* only those of nisa have a classic form */
    lua_setfield(L, -2, op_info[op].name);
  }
}

int lang_open_collectives(lua_State *L) {
  LangCtx *c = lang_ctx(L);
  push_rows(L, c, "ncc");
  groups_open(L, c);
  lua_setfield(L, -2, "ReplicaGroup");
  lang_strict(L, "ncc");
  return 1;
}

int lang_open_nisa(lua_State *L) {
  LangCtx *c = lang_ctx(L);
  push_rows(L, c, "nisa");
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    lang_push_row(L, c, &rows[k]);
    lua_setfield(L, -2, rows[k].name);
  }
  for (int t = ET_engine; t <= ET_dma_engine; t++) lang_add_enum(L, c, (EnumType)t, "nisa");
  add_engine_aliases(L, c);
  classic_add_isa(L, c);
  instruction_open(L, c);
  lang_half_classes(L, c, "isa");
  lang_strict(L, "nisa");
  return 1;
}
