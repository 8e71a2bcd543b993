/* hlo_module.c -- room emit: what the module around a custom-call consists of (hlo.h). Alias rules are those of
   docs/backend-config.md, the last section. */
#include <string.h>

#include "hlo.h"

const char *hlo_opcode(HloOpcode opcode) {
  static const char *const names[] = {[HLO_PARAMETER] = "parameter",
                                      [HLO_CONSTANT] = "constant",
                                      [HLO_CUSTOM_CALL] = "custom-call",
                                      [HLO_GET_TUPLE_ELEMENT] = "get-tuple-element",
                                      [HLO_TUPLE] = "tuple"};
  return names[opcode];
}

/* One output is a tuple only when it was returned as a sequence. */
static bool is_tuple(const Artifact *a) { return a->noutputs != 1 || a->result_is_sequence; }

static void find_source(HloModule *h) {
  const IrModule *m = h->a->module;
  const IrFunc *f = m->func[0];
  for (uint32_t i = 0; i < f->nins; i++) {
    const IrLoc *loc = f->ins[i]->loc && f->ins[i]->loc < m->nlocs ? &m->locs[f->ins[i]->loc] : NULL;
    if (!loc || !loc->file || !*loc->file) continue;
    h->source_file = loc->file;
    h->source_line = loc->line;
    return;
  }
}

/* To XLA "x.0" is another "x": it would rename one of them. */
static size_t stem(const char *name) {
  size_t n = strlen(name);
  return n > 2 && strcmp(name + n - 2, ".0") == 0 ? n - 2 : n;
}

static bool taken(const HloModule *h, const char *name) {
  size_t n = stem(name);
  for (uint32_t i = 0; i < h->nins; i++)
    if (stem(h->ins[i].name) == n && memcmp(h->ins[i].name, name, n) == 0) return true;
  return false;
}

/* Instruction names end in an ordinal of their opcode, except those of parameters. */
static void add(HloModule *h, HloIns ins, const char *name, uint32_t ordinal) {
  ins.name = name ? hlo_name(&h->arena, "", name)
                  : arena_printf(&h->arena, "%s.%u", hlo_opcode(ins.opcode), (unsigned)ordinal);
  while (ins.name && taken(h, ins.name)) ins.name = arena_printf(&h->arena, "%s_", ins.name);
  if (ins.name) h->ins[h->nins++] = ins;
}

/* The tensors [0, n) that one instruction each makes. */
static void add_each(HloModule *h, HloIns ins, const IrBuf *const *part, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    ins.shape = (HloShape){.part = part + i, .n = 1};
    ins.number = i;
    add(h, ins, ins.opcode == HLO_PARAMETER ? h->a->input_names[i] : NULL, i);
  }
}

static void add_all(HloModule *h, const IrBuf *const *part) {
  const Artifact *a = h->a;
  uint32_t noperands = a->ninputs + a->ntensors;
  add_each(h, (HloIns){.opcode = HLO_PARAMETER}, part, a->ninputs);
  add_each(h, (HloIns){.opcode = HLO_CONSTANT}, part + a->ninputs, a->ntensors);
  h->nparams = a->ninputs;
  h->call = h->nins;
  add(h, (HloIns){.opcode = HLO_CUSTOM_CALL, .shape = h->result, .noperands = noperands}, NULL, 0);
  if (!h->result.tuple) return;
  add_each(h, (HloIns){.opcode = HLO_GET_TUPLE_ELEMENT, .first = h->call, .noperands = 1}, h->result.part, a->noutputs);
  HloIns root = {.opcode = HLO_TUPLE, .shape = h->result, .first = h->call + 1, .noperands = a->noutputs};
  add(h, root, NULL, 0);
}

bool hlo_describe(HloModule *h, const Artifact *a) {
  *h = (HloModule){.a = a};
  arena_init(&h->arena, a->arena.alloc);
  uint32_t noperands = a->ninputs + a->ntensors, all = noperands + 2 + a->noutputs;
  const IrBuf **part = arena_newn(&h->arena, const IrBuf *, noperands + a->noutputs);
  h->ins = arena_newn(&h->arena, HloIns, all);
  h->name = hlo_name(&h->arena, "jit_", a->func_name);
  if (!part || !h->ins || !h->name) return false;
  for (uint32_t i = 0; i < a->ninputs; i++) part[i] = artifact_input(a, i);
  for (uint32_t i = 0; i < a->ntensors; i++) part[a->ninputs + i] = a->tensors[i].buf;
  for (uint32_t k = 0; k < a->noutputs; k++) part[noperands + k] = artifact_output(a, k);
  h->params = (HloShape){.part = part, .n = a->ninputs, .tuple = true};
  h->result = (HloShape){.part = part + noperands, .n = a->noutputs, .tuple = is_tuple(a)};
  /* torch-xla calls by the original API and knows no aliases of a call: its buffers alias by donation alone. */
  bool torch = strcmp(a->call_target, EMIT_TARGET_TORCH) == 0;
  h->aliases = a->module->aliases;
  h->naliases = a->module->naliases;
  h->ncall_aliases = torch ? 0 : h->naliases;
  h->api_version = torch ? HLO_API_ORIGINAL : HLO_API_STATUS_RETURNING;
  find_source(h);
  add_all(h, part);
  return h->nins == (h->result.tuple ? all : noperands + 1);
}
