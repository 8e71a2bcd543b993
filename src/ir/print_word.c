/* print_word.c -- room ir: words of the text: numbers, strings, locations, names of values. */
#include <math.h>
#include <stdio.h>

#include "print_ir.h"

void pr_int(Print *p, int64_t v) { text_int(p->out, v); }

void pr_double(Print *p, double v) {
  if (isfinite(v)) {
    text_double(p->out, v);
    return;
  }
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  char hex[32];
  pr_add(p, hex, (size_t)snprintf(hex, sizeof hex, "0x%016llX : f64", (unsigned long long)bits));
}

static const char HEX[] = "0123456789ABCDEF";

/* Printable ASCII and, when the whole string is UTF-8, everything beyond ASCII stand for themselves. */
void pr_quoted(Print *p, const char *s, size_t n) {
  bool utf8 = text_is_utf8(s, n, NULL);
  pr_lit(p, "\"");
  size_t start = 0;
  for (size_t i = 0; i < n; i++) {
    unsigned char c = (unsigned char)s[i];
    bool plain = c >= 0x80 ? utf8 : c >= ' ' && c != 0x7F && c != '"' && c != '\\';
    if (plain) continue;
    char escape[3] = {'\\', HEX[c >> 4], HEX[c & 15]};
    pr_add(p, s + start, i - start);
    if (c == '\\')
      pr_lit(p, "\\\\");
    else
      pr_add(p, escape, 3);
    start = i + 1;
  }
  pr_add(p, s + start, n - start);
  pr_lit(p, "\"");
}

void pr_indent(Print *p) {
  static const char spaces[] = "                                ";
  int n = 2 * p->depth;
  for (; n > 32; n -= 32) pr_add(p, spaces, 32);
  pr_add(p, spaces, (size_t)n);
}

void pr_list(Print *p, const int64_t *v, uint32_t n) {
  pr_lit(p, "[");
  for (uint32_t i = 0; i < n; i++) {
    if (i) pr_lit(p, ", ");
    pr_int(p, v[i]);
  }
  pr_lit(p, "]");
}

static void frame(Print *p, const char *file, int line) {
  pr_quoted(p, file, strlen(file));
  pr_lit(p, ":");
  pr_int(p, line < 0 ? 0 : line);
  pr_lit(p, ":0");
}

/* callsite(callee at caller), innermost first; a frame stands for those that a tail call lost. */
static void spell_loc(Print *p, uint32_t loc) {
  pr_lit(p, " loc(");
  uint32_t open = 1;
  for (const IrLoc *l = &p->m->locs[loc];; l = &p->m->locs[l->parent]) {
    for (int lost = 0; lost <= (int)l->tail; lost++) {
      bool last = !l->parent && lost == (int)l->tail;
      if (!last) pr_lit(p, "callsite(");
      frame(p, lost ? TX_TAIL_CALL : l->file ? l->file : "", lost ? 0 : l->line);
      if (!last) pr_lit(p, " at ");
      open += !last;
    }
    if (!l->parent) break;
  }
  while (open--) pr_lit(p, ")");
}

void pr_loc(Print *p, uint32_t loc) {
  if (!loc || loc >= p->m->nlocs || !p->loc) return;
  size_t n = p->loc[loc].n;
  if (!n) {
    size_t at = p->out->len;
    spell_loc(p, loc);
    p->loc[loc].at = at;
    p->loc[loc].n = p->out->len - at;
    return;
  }
  char *to = text_reserve(p->out, n); /* may move the text: read the source after it */
  if (!to) return;
  memcpy(to, p->out->data + p->loc[loc].at, n);
  text_commit(p->out, n);
}

void pr_constant_ref(Print *p, int64_t v) {
  pr_lit(p, "%c");
  pr_int(p, v);
}

void pr_index_ref(Print *p, uint32_t idx) {
  pr_lit(p, "%i");
  pr_int(p, idx <= p->f->nidx ? p->index[idx] : UINT32_MAX);
}

/* %i<n>, %c<n> and %more are the printer's own. */
static bool is_reserved(const char *s) {
  if (strcmp(s, "more") == 0) return true;
  if (*s != 'i' && *s != 'c') return false;
  s += s[1] == '-' ? 2 : 1;
  if (!*s) return false;
  for (; *s; s++)
    if (*s < '0' || *s > '9') return false;
  return true;
}

static bool is_id_char(unsigned char c, bool first) {
  bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
  return letter || (!first && ((c >= '0' && c <= '9') || c == '-'));
}

/* The name as a value id: every byte that cannot stand there becomes $HH. Different names stay different. */
static TxStr value_id(Print *p, const char *name) {
  size_t n = strlen(name), len = 0;
  char *id = arena_alloc(&p->tmp, n * 3 + 3);
  if (!id) return TX_STR("%");
  id[len++] = '%';
  if (!n) id[len++] = '$';
  bool reserved = is_reserved(name);
  for (size_t i = 0; i < n; i++) {
    unsigned char c = (unsigned char)name[i];
    if (is_id_char(c, i == 0) && !(reserved && i == 0)) {
      id[len++] = (char)c;
      continue;
    }
    id[len++] = '$';
    id[len++] = HEX[c >> 4];
    id[len++] = HEX[c & 15];
  }
  return (TxStr){id, len};
}

static TxStr type_of(Print *p, const IrBuf *b) {
  Text t;
  text_init(&t, p->tmp.alloc);
  text_puts(&t, "memref<");
  for (int i = 0; i < b->rank; i++) {
    text_int(&t, b->shape[i]);
    text_putc(&t, 'x');
  }
  text_puts(&t, dtype_info[b->dtype].mlir);
  text_puts(&t, ", \"");
  text_puts(&t, space_name(b->space));
  text_puts(&t, "\">");
  char *s = arena_strdup(&p->tmp, text_str(&t), t.len);
  TxStr type = {s ? s : "", s ? t.len : 0};
  if (t.oom) p->tmp.oom = true;
  text_free(&t);
  return type;
}

void pr_spell_buffers(Print *p) {
  const IrFunc *f = p->f;
  p->buf = arena_newn(&p->tmp, PrBuf, f->nbufs + 1);
  if (!p->buf) return;
  for (uint32_t i = 0; i < f->nbufs; i++) {
    const IrBuf *b = f->bufs[i];
    p->buf[i].ref = value_id(p, b->name);
    p->buf[i].type = type_of(p, b);
    if (b->kind != BUF_VIEW || b->base >= f->nbufs) continue;
    PrBuf *base = &p->buf[b->base];
    if (base->last_view)
      p->buf[base->last_view - 1].next_view = i + 1;
    else
      base->first_view = i + 1;
    base->last_view = i + 1;
  }
}
