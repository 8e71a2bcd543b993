/* program.c -- room api: artifacts as programs: decoding, fields, texts. */
#include "api.h"

nkl_status nkl_program_decode(const char *backend_config, size_t len, nkl_program **out, nkl_error_buf *err) {
  Diag d;
  API_SET(out, NULL);
  API_TEXT(backend_config, len);
  API_CHECK(err, backend_config, out);
  diag_init(&d, alloc_std);
  FpEnv env;
  fp_enter(&env);
  const Artifact *a = config_decode(alloc_std, backend_config, len, &d);
  fp_leave(&env);
  *out = api_program(a);
  nkl_status s = a ? NKL_OK : api_fail_buf(err, &d);
  diag_free(&d);
  return s;
}

nkl_status nkl_program_load(const char *path, nkl_program **out, nkl_error_buf *err) {
  static const FileKind kind = {"a backend_config may have", SIZE_MAX, config_begins};
  Diag d;
  Text text;
  API_SET(out, NULL);
  API_CHECK(err, path, out);
  diag_init(&d, alloc_std);
  text_init(&text, alloc_std);
  nkl_status s = file_read_as(path, &kind, &text, &d) ? nkl_program_decode(text_str(&text), text.len, out, err)
                                                      : api_fail_buf(err, &d);
  text_free(&text);
  diag_free(&d);
  return s;
}

nkl_program *nkl_program_retain(nkl_program *p) { return p ? api_program(artifact_retain(api_artifact(p))) : NULL; }

void nkl_program_release(nkl_program *p) { artifact_release(api_artifact(p)); }

static bool render(const Artifact *a, nkl_format f, Text *out, Diag *d) {
  Arena arena;
  bool ok;
  switch (f) {
    case NKL_FMT_IR:
      text_add(out, a->ir, a->ir_len);
      return true;
    case NKL_FMT_BACKEND_CONFIG:
      text_add(out, a->backend_config, a->backend_config_len);
      return true;
    case NKL_FMT_HLO:
      return hlo_text(a, out, d);
    case NKL_FMT_STABLEHLO:
      return stablehlo_text(a, out, d);
    case NKL_FMT_HLO_PROTO:
      return hlo_proto(a, out, d);
    case NKL_FMT_CONFIG_JSON: {
      arena_init(&arena, out->alloc);
      const Json *v = json_parse(&arena, a->config_json, a->config_json_len, "backend_config", d);
      ok = v && (json_pretty(out, v) || DIAG0(d, nomem));
      arena_free(&arena);
      return ok;
    }
  }
  return DIAG(d, api_use, "nkl_program_render", "there is no such format");
}

nkl_status nkl_program_render(const nkl_program *p, nkl_format f, nkl_buf *out, nkl_error_buf *err) {
  Text t;
  Diag d;
  API_SET(out, (nkl_buf)NKL_BUF_INIT);
  API_CHECK(err, p, out);
  const Artifact *a = api_artifact(p);
  text_init(&t, a->arena.alloc);
  diag_init(&d, a->arena.alloc);
  FpEnv env;
  fp_enter(&env);
  bool ok = render(a, f, &t, &d);
  fp_leave(&env);
  if (ok && !api_take(&t, out)) ok = DIAG0(&d, nomem);
  nkl_status s = ok ? NKL_OK : api_fail_buf(err, &d);
  text_free(&t);
  diag_free(&d);
  return s;
}

/* ---- fields -------------------------------------------------------------------------------------------------- */

const char *nkl_program_name(const nkl_program *p) { return p ? api_artifact(p)->func_name : ""; }
const char *nkl_program_call_target(const nkl_program *p) { return p ? api_artifact(p)->call_target : ""; }
const char *nkl_program_target(const nkl_program *p) { return p ? target_name(api_artifact(p)->module->target) : ""; }
int nkl_program_target_is_fallback(const nkl_program *p) { return p ? api_artifact(p)->module->target_is_fallback : 0; }
const char *nkl_program_cache_key(const nkl_program *p) { return p ? api_artifact(p)->cache_key : ""; }
int64_t nkl_program_mac_count(const nkl_program *p) { return p ? api_artifact(p)->matmul_mac_count : 0; }
int nkl_program_has_collectives(const nkl_program *p) { return p ? api_artifact(p)->has_collectives : 0; }
int nkl_program_result_is_sequence(const nkl_program *p) { return p ? api_artifact(p)->result_is_sequence : 0; }

size_t nkl_program_grid(const nkl_program *p, int64_t grid[NKL_MAX_RANK]) {
  if (!p) return 0;
  const IrModule *m = api_artifact(p)->module;
  for (int i = 0; grid && i < m->ngrid; i++) grid[i] = m->grid[i];
  return (size_t)m->ngrid;
}

size_t nkl_program_cores(const nkl_program *p, nkl_cores cores[NKL_MAX_RANK]) {
  if (!p) return 0;
  const IrModule *m = api_artifact(p)->module;
  for (int i = 0; cores && i < m->ngrid; i++) {
    bool spread = m->cores[i].count > 1;
    cores[i] = (nkl_cores){spread ? m->cores[i].count : 1, spread ? m->cores[i].block : 1};
  }
  return (size_t)m->ngrid;
}

size_t nkl_program_input_count(const nkl_program *p) { return p ? api_artifact(p)->ninputs : 0; }
size_t nkl_program_output_count(const nkl_program *p) { return p ? api_artifact(p)->noutputs : 0; }

static nkl_status describe(const char *name, const IrBuf *b, nkl_io *out) {
  *out = (nkl_io){.name = name, .dtype = (nkl_dtype)b->dtype, .rank = b->rank};
  memcpy(out->shape, b->shape, sizeof out->shape);
  return NKL_OK;
}

nkl_status nkl_program_input(const nkl_program *p, size_t i, nkl_io *out) {
  API_SET(out, (nkl_io){.rank = 0});
  API_CHECK(NULL, p, out);
  const Artifact *a = api_artifact(p);
  if (i >= a->ninputs) return NKL_ERR_ARG;
  return describe(a->input_names[i], artifact_input(a, (uint32_t)i), out);
}

nkl_status nkl_program_output(const nkl_program *p, size_t i, nkl_io *out) {
  API_SET(out, (nkl_io){.rank = 0});
  API_CHECK(NULL, p, out);
  const Artifact *a = api_artifact(p);
  if (i >= a->noutputs) return NKL_ERR_ARG;
  return describe(a->output_names[i], artifact_output(a, (uint32_t)i), out);
}

size_t nkl_program_constant_count(const nkl_program *p) { return p ? api_artifact(p)->ntensors : 0; }

nkl_status nkl_program_constant(const nkl_program *p, size_t i, nkl_io *out, const void **data) {
  API_SET(out, (nkl_io){.rank = 0});
  API_SET(data, NULL);
  API_CHECK(NULL, p, out, data);
  const Artifact *a = api_artifact(p);
  if (i >= a->ntensors) return NKL_ERR_ARG;
  *data = a->tensors[i].buf->data;
  return describe(a->tensors[i].name, a->tensors[i].buf, out);
}

size_t nkl_program_alias_count(const nkl_program *p) { return p ? api_artifact(p)->module->naliases : 0; }

nkl_status nkl_program_alias(const nkl_program *p, size_t i, int32_t *operand, int32_t *output) {
  API_SET(operand, -1);
  API_SET(output, -1);
  API_CHECK(NULL, p, operand, output);
  const IrModule *m = api_artifact(p)->module;
  if (i >= m->naliases) return NKL_ERR_ARG;
  *operand = m->aliases[i].operand;
  *output = m->aliases[i].output;
  return NKL_OK;
}

size_t nkl_program_node_count(const nkl_program *p) {
  if (!p) return 0;
  const IrModule *m = api_artifact(p)->module;
  size_t n = 0;
  for (uint32_t f = 0; f < m->nfunc; f++) n += m->func[f]->nnodes;
  return n;
}

static const IrNode *node_at(const nkl_program *p, size_t i) {
  const IrModule *m = api_artifact(p)->module;
  for (uint32_t f = 0; f < m->nfunc; f++) {
    if (i < m->func[f]->nnodes) return m->func[f]->nodes[i];
    i -= m->func[f]->nnodes;
  }
  return NULL;
}

nkl_status nkl_program_node(const nkl_program *p, size_t i, nkl_node *out) {
  API_SET(out, (nkl_node){.depth = 0});
  API_CHECK(NULL, p, out);
  const IrModule *m = api_artifact(p)->module;
  const IrNode *n = node_at(p, i);
  if (!n) return NKL_ERR_ARG;
  *out = (nkl_node){.class_name = n->library ? "InternalMaterializedNkiKernel" : "ExternalNativeNkiKernel",
                    .func_name = n->func_name,
                    .library = n->library,
                    .cache_key = n->key,
                    .depth = n->depth,
                    .file = n->loc ? m->locs[n->loc].file : NULL,
                    .line = n->loc ? m->locs[n->loc].line : 0,
                    .noperands = n->noperands,
                    .nresults = n->nresults};
  return NKL_OK;
}

nkl_status nkl_program_node_operand(const nkl_program *p, size_t i, size_t k, const char **param, const char **tensor) {
  API_SET(param, NULL);
  API_SET(tensor, NULL);
  API_CHECK(NULL, p, param, tensor);
  const IrNode *n = node_at(p, i);
  if (!n || k >= n->noperands) return NKL_ERR_ARG;
  *param = n->operands[k].param;
  *tensor = n->operands[k].tensor;
  return NKL_OK;
}

nkl_status nkl_program_node_result(const nkl_program *p, size_t i, size_t k, const char **tensor) {
  API_SET(tensor, NULL);
  API_CHECK(NULL, p, tensor);
  const IrNode *n = node_at(p, i);
  if (!n || k >= n->nresults) return NKL_ERR_ARG;
  *tensor = n->results[k];
  return NKL_OK;
}
