/* verify_ins.c -- room ir: one instruction against its row: kinds, memory, dtypes, generation, ranges; then its rules,
   then its own check. A good instruction costs no allocation and no string; every fault of a bad one is reported. */
#include <stdio.h>
#include <string.h>

#include "check_util.h"

#define EM_COMPUTE (EM_TENSOR | EM_VECTOR | EM_SCALAR | EM_GPSIMD)
#define VK(kind) (1u << (kind))
#define V_INT_OR_IDX (VK(V_INT) | VK(V_IDX))

static const struct {
  uint32_t legal; /* mask of VK */
  const char *what;
} kinds[] = {
    [K_tile] = {VK(V_TILE), "a tensor"},
    [K_column] = {VK(V_TILE), "a (P,1) tensor"},
    [K_number] = {VK(V_NUM), "a number"},
    [K_number_or_column] = {VK(V_NUM) | VK(V_TILE), "a number or a (P,1) tensor"},
    [K_number_or_tile] = {VK(V_NUM) | VK(V_TILE), "a number or a tensor"},
    [K_alu] = {VK(V_INT), "an operator"},
    [K_act] = {VK(V_INT), "an activation function"},
    [K_enum] = {VK(V_INT), "a member of its enumeration"},
    [K_flag] = {VK(V_INT), "true or false"},
    [K_tristate] = {VK(V_INT), "true, false or absent"},
    [K_int] = {VK(V_INT), "an integer"},
    [K_ints] = {VK(V_INTS), "a list of integers"},
    [K_int_or_ints] = {VK(V_INT) | VK(V_INTS), "an integer or a list of integers"},
    [K_pairs] = {VK(V_PAIRS), "a list of [step, num] pairs"},
    [K_routes] = {VK(V_PAIRS), "a list of [source, target] pairs"},
    [K_groups] = {VK(V_LISTS), "a list of lists of ranks"},
    [K_tiles] = {VK(V_TILES), "a list of tensors"},
    [K_channels] = {VK(V_TILES), "a list with one tensor for each channel"},
    [K_reg] = {VK(V_REG), "a register"},
    [K_int_or_reg] = {V_INT_OR_IDX | VK(V_REG), "an integer or a register"},
    [K_str] = {VK(V_STR), "a string"},
};

/* ---- tiles */

static bool bad_dtype(const IrCheck *c, const IrParam *p, const IrTile *t, uint32_t legal) {
  Say s, l;
  bool act = c->ins->op == OP_activation || c->ins->op == OP_activation_reduce;
  const int at = (int)(p - c->op->params);
  if (act && op_param(c->op, "bias", 4) == at)
    return BAD(c, activation_bias_invalid_type, p->name, text_of(c, t, &s), say_dtypes(legal, &l));
  if (act && op_param(c->op, "scale", 5) == at)
    return BAD(c, activation_scale_invalid_type, p->name, text_of(c, t, &s), say_dtypes(legal, &l));
  return BAD(c, unsupported_dtype, p->name, text_of(c, t, &s), say_dtypes(legal, &l));
}

static bool bad_column(const IrCheck *c, const IrParam *p, const IrTile *t) {
  Say s;
  bool act = c->ins->op == OP_activation || c->ins->op == OP_activation_reduce;
  if (act && op_param(c->op, "scale", 5) == (int)(p - c->op->params))
    return BAD(c, activation_scale_scalar_or_vector, p->name, text_of(c, t, &s));
  return BAD(c, column_expected, p->name, text_of(c, t, &s));
}

static bool bad_start(const IrCheck *c, const IrParam *p, const IrTile *t, int64_t first) {
  Say s;
  int64_t n = tile_parts(t);
  const char *legal = p->scale ? "0, 4, 8 or 12 of any 32" : n > 64 ? "0 only" : n > 32 ? "0 or 64" : "0, 32, 64 or 96";
  return BAD(c, start_partition, p->name, LL(first), LL(n), n == 1 ? "" : "s", legal, text_of(c, t, &s));
}

/* Free dims once neighbours that form one run are merged: the address generators walk at most 4. */
static int free_dims(const IrTile *t) {
  int n = 0;
  IrDim run = {0, 1};
  for (int i = 1; i < t->rank; i++) {
    IrDim d = t->dim[i];
    if (d.count == 1) continue;
    if (n && run.stride == d.stride * d.count) {
      run = (IrDim){d.stride, run.count * d.count};
    } else {
      run = d;
      n++;
    }
  }
  return n;
}

/* Steps are 16-bit numbers of elements; neighbours that form one run have one step. */
enum { STRIDE_MAX = 32767 };

static bool check_strides(const IrCheck *c, const IrParam *p, const IrTile *t) {
  Say s;
  IrDim run = {1, 1};
  for (int i = t->rank - 1; i >= 1; i--) {
    IrDim d = t->dim[i];
    if (d.count == 1) continue;
    const bool goes_on = d.stride == run.stride * run.count;
    run = goes_on ? (IrDim){run.stride, run.count * d.count} : d;
    if (run.stride <= STRIDE_MAX) continue;
    return BAD(c, pattern_stride, p->name, LL(d.stride), (int)STRIDE_MAX, text_of(c, t, &s));
  }
  return true;
}

/* What only the compute engines ask of an on-chip operand. */
static bool check_compute_tile(const IrCheck *c, const IrParam *p, const IrTile *t, const IrBuf *b) {
  bool ok = true;
  Say s;
  int64_t first = b->part + (t->whole ? 0 : t->offset / buf_row(b)), n = tile_parts(t);
  if (first && !(p->scale ? first % 32 % 4 == 0 && first % 32 <= 12 : start_is_legal(first, n)))
    ok = bad_start(c, p, t, first);
  if (c->engine != engine_tensor) {
    int64_t most = b->space == SP_psum ? 4096 : 65536, count = tile_free(t);
    char what[64];
    if (count > most) {
      snprintf(what, sizeof what, "elements per partition of %s", p->name);
      ok = BAD(c, size_of_dimension_exceed_arch_limit, what, LL(count), LL(most), text_of(c, t, &s));
    }
  }
  if (b->row > STRIDE_MAX && !check_strides(c, p, t)) ok = false;
  if (t->rank > 5 && free_dims(t) > 4) ok = BAD(c, pattern_dims, p->name, free_dims(t), 4, text_of(c, t, &s));
  return ok;
}

/* One row for each index; a transpose reads a list of several columns, one behind the other. */
static bool index_count(const IrCheck *c, const IrTile *t) {
  if (c->ins->op == OP_dma_transpose) return tile_count(t->vec) >= t->dim[0].count;
  return tile_free(t->vec) == 1 && tile_parts(t->vec) == t->dim[0].count;
}

static bool check_vector_offset(const IrCheck *c, const IrParam *p, const IrTile *t) {
  Say s, v;
  const IrTile *vec = t->vec;
  if (!p->vector) return BAD(c, dynamic_offset, p->name, "vector", text_of(c, t, &s));
  if (!space_is_hbm(buf_of(c, t)->space))
    return BAD(c, unsupported_memory, p->name, "hbm when rows are picked by a vector offset", text_of(c, t, &s));
  bool known = vec->buf < c->func->nbufs;
  bool good = known && tile_is_index(c->func, vec) && tile_fits(c->func, vec) && t->vec_dim == 0 && !t->dyn &&
              index_count(c, t);
  if (t->dim[0].stride < 1) return DIAG(c->d, view_vector_rows, text_of(c, t, &s));
  if (good) return true;
  if (!known) return BAD(c, instruction_invalid, "the vector offset is not a tensor of this function");
  return DIAG(c->d, view_vector_column, text_of(c, t, &s), text_of(c, vec, &v));
}

static bool check_view(const IrCheck *c, const IrParam *p, const IrTile *t) {
  Say s, d;
  bool ok = true;
  if (!tile_fits(c->func, t))
    return BAD(c, ir_tile, p->name, say_pattern(t, &d), LL(t->offset), say_buf(buf_of(c, t), &s));
  if (t->dyn && !p->dynamic) ok = BAD(c, dynamic_offset, p->name, "run-time", text_of(c, t, &s));
  if (space_on_chip(buf_of(c, t)->space) && t->vec) return check_picked(c, p, t) && ok;
  if (t->vec && !check_vector_offset(c, p, t)) ok = false;
  return ok;
}

static bool check_tile_fully(const IrCheck *c, const IrParam *p, const IrTile *t, const IrBuf *b) {
  Say s, l;
  bool ok = true;
  bool reached = p->spaces >> b->space & 1;
  if (b->space == SP_reg) return BAD(c, argument_kind, p->name, kinds[p->kind].what);
  if (!reached) ok = BAD(c, unsupported_memory, p->name, say_spaces(p->spaces, &l), text_of(c, t, &s));
  if (reached && !t->whole && !check_view(c, p, t)) return false;
  uint32_t legal = p->dtypes[c->gen - gen2];
  if (!(legal >> b->dtype & 1)) ok = bad_dtype(c, p, t, legal);
  if (!reached) return false;
  if (b->kind == BUF_CONST && (role_writes(p->role))) ok = BAD(c, write_to_constant, p->name, text_of(c, t, &s));
  if (p->kind == K_column || p->kind == K_number_or_column)
    if (tile_free(t) != 1) ok = bad_column(c, p, t);
  if (!space_on_chip(b->space)) return ok;
  if (tile_parts(t) > 128) ok = DIAG(c->d, num_partition_exceed_arch_limit, text_of(c, t, &s), LL(tile_parts(t)), 128);
  if ((c->op->engines & EM_COMPUTE) && !check_compute_tile(c, p, t, b)) ok = false;
  return ok;
}

/* The common case: a whole tensor that no limit can touch, in a legal memory, of a legal dtype. */
static inline bool plain_tile(const IrCheck *c, const IrParam *p, const IrTile *t, const IrBuf *b) {
  return t->whole && b->plain && p->kind == K_tile && (p->spaces >> b->space & 1) &&
         (p->dtypes[c->gen - gen2] >> b->dtype & 1);
}

static bool check_tile(const IrCheck *c, const IrParam *p, const IrTile *t) {
  if (t->buf >= c->func->nbufs) return BAD(c, instruction_invalid, "an operand is not a tensor of this function");
  const IrBuf *b = buf_of(c, t);
  return plain_tile(c, p, t, b) || check_tile_fully(c, p, t, b);
}

/* ---- numbers, operators, enumerations */

static bool bad_range(const IrCheck *c, const IrParam *p, double value) {
  char v[TEXT_NUMBER], lo[TEXT_NUMBER], hi[TEXT_NUMBER];
  return BAD(c, argument_range, p->name, text_number(v, value, 17), text_number(lo, p->lo, 17),
             text_number(hi, p->hi, 17));
}

static bool check_range(const IrCheck *c, const IrParam *p, double value) {
  if (p->lo >= p->hi || (value >= p->lo && value <= p->hi)) return true;
  return bad_range(c, p, value);
}

static bool bad_generation(const IrCheck *c, const char *what, Gen needs) {
  return BAD(c, argument_generation, what, (int)needs, target_name(c->module->target), (int)c->gen);
}

static bool check_alu(const IrCheck *c, const IrParam *p, int64_t i) {
  Say s;
  if (i <= ALU_none || i >= ALU_count) return BAD(c, argument_kind, p->name, kinds[K_alu].what);
  if (!(p->set >> i & 1)) return BAD(c, operator_set, p->name, alu_info[i].name, say_alus(p->set, &s));
  return alu_info[i].gen <= c->gen || bad_generation(c, alu_info[i].name, alu_info[i].gen);
}

static bool check_enum(const IrCheck *c, const IrParam *p, int64_t i) {
  Say s;
  if (!enum_has((EnumType)p->set, i)) return BAD(c, argument_kind, p->name, kinds[K_enum].what);
  if (p->set != ET_engine || i == engine_unknown || (c->op->engines >> i & 1)) return true;
  if (c->op->engines == EM_DMA) return true; /* names a queue; the row's check decides */
  return BAD(c, engine_set, enum_name(ET_engine, (int)i), say_engines(c->op->engines, &s));
}

static bool check_int(const IrCheck *c, const IrParam *p, int64_t i) {
  switch (p->kind) {
    case K_alu:
      return check_alu(c, p, i);
    case K_enum:
      return check_enum(c, p, i);
    case K_act:
      if (i <= ACT_none || i >= ACT_count) return BAD(c, argument_kind, p->name, kinds[K_act].what);
      return act_info[i].gen <= c->gen || bad_generation(c, act_info[i].name, act_info[i].gen);
    case K_flag:
    case K_tristate:
      return i == 0 || i == 1 || BAD(c, argument_kind, p->name, kinds[p->kind].what);
    default:
      return check_range(c, p, (double)i);
  }
}

static bool check_reg(const IrCheck *c, const IrParam *p, uint32_t reg) {
  if (reg < c->func->nbufs && c->func->bufs[reg]->space == SP_reg) return true;
  return BAD(c, argument_kind, p->name, "a register");
}

static bool same_as_default(const IrParam *p, const IrVal *v) {
  if (v->kind != p->def.kind) return false;
  return v->kind == V_INT ? v->u.i == p->def.u.i : v->kind == V_NUM && v->u.num == p->def.u.num;
}

static bool check_lists(const IrCheck *c, const IrParam *p, const IrVal *v) {
  bool ok = true;
  const int64_t *list = v->u.ints;
  if (v->kind == V_INTS || v->kind == V_PAIRS)
    for (uint32_t i = 0; i < (v->kind == V_PAIRS ? 2 * v->n : v->n); i++)
      if (!check_range(c, p, (double)v->u.ints[i])) ok = false;
  for (uint32_t k = 0; v->kind == V_LISTS && k < v->n; k++, list += 1 + *list)
    for (int64_t i = 1; i <= *list; i++)
      if (!check_range(c, p, (double)list[i])) ok = false;
  if (v->kind == V_TILES)
    for (uint32_t i = 0; i < v->n; i++)
      if (!check_tile(c, p, v->u.tiles[i])) ok = false;
  return ok;
}

/* Beyond this, sums of values in rules and checks could overflow. */
static bool far_off(int64_t i) { return i > 1LL << 40 || i < -(1LL << 40); }

/* A refused tile that rules may still look at. */
static bool tile_is_sound(const IrCheck *c, const IrTile *t) {
  return t->buf < c->func->nbufs && !t->vec && tile_fits(c->func, t);
}

static bool any_far_off(const IrCheck *c, const IrVal *v) {
  if (v->kind == V_LISTS) return true; /* ranks are counted in tables */
  if (v->kind == V_TILES) {
    for (uint32_t i = 0; i < v->n; i++)
      if (!tile_is_sound(c, v->u.tiles[i])) return true;
    return false;
  }
  for (uint32_t i = 0; i < (v->kind == V_PAIRS ? 2 * v->n : v->n); i++)
    if (far_off(v->u.ints[i])) return true;
  return false;
}

/* A member of its set, if not one that is legal here. */
static bool is_member(const IrParam *p, int64_t i) {
  if (p->kind == K_alu) return i > ALU_none && i < ALU_count;
  if (p->kind == K_act) return i > ACT_none && i < ACT_count;
  if (p->kind == K_enum) return enum_has((EnumType)p->set, i);
  if (p->kind == K_flag || p->kind == K_tristate) return i == 0 || i == 1;
  return !far_off(i);
}

/* *usable: rules may look at the value: it has the right kind, is no nonsense and, a tile, lies in its buffer. */
static bool check_param(const IrCheck *c, const IrParam *p, const IrVal *v, bool *usable) {
  if (v->kind == V_NONE) {
    if (!p->required && p->def.kind == V_NONE) return true;
    *usable = false;
    return BAD(c, argument_missing, p->name);
  }
  if (!(kinds[p->kind].legal >> v->kind & 1)) {
    *usable = false;
    return BAD(c, argument_kind, p->name, kinds[p->kind].what);
  }
  if (p->gen > c->gen && !same_as_default(p, v)) {
    if (v->kind == V_TILE || v->kind == V_TILES) *usable = false; /* not looked at */
    return bad_generation(c, p->name, p->gen);
  }
  bool ok = true;
  switch (v->kind) {
    case V_TILE:
      ok = check_tile(c, p, v->u.tile);
      if (!ok && !tile_is_sound(c, v->u.tile)) *usable = false;
      return ok;
    case V_INT:
      ok = check_int(c, p, v->u.i);
      if (!ok && !is_member(p, v->u.i)) *usable = false;
      return ok;
    case V_NUM:
      return check_range(c, p, v->u.num);
    case V_REG:
      ok = check_reg(c, p, v->u.reg);
      if (!ok) *usable = false;
      return ok;
    default:
      ok = check_lists(c, p, v);
      if (!ok && any_far_off(c, v)) *usable = false;
      return ok;
  }
}

/* What all tiles of an instruction have in common: most rules hold at one look. */
typedef struct Common {
  int64_t parts, count; /* of the first tile; count per partition */
  uint32_t spaces, dtypes, seen;
  bool parts_differ, counts_differ;
} Common;

static inline void common_add(Common *m, const IrBuf *b, int64_t parts, int64_t count) {
  if (!m->seen++) {
    m->parts = parts;
    m->count = count;
  }
  m->parts_differ |= parts != m->parts;
  m->counts_differ |= count != m->count;
  m->spaces |= 1u << b->space;
  m->dtypes |= 1u << b->dtype;
}

_Static_assert(RULE_count <= 32, "rules_met is one word");

/* Rules that these tiles cannot break. */
static inline uint32_t rules_met(const Common *m) {
  uint32_t met = 0;
  if (!m->parts_differ) met |= 1u << RULE_same_partitions;
  if (!m->counts_differ) met |= 1u << RULE_same_count;
  if (!m->parts_differ && !m->counts_differ) met |= 1u << RULE_total_count;
  if ((m->dtypes & (m->dtypes - 1)) == 0) met |= 1u << RULE_same_dtype;
  if (!(m->spaces >> SP_psum & 1)) met |= 1u << RULE_one_in_psum | 1u << RULE_gpsimd_reach;
  return met;
}

/* May the rule look at all its arguments? */
static bool rule_sees(const IrRuleUse *r, uint32_t blind) {
  for (const uint8_t *arg = r->arg; *arg; arg++)
    if (blind >> (*arg - 1) & 1) return false;
  return true;
}

static bool check_row(const IrCheck *c, uint32_t *spaces) {
  const OpInfo *op = c->op;
  bool ok = true, picked = false;
  uint32_t blind = 0; /* parameters whose values no rule may look at */
  Common common = {0};
  if (op->gen > c->gen)
    ok = DIAG(c->d, op_generation, OPN(c), (int)op->gen, target_name(c->module->target), (int)c->gen);
  for (int i = 0; i < op->nparams; i++) {
    const IrParam *p = &op->params[i];
    const IrVal *v = &c->ins->v[i];
    const IrBuf *b = v->kind == V_TILE && v->u.tile->buf < c->func->nbufs ? buf_of(c, v->u.tile) : NULL;
    if (b && p->gen <= c->gen && plain_tile(c, p, v->u.tile, b)) {
      common_add(&common, b, b->shape[0], b->row);
      continue;
    }
    if (v->kind == V_INT && p->def.kind == V_INT && v->u.i == p->def.u.i) continue; /* a default is legal */
    bool usable = true;
    if (!check_param(c, p, v, &usable)) ok = false;
    if (!usable) blind |= 1u << i;
    picked |= b && tile_is_picked(v->u.tile);
    if (b && usable) common_add(&common, b, tile_parts(v->u.tile), tile_free(v->u.tile));
    for (uint32_t k = 0; v->kind == V_TILES && usable && k < v->n; k++)
      *spaces |= 1u << buf_of(c, v->u.tiles[k])->space;
  }
  *spaces |= common.spaces;
  uint32_t met = blind ? 0 : rules_met(&common);
  for (const IrRuleUse *r = op_rules((Op)c->ins->op); r->rule != RULE_none; r++)
    if (!(met >> r->rule & 1) && (!blind || rule_sees(r, blind)) && !rule_holds(c, r)) ok = false;
  if (blind) return false;
  if (op->check && !op->check(c)) ok = false;
  if (picked && !check_indirect(c)) ok = false;
  return ok;
}

bool ir_check_ins_spaces(const IrModule *m, const IrFunc *f, const IrIns *ins, uint32_t *spaces, Diag *d) {
  *spaces = 0;
  if (ins->op >= OP_count) return true; /* structure: ir_verify */
  if (ins->op == OP_none || ins->nval != op_info[ins->op].nparams)
    return NK_BUG(d, "instruction does not match its row");
  IrCheck c = {m, f, ins, &op_info[ins->op], chip_of(m->target)->gen, ir_engine(f, ins), d};
  if (check_row(&c, spaces)) return true;
  ir_diag_where(m, ins->loc, ins->iter, d);
  return false;
}

bool ir_check_ins(const IrModule *m, const IrFunc *f, const IrIns *ins, Diag *d) {
  uint32_t spaces;
  return ir_check_ins_spaces(m, f, ins, &spaces, d);
}

/* ---- the same again */

/* Rules look at memory, dtype and shape of a plain tensor; a check of the row's own may ask which tensor it is. */
static bool tiles_alike(const IrFunc *f, Op op, const IrTile *a, const IrTile *b) {
  if (a == b) return true;
  if (op_info[op].check || !a->whole || !b->whole || b->buf >= f->nbufs) return false;
  const IrBuf *x = f->bufs[a->buf], *y = f->bufs[b->buf];
  return x->plain && y->plain && x->space == y->space && x->dtype == y->dtype && x->rank == y->rank &&
         memcmp(x->shape, y->shape, (size_t)x->rank * sizeof *x->shape) == 0;
}

bool ir_ins_alike(const IrFunc *f, const IrIns *a, const IrIns *b) {
  if (a->op != b->op || a->nval != b->nval) return false;
  for (int i = 0; i < a->nval; i++) {
    const IrVal *x = &a->v[i], *y = &b->v[i];
    if (x->kind != y->kind) return false;
    if (x->kind == V_TILE ? !tiles_alike(f, (Op)a->op, x->u.tile, y->u.tile)
                          : x->kind != V_NONE && ((x->kind != V_INT && x->kind != V_NUM) || x->u.i != y->u.i))
      return false;
  }
  return true;
}
