/* reader.c -- room cli: lines from a terminal, with editing, history and completion by libedit, or from anything else
 * as they are. */
#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>
#ifdef NKL_LINE_EDITOR
#include <dlfcn.h>
#include <histedit.h>
#endif

#include "cli.h"

struct Reader {
  nkl_ctx *ctx;
  char *line; /* of getline */
  size_t cap;
  int terminal;
  const char *prompt;
#ifdef NKL_LINE_EDITOR
  EditLine *edit;
  History *history;
  char file[4096]; /* where the history is kept; "" nowhere */
#endif
};

static void chomp(char *line) {
  size_t n = strlen(line);
  while (n && (line[n - 1] == '\n' || line[n - 1] == '\r')) line[--n] = '\0';
}

/* A line that holds a NUL would be cut: its rest is kept out of sight by turning it into a space. */
static const char *plain_line(Reader *r, const char *prompt, int *cancelled) {
  if (r->terminal) {
    fputs(prompt, stdout);
    fflush(stdout);
  }
  errno = 0;
  ssize_t n = getline(&r->line, &r->cap, stdin);
  if (n < 0) {
    *cancelled = errno == EINTR && interrupt_pending();
    clearerr(stdin);
    return NULL;
  }
  for (ssize_t i = 0; i < n; i++)
    if (!r->line[i]) r->line[i] = ' ';
  chomp(r->line);
  return r->line;
}

#ifdef NKL_LINE_EDITOR

/* libedit is opened by the first session at a terminal: four more libraries would cost every start of the program. */
#define EDIT_FUNCTIONS(X)                                        \
  X(EditLine *, el_init, (const char *, FILE *, FILE *, FILE *)) \
  X(void, el_end, (EditLine *))                                  \
  X(void, el_reset, (EditLine *))                                \
  X(int, el_set, (EditLine *, int, ...))                         \
  X(int, el_get, (EditLine *, int, ...))                         \
  X(int, el_source, (EditLine *, const char *))                  \
  X(const char *, el_gets, (EditLine *, int *))                  \
  X(const LineInfo *, el_line, (EditLine *))                     \
  X(int, el_insertstr, (EditLine *, const char *))               \
  X(History *, history_init, (void))                             \
  X(void, history_end, (History *))                              \
  X(int, history, (History *, HistEvent *, int, ...))

static struct {
#define X(result, name, parameters) result(*name) parameters;
  EDIT_FUNCTIONS(X)
#undef X
} lib;

static int load_editor(void) {
  void *handle = dlopen(NKL_LINE_EDITOR, RTLD_NOW | RTLD_LOCAL), *f;
  if (!handle) return 0;
#define X(result, name, parameters) \
  f = dlsym(handle, #name);         \
  if (!f) return 0;                 \
  memcpy(&lib.name, &f, sizeof f);
  EDIT_FUNCTIONS(X)
#undef X
  return 1;
}

static Reader *reader_of(EditLine *e) {
  void *r = NULL;
  lib.el_get(e, EL_CLIENTDATA, &r);
  return r;
}

static char *prompt_of(EditLine *e) { return (char *)(uintptr_t)reader_of(e)->prompt; /* the library only reads it */ }

/* A character at a time, so that Ctrl-C ends the line: libedit itself would try again. */
static int read_character(EditLine *e, wchar_t *out) {
  (void)e;
  mbstate_t state = {0};
  for (;;) {
    char byte;
    ssize_t n = read(STDIN_FILENO, &byte, 1);
    if (n <= 0) return n == 0 ? 0 : -1;
    size_t got = mbrtowc(out, &byte, 1, &state);
    if (got == 1 || got == 0) return 1;
    if (got == (size_t)-1) memset(&state, 0, sizeof state); /* no character: left out */
  }
}

/* ---- completion ---------------------------------------------------------------------------------------------- */

static size_t common_prefix(const char *list) {
  size_t common = strcspn(list, "\n");
  for (const char *s = list; *s; s += strcspn(s, "\n"), s += *s == '\n') {
    size_t n = 0;
    while (n < common && s[n] == list[n]) n++;
    common = n;
  }
  return common;
}

/* Bytes of the name that ends at the cursor; the candidates begin with it. */
static size_t word_before(const char *text, size_t n) {
  size_t at = n;
  while (at && (isalnum((unsigned char)text[at - 1]) || strchr("_.:", text[at - 1]))) at--;
  while (at < n && !isalpha((unsigned char)text[at]) && text[at] != '_') at++;
  return n - at;
}

static void list_candidates(const char *list) {
  fputc('\n', stdout);
  for (const char *s = list; *s; s += strcspn(s, "\n"), s += *s == '\n') printf("%.*s  ", (int)strcspn(s, "\n"), s);
  fputc('\n', stdout);
  fflush(stdout);
}

static unsigned char complete(EditLine *e, int key) {
  (void)key;
  const LineInfo *line = lib.el_line(e);
  size_t n = (size_t)(line->cursor - line->buffer), have = word_before(line->buffer, n);
  nkl_buf list = NKL_BUF_INIT;
  if (nkl_complete(reader_of(e)->ctx, line->buffer, n, &list) != NKL_OK || !list.size) {
    nkl_buf_free(&list);
    return CC_REFRESH_BEEP;
  }
  size_t common = common_prefix(list.data);
  unsigned char result = CC_REFRESH;
  if (common > have) {
    char more[256];
    snprintf(more, sizeof more, "%.*s", (int)(common - have), list.data + have);
    lib.el_insertstr(e, more);
  } else {
    list_candidates(list.data);
    result = CC_REDISPLAY;
  }
  nkl_buf_free(&list);
  return result;
}

/* ---- history ------------------------------------------------------------------------------------------------- */

static void open_history(Reader *r) {
  HistEvent event;
  const char *file = getenv("NKILUA_HISTORY"), *home = getenv("HOME");
  if (file) {
    snprintf(r->file, sizeof r->file, "%s", file);
  } else if (home && *home) {
    snprintf(r->file, sizeof r->file, "%s/.nkilua_history", home);
  }
  r->history = lib.history_init();
  if (!r->history) return;
  lib.history(r->history, &event, H_SETSIZE, 1000);
  lib.history(r->history, &event, H_SETUNIQUE, 1);
  if (*r->file) lib.history(r->history, &event, H_LOAD, r->file);
  lib.el_set(r->edit, EL_HIST, lib.history, r->history);
}

/* Only its owner may read what was typed. */
static void save_history(Reader *r) {
  HistEvent event;
  if (!r->history) return;
  if (*r->file) {
    mode_t before = umask(077);
    lib.history(r->history, &event, H_SAVE, r->file);
    umask(before);
  }
  lib.history_end(r->history);
}

static void open_editor(Reader *r) {
  if (!load_editor()) return;
  setlocale(LC_CTYPE, ""); /* and nothing else: numbers stay as Lua wants them */
  r->edit = lib.el_init("nkilua", stdin, stdout, stderr);
  if (!r->edit) return;
  lib.el_set(r->edit, EL_CLIENTDATA, r);
  lib.el_set(r->edit, EL_PROMPT, prompt_of);
  lib.el_set(r->edit, EL_EDITOR, "emacs");
  lib.el_set(r->edit, EL_GETCFN, read_character);
  lib.el_set(r->edit, EL_ADDFN, "nkilua-complete", "complete a name", complete);
  lib.el_set(r->edit, EL_BIND, "^I", "nkilua-complete", NULL);
  open_history(r);
  lib.el_source(r->edit, NULL);
}

static const char *edited_line(Reader *r, const char *prompt, int *cancelled) {
  int n = 0;
  r->prompt = prompt;
  interrupt_pending();
  const char *text = lib.el_gets(r->edit, &n);
  if (!text || n <= 0) {
    *cancelled = interrupt_pending();
    if (*cancelled) lib.el_reset(r->edit);
    fputc('\n', stdout);
    return NULL;
  }
  free(r->line);
  r->line = strdup(text);
  if (r->line) chomp(r->line);
  return r->line;
}

#endif

/* ---- either way ---------------------------------------------------------------------------------------------- */

Reader *reader_open(nkl_ctx *c) {
  Reader *r = calloc(1, sizeof *r);
  if (!r) return NULL;
  r->ctx = c;
  r->terminal = isatty(STDIN_FILENO);
#ifdef NKL_LINE_EDITOR
  const char *term = getenv("TERM");
  if (r->terminal && isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0) open_editor(r);
#endif
  return r;
}

const char *reader_line(Reader *r, const char *prompt, int *cancelled) {
  *cancelled = 0;
#ifdef NKL_LINE_EDITOR
  if (r->edit) return edited_line(r, prompt, cancelled);
#endif
  return plain_line(r, prompt, cancelled);
}

void reader_remember(Reader *r, const char *text) {
#ifdef NKL_LINE_EDITOR
  HistEvent event;
  if (r->history && *text) lib.history(r->history, &event, H_ENTER, text);
#else
  (void)r;
  (void)text;
#endif
}

void reader_close(Reader *r) {
  if (!r) return;
#ifdef NKL_LINE_EDITOR
  if (r->edit) {
    save_history(r);
    lib.el_end(r->edit);
  }
#endif
  free(r->line);
  free(r);
}
