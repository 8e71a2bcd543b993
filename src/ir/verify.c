/* verify.c -- room ir: a whole module: buffers, definitions before uses, scopes of device loops, returns, program
 * table. */
#include "uses.h"
#include "verify.h"
#include "say.h"

#include <stdio.h>
#include <string.h>

#define LL(x) ((long long)(x))

/* ---- buffers */

enum { NAME = 96 };

/* How a message names it: by its name in quotes, or as "the tensor". */
static const char *spec_name(const IrBufSpec *spec, char out[NAME]) {
  if (!spec->name) return "the tensor";
  snprintf(out, NAME, "'%.90s'", spec->name);
  return out;
}

/* Sizes are positive and the bytes fit int64 with room to spare for sums. */
static bool count_bytes(const IrBufSpec *spec, int64_t *count, Diag *d) {
  char q[NAME];
  int64_t bytes = dtype_bytes(spec->dtype);
  *count = 1;
  for (int i = 0; i < spec->rank; i++) {
    if (spec->shape[i] < 1) return DIAG(d, tensor_size, i, spec_name(spec, q), LL(spec->shape[i]));
    if (__builtin_mul_overflow(bytes, spec->shape[i], &bytes) || bytes > INT64_MAX / 8)
      return DIAG(d, tensor_too_big, spec_name(spec, q));
    *count *= spec->shape[i];
  }
  return true;
}

/* Where an access may start: all partitions, halves, quadrants. */
static int64_t start_step(int64_t parts) { return parts > 64 ? 128 : parts > 32 ? 64 : 32; }

static bool check_address(const IrModule *m, const IrBufSpec *spec, int64_t bytes, Diag *d) {
  char q[NAME];
  const ChipInfo *chip = chip_of(m->target);
  int64_t parts = spec->shape[0], capacity = spec->space == SP_psum ? chip->psum_bytes : chip->sbuf_physical;
  int64_t bank = chip->psum_bytes / chip->psum_banks, element = dtype_bytes(spec->dtype);
  if (spec->part < 0 || spec->part + parts > 128 || spec->part % start_step(parts) != 0)
    return DIAG(d, address_partition, spec_name(spec, q), (int)spec->part, LL(parts));
  if (spec->byte < 0 || spec->byte > capacity - bytes)
    return DIAG(d, address_byte, spec_name(spec, q), LL(spec->byte), LL(bytes), space_name(spec->space), LL(capacity));
  if (spec->space == SP_psum && spec->byte % bank)
    return DIAG(d, address_bank, spec_name(spec, q), LL(spec->byte), LL(bank));
  return spec->byte % element == 0 || DIAG(d, address_align, spec_name(spec, q), LL(spec->byte), LL(element));
}

/* For messages: a tensor with its shape and memory. */
static const char *say_spec(const IrBufSpec *spec, char what[200]) {
  Say s;
  char q[NAME];
  snprintf(what, 200, "%.92s %s in %s", spec_name(spec, q), say_shape(spec->shape, spec->rank, &s),
           space_name(spec->space));
  return what;
}

bool ir_check_spec(const IrModule *m, const IrBufSpec *spec, Diag *d) {
  char q[NAME];
  const ChipInfo *chip = chip_of(m->target);
  if (spec->space == SP_reg) return true;
  bool chip_mem = space_on_chip(spec->space);
  int least = chip_mem ? 2 : 1;
  int64_t count;
  if (spec->rank < least || spec->rank > IR_MAX_RANK)
    return DIAG(d, tensor_rank, spec_name(spec, q), space_name(spec->space), least, IR_MAX_RANK, spec->rank);
  if (!count_bytes(spec, &count, d)) return false;
  if (dtype_info[spec->dtype].gen > chip->gen)
    return DIAG(d, tensor_dtype_gen, spec_name(spec, q), dtype_name(spec->dtype), (int)dtype_info[spec->dtype].gen,
                target_name(m->target), (int)chip->gen);
  if (!chip_mem && spec->has_address) return DIAG(d, address_space, spec_name(spec, q), space_name(spec->space));
  if (!chip_mem) return true;
  char what[200];
  if (spec->shape[0] > 128)
    return DIAG(d, num_partition_exceed_arch_limit, say_spec(spec, what), LL(spec->shape[0]), 128);
  int64_t part_bytes = count / spec->shape[0] * dtype_bytes(spec->dtype);
  int64_t capacity = spec->space == SP_psum ? chip->psum_bytes : chip->sbuf_physical;
  if (part_bytes > capacity)
    return DIAG(d, tensor_capacity, say_spec(spec, what), LL(part_bytes), target_name(m->target), LL(capacity));
  return !spec->has_address || check_address(m, spec, part_bytes, d);
}

static bool check_buf(const IrModule *m, const IrFunc *f, const IrBuf *b, Diag *d) {
  IrBufSpec spec = {.kind = b->kind,
                    .space = b->space,
                    .dtype = b->dtype,
                    .rank = b->rank,
                    .shape = b->shape,
                    .name = b->name,
                    .has_address = b->has_address,
                    .part = b->part,
                    .byte = b->byte};
  if (!ir_check_spec(m, &spec, d)) return false;
  if ((b->kind == BUF_ARG || b->kind == BUF_CONST) && !space_is_hbm(b->space))
    return DIAG(d, return_memory, b->kind == BUF_ARG ? "parameter" : "constant", b->name);
  if (b->kind == BUF_ARG && b->space != SP_shared_hbm) return DIAG(d, return_memory, "parameter", b->name);
  if (b->kind == BUF_CONST && !b->data) return DIAG(d, ir_view_base, b->name, "a constant without data");
  if (b->kind != BUF_VIEW) return true;
  const IrBuf *base = b->base < b->id ? f->bufs[b->base] : NULL;
  if (!base || base->kind == BUF_VIEW || base->space == SP_reg)
    return DIAG(d, ir_view_base, b->name, "its base must be an earlier tensor that is not a view");
  bool same = b->space == base->space && b->count * dtype_bytes(b->dtype) == base->count * dtype_bytes(base->dtype) &&
              b->part_bytes == base->part_bytes;
  return same || DIAG(d, ir_view_base, b->name, "it must cover exactly the bytes of its base, partition by partition");
}

/* ---- definitions and scopes */

typedef struct Scope {
  const IrModule *m;
  const IrFunc *f;
  const IrIns *ins;
  Diag *d;
  uint32_t *buf_loop,
      *idx_loop;          /* serial number + 1 of the loop a value is defined in, 1 = function level, 0 = not yet */
  bool *open;             /* by serial number + 1 */
  uint32_t *stack;        /* positions of open loops */
  uint32_t depth, serial; /* serial of the next loop */
  uint32_t *inside;       /* serial + 1 of open loops, outermost first; inside[0] = 1 */
  bool ok;
} Scope;

static const char *ins_name(const IrIns *ins, char out[64]) {
  static const char *const core[] = {"nki.alloc",      "nki.idx",   "nki.reg_read",    "scf.for",
                                     "end of scf.for", "scf.while", "end of scf.while"};
  if (ins->op < OP_count) {
    snprintf(out, 64, "%s.%s", op_info[ins->op].dialect, op_info[ins->op].name);
  } else {
    snprintf(out, 64, "%s", ins->op < CORE_count ? core[ins->op - CORE_alloc] : "?");
  }
  return out;
}

static void fault(Scope *s) {
  ir_diag_where(s->m, s->ins->loc, s->ins->iter, s->d);
  s->ok = false;
}

static void use_scoped(Scope *s, uint32_t loop, const char *what) {
  char name[64];
  if (loop && s->open[loop]) return;
  if (!loop) {
    DIAG(s->d, ir_use_before_definition, ins_name(s->ins, name), what);
  } else {
    DIAG(s->d, local_variable_used_out_of_scope, ins_name(s->ins, name), what);
  }
  fault(s);
}

static void use_buf(void *ctx, uint32_t buf) {
  Scope *s = ctx;
  char name[64];
  Say say;
  if (buf >= s->f->nbufs) {
    DIAG(s->d, ir_use_before_definition, ins_name(s->ins, name), "a tensor of another function");
    fault(s);
    return;
  }
  const IrBuf *b = s->f->bufs[buf];
  if (b->kind == BUF_VIEW) buf = b->base;
  if (s->buf_loop[buf] != 1) use_scoped(s, s->buf_loop[buf], say_buf(b, &say));
}

static void use_idx(Scope *s, int64_t idx) {
  if (idx < 1 || idx > s->f->nidx) {
    use_scoped(s, 0, "an index value of another function");
  } else {
    use_scoped(s, s->idx_loop[idx], "an index value");
  }
}

static void use_tile_idx(Scope *s, const IrTile *t) {
  if (t->dyn) use_idx(s, t->dyn);
  if (t->vec && t->vec->dyn) use_idx(s, t->vec->dyn);
}

static void use_values(Scope *s) {
  const IrIns *ins = s->ins;
  ins_each_buf(s->f, ins, use_buf, s);
  for (uint32_t i = 0; i < ins->nval; i++) {
    const IrVal *v = &ins->v[i];
    if (v->kind == V_IDX) use_idx(s, v->u.idx);
    if (v->kind == V_TILE) use_tile_idx(s, v->u.tile);
    if (v->kind == V_TILES)
      for (uint32_t k = 0; k < v->n; k++) use_tile_idx(s, v->u.tiles[k]);
  }
  if (ins->op == CORE_idx)
    for (uint32_t i = 0; i < ins->v[1].n; i++) use_idx(s, ins->v[1].u.ints[i]);
}

static void define_idx(Scope *s) {
  uint32_t r = s->ins->result;
  char name[64];
  if (r == 0) return;
  if (r > s->f->nidx || s->idx_loop[r]) {
    DIAG(s->d, ir_defined_twice, ins_name(s->ins, name));
    fault(s);
    return;
  }
  s->idx_loop[r] = s->inside[s->depth];
}

static void define_buf(Scope *s) {
  int64_t i = s->ins->v[0].u.i;
  Say say;
  bool known = i >= 0 && i < s->f->nbufs && s->f->bufs[i]->kind == BUF_ALLOC;
  if (known && !s->buf_loop[i]) {
    s->buf_loop[i] = s->inside[s->depth];
    return;
  }
  DIAG(s->d, ir_defined_twice, known ? say_buf(s->f->bufs[i], &say) : "a tensor that is no allocation");
  fault(s);
}

static void open_loop(Scope *s, uint32_t pos) {
  s->stack[s->depth++] = pos;
  s->inside[s->depth] = ++s->serial;
  s->open[s->serial] = true;
}

static void close_loop(Scope *s, uint32_t pos) {
  int want = s->ins->op == CORE_end_for ? CORE_for : CORE_while;
  if (s->depth == 0 || s->f->ins[s->stack[s->depth - 1]]->op != want) {
    DIAG(s->d, ir_nesting, "an end closes no loop of its kind");
    fault(s);
    return;
  }
  s->open[s->inside[s->depth]] = false;
  uint32_t begin = s->stack[--s->depth];
  if (s->f->ins[begin]->match != pos || s->ins->match != begin) {
    NK_BUG(s->d, "loop begin and end do not know each other");
    s->ok = false;
  }
}

/* Kinds of a structure instruction's values; the rows have ir_check_ins. */
static bool core_kinds(const IrIns *ins) {
  static const struct {
    uint8_t n, kind[3];
  } want[] = {
      {1, {V_INT}}, {3, {V_INTS, V_INTS, V_INT}}, {1, {V_REG}}, {3, {V_NONE, V_NONE, V_INT}}, {0, {0}}, {1, {V_REG}},
      {0, {0}}};
  if (ins->op >= CORE_count || ins->nval != want[ins->op - CORE_alloc].n) return false;
  for (int i = 0; i < ins->nval; i++) {
    uint8_t k = want[ins->op - CORE_alloc].kind[i], got = ins->v[i].kind;
    if (k == V_NONE ? got != V_INT && got != V_IDX : got != k) return false;
  }
  return ins->op != CORE_idx || ins->v[0].n == ins->v[1].n;
}

static void check_core(Scope *s, uint32_t pos) {
  const IrIns *ins = s->ins;
  if (!core_kinds(ins)) {
    NK_BUG(s->d, "structure instruction with wrong values");
    s->ok = false;
    return;
  }
  use_values(s);
  if (ins->op == CORE_reg_read || ins->op == CORE_while)
    if (ins->v[0].u.reg < s->f->nbufs && s->f->bufs[ins->v[0].u.reg]->space != SP_reg) {
      DIAG(s->d, ir_module, "a tensor is read as a register");
      fault(s);
    }
  if (ins->op == CORE_for && ins->v[2].u.i < 1) {
    DIAG(s->d, ir_loop_step, LL(ins->v[2].u.i));
    fault(s);
  }
  if (ins->op == CORE_for || ins->op == CORE_while) open_loop(s, pos);
  if (ins->op == CORE_end_for || ins->op == CORE_end_while) close_loop(s, pos);
  if (ins->op == CORE_alloc) define_buf(s);
  define_idx(s);
}

static bool scope_init(Scope *s, Arena *a) {
  size_t loops = 2;
  for (uint32_t i = 0; i < s->f->nins; i++)
    if (s->f->ins[i]->op == CORE_for || s->f->ins[i]->op == CORE_while) loops++;
  s->buf_loop = arena_newn(a, uint32_t, s->f->nbufs);
  s->idx_loop = arena_newn(a, uint32_t, (size_t)s->f->nidx + 1);
  s->open = arena_newn(a, bool, loops);
  s->stack = arena_newn(a, uint32_t, loops);
  s->inside = arena_newn(a, uint32_t, loops);
  if (a->oom) return DIAG0(s->d, nomem);
  for (uint32_t i = 0; i < s->f->nbufs; i++)
    if (s->f->bufs[i]->kind != BUF_ALLOC) s->buf_loop[i] = 1;
  s->serial = s->inside[0] = 1;
  s->open[1] = true;
  s->ok = true;
  return true;
}

static bool check_returns(Scope *s) {
  for (uint32_t i = 0; i < s->f->nrets; i++) {
    uint32_t id = s->f->rets[i];
    const IrBuf *b = id < s->f->nbufs ? s->f->bufs[id] : NULL;
    if (!b) return DIAG(s->d, ir_use_before_definition, "func.return", "an output");
    Say say;
    if (b->space != SP_shared_hbm) return DIAG(s->d, return_memory, "output", say_buf(b, &say));
    if (b->kind != BUF_ARG && b->kind != BUF_ALLOC)
      return DIAG(s->d, ir_module, "an output must be an argument or an allocated tensor");
    if (s->buf_loop[id] != 1) return DIAG(s->d, local_variable_used_out_of_scope, "func.return", say_buf(b, &say));
  }
  return true;
}

static bool verify_func(const IrModule *m, const IrFunc *f, Arena *a, Diag *d) {
  for (uint32_t i = 0; i < f->nbufs; i++)
    if ((f->bufs[i]->kind == BUF_ARG) != (i < f->nargs))
      return DIAG(d, ir_module, "arguments must come before other tensors");
  for (uint32_t i = 0; i < f->nbufs; i++) {
    if (check_buf(m, f, f->bufs[i], d)) continue;
    ir_diag_where(m, f->bufs[i]->loc, 0, d);
    return false;
  }
  Scope s = {.m = m, .f = f, .d = d};
  if (!scope_init(&s, a)) return false;
  for (uint32_t i = 0; i < f->nins && s.ok; i++) {
    s.ins = f->ins[i];
    if (s.ins->op >= OP_count) {
      check_core(&s, i);
      continue;
    }
    if (!ir_check_ins(m, f, s.ins, d)) return false;
    use_values(&s);
  }
  if (!s.ok) return false;
  if (s.depth) return DIAG(d, ir_nesting, "a loop is not closed");
  return check_returns(&s);
}

bool ir_verify(const IrModule *m, Diag *d) {
  if (m->arena.oom) return DIAG0(d, nomem);
  if (!verify_tables(m, d)) return false;
  Arena a;
  arena_init(&a, m->arena.alloc);
  bool ok = true;
  for (uint32_t k = 0; k < m->nfunc && ok; k++) ok = verify_func(m, m->func[k], &a, d);
  arena_free(&a);
  return ok && verify_partners(m, d);
}
