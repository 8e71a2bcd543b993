/* frame.h -- room lang: at which instruction a frame of Lua's call stack is. lua_getinfo gives the line, for which it
   walks over the function's line steps; the instruction itself is one word of Lua 5.4's CallInfo, which lua_getstack
   hands out as i_ci. Nothing is written there, and nothing is believed of it before frame_readable has seen this
   library's frames behave as supposed. */
#ifndef NK_LANG_FRAME_H
#define NK_LANG_FRAME_H
#include <string.h>

#include "lang.h"

/* Two frames of living functions with equal places are at the same instruction of the same function, entered alike. */
typedef struct FramePlace {
  const void *pc;  /* of a Lua function: the next instruction; of a C function: the function */
  uintptr_t entry; /* callstatus: C or Lua, by a call or by a tail call */
} FramePlace;

/* struct CallInfo: four pointers, a union of three words that begins with savedpc, an int, two shorts. */
enum { FRAME_PC = 4 * sizeof(void *), FRAME_STATUS = 7 * sizeof(void *) + sizeof(int) + sizeof(short) };

static inline FramePlace frame_place(const lua_Debug *ar) {
  FramePlace place;
  unsigned short status;
  memcpy(&place.pc, (const char *)(const void *)ar->i_ci + FRAME_PC, sizeof place.pc);
  memcpy(&status, (const char *)(const void *)ar->i_ci + FRAME_STATUS, sizeof status);
  place.entry = status;
  return place;
}

/* Do places mean here what they are taken for? Sets the bit of entry that C functions have. Runs a little Lua. */
bool frame_readable(lua_State *L, uintptr_t *c_bit); /* raises what a hook raises meanwhile */
#endif
