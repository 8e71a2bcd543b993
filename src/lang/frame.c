/* frame.c -- room lang: whether the frames of this Lua library can be read as frame.h does. */
#include "frame.h"

enum { PLACES = 6 };

/* What the probes of the text below saw. */
typedef struct Probes {
  int n;
  FramePlace caller[PLACES], own[PLACES];
} Probes;

static int probe(lua_State *L) {
  Probes *p = lua_touserdata(L, lua_upvalueindex(1));
  lua_Debug ar;
  if (p->n == PLACES) return 0;
  if (!lua_getstack(L, 0, &ar)) return 0;
  p->own[p->n] = frame_place(&ar);
  if (!lua_getstack(L, 1, &ar)) return 0;
  p->caller[p->n++] = frame_place(&ar);
  return 0;
}

static ptrdiff_t distance(const Probes *p, int from, int to) {
  return (ptrdiff_t)((uintptr_t)p->caller[to].pc - (uintptr_t)p->caller[from].pc);
}

/* Probes 0 and 1 stand side by side, 2 and 3 are one in a loop behind them, 4 and 5 are one in a function that is
   called, then tail-called in the frame of the others. */
static bool as_supposed(const Probes *p) {
  enum { INSTRUCTION = 4, CALL = 2 * INSTRUCTION, CHUNK = 64 * INSTRUCTION };
  if (p->n != PLACES) return false;
  bool steps = distance(p, 0, 1) == CALL && distance(p, 1, 2) > 0 && distance(p, 0, 2) < CHUNK;
  bool same = distance(p, 2, 3) == 0 && distance(p, 4, 5) == 0;
  bool other = distance(p, 0, 4) < 0 || distance(p, 0, 4) > CHUNK;
  bool entries = p->caller[0].entry == p->caller[1].entry && p->caller[1].entry == p->caller[2].entry &&
                 p->caller[2].entry == p->caller[3].entry;
  return steps && same && other && entries && p->caller[4].entry != p->caller[5].entry &&
         p->caller[0].entry != p->caller[5].entry;
}

/* A bit that the probe's own frames have and no caller's has. */
static uintptr_t bit_of_c(const Probes *p) {
  uintptr_t c = ~(uintptr_t)0;
  for (int k = 0; k < p->n; k++) c &= p->own[k].entry & ~p->caller[k].entry;
  return c & (~c + 1);
}

bool frame_readable(lua_State *L, uintptr_t *c_bit) {
  static const char text[] = "local p = ... p() p() for _ = 1, 2 do p() end local function f() p() end f() return f()";
  Probes p = {0};
  int top = lua_gettop(L);
  luaL_checkstack(L, 8, NULL);
  /* Only memory that is out and an interrupt stop it, and they mean the caller. */
  if (luaL_loadbufferx(L, text, sizeof text - 1, "=nki/frame", "t") != LUA_OK) lua_error(L);
  lua_pushlightuserdata(L, &p);
  lua_pushcclosure(L, probe, 1);
  lua_call(L, 1, 0);
  lua_settop(L, top);
  *c_bit = bit_of_c(&p);
  return as_supposed(&p) && *c_bit;
}
