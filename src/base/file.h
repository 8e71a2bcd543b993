/* file.h -- whole files in, whole files out. A written file appears complete or not at all (temporary name, rename). */
#ifndef NK_FILE_H
#define NK_FILE_H
#include "diag.h"
#include "text.h"

/* The bytes of a file that has been read, for the parsers of its format; what names it in messages. */
typedef struct FileIn {
  const char *what;
  const char *data;
  size_t n;
} FileIn;
/* Reads all of path ("-" is standard input) into out. Files over 2 GiB work. ERR_file_open, ERR_file_read. */
bool file_read(const char *path, Text *out, Diag *d);
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
