/* oom_test.c -- spec/lang: a script that makes, specializes, reads and misuses a kernel, with memory ending at the n-th
   allocation, for all n. The failure is "out of memory" and nothing else, nothing is lost, and afterwards the same
   state works. */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "../base/support.h"
#include "lang.h"

static const char script[] =
    "local nki, nl = require 'nki', require 'nki.language'\n"
    "local n, t = 2, {a = {1, 2.5, x = true}, [3] = 'y'}\n"
    "local k = nki.jit(function(x, s, f)\n"
    "  local out = nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm})\n"
    "  for i in nl.affine_range(2) do nl.store(out, nl.load(x) * (n + #t.a)) end\n"
    "  return out, x\n"
    "end, {opts = {a = 1, b = 'x'}})\n"
    "local a = k:specialize(nki.decl({4, 8}, nl.float32), nki.tuple{1, 'z'}, function() return n end)\n"
    "local _ = a:hlo(), a.config, a.operand_output_aliases, tostring(k), k:cache_info()\n"
    "k{x = nki.decl({4, 8}, nl.float32), s = 3}\n"
    "local ok, e = pcall(k, 1, 2, 3, 4)\n"
    "if e.id ~= 'err_kernel_surplus' then error(e, 0) end\n";

/* Grows are counted by the ration; when it is used up every growth fails, as it does when memory is out. Shrinking
 * cannot fail. */
static void *lua_fn(void *ud, void *p, size_t osize, size_t nsize) {
  Ration *r = ud;
  long left = r->left;
  bool shrinks = p && nsize <= osize;
  if (shrinks) r->left = -1;
  void *q = ration_fn(r, p, p ? osize : 0, nsize);
  if (shrinks) r->left = left;
  return q;
}

static int run_script(lua_State *L) {
  if (luaL_loadbufferx(L, script, sizeof script - 1, "@/somewhere/k.lua", "t") != LUA_OK) return lua_error(L);
  lua_call(L, 0, 0);
  return 0;
}

static bool attempt(lua_State *L, Diag *d) {
  lua_settop(L, 0);
  lua_pushcfunction(L, run_script);
  bool ok = lua_pcall(L, 0, 0, 0) == LUA_OK;
  diag_clear(d);
  return ok;
}

static void memory_ends_anywhere(void **state) {
  (void)state;
  Diag d;
  diag_init(&d, alloc_std);
  bool done = false;
  long n = 0;
  for (; !done && n < 100000; n++) {
    Ration r = {.left = -1};
    const Alloc alloc = {lua_fn, &r};
    lua_State *L = lua_newstate(lua_fn, &r);
    assert_non_null(L);
    luaL_openlibs(L);
    assert_true(lang_open(L, alloc, &d));
    r.left = n;
    done = attempt(L, &d);
    r.left = -1;
    if (!done) {
      lang_to_diag(L, -1, &d);
      if (d.id != ERR_nomem) fail_msg("allocation %ld: %s: %s", n, err_name(d.id), diag_message(&d));
    }
    if (!attempt(L, &d)) {
      lang_to_diag(L, -1, &d);
      fail_msg("after allocation %ld failed: %s", n, diag_message(&d));
    }
    lua_close(L);
    assert_false(r.wrong);
    assert_int_equal(r.live, 0);
  }
  assert_true(done);
  assert_true(n > 100);
  diag_free(&d);
}

int main(void) {
  setenv("NEURON_PLATFORM_TARGET_OVERRIDE", "trn2", 1);
  const struct CMUnitTest tests[] = {cmocka_unit_test(memory_ends_anywhere)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
