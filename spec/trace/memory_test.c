/* memory_test.c -- spec/trace: tensors, addresses, constants, reinterpretations, registers and index values. */
#include "support.h"

static void shapes(void **state) {
  Bench x;
  const int64_t one[1] = {4}, nine[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, zero[2] = {4, 0},
                huge[3] = {INT64_MAX / 8, 1024, 1024};
  (void)state;
  bench_open(&x, bench_spec());
  at_line(&x, 7);
  IrBufSpec s = {.space = SP_sbuf, .dtype = DT_float32, .rank = 1, .shape = one, .name = "t"};
  assert_null(tr_ndarray(x.t, &s));
  assert_string_equal(x.d.file, "k.lua");
  assert_int_equal(x.d.line, 7);
  assert_fails(&x, tensor_rank, "rank 2 to 8, got 1");
  s.space = SP_private_hbm;
  assert_non_null(tr_ndarray(x.t, &s));
  s.rank = 9;
  s.shape = nine;
  assert_null(tr_ndarray(x.t, &s));
  assert_fails(&x, tensor_rank, "got 9");
  s.rank = 2;
  s.shape = zero;
  assert_null(tr_ndarray(x.t, &s));
  assert_fails(&x, tensor_size, "axis 1 of 't' has size 0");
  s.rank = 3;
  s.shape = huge;
  assert_null(tr_ndarray(x.t, &s));
  assert_fails(&x, tensor_too_big, "'t'");
  assert_null(tensor(&x, SP_psum, DT_float32, 129, 1));
  assert_fails(&x, num_partition_exceed_arch_limit, "129 partitions");
  assert_null(tensor(&x, SP_sbuf, DT_float8_e8m0fnu, 4, 4));
  assert_fails(&x, tensor_dtype_gen, "float8_e8m0fnu");
  bench_close(&x);
}

/* 8 float32 elements in each of p partitions */
static const IrTile *placed(Bench *x, Space space, int64_t p, int part, int64_t byte) {
  const int64_t shape[2] = {p, 8};
  IrBufSpec s = {
      .space = space, .dtype = DT_float32, .rank = 2, .shape = shape, .has_address = true, .part = part, .byte = byte};
  return tr_ndarray(x->t, &s);
}

static void addresses(void **state) {
  Bench x;
  (void)state;
  bench_open(&x, bench_spec());
  const IrTile *t = placed(&x, SP_sbuf, 32, 96, 64);
  assert_non_null(t);
  assert_int_equal(x.t->f->bufs[t->buf]->part, 96);
  assert_int_equal(x.t->f->bufs[t->buf]->byte, 64);
  assert_null(placed(&x, SP_sbuf, 33, 32, 0));
  assert_fails(&x, address_partition, "partition 32 with 33 partitions");
  assert_null(placed(&x, SP_sbuf, 65, 64, 0));
  assert_fails(&x, address_partition, "65 partitions");
  assert_null(placed(&x, SP_sbuf, 32, 0, 229376 - 28));
  assert_fails(&x, address_byte, "229376");
  assert_non_null(placed(&x, SP_sbuf, 32, 0, 229376 - 32));
  assert_null(placed(&x, SP_psum, 32, 0, 1024));
  assert_fails(&x, address_bank, "multiple of 2048");
  assert_null(placed(&x, SP_sbuf, 32, 0, 2));
  assert_fails(&x, address_align, "element size 4");
  assert_null(placed(&x, SP_shared_hbm, 32, 0, 0));
  assert_fails(&x, address_space, "shared_hbm");
  bench_close(&x);
}

static void names_are_unique(void **state) {
  Bench x;
  const int64_t shape[2] = {4, 4};
  (void)state;
  bench_open(&x, bench_spec());
  IrBufSpec s = {.space = SP_sbuf, .dtype = DT_float32, .rank = 2, .shape = shape, .name = "t"};
  const IrTile *first = tr_ndarray(x.t, &s), *second = tr_ndarray(x.t, &s);
  assert_string_equal(x.t->f->bufs[first->buf]->name, "t");
  assert_string_equal(x.t->f->bufs[second->buf]->name, "t_1");
  s.name = "a"; /* an operand's name */
  assert_string_equal(x.t->f->bufs[tr_ndarray(x.t, &s)->buf]->name, "a_1");
  bench_close(&x);
}

static void equal_constants_are_shared(void **state) {
  Bench x;
  const float data[4] = {1, 2, 3, 4}, other[4] = {1, 2, 3, 5};
  const int64_t shape[2] = {2, 2}, flat[1] = {4};
  (void)state;
  bench_open(&x, bench_spec());
  IrBufSpec s = {.dtype = DT_float32, .rank = 2, .shape = shape, .data = data};
  const IrTile *one = tr_constant(x.t, &s), *two = tr_constant(x.t, &s);
  assert_ptr_equal(one, two);
  s.data = other;
  assert_ptr_not_equal(tr_constant(x.t, &s), one);
  s.data = data;
  s.rank = 1;
  s.shape = flat;
  assert_ptr_not_equal(tr_constant(x.t, &s), one);
  bench_close(&x);
}

static void casts_share_a_view(void **state) {
  Bench x;
  (void)state;
  bench_open(&x, bench_spec());
  const IrTile *t = tensor(&x, SP_sbuf, DT_float32, 4, 8);
  const IrTile *v = tr_cast(x.t, t, DT_uint8), *w = tr_cast(x.t, t, DT_uint8);
  assert_non_null(v);
  assert_int_equal(v->dim[1].count, 32);
  assert_int_equal(v->buf, w->buf);
  const IrBuf *b = x.t->f->bufs[v->buf];
  assert_int_equal(b->kind, BUF_VIEW);
  assert_int_equal(b->base, t->buf);
  const IrTile *back = tr_cast(x.t, v, DT_int32); /* a view of a view refers to the tensor itself */
  assert_int_equal(x.t->f->bufs[back->buf]->base, t->buf);
  assert_ptr_equal(tr_cast(x.t, t, DT_float32), t);
  bench_close(&x);
}

static void affine_values(void **state) {
  Bench x;
  uint32_t reg, i, j;
  (void)state;
  bench_open(&x, bench_spec());
  assert_true(tr_reg_alloc(x.t, NULL, &reg));
  assert_true(tr_reg_read(x.t, reg, &i));
  uint32_t before = x.t->f->nins;
  assert_true(tr_affine(x.t, &(TrTerm){1, i}, 1, 0, &j));
  assert_int_equal(j, i); /* nothing to compute */
  assert_int_equal(x.t->f->nins, before);
  assert_true(tr_affine(x.t, (const TrTerm[]){{3, i}, {-2, i}}, 2, 5, &j));
  const IrIns *ins = x.t->f->ins[x.t->f->nins - 1];
  assert_int_equal(ins->op, CORE_idx);
  assert_int_equal(ins->result, j);
  assert_int_equal(ins->v[0].u.ints[0], 3);
  assert_int_equal(ins->v[0].u.ints[1], -2);
  assert_int_equal(ins->v[2].u.i, 5);
  bench_close(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shapes),
      cmocka_unit_test(addresses),
      cmocka_unit_test(names_are_unique),
      cmocka_unit_test(equal_constants_are_shared),
      cmocka_unit_test(casts_share_a_view),
      cmocka_unit_test(affine_values),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
