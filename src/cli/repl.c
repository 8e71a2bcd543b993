/* repl.c -- room cli: the interactive session. A line that is not yet a whole chunk gets more lines; Ctrl-C drops what
   was typed, or stops what runs. Errors end nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct Pending { /* the chunk so far, lines joined by '\n' */
  char *text;
  size_t len, cap;
} Pending;

static int add_line(Pending *p, const char *line) {
  size_t n = strlen(line), need = p->len + n + 2;
  if (need > p->cap) {
    char *grown = realloc(p->text, 2 * need);
    if (!grown) return 0;
    p->text = grown;
    p->cap = 2 * need;
  }
  if (p->len) p->text[p->len++] = '\n';
  memcpy(p->text + p->len, line, n + 1);
  p->len += n;
  return 1;
}

static void clear(Pending *p) { p->len = 0; }

static void show(nkl_ctx *c, nkl_status s, nkl_buf *out) {
  if (s == NKL_OK) {
    if (out->size) fwrite(out->data, 1, out->size, stdout);
  } else {
    print_error(nkl_last_error(c), "");
  }
  fflush(stdout);
  nkl_buf_free(out);
}

/* True when the chunk was complete (whether or not it worked). */
static int evaluate(nkl_ctx *c, const Pending *p) {
  nkl_buf out = NKL_BUF_INIT;
  int incomplete = 0;
  interrupt_arm();
  nkl_status s = nkl_eval(c, p->text, p->len, "=stdin", &incomplete, &out);
  interrupt_arm();
  if (incomplete) {
    nkl_buf_free(&out);
  } else {
    show(c, s, &out);
  }
  return !incomplete;
}

/* The input ended within a chunk: the compiler says what is missing. */
static void give_up(nkl_ctx *c, const Pending *p) {
  if (!p->len) return;
  if (nkl_load_string(c, p->text, p->len, "=stdin") != NKL_OK) print_error(nkl_last_error(c), "");
}

int repl(nkl_ctx *c) {
  Reader *r = reader_open(c);
  Pending p = {NULL, 0, 0};
  int ok = r != NULL, cancelled;
  while (ok) {
    interrupt_waiting(1);
    const char *line = reader_line(r, p.len ? ">> " : "> ", &cancelled);
    interrupt_waiting(0);
    if (cancelled) {
      interrupt_arm();
      clear(&p);
      continue;
    }
    if (!line) break;
    ok = add_line(&p, line);
    if (!ok || !evaluate(c, &p)) continue;
    reader_remember(r, p.text);
    clear(&p);
  }
  if (ok) give_up(c, &p);
  free(p.text);
  reader_close(r);
  if (ok) return EXIT_OK;
  message("out of memory");
  return EXIT_FAILED;
}
