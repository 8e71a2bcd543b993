/* tensor.c -- room api: tensors of the host, and tensor files. */
#include "api.h"
#include "file.h"

void nkl_tensor_desc_init(nkl_tensor_desc *d) { API_SET(d, (nkl_tensor_desc){.struct_size = sizeof *d}); }

bool api_tensor_shape(const nkl_tensor_desc *d, SimTensor *out, const char **why) {
  *out = (SimTensor){.rank = d->rank};
  *why = "dtype is not one";
  if (!api_dtype(d->dtype)) return false;
  out->dtype = (DType)d->dtype;
  *why = "rank is not 0 to 8";
  if (d->rank < 0 || d->rank > NKL_MAX_RANK) return false;
  int64_t bytes = dtype_bytes(out->dtype);
  for (int i = 0; i < d->rank; i++) {
    *why = "a size is less than 1";
    if (d->shape[i] < 1) return false;
    *why = "the size in bytes does not fit 62 bits";
    if (__builtin_mul_overflow(bytes, d->shape[i], &bytes) || bytes > INT64_MAX / 2) return false;
    out->shape[i] = d->shape[i];
  }
  *why = "";
  return true;
}

nkl_tensor *api_tensor(Alloc alloc, SimTensor *t) {
  nkl_tensor *n = alloc_new(&alloc, sizeof *n);
  if (!n) {
    tensor_free(alloc, t);
    return NULL;
  }
  *n = (nkl_tensor){.alloc = alloc, .t = *t};
  atomic_init(&n->count, 1);
  t->data = NULL;
  return n;
}

nkl_tensor *nkl_tensor_retain(nkl_tensor *t) {
  if (t) atomic_fetch_add(&t->count, 1);
  return t;
}

void nkl_tensor_release(nkl_tensor *t) {
  if (!t || atomic_fetch_sub(&t->count, 1) != 1) return;
  Alloc alloc = t->alloc;
  if (!t->borrowed) {
    tensor_free(alloc, &t->t);
  } else if (t->release) {
    t->release(t->ud, t->t.data);
  }
  alloc_free(&alloc, t, sizeof *t);
}

static void contiguous(const SimTensor *t, int64_t strides[NKL_MAX_RANK]) {
  int64_t step = dtype_bytes(t->dtype);
  for (int i = t->rank - 1; i >= 0; i--) {
    strides[i] = step;
    step *= t->shape[i];
  }
}

void nkl_tensor_describe(const nkl_tensor *t, nkl_tensor_desc *out) {
  nkl_tensor_desc_init(out);
  if (!t || !out) return;
  out->dtype = (nkl_dtype)t->t.dtype;
  out->rank = t->t.rank;
  memcpy(out->shape, t->t.shape, sizeof out->shape);
  contiguous(&t->t, out->byte_strides);
  out->data = t->t.data;
  out->nbytes = (size_t)tensor_bytes(&t->t);
}

/* ---- making -------------------------------------------------------------------------------------------------- */

/* All strides 0, or those of a C-contiguous array (axes of size 1 may have any). */
static bool is_contiguous(const nkl_tensor_desc *d, const SimTensor *t) {
  int64_t want[NKL_MAX_RANK];
  bool none = true;
  for (int i = 0; i < t->rank; i++) none = none && d->byte_strides[i] == 0;
  contiguous(t, want);
  for (int i = 0; i < t->rank && !none; i++)
    if (t->shape[i] > 1 && d->byte_strides[i] != want[i]) return false;
  return true;
}

/* The bytes between the first and the last that its strides reach; false: they cannot be counted, or are more than n.
 */
static bool reaches(const nkl_tensor_desc *d, const SimTensor *t, size_t n) {
  int64_t all = dtype_bytes(t->dtype), step;
  for (int i = 0; i < t->rank; i++) {
    if (__builtin_mul_overflow(d->byte_strides[i], t->shape[i] - 1, &step) || step == INT64_MIN) return false;
    if (__builtin_mul_overflow(d->byte_strides[i], t->shape[i], &(int64_t){0})) return false; /* gather's way back */
    if (__builtin_add_overflow(all, step < 0 ? -step : step, &all)) return false;
  }
  return (uint64_t)all <= n;
}

bool api_tensor_lent(const nkl_tensor_desc *d, const SimTensor *t, const char **why) {
  *why = "data is NULL";
  if (!d->data) return false;
  *why = "the data is not C-contiguous; nkl_tensor_new copies such data";
  if (!is_contiguous(d, t)) return false;
  *why = "nbytes is less than shape and dtype need";
  if (d->nbytes < (size_t)tensor_bytes(t)) return false;
  *why = "the data is not aligned to the size of its elements; nkl_tensor_new copies such data";
  return (uintptr_t)d->data % (uintptr_t)dtype_bytes(t->dtype) == 0;
}

static void gather(const nkl_tensor_desc *d, SimTensor *t) {
  int64_t index[NKL_MAX_RANK] = {0}, n = tensor_count(t);
  size_t size = (size_t)dtype_bytes(t->dtype);
  const char *from = d->data;
  char *to = t->data;
  for (int64_t i = 0; i < n; i++, to += size) {
    memcpy(to, from, size);
    for (int k = t->rank - 1; k >= 0; k--) {
      from += d->byte_strides[k];
      if (++index[k] < t->shape[k]) break;
      from -= d->byte_strides[k] * t->shape[k];
      index[k] = 0;
    }
  }
}

typedef struct Checked {
  nkl_tensor_desc desc;
  SimTensor t;
  bool contiguous;
} Checked;

static bool check(nkl_ctx *c, const char *func, const nkl_tensor_desc *desc, Checked *out) {
  const char *why;
  nkl_tensor_desc_init(&out->desc);
  if (!API_STRUCT(func, nkl_tensor_desc, &out->desc, desc, &c->diag)) return false;
  if (!api_tensor_shape(&out->desc, &out->t, &why)) return DIAG(&c->diag, api_use, func, why);
  out->contiguous = is_contiguous(&out->desc, &out->t);
  if (!out->desc.data) return true;
  if (out->contiguous ? out->desc.nbytes >= (size_t)tensor_bytes(&out->t)
                      : reaches(&out->desc, &out->t, out->desc.nbytes))
    return true;
  return DIAG(&c->diag, api_use, func,
              out->contiguous ? "nbytes is less than shape and dtype need"
                              : "nbytes is less than the strides reach, from the first byte to the last");
}

nkl_status nkl_tensor_new(nkl_ctx *c, const nkl_tensor_desc *desc, nkl_tensor **out) {
  Checked d;
  API_SET(out, NULL);
  API_BEGIN(c, desc, out);
  if (!check(c, "nkl_tensor_new", desc, &d)) return api_fail(c);
  size_t n = (size_t)tensor_bytes(&d.t);
  d.t.data = alloc_new(&c->alloc, n + 1);
  if (!d.t.data) return API_NOMEM(c);
  if (!d.desc.data) {
    memset(d.t.data, 0, n);
  } else if (d.contiguous) {
    memcpy(d.t.data, d.desc.data, n);
  } else {
    gather(&d.desc, &d.t);
  }
  *out = api_tensor(c->alloc, &d.t);
  return *out ? NKL_OK : API_NOMEM(c);
}

nkl_status nkl_tensor_wrap(nkl_ctx *c, const nkl_tensor_desc *desc, void (*release)(void *ud, void *data), void *ud,
                           nkl_tensor **out) {
  Checked d;
  const char *why;
  API_SET(out, NULL);
  API_BEGIN(c, desc, out);
  if (!check(c, "nkl_tensor_wrap", desc, &d)) return api_fail(c);
  if (!api_tensor_lent(&d.desc, &d.t, &why)) return API_FAIL(c, api_use, "nkl_tensor_wrap", why);
  d.t.data = NULL;
  nkl_tensor *t = api_tensor(c->alloc, &d.t);
  if (!t) return API_NOMEM(c);
  t->t.data = d.desc.data;
  t->borrowed = true;
  t->release = release;
  t->ud = ud;
  *out = t;
  return NKL_OK;
}

/* ---- files --------------------------------------------------------------------------------------------------- */

nkl_status nkl_tensor_load(nkl_ctx *c, const char *path, const char *member, nkl_dtype dtype, nkl_tensor **out) {
  TensorAsk ask = {.path = path, .member = member, .dtype = (DType)dtype};
  SimTensor t;
  API_SET(out, NULL);
  API_BEGIN(c, path, out);
  if (dtype != NKL_INVALID && !api_dtype(dtype)) return API_FAIL(c, api_use, "nkl_tensor_load", "dtype is not one");
  if (!tensorfile_read(c->alloc, &ask, &t, &c->diag)) return api_fail(c);
  *out = api_tensor(c->alloc, &t);
  return *out ? NKL_OK : API_NOMEM(c);
}

nkl_status nkl_tensor_load_word(nkl_ctx *c, const char *word, nkl_dtype raw, nkl_tensor **out) {
  HostValue v;
  SimTensor t;
  Arena a;
  API_SET(out, NULL);
  API_ENTER(c, word, out);
  if (raw < NKL_INVALID || (int)raw >= DT_count)
    return API_FAIL(c, api_use, "nkl_tensor_load_word", "raw is not a dtype");
  arena_init(&a, c->alloc);
  HostWord w = {word, strlen(word), "file"};
  bool ok = host_value(c->host, &w, &a, &v, &c->diag);
  if (ok ? v.kind != HV_FILE : c->diag.id == ERR_value) {
    diag_clear(&c->diag);
    ok = DIAG(&c->diag, file_kind, word);
  }
  if (ok) {
    TensorAsk ask = {.path = v.path, .member = v.member, .dtype = v.dtype, .raw = (DType)raw};
    ok = tensorfile_read(c->alloc, &ask, &t, &c->diag);
  }
  arena_free(&a);
  if (!ok) return api_fail(c);
  *out = api_tensor(c->alloc, &t);
  return *out ? NKL_OK : API_NOMEM(c);
}

nkl_status nkl_file_check(nkl_ctx *c, const char *path, int tensor) {
  API_BEGIN(c, path);
  bool ok = !tensor || tensorfile_kind_out(path) != TF_unknown || DIAG(&c->diag, file_kind, path);
  return ok && file_writable(path, &c->diag) ? NKL_OK : api_fail(c);
}

/* The bytes of one file, in bytes. */
static bool render(nkl_ctx *c, const nkl_file *f, Arena *a, Text *bytes) {
  static const char func[] = "nkl_tensor_save";
  if (!f->path) return DIAG(&c->diag, api_use, func, "the path of a file is NULL");
  if (!api_list(func, "tensors", f->tensors, f->count, &c->diag)) return false;
  TensorFileKind kind = tensorfile_kind_out(f->path);
  bool named = kind == TF_npz || kind == TF_safetensors;
  if (named && !api_list(func, "names", f->names, f->count, &c->diag)) return false;
  TensorNamed *list = arena_newn(a, TensorNamed, f->count);
  if (!list) return DIAG0(&c->diag, nomem);
  for (size_t i = 0; i < f->count; i++) list[i] = (TensorNamed){f->names ? f->names[i] : NULL, &f->tensors[i]->t};
  return tensorfile_write(f->path, list, f->count, bytes, &c->diag);
}

nkl_status nkl_tensor_save(nkl_ctx *c, const nkl_file *files, size_t n) {
  Arena a;
  API_BEGIN(c);
  if (n && !files) return API_FAIL(c, api_use, __func__, "files is NULL and n is not 0");
  arena_init(&a, c->alloc);
  Text *bytes = arena_newn(&a, Text, n);
  FileOut *list = arena_newn(&a, FileOut, n);
  bool ok = (bytes && list) || DIAG0(&c->diag, nomem);
  size_t made = 0;
  for (; ok && made < n; made++) {
    text_init(&bytes[made], c->alloc);
    ok = render(c, &files[made], &a, &bytes[made]);
    list[made] = (FileOut){files[made].path, text_str(&bytes[made]), bytes[made].len};
  }
  ok = ok && file_write_all(list, n, &c->diag);
  for (size_t i = 0; i < made; i++) text_free(&bytes[i]);
  arena_free(&a);
  return ok ? NKL_OK : api_fail(c);
}
