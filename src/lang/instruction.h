/* instruction.h -- room lang: NkiInstruction, the value of a nisa call. */
#ifndef NK_LANG_INSTRUCTION_H
#define NK_LANG_INSTRUCTION_H
#include "call.h"

void *instruction_handle(const Trace *t); /* of the instruction issued last */
bool instruction_at(lua_State *L, int i);
/* Gives instructions their method and text. */
void instruction_open(lua_State *L, LangCtx *c);
/* The method itself, one function for each state. */
void instruction_push_depends_on(lua_State *L, LangCtx *c);
#endif
