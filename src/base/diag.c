/* diag.c -- room base: filling, copying and naming failures. */
#include "diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct ErrRow {
  const char *name;
  ErrStatus status;
  const char *format;
} ErrRow;

static const ErrRow rows[] = {
    [ERR_none] = {"err_none", ST_OK, ""},
#define E(id, status, fmt) [ERR_##id] = {"err_" #id, status, fmt},
#include "errors.def"
#undef E
};

static const ErrRow *row_of(ErrId id) { return &rows[(unsigned)id < (unsigned)ERR_count ? id : ERR_internal]; }

const char *err_name(ErrId id) { return row_of(id)->name; }
ErrStatus err_status(ErrId id) { return row_of(id)->status; }
const char *err_format(ErrId id) { return row_of(id)->format; }

ErrId err_by_name(const char *name) {
  for (int i = 0; i < ERR_count; i++)
    if (strcmp(rows[i].name, name) == 0) return (ErrId)i;
  return ERR_none;
}

void diag_init(Diag *d, Alloc alloc) {
  *d = (Diag){.id = ERR_none};
  text_init(&d->message, alloc);
  text_init(&d->notes, alloc);
  text_init(&d->where, alloc);
}

void diag_free(Diag *d) {
  Alloc alloc = d->message.alloc;
  text_free(&d->message);
  text_free(&d->notes);
  text_free(&d->where);
  diag_init(d, alloc);
}

void diag_clear(Diag *d) {
  d->id = ERR_none;
  d->file[0] = '\0';
  d->line = 0;
  text_clear(&d->message);
  text_clear(&d->notes);
  text_clear(&d->where);
}

bool diag_copy(Diag *to, const Diag *from) {
  diag_clear(to);
  text_add(&to->message, text_str(&from->message), from->message.len);
  text_add(&to->notes, text_str(&from->notes), from->notes.len);
  text_add(&to->where, text_str(&from->where), from->where.len);
  to->id = to->message.oom ? ERR_nomem : from->id;
  to->line = from->line;
  memcpy(to->file, from->file, sizeof to->file);
  return !to->message.oom && !to->notes.oom && !to->where.oom;
}

const char *diag_message(const Diag *d) { return d->message.oom ? FMT_nomem : text_str(&d->message); }

/* Appends the formatted text with control characters spelled out. */
static void add_line(Text *t, const char *fmt, va_list ap) {
  Text raw;
  text_init(&raw, t->alloc);
  text_vprintf(&raw, fmt, ap);
  const char *s = text_str(&raw);
  for (size_t i = 0; i < raw.len; i++) {
    unsigned char c = (unsigned char)s[i];
    if (c == '\n') {
      text_puts(t, "\\n");
    } else if (c < 0x20 || c == 0x7f) {
      text_printf(t, "\\x%02x", c);
    } else {
      text_putc(t, (char)c);
    }
  }
  if (raw.oom) t->oom = true;
  text_free(&raw);
}

static void add_note(Diag *d, const char *fmt, va_list ap) {
  if (d->notes.len) text_putc(&d->notes, '\n');
  text_puts(&d->notes, "note: ");
  add_line(&d->notes, fmt, ap);
}

bool diag_failf(Diag *d, ErrId id, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  if (d->id == ERR_none) {
    d->id = id;
    add_line(&d->message, fmt, ap);
    if (d->message.oom) d->id = ERR_nomem;
  } else {
    add_note(d, fmt, ap);
  }
  va_end(ap);
  return false;
}

void diag_note(Diag *d, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  add_note(d, fmt, ap);
  va_end(ap);
}

void diag_prefix(Diag *d, const char *name) {
  Text whole;
  text_init(&whole, d->message.alloc);
  text_printf(&whole, "%s: %s", name, diag_message(d));
  if (!whole.oom) {
    text_clear(&d->message);
    text_add(&d->message, text_str(&whole), whole.len);
    if (d->message.oom) d->id = ERR_nomem;
  }
  text_free(&whole);
}

void diag_at(Diag *d, const char *file, int line) {
  if (d->line != 0 || d->file[0] != '\0') return;
  size_t n = strlen(file), room = sizeof d->file - 1;
  if (n > room) { /* the end of a path tells more than its beginning */
    snprintf(d->file, sizeof d->file, "...%s", file + (n - room + 3));
  } else {
    memcpy(d->file, file, n + 1);
  }
  d->line = line;
}

bool diag_bug(Diag *d, const char *file, int line, const char *what) {
  const char *slash = strrchr(file, '/');
  if (slash) file = slash + 1;
#ifndef NDEBUG
  fprintf(stderr, FMT_internal, file, line, what);
  fputc('\n', stderr);
  (void)d;
  abort();
#else
  return DIAG(d, internal, file, line, what);
#endif
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

enum { NAME_MAX_LEN = 63 };

static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

/* Edit distance with swaps of neighbours counted as one; letters compare without case. Both at most NAME_MAX_LEN. */
static unsigned distance(const char *a, size_t na, const char *b, size_t nb) {
  unsigned row[3][NAME_MAX_LEN + 1] = {{0}};
  unsigned *before = row[0], *prev = row[1], *cur = row[2];
  for (size_t j = 0; j <= nb; j++) prev[j] = (unsigned)j;
  for (size_t i = 1; i <= na; i++) {
    cur[0] = (unsigned)i;
    for (size_t j = 1; j <= nb; j++) {
      bool same = lower(a[i - 1]) == lower(b[j - 1]);
      cur[j] = least(least(prev[j], cur[j - 1]) + 1, prev[j - 1] + !same);
      bool swap = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swap) cur[j] = least(cur[j], before[j - 2] + 1);
    }
    unsigned *spare = before;
    before = prev;
    prev = cur;
    cur = spare;
  }
  return prev[nb];
}

const char *diag_nearest(const char *s, const char *const *names) {
  size_t n = strlen(s);
  if (n == 0 || n > NAME_MAX_LEN) return NULL;
  const char *best = NULL;
  unsigned limit = (unsigned)(n + 2) / 3; /* a third of the letters may be wrong */
  for (; *names; names++) {
    size_t m = strlen(*names);
    if (m > NAME_MAX_LEN) continue;
    unsigned d = distance(s, n, *names, m);
    if (d >= n || d > limit || (best && d == limit)) continue; /* of equals the first */
    best = *names;
    limit = d;
  }
  return best;
}
