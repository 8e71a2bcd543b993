/* instruction.c -- room lang: what a call of nisa returns. A light userdata that holds a number, not an address: its
   place in the program and its program's serial, so that it costs nothing when nobody looks at it, and a stale one is
   known. */
#include "instruction.h"

#define TAG (UINT64_C(0x4e) << 56) /* no address of a process begins so */
enum { PLACE_BITS = 32, SERIAL_BITS = 24 };
#define SERIAL_MASK ((UINT64_C(1) << SERIAL_BITS) - 1)

void *instruction_handle(const Trace *t) {
  uint64_t place = (uint64_t)t->f->nins - 1, serial = t->serial & SERIAL_MASK;
  return (void *)(uintptr_t)(TAG | serial << PLACE_BITS | place); /* NKILUA_MAX_INSTR stays below 2^32 */
}

bool instruction_at(lua_State *L, int i) {
  return lua_type(L, i) == LUA_TLIGHTUSERDATA && (uint64_t)(uintptr_t)lua_touserdata(L, i) >> 56 == TAG >> 56;
}

/* The place in the running program of the instruction at i; raises for others. */
static uint32_t place_of(lua_State *L, const LangCtx *c, int i, const char *param) {
  const char *func = "NkiInstruction.depends_on";
  if (!instruction_at(L, i)) lang_kind_error(L, i, func, param, "an instruction, as a call of nisa returns it");
  uint64_t v = (uint64_t)(uintptr_t)lua_touserdata(L, i);
  uint64_t place = v & UINT32_MAX;
  if (!c->trace || (v >> PLACE_BITS & SERIAL_MASK) != (c->trace->serial & SERIAL_MASK) || place >= c->trace->f->nins)
    LANG_HERE(L, index_stale, func, param);
  return (uint32_t)place;
}

/* Position of the innermost device loop around an instruction, counted from its beginning; -1 outside all. */
static int64_t loop_of(const IrFunc *f, uint32_t place) {
  int64_t depth = 0;
  for (int64_t k = (int64_t)place - 1; k >= 0; k--) {
    int op = f->ins[k]->op;
    if (op == CORE_end_for || op == CORE_end_while) depth++;
    if (op != CORE_for && op != CORE_while) continue;
    if (depth-- == 0) return k;
  }
  return -1;
}

static int depends_on(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  const char *func = "NkiInstruction.depends_on";
  uint32_t self = place_of(L, c, 1, "self");
  for (int k = 2; k <= lua_gettop(L); k++) {
    uint32_t other = place_of(L, c, k, "producers");
    if (other >= self)
      LANG_HERE(L, bind_value, func, "producers", "not issued before it", "an instruction waits for earlier ones");
    if (loop_of(c->trace->f, other) != loop_of(c->trace->f, self))
      LANG_HERE(L, bind_value, func, "producers", "in another device loop",
                "both stand in the same device loop, or none");
  }
  lua_settop(L, 1);
  return 1;
}

void instruction_push_depends_on(lua_State *L, LangCtx *c) {
  static const char method;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &method) == LUA_TFUNCTION) return;
  lua_pop(L, 1);
  lua_pushlightuserdata(L, c);
  lua_pushcclosure(L, depends_on, 1);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &method);
}

static int to_string(lua_State *L) {
  if (instruction_at(L, 1))
    lua_pushfstring(L, "instruction %I", (LUAI_UACINT)((uint64_t)(uintptr_t)lua_touserdata(L, 1) & UINT32_MAX));
  else
    lua_pushfstring(L, "userdata: %p", lua_touserdata(L, 1)); /* somebody else's */
  return 1;
}

static int get(lua_State *L) {
  char key[DESCRIBE], clip[TEXT_CLIP + 4];
  if (!instruction_at(L, 1)) return luaL_error(L, "attempt to index a userdata value");
  if (lua_type(L, 2) == LUA_TSTRING && strcmp(lang_name(L, 2, clip), "depends_on") == 0) {
    lua_pushvalue(L, lua_upvalueindex(2));
    return 1;
  }
  return LANG_HERE(L, no_such_name, "NkiInstruction", lang_describe(L, 2, key, sizeof key), "", "", "");
}

/* All light userdata of a state share one metatable; where another library has set one, it stays. */
void instruction_open(lua_State *L, LangCtx *c) {
  int top = lua_gettop(L);
  lua_pushlightuserdata(L, c);
  if (!lua_getmetatable(L, -1)) {
    lua_createtable(L, 0, 2);
    lua_pushlightuserdata(L, c);
    instruction_push_depends_on(L, c);
    lua_pushcclosure(L, get, 2);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, to_string);
    lua_setfield(L, -2, "__tostring");
    lua_setmetatable(L, -2);
  }
  lua_settop(L, top);
}
