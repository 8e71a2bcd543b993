/* profile_trace.c -- room sim: the timeline of a profile in Chrome's trace-event format. */
#include "json.h"
#include "say.h"
#include "sim.h"

enum { PID = 1 };

typedef struct Trace {
  const SimProfile *p;
  JsonWriter w;
  Text name; /* of the event being written */
} Trace;

static void put_text(Trace *t, const char *key, const char *s) {
  json_key(&t->w, key);
  json_cstr(&t->w, s);
}

static void put_int(Trace *t, const char *key, int64_t v) {
  json_key(&t->w, key);
  json_int(&t->w, v);
}

static void put_us(Trace *t, const char *key, int64_t ns) {
  json_key(&t->w, key);
  json_double(&t->w, (double)ns / 1e3);
}

static void begin(Trace *t, const char *key) {
  if (key) json_key(&t->w, key);
  json_begin(&t->w, '{');
}

/* The name of the process or of a thread. */
static void put_meta(Trace *t, const char *what, int tid, const char *name) {
  begin(t, NULL);
  put_text(t, "ph", "M");
  put_text(t, "name", what);
  put_int(t, "pid", PID);
  put_int(t, "tid", tid);
  begin(t, "args");
  put_text(t, "name", name);
  json_end(&t->w, '}');
  json_end(&t->w, '}');
}

/* Returns the category: what kind of stretch, for an instruction its engine. */
static const char *name_event(Trace *t, const SimEvent *e, const IrIns *ins) {
  text_clear(&t->name);
  if (e->whole) {
    text_printf(&t->name, "program %lld", (long long)e->program);
    return "program";
  }
  if (ins->op < OP_count) {
    text_printf(&t->name, "%s.%s", op_info[ins->op].dialect, op_info[ins->op].name);
    return engine_name(ir_engine(t->p->m->func[e->func], ins));
  }
  text_puts(&t->name, ins->op == CORE_for ? "for" : "while");
  return "loop";
}

static void put_args(Trace *t, const SimEvent *e, const IrIns *ins) {
  const IrModule *m = t->p->m;
  begin(t, "args");
  put_int(t, "program", e->program);
  if (ins && ins->loc && ins->loc < m->nlocs) {
    put_text(t, "file", m->locs[ins->loc].file);
    put_int(t, "line", m->locs[ins->loc].line);
  }
  if (ins && ins->label) put_text(t, "label", ins->label);
  json_end(&t->w, '}');
}

static void put_event(Trace *t, int core, const SimEvent *e) {
  const IrIns *ins = e->whole ? NULL : t->p->m->func[e->func]->ins[e->ins];
  const char *cat = name_event(t, e, ins);
  begin(t, NULL);
  put_text(t, "ph", "X");
  put_text(t, "name", text_str(&t->name));
  put_text(t, "cat", cat);
  put_int(t, "pid", PID);
  put_int(t, "tid", core);
  put_us(t, "ts", e->at);
  put_us(t, "dur", e->ns);
  put_args(t, e, ins);
  json_end(&t->w, '}');
}

/* The core whose next event began first, -1 when there is none. */
static int next_core(const SimProfile *p, const int64_t *done) {
  int best = -1;
  for (int c = 0; c < p->ncores; c++) {
    if (done[c] == p->core[c].nevents) continue;
    if (best < 0 || p->core[c].event[done[c]].at < p->core[best].event[done[best]].at) best = c;
  }
  return best;
}

static void put_events(Trace *t, int64_t *done) {
  json_key(&t->w, "traceEvents");
  json_begin(&t->w, '[');
  text_clear(&t->name);
  text_printf(&t->name, "%s: %s", t->p->m->name, sim_profile_time);
  put_meta(t, "process_name", 0, text_str(&t->name));
  for (int c = 0; c < t->p->ncores; c++) {
    text_clear(&t->name);
    text_printf(&t->name, "core %d", c);
    put_meta(t, "thread_name", c, text_str(&t->name));
  }
  for (int c = next_core(t->p, done); c >= 0; c = next_core(t->p, done)) {
    put_event(t, c, &t->p->core[c].event[done[c]]);
    done[c]++;
    text_puts(t->w.out, "\n"); /* so that a text editor can show it */
  }
  json_end(&t->w, ']');
}

bool sim_profile_trace(const SimProfile *p, Text *out) {
  Trace t = {.p = p, .w = {.out = out}};
  int64_t left_out = 0, *done = alloc_new(&out->alloc, (size_t)p->ncores * sizeof *done);
  if (!done) return false;
  for (int c = 0; c < p->ncores; c++) {
    done[c] = 0;
    left_out += p->core[c].left_out;
  }
  text_init(&t.name, out->alloc);
  begin(&t, NULL);
  put_text(&t, "displayTimeUnit", "ns");
  begin(&t, "otherData");
  put_text(&t, "time", sim_profile_time);
  put_text(&t, "kernel", p->m->name);
  put_int(&t, "runs", p->runs);
  put_int(&t, "events_left_out", left_out);
  json_end(&t.w, '}');
  put_events(&t, done);
  json_end(&t.w, '}');
  text_puts(out, "\n");
  bool ok = !t.name.oom && !out->oom;
  text_free(&t.name);
  alloc_free(&out->alloc, done, (size_t)p->ncores * sizeof *done);
  return ok;
}
