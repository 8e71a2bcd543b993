/* caller.c -- room lang: which function of nl, nisa or NkiTensor did the user call? Many are made of others, in C or in
   Lua; a message names the one that stands on the user's line. Only looked up when there is a message. */
#include <string.h>

#include "call.h"

/* The name of the C function at the top of the stack, which it pops; NULL when it is none of those. level: its own. */
static const char *name_of(lua_State *L, const LangCtx *c, int level) {
  lua_CFunction f = lua_tocfunction(L, -1);
  const char *name = NULL;
  if (f == lang_row_call || f == lang_row_operator || f == lang_defined_call) {
    lua_getupvalue(L, -1, 2);
    name = ((const LRow *)lua_touserdata(L, -1))->bind.func;
    lua_pop(L, 1);
  } else if (f == lang_nisa_call) {
    lua_getupvalue(L, -1, 2);
    name = lang_nisa_name(lua_touserdata(L, -1));
    lua_pop(L, 1);
  } else if (f == lang_token_call && level == 0 && c->row) {
    name = c->row->bind.func; /* nothing was entered since */
  }
  lua_pop(L, 1);
  return name;
}

/* The outermost of our functions above the innermost that is not ours. */
static const char *caller(lua_State *L, const LangCtx *c) {
  lua_Debug ar;
  const char *name = NULL;
  for (int level = 0; lua_getstack(L, level, &ar); level++) {
    lua_getinfo(L, "Sf", &ar);
    if (ar.what[0] != 'C') { /* "Lua" or "main" */
      lua_pop(L, 1);
      if (lang_own_source(ar.source)) continue;
      break;
    }
    const char *found = name_of(L, c, level);
    if (found) name = found; /* pcall, an index of our Lua half: go on */
  }
  return name;
}

/* "nl.exp: ...", "nisa.exp.data: ..." and, of a method, "reshape of ..." begin with the function's name. */
static bool begins_with(const char *message, const char *name) {
  size_t n = strlen(name);
  if (strncmp(message, name, n) == 0 && strchr(":. ", message[n])) return true;
  const char *dot = strchr(name, '.');
  n = dot ? strlen(dot + 1) : 0;
  return n && strncmp(name, "NkiTensor.", 10) == 0 && strncmp(message, dot + 1, n) == 0 && message[n] == ' ';
}

void lang_name_caller(lua_State *L, LangCtx *c, Diag *d) {
  ErrStatus status = err_status(d->id);
  if (status != ST_TRACE && status != ST_ARG) return;
  luaL_checkstack(L, 4, NULL);
  const char *name = caller(L, c);
  if (name && !begins_with(diag_message(d), name)) diag_prefix(d, name);
}
