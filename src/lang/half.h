/* half.h -- room lang: what the Lua half of nl and NkiTensor (lua/nki) is given. */
#ifndef NK_LANG_HALF_H
#define NK_LANG_HALF_H
#include "call.h"

/* Pushes the table of functions in C that every file of the half gets as its third argument. */
void half_push_lib(lua_State *L, LangCtx *c);
int lint_facts(lua_State *L); /* lint.c: what lint is told of public functions */
/* nisa.c: the function of an instruction that never takes a call for a classic one. */
void nisa_push_strict(lua_State *L, LangCtx *c, const char *name);
#endif
