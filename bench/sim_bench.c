/* sim_bench.c -- times of the simulator alone: whole kernels of 128-row tiles, and small instructions. Median of
   repeats. Prints "name milliseconds" of processor time (the run is one thread), so that other work on the machine
   counts little. */
#include <time.h>

#include "gemm.h"
#include "kit.h"

enum { ROWS = 4096, COLS = 512, REPEAT = 41 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *v, int n) {
  qsort(v, (size_t)n, sizeof *v, by_value);
  return v[n / 2];
}

static float *values(int64_t n) {
  float *p = malloc((size_t)n * sizeof *p);
  for (int64_t i = 0; i < n; i++) p[i] = (float)(i * 7919 % 1000) * 0.004f - 2.0f;
  return p;
}

static const IrTile *rows(Kit *k, const IrTile *t, int64_t first, int64_t n, int64_t width) {
  return kit_ap(k, t, first * width, PAIRS(width, n, 1, width));
}

static const IrTile *tile(Kit *k, int64_t cols) { return kit_buf(k, SP_sbuf, DT_float32, SHAPE(128, cols)); }

static void add_of(Kit *k, DType dt) {
  const IrTile *a = kit_in(k, dt, values(ROWS * COLS), SHAPE(ROWS, COLS));
  const IrTile *b = kit_in(k, dt, values(ROWS * COLS), SHAPE(ROWS, COLS));
  const IrTile *out = kit_out(k, dt, SHAPE(ROWS, COLS));
  for (int64_t r = 0; r < ROWS; r += 128) {
    const IrTile *x = kit_buf(k, SP_sbuf, dt, SHAPE(128, COLS)), *y = kit_buf(k, SP_sbuf, dt, SHAPE(128, COLS)),
                 *z = kit_buf(k, SP_sbuf, dt, SHAPE(128, COLS));
    kit_load(k, x, rows(k, a, r, 128, COLS));
    kit_load(k, y, rows(k, b, r, 128, COLS));
    kit_ins(k, OP_tensor_tensor, "dst", T(z), "data1", T(x), "data2", T(y), "op", I(ALU_add), NULL);
    kit_load(k, rows(k, out, r, 128, COLS), z);
  }
}

static void add(Kit *k) { add_of(k, DT_float32); }
static void add_bf16(Kit *k) { add_of(k, DT_bfloat16); }

static void softmax(Kit *k) {
  const IrTile *a = kit_in(k, DT_float32, values(ROWS * COLS), SHAPE(ROWS, COLS));
  const IrTile *out = kit_out(k, DT_float32, SHAPE(ROWS, COLS));
  for (int64_t r = 0; r < ROWS; r += 128) {
    const IrTile *x = tile(k, COLS), *e = tile(k, COLS), *z = tile(k, COLS), *m = tile(k, 1), *s = tile(k, 1),
                 *i = tile(k, 1);
    kit_load(k, x, rows(k, a, r, 128, COLS));
    kit_ins(k, OP_tensor_reduce, "dst", T(m), "op", I(ALU_maximum), "data", T(x), "axis", I(1), "negate", I(1), NULL);
    kit_ins(k, OP_activation_reduce, "dst", T(e), "op", I(ACT_exp), "data", T(x), "reduce_op", I(ALU_add), "reduce_res",
            T(s), "bias", T(m), NULL);
    kit_ins(k, OP_reciprocal, "dst", T(i), "data", T(s), NULL);
    kit_ins(k, OP_tensor_scalar, "dst", T(z), "data", T(e), "op0", I(ALU_multiply), "operand0", T(i), NULL);
    kit_load(k, rows(k, out, r, 128, COLS), z);
  }
}

static void rmsnorm(Kit *k) {
  const IrTile *a = kit_in(k, DT_float32, values(ROWS * COLS), SHAPE(ROWS, COLS));
  const IrTile *g = kit_in(k, DT_float32, values(COLS), SHAPE(1, COLS));
  const IrTile *out = kit_out(k, DT_float32, SHAPE(ROWS, COLS));
  const IrTile *gamma = tile(k, COLS), *eps = tile(k, 1);
  kit_load(k, gamma, kit_ap(k, g, 0, PAIRS(0, 128, 1, COLS)));
  kit_ins(k, OP_memset, "dst", T(eps), "value", N(1e-6), NULL);
  for (int64_t r = 0; r < ROWS; r += 128) {
    const IrTile *x = tile(k, COLS), *q = tile(k, COLS), *z = tile(k, COLS), *s = tile(k, 1), *i = tile(k, 1);
    kit_load(k, x, rows(k, a, r, 128, COLS));
    kit_ins(k, OP_activation_reduce, "dst", T(q), "op", I(ACT_square), "data", T(x), "reduce_op", I(ALU_add),
            "reduce_res", T(s), NULL);
    kit_ins(k, OP_activation, "dst", T(i), "op", I(ACT_rsqrt), "data", T(s), "bias", T(eps), "scale", N(1.0 / COLS),
            NULL);
    kit_ins(k, OP_scalar_tensor_tensor, "dst", T(z), "data", T(x), "op0", I(ALU_multiply), "operand0", T(i), "op1",
            I(ALU_multiply), "operand1", T(gamma), NULL);
    kit_load(k, rows(k, out, r, 128, COLS), z);
  }
}

enum { SIZE = 1024, TK = 128, TM = 128, TN = 512 };

static void matmul_of(Kit *k, DType dt, void *x, void *y) {
  const IrTile *a = kit_in(k, dt, x, SHAPE(SIZE, SIZE)), *b = kit_in(k, dt, y, SHAPE(SIZE, SIZE));
  const IrTile *out = kit_out(k, DT_float32, SHAPE(SIZE, SIZE));
  for (int64_t m = 0; m < SIZE; m += TM)
    for (int64_t n = 0; n < SIZE; n += TN) {
      const IrTile *ps = kit_buf(k, SP_psum, DT_float32, SHAPE(TM, TN)), *c = tile(k, TN);
      for (int64_t kk = 0; kk < SIZE; kk += TK) {
        const IrTile *st = kit_buf(k, SP_sbuf, dt, SHAPE(TK, TM)), *mv = kit_buf(k, SP_sbuf, dt, SHAPE(TK, TN));
        kit_load(k, st, kit_ap(k, a, kk * SIZE + m, PAIRS(SIZE, TK, 1, TM)));
        kit_load(k, mv, kit_ap(k, b, kk * SIZE + n, PAIRS(SIZE, TK, 1, TN)));
        kit_ins(k, OP_nc_matmul, "dst", T(ps), "stationary", T(st), "moving", T(mv), NULL);
      }
      kit_ins(k, OP_tensor_copy, "dst", T(c), "src", T(ps), NULL);
      kit_load(k, kit_ap(k, out, m * SIZE + n, PAIRS(SIZE, TM, 1, TN)), c);
    }
}

static void matmul(Kit *k) { matmul_of(k, DT_float32, values(SIZE * SIZE), values(SIZE * SIZE)); }
static void matmul_bf16(Kit *k) { matmul_of(k, DT_bfloat16, calloc(SIZE * SIZE, 2), calloc(SIZE * SIZE, 2)); }

enum { SMALL = 10000 };
static void small(Kit *k) {
  float *x = values(128);
  const IrTile *a = kit_loaded(k, DT_float32, x, SHAPE(4, 4)), *b = kit_loaded(k, DT_float32, x, SHAPE(4, 4));
  for (int i = 0; i < SMALL; i++)
    kit_ins(k, OP_tensor_tensor, "dst", T(a), "data1", T(a), "data2", T(b), "op", I(ALU_maximum), NULL);
  kit_store(k, a);
}
static void small_columns(Kit *k) {
  float *x = values(128);
  const IrTile *a = kit_loaded(k, DT_float32, x, SHAPE(128, 1)), *b = kit_loaded(k, DT_float32, x, SHAPE(128, 1));
  for (int i = 0; i < SMALL; i++)
    kit_ins(k, OP_tensor_scalar, "dst", T(a), "data", T(a), "op0", I(ALU_maximum), "operand0", T(b), NULL);
  kit_store(k, a);
}

/* The time dnnl_sgemm (or what stands for it) takes for the products alone. */
static double gemm_alone(void) {
  float *a = values(SIZE * SIZE), *b = values(SIZE * SIZE), *c = values(SIZE * SIZE);
  double t[REPEAT];
  for (int r = 0; r < REPEAT; r++) {
    double start = now();
    for (int64_t m = 0; m < SIZE; m += TM)
      for (int64_t n = 0; n < SIZE; n += TN)
        for (int64_t kk = 0; kk < SIZE; kk += TK)
          gemm_f32(
              &(Gemm){TM, TN, TK, a + kk * SIZE + m, SIZE, b + kk * SIZE + n, SIZE, c + m * SIZE + n, SIZE, kk > 0});
    t[r] = now() - start;
  }
  free(a);
  free(b);
  free(c);
  return median(t, REPEAT);
}

static double time_of(void (*build)(Kit *)) {
  Kit k;
  double t[REPEAT];
  kit_open(&k, TARGET_trn2);
  build(&k);
  kit_ok(&k);
  k.verify = false;
  for (int r = 0; r < REPEAT; r++) {
    double start = now();
    sim_run(k.m, k.in, k.out, &k.opt, &k.d);
    t[r] = now() - start;
  }
  for (uint32_t i = 0; i < k.nin; i++) free(k.in[i].data);
  kit_close(&k);
  return median(t, REPEAT);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*build)(Kit *);
    double scale;
  } jobs[] = {{"add", add, 1},
              {"add_bf16", add_bf16, 1},
              {"softmax", softmax, 1},
              {"rmsnorm", rmsnorm, 1},
              {"matmul", matmul, 1},
              {"matmul_bf16", matmul_bf16, 1},
              {"small_ns", small, 1e6 / SMALL},
              {"small_columns_ns", small_columns, 1e6 / SMALL}};
  for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
    if (argc < 2 || strcmp(argv[1], jobs[i].name) == 0)
      printf("%s %.3f\n", jobs[i].name, time_of(jobs[i].build) * jobs[i].scale);
  if (argc < 2) printf("gemm_alone %.3f\n", gemm_alone());
  return 0;
}
