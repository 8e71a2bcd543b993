/* verify_test.c -- spec/ir: whole modules: buffers, definitions, loops, returns, program table; counts and equality. */
#include "support.h"

static void use(Fix *x, const IrBuf *b) {
  IrIns *ins = new_ins(x, OP_memset);
  set(ins, "dst", VB(x, b));
  set(ins, "value", VN(0));
}

static uint32_t begin(Fix *x, Op op, const IrVal *v, uint32_t n) {
  IrIns *ins = ir_append(x->m, x->f, op, v, n);
  if (op == (Op)CORE_for) ins->result = ir_new_index(x->f);
  return x->f->nins - 1;
}
static uint32_t begin_for(Fix *x) { return begin(x, (Op)CORE_for, (IrVal[]){VI(0), VI(4), VI(1)}, 3); }
static void end(Fix *x, Op op, uint32_t at) {
  ir_append(x->m, x->f, op, NULL, 0)->match = at;
  x->f->ins[at]->match = x->f->nins - 1;
}
static void returns(Fix *x, uint32_t id) {
  static uint32_t rets[1];
  rets[0] = id;
  x->f->rets = rets;
  x->f->nrets = 1;
}

static void good(Fix *x) {
  diag_clear(&x->d);
  if (!ir_verify(x->m, &x->d)) fail_msg("%s", diag_message(&x->d));
}
static void bad(Fix *x, ErrId id, const char *word) {
  diag_clear(&x->d);
  if (ir_verify(x->m, &x->d)) fail_msg("accepted; expected %s", err_name(id));
  expect_error(&x->d, id, word);
}

static void a_module_with_all_structure_is_accepted(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  IrBuf *arg = NEW_BUF(&x, BUF_ARG, SP_shared_hbm, DT_float32, "x", SHAPE(128, 8)),
        *out = HBM(&x, float32, "out", 128, 8);
  IrBufSpec spec = {.kind = BUF_ALLOC, .space = SP_reg, .dtype = DT_int32};
  IrBuf *r = ir_buf_new(x.m, x.f, &spec);
  ir_append(x.m, x.f, (Op)CORE_alloc, (IrVal[]){VI(r->id)}, 1);
  IrIns *mv = new_ins(&x, OP_register_move);
  set(mv, "dst", ((IrVal){V_REG, 0, {.reg = r->id}}));
  set(mv, "src", VI(3));
  IrIns *read = ir_append(x.m, x.f, (Op)CORE_reg_read, (IrVal[]){{V_REG, 0, {.reg = r->id}}}, 1);
  read->result = ir_new_index(x.f);
  uint32_t w = begin(&x, (Op)CORE_while, (IrVal[]){{V_REG, 0, {.reg = r->id}}}, 1);
  uint32_t f = begin(&x, (Op)CORE_for, (IrVal[]){VI(0), {V_IDX, 0, {.idx = read->result}}, VI(2)}, 3);
  IrIns *idx =
      ir_append(x.m, x.f, (Op)CORE_idx,
                (IrVal[]){{V_INTS, 1, {.ints = (int64_t[]){8}}}, {V_INTS, 1, {.ints = (int64_t[]){2}}}, VI(0)}, 3);
  idx->result = ir_new_index(x.f);
  IrBuf *t = SBUF(&x, float32, "t", 1, 8);
  IrIns *ld = new_ins(&x, OP_dma_copy);
  set(ld, "dst", VB(&x, t));
  set(ld, "src",
      VT(view_slice(&x.v, whole(&x, arg), 0, (IrSlice){.dynamic = true, .idx = idx->result, .count = 1, .step = 1})));
  end(&x, (Op)CORE_end_for, f);
  end(&x, (Op)CORE_end_while, w);
  returns(&x, out->id);
  good(&x);
  /* the dynamic offset used after its loop */
  IrBuf *buf = SBUF(&x, float32, "late", 1, 8);
  IrIns *late = new_ins(&x, OP_dma_copy);
  set(late, "dst", VB(&x, buf));
  set(late, "src", ld->v[1]);
  bad(&x, ERR_local_variable_used_out_of_scope, "nisa.dma_copy: an index value");
  fix_close(&x);
}

static void values_are_defined_before_use_and_once(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  IrBufSpec spec = {
      .kind = BUF_ALLOC, .space = SP_sbuf, .dtype = DT_float32, .rank = 2, .shape = SHAPE(128, 8), .name = "t"};
  IrBuf *t = ir_buf_new(x.m, x.f, &spec);
  use(&x, t);
  bad(&x, ERR_ir_use_before_definition, "nisa.memset: t[128,8] float32 in sbuf is used before");
  fix_close(&x);
  fix_open(&x, TARGET_trn2);
  t = SBUF(&x, float32, "t", 128, 8);
  ir_append(x.m, x.f, (Op)CORE_alloc, (IrVal[]){VI(t->id)}, 1);
  bad(&x, ERR_ir_defined_twice, "t[128,8]");
  fix_close(&x);
  fix_open(&x, TARGET_trn2);
  t = SBUF(&x, float32, "t", 128, 8);
  x.f->nidx = 1;
  IrTile moving = *view_slice(&x.v, whole(&x, t), 1, (IrSlice){.dynamic = true, .idx = 1, .count = 2, .step = 1});
  IrIns *ins = new_ins(&x, OP_memset);
  set(ins, "dst", VT(&moving));
  set(ins, "value", VN(0));
  bad(&x, ERR_ir_use_before_definition, "an index value");
  moving.dyn = 9;
  bad(&x, ERR_ir_use_before_definition, "another function");
  fix_close(&x);
}

static void loop_locals_stay_inside(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  uint32_t f = begin_for(&x);
  IrBuf *t = SBUF(&x, float32, "t", 128, 8);
  use(&x, t);
  uint32_t inner = begin_for(&x);
  use(&x, t);
  end(&x, (Op)CORE_end_for, inner);
  end(&x, (Op)CORE_end_for, f);
  good(&x);
  use(&x, t);
  bad(&x, ERR_local_variable_used_out_of_scope, "t[128,8] float32 in sbuf is used outside the device loop");
  fix_close(&x);
}

static void loops_nest(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  begin_for(&x);
  bad(&x, ERR_ir_nesting, "not closed");
  ir_append(x.m, x.f, (Op)CORE_end_while, NULL, 0);
  bad(&x, ERR_ir_nesting, "closes no loop");
  fix_close(&x);
  fix_open(&x, TARGET_trn2);
  uint32_t f = begin(&x, (Op)CORE_for, (IrVal[]){VI(0), VI(4), VI(0)}, 3);
  end(&x, (Op)CORE_end_for, f);
  bad(&x, ERR_ir_loop_step, "0");
  fix_close(&x);
}

static void outputs_are_in_shared_hbm(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  IrBuf *t = SBUF(&x, float32, "t", 128, 8),
        *p = NEW_BUF(&x, BUF_ALLOC, SP_private_hbm, DT_float32, "p", SHAPE(128, 8));
  IrBuf *out = HBM(&x, float32, "out", 128, 8);
  returns(&x, t->id);
  bad(&x, ERR_return_memory,
      "The input and output tensor of a NKI kernel must be in shared_hbm address space: output t[128,8]");
  returns(&x, p->id);
  bad(&x, ERR_return_memory, "p[128,8] float32 in private_hbm");
  returns(&x, out->id);
  good(&x);
  returns(&x, 77);
  bad(&x, ERR_ir_use_before_definition, "an output");
  uint32_t f = begin_for(&x);
  IrBuf *inner = HBM(&x, float32, "inner", 128, 8);
  end(&x, (Op)CORE_end_for, f);
  returns(&x, inner->id);
  bad(&x, ERR_local_variable_used_out_of_scope, "func.return: inner[128,8]");
  fix_close(&x);
  fix_open(&x, TARGET_trn2);
  NEW_BUF(&x, BUF_ARG, SP_private_hbm, DT_float32, "x", SHAPE(128, 8));
  bad(&x, ERR_return_memory, "parameter x");
  fix_close(&x);
}

static const struct {
  Target t;
  Space space;
  DType dtype;
  int64_t shape[3];
  bool at;
  int32_t part;
  int64_t byte;
  ErrId id;
  const char *word;
} spec_rows[] = {
    {TARGET_trn1, SP_sbuf, DT_float32, {128, 49152}, false, 0, 0, ERR_none, ""},
    {TARGET_trn1,
     SP_sbuf,
     DT_float32,
     {128, 49153},
     false,
     0,
     0,
     ERR_tensor_capacity,
     "196612 bytes per partition; trn1 has 196608"},
    {TARGET_trn1, SP_psum, DT_float32, {128, 4097}, false, 0, 0, ERR_tensor_capacity, "16384"},
    {TARGET_trn1,
     SP_sbuf,
     DT_float32,
     {129, 4},
     false,
     0,
     0,
     ERR_num_partition_exceed_arch_limit,
     "'t' [129,4] in sbuf has 129"},
    {TARGET_trn1, SP_sbuf, DT_float32, {128}, false, 0, 0, ERR_tensor_rank, "'t' in sbuf must have rank 2 to 8, got 1"},
    {TARGET_trn1, SP_shared_hbm, DT_float32, {128}, false, 0, 0, ERR_none, ""},
    {TARGET_trn1, SP_shared_hbm, DT_float32, {0}, false, 0, 0, ERR_tensor_size, "axis 0 of 't' has size 0"},
    {TARGET_trn1, SP_shared_hbm, DT_float32, {INT64_MAX / 2, 3}, false, 0, 0, ERR_tensor_too_big, "60 bits"},
    {TARGET_trn1, SP_shared_hbm, DT_uint8, {INT64_C(1) << 61}, false, 0, 0, ERR_tensor_too_big, "60 bits"},
    {TARGET_trn1, SP_shared_hbm, DT_float32, {-4, 3}, false, 0, 0, ERR_tensor_size, "has size -4"},
    {TARGET_trn2, SP_sbuf, DT_float8_e5m2_x4, {128, 4}, false, 0, 0, ERR_tensor_dtype_gen, "needs generation 4"},
    {TARGET_trn3, SP_sbuf, DT_float8_e5m2_x4, {128, 4}, false, 0, 0, ERR_none, ""},
    {TARGET_trn1, SP_sbuf, DT_float32, {64, 4}, true, 64, 1024, ERR_none, ""},
    {TARGET_trn1, SP_sbuf, DT_float32, {65, 4}, true, 64, 1024, ERR_address_partition, "partition 64 with 65"},
    {TARGET_trn1, SP_sbuf, DT_float32, {64, 4}, true, 0, 196596, ERR_address_byte, "196608 bytes"},
    {TARGET_trn1, SP_sbuf, DT_float32, {64, 4}, true, 0, 196592, ERR_none, ""},
    {TARGET_trn1, SP_sbuf, DT_float32, {64, 4}, true, 0, 2, ERR_address_align, "multiple of its element size 4"},
    {TARGET_trn1, SP_sbuf, DT_bfloat16, {64, 4}, true, 0, 2, ERR_none, ""},
    {TARGET_trn1, SP_shared_hbm, DT_float32, {64, 4}, true, 0, 0, ERR_address_space, "places tensors in sbuf and psum"},
    {TARGET_trn1, SP_sbuf, DT_float32, {64, 4}, true, -1, 0, ERR_address_partition, "partition -1"},
    {TARGET_trn1, SP_psum, DT_float32, {64, 4}, true, 0, 1024, ERR_address_bank, "2048"},
    {TARGET_trn1, SP_psum, DT_float32, {64, 4}, true, 0, 4096, ERR_none, ""},
};

static void specs(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof spec_rows / sizeof *spec_rows; i++) {
    Fix x;
    fix_open(&x, spec_rows[i].t);
    int rank = 0;
    while (rank < 3 && (spec_rows[i].shape[rank] || rank == 0)) rank++;
    IrBufSpec spec = {.kind = BUF_ALLOC,
                      .space = spec_rows[i].space,
                      .dtype = spec_rows[i].dtype,
                      .rank = rank,
                      .shape = spec_rows[i].shape,
                      .name = "t",
                      .has_address = spec_rows[i].at,
                      .part = spec_rows[i].part,
                      .byte = spec_rows[i].byte};
    bool ok = ir_check_spec(x.m, &spec, &x.d);
    if (ok != (spec_rows[i].id == ERR_none)) fail_msg("row %d: %s", (int)i, diag_message(&x.d));
    if (!ok) expect_error(&x.d, spec_rows[i].id, spec_rows[i].word);
    fix_close(&x);
  }
}

static void views_cover_their_base(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  IrBuf *a = SBUF(&x, float32, "a", 128, 8);
  IrBufSpec spec = {
      .kind = BUF_VIEW, .space = SP_sbuf, .dtype = DT_bfloat16, .rank = 2, .shape = SHAPE(128, 16), .base = a->id};
  IrBuf *v = ir_buf_new(x.m, x.f, &spec);
  use(&x, v);
  good(&x);
  spec.shape = SHAPE(128, 15);
  ir_buf_new(x.m, x.f, &spec);
  bad(&x, ERR_ir_view_base, "exactly the bytes of its base");
  fix_close(&x);
  fix_open(&x, TARGET_trn2);
  a = SBUF(&x, float32, "a", 128, 8);
  spec.shape = SHAPE(64, 32); /* same bytes, other partitions */
  spec.base = a->id;
  ir_buf_new(x.m, x.f, &spec);
  bad(&x, ERR_ir_view_base, "partition by partition");
  fix_close(&x);
  fix_open(&x, TARGET_trn2);
  a = SBUF(&x, float32, "a", 128, 8);
  spec.shape = SHAPE(128, 16);
  spec.base = a->id;
  v = ir_buf_new(x.m, x.f, &spec);
  spec.base = v->id;
  ir_buf_new(x.m, x.f, &spec);
  bad(&x, ERR_ir_view_base, "not a view");
  fix_close(&x);
}

static void the_program_table_fits_the_grid(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  good(&x);
  x.m->ngrid = 1;
  x.m->grid[0] = 3;
  bad(&x, ERR_ir_module, "product of the grid");
  x.m->nprogram = 3;
  good(&x);
  x.m->cores[0] = (IrCores){2, 1};
  bad(&x, ERR_ir_module, "not spread evenly over its cores");
  x.m->cores[0] = (IrCores){3, 1};
  bad(&x, ERR_grid_cores, "the grid spans 3 physical cores; trn2 has 2");
  x.m->cores[0] = (IrCores){1, 1};
  good(&x);
  uint32_t programs[3] = {0, 1, 0};
  x.m->program = programs;
  bad(&x, ERR_ir_module, "not there");
  x.f = ir_func_new(x.m, "k_1");
  good(&x);
  NEW_BUF(&x, BUF_ARG, SP_shared_hbm, DT_float32, "x", SHAPE(4, 4));
  bad(&x, ERR_ir_module, "differ in arguments");
  ir_func_drop(x.m);
  bad(&x, ERR_ir_module, "not there");
  x.m->program = NULL;
  x.f = x.m->func[0];
  IrAlias alias = {0, 0};
  x.m->aliases = &alias;
  x.m->naliases = 1;
  bad(&x, ERR_ir_module, "alias");
  NEW_BUF(&x, BUF_ARG, SP_shared_hbm, DT_float32, "a", SHAPE(4, 4));
  IrBuf *out = HBM(&x, float32, "out", 4, 4);
  returns(&x, out->id);
  bad(&x, ERR_ir_module, "alias"); /* that output is another tensor */
  returns(&x, 0);
  good(&x);
  fix_close(&x);
  fix_open(&x, TARGET_trn2);
  ir_func_drop(x.m);
  bad(&x, ERR_ir_module, "no function");
  fix_close(&x);
}

/* Two programs; the second differs from the first as `change` says. */
static bool programs_agree(Fix *x, int change) {
  fix_open(x, TARGET_trn2);
  x->m->ngrid = 1;
  x->m->grid[0] = x->m->nprogram = 2;
  static uint32_t programs[2] = {0, 1};
  static uint32_t rets[2][1];
  x->m->program = programs;
  for (int k = 0; k < 2; k++) {
    int c = k ? change : 0;
    if (k) x->f = ir_func_new(x->m, "k_1");
    NEW_BUF(x, BUF_ARG, SP_shared_hbm, c == 1 ? DT_int32 : DT_float32, "x", SHAPE(4, 4));
    HBM(x, float32, "s0", 4, c == 2 ? 5 : 4);
    IrBuf *s1 = HBM(x, float32, "s1", 4, 4);
    if (c == 3) HBM(x, float32, "s2", 8); /* one more is legal */
    rets[k][0] = c == 4 ? s1->id - 1 : c == 5 ? 0 : c == 6 ? 99 : s1->id;
    x->f->rets = rets[k];
    x->f->nrets = 1;
  }
  diag_clear(&x->d);
  return ir_verify(x->m, &x->d);
}

static void programs_share_arguments_tensors_and_outputs(void **state) {
  (void)state;
  static const char *const words[] = {NULL,        "argument x", "shared tensor s0", NULL,
                                      "output s0", "output x",   "output ?"};
  for (int change = 0; change < 7; change++) {
    Fix x;
    bool ok = programs_agree(&x, change);
    assert_true(ok == !words[change]);
    if (!ok) expect_error(&x.d, ERR_ir_programs_differ, words[change]);
    fix_close(&x);
  }
}

static void arguments_come_first(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  HBM(&x, float32, "t", 4, 4);
  NEW_BUF(&x, BUF_ARG, SP_shared_hbm, DT_float32, "x", SHAPE(4, 4));
  bad(&x, ERR_ir_module, "arguments must come before");
  fix_close(&x);
}

static void macs_are_k_m_n_over_programs(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  IrIns *ins = new_ins(&x, OP_nc_matmul);
  set(ins, "dst", VB(&x, PSUM(&x, float32, "d", 64, 512)));
  set(ins, "stationary", VB(&x, SBUF(&x, bfloat16, "s", 128, 64)));
  set(ins, "moving", VB(&x, SBUF(&x, bfloat16, "m", 128, 512)));
  assert_int_equal(ir_mac_count(x.m), 128 * 64 * 512);
  x.m->nprogram = 3;
  assert_int_equal(ir_mac_count(x.m), 3 * 128 * 64 * 512);
  uint32_t programs[3] = {1, 0, 1};
  x.m->program = programs;
  x.f = ir_func_new(x.m, "other");
  assert_int_equal(ir_mac_count(x.m), 128 * 64 * 512);
  set(ins, "is_transpose", VI(1));
  assert_int_equal(ir_mac_count(x.m), 0);
  ins = new_ins(&x, OP_nc_matmul); /* double_row: k * 2 * m * n */
  set(ins, "dst", VB(&x, PSUM(&x, float32, "d", 32, 16)));
  set(ins, "stationary", VB(&x, SBUF(&x, float8_e4m3, "s", 64, 2, 32)));
  set(ins, "moving", VB(&x, SBUF(&x, float8_e4m3, "m", 64, 2, 16)));
  set(ins, "perf_mode", VI(matmul_perf_mode_double_row));
  assert_int_equal(ir_mac_count(x.m), 2 * 64 * 2 * 32 * 16);
  fix_close(&x);
}

/* The same little program, with one thing changed by `change`. */
static IrFunc *program(Fix *x, int change) {
  x->f = ir_func_new(x->m, "p");
  x->v.f = x->f;
  IrBuf *t = SBUF(x, float32, change == 1 ? "u" : "t", 128, change == 2 ? 9 : 8);
  IrBufSpec at = {.kind = BUF_ALLOC,
                  .space = SP_sbuf,
                  .dtype = DT_float32,
                  .rank = 2,
                  .shape = SHAPE(4, 4),
                  .name = "at",
                  .has_address = true,
                  .byte = change == 3 ? 64 : 0};
  ir_buf_new(x->m, x->f, &at);
  IrIns *ins = new_ins(x, OP_memset);
  set(ins, "dst", VT(part(x, whole(x, t), (int64_t[]){0, 32, 0, change == 4 ? 3 : 4})));
  set(ins, "value", VN(change == 5 ? -0.0 : 0.0));
  ins->label = change == 6 ? "label" : NULL;
  ins->loc = ir_loc(x->m, "k.lua", change == 7 ? 2 : 1, false, 0);
  ins->iter = change == 8 ? ir_iter(x->m, 0, 1, 3) : 0;
  return x->f;
}

static void equality_sees_every_difference_but_iterations(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  const IrFunc *one = program(&x, 0);
  assert_true(ir_func_equal(x.m, one, program(&x, 0)));
  for (int change = 1; change <= 7; change++) assert_false(ir_func_equal(x.m, one, program(&x, change)));
  assert_true(ir_func_equal(x.m, one, program(&x, 8)));
  fix_close(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_module_with_all_structure_is_accepted),
      cmocka_unit_test(values_are_defined_before_use_and_once),
      cmocka_unit_test(loop_locals_stay_inside),
      cmocka_unit_test(loops_nest),
      cmocka_unit_test(outputs_are_in_shared_hbm),
      cmocka_unit_test(specs),
      cmocka_unit_test(views_cover_their_base),
      cmocka_unit_test(the_program_table_fits_the_grid),
      cmocka_unit_test(programs_share_arguments_tensors_and_outputs),
      cmocka_unit_test(arguments_come_first),
      cmocka_unit_test(macs_are_k_m_n_over_programs),
      cmocka_unit_test(equality_sees_every_difference_but_iterations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
