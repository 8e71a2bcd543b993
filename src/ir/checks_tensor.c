/* checks_tensor.c -- room ir: what the Tensor engine refuses: sizes, dtype pairs, PSUM banks, array tiling, transposes.
 */
#include <stdio.h>

#include "check_util.h"

enum { BANK = 2048 };

/* gen2 and gen3: a Tensor engine result stays inside one PSUM bank. Positions are those of the tile in its buffer,
   which placement puts inside a bank or at the start of one. */
static bool one_bank(const IrCheck *c, const char *param, const IrTile *t) {
  if (c->gen >= gen4 || !in_psum(c, t)) return true;
  const IrBuf *b = buf_of(c, t);
  int64_t size = dtype_bytes(b->dtype), row = buf_row(b), ext = 0;
  for (int i = 1; i < t->rank; i++) ext += t->dim[i].stride * (t->dim[i].count - 1);
  int64_t first = b->byte + t->offset % row * size, last = first + (ext + 1) * size - 1;
  if (first / BANK == last / BANK) return true;
  Say s;
  return BAD(c, psum_bank, param, LL(first), LL(last), text_of(c, t, &s));
}

static bool limit(const IrCheck *c, const char *what, int64_t value, int64_t most, const IrTile *t) {
  if (value <= most) return true;
  Say s;
  return BAD(c, size_of_dimension_exceed_arch_limit, what, LL(value), LL(most), text_of(c, t, &s));
}

typedef struct MatmulShape {
  int64_t k, m, n; /* k: partitions */
  bool rows2;      /* double_row: [k, 2, m] and [k, 2, n] */
} MatmulShape;

/* false: the sizes mean nothing; those of dst and the tiling cannot be judged. */
static bool matmul_shape(const IrCheck *c, const Args_nc_matmul *a, MatmulShape *s) {
  const IrTile *st = a->stationary.u.tile, *mv = a->moving.u.tile;
  Say x, y;
  s->rows2 = a->perf_mode.u.i == matmul_perf_mode_double_row;
  bool ok = true;
  if (tile_parts(st) != tile_parts(mv))
    ok = BAD(c, num_partition_mismatch, "stationary", "moving", text_of(c, st, &x), text_of(c, mv, &y));
  s->k = tile_parts(st);
  s->m = tile_free(st);
  s->n = tile_free(mv);
  if (!s->rows2) return ok;
  const IrTile *both[2] = {st, mv};
  for (int i = 0; i < 2; i++) {
    if (both[i]->rank >= 3 && both[i]->dim[1].count == 2) continue;
    ok = BAD(c, shape_required, i ? "moving (double_row)" : "stationary (double_row)", "[k,2,n]",
             text_of(c, both[i], &x));
  }
  s->m /= 2;
  s->n /= 2;
  return ok;
}

static bool is_fp8(DType d) { return dtype_is_float(d) && dtype_bytes(d) == 1; }
static bool is_f32(DType d) { return d == DT_float32 || d == DT_tfloat32; }

static bool matmul_dtypes(const IrCheck *c, const Args_nc_matmul *a, bool rows2) {
  DType st = dtype_of(c, a->stationary.u.tile), mv = dtype_of(c, a->moving.u.tile);
  char why[200];
  const char *problem = NULL;
  if (is_f32(st) != is_f32(mv)) problem = "float32 and tfloat32 pair with each other only";
  if ((st == DT_float8_e4m3 && mv == DT_float8_e4m3fn) || (st == DT_float8_e4m3fn && mv == DT_float8_e4m3))
    problem = "float8_e4m3 and float8_e4m3fn never go together";
  if (rows2 && !(is_fp8(st) && is_fp8(mv))) problem = "perf_mode double_row takes 8-bit floats";
  if (!problem) return true;
  snprintf(why, sizeof why, "stationary is %s and moving is %s: %s", dtype_name(st), dtype_name(mv), problem);
  return BAD(c, instruction_invalid, why);
}

/* Products are summed in f32: dst is float32, on gen4 also bfloat16. A transpose moves bits: dst has the data's dtype.
 */
static bool matmul_dst_dtype(const IrCheck *c, const Args_nc_matmul *a) {
  DType dst = dtype_of(c, a->dst.u.tile), data = dtype_of(c, a->stationary.u.tile);
  uint32_t legal = c->gen >= gen4 ? DM(float32) | DM(bfloat16) : DM(float32);
  if (a->is_transpose.u.i && c->gen == gen2 && !is_f32(data)) legal |= 1u << data;
  if (a->is_transpose.u.i && c->gen >= gen3) {
    legal = is_f32(data) ? DM(float32) : is_fp8(data) ? DM(bfloat16) | DM(float16) : 1u << data;
  }
  if (legal >> dst & 1) return true;
  Say s;
  return BAD(c, unsupported_dtype, a->is_transpose.u.i ? "dst (is_transpose)" : "dst", dtype_name(dst),
             say_dtypes(legal, &s));
}

static bool given(const IrVal *v) { return v->kind == V_INTS && v->n > 0; }
static bool array_part(int64_t n, Gen gen) { return n == 128 || n == 64 || (n == 32 && gen >= gen3); }

/* tile_size = (rows, cols) and tile_position = (row, col) use a part of the 128x128 array. */
static bool matmul_tiling(const IrCheck *c, const Args_nc_matmul *a, const MatmulShape *s) {
  if (!given(&a->tile_position) && !given(&a->tile_size)) return true;
  if (!given(&a->tile_position) || !given(&a->tile_size) || a->tile_position.n != 2 || a->tile_size.n != 2)
    return BAD(c, instruction_invalid,
               "tile_position and tile_size are given together, each as two integers (rows, columns)");
  const int64_t *at = a->tile_position.u.ints, *size = a->tile_size.u.ints;
  char why[200];
  const char *parts = c->gen >= gen3 ? "32, 64 or 128" : "64 or 128";
  bool ok = true;
  for (int i = 0; i < 2; i++) {
    const char *axis = i ? "columns" : "rows";
    int64_t used = i ? s->m : s->k;
    if (!array_part(size[i], c->gen)) {
      snprintf(why, sizeof why, "tile_size has %lld %s; legal are %s", LL(size[i]), axis, parts);
    } else if (at[i] % size[i] != 0) {
      snprintf(why, sizeof why, "tile_position %s %lld must be a multiple of tile_size %lld", axis, LL(at[i]),
               LL(size[i]));
    } else if (used > size[i]) {
      snprintf(why, sizeof why, "%lld %s of stationary do not fit tile_size %lld", LL(used), axis, LL(size[i]));
    } else {
      continue;
    }
    ok = BAD(c, instruction_invalid, why);
  }
  if (s->rows2 && size[1] != 128) ok = BAD(c, instruction_invalid, "perf_mode double_row uses all 128 columns");
  return ok;
}

static bool matmul_sizes(const IrCheck *c, const Args_nc_matmul *a, const MatmulShape *s) {
  const IrTile *dst = a->dst.u.tile;
  bool ok = limit(c, "free size of stationary", s->m, 128, a->stationary.u.tile);
  int64_t most = c->gen < gen4 ? 512 : dtype_bytes(dtype_of(c, dst)) == 4 ? 4096 : 8192;
  if (!limit(c, "free size of moving", s->n, most, a->moving.u.tile)) ok = false;
  if (tile_parts(dst) == s->m && tile_free(dst) == s->n) return ok;
  Say want, got;
  const int64_t shape[2] = {s->m, s->n};
  return BAD(c, shape_required, "dst", say_shape(shape, 2, &want), text_of(c, dst, &got));
}

bool check_nc_matmul(const IrCheck *c) {
  const Args_nc_matmul *a = ARGS(nc_matmul, c->ins);
  const IrTile *dst = a->dst.u.tile;
  MatmulShape s = {0};
  bool shaped = matmul_shape(c, a, &s), ok = shaped && matmul_sizes(c, a, &s);
  if (s.rows2 && c->gen < gen3)
    ok = BAD(c, argument_generation, "perf_mode double_row", 3, target_name(c->module->target), (int)c->gen);
  if (s.rows2 && a->is_transpose.u.i) ok = BAD(c, instruction_invalid, "perf_mode double_row does not transpose");
  if (!matmul_dtypes(c, a, s.rows2)) ok = false;
  if (!matmul_dst_dtype(c, a)) ok = false;
  if (shaped && !matmul_tiling(c, a, &s)) ok = false;
  return one_bank(c, "dst", dst) && ok;
}

bool check_nc_transpose(const IrCheck *c) {
  const Args_nc_transpose *a = ARGS(nc_transpose, c->ins);
  const IrTile *dst = a->dst.u.tile, *data = a->data.u.tile;
  int64_t p = tile_parts(data), f = tile_free(data);
  bool tensor = c->engine == engine_tensor, ok = true;
  const char *cols = tensor ? "free size of data (engine tensor)" : "free size of data (engine vector)";
  if (!tensor && !limit(c, "partitions of data (engine vector)", p, 32, data)) ok = false;
  if (!limit(c, cols, f, tensor ? 128 : 32, data)) ok = false;
  Say s, t;
  if (tile_parts(dst) != f || tile_free(dst) != p) {
    const int64_t shape[2] = {f, p};
    ok = BAD(c, shape_required, "dst", say_shape(shape, 2, &s), text_of(c, dst, &t));
  }
  if (!tensor) return ok;
  if (in_psum(c, data)) ok = BAD(c, unsupported_memory, "data (engine tensor)", "sbuf", text_of(c, data, &s));
  if (!in_psum(c, dst)) ok = BAD(c, unsupported_memory, "dst (engine tensor)", "psum", text_of(c, dst, &s));
  uint32_t legal = DM_MATMUL | (c->gen >= gen4 ? DM(float8_e4m3fn) : 0);
  if (!(legal >> dtype_of(c, data) & 1))
    ok = BAD(c, unsupported_dtype, "data (engine tensor)", dtype_name(dtype_of(c, data)), say_dtypes(legal, &s));
  return one_bank(c, "dst", dst) && ok;
}
