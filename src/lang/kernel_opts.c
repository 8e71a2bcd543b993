/* kernel_opts.c -- room lang: the compile options of a kernel, an open table that goes into key and config. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

static int compare_opts(const void *a, const void *b) {
  return strcmp(((const KernelOpt *)a)->key, ((const KernelOpt *)b)->key);
}

static bool is_text(const char *s, size_t n) { return text_is_utf8(s, n, NULL) && strlen(s) == n; }

/* What JSON text keeps as what it is; a number that must be written as a string would be read as one. */
static bool fits_config(const ConstValue *v) {
  const int64_t exact = INT64_C(1) << 53;
  if (v->kind == CONST_INT) return v->i >= -exact && v->i <= exact;
  if (v->kind == CONST_STRING) return is_text(v->s, v->len);
  return v->kind != CONST_FLOAT || isfinite(v->f);
}

static void read_opt(lua_State *L, const char *who, Arena *arena, KernelOpt *out) {
  char text[160], got[DESCRIBE];
  ConstValue v = {.kind = CONST_NIL};
  size_t n;
  const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tolstring(L, -2, &n) : NULL;
  if (!key || !is_text(key, n))
    LANG_FAIL(L, kernel_option, who, "a key of opts must be a name, which is UTF-8 text without NUL bytes");
  switch (lua_type(L, -1)) {
    case LUA_TBOOLEAN:
      v = (ConstValue){.kind = CONST_BOOL, .b = lua_toboolean(L, -1)};
      break;
    case LUA_TNUMBER:
      v = (ConstValue){
          .kind = lua_isinteger(L, -1) ? CONST_INT : CONST_FLOAT, .i = lua_tointeger(L, -1), .f = lua_tonumber(L, -1)};
      break;
    case LUA_TSTRING:
      v = (ConstValue){.kind = CONST_STRING, .s = lua_tolstring(L, -1, &n)};
      v.len = n;
      v.s = arena_strdup(arena, v.s, n);
      break;
    default:
      snprintf(text, sizeof text, "opts.%.40s must be a boolean, a number or a string, got %.40s", key,
               lang_describe(L, -1, got, sizeof got));
      LANG_FAIL(L, kernel_option, who, text);
  }
  if (!fits_config(&v)) LANG_FAIL(L, opt_value, who, key, lang_describe(L, lua_gettop(L), got, sizeof got));
  *out = (KernelOpt){.key = arena_strdup(arena, key, strlen(key)), .value = v};
  if (!out->key || (v.kind == CONST_STRING && !v.s)) lang_no_memory(L);
}

static uint32_t find_opt(const KernelOpt *list, uint32_t n, const char *key) {
  uint32_t i = 0;
  while (i < n && strcmp(list[i].key, key) != 0) i++;
  return i;
}

const KernelOpt *kernel_check_opts(lua_State *L, const char *who, int table, const LKernel *base, uint32_t *n) {
  LangCtx *c = lang_ctx(L);
  if (!lua_istable(L, table)) {
    char text[96], got[DESCRIBE];
    snprintf(text, sizeof text, "opts must be a table of names and values, got %.40s",
             lang_describe(L, table, got, sizeof got));
    LANG_FAIL(L, kernel_option, who, text);
  }
  size_t room = base ? base->nopts : 0;
  lua_pushnil(L);
  for (; lua_next(L, table); lua_pop(L, 1)) room++;
  Arena *arena = lang_scratch_arena(L, c);
  KernelOpt *list = arena_newn(arena, KernelOpt, room);
  if (!list) lang_no_memory(L);
  *n = base ? base->nopts : 0;
  if (*n)
    memcpy(list, base->opts, *n * sizeof *list); /* their strings live as long as the kernel, which the caller keeps */
  lua_pushnil(L);
  while (lua_next(L, table)) {
    KernelOpt opt;
    read_opt(L, who, arena, &opt);
    uint32_t at = find_opt(list, *n, opt.key);
    if (at == *n) ++*n;
    list[at] = opt;
    lua_pop(L, 1);
  }
  if (*n > 1) qsort(list, *n, sizeof *list, compare_opts);
  return list;
}

static void push_option(lua_State *L, const ConstValue *v) {
  if (v->kind == CONST_BOOL) lua_pushboolean(L, v->b);
  if (v->kind == CONST_INT) lua_pushinteger(L, v->i);
  if (v->kind == CONST_FLOAT) lua_pushnumber(L, v->f);
  if (v->kind == CONST_STRING) lua_pushlstring(L, v->s, v->len);
}

void kernel_push_opts(lua_State *L, const LKernel *k) {
  lua_createtable(L, 0, (int)k->nopts);
  for (uint32_t i = 0; i < k->nopts; i++) {
    push_option(L, &k->opts[i].value);
    lua_setfield(L, -2, k->opts[i].key);
  }
}
