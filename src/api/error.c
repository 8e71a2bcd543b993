/* error.c -- room api: failures as the caller sees them, buffers, versions. */
#include <stdio.h>
#include <stdlib.h>

#include "api.h"

_Static_assert((int)NKL_ERR_INTERNAL == (int)ST_INTERNAL && (int)NKL_ERR_CANCELLED == (int)ST_CANCELLED,
               "statuses are one list");
_Static_assert((int)NKL_F4E2M1FN_X4 == (int)DT_float4_e2m1fn_x4 && (int)NKL_BOOL == (int)DT_bool_ &&
                   (int)NKL_F32 == (int)DT_float32,
               "dtypes are one list");
_Static_assert(NKL_MAX_RANK == IR_MAX_RANK, "ranks are the same");

int nkl_version_number(void) { return NKL_VERSION_NUMBER; }
const char *nkl_version_string(void) { return NKL_VERSION_STRING; }

const char *nkl_status_name(nkl_status s) {
  static const char *const names[] = {"NKL_OK",         "NKL_ERR_NOMEM",   "NKL_ERR_ARG",       "NKL_ERR_IO",
                                      "NKL_ERR_FORMAT", "NKL_ERR_SYNTAX",  "NKL_ERR_SCRIPT",    "NKL_ERR_TRACE",
                                      "NKL_ERR_SIM",    "NKL_ERR_LIMIT",   "NKL_ERR_CANCELLED", "NKL_ERR_UNSUPPORTED",
                                      "NKL_ERR_HOST",   "NKL_ERR_INTERNAL"};
  int i = -(int)s;
  return i >= 0 && i < (int)(sizeof names / sizeof *names) ? names[i] : "NKL_ERR_UNKNOWN";
}

/* The compiler may take the enum for signed or unsigned. */
bool api_dtype(nkl_dtype d) { return (int)d > NKL_INVALID && (int)d < DT_count; }
size_t nkl_dtype_size(nkl_dtype d) { return api_dtype(d) ? (size_t)dtype_bytes((DType)d) : 0; }
const char *nkl_dtype_name(nkl_dtype d) { return api_dtype(d) ? dtype_name((DType)d) : "invalid"; }
nkl_dtype nkl_dtype_parse(const char *name, size_t len) {
  return name ? (nkl_dtype)dtype_parse(name, len) : NKL_INVALID;
}

/* ---- errors -------------------------------------------------------------------------------------------------- */

static const nkl_error no_error = {NKL_OK, "", "", "", "", "", 0};
static const nkl_error no_memory = {NKL_ERR_NOMEM, "err_nomem", "out of memory", "", "", "", 0};

/* False: a parameter is NULL, and the message says which. */
static bool given(const ApiNeed *need, Diag *d) {
  const char *name = need->names;
  for (size_t i = 0; i < need->n; i++) {
    size_t len = strcspn(name, ",");
    if (!need->p[i]) {
      char text[64];
      snprintf(text, sizeof text, "%.*s is NULL", (int)len, name);
      return DIAG(d, api_use, need->func, text);
    }
    name += len + strspn(name + len, ", ");
  }
  return true;
}

bool api_list(const char *func, const char *name, const void *list, size_t n, Diag *d) {
  char text[96];
  const void *const *items = list;
  if (n && !list) {
    snprintf(text, sizeof text, "%s is NULL and its count is %zu", name, n);
    return DIAG(d, api_use, func, text);
  }
  for (size_t i = 0; i < n; i++) {
    if (items[i]) continue;
    snprintf(text, sizeof text, "%s[%zu] is NULL", name, i);
    return DIAG(d, api_use, func, text);
  }
  return true;
}

nkl_status api_begin(const ApiNeed *need) {
  nkl_ctx *c = (nkl_ctx *)(uintptr_t)need->p[0];
  if (!c || c->inside) return NKL_ERR_ARG; /* the error of the call that is under way stays whole */
  diag_clear(&c->diag);
  c->error = no_error;
  return given(need, &c->diag) ? NKL_OK : api_fail(c);
}

nkl_status api_enter(const ApiNeed *need) {
  API_RETURN_UNLESS_OK(api_begin(need));
  nkl_ctx *c = (nkl_ctx *)(uintptr_t)need->p[0];
  return c->host ? NKL_OK : API_FAIL(c, api_use, need->func, "the context did not open");
}

nkl_status api_check(nkl_error_buf *err, const ApiNeed *need) {
  Diag d;
  diag_init(&d, alloc_std);
  nkl_status s = given(need, &d) ? NKL_OK : api_fail_buf(err, &d);
  diag_free(&d);
  return s;
}

static nkl_error view(const Diag *d) {
  if (d->id == ERR_none) return no_memory; /* nothing but memory fails without a word */
  return (nkl_error){(nkl_status)err_status(d->id), err_name(d->id), diag_message(d), text_str(&d->notes),
                     text_str(&d->where),           d->file,         d->line};
}

nkl_status api_fail(nkl_ctx *c) {
  c->error = view(&c->diag);
  return c->error.status;
}

const nkl_error *nkl_last_error(const nkl_ctx *c) { return c ? &c->error : &no_memory; }

static const char *keep(char **at, const char *s) {
  size_t n = strlen(s) + 1;
  char *copy = memcpy(*at, s, n);
  *at += n;
  return copy;
}

nkl_status api_fail_buf(nkl_error_buf *err, Diag *d) {
  nkl_error e = view(d);
  if (!err) return e.status;
  nkl_error_buf_free(err);
  size_t n = strlen(e.message) + strlen(e.notes) + strlen(e.traceback) + strlen(e.file) + 4;
  char *block = malloc(n), *at = block;
  if (!block) {
    err->error = no_memory;
    return e.status;
  }
  e.message = keep(&at, e.message);
  e.notes = keep(&at, e.notes);
  e.traceback = keep(&at, e.traceback);
  e.file = keep(&at, e.file);
  err->error = e;
  err->reserved = block;
  return e.status;
}

void nkl_error_buf_free(nkl_error_buf *e) {
  if (!e) return;
  free(e->reserved);
  *e = (nkl_error_buf){no_error, NULL};
}

/* ---- buffers ------------------------------------------------------------------------------------------------- */

typedef struct Block {
  Alloc alloc;
  size_t n;
} Block;

bool api_take(Text *t, nkl_buf *out) {
  *out = (nkl_buf)NKL_BUF_INIT;
  size_t n = sizeof(Block) + t->len + 1;
  Block *b = t->oom ? NULL : alloc_new(&t->alloc, n);
  if (b) {
    *b = (Block){t->alloc, n};
    out->data = memcpy(b + 1, text_str(t), t->len + 1);
    out->size = t->len;
    out->reserved = b;
  }
  text_free(t);
  return b != NULL;
}

void nkl_buf_free(nkl_buf *b) {
  if (!b) return;
  Block *block = b->reserved;
  if (block) {
    Alloc alloc = block->alloc;
    alloc_free(&alloc, block, block->n);
  }
  *b = (nkl_buf)NKL_BUF_INIT;
}

/* No struct of any version is as large: memory that nobody initialised is not read. */
enum { MOST_BYTES = 4096 };

bool api_struct(const ApiStruct *s, Diag *d) {
  char text[96];
  uint32_t have;
  if (!s->from) return true;
  memcpy(&have, s->from, sizeof have);
  if (have < sizeof have || have > MOST_BYTES) {
    snprintf(text, sizeof text, "the %s was not initialised with %s_init", s->type, s->type);
    return DIAG(d, api_use, s->func, text);
  }
  for (size_t i = s->size; i < have; i++) {
    if (!((const char *)s->from)[i]) continue;
    snprintf(text, sizeof text, "the %s is of a newer version, and a field that %s does not know is set", s->type,
             NKL_VERSION_STRING);
    return DIAG(d, api_use, s->func, text);
  }
  memcpy(s->to, s->from, have < s->size ? have : s->size);
  return true;
}
