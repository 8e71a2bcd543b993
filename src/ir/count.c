/* count.c -- room ir: multiply-accumulates of a module, and equality of two functions. */
#include <string.h>

#include "ir.h"
#include "sat.h"

static int64_t func_macs(const IrFunc *f) {
  int64_t sum = 0;
  for (uint32_t i = 0; i < f->nins; i++) {
    if (f->ins[i]->op == OP_nc_matmul_mx) { /* four numbers to a container */
      const Args_nc_matmul_mx *x = ARGS(nc_matmul_mx, f->ins[i]);
      sum = add_sat(sum, mul_sat(4, mul_sat(tile_count(x->stationary.u.tile), tile_free(x->moving.u.tile))));
    }
    if (f->ins[i]->op != OP_nc_matmul) continue;
    const Args_nc_matmul *a = ARGS(nc_matmul, f->ins[i]);
    if (a->is_transpose.u.i) continue;
    /* double_row: [k,2,m] and [k,2,n], so the product below counts the pair twice */
    int64_t rows = a->perf_mode.u.i == matmul_perf_mode_double_row ? 2 : 1;
    int64_t km = mul_sat(tile_count(a->stationary.u.tile), tile_free(a->moving.u.tile));
    sum = add_sat(sum, km / rows);
  }
  return sum;
}

int64_t ir_mac_count(const IrModule *m) {
  int64_t sum = 0;
  if (!m->program) return m->nfunc ? mul_sat(func_macs(m->func[0]), m->nprogram) : 0;
  for (uint32_t k = 0; k < m->nfunc; k++) {
    int64_t runs = 0;
    for (int64_t p = 0; p < m->nprogram; p++)
      if (m->program[p] == k) runs++;
    sum = add_sat(sum, mul_sat(func_macs(m->func[k]), runs));
  }
  return sum;
}

/* ---- equality: same text and same locations */

bool tile_equal(const IrTile *a, const IrTile *b) {
  if (a == b) return true;
  if (a->buf != b->buf || a->rank != b->rank || a->offset != b->offset || a->dyn != b->dyn ||
      a->dyn_max != b->dyn_max || a->vec_dim != b->vec_dim || (a->vec == NULL) != (b->vec == NULL))
    return false;
  for (int i = 0; i < a->rank; i++)
    if (a->dim[i].stride != b->dim[i].stride || a->dim[i].count != b->dim[i].count) return false;
  return !a->vec || tile_equal(a->vec, b->vec);
}

static bool same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static bool same_lists(const IrVal *a, const IrVal *b) {
  const int64_t *x = a->u.ints, *y = b->u.ints;
  for (uint32_t i = 0; i < a->n; i++, y += 1 + *x, x += 1 + *x)
    if (*x != *y || memcmp(x, y, (size_t)(1 + *x) * sizeof *x) != 0) return false;
  return true;
}

bool ir_val_equal(const IrVal *a, const IrVal *b) {
  if (a->kind != b->kind || a->n != b->n) return false;
  switch (a->kind) {
    case V_TILE:
      return tile_equal(a->u.tile, b->u.tile);
    case V_NUM:
      return memcmp(&a->u.num, &b->u.num, sizeof a->u.num) == 0;
    case V_INT:
      return a->u.i == b->u.i;
    case V_INTS:
      return a->n == 0 || memcmp(a->u.ints, b->u.ints, a->n * sizeof *a->u.ints) == 0;
    case V_PAIRS:
      return a->n == 0 || memcmp(a->u.ints, b->u.ints, 2 * a->n * sizeof *a->u.ints) == 0;
    case V_LISTS:
      return same_lists(a, b);
    case V_TILES:
      for (uint32_t i = 0; i < a->n; i++)
        if (!tile_equal(a->u.tiles[i], b->u.tiles[i])) return false;
      return true;
    case V_REG:
      return a->u.reg == b->u.reg;
    case V_IDX:
      return a->u.idx == b->u.idx;
    case V_STR:
      return memcmp(a->u.str, b->u.str, a->n) == 0;
    default:
      return true;
  }
}

static bool same_ins(const IrIns *a, const IrIns *b) {
  if (a->op != b->op || a->nval != b->nval || a->loc != b->loc || a->result != b->result || a->match != b->match ||
      !same_text(a->label, b->label))
    return false;
  for (uint32_t i = 0; i < a->nval; i++)
    if (!ir_val_equal(&a->v[i], &b->v[i])) return false;
  return true;
}

static bool same_buf(const IrBuf *a, const IrBuf *b) {
  if (a->kind != b->kind || a->space != b->space || a->dtype != b->dtype || a->rank != b->rank || a->base != b->base ||
      a->shared_ordinal != b->shared_ordinal || a->has_address != b->has_address || a->loc != b->loc)
    return false;
  if (a->has_address && (a->part != b->part || a->byte != b->byte)) return false;
  if (a->rank && memcmp(a->shape, b->shape, (size_t)a->rank * sizeof a->shape[0]) != 0) return false;
  if (!same_text(a->name, b->name)) return false;
  if (a->kind != BUF_CONST || a->data == b->data) return true;
  return memcmp(a->data, b->data, (size_t)(a->count * dtype_bytes(a->dtype))) == 0;
}

bool ir_func_equal(const IrModule *m, const IrFunc *a, const IrFunc *b) {
  (void)m;
  if (a->nbufs != b->nbufs || a->nargs != b->nargs || a->nins != b->nins || a->nrets != b->nrets || a->nidx != b->nidx)
    return false;
  for (uint32_t i = 0; i < a->nbufs; i++)
    if (!same_buf(a->bufs[i], b->bufs[i])) return false;
  for (uint32_t i = 0; i < a->nrets; i++)
    if (a->rets[i] != b->rets[i]) return false;
  for (uint32_t i = 0; i < a->nins; i++)
    if (!same_ins(a->ins[i], b->ins[i])) return false;
  return true;
}
