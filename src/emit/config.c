/* config.c -- room emit: encode_backend_config. base64 of compact JSON, byte-stable: fixed key order, no white space,
   exact numbers. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base64.h"
#include "hash.h"

static void put_shape(JsonWriter *w, const IrBuf *b) {
  json_key(w, "shape");
  json_begin(w, '[');
  for (int i = 0; i < b->rank; i++) json_int(w, b->shape[i]);
  json_end(w, ']');
}

static void put_tensor_type(JsonWriter *w, const char *name, const IrBuf *b) {
  json_begin(w, '{');
  json_key(w, "name");
  json_cstr(w, name);
  json_key(w, "dtype");
  json_cstr(w, dtype_name(b->dtype));
  put_shape(w, b);
  json_end(w, '}');
}

void config_put_grid(JsonWriter *w, const Artifact *a) {
  json_begin(w, '[');
  for (int i = 0; i < a->module->ngrid; i++) json_int(w, a->module->grid[i]);
  json_end(w, ']');
}

/* [cores, block] of every axis, as in the program's text; empty when the whole grid is on one core. */
void config_put_cores(JsonWriter *w, const Artifact *a) {
  const IrModule *m = a->module;
  bool several = ir_core_count(m->cores, m->ngrid) > 1;
  json_begin(w, '[');
  for (int i = 0; several && i < m->ngrid; i++) {
    bool spread = m->cores[i].count > 1;
    json_begin(w, '[');
    json_int(w, spread ? m->cores[i].count : 1);
    json_int(w, spread ? m->cores[i].block : 1);
    json_end(w, ']');
  }
  json_end(w, ']');
}

void config_put_returns(JsonWriter *w, const Artifact *a) {
  json_begin(w, '[');
  for (uint32_t k = 0; k < a->noutputs; k++) put_tensor_type(w, a->output_names[k], artifact_output(a, k));
  json_end(w, ']');
}

void config_put_dims(JsonWriter *w, const Artifact *a) {
  json_begin(w, '{');
  json_key(w, "operands");
  json_begin(w, '[');
  for (uint32_t i = 0; i < a->ninputs; i++) put_tensor_type(w, a->input_names[i], artifact_input(a, i));
  json_end(w, ']');
  json_key(w, "outputs");
  config_put_returns(w, a);
  json_end(w, '}');
}

void config_put_aliases(JsonWriter *w, const Artifact *a) {
  json_begin(w, '[');
  for (uint32_t i = 0; i < a->module->naliases; i++) {
    json_begin(w, '[');
    json_int(w, a->module->aliases[i].operand);
    json_int(w, a->module->aliases[i].output);
    json_end(w, ']');
  }
  json_end(w, ']');
}

void config_put_names(JsonWriter *w, const char *const *names, uint32_t n) {
  json_begin(w, '[');
  for (uint32_t i = 0; i < n; i++) json_cstr(w, names[i]);
  json_end(w, ']');
}

static void put_base64(JsonWriter *w, const void *data, size_t n) {
  Text b64;
  text_init(&b64, w->out->alloc);
  base64_encode(&b64, data, n);
  json_cstr(w, text_str(&b64));
  if (b64.oom) w->out->oom = true;
  text_free(&b64);
}

void config_put_tensor(JsonWriter *w, const ConstTensor *t) {
  json_begin(w, '{');
  json_key(w, "name");
  json_cstr(w, t->name);
  json_key(w, "kind");
  json_cstr(w, "tensor");
  json_key(w, "dtype");
  json_cstr(w, dtype_name(t->buf->dtype));
  put_shape(w, t->buf);
  json_key(w, "data");
  put_base64(w, t->buf->data, (size_t)(t->buf->count * dtype_bytes(t->buf->dtype)));
  json_end(w, '}');
}

/* A Lua string may hold any bytes; JSON text may not. */
static const char *kind_name(const ConstValue *v) {
  static const char *const names[] = {
      [CONST_NIL] = "nil",       [CONST_BOOL] = "bool",   [CONST_INT] = "int",           [CONST_FLOAT] = "float",
      [CONST_STRING] = "string", [CONST_TOKEN] = "token", [CONST_FUNCTION] = "function", [CONST_TUPLE] = "tuple"};
  return v->kind == CONST_STRING && !text_is_plain(v->s, v->len) ? "bytes" : names[v->kind];
}

static void put_const(JsonWriter *w, const ConstValue *v);

static void put_const_value(JsonWriter *w, const ConstValue *v) {
  switch (v->kind) {
    case CONST_NIL:
      json_null(w);
      break;
    case CONST_BOOL:
      json_bool(w, v->b);
      break;
    case CONST_INT:
      json_int(w, v->i);
      break;
    case CONST_FLOAT:
      json_double(w, v->f);
      break;
    case CONST_STRING:
      if (!text_is_plain(v->s, v->len)) {
        put_base64(w, v->s, v->len);
        break;
      }
      json_string(w, v->s, v->len);
      break;
    case CONST_TOKEN:
    case CONST_FUNCTION:
      json_string(w, v->s, v->len);
      break;
    case CONST_TUPLE:
      json_begin(w, '[');
      for (uint32_t i = 0; i < v->nitems; i++) put_const(w, &v->items[i]);
      json_end(w, ']');
      break;
  }
}

static void put_const(JsonWriter *w, const ConstValue *v) {
  json_begin(w, '{');
  if (v->name) {
    json_key(w, "name");
    json_cstr(w, v->name);
  }
  json_key(w, "kind");
  json_cstr(w, kind_name(v));
  json_key(w, "value");
  put_const_value(w, v);
  json_end(w, '}');
}

static void put_each_scalar(JsonWriter *w, const Artifact *a) {
  for (uint32_t i = 0; i < a->nconstants; i++) put_const(w, &a->constants[i]);
}

static void put_scalars(JsonWriter *w, const Artifact *a) {
  json_begin(w, '[');
  put_each_scalar(w, a);
  json_end(w, ']');
}

static void put_constants(JsonWriter *w, const Artifact *a) {
  json_begin(w, '[');
  put_each_scalar(w, a);
  for (uint32_t i = 0; i < a->ntensors; i++) config_put_tensor(w, &a->tensors[i]);
  json_end(w, ']');
}

static void put_opts(JsonWriter *w, const Artifact *a) {
  json_begin(w, '{');
  for (uint32_t i = 0; i < a->nopts; i++) {
    json_key(w, a->opts[i].key);
    put_const_value(w, &a->opts[i].value);
  }
  json_end(w, '}');
}

static uint64_t digest_of(const Artifact *a, Text *text, void (*put)(JsonWriter *w, const Artifact *a)) {
  text_clear(text);
  put(&(JsonWriter){.out = text}, a);
  return hash64(text_str(text), text->len);
}

bool config_bound(const Artifact *a, char out[CONFIG_BOUND + 1]) {
  Text text;
  *out = '\0';
  if (!a->nconstants && !a->nopts) return true;
  text_init(&text, a->arena.alloc);
  uint64_t constants = digest_of(a, &text, put_scalars);
  bool ok = !text.oom;
  uint64_t opts = digest_of(a, &text, put_opts);
  ok = ok && !text.oom;
  text_free(&text);
  snprintf(out, CONFIG_BOUND + 1, "%016llx-%016llx", (unsigned long long)constants, (unsigned long long)opts);
  return ok;
}

/* The module is this artifact's alone until the artifact is shared, which it is not before it has a config. */
static bool seal(Artifact *a) {
  IrModule *m = (IrModule *)(uintptr_t)a->module;
  char bound[CONFIG_BOUND + 1];
  if (!config_bound(a, bound)) return false;
  m->has_collectives = a->has_collectives && !ir_has_collectives(m);
  m->bound = *bound ? arena_strdup(&m->arena, bound, CONFIG_BOUND) : NULL;
  return m->bound || !*bound;
}

/* Where the program's string begins. */
static size_t put_config(JsonWriter *w, const Artifact *a) {
  size_t program = 0;
  json_begin(w, '{');
#define KEY(name, kind, write)                                            \
  json_key(w, #name);                                                     \
  if (CONFIG_##name == CONFIG_serialize_ir_string) program = w->out->len; \
  write;
#include "config.def"
#undef KEY
  json_end(w, '}');
  return program;
}

/* Texts whose bytes must survive JSON. Names of operands are Lua identifiers; the rest may come from the user. */
static bool check_texts(const Artifact *a, Diag *d) {
  if (!text_is_plain(a->func_name, strlen(a->func_name))) return DIAG(d, config_text, "func_name");
  if (!text_is_plain(a->ir, a->ir_len)) return DIAG(d, config_text, "a name or file in the program");
  for (uint32_t i = 0; i < a->nopts; i++) {
    const ConstValue *v = &a->opts[i].value;
    if (!text_is_plain(a->opts[i].key, strlen(a->opts[i].key))) return DIAG(d, config_text, "a key of opts");
    if (v->kind == CONST_STRING && !text_is_plain(v->s, v->len)) return DIAG(d, config_text, "a value of opts");
  }
  return true;
}

static bool keep(Artifact *a, const Text *text, const char **s, size_t *len) {
  *s = text->oom ? NULL : arena_strdup(&a->arena, text_str(text), text->len);
  *len = text->len;
  return *s != NULL;
}

/* What follows from the program's text and the other fields. */
static bool write_config(Artifact *a, Text *text, Diag *d) {
  if (!check_texts(a, d)) return false;
  text_clear(text);
  text_reserve(text, a->ir_len + a->ir_len / 4);
  put_config(&(JsonWriter){.out = text}, a);
  bool ok = keep(a, text, &a->config_json, &a->config_json_len);
  if (ok) a->backend_config = base64_text(&a->arena, a->config_json, a->config_json_len, &a->backend_config_len);
  return (ok && a->backend_config) || DIAG0(d, nomem);
}

static size_t put_head(const Artifact *a, Text *out) {
  Artifact head = *a;
  head.ir = "";
  head.ir_len = 0;
  text_clear(out);
  return put_config(&(JsonWriter){.out = out}, &head);
}

/* Is that JSON what put_config would write? It need not be written to see that. */
static bool is_written(const Artifact *a, const Text *json) {
  enum { EMPTY = 2 };
  Text head;
  text_init(&head, a->arena.alloc);
  size_t at = put_head(a, &head), rest = head.len - at - EMPTY;
  bool same = !head.oom && json->len >= head.len && memcmp(json->data, head.data, at) == 0 &&
              memcmp(json->data + json->len - rest, head.data + head.len - rest, rest) == 0 &&
              json_spells(json->data + at, json->len - rest - at, a->ir, a->ir_len);
  text_free(&head);
  return same;
}

static bool copy_config(Artifact *a, const ConfigRead *read, Diag *d) {
  bool ok = keep(a, read->json, &a->config_json, &a->config_json_len);
  text_free(read->json);
  a->backend_config = ok ? arena_strdup(&a->arena, read->b64, read->nb64) : NULL;
  a->backend_config_len = read->nb64;
  return a->backend_config || DIAG0(d, nomem);
}

static bool print_program(Artifact *a, Text *text) {
  return seal(a) && ir_print(a->module, text) && keep(a, text, &a->ir, &a->ir_len);
}

bool config_encode_read(Artifact *a, const ConfigRead *read, Diag *d) {
  Text text;
  text_init(&text, a->arena.alloc);
  text_reserve(&text, read->nir + 1);
  bool ok = print_program(a, &text);
  text_free(&text);
  if (ok && is_written(a, read->json)) return copy_config(a, read, d);
  text_free(read->json);
  ok = ok ? write_config(a, &text, d) : DIAG0(d, nomem);
  text_free(&text);
  return ok;
}

bool config_encode(Artifact *a, Diag *d) {
  Text text;
  text_init(&text, a->arena.alloc);
  bool ok = print_program(a, &text);
  ok = ok ? write_config(a, &text, d) : DIAG0(d, nomem);
  text_free(&text);
  return ok;
}

bool config_encode_printed(Artifact *a, const char *ir, size_t n, Diag *d) {
  Text text;
  text_init(&text, a->arena.alloc);
  a->ir = arena_strdup(&a->arena, ir, n);
  a->ir_len = n;
  bool ok = seal(a) && a->ir ? write_config(a, &text, d) : DIAG0(d, nomem);
  text_free(&text);
  return ok;
}

bool config_head(const Artifact *a, Text *out) {
  put_head(a, out);
  return !out->oom;
}
