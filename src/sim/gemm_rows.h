/* gemm_rows.h -- room sim: the matrix product without a library. Included once per instruction set. */
#ifndef NK_SIM_GEMM_ROWS_H
#define NK_SIM_GEMM_ROWS_H
#include <string.h>

#include "gemm.h"
#include "vmath_simd.h"

enum { TILE_M = 4, TILE_N = 2 * VL, PACK_K = 128, BLOCK_M = 64 };

/* TILE_N columns of B from column j on, with zeros past the last one, and the rows of C they make: where the tile's
   loads and stores go. */
typedef struct Panel {
  const float *b;
  int64_t ldb, j, cols;
  int64_t i0, i1;   /* the rows of C */
  int64_t k0, k1;   /* the rows of A and B; when k0 is not 0, C holds the sums of those before */
  const float *old; /* what the product is added to, rows of TILE_N; NULL: C itself, when accumulating */
} Panel;

static inline vf gemm_total(const Gemm *g, const Panel *p, const float *old, vf sum, int64_t n) {
  return v_canon(g->accumulate && p->k1 == g->k ? v_ld_part(old, n) + sum : sum);
}

/* `rows` rows of C from i on, held in registers over the panel's k. rows is a constant at each call. */
static inline void gemm_tile(const Gemm *g, const Panel *p, int64_t i, int rows) {
  int64_t w0 = p->cols < VL ? p->cols : VL, w1 = p->cols - w0;
  const float *a = g->a + p->k0 * g->lda + i, *b = p->b;
  float *c = g->c + i * g->ldc + p->j;
  vf acc[TILE_M][2];
  for (int r = 0; r < rows; r++) {
    acc[r][0] = p->k0 ? v_ld_part(c + r * g->ldc, w0) : v_set(0.0f);
    acc[r][1] = p->k0 && w1 ? v_ld_part(c + r * g->ldc + VL, w1) : v_set(0.0f);
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
    float *to = c + r * g->ldc;
    const float *old = p->old ? p->old + (i - p->i0 + r) * TILE_N : to;
    v_st_part(to, gemm_total(g, p, old, acc[r][0], w0), w0);
    if (w1) v_st_part(to + VL, gemm_total(g, p, old + VL, acc[r][1], w1), w1);
  }
}

static void gemm_panel(const Gemm *g, const Panel *p) {
  int64_t i = p->i0;
  for (; i + TILE_M <= p->i1; i += TILE_M) gemm_tile(g, p, i, TILE_M);
  for (; i < p->i1; i++) gemm_tile(g, p, i, 1);
}

/* The last columns, copied so that the tile reads whole vectors. Leaving C in f32 between pieces of k changes no bits;
   what it held before is kept aside meanwhile. */
static void gemm_narrow(const Gemm *g, Panel p) {
  float pack[PACK_K * TILE_N], old[BLOCK_M * TILE_N];
  int64_t w0 = p.cols < VL ? p.cols : VL, w1 = p.cols - w0;
  if (g->accumulate) {
    p.old = old;
    for (int64_t i = p.i0; i < p.i1; i++)
      memcpy(old + (i - p.i0) * TILE_N, g->c + i * g->ldc + p.j, (size_t)p.cols * sizeof(float));
  }
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
  } while (p.k0 < g->k);
}

static void gemm_row(const Gemm *g) {
  int64_t j = 0;
  for (; j + TILE_N <= g->n; j += TILE_N) gemm_panel(g, &(Panel){g->b + j, g->ldb, j, TILE_N, 0, g->m, 0, g->k, NULL});
  for (int64_t i = 0; j < g->n && i < g->m; i += BLOCK_M) {
    int64_t end = i + BLOCK_M < g->m ? i + BLOCK_M : g->m;
    gemm_narrow(g, (Panel){NULL, 0, j, g->n - j, i, end, 0, 0, NULL});
  }
}

/* A comparison is unordered when either side is NaN, so one tells of two vectors. */
static bool gemm_has_nan(const Gemm *g) {
  const vf yes = v_set(1.0f);
  vf found = v_set(0.0f), also = found;
  for (int64_t i = 0; i < g->m; i++) {
    const float *c = g->c + i * g->ldc;
    int64_t j = 0;
    for (; j + 4 * VL <= g->n; j += 4 * VL) {
      found = v_sel(v_unord(v_ld(c + j), v_ld(c + j + VL)), yes, found);
      also = v_sel(v_unord(v_ld(c + j + 2 * VL), v_ld(c + j + 3 * VL)), yes, also);
    }
    for (; j < g->n; j += VL) {
      vf x = g->n - j >= VL ? v_ld(c + j) : v_ld_part(c + j, g->n - j);
      found = v_sel(v_unord(x, x), yes, found);
    }
  }
  float any = 0.0f;
  for (int k = 0; k < VL; k++) any += found[k] + also[k];
  return any != 0.0f;
}
#endif
