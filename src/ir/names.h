/* names.h -- index of s[0..n) in a NULL-terminated list of names, -1 when absent. */
#ifndef NK_NAMES_H
#define NK_NAMES_H
#include <stddef.h>
#include <string.h>

static inline int name_index(const char *const *list, const char *s, size_t n) {
  for (int i = 0; list[i]; i++)
    if (strlen(list[i]) == n && memcmp(list[i], s, n) == 0) return i;
  return -1;
}
#endif
