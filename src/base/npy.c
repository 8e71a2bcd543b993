/* npy.c -- room base: .npy headers, read and written, and .npz as a zip of them. */
#include "npy.h"

#include <string.h>

#include "zip.h"

static const char MAGIC[] = "\x93NUMPY";
enum { MAGIC_LEN = 6, HEAD_ALIGN = 64, HEAD_MOST = 1 << 20, DESCR_MAX = sizeof((NpyArray *)0)->descr - 1 };

typedef struct Reader {
  const char *s;  /* whole file */
  size_t at, end; /* the header's dict */
  const char *what;
  Diag *d;
} Reader;

static bool fault(const Reader *r, const char *reason, size_t at) {
  return DIAG(r->d, npy_format, r->what, reason, at);
}

static void skip_space(Reader *r) {
  while (r->at < r->end && strchr(" \t\n\r", r->s[r->at]) && r->s[r->at] != '\0') r->at++;
}

static char peek(const Reader *r) { return r->at < r->end ? r->s[r->at] : '\0'; }

static bool accept(Reader *r, char c) {
  skip_space(r);
  if (peek(r) != c || r->at == r->end) return false;
  r->at++;
  return true;
}

static bool expect(Reader *r, char c, const char *reason) { return accept(r, c) || fault(r, reason, r->at); }

/* A Python string literal without escapes: its inside. */
static bool read_string(Reader *r, const char **s, size_t *len) {
  skip_space(r);
  char quote = peek(r);
  if (quote != '\'' && quote != '"') return fault(r, "quoted string expected in the header", r->at);
  size_t from = ++r->at;
  while (r->at < r->end && r->s[r->at] != quote && r->s[r->at] != '\\') r->at++;
  if (peek(r) != quote) return fault(r, "string without an end in the header", from);
  *s = r->s + from;
  *len = r->at - from;
  r->at++;
  return true;
}

static bool read_count(Reader *r, int64_t *out) {
  size_t from = r->at;
  int64_t v = 0;
  for (char c = peek(r); c >= '0' && c <= '9'; c = peek(r)) {
    if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, c - '0', &v))
      return fault(r, "dimension too large", from);
    r->at++;
  }
  if (r->at == from) return fault(r, "non-negative integer expected in shape", from);
  if (peek(r) == 'L') r->at++; /* Python 2 wrote (3L,) */
  *out = v;
  return true;
}

static bool read_shape(Reader *r, NpyArray *out) {
  if (!expect(r, '(', "shape is not a tuple")) return false;
  bool comma = true;
  for (out->rank = 0; !accept(r, ')'); out->rank++) {
    if (!comma) return fault(r, "',' or ')' expected in shape", r->at);
    if (out->rank == NPY_MAX_RANK) return fault(r, "more than 32 dimensions", r->at);
    if (!read_count(r, &out->shape[out->rank])) return false;
    comma = accept(r, ',');
  }
  return comma || out->rank > 1 || fault(r, "shape is not a tuple", r->at); /* (3) is a number */
}

static bool read_bool(Reader *r, bool *out) {
  skip_space(r);
  size_t left = r->end - r->at;
  const char *s = r->s + r->at;
  *out = left >= 4 && memcmp(s, "True", 4) == 0;
  if (!*out && (left < 5 || memcmp(s, "False", 5) != 0)) return fault(r, "fortran_order is not True or False", r->at);
  r->at += *out ? 4 : 5;
  return true;
}

/* Bytes per element of "<f4", "|V2", "<U7", "bfloat16", "float8_e4m3" ...; 0 for what this file cannot hold. */
static int64_t itemsize_of(const char *descr) {
  if (strcmp(descr, "bfloat16") == 0) return 2;
  if (strncmp(descr, "float8_", 7) == 0) return 1;
  const char *p = descr;
  if (*p && strchr("<>|=", *p)) p++;
  char kind = *p ? *p++ : '\0';
  if (kind == '\0' || !strchr("biufcVSU", kind) || strlen(p) > 9) return 0;
  int64_t size = 0;
  for (; *p >= '0' && *p <= '9'; p++) size = size * 10 + (*p - '0');
  if (*p != '\0') return 0;
  return kind == 'U' ? size * 4 : size;
}

static bool read_descr(Reader *r, NpyArray *out) {
  skip_space(r);
  size_t at = r->at;
  if (peek(r) == '[' || peek(r) == '(') return fault(r, "structured dtypes are not supported", at);
  const char *s;
  size_t len;
  if (!read_string(r, &s, &len)) return false;
  if (len <= DESCR_MAX) memcpy(out->descr, s, len);
  out->descr[len <= DESCR_MAX ? len : 0] = '\0';
  const char *kind = out->descr + strspn(out->descr, "<>|=");
  if (kind[0] == 'O') return fault(r, "pickled objects are not supported", at);
  out->itemsize = itemsize_of(out->descr);
  return out->itemsize > 0 || fault(r, "unknown descr", at);
}

enum { KEY_DESCR = 1, KEY_ORDER = 2, KEY_SHAPE = 4, KEY_ALL = 7 };

static int key_of(const char *s, size_t len) {
  if (len == 5 && memcmp(s, "descr", 5) == 0) return KEY_DESCR;
  if (len == 13 && memcmp(s, "fortran_order", 13) == 0) return KEY_ORDER;
  return len == 5 && memcmp(s, "shape", 5) == 0 ? KEY_SHAPE : 0;
}

static bool read_dict(Reader *r, NpyArray *out) {
  int seen = 0;
  bool comma = true;
  if (!expect(r, '{', "header is not a dict")) return false;
  while (!accept(r, '}')) {
    const char *s;
    size_t len, at = r->at;
    if (!comma) return fault(r, "',' or '}' expected in the header", at);
    if (!read_string(r, &s, &len)) return false;
    int key = key_of(s, len);
    if (key == 0) return fault(r, "unknown key in the header", at);
    if (seen & key) return fault(r, "key occurs twice in the header", at);
    seen |= key;
    if (!expect(r, ':', "':' expected in the header")) return false;
    bool ok = key == KEY_DESCR   ? read_descr(r, out)
              : key == KEY_ORDER ? read_bool(r, &out->fortran_order)
                                 : read_shape(r, out);
    if (!ok) return false;
    comma = accept(r, ',');
  }
  skip_space(r);
  if (r->at != r->end) return fault(r, "bytes after the header's dict", r->at);
  return seen == KEY_ALL || fault(r, "header lacks descr, fortran_order or shape", r->at);
}

/* Bounds of the header by the version's length field; r->end ends up where the data begins. */
static bool read_preamble(Reader *r, const FileIn *in) {
  enum { PREAMBLE = 12 };
  size_t n = in->n;
  if (!file_need(in, 0, n < PREAMBLE ? n : PREAMBLE, r->d)) return false;
  if (n < MAGIC_LEN || memcmp(r->s, MAGIC, MAGIC_LEN) != 0) return fault(r, "not a .npy file", 0);
  if (n < 10) return fault(r, "cut off in the header", n);
  int major = r->s[6], minor = r->s[7];
  if (major < 1 || major > 3 || minor != 0) return fault(r, "unknown .npy version", 6);
  size_t width = major == 1 ? 2 : 4, len = 0;
  if (n < 8 + width) return fault(r, "cut off in the header", n);
  for (size_t i = width; i-- > 0;) len = len << 8 | (unsigned char)r->s[8 + i];
  r->at = 8 + width;
  if (len > HEAD_MOST) return fault(r, "header is longer than 1 MiB", 8);
  r->end = r->at + len;
  return true;
}

/* Product of the dims and the itemsize. Zero dims do not excuse an overflow of the others: strides need them too. */
static bool byte_count(const NpyArray *a, int64_t *out) {
  int64_t bytes = a->itemsize;
  bool empty = false;
  for (int32_t i = 0; i < a->rank; i++) {
    empty |= a->shape[i] == 0;
    if (a->shape[i] != 0 && __builtin_mul_overflow(bytes, a->shape[i], &bytes)) return false;
  }
  *out = empty ? 0 : bytes;
  return true;
}

/* The header of what has it whole. */
static bool read_header(Reader *r, const FileIn *in, NpyArray *out) {
  if (r->end > in->n) return fault(r, "cut off in the header", in->n);
  if (!file_need(in, r->at, r->end - r->at, r->d) || !read_dict(r, out)) return false;
  return byte_count(out, &out->nbytes) || fault(r, "shape is too large", r->end);
}

static bool npy_head(const FileIn *first, bool whole, size_t *end, Diag *d) {
  Reader r = {.s = first->data, .what = first->what, .d = d};
  NpyArray array = {.name = NULL};
  if (!read_preamble(&r, first)) return false;
  *end = r.end;
  if (r.end > first->n && !whole) return true;
  if (!read_header(&r, first, &array)) return false;
  *end = r.end + (size_t)array.nbytes;
  return true;
}
const FileKind npy_kind = {"an .npy may have", SIZE_MAX, npy_head};

static bool npz_head(const FileIn *first, bool whole, size_t *end, Diag *d) {
  const char *p = first->data;
  (void)end;
  bool zip = whole || (p[0] == 'P' && p[1] == 'K' && ((p[2] == 3 && p[3] == 4) || (p[2] == 5 && p[3] == 6)));
  return zip || DIAG(d, npy_format, first->what, "not a zip archive", (size_t)0);
}
const FileKind npz_kind = {"an .npz may have", SIZE_MAX, npz_head};

bool npy_parse(const FileIn *in, NpyArray *out, Diag *d) {
  Reader r = {.s = in->data, .what = in->what, .d = d};
  *out = (NpyArray){.name = NULL};
  if (!read_preamble(&r, in) || !read_header(&r, in, out)) return false;
  size_t have = in->n - r.end;
  if ((uint64_t)out->nbytes > have) return fault(&r, "data is shorter than the shape says", in->n);
  if ((uint64_t)out->nbytes < have) return fault(&r, "bytes after the data", r.end + (size_t)out->nbytes);
  out->data = in->data + r.end;
  return true;
}

static bool read_member(Arena *a, const FileIn *in, const ZipMember *m, NpyArray *out, Diag *d) {
  const char *what = arena_printf(a, "%s, member '%s'", in->what, m->name);
  if (!what) return DIAG0(d, nomem);
  if (m->name_len < 4 || strcmp(m->name + m->name_len - 4, ".npy") != 0)
    return DIAG(d, npy_format, what, "not a .npy array", m->header);
  FileIn archive = *in, member;
  archive.what = what;
  /* A wrong header is found before much data behind it is read or inflated. */
  bool large = m->size > ZIP_HEAD;
  if (large && (!zip_head(a, &archive, m, &member, d) || (member.data && !npy_parse(&member, out, d)))) return false;
  member = (FileIn){.what = what, .n = m->size};
  if (!zip_data(a, &archive, m, &member.data, d) || !npy_parse(&member, out, d)) return false;
  out->name = arena_strdup(a, m->name, m->name_len - 4);
  return out->name || DIAG0(d, nomem);
}

bool npz_parse(Arena *a, const FileIn *in, NpyArray **out, uint32_t *count, Diag *d) {
  ZipMember *members;
  uint32_t total;
  if (!zip_list(a, in, &members, &total, d)) return false;
  NpyArray *arrays = arena_newn(a, NpyArray, total);
  if (!arrays) return DIAG0(d, nomem);
  for (uint32_t i = 0; i < total; i++)
    if (!read_member(a, in, &members[i], &arrays[i], d)) return false;
  *out = arrays;
  *count = total;
  return true;
}

/* Version 1 suffices: with 32 dims of 19 digits a header stays far under 65536 bytes. */
static void put_head(Text *t, const NpyArray *a) {
  Text dict;
  text_init(&dict, t->alloc);
  text_printf(&dict, "{'descr': '%s', 'fortran_order': %s, 'shape': (", a->descr, a->fortran_order ? "True" : "False");
  for (int32_t i = 0; i < a->rank; i++) {
    if (i) text_puts(&dict, ", ");
    text_int(&dict, a->shape[i]);
  }
  text_puts(&dict, a->rank == 1 ? ",), }" : "), }");
  while ((MAGIC_LEN + 4 + dict.len + 1) % HEAD_ALIGN != 0 && !dict.oom) text_putc(&dict, ' ');
  text_putc(&dict, '\n');
  text_add(t, MAGIC, MAGIC_LEN);
  text_add(t, "\1\0", 2);
  text_putc(t, (char)(dict.len & 0xFF));
  text_putc(t, (char)(dict.len >> 8));
  text_add(t, text_str(&dict), dict.len);
  if (dict.oom) t->oom = true;
  text_free(&dict);
}

void npy_write(Text *out, const NpyArray *array) {
  put_head(out, array);
  text_add(out, array->data, (size_t)array->nbytes);
}

void npz_write(Text *out, const NpyArray *arrays, uint32_t count) {
  ZipWriter zip;
  Text name, head;
  text_init(&name, out->alloc);
  text_init(&head, out->alloc);
  zip_begin(&zip, out);
  for (uint32_t i = 0; i < count; i++) {
    text_clear(&name);
    text_clear(&head);
    text_printf(&name, "%s.npy", arrays[i].name);
    put_head(&head, &arrays[i]);
    zip_add(&zip, text_str(&name), &head, arrays[i].data, (size_t)arrays[i].nbytes);
    if (name.oom || head.oom) out->oom = true;
  }
  zip_end(&zip);
  text_free(&name);
  text_free(&head);
}
