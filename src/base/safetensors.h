/* safetensors.h -- room base: .safetensors as bytes: dtype names as written ("BF16"), no dtypes of ours. Strict: header
   at most 100 MB of JSON, offsets ascending, no holes, no overlap, the whole buffer covered, sizes overflow-checked,
   duplicates refused. */
#ifndef NK_SAFETENSORS_H
#define NK_SAFETENSORS_H
#include "npy.h"

typedef struct SafeTensor {
  const char *name;
  char dtype[16]; /* "F32", "BF16", "F8_E4M3", "I64" ... */
  int32_t rank;
  int64_t shape[NPY_MAX_RANK];
  const char *data; /* borrowed from the file's bytes */
  int64_t nbytes;
} SafeTensor;

/* In file order. Of a file with a source the header is read, the caller reads what it takes of the data. */
bool safetensors_parse(Arena *a, const FileIn *in, SafeTensor **out, uint32_t *count, Diag *d);
extern const FileKind safetensors_kind; /* for file_view, as npy_kind */
/* Appends a file: header padded to 8 bytes, tensors in the order given. */
void safetensors_write(Text *out, const SafeTensor *tensors, uint32_t count);
#endif
