/* zip.h -- room base: private; zip archives in memory, as .npz files use them (stored and deflated, zip64). */
#ifndef NK_ZIP_H
#define NK_ZIP_H
#include "arena.h"
#include "diag.h"
#include "file.h"
#include "text.h"

typedef struct ZipMember {
  const char *name; /* NUL-terminated UTF-8, in the arena */
  size_t name_len;
  bool deflated;
  uint32_t crc;
  size_t size, packed; /* bytes of the contents; bytes in the archive */
  size_t header, data; /* offsets of the local header and of the packed contents */
} ZipMember;

/* The members in the order of the central directory, all offsets checked, none overlapping another, no name twice. */
bool zip_list(Arena *a, const FileIn *in, ZipMember **out, uint32_t *count, Diag *d);
/* The beginning of the contents, at least ZIP_HEAD bytes or all; head->n is the whole size. What is stored is borrowed
   from the archive and has its source; data is NULL where only zip_data can tell. */
enum { ZIP_HEAD = (1 << 20) + 64 };
bool zip_head(Arena *a, const FileIn *in, const ZipMember *m, FileIn *head, Diag *d);
/* The contents, CRC checked: borrowed from the archive when stored, in the arena when deflated. */
bool zip_data(Arena *a, const FileIn *in, const ZipMember *m, const char **data, Diag *d);

typedef struct ZipWriter {
  Text *out;
  size_t start;   /* of the archive in out */
  Text central;   /* directory so far */
  uint64_t count; /* members so far */
  uint64_t limit; /* sizes and offsets from here on are written as zip64; tests lower it */
} ZipWriter;

void zip_begin(ZipWriter *w, Text *out);
/* A stored member made of two pieces. Names over 65535 bytes have no place in a zip: out->oom is set. */
void zip_add(ZipWriter *w, const char *name, const Text *head, const void *data, size_t n);
void zip_end(ZipWriter *w);
#endif
