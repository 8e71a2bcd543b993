/* hlo.c -- emit room: a whole HloModule around one custom-call. Names, alias rules and attribute order are those of
   XLA's own text (docs/backend-config.md, the last section). */
#include "hlo.h"

typedef struct Hlo {
  const Artifact *a;
  Text *out;
  Arena arena;
  const char *module;
  const char *const *inputs;
} Hlo;

static void put_dims(Text *out, const IrBuf *b) {
  text_printf(out, "%s[", dtype_info[b->dtype].hlo);
  for (int i = 0; i < b->rank; i++) text_printf(out, i ? ",%lld" : "%lld", (long long)b->shape[i]);
  text_putc(out, ']');
}

/* With the row-major layout; a scalar has none. */
static void put_shape(Text *out, const IrBuf *b) {
  put_dims(out, b);
  for (int i = b->rank - 1; i >= 0; i--) text_printf(out, "%c%d", i == b->rank - 1 ? '{' : ',', i);
  if (b->rank) text_putc(out, '}');
}

static void put_result(const Hlo *h, void (*put)(Text *out, const IrBuf *b)) {
  bool tuple = hlo_is_tuple(h->a);
  if (tuple) text_putc(h->out, '(');
  for (uint32_t k = 0; k < h->a->noutputs; k++) {
    if (k) text_puts(h->out, ", ");
    put(h->out, artifact_output(h->a, k));
  }
  if (tuple) text_putc(h->out, ')');
}

/* {output}: (operand, {} ...): the output index is {} exactly when the result is not a tuple. */
static void put_aliases(const Hlo *h, const char *kind) {
  const IrModule *m = h->a->module;
  for (uint32_t i = 0; i < m->naliases; i++) {
    if (i) text_puts(h->out, ", ");
    text_putc(h->out, '{');
    if (hlo_is_tuple(h->a)) text_int(h->out, m->aliases[i].output);
    text_printf(h->out, "}: (%d, {}%s)", m->aliases[i].operand, kind);
  }
}

static void put_header(const Hlo *h) {
  const Artifact *a = h->a;
  text_printf(h->out, "HloModule %s", h->module);
  if (a->module->naliases) {
    text_puts(h->out, ", input_output_alias={ ");
    put_aliases(h, ", may-alias");
    text_puts(h->out, " }");
  }
  text_puts(h->out, ", entry_computation_layout={(");
  for (uint32_t i = 0; i < a->ninputs; i++) {
    if (i) text_puts(h->out, ", ");
    put_shape(h->out, artifact_input(a, i));
  }
  text_puts(h->out, ")->");
  put_result(h, put_shape);
  text_puts(h->out, "}\n\n");
}

static void put_entry(const Hlo *h) {
  const Artifact *a = h->a;
  text_puts(h->out, "ENTRY %main (");
  for (uint32_t i = 0; i < a->ninputs; i++) {
    text_printf(h->out, "%s%s: ", i ? ", " : "", h->inputs[i]);
    put_dims(h->out, artifact_input(a, i));
  }
  text_puts(h->out, ") -> ");
  put_result(h, put_dims);
  text_puts(h->out, " {\n");
  for (uint32_t i = 0; i < a->ninputs; i++) {
    text_printf(h->out, "  %%%s = ", h->inputs[i]);
    put_shape(h->out, artifact_input(a, i));
    text_printf(h->out, " parameter(%u)\n", i);
  }
  for (uint32_t i = 0; i < a->ntensors; i++) {
    text_printf(h->out, "  %%constant.%u = ", i);
    put_shape(h->out, a->tensors[i].buf);
    text_puts(h->out, " constant(");
    literal_put(h->out, a->tensors[i].buf, "{}");
    text_puts(h->out, ")\n");
  }
}

static void put_metadata(const Hlo *h) {
  const char *file;
  int line;
  text_printf(h->out, ", metadata={op_type=\"nki\" op_name=\"nkilua/%s\"", h->module);
  if (hlo_source(h->a, &file, &line)) {
    text_puts(h->out, " source_file=");
    hlo_put_quoted(h->out, file);
    text_printf(h->out, " source_line=%d", line);
  }
  text_putc(h->out, '}');
}

static void put_call(const Hlo *h) {
  const Artifact *a = h->a;
  text_puts(h->out, hlo_is_tuple(a) ? "  %custom-call.0 = " : "  ROOT %custom-call.0 = ");
  put_result(h, put_shape);
  text_puts(h->out, " custom-call(");
  const char *comma = "";
  for (uint32_t i = 0; i < a->ninputs; i++, comma = ", ") text_printf(h->out, "%s%%%s", comma, h->inputs[i]);
  for (uint32_t i = 0; i < a->ntensors; i++, comma = ", ") text_printf(h->out, "%s%%constant.%u", comma, i);
  text_printf(h->out, "), custom_call_target=\"%s\"", a->call_target);
  if (a->module->naliases) {
    text_puts(h->out, ", output_to_operand_aliasing={");
    put_aliases(h, "");
    text_putc(h->out, '}');
  }
  text_puts(h->out, ", api_version=API_VERSION_STATUS_RETURNING");
  if (a->has_collectives) text_puts(h->out, ", frontend_attributes={has_collectives=\"1\"}");
  put_metadata(h);
  text_puts(h->out, ", backend_config=\"");
  text_add(h->out, a->backend_config, a->backend_config_len);
  text_puts(h->out, "\"\n");
}

static void put_tuple(const Hlo *h) {
  for (uint32_t k = 0; k < h->a->noutputs; k++) {
    text_printf(h->out, "  %%get-tuple-element.%u = ", k);
    put_shape(h->out, artifact_output(h->a, k));
    text_printf(h->out, " get-tuple-element(%%custom-call.0), index=%u\n", k);
  }
  text_puts(h->out, "  ROOT %tuple.0 = ");
  put_result(h, put_shape);
  text_puts(h->out, " tuple(");
  for (uint32_t k = 0; k < h->a->noutputs; k++) text_printf(h->out, "%s%%get-tuple-element.%u", k ? ", " : "", k);
  text_puts(h->out, ")\n");
}

bool hlo_text(const Artifact *a, Text *out, Diag *d) {
  Hlo h = {.a = a, .out = out};
  arena_init(&h.arena, a->arena.alloc);
  h.module = hlo_module_name(&h.arena, a);
  h.inputs = hlo_input_names(&h.arena, a);
  bool ok = h.module && h.inputs;
  if (ok) {
    put_header(&h);
    put_entry(&h);
    put_call(&h);
    if (hlo_is_tuple(a)) put_tuple(&h);
    text_puts(out, "}\n");
  }
  arena_free(&h.arena);
  return ok && !out->oom ? true : DIAG0(d, nomem);
}
