/* file_read.c -- room base: files in, whole or as far as their parser asks. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"

enum {
  PIECE = 1 << 16,
  MOST = 1 << 30, /* one read call moves at most about 2 GiB */
  SMALL = 1 << 20 /* a view of so many bytes reads them at once */
};

typedef struct Input {
  int fd;
  const char *name;
  size_t size; /* of a regular file; of a pipe or a file of /proc 0 */
} Input;

/* Appends until out has `end` bytes or the file ends. The size only says how much room to make at once. */
static bool read_until(const Input *in, size_t end, Text *out, Diag *d) {
  size_t hint = in->size > out->len ? in->size - out->len + 1 : PIECE;
  while (out->len < end) {
    size_t room = hint < end - out->len ? hint : end - out->len;
    char *p = text_reserve(out, room);
    if (!p) return DIAG0(d, nomem);
    ssize_t got = read(in->fd, p, room < MOST ? room : MOST);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return DIAG(d, file_read, in->name, strerror(errno));
    if (got == 0) break;
    text_commit(out, (size_t)got);
    hint = hint > (size_t)got ? hint - (size_t)got : PIECE;
  }
  return true;
}

/* A folder has no bytes and a device such as /dev/zero no end; a terminal and a pipe are typed or written to. */
static const char *unreadable(const struct stat *st, int fd, bool standard) {
  if (S_ISDIR(st->st_mode)) return "it is a folder";
  bool device = S_ISBLK(st->st_mode) || (S_ISCHR(st->st_mode) && !isatty(fd));
  return device && !standard ? "it is a device" : NULL;
}

static bool is_standard(const char *path) { return strcmp(path, "-") == 0; }

static bool open_input(const char *path, Input *in, Diag *d) {
  struct stat st;
  bool standard = is_standard(path);
  *in = (Input){.fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC),
                .name = standard ? "standard input" : path};
  if (in->fd < 0) return DIAG(d, file_open, path, strerror(errno));
  if (fstat(in->fd, &st) != 0) return true; /* reading says why */
  const char *why = unreadable(&st, in->fd, standard);
  if (S_ISREG(st.st_mode) && st.st_size > 0) in->size = (size_t)st.st_size;
  if (!why) return true;
  if (!standard) close(in->fd);
  return DIAG(d, file_open, in->name, why);
}

static void close_input(const Input *in, const char *path) {
  if (!is_standard(path)) close(in->fd);
}

static bool too_large(const char *name, const FileKind *kind, Diag *d) {
  Text why;
  text_init(&why, d->message.alloc);
  text_printf(&why, "it has more than %zu bytes, the most that %s", kind->most, kind->name);
  DIAG(d, file_open, name, text_str(&why));
  text_free(&why);
  return false;
}

bool file_is_small(const char *path, const FileKind *kind, Diag *d) {
  struct stat st;
  bool large = stat(path, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size > kind->most;
  return !large || too_large(path, kind, d);
}

/* A file that grows while it is read is a stream, too. */
static FileKind limited(const Input *in, const FileKind *kind) {
  size_t most = in->size > FILE_STREAM_MOST ? in->size : FILE_STREAM_MOST;
  return kind->most <= most ? *kind : (FileKind){"a pipe may give", most, kind->head};
}

/* Reads as far as the kind's head asks. *done: there is no more to read. */
static bool read_head(const Input *in, const FileKind *kind, Text *out, bool *done, Diag *d) {
  size_t before = out->len, asked = PIECE, end = 1;
  while (!*done && end > 0) {
    if (asked > kind->most && asked > PIECE) return too_large(in->name, kind, d);
    if (!read_until(in, before + asked, out, d)) return false;
    const FileIn first = {in->name, text_str(out) + before, out->len - before, NULL};
    bool whole = first.n < asked;
    end = 0;
    if (!kind->head(&first, whole, &end, d)) return false;
    *done = whole || (end > 0 && end < first.n);
    asked = end < SIZE_MAX ? end + 1 : end;
  }
  return true;
}

static bool read_all(const Input *in, const FileKind *asked, Text *out, Diag *d) {
  const FileKind kind = limited(in, asked);
  size_t before = out->len, end = kind.most < SIZE_MAX - before ? before + kind.most + 1 : SIZE_MAX;
  bool done = false;
  if (in->size > kind.most) return too_large(in->name, &kind, d);
  if (kind.head && !read_head(in, &kind, out, &done, d)) return false;
  if (!done && !read_until(in, end, out, d)) return false;
  return out->len - before <= kind.most || too_large(in->name, &kind, d);
}

static const FileKind any_kind = {"a file may have", SIZE_MAX, NULL};

bool file_read_as(const char *path, const FileKind *kind, Text *out, Diag *d) {
  Input in;
  if (!open_input(path, &in, d)) return false;
  size_t before = out->len;
  bool ok = read_all(&in, kind, out, d);
  close_input(&in, path);
  if (out->data) { /* an unfinished read leaves nothing behind */
    if (!ok) out->len = before;
    out->data[out->len] = '\0';
  }
  return ok;
}

bool file_read(const char *path, Text *out, Diag *d) { return file_read_as(path, &any_kind, out, d); }

/* ---- views ----------------------------------------------------------------------------------------------------- */

bool file_view(const char *path, const FileKind *kind, FileView *v, Diag *d) {
  Input in;
  v->source.fd = -1;
  if (!open_input(path, &in, d)) return false;
  bool whole = in.size <= SMALL || is_standard(path), ok = true;
  v->in = (FileIn){.what = path};
  if (whole) {
    ok = read_all(&in, in.size ? &any_kind : kind, &v->bytes, d); /* the parser sees all of a file at once */
    close_input(&in, path);
    v->in.n = v->bytes.len;
  } else {
    v->in.n = in.size;
    ok = text_reserve(&v->bytes, in.size) || DIAG0(d, nomem);
    v->source = (FileSource){in.fd, v->bytes.data};
    v->in.source = &v->source;
  }
  v->in.data = text_str(&v->bytes);
  if (!ok) file_view_close(v);
  return ok;
}

bool file_need(const FileIn *in, size_t at, size_t n, Diag *d) {
  if (!in->source) return true;
  char *to = in->source->bytes + (in->data - in->source->bytes) + at;
  off_t from = to - in->source->bytes;
  while (n > 0) {
    ssize_t got = pread(in->source->fd, to, n < MOST ? n : MOST, from);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return DIAG(d, file_read, in->what, strerror(errno));
    if (got == 0) return DIAG(d, file_read, in->what, "it became shorter while it was read");
    to += got;
    from += got;
    n -= (size_t)got;
  }
  return true;
}

void file_view_close(FileView *v) {
  if (v->source.fd >= 0) close(v->source.fd);
  v->source.fd = -1;
  text_free(&v->bytes);
}
