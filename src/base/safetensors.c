/* safetensors.c -- room base: reader and writer of the format: u64 header length, JSON header, one data buffer. */
#include "safetensors.h"

#include <stdlib.h>
#include <string.h>

#include "json.h"

#define HEADER_MAX (100 * 1000 * 1000)

static int64_t safetensors_itemsize(const char *dtype) {
  static const struct {
    const char *name;
    int bytes;
  } list[] = {{"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1}, {"F8_E8M0", 1},
              {"U16", 2},  {"I16", 2}, {"F16", 2}, {"BF16", 2},    {"U32", 4},     {"I32", 4},
              {"F32", 4},  {"U64", 8}, {"I64", 8}, {"F64", 8}};
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
    if (strcmp(list[i].name, dtype) == 0) return list[i].bytes;
  return 0;
}

static bool fail(Diag *d, const char *what, const char *name, const char *why) {
  return DIAG(d, safetensors, what, name, why);
}

/* Shape and its byte size, overflow-checked. */
static bool read_shape(const Json *list, SafeTensor *t, int64_t *bytes) {
  if (!list || list->kind != JSON_ARRAY || list->count > NPY_MAX_RANK) return false;
  int64_t total = safetensors_itemsize(t->dtype);
  for (const Json *e = list->child; e; e = e->next) {
    if (e->kind != JSON_INT || e->i < 0) return false;
    if (__builtin_mul_overflow(total, e->i, &total)) return false;
    t->shape[t->rank++] = e->i;
  }
  *bytes = total;
  return true;
}

typedef struct Cover {
  const char *buffer;
  int64_t size;
  const char *what;
  Diag *d;
} Cover;

static bool read_entry(const Json *e, const Cover *c, SafeTensor *t) {
  if (e->kind != JSON_OBJECT || e->count != 3)
    return fail(c->d, c->what, e->key, "must have exactly dtype, shape and data_offsets");
  t->name = e->key;
  const Json *dtype = json_get(e, "dtype"), *offsets = json_get(e, "data_offsets");
  if (!dtype || dtype->kind != JSON_STRING || dtype->len >= sizeof t->dtype)
    return fail(c->d, c->what, e->key, "has no dtype");
  memcpy(t->dtype, dtype->s, dtype->len);
  if (!safetensors_itemsize(t->dtype)) return fail(c->d, c->what, e->key, "has an unknown dtype");
  int64_t bytes = 0;
  if (!read_shape(json_get(e, "shape"), t, &bytes)) return fail(c->d, c->what, e->key, "has an illegal shape");
  if (!offsets || offsets->kind != JSON_ARRAY || offsets->count != 2)
    return fail(c->d, c->what, e->key, "has no data_offsets");
  const Json *first = offsets->child, *last = first->next;
  if (first->kind != JSON_INT || last->kind != JSON_INT || first->i < 0 || last->i < first->i || last->i > c->size)
    return fail(c->d, c->what, e->key, "has data_offsets outside the file");
  if (last->i - first->i != bytes)
    return fail(c->d, c->what, e->key, "has data_offsets that do not fit its shape and dtype");
  t->data = c->buffer + first->i;
  t->nbytes = bytes;
  return true;
}

static int by_place(const void *a, const void *b) {
  const SafeTensor *x = a, *y = b;
  if (x->data != y->data) return x->data < y->data ? -1 : 1;
  return (x->nbytes > y->nbytes) - (x->nbytes < y->nbytes); /* an empty one stands before its neighbour */
}

/* The header may list the tensors in any order; by place they cover the data without holes and overlaps. */
static bool check_cover(SafeTensor *list, uint32_t count, const Cover *c) {
  const char *at = c->buffer;
  qsort(list, count, sizeof *list, by_place);
  for (uint32_t i = 0; i < count; i++) {
    if (list[i].data != at) return fail(c->d, c->what, list[i].name, "does not begin where the tensor before it ends");
    at += list[i].nbytes;
  }
  return at == c->buffer + c->size || fail(c->d, c->what, "the data", "is longer than the tensors say");
}

/* The header's length; it begins at offset 8. */
static bool read_length(const FileIn *in, size_t *out, Diag *d) {
  const char *what = in->what;
  if (in->n < 8) return fail(d, what, "the file", "is shorter than its header length");
  if (!file_need(in, 0, in->n < 9 ? in->n : 9, d)) return false;
  uint64_t header = text_read_le64(in->data);
  if (header > HEADER_MAX) return fail(d, what, "the header", "is longer than the file or than 100 MB (offset 0)");
  if (header < 2 || (in->n > 8 && in->data[8] != '{'))
    return fail(d, what, "the header", "does not begin with '{' (offset 8)");
  *out = (size_t)header;
  return true;
}

static bool check_metadata(const Json *e, const Cover *c) {
  if (e->kind != JSON_OBJECT) return fail(c->d, c->what, e->key, "must be an object of strings");
  for (const Json *m = e->child; m; m = m->next)
    if (m->kind != JSON_STRING) return fail(c->d, c->what, e->key, "must be an object of strings");
  return true;
}

/* The tensors of a header of n bytes, in its order. */
static bool read_header(Arena *a, const Cover *c, size_t n, SafeTensor **out, uint32_t *count) {
  const Json *root = json_parse(a, c->buffer - n, n, c->what, c->d);
  if (!root) return false;
  SafeTensor *list = arena_newn(a, SafeTensor, root->count + 1);
  if (!list) return DIAG0(c->d, nomem);
  for (const Json *e = root->child; e; e = e->next) {
    bool tensor = strcmp(e->key, "__metadata__") != 0;
    if (!(tensor ? read_entry(e, c, &list[*count]) : check_metadata(e, c))) return false;
    *count += tensor;
  }
  *out = list;
  return true;
}

bool safetensors_parse(Arena *a, const FileIn *in, SafeTensor **out, uint32_t *count, Diag *d) {
  size_t n = 0;
  *out = NULL;
  *count = 0;
  if (!read_length(in, &n, d)) return false;
  if (n > in->n - 8) return fail(d, in->what, "the header", "is longer than the file or than 100 MB (offset 0)");
  if (!file_need(in, 8, n, d)) return false;
  const Cover cover = {in->data + 8 + n, (int64_t)(in->n - 8 - n), in->what, d};
  return read_header(a, &cover, n, out, count) && check_cover(*out, *count, &cover);
}

/* Where the last tensor of a header that is there ends. */
static bool find_end(const FileIn *first, size_t n, size_t *end, Diag *d) {
  SafeTensor *list;
  uint32_t count = 0;
  Arena a;
  arena_init(&a, d->message.alloc);
  const Cover cover = {first->data + 8 + n, (int64_t)1 << 40, first->what, d};
  bool ok = read_header(&a, &cover, n, &list, &count);
  for (uint32_t i = 0; ok && i < count; i++) {
    size_t at = (size_t)(list[i].data - first->data) + (size_t)list[i].nbytes;
    if (at > *end) *end = at;
  }
  arena_free(&a);
  return ok;
}

static bool safetensors_head(const FileIn *first, bool whole, size_t *end, Diag *d) {
  size_t n = 0;
  if (whole) return true; /* the parser says all there is to say */
  if (!read_length(first, &n, d)) return false;
  *end = 8 + n;
  return *end > first->n || find_end(first, n, end, d);
}
const FileKind safetensors_kind = {"a .safetensors may have", SIZE_MAX, safetensors_head};

static void write_entry(JsonWriter *w, const SafeTensor *t, int64_t at) {
  json_key(w, t->name);
  json_begin(w, '{');
  json_key(w, "dtype");
  json_cstr(w, t->dtype);
  json_key(w, "shape");
  json_begin(w, '[');
  for (int i = 0; i < t->rank; i++) json_int(w, t->shape[i]);
  json_end(w, ']');
  json_key(w, "data_offsets");
  json_begin(w, '[');
  json_int(w, at);
  json_int(w, at + t->nbytes);
  json_end(w, ']');
  json_end(w, '}');
}

void safetensors_write(Text *out, const SafeTensor *tensors, uint32_t count) {
  Text header;
  text_init(&header, out->alloc);
  JsonWriter w = {&header, false};
  int64_t at = 0;
  json_begin(&w, '{');
  for (uint32_t i = 0; i < count; i++) {
    write_entry(&w, &tensors[i], at);
    at += tensors[i].nbytes;
  }
  json_end(&w, '}');
  while (header.len % 8) text_putc(&header, ' ');
  if (header.oom) out->oom = true;
  for (int i = 0; i < 8; i++) text_putc(out, (char)((uint64_t)header.len >> (8 * i)));
  text_add(out, text_str(&header), header.len);
  for (uint32_t i = 0; i < count; i++) text_add(out, tensors[i].data, (size_t)tensors[i].nbytes);
  text_free(&header);
}
