/* races.c -- room sim: what the programs of a grid do to the tensors they share. Each physical core works on its own
   copy between two meetings (barriers, exchanges, the end), so neither results nor reports depend on who is faster; a
   meeting compares what each touched and then shows all cores the same. Programs of one core are watched for writes to
   one place. */
#include <string.h>

#include "exec.h"

/* ---- marks ------------------------------------------------------------------------------------------------------- */
static bool marks_open(Track *t, Marks *m) {
  if (m->w) return true;
  int64_t n = (t->mem->written.n + 63) / 64;
  m->w = alloc_new(&t->sim->alloc, (size_t)n * sizeof *m->w);
  if (!m->w) return !(t->oom = true);
  memset(m->w, 0, (size_t)n * sizeof *m->w);
  m->n = m->lo = n;
  m->hi = 0;
  return true;
}

static void marks_clear(Marks *m) {
  if (m->hi > m->lo) memset(m->w + m->lo, 0, (size_t)(m->hi - m->lo) * sizeof *m->w);
  m->lo = m->n;
  m->hi = 0;
}

static void marks_free(Marks *m, const Alloc *a) { alloc_free(a, m->w, (size_t)m->n * sizeof *m->w); }

static inline uint64_t word(const Marks *m, int64_t k) { return k >= m->lo && k < m->hi ? m->w[k] : 0; }

/* How many of them are new. */
static int64_t marks_set(Marks *m, int64_t at, int64_t n) {
  int64_t first = at / 64, end = (at + n + 63) / 64, fresh = 0;
  for (int64_t k = first; k < end; k++) {
    const uint64_t bits = bits_of_word(k, at, at + n);
    fresh += __builtin_popcountll(bits & ~m->w[k]);
    m->w[k] |= bits;
  }
  if (first < m->lo) m->lo = first;
  if (end > m->hi) m->hi = end;
  return fresh;
}

static int64_t marks_touch(Marks *m, const Acc *a) {
  int64_t fresh = 0;
  Runs r;
  for (runs_init(&r, a); !r.done; runs_next(&r)) fresh += marks_set(m, granule(a, r.at), granule(a, r.n));
  return fresh;
}

static bool marks_any(const Marks *m, int64_t at, int64_t n) {
  for (int64_t k = at / 64; k * 64 < at + n; k++)
    if (word(m, k) & bits_of_word(k, at, at + n)) return true;
  return false;
}

/* ---- the log: pc, write and rank of the pattern in one word; program; the pattern, `times` of it every `step` -----
   It tells who touched a granule first, so an access is in it only if it touches one that none before it has; those of
   a device loop that go on evenly are one entry. A long run costs no more than the tensor has granules. */
enum {
  L_head,
  L_program,
  L_parts,
  L_pstride,
  L_bytes,
  L_off,
  L_step,
  L_times,
  L_dims,
  L_MAX = L_dims + 2 * IR_MAX_RANK
};

static inline uint32_t log_pc(const int64_t *e) { return (uint32_t)e[L_head]; }
static inline bool log_write(const int64_t *e) { return e[L_head] >> 32 & 1; }
static inline size_t log_words(const int64_t *e) { return L_dims + 2 * (size_t)(e[L_head] >> 33); }

static size_t log_make(const Sim *s, const Acc *a, bool write, int64_t e[L_MAX]) {
  e[L_head] = (int64_t)s->pc | (int64_t)write << 32 | (int64_t)a->nf << 33;
  e[L_program] = s->program;
  e[L_off] = a->off;
  e[L_step] = 0;
  e[L_times] = 1;
  e[L_parts] = a->parts;
  e[L_pstride] = a->pstride;
  e[L_bytes] = a->bytes;
  for (int k = 0; k < a->nf; k++) {
    e[L_dims + 2 * k] = a->f[k].stride;
    e[L_dims + 2 * k + 1] = a->f[k].count;
  }
  return log_words(e);
}

static bool log_room(Track *t, size_t n) {
  if (t->nlog + n <= t->caplog) return true;
  size_t cap = t->caplog ? t->caplog * 2 : 1024;
  int64_t *grown = alloc_grow(&t->sim->alloc, t->log, t->caplog * sizeof *t->log, cap * sizeof *t->log);
  if (!grown) return !(t->oom = true);
  t->log = grown;
  t->caplog = cap;
  return true;
}

/* e is one entry, `last` with its next repetition. */
static bool log_merge(int64_t *last, const int64_t *e, size_t n) {
  if (memcmp(last, e, L_off * sizeof *e) != 0 || memcmp(last + L_dims, e + L_dims, (n - L_dims) * sizeof *e) != 0)
    return false;
  const int64_t step = last[L_times] == 1 ? e[L_off] - last[L_off] : last[L_step];
  if (e[L_off] != last[L_off] + step * last[L_times]) return false;
  last[L_step] = step;
  last[L_times]++;
  return true;
}

/* whole: everything that it touches is touched for the first time. */
static void log_add(Track *t, const Acc *a, bool write, bool whole) {
  int64_t e[L_MAX];
  size_t n = log_make(t->sim, a, write, e), *slot = &t->recent[(2 * t->sim->pc + write) % 64];
  if (whole && *slot && log_merge(t->log + *slot - 1, e, n)) return;
  if (!log_room(t, n)) return;
  memcpy(t->log + t->nlog, e, n * sizeof *e);
  *slot = t->nlog + 1;
  t->nlog += n;
}

static bool log_covers(const Track *t, const int64_t *e, int64_t at, int64_t time) {
  Acc a = {.mem = t->mem,
           .off = e[L_off] + time * e[L_step],
           .parts = e[L_parts],
           .pstride = e[L_pstride],
           .bytes = (int)e[L_bytes]};
  a.nf = (int)(e[L_head] >> 33);
  a.free = 1;
  for (int k = 0; k < a.nf; k++) {
    a.f[k] = (IrDim){e[L_dims + 2 * k], e[L_dims + 2 * k + 1]};
    a.free *= a.f[k].count;
  }
  Runs r;
  for (runs_init(&r, &a); !r.done; runs_next(&r))
    if (at >= granule(&a, r.at) && at < granule(&a, r.at + r.n)) return true;
  return false;
}

static int64_t size_of(int64_t x) { return x < 0 ? -x : x; }

/* One of the repetitions covers the granule; those that begin too far from it are not looked at. */
static bool log_touches(const Track *t, const int64_t *e, int64_t at) {
  int64_t span = (e[L_parts] - 1) * size_of(e[L_pstride]) + 1, times = e[L_times], time = 0;
  for (int64_t k = 0; k < e[L_head] >> 33; k++) span += size_of(e[L_dims + 2 * k]) * (e[L_dims + 2 * k + 1] - 1);
  const int64_t away = (at << t->mem->shift) / e[L_bytes] - e[L_off], step = size_of(e[L_step]);
  if (step) {
    const int64_t there = e[L_step] < 0 ? -away : away, first = (there - span) / step, last = (there + span) / step;
    if (first > 0) time = first;
    if (last + 1 < times) times = last + 1;
  }
  for (; time < times; time++)
    if (log_covers(t, e, at, time)) return true;
  return false;
}

/* The first access to a granule from there on. */
static const int64_t *log_find(const Track *t, size_t from, int64_t at, bool write) {
  for (size_t k = from; k < t->nlog; k += log_words(t->log + k))
    if (log_write(t->log + k) == write && log_touches(t, t->log + k, at)) return t->log + k;
  return NULL;
}

/* ---- programs of one core ---------------------------------------------------------------------------------------- */
static bool find_overlap(const Track *t, const Acc *a, Overlap *o) {
  int64_t per = granule(a, 1);
  *o = (Overlap){.first = -1};
  Runs r;
  for (runs_init(&r, a); !r.done; runs_next(&r)) {
    if (!marks_any(&t->before, granule(a, r.at), granule(a, r.n))) continue;
    for (int64_t e = r.at; e < r.at + r.n; e++) {
      if (!marks_any(&t->before, granule(a, e), per)) continue;
      o->count++;
      if (o->first < 0 || e < o->first) o->first = e;
      if (e > o->last) o->last = e;
    }
  }
  return o->count > 0;
}

static void watch_programs(Track *t, const Acc *a) {
  Sim *s = t->sim;
  Overlap o;
  if (t->before.w && find_overlap(t, a, &o)) {
    const int64_t *e = NULL;
    int64_t at = granule(a, o.first);
    for (int64_t g = at; !e && g < at + granule(a, 1); g++)
      if (marks_any(&t->before, g, 1)) e = log_find(t, 0, g, true);
    if (!e && !t->oom) s->halted = !NK_BUG(s->d, "a write that is in no log");
    if (!e) return;
    o.pc = log_pc(e);
    o.program = e[L_program];
    if (!say_overlap(s, a, &o)) s->halted = true;
  }
}

/* ---- accesses ---------------------------------------------------------------------------------------------------- */
void track_touch(Track *t, const Acc *a, bool write) {
  Sim *s = t->sim;
  if (acc_count(a) == 0 || (!s->thread && !write)) return;
  const int64_t all = granule(a, acc_count(a));
  int64_t fresh[2] = {0, 0}; /* since the cores met, in this program */
  Marks *m = write ? &t->wr : &t->rd;
  const bool watched = write && s->shares_core;
  if (watched) watch_programs(t, a);
  if (s->thread && marks_open(t, m)) fresh[0] = marks_touch(m, a);
  if (watched && marks_open(t, &t->mine)) fresh[1] = marks_touch(&t->mine, a);
  if (fresh[0] || fresh[1]) log_add(t, a, write, (!s->thread || fresh[0] == all) && (!watched || fresh[1] == all));
  if (t->oom && !s->halted) s->halted = !DIAG0(s->d, nomem);
}

void track_program(Track *t, Sim *s) {
  t->sim = s;
  if (t->mine.hi <= t->mine.lo || !marks_open(t, &t->before)) return;
  for (int64_t k = t->mine.lo; k < t->mine.hi; k++) t->before.w[k] |= t->mine.w[k];
  if (t->mine.lo < t->before.lo) t->before.lo = t->mine.lo;
  if (t->mine.hi > t->before.hi) t->before.hi = t->mine.hi;
  marks_clear(&t->mine);
}

void track_free(Track *t, Alloc alloc) {
  marks_free(&t->wr, &alloc);
  marks_free(&t->rd, &alloc);
  marks_free(&t->mine, &alloc);
  marks_free(&t->before, &alloc);
  alloc_free(&alloc, t->log, t->caplog * sizeof *t->log);
}

/* ---- a meeting of the cores: races ------------------------------------------------------------------------------- */
typedef enum RaceKind { WRITE_WRITE, WRITE_READ, READ_WRITE, RACE_KINDS } RaceKind;

typedef struct Race { /* two cores touch the same granules of a tensor since they met */
  Track *a, *b;
  RaceKind kind;
  int64_t count, first, last;
} Race;

static uint64_t race_word(const Race *r, int64_t k) {
  const Track *a = r->a, *b = r->b;
  switch (r->kind) {
    case WRITE_WRITE:
      return word(&a->wr, k) & word(&b->wr, k);
    case WRITE_READ:
      return word(&a->wr, k) & word(&b->rd, k) & ~word(&b->wr, k);
    default:
      return word(&a->rd, k) & ~word(&a->wr, k) & word(&b->wr, k);
  }
}

static bool race_find(Race *r) {
  const Marks *a = r->kind == READ_WRITE ? &r->a->rd : &r->a->wr;
  const Marks *b = r->kind == WRITE_READ ? &r->b->rd : &r->b->wr;
  int64_t lo = a->lo > b->lo ? a->lo : b->lo, hi = a->hi < b->hi ? a->hi : b->hi;
  r->count = 0;
  for (int64_t k = lo; k < hi; k++) {
    uint64_t w = race_word(r, k);
    if (!w) continue;
    if (r->count == 0) r->first = k * 64 + __builtin_ctzll(w);
    r->last = k * 64 + 63 - __builtin_clzll(w);
    r->count += __builtin_popcountll(w);
  }
  return r->count > 0;
}

static const IrFunc *func_of(const IrModule *m, int64_t program) {
  return m->func[m->program ? m->program[program] : 0];
}

/* Tensor, and which of its elements. */
static void say_where(Text *t, const IrModule *m, const Race *r) {
  const SimMem *mem = r->a->mem;
  int64_t per = dtype_bytes(mem->dt) >> mem->shift, n = (r->count + per - 1) / per;
  for (uint32_t k = 0; k < m->nfunc; k++) {
    const IrFunc *f = m->func[k];
    if (mem->ir->id >= f->nbufs || f->bufs[mem->ir->id] != mem->ir) continue;
    text_printf(t, "%lld element%s of ", (long long)n, n == 1 ? "" : "s");
    tile_describe(f, ir_whole(f, mem->ir->id), t);
    break;
  }
  text_puts(t, ", between ");
  say_index(t, mem->ir, r->first / per);
  text_puts(t, " and ");
  say_index(t, mem->ir, r->last / per);
}

static void say_race(Text *t, const IrModule *m, const Race *r, const int64_t *a, const int64_t *b) {
  const IrIns *x = func_of(m, a[L_program])->ins[log_pc(a)], *y = func_of(m, b[L_program])->ins[log_pc(b)];
  text_printf(t, "data race: %s %s ", op_full_name(x), r->kind == READ_WRITE ? "reads" : "writes");
  say_where(t, m, r);
  text_printf(t, ", and %s of program %lld", op_full_name(y), (long long)b[L_program]);
  if (y->loc) text_printf(t, " at %s:%d", m->locs[y->loc].file, m->locs[y->loc].line);
  text_printf(t, " %s them, with no nisa.core_barrier or nisa.sendrecv of both cores between the two",
              r->kind == WRITE_READ ? "reads" : "writes");
}

/* Two lines are told once for a tensor. */
static bool race_known(Track *t, const Race *r, uint32_t x, uint32_t y) {
  uint64_t key = ((uint64_t)x << 32 | y) * RACE_KINDS + r->kind + 1;
  for (int k = 0; k < TRACK_RACES; k++) {
    if (t->races[k] == key) return true;
    if (t->races[k]) continue;
    t->races[k] = key;
    return false;
  }
  return false;
}

static bool race_tell(const Race *r, SimReport *report, Diag *d) {
  const Sim *s = r->a->sim;
  const IrModule *m = s->m;
  const int64_t *a = log_find(r->a, r->a->epoch, r->first, r->kind != READ_WRITE);
  const int64_t *b = log_find(r->b, r->b->epoch, r->first, r->kind != WRITE_READ);
  if (!a || !b) return NK_BUG(d, "a race that is in no log");
  const IrIns *x = func_of(m, a[L_program])->ins[log_pc(a)], *y = func_of(m, b[L_program])->ins[log_pc(b)];
  if (race_known(r->a, r, x->loc, y->loc)) return true;
  Text t;
  text_init(&t, s->alloc);
  say_race(&t, m, r, a, b);
  if (s->opt->strict) {
    DIAG(d, data_race, text_str(&t));
    ir_diag_where(m, x->loc, x->iter, d);
    say_whose(s, a[L_program], d);
  } else {
    report_add(report, s, x->loc, a[L_program], &t);
  }
  text_free(&t);
  return !s->opt->strict;
}

/* ---- a meeting: everybody sees what the others wrote ------------------------------------------------------------- */
/* To target, what core `from` wrote and no core above it. */
static void show(Track *const *t, int ncores, int from, int target) {
  SimMem *to = t[target]->mem;
  const SimMem *src = t[from]->mem;
  const Marks *wr = &t[from]->wr;
  for (int64_t k = wr->lo; k < wr->hi; k++) {
    uint64_t w = wr->w[k];
    for (int c = from + 1; c < ncores; c++) w &= ~word(&t[c]->wr, k);
    while (w) {
      int at = __builtin_ctzll(w);
      uint64_t rest = ~(w >> at);
      int n = rest ? __builtin_ctzll(rest) : 64 - at;
      if (n > 64 - at) n = 64 - at;
      int64_t g = k * 64 + at;
      memcpy(to->home + (g << to->shift), src->home + (g << src->shift), (size_t)n << to->shift);
      bits_set(&to->written, g, n);
      w &= at + n < 64 ? ~UINT64_C(0) << (at + n) : 0;
    }
  }
}

static void forget(Track *t) {
  marks_clear(&t->wr);
  marks_clear(&t->rd);
  if (!t->sim->shares_core) t->nlog = 0;
  t->epoch = t->nlog;
  memset(t->recent, 0, sizeof t->recent);
}

bool tracks_meet(Track *const *t, int ncores, bool to_first, SimReport *report, Diag *d) {
  for (int c = 0; c < ncores; c++)
    if (t[c]->oom) return DIAG0(d, nomem);
  for (int a = 0; a < ncores; a++)
    for (int b = a + 1; b < ncores; b++)
      for (int kind = 0; kind < RACE_KINDS; kind++) {
        Race r = {.a = t[a], .b = t[b], .kind = (RaceKind)kind};
        if (race_find(&r) && !race_tell(&r, report, d)) return false;
      }
  for (int target = 0; target < (to_first ? 1 : ncores); target++)
    for (int from = 0; from < ncores; from++)
      if (from != target) show(t, ncores, from, target);
  for (int c = 0; c < ncores; c++) forget(t[c]);
  return true;
}
