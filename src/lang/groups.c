/* groups.c -- room lang: groups of ranks as collectives take them. ncc.ReplicaGroup makes an nki.tuple of tuples: it
   cannot change, is compared by value, prints, and is a legal kernel argument. */
#include "kernel.h"

enum { MOST_RANKS = 65536 };

static const char want[] = "an ncc.ReplicaGroup or a list of lists of ranks";

/* Length of the list at the top, a plain list or a tuple; raises when it is none. */
static int64_t list_length(lua_State *L, const char *func, const char *param) {
  if (lua_type(L, -1) != LUA_TTABLE || !lang_is_sequence(L, -1)) lang_kind_error(L, -1, func, param, want);
  lua_Integer n = luaL_len(L, -1);
  if (n > MOST_RANKS) LANG_HERE(L, bind_value, func, param, "too long", "there are at most 65536 ranks");
  return n;
}

GroupList groups_read(lua_State *L, int i, const char *func, const char *param, int64_t *ints) {
  GroupList list = {0};
  luaL_checkstack(L, 6, func);
  lua_pushvalue(L, i);
  list.n = (uint32_t)list_length(L, func, param);
  for (lua_Integer k = 1; k <= list.n; k++) {
    lua_geti(L, -1, k);
    int64_t n = list_length(L, func, param);
    if (ints) ints[list.room] = n;
    list.room++;
    for (lua_Integer r = 1; r <= n; r++, list.room++) {
      int64_t rank = 0;
      lua_geti(L, -1, r);
      if (!lang_to_int(L, -1, &rank)) lang_kind_error(L, -1, func, param, want);
      if (ints) ints[list.room] = rank;
      lua_pop(L, 1);
    }
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return list;
}

static void push_groups(lua_State *L, const IrVal *v) {
  const int64_t *g = v->u.ints;
  for (uint32_t k = 0; k < v->n; k++, g += 1 + *g) {
    luaL_checkstack(L, (int)*g + 8, "ranks");
    for (int64_t r = 1; r <= *g; r++) lua_pushinteger(L, g[r]);
    lang_push_tuple(L, (int)*g);
  }
  lang_push_tuple(L, (int)v->n);
}

static int l_replica_group(lua_State *L) {
  static const char func[] = "ncc.ReplicaGroup";
  LangCtx *c = lang_upctx(L);
  char why[96];
  if (lua_gettop(L) != 1) LANG_HERE(L, bind_surplus, func, 1, lua_gettop(L));
  GroupList room = groups_read(L, 1, func, "groups", NULL);
  int64_t *ints = lua_newuserdatauv(L, (room.room + 1) * sizeof *ints, 0);
  IrVal v = {.kind = V_LISTS, .n = groups_read(L, 1, func, "groups", ints).n, .u.ints = ints};
  for (size_t k = 0, left = 0; k < room.room; k++) { /* a length, then ranks */
    if (left == 0) {
      left = (size_t)ints[k];
    } else {
      left--;
      if (ints[k] < 0) LANG_HERE(L, bind_value, func, "groups", "a list with a negative rank", "ranks count from 0");
    }
  }
  push_groups(L, &v);
  if (ir_groups_fault(&v, why)) DIAG(&c->diag, replica_group, func, "groups", luaL_tolstring(L, -1, NULL), why);
  if (c->diag.id) return lang_raise_here(L, &c->diag);
  return 1;
}

void groups_open(lua_State *L, LangCtx *c) {
  if (!c->mt_tuple) { /* module nki is not loaded yet */
    tuple_open(L, c);
    lua_pop(L, 1);
  }
  lua_pushlightuserdata(L, c);
  lua_pushcclosure(L, l_replica_group, 1);
}
