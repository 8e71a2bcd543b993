/* tensorfile.h -- room lang: tensors in .npy, .npz and .safetensors files, with our dtypes. Plain C, no lua.h. */
#ifndef NK_TENSORFILE_H
#define NK_TENSORFILE_H
#include "sim.h"

typedef enum TensorFileKind { TF_unknown, TF_npy, TF_npz, TF_safetensors } TensorFileKind;
TensorFileKind tensorfile_kind(const char *path);     /* by the end of its name */
TensorFileKind tensorfile_kind_out(const char *path); /* of one to be written: standard output is .npy */

/* What to read. dtype DT_none: as the file says; 64-bit numbers need one, and raw bytes ("V2"), unless their size is
   that of `raw`, which they then are. Numbers are converted: to floats with rounding, to integers only when every value
   fits; raw bytes are taken as they are, and so are uint16 asked for as a 16-bit float and uint8 as an 8-bit one.
   member NULL: the only one. */
typedef struct MemberDtype {
  const char *member;
  DType dtype;
} MemberDtype;
typedef struct TensorAsk {
  const char *path, *member;
  DType dtype, raw;          /* raw: DT_none when nothing says what raw bytes are */
  const MemberDtype *dtypes; /* tensorfile_read_all: of single members; each must be there */
  uint32_t ndtypes;
} TensorAsk;
/* out->data: alloc, tensor_bytes(out) + 1 bytes. */
bool tensorfile_read(Alloc alloc, const TensorAsk *ask, SimTensor *out, Diag *d);
/* Every array of an .npz or .safetensors, in file order; ask->member is not looked at. The list and its names are the
   arena's, each tensor's data is tensorfile_read's. On failure the first out->n entries are there, for the caller to
   free. */
typedef struct TensorEntry {
  const char *name;
  SimTensor tensor;
} TensorEntry;
typedef struct TensorList {
  TensorEntry *entries;
  uint32_t n;
} TensorList;
bool tensorfile_read_all(Arena *a, Alloc alloc, const TensorAsk *ask, TensorList *out, Diag *d);
int64_t tensor_count(const SimTensor *t);
int64_t tensor_bytes(const SimTensor *t);
bool tensors_overlap(const SimTensor *a, const SimTensor *b); /* have memory in common */
void tensor_free(Alloc alloc, SimTensor *t);

/* Appends the bytes of a file. An .npy holds exactly one tensor; names are used by the others. */
typedef struct TensorNamed {
  const char *name;
  const SimTensor *tensor;
} TensorNamed;
bool tensorfile_write(const char *path, const TensorNamed *list, size_t n, Text *out, Diag *d);

/* cast.c: numbers of a file's type -> one of ours, contiguous. */
typedef struct CastSource {
  char kind;   /* 'f' 'i' 'u' 'b', 'V' raw, 'd' one of ours */
  int size;    /* bytes per element */
  DType dtype; /* the one of ours that it is; DT_none: none */
} CastSource;
bool tensor_cast(const CastSource *from, const void *src, const SimTensor *to, const char *what, Diag *d);
/* One number into element i; ints must fit exactly. False: it does not fit. */
bool tensor_put(DType dtype, void *data, int64_t i, double v);
double tensor_at(DType dtype, const void *data, int64_t i); /* not for packed types */
#endif
