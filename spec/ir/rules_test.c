/* rules_test.c -- spec/ir: what every instruction is checked for, and each rule of rules.def, accepted and refused. */
#include "support.h"

typedef struct Bufs { /* 128x512 unless the name says otherwise */
  IrBuf *a, *b, *c, *half, *wide, *pa, *pb, *i32, *i16, *u32, *bf, *col, *icol, *h;
} Bufs;

static Bufs open_bufs(Fix *x, Target t) {
  fix_open(x, t);
  return (Bufs){.a = SBUF(x, float32, "a", 128, 512),
                .b = SBUF(x, float32, "b", 128, 512),
                .c = SBUF(x, float32, "c", 128, 512),
                .half = SBUF(x, float32, "half", 64, 512),
                .wide = SBUF(x, float32, "wide", 128, 513),
                .pa = PSUM(x, float32, "pa", 128, 512),
                .pb = PSUM(x, float32, "pb", 128, 512),
                .i32 = SBUF(x, int32, "i32", 128, 512),
                .i16 = SBUF(x, int16, "i16", 128, 512),
                .u32 = SBUF(x, uint32, "u32", 128, 512),
                .bf = SBUF(x, bfloat16, "bf", 128, 512),
                .col = SBUF(x, float32, "col", 128, 1),
                .icol = SBUF(x, int32, "icol", 128, 1),
                .h = HBM(x, float32, "h", 128, 512)};
}

static IrIns *tt(Fix *x, const IrBuf *dst, const IrBuf *p, const IrBuf *q, Alu op) {
  IrIns *ins = new_ins(x, OP_tensor_tensor);
  set(ins, "dst", VB(x, dst));
  set(ins, "data1", VB(x, p));
  set(ins, "data2", VB(x, q));
  set(ins, "op", VI(op));
  return ins;
}

static void tiles_space_dtype_and_kind(void **state) {
  (void)state;
  Fix x;
  Bufs t = open_bufs(&x, TARGET_trn2);
  accept(&x, tt(&x, t.a, t.b, t.c, ALU_add));
  REFUSE(&x, tt(&x, t.a, t.h, t.c, ALU_add), unsupported_memory, "nisa.tensor_tensor", "data1", "sbuf or psum",
         "h[128,512] float32 in shared_hbm");
  IrBuf *scale = NEW_BUF(&x, BUF_ALLOC, SP_sbuf, DT_float8_e8m0fnu, "scale", SHAPE(128, 512));
  REFUSE(&x, tt(&x, t.a, t.b, scale, ALU_add), unsupported_dtype, "data2", "float8_e8m0fnu", "bfloat16");
  IrIns *ins = tt(&x, t.a, t.b, t.c, ALU_add);
  set(ins, "data2", VN(1.0));
  REFUSE(&x, ins, argument_kind, "data2 must be a tensor");
  set(ins, "data2", NONE);
  REFUSE(&x, ins, argument_missing, "data2 is required");
  ins = tt(&x, t.a, t.b, t.c, ALU_add);
  set(ins, "op", VI(ALU_rsqrt));
  REFUSE(&x, ins, operator_set, "op cannot be rsqrt", "add, subtract");
  set(ins, "op", VI(ALU_count));
  REFUSE(&x, ins, argument_kind, "op must be an operator");
  set(ins, "op", VI(ALU_abs_max));
  REFUSE(&x, ins, argument_generation, "abs_max needs gen4", "trn2 is gen3");
  set(ins, "op", VI(ALU_add));
  set(ins, "engine", VI(engine_scalar));
  REFUSE(&x, ins, engine_set, "scalar is not one of gpsimd, vector");
  set(ins, "engine", VI(9));
  REFUSE(&x, ins, argument_kind, "engine");
  fix_close(&x);
}

static void faults_of_one_call_are_all_reported(void **state) {
  (void)state;
  Fix x;
  Bufs t = open_bufs(&x, TARGET_trn2);
  IrIns *ins = tt(&x, t.half, t.pa, t.pb, ALU_power);
  diag_clear(&x.d);
  assert_false(ir_check_ins(x.m, x.f, ins, &x.d));
  assert_int_equal(x.d.id, ERR_num_partition_mismatch);
  const char *notes = text_str(&x.d.notes);
  assert_non_null(strstr(notes, "data1 and data2 may not both be in psum"));
  assert_non_null(strstr(notes, "engine gpsimd reaches sbuf only"));
  fix_close(&x);
}

static void the_fault_names_its_line_its_callers_and_its_iterations(void **state) {
  (void)state;
  Fix x;
  Bufs t = open_bufs(&x, TARGET_trn2);
  IrIns *ins = tt(&x, t.half, t.a, t.b, ALU_add);
  uint32_t outer = ir_loc(x.m, "k.lua", 40, true, 0), loop = ir_loc(x.m, "k.lua", 10, false, 0);
  ins->loc = ir_loc(x.m, "k.lua", 12, false, outer);
  ins->iter = ir_iter(x.m, ir_iter(x.m, 0, loop, 5), loop, 2);
  diag_clear(&x.d);
  assert_false(ir_check_ins(x.m, x.f, ins, &x.d));
  assert_int_equal(x.d.line, 12);
  assert_string_equal(x.d.file, "k.lua");
  assert_string_equal(
      text_str(&x.d.where),
      "k.lua:12\ncalled from k.lua:40\n(tail call)\nin the iteration with value 2 of the loop at k.lua:10\n"
      "in the iteration with value 5 of the loop at k.lua:10");
  fix_close(&x);
}

static void partitions_and_counts_agree(void **state) {
  (void)state;
  Fix x;
  Bufs t = open_bufs(&x, TARGET_trn2);
  REFUSE(&x, tt(&x, t.a, t.half, t.b, ALU_add), num_partition_mismatch, "dst and data1", "a[128,512]", "half[64,512]");
  REFUSE(&x, tt(&x, t.a, t.b, t.wide, ALU_add), num_elements_mismatch, "dst has 512", "data2 has 513");
  IrBuf *b3 = SBUF(&x, float32, "b3", 128, 8, 64);
  accept(&x, tt(&x, t.a, b3, t.b, ALU_add)); /* counts matter, shapes do not */
  fix_close(&x);
}

static void start_partitions(void **state) {
  (void)state;
  Fix x;
  Bufs t = open_bufs(&x, TARGET_trn2);
  for (int64_t n = 1; n <= 128; n++)
    for (int64_t first = 0; first + n <= 128; first++) {
      bool legal = first == 0 || (n <= 32 && first % 32 == 0) || (n <= 64 && first == 64);
      const IrTile *p = part(&x, whole(&x, t.a), (int64_t[]){first, n, 0, 512});
      IrIns *ins = new_ins(&x, OP_tensor_copy);
      set(ins, "dst", VT(p));
      set(ins, "src", VT(part(&x, whole(&x, t.b), (int64_t[]){0, n, 0, 512})));
      diag_clear(&x.d);
      if (ir_check_ins(x.m, x.f, ins, &x.d) != legal) fail_msg("start %d for %d partitions", (int)first, (int)n);
      if (!legal) assert_int_equal(x.d.id, ERR_start_partition);
    }
  /* an address counts like a slice; DMA has no such rule */
  int64_t shape[2] = {32, 512};
  IrBufSpec spec = {.kind = BUF_ALLOC,
                    .space = SP_sbuf,
                    .dtype = DT_float32,
                    .rank = 2,
                    .shape = shape,
                    .name = "low",
                    .has_address = true,
                    .part = 16};
  IrBuf *low = ir_buf_new(x.m, x.f, &spec);
  IrIns *ins = new_ins(&x, OP_memset);
  set(ins, "dst", VB(&x, low));
  set(ins, "value", VN(0));
  REFUSE(&x, ins, start_partition, "starts at partition 16", "0, 32, 64 or 96", "low[32,512]");
  ins = new_ins(&x, OP_dma_copy);
  set(ins, "dst", VB(&x, low));
  set(ins, "src", VT(part(&x, whole(&x, t.h), (int64_t[]){3, 32, 0, 512})));
  accept(&x, ins);
  fix_close(&x);
}

static void size_limits(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn3);
  IrIns *ins = new_ins(&x, OP_memset);
  set(ins, "value", VN(0));
  set(ins, "dst", VB(&x, SBUF(&x, uint8, "most", 128, 65536)));
  accept(&x, ins);
  set(ins, "dst", VB(&x, SBUF(&x, uint8, "more", 128, 65537)));
  REFUSE(&x, ins, size_of_dimension_exceed_arch_limit, "65537", "65536", "more[128,65537]");
  set(ins, "dst", VB(&x, PSUM(&x, bfloat16, "p", 128, 4097)));
  REFUSE(&x, ins, size_of_dimension_exceed_arch_limit, "4097", "4096");
  set(ins, "dst", VB(&x, SBUF(&x, uint8, "tall", 129, 4)));
  REFUSE(&x, ins, num_partition_exceed_arch_limit, "tall[129,4]", "129 partitions", "128");
  IrBuf *deep = SBUF(&x, uint8, "deep", 4, 4, 4, 4, 4, 4);
  set(ins, "dst", VB(&x, deep)); /* six dims that are one run */
  accept(&x, ins);
  set(ins, "dst", VT(view_permute(&x.v, whole(&x, deep), (int64_t[]){0, 5, 4, 3, 2, 1}, 6)));
  REFUSE(&x, ins, pattern_dims, "5 free dimensions", "at most 4");
  fix_close(&x);
}

static void psum_and_gpsimd(void **state) {
  (void)state;
  Fix x;
  Bufs t = open_bufs(&x, TARGET_trn2);
  accept(&x, tt(&x, t.a, t.pa, t.b, ALU_add));
  accept(&x, tt(&x, t.pa, t.b, t.pb, ALU_add));
  REFUSE(&x, tt(&x, t.a, t.pa, t.pb, ALU_add), both_in_psum, "data1 and data2", "pa[128,512] float32 in psum");
  REFUSE(&x, tt(&x, t.a, t.pa, t.b, ALU_power), gpsimd_memory, "data1", "pa[128,512]");
  IrIns *ins = tt(&x, t.pa, t.a, t.b, ALU_add);
  set(ins, "engine", VI(engine_gpsimd));
  REFUSE(&x, ins, gpsimd_memory, "dst", "pa[128,512]");
  fix_close(&x);
}

static void automatic_engines(void **state) {
  (void)state;
  Fix x;
  Bufs t = open_bufs(&x, TARGET_trn2);
  assert_int_equal(ir_engine(x.f, tt(&x, t.a, t.b, t.c, ALU_add)), engine_vector);
  assert_int_equal(ir_engine(x.f, tt(&x, t.a, t.b, t.c, ALU_power)), engine_gpsimd);
  assert_int_equal(ir_engine(x.f, tt(&x, t.i32, t.i32, t.u32, ALU_add)), engine_gpsimd);
  assert_int_equal(ir_engine(x.f, tt(&x, t.i32, t.i32, t.u32, ALU_bitwise_and)), engine_vector);
  assert_int_equal(ir_engine(x.f, tt(&x, t.i32, t.i16, t.i32, ALU_add)), engine_vector);
  assert_int_equal(ir_engine(x.f, tt(&x, t.a, t.i32, t.i32, ALU_add)), engine_vector);
  IrBuf *pi = PSUM(&x, int32, "pi", 128, 512);
  assert_int_equal(ir_engine(x.f, tt(&x, t.i32, pi, t.i32, ALU_add)), engine_vector);
  assert_int_equal(ir_engine(x.f, tt(&x, t.i32, t.i32, pi, ALU_add)), engine_vector);
  assert_int_equal(ir_engine(x.f, tt(&x, pi, t.i32, t.i32, ALU_add)), engine_vector);
  IrIns *ins = tt(&x, t.i32, t.i32, t.i32, ALU_add);
  set(ins, "engine", VI(engine_vector));
  assert_int_equal(ir_engine(x.f, ins), engine_vector);
  ins = new_ins(&x, OP_tensor_scalar);
  set(ins, "op0", VI(ALU_add));
  assert_int_equal(ir_engine(x.f, ins), engine_vector);
  set(ins, "op1", VI(ALU_rsqrt));
  assert_int_equal(ir_engine(x.f, ins), engine_gpsimd);
  ins = new_ins(&x, OP_nc_transpose);
  set(ins, "dst", VB(&x, t.pa));
  set(ins, "data", VB(&x, t.a));
  assert_int_equal(ir_engine(x.f, ins), engine_tensor);
  set(ins, "data", VB(&x, t.pb));
  assert_int_equal(ir_engine(x.f, ins), engine_vector);
  set(ins, "dst", VB(&x, t.a));
  assert_int_equal(ir_engine(x.f, ins), engine_vector);
  assert_int_equal(ir_engine(x.f, new_ins(&x, OP_iota)), engine_gpsimd);
  assert_int_equal(ir_engine(x.f, new_ins(&x, OP_dma_copy)), engine_dma);
  assert_int_equal(ir_engine(x.f, new_ins(&x, OP_sim_unary)), ENGINE_SIM);
  assert_int_equal(ir_engine(x.f, new_ins(&x, OP_memset)), engine_vector);
  fix_close(&x);
}

static IrIns *ts(Fix *x, const IrBuf *dst, const IrBuf *data, Alu op0, IrVal operand0) {
  IrIns *ins = new_ins(x, OP_tensor_scalar);
  set(ins, "dst", VB(x, dst));
  set(ins, "data", VB(x, data));
  set(ins, "op0", VI(op0));
  set(ins, "operand0", operand0);
  return ins;
}

static void operators_and_their_operands(void **state) {
  (void)state;
  Fix x;
  Bufs t = open_bufs(&x, TARGET_trn2);
  accept(&x, ts(&x, t.a, t.b, ALU_add, VN(1)));
  accept(&x, ts(&x, t.a, t.b, ALU_add, VB(&x, t.col)));
  accept(&x, ts(&x, t.a, t.b, ALU_abs, NONE));
  accept(&x, ts(&x, t.a, t.b, ALU_abs, VN(0)));
  REFUSE(&x, ts(&x, t.a, t.b, ALU_add, NONE), operand_missing, "add (op0)", "operand0 is required");
  REFUSE(&x, ts(&x, t.a, t.b, ALU_abs, VN(2)), operand_surplus, "operand0 is given", "op0 is a one-operand operator");
  IrIns *ins = ts(&x, t.a, t.b, ALU_add, VN(1));
  set(ins, "operand1", VN(3));
  REFUSE(&x, ins, operand_surplus, "operand1 is given", "op1 is not");
  set(ins, "op1", VI(ALU_bitwise_or));
  REFUSE(&x, ins, operator_class, "op0 add and op1 bitwise_or");
  REFUSE(&x, ts(&x, t.a, t.b, ALU_add, VB(&x, t.half)), column_expected, "operand0", "(P,1)", "half[64,512]");
  REFUSE(&x, ts(&x, t.a, t.b, ALU_add, VB(&x, t.icol)), unsupported_dtype, "operand0", "icol[128,1] int32", "float32");
  REFUSE(&x, ts(&x, t.a, t.b, ALU_bitwise_and, VN(1)), bitvec_dtype, "bitwise_and", "b[128,512] float32");
  REFUSE(&x, ts(&x, t.i32, t.i16, ALU_bitwise_and, VN(1)), bitvec_dtype, "dst is i32[128,512] int32");
  accept(&x, ts(&x, t.i32, t.u32, ALU_bitwise_and, VN(4294967295.0)));
  accept(&x, ts(&x, t.i32, t.i32, ALU_left_shift, VB(&x, t.icol)));
  REFUSE(&x, ts(&x, t.i16, t.i16, ALU_left_shift, VB(&x, t.icol)), unsupported_dtype, "operand0", "as wide as data");
  REFUSE(&x, ts(&x, t.i16, t.i16, ALU_left_shift, VN(1.5)), argument_value, "operand0", "1.5", "int16");
  ins = ts(&x, t.a, t.b, ALU_rsqrt, NONE);
  set(ins, "engine", VI(engine_vector));
  REFUSE(&x, ins, operator_engine, "engine vector cannot execute op0 rsqrt", "scalar, gpsimd");
  fix_close(&x);
}

static void reduce_axes(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  IrBuf *t = SBUF(&x, float32, "t", 128, 4, 5, 6), *r = SBUF(&x, float32, "r", 128, 4),
        *one = SBUF(&x, float32, "one", 128, 1);
  static const int64_t good[] = {3, 2}, gap[] = {1, 3}, zero[] = {0, 1, 2, 3}, twice[] = {3, 3}, inner[] = {1, 2};
  IrIns *ins = new_ins(&x, OP_tensor_reduce);
  set(ins, "dst", VB(&x, r));
  set(ins, "data", VB(&x, t));
  set(ins, "op", VI(ALU_add));
  set(ins, "axis", ((IrVal){V_INTS, 2, {.ints = good}}));
  accept(&x, ins);
  set(ins, "axis", ((IrVal){V_INTS, 2, {.ints = gap}}));
  REFUSE(&x, ins, reduce_axes, "axis [1,3]", "t[128,4,5,6]", "[3], [2,3], [1,2,3]");
  set(ins, "axis", ((IrVal){V_INTS, 4, {.ints = zero}}));
  REFUSE(&x, ins, reduce_axes, "[0,1,2,3]");
  set(ins, "axis", ((IrVal){V_INTS, 2, {.ints = twice}}));
  REFUSE(&x, ins, reduce_axes, "[3,3]");
  set(ins, "axis", ((IrVal){V_INTS, 2, {.ints = inner}}));
  REFUSE(&x, ins, reduce_axes, "[1,2]");
  set(ins, "axis", ((IrVal){V_INTS, 0, {.ints = inner}}));
  REFUSE(&x, ins, reduce_axes, "[]");
  set(ins, "axis", VI(-1));
  REFUSE(&x, ins, shape_required, "dst must have shape [128,20]", "r[128,4]");
  set(ins, "axis", VI(9));
  REFUSE(&x, ins, argument_range, "axis is 9", "-7..7");
  set(ins, "axis", VI(-3));
  REFUSE(&x, ins, reduce_axes, "[-3]");
  set(ins, "axis", ((IrVal){V_INTS, 3, {.ints = (int64_t[]){1, 2, 3}}}));
  set(ins, "dst", VB(&x, one));
  accept(&x, ins);
  set(ins, "negate", VI(1));
  accept(&x, ins);
  fix_close(&x);
}

static void moves_between_memories(void **state) {
  (void)state;
  Fix x;
  Bufs t = open_bufs(&x, TARGET_trn2);
  IrBuf *small = HBM(&x, float32, "small", 4, 4);
  IrIns *ins = new_ins(&x, OP_dma_copy);
  set(ins, "dst", VB(&x, t.h));
  set(ins, "src", VB(&x, t.bf));
  accept(&x, ins);
  set(ins, "dst", VB(&x, small));
  REFUSE(&x, ins, store_dst_shape_smaller_than_other_shape, "dst has 16 elements", "src has 65536", "small[4,4]");
  set(ins, "src", VB(&x, small));
  set(ins, "dst", VB(&x, t.a));
  REFUSE(&x, ins, num_elements_mismatch, "dst has 65536 elements and src has 16");
  set(ins, "dst", VB(&x, t.pa));
  set(ins, "src", VB(&x, t.h));
  REFUSE(&x, ins, unsupported_memory, "dst must be in sbuf or hbm", "psum");
  IrIns *cp = new_ins(&x, OP_tensor_copy_predicated);
  set(cp, "dst", VB(&x, t.a));
  set(cp, "src", VB(&x, t.bf));
  set(cp, "predicate", VB(&x, t.u32));
  REFUSE(&x, cp, dtype_mismatch, "dst and src", "float32", "bfloat16");
  set(cp, "src", VN(2));
  accept(&x, cp);
  IrBuf *k = NEW_BUF(&x, BUF_CONST, SP_shared_hbm, DT_float32, "konst", SHAPE(128, 512));
  set(ins, "dst", VB(&x, k));
  REFUSE(&x, ins, write_to_constant, "dst is a constant", "konst[128,512]");
  fix_close(&x);
}

static void registers_move_one_element(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  IrBufSpec spec = {.kind = BUF_ALLOC, .space = SP_reg, .dtype = DT_int32};
  IrBuf *r = ir_buf_new(x.m, x.f, &spec), *one = SBUF(&x, int32, "one", 1, 1), *two = SBUF(&x, int32, "two", 1, 2);
  IrIns *ins = new_ins(&x, OP_register_load);
  set(ins, "dst", ((IrVal){V_REG, 0, {.reg = r->id}}));
  set(ins, "src", VB(&x, one));
  accept(&x, ins);
  set(ins, "src", VB(&x, two));
  REFUSE(&x, ins, shape_required, "src must have shape of one element", "two[1,2]");
  set(ins, "src", VB(&x, one));
  set(ins, "dst", ((IrVal){V_REG, 0, {.reg = one->id}}));
  REFUSE(&x, ins, argument_kind, "dst must be a register");
  fix_close(&x);
}

static void dynamic_views_where_the_row_allows(void **state) {
  (void)state;
  Fix x;
  Bufs t = open_bufs(&x, TARGET_trn2);
  IrSlice s = {.dynamic = true, .idx = 1, .count = 128, .step = 1};
  x.f->nidx = 1;
  const IrTile *moving = view_slice(&x.v, whole(&x, t.a), 1, s);
  IrBuf *q = SBUF(&x, float32, "q", 128, 128);
  IrIns *ins = new_ins(&x, OP_tensor_copy);
  set(ins, "dst", VB(&x, q));
  set(ins, "src", VT(moving));
  accept(&x, ins);
  IrBuf *idx = SBUF(&x, int32, "idx", 128, 1);
  const IrTile *rows = view_vector_select(&x.v, whole(&x, t.h), 0, whole(&x, idx));
  ins = new_ins(&x, OP_dma_copy);
  set(ins, "dst", VB(&x, t.a));
  set(ins, "src", VT(rows));
  accept(&x, ins);
  ins = new_ins(&x, OP_device_print);
  set(ins, "print_prefix", ((IrVal){V_STR, 1, {.str = "p"}}));
  set(ins, "tensor", VT(rows));
  REFUSE(&x, ins, dynamic_offset, "tensor may not be a view with a vector offset", "h[128,512]");
  fix_close(&x);
}

static void a_tile_outside_its_buffer_is_refused(void **state) {
  (void)state;
  Fix x;
  Bufs t = open_bufs(&x, TARGET_trn2);
  IrTile bad[8];
  for (int i = 0; i < 8; i++) bad[i] = *whole(&x, t.a);
  bad[0].offset = 1;
  bad[1].dim[1].count = 513;
  bad[2].dim[0].stride = 1024;
  bad[3].offset = -1;
  bad[4].dim[1] = (IrDim){-1, 512};
  bad[5].dim[1] = (IrDim){1, INT64_MAX};
  bad[6].offset = 64 * 512;                  /* 128 partitions from the 64th */
  bad[7].dim[1] = (IrDim){0, INT64_MAX / 2}; /* more elements than can be counted */
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    bad[i].whole = false;
    IrIns *ins = tt(&x, t.a, t.b, t.c, ALU_add);
    set(ins, "data1", VT(&bad[i]));
    REFUSE(&x, ins, ir_tile, "nisa.tensor_tensor: data1", "a[128,512] float32 in sbuf");
  }
  fix_close(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tiles_space_dtype_and_kind),
      cmocka_unit_test(faults_of_one_call_are_all_reported),
      cmocka_unit_test(the_fault_names_its_line_its_callers_and_its_iterations),
      cmocka_unit_test(partitions_and_counts_agree),
      cmocka_unit_test(start_partitions),
      cmocka_unit_test(size_limits),
      cmocka_unit_test(psum_and_gpsimd),
      cmocka_unit_test(automatic_engines),
      cmocka_unit_test(operators_and_their_operands),
      cmocka_unit_test(reduce_axes),
      cmocka_unit_test(moves_between_memories),
      cmocka_unit_test(registers_move_one_element),
      cmocka_unit_test(dynamic_views_where_the_row_allows),
      cmocka_unit_test(a_tile_outside_its_buffer_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
