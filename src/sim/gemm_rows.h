/* gemm_rows.h -- the matrix product without a library. Included once per instruction set. */
#ifndef NK_SIM_GEMM_ROWS_H
#define NK_SIM_GEMM_ROWS_H
#include "gemm.h"
#include "vmath_simd.h"

enum { TILE_M = 4, TILE_N = 2 * VL, PACK_K = 128 };

/* TILE_N columns of B from column j on, with zeros past the last one: where the tile's loads go. */
typedef struct Panel {
  const float *b;
  int64_t ldb, j, cols;
  int64_t k0, k1; /* the rows of A and B it takes */
  bool accumulate;
} Panel;

/* `rows` rows of C from i on, held in registers over the panel's k. rows is a constant at each call. */
static inline void gemm_tile(const Gemm *g, const Panel *p, int64_t i, int rows) {
  int64_t w0 = p->cols < VL ? p->cols : VL, w1 = p->cols - w0;
  const float *a = g->a + p->k0 * g->lda + i, *b = p->b;
  float *c = g->c + i * g->ldc + p->j;
  vf acc[TILE_M][2];
  for (int r = 0; r < rows; r++) {
    acc[r][0] = p->accumulate ? v_ld_part(c + r * g->ldc, w0) : v_set(0.0f);
    acc[r][1] = p->accumulate && w1 ? v_ld_part(c + r * g->ldc + VL, w1) : v_set(0.0f);
  }
  for (int64_t k = p->k0; k < p->k1; k++, a += g->lda, b += p->ldb) {
    vf b0 = v_ld(b), b1 = v_ld(b + VL);
    for (int r = 0; r < rows; r++) {
      vf s = v_set(a[r]);
      acc[r][0] += s * b0;
      acc[r][1] += s * b1;
    }
  }
  for (int r = 0; r < rows; r++) {
    v_st_part(c + r * g->ldc, v_canon(acc[r][0]), w0);
    if (w1) v_st_part(c + r * g->ldc + VL, v_canon(acc[r][1]), w1);
  }
}

static void gemm_panel(const Gemm *g, const Panel *p) {
  int64_t i = 0;
  for (; i + TILE_M <= g->m; i += TILE_M) gemm_tile(g, p, i, TILE_M);
  for (; i < g->m; i++) gemm_tile(g, p, i, 1);
}

/* The last columns, copied so that the tile reads whole vectors. Leaving C in f32 between pieces of k changes no bits.
 */
static void gemm_narrow(const Gemm *g, Panel p) {
  float pack[PACK_K * TILE_N];
  int64_t w0 = p.cols < VL ? p.cols : VL, w1 = p.cols - w0;
  p.b = pack;
  p.ldb = TILE_N;
  do {
    p.k1 = p.k0 + PACK_K < g->k ? p.k0 + PACK_K : g->k;
    for (int64_t k = p.k0; k < p.k1; k++) {
      const float *b = g->b + k * g->ldb + p.j;
      v_st(pack + (k - p.k0) * TILE_N, v_ld_part(b, w0));
      v_st(pack + (k - p.k0) * TILE_N + VL, w1 ? v_ld_part(b + VL, w1) : v_set(0.0f));
    }
    gemm_panel(g, &p);
    p.k0 = p.k1;
    p.accumulate = true;
  } while (p.k0 < g->k);
}

static void gemm_row(const Gemm *g) {
  int64_t j = 0;
  for (; j + TILE_N <= g->n; j += TILE_N) {
    Panel p = {g->b + j, g->ldb, j, TILE_N, 0, g->k, g->accumulate};
    gemm_panel(g, &p);
  }
  if (j < g->n) gemm_narrow(g, (Panel){NULL, 0, j, g->n - j, 0, 0, g->accumulate});
}
#endif
