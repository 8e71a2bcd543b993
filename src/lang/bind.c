/* bind.c -- room lang: the one argument binder: positional arguments in order, or keywords in one last table. */
#include <stdio.h>

#include "classic.h"
#include "faults.h"

int lang_kind_error(lua_State *L, int i, const char *func, const char *param, const char *want) {
  char got[DESCRIBE];
  classic_refuse(L, i);
  return LANG_HERE(L, bind_kind, func, param, want, lang_describe(L, i, got, sizeof got));
}

bool lang_to_int(lua_State *L, int i, int64_t *out) {
  int ok = 0;
  if (lua_type(L, i) != LUA_TNUMBER) return false;
  *out = lua_tointegerx(L, i, &ok);
  return ok != 0;
}

int64_t lang_check_int(lua_State *L, int i, const char *func, const char *param) {
  int64_t v = 0;
  if (!lang_to_int(L, i, &v)) lang_kind_error(L, i, func, param, "an integer");
  return v;
}

void lang_at_most(lua_State *L, const char *func, int first, int most) {
  int n = lua_gettop(L) - first + 1;
  while (n > most && lua_isnil(L, first + n - 1)) n--;
  if (n > most) LANG_HERE(L, bind_surplus, func, most, n);
}

int lang_param(const BindSpec *spec, const char *name) {
  for (int i = 0; i < spec->n; i++)
    if (spec->names[i][0] == name[0] && strcmp(spec->names[i], name) == 0) return i;
  /* Lua's own keyword cannot be written as a key: {end = 4} */
  if (strcmp(name, "stop") == 0)
    for (int i = 0; i < spec->n; i++)
      if (strcmp(spec->names[i], "end") == 0) return i;
  return -1;
}

void lang_say_unknown(lua_State *L, const BindSpec *spec, const char *name) {
  const char *list[64];
  char all[512] = "";
  size_t used = 0;
  int n = 0;
  for (; n < spec->n && n < 62; n++) {
    list[n] = spec->names[n];
    int len = snprintf(all + used, sizeof all - used, "%s%s", n ? ", " : "", list[n]);
    if (len > 0 && used + (size_t)len < sizeof all) used += (size_t)len;
  }
  list[n] = NULL;
  Diag *d = &lang_ctx(L)->diag;
  if (strcmp(name, "address") == 0 && n && strcmp(list[0], "shape") == 0) /* nl.zeros, nl.ones, nl.full */
  {
    DIAG(d, tensor_creation_on_scratchpad_with_init_value_not_supported, spec->func);
    return;
  }
  const char *near = diag_nearest(name, list);
  char clip[TEXT_CLIP + 4];
  name = text_clip(clip, name, strlen(name));
  DIAG(d, bind_unknown, spec->func, name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "",
       n ? all : "none");
}

bool lang_is_keywords(lua_State *L, int i, bool takes_list) {
  bool empty = true;
  if (lua_getmetatable(L, i)) {
    lua_pop(L, 1);
    return false;
  }
  lua_pushnil(L);
  while (lua_next(L, i)) {
    lua_pop(L, 1);
    empty = false;
    if (lua_type(L, -1) != LUA_TSTRING) continue;
    lua_pop(L, 1);
    return true; /* numbers among the keys are found, and refused, when the names are bound */
  }
  return empty && !takes_list;
}

/* Moves the keywords of the table at `kw` to their slots; slots below npos are taken. */
static void spread(lua_State *L, const BindSpec *spec, int kw, int npos) {
  lua_pushnil(L);
  while (lua_next(L, kw)) {
    if (lua_type(L, -2) != LUA_TSTRING) {
      if (lua_type(L, -2) == LUA_TNUMBER) LANG_HERE(L, bind_mixed, spec->func);
      LANG_HERE(L, bind_key, spec->func, luaL_typename(L, -2));
    }
    const char *name = lua_tostring(L, -2);
    if (lang_has_nul(L, -2)) LANG_HERE(L, bind_key, spec->func, "string with a NUL byte");
    int p = lang_param(spec, name);
    if (p < 0) faults_call(L, spec, npos, kw);
    if (p < npos && !lua_isnil(L, p + 1)) LANG_HERE(L, bind_twice, spec->func, spec->names[p]);
    lua_replace(L, p + 1);
  }
}

void lang_bind(lua_State *L, const BindSpec *spec) {
  int top = lua_gettop(L), n = spec->n, npos = top;
  bool kw = false;
  if (top > 0 && lua_type(L, top) == LUA_TTABLE) {
    bool list = top <= n && (spec->list_mask >> (top - 1) & 1);
    kw = lang_is_keywords(L, top, list);
  }
  if (kw) npos--;
  while (npos > n && !kw && lua_isnil(L, npos)) npos--;
  if (npos > n) LANG_HERE(L, bind_surplus, spec->func, n, npos);
  if (kw) { /* the table goes behind the slots, its place becomes nil */
    luaL_checkstack(L, n + 8, spec->func);
    lua_settop(L, n + 1);
    if (top <= n) {
      lua_pushvalue(L, top);
      lua_replace(L, n + 1);
      lua_pushnil(L);
      lua_replace(L, top);
    }
    spread(L, spec, n + 1, npos);
  }
  lua_settop(L, n);
  for (int i = 0; i < n; i++)
    if (spec->required[i] && lua_isnil(L, i + 1)) LANG_HERE(L, bind_missing, spec->func, spec->names[i]);
}
