/* host_run.c -- room lang: scripts, `require`, the table `arg`, and specs, for a Host. */
#include "file.h"
#include "folder.h"
#include "hoststate.h"

typedef struct Job {
  Host *h;
  const void *what;
  Diag *d;
  bool failed; /* d says it all: the Lua error is only the way out */
  Text text;   /* of a script that can be read only once */
} Job;

static bool run_job(Host *h, lua_CFunction f, const void *what, Diag *d) {
  Diag own;
  diag_init(&own, h->mem.base);
  Job job = {h, what, &own, false, {.data = NULL}};
  text_init(&job.text, h->mem.base);
  bool ok = host_protect(h, f, &job, d);
  text_free(&job.text);
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

static const char *name_of(const HostChunk *chunk) { return chunk->chunkname + strspn(chunk->chunkname, "=@"); }

static bool too_deep(const char *why) { return strcmp(why, "C stack overflow") == 0; }

/* The line where the text nests too deep: where the shortest piece of it that does ends. */
static int deep_line(lua_State *L, const char *text, size_t n) {
  size_t low = 0, high = n;
  int line = 1, top = lua_gettop(L);
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    bool deep = luaL_loadbufferx(L, text, middle, "=", "t") != LUA_OK && too_deep(lua_tostring(L, -1));
    lua_settop(L, top);
    if (deep)
      high = middle;
    else
      low = middle + 1;
  }
  for (size_t k = 0; k < low && k < n; k++) line += text[k] == '\n';
  return line;
}

static void deep_diag(lua_State *L, const HostChunk *chunk, Diag *d) {
  Text file;
  Diag ignored;
  text_init(&file, d->message.alloc);
  diag_init(&ignored, d->message.alloc);
  const char *text = chunk->src, *name = name_of(chunk);
  size_t n = chunk->len;
  if (!text && file_read(name, &file, &ignored)) {
    text = text_str(&file);
    n = file.len;
  }
  size_t skip = text && *text == '#' ? strcspn(text, "\n") : 0; /* a line for the shell; the line break counts */
  int line = text ? deep_line(L, text + skip, n - skip) : 1;    /* of what is read once, such as a pipe */
  text_clear(&file);
  text_printf(&file, "%s:%d: nested too deep: Lua reads at most 200 levels of brackets, blocks and operators", name,
              line);
  host_string_diag(text_str(&file), ERR_lua_syntax, d);
  text_free(&file);
  diag_free(&ignored);
}

/* Lua refuses a precompiled chunk, and what nests too deep, without saying which file it is. */
void host_syntax_diag(lua_State *L, const char *why, const HostChunk *chunk, Diag *d) {
  if (strncmp(why, "attempt to load a binary chunk", 30) == 0) {
    DIAG(d, script_binary, name_of(chunk));
  } else if (too_deep(why)) {
    deep_diag(L, chunk, d);
  } else {
    host_string_diag(why, ERR_lua_syntax, d);
  }
}

/* What loading a chunk reported, on top of the stack. */
static int load_failed(lua_State *L, Job *job, const HostChunk *chunk, int status) {
  if (status == LUA_ERRMEM) return lua_error(L);
  if (status == LUA_ERRFILE) {
    DIAG(job->d, script_file, lua_tostring(L, -1));
  } else {
    host_syntax_diag(L, lua_tostring(L, -1), chunk, job->d);
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

/* A pipe may have no end, which Lua's own reader would wait for. As that one does, without a byte order mark and with
   an empty first line in place of one for the shell. */
static int load_stream(lua_State *L, Job *job, const char *path, const FileKind *kind, HostChunk *chunk) {
  const bool standard = strcmp(path, "-") == 0;
  if (!file_read_as(path, kind, &job->text, job->d)) give_up(L, job);
  const char *s = text_str(&job->text), *end = s + job->text.len;
  if (end - s >= 3 && memcmp(s, "\xEF\xBB\xBF", 3) == 0) s += 3;
  if (s < end && *s == '#') s = memchr(s, '\n', (size_t)(end - s));
  if (!s) s = end;
  lua_pushfstring(L, standard ? "=stdin" : "@%s", path);
  *chunk = (HostChunk){s, (size_t)(end - s), standard ? "standard input" : path};
  return luaL_loadbufferx(L, s, chunk->len, lua_tostring(L, -1), "t");
}

/* Pushes the script, or what is wrong with it. */
static int load_script(lua_State *L, Job *job, HostChunk *chunk) {
  static const FileKind kind = {"a script may have", 256 << 20, NULL};
  const HostScript *s = job->what;
  *chunk = (HostChunk){s->source, s->len, s->source ? s->chunkname : s->path};
  if (s->source) return luaL_loadbufferx(L, s->source, s->len, s->chunkname, "t");
  if (strcmp(s->path, "-") == 0 || path_kind(s->path) == PATH_OTHER) return load_stream(L, job, s->path, &kind, chunk);
  if (!file_is_small(s->path, &kind, job->d)) give_up(L, job);
  return luaL_loadfilex(L, s->path, "t");
}

static int run_script(lua_State *L) {
  Job *job = lua_touserdata(L, 1);
  const HostScript *s = job->what;
  Host *h = job->h;
  if (s->argv) {
    push_arg(L, s);
    lua_setglobal(L, "arg");
  }
  HostChunk chunk;
  int status = load_script(L, job, &chunk);
  if (status != LUA_OK) load_failed(L, job, &chunk, status);
  text_free(&job->text);
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
  if (status != LUA_OK) load_failed(L, job, &(HostChunk){busted, sizeof busted - 1, "@nkilua-test"}, status);
  lua_call(L, 0, 0);
  return 0;
}

bool host_specs(Host *h, const char *const *argv, int argc, Diag *d) {
  HostScript s = {.argv = argv, .argc = argc, .script = 0};
  return run_job(h, run_busted, &s, d);
}
