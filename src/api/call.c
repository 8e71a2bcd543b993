/* call.c -- room api: nkl_call, specialization and simulation in one, on tensors of the host or of its framework. */
#include "api.h"

typedef struct Calling {
  nkl_ctx *c;
  const nkl_request *r;
  const Artifact *a;
  const nkl_sim *s;
  SimTensor *operands;
  nkl_tensor **tensors;
  const nkl_arg **args; /* of each operand */
  uint32_t mapped;      /* operands whose data may have to be unmapped */
} Calling;

/* The argument that became operand i: operands are named as parameters are. */
static const nkl_arg *argument_of(const Calling *k, const char *name) {
  int position = 0;
  for (size_t i = 0; i < k->r->nargs; i++) {
    const nkl_arg *arg = &k->r->args[i];
    const char *param = arg->name ? arg->name : nkl_kernel_param_name(k->r->kernel, position++);
    if (param && strcmp(param, name) == 0) return arg;
  }
  return NULL;
}

static bool map_data(Calling *k, uint32_t i) {
  const nkl_framework *f = &k->c->framework;
  const char *name = k->a->input_names[i], *why;
  nkl_tensor_desc d;
  if (!f->map_data)
    return DIAG(&k->c->diag, framework, f->name, name, "the framework has no map_data, so there is nothing to run on");
  nkl_tensor_desc_init(&d);
  api_leave_to_host(k->c);
  nkl_status s = f->map_data(f->ud, k->args[i]->u.obj, k->s->in_place, &d);
  api_back_from_host(k->c);
  if (s != NKL_OK) return DIAG(&k->c->diag, framework_callback, name, f->name, "map_data", nkl_status_name(s));
  if (!api_tensor_shape(&d, &k->operands[i], &why) || !api_tensor_lent(&d, &k->operands[i], &why)) {
    k->operands[i].data = d.data; /* to be unmapped */
    return DIAG(&k->c->diag, framework, f->name, name, why);
  }
  k->operands[i].data = d.data;
  return true;
}

static bool take_operands(Calling *k) {
  for (uint32_t i = 0; i < k->a->ninputs; i++) {
    const char *name = k->a->input_names[i];
    k->args[i] = argument_of(k, name);
    if (!k->args[i]) return NK_BUG(&k->c->diag, "an operand is no parameter");
    k->mapped = i + 1;
    if (k->args[i]->kind == NKL_ARG_TENSOR) {
      k->tensors[i] = k->args[i]->u.t;
      k->operands[i] = k->tensors[i]->t;
    } else if (k->args[i]->kind == NKL_ARG_FRAMEWORK) {
      if (!map_data(k, i)) return false;
    } else {
      return DIAG(&k->c->diag, kernel_decl_run, k->a->func_name, name, "nkl_call");
    }
  }
  return true;
}

/* Frameworks get the new bytes of what the kernel updates. */
static bool write_back(const Calling *k, uint32_t i, nkl_tensor *const *outputs) {
  for (uint32_t o = 0; k->s->in_place && o < k->a->noutputs; o++) {
    if (fw_updated_operand(k->a, o) != (int32_t)i) continue;
    memcpy(k->operands[i].data, outputs[o]->t.data, (size_t)tensor_bytes(&k->operands[i]));
    return true;
  }
  return false;
}

static void unmap(const Calling *k, nkl_tensor *const *outputs) {
  const nkl_framework *f = &k->c->framework;
  for (uint32_t i = 0; i < k->mapped; i++) {
    if (k->args[i]->kind != NKL_ARG_FRAMEWORK || !k->operands[i].data) continue;
    bool dirty = outputs && write_back(k, i, outputs);
    if (!f->unmap_data) continue;
    api_leave_to_host(k->c);
    f->unmap_data(f->ud, k->args[i]->u.obj, dirty);
    api_back_from_host(k->c);
  }
}

static bool run(Calling *k, nkl_tensor **outputs) {
  Arena arena;
  arena_init(&arena, k->c->alloc);
  k->operands = arena_newn(&arena, SimTensor, k->a->ninputs);
  k->tensors = arena_newn(&arena, nkl_tensor *, k->a->ninputs);
  k->args = arena_newn(&arena, const nkl_arg *, k->a->ninputs);
  bool ok = !arena.oom || DIAG0(&k->c->diag, nomem);
  if (ok) {
    ApiRun r = {k->a, k->operands, k->tensors, k->s, NULL};
    ok = take_operands(k);
    api_leave_to_host(k->c); /* print and warn of the run */
    ok = ok && api_run(&r, outputs, &k->c->diag);
    api_back_from_host(k->c);
    unmap(k, ok ? outputs : NULL);
  }
  arena_free(&arena);
  return ok;
}

nkl_status nkl_call(nkl_ctx *c, const nkl_request *request, const nkl_sim *sim, nkl_tensor **outputs, size_t max,
                    size_t *n) {
  nkl_program *p;
  nkl_request r;
  nkl_sim s;
  API_SET(n, 0);
  for (size_t i = 0; outputs && i < max; i++) outputs[i] = NULL;
  API_ENTER(c, request, n);
  if (max && !outputs) return API_FAIL(c, api_use, __func__, "outputs is NULL and max is not 0");
  API_RETURN_UNLESS_OK(nkl_specialize(c, request, &p));
  nkl_request_init(&r);
  nkl_sim_init(&s);
  bool ok =
      API_STRUCT(__func__, nkl_request, &r, request, &c->diag) && API_STRUCT(__func__, nkl_sim, &s, sim, &c->diag);
  if (ok && s.ranks > 1)
    ok = DIAG(&c->diag, api_use, "nkl_call", "it runs one rank; nkl_specialize and nkl_simulate run several");
  const Artifact *a = api_artifact(p);
  if (ok && a->noutputs > max) ok = DIAG(&c->diag, output_count, "nkl_call", a->func_name, (size_t)a->noutputs, max);
  if (!s.interrupt) s.interrupt = c;
  Calling k = {.c = c, .r = &r, .a = a, .s = &s};
  ok = ok && run(&k, outputs);
  *n = ok ? a->noutputs : 0;
  nkl_program_release(p);
  return ok ? NKL_OK : api_fail(c);
}
