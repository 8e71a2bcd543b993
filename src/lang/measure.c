/* measure.c -- room lang: what nki.benchmark and nki.profile measure: host time of runs on the simulator. */
#include "clock.h"
#include "kernel.h"

/* One run says what it has to say; the others are silent. */
static void silent(void *ud, const char *s, size_t n) { (void)ud, (void)s, (void)n; }

enum { M_artifact = 1, M_count, M_more, M_arrays };

static const Artifact *artifact_at(lua_State *L) {
  const Artifact *a = lang_to_artifact(L, M_artifact);
  if (!a) lang_kind_error(L, M_artifact, "measure", "artifact", "an artifact");
  return a;
}

static double run_once(lua_State *L, LangCtx *c, const Artifact *a) {
  int top = lua_gettop(L);
  int64_t began = clock_ns();
  artifact_simulate(L, c, a, M_arrays, 0);
  double us = (double)(clock_ns() - began) / 1e3;
  lua_settop(L, top);
  return us;
}

static int run_all(lua_State *L) {
  LangCtx *c = lang_ctx(L);
  const Artifact *a = artifact_at(L);
  int64_t warmup = luaL_checkinteger(L, M_count), iters = luaL_checkinteger(L, M_more);
  double *times = lua_newuserdatauv(L, (size_t)iters * sizeof *times, 0);
  for (int64_t i = 0; i < warmup + iters; i++) {
    double us = run_once(L, c, a);
    if (i >= warmup) times[i - warmup] = us;
    c->warn = c->write = silent;
  }
  clock_sort(times, (size_t)iters);
  lua_createtable(L, (int)iters, 0);
  for (int64_t i = 0; i < iters; i++) {
    lua_pushnumber(L, times[i]);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

static int profile_all(lua_State *L) {
  LangCtx *c = lang_ctx(L);
  const Artifact *a = artifact_at(L);
  int64_t nth = luaL_checkinteger(L, M_count);
  SimProfile *profile = c->profile;
  for (int64_t i = 1; i <= nth; i++) {
    c->profile = i == nth ? profile : NULL;
    run_once(L, c, a);
    c->warn = c->write = silent;
  }
  Text *json = lang_scratch_text(L, c), *text = lang_scratch_text(L, c);
  if (!sim_profile_render(profile, true, json) || !sim_profile_render(profile, false, text)) lang_no_memory(L);
  lua_pushlstring(L, text_str(json), json->len);
  lua_pushlstring(L, text_str(text), text->len);
  return 2;
}

/* Calls f with the arguments of the running function; output and profile are as before afterwards. */
static int guarded(lua_State *L, LangCtx *c, lua_CFunction f) {
  void (*write)(void *, const char *, size_t) = c->write, (*warn)(void *, const char *, size_t) = c->warn;
  lua_pushcfunction(L, f);
  lua_insert(L, 1);
  int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
  c->write = write;
  c->warn = warn;
  c->profile = NULL;
  return status;
}

/* measure(artifact, warmup, iters, arrays ...): sorted microseconds. */
int measure_runs(lua_State *L) {
  if (guarded(L, lang_upctx(L), run_all) != LUA_OK) lua_error(L);
  return lua_gettop(L);
}

/* profile(artifact, nth, nil, arrays ...): JSON and text of the nth run. */
int measure_profile(lua_State *L) {
  LangCtx *c = lang_upctx(L);
  SimProfile profile;
  const Artifact *a = artifact_at(L);
  if (!sim_profile_init(&profile, c->alloc, a->module)) {
    sim_profile_free(&profile);
    lang_no_memory(L);
  }
  c->profile = &profile;
  int status = guarded(L, c, profile_all);
  sim_profile_free(&profile);
  if (status != LUA_OK) lua_error(L);
  return lua_gettop(L);
}

/* percentile(sorted list, p) */
int measure_percentile(lua_State *L) {
  lua_Integer n = luaL_len(L, 1);
  double p = luaL_checknumber(L, 2);
  int known = 0;
  while (known < CLOCK_PERCENTILES && clock_percentiles[known] != p) known++;
  if (known == CLOCK_PERCENTILES)
    LANG_FAIL(L, bind_value, "get_latency_percentile", "percentile", luaL_tolstring(L, 2, NULL),
              "0, 1, 10, 25, 50, 90, 99 and 100 are known");
  double *times = lua_newuserdatauv(L, (size_t)n * sizeof *times, 0);
  for (lua_Integer i = 0; i < n; i++) {
    lua_geti(L, 1, i + 1);
    times[i] = lua_tonumber(L, -1);
    lua_pop(L, 1);
  }
  lua_pushnumber(L, clock_percentile(times, (size_t)n, p));
  return 1;
}
