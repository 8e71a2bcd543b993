/* folder.c -- room base: folders. */
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

PathKind path_kind(const char *path) {
  struct stat st;
  if (stat(path, &st) != 0) return errno == ENOENT || errno == ENOTDIR ? PATH_NONE : PATH_HIDDEN;
  return S_ISREG(st.st_mode) ? PATH_FILE : S_ISDIR(st.st_mode) ? PATH_FOLDER : PATH_OTHER;
}

static bool make_one(const char *path) {
  if (mkdir(path, 0777) == 0) return true;
  int fault = errno;
  bool there = path_kind(path) == PATH_FOLDER;
  errno = fault;
  return there;
}

/* Another process may make the same ones at the same time. */
bool folder_make(const char *path, Diag *d) {
  Text part;
  text_init(&part, d->message.alloc);
  bool ok = true;
  for (const char *s = strchr(path + (*path == '/'), '/'); ok && s; s = strchr(s + 1, '/')) {
    text_clear(&part);
    text_add(&part, path, (size_t)(s - path));
    ok = make_one(text_str(&part));
  }
  ok = ok && make_one(path);
  int fault = errno;
  if (part.oom) DIAG0(d, nomem);
  bool oom = part.oom;
  text_free(&part);
  if (oom) return false;
  return ok || DIAG(d, folder_make, path, fault == EEXIST ? "it is a file" : strerror(fault));
}

static int by_bytes(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static bool ends_so(const char *name, const char *ending) {
  size_t n = strlen(name), m = strlen(ending);
  return n >= m && strcmp(name + n - m, ending) == 0;
}

const char **folder_list(const char *path, const char *ending, Arena *arena, size_t *n) {
  DIR *dir = opendir(path);
  const char **list = arena_newn(arena, const char *, 1);
  uint32_t count = 0, cap = 0;
  bool ok = dir && list;
  for (const struct dirent *e; ok && (e = readdir(dir));) {
    if (!ends_so(e->d_name, ending)) continue;
    ok = arena_push(arena, list, cap, count);
    const char *name = ok ? arena_strdup(arena, e->d_name, strlen(e->d_name)) : NULL;
    ok = name != NULL;
    if (ok) list[count++] = name;
  }
  if (dir) closedir(dir);
  *n = ok ? count : 0;
  if (ok && count > 1) qsort(list, count, sizeof *list, by_bytes);
  return ok ? list : NULL;
}
