/* file.h -- room base: files in, whole files out. A written file appears complete or not at all (temporary name,
 * rename). */
#ifndef NK_FILE_H
#define NK_FILE_H
#include "diag.h"
#include "text.h"

/* Where the bytes of a view come from. */
typedef struct FileSource {
  int fd;      /* -1: none */
  char *bytes; /* of the whole file, those that were asked for */
} FileSource;
/* The bytes of a file, for the parsers of its format; what names it in messages. With a source, data[at..at+n) is there
   after file_need(in, at, n); a part of a file has the source of the whole. */
typedef struct FileIn {
  const char *what;
  const char *data;
  size_t n;
  const FileSource *source; /* NULL: all of data is there */
} FileIn;
/* Reads all of path ("-" is standard input) into out. Files over 2 GiB work. ERR_file_open, ERR_file_read. */
bool file_read(const char *path, Text *out, Diag *d);
/* What a file is read as. head, unless NULL, is shown the first 64 KiB before the rest is read (whole: there is no
   rest) and may refuse it. It may say in *end, which is 0, how many bytes there must be, or at least: so many and one
   more are read, and it is asked again, until they go beyond the end. */
typedef struct FileKind {
  const char *name; /* who has a limit: "a script may have" */
  size_t most;      /* bytes; SIZE_MAX: any number */
  bool (*head)(const FileIn *first, bool whole, size_t *end, Diag *d);
} FileKind;
/* What tells no size before it ends, such as a pipe, may have no end: at most so many bytes of it are read. */
enum { FILE_STREAM_MOST = 1 << 30 };
/* As file_read; ERR_file_open when there are too many bytes. */
bool file_read_as(const char *path, const FileKind *kind, Text *out, Diag *d);
/* For files that others will read: false and ERR_file_open when path is a regular file of too many bytes. */
bool file_is_small(const char *path, const FileKind *kind, Diag *d);
/* A file of which only that is read what its parser asks for, so that a wrong header of a large one is found at once.
   Small files and pipes are read whole, pipes as their kind says. bytes: initialised by the caller. Not to be moved
   while it is open. */
typedef struct FileView {
  FileIn in;
  FileSource source;
  Text bytes;
} FileView;
bool file_view(const char *path, const FileKind *kind, FileView *v, Diag *d);
void file_view_close(FileView *v); /* frees bytes */
/* data[at..at+n) of a file, within it. ERR_file_read when the file has become shorter. */
bool file_need(const FileIn *in, size_t at, size_t n, Diag *d);
/* Could a file be written there? Before long work whose result would be lost. ERR_file_write. */
bool file_writable(const char *path, Diag *d);
/* Writes n bytes to path through a temporary file in the same folder; "-" is standard output. ERR_file_write. */
bool file_write(const char *path, const void *data, size_t n, Diag *d);

typedef struct FileOut {
  const char *path;
  const void *data;
  size_t n;
} FileOut;
/* Several files, all or none: each is complete under a temporary name before the first is renamed. "-" and devices,
 * which may refuse, are written before that. */
bool file_write_all(const FileOut *files, size_t count, Diag *d);
/* Removes the temporary files that killed processes left in the folder of path, a file just written: those an hour
   older than it, by the clock of its file system. One that is still being written is younger. */
void file_drop_stale(const char *path);
#endif
