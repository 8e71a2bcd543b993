/* artifact.c -- room emit: the immutable result of a specialization; what it copies from its module. */
#include <string.h>

#include "emit.h"

static int64_t buf_bytes(const IrBuf *b) { return b->count * dtype_bytes(b->dtype); }

static bool same_tensor(const IrBuf *a, const IrBuf *b) {
  return a->dtype == b->dtype && a->rank == b->rank &&
         memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0 &&
         memcmp(a->data, b->data, (size_t)buf_bytes(a)) == 0;
}

static bool name_taken(const ConstTensor *list, uint32_t n, const char *name) {
  for (uint32_t i = 0; i < n; i++)
    if (strcmp(list[i].name, name) == 0) return true;
  return false;
}

static const char *unique_name(Artifact *a, const ConstTensor *list, uint32_t n, const char *wanted) {
  const char *name = wanted;
  for (unsigned k = 1; name && name_taken(list, n, name); k++) name = arena_printf(&a->arena, "%s_%u", wanted, k);
  return name;
}

static bool add_tensor(Artifact *a, ConstTensor **list, uint32_t *cap, const IrBuf *b) {
  for (uint32_t i = 0; i < a->ntensors; i++)
    if (same_tensor((*list)[i].buf, b)) return true;
  if (!arena_push(&a->arena, *list, *cap, a->ntensors)) return false;
  const char *name = unique_name(a, *list, a->ntensors, b->name);
  (*list)[a->ntensors++] = (ConstTensor){.name = name, .buf = b};
  return name != NULL;
}

static bool collect_tensors(Artifact *a, const IrModule *m) {
  ConstTensor *list = NULL;
  uint32_t cap = 0;
  for (uint32_t i = 0; i < m->nfunc; i++)
    for (uint32_t b = 0; b < m->func[i]->nbufs; b++)
      if (m->func[i]->bufs[b]->kind == BUF_CONST && !add_tensor(a, &list, &cap, m->func[i]->bufs[b])) return false;
  a->tensors = list;
  return true;
}

Artifact *artifact_new(Alloc alloc, const IrModule *m) {
  Artifact *a = alloc_new(&alloc, sizeof *a);
  if (!a) return NULL;
  memset(a, 0, sizeof *a);
  a->refs = 1;
  arena_init(&a->arena, alloc);
  a->module = ir_retain(m);
  a->func_name = m->name;
  a->call_target = EMIT_TARGET_NATIVE;
  a->cache_key = "";
  a->input_names = m->arg_names;
  a->ninputs = m->func[0]->nargs;
  a->output_names = m->output_names;
  a->noutputs = m->func[0]->nrets;
  a->result_is_sequence = m->result_is_sequence;
  a->matmul_mac_count = ir_mac_count(m);
  if (collect_tensors(a, m)) return a;
  artifact_release(a);
  return NULL;
}

const Artifact *artifact_retain(const Artifact *a) {
  __atomic_add_fetch(&((Artifact *)(uintptr_t)a)->refs, 1, __ATOMIC_RELAXED);
  return a;
}

void artifact_release(const Artifact *shared) {
  Artifact *a = (Artifact *)(uintptr_t)shared;
  if (!a || __atomic_sub_fetch(&a->refs, 1, __ATOMIC_ACQ_REL) != 0) return;
  Alloc alloc = a->arena.alloc;
  ir_release(a->module);
  arena_free(&a->arena);
  alloc_free(&alloc, a, sizeof *a);
}

static bool copy_const(Arena *arena, ConstValue *to, const ConstValue *from) {
  *to = *from;
  if (from->name && !(to->name = arena_strdup(arena, from->name, strlen(from->name)))) return false;
  if (from->s && !(to->s = arena_strdup(arena, from->s, from->len))) return false;
  if (!from->nitems) return true;
  ConstValue *items = arena_newn(arena, ConstValue, from->nitems);
  to->items = items;
  for (uint32_t i = 0; items && i < from->nitems; i++)
    if (!copy_const(arena, &items[i], &from->items[i])) return false;
  return items != NULL;
}

bool artifact_set_constants(Artifact *a, const ConstValue *list, uint32_t n) {
  ConstValue *copy = arena_newn(&a->arena, ConstValue, n);
  for (uint32_t i = 0; copy && i < n; i++)
    if (!copy_const(&a->arena, &copy[i], &list[i])) return false;
  a->constants = copy;
  a->nconstants = n;
  return copy != NULL;
}

bool artifact_set_opts(Artifact *a, const KernelOpt *list, uint32_t n) {
  KernelOpt *copy = arena_newn(&a->arena, KernelOpt, n);
  for (uint32_t i = 0; copy && i < n; i++) {
    copy[i].key = arena_strdup(&a->arena, list[i].key, strlen(list[i].key));
    if (!copy[i].key || !copy_const(&a->arena, &copy[i].value, &list[i].value)) return false;
  }
  a->opts = copy;
  a->nopts = n;
  return copy != NULL;
}

const IrBuf *artifact_input(const Artifact *a, uint32_t i) { return a->module->func[0]->bufs[i]; }

const IrBuf *artifact_output(const Artifact *a, uint32_t k) {
  const IrFunc *f = a->module->func[0];
  return f->bufs[f->rets[k]];
}

int32_t artifact_alias(const Artifact *a, uint32_t output) {
  for (uint32_t i = 0; i < a->module->naliases; i++)
    if (a->module->aliases[i].output == (int32_t)output) return a->module->aliases[i].operand;
  return -1;
}
