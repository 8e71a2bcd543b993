/* stablehlo.c -- room emit: the module JAX would emit around the custom-call, from the description that HLO text is
   printed from. */
#include <string.h>

#include "hlo.h"

/* Types that have no MLIR spelling of their own travel as what their bytes are. */
static const char *element_type(DType t) {
  if (t == DT_tfloat32) return "f32";
  return t == DT_float8_e8m0fnu ? "f8E8M0FNU" : dtype_info[t].mlir;
}

static void put_type(Text *out, const IrBuf *b) {
  text_puts(out, "tensor<");
  for (int i = 0; i < b->rank; i++) text_printf(out, "%lldx", (long long)b->shape[i]);
  text_printf(out, "%s>", element_type(b->dtype));
}

static void put_layout(Text *out, const IrBuf *b) {
  text_puts(out, "dense<");
  for (int i = b->rank - 1; i >= 0; i--) text_printf(out, "%s%d", i == b->rank - 1 ? "[" : ", ", i);
  text_printf(out, "%s> : tensor<%dxindex>", b->rank ? "]" : "", b->rank);
}

/* The instructions [0, n), or the parts of a shape, comma-separated. */
static void put_operands(Text *out, const HloModule *h, void (*put)(Text *out, const IrBuf *b)) {
  for (uint32_t i = 0; i < h->call; i++) {
    if (i) text_puts(out, ", ");
    put(out, h->ins[i].shape.part[0]);
  }
}

static void put_results(Text *out, const HloModule *h, void (*put)(Text *out, const IrBuf *b)) {
  for (uint32_t k = 0; k < h->result.n; k++) {
    if (k) text_puts(out, ", ");
    put(out, h->result.part[k]);
  }
}

static void put_parameter(Text *out, const HloModule *h, uint32_t i) {
  text_printf(out, "%s%%arg%u: ", i ? ", " : "", (unsigned)i);
  put_type(out, h->params.part[i]);
  for (uint32_t k = 0; k < h->naliases; k++)
    if (h->aliases[k].operand == (int32_t)i) text_printf(out, " {tf.aliasing_output = %d : i32}", h->aliases[k].output);
}

static void put_main(Text *out, const HloModule *h) {
  text_puts(out, "  func.func public @main(");
  for (uint32_t i = 0; i < h->nparams; i++) put_parameter(out, h, i);
  text_puts(out, ") -> (");
  for (uint32_t k = 0; k < h->result.n; k++) {
    if (k) text_puts(out, ", ");
    put_type(out, h->result.part[k]);
    if (h->result.tuple) {
      text_printf(out, " {jax.result_info = \"result[%u]\"}", (unsigned)k);
    } else {
      text_puts(out, " {jax.result_info = \"result\"}");
    }
  }
  text_puts(out, ") {\n");
}

/* Hex needs one byte or more per element; MLIR packs i1 in bits, so truth values are spelled. */
static void put_constants(Text *out, const HloModule *h) {
  for (uint32_t i = h->nparams; i < h->call; i++) {
    const IrBuf *b = h->ins[i].shape.part[0];
    text_printf(out, "    %%cst%u = stablehlo.constant dense<", (unsigned)h->ins[i].number);
    if (dtype_info[b->dtype].cls == DC_BOOL) {
      literal_put(out, b, "[]");
    } else {
      text_puts(out, "\"0x");
      literal_put_hex(out, b);
      text_putc(out, '"');
    }
    text_puts(out, "> : ");
    put_type(out, b);
    text_putc(out, '\n');
  }
}

/* StableHLO has several results instead of a tuple: the index list is [k] exactly when there are two or more. */
static void put_aliases(Text *out, const HloModule *h) {
  text_puts(out, ", output_operand_aliases = [");
  for (uint32_t i = 0; i < h->ncall_aliases; i++) {
    text_printf(out, "%s#stablehlo.output_operand_alias<output_tuple_indices = [", i ? ", " : "");
    if (h->result.n > 1) text_int(out, h->aliases[i].output);
    text_printf(out, "], operand_index = %d, operand_tuple_indices = []>", h->aliases[i].operand);
  }
  text_putc(out, ']');
}

static void put_attributes(Text *out, const HloModule *h) {
  text_printf(out, " {api_version = %d : i32, backend_config = \"", h->api_version);
  text_add(out, h->a->backend_config, h->a->backend_config_len);
  text_putc(out, '"');
  if (h->a->has_collectives) text_puts(out, ", mhlo.frontend_attributes = {has_collectives = \"1\"}");
  text_puts(out, ", operand_layouts = [");
  put_operands(out, h, put_layout);
  text_putc(out, ']');
  if (h->ncall_aliases) put_aliases(out, h);
  text_puts(out, ", result_layouts = [");
  put_results(out, h, put_layout);
  text_puts(out, "]}");
}

static void put_call(Text *out, const HloModule *h) {
  text_puts(out, "    %0");
  if (h->result.n > 1) text_printf(out, ":%u", (unsigned)h->result.n);
  text_printf(out, " = stablehlo.custom_call @%s(", h->a->call_target);
  for (uint32_t i = 0; i < h->call; i++)
    text_printf(out, "%s%%%s%u", i ? ", " : "", i < h->nparams ? "arg" : "cst", (unsigned)h->ins[i].number);
  text_putc(out, ')');
  put_attributes(out, h);
  text_puts(out, " : (");
  put_operands(out, h, put_type);
  text_puts(out, ") -> ");
  if (h->result.n > 1) text_putc(out, '(');
  put_results(out, h, put_type);
  if (h->result.n > 1) text_putc(out, ')');
  text_putc(out, '\n');
}

static void put_module(Text *out, const HloModule *h) {
  /* A bare symbol name holds no '-', so such a name is quoted. */
  const char *quote = strchr(h->name, '-') ? "\"" : "";
  text_printf(out, "module @%s%s%s attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {\n", quote,
              h->name, quote);
  put_main(out, h);
  put_constants(out, h);
  put_call(out, h);
  text_puts(out, "    return ");
  for (uint32_t k = 0; k < h->result.n; k++) {
    text_printf(out, "%s%%0", k ? ", " : "");
    if (h->result.n > 1) text_printf(out, "#%u", (unsigned)k);
  }
  text_puts(out, " : ");
  put_results(out, h, put_type);
  text_puts(out, "\n  }\n}\n");
}

bool stablehlo_text(const Artifact *a, Text *out, Diag *d) {
  HloModule h;
  bool ok = hlo_describe(&h, a);
  if (ok) put_module(out, &h);
  arena_free(&h.arena);
  return ok && !out->oom ? true : DIAG0(d, nomem);
}
