/* hlo.c -- room emit: the module around a custom-call as HLO text. Names, alias rules and attribute order are those of
   XLA's own text (docs/backend-config.md, the last section). */
#include "hlo.h"

static void put_quoted(Text *out, const char *s) { /* C-escaped */
  text_putc(out, '"');
  for (; *s; s++) {
    unsigned char c = (unsigned char)*s;
    if (c == '"' || c == '\\') text_putc(out, '\\');
    if (c < 0x20 || c == 0x7f) {
      text_printf(out, "\\%03o", c);
    } else {
      text_putc(out, (char)c);
    }
  }
  text_putc(out, '"');
}

static void put_dims(Text *out, const IrBuf *b) {
  text_printf(out, "%s[", dtype_info[b->dtype].hlo);
  for (int i = 0; i < b->rank; i++) text_printf(out, i ? ",%lld" : "%lld", (long long)b->shape[i]);
  text_putc(out, ']');
}

/* With the row-major layout; a scalar has none. */
static void put_array(Text *out, const IrBuf *b) {
  put_dims(out, b);
  for (int i = b->rank - 1; i >= 0; i--) text_printf(out, "%c%d", i == b->rank - 1 ? '{' : ',', i);
  if (b->rank) text_putc(out, '}');
}

static void put_shape(Text *out, const HloShape *s, void (*put)(Text *out, const IrBuf *b)) {
  if (s->tuple) text_putc(out, '(');
  for (uint32_t k = 0; k < s->n; k++) {
    if (k) text_puts(out, ", ");
    put(out, s->part[k]);
  }
  if (s->tuple) text_putc(out, ')');
}

/* {output}: (operand, {} ...): the output index is {} exactly when the result is not a tuple. */
static void put_aliases(Text *out, const HloModule *h, uint32_t n, const char *kind) {
  for (uint32_t i = 0; i < n; i++) {
    if (i) text_puts(out, ", ");
    text_putc(out, '{');
    if (h->result.tuple) text_int(out, h->aliases[i].output);
    text_printf(out, "}: (%d, {}%s)", h->aliases[i].operand, kind);
  }
}

static void put_header(Text *out, const HloModule *h) {
  text_printf(out, "HloModule %s", h->name);
  if (h->naliases) {
    text_puts(out, ", input_output_alias={ ");
    put_aliases(out, h, h->naliases, ", may-alias");
    text_puts(out, " }");
  }
  text_puts(out, ", entry_computation_layout={");
  put_shape(out, &h->params, put_array);
  text_puts(out, "->");
  put_shape(out, &h->result, put_array);
  text_puts(out, "}\n\nENTRY %main (");
  for (uint32_t i = 0; i < h->nparams; i++) {
    text_printf(out, "%s%s: ", i ? ", " : "", h->ins[i].name);
    put_dims(out, h->params.part[i]);
  }
  text_puts(out, ") -> ");
  put_shape(out, &h->result, put_dims);
  text_puts(out, " {\n");
}

static void put_metadata(Text *out, const HloModule *h) {
  text_printf(out, ", metadata={op_type=\"" HLO_OP "\" op_name=\"" HLO_OP "\"");
  if (h->source_file) {
    text_puts(out, " source_file=");
    put_quoted(out, h->source_file);
    text_printf(out, " source_line=%d", h->source_line);
  }
  text_putc(out, '}');
}

static void put_call_attributes(Text *out, const HloModule *h) {
  text_printf(out, ", custom_call_target=\"%s\"", h->a->call_target);
  if (h->ncall_aliases) {
    text_puts(out, ", output_to_operand_aliasing={");
    put_aliases(out, h, h->ncall_aliases, "");
    text_putc(out, '}');
  }
  if (h->api_version == HLO_API_STATUS_RETURNING) text_puts(out, ", api_version=API_VERSION_STATUS_RETURNING");
  if (h->a->has_collectives) text_puts(out, ", frontend_attributes={has_collectives=\"1\"}");
  put_metadata(out, h);
  text_puts(out, ", backend_config=\"");
  text_add(out, h->a->backend_config, h->a->backend_config_len);
  text_putc(out, '"');
}

static void put_instruction(Text *out, const HloModule *h, const HloIns *ins) {
  text_printf(out, "  %s%%%s = ", ins == hlo_root(h) ? "ROOT " : "", ins->name);
  put_shape(out, &ins->shape, put_array);
  text_printf(out, " %s(", hlo_opcode(ins->opcode));
  if (ins->opcode == HLO_PARAMETER) text_int(out, ins->number);
  if (ins->opcode == HLO_CONSTANT) literal_put(out, ins->shape.part[0], "{}");
  for (uint32_t i = 0; i < ins->noperands; i++) text_printf(out, "%s%%%s", i ? ", " : "", h->ins[ins->first + i].name);
  text_putc(out, ')');
  if (ins->opcode == HLO_GET_TUPLE_ELEMENT) text_printf(out, ", index=%u", (unsigned)ins->number);
  if (ins->opcode == HLO_CUSTOM_CALL) put_call_attributes(out, h);
  text_putc(out, '\n');
}

bool hlo_text(const Artifact *a, Text *out, Diag *d) {
  HloModule h;
  bool ok = hlo_describe(&h, a);
  if (ok) {
    put_header(out, &h);
    for (uint32_t i = 0; i < h.nins; i++) put_instruction(out, &h, &h.ins[i]);
    text_puts(out, "}\n");
  }
  arena_free(&h.arena);
  return ok && !out->oom ? true : DIAG0(d, nomem);
}
