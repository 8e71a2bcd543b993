/* bind.c -- room api: words of a command line as arguments of a kernel, or of a program whose source is not at hand. */
#include "api.h"

typedef struct Binding {
  nkl_ctx *c;
  nkl_bound *b;
  nkl_bind_options o;
  const Artifact *program; /* NULL: a kernel */
  const char *who;         /* "the kernel", or the program's name */
  const char **names;      /* parameters; of a program: inputs, then constants */
  const char **given;      /* the word for each */
  size_t nnames, ninputs;
  bool named; /* a word with a name has been seen */
} Binding;

void nkl_bind_options_init(nkl_bind_options *o) { API_SET(o, (nkl_bind_options){.struct_size = sizeof *o}); }

/* ---- which parameter ----------------------------------------------------------------------------------------- */

/* "name=": the length of the name, 0 when the word is a value alone. */
static size_t name_length(const char *word) {
  size_t n = 0;
  while ((word[n] >= 'a' && word[n] <= 'z') || (word[n] >= 'A' && word[n] <= 'Z') || word[n] == '_' ||
         (n > 0 && word[n] >= '0' && word[n] <= '9'))
    n++;
  return word[n] == '=' ? n : 0;
}

static const char *list_names(const Binding *k) {
  const char *list = k->nnames ? "" : "no arguments";
  for (size_t i = 0; list && i < k->nnames; i++)
    list = arena_printf(&k->b->arena, "%s%s%s", list, i ? ", " : "", k->names[i]);
  return list ? list : "";
}

static bool find_name(const Binding *k, const char *word, size_t n, size_t *slot) {
  for (*slot = 0; *slot < k->nnames; ++*slot)
    if (strlen(k->names[*slot]) == n && memcmp(k->names[*slot], word, n) == 0) return true;
  char *name = arena_strdup(&k->b->arena, word, n);
  if (!name) return DIAG0(&k->c->diag, nomem);
  const char *near = diag_nearest(name, k->names);
  return DIAG(&k->c->diag, word_unknown, word, k->who, name, near ? " (did you mean '" : "", near ? near : "",
              near ? "'?)" : "", list_names(k));
}

/* A word without a name goes to the next free parameter; in a program, to the next one of its kind. */
static bool next_free(const Binding *k, const char *word, bool tensor, size_t *slot) {
  size_t from = k->program && !tensor ? k->ninputs : 0, to = k->program && tensor ? k->ninputs : k->nnames;
  for (*slot = from; *slot < to; ++*slot)
    if (!k->given[*slot]) return true;
  return DIAG(&k->c->diag, word_surplus, word, k->who, list_names(k));
}

/* ---- values -------------------------------------------------------------------------------------------------- */

static bool make_array(const Binding *k, const HostValue *v, const char *name, SimTensor *t) {
  nkl_tensor_desc d;
  const char *why;
  nkl_tensor_desc_init(&d);
  d.dtype = (nkl_dtype)v->dtype;
  d.rank = v->rank;
  memcpy(d.shape, v->shape, sizeof d.shape);
  if (!api_tensor_shape(&d, t, &why)) return DIAG(&k->c->diag, api_use, name, why);
  if (k->o.shapes_only) return true;
  t->data = alloc_new(&k->c->alloc, (size_t)tensor_bytes(t) + 1);
  if (!t->data) {
    DIAG0(&k->c->diag, nomem);
    diag_prefix(&k->c->diag, name);
    return false;
  }
  ApiFill fill = {v, name, k->o.seed};
  if (api_fill(&fill, t, &k->c->diag)) return true;
  tensor_free(k->c->alloc, t);
  return false;
}

/* Of a program's input the dtype is known; of a kernel's parameter it is not. */
static DType input_dtype(const Binding *k, size_t slot) {
  return k->program && slot < k->ninputs ? artifact_input(k->program, (uint32_t)slot)->dtype : DT_none;
}

static bool make_tensor(const Binding *k, const HostValue *v, size_t slot, nkl_arg *arg) {
  SimTensor t;
  const char *name = k->names[slot];
  TensorAsk ask = {.path = v->path, .member = v->member, .dtype = v->dtype, .raw = input_dtype(k, slot)};
  bool ok = v->kind == HV_FILE ? tensorfile_read(k->c->alloc, &ask, &t, &k->c->diag) : make_array(k, v, name, &t);
  if (!ok && v->kind == HV_FILE) diag_prefix(&k->c->diag, name);
  if (!ok) return false;
  if (!k->o.shapes_only) {
    arg->kind = NKL_ARG_TENSOR;
    arg->u.t = api_tensor(k->c->alloc, &t);
    return arg->u.t || DIAG0(&k->c->diag, nomem);
  }
  nkl_tensor_desc *d = arena_new(&k->b->arena, nkl_tensor_desc);
  if (d) {
    nkl_tensor_desc_init(d);
    d->dtype = (nkl_dtype)t.dtype;
    d->rank = t.rank;
    memcpy(d->shape, t.shape, sizeof d->shape);
  }
  tensor_free(k->c->alloc, &t);
  arg->kind = NKL_ARG_DECL;
  arg->u.decl = d;
  return d || DIAG0(&k->c->diag, nomem);
}

static bool make_constant(const Binding *k, const ConstValue *v, nkl_arg *arg) {
  switch (v->kind) {
    case CONST_BOOL:
      arg->kind = NKL_ARG_BOOL, arg->u.b = v->b;
      return true;
    case CONST_INT:
      arg->kind = NKL_ARG_INT, arg->u.i = v->i;
      return true;
    case CONST_FLOAT:
      arg->kind = NKL_ARG_NUM, arg->u.n = v->f;
      return true;
    case CONST_STRING:
      arg->kind = NKL_ARG_STR;
      arg->u.s.p = v->s;
      arg->u.s.len = v->len;
      return true;
    case CONST_TUPLE: {
      nkl_arg *items = arena_newn(&k->b->arena, nkl_arg, v->nitems);
      if (!items) return DIAG0(&k->c->diag, nomem);
      for (uint32_t i = 0; i < v->nitems; i++)
        if (!make_constant(k, &v->items[i], &items[i])) return false;
      arg->kind = NKL_ARG_TUPLE;
      arg->u.tuple.items = items;
      arg->u.tuple.n = v->nitems;
      return true;
    }
    default:
      arg->kind = NKL_ARG_NIL;
      return true;
  }
}

/* ---- what a program already knows ---------------------------------------------------------------------------- */

static bool same_constant(const Binding *k, const ConstValue *a, const ConstValue *b, bool *same) {
  Text x, y;
  text_init(&x, k->c->alloc);
  text_init(&y, k->c->alloc);
  fw_key_const(&x, a);
  fw_key_const(&y, b);
  bool ok = !x.oom && !y.oom;
  *same = ok && x.len == y.len && memcmp(text_str(&x), text_str(&y), x.len) == 0;
  text_free(&x);
  text_free(&y);
  return ok || DIAG0(&k->c->diag, nomem);
}

static bool check_constant(const Binding *k, const char *word, const HostValue *v, size_t slot) {
  bool same;
  ConstValue want = k->program->constants[slot - k->ninputs], have = v->constant;
  want.name = have.name = NULL;
  if (!same_constant(k, &want, &have, &same)) return false;
  return same || DIAG(&k->c->diag, word_constant, word, k->who, k->names[slot]);
}

/* Inputs of a program are tensors, its constants are what they were. */
static bool check_program(const Binding *k, const char *word, const HostValue *v, size_t slot) {
  bool tensor = v->kind != HV_CONST;
  if (slot >= k->ninputs)
    return tensor ? DIAG(&k->c->diag, word_constant, word, k->who, k->names[slot]) : check_constant(k, word, v, slot);
  return tensor || DIAG(&k->c->diag, word_tensor, word, k->who, k->names[slot]);
}

/* ---- one word after another ---------------------------------------------------------------------------------- */

static bool place(Binding *k, const char *word, size_t n, const HostValue *v, size_t *slot) {
  if (!n) return next_free(k, word, v->kind != HV_CONST, slot);
  if (!find_name(k, word, n, slot)) return false;
  return !k->given[*slot] || DIAG(&k->c->diag, word_twice, k->names[*slot], k->given[*slot], word);
}

static bool bind_word(Binding *k, const char *word) {
  HostValue v;
  size_t slot, n = name_length(word);
  if (!n && k->named) return DIAG(&k->c->diag, word_position, word);
  k->named = k->named || n;
  if (n && !find_name(k, word, n, &slot)) return false; /* before reading a value that may be long */
  char *name = n ? arena_strdup(&k->b->arena, word, n) : NULL;
  HostWord w = {word + (n ? n + 1 : 0), strlen(word) - (n ? n + 1 : 0), name ? name : "argument"};
  if (!host_value(k->c->host, &w, &k->b->arena, &v, &k->c->diag) || !place(k, word, n, &v, &slot)) return false;
  k->given[slot] = word;
  if (k->program && !check_program(k, word, &v, slot)) return false;
  nkl_arg *arg = &k->b->args[k->b->n];
  memset(arg, 0, sizeof *arg);
  arg->name = k->names[slot];
  bool ok = v.kind == HV_CONST ? make_constant(k, &v.constant, arg) : make_tensor(k, &v, slot, arg);
  k->b->n += ok;
  return ok;
}

static bool prepare(Binding *k, size_t nnames, size_t nwords) {
  Arena *a = &k->b->arena;
  k->nnames = nnames;
  k->names = arena_newn(a, const char *, nnames + 1);
  k->given = arena_newn(a, const char *, nnames);
  k->b->args = arena_newn(a, nkl_arg, nwords);
  return (k->names && k->given && k->b->args) || DIAG0(&k->c->diag, nomem);
}

static bool bind_all(Binding *k, const char *const *words, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!bind_word(k, words[i])) return false;
  return true;
}

static nkl_bound *new_bound(nkl_ctx *c) {
  nkl_bound *b = alloc_new(&c->alloc, sizeof *b);
  if (!b) return NULL;
  *b = (nkl_bound){.n = 0};
  arena_init(&b->arena, c->alloc);
  return b;
}

static nkl_status finish(Binding *k, bool ok, nkl_bound **out) {
  if (ok) {
    *out = k->b;
    return NKL_OK;
  }
  nkl_bound_free(k->b);
  return api_fail(k->c);
}

nkl_status nkl_bind_words(nkl_ctx *c, const nkl_kernel *k, const char *const *words, size_t n,
                          const nkl_bind_options *o, nkl_bound **out) {
  API_SET(out, NULL);
  API_ENTER(c, k, out);
  Binding b = {.c = c, .b = new_bound(c), .who = "the kernel"};
  if (!b.b) return API_NOMEM(c);
  nkl_bind_options_init(&b.o);
  bool ok = API_STRUCT(__func__, nkl_bind_options, &b.o, o, &c->diag) && API_LIST(__func__, words, n, &c->diag);
  int count = nkl_kernel_param_count(k);
  ok = ok && prepare(&b, (size_t)count, n);
  for (int i = 0; ok && i < count; i++) {
    const char *name = nkl_kernel_param_name(k, i);
    b.names[i] = arena_strdup(&b.b->arena, name, strlen(name)); /* the arguments may outlive the kernel */
    ok = b.names[i] || DIAG0(&c->diag, nomem);
  }
  return finish(&b, ok && bind_all(&b, words, n), out);
}

nkl_status nkl_bind_program(nkl_ctx *c, const nkl_program *p, const char *const *words, size_t n,
                            const nkl_bind_options *o, nkl_bound **out) {
  API_SET(out, NULL);
  API_ENTER(c, p, out);
  const Artifact *a = api_artifact(p);
  Binding k = {.c = c, .b = new_bound(c), .program = a, .who = a->func_name, .ninputs = a->ninputs};
  if (!k.b) return API_NOMEM(c);
  nkl_bind_options_init(&k.o);
  bool ok = API_STRUCT(__func__, nkl_bind_options, &k.o, o, &c->diag) && API_LIST(__func__, words, n, &c->diag);
  ok = ok && prepare(&k, a->ninputs + a->nconstants, n);
  for (size_t i = 0; ok && i < k.nnames; i++) {
    const char *name = i < a->ninputs ? a->input_names[i] : a->constants[i - a->ninputs].name;
    k.names[i] = arena_strdup(&k.b->arena, name, strlen(name));
    ok = k.names[i] || DIAG0(&c->diag, nomem);
  }
  return finish(&k, ok && bind_all(&k, words, n), out);
}

/* ---- results ------------------------------------------------------------------------------------------------- */

const nkl_arg *nkl_bound_args(const nkl_bound *b, size_t *n) {
  API_SET(n, b ? b->n : 0);
  return b ? b->args : NULL;
}

static nkl_tensor *tensor_named(const nkl_bound *b, const char *name) {
  for (size_t i = 0; i < b->n; i++)
    if (b->args[i].kind == NKL_ARG_TENSOR && strcmp(b->args[i].name, name) == 0) return b->args[i].u.t;
  return NULL;
}

nkl_status nkl_bound_inputs(nkl_ctx *c, const nkl_bound *b, const nkl_program *p, nkl_tensor **tensors) {
  API_BEGIN(c, b, p, tensors);
  const Artifact *a = api_artifact(p);
  for (uint32_t i = 0; i < a->ninputs; i++) {
    const char *name = a->input_names[i];
    tensors[i] = tensor_named(b, name);
    if (!tensors[i])
      return API_FAIL(c, input_missing, a->func_name, name, dtype_name(artifact_input(a, i)->dtype), name);
  }
  return NKL_OK;
}

void nkl_bound_free(nkl_bound *b) {
  if (!b) return;
  for (size_t i = 0; i < b->n; i++)
    if (b->args[i].kind == NKL_ARG_TENSOR) nkl_tensor_release(b->args[i].u.t);
  Alloc alloc = b->arena.alloc;
  arena_free(&b->arena);
  alloc_free(&alloc, b, sizeof *b);
}
