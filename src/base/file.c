/* file.c -- base room: whole files in and out through file descriptors. */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1 << 16, MOST = 1 << 30 }; /* one read or write call moves at most about 2 GiB */

/* Appends until end of file. The size only says how much room to make at once: a pipe or /proc file has none. */
static bool read_all(int fd, const char *path, Text *out, Diag *d) {
  struct stat st;
  size_t hint = PIECE;
  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) hint = (size_t)st.st_size + 1;
  for (;;) {
    char *p = text_reserve(out, hint);
    if (!p) return DIAG0(d, nomem);
    ssize_t got = read(fd, p, hint < MOST ? hint : MOST);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return DIAG(d, file_read, path, strerror(errno));
    if (got == 0) return true;
    text_commit(out, (size_t)got);
    hint = hint > (size_t)got ? hint - (size_t)got : PIECE;
  }
}

bool file_read(const char *path, Text *out, Diag *d) {
  bool standard = strcmp(path, "-") == 0;
  int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return DIAG(d, file_open, path, strerror(errno));
  size_t before = out->len;
  bool ok = read_all(fd, standard ? "standard input" : path, out, d);
  if (!standard) close(fd);
  if (out->data) { /* an unfinished read leaves nothing behind */
    if (!ok) out->len = before;
    out->data[out->len] = '\0';
  }
  return ok;
}

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

/* old: the file that is replaced, or NULL. */
static bool replace(const char *path, const struct stat *old, const void *data, size_t n) {
  char temp[PATH_MAX];
  int fd = open_beside(path, temp);
  if (fd < 0) return false;
  bool ok = write_all(fd, data, n);
  if (ok && old) ok = fchmod(fd, old->st_mode & 0777) == 0;
  int fault = errno;
  if (close(fd) != 0 && ok) {
    ok = false;
    fault = errno;
  }
  if (ok && rename(temp, path) != 0) {
    ok = false;
    fault = errno;
  }
  if (!ok) unlink(temp);
  errno = fault;
  return ok;
}

bool file_write(const char *path, const void *data, size_t n, Diag *d) {
  if (strcmp(path, "-") == 0) return write_stdout(data, n, d);
  struct stat st;
  bool exists = stat(path, &st) == 0;
  if (exists && S_ISDIR(st.st_mode)) return DIAG(d, file_write, path, strerror(EISDIR));
  if (exists && !S_ISREG(st.st_mode)) return write_device(path, data, n, d);
  /* A read-only file stays as it is, though its folder would let us rename over it. */
  if (exists && access(path, W_OK) != 0) return DIAG(d, file_write, path, strerror(errno));
  char real[PATH_MAX]; /* a symbolic link keeps pointing where it did */
  if (exists && !realpath(path, real)) return DIAG(d, file_write, path, strerror(errno));
  return replace(exists ? real : path, exists ? &st : NULL, data, n) || DIAG(d, file_write, path, strerror(errno));
}
