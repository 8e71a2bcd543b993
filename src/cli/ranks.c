/* ranks.c -- room cli: values for the parameters, for each rank. NAME=VALUE is for all ranks, NAME[2]=VALUE for rank 2.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

int option_ranks(const Options *o) {
  char *end;
  if (!o->ranks) return 0;
  long n = strtol(o->ranks, &end, 10);
  return *end || end == o->ranks || n < 1 || n > MOST_RANKS ? -1 : (int)n;
}

/* "NAME[2]=VALUE": the length of NAME, its rank and what stands behind the bracket; 0 for any other word. */
static size_t split(const char *word, long *rank, const char **rest) {
  size_t n = strcspn(word, "[=/. ");
  char *end;
  if (n == 0 || word[n] != '[' || !(word[n + 1] >= '0' && word[n + 1] <= '9')) return 0;
  *rank = strtol(word + n + 1, &end, 10);
  if (end[0] != ']' || end[1] != '=') return 0;
  *rest = end + 1;
  return n;
}

/* runs: the command runs the program and has --ranks. */
static int check_words(const char *const *word, size_t n, int ranks, int runs) {
  long rank;
  const char *rest;
  for (size_t i = 0; i < n; i++) {
    if (!split(word[i], &rank, &rest) || (ranks && rank < ranks)) continue;
    if (ranks) {
      message("'%s': there are %d ranks, 0..%d", word[i], ranks, ranks - 1);
    } else {
      message("'%s' is a value for one rank; %s", word[i],
              runs ? "--ranks N says how many there are"
                   : "all ranks have one program, which is made of the values for all: leave it out");
    }
    return EXIT_USAGE;
  }
  return EXIT_OK;
}

/* Is there a value of rank r for the name that this word gives to all? */
static int is_replaced(const char *const *word, size_t n, const char *all, int r) {
  size_t length = strcspn(all, "[=/. ");
  long rank;
  const char *rest;
  if (length == 0 || all[length] != '=') return 0;
  for (size_t i = 0; i < n; i++)
    if (split(word[i], &rank, &rest) == length && rank == r && memcmp(word[i], all, length) == 0) return 1;
  return 0;
}

/* The words of rank r, its own without the number; all of them in one block of memory, NULL when there is none. */
static const char **words_of(const char *const *word, size_t n, int r, size_t *out) {
  size_t bytes = (n + 1) * sizeof(char *);
  for (size_t i = 0; i < n; i++) bytes += strlen(word[i]) + 1;
  const char **list = malloc(bytes);
  char *text = (char *)(list + n + 1);
  *out = 0;
  for (size_t i = 0; list && i < n; i++) {
    long rank;
    const char *rest;
    size_t name = split(word[i], &rank, &rest);
    if (!name && !is_replaced(word, n, word[i], r)) list[(*out)++] = word[i];
    if (!name || rank != r) continue;
    list[(*out)++] = text;
    memcpy(text, word[i], name);
    strcpy(text + name, rest);
    text += strlen(text) + 1;
  }
  return list;
}

int bind_ranks(const Options *o, const BindTo *to, Bounds *out) {
  const char *const *word = o->operand.item + 1;
  size_t n = o->operand.n - 1;
  nkl_bind_options bind;
  int status = check_words(word, n, option_ranks(o), !to->shapes_only);
  nkl_bind_options_init(&bind);
  bind.shapes_only = to->shapes_only;
  bind.seed = option_seed(o);
  out->n = option_ranks(o) ? option_ranks(o) : 1;
  for (int r = 0; status == EXIT_OK && r < out->n; r++) {
    size_t mine;
    const char **list = words_of(word, n, r, &mine);
    if (!list) {
      message("out of memory");
      return EXIT_FAILED;
    }
    nkl_status s = to->kernel ? nkl_bind_words(to->ctx, to->kernel, list, mine, &bind, &out->rank[r])
                              : nkl_bind_program(to->ctx, to->program, list, mine, &bind, &out->rank[r]);
    free(list);
    if (s == NKL_OK) continue;
    status = fail_usage(to->ctx);
    if (out->n > 1) message("that is among the values of rank %d", r);
  }
  return status;
}

void bounds_free(Bounds *b) {
  for (int r = 0; r < b->n; r++) nkl_bound_free(b->rank[r]);
}
