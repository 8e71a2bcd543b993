/* options.c -- room cli: words of the command line into Options, by the table options.def; usage texts from the same
 * table. */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define ON(command) (1u << CMD_##command)
typedef enum Kind { FLAG, STRING, LIST, NUMBER, INT } Kind;
typedef struct CommandRow {
  const char *name, *operands;
  int min, max;
  const char *help;
} CommandRow;
typedef struct OptionRow {
  char name[24]; /* as it is typed, once name_options has been here */
  Kind kind;
  char letter;
  const char *metavar;
  unsigned commands;
  const char *help;
  size_t offset;
} OptionRow;

static const CommandRow commands[] = {
#define COMMAND(id, operands, min, max, help) {#id, operands, min, max, help},
#include "options.def"
};
static OptionRow rows[] = {
#define OPTION(id, kind, letter, metavar, commands, help) \
  {#id, kind, letter, metavar, commands, help, offsetof(Options, id)},
#include "options.def"
};
enum { ROWS = sizeof rows / sizeof *rows };

/* ---- names --------------------------------------------------------------------------------------------------- */

static int least(int a, int b) { return a < b ? a : b; }

/* Edit distance of short words. */
static int distance(const char *a, const char *b) {
  int n = (int)strlen(b), row[64];
  if (n > 60 || strlen(a) > 60) return 99;
  for (int j = 0; j <= n; j++) row[j] = j;
  for (int i = 1; a[i - 1]; i++) {
    int corner = row[0];
    row[0] = i;
    for (int j = 1; j <= n; j++) {
      int above = row[j];
      row[j] = least(least(above, row[j - 1]) + 1, corner + (a[i - 1] != b[j - 1]));
      corner = above;
    }
  }
  return row[n];
}

static int near_enough(const char *a, const char *b) { return distance(a, b) <= (strlen(a) > 4 ? 2 : 1); }

int command_find(const char *name) {
  for (int i = 0; i < CMD_count; i++)
    if (strcmp(commands[i].name, name) == 0) return i;
  return -1;
}

const char *command_nearest(const char *name) {
  for (int i = 0; i < CMD_count; i++)
    if (near_enough(name, commands[i].name)) return commands[i].name;
  return NULL;
}

/* An id has '_' where the word has '-'. */
static void name_options(void) {
  for (int i = 0; i < ROWS; i++)
    for (char *s = rows[i].name; (s = strchr(s, '_')) != NULL;) *s = '-';
}

static const OptionRow *by_name(const char *name, size_t n) {
  for (int i = 0; i < ROWS; i++)
    if (strlen(rows[i].name) == n && memcmp(rows[i].name, name, n) == 0) return &rows[i];
  return NULL;
}

static const OptionRow *by_letter(char letter) {
  for (int i = 0; i < ROWS; i++)
    if (rows[i].letter == letter && letter) return &rows[i];
  return NULL;
}

/* ---- parsing ------------------------------------------------------------------------------------------------- */

typedef struct Parsing {
  Command command;
  int argc, at;
  char **argv;
  Options *out;
  const char **slots; /* one per word and list: room enough */
} Parsing;

static int unknown(const Parsing *p, const char *word) {
  const char *name = word[1] == '-' ? word + 2 : word + 1, *near = NULL;
  char bare[64];
  snprintf(bare, sizeof bare, "%.*s", (int)strcspn(name, "="), name);
  for (int i = 0; i < ROWS && !near; i++)
    if (rows[i].commands & 1u << p->command && word[1] == '-' && near_enough(bare, rows[i].name)) near = rows[i].name;
  message("%s: no option '%s'%s%s%s", commands[p->command].name, word, near ? "; did you mean '--" : "",
          near ? near : "", near ? "'?" : "");
  return EXIT_USAGE;
}

static int not_here(const Parsing *p, const OptionRow *r) {
  char who[128] = "";
  for (int i = 0; i < CMD_count; i++)
    if (r->commands & 1u << i) {
      if (*who) strncat(who, ", ", sizeof who - strlen(who) - 1);
      strncat(who, commands[i].name, sizeof who - strlen(who) - 1);
    }
  message("%s: no option '--%s'; these have it: %s", commands[p->command].name, r->name, who);
  return EXIT_USAGE;
}

static int store(Parsing *p, const OptionRow *r, const char *value) {
  void *field = (char *)p->out + r->offset;
  if (r->kind == FLAG) {
    *(int *)field = 1;
    return EXIT_OK;
  }
  if (r->kind == LIST) {
    Words *list = field;
    list->item[list->n++] = value;
    return EXIT_OK;
  }
  const char **text = field;
  if (*text) {
    message("%s: --%s is given twice, '%s' and '%s'", commands[p->command].name, r->name, *text, value);
    return EXIT_USAGE;
  }
  *text = value;
  return EXIT_OK;
}

/* attached: the value within the word itself, or NULL. */
static int take(Parsing *p, const OptionRow *r, const char *attached) {
  const char *command = commands[p->command].name;
  if (!(r->commands & 1u << p->command)) return not_here(p, r);
  if (r->kind == FLAG && attached) {
    message("%s: --%s takes no value", command, r->name);
    return EXIT_USAGE;
  }
  if (r->kind != FLAG && !attached) {
    if (p->at + 1 >= p->argc) {
      message("%s: --%s needs a value: %s", command, r->name, r->metavar);
      return EXIT_USAGE;
    }
    attached = p->argv[++p->at];
  }
  return store(p, r, attached);
}

static int long_option(Parsing *p, const char *word) {
  size_t n = strcspn(word + 2, "=");
  const OptionRow *r = by_name(word + 2, n);
  return r ? take(p, r, word[2 + n] == '=' ? word + 3 + n : NULL) : unknown(p, word);
}

static int short_option(Parsing *p, const char *word) {
  const OptionRow *r = by_letter(word[1]);
  return r ? take(p, r, word[2] ? word + 2 : NULL) : unknown(p, word);
}

/* "-" is a file, "-3" and "-.5" are numbers. */
static int is_option(const char *word) {
  return word[0] == '-' && word[1] && !(word[1] >= '0' && word[1] <= '9') && word[1] != '.';
}

static int check_count(const Parsing *p) {
  const CommandRow *c = &commands[p->command];
  int n = (int)p->out->operand.n;
  if (n >= c->min && (c->max < 0 || n <= c->max)) return EXIT_OK;
  if (n < c->min) {
    message("%s: usage: nkilua %s %s", c->name, c->name, c->operands);
  } else {
    message("%s: '%s' is one word too many", c->name, p->out->operand.item[c->max]);
  }
  return EXIT_USAGE;
}

/* Every list gets its own stretch of one block, long enough for all words. */
static int make_room(Options *o, int argc) {
  size_t lists = 1, n = (size_t)argc + 1;
  for (int i = 0; i < ROWS; i++) lists += rows[i].kind == LIST;
  const char **block = calloc(lists * n, sizeof *block);
  if (!block) return 0;
  o->memory = block;
  o->operand.item = block;
  for (int i = 0, k = 1; i < ROWS; i++)
    if (rows[i].kind == LIST) ((Words *)(void *)((char *)o + rows[i].offset))->item = block + n * (size_t)k++;
  return 1;
}

void options_free(Options *o) { free(o->memory); }

/* ---- values of options --------------------------------------------------------------------------------------- */

double option_number(const char *text, double otherwise) { return text ? strtod(text, NULL) : otherwise; }

static int is_tolerance(const char *text) {
  char *end;
  double v = strtod(text, &end);
  return end != text && !*end && v >= 0 && isfinite(v);
}

static int is_seed(const char *text) {
  char *end;
  errno = 0;
  if (!(*text >= '0' && *text <= '9')) return 0;
  strtoull(text, &end, 0);
  return !*end && errno == 0;
}

/* A decimal integer within [least, 10^9]. */
static int is_count(const char *text, long long least) {
  char *end;
  errno = 0;
  if (!(*text >= '0' && *text <= '9')) return 0;
  long long v = strtoll(text, &end, 10);
  return !*end && errno == 0 && v >= least && v <= 1000000000;
}

int64_t option_count(const char *text, int64_t otherwise) { return text ? strtoll(text, NULL, 10) : otherwise; }

uint64_t option_seed(const Options *o) { return o->seed ? strtoull(o->seed, NULL, 0) : 0; }

/* A positive number of digits at *s, which moves behind it; 0 when there is none. */
static int64_t number_at(const char **s) {
  char *end;
  errno = 0;
  if (!(**s >= '0' && **s <= '9')) return 0;
  long long v = strtoll(*s, &end, 10);
  *s = end;
  return errno ? 0 : v;
}

/* One axis: 4, nc2, nc2x4 (in blocks of 4 per core), 4xnc2 (in turn). */
static int grid_axis(const char **s, int64_t *size, nkl_cores *cores) {
  int64_t first = 1, each = 1;
  int in_turn = **s != 'n';
  *cores = (nkl_cores){0, 0};
  if (in_turn) {
    first = number_at(s);
    if (first < 1) return 0;
    *size = first;
    if (**s != 'x') return 1;
    ++*s;
  }
  if (strncmp(*s, "nc", 2) != 0) return 0;
  *s += 2;
  int64_t n = number_at(s);
  if (n < 1) return 0;
  if (!in_turn && **s == 'x') {
    ++*s;
    each = number_at(s);
    if (each < 1) return 0;
  }
  *cores = (nkl_cores){n, in_turn ? 1 : each};
  return !__builtin_mul_overflow(n, first * each, size); /* one of the two is 1 */
}

int option_grid(const char *text, int64_t grid[NKL_MAX_RANK], nkl_cores cores[NKL_MAX_RANK]) {
  int n = 0;
  for (const char *s = text;; s++) {
    if (n == NKL_MAX_RANK || !grid_axis(&s, &grid[n], &cores[n])) return -1;
    n++;
    if (!*s) return n;
    if (*s != ',') return -1;
  }
}

static int wrong(Command command, const char *option, const char *value, const char *want) {
  message("%s: --%s '%s': %s", commands[command].name, option, value, want);
  return EXIT_USAGE;
}

static int one_of(const char *word, const char *list) {
  size_t n = strlen(word);
  for (const char *p = list; *p; p += strcspn(p, " "), p += *p == ' ')
    if (n && strncmp(p, word, n) == 0 && (p[n] == ' ' || !p[n])) return 1;
  return 0;
}

/* A dry run has no numbers, so what is about numbers is not for it. */
static int check_dry_run(const Options *o) {
  const char *other = o->output.n ? "output" : o->check.n ? "check" : o->seed ? "seed" : NULL;
  if (!o->dry_run || !other) return EXIT_OK;
  message("run: --dry-run computes nothing, so --%s has nothing to work on: leave one of them out", other);
  return EXIT_USAGE;
}

static int check_counts(Command command, const Options *o) {
  if (o->warmup && !is_count(o->warmup, 0))
    return wrong(command, "warmup", o->warmup, "it must be an integer from 0 to 1000000000");
  if (o->iters && !is_count(o->iters, 1))
    return wrong(command, "iters", o->iters, "it must be an integer from 1 to 1000000000");
  return EXIT_OK;
}

/* Values that need no context: tolerances, colour ... */
static int options_check(Command command, const Options *o) {
  int64_t grid[NKL_MAX_RANK];
  nkl_cores cores[NKL_MAX_RANK];
  const char *tolerance = "it must be a number of at least 0";
  if (o->color && !one_of(o->color, "auto always never"))
    return wrong(command, "color", o->color, "it is auto, always or never");
  message_color(o->color);
  if (o->rtol && !is_tolerance(o->rtol)) return wrong(command, "rtol", o->rtol, tolerance);
  if (o->atol && !is_tolerance(o->atol)) return wrong(command, "atol", o->atol, tolerance);
  if ((o->rtol || o->atol) && !o->check.n)
    return wrong(command, o->rtol ? "rtol" : "atol", o->rtol ? o->rtol : o->atol, "it says how to --check");
  if (o->seed && !is_seed(o->seed))
    return wrong(command, "seed", o->seed, "it must be an integer of at least 0 that fits 64 bits");
  if (option_ranks(o) < 0) return wrong(command, "ranks", o->ranks, "it must be an integer of 1 to 256");
  if (o->grid && option_grid(o->grid, grid, cores) < 0)
    return wrong(
        command, "grid", o->grid,
        "it must be 1 to 8 positive integers, such as 4 or 4,2; an axis on physical cores is nc2, nc2x4 or 4xnc2");
  if (o->as && !one_of(o->as, "hlo stablehlo proto"))
    return wrong(command, "as", o->as, "it is hlo, stablehlo or proto");
  if (o->table &&
      !one_of(o->table, "ops errors dtypes targets language stub.nki stub.language stub.isa stub.collectives"))
    return wrong(command, "table", o->table,
                 "it is ops, errors, dtypes, targets, language, stub.nki, stub.language, stub.isa or stub.collectives");
  int status = check_counts(command, o);
  return status == EXIT_OK ? check_dry_run(o) : status;
}

int options_parse(Command command, int argc, char **argv, Options *out) {
  Parsing p = {.command = command, .argc = argc, .argv = argv, .out = out};
  name_options();
  memset(out, 0, sizeof *out);
  if (!make_room(out, argc)) {
    message("out of memory");
    return EXIT_FAILED;
  }
  int only_operands = 0;
  for (; p.at < argc; p.at++) {
    const char *word = argv[p.at];
    int status = EXIT_OK;
    if (only_operands || !is_option(word)) {
      out->operand.item[out->operand.n++] = word;
    } else if (strcmp(word, "--") == 0) {
      only_operands = 1;
    } else if (strcmp(word, "--help") == 0) {
      usage_command(command);
      return -1;
    } else {
      status = word[1] == '-' ? long_option(&p, word) : short_option(&p, word);
    }
    if (status != EXIT_OK) return status;
  }
  int status = check_count(&p);
  return status != EXIT_OK ? status : options_check(command, out);
}

/* ---- usage --------------------------------------------------------------------------------------------------- */

void command_list(void) {
  for (int i = 0; i < CMD_count; i++) fprintf(stderr, "%s%s", i ? ", " : "", commands[i].name);
}

void usage_all(void) {
  puts(
      "usage: nkilua COMMAND ...\n       nkilua [-e STAT] [-l MOD] [-i] [-v] [-E] [-W] [--] [SCRIPT [ARGS]]   as "
      "lua\n\ncommands:");
  for (int i = 0; i < CMD_count; i++) printf("  %-8s %s\n", commands[i].name, commands[i].help);
  puts(
      "\n`nkilua help COMMAND` tells a command's options.\n"
      "VALUE: a.npy, b.npz:name, w.safetensors:name, f32[128,512] with :normal(seed) :uniform(seed) :zeros :ones :iota "
      ":full(x),\n"
      "       a number, true, false, nil, a quoted string, {2,2}");
}

void usage_command(Command command) {
  const CommandRow *c = &commands[command];
  unsigned any = 0;
  name_options();
  printf("usage: nkilua %s %s%s\n  %s\n", c->name, c->operands, command == CMD_test ? "" : " [options]", c->help);
  for (int i = 0; i < ROWS; i++) {
    const OptionRow *r = &rows[i];
    char head[64], letter[8] = "    ";
    if (!(r->commands & 1u << command)) continue;
    if (!any++) puts("\noptions:");
    if (r->letter) snprintf(letter, sizeof letter, "-%c, ", r->letter);
    snprintf(head, sizeof head, "%s--%.23s%s%s", letter, r->name, *r->metavar ? " " : "", r->metavar);
    printf("  %-26s %s\n", head, r->help);
  }
}
