/* env.c -- room base: the environment. */
#include "env.h"

#include <stddef.h>

extern char **environ;

/* The value behind "NAME=", NULL when the entry is another's. */
static const char *value_of(const char *entry, const char *name) {
  while (*name && *entry == *name) entry++, name++;
  return !*name && *entry == '=' ? entry + 1 : NULL;
}

void env_read(const char *const *names, int n, const char **values) {
  for (int k = 0; k < n; k++) values[k] = NULL;
  if (!environ) return;
  for (char **e = environ;; e++) {
    while (*e && **e != 'N') e++; /* nearly all are another program's */
    if (!*e) return;
    for (int k = 0; k < n; k++)
      if ((*e)[1] == names[k][1] && !values[k]) values[k] = value_of(*e, names[k]);
  }
}
