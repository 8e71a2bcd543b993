/* classic.h -- room lang: the doors to the classic layer (lua/nki/classic*.lua), which is loaded when one opens. */
#ifndef NK_LANG_CLASSIC_H
#define NK_LANG_CLASSIC_H
#include "call.h"

/* A table of the classic layer (index expression, mask, block tensor ...) at i. Meant for error paths: the hot ones
   never see such a table. */
bool classic_at(lua_State *L, int i);
/* Calls the function `name`, "classic_view.index" of lua/nki/classic_view.lua, with the nargs values on top; leaves
   nres results. */
void classic_call(lua_State *L, LangCtx *c, const char *name, int nargs, int nres);
/* Pushes a function that does so on every call; messages call it `public`. Its arguments are bound to row first; NULL:
   all go through as they are. */
void classic_push(lua_State *L, LangCtx *c, const char *name, const char *public, const LRow *row);
/* nl.mgrid: a value whose index is a classic function. */
void classic_push_mgrid(lua_State *L, LangCtx *c);
/* t[key]: pushes what the classic layer makes of the key at index key, for the tile at 1. */
void classic_index(lua_State *L, LangCtx *c, int key);
/* dst[...] = value for a value that is written in a box only: true when that was all. Both are tiles. */
bool classic_assign(lua_State *L, LangCtx *c, int dst, int value);
/* The keyword table at the top holds mask=, or the shape at 1 an nl.par_dim: the call's result is pushed instead, and
   this returns its number of results; -1 when the call is an ordinary one. */
int classic_row(lua_State *L, LangCtx *c, const LRow *row);
/* A two-operand function with an index expression or a mask among its operands: pushes the result. */
bool classic_binary(lua_State *L, LangCtx *c, const LRow *row);
/* Raises what the value at i has to say about being used here, if it is one that does (a view out of bounds). */
void classic_refuse(lua_State *L, int i);
/* Adds the classic names of nki.isa to the table at -1. */
void classic_add_isa(lua_State *L, LangCtx *c);
#endif
