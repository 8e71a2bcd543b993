/* tensor.c -- room sim: the Tensor engine: matmul with PSUM accumulation, transposes. Products are gemm.c's. */
#include <math.h>
#include <string.h>

#include "convert.h"
#include "exec.h"
#include "gemm.h"

/* ---- operands ---------------------------------------------------------------------------------------------------- */
typedef struct Matrix { /* f32, row-major */
  const float *p;
  int64_t rows, cols, ld;
} Matrix;

/* A tile as rows x cols numbers: itself when it is f32 in rows, else a converted copy. */
static bool matrix_of(Sim *s, int slot, const Acc *a, int64_t rows, Matrix *out) {
  *out = (Matrix){NULL, rows, acc_count(a) / rows, 0};
  if (a->dt == DT_float32 && acc_row_run(a) && rows == a->parts) {
    out->p = (const float *)(const void *)a->p;
    out->ld = rows > 1 ? a->pstride : out->cols;
    return true;
  }
  float *copy = scratch(s, slot, (size_t)acc_count(a) * sizeof(float));
  if (!copy) return false;
  Stream st;
  stream_init(&st, a);
  stream_load(&st, acc_count(a), copy);
  out->p = copy;
  out->ld = out->cols;
  return true;
}

static void check_onezero(Sim *s, const Acc *a, const Matrix *m, const char *param) {
  for (int64_t r = 0; r < m->rows; r++)
    for (int64_t c = 0; c < m->cols; c++) {
      float v = m->p[r * m->ld + c];
      if (v == 0.0f || v == 1.0f) continue;
      say_hint(s, a, param);
      return;
    }
}

/* ---- results ----------------------------------------------------------------------------------------------------- */
typedef enum Mode { OVERWRITE, ADD, BY_LOCATION } Mode;

static bool mode_of(Sim *s, const IrVal *accumulate, const Acc *dst, Mode *mode) {
  int64_t all = acc_count(dst), started = acc_started(dst);
  if (accumulate->kind == V_NONE) {
    *mode = started == 0 ? OVERWRITE : started == all ? ADD : BY_LOCATION;
    return true;
  }
  *mode = accumulate->u.i ? ADD : OVERWRITE;
  if (*mode == OVERWRITE || started == all) return true;
  mem_fill(dst->mem);
  /* gen4 may add to what another instruction wrote, but nothing may add to what nobody wrote. */
  int64_t missing = all - (s->gen >= gen4 ? acc_written(dst) : started);
  return missing == 0 || say_never_started(s, dst, missing);
}

/* dst = product, or old + product, in f32, converted once. */
static bool merge(Sim *s, const Acc *dst, Mode mode, float *product) {
  Stream st;
  float *old = scratch(s, SCR_DST, (size_t)dst->free * sizeof(float));
  if (!old) return false;
  for (int64_t p = 0; p < dst->parts; p++) {
    float *row = product + p * dst->free;
    if (mode != OVERWRITE) {
      stream_row(&st, dst, p);
      stream_load(&st, dst->free, old);
      if (mode == ADD) {
        vm_binary(VM_add, old, row, row, dst->free);
      } else {
        stream_row(&st, dst, p);
        for (int64_t i = 0; i < dst->free; i++) {
          const char *at = stream_direct(&st, 1);
          if (bits_test(&dst->mem->started, (at - dst->mem->data) >> dst->mem->shift))
            row[i] = vm_op(VM_add, old[i], row[i]);
        }
      }
    }
    row_store(dst, p, row);
  }
  return true;
}

static bool multiply(Sim *s, const Matrix *st, const Matrix *mv, const Acc *dst, Mode mode) {
  Gemm g = {.m = st->cols, .n = mv->cols, .k = st->rows, .a = st->p, .lda = st->ld, .b = mv->p, .ldb = mv->ld};
  if (dst->dt == DT_float32 && acc_row_run(dst) && mode != BY_LOCATION) {
    g.c = (float *)(void *)dst->p;
    g.ldc = dst->parts > 1 ? dst->pstride : g.n;
    g.accumulate = mode == ADD;
    gemm_f32(&g);
    return true;
  }
  g.c = scratch(s, SCR_TMP, (size_t)(g.m * g.n) * sizeof(float));
  g.ldc = g.n;
  if (!g.c) return false;
  gemm_f32(&g);
  return merge(s, dst, mode, g.c);
}

/* ---- transpose mode: bits move from one operand, the other says where to ----------------------------------------- */
/* where[j] = the row k with selector[k][j] == 1, -1 when column j is zero; false when it is no 0/1 selection. */
static bool selection(const Matrix *m, int64_t *where) {
  for (int64_t j = 0; j < m->cols; j++) {
    where[j] = -1;
    for (int64_t k = 0; k < m->rows; k++) {
      float v = m->p[k * m->ld + j];
      if (v == 0.0f) continue;
      if (v != 1.0f || where[j] >= 0) return false;
      where[j] = k;
    }
  }
  return true;
}

/* One element of the moved tile as dst stores it: the same bits, an 8-bit one with zeros above it. In an imprecise run
   one of the two may be kept as float32; then its value moves. */
static void move_elem(const Acc *data, const char *from, const Acc *dst, char *to) {
  if ((data->dt == DT_float32) != (dst->dt == DT_float32)) {
    float v;
    cvt_load(data->dt, from, 1, &v);
    cvt_store(dst->dt, &v, 1, to);
  } else {
    memset(to, 0, (size_t)dst->bytes);
    memcpy(to, from, (size_t)(data->bytes < dst->bytes ? data->bytes : dst->bytes));
  }
}

static bool move_bits(Sim *s, const Acc *data, const int64_t *where, const Acc *dst, bool by_column) {
  int64_t cols = data->free; /* data row-major in a copy of its own, so that it can be read across */
  char *copy = scratch(s, SCR_SNAP0, (size_t)(acc_count(data) * data->bytes));
  if (!copy) return false;
  Stream in, out;
  stream_init(&in, data);
  stream_read(&in, acc_count(data), copy);
  stream_init(&out, dst);
  for (int64_t m = 0; m < dst->parts; m++)
    for (int64_t n = 0; n < dst->free; n++) {
      int64_t k = where[by_column ? n : m], c = by_column ? m : n;
      _Alignas(4) char elem[4] = {0};
      if (k >= 0) move_elem(data, copy + (k * cols + c) * data->bytes, dst, elem);
      stream_write(&out, 1, elem);
    }
  return true;
}

static bool transpose_mode(Sim *s, const Acc *st, const Acc *mv, const Acc *dst) {
  Matrix sm, mm;
  int64_t where[512];
  if (!matrix_of(s, SCR_SRC0, st, st->parts, &sm) || !matrix_of(s, SCR_SRC1, mv, mv->parts, &mm)) return false;
  if (mm.cols <= 512 && selection(&mm, where)) return move_bits(s, st, where, dst, true);
  if (sm.cols <= 512 && selection(&sm, where)) return move_bits(s, mv, where, dst, false);
  return DIAG0(s->d, transpose_selection);
}

bool sim_nc_matmul(Sim *s, const Args_nc_matmul *a) {
  Acc st, mv, dst;
  Mode mode = OVERWRITE;
  Matrix sm, mm;
  if (!acc_src(s, a->stationary.u.tile, &st) || !acc_src(s, a->moving.u.tile, &mv) ||
      !acc_inout(s, a->dst.u.tile, &dst))
    return false;
  bool adds = a->accumulate.kind == V_INT && a->accumulate.u.i; /* then it is no movement of bits */
  if (a->is_transpose.u.i && s->gen >= gen3 && !adds) {
    acc_mark(&dst);
    return transpose_mode(s, &st, &mv, &dst);
  }
  int64_t rows = st.parts * (a->perf_mode.u.i == matmul_perf_mode_double_row ? 2 : 1);
  if (!matrix_of(s, SCR_SRC0, &st, rows, &sm) || !matrix_of(s, SCR_SRC1, &mv, rows, &mm)) return false;
  if (sm.cols * mm.cols != acc_count(&dst) || sm.cols != dst.parts)
    return NK_BUG(s->d, "nc_matmul: counts do not match");
  if (a->is_stationary_onezero.u.i) check_onezero(s, &st, &sm, "is_stationary_onezero");
  if (a->is_moving_onezero.u.i) check_onezero(s, &mv, &mm, "is_moving_onezero");
  if (!mode_of(s, &a->accumulate, &dst, &mode) || !multiply(s, &sm, &mm, &dst, mode)) return false;
  acc_start(&dst);
  return true;
}

/* ---- nc_matmul_mx: four rows per partition, each number times its scale ------------------------------------------ */
bool sim_nc_matmul_mx(Sim *s, const Args_nc_matmul_mx *a) {
  const IrTile *st = a->stationary.u.tile, *mv = a->moving.u.tile;
  Acc dst;
  Mode mode = OVERWRITE;
  Matrix sm = {mx_unpack(s, SCR_SRC0, st, a->stationary_scale.u.tile), 4 * tile_parts(st), tile_free(st),
               tile_free(st)};
  if (!sm.p) return false;
  Matrix mm = {mx_unpack(s, SCR_SRC1, mv, a->moving_scale.u.tile), 4 * tile_parts(mv), tile_free(mv), tile_free(mv)};
  if (!mm.p || !acc_inout(s, a->dst.u.tile, &dst)) return false;
  if (sm.rows != mm.rows || sm.cols * mm.cols != acc_count(&dst))
    return NK_BUG(s->d, "nc_matmul_mx: counts do not match");
  if (!mode_of(s, &a->accumulate, &dst, &mode) || !multiply(s, &sm, &mm, &dst, mode)) return false;
  acc_start(&dst);
  return true;
}

/* ---- nc_transpose ------------------------------------------------------------------------------------------------ */
/* gen2's Tensor engine multiplies by an identity: 0 * inf and 0 * NaN reach the whole row. */
static void spread_nan(const Acc *dst, float *row) {
  int64_t n = dst->free, bad = -1, count = 0;
  for (int64_t i = 0; i < n; i++) {
    if (isfinite(row[i])) continue;
    bad = i;
    count++;
  }
  if (count == 0) return;
  bool keep = count == 1 && isinf(row[bad]);
  for (int64_t i = 0; i < n; i++)
    if (!keep || i != bad) row[i] = NAN;
}

static bool spread_all(Sim *s, const Acc *dst) {
  float *row = scratch(s, SCR_SRC0, (size_t)dst->free * sizeof(float));
  if (!row) return false;
  for (int64_t p = 0; p < dst->parts; p++) {
    Stream st;
    stream_row(&st, dst, p);
    stream_load(&st, dst->free, row);
    bool finite = true;
    for (int64_t i = 0; i < dst->free; i++) finite &= isfinite(row[i]) != 0;
    if (finite) continue; /* the bits are right as they are */
    spread_nan(dst, row);
    row_store(dst, p, row);
  }
  return true;
}

bool sim_nc_transpose(Sim *s, const Args_nc_transpose *a) {
  Acc x, dst;
  if (!acc_src(s, a->data.u.tile, &x) || !acc_dst(s, a->dst.u.tile, &dst) || !acc_guard(s, SCR_SNAP0, &x, &dst, false))
    return false;
  if (x.nf > 1) { /* several free dimensions that are no single stride: flatten them in a copy */
    Acc all = x;
    all.lo = dst.lo;
    all.hi = dst.hi;
    if (!acc_guard(s, SCR_SNAP0, &all, &dst, false)) return false;
    x = all;
  }
  Acc turned = x;
  turned.parts = x.free;
  turned.pstride = x.nf ? x.f[0].stride : 0;
  turned.free = x.parts;
  turned.nf = x.parts > 1;
  turned.f[0] = (IrDim){x.pstride, x.parts};
  if (acc_count(&dst) != acc_count(&x) || dst.parts != x.free) return NK_BUG(s->d, "nc_transpose: counts do not match");
  if (!copy_turned(s, &dst, &turned)) return false;
  bool multiplies = s->gen == gen2 && dtype_is_float(dst.dt) && ir_engine(s->f, s->ins) == engine_tensor;
  return !multiplies || spread_all(s, &dst);
}
