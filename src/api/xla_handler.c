/* xla_handler.c -- room api: nkl_xla_ffi_execute, which runs a program inside a compiled XLA program on the CPU. */
#include "xla_ffi.h"

#include "api.h"

/* One call: the buffers of the frame as tensors of the program. */
typedef struct Call {
  const XlaFrame *frame;
  const Artifact *artifact;
  bool strict;
  SimTensor *operands, *results;
  SimTensor *outputs; /* where the results are computed: at their place, or in memory of the arena */
  Arena arena;
} Call;

/* ---- what XLA asks at registration ----------------------------------------------------------------------------- */

static XlaMetadata *asked(const XlaFrame *f) {
  for (XlaExtension *e = f->extension; e; e = e->next)
    if (e->kind == XLA_EXTENSION_METADATA && e->struct_size >= sizeof(XlaMetadataExtension))
      return ((XlaMetadataExtension *)(void *)e)->metadata;
  return NULL;
}

/* The layouts are the same in all minor versions, so the answer is the caller's own version where it is known: old
   runtimes insist on equality. Any other caller is told the newest one and refuses the handler. */
static void answer(const XlaFrame *f, XlaMetadata *m) {
  const XlaVersion *have = XLA_HAS(f, XlaFrame, api) && f->api ? &f->api->version : NULL;
  bool known = have && have->major == XLA_MAJOR && have->minor >= 1 && have->minor <= XLA_MINOR;
  if (!XLA_HAS(m, XlaMetadata, version)) return;
  m->version = (XlaVersion){sizeof m->version, NULL, XLA_MAJOR, known ? have->minor : XLA_MINOR};
  if (XLA_HAS(m, XlaMetadata, traits)) m->traits = 0;
  if (XLA_HAS(m, XlaMetadata, state_type)) m->state_type = 0;
}

/* ---- errors ---------------------------------------------------------------------------------------------------- */

static XlaCode code_of(ErrStatus s) {
  switch (s) {
    case ST_NOMEM:
    case ST_LIMIT:
      return XLA_RESOURCE_EXHAUSTED;
    case ST_CANCELLED:
      return XLA_CANCELLED;
    case ST_UNSUPPORTED:
      return XLA_UNIMPLEMENTED;
    case ST_INTERNAL:
      return XLA_INTERNAL;
    default:
      return XLA_INVALID_ARGUMENT;
  }
}

/* "file:line: message [err_id]", then the notes, then the call chain when it says more than file and line. */
static XlaError *report(const XlaFrame *f, const Diag *d) {
  ErrId id = d->id == ERR_none ? ERR_nomem : d->id;
  Text t, at;
  text_init(&t, alloc_std);
  text_init(&at, alloc_std);
  if (d->line) text_printf(&at, "%s:%d", d->file, d->line);
  text_printf(&t, "%s%s%s [%s]", text_str(&at), d->line ? ": " : "", diag_message(d), err_name(id));
  if (d->notes.len) text_printf(&t, "\n%s", text_str(&d->notes));
  if (d->where.len && strcmp(text_str(&d->where), text_str(&at)) != 0) text_printf(&t, "\n%s", text_str(&d->where));
  XlaErrorArgs args = {.struct_size = XLA_END(XlaErrorArgs, code),
                       .message = t.oom ? diag_message(d) : text_str(&t),
                       .code = code_of(err_status(id))};
  XlaError *e = f->api->error_create(&args);
  text_free(&t);
  text_free(&at);
  return e;
}

/* ---- the frame ------------------------------------------------------------------------------------------------- */

static bool check_list(const XlaList *list) {
  return XLA_HAS(list, XlaList, items) && list->size >= 0 && (list->size == 0 || (list->kinds && list->items));
}

static bool check_frame(const XlaFrame *f, Diag *d) {
  const XlaVersion *v = &f->api->version;
  if (v->major != XLA_MAJOR || v->minor < 1)
    return DIAG(d, xla_version, v->major, v->minor, XLA_MAJOR, XLA_MAJOR, XLA_MINOR);
  if (!XLA_HAS(f, XlaFrame, attrs)) return DIAG(d, xla_frame, "the frame ends before its attributes");
  if (!check_list(&f->args)) return DIAG(d, xla_frame, "the list of operands is damaged");
  if (!check_list(&f->rets)) return DIAG(d, xla_frame, "the list of results is damaged");
  const XlaAttrs *a = &f->attrs;
  bool ok = XLA_HAS(a, XlaAttrs, values) && a->size >= 0 && (a->size == 0 || (a->kinds && a->names && a->values));
  for (int64_t i = 0; ok && i < a->size; i++) ok = a->names[i] && a->names[i]->p && a->values[i];
  return ok || DIAG(d, xla_frame, "the list of attributes is damaged");
}

static bool is_named(const XlaSpan *name, const char *want) {
  return name->len == strlen(want) && memcmp(name->p, want, name->len) == 0;
}

static bool read_config(const XlaAttrs *a, int64_t i, XlaSpan *out, Diag *d) {
  if (a->kinds[i] != XLA_ATTR_STRING) return DIAG(d, xla_frame, "the attribute 'config' is no string");
  *out = *(const XlaSpan *)a->values[i];
  return true;
}

static bool read_strict(const XlaAttrs *a, int64_t i, bool *out, Diag *d) {
  const XlaScalar *s = a->values[i];
  if (a->kinds[i] != XLA_ATTR_SCALAR || s->dtype != XLA_PRED || !s->value)
    return DIAG(d, xla_frame, "the attribute 'strict' is no truth value");
  *out = *(const unsigned char *)s->value != 0;
  return true;
}

static bool read_attributes(const XlaFrame *f, XlaSpan *config, bool *strict, Diag *d) {
  const XlaAttrs *a = &f->attrs;
  *config = (XlaSpan){NULL, 0};
  for (int64_t i = 0; i < a->size; i++) {
    const XlaSpan *n = a->names[i];
    if (is_named(n, "config")) {
      if (!read_config(a, i, config, d)) return false;
    } else if (is_named(n, "strict")) {
      if (!read_strict(a, i, strict, d)) return false;
    } else {
      return DIAG(d, xla_attribute, (int)(n->len < 64 ? n->len : 64), n->p);
    }
  }
  return config->p || DIAG(d, xla_frame, "there is no attribute 'config', which holds the backend_config");
}

static const char *type_name(int xla) {
  for (int i = DT_none + 1; i < DT_count; i++)
    if (hlo_element_type((DType)i) == xla) return dtype_info[i].hlo;
  return NULL;
}

static void put_shape(Text *out, int xla, int64_t rank, const int64_t *dims) {
  const char *name = type_name(xla);
  if (name) {
    text_puts(out, name);
  } else {
    text_printf(out, "XLA type %d ", xla);
  }
  text_puts(out, "[");
  for (int64_t i = 0; i < rank && i < IR_MAX_RANK; i++) text_printf(out, i ? ",%lld" : "%lld", (long long)dims[i]);
  text_puts(out, rank > IR_MAX_RANK ? ",...]" : "]");
}

static bool mismatch(const Call *c, const char *name, const XlaBuffer *have, const IrBuf *want, Diag *d) {
  Text a, b;
  text_init(&a, alloc_std);
  text_init(&b, alloc_std);
  put_shape(&a, have->dtype, have->rank, have->dims);
  put_shape(&b, hlo_element_type(want->dtype), want->rank, want->shape);
  DIAG(d, input_data, c->artifact->func_name, name, text_str(&a), text_str(&b));
  text_free(&a);
  text_free(&b);
  return false;
}

/* A buffer of the frame as the tensor that the program expects. */
static bool take_buffer(const Call *c, bool result, uint32_t i, Diag *d) {
  const XlaList *list = result ? &c->frame->rets : &c->frame->args;
  const IrBuf *want = result ? artifact_output(c->artifact, i) : artifact_input(c->artifact, i);
  SimTensor *out = result ? &c->results[i] : &c->operands[i];
  const char *name = result ? c->artifact->output_names[i] : c->artifact->input_names[i];
  const XlaBuffer *have = list->items[i];
  bool buffer = list->kinds[i] == XLA_BUFFER && have && XLA_HAS(have, XlaBuffer, dims) && have->data;
  if (!buffer || have->rank < 0 || (have->rank > 0 && !have->dims))
    return DIAG(d, xla_frame, result ? "a result is no buffer" : "an operand is no buffer");
  if ((uintptr_t)have->data % (uintptr_t)dtype_bytes(want->dtype) != 0)
    return DIAG(d, xla_frame, "a buffer does not lie on whole elements");
  bool same = have->dtype == hlo_element_type(want->dtype) && have->rank == want->rank;
  for (int k = 0; same && k < want->rank; k++) same = have->dims[k] == want->shape[k];
  if (!same) return mismatch(c, name, have, want, d);
  *out = (SimTensor){.dtype = want->dtype, .rank = want->rank, .data = have->data};
  memcpy(out->shape, want->shape, sizeof out->shape);
  return true;
}

static bool take_buffers(Call *c, Diag *d) {
  const Artifact *a = c->artifact;
  const XlaFrame *f = c->frame;
  if (f->args.size != a->ninputs) return DIAG(d, input_count, a->func_name, (size_t)a->ninputs, (size_t)f->args.size);
  if (f->rets.size != a->noutputs)
    return DIAG(d, output_count, "nkl_xla_ffi_execute", a->func_name, (size_t)a->noutputs, (size_t)f->rets.size);
  for (uint32_t i = 0; i < a->ninputs; i++)
    if (!take_buffer(c, false, i, d)) return false;
  for (uint32_t k = 0; k < a->noutputs; k++)
    if (!take_buffer(c, true, k, d)) return false;
  return true;
}

/* ---- the run --------------------------------------------------------------------------------------------------- */

/* Result k may be computed where it belongs: no operand lies there but the one that it aliases. */
static bool in_place(const Call *c, uint32_t k) {
  int32_t own = artifact_alias(c->artifact, k);
  for (uint32_t i = 0; i < c->artifact->ninputs; i++) {
    if (!tensors_overlap(&c->operands[i], &c->results[k])) continue;
    if ((int32_t)i != own || c->operands[i].data != c->results[k].data) return false;
  }
  return true;
}

static bool place_outputs(Call *c, Diag *d) {
  for (uint32_t k = 0; k < c->artifact->noutputs; k++) {
    c->outputs[k] = c->results[k];
    if (!in_place(c, k)) c->outputs[k].data = arena_newn(&c->arena, char, tensor_bytes(&c->results[k]));
  }
  return !c->arena.oom || DIAG0(d, nomem);
}

static bool run(Call *c, Diag *d) {
  nkl_sim s;
  nkl_sim_init(&s);
  s.strict = c->strict;
  ApiRun r = {c->artifact, c->operands, NULL, &s, NULL};
  if (!api_simulate(&r, c->outputs, d)) return false;
  for (uint32_t k = 0; k < c->artifact->noutputs; k++) {
    const SimTensor *from = &c->outputs[k], *to = &c->results[k];
    if (from->data != to->data) memcpy(to->data, from->data, (size_t)tensor_bytes(to));
  }
  return true;
}

static bool execute(const XlaFrame *f, Diag *d) {
  XlaSpan config;
  bool strict = false;
  if (!check_frame(f, d) || !read_attributes(f, &config, &strict, d)) return false;
  nkl_program *p = api_cached_program(config.p, config.len, d);
  if (!p) return false;
  Call c = {.frame = f, .artifact = api_artifact(p), .strict = strict};
  arena_init(&c.arena, alloc_std);
  c.operands = arena_newn(&c.arena, SimTensor, c.artifact->ninputs);
  c.results = arena_newn(&c.arena, SimTensor, c.artifact->noutputs);
  c.outputs = arena_newn(&c.arena, SimTensor, c.artifact->noutputs);
  bool ok = !c.arena.oom || DIAG0(d, nomem);
  ok = ok && take_buffers(&c, d) && place_outputs(&c, d) && run(&c, d);
  arena_free(&c.arena);
  nkl_program_release(p);
  return ok;
}

void *nkl_xla_ffi_execute(void *call_frame) {
  static char unreportable[1]; /* a frame through which no error can be made is answered with no error of XLA's */
  const XlaFrame *f = call_frame;
  XlaMetadata *m = f && XLA_HAS(f, XlaFrame, extension) ? asked(f) : NULL;
  if (m) {
    answer(f, m);
    return NULL;
  }
  if (!f || !XLA_HAS(f, XlaFrame, stage) || !f->api || !XLA_HAS(f->api, XlaApi, error_create)) return unreportable;
  if (f->stage != XLA_STAGE_EXECUTE) return NULL; /* nothing to prepare; only this stage has buffers */
  Diag d;
  diag_init(&d, alloc_std);
  FpEnv env;
  fp_enter(&env);
  XlaError *e = execute(f, &d) ? NULL : report(f, &d);
  fp_leave(&env);
  diag_free(&d);
  return e;
}
