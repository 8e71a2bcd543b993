/* view_util.h -- room ir: private; what the files of the access-pattern algebra share. */
#ifndef NK_VIEW_UTIL_H
#define NK_VIEW_UTIL_H
#include "say.h"

static inline const IrBuf *tile_buf(const IrFunc *f, const IrTile *t) { return f->bufs[t->buf]; }
static inline bool tile_on_chip(const IrFunc *f, const IrTile *t) { return space_on_chip(tile_buf(f, t)->space); }
/* Elements per partition on chip, elements per row (all but dim 0) elsewhere. */
static inline int64_t buf_row(const IrBuf *b) { return b->row; }

/* A fresh copy to edit; NULL (and d filled) when out of memory, or when t is an indirect view, which has no views. */
IrTile *view_edit(ViewCtx *c, const IrTile *t);
/* The finished tile: the buffer's own whole tile when it is that. */
const IrTile *view_done(ViewCtx *c, IrTile *r);
/* view_vector_select of that many rows; vec may have several columns, read one behind the other. */
const IrTile *view_pick_rows(ViewCtx *c, const IrTile *t, int dim, const IrTile *vec, int64_t rows);
bool view_has_dim(ViewCtx *c, const IrTile *t, const char *what, int dim);
/* Dim 0 that a view may not touch: partitions on chip, or rows picked by a vector offset. what: "split", "permuted" ...
 */
bool view_free_dim(ViewCtx *c, const IrTile *t, const char *what, int dim, const char *verb);
bool view_fixed0(const ViewCtx *c, const IrTile *t);
/* Sizes are positive and their product fits; one -1 is replaced so that the product is count. */
bool view_sizes(ViewCtx *c, const IrTile *t, int64_t *shape, int n, int64_t count);
/* Is every element inside the buffer (on chip: inside its partition), whatever value the dynamic offset has? */
bool tile_fits(const IrFunc *f, const IrTile *t);
/* Integers in SBUF at known places: what an index tensor in HBM views is. */
bool tile_is_index(const IrFunc *f, const IrTile *t);
#endif
