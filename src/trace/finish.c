/* finish.c -- room trace: the end of a trace: what was returned and written, names of outputs, addresses, verification.
 */
#include <stdio.h>
#include <string.h>

#include "impl.h"

static bool check_returns(Trace *t) {
  TrImpl *i = impl(t);
  const char *kernel = t->spec.func_name;
  bool returned;
  if (i->nouts == 0) return DIAG(t->d, tensor_output_not_written_to, kernel, "it returns no tensor");
  for (uint32_t k = 0; k < i->nouts; k++) {
    const TrOut *o = &i->outs[k];
    if (o->is_arg || i->shared[o->index].written) continue;
    ir_diag_where(t->m, o->loc, 0, t->d);
    char what[128];
    snprintf(what, sizeof what, "output %u, '%.64s', is never stored to", k, i->shared[o->index].name);
    return DIAG(t->d, tensor_output_not_written_to, kernel, what);
  }
  for (uint32_t a = 0; a < i->nargs && !t->spec.legacy; a++) {
    returned = false;
    for (uint32_t k = 0; k < i->nouts; k++) returned = returned || (i->outs[k].is_arg && i->outs[k].index == a);
    if (returned || !i->args[a].written) continue;
    ir_diag_where(t->m, i->args[a].write_loc, i->args[a].write_iter, t->d);
    return DIAG(t->d, mutable_parameter_not_returned, kernel, i->args[a].name);
  }
  return true;
}

static bool name_taken(const IrModule *m, uint32_t n, const char *name) {
  for (uint32_t k = 0; k < n; k++)
    if (strcmp(m->output_names[k], name) == 0) return true;
  return false;
}

/* Aliased operand's name, else name=, else output_<i>; clashes get _1, _2 ... */
static bool name_outputs(Trace *t) {
  TrImpl *i = impl(t);
  IrModule *m = t->m;
  m->output_names = arena_newn(&m->arena, const char *, i->nouts);
  for (uint32_t k = 0; k < i->nouts && m->output_names; k++) {
    const TrOut *o = &i->outs[k];
    const char *wanted = o->is_arg ? i->args[o->index].name : i->shared[o->index].name;
    bool own = o->is_arg || i->shared[o->index].named;
    char *name = own ? arena_strdup(&m->arena, wanted, strlen(wanted)) : arena_printf(&m->arena, "output_%u", k);
    const char *base = name;
    for (int n = 1; name && name_taken(m, k, name); n++) name = arena_printf(&m->arena, "%s_%d", base, n);
    m->output_names[k] = name;
    if (!name) return tr_oom(t);
  }
  return m->output_names || tr_oom(t);
}

static bool fill_module(Trace *t) {
  TrImpl *i = impl(t);
  IrModule *m = t->m;
  m->arg_names = arena_newn(&m->arena, const char *, i->nargs);
  if (!m->arg_names) return tr_oom(t);
  for (uint32_t a = 0; a < i->nargs; a++) m->arg_names[a] = m->func[0]->bufs[a]->name;
  m->result_is_sequence = i->is_sequence;
  if (m->nfunc > 1) {
    m->program = arena_newn(&m->arena, uint32_t, m->nprogram);
    if (!m->program) return tr_oom(t);
    memcpy(m->program, i->program, (size_t)m->nprogram * sizeof *m->program);
  }
  return name_outputs(t);
}

/* What a legacy kernel writes becomes outputs before anything looks at them. */
static bool settle(Trace *t) {
  TrImpl *i = impl(t);
  if (i->began || i->done != t->m->nprogram) return NK_BUG(t->d, "a trace ends before its last program has");
  if (t->spec.legacy && !i->settled && !tr_legacy(t)) return false;
  i->settled = true;
  return true;
}

bool tr_allocate_pending_tensors(Trace *t) { return settle(t) && ir_place(t->m, t->d); }

bool tr_check_return(Trace *t) { return settle(t) && check_returns(t); }

IrModule *tr_finish(Trace *t) {
  if (!settle(t) || !fill_module(t) || !ir_verify(t->m, t->d)) return NULL;
  if (t->m->arena.oom) return tr_oom(t), NULL;
  IrModule *m = t->m;
  t->m = NULL;
  return m;
}
