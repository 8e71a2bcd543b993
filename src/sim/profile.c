/* profile.c -- sim room: where the host's time went, by instruction: a measurement of the simulator, not a model of a
   device. */
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "sim.h"

bool sim_profile_init(SimProfile *p, Alloc alloc, const IrModule *m) {
  *p = (SimProfile){.runs = 0};
  arena_init(&p->arena, alloc);
  p->func = arena_newn(&p->arena, SimInsTime *, m->nfunc);
  for (uint32_t i = 0; p->func && i < m->nfunc; i++) {
    p->func[i] = arena_newn(&p->arena, SimInsTime, m->func[i]->nins);
    if (!p->func[i]) return false;
    memset(p->func[i], 0, m->func[i]->nins * sizeof *p->func[i]);
  }
  return p->func != NULL;
}

void sim_profile_free(SimProfile *p) { arena_free(&p->arena); }

typedef struct Row { /* an instruction, or an operation with the sum of its instructions */
  Op op;
  uint32_t func, index;
  const IrLoc *loc;
  SimInsTime t;
} Row;

static const IrLoc *loc_of(const IrModule *m, const IrIns *ins) {
  return ins->loc && ins->loc < m->nlocs ? &m->locs[ins->loc] : NULL;
}

/* Instructions of rows that ran; structure (allocations, loop heads) takes no time worth a line. */
static bool shown(const IrIns *ins, const SimInsTime *t) { return ins->op < OP_count && t->calls > 0; }

static uint32_t count_rows(const SimProfile *p, const IrModule *m) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < m->nfunc; i++)
    for (uint32_t k = 0; k < m->func[i]->nins; k++) n += shown(m->func[i]->ins[k], &p->func[i][k]);
  return n;
}

static void fill_rows(const SimProfile *p, const IrModule *m, Row *rows, Row *sums) {
  for (uint32_t i = 0; i < m->nfunc; i++) {
    for (uint32_t k = 0; k < m->func[i]->nins; k++) {
      const IrIns *ins = m->func[i]->ins[k];
      const SimInsTime *t = &p->func[i][k];
      if (!shown(ins, t)) continue;
      *rows++ = (Row){(Op)ins->op, i, k, loc_of(m, ins), *t};
      sums[ins->op].op = (Op)ins->op;
      sums[ins->op].t.calls += t->calls;
      sums[ins->op].t.ns += t->ns;
    }
  }
}

static int by_time(const void *a, const void *b) {
  const Row *x = a, *y = b;
  if (x->t.ns != y->t.ns) return x->t.ns < y->t.ns ? 1 : -1;
  return (x->op > y->op) - (x->op < y->op);
}

static double us(int64_t ns) { return (double)ns / 1e3; }

static void put_row(const SimProfile *p, const Row *r, Text *out) {
  double share = p->ns ? 100.0 * (double)r->t.ns / (double)p->ns : 0;
  text_printf(out, "%12.3f %5.1f%% %9lld  %s.%s", us(r->t.ns), share, (long long)r->t.calls, op_info[r->op].dialect,
              op_info[r->op].name);
  if (r->loc) text_printf(out, "  %s:%d", r->loc->file, r->loc->line);
  text_puts(out, "\n");
}

static void json_row(const Row *r, JsonWriter *w) {
  json_begin(w, '{');
  json_key(w, "instruction");
  json_cstr(w, op_info[r->op].name);
  if (r->loc) {
    json_key(w, "file");
    json_cstr(w, r->loc->file);
    json_key(w, "line");
    json_int(w, r->loc->line);
  }
  json_key(w, "calls");
  json_int(w, r->t.calls);
  json_key(w, "us");
  json_double(w, us(r->t.ns));
  json_end(w, '}');
}

static void json_rows(JsonWriter *w, const char *key, const Row *rows, uint32_t n) {
  json_key(w, key);
  json_begin(w, '[');
  for (uint32_t i = 0; i < n; i++) json_row(&rows[i], w);
  json_end(w, ']');
}

static const char what_it_is[] = "host time of the simulator";

typedef struct Tables {
  Row *rows, *sums;
  uint32_t nrows, nsums;
} Tables;

static void render_json(const SimProfile *p, const Tables *t, Text *out) {
  JsonWriter w = {.out = out};
  json_begin(&w, '{');
  json_key(&w, "time");
  json_cstr(&w, what_it_is);
  json_key(&w, "runs");
  json_int(&w, p->runs);
  json_key(&w, "total_us");
  json_double(&w, us(p->ns));
  json_rows(&w, "timeline", t->rows, t->nrows);
  json_rows(&w, "operations", t->sums, t->nsums);
  json_end(&w, '}');
  text_puts(out, "\n");
}

static void render_text(const SimProfile *p, const Tables *t, Text *out) {
  text_printf(out, "%s, not of a device: %.3f us in %lld run%s\n", what_it_is, us(p->ns), (long long)p->runs,
              p->runs == 1 ? "" : "s");
  text_puts(out, "          us  share     calls  instruction, in program order\n");
  for (uint32_t i = 0; i < t->nrows; i++) put_row(p, &t->rows[i], out);
  text_puts(out, "          us  share     calls  operation, slowest first\n");
  for (uint32_t i = 0; i < t->nsums; i++) put_row(p, &t->sums[i], out);
}

bool sim_profile_render(const SimProfile *p, const IrModule *m, bool json, Text *out) {
  Arena scratch;
  arena_init(&scratch, out->alloc);
  Tables t = {.nrows = count_rows(p, m)};
  t.rows = arena_newn(&scratch, Row, t.nrows);
  t.sums = arena_newn(&scratch, Row, OP_count);
  if (t.rows && t.sums) {
    memset(t.sums, 0, OP_count * sizeof *t.sums);
    fill_rows(p, m, t.rows, t.sums);
    qsort(t.sums, OP_count, sizeof *t.sums, by_time);
    while (t.nsums < OP_count && t.sums[t.nsums].t.calls) t.nsums++;
    (json ? render_json : render_text)(p, &t, out);
  }
  bool ok = t.rows && t.sums && !out->oom;
  arena_free(&scratch);
  return ok;
}
