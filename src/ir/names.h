/* names.h -- room ir: private; looking a name s[0..n) up in lists. */
#ifndef NK_NAMES_H
#define NK_NAMES_H
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Index in a NULL-terminated list, -1 when absent. */
static inline int name_index(const char *const *list, const char *s, size_t n) {
  for (int i = 0; list[i]; i++)
    if (strlen(list[i]) == n && memcmp(list[i], s, n) == 0) return i;
  return -1;
}

/* One of the space-separated words. */
static inline bool name_in_words(const char *words, const char *s, size_t n) {
  if (n == 0) return false;
  for (const char *p = words; *p;) {
    size_t len = strcspn(p, " ");
    if (len == n && memcmp(p, s, n) == 0) return true;
    p += len + (p[len] == ' ');
  }
  return false;
}
#endif
