/* file.c -- room base: whole files out through file descriptors, complete or not at all. */
#include "file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 1 << 30 }; /* one write call moves at most about 2 GiB */

static bool write_all(int fd, const char *p, size_t n) {
  while (n > 0) {
    ssize_t put = write(fd, p, n < MOST ? n : MOST);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    p += put;
    n -= (size_t)put;
  }
  return true;
}

static bool write_stdout(const void *data, size_t n, Diag *d) {
  fflush(stdout); /* what was printed before comes before */
  return write_all(STDOUT_FILENO, data, n) || DIAG(d, file_write, "standard output", strerror(errno));
}

/* A pipe or a device is written to; renaming onto it would replace it. */
static bool write_device(const char *path, const void *data, size_t n, Diag *d) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return DIAG(d, file_write, path, strerror(errno));
  bool ok = write_all(fd, data, n) || DIAG(d, file_write, path, strerror(errno));
  if (close(fd) != 0 && ok) ok = DIAG(d, file_write, path, strerror(errno));
  return ok;
}

/* Creates a file of a name of its own beside path. mkstemp would force mode 0600; this way the umask decides. */
static int open_beside(const char *path, char temp[PATH_MAX]) {
  const char *slash = strrchr(path, '/');
  int folder = slash ? (int)(slash - path) + 1 : 0;
  for (int i = 0; i < 1000; i++) {
    int n = snprintf(temp, PATH_MAX, "%.*s.nk-%ld-%d.tmp", folder, path, (long)getpid(), i);
    if (n < 0 || n >= PATH_MAX) {
      errno = ENAMETOOLONG;
      return -1;
    }
    int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

/* A file on its way: complete under its temporary name, until it takes its place. */
typedef struct Staged {
  bool direct;         /* standard output, a pipe, a device: there is nothing to rename */
  char temp[PATH_MAX]; /* "" when there is none (any more) */
  char real[PATH_MAX];
} Staged;

/* Writes the temporary file; on failure errno says why and none is left. old: the file that will be replaced, or NULL.
 */
static bool write_temporary(const FileOut *f, Staged *s, const struct stat *old) {
  int fd = open_beside(s->real, s->temp);
  if (fd < 0) {
    s->temp[0] = '\0';
    return false;
  }
  bool ok = write_all(fd, f->data, f->n);
  if (ok && old) ok = fchmod(fd, old->st_mode & 0777) == 0;
  int fault = errno;
  if (close(fd) != 0 && ok) {
    ok = false;
    fault = errno;
  }
  if (!ok) {
    unlink(s->temp);
    s->temp[0] = '\0';
  }
  errno = fault;
  return ok;
}

static void folder_name(const char *path, char folder[PATH_MAX + 1]) {
  const char *slash = strrchr(path, '/');
  int n = slash ? (int)(slash - path) + 1 : 0;
  snprintf(folder, PATH_MAX + 1, "%.*s.", n, path);
}

/* Where the symbolic links of path lead, whether or not a file is there; on failure errno says why. Renaming onto a
   link would replace it. */
static bool follow(const char *path, char real[PATH_MAX]) {
  enum { MOST_LINKS = 40 };
  char target[PATH_MAX];
  strcpy(real, path);
  for (int i = 0; i < MOST_LINKS; i++) {
    ssize_t n = readlink(real, target, sizeof target - 1);
    if (n < 0) return true; /* no link; what else may be wrong with it is found out below */
    const char *slash = *target == '/' ? NULL : strrchr(real, '/');
    size_t folder = slash ? (size_t)(slash - real) + 1 : 0;
    if (folder + (size_t)n >= PATH_MAX) return errno = ENAMETOOLONG, false;
    memcpy(real + folder, target, (size_t)n);
    real[folder + (size_t)n] = '\0';
  }
  return errno = ELOOP, false;
}

/* Can path be written to? real: where; st: of the file that is there already, if *exists. */
static bool check_place(const char *path, char real[PATH_MAX], struct stat *st, bool *exists, Diag *d) {
  char folder[PATH_MAX + 1];
  if (!*path) return DIAG(d, file_write, path, "it is no name");
  if (strlen(path) >= PATH_MAX) return DIAG(d, file_write, path, strerror(ENAMETOOLONG));
  if (!follow(path, real)) return DIAG(d, file_write, path, strerror(errno));
  *exists = stat(real, st) == 0;
  if (!*exists && errno == ENAMETOOLONG) return DIAG(d, file_write, path, strerror(errno));
  if (*exists && S_ISDIR(st->st_mode)) return DIAG(d, file_write, path, "it is a folder");
  if (*exists && !S_ISREG(st->st_mode)) return true;
  /* A read-only file stays as it is, though its folder would let us rename over it. */
  if (*exists && access(real, W_OK) != 0) return DIAG(d, file_write, path, strerror(errno));
  folder_name(real, folder);
  if (access(folder, W_OK | X_OK) == 0) return true;
  bool none = errno == ENOENT || errno == ENOTDIR;
  return DIAG(d, file_write, path, none ? "there is no such folder" : strerror(errno));
}

bool file_writable(const char *path, Diag *d) {
  char real[PATH_MAX];
  struct stat st;
  bool exists;
  return strcmp(path, "-") == 0 || check_place(path, real, &st, &exists, d);
}

static bool stage(const FileOut *f, Staged *s, Diag *d) {
  struct stat st;
  bool exists;
  s->temp[0] = '\0';
  s->direct = strcmp(f->path, "-") == 0;
  if (s->direct) return true;
  if (!check_place(f->path, s->real, &st, &exists, d)) return false;
  s->direct = exists && !S_ISREG(st.st_mode);
  if (s->direct) return true;
  return write_temporary(f, s, exists ? &st : NULL) || DIAG(d, file_write, f->path, strerror(errno));
}

static bool folder_of(const char *path, struct stat *st) {
  char folder[PATH_MAX + 1];
  folder_name(path, folder);
  return stat(folder, st) == 0;
}

static const char *base_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* Would one take the place of the other? However the two paths are spelled. */
static bool same_place(const FileOut *f, const Staged *a, const FileOut *g, const Staged *b) {
  if (a->direct || b->direct) return strcmp(f->path, "-") == 0 && strcmp(g->path, "-") == 0;
  struct stat x, y;
  return strcmp(base_of(a->real), base_of(b->real)) == 0 && folder_of(a->real, &x) && folder_of(b->real, &y) &&
         x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool all_differ(const FileOut *files, const Staged *s, size_t count, Diag *d) {
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < i; k++)
      if (same_place(&files[i], &s[i], &files[k], &s[k])) return DIAG(d, file_twice, files[i].path);
  return true;
}

static bool settle(const FileOut *f, Staged *s, Diag *d) {
  if (strcmp(f->path, "-") == 0) return write_stdout(f->data, f->n, d);
  if (s->direct) return write_device(f->path, f->data, f->n, d);
  if (rename(s->temp, s->real) != 0) return DIAG(d, file_write, f->path, strerror(errno));
  s->temp[0] = '\0';
  return true;
}

bool file_write_all(const FileOut *files, size_t count, Diag *d) {
  Alloc alloc = d->message.alloc;
  size_t bytes = count * sizeof(Staged), staged = 0;
  Staged *s = alloc_new(&alloc, bytes + 1);
  if (!s) return DIAG0(d, nomem);
  bool ok = true;
  for (; ok && staged < count; staged++) ok = stage(&files[staged], &s[staged], d);
  ok = ok && all_differ(files, s, count, d);
  for (size_t i = 0; ok && i < count; i++)
    if (s[i].direct) ok = settle(&files[i], &s[i], d);
  for (size_t i = 0; ok && i < count; i++)
    if (!s[i].direct) ok = settle(&files[i], &s[i], d);
  for (size_t i = 0; i < staged; i++)
    if (s[i].temp[0]) unlink(s[i].temp);
  alloc_free(&alloc, s, bytes + 1);
  return ok;
}

bool file_write(const char *path, const void *data, size_t n, Diag *d) {
  FileOut f = {path, data, n};
  return file_write_all(&f, 1, d);
}

/* ---- what killed processes leave ------------------------------------------------------------------------------- */

/* A name that open_beside gives. */
static bool is_temporary(const char *name) {
  static const char digits[] = "0123456789";
  if (strncmp(name, ".nk-", 4) != 0) return false;
  const char *pid = name + 4, *dash = pid + strspn(pid, digits);
  if (dash == pid || *dash != '-') return false;
  const char *tail = dash + 1 + strspn(dash + 1, digits);
  return tail > dash + 1 && strcmp(tail, ".tmp") == 0;
}

void file_drop_stale(const char *path) {
  enum { STALE = 3600 };
  char folder[PATH_MAX + 1];
  struct stat now, st;
  folder_name(path, folder);
  int at = stat(path, &now) == 0 ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  DIR *dir = at >= 0 ? fdopendir(at) : NULL;
  for (const struct dirent *e; dir && (e = readdir(dir));)
    if (is_temporary(e->d_name) && fstatat(at, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
        st.st_mtime < now.st_mtime - STALE)
      unlinkat(at, e->d_name, 0);
  if (dir)
    closedir(dir);
  else if (at >= 0)
    close(at);
}
