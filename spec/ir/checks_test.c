/* checks_test.c -- spec/ir: what single instructions refuse beyond the shared rules. */
#include "support.h"

static IrVal ints(uint32_t n, const int64_t *list) { return (IrVal){V_INTS, n, {.ints = list}}; }
#define INTS(n, ...) ints(n, (const int64_t[]){__VA_ARGS__})
static IrVal pairs(uint32_t n, const int64_t *list) { return (IrVal){V_PAIRS, n, {.ints = list}}; }
#define PAIRS(n, ...) pairs(n, (const int64_t[]){__VA_ARGS__})

static IrIns *matmul(Fix *x, const IrBuf *dst, const IrBuf *st, const IrBuf *mv) {
  IrIns *ins = new_ins(x, OP_nc_matmul);
  set(ins, "dst", VB(x, dst));
  set(ins, "stationary", VB(x, st));
  set(ins, "moving", VB(x, mv));
  return ins;
}

static void matmul_sizes(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  IrBuf *st = SBUF(&x, bfloat16, "st", 128, 64), *mv = SBUF(&x, bfloat16, "mv", 128, 512);
  accept(&x, matmul(&x, PSUM(&x, float32, "ok", 64, 512), st, mv));
  REFUSE(&x, matmul(&x, PSUM(&x, float32, "flip", 128, 512), st, mv), shape_required, "dst must have shape [64,512]",
         "flip[128,512]");
  REFUSE(&x, matmul(&x, PSUM(&x, float32, "w", 64, 513), st, SBUF(&x, bfloat16, "mv2", 128, 513)),
         size_of_dimension_exceed_arch_limit, "free size of moving", "513", "512", "mv2[128,513]");
  REFUSE(
      &x,
      matmul(&x, PSUM(&x, float32, "t", 128, 8), SBUF(&x, bfloat16, "st2", 128, 129), SBUF(&x, bfloat16, "m8", 128, 8)),
      size_of_dimension_exceed_arch_limit, "free size of stationary", "129", "128");
  REFUSE(&x, matmul(&x, PSUM(&x, float32, "u", 64, 512), st, SBUF(&x, bfloat16, "k64", 64, 512)),
         num_partition_mismatch, "stationary and moving");
  REFUSE(&x, matmul(&x, SBUF(&x, float32, "s", 64, 512), st, mv), unsupported_memory, "dst must be in psum");
  REFUSE(&x, matmul(&x, PSUM(&x, float32, "v", 64, 512), PSUM(&x, bfloat16, "pst", 128, 64), mv), unsupported_memory,
         "stationary must be in sbuf");
  fix_close(&x);
}

static void matmul_banks(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  IrBuf *st = SBUF(&x, bfloat16, "st", 128, 128), *mv = SBUF(&x, bfloat16, "mv", 128, 512);
  const IrTile *acc = whole(&x, PSUM(&x, float32, "acc", 128, 4, 512));
  IrIns *ins = matmul(&x, PSUM(&x, float32, "one", 128, 512), st, mv);
  for (int i = 0; i < 4; i++) { /* each bank of a four-bank tile */
    set(ins, "dst", VT(view_select(&x.v, acc, 1, (IrSlice){.is_index = true, .start = i})));
    accept(&x, ins);
  }
  const IrTile *run = view_flatten_dims(&x.v, acc, 1, 2);
  set(ins, "dst", VT(part(&x, run, (int64_t[]){0, 128, 256, 512})));
  REFUSE(&x, ins, psum_bank, "dst uses bytes 1024..3071", "2048");
  fix_close(&x);
  fix_open(&x, TARGET_trn3); /* gen4: a whole partition */
  ins = matmul(&x, PSUM(&x, float32, "big", 128, 4096), SBUF(&x, bfloat16, "st", 128, 128),
               SBUF(&x, bfloat16, "mv", 128, 4096));
  accept(&x, ins);
  fix_close(&x);
}

static void matmul_dtypes(void **state) {
  (void)state;
  static const struct {
    Target t;
    DType dst, st, mv;
    bool transpose;
    ErrId id; /* ERR_none: legal */
  } rows[] = {
      {TARGET_trn2, DT_float32, DT_bfloat16, DT_float8_e4m3, false, ERR_none},
      {TARGET_trn2, DT_float32, DT_float32, DT_tfloat32, false, ERR_none},
      {TARGET_trn2, DT_float32, DT_float32, DT_bfloat16, false, ERR_instruction_invalid},
      {TARGET_trn2, DT_bfloat16, DT_bfloat16, DT_bfloat16, false, ERR_unsupported_dtype},
      {TARGET_trn1, DT_bfloat16, DT_bfloat16, DT_bfloat16, false, ERR_unsupported_dtype},
      {TARGET_trn3, DT_bfloat16, DT_bfloat16, DT_bfloat16, false, ERR_none},
      {TARGET_trn3, DT_float16, DT_bfloat16, DT_bfloat16, false, ERR_unsupported_dtype},
      {TARGET_trn2, DT_float32, DT_float8_e4m3fn, DT_bfloat16, false, ERR_unsupported_dtype},
      {TARGET_trn3, DT_float32, DT_float8_e4m3fn, DT_bfloat16, false, ERR_none},
      {TARGET_trn3, DT_float32, DT_float8_e4m3fn, DT_float8_e4m3, false, ERR_instruction_invalid},
      {TARGET_trn2, DT_bfloat16, DT_bfloat16, DT_bfloat16, true, ERR_none},
      {TARGET_trn2, DT_float32, DT_bfloat16, DT_bfloat16, true, ERR_unsupported_dtype},
      {TARGET_trn2, DT_float32, DT_float32, DT_float32, true, ERR_none},
      {TARGET_trn2, DT_bfloat16, DT_float8_e4m3, DT_float8_e4m3, true, ERR_none},
      {TARGET_trn1, DT_float32, DT_bfloat16, DT_bfloat16, true, ERR_none},
      {TARGET_trn1, DT_bfloat16, DT_bfloat16, DT_bfloat16, true, ERR_none},
      {TARGET_trn1, DT_float16, DT_bfloat16, DT_bfloat16, true, ERR_unsupported_dtype},
      {TARGET_trn2, DT_float32, DT_int8, DT_bfloat16, false, ERR_unsupported_dtype},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    Fix x;
    fix_open(&x, rows[i].t);
    IrIns *ins = matmul(&x, NEW_BUF(&x, BUF_ALLOC, SP_psum, rows[i].dst, "dst", SHAPE(64, 128)),
                        NEW_BUF(&x, BUF_ALLOC, SP_sbuf, rows[i].st, "st", SHAPE(128, 64)),
                        NEW_BUF(&x, BUF_ALLOC, SP_sbuf, rows[i].mv, "mv", SHAPE(128, 128)));
    set(ins, "is_transpose", VI(rows[i].transpose));
    diag_clear(&x.d);
    bool ok = ir_check_ins(x.m, x.f, ins, &x.d);
    if (ok != (rows[i].id == ERR_none) || x.d.id != rows[i].id) fail_msg("row %d: %s", (int)i, diag_message(&x.d));
    fix_close(&x);
  }
}

static void matmul_modes(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  IrBuf *st = SBUF(&x, float8_e4m3, "st", 64, 2, 64), *mv = SBUF(&x, float8_e5m2, "mv", 64, 2, 128);
  IrIns *ins = matmul(&x, PSUM(&x, float32, "dst", 64, 128), st, mv);
  set(ins, "perf_mode", VI(matmul_perf_mode_double_row));
  accept(&x, ins);
  set(ins, "is_transpose", VI(1));
  REFUSE(&x, ins, instruction_invalid, "double_row does not transpose");
  set(ins, "is_transpose", VI(0));
  set(ins, "tile_size", INTS(2, 64, 64));
  set(ins, "tile_position", INTS(2, 64, 0));
  REFUSE(&x, ins, instruction_invalid, "128 columns");
  set(ins, "tile_size", INTS(2, 64, 128));
  accept(&x, ins);
  set(ins, "tile_position", INTS(2, 32, 0));
  REFUSE(&x, ins, instruction_invalid, "tile_position rows 32 must be a multiple of tile_size 64");
  set(ins, "tile_position", INTS(2, 0, 0));
  set(ins, "tile_size", INTS(2, 32, 128));
  REFUSE(&x, ins, instruction_invalid, "64 rows of stationary do not fit tile_size 32");
  set(ins, "tile_size", INTS(2, 48, 128));
  REFUSE(&x, ins, instruction_invalid, "tile_size has 48 rows", "32, 64 or 128");
  set(ins, "tile_size", NONE);
  REFUSE(&x, ins, instruction_invalid, "given together");
  set(ins, "tile_position", INTS(0, 0));
  accept(&x, ins);
  set(ins, "stationary", VB(&x, SBUF(&x, float8_e4m3, "st3", 64, 3, 64)));
  REFUSE(&x, ins, shape_required, "stationary (double_row)", "st3[64,3,64]");
  set(ins, "stationary", VB(&x, SBUF(&x, bfloat16, "stb", 64, 2, 64)));
  REFUSE(&x, ins, instruction_invalid, "8-bit floats");
  fix_close(&x);
  fix_open(&x, TARGET_trn1);
  ins = matmul(&x, PSUM(&x, float32, "dst", 64, 128), SBUF(&x, float8_e4m3, "st", 64, 2, 64),
               SBUF(&x, float8_e4m3, "mv", 64, 2, 128));
  set(ins, "perf_mode", VI(matmul_perf_mode_double_row));
  REFUSE(&x, ins, argument_generation, "double_row needs gen3", "trn1 is gen2");
  ins = matmul(&x, PSUM(&x, float32, "d2", 32, 8), SBUF(&x, bfloat16, "s2", 32, 32), SBUF(&x, bfloat16, "m2", 32, 8));
  set(ins, "tile_size", INTS(2, 32, 64));
  set(ins, "tile_position", INTS(2, 0, 0));
  REFUSE(&x, ins, instruction_invalid, "tile_size has 32 rows; legal are 64 or 128");
  fix_close(&x);
}

static IrIns *transpose(Fix *x, const IrBuf *dst, const IrBuf *data, int engine) {
  IrIns *ins = new_ins(x, OP_nc_transpose);
  set(ins, "dst", VB(x, dst));
  set(ins, "data", VB(x, data));
  set(ins, "engine", VI(engine));
  return ins;
}

static void transposes(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  IrBuf *a = SBUF(&x, float32, "a", 128, 64), *p = PSUM(&x, float32, "p", 64, 128);
  accept(&x, transpose(&x, p, a, engine_unknown));
  IrBuf *s = SBUF(&x, float32, "s", 64, 128);
  REFUSE(&x, transpose(&x, s, a, engine_unknown), size_of_dimension_exceed_arch_limit, "engine vector", "128", "32");
  REFUSE(&x, transpose(&x, s, a, engine_tensor), unsupported_memory, "dst (engine tensor)", "psum");
  REFUSE(&x, transpose(&x, p, p, engine_tensor), shape_required, "[128,64]");
  IrBuf *i = SBUF(&x, int32, "i", 32, 16), *it = SBUF(&x, int32, "it", 16, 32), *ip = PSUM(&x, int32, "ip", 16, 32);
  accept(&x, transpose(&x, it, i, engine_unknown));
  accept(&x, transpose(&x, ip, i, engine_vector));
  REFUSE(&x, transpose(&x, ip, i, engine_tensor), unsupported_dtype, "data (engine tensor)", "int32");
  REFUSE(&x, transpose(&x, it, SBUF(&x, float32, "f", 32, 16), engine_vector), dtype_mismatch, "dst and data");
  IrBuf *wide = SBUF(&x, bfloat16, "wide", 8, 129), *wp = PSUM(&x, bfloat16, "wp", 128, 8);
  REFUSE(&x, transpose(&x, wp, wide, engine_tensor), size_of_dimension_exceed_arch_limit, "free size of data", "129");
  fix_close(&x);
}

static void copies_and_fills(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn1);
  IrIns *ins = new_ins(&x, OP_tensor_copy);
  set(ins, "dst", VB(&x, SBUF(&x, bfloat16, "d", 128, 8)));
  set(ins, "src", VB(&x, SBUF(&x, float32, "s", 128, 8)));
  accept(&x, ins);
  set(ins, "engine", VI(engine_scalar));
  REFUSE(&x, ins, argument_generation, "engine scalar needs gen3");
  fix_close(&x);
  fix_open(&x, TARGET_trn3);
  set(ins = new_ins(&x, OP_tensor_copy), "dst", VB(&x, SBUF(&x, float32, "d", 128, 8)));
  set(ins, "src", VB(&x, SBUF(&x, float8_e5m2_x4, "s", 128, 8)));
  REFUSE(&x, ins, dtype_mismatch, "dst and src", "float8_e5m2_x4");
  static const struct {
    DType d;
    double value;
    bool legal;
  } rows[] = {{DT_int8, 127, true},
              {DT_int8, 128, false},
              {DT_int8, 1.5, false},
              {DT_uint8, -1, false},
              {DT_bool_, 1, true},
              {DT_bool_, 2, false},
              {DT_uint32, 4294967295.0, true},
              {DT_float32, 1.5, true},
              {DT_float8_e5m2_x4, 0, true},
              {DT_float8_e5m2_x4, 1, false},
              {DT_float8_e8m0fnu, 0.5, true},
              {DT_float8_e8m0fnu, 3, false},
              {DT_float8_e8m0fnu, 0x1p-127, true},
              {DT_float8_e8m0fnu, 0x1p128, false},
              {DT_float8_e8m0fnu, 0, false}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    ins = new_ins(&x, OP_memset);
    set(ins, "dst", VB(&x, NEW_BUF(&x, BUF_ALLOC, SP_sbuf, rows[i].d, "m", SHAPE(128, 8))));
    set(ins, "value", VN(rows[i].value));
    if (rows[i].legal) {
      accept(&x, ins);
    } else {
      REFUSE(&x, ins, argument_value, "nisa.memset", "value is");
    }
  }
  fix_close(&x);
}

static void scalar_engine_pairs(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  IrBuf *a = SBUF(&x, float32, "a", 128, 8);
  static const struct {
    Alu op0, op1;
    bool legal;
  } rows[] = {{ALU_multiply, ALU_add, true},
              {ALU_multiply, ALU_none, true},
              {ALU_add, ALU_none, true},
              {ALU_add, ALU_multiply, false},
              {ALU_add, ALU_add, false}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    IrIns *ins = new_ins(&x, OP_tensor_scalar);
    set(ins, "dst", VB(&x, a));
    set(ins, "data", VB(&x, a));
    set(ins, "op0", VI(rows[i].op0));
    set(ins, "operand0", VN(2));
    if (rows[i].op1) {
      set(ins, "op1", VI(rows[i].op1));
      set(ins, "operand1", VN(2));
    }
    set(ins, "engine", VI(engine_scalar));
    if (rows[i].legal) {
      accept(&x, ins);
    } else {
      REFUSE(&x, ins, instruction_invalid, "engine scalar executes");
    }
  }
  fix_close(&x);
}

static IrIns *act(Fix *x, Op op, const IrBuf *a, Act f) {
  IrIns *ins = new_ins(x, op);
  set(ins, "dst", VB(x, a));
  set(ins, "data", VB(x, a));
  set(ins, "op", VI(f));
  return ins;
}

static void activations(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn1);
  IrBuf *a = SBUF(&x, float32, "a", 128, 8), *col = SBUF(&x, bfloat16, "col", 128, 1),
        *icol = SBUF(&x, tfloat32, "tcol", 128, 1);
  IrBuf *fcol = SBUF(&x, float32, "fcol", 128, 1);
  IrIns *ins = act(&x, OP_activation, a, ACT_exp);
  accept(&x, ins);
  set(ins, "bias", VB(&x, col));
  accept(&x, ins);
  set(ins, "bias", VB(&x, icol));
  REFUSE(&x, ins, activation_bias_invalid_type, "bias is tcol[128,1] tfloat32");
  set(ins, "bias", VN(1));
  REFUSE(&x, ins, argument_generation, "bias that is a number", "gen3", "trn1");
  set(ins, "bias", NONE);
  set(ins, "scale", VB(&x, col));
  REFUSE(&x, ins, activation_scale_invalid_type, "scale is col[128,1] bfloat16", "float32");
  set(ins, "scale", VB(&x, a));
  REFUSE(&x, ins, activation_scale_scalar_or_vector, "scale", "a[128,8]");
  set(ins, "scale", VB(&x, fcol));
  accept(&x, ins);
  set(ins, "reduce_res", VB(&x, fcol));
  REFUSE(&x, ins, instruction_invalid, "reduce_res needs reduce_op");
  set(ins, "reduce_op", VI(ALU_add));
  set(ins, "reduce_cmd", VI(reduce_cmd_load_reduce));
  REFUSE(&x, ins, argument_value, "load_reduce");
  set(ins, "reduce_cmd", VI(reduce_cmd_reset_reduce));
  accept(&x, ins);
  set(ins, "reduce_op", VI(ALU_maximum));
  REFUSE(&x, ins, operator_set, "reduce_op cannot be maximum", "add");
  set(ins, "reduce_op", NONE);
  set(ins, "reduce_res", NONE);
  set(ins, "reduce_cmd", VI(reduce_cmd_reduce));
  REFUSE(&x, ins, argument_value, "reduce_cmd is reduce", "reduce_op");
  ins = act(&x, OP_activation, a, ACT_reciprocal);
  set(ins, "bias", VB(&x, col));
  REFUSE(&x, ins, argument_generation, "bias with reciprocal");
  REFUSE(&x, act(&x, OP_activation, a, ACT_prelu), argument_generation, "prelu needs gen4");
  ins = act(&x, OP_activation_reduce, a, ACT_exp);
  set(ins, "reduce_op", VI(ALU_add));
  REFUSE(&x, ins, argument_missing, "reduce_res is required");
  set(ins, "reduce_res", VB(&x, fcol));
  accept(&x, ins);
  set(ins, "bias", VN(0));
  REFUSE(&x, ins, argument_generation, "nisa.activation_reduce", "number");
  fix_close(&x);
}

static void statistics(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  IrBuf *six = SBUF(&x, float32, "six", 128, 6), *two = SBUF(&x, float32, "two", 128, 2),
        *data = SBUF(&x, float32, "data", 128, 512);
  IrIns *ins = new_ins(&x, OP_bn_stats);
  set(ins, "dst", VB(&x, six));
  set(ins, "data", VB(&x, data));
  accept(&x, ins);
  set(ins, "data", VB(&x, SBUF(&x, float32, "more", 128, 513)));
  REFUSE(&x, ins, size_of_dimension_exceed_arch_limit, "513", "512");
  set(ins, "data", VB(&x, data));
  set(ins, "dst", VB(&x, two));
  REFUSE(&x, ins, shape_required, "dst must have shape [128,6]");
  ins = new_ins(&x, OP_bn_aggr);
  set(ins, "dst", VB(&x, two));
  set(ins, "data", VB(&x, six));
  accept(&x, ins);
  set(ins, "data", VB(&x, data));
  REFUSE(&x, ins, shape_required, "triples");
  set(ins, "data", VB(&x, six));
  set(ins, "dst", VB(&x, six));
  REFUSE(&x, ins, shape_required, "dst must have shape [128,2]");
  ins = new_ins(&x, OP_tensor_partition_reduce);
  set(ins, "dst", VB(&x, SBUF(&x, float32, "row", 1, 512)));
  set(ins, "data", VB(&x, data));
  set(ins, "op", VI(ALU_average));
  accept(&x, ins);
  set(ins, "dst", VB(&x, data));
  REFUSE(&x, ins, shape_required, "[1,512]");
  ins = new_ins(&x, OP_tensor_reduce);
  IrBuf *i = SBUF(&x, int32, "i", 128, 8), *i1 = SBUF(&x, int32, "i1", 128, 1);
  set(ins, "dst", VB(&x, i1));
  set(ins, "data", VB(&x, i));
  set(ins, "op", VI(ALU_bitwise_or));
  set(ins, "axis", VI(1));
  accept(&x, ins);
  set(ins, "negate", VI(1));
  REFUSE(&x, ins, argument_value, "negate is true");
  ins = new_ins(&x, OP_sim_binary);
  set(ins, "dst", VB(&x, data));
  set(ins, "data1", VN(1));
  set(ins, "data2", VN(2));
  set(ins, "op", VI(sim_binary_op_divide));
  REFUSE(&x, ins, instruction_invalid, "nki.sim_binary", "data1 and data2 are both numbers; one must be a tensor");
  set(ins, "data2", VB(&x, data));
  accept(&x, ins);
  fix_close(&x);
}

/* What no view and no Lua makes: tensors of another function, an empty list. */
static void foreign_tensors(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn3);
  IrBuf *a = SBUF(&x, float32, "a", 32, 8), *b = SBUF(&x, float32, "b", 32, 8);
  IrTile other = *whole(&x, b), index = other;
  other.buf = index.buf = 1000;
  other.whole = false;
  IrIns *ins = new_ins(&x, OP_tensor_copy);
  set(ins, "dst", VB(&x, a));
  set(ins, "src", VT(&other));
  REFUSE(&x, ins, instruction_invalid, "an operand is not a tensor of this function");
  IrTile picked = *whole(&x, b);
  picked.whole = false;
  picked.vec = &index;
  picked.vec_dim = 1;
  set(ins, "src", VT(&picked));
  REFUSE(&x, ins, instruction_invalid, "the index tensor is not a tensor of this function");
  IrTile rows = *whole(&x, HBM(&x, float32, "h", 32, 8));
  rows.whole = false;
  rows.vec = &index;
  ins = new_ins(&x, OP_dma_copy);
  set(ins, "dst", VB(&x, a));
  set(ins, "src", VT(&rows));
  REFUSE(&x, ins, instruction_invalid, "the vector offset is not a tensor of this function");
  ins = new_ins(&x, OP_collective_permute);
  const IrTile *h = whole(&x, HBM(&x, float32, "g", 32, 8));
  set(ins, "srcs", (IrVal){V_TILES, 1, {.tiles = &h}});
  set(ins, "dsts", (IrVal){V_TILES, 1, {.tiles = &h}});
  set(ins, "source_target_pairs", PAIRS(0, 0));
  REFUSE(&x, ins, instruction_invalid, "source_target_pairs has no pair");
  fix_close(&x);
}

static void patterns(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  IrIns *ins = new_ins(&x, OP_iota);
  set(ins, "dst", VB(&x, SBUF(&x, int32, "d", 128, 12)));
  set(ins, "pattern", PAIRS(2, 100, 3, -1, 4));
  accept(&x, ins);
  set(ins, "pattern", PAIRS(2, 100, 3, -1, 5));
  REFUSE(&x, ins, shape_required, "15 elements per partition", "d[128,12]");
  set(ins, "pattern", PAIRS(5, 1, 12, 1, 1, 1, 1, 1, 1, 1, 1));
  REFUSE(&x, ins, instruction_invalid, "5 [step, num] pairs");
  set(ins, "pattern", PAIRS(1, 1, 0));
  REFUSE(&x, ins, instruction_invalid, "[1, 0]");
  set(ins, "pattern", PAIRS(1, INT64_MAX, 12));
  REFUSE(&x, ins, instruction_invalid, "an int32");
  set(ins, "pattern", PAIRS(1, 200000000, 12));
  REFUSE(&x, ins, instruction_invalid, "leave int32");
  set(ins, "pattern", PAIRS(1, 1, 12));
  set(ins, "channel_multiplier", VI(16909319));
  accept(&x, ins); /* 127 * 16909319 + 11 is still an int32 */
  set(ins, "offset", VI(2147483647));
  REFUSE(&x, ins, instruction_invalid, "leave int32");
  set(ins, "offset", VI(2147483648));
  REFUSE(&x, ins, argument_range, "offset is 2147483648");
  ins = new_ins(&x, OP_range_select);
  IrBuf *a = SBUF(&x, float32, "a", 128, 8), *b = SBUF(&x, float32, "b", 128, 1);
  set(ins, "dst", VB(&x, a));
  set(ins, "on_true_tile", VB(&x, a));
  set(ins, "comp_op0", VI(ALU_less));
  set(ins, "comp_op1", VI(ALU_less));
  set(ins, "bound0", VB(&x, b));
  set(ins, "bound1", VB(&x, b));
  accept(&x, ins);
  set(ins, "on_false_value", VN(0));
  REFUSE(&x, ins, argument_value, "on_false_value is 0", "-3.4028235e+38");
  set(ins, "on_false_value", VN(-0x1.fffffep127));
  set(ins, "range_start", VN(0.5));
  REFUSE(&x, ins, argument_value, "range_start", "integer");
  set(ins, "range_start", VN(0));
  set(ins, "reduce_cmd", VI(reduce_cmd_load_reduce));
  REFUSE(&x, ins, argument_value, "load_reduce");
  set(ins, "reduce_cmd", VI(reduce_cmd_idle));
  set(ins, "bound0", VB(&x, a));
  REFUSE(&x, ins, column_expected, "bound0", "a[128,8]");
  set(ins, "bound0", VB(&x, b));
  set(ins, "comp_op0", VI(ALU_not_equal));
  REFUSE(&x, ins, operator_set, "comp_op0 cannot be not_equal");
  fix_close(&x);
  fix_open(&x, TARGET_trn1);
  ins = new_ins(&x, OP_range_select);
  REFUSE(&x, ins, op_generation, "nisa.range_select needs gen3 or later; trn1 is gen2");
  fix_close(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matmul_sizes),        cmocka_unit_test(matmul_banks), cmocka_unit_test(matmul_dtypes),
      cmocka_unit_test(matmul_modes),        cmocka_unit_test(transposes),   cmocka_unit_test(copies_and_fills),
      cmocka_unit_test(scalar_engine_pairs), cmocka_unit_test(activations),  cmocka_unit_test(statistics),
      cmocka_unit_test(foreign_tensors),     cmocka_unit_test(patterns),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
