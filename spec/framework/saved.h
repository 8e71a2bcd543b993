/* saved.h -- spec/framework: artifacts with something in every part, as a trace in a cache makes them, and their files.
 */
#ifndef SPEC_SAVED_H
#define SPEC_SAVED_H
#include "../emit/whole.h"
#include "hash.h"
#include "store.h"

#define KEY_TEXT "the key"

static inline Artifact *saved_make(double f) {
  Artifact *a = make_other(f, 1);
  IrModule *m = (IrModule *)(uintptr_t)a->module;
  uint32_t outer = ir_iter(m, 0, ir_loc(m, "k.lua", 2, false, 0), 3);
  uint32_t inner = ir_iter(m, outer, ir_loc(m, "k.lua", 3, false, ir_loc(m, "k.lua", 9, false, 0)), -4);
  for (uint32_t k = 0; k < m->nfunc; k++)
    for (uint32_t i = 0; i < m->func[k]->nins; i++) m->func[k]->ins[i]->iter = i % 2 ? inner : 0;
  static IrBinding operands[] = {{"p", "x"}, {"q", "y"}};
  static const char *results[] = {"z"};
  static IrNode called = {
      .func_name = "called", .operands = operands, .noperands = 2, .results = results, .nresults = 1};
  static IrNode inside = {.func_name = "inside", .library = "nki.kernels.inside", .key = "0123", .depth = 1};
  static IrNode *nodes[] = {&called, &inside};
  called.loc = ir_loc(m, "k.lua", 7, false, 0);
  m->func[m->nfunc - 1]->nodes = nodes;
  m->func[m->nfunc - 1]->nnodes = 2;
  m->warnings = "warning: two\nwarning: lines\n";
  char *hex = arena_alloc(&a->arena, 33);
  hash_hex(KEY_TEXT, sizeof KEY_TEXT - 1, hex);
  a->cache_key = hex;
  return a;
}

static inline Text saved_bytes(const Artifact *a) {
  Text t;
  text_init(&t, alloc_std);
  assert_true(saved_of(&t, a, KEY_TEXT, sizeof KEY_TEXT - 1));
  return t;
}
#endif
