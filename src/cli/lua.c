/* lua.c -- room cli: without a command nkilua is lua: its flags, `arg`, LUA_INIT, standard input, exit status and error
 * texts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

typedef struct LuaArgs {
  int script; /* index of the script, argc when there is none */
  int interactive, version, ignore_env, executed;
} LuaArgs;

static void lua_usage(const char *bad) {
  if (bad[1] == 'e' || bad[1] == 'l') {
    message("'%s' needs argument", bad);
  } else {
    message("unrecognized option '%s'", bad);
  }
  fputs(
      "usage: nkilua [options] [script [args]]\n"
      "       nkilua COMMAND ...   (see `nkilua help`)\n"
      "Available options are:\n"
      "  -e stat   execute string 'stat'\n"
      "  -i        enter interactive mode after executing 'script'\n"
      "  -l mod    require library 'mod' into global 'mod'\n"
      "  -l g=mod  require library 'mod' into global 'g'\n"
      "  -v        show version information\n"
      "  -E        ignore environment variables\n"
      "  -W        turn warnings on\n"
      "  --        stop handling options\n"
      "  -         stop handling options and execute stdin\n",
      stderr);
}

/* Index of the first word that is wrong, or 0. */
static int collect(int argc, char **argv, LuaArgs *a) {
  int i = 1;
  for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
    const char *word = argv[i];
    if (word[1] != 'e' && word[1] != 'l' && word[2]) {
      if (strcmp(word, "--") != 0) return i;
      return a->script = i + 1, 0;
    }
    switch (word[1]) {
      case '-':
        return a->script = i + 1, 0;
      case 'E':
        a->ignore_env = 1;
        break;
      case 'W':
        break;
      case 'i':
        a->interactive = a->version = 1;
        break;
      case 'v':
        a->version = 1;
        break;
      case 'e':
        a->executed = 1; /* fallthrough */
      case 'l':
        if (!word[2] && (++i >= argc || argv[i][0] == '-')) return i - 1;
        break;
      default:
        return i;
    }
  }
  a->script = i;
  return 0;
}

static int lua_fail(nkl_ctx *c) {
  int status = fail(c);
  return status == EXIT_USAGE ? EXIT_FAILED : status;
}

/* LUA_INIT: code, or @file. */
static int run_init(nkl_ctx *c) {
  const char *name = "=LUA_INIT_5_4", *init = getenv("LUA_INIT_5_4");
  if (!init) {
    name = "=LUA_INIT";
    init = getenv("LUA_INIT");
  }
  if (!init) return EXIT_OK;
  nkl_status s = init[0] == '@' ? nkl_load_file(c, init + 1) : nkl_load_string(c, init, strlen(init), name);
  return s == NKL_OK ? EXIT_OK : lua_fail(c);
}

/* -l mod, -l g=mod */
static nkl_status require(nkl_ctx *c, char *word) {
  char *equals = strchr(word, '=');
  if (!equals) return nkl_require(c, word, NULL);
  *equals = '\0';
  nkl_status s = nkl_require(c, equals + 1, word);
  *equals = '=';
  return s;
}

static int run_options(nkl_ctx *c, char **argv, int script) {
  for (int i = 1; i < script; i++) {
    char letter = argv[i][1];
    nkl_status s = NKL_OK;
    if (letter == 'W') nkl_warnings(c, 1);
    if (letter != 'e' && letter != 'l') continue;
    char *value = argv[i][2] ? argv[i] + 2 : argv[++i];
    s = letter == 'e' ? nkl_load_string(c, value, strlen(value), "=(command line)") : require(c, value);
    if (s != NKL_OK) return lua_fail(c);
  }
  return EXIT_OK;
}

/* A word that is no file may be a command somebody expects. */
static int no_script(nkl_ctx *c, const char *word) {
  const nkl_error *e = nkl_last_error(c);
  if (strcmp(e->id, "err_script_file") != 0) return fail(c);
  if (strpbrk(word, "./") || access(word, F_OK) == 0) return fail(c);
  const char *near = command_nearest(word);
  message("%s, and there is no command '%s'%s%s%s; commands are:", e->message, word, near ? " (did you mean '" : "",
          near ? near : "", near ? "'?)" : "");
  command_list();
  fputc('\n', stderr);
  return EXIT_USAGE;
}

static int run_script(nkl_ctx *c, int argc, char **argv, int script, const char *path) {
  nkl_script s;
  nkl_script_init(&s);
  s.path = path;
  s.argv = (const char *const *)argv;
  s.argc = argc;
  s.script_index = script;
  return nkl_load(c, &s) == NKL_OK ? EXIT_OK : no_script(c, path);
}

static void banner(void) { puts(BANNER); }

static int run_all(nkl_ctx *c, int argc, char **argv, const LuaArgs *a) {
  int script = a->script < argc ? a->script : 0;
  int status = nkl_set_arg(c, (const char *const *)argv, argc, script) == NKL_OK ? EXIT_OK : lua_fail(c);
  if (status == EXIT_OK && !a->ignore_env) status = run_init(c);
  if (status == EXIT_OK) status = run_options(c, argv, a->script < argc ? a->script : argc);
  if (status != EXIT_OK) return status;
  if (script) status = run_script(c, argc, argv, script, argv[script]);
  if (status != EXIT_OK) return status;
  if (a->interactive) return repl(c);
  if (script || a->executed || a->version) return EXIT_OK;
  if (!isatty(STDIN_FILENO)) return nkl_load_file(c, "-") == NKL_OK ? EXIT_OK : lua_fail(c);
  banner();
  return repl(c);
}

int lua_main(int argc, char **argv) {
  LuaArgs a = {argc, 0, 0, 0, 0};
  int bad = collect(argc, argv, &a);
  if (bad) {
    lua_usage(argv[bad]);
    return EXIT_FAILED;
  }
  if (a.version) banner();
  nkl_ctx *c;
  nkl_options o;
  nkl_options_init(&o);
  o.flags = a.ignore_env ? NKL_OPT_IGNORE_ENV : 0;
  int status = context_open(&c, &o);
  if (status != EXIT_OK) return status;
  status = run_all(c, argc, argv, &a);
  context_close(c);
  return status;
}
