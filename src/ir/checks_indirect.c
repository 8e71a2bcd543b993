/* checks_indirect.c -- room ir: indirect views as operands: which may be one, the lists of numbers, where they start.
 */
#include <stdio.h>

#include "check_util.h"

static int64_t start_of(const IrCheck *c, const IrTile *t) {
  const IrBuf *b = buf_of(c, t);
  return b->part + t->offset / buf_row(b);
}

static const char *engine_of(const IrCheck *c) { return enum_name(ET_engine, c->engine); }

/* The numbers 0 .. n-1 of every group are in the index tensor, also of a last group of fewer partitions. */
static bool enough_numbers(const IrCheck *c, const IrParam *p, const IrTile *t) {
  Say s;
  int64_t g = pick_group(c->engine), n = t->dim[1].count, rest = tile_parts(t) % g;
  int64_t most = rest && n > rest ? rest : g * tile_free(t->vec);
  if (n <= most) return true;
  return BAD(c, indirect_count, p->name, LL(n), engine_of(c), (int)g, (int)g, (int)g, text_of(c, t->vec, &s), LL(most));
}

bool check_picked(const IrCheck *c, const IrParam *p, const IrTile *t) {
  Say s, v;
  const IrTile *vec = t->vec;
  if (c->gen < gen4)
    return BAD(c, argument_generation, "an indirect view", (int)gen4, target_name(c->module->target), (int)c->gen);
  if (!p->picked) return BAD(c, indirect_operand, p->name, "this parameter takes none");
  const IrBuf *vb = vec->buf < c->func->nbufs ? buf_of(c, vec) : NULL;
  if (!vb) return BAD(c, instruction_invalid, "the index tensor is not a tensor of this function");
  bool good = vb->space == SP_sbuf && vb->dtype == DT_uint16 && !vec->vec && !vec->dyn && tile_fits(c->func, vec) &&
              tile_parts(vec) == tile_parts(t);
  bool shape = t->vec_dim == 1 && t->rank == 2 && t->dim[1].stride == 0 && t->dim[1].count >= 1 && !t->dyn;
  if (!good || !shape)
    return BAD(c, ir_tile, p->name, say_pattern(t, &v), LL(t->offset), text_of(c, good ? t : vec, &s));
  return enough_numbers(c, p, t);
}

static bool bad_start(const IrCheck *c, const IrParam *p, const char *what, int64_t first, const char *legal) {
  char name[64];
  snprintf(name, sizeof name, "%s%s", what, p->name);
  return BAD(c, indirect_start, name, LL(first), legal);
}

/* An index tensor that must be where an input is. */
static bool starts_at(const IrCheck *c, const IrParam *p, const char *what, const IrTile *t, int64_t want) {
  char legal[64];
  if (start_of(c, t) == want) return true;
  snprintf(legal, sizeof legal, "partition %lld, as the input", LL(want));
  return bad_start(c, p, what, start_of(c, t), legal);
}

/* The first operand that may be gathered decides where the list of a scattered dst is. */
static const IrTile *input_of(const IrCheck *c) {
  for (int i = 0; i < c->op->nparams; i++)
    if (c->op->params[i].picked && c->op->params[i].role == SRC && is_tile(&c->ins->v[i])) return c->ins->v[i].u.tile;
  return NULL;
}

static bool check_scatter(const IrCheck *c, const IrParam *p, const IrTile *t) {
  const IrTile *in = input_of(c);
  if (c->engine == engine_scalar && in_psum(c, t))
    return BAD(c, indirect_operand, p->name, "the Scalar engine scatters into sbuf only");
  if (!in) return true;
  if (!in_psum(c, in)) return starts_at(c, p, "the index of ", t->vec, start_of(c, in));
  return !tile_is_picked(in) || starts_at(c, p, "the index of ", t->vec, start_of(c, in->vec));
}

static bool check_operand(const IrCheck *c, const IrParam *p, const IrTile *t) {
  bool ok = true;
  int64_t first = start_of(c, t->vec);
  if (first % 32) ok = bad_start(c, p, "the index of ", first, "a multiple of 32");
  if (p->role == DST) return check_scatter(c, p, t) && ok;
  if (!p->scale && start_of(c, t) != first) {
    char legal[64];
    snprintf(legal, sizeof legal, "partition %lld, as its index", LL(first));
    ok = bad_start(c, p, "", start_of(c, t), legal);
  }
  return ok;
}

/* ---- single instructions */

/* The same numbers for the elements of both; a scale tile may have fewer partitions. */
static bool same_numbers(const IrTile *a, const IrTile *b) {
  if (!tile_is_picked(a) || !tile_is_picked(b)) return tile_is_picked(a) == tile_is_picked(b);
  IrTile x = *a->vec, y = *b->vec;
  x.whole = y.whole = false;
  x.dim[0].count = y.dim[0].count = 1;
  return a->dim[1].count == b->dim[1].count && tile_equal(&x, &y);
}

static bool untiled(const IrCheck *c, const IrVal *position) {
  bool here = position->kind == V_INTS;
  for (uint32_t i = 0; here && i < position->n; i++)
    if (position->u.ints[i]) return BAD(c, indirect_operand, "an operand", "tile_position must be (0, 0) or absent");
  return true;
}

static bool check_mx(const IrCheck *c) {
  const Args_nc_matmul_mx *a = ARGS(nc_matmul_mx, c->ins);
  bool ok = untiled(c, &a->tile_position);
  if (!same_numbers(a->stationary.u.tile, a->stationary_scale.u.tile))
    ok = BAD(c, indirect_operand, "stationary or its scale", "both are, with one index, or none is");
  if (!same_numbers(a->moving.u.tile, a->moving_scale.u.tile))
    ok = BAD(c, indirect_operand, "moving or its scale", "both are, with one index, or none is");
  return ok;
}

static bool check_matmul(const IrCheck *c) {
  const Args_nc_matmul *a = ARGS(nc_matmul, c->ins);
  const uint32_t legal = DM(float16) | DM(bfloat16) | DM(float8_e4m3) | DM(float8_e5m2) | DM(float8_e4m3fn);
  bool ok = untiled(c, &a->tile_position);
  if (a->is_transpose.u.i && tile_is_picked(a->moving.u.tile))
    ok = BAD(c, indirect_operand, "moving", "not with is_transpose");
  for (int i = 0; i < c->op->nparams; i++) {
    const IrVal *v = &c->ins->v[i];
    if (is_tile(v) && tile_is_picked(v->u.tile) && !(legal >> dtype_of(c, v->u.tile) & 1))
      ok = BAD(c, indirect_operand, c->op->params[i].name, "it must be float16, bfloat16 or an 8-bit float");
  }
  return ok;
}

static bool is_32_bit(const IrCheck *c, const IrVal *v) { return dtype_is_wide_int(dtype_of(c, v->u.tile)); }

static bool check_one(const IrCheck *c) {
  switch ((Op)c->ins->op) {
    case OP_nc_matmul:
      return check_matmul(c);
    case OP_nc_matmul_mx:
      return check_mx(c);
    case OP_tensor_copy:
      if (c->engine != engine_gpsimd) return true;
      return BAD(c, indirect_operand, "an operand", "engine must be vector or scalar");
    case OP_tensor_scalar: {
      const Args_tensor_scalar *a = ARGS(tensor_scalar, c->ins);
      if (!is_32_bit(c, &a->dst) || !is_32_bit(c, &a->data)) return true;
      return BAD(c, indirect_operand, "dst or data", "not with int32 or uint32 on both sides");
    }
    default:
      return true;
  }
}

bool check_indirect(const IrCheck *c) {
  bool ok = check_one(c);
  for (int i = 0; i < c->op->nparams; i++) {
    const IrVal *v = &c->ins->v[i];
    if (is_tile(v) && tile_is_picked(v->u.tile) && !check_operand(c, &c->op->params[i], v->u.tile)) ok = false;
  }
  return ok;
}
