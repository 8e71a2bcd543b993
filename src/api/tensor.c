/* tensor.c -- room api: tensors of the host, and tensor files. */
#include "api.h"
#include "file.h"

void nkl_tensor_desc_init(nkl_tensor_desc *d) { *d = (nkl_tensor_desc){.struct_size = sizeof *d}; }

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
  atomic_fetch_add(&t->count, 1);
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
  const char *why = "the description was not initialised with nkl_tensor_desc_init";
  nkl_tensor_desc_init(&out->desc);
  if (!desc || !API_STRUCT(&out->desc, desc)) return DIAG(&c->diag, api_use, func, why);
  if (!api_tensor_shape(&out->desc, &out->t, &why)) return DIAG(&c->diag, api_use, func, why);
  out->contiguous = is_contiguous(&out->desc, &out->t);
  if (out->desc.data && out->contiguous && out->desc.nbytes < (size_t)tensor_bytes(&out->t))
    return DIAG(&c->diag, api_use, func, "nbytes is less than shape and dtype need");
  return true;
}

nkl_status nkl_tensor_new(nkl_ctx *c, const nkl_tensor_desc *desc, nkl_tensor **out) {
  Checked d;
  *out = NULL;
  api_begin(c);
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
  *out = NULL;
  api_begin(c);
  if (!check(c, "nkl_tensor_wrap", desc, &d)) return api_fail(c);
  if (!d.desc.data) return API_FAIL(c, api_use, "nkl_tensor_wrap", "data is NULL");
  if (!d.contiguous)
    return API_FAIL(c, api_use, "nkl_tensor_wrap", "the data is not C-contiguous; nkl_tensor_new copies such data");
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
  *out = NULL;
  api_begin(c);
  if (dtype != NKL_INVALID && !api_dtype(dtype)) return API_FAIL(c, api_use, "nkl_tensor_load", "dtype is not one");
  if (!tensorfile_read(c->alloc, &ask, &t, &c->diag)) return api_fail(c);
  *out = api_tensor(c->alloc, &t);
  return *out ? NKL_OK : API_NOMEM(c);
}

nkl_status nkl_tensor_load_word(nkl_ctx *c, const char *word, nkl_dtype raw, nkl_tensor **out) {
  HostWord w = {word, strlen(word), "file"};
  HostValue v;
  SimTensor t;
  Arena a;
  *out = NULL;
  if (api_enter(c, "nkl_tensor_load_word")) return c->error.status;
  if (raw < NKL_INVALID || (int)raw >= DT_count)
    return API_FAIL(c, api_use, "nkl_tensor_load_word", "raw is not a dtype");
  arena_init(&a, c->alloc);
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
  api_begin(c);
  bool ok = !tensor || strcmp(path, "-") == 0 || tensorfile_kind(path) != TF_unknown || DIAG(&c->diag, file_kind, path);
  return ok && file_writable(path, &c->diag) ? NKL_OK : api_fail(c);
}

/* The bytes of one file, in bytes. */
static bool render(nkl_ctx *c, const nkl_file *f, Arena *a, Text *bytes) {
  TensorNamed *list = arena_newn(a, TensorNamed, f->count);
  if (!list) return DIAG0(&c->diag, nomem);
  for (size_t i = 0; i < f->count; i++) list[i] = (TensorNamed){f->names ? f->names[i] : NULL, &f->tensors[i]->t};
  return tensorfile_write(f->path, list, f->count, bytes, &c->diag);
}

nkl_status nkl_tensor_save(nkl_ctx *c, const nkl_file *files, size_t n) {
  Arena a;
  api_begin(c);
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
