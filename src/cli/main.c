/* main.c -- room cli: the program. The first word decides: a command, or what lua would do. */
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static int run_command(Command command, const Options *o) {
  const char *word = o->operand.n ? o->operand.item[0] : NULL;
  switch (command) {
    case CMD_run:
      return cmd_run(o);
    case CMD_bench:
      return cmd_bench(o);
    case CMD_profile:
      return cmd_profile(o);
    case CMD_exec:
      return cmd_exec(o);
    case CMD_trace:
    case CMD_config:
    case CMD_hlo:
      return cmd_text(command, o);
    case CMD_lint:
      return cmd_lint(o);
    case CMD_ops:
      return cmd_ops(o);
    case CMD_doc:
      return cmd_doc(word);
    case CMD_help:
      return cmd_help(word);
    case CMD_repl:
      return cmd_repl();
    default:
      puts("nkilua " NKL_VERSION_STRING);
      return EXIT_OK;
  }
}

static int dispatch(int argc, char **argv) {
  Options o;
  int command = argc > 1 ? command_find(argv[1]) : -1;
  if (argc > 1 && strcmp(argv[1], "--help") == 0) return cmd_help(NULL);
  if (argc > 1 && strcmp(argv[1], "--version") == 0) return run_command(CMD_version, &(Options){.memory = NULL});
  if (command < 0) return lua_main(argc, argv);
  if (command == CMD_test) return cmd_test(argc - 2, argv + 2);
  signal(SIGXFSZ, SIG_IGN); /* a file over the limit of `ulimit -f` is a file that cannot be written */
  int status = options_parse((Command)command, argc - 2, argv + 2, &o);
  if (status == EXIT_OK) status = run_command((Command)command, &o);
  options_free(&o);
  return status < 0 ? EXIT_OK : status; /* -1: --help was all that was wanted */
}

/* A program that traces and simulates again and again touches the same memory again, instead of giving it back and
   asking for it anew: that costs more than what is done there. The values are those glibc itself ends at. */
static void keep_memory(void) {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
}

/* A standard stream that is closed stays unusable, but its number is taken: else a file that is opened gets it, and
   what is printed. */
static void reserve_standard(void) {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    if (fcntl(fd, F_GETFD) < 0) (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv) {
  reserve_standard();
  keep_memory();
  int status = dispatch(argc, argv);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    message("cannot write to standard output");
    if (status == EXIT_OK) status = EXIT_FAILED;
  }
  return status;
}
