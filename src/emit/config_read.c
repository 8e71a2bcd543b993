/* config_read.c -- room emit: strict reading of a backend_config. The program in serialize_ir_string is the truth:
   whatever else follows from it is written again from the parsed module and must come out as given. */
#include <math.h>
#include <string.h>

#include "base64.h"
#include "config.h"

typedef struct ConfigRow {
  const char *name;
  JsonKind kind;
} ConfigRow;

static const ConfigRow rows[] = {
#define KEY(name, kind, write) {#name, kind},
#include "config.def"
#undef KEY
};

typedef struct Reader {
  Arena scratch; /* the JSON tree */
  const Json *value[CONFIG_count];
  const char *ir; /* the program; NULL: it is in the JSON */
  size_t nir;
  Diag *d;
} Reader;

static const char *kind_text(JsonKind kind) {
  static const char *const names[] = {
      [JSON_NULL] = "null",       [JSON_BOOL] = "true or false", [JSON_INT] = "an integer",  [JSON_FLOAT] = "a number",
      [JSON_STRING] = "a string", [JSON_ARRAY] = "a list",       [JSON_OBJECT] = "an object"};
  return names[kind];
}

static bool bad_value(Reader *r, ConfigKey key, const char *why) {
  return DIAG(r->d, config_value, rows[key].name, why);
}

/* An integer beyond 2^53 is a string of digits. */
static bool as_int(const Json *v, int64_t *out) {
  if (v->kind == JSON_INT) return *out = v->i, true;
  if (v->kind != JSON_STRING || v->len == 0 || v->len > 20) return false;
  const int64_t exact = INT64_C(1) << 53;
  bool negative = v->s[0] == '-';
  uint64_t n = 0, limit = (uint64_t)INT64_MAX + negative;
  for (const char *p = v->s + negative; *p; p++) {
    unsigned digit = (unsigned)(*p - '0');
    if (digit > 9 || n > (limit - digit) / 10) return false;
    n = n * 10 + digit;
  }
  *out = negative ? (int64_t)(0 - n) : (int64_t)n;
  return *out > exact || *out < -exact; /* smaller ones are written as numbers, and "" is none */
}

/* Format and version are asked first: another one may have other keys. */
static bool check_format(Reader *r, const Json *root) {
  const Json *format = json_get(root, "kernel_format"), *version = json_get(root, "kernel_version");
  char clip[TEXT_CLIP + 4];
  if (format && format->kind == JSON_STRING && strcmp(format->s, NKILUA_KERNEL_FORMAT) != 0)
    return DIAG(r->d, config_format, text_clip(clip, format->s, format->len), NKILUA_KERNEL_FORMAT);
  if (version && version->kind == JSON_INT && version->i > NKILUA_KERNEL_VERSION)
    return DIAG(r->d, config_version, (long long)version->i, NKILUA_KERNEL_VERSION);
  if (version && version->kind == JSON_INT && version->i < 1)
    return bad_value(r, CONFIG_kernel_version, "must be at least 1");
  return true;
}

static bool collect_keys(Reader *r, const Json *root) {
  char clip[TEXT_CLIP + 4];
  for (const Json *v = root->child; v; v = v->next) {
    int k = 0;
    while (k < CONFIG_count && strcmp(rows[k].name, v->key) != 0) k++;
    if (k == CONFIG_count) return DIAG(r->d, config_key, "unknown", text_clip(clip, v->key, strlen(v->key)));
    /* The version is the one integer that is compared with nothing the program says. */
    bool big = rows[k].kind == JSON_INT && k != CONFIG_kernel_version && v->kind == JSON_STRING;
    if (v->kind != rows[k].kind && !big) return DIAG(r->d, config_type, v->key, kind_text(rows[k].kind));
    r->value[k] = v;
  }
  for (int k = 0; k < CONFIG_count; k++)
    if (!r->value[k]) return DIAG(r->d, config_key, "missing", rows[k].name);
  return true;
}

typedef struct KindName {
  const char *name;
  ConstKind kind;
  JsonKind value;
} KindName;

static const KindName kind_names[] = {
    {"nil", CONST_NIL, JSON_NULL},         {"bool", CONST_BOOL, JSON_BOOL},
    {"int", CONST_INT, JSON_INT},          {"float", CONST_FLOAT, JSON_FLOAT},
    {"string", CONST_STRING, JSON_STRING}, {"bytes", CONST_STRING, JSON_STRING},
    {"token", CONST_TOKEN, JSON_STRING},   {"function", CONST_FUNCTION, JSON_STRING},
    {"tuple", CONST_TUPLE, JSON_ARRAY},
};

static const KindName *find_kind(const Json *kind) {
  for (size_t i = 0; kind && kind->kind == JSON_STRING && i < sizeof kind_names / sizeof *kind_names; i++)
    if (strcmp(kind_names[i].name, kind->s) == 0) return &kind_names[i];
  return NULL;
}

static bool read_float(const Json *v, double *out) {
  if (v->kind == JSON_FLOAT) return *out = v->f, true;
  if (v->kind != JSON_STRING) return false;
  if (strcmp(v->s, "NaN") == 0) return *out = NAN, true;
  if (strcmp(v->s, "Infinity") == 0) return *out = INFINITY, true;
  if (strcmp(v->s, "-Infinity") == 0) return *out = -INFINITY, true;
  return false;
}

static bool read_bytes(Reader *r, const Json *v, ConstValue *out) {
  Text bytes;
  text_init(&bytes, r->scratch.alloc);
  bool ok = base64_decode(&bytes, v->s, v->len, r->d);
  if (ok) out->s = arena_strdup(&r->scratch, text_str(&bytes), bytes.len);
  out->len = bytes.len;
  text_free(&bytes);
  return ok && (out->s || DIAG0(r->d, nomem));
}

static bool read_const(Reader *r, const Json *v, bool named, ConstValue *out);

static bool read_items(Reader *r, const Json *v, ConstValue *out) {
  ConstValue *items = arena_newn(&r->scratch, ConstValue, v->count);
  if (!items) return DIAG0(r->d, nomem);
  out->items = items;
  out->nitems = v->count;
  for (const Json *c = v->child; c; c = c->next)
    if (!read_const(r, c, false, items++)) return false;
  return true;
}

static bool read_const_value(Reader *r, const Json *v, const KindName *kind, ConstValue *out) {
  out->kind = kind->kind;
  if (out->kind == CONST_INT)
    return as_int(v, &out->i) || bad_value(r, CONFIG_constant_values, "an int has an integer value");
  if (out->kind == CONST_FLOAT)
    return read_float(v, &out->f) ||
           bad_value(r, CONFIG_constant_values, "a float has a number with a point as its value");
  if (v->kind != kind->value) return bad_value(r, CONFIG_constant_values, "a value is not of its kind");
  out->b = v->b;
  out->s = v->s;
  out->len = v->len;
  if (strcmp(kind->name, "bytes") == 0) return read_bytes(r, v, out);
  return out->kind == CONST_TUPLE ? read_items(r, v, out) : true;
}

/* {name, kind, value}, in a tuple {kind, value}. */
static bool read_const(Reader *r, const Json *v, bool named, ConstValue *out) {
  const Json *name = json_get(v, "name"), *kind = json_get(v, "kind"), *value = json_get(v, "value");
  const KindName *row = find_kind(kind);
  if (v->kind != JSON_OBJECT || !row || !value || v->count != (named ? 3u : 2u) || (name != NULL) != named)
    return bad_value(r, CONFIG_constant_values, "an entry is {name, kind, value} with a known kind");
  if (named && name->kind != JSON_STRING) return bad_value(r, CONFIG_constant_values, "a name must be a string");
  *out = (ConstValue){.name = named ? name->s : NULL};
  return read_const_value(r, value, row, out);
}

static bool is_tensor(const Json *v) {
  const Json *kind = json_get(v, "kind");
  return v->kind == JSON_OBJECT && kind && kind->kind == JSON_STRING && strcmp(kind->s, "tensor") == 0;
}

/* Constant tensors are last and are those of the program; the scalars before them are kept as they are. */
static bool read_constants(Reader *r, Artifact *a) {
  const Json *list = r->value[CONFIG_constant_values];
  ConstValue *consts = arena_newn(&r->scratch, ConstValue, list->count);
  uint32_t n = 0;
  const Json *v = list->child;
  if (!consts) return DIAG0(r->d, nomem);
  for (; v && !is_tensor(v); v = v->next)
    if (!read_const(r, v, true, &consts[n++])) return false;
  if (list->count - n != a->ntensors) return DIAG(r->d, config_mismatch, "constant_values");
  return artifact_set_constants(a, consts, n) || DIAG0(r->d, nomem);
}

static bool read_opt(Reader *r, const Json *v, KernelOpt *out) {
  static const ConstKind kinds[] = {
      [JSON_BOOL] = CONST_BOOL, [JSON_INT] = CONST_INT, [JSON_FLOAT] = CONST_FLOAT, [JSON_STRING] = CONST_STRING};
  if (v->kind == JSON_NULL || v->kind >= JSON_ARRAY)
    return bad_value(r, CONFIG_opts, "a value is true, false, a number or a string");
  *out = (KernelOpt){.key = v->key,
                     .value = {.kind = kinds[v->kind], .b = v->b, .i = v->i, .f = v->f, .s = v->s, .len = v->len}};
  return true;
}

static bool read_opts(Reader *r, Artifact *a) {
  const Json *object = r->value[CONFIG_opts];
  KernelOpt *opts = arena_newn(&r->scratch, KernelOpt, object->count);
  if (!opts) return DIAG0(r->d, nomem);
  uint32_t n = 0;
  for (const Json *v = object->child; v; v = v->next, n++) {
    if (!read_opt(r, v, &opts[n])) return false;
    if (n && strcmp(opts[n - 1].key, opts[n].key) >= 0) return bad_value(r, CONFIG_opts, "keys must be sorted");
  }
  return artifact_set_opts(a, opts, n) || DIAG0(r->d, nomem);
}

/* Values of one JSON tree in the writer's own spelling, for comparison with what the module says. */
static void put_json(JsonWriter *w, const Json *v) {
  switch (v->kind) {
    case JSON_NULL:
      json_null(w);
      return;
    case JSON_BOOL:
      json_bool(w, v->b);
      return;
    case JSON_INT:
      json_int(w, v->i);
      return;
    case JSON_FLOAT:
      json_double(w, v->f);
      return;
    case JSON_STRING:
      json_string(w, v->s, v->len);
      return;
    case JSON_ARRAY:
    case JSON_OBJECT:
      break;
  }
  json_begin(w, v->kind == JSON_ARRAY ? '[' : '{');
  for (const Json *c = v->child; c; c = c->next) {
    if (c->key) json_key(w, c->key);
    put_json(w, c);
  }
  json_end(w, v->kind == JSON_ARRAY ? ']' : '}');
}

static void put_inputs(JsonWriter *w, const Artifact *a) { config_put_names(w, a->input_names, a->ninputs); }
static void put_outputs(JsonWriter *w, const Artifact *a) { config_put_names(w, a->output_names, a->noutputs); }
static void put_target(JsonWriter *w, const Artifact *a) { json_cstr(w, target_name(a->module->target)); }
static void put_fallback(JsonWriter *w, const Artifact *a) { json_bool(w, a->module->target_is_fallback); }
static void put_sequence(JsonWriter *w, const Artifact *a) { json_bool(w, a->result_is_sequence); }
static void put_macs(JsonWriter *w, const Artifact *a) { json_int(w, a->matmul_mac_count); }
static void put_name(JsonWriter *w, const Artifact *a) { json_cstr(w, a->module->name); }
/* A class may say so of a program that has none of its own; then the program's text says so, too. */
static void put_collectives(JsonWriter *w, const Artifact *a) {
  json_bool(w, a->module->has_collectives || ir_has_collectives(a->module));
}
static void put_true(JsonWriter *w, const Artifact *a) { json_bool(w, a != NULL); }

typedef struct Derived {
  ConfigKey key;
  void (*put)(JsonWriter *w, const Artifact *a);
} Derived;

static const Derived derived[] = {
    {CONFIG_func_name, put_name},
    {CONFIG_grid, config_put_grid},
    {CONFIG_cores, config_put_cores},
    {CONFIG_has_collectives, put_collectives},
    {CONFIG_matmul_mac_count, put_macs},
    {CONFIG_platform_target, put_target},
    {CONFIG_platform_target_is_fallback, put_fallback},
    {CONFIG_serialize_dims, config_put_dims},
    {CONFIG_tiled, put_true},
    {CONFIG_kernel_return, config_put_returns},
    {CONFIG_result_is_sequence, put_sequence},
    {CONFIG_mac_count, put_macs},
    {CONFIG_operand_output_aliases, config_put_aliases},
    {CONFIG_input_names, put_inputs},
    {CONFIG_output_names, put_outputs},
};

/* What the module says and what the document says, each in the writer's spelling. */
typedef struct Pair {
  Text want, got;
} Pair;

static bool check_pair(Reader *r, const Pair *p, const char *key) {
  if (p->want.oom || p->got.oom) return DIAG0(r->d, nomem);
  if (p->want.len == p->got.len && memcmp(text_str(&p->want), text_str(&p->got), p->want.len) == 0) return true;
  return DIAG(r->d, config_mismatch, key);
}

static void clear_pair(Pair *p) {
  text_clear(&p->want);
  text_clear(&p->got);
}

static bool check_tensors(Reader *r, const Artifact *a, Pair *p) {
  const Json *v = r->value[CONFIG_constant_values]->child;
  for (uint32_t i = 0; i < a->nconstants; i++) v = v->next;
  for (uint32_t i = 0; i < a->ntensors; i++, v = v->next) {
    clear_pair(p);
    config_put_tensor(&(JsonWriter){.out = &p->want}, &a->tensors[i]);
    put_json(&(JsonWriter){.out = &p->got}, v);
    if (!check_pair(r, p, "constant_values")) return false;
  }
  return true;
}

static bool check_derived(Reader *r, const Artifact *a) {
  Pair p;
  text_init(&p.want, r->scratch.alloc);
  text_init(&p.got, r->scratch.alloc);
  bool ok = true;
  for (size_t i = 0; ok && i < sizeof derived / sizeof *derived; i++) {
    clear_pair(&p);
    derived[i].put(&(JsonWriter){.out = &p.want}, a);
    put_json(&(JsonWriter){.out = &p.got}, r->value[derived[i].key]);
    ok = check_pair(r, &p, rows[derived[i].key].name);
  }
  ok = ok && check_tensors(r, a, &p);
  text_free(&p.want);
  text_free(&p.got);
  return ok;
}

/* Constants and options do not follow from the program, but it holds their digest. */
static bool check_bound(Reader *r, const Artifact *a) {
  char want[CONFIG_BOUND + 1];
  const char *got = a->module->bound ? a->module->bound : "";
  if (!config_bound(a, want)) return DIAG0(r->d, nomem);
  if (!*want ? *got : strncmp(got, want, CONFIG_DIGEST) != 0) return DIAG(r->d, config_mismatch, "constant_values");
  return strcmp(got, want) == 0 || DIAG(r->d, config_mismatch, "opts");
}

static Artifact *read_artifact(Reader *r, Alloc alloc) {
  IrModule *m = ir_parse(alloc, r->ir, r->nir, "serialize_ir_string", r->d);
  if (!m) return NULL;
  Artifact *a = artifact_new(alloc, m);
  ir_release(m);
  if (!a) DIAG0(r->d, nomem);
  if (!a) return NULL;
  a->has_collectives = r->value[CONFIG_has_collectives]->b;
  if (read_constants(r, a) && read_opts(r, a) && check_derived(r, a) && check_bound(r, a)) return a;
  artifact_release(a);
  return NULL;
}

/* All but what config_encode makes. The tree is gone when that comes. */
static Artifact *read_json(Reader *r, Alloc alloc, const char *json, size_t n) {
  arena_init(&r->scratch, alloc);
  const Json *root = json_parse(&r->scratch, json, n, "backend_config", r->d);
  Artifact *a = NULL;
  if (root && root->kind != JSON_OBJECT) DIAG(r->d, config_type, "backend_config", kind_text(JSON_OBJECT));
  if (root && root->kind == JSON_OBJECT && check_format(r, root) && collect_keys(r, root)) {
    const Json *ir = r->value[CONFIG_serialize_ir_string];
    if (!r->ir) r->ir = ir->s, r->nir = ir->len;
    a = read_artifact(r, alloc);
  }
  arena_free(&r->scratch);
  return a;
}

static const Artifact *finished(Artifact *a, bool ok) {
  if (a && !ok) artifact_release(a);
  return ok ? a : NULL;
}

const Artifact *config_join(Alloc alloc, const ConfigParts *parts, Diag *d) {
  Reader r = {.ir = parts->ir, .nir = parts->nir, .d = d};
  Artifact *a = read_json(&r, alloc, parts->head, parts->nhead);
  return finished(a, a && config_encode_printed(a, parts->ir, parts->nir, d));
}

bool config_begins(const FileIn *first, bool whole, size_t *end, Diag *d) {
  (void)end;
  if (whole) return true; /* config_decode says all there is to say */
  Text text;
  text_init(&text, d->message.alloc);
  bool ok = base64_decode(&text, first->data, first->n - first->n % 4, d);
  if (ok && *text_str(&text) != '{') ok = DIAG(d, config_type, "backend_config", kind_text(JSON_OBJECT));
  text_free(&text);
  return ok;
}

const Artifact *config_decode(Alloc alloc, const char *b64, size_t n, Diag *d) {
  Text json;
  text_init(&json, alloc);
  if (n && b64[n - 1] == '\n') n--;
  Reader r = {.d = d};
  Artifact *a = base64_decode(&json, b64, n, d) ? read_json(&r, alloc, text_str(&json), json.len) : NULL;
  const ConfigRead read = {b64, n, &json, r.nir};
  const Artifact *done = finished(a, a && config_encode_read(a, &read, d));
  text_free(&json);
  return done;
}
