/* plan.c -- room api: what a run on a device would execute and write. */
#include "api.h"
#include "json.h"

void nkl_plan_options_init(nkl_plan_options *o) { API_SET(o, (nkl_plan_options){.struct_size = sizeof *o}); }

/* The rest of a line that begins with word and a space, or NULL; *next: the line after it. */
static const char *rest_of(const char *line, const char *word, size_t *n, const char **next) {
  size_t all = strcspn(line, "\n"), k = strlen(word);
  *next = line + all + (line[all] == '\n');
  *n = all - k - 1;
  return strncmp(line, word, k) == 0 && line[k] == ' ' ? line + k + 1 : NULL;
}

static void as_json(const char *plan, const Text *missing, Text *out) {
  JsonWriter w = {.out = out};
  const char *next, *rest;
  size_t n;
  json_begin(&w, '{');
  rest = rest_of(plan, "run", &n, &next);
  json_key(&w, "run");
  json_string(&w, rest ? rest : "", rest ? n : 0);
  json_key(&w, "write");
  json_begin(&w, '[');
  while (*next) {
    rest = rest_of(next, "write", &n, &next);
    if (rest) json_string(&w, rest, n);
  }
  json_end(&w, ']');
  json_key(&w, "missing");
  if (missing->len) {
    json_string(&w, text_str(missing), missing->len);
  } else {
    json_null(&w);
  }
  json_end(&w, '}');
  text_puts(out, "\n");
}

static void as_text(const char *plan, const Text *missing, Text *out) {
  text_puts(out, plan);
  if (missing->len) text_printf(out, "missing %s\n", text_str(missing));
}

static bool render(const Artifact *a, const FwBaremetal *b, int json, Text *out) {
  Text plan, missing;
  text_init(&plan, out->alloc);
  text_init(&missing, out->alloc);
  bool ok = fw_baremetal_plan(a, b, &plan);
  fw_baremetal_missing(&missing);
  (json ? as_json : as_text)(text_str(&plan), &missing, out);
  ok = ok && !missing.oom;
  text_free(&plan);
  text_free(&missing);
  return ok;
}

nkl_status nkl_program_plan(const nkl_program *p, const nkl_plan_options *o, int json, nkl_buf *out,
                            nkl_error_buf *err) {
  nkl_plan_options options;
  Text t;
  Diag d;
  API_SET(out, (nkl_buf)NKL_BUF_INIT);
  API_CHECK(err, p, out);
  const Artifact *a = api_artifact(p);
  nkl_plan_options_init(&options);
  text_init(&t, a->arena.alloc);
  diag_init(&d, a->arena.alloc);
  bool ok = API_STRUCT(__func__, nkl_plan_options, &options, o, &d);
  FwBaremetal b = {options.dir, options.neff, options.trace, options.compile_options};
  if (ok && (!render(a, &b, json, &t) || !api_take(&t, out))) ok = DIAG0(&d, nomem);
  nkl_status s = ok ? NKL_OK : api_fail_buf(err, &d);
  text_free(&t);
  diag_free(&d);
  return s;
}
