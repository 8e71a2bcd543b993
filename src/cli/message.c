/* message.c -- room cli: messages on standard error, and the exit status of a failure. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

static int colored = -1; /* not decided */

/* --color, then NO_COLOR, then FORCE_COLOR and CLICOLOR_FORCE, then whether somebody looks. */
static int decide(const char *when) {
  const char *no = getenv("NO_COLOR"), *force = getenv("FORCE_COLOR"), *cli = getenv("CLICOLOR_FORCE"),
             *term = getenv("TERM");
  if (when && strcmp(when, "always") == 0) return 1;
  if (when && strcmp(when, "never") == 0) return 0;
  if (no && *no) return 0;
  if ((force && *force) || (cli && *cli)) return 1;
  return isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

void message_color(const char *when) { colored = decide(when); }

static int message_colored(void) {
  if (colored < 0) message_color(NULL);
  return colored;
}

static void put_prefix(const char *prefix) {
  fflush(stdout);
  if (!*prefix) return;
  fprintf(stderr, message_colored() ? "\x1b[1;31m%s:\x1b[0m " : "%s: ", prefix);
}

void message(const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  put_prefix("nkilua");
  vfprintf(stderr, fmt, ap);
  fputc('\n', stderr);
  va_end(ap);
}

/* An id helps with what nkilua itself refuses; errors of Lua, of files and of words say all in their message. */
static int shows_id(const nkl_error *e) {
  static const char *const of_files[] = {"err_npy_format", "err_safetensors", "err_file_dtype", "err_file_no_name",
                                         "err_script_binary"};
  for (size_t i = 0; i < sizeof of_files / sizeof *of_files; i++)
    if (strcmp(e->id, of_files[i]) == 0) return 0;
  return e->status != NKL_ERR_ARG && e->status != NKL_ERR_IO && e->status != NKL_ERR_CANCELLED &&
         e->status != NKL_ERR_NOMEM && strcmp(e->id, "err_lua") != 0 && strcmp(e->id, "err_lua_syntax") != 0;
}

static void put_lines(const char *text, const char *before, const char *except) {
  while (*text) {
    size_t n = strcspn(text, "\n");
    if (strlen(except) != n || memcmp(except, text, n) != 0) fprintf(stderr, "%s%.*s\n", before, (int)n, text);
    text += n + (text[n] == '\n');
  }
}

void print_error(const nkl_error *e, const char *prefix) {
  put_prefix(prefix);
  if (*e->file && e->line > 0) {
    fprintf(stderr, "%s:%d: ", e->file, e->line);
  } else if (*e->file) {
    fprintf(stderr, "%s: ", e->file);
  }
  fprintf(stderr, "%s%s%s\n", shows_id(e) ? e->id : "", shows_id(e) ? ": " : "", e->message);
  int lua = strncmp(e->traceback, "stack traceback:", 16) == 0;
  char place[512]; /* said already */
  snprintf(place, sizeof place, "%s:%d", e->file, e->line);
  if (!lua) put_lines(e->traceback, "  ", place);
  put_lines(e->notes, "", place);
  if (lua) put_lines(e->traceback, "", place);
}

static int status_of(const nkl_error *e, int wrong_argument) {
  if (e->status == NKL_ERR_CANCELLED) return EXIT_INTERRUPTED;
  if (strcmp(e->id, "err_file_open") == 0 || strcmp(e->id, "err_script_file") == 0) return EXIT_USAGE;
  return e->status == NKL_ERR_ARG ? wrong_argument : EXIT_FAILED;
}

int fail(nkl_ctx *c) {
  const nkl_error *e = nkl_last_error(c);
  print_error(e, "nkilua");
  return status_of(e, EXIT_FAILED);
}

int fail_usage(nkl_ctx *c) {
  const nkl_error *e = nkl_last_error(c);
  print_error(e, "nkilua");
  return status_of(e, EXIT_USAGE);
}

int fail_buf(nkl_error_buf *e) { return fail_file(e, NULL); }

int fail_file(nkl_error_buf *e, const char *path) {
  nkl_error shown = e->error;
  if (path && !*shown.file) shown.file = path;
  print_error(&shown, "nkilua");
  int status = status_of(&e->error, EXIT_FAILED);
  nkl_error_buf_free(e);
  return status;
}

/* Is path the file, not a pipe or a device, that the command reads? */
static int is_source(const Options *o, const char *path) {
  struct stat a, b;
  if (o->operand.n == 0 || stat(o->operand.item[0], &a) != 0 || stat(path, &b) != 0) return 0;
  return S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int can_write(const Options *o, nkl_ctx *c, const char *path, int tensor) {
  if (is_source(o, path)) {
    message("--output '%s' is the file that is read; name another one", path);
    return 0;
  }
  if (nkl_file_check(c, path, tensor) == NKL_OK) return 1;
  print_error(nkl_last_error(c), "nkilua");
  return 0;
}
