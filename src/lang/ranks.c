/* ranks.c -- room lang: runs on several ranks. For a tensor argument a plain list of arrays has one for each rank, and
   a single array is that of all; results are lists by rank. */
#include <stdio.h>
#include <string.h>

#include "kernel.h"

static bool is_plain(lua_State *L, int i) {
  if (lua_type(L, i) != LUA_TTABLE) return false;
  if (!lua_getmetatable(L, i)) return true;
  lua_pop(L, 1);
  return false;
}

bool ranks_is_options(lua_State *L, int i) {
  if (!is_plain(L, i)) return false;
  bool has = lua_getfield(L, i, "ranks") == LUA_TNUMBER;
  lua_pop(L, 1);
  return has;
}

int64_t ranks_option(lua_State *L, int i, const char *func) {
  int64_t n = 0;
  char got[DESCRIBE], clip[TEXT_CLIP + 4];
  if (lua_isnoneornil(L, i)) return 0;
  if (!is_plain(L, i)) lang_kind_error(L, i, func, "options", "a table such as {ranks = 4}");
  lua_pushnil(L);
  for (; lua_next(L, i); lua_pop(L, 1)) {
    if (lua_type(L, -2) == LUA_TSTRING && strcmp(lang_name(L, -2, clip), "ranks") == 0) continue;
    lua_pop(L, 1);
    static const char *const names[] = {"ranks"};
    static const BindSpec spec = {.names = names, .n = 1};
    BindSpec named = spec;
    named.func = func;
    if (lua_type(L, -1) == LUA_TSTRING) {
      lang_say_unknown(L, &named, lang_name(L, -1, clip));
      lang_raise_here(L, &lang_ctx(L)->diag);
    }
    LANG_HERE(L, bind_key, func, luaL_typename(L, -1));
  }
  lua_getfield(L, i, "ranks");
  if (lua_isnil(L, -1)) return 0;
  if (!lang_to_int(L, -1, &n)) lang_kind_error(L, -1, func, "ranks", "an integer");
  if (n < 1 || n > SIM_MAX_RANKS)
    LANG_FAIL(L, bind_value, func, "ranks", lang_describe(L, -1, got, sizeof got), "a run has 1 to 256");
  lua_pop(L, 1);
  return n;
}

/* A list for the ranks has an array for one of them at least; *last: the last index that has a value. */
static bool is_by_rank(lua_State *L, int i, int64_t ranks, int64_t *last) {
  bool arrays = false;
  *last = (int64_t)lua_rawlen(L, i);
  for (int64_t r = 1; r <= ranks; r++) {
    bool has = lua_rawgeti(L, i, r) != LUA_TNIL;
    if (has && r > *last) *last = r;
    arrays = arrays || lang_to_array(L, -1);
    lua_pop(L, 1);
  }
  return arrays;
}

void ranks_pick(lua_State *L, int i, int64_t r, int64_t ranks, const char *name) {
  char got[DESCRIBE];
  int64_t last;
  i = lua_absindex(L, i);
  if (!is_plain(L, i) || !is_by_rank(L, i, ranks, &last)) {
    lua_pushvalue(L, i);
    return;
  }
  if (last != ranks) LANG_FAIL(L, rank_list, "nki.simulate", name, (int)last, (int)ranks);
  lua_rawgeti(L, i, r + 1);
  if (!lang_to_array(L, -1))
    LANG_FAIL(L, rank_value, "nki.simulate", name, (int)r, lang_describe(L, -1, got, sizeof got));
}

/* Pushes the argument at i as rank r has it: of a table of names a table with its own values. */
static void pick_argument(lua_State *L, const KernelCore *k, int i, int64_t r, int64_t ranks) {
  char number[32];
  const char *name = number;
  snprintf(number, sizeof number, "argument %d", i - 1);
  if (i - 2 < k->nparams) name = k->params[i - 2];
  bool names = is_plain(L, i) && lua_rawlen(L, i) == 0;
  if (!names) {
    ranks_pick(L, i, r, ranks, name);
    return;
  }
  lua_newtable(L);
  lua_pushnil(L);
  while (lua_next(L, i)) {
    const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : name;
    lua_pushvalue(L, -2);
    ranks_pick(L, -2, r, ranks, key);
    lua_rawset(L, -5);
    lua_pop(L, 1);
  }
}

int ranks_simulate(lua_State *L, LangCtx *c, int64_t ranks) {
  const KernelCore *k = lang_to_kernel(L, 1)->core;
  int nargs = lua_gettop(L) - 1, artifact = nargs + 2, first = artifact + 1;
  lua_pushnil(L);
  luaL_checkstack(L, nargs + 16, "kernel arguments");
  for (int64_t r = 0; r < ranks; r++) {
    int base = lua_gettop(L);
    lua_pushlightuserdata(L, c);
    lua_pushvalue(L, artifact);
    lua_pushcclosure(L, kernel_operands, 2);
    lua_pushvalue(L, 1);
    for (int i = 2; i <= nargs + 1; i++) pick_argument(L, k, i, r, ranks);
    lua_call(L, nargs + 1, LUA_MULTRET);
    if (r == 0) {
      lua_copy(L, base + 1, artifact);
      luaL_checkstack(L, (int)ranks * (lua_gettop(L) - base) + nargs + 16, "operands of all ranks");
    }
    lua_remove(L, base + 1); /* the artifact; its operands stay */
  }
  return artifact_simulate(L, c, lang_to_artifact(L, artifact), first, ranks);
}
