/* host_run.c -- room lang: scripts, `require`, the table `arg`, and specs, for a Host. */
#include "hoststate.h"

typedef struct Job {
  Host *h;
  const void *what;
  Diag *d;
  bool failed; /* d says it all: the Lua error is only the way out */
} Job;

static bool run_job(Host *h, lua_CFunction f, const void *what, Diag *d) {
  Diag own;
  diag_init(&own, h->mem.base);
  Job job = {h, what, &own, false};
  bool ok = host_protect(h, f, &job, d);
  if (!ok && job.failed) {
    diag_clear(d);
    diag_copy(d, &own);
  }
  diag_free(&own);
  return ok;
}

/* Leaves with a failure that has no traceback. */
static int give_up(lua_State *L, Job *job) {
  job->failed = true;
  return luaL_error(L, "failed");
}

/* Lua refuses a precompiled chunk without saying which file it is. */
void host_syntax_diag(const char *text, const char *name, Diag *d) {
  if (strncmp(text, "attempt to load a binary chunk", 30) == 0) {
    DIAG(d, script_binary, name);
  } else {
    host_string_diag(text, ERR_lua_syntax, d);
  }
}

/* What loading a chunk reported, on top of the stack. */
static int load_failed(lua_State *L, Job *job, const char *name, int status) {
  if (status == LUA_ERRMEM) return lua_error(L);
  if (status == LUA_ERRFILE) {
    DIAG(job->d, script_file, lua_tostring(L, -1));
  } else {
    host_syntax_diag(lua_tostring(L, -1), name, job->d);
  }
  return give_up(L, job);
}

/* arg[i - script] = argv[i] */
static void push_arg(lua_State *L, const HostScript *s) {
  lua_createtable(L, s->argc, s->script + 1);
  for (int i = 0; i < s->argc; i++) {
    lua_pushstring(L, s->argv[i]);
    lua_rawseti(L, -2, i - s->script);
  }
}

static int set_arg(lua_State *L) {
  const Job *job = lua_touserdata(L, 1);
  push_arg(L, job->what);
  lua_setglobal(L, "arg");
  return 0;
}

bool host_set_arg(Host *h, const HostScript *s, Diag *d) { return run_job(h, set_arg, s, d); }

static int run_script(lua_State *L) {
  Job *job = lua_touserdata(L, 1);
  const HostScript *s = job->what;
  Host *h = job->h;
  if (s->argv) {
    push_arg(L, s);
    lua_setglobal(L, "arg");
  }
  const char *path = s->path && strcmp(s->path, "-") != 0 ? s->path : NULL;
  int status = s->source ? luaL_loadbufferx(L, s->source, s->len, s->chunkname, "t") : luaL_loadfilex(L, path, "t");
  const char *name = s->source ? s->chunkname + strspn(s->chunkname, "=@") : path ? path : "standard input";
  if (status != LUA_OK) load_failed(L, job, name, status);
  int n = s->argv && s->script + 1 < s->argc ? s->argc - s->script - 1 : 0;
  luaL_checkstack(L, n + 8, "too many arguments to script");
  for (int i = 0; i < n; i++) lua_pushstring(L, s->argv[s->script + 1 + i]);
  lua_call(L, n, 1);
  luaL_unref(L, LUA_REGISTRYINDEX, h->result);
  h->result = LUA_NOREF;
  h->result = luaL_ref(L, LUA_REGISTRYINDEX);
  return 0;
}

bool host_run(Host *h, const HostScript *s, Diag *d) { return run_job(h, run_script, s, d); }

typedef struct Library {
  const char *name, *global;
} Library;

static int require_library(lua_State *L) {
  const Job *job = lua_touserdata(L, 1);
  const Library *lib = job->what;
  lua_getglobal(L, "require");
  lua_pushstring(L, lib->name);
  lua_call(L, 1, 1);
  lua_setglobal(L, lib->global);
  return 0;
}

bool host_require(Host *h, const char *name, const char *global, Diag *d) {
  Library lib = {name, global};
  return run_job(h, require_library, &lib, d);
}

/* ---- specs --------------------------------------------------------------------------------------------------- */

/* busted's runner reads its arguments from `arg` and asks the debug library for the name of its caller, which must
 * begin with '@'. */
static const char busted[] = "require('busted.runner')({standalone = false})";

static int run_busted(lua_State *L) {
  Job *job = lua_touserdata(L, 1);
  push_arg(L, job->what);
  lua_setglobal(L, "arg");
  int status = luaL_loadbufferx(L, busted, sizeof busted - 1, "@nkilua-test", "t");
  if (status != LUA_OK) load_failed(L, job, "nkilua-test", status);
  lua_call(L, 0, 0);
  return 0;
}

bool host_specs(Host *h, const char *const *argv, int argc, Diag *d) {
  HostScript s = {.argv = argv, .argc = argc, .script = 0};
  return run_job(h, run_busted, &s, d);
}
