/* nodes.c -- room framework: the kernels that were called inside a module's programs. They are no part of the program
   and not in its text; an artifact from a file tells them as the traced one does. */
#include <string.h>

#include "store.h"

static void put_str(Text *out, const char *s) {
  if (!s) s = "";
  text_put_u64(out, strlen(s));
  text_puts(out, s);
}

static void put_node(Text *out, const IrModule *m, const IrNode *n) {
  static const IrLoc none = {.file = ""};
  const IrLoc *loc = n->loc && n->loc < m->nlocs ? &m->locs[n->loc] : &none;
  put_str(out, n->func_name);
  put_str(out, n->library);
  put_str(out, n->key);
  put_str(out, loc->file);
  text_put_u64(out, (uint64_t)loc->line);
  text_put_u64(out, n->depth);
  text_put_u64(out, n->noperands);
  for (uint32_t i = 0; i < n->noperands; i++) {
    put_str(out, n->operands[i].param);
    put_str(out, n->operands[i].tensor);
  }
  text_put_u64(out, n->nresults);
  for (uint32_t i = 0; i < n->nresults; i++) put_str(out, n->results[i]);
}

void nodes_write(Text *out, const IrModule *m) {
  for (uint32_t f = 0; f < m->nfunc; f++) {
    text_put_u64(out, m->func[f]->nnodes);
    for (uint32_t i = 0; i < m->func[f]->nnodes; i++) put_node(out, m, m->func[f]->nodes[i]);
  }
}

/* ---- reading: the arena's oom tells of memory, b->bad of anything else ---- */

static const char *get_str(Bytes *b, Arena *a) {
  Span s = bytes_str(b);
  return b->bad ? "" : arena_strdup(a, s.p, s.n);
}

static const char *get_optional(Bytes *b, Arena *a) {
  const char *s = get_str(b, a);
  return s && *s ? s : NULL;
}

/* A number of things that each take some of the bytes that are left. */
static uint32_t get_count(Bytes *b) {
  uint64_t n = bytes_u64(b);
  if (n > b->left || n > UINT32_MAX) b->bad = true;
  return b->bad ? 0 : (uint32_t)n;
}

static IrNode *get_node(Bytes *b, IrModule *m) {
  Arena *a = &m->arena;
  IrNode *n = arena_new(a, IrNode);
  if (!n) return NULL;
  n->func_name = get_str(b, a);
  n->library = get_optional(b, a);
  n->key = get_optional(b, a);
  const char *file = get_optional(b, a);
  uint64_t line = bytes_u64(b), depth = bytes_u64(b);
  if (line > INT32_MAX || depth > UINT32_MAX) b->bad = true;
  if (file && !b->bad) n->loc = ir_loc(m, file, (int)line, false, 0);
  n->depth = (uint32_t)depth;
  n->noperands = get_count(b);
  n->operands = arena_newn(a, IrBinding, n->noperands);
  for (uint32_t i = 0; n->operands && i < n->noperands; i++) {
    n->operands[i].param = get_str(b, a);
    n->operands[i].tensor = get_str(b, a);
  }
  n->nresults = get_count(b);
  n->results = arena_newn(a, const char *, n->nresults);
  for (uint32_t i = 0; n->results && i < n->nresults; i++) n->results[i] = get_str(b, a);
  return n;
}

bool nodes_read(Span nodes, IrModule *m) {
  Bytes b = {nodes.p, nodes.n, false};
  for (uint32_t f = 0; f < m->nfunc; f++) {
    IrFunc *func = m->func[f];
    uint32_t n = get_count(&b);
    func->nodes = arena_newn(&m->arena, IrNode *, n);
    for (uint32_t i = 0; func->nodes && i < n && !b.bad; i++) {
      if (!(func->nodes[i] = get_node(&b, m))) return false;
      func->nnodes++;
    }
  }
  return !b.bad && b.left == 0 && !m->arena.oom;
}
