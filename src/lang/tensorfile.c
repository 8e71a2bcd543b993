/* tensorfile.c -- room lang: reading and writing tensors. The formats are base's; which dtype an element type is, is
 * decided here. */
#include "tensorfile.h"

#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "npy.h"
#include "safetensors.h"

TensorFileKind tensorfile_kind(const char *path) {
  static const struct {
    const char *end;
    TensorFileKind kind;
  } ends[] = {{".npy", TF_npy}, {".npz", TF_npz}, {".safetensors", TF_safetensors}};
  size_t n = strlen(path);
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    size_t k = strlen(ends[i].end);
    if (n > k && strcmp(path + n - k, ends[i].end) == 0) return ends[i].kind;
  }
  return TF_unknown;
}

int64_t tensor_count(const SimTensor *t) {
  int64_t n = 1;
  for (int i = 0; i < t->rank; i++) n *= t->shape[i];
  return n;
}

int64_t tensor_bytes(const SimTensor *t) { return tensor_count(t) * dtype_bytes(t->dtype); }

bool tensors_overlap(const SimTensor *a, const SimTensor *b) {
  uintptr_t x = (uintptr_t)a->data, y = (uintptr_t)b->data;
  return x < y + (uintptr_t)tensor_bytes(b) && y < x + (uintptr_t)tensor_bytes(a);
}

void tensor_free(Alloc alloc, SimTensor *t) {
  if (t->data) alloc_free(&alloc, t->data, (size_t)tensor_bytes(t) + 1);
  t->data = NULL;
}

/* ---- what is in the file ------------------------------------------------------------------------------------- */

typedef struct Found { /* one array, as the file has it */
  CastSource from;
  bool swapped, fortran;
  int rank;
  int64_t shape[NPY_MAX_RANK];
  const char *data;
  int64_t nbytes;
  bool unread; /* data is in the file and has to be asked for */
} Found;

typedef struct Reading {
  const TensorAsk *ask;
  Arena *a;
  FileIn in;
  Diag *d;
} Reading;

/* NumPy's one-letter kinds; float8_e5m2 is saved as f1 by ml_dtypes. */
static CastSource of_letters(char kind, int size) {
  CastSource s = {kind, size, DT_none};
  static const struct {
    char kind;
    int size;
    DType dtype;
  } ours[] = {{'f', 4, DT_float32}, {'f', 2, DT_float16}, {'f', 1, DT_float8_e5m2}, {'i', 1, DT_int8},
              {'i', 2, DT_int16},   {'i', 4, DT_int32},   {'u', 1, DT_uint8},       {'u', 2, DT_uint16},
              {'u', 4, DT_uint32},  {'b', 1, DT_bool_}};
  for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
    if (ours[i].kind == kind && ours[i].size == size) s.dtype = ours[i].dtype;
  bool wide = size == 8 && strchr("fiu", kind);
  if (s.dtype == DT_none && !wide && kind != 'V') s.kind = '\0';
  return s;
}

/* "<f4", "|u1", "bfloat16" */
static bool of_descr(const Reading *r, const char *descr, Found *f) {
  DType d = dtype_parse(descr, strlen(descr));
  if (d != DT_none) {
    f->from = (CastSource){'d', (int)dtype_bytes(d), d};
    return true;
  }
  const char *p = descr + (strchr("<>|=", descr[0]) != NULL);
  f->from = of_letters(p[0], atoi(p + 1));
  f->swapped = descr[0] == '>';
  return f->from.kind || DIAG(r->d, file_dtype, r->ask->path, descr);
}

/* what: "array" or "tensor"; n: how many there are. */
static bool no_member(const Reading *r, const char *what, uint32_t n, const Text *names) {
  const TensorAsk *ask = r->ask;
  if (n == 0) return DIAG(r->d, file_empty, ask->path, what);
  return ask->member ? DIAG(r->d, file_member, ask->path, what, ask->member, text_str(names))
                     : DIAG(r->d, file_several, ask->path, what, text_str(names));
}

static bool find_npz(const Reading *r, const NpyArray **out) {
  NpyArray *list;
  uint32_t n;
  Text names;
  *out = NULL;
  if (!npz_parse(r->a, &r->in, &list, &n, r->d)) return false;
  text_init(&names, r->a->alloc);
  for (uint32_t i = 0; i < n; i++) {
    if (r->ask->member ? strcmp(list[i].name, r->ask->member) == 0 : n == 1) *out = &list[i];
    text_printf(&names, "%s%s", i ? ", " : "", list[i].name);
  }
  if (!*out) no_member(r, "array", n, &names);
  text_free(&names);
  return *out != NULL;
}

static bool found_numpy(const Reading *r, const NpyArray *a, Found *f) {
  if (!of_descr(r, a->descr, f)) return false;
  f->fortran = a->fortran_order;
  f->rank = a->rank;
  memcpy(f->shape, a->shape, sizeof f->shape);
  f->data = a->data;
  f->nbytes = a->nbytes;
  f->unread = a->name == NULL; /* an archive's members are read as they are checked */
  return true;
}

static bool find_numpy(const Reading *r, Found *f) {
  NpyArray one;
  const NpyArray *a = &one;
  if (tensorfile_kind(r->ask->path) == TF_npz) return find_npz(r, &a) && found_numpy(r, a, f);
  if (r->ask->member) return DIAG(r->d, file_member, r->ask->path, "array", r->ask->member, "an .npy has one, unnamed");
  return npy_parse(&r->in, &one, r->d) && found_numpy(r, a, f);
}

static bool of_safe_name(const Reading *r, const char *name, Found *f) {
  static const struct {
    const char *name;
    char kind;
  } wide[] = {{"F64", 'f'}, {"I64", 'i'}, {"U64", 'u'}};
  for (int d = 1; d < DT_count; d++) {
    if (!*dtype_info[d].safetensors || strcmp(dtype_info[d].safetensors, name) != 0) continue;
    f->from = (CastSource){name[0] == 'U' ? 'u' : 'd', dtype_info[d].bytes, (DType)d};
    return true;
  }
  for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
    if (strcmp(wide[i].name, name) == 0) return f->from = (CastSource){wide[i].kind, 8, DT_none}, true;
  return DIAG(r->d, file_dtype, r->ask->path, name);
}

static bool found_safetensor(const Reading *r, const SafeTensor *t, Found *f) {
  if (!of_safe_name(r, t->dtype, f)) return false;
  f->rank = t->rank;
  memcpy(f->shape, t->shape, sizeof f->shape);
  f->data = t->data;
  f->nbytes = t->nbytes;
  f->unread = true;
  return true;
}

static bool find_safetensor(const Reading *r, Found *f) {
  SafeTensor *list, *found = NULL;
  uint32_t n;
  Text names;
  if (!safetensors_parse(r->a, &r->in, &list, &n, r->d)) return false;
  text_init(&names, r->a->alloc);
  for (uint32_t i = 0; i < n; i++) {
    if (r->ask->member ? strcmp(list[i].name, r->ask->member) == 0 : n == 1) found = &list[i];
    text_printf(&names, "%s%s", i ? ", " : "", list[i].name);
  }
  if (!found) no_member(r, "tensor", n, &names);
  text_free(&names);
  return found && found_safetensor(r, found, f);
}

/* ---- into our form ------------------------------------------------------------------------------------------- */

/* The dtype of the result, or what to ask for instead. */
static bool choose_dtype(const Reading *r, const Found *f, DType *out) {
  const TensorAsk *ask = r->ask;
  *out = ask->dtype != DT_none ? ask->dtype : f->from.dtype;
  if (*out != DT_none) return true;
  bool known = f->from.kind == 'V' && ask->raw != DT_none;
  if (known && f->from.size == dtype_info[ask->raw].bytes) return *out = ask->raw, true;
  const char *sep = ask->member || tensorfile_kind(ask->path) != TF_npy ? ":" : "",
             *member = ask->member ? ask->member : "";
  if (f->from.kind == 'V') {
    const char *such = f->from.size == 2 ? "bf16" : f->from.size == 1 ? "f8e4m3fn" : "f32";
    return DIAG(r->d, file_raw, ask->path, f->from.size, ask->path, sep, member, such);
  }
  const char *word = f->from.kind == 'f' ? "float64" : f->from.kind == 'i' ? "int64" : "uint64";
  const char *such = f->from.kind == 'f' ? "f32" : f->from.kind == 'i' ? "i32" : "u32";
  return DIAG(r->d, file_64bit, ask->path, word, ask->path, sep, member, such);
}

static void swap_bytes(char *p, int64_t n, int size) {
  for (int64_t i = 0; i < n; i++, p += size)
    for (int k = 0; k < size / 2; k++) {
      char c = p[k];
      p[k] = p[size - 1 - k];
      p[size - 1 - k] = c;
    }
}

/* Column-major -> row-major. */
static void reorder(const Found *f, char *to) {
  int64_t index[NPY_MAX_RANK] = {0}, stride[NPY_MAX_RANK], n = f->nbytes / f->from.size, at = 0, step = 1;
  for (int k = 0; k < f->rank; k++) {
    stride[k] = step;
    step *= f->shape[k];
  }
  for (int64_t i = 0; i < n; i++) {
    memcpy(to + i * f->from.size, f->data + at * f->from.size, (size_t)f->from.size);
    for (int k = f->rank - 1; k >= 0; k--) {
      at += stride[k];
      if (++index[k] < f->shape[k]) break;
      at -= stride[k] * f->shape[k];
      index[k] = 0;
    }
  }
}

static bool straighten(const Reading *r, Found *f) {
  if (!f->swapped && !f->fortran) return true;
  char *copy = arena_alloc(r->a, (size_t)f->nbytes);
  if (!copy) return DIAG0(r->d, nomem);
  if (f->fortran) {
    reorder(f, copy);
  } else {
    memcpy(copy, f->data, (size_t)f->nbytes);
  }
  if (f->swapped) swap_bytes(copy, f->nbytes / f->from.size, f->from.size);
  f->data = copy;
  return true;
}

static bool take(Reading *r, Alloc alloc, Found *f, SimTensor *out) {
  *out = (SimTensor){.rank = f->rank};
  if (f->rank > IR_MAX_RANK) return DIAG(r->d, file_shape, r->ask->path, "a tensor has at most 8 dimensions");
  for (int i = 0; i < f->rank; i++)
    if (f->shape[i] < 1) return DIAG(r->d, file_shape, r->ask->path, "a dimension is 0; sizes are at least 1");
  if (!choose_dtype(r, f, &out->dtype)) return false;
  if (f->unread && !file_need(&r->in, (size_t)(f->data - r->in.data), (size_t)f->nbytes, r->d)) return false;
  if (!straighten(r, f)) return false;
  memcpy(out->shape, f->shape, sizeof out->shape);
  out->data = alloc_new(&alloc, (size_t)tensor_bytes(out) + 1);
  if (!out->data) return DIAG0(r->d, nomem);
  if (tensor_cast(&f->from, f->data, out, r->ask->path, r->d)) return true;
  tensor_free(alloc, out);
  return false;
}

static const FileKind *const kinds[] = {
    [TF_npy] = &npy_kind, [TF_npz] = &npz_kind, [TF_safetensors] = &safetensors_kind};

bool tensorfile_read(Alloc alloc, const TensorAsk *ask, SimTensor *out, Diag *d) {
  TensorFileKind kind = tensorfile_kind(ask->path);
  FileView file;
  Arena a;
  *out = (SimTensor){.rank = 0};
  if (kind == TF_unknown) return DIAG(d, file_kind, ask->path);
  text_init(&file.bytes, alloc);
  if (!file_view(ask->path, kinds[kind], &file, d)) return false;
  arena_init(&a, alloc);
  Reading r = {ask, &a, file.in, d};
  Found f = {.rank = 0};
  bool ok = (kind == TF_safetensors ? find_safetensor(&r, &f) : find_numpy(&r, &f)) && take(&r, alloc, &f, out);
  arena_free(&a);
  file_view_close(&file);
  return ok;
}

/* The i-th array of a parsed file, named, into its entry. */
static bool take_entry(Reading *r, Alloc alloc, Found *f, TensorEntry *e) {
  TensorAsk ask = *r->ask;
  Reading named = *r;
  ask.member = e->name;
  for (uint32_t i = 0; i < ask.ndtypes; i++)
    if (strcmp(ask.dtypes[i].member, e->name) == 0) ask.dtype = ask.dtypes[i].dtype;
  named.ask = &ask;
  return take(&named, alloc, f, &e->tensor);
}

static bool read_npz(Reading *r, Alloc alloc, TensorEntry **out, uint32_t *n) {
  NpyArray *list;
  uint32_t count;
  if (!npz_parse(r->a, &r->in, &list, &count, r->d)) return false;
  *out = arena_newn(r->a, TensorEntry, count);
  if (!*out) return DIAG0(r->d, nomem);
  for (; *n < count; ++*n) {
    Found f = {.rank = 0};
    (*out)[*n] = (TensorEntry){.name = list[*n].name};
    if (!found_numpy(r, &list[*n], &f) || !take_entry(r, alloc, &f, &(*out)[*n])) return false;
  }
  return true;
}

static bool read_safetensors(Reading *r, Alloc alloc, TensorEntry **out, uint32_t *n) {
  SafeTensor *list;
  uint32_t count;
  if (!safetensors_parse(r->a, &r->in, &list, &count, r->d)) return false;
  *out = arena_newn(r->a, TensorEntry, count);
  if (!*out) return DIAG0(r->d, nomem);
  for (; *n < count; ++*n) {
    Found f = {.rank = 0};
    (*out)[*n] = (TensorEntry){.name = list[*n].name};
    if (!found_safetensor(r, &list[*n], &f) || !take_entry(r, alloc, &f, &(*out)[*n])) return false;
  }
  return true;
}

/* A dtype for a member that is not there was meant for another. */
static bool all_found(const Reading *r, const TensorList *list) {
  for (uint32_t i = 0; i < r->ask->ndtypes; i++) {
    uint32_t k = 0;
    while (k < list->n && strcmp(list->entries[k].name, r->ask->dtypes[i].member) != 0) k++;
    if (k < list->n) continue;
    TensorAsk ask = {.member = r->ask->dtypes[i].member, .path = r->ask->path};
    Reading asked = *r;
    Text names;
    text_init(&names, r->a->alloc);
    for (k = 0; k < list->n; k++) text_printf(&names, "%s%s", k ? ", " : "", list->entries[k].name);
    asked.ask = &ask;
    no_member(&asked, "array", list->n, &names);
    text_free(&names);
    return false;
  }
  return true;
}

bool tensorfile_read_all(Arena *a, Alloc alloc, const TensorAsk *ask, TensorList *out, Diag *d) {
  TensorFileKind kind = tensorfile_kind(ask->path);
  FileView file;
  *out = (TensorList){NULL, 0};
  if (kind != TF_npz && kind != TF_safetensors) return DIAG(d, file_kind, ask->path);
  text_init(&file.bytes, alloc);
  if (!file_view(ask->path, kinds[kind], &file, d)) return false;
  Reading r = {ask, a, file.in, d};
  bool ok = (kind == TF_npz ? read_npz : read_safetensors)(&r, alloc, &out->entries, &out->n) && all_found(&r, out);
  file_view_close(&file);
  return ok;
}

/* ---- writing ------------------------------------------------------------------------------------------------- */

static NpyArray npy_of(const TensorNamed *named) {
  const SimTensor *t = named->tensor;
  NpyArray array = {.name = named->name, .rank = t->rank, .data = t->data, .nbytes = tensor_bytes(t)};
  strcpy(array.descr, dtype_info[t->dtype].npy);
  memcpy(array.shape, t->shape, sizeof t->shape);
  array.itemsize = dtype_bytes(t->dtype);
  return array;
}

static bool write_npz(const TensorNamed *list, size_t n, Text *out, Arena *a) {
  NpyArray *arrays = arena_newn(a, NpyArray, n);
  for (size_t i = 0; arrays && i < n; i++) arrays[i] = npy_of(&list[i]);
  if (arrays) npz_write(out, arrays, (uint32_t)n);
  return arrays != NULL;
}

static bool write_safetensors(const TensorNamed *list, size_t n, Text *out, Arena *a) {
  SafeTensor *tensors = arena_newn(a, SafeTensor, n);
  for (size_t i = 0; tensors && i < n; i++) {
    const SimTensor *t = list[i].tensor;
    tensors[i] = (SafeTensor){.name = list[i].name, .rank = t->rank, .data = t->data, .nbytes = tensor_bytes(t)};
    strcpy(tensors[i].dtype, dtype_info[t->dtype].safetensors);
    memcpy(tensors[i].shape, t->shape, sizeof t->shape);
  }
  if (tensors) safetensors_write(out, tensors, (uint32_t)n);
  return tensors != NULL;
}

/* Does the format have a place for the dtypes and names? */
static bool can_hold(const char *path, TensorFileKind kind, const TensorNamed *list, size_t n, Diag *d) {
  const int longest = UINT16_MAX - (int)strlen(".npy");
  char clip[TEXT_CLIP + 4];
  for (size_t i = 0; i < n; i++) {
    DType dtype = list[i].tensor->dtype;
    if (kind == TF_safetensors && !*dtype_info[dtype].safetensors)
      return DIAG(d, file_no_name, path, list[i].name, dtype_name(dtype));
    size_t len = kind == TF_npz ? strlen(list[i].name) : 0;
    if (len > (size_t)longest)
      return DIAG(d, file_long_name, path, text_clip(clip, list[i].name, len), (long long)len, longest);
  }
  return true;
}

TensorFileKind tensorfile_kind_out(const char *path) { return strcmp(path, "-") == 0 ? TF_npy : tensorfile_kind(path); }

bool tensorfile_write(const char *path, const TensorNamed *list, size_t n, Text *out, Diag *d) {
  TensorFileKind kind = tensorfile_kind_out(path);
  if (kind == TF_unknown) return DIAG(d, file_kind, path);
  if (kind == TF_npy && n != 1) return DIAG(d, file_one, path, (long long)n);
  if (!can_hold(path, kind, list, n, d)) return false;
  Arena a;
  arena_init(&a, out->alloc);
  bool ok = true;
  if (kind == TF_npy) {
    const NpyArray array = npy_of(&list[0]);
    npy_write(out, &array);
  } else {
    ok = kind == TF_npz ? write_npz(list, n, out, &a) : write_safetensors(list, n, out, &a);
  }
  arena_free(&a);
  return (ok && !out->oom) || DIAG0(d, nomem);
}
