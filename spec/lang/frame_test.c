/* frame_test.c -- spec/lang: the places of call frames tell instructions, functions and ways of entering apart. */
#include <lualib.h>

#include "../base/support.h"
#include "frame.h"

enum { MOST = 16 };
typedef struct Seen {
  int n;
  FramePlace caller[MOST];
  int line[MOST];
} Seen;

static int see(lua_State *L) {
  Seen *s = lua_touserdata(L, lua_upvalueindex(1));
  lua_Debug ar;
  assert_true(s->n < MOST && lua_getstack(L, 1, &ar));
  s->caller[s->n] = frame_place(&ar);
  lua_getinfo(L, "l", &ar);
  s->line[s->n++] = ar.currentline;
  return 0;
}

static void run(lua_State *L, Seen *s, const char *text) {
  *s = (Seen){0};
  assert_int_equal(LUA_OK, luaL_loadstring(L, text));
  lua_pushlightuserdata(L, s);
  lua_pushcclosure(L, see, 1);
  lua_call(L, 1, 0);
}

static bool same(const Seen *s, int a, int b) {
  return s->caller[a].pc == s->caller[b].pc && s->caller[a].entry == s->caller[b].entry;
}

static int open(void **state) {
  *state = luaL_newstate();
  luaL_openlibs(*state);
  return 0;
}
static int shut(void **state) {
  lua_close(*state);
  return 0;
}

static void this_library_is_readable(void **state) {
  uintptr_t c_bit = 0;
  int top = lua_gettop(*state);
  assert_true(frame_readable(*state, &c_bit));
  assert_true(c_bit && (c_bit & (c_bit - 1)) == 0);
  assert_int_equal(top, lua_gettop(*state));
}

static void stop(lua_State *L, lua_Debug *ar) {
  (void)ar;
  lua_sethook(L, NULL, 0, 0);
  luaL_error(L, "stopped");
}

static int ask(lua_State *L) {
  uintptr_t c_bit;
  return lua_pushboolean(L, frame_readable(L, &c_bit)), 1;
}

/* An interrupt that comes while the library is looked at is the caller's, and says nothing about the library. */
static void an_interrupt_goes_on(void **state) {
  lua_State *L = *state;
  for (int count = 1; count < 20; count++) {
    lua_pushcfunction(L, ask);
    lua_sethook(L, stop, LUA_MASKCOUNT, count);
    assert_int_equal(lua_pcall(L, 0, 1, 0), LUA_ERRRUN);
    assert_non_null(strstr(lua_tostring(L, -1), "stopped"));
    lua_pop(L, 1);
  }
  ask(L);
  assert_true(lua_toboolean(L, -1));
}

static void equal_places_have_equal_lines(void **state) {
  Seen s;
  run(*state, &s,
      "local see = ...\n"
      "local function f() see() end\n"
      "local t = setmetatable({}, {__add = function() see() return 1 end})\n"
      "for i = 1, 3 do\n"
      "  see() f()\n"
      "  see() _ = t + t\n"
      "end");
  assert_int_equal(12, s.n);
  for (int a = 0; a < s.n; a++)
    for (int b = 0; b < s.n; b++) {
      assert_int_equal(same(&s, a, b), a % 4 == b % 4);
      if (same(&s, a, b)) assert_int_equal(s.line[a], s.line[b]);
    }
}

static void a_tail_call_enters_otherwise(void **state) {
  Seen s;
  run(*state, &s,
      "local see = ...\n"
      "local function f() see() end\n"
      "local function g() return f() end\n"
      "f() g() f()");
  assert_int_equal(3, s.n);
  assert_ptr_equal(s.caller[0].pc, s.caller[1].pc);
  assert_false(same(&s, 0, 1));
  assert_true(same(&s, 0, 2));
}

static void coroutines_and_protected_calls_change_nothing(void **state) {
  Seen s;
  run(*state, &s,
      "local see = ...\n"
      "local function f() see() see() end\n"
      "pcall(f) coroutine.wrap(f)() pcall(pcall, f)");
  assert_int_equal(6, s.n);
  for (int k = 2; k < s.n; k++) assert_ptr_equal(s.caller[k].pc, s.caller[k % 2].pc);
  assert_ptr_not_equal(s.caller[0].pc, s.caller[1].pc);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(this_library_is_readable, open, shut),
      cmocka_unit_test_setup_teardown(an_interrupt_goes_on, open, shut),
      cmocka_unit_test_setup_teardown(equal_places_have_equal_lines, open, shut),
      cmocka_unit_test_setup_teardown(a_tail_call_enters_otherwise, open, shut),
      cmocka_unit_test_setup_teardown(coroutines_and_protected_calls_change_nothing, open, shut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
