/* profile_text.c -- room sim: a profile as tables and as JSON. */
#include "json.h"
#include "say.h"
#include "sim.h"

typedef struct Table {
  const char *key, *title;
  SimProfileRow *rows;
  uint32_t n;
} Table;
enum { TABLES = 4 };

static double us(int64_t ns) { return (double)ns / 1e3; }
static double share(const SimProfile *p, int64_t ns) { return p->ns ? (double)ns / (double)p->ns : 0; }

/* Cores that run nothing have no row. */
static int64_t busy(const Table *cores, int core) {
  for (uint32_t i = 0; i < cores->n; i++)
    if (cores->rows[i].core == core) return cores->rows[i].ns;
  return 0;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void json_text(JsonWriter *w, const char *key, const char *s) {
  json_key(w, key);
  json_cstr(w, s);
}

static void json_count(JsonWriter *w, const char *key, int64_t n) {
  json_key(w, key);
  json_int(w, n);
}

static void json_number(JsonWriter *w, const char *key, double v) {
  json_key(w, key);
  json_double(w, v);
}

static void json_row(const SimProfile *p, const SimProfileRow *r, JsonWriter *w) {
  json_begin(w, '{');
  if (r->op) json_text(w, "instruction", op_info[r->op].name);
  json_text(w, "engine", engine_name(r->engine));
  if (r->loc) {
    json_text(w, "file", r->loc->file);
    json_count(w, "line", r->loc->line);
  }
  json_count(w, "core", r->core);
  json_count(w, "calls", r->calls);
  json_count(w, "elements", r->elements);
  json_count(w, "bytes", r->bytes);
  json_number(w, "us", us(r->ns));
  json_number(w, "share", share(p, r->ns));
  json_end(w, '}');
}

static void json_core(const SimProfile *p, const Table *t, int core, JsonWriter *w) {
  json_begin(w, '{');
  json_count(w, "core", core);
  json_number(w, "us", us(busy(t, core)));
  json_number(w, "rest_us", us(p->ns - busy(t, core)));
  json_end(w, '}');
}

static void render_json(const SimProfile *p, const Table *t, Text *out) {
  JsonWriter w = {.out = out};
  json_begin(&w, '{');
  json_text(&w, "time", sim_profile_time);
  json_count(&w, "runs", p->runs);
  json_number(&w, "total_us", us(p->ns));
  for (int k = 0; k < TABLES; k++) {
    json_key(&w, t[k].key);
    json_begin(&w, '[');
    for (uint32_t i = 0; k != SIM_BY_CORE && i < t[k].n; i++) json_row(p, &t[k].rows[i], &w);
    for (int c = 0; k == SIM_BY_CORE && c < p->ncores; c++) json_core(p, &t[k], c, &w);
    json_end(&w, ']');
  }
  json_end(&w, '}');
  text_puts(out, "\n");
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static void put_time(const SimProfile *p, int64_t ns, Text *out) {
  text_printf(out, "%12.3f %5.1f%%", us(ns), 100 * share(p, ns));
}

static void put_row(const SimProfile *p, const SimProfileRow *r, Text *out) {
  put_time(p, r->ns, out);
  text_printf(out, " %9lld %12lld %13lld  ", (long long)r->calls, (long long)r->elements, (long long)r->bytes);
  if (p->ncores > 1) text_printf(out, "%4d  ", r->core);
  text_printf(out, r->op ? "%-7s" : "%s", engine_name(r->engine));
  if (r->op) text_printf(out, "  %s.%s", op_info[r->op].dialect, op_info[r->op].name);
  if (r->loc) text_printf(out, "  %s:%d", r->loc->file, r->loc->line);
  text_puts(out, "\n");
}

static void put_cores(const SimProfile *p, const Table *t, Text *out) {
  text_puts(out, "\n          us  share\n");
  for (int c = 0; c < p->ncores; c++) {
    put_time(p, busy(t, c), out);
    text_puts(out, "  instructions");
    if (p->ncores > 1) text_printf(out, " of core %d, waiting for the other one included", c);
    text_puts(out, "\n");
    put_time(p, p->ns - busy(t, c), out);
    text_puts(out, p->ncores > 1 ? "  the rest: loops, set-up, outputs, nothing to do\n"
                                 : "  the rest: loops, set-up, outputs\n");
  }
}

static void render_text(const SimProfile *p, const Table *t, Text *out) {
  text_printf(out, "%s, not of a device: %.3f us in %lld run%s\n", sim_profile_time, us(p->ns), (long long)p->runs,
              p->runs == 1 ? "" : "s");
  for (int k = 0; k < SIM_BY_CORE; k++) {
    text_printf(out, "\n          us  share     calls     elements         bytes  %sengine%s%s\n",
                p->ncores > 1 ? "core  " : "", *t[k].title ? "   " : "", t[k].title);
    for (uint32_t i = 0; i < t[k].n; i++) put_row(p, &t[k].rows[i], out);
  }
  put_cores(p, &t[SIM_BY_CORE], out);
}

bool sim_profile_render(const SimProfile *p, bool json, Text *out) {
  Arena scratch;
  arena_init(&scratch, out->alloc);
  Table t[TABLES] = {[SIM_BY_LINE] = {"lines", "instruction and line, slowest first", NULL, 0},
                     [SIM_BY_OP] = {"operations", "instruction", NULL, 0},
                     [SIM_BY_ENGINE] = {"engines", "", NULL, 0},
                     [SIM_BY_CORE] = {"cores", "", NULL, 0}};
  bool ok = true;
  for (int k = 0; ok && k < TABLES; k++) {
    t[k].rows = sim_profile_rows(p, (SimProfileBy)k, &scratch, &t[k].n);
    ok = t[k].rows != NULL;
  }
  if (ok) (json ? render_json : render_text)(p, t, out);
  arena_free(&scratch);
  return ok && !out->oom;
}
