/* scratch.c -- room lang: C memory that is in use while Lua may raise. The userdata that owns it lies on the stack. */
#include "kernel.h"

static const char scratch_name[] = "nki.scratch";

typedef struct Scratch {
  bool is_arena;
  union {
    Text text;
    Arena arena;
  } u;
} Scratch;

static int l_free(lua_State *L) {
  Scratch *s = lua_touserdata(L, 1);
  if (s->is_arena) {
    arena_free(&s->u.arena);
  } else {
    text_free(&s->u.text);
  }
  return 0;
}

static Scratch *push(lua_State *L, Alloc alloc, bool is_arena) {
  Scratch *s = lua_newuserdatauv(L, sizeof *s, 0);
  *s = (Scratch){.is_arena = is_arena};
  if (is_arena) {
    arena_init(&s->u.arena, alloc);
  } else {
    text_init(&s->u.text, alloc);
  }
  if (luaL_newmetatable(L, scratch_name)) {
    lua_pushcfunction(L, l_free);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  return s;
}

Text *lang_scratch_text(lua_State *L, LangCtx *c) { return &push(L, c->alloc, false)->u.text; }
Arena *lang_scratch_arena(lua_State *L, LangCtx *c) { return &push(L, c->alloc, true)->u.arena; }
