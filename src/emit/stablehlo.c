/* stablehlo.c -- emit room: the module JAX would emit around the custom-call. */
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

static void put_operand_types(const Artifact *a, Text *out, void (*put)(Text *out, const IrBuf *b)) {
  const char *comma = "";
  for (uint32_t i = 0; i < a->ninputs; i++, comma = ", ") {
    text_puts(out, comma);
    put(out, artifact_input(a, i));
  }
  for (uint32_t i = 0; i < a->ntensors; i++, comma = ", ") {
    text_puts(out, comma);
    put(out, a->tensors[i].buf);
  }
}

static void put_result_types(const Artifact *a, Text *out, void (*put)(Text *out, const IrBuf *b)) {
  for (uint32_t k = 0; k < a->noutputs; k++) {
    if (k) text_puts(out, ", ");
    put(out, artifact_output(a, k));
  }
}

static int32_t output_of(const Artifact *a, uint32_t operand) {
  for (uint32_t i = 0; i < a->module->naliases; i++)
    if (a->module->aliases[i].operand == (int32_t)operand) return a->module->aliases[i].output;
  return -1;
}

static void put_main(const Artifact *a, Text *out) {
  text_puts(out, "  func.func public @main(");
  for (uint32_t i = 0; i < a->ninputs; i++) {
    text_printf(out, "%s%%arg%u: ", i ? ", " : "", i);
    put_type(out, artifact_input(a, i));
    if (output_of(a, i) >= 0) text_printf(out, " {tf.aliasing_output = %d : i32}", output_of(a, i));
  }
  text_puts(out, ") -> (");
  for (uint32_t k = 0; k < a->noutputs; k++) {
    if (k) text_puts(out, ", ");
    put_type(out, artifact_output(a, k));
    if (hlo_is_tuple(a)) {
      text_printf(out, " {jax.result_info = \"result[%u]\"}", k);
    } else {
      text_puts(out, " {jax.result_info = \"result\"}");
    }
  }
  text_puts(out, ") {\n");
}

/* Hex needs one byte or more per element; MLIR packs i1 in bits, so truth values are spelled. */
static void put_constants(const Artifact *a, Text *out) {
  for (uint32_t i = 0; i < a->ntensors; i++) {
    const IrBuf *b = a->tensors[i].buf;
    text_printf(out, "    %%cst%u = stablehlo.constant dense<", i);
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
static void put_alias_list(const Artifact *a, Text *out) {
  text_puts(out, ", output_operand_aliases = [");
  for (uint32_t i = 0; i < a->module->naliases; i++) {
    const IrAlias *alias = &a->module->aliases[i];
    text_printf(out, "%s#stablehlo.output_operand_alias<output_tuple_indices = [", i ? ", " : "");
    if (a->noutputs > 1) text_int(out, alias->output);
    text_printf(out, "], operand_index = %d, operand_tuple_indices = []>", alias->operand);
  }
  text_putc(out, ']');
}

static void put_attributes(const Artifact *a, Text *out) {
  text_puts(out, " {api_version = 2 : i32, backend_config = \"");
  text_add(out, a->backend_config, a->backend_config_len);
  text_putc(out, '"');
  if (a->has_collectives) text_puts(out, ", mhlo.frontend_attributes = {has_collectives = \"1\"}");
  text_puts(out, ", operand_layouts = [");
  put_operand_types(a, out, put_layout);
  text_putc(out, ']');
  if (a->module->naliases) put_alias_list(a, out);
  text_puts(out, ", result_layouts = [");
  put_result_types(a, out, put_layout);
  text_puts(out, "]}");
}

static void put_call(const Artifact *a, Text *out) {
  text_puts(out, "    %0");
  if (a->noutputs > 1) text_printf(out, ":%u", a->noutputs);
  text_printf(out, " = stablehlo.custom_call @%s(", a->call_target);
  const char *comma = "";
  for (uint32_t i = 0; i < a->ninputs; i++, comma = ", ") text_printf(out, "%s%%arg%u", comma, i);
  for (uint32_t i = 0; i < a->ntensors; i++, comma = ", ") text_printf(out, "%s%%cst%u", comma, i);
  text_putc(out, ')');
  put_attributes(a, out);
  text_puts(out, " : (");
  put_operand_types(a, out, put_type);
  text_puts(out, ") -> ");
  if (a->noutputs > 1) text_putc(out, '(');
  put_result_types(a, out, put_type);
  if (a->noutputs > 1) text_putc(out, ')');
  text_putc(out, '\n');
}

bool stablehlo_text(const Artifact *a, Text *out, Diag *d) {
  Arena arena;
  arena_init(&arena, a->arena.alloc);
  const char *name = hlo_module_name(&arena, a);
  if (name) {
    /* '-' does not belong in a bare symbol name, so the name is always quoted when it has one. */
    const char *quote = strchr(name, '-') ? "\"" : "";
    text_printf(out, "module @%s%s%s attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {\n",
                quote, name, quote);
    put_main(a, out);
    put_constants(a, out);
    put_call(a, out);
    text_puts(out, "    return ");
    for (uint32_t k = 0; k < a->noutputs; k++) {
      text_printf(out, "%s%%0", k ? ", " : "");
      if (a->noutputs > 1) text_printf(out, "#%u", k);
    }
    text_puts(out, " : ");
    put_result_types(a, out, put_type);
    text_puts(out, "\n  }\n}\n");
  }
  arena_free(&arena);
  return name && !out->oom ? true : DIAG0(d, nomem);
}
