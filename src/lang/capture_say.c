/* capture_say.c -- room lang: what differs between the captured state that was walked last and earlier bytes. */
#include <string.h>

#include "capture.h"

/* A value of one of the simple kinds in captured bytes, as text; 0: it is another. Else how many bytes it takes. */
static size_t say_simple(Text *out, const char *p, size_t n) {
  uint64_t v = n >= 9 ? text_read_le64(p + 1) : 0;
  double f;
  if (!n) return 0;
  switch (*p) {
    case 'n':
      text_puts(out, "nil");
      return 1;
    case 't':
    case 'b':
      text_puts(out, *p == 't' ? "true" : "false");
      return 1;
    case 'i':
      if (n < 9) return 0;
      text_int(out, (int64_t)v);
      return 9;
    case 'f':
      if (n < 10) return 0;
      memcpy(&f, &v, sizeof f);
      if (p[9] == '=') {
        fw_say_double(out, f);
      } else {
        text_puts(out, "nan");
      }
      return 10;
    case 's':
    case 'k':
      if (n < 9 || v > n - 9) return 0;
      if (*p == 's') text_putc(out, '"');
      fw_say_string(out, p + 9, (size_t)v);
      if (*p == 's') text_putc(out, '"');
      return 9 + (size_t)v;
    default:
      return 0;
  }
}

static const Mark *mark_of(const Capture *k, size_t at) {
  const Mark *m = NULL;
  for (size_t i = 0; i < k->nmarks && k->marks[i].at <= at; i++) m = &k->marks[i];
  return m;
}

static void say_values(const Capture *k, const Mark *m, const char *before, size_t n, Text *out) {
  Text now, was;
  text_init(&now, out->alloc);
  text_init(&was, out->alloc);
  size_t v = m->value, size = v ? say_simple(&now, k->bytes.data + v, k->bytes.len - v) : 0;
  bool differ = size && (v + size > n || memcmp(before + v, k->bytes.data + v, size) != 0);
  text_printf(out, "captured '%s' ", m->name);
  if (differ && v < n && say_simple(&was, before + v, n - v)) {
    text_printf(out, "is %s (was %s)", text_str(&now), text_str(&was));
  } else {
    text_puts(out, "differs");
  }
  text_free(&now);
  text_free(&was);
}

/* Where the code of the kernel function ends, which is what the bytes begin with: two texts behind a tag each. */
static size_t code_end(const char *p, size_t n) {
  size_t at = 0;
  for (int i = 0; i < 2 && n - at >= 9; i++) {
    uint64_t len = text_read_le64(p + at + 1);
    at += 9 + (len < n - at - 9 ? (size_t)len : n - at - 9);
  }
  return at;
}

void capture_describe(void *ud, const FwRequest *r, const void *before, size_t n, Text *out) {
  const KernelCall *call = ud;
  const Capture *k = call->c->capture;
  const char *old = before, *new = k->bytes.data;
  size_t at = 0, least = n < k->bytes.len ? n : k->bytes.len;
  if (r->ncaptured != k->bytes.len || memcmp(r->captured, text_str(&k->bytes), k->bytes.len) != 0) {
    text_puts(out, "captured state differs"); /* something else was walked since */
    return;
  }
  while (at < least && old[at] == new[at]) at++;
  const Mark *m = mark_of(k, at);
  if (at < code_end(new, k->bytes.len)) {
    text_puts(out, "the kernel's code differs");
  } else if (!m || (m->value && at < m->value)) {
    text_puts(out, "other global variables are set");
  } else {
    say_values(k, m, old, n, out);
  }
}
