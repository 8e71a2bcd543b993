/* place_test.c -- spec/ir: lifetimes, addresses, and what is said when memory runs out. */
#include "support.h"

static void use(Fix *x, const IrBuf *b) {
  IrIns *ins = new_ins(x, OP_memset);
  set(ins, "dst", VB(x, b));
  set(ins, "value", VN(0));
}

static uint32_t begin_for(Fix *x) {
  IrVal v[3] = {VI(0), VI(4), VI(1)};
  ir_append(x->m, x->f, (Op)CORE_for, v, 3)->result = ir_new_index(x->f);
  return x->f->nins - 1;
}
static void end_for(Fix *x, uint32_t begin) {
  IrIns *end = ir_append(x->m, x->f, (Op)CORE_end_for, NULL, 0);
  end->match = begin;
  x->f->ins[begin]->match = x->f->nins - 1;
}

static void place(Fix *x) {
  diag_clear(&x->d);
  if (!ir_place(x->m, &x->d)) fail_msg("%s", diag_message(&x->d));
}

static void lifetimes_end_at_the_last_use_and_at_the_end_of_loops(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  IrBuf *a = SBUF(&x, float32, "a", 128, 8), *b = SBUF(&x, float32, "b", 128, 8); /* 0, 1 */
  use(&x, a);                                                                     /* 2 */
  uint32_t outer = begin_for(&x);                                                 /* 3 */
  IrBuf *c = SBUF(&x, float32, "c", 128, 8);                                      /* 4 */
  uint32_t inner = begin_for(&x);                                                 /* 5 */
  use(&x, b), use(&x, c);                                                         /* 6, 7 */
  IrBuf *d = SBUF(&x, float32, "d", 128, 8);                                      /* 8 */
  use(&x, d);                                                                     /* 9 */
  end_for(&x, inner);                                                             /* 10 */
  use(&x, a);                                                                     /* 11 */
  end_for(&x, outer);                                                             /* 12 */
  IrBuf *unused = SBUF(&x, float32, "unused", 128, 8);                            /* 13 */
  uint32_t first[8], last[8];
  assert_true(ir_lifetimes(x.f, first, last));
  assert_int_equal(first[a->id], 0), assert_int_equal(last[a->id], 12);
  assert_int_equal(first[b->id], 1), assert_int_equal(last[b->id], 12);
  assert_int_equal(first[c->id], 4), assert_int_equal(last[c->id], 10);
  assert_int_equal(first[d->id], 8), assert_int_equal(last[d->id], 9);
  assert_int_equal(first[unused->id], 13), assert_int_equal(last[unused->id], 13);
  fix_close(&x);
}

static void lifetimes_in_very_deep_loops_are_never_too_short(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  uint32_t at[80];
  IrBuf *b = NULL;
  for (int i = 0; i < 80; i++) {
    at[i] = begin_for(&x);
    if (i == 70) b = SBUF(&x, float32, "b", 128, 8);
  }
  use(&x, b);
  for (int i = 79; i >= 0; i--) end_for(&x, at[i]);
  uint32_t first[1], last[1];
  assert_true(ir_lifetimes(x.f, first, last));
  assert_true(last[0] >= x.f->ins[at[71]]->match); /* the outermost loop that b comes into from outside */
  fix_close(&x);
}

static void a_view_keeps_its_storage_alive(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  IrBuf *b = SBUF(&x, float32, "b", 128, 8), *a = SBUF(&x, float32, "a", 128, 8);
  IrBufSpec spec = {
      .kind = BUF_VIEW, .space = SP_sbuf, .dtype = DT_int32, .rank = 2, .shape = SHAPE(128, 8), .base = a->id};
  IrBuf *v = ir_buf_new(x.m, x.f, &spec);
  use(&x, b);
  use(&x, v);
  uint32_t first[4], last[4];
  ir_lifetimes(x.f, first, last);
  assert_int_equal(last[a->id], 3);
  assert_int_equal(last[v->id], 3);
  place(&x);
  assert_int_equal(a->byte, 32); /* behind b */
  assert_int_equal(v->byte, 32);
  fix_close(&x);
}

static void a_dead_tile_makes_room(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn1);
  for (int i = 0; i < 10; i++) use(&x, SBUF(&x, float32, NULL, 128, 49152)); /* each is the whole partition */
  place(&x);
  for (uint32_t i = 0; i < x.f->nbufs; i++) assert_int_equal(x.f->bufs[i]->byte, 0);
  fix_close(&x);
}

/* The numbers of a real report: 24642, 24642 and 222 f32 on a 192 KiB partition. */
static void overflow_is_told_in_bytes_with_the_tiles(void **state) {
  (void)state;
  const Target targets[] = {TARGET_trn1, TARGET_trn2};
  for (int i = 0; i < 2; i++) {
    Fix x;
    fix_open(&x, targets[i]);
    IrBuf *p = SBUF(&x, float32, "p", 128, 24642), *q = SBUF(&x, float32, "q", 128, 24642),
          *r = SBUF(&x, float32, "r", 128, 222);
    r->loc = ir_loc(x.m, "k.lua", 7, false, 0);
    use(&x, p), use(&x, q), use(&x, r);
    IrIns *ins = new_ins(&x, OP_tensor_tensor);
    set(ins, "dst", VB(&x, p)), set(ins, "data1", VB(&x, p)), set(ins, "data2", VB(&x, q)), set(ins, "op", VI(ALU_add));
    if (i == 1) {
      place(&x);
      assert_int_equal(r->byte, 197136);
    } else {
      assert_false(ir_place(x.m, &x.d));
      expect_error(&x.d, ERR_memory_overflow, "198,024 bytes per partition needed, 196,608 available");
      expect_error(&x.d, ERR_memory_overflow, "r[128,222] float32 in sbuf");
      const char *notes = text_str(&x.d.notes);
      assert_non_null(strstr(notes, "live: p[128,24642] float32 in sbuf, 98,568 bytes"));
      assert_non_null(strstr(notes, "live: q[128,24642] float32 in sbuf, 98,568 bytes"));
      assert_non_null(strstr(notes, "live: r[128,222] float32 in sbuf, 888 bytes per partition, k.lua:7"));
      assert_int_equal(x.d.line, 7);
    }
    fix_close(&x);
  }
  Fix x; /* in place: 99,456 bytes, fits */
  fix_open(&x, TARGET_trn1);
  IrBuf *p = SBUF(&x, float32, "p", 128, 24642), *r = SBUF(&x, float32, "r", 128, 222);
  use(&x, p), use(&x, r), use(&x, p);
  place(&x);
  assert_int_equal(r->byte + r->part_bytes, 99456);
  fix_close(&x);
}

static void psum_tiles_stay_inside_banks(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  IrBuf *b[] = {PSUM(&x, float32, "a", 128, 128), PSUM(&x, float32, "b", 128, 500), PSUM(&x, float32, "c", 128, 384),
                PSUM(&x, float32, "d", 128, 1000), PSUM(&x, bfloat16, "e", 128, 3)};
  for (int i = 0; i < 5; i++) use(&x, b[i]);
  for (int i = 0; i < 5; i++) use(&x, b[i]);
  place(&x);
  for (int i = 0; i < 5; i++) {
    int64_t last = b[i]->byte + b[i]->part_bytes - 1;
    if (b[i]->part_bytes <= 2048) assert_int_equal(b[i]->byte / 2048, last / 2048);
    if (b[i]->part_bytes > 2048) assert_int_equal(b[i]->byte % 2048, 0);
    for (int k = 0; k < i; k++) assert_true(last < b[k]->byte || b[k]->byte + b[k]->part_bytes <= b[i]->byte);
  }
  assert_int_equal(b[2]->byte, 512); /* fills the gap behind a */
  fix_close(&x);
  fix_open(&x, TARGET_trn2);
  for (int i = 0; i < 9; i++) PSUM(&x, float32, NULL, 128, 512);
  for (uint32_t i = 0; i < 9; i++) use(&x, x.f->bufs[i]);
  assert_false(ir_place(x.m, &x.d));
  expect_error(&x.d, ERR_memory_overflow, "18,432 bytes per partition needed, 16,384 available");
  expect_error(&x.d, ERR_memory_overflow, "psum");
  fix_close(&x);
}

static IrBuf *fixed(Fix *x, const char *name, const int64_t shape[2], int32_t part_, int64_t byte) {
  IrBufSpec spec = {.kind = BUF_ALLOC,
                    .space = SP_sbuf,
                    .dtype = DT_float32,
                    .rank = 2,
                    .shape = shape,
                    .name = name,
                    .has_address = true,
                    .part = part_,
                    .byte = byte};
  IrBuf *b = ir_buf_new(x->m, x->f, &spec);
  IrVal v = VI(b->id);
  ir_append(x->m, x->f, (Op)CORE_alloc, &v, 1);
  return b;
}

static void given_addresses_are_kept_and_avoided(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  IrBuf *a = SBUF(&x, float32, "a", 128, 64);
  IrBuf *f = fixed(&x, "f", SHAPE(64, 64), 64, 128); /* upper half, in the middle of where a would go */
  IrBuf *small = SBUF(&x, float32, "small", 64, 32), *low = SBUF(&x, float32, "low", 64, 64);
  use(&x, a), use(&x, f), use(&x, small), use(&x, low), use(&x, a), use(&x, f), use(&x, small);
  place(&x);
  assert_int_equal(f->byte, 128);
  assert_int_equal(f->part, 64);
  assert_int_equal(a->byte, 384);   /* behind f: both need the upper partitions */
  assert_int_equal(small->byte, 0); /* 64 partitions under f */
  assert_int_equal(low->byte, 128); /* shares f's bytes in the other half */
  fix_close(&x);
}

static void halves_of_the_partitions_do_not_meet(void **state) {
  (void)state;
  for (int upper_first = 0; upper_first < 2; upper_first++) {
    Fix x;
    fix_open(&x, TARGET_trn2);
    IrBuf *a = fixed(&x, "a", SHAPE(64, 64), upper_first ? 64 : 0, 0),
          *b = fixed(&x, "b", SHAPE(64, 64), upper_first ? 0 : 64, 0);
    use(&x, a), use(&x, b);
    place(&x);
    fix_close(&x);
  }
}

static void live_addresses_must_not_overlap(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  IrBuf *a = fixed(&x, "a", SHAPE(128, 64), 0, 0);
  use(&x, a);
  IrBuf *b = fixed(&x, "b", SHAPE(128, 64), 0, 128); /* a is dead: legal */
  use(&x, b);
  place(&x);
  use(&x, a);
  assert_false(ir_place(x.m, &x.d));
  expect_error(&x.d, ERR_memory_overlap, "address= of b[128,64] float32 in sbuf (bytes 128..383) overlaps a[128,64]");
  fix_close(&x);
}

/* Two holes of one third each and a tile of two: only possible when placed by size. */
static void fragmentation_is_repaired_when_it_can_be(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn1);
  IrBuf *a = SBUF(&x, float32, "a", 128, 16384), *b = SBUF(&x, float32, "b", 128, 16384),
        *c = SBUF(&x, float32, "c", 128, 16384);
  use(&x, a), use(&x, b), use(&x, c);
  IrBuf *d = SBUF(&x, float32, "d", 128, 32768); /* two thirds; a and c are dead, b in the middle is not */
  use(&x, d), use(&x, b);
  place(&x);
  assert_true(d->byte + d->part_bytes <= b->byte || b->byte + b->part_bytes <= d->byte);
  fix_close(&x);
  /* with addresses given it cannot be repaired, and the message says why */
  fix_open(&x, TARGET_trn1);
  a = fixed(&x, "a", SHAPE(128, 1024), 0, 96256);
  d = SBUF(&x, float32, "d", 128, 24576);
  use(&x, d), use(&x, a);
  assert_false(ir_place(x.m, &x.d));
  expect_error(&x.d, ERR_memory_fragmented, "d[128,24576] float32 in sbuf needs 98,304 bytes in one piece");
  expect_error(&x.d, ERR_memory_fragmented, "at most 102,400 of 196,608 bytes");
  fix_close(&x);
}

static int64_t rnd(uint64_t *seed, int n) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((*seed >> 33) % (uint64_t)n);
}

/* Random programs: whatever is placed does not overlap while alive, starts aligned and lies inside the partition. */
static void random_programs_never_overlap(void **state) {
  (void)state;
  uint64_t seed = 42;
  int placed = 0;
  for (int round = 0; round < 300; round++) {
    Fix x;
    fix_open(&x, TARGET_trn1);
    IrBuf *b[40];
    int n = 0;
    while (n < 40) {
      bool psum = rnd(&seed, 3) == 0;
      int64_t parts = 1 + rnd(&seed, 128), size = 1 + rnd(&seed, psum ? 2000 : 60000);
      b[n++] = psum ? PSUM(&x, bfloat16, NULL, parts, size) : SBUF(&x, uint8, NULL, parts, size);
      for (int k = (int)rnd(&seed, 3); k > 0; k--) use(&x, b[n - 1 - rnd(&seed, n < 4 ? n : 4)]);
    }
    uint32_t first[40], last[40];
    ir_lifetimes(x.f, first, last);
    if (ir_place(x.m, &x.d))
      placed++;
    else
      assert_true(x.d.id == ERR_memory_overflow || x.d.id == ERR_memory_fragmented);
    for (int i = 0; i < n && x.d.id == ERR_none; i++) {
      assert_int_equal(b[i]->byte % 4, 0);
      assert_true(b[i]->byte + b[i]->part_bytes <= (b[i]->space == SP_psum ? 16384 : 196608));
      for (int k = 0; k < i; k++) {
        bool together = first[i] <= last[k] && first[k] <= last[i] && b[i]->space == b[k]->space;
        bool apart = b[i]->byte + b[i]->part_bytes <= b[k]->byte || b[k]->byte + b[k]->part_bytes <= b[i]->byte;
        assert_true(!together || apart);
      }
    }
    fix_close(&x);
  }
  assert_true(placed > 50 && placed < 300);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lifetimes_end_at_the_last_use_and_at_the_end_of_loops),
      cmocka_unit_test(lifetimes_in_very_deep_loops_are_never_too_short),
      cmocka_unit_test(a_view_keeps_its_storage_alive),
      cmocka_unit_test(a_dead_tile_makes_room),
      cmocka_unit_test(overflow_is_told_in_bytes_with_the_tiles),
      cmocka_unit_test(psum_tiles_stay_inside_banks),
      cmocka_unit_test(given_addresses_are_kept_and_avoided),
      cmocka_unit_test(halves_of_the_partitions_do_not_meet),
      cmocka_unit_test(live_addresses_must_not_overlap),
      cmocka_unit_test(fragmentation_is_repaired_when_it_can_be),
      cmocka_unit_test(random_programs_never_overlap),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
