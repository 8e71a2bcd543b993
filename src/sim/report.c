/* report.c -- room sim: what a run says besides its numbers: at most one message of a kind per instruction and program.
 */
#include <string.h>

#include "world.h"

enum { KEPT = 100 };

const char *op_full_name(const IrIns *ins) {
  switch (ins->op) {
    case CORE_reg_read:
      return "register read";
    case CORE_while:
      return "nl.while_loop";
    default:
      return ins->op > OP_none && ins->op < OP_count ? op_info[ins->op].full : "instruction";
  }
}

static bool is_in(const IrVal *v, const IrTile *t) {
  if (v->kind == V_TILE) return v->u.tile == t;
  for (uint32_t i = 0; v->kind == V_TILES && i < v->n; i++)
    if (v->u.tiles[i] == t) return true;
  return false;
}

const char *param_of(const IrIns *ins, const IrTile *t) {
  if (ins->op >= OP_count) return "tensor";
  const OpInfo *op = &op_info[ins->op];
  for (int k = 0; k < op->nparams; k++) {
    if (is_in(&ins->v[k], t)) return op->params[k].name;
    if (ins->v[k].kind == V_TILE && ins->v[k].u.tile->vec == t) return "vector_offset";
  }
  for (int k = 0; k < op->nparams; k++) /* a part of one: a row of counts */
    if (ins->v[k].kind == V_TILE && ins->v[k].u.tile->buf == t->buf) return op->params[k].name;
  return "tensor";
}

/* The same of a tile that an instruction may have twice, to read and to write. */
static const char *param_used(const IrIns *ins, const IrTile *t, bool write) {
  for (int k = 0; ins->op < OP_count && k < op_info[ins->op].nparams; k++) {
    const IrParam *p = &op_info[ins->op].params[k];
    bool used = write ? role_writes(p->role) : p->role == INOUT || !role_writes(p->role);
    if (used && is_in(&ins->v[k], t)) return p->name;
  }
  return param_of(ins, t);
}

void say_index(Text *t, const IrBuf *b, int64_t element) {
  int64_t inner = b->count, rest = element < 0 ? -element : element;
  text_putc(t, '[');
  for (int k = 0; k < b->rank; k++) {
    inner = b->shape[k] > 0 ? inner / b->shape[k] : 0;
    int64_t i = inner > 0 ? rest / inner : 0;
    if (inner > 0) rest %= inner;
    text_printf(t, "%s%s%lld", k ? ", " : "", element < 0 && i ? "-" : "", (long long)i);
  }
  text_putc(t, ']');
}

void report_add(SimReport *r, const Sim *s, uint32_t loc, int64_t program, const Text *msg) {
  const IrModule *m = s->m;
  if (++r->count > KEPT) return;
  if (loc && loc < m->nlocs) text_printf(&r->lines, "%s:%d: ", m->locs[loc].file, m->locs[loc].line);
  if (world_ranks(s) > 1) text_printf(&r->lines, "rank %d: ", world_rank(s));
  if (m->nprogram > 1) text_printf(&r->lines, "program %lld: ", (long long)program);
  text_puts(&r->lines, text_str(msg));
  text_putc(&r->lines, '\n');
}

bool say_whose(const Sim *s, int64_t program, Diag *d) {
  if (world_ranks(s) > 1) diag_note(d, "on rank %d of %d", world_rank(s), world_ranks(s));
  if (s->m->nprogram > 1) diag_note(d, "in program %lld of %lld", (long long)program, (long long)s->m->nprogram);
  return false;
}

void report_join(SimReport *to, const SimReport *from) {
  int64_t kept = to->count < KEPT ? to->count : KEPT;
  const char *p = text_str(&from->lines);
  for (const char *end; kept < KEPT && (end = strchr(p, '\n')); kept++, p = end + 1)
    text_add(&to->lines, p, (size_t)(end + 1 - p));
  to->count += from->count;
  if (from->lines.oom) to->lines.oom = true;
}

/* Adds "file:line: message" to the report; in a strict run an error instead. */
static bool say(Sim *s, uint32_t loc, Text *msg, bool may_be_error) {
  bool ok = true;
  if (may_be_error && s->opt->strict) {
    ok = DIAG(s->d, unwritten, text_str(msg));
  } else {
    report_add(s->report, s, loc, s->program, msg);
  }
  text_free(msg);
  return ok;
}

/* True when the current instruction has said this before (in this program). */
static bool said(Sim *s, int what) {
  uint8_t *mask = &s->said[s->pc];
  if (*mask & what) return true;
  *mask |= (uint8_t)what;
  return false;
}

static void begin(Sim *s, Text *t) {
  text_init(t, s->alloc);
  text_printf(t, "%s", op_full_name(s->ins));
}

static void describe(Sim *s, Text *t, uint32_t buf) { tile_describe(s->f, ir_whole(s->f, buf), t); }

bool say_unwritten(Sim *s, const Acc *a, int64_t missing, const int64_t first_last[2]) {
  if (said(s, SAY_UNWRITTEN)) return true;
  Text t;
  begin(s, &t);
  text_printf(&t, " reads %lld of the %lld elements of %s = ", (long long)missing, (long long)acc_count(a),
              param_used(s->ins, a->tile, false));
  describe(s, &t, a->tile->buf);
  text_puts(&t, " that were never written, between ");
  say_index(&t, s->f->bufs[a->tile->buf], first_last[0]);
  text_puts(&t, " and ");
  say_index(&t, s->f->bufs[a->tile->buf], first_last[1]);
  return say(s, s->ins->loc, &t, true);
}

bool say_overlap(Sim *s, const Acc *a, const Overlap *o) {
  if (said(s, SAY_OVERLAP)) return true;
  const IrFunc *f = s->m->func[s->m->program ? s->m->program[o->program] : 0];
  const IrLoc *at = &s->m->locs[f->ins[o->pc]->loc];
  Text t;
  begin(s, &t);
  text_printf(&t, " writes %lld of the %lld elements of %s = ", (long long)o->count, (long long)acc_count(a),
              param_used(s->ins, a->tile, true));
  describe(s, &t, a->tile->buf);
  text_printf(&t, " that program %lld has written", (long long)o->program);
  if (f->ins[o->pc]->loc) text_printf(&t, " at %s:%d", at->file, at->line);
  text_puts(&t, ", between ");
  say_index(&t, s->f->bufs[a->tile->buf], o->first);
  text_puts(&t, " and ");
  say_index(&t, s->f->bufs[a->tile->buf], o->last);
  text_puts(&t, ": the programs of a grid have no order");
  if (!s->opt->strict) return say(s, s->ins->loc, &t, false);
  DIAG(s->d, unexpected_output_dependencies, text_str(&t));
  text_free(&t);
  return false;
}

bool say_register(Sim *s, uint32_t buf) {
  if (said(s, SAY_UNWRITTEN)) return true;
  Text t;
  const char *name = s->f->bufs[buf]->name;
  if (s->ins->op == CORE_reg_read) {
    text_init(&t, s->alloc);
    text_printf(&t, "register '%s' is read, which was never written", name);
  } else {
    begin(s, &t);
    text_printf(&t, " reads register '%s', which was never written", name);
  }
  return say(s, s->ins->loc, &t, true);
}

bool say_never_started(Sim *s, const Acc *a, int64_t missing) {
  if (said(s, SAY_PSUM)) return true;
  Text t;
  begin(s, &t);
  text_puts(&t, " with accumulate=true adds to dst = ");
  describe(s, &t, a->tile->buf);
  text_printf(&t, ", %lld of the %lld elements of which no matmul has started: undefined on %s", (long long)missing,
              (long long)acc_count(a), target_name(s->m->target));
  return say(s, s->ins->loc, &t, true);
}

bool say_lane(Sim *s, const char *engine, int lane) {
  if (said(s, SAY_LANE)) return true;
  Text t;
  begin(s, &t);
  text_printf(&t, " uses the %s engine's accumulator of partition %d before any reset", engine, lane);
  return say(s, s->ins->loc, &t, true);
}

void say_range(Sim *s, Act op, int64_t bad, float worst) {
  if (said(s, SAY_RANGE)) return;
  const ActInfo *info = &act_info[op];
  Text t;
  begin(s, &t);
  text_printf(&t, ": %lld inputs of %s are outside its range on the Scalar engine, %s in [", (long long)bad, info->name,
              info->magnitude ? "|x|" : "x");
  text_float(&t, (float)info->lo);
  text_puts(&t, ", ");
  text_float(&t, (float)info->hi);
  text_puts(&t, "], the first is ");
  text_float(&t, worst);
  text_puts(&t, "; the mathematical value is used");
  say(s, s->ins->loc, &t, false);
}

void say_hint(Sim *s, const Acc *a, const char *param) {
  if (said(s, SAY_HINT)) return;
  Text t;
  begin(s, &t);
  text_printf(&t, ": %s is set, but ", param);
  describe(s, &t, a->tile->buf);
  text_puts(&t, " holds values other than 0 and 1; the hardware would compute something else");
  say(s, s->ins->loc, &t, false);
}

void say_duplicate(Sim *s, const IrTile *t, int64_t row) {
  if (said(s, SAY_HINT)) return;
  Text m;
  begin(s, &m);
  text_puts(&m, ": unique_indices is set, but row ");
  text_printf(&m, "%lld of ", (long long)row);
  describe(s, &m, t->buf);
  text_puts(&m, " is picked more than once; only one of its sums is kept");
  say(s, s->ins->loc, &m, false);
}

void say_picked_twice(Sim *s, const IrTile *t, int64_t element) {
  if (said(s, SAY_HINT)) return;
  Text m;
  begin(s, &m);
  text_printf(&m, ": its index tensor picks element %lld of the partitions of ", (long long)element);
  describe(s, &m, t->buf);
  text_puts(&m, " more than once; the last write is kept");
  say(s, s->ins->loc, &m, false);
}

bool say_output(Sim *s, const SimMem *m, const char *name) {
  int64_t per = dtype_bytes(m->dt) >> m->shift, n = m->written.n / per, missing = 0, first = 0;
  for (int64_t e = n; e-- > 0;) {
    if (bits_count(&m->written, e * per, per) == per) continue;
    missing++;
    first = e;
  }
  Text t;
  text_init(&t, s->alloc);
  text_printf(&t, "output '%s': %lld of its %lld elements were never written, first ", name, (long long)missing,
              (long long)n);
  say_index(&t, m->ir, first);
  if (say(s, m->ir->loc, &t, true)) return true;
  ir_diag_where(s->m, m->ir->loc, 0, s->d);
  return false;
}
