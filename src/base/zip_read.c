/* zip_read.c -- room base: zip reader. The central directory decides; local headers are only checked against it. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "nameset.h"
#include "zip.h"

enum {
  LOCAL_SIZE = 30,
  CENTRAL_SIZE = 46,
  END_SIZE = 22,
  LOCATOR64_SIZE = 20,
  END64_SIZE = 56,
  MOST_COMMENT = 0xFFFF,
  DEFLATE_RATIO = 1032 /* one byte of deflate gives at most so many */
};

typedef struct Zip {
  Arena *a;
  const FileIn *in;
  const unsigned char *p;
  size_t n;
  const char *what;
  Diag *d;
  size_t dir, dir_end; /* central directory */
  uint64_t entries;
} Zip;

static bool fault(const Zip *z, const char *reason, size_t at) { return DIAG(z->d, npy_format, z->what, reason, at); }

static bool need(const Zip *z, size_t at, size_t n) { return file_need(z->in, at, n, z->d); }

static uint64_t get(const unsigned char *p, int bytes) { /* little-endian */
  uint64_t v = 0;
  while (bytes-- > 0) v = v << 8 | p[bytes];
  return v;
}

static bool is_signature(const Zip *z, size_t at, unsigned char a, unsigned char b) {
  const unsigned char *p = z->p + at;
  return p[0] == 'P' && p[1] == 'K' && p[2] == a && p[3] == b;
}

/* The end record whose comment reaches exactly to the end of the file, searched from behind. */
static bool find_end(const Zip *z, size_t *at) {
  if (z->n < END_SIZE) return fault(z, "not a zip archive: too short", z->n);
  size_t last = z->n - END_SIZE, first = last > MOST_COMMENT ? last - MOST_COMMENT : 0;
  if (!need(z, first, z->n - first)) return false;
  for (size_t i = last + 1; i-- > first;) {
    if (!is_signature(z, i, 5, 6) || get(z->p + i + 20, 2) != z->n - i - END_SIZE) continue;
    *at = i;
    return true;
  }
  return fault(z, "not a zip archive, or cut off: no end record", z->n);
}

static bool read_end64(Zip *z, size_t end, uint64_t *dir, uint64_t *size) {
  size_t locator = end - LOCATOR64_SIZE;
  uint64_t at = get(z->p + locator + 8, 8);
  if (locator < END64_SIZE || at > locator - END64_SIZE) return fault(z, "zip64 end record out of range", locator);
  if (!need(z, (size_t)at, END64_SIZE)) return false;
  const unsigned char *p = z->p + at;
  if (!is_signature(z, (size_t)at, 6, 6) || get(p + 4, 8) != locator - at - 12)
    return fault(z, "bad zip64 end record", (size_t)at);
  if (get(p + 16, 4) != 0 || get(p + 20, 4) != 0 || get(p + 24, 8) != get(p + 32, 8))
    return fault(z, "archive of several disks", (size_t)at);
  z->entries = get(p + 32, 8);
  *size = get(p + 40, 8);
  *dir = get(p + 48, 8);
  z->dir_end = (size_t)at;
  return true;
}

static bool read_end(Zip *z) {
  size_t end = 0;
  if (!find_end(z, &end)) return false;
  const unsigned char *p = z->p + end;
  z->entries = get(p + 10, 2);
  z->dir_end = end;
  uint64_t size = get(p + 12, 4), dir = get(p + 16, 4);
  size_t before = end < LOCATOR64_SIZE ? end : LOCATOR64_SIZE;
  if (!need(z, end - before, before)) return false;
  if (before == LOCATOR64_SIZE && is_signature(z, end - LOCATOR64_SIZE, 6, 7)) {
    if (!read_end64(z, end, &dir, &size)) return false;
  } else if (get(p + 4, 2) != 0 || get(p + 6, 2) != 0 || get(p + 8, 2) != z->entries) {
    return fault(z, "archive of several disks", end);
  }
  if (dir > z->dir_end || size != z->dir_end - dir) return fault(z, "central directory is not where it should be", end);
  if (z->entries > size / CENTRAL_SIZE) return fault(z, "more members than the central directory can hold", end);
  z->dir = (size_t)dir;
  return true;
}

/* 64-bit values for those of the three 32-bit fields that are all ones, in this order. */
static bool read_extra64(const Zip *z, size_t at, size_t len, uint64_t *const field[3]) {
  const unsigned char *p = z->p + at, *end = p + len;
  while (end - p >= 4) {
    size_t id = (size_t)get(p, 2), size = (size_t)get(p + 2, 2);
    p += 4;
    if (size > (size_t)(end - p)) return fault(z, "extra field too long", at);
    const unsigned char *v = p;
    for (int i = 0; id == 1 && i < 3; i++) {
      if (*field[i] != UINT32_MAX) continue;
      if (p + size - v < 8) return fault(z, "zip64 field too short", at);
      *field[i] = get(v, 8);
      v += 8;
    }
    p += size;
    if (id == 1) break;
  }
  return true;
}

static bool read_local(const Zip *z, ZipMember *m) {
  if (z->dir < LOCAL_SIZE || m->header > z->dir - LOCAL_SIZE) return fault(z, "local header out of range", m->header);
  if (!need(z, m->header, LOCAL_SIZE)) return false;
  const unsigned char *p = z->p + m->header;
  if (!is_signature(z, m->header, 3, 4)) return fault(z, "bad local header", m->header);
  size_t name_len = (size_t)get(p + 26, 2), room = z->dir - m->header - LOCAL_SIZE;
  size_t skip = name_len + (size_t)get(p + 28, 2);
  if (skip > room || m->packed > room - skip) return fault(z, "member runs into the central directory", m->header);
  if (!need(z, m->header + LOCAL_SIZE, name_len)) return false;
  if (name_len != m->name_len || memcmp(p + LOCAL_SIZE, m->name, name_len) != 0)
    return fault(z, "local header names another member", m->header);
  m->data = m->header + LOCAL_SIZE + skip;
  return true;
}

static bool read_name(const Zip *z, size_t at, size_t len, ZipMember *m) {
  const char *s = (const char *)z->p + at;
  if (!text_is_plain(s, len)) return fault(z, "member name is not UTF-8 text", at);
  m->name = arena_strdup(z->a, s, len);
  m->name_len = len;
  return m->name || DIAG0(z->d, nomem);
}

/* One row of the central directory at *at, which moves on. */
static bool read_entry(const Zip *z, size_t *at, ZipMember *m) {
  size_t room = z->dir_end - *at;
  if (room >= CENTRAL_SIZE && !need(z, *at, CENTRAL_SIZE)) return false;
  if (room < CENTRAL_SIZE || !is_signature(z, *at, 1, 2)) return fault(z, "bad central directory", *at);
  const unsigned char *p = z->p + *at;
  size_t name_len = (size_t)get(p + 28, 2), extra = (size_t)get(p + 30, 2), comment = (size_t)get(p + 32, 2);
  if (name_len + extra + comment > room - CENTRAL_SIZE) return fault(z, "central directory cut off", *at);
  if (!need(z, *at + CENTRAL_SIZE, name_len + extra)) return false;
  uint64_t packed = get(p + 20, 4), size = get(p + 24, 4), header = get(p + 42, 4), method = get(p + 10, 2);
  uint64_t *const wide[3] = {&size, &packed, &header};
  if (!read_extra64(z, *at + CENTRAL_SIZE + name_len, extra, wide)) return false;
  if (get(p + 8, 2) & 1) return fault(z, "encrypted member", *at);
  if (method != 0 && method != 8) return fault(z, "compression is neither stored nor deflate", *at);
  if (header > z->dir || packed > z->dir) return fault(z, "member out of range", *at);
  if (method == 0 ? size != packed : size / DEFLATE_RATIO > packed) return fault(z, "impossible member size", *at);
  m->deflated = method == 8;
  m->crc = (uint32_t)get(p + 16, 4);
  m->size = (size_t)size;
  m->packed = (size_t)packed;
  m->header = (size_t)header;
  if (!read_name(z, *at + CENTRAL_SIZE, name_len, m) || !read_local(z, m)) return false;
  *at += CENTRAL_SIZE + name_len + extra + comment;
  return true;
}

static int by_header(const void *a, const void *b) {
  const ZipMember *x = *(const ZipMember *const *)a, *y = *(const ZipMember *const *)b;
  return (x->header > y->header) - (x->header < y->header);
}

/* Members that share bytes would let a small file ask for endless work. */
static bool check_overlap(const Zip *z, const ZipMember *m, uint32_t count) {
  const ZipMember **sorted = arena_newn(z->a, const ZipMember *, count);
  if (!sorted) return DIAG0(z->d, nomem);
  for (uint32_t i = 0; i < count; i++) sorted[i] = &m[i];
  qsort(sorted, count, sizeof *sorted, by_header);
  for (uint32_t i = 1; i < count; i++) {
    const ZipMember *prev = sorted[i - 1];
    if (prev->data + prev->packed > sorted[i]->header) return fault(z, "members overlap", sorted[i]->header);
  }
  return true;
}

bool zip_list(Arena *a, const FileIn *in, ZipMember **out, uint32_t *count, Diag *d) {
  Zip z = {.a = a, .p = (const unsigned char *)in->data, .n = in->n, .what = in->what, .d = d, .in = in};
  if (!read_end(&z)) return false;
  if (z.entries > UINT32_MAX / 2) return fault(&z, "too many members", z.dir);
  uint32_t total = (uint32_t)z.entries;
  ZipMember *members = arena_newn(a, ZipMember, total);
  NameSet names;
  if (!members || !nameset_init(&names, a, total)) return DIAG0(d, nomem);
  size_t at = z.dir;
  for (uint32_t i = 0; i < total; i++) {
    size_t entry = at;
    if (!read_entry(&z, &at, &members[i])) return false;
    if (!nameset_add(&names, members[i].name, members[i].name_len)) return fault(&z, "member name occurs twice", entry);
  }
  if (at != z.dir_end) return fault(&z, "bytes after the last member's entry", at);
  if (!check_overlap(&z, members, total)) return false;
  *out = members;
  *count = total;
  return true;
}

/* zlib's memory comes from the arena, which gives it back after the call. */
static void *arena_zalloc(void *arena, unsigned items, unsigned size) { return arena_array(arena, items, size); }
static void arena_zfree(void *arena, void *p) {
  (void)arena;
  (void)p;
}

static z_stream arena_stream(Arena *a) { return (z_stream){.zalloc = arena_zalloc, .zfree = arena_zfree, .opaque = a}; }

/* Fills out[0..m->size) exactly and uses up the packed bytes exactly. zlib counts in 32 bits, so it is fed pieces. */
static bool inflate_all(z_stream *s, const unsigned char *in, const ZipMember *m, unsigned char *out) {
  enum { PIECE = 1 << 30 };
  size_t in_left = m->packed, out_left = m->size;
  s->next_in = (z_const Bytef *)in;
  s->next_out = out;
  for (;;) {
    uInt in_piece = in_left < PIECE ? (uInt)in_left : PIECE, out_piece = out_left < PIECE ? (uInt)out_left : PIECE;
    s->avail_in = in_piece;
    s->avail_out = out_piece;
    int rc = inflate(s, Z_NO_FLUSH);
    in_left -= in_piece - s->avail_in;
    out_left -= out_piece - s->avail_out;
    if (rc == Z_STREAM_END) return in_left == 0 && out_left == 0;
    if (rc != Z_OK) return false; /* also Z_BUF_ERROR: no progress */
  }
}

static bool inflate_member(Arena *a, const char *bytes, const ZipMember *m, char **out) {
  *out = arena_alloc(a, m->size);
  if (!*out) return false;
  ArenaMark mark = arena_mark(a);
  z_stream s = arena_stream(a);
  bool ok = inflateInit2(&s, -MAX_WBITS) == Z_OK; /* negative: raw deflate, no zlib header */
  if (ok) ok = inflate_all(&s, (const unsigned char *)bytes + m->data, m, (unsigned char *)*out);
  inflateEnd(&s);
  arena_rewind(a, mark);
  return ok;
}

/* Inflates the beginning of m into out[0..n), as far as so many packed bytes go. false: they are damaged. */
static bool inflate_head(Arena *a, z_stream *s, unsigned char *out, size_t n) {
  ArenaMark mark = arena_mark(a);
  s->next_out = out;
  s->avail_out = (uInt)n;
  int rc = inflateInit2(s, -MAX_WBITS);
  if (rc == Z_OK) rc = inflate(s, Z_SYNC_FLUSH);
  inflateEnd(s);
  arena_rewind(a, mark);
  return rc == Z_OK || rc == Z_BUF_ERROR || rc == Z_STREAM_END;
}

bool zip_head(Arena *a, const FileIn *in, const ZipMember *m, FileIn *head, Diag *d) {
  *head = (FileIn){in->what, in->data + m->data, m->size, in->source};
  if (!m->deflated) return true;
  size_t n = m->size < ZIP_HEAD ? m->size : ZIP_HEAD, packed = m->packed < 2 * ZIP_HEAD ? m->packed : 2 * ZIP_HEAD;
  if (!file_need(in, m->data, packed, d)) return false;
  unsigned char *out = arena_alloc(a, n);
  if (!out) return DIAG0(d, nomem);
  z_stream s = arena_stream(a);
  s.next_in = (z_const Bytef *)(in->data + m->data);
  s.avail_in = (uInt)packed;
  bool ok = inflate_head(a, &s, out, n);
  if (a->oom) return DIAG0(d, nomem);
  if (!ok) return DIAG(d, npy_format, in->what, "damaged deflate data", m->data);
  bool cut = s.avail_out > 0; /* by empty blocks, or by a wrong size, which zip_data finds */
  *head = (FileIn){.what = in->what, .data = cut ? NULL : (const char *)out, .n = m->size};
  return true;
}

bool zip_data(Arena *a, const FileIn *in, const ZipMember *m, const char **data, Diag *d) {
  const char *p = in->data + m->data;
  if (!file_need(in, m->data, m->packed, d)) return false;
  if (m->deflated) {
    char *inflated;
    bool ok = inflate_member(a, in->data, m, &inflated);
    if (a->oom) return DIAG0(d, nomem);
    if (!ok) return DIAG(d, npy_format, in->what, "damaged deflate data", m->data);
    p = inflated;
  }
  if (crc32_z(0, (const unsigned char *)p, m->size) != m->crc)
    return DIAG(d, npy_format, in->what, "CRC does not match", m->data);
  *data = p;
  return true;
}
