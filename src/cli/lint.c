/* lint.c -- room cli: nkilua lint FILE...: every file is looked at, whatever the others are. */
#include <stdio.h>

#include "cli.h"

int cmd_lint(const Options *o) {
  nkl_ctx *c;
  int status = context_open(&c, NULL), json = o->json, first = 1;
  if (status != EXIT_OK) return status;
  if (json) putchar('[');
  for (size_t i = 0; i < o->operand.n; i++) {
    nkl_buf text = NKL_BUF_INIT;
    size_t found = 0;
    if (nkl_lint(c, o->operand.item[i], json, &text, &found) == NKL_OK) {
      if (json && !first) putchar(',');
      first = 0;
      fwrite(text.data, 1, text.size, stdout);
      if (found && status == EXIT_OK) status = EXIT_FAILED;
    } else {
      int failed = fail(c);
      status = failed == EXIT_INTERRUPTED ? failed : EXIT_USAGE;
    }
    nkl_buf_free(&text);
    if (status == EXIT_INTERRUPTED) break;
  }
  if (json) puts("]");
  context_close(c);
  return status;
}
