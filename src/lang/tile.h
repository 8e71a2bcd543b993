/* tile.h -- room lang: what tile.c and views.c share. */
#ifndef NK_LANG_TILE_H
#define NK_LANG_TILE_H
#include "call.h"

/* Pushes the table of methods (functions) and attributes (numbers, for tile_attribute). */
void tile_push_methods(lua_State *L, LangCtx *c);
int tile_attribute(lua_State *L, LangCtx *c, const LTile *t, int what);
#endif
