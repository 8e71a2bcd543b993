/* files.c -- room lang: how source files are named in messages, IR and keys: relative to a script's folder, never
 * absolute. */
#include <stdio.h>
#include <string.h>

#include "lang.h"

static const char *skip_dot(const char *path) {
  while (path[0] == '.' && path[1] == '/') path += 2 + strspn(path + 2, "/");
  return path;
}

const char *lang_dir_of(const char *source, char *buf, size_t size) {
  const char *path = source[0] == '@' ? skip_dot(source + 1) : "";
  const char *slash = strrchr(path, '/');
  size_t n = slash ? (size_t)(slash - path) + 1 : 0;
  if (n >= size) n = 0;
  memcpy(buf, path, n);
  buf[n] = '\0';
  return buf;
}

/* Length of the common leading folders. */
static size_t common(const char *a, const char *b) {
  size_t last = 0;
  for (size_t i = 0; a[i] && a[i] == b[i]; i++)
    if (a[i] == '/') last = i + 1;
  return last;
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

const char *lang_relative(const char *dir, const char *source, char *buf, size_t size) {
  if (source[0] == '=') {
    snprintf(buf, size, "%s", source + 1);
    return buf;
  }
  if (source[0] != '@') { /* the text itself: its first line, as Lua shows it */
    snprintf(buf, size, "[string \"%.*s%s\"]", (int)(strcspn(source, "\n") > 40 ? 40 : strcspn(source, "\n")), source,
             strcspn(source, "\n") > 40 || source[strcspn(source, "\n")] ? "..." : "");
    return buf;
  }
  const char *path = skip_dot(source + 1);
  size_t below = strlen(dir);
  if (strncmp(path, dir, below) == 0) return path + below;
  size_t same = common(path, dir), used = 0;
  if (same == 0 && (path[0] == '/') != (dir[0] == '/')) { /* one absolute, one not: no way from one to the other */
    snprintf(buf, size, "%s", base_name(path));
    return buf;
  }
  buf[0] = '\0';
  for (const char *p = dir + same; *p && used + 4 < size; p++) {
    if (*p != '/') continue;
    memcpy(buf + used, "../", 4);
    used += 3;
  }
  snprintf(buf + used, size - used, "%s", path + same);
  return buf;
}
