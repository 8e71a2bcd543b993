/* context.c -- room api: contexts and what scripts do in them. */
#include "api.h"
#include "file.h"
#include "help.h"

void nkl_options_init(nkl_options *o) { API_SET(o, (nkl_options){.struct_size = sizeof *o}); }

static void to_write(void *ud, const char *text, size_t len) {
  nkl_ctx *c = ud;
  api_leave_to_host(c);
  c->options.write(c->options.write_ud, text, len);
  api_back_from_host(c);
}

static void to_warn(void *ud, const char *text, size_t len) {
  nkl_ctx *c = ud;
  api_leave_to_host(c);
  c->options.warn(c->options.warn_ud, text, len);
  api_back_from_host(c);
}

static nkl_status open_host(nkl_ctx *c) {
  const nkl_options *o = &c->options;
  HostSpec spec = {.alloc = c->alloc,
                   .memory_limit = o->memory_limit,
                   .ignore_env = (o->flags & NKL_OPT_IGNORE_ENV) != 0,
                   .strict = (o->flags & NKL_OPT_STRICT) != 0,
                   .explain_cache = (o->flags & NKL_OPT_EXPLAIN_CACHE) != 0,
                   .write = o->write ? to_write : NULL,
                   .warn = o->warn ? to_warn : NULL,
                   .write_ud = c,
                   .warn_ud = c};
  if (o->flags & ~(uint32_t)(NKL_OPT_IGNORE_ENV | NKL_OPT_STRICT | NKL_OPT_EXPLAIN_CACHE))
    return API_FAIL(c, api_use, "nkl_open", "an unknown flag is set");
  if (o->cache_dir) {
    text_puts(&c->cache_dir, o->cache_dir);
    if (c->cache_dir.oom) return API_NOMEM(c);
    spec.cache_dir = text_str(&c->cache_dir);
  }
  if (o->target) {
    Target t;
    bool fallback;
    const char *warning;
    text_puts(&c->target, o->target);
    if (c->target.oom) return API_NOMEM(c);
    if (!fw_get_platform_target(text_str(&c->target), &t, &fallback, &warning, &c->diag)) return api_fail(c);
    spec.target = text_str(&c->target);
  }
  c->host = host_open(&spec, &c->diag);
  return c->host ? NKL_OK : api_fail(c);
}

nkl_status nkl_open(nkl_ctx **out, const nkl_options *options) {
  nkl_options o;
  nkl_options_init(&o);
  API_SET(out, NULL);
  if (!out) return NKL_ERR_ARG;
  Diag d;
  diag_init(&d, alloc_std);
  bool known = API_STRUCT(__func__, nkl_options, &o, options, &d);
  Alloc alloc = known && o.alloc ? (Alloc){o.alloc, o.alloc_ud} : alloc_std;
  nkl_ctx *c = alloc_new(&alloc, sizeof *c);
  if (!c) {
    diag_free(&d);
    return NKL_ERR_NOMEM;
  }
  memset(c, 0, sizeof *c);
  c->alloc = alloc;
  c->options = o;
  diag_init(&c->diag, alloc);
  text_init(&c->target, alloc);
  text_init(&c->cache_dir, alloc);
  API_BEGIN(c);
  *out = c;
  if (!known) diag_copy(&c->diag, &d);
  diag_free(&d);
  return known ? open_host(c) : api_fail(c);
}

void nkl_close(nkl_ctx *c) {
  if (!c || c->inside) return;
  Alloc alloc = c->alloc;
  host_close(c->host);
  diag_free(&c->diag);
  text_free(&c->target);
  text_free(&c->cache_dir);
  alloc_free(&alloc, c, sizeof *c);
}

void nkl_interrupt(nkl_ctx *c) {
  if (c && c->host) host_interrupt(c->host);
}

/* ---- scripts ------------------------------------------------------------------------------------------------- */

void nkl_script_init(nkl_script *s) { API_SET(s, (nkl_script){.struct_size = sizeof *s}); }

static bool check_argv(nkl_ctx *c, const char *func, const char *const *argv, int argc, int script_index) {
  if (argc < 0 || script_index < 0 || script_index > argc)
    return DIAG(&c->diag, api_use, func, "script_index is not one of argv");
  return API_LIST(func, argv, (size_t)argc, &c->diag);
}

nkl_status nkl_load(nkl_ctx *c, const nkl_script *script) {
  nkl_script s;
  nkl_script_init(&s);
  API_ENTER(c, script);
  if (!API_STRUCT(__func__, nkl_script, &s, script, &c->diag)) return api_fail(c);
  if (!s.source && !s.path) return API_FAIL(c, api_use, "nkl_load", "neither path nor source is given");
  if (s.argv && !check_argv(c, __func__, s.argv, s.argc, s.script_index)) return api_fail(c);
  HostScript h = {s.path, s.source, s.source_len,  s.chunkname ? s.chunkname : "=script",
                  s.argv, s.argc,   s.script_index};
  return host_run(c->host, &h, &c->diag) ? NKL_OK : api_fail(c);
}

nkl_status nkl_load_file(nkl_ctx *c, const char *path) {
  nkl_script s;
  API_ENTER(c, path);
  nkl_script_init(&s);
  s.path = path;
  return nkl_load(c, &s);
}

nkl_status nkl_load_string(nkl_ctx *c, const char *src, size_t len, const char *chunkname) {
  nkl_script s;
  API_TEXT(src, len);
  API_ENTER(c, src);
  nkl_script_init(&s);
  s.source = src;
  s.source_len = len;
  s.chunkname = chunkname;
  return nkl_load(c, &s);
}

nkl_status nkl_require(nkl_ctx *c, const char *name, const char *global) {
  Text own;
  API_ENTER(c, name);
  text_init(&own, c->alloc);
  text_add(&own, name, strcspn(name, "-"));
  bool ok = own.oom ? DIAG0(&c->diag, nomem) : host_require(c->host, name, global ? global : text_str(&own), &c->diag);
  text_free(&own);
  return ok ? NKL_OK : api_fail(c);
}

nkl_status nkl_set_arg(nkl_ctx *c, const char *const *argv, int argc, int script_index) {
  HostScript s = {.argv = argv, .argc = argc, .script = script_index};
  API_ENTER(c, argv);
  if (!check_argv(c, __func__, argv, argc, script_index)) return api_fail(c);
  return host_set_arg(c->host, &s, &c->diag) ? NKL_OK : api_fail(c);
}

void nkl_warnings(nkl_ctx *c, int on) {
  if (c && c->host && !c->inside) host_warnings(c->host, on != 0);
}

/* ---- sessions ------------------------------------------------------------------------------------------------ */

static nkl_status give(nkl_ctx *c, bool ok, Text *t, nkl_buf *out) {
  if (ok) return api_take(t, out) ? NKL_OK : API_NOMEM(c);
  text_free(t);
  return api_fail(c);
}

nkl_status nkl_eval(nkl_ctx *c, const char *src, size_t len, const char *chunkname, int *incomplete, nkl_buf *out) {
  Text t;
  bool more = false;
  API_SET(out, (nkl_buf)NKL_BUF_INIT);
  API_SET(incomplete, 0);
  API_TEXT(src, len);
  API_ENTER(c, src, incomplete, out);
  HostChunk chunk = {src, len, chunkname ? chunkname : "=script"};
  text_init(&t, c->alloc);
  bool ok = host_eval(c->host, &chunk, &more, &t, &c->diag);
  *incomplete = more;
  return give(c, ok, &t, out);
}

nkl_status nkl_complete(nkl_ctx *c, const char *src, size_t len, nkl_buf *out) {
  Text t;
  API_SET(out, (nkl_buf)NKL_BUF_INIT);
  API_TEXT(src, len);
  API_ENTER(c, src, out);
  text_init(&t, c->alloc);
  return give(c, host_complete(c->host, src, len, &t, &c->diag), &t, out);
}

nkl_status nkl_help(nkl_ctx *c, const char *topic, nkl_buf *out) {
  Text t;
  API_SET(out, (nkl_buf)NKL_BUF_INIT);
  API_BEGIN(c, out);
  text_init(&t, c->alloc);
  return give(c, help_topic(topic, &t, &c->diag), &t, out);
}

nkl_status nkl_lint(nkl_ctx *c, const char *path, int json, nkl_buf *out, size_t *findings) {
  Text t;
  HostLint lint = {path, json != 0};
  API_SET(out, (nkl_buf)NKL_BUF_INIT);
  API_SET(findings, 0);
  API_ENTER(c, path, out, findings);
  text_init(&t, c->alloc);
  return give(c, host_lint(c->host, &lint, &t, findings, &c->diag), &t, out);
}

nkl_status nkl_run_specs(nkl_ctx *c, const char *const *argv, int argc) {
  API_ENTER(c, argv);
  if (!check_argv(c, __func__, argv, argc, 0)) return api_fail(c);
  return host_specs(c->host, argv, argc, &c->diag) ? NKL_OK : api_fail(c);
}

/* ---- files and tables ---------------------------------------------------------------------------------------- */

nkl_status nkl_file_read(nkl_ctx *c, const char *path, nkl_buf *out) {
  Text t;
  API_SET(out, (nkl_buf)NKL_BUF_INIT);
  API_BEGIN(c, path, out);
  text_init(&t, c->alloc);
  return give(c, file_read(path, &t, &c->diag), &t, out);
}

nkl_status nkl_file_write(nkl_ctx *c, const char *path, const char *data, size_t n) {
  API_TEXT(data, n);
  API_BEGIN(c, path, data);
  return file_write(path, data, n, &c->diag) ? NKL_OK : api_fail(c);
}

nkl_status nkl_files_write(nkl_ctx *c, const char *const *paths, size_t npaths, const char *data, size_t n) {
  API_TEXT(data, n);
  API_BEGIN(c, data);
  if (!API_LIST(__func__, paths, npaths, &c->diag)) return api_fail(c);
  FileOut *files = alloc_new(&c->alloc, npaths * sizeof *files + 1);
  if (!files) return API_NOMEM(c);
  for (size_t i = 0; i < npaths; i++) files[i] = (FileOut){paths[i], data, n};
  bool ok = file_write_all(files, npaths, &c->diag);
  alloc_free(&c->alloc, files, npaths * sizeof *files + 1);
  return ok ? NKL_OK : api_fail(c);
}

nkl_status nkl_render_table(nkl_table table, int json, nkl_buf *out, nkl_error_buf *err) {
  static const HelpTable tables[] = {[NKL_TABLE_OPS] = HELP_OPS,
                                     [NKL_TABLE_ERRORS] = HELP_ERRORS,
                                     [NKL_TABLE_DTYPES] = HELP_DTYPES,
                                     [NKL_TABLE_TARGETS] = HELP_TARGETS,
                                     [NKL_TABLE_LANGUAGE] = HELP_LANGUAGE,
                                     [NKL_TABLE_STUB_NKI] = HELP_STUB_NKI,
                                     [NKL_TABLE_STUB_LANGUAGE] = HELP_STUB_LANGUAGE,
                                     [NKL_TABLE_STUB_ISA] = HELP_STUB_ISA,
                                     [NKL_TABLE_STUB_COLLECTIVES] = HELP_STUB_COLLECTIVES};
  Text t;
  Diag d;
  API_SET(out, (nkl_buf)NKL_BUF_INIT);
  API_CHECK(err, out);
  diag_init(&d, alloc_std);
  text_init(&t, alloc_std);
  nkl_status s = NKL_OK;
  if ((unsigned)table >= sizeof tables / sizeof *tables) {
    DIAG(&d, api_use, "nkl_render_table", "there is no such table");
    s = api_fail_buf(err, &d);
  } else if (json && table >= NKL_TABLE_STUB_NKI) {
    DIAG(&d, api_use, "nkl_render_table", "the stubs for editors are Lua, there is no JSON of them");
    s = api_fail_buf(err, &d);
  } else {
    help_table(tables[table], json != 0, &t);
    if (!api_take(&t, out)) {
      DIAG0(&d, nomem);
      s = api_fail_buf(err, &d);
    }
  }
  text_free(&t);
  diag_free(&d);
  return s;
}
