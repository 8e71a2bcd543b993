/* npy.h -- room base: .npy and .npz as bytes: no dtypes of ours here, only descriptors such as "<f4". The caller maps
 * them. */
#ifndef NK_NPY_H
#define NK_NPY_H
#include <stdint.h>

#include "arena.h"
#include "diag.h"
#include "file.h"
#include "text.h"

#define NPY_MAX_RANK 32
typedef struct NpyArray {
  const char *name; /* member name in an .npz, without ".npy"; NULL in an .npy */
  char descr[32];   /* as written: "<f4", "|u1", "|b1", "<V2", "bfloat16" ... byte order kept */
  bool fortran_order;
  int32_t rank;
  int64_t shape[NPY_MAX_RANK];
  int64_t itemsize;
  const char *data; /* borrowed from the file's bytes (or inflated into the arena) */
  int64_t nbytes;
} NpyArray;

/* Strict readers over bytes; messages give the offset. Versions 1, 2, 3; pickles and
   structured dtypes refused; sizes overflow-checked; data must be exactly as long as shape says. Of a file with a
   source npy_parse reads the header, the caller what it takes of the data; of an archive all members are read and
   checked. */
bool npy_parse(const FileIn *in, NpyArray *out, Diag *d);
bool npz_parse(Arena *a, const FileIn *in, NpyArray **out, uint32_t *count, Diag *d);
/* For file_view: a pipe is read no further than its header says; a zip archive in a pipe begins with its first
   member. */
extern const FileKind npy_kind, npz_kind;
/* Writers append to `out`. C order. npz members are stored (not deflated), CRC-32 right, zip64 when needed, no time
 * stamps. */
void npy_write(Text *out, const NpyArray *array);
void npz_write(Text *out, const NpyArray *arrays, uint32_t count);
#endif
