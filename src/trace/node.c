/* node.c -- room trace: the kernels that were called inside a program, in the order of the calls. */
#include <string.h>

#include "impl.h"

IrNode *tr_node_new(Trace *t, const char *func_name, uint32_t noperands) {
  Arena *a = &t->m->arena;
  IrNode *node = arena_new(a, IrNode);
  IrBinding *operands = arena_newn(a, IrBinding, noperands);
  char *name = arena_strdup(a, func_name, strlen(func_name));
  if (!node || !operands || !name) return tr_oom(t), NULL;
  *node = (IrNode){.func_name = name, .operands = operands, .loc = t->loc};
  return node;
}

bool tr_node_bind(Trace *t, IrNode *node, const char *param, const IrTile *tile) {
  const char *name = arena_strdup(&t->m->arena, param, strlen(param));
  if (!name) return tr_oom(t);
  node->operands[node->noperands++] = (IrBinding){name, tr_base(t->f, tile)->name};
  return true;
}

bool tr_node_add(Trace *t, IrNode *node, uint32_t at, const IrTile *const *results, uint32_t nresults) {
  IrFunc *f = t->f;
  node->results = arena_newn(&t->m->arena, const char *, nresults);
  if (!node->results || !arena_push(&t->m->arena, f->nodes, f->capnodes, f->nnodes)) return tr_oom(t);
  for (uint32_t k = 0; k < nresults; k++) node->results[node->nresults++] = tr_base(f, results[k])->name;
  for (uint32_t k = f->nnodes++; k > at; k--) {
    f->nodes[k] = f->nodes[k - 1];
    f->nodes[k]->depth++;
  }
  f->nodes[at] = node;
  return true;
}
