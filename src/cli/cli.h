/* cli.h -- room cli: private; the command knows of nkilua what include/nkilua.h says and nothing else. */
#ifndef NK_CLI_H
#define NK_CLI_H
#include "nkilua.h"

#define BANNER "nkilua " NKL_VERSION_STRING ", Lua 5.4"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_MISMATCH = 3, EXIT_INTERRUPTED = 130 };

typedef enum Command {
#define COMMAND(id, operands, min, max, help) CMD_##id,
#include "options.def"
  CMD_count
} Command;

typedef struct Words {
  const char **item;
  size_t n;
} Words;

typedef const char *OptSTRING;
typedef int OptFLAG;
typedef Words OptLIST;
typedef const char *OptNUMBER; /* read by option_number */
typedef const char *OptINT;
typedef struct Options {
#define OPTION(id, kind, letter, metavar, commands, help) Opt##kind id;
#include "options.def"
  Words operand;
  void *memory; /* what the lists lie in */
} Options;

/* options.c. Prints what is wrong and returns EXIT_USAGE, or EXIT_OK. */
int options_parse(Command command, int argc, char **argv, Options *out);
void options_free(Options *o);
int command_find(const char *name); /* Command, or -1 */
const char *command_nearest(const char *name);
void command_list(void); /* names on standard error, in one line */
void usage_all(void);    /* to standard output */
void usage_command(Command command);
double option_number(const char *text, double otherwise);
uint64_t option_seed(const Options *o);
int64_t option_count(const char *text, int64_t otherwise);
/* Number of axes; -1 when the text is no grid. */
int option_grid(const char *text, int64_t grid[NKL_MAX_RANK], nkl_cores cores[NKL_MAX_RANK]);

/* message.c: everything that is not a result goes to standard error. */
void message_color(const char *when); /* "auto", "always", "never"; NULL: auto */
void message(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void print_error(const nkl_error *e, const char *prefix); /* message, notes, traceback */
int fail(nkl_ctx *c);           /* prints the last error; its exit status for failures of a script or a kernel */
int fail_usage(nkl_ctx *c);     /* the same, but a wrong argument is a usage error */
int fail_buf(nkl_error_buf *e); /* prints and frees */
int fail_file(nkl_error_buf *e, const char *path); /* the same, with the file that is at fault */

/* Prints why not: a folder, no such folder, the script itself and so on. tensor: also whether the name ends as a tensor
   file's. */
int can_write(const Options *o, nkl_ctx *c, const char *path, int tensor);

/* context.c */
int context_open(nkl_ctx **out, const nkl_options *o); /* prints what fails; Ctrl-C then interrupts the context */
void context_close(nkl_ctx *c);
void interrupt_arm(void);    /* the next Ctrl-C interrupts; the one after it ends the program */
void interrupt_disarm(void); /* the next Ctrl-C ends the program: for reads that may wait, before there is any work */
void interrupt_waiting(int on); /* nothing runs: somebody is asked for a line, and Ctrl-C is not for the context */
int interrupt_pending(void);    /* was there one? forgets it */

/* commands */
int cmd_run(const Options *o);
int cmd_exec(const Options *o);
int cmd_text(Command command, const Options *o); /* trace, config, hlo */
int cmd_bench(const Options *o);
int cmd_profile(const Options *o);
int cmd_test(int argc, char **argv);
int cmd_lint(const Options *o); /* lint.c */
int cmd_ops(const Options *o);
int cmd_doc(const char *topic);
int cmd_help(const char *topic);
int cmd_repl(void);
int lua_main(int argc, char **argv); /* without a subcommand: a drop-in lua */

/* ranks.c: values for the parameters, of each rank; one rank without --ranks. */
enum { MOST_RANKS = 256 };
typedef struct Bounds {
  nkl_bound *rank[MOST_RANKS];
  int n;
} Bounds;
typedef struct BindTo { /* a kernel, or a program without its source */
  nkl_ctx *ctx;
  const nkl_kernel *kernel;
  const nkl_program *program;
  int shapes_only;
} BindTo;
int option_ranks(const Options *o); /* 0: not given, -1: wrong */
int bind_ranks(const Options *o, const BindTo *to, Bounds *out);
void bounds_free(Bounds *b);

/* target.c: the way from a script to a specialization. */
typedef struct Specialized {
  nkl_ctx *ctx;
  nkl_kernel *kernel;
  Bounds bound;
  nkl_program *program; /* NULL: the script returned no kernel and needed none */
} Specialized;
int specialize(const Options *o, int shapes_only, Specialized *out);
void specialized_free(Specialized *s);

/* results.c */
int results(const Options *o, nkl_ctx *c, const nkl_program *p, const Bounds *b);

/* repl.c; reader.c has the line editor. */
int repl(nkl_ctx *c);
typedef struct Reader Reader;
Reader *reader_open(nkl_ctx *c);
/* A line without its end, lent until the next call; NULL at the end of input. *cancelled: Ctrl-C, there is no line. */
const char *reader_line(Reader *r, const char *prompt, int *cancelled);
void reader_remember(Reader *r, const char *text);
void reader_close(Reader *r);
#endif
