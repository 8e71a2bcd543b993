/* zip_write.c -- room base: zip writer: stored members, no time stamps, so the same arrays give the same bytes. */
#include <string.h>
#include <zlib.h>

#include "zip.h"

enum {
  VERSION = 20,
  VERSION64 = 45,
  UTF8_NAME = 1 << 11,
  DATE = 0x21 /* 1980-01-01, the earliest there is */
};

static void put(Text *t, uint64_t v, int bytes) { /* little-endian */
  for (; bytes-- > 0; v >>= 8) text_putc(t, (char)(v & 0xFF));
}

static void put_signature(Text *t, char a, char b) {
  text_add(t, "PK", 2);
  text_putc(t, a);
  text_putc(t, b);
}

typedef struct Member {
  const char *name;
  size_t name_len;
  uint32_t crc;
  uint64_t size, header;
  bool wide; /* sizes are in the zip64 field */
} Member;

/* From "version needed" to "name length": the same in both kinds of header. */
static void put_common(Text *t, const Member *m, bool zip64) {
  bool ascii = true;
  for (size_t i = 0; i < m->name_len; i++) ascii &= (unsigned char)m->name[i] < 0x80;
  put(t, zip64 ? VERSION64 : VERSION, 2);
  put(t, ascii ? 0 : UTF8_NAME, 2);
  put(t, 0, 2); /* stored */
  put(t, 0, 2); /* time */
  put(t, DATE, 2);
  put(t, m->crc, 4);
  put(t, m->wide ? UINT32_MAX : m->size, 4); /* packed */
  put(t, m->wide ? UINT32_MAX : m->size, 4);
  put(t, m->name_len, 2);
}

static void put_local(Text *t, const Member *m) {
  put_signature(t, 3, 4);
  put_common(t, m, m->wide);
  put(t, m->wide ? 20 : 0, 2);
  text_add(t, m->name, m->name_len);
  if (!m->wide) return;
  put(t, 1, 2);
  put(t, 16, 2);
  put(t, m->size, 8);
  put(t, m->size, 8);
}

static void put_central(Text *t, const Member *m, bool far) {
  unsigned extra = (m->wide ? 16u : 0u) + (far ? 8u : 0u);
  put_signature(t, 1, 2);
  put(t, extra ? VERSION64 : VERSION, 2);
  put_common(t, m, extra != 0);
  put(t, extra ? extra + 4 : 0, 2);
  put(t, 0, 2); /* comment */
  put(t, 0, 2); /* disk */
  put(t, 0, 2); /* attributes */
  put(t, 0, 4);
  put(t, far ? UINT32_MAX : m->header, 4);
  text_add(t, m->name, m->name_len);
  if (!extra) return;
  put(t, 1, 2);
  put(t, extra, 2);
  if (m->wide) put(t, m->size, 8);
  if (m->wide) put(t, m->size, 8);
  if (far) put(t, m->header, 8);
}

void zip_begin(ZipWriter *w, Text *out) {
  *w = (ZipWriter){.out = out, .start = out->len, .limit = UINT32_MAX};
  text_init(&w->central, out->alloc);
}

void zip_add(ZipWriter *w, const char *name, const Text *head, const void *data, size_t n) {
  Member m = {
      .name = name, .name_len = strlen(name), .size = (uint64_t)head->len + n, .header = w->out->len - w->start};
  if (m.name_len > UINT16_MAX) w->out->oom = true;
  m.crc = (uint32_t)crc32_z(0, (const unsigned char *)text_str(head), head->len);
  if (n) m.crc = (uint32_t)crc32_z(m.crc, data, n);
  m.wide = m.size >= w->limit;
  put_local(w->out, &m);
  text_add(w->out, text_str(head), head->len);
  text_add(w->out, data, n);
  put_central(&w->central, &m, m.header >= w->limit);
  w->count++;
}

static void put_end64(Text *t, const ZipWriter *w, uint64_t dir) {
  uint64_t end64 = dir + w->central.len;
  put_signature(t, 6, 6);
  put(t, 44, 8); /* bytes that follow */
  put(t, VERSION64, 2);
  put(t, VERSION64, 2);
  put(t, 0, 4);
  put(t, 0, 4);
  put(t, w->count, 8);
  put(t, w->count, 8);
  put(t, w->central.len, 8);
  put(t, dir, 8);
  put_signature(t, 6, 7); /* locator */
  put(t, 0, 4);
  put(t, end64, 8);
  put(t, 1, 4);
}

void zip_end(ZipWriter *w) {
  Text *t = w->out;
  uint64_t dir = t->len - w->start, size = w->central.len;
  bool many = w->count >= UINT16_MAX, large = size >= w->limit, far = dir >= w->limit;
  text_add(t, text_str(&w->central), w->central.len);
  if (many || large || far) put_end64(t, w, dir);
  put_signature(t, 5, 6);
  put(t, 0, 2);
  put(t, 0, 2);
  put(t, many ? UINT16_MAX : w->count, 2);
  put(t, many ? UINT16_MAX : w->count, 2);
  put(t, large ? UINT32_MAX : size, 4);
  put(t, far ? UINT32_MAX : dir, 4);
  put(t, 0, 2); /* comment */
  if (w->central.oom) t->oom = true;
  text_free(&w->central);
}
