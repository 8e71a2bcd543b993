/* view_indirect.c -- room ir: tensor indirection, views whose free elements are picked at run time by an index tensor.
 */
#include "view_util.h"

#define NAME "NkiTensor", "indirect" /* of "%s.%s" */

static bool run_of_elements(ViewCtx *c, const IrTile *t) {
  Say s;
  if (t->dyn || t->vec) return DIAG(c->d, view_one_dynamic, say_tile(c->f, t, &s));
  return tile_is_contiguous(c->f, t) || DIAG(c->d, view_indirect_run, say_tile(c->f, t, &s));
}

static bool index_fits(ViewCtx *c, const IrTile *t, const IrTile *index, int64_t n) {
  Say s, l;
  const IrBuf *b = tile_buf(c->f, index);
  if (b->space != SP_sbuf || index->vec)
    return DIAG(c->d, unsupported_memory, NAME, "index", "sbuf", say_tile(c->f, index, &s));
  if (b->dtype != DT_uint16)
    return DIAG(c->d, unsupported_dtype, NAME, "index", say_tile(c->f, index, &s), say_dtypes(DM(uint16), &l));
  if (index->dyn) return DIAG(c->d, view_one_dynamic, say_tile(c->f, index, &s));
  if (tile_parts(index) == tile_parts(t) && n >= 1 && n <= tile_count(index)) return true;
  return DIAG(c->d, indirect_index, NAME, say_tile(c->f, index, &s), (long long)tile_parts(t),
              (long long)tile_count(index), (long long)n);
}

const IrTile *view_indirect(ViewCtx *c, const IrTile *t, const IrTile *index, int64_t num_elem) {
  Say s;
  const ChipInfo *chip = chip_of(c->m->target);
  int64_t n = num_elem ? num_elem : tile_count(index);
  if (chip->gen < gen4)
    return DIAG(c->d, op_generation, NAME, (int)gen4, target_name(c->m->target), (int)chip->gen), NULL;
  if (!tile_on_chip(c->f, t))
    return DIAG(c->d, unsupported_memory, NAME, "self", "sbuf or psum", say_tile(c->f, t, &s)), NULL;
  if (!run_of_elements(c, t) || !index_fits(c, t, index, n)) return NULL;
  IrTile *r = view_edit(c, t);
  if (!r) return NULL;
  r->rank = 2;
  r->dim[1] = (IrDim){0, n};
  r->vec = index;
  r->vec_dim = 1;
  r->dyn_max = tile_free(t) - 1;
  return view_done(c, r);
}
