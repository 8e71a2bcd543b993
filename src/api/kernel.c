/* kernel.c -- room api: kernels, the arguments of a request, specialization, the hooks of a host's framework. */
#include <stdio.h>

#include "api.h"

/* Takes over the reference. */
static nkl_status hold(nkl_ctx *c, int ref, nkl_kernel **out) {
  *out = alloc_new(&c->alloc, sizeof **out);
  if (*out) {
    **out = (nkl_kernel){.ctx = c, .count = 1, .ref = ref};
    return NKL_OK;
  }
  host_kernel_drop(c->host, ref);
  return API_NOMEM(c);
}

nkl_status nkl_get_kernel(nkl_ctx *c, const char *name, nkl_kernel **out) {
  int ref;
  API_SET(out, NULL);
  API_ENTER(c, out);
  return host_kernel(c->host, name, &ref, &c->diag) ? hold(c, ref, out) : api_fail(c);
}

nkl_kernel *nkl_kernel_retain(nkl_kernel *k) {
  if (k) k->count++;
  return k;
}

void nkl_kernel_release(nkl_kernel *k) {
  if (!k || --k->count > 0) return;
  host_kernel_drop(k->ctx->host, k->ref);
  alloc_free(&k->ctx->alloc, k, sizeof *k);
}

int nkl_kernel_param_count(const nkl_kernel *k) { return k ? host_kernel_params(k->ctx->host, k->ref) : 0; }

const char *nkl_kernel_param_name(const nkl_kernel *k, int i) {
  return i >= 0 && i < nkl_kernel_param_count(k) ? host_kernel_param(k->ctx->host, k->ref, i) : NULL;
}

nkl_status nkl_kernel_names(nkl_ctx *c, nkl_buf *out) {
  Text t;
  API_SET(out, (nkl_buf)NKL_BUF_INIT);
  API_ENTER(c, out);
  text_init(&t, c->alloc);
  if (host_kernel_names(c->host, &t, &c->diag)) return api_take(&t, out) ? NKL_OK : API_NOMEM(c);
  text_free(&t);
  return api_fail(c);
}

const char *nkl_kernel_mode(const nkl_kernel *k) { return k ? host_kernel_mode(k->ctx->host, k->ref) : ""; }

void nkl_kernel_options_init(nkl_kernel_options *o) {
  API_SET(o, (nkl_kernel_options){.struct_size = sizeof *o, .enable_cache = -1});
}

nkl_status nkl_kernel_replace(const nkl_kernel *k, const nkl_kernel_options *options, nkl_kernel **out) {
  nkl_ctx *c = k ? k->ctx : NULL;
  nkl_kernel_options o;
  int ref;
  nkl_kernel_options_init(&o);
  API_SET(out, NULL);
  API_ENTER(c, options, out);
  if (!API_STRUCT(__func__, nkl_kernel_options, &o, options, &c->diag)) return api_fail(c);
  HostKernelOptions changes = {o.mode, o.func_name, o.platform_target, o.enable_cache, o.cache_size};
  return host_kernel_replace(c->host, k->ref, &changes, &ref, &c->diag) ? hold(c, ref, out) : api_fail(c);
}

/* ---- the framework of the host ------------------------------------------------------------------------------- */

void nkl_framework_init(nkl_framework *f) { API_SET(f, (nkl_framework){.struct_size = sizeof *f, .name = "host"}); }

nkl_status nkl_set_framework(nkl_ctx *c, const nkl_framework *framework) {
  nkl_framework f;
  nkl_framework_init(&f);
  API_BEGIN(c);
  c->framework.struct_size = 0;
  if (!framework) return NKL_OK;
  if (!API_STRUCT(__func__, nkl_framework, &f, framework, &c->diag)) return api_fail(c);
  if (!f.is_framework_tensor || !f.map_framework_tensor || !f.translate_to_neuron_dtype)
    return API_FAIL(c, api_use, "nkl_set_framework",
                    "is_framework_tensor, map_framework_tensor and translate_to_neuron_dtype are all needed");
  f.struct_size = sizeof f;
  c->framework = f;
  return NKL_OK;
}

static bool ask_framework(nkl_ctx *c, const nkl_arg *arg, const char *who, FwArg *out) {
  const nkl_framework *f = &c->framework;
  nkl_tensor_desc d;
  const void *host_dtype = NULL;
  const char *why;
  SimTensor t;
  if (!f->struct_size)
    return DIAG(&c->diag, framework, "nkl_specialize", who, "no framework was set (nkl_set_framework)");
  if (!f->is_framework_tensor(f->ud, arg->u.obj))
    return DIAG(&c->diag, framework, f->name, who, "is neither a tensor of the framework nor a constant");
  nkl_tensor_desc_init(&d);
  nkl_status s = f->map_framework_tensor(f->ud, arg->u.obj, &d.rank, d.shape, &host_dtype);
  if (s != NKL_OK) return DIAG(&c->diag, framework_callback, who, f->name, "map_framework_tensor", nkl_status_name(s));
  d.dtype = f->translate_to_neuron_dtype(f->ud, host_dtype);
  if (d.dtype == NKL_INVALID) return DIAG(&c->diag, framework_dtype, who, f->name);
  if (!api_tensor_shape(&d, &t, &why)) return DIAG(&c->diag, framework, f->name, who, why);
  out->dtype = t.dtype;
  out->rank = t.rank;
  memcpy(out->shape, t.shape, sizeof out->shape);
  return true;
}

/* Shape and dtype of an object of the framework. */
static bool map_object(nkl_ctx *c, const nkl_arg *arg, const char *who, FwArg *out) {
  api_leave_to_host(c);
  bool ok = ask_framework(c, arg, who, out);
  api_back_from_host(c);
  return ok;
}

/* ---- arguments ----------------------------------------------------------------------------------------------- */

/* A bound on what shared items come to; those of a cycle are too deep. */
enum { MOST_ITEMS = 1 << 20 };

/* The values of one request. */
typedef struct Values {
  nkl_ctx *c;
  Arena *a;
  int deep;     /* tuples around the one that is read */
  size_t items; /* of all tuples */
} Values;

static bool constant(Values *v, const nkl_arg *arg, ConstValue *out);

static bool tuple(Values *v, const nkl_arg *arg, ConstValue *out) {
  Diag *d = &v->c->diag;
  size_t n = arg->u.tuple.n;
  if (!arg->u.tuple.items && n) return DIAG(d, api_use, "nkl_specialize", "the items of a tuple are NULL");
  if (v->deep == CONST_MOST_DEEP) return DIAG(d, api_use, "nkl_specialize", "a tuple is more than 30 tuples deep");
  if (n > MOST_ITEMS - v->items) return DIAG(d, api_use, "nkl_specialize", "tuples have more than 1048576 items");
  v->items += n;
  if (n && arg->u.tuple.items[n - 1].kind == NKL_ARG_NIL)
    return DIAG(d, api_use, "nkl_specialize", "a tuple ends with nil, which no list of Lua's does");
  ConstValue *items = arena_newn(v->a, ConstValue, n);
  if (!items) return DIAG0(d, nomem);
  *out = (ConstValue){.kind = CONST_TUPLE, .items = items, .nitems = (uint32_t)n};
  v->deep++;
  for (size_t i = 0; i < n; i++)
    if (!constant(v, &arg->u.tuple.items[i], &items[i])) return false;
  v->deep--;
  return true;
}

static bool constant(Values *v, const nkl_arg *arg, ConstValue *out) {
  *out = (ConstValue){.kind = CONST_NIL};
  switch (arg->kind) {
    case NKL_ARG_NIL:
      return true;
    case NKL_ARG_BOOL:
      *out = (ConstValue){.kind = CONST_BOOL, .b = arg->u.b != 0};
      return true;
    case NKL_ARG_INT:
      *out = (ConstValue){.kind = CONST_INT, .i = arg->u.i};
      return true;
    case NKL_ARG_NUM:
      *out = (ConstValue){.kind = CONST_FLOAT, .f = arg->u.n};
      return true;
    case NKL_ARG_STR:
      if (!arg->u.s.p && arg->u.s.len) return DIAG(&v->c->diag, api_use, "nkl_specialize", "a string is NULL");
      *out = (ConstValue){.kind = CONST_STRING, .s = arg->u.s.p ? arg->u.s.p : "", .len = arg->u.s.len};
      return true;
    case NKL_ARG_TUPLE:
      return tuple(v, arg, out);
    default:
      return DIAG(&v->c->diag, api_use, "nkl_specialize",
                  "a tuple or an option holds a tensor, or an argument's kind is unknown");
  }
}

static bool tensor_argument(nkl_ctx *c, const nkl_arg *arg, const char *who, FwArg *out) {
  SimTensor t;
  nkl_tensor_desc d;
  const char *why;
  out->is_tensor = true;
  nkl_tensor_desc_init(&d);
  if (arg->kind == NKL_ARG_FRAMEWORK) return map_object(c, arg, who, out);
  if (arg->kind == NKL_ARG_TENSOR ? !arg->u.t : !arg->u.decl)
    return DIAG(&c->diag, framework, "nkl_specialize", who, "it is NULL");
  if (arg->kind == NKL_ARG_TENSOR) {
    t = arg->u.t->t;
  } else {
    if (!API_STRUCT("nkl_specialize", nkl_tensor_desc, &d, arg->u.decl, &c->diag)) return false;
    if (!api_tensor_shape(&d, &t, &why)) return DIAG(&c->diag, framework, "nkl_specialize", who, why);
  }
  out->dtype = t.dtype;
  out->rank = t.rank;
  memcpy(out->shape, t.shape, sizeof out->shape);
  return true;
}

static bool argument(Values *v, const nkl_arg *arg, size_t i, FwArg *out) {
  bool tensor = arg->kind == NKL_ARG_TENSOR || arg->kind == NKL_ARG_DECL || arg->kind == NKL_ARG_FRAMEWORK;
  memset(out, 0, sizeof *out);
  out->name = arg->name;
  if (!tensor) return constant(v, arg, &out->value);
  const char *who = arg->name ? arg->name : arena_printf(v->a, "#%zu", i);
  return who ? tensor_argument(v->c, arg, who, out) : DIAG0(&v->c->diag, nomem);
}

/* Whether the target has so many is asked later, when it is known. */
static bool grid_cores(nkl_ctx *c, const nkl_request *r, Arena *a, const IrCores **out) {
  IrCores *cores = arena_newn(a, IrCores, r->ngrid);
  if (!cores) return DIAG0(&c->diag, nomem);
  for (size_t i = 0; r->cores && i < r->ngrid; i++) {
    int64_t n = r->cores[i].count, block = r->cores[i].block, size = r->grid[i];
    if (n == 0 || n == 1) continue;
    if (n < 0 || size < 1 || size % n != 0 || (block != 1 && block != size / n))
      return DIAG(&c->diag, host_cores, i, (long long)size, (long long)n, (long long)block);
    cores[i] = (IrCores){n, block};
  }
  if (r->cores) *out = cores;
  return true;
}

static bool has_lists(nkl_ctx *c, const nkl_request *r) {
  const char *what = r->nargs && !r->args   ? "args"
                     : r->ngrid && !r->grid ? "grid"
                     : r->nopts && !r->opts ? "opts"
                                            : NULL;
  char text[64];
  if (r->ngrid > NKL_MAX_RANK) return DIAG(&c->diag, api_use, "nkl_specialize", "ngrid is not 0 to 8");
  if (!what) return true;
  snprintf(text, sizeof text, "%s is NULL and n%s is not 0", what, what);
  return DIAG(&c->diag, api_use, "nkl_specialize", text);
}

static bool given_twice(nkl_ctx *c, Arena *a, const char *what, const char *name) {
  const char *text = arena_printf(a, "%s '%s' is given twice", what, name);
  return text ? DIAG(&c->diag, api_use, "nkl_specialize", text) : DIAG0(&c->diag, nomem);
}

/* A table of Lua's would keep the later of two. */
static bool names_differ(nkl_ctx *c, const nkl_request *r, Arena *a) {
  for (size_t i = 0; i < r->nargs; i++)
    for (size_t k = 0; r->args[i].name && k < i; k++)
      if (r->args[k].name && !strcmp(r->args[i].name, r->args[k].name))
        return given_twice(c, a, "argument", r->args[i].name);
  for (size_t i = 0; i < r->nopts; i++)
    for (size_t k = 0; r->opts[i].key && k < i; k++)
      if (r->opts[k].key && !strcmp(r->opts[i].key, r->opts[k].key)) return given_twice(c, a, "option", r->opts[i].key);
  return true;
}

/* Arguments of a request; all memory is in the arena. */
static bool api_args(nkl_ctx *c, const nkl_request *r, Arena *a, HostCall *out) {
  if (!has_lists(c, r) || !names_differ(c, r, a)) return false;
  FwArg *args = arena_newn(a, FwArg, r->nargs);
  KernelOpt *opts = arena_newn(a, KernelOpt, r->nopts);
  if (!args || !opts) return DIAG0(&c->diag, nomem);
  Values v = {.c = c, .a = a};
  size_t n = 0;
  for (int named = 0; named < 2; named++) /* positional ones first */
    for (size_t i = 0; i < r->nargs; i++)
      if ((r->args[i].name != NULL) == named && !argument(&v, &r->args[i], i, &args[n++])) return false;
  for (size_t i = 0; i < r->nopts; i++) {
    opts[i].key = r->opts[i].key;
    if (!opts[i].key) return DIAG(&c->diag, api_use, "nkl_specialize", "the key of an option is NULL");
    if (!constant(&v, &r->opts[i].value, &opts[i].value)) return false;
  }
  *out = (HostCall){r->kernel->ref, args, r->nargs, r->grid, NULL, r->ngrid, opts, r->nopts};
  return grid_cores(c, r, a, &out->cores);
}

void nkl_request_init(nkl_request *r) { API_SET(r, (nkl_request){.struct_size = sizeof *r}); }

nkl_status nkl_specialize(nkl_ctx *c, const nkl_request *request, nkl_program **out) {
  nkl_request r;
  HostCall call;
  Arena a;
  const Artifact *artifact = NULL;
  nkl_request_init(&r);
  API_SET(out, NULL);
  API_ENTER(c, request, out);
  if (!API_STRUCT(__func__, nkl_request, &r, request, &c->diag)) return api_fail(c);
  if (!r.kernel || r.kernel->ctx != c)
    return API_FAIL(c, api_use, "nkl_specialize", "the kernel is not one of this context");
  arena_init(&a, c->alloc);
  bool ok = api_args(c, &r, &a, &call) && host_specialize(c->host, &call, &artifact, &c->diag);
  arena_free(&a);
  *out = api_program(artifact);
  return ok ? NKL_OK : api_fail(c);
}
