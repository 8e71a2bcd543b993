/* commands.c -- room cli: the subcommands. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* What a run on a device would do. */
static int dry_run(const Options *o) {
  Specialized s;
  nkl_error_buf err = NKL_ERROR_BUF_INIT;
  nkl_buf plan = NKL_BUF_INIT;
  int status = specialize(o, 1, &s);
  if (status == EXIT_OK && nkl_program_plan(s.program, NULL, o->json, &plan, &err) != NKL_OK) status = fail_buf(&err);
  if (status == EXIT_OK) fwrite(plan.data, 1, plan.size, stdout);
  nkl_buf_free(&plan);
  specialized_free(&s);
  return status;
}

int cmd_run(const Options *o) {
  Specialized s;
  if (o->dry_run) return dry_run(o);
  int status = specialize(o, 0, &s);
  if (status == EXIT_OK && s.program) status = results(o, s.ctx, s.program, &s.bound);
  specialized_free(&s);
  return status;
}

static int decode(const Options *o, nkl_program **out) {
  nkl_error_buf err = NKL_ERROR_BUF_INIT;
  interrupt_disarm(); /* it may wait for a pipe */
  nkl_status s = nkl_program_load(o->operand.item[0], out, &err);
  interrupt_arm();
  if (s == NKL_OK) return EXIT_OK;
  return fail_file(&err, s == NKL_ERR_IO ? NULL : o->operand.item[0]);
}

int cmd_exec(const Options *o) {
  nkl_ctx *c;
  nkl_program *p = NULL;
  Bounds b = {.n = 0};
  int status = context_open(&c, NULL);
  if (status != EXIT_OK) return status;
  status = decode(o, &p);
  const BindTo to = {.ctx = c, .program = p};
  if (status == EXIT_OK) status = bind_ranks(o, &to, &b);
  if (status == EXIT_OK) status = results(o, c, p, &b);
  bounds_free(&b);
  nkl_program_release(p);
  context_close(c);
  return status;
}

static nkl_format format_of(Command command, const Options *o) {
  if (command == CMD_trace) return NKL_FMT_IR;
  if (command == CMD_config) return o->decode ? NKL_FMT_CONFIG_JSON : NKL_FMT_BACKEND_CONFIG;
  if (!o->as || strcmp(o->as, "hlo") == 0) return NKL_FMT_HLO;
  return strcmp(o->as, "stablehlo") == 0 ? NKL_FMT_STABLEHLO : NKL_FMT_HLO_PROTO;
}

/* To every --output, or to standard output; a text ends in a newline. */
static int give(const Options *o, nkl_ctx *c, nkl_format format, const nkl_buf *text) {
  int newline = format != NKL_FMT_HLO_PROTO && (text->size == 0 || text->data[text->size - 1] != '\n');
  size_t n = text->size + (size_t)newline;
  char *all = malloc(n + 1);
  if (!all) {
    message("out of memory");
    return EXIT_FAILED;
  }
  memcpy(all, text->data, text->size);
  if (newline) all[text->size] = '\n';
  nkl_status s = o->output.n ? nkl_files_write(c, o->output.item, o->output.n, all, n) : nkl_file_write(c, "-", all, n);
  free(all);
  return s == NKL_OK ? EXIT_OK : fail(c);
}

int cmd_text(Command command, const Options *o) {
  Specialized s;
  nkl_format format = format_of(command, o);
  nkl_error_buf err = NKL_ERROR_BUF_INIT;
  nkl_buf text = NKL_BUF_INIT;
  if (format == NKL_FMT_HLO_PROTO && !o->output.n && isatty(STDOUT_FILENO)) {
    message("hlo --as proto is binary and standard output is a terminal: name a file with --output, or redirect");
    return EXIT_USAGE;
  }
  int status = specialize(o, 1, &s);
  for (size_t i = 0; status == EXIT_OK && i < o->output.n; i++)
    if (!can_write(o, s.ctx, o->output.item[i], 0)) status = EXIT_USAGE;
  if (status == EXIT_OK && nkl_program_render(s.program, format, &text, &err) != NKL_OK) status = fail_buf(&err);
  if (status == EXIT_OK) status = give(o, s.ctx, format, &text);
  nkl_buf_free(&text);
  specialized_free(&s);
  return status;
}

/* busted reads its own arguments. */
int cmd_test(int argc, char **argv) {
  nkl_ctx *c;
  int status = context_open(&c, NULL);
  if (status != EXIT_OK) return status;
  const char **words = calloc((size_t)argc + 1, sizeof *words);
  if (words) {
    words[0] = "nkilua-test";
    for (int i = 0; i < argc; i++) words[i + 1] = argv[i];
    status = nkl_run_specs(c, words, argc + 1) == NKL_OK ? EXIT_OK : fail(c);
  } else {
    message("out of memory");
    status = EXIT_FAILED;
  }
  free(words);
  context_close(c);
  return status;
}

static int print_table(const Options *o) {
  static const char *const names[] = {"ops",      "errors",        "dtypes",   "targets",         "language",
                                      "stub.nki", "stub.language", "stub.isa", "stub.collectives"};
  nkl_error_buf err = NKL_ERROR_BUF_INIT;
  nkl_buf text = NKL_BUF_INIT;
  int table = 0;
  while (o->table && strcmp(o->table, names[table]) != 0) table++;
  if (nkl_render_table((nkl_table)table, o->json, &text, &err) != NKL_OK) return fail_buf(&err);
  fwrite(text.data, 1, text.size, stdout);
  nkl_buf_free(&text);
  return EXIT_OK;
}

int cmd_ops(const Options *o) {
  if (!o->operand.n) return print_table(o);
  if (o->json || o->table) {
    message("ops: --%s is for the whole table; leave '%s' out", o->json ? "json" : "table", o->operand.item[0]);
    return EXIT_USAGE;
  }
  int status = EXIT_OK;
  for (size_t i = 0; i < o->operand.n && status == EXIT_OK; i++) status = cmd_doc(o->operand.item[i]);
  return status;
}

int cmd_doc(const char *topic) {
  nkl_ctx *c;
  nkl_buf text = NKL_BUF_INIT;
  int status = context_open(&c, NULL);
  if (status != EXIT_OK) return status;
  if (nkl_help(c, topic, &text) == NKL_OK) {
    fwrite(text.data, 1, text.size, stdout);
  } else {
    status = fail_usage(c);
  }
  nkl_buf_free(&text);
  context_close(c);
  return status;
}

int cmd_help(const char *topic) {
  int command = topic ? command_find(topic) : -1;
  if (topic && command < 0) return cmd_doc(topic);
  if (topic) {
    usage_command((Command)command);
  } else {
    usage_all();
  }
  return EXIT_OK;
}

int cmd_repl(void) {
  nkl_ctx *c;
  static const char modules[] =
      "nki, nl, nisa, nd = require 'nki', require 'nki.language', require 'nki.isa', require 'nki.ndarray'";
  int status = context_open(&c, NULL);
  if (status != EXIT_OK) return status;
  if (nkl_load_string(c, modules, sizeof modules - 1, "=repl") == NKL_OK) {
    if (isatty(STDIN_FILENO)) puts(BANNER ", with nki, nl, nisa and nd; help() explains");
    status = repl(c);
  } else {
    print_error(nkl_last_error(c), "");
    status = EXIT_FAILED;
  }
  context_close(c);
  return status;
}
