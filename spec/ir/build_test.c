/* build_test.c -- spec/ir: modules, unique names, interned locations and iterations, running out of memory. */
#include <stdio.h>
#include <stdlib.h>

#include "support.h"

static void names_are_unique_per_function(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  assert_string_equal(SBUF(&x, float32, NULL, 4, 4)->name, "sbuf_0");
  assert_string_equal(PSUM(&x, float32, NULL, 4, 4)->name, "psum_0");
  assert_string_equal(SBUF(&x, float32, NULL, 4, 4)->name, "sbuf_1");
  assert_string_equal(SBUF(&x, float32, "acc", 4, 4)->name, "acc");
  assert_string_equal(SBUF(&x, float32, "acc", 4, 4)->name, "acc_1");
  assert_string_equal(SBUF(&x, float32, "acc_2", 4, 4)->name, "acc_2");
  assert_string_equal(SBUF(&x, float32, "acc", 4, 4)->name, "acc_3");
  assert_string_equal(SBUF(&x, float32, "sbuf_7", 4, 4)->name, "sbuf_7");
  assert_string_equal(SBUF(&x, float32, NULL, 4, 4)->name, "sbuf_7_1"); /* the eighth */
  assert_string_equal(HBM(&x, float32, NULL, 4, 4)->name, "shared_hbm_0");
  assert_string_equal(ir_unique_name(x.m, x.f, "free"), "free");
  x.f = ir_func_new(x.m, "other");
  assert_string_equal(SBUF(&x, float32, "acc", 4, 4)->name, "acc");
  fix_close(&x);
}

static void ten_thousand_equal_names_are_quick(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  const IrBuf *b = NULL;
  for (int i = 0; i < 10000; i++) b = SBUF(&x, float32, "t", 4, 4);
  assert_string_equal(b->name, "t_9999");
  fix_close(&x);
}

static void shared_tensors_are_counted(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  assert_int_equal(NEW_BUF(&x, BUF_ARG, SP_shared_hbm, DT_float32, "x", SHAPE(4))->shared_ordinal, -1);
  assert_int_equal(HBM(&x, float32, NULL, 4)->shared_ordinal, 0);
  assert_int_equal(SBUF(&x, float32, NULL, 4, 4)->shared_ordinal, -1);
  assert_int_equal(HBM(&x, float32, NULL, 4)->shared_ordinal, 1);
  x.f = ir_func_new(x.m, "other");
  assert_int_equal(HBM(&x, float32, NULL, 4)->shared_ordinal, 0);
  assert_int_equal(x.f->nargs, 0);
  assert_int_equal(x.m->func[0]->nargs, 1);
  fix_close(&x);
}

static void locations_are_interned(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  uint32_t id[100][5];
  char file[32];
  for (int round = 0; round < 3; round++)
    for (int f = 0; f < 100; f++)
      for (int line = 0; line < 5; line++) {
        snprintf(file, sizeof file, "f%d.lua", f); /* one buffer, many contents */
        uint32_t l = ir_loc(x.m, file, line, false, 0);
        assert_int_not_equal(l, 0);
        if (round == 0) id[f][line] = l;
        assert_int_equal(l, id[f][line]);
        assert_string_equal(x.m->locs[l].file, file);
        assert_int_equal(x.m->locs[l].line, line);
      }
  assert_int_equal(x.m->nlocs, 501);
  uint32_t a = ir_loc(x.m, "f1.lua", 1, false, 0);
  assert_int_not_equal(ir_loc(x.m, "f2.lua", 1, false, 0), a); /* only the file differs from the call before */
  a = ir_loc(x.m, "f1.lua", 1, false, 0);
  assert_int_not_equal(ir_loc(x.m, "f1.lua", 1, true, 0), a);
  assert_int_not_equal(ir_loc(x.m, "f1.lua", 1, false, a), a);
  assert_int_equal(ir_loc(x.m, "f1.lua", 1, false, 0), a);
  uint32_t i = ir_iter(x.m, 0, a, 3);
  assert_int_equal(ir_iter(x.m, 0, a, 3), i);
  assert_int_not_equal(ir_iter(x.m, i, a, 3), i);
  assert_int_not_equal(ir_iter(x.m, 0, a, 4), i);
  uint32_t n = x.m->niters;
  for (int64_t k = 0; k < 3000; k++) ir_iter(x.m, (uint32_t)(k % 1000) + 7, a + (uint32_t)k / 1000, 3);
  assert_int_equal(x.m->niters, n + 3000);
  assert_int_equal(ir_iter(x.m, 0, a, 3), i);
  fix_close(&x);
}

/* ---- an allocator that fails at the n-th request and counts what is not given back */

typedef struct Ration {
  long left, live;
} Ration;
static void *rationed(void *ud, void *p, size_t osize, size_t nsize) {
  Ration *r = ud;
  (void)osize;
  if (nsize == 0) {
    if (p) r->live--;
    free(p);
    return NULL;
  }
  if (!p && r->left-- <= 0) return NULL;
  if (!p) r->live++;
  return realloc(p, nsize);
}

static bool build_some(IrModule *m) {
  IrFunc *f = ir_func_new(m, "k");
  if (!f) return false;
  int64_t shape[2] = {128, 8};
  IrBufSpec spec = {.kind = BUF_ALLOC, .space = SP_sbuf, .dtype = DT_float32, .rank = 2, .shape = shape};
  for (int i = 0; i < 300; i++) {
    IrBuf *b = ir_buf_new(m, f, &spec);
    if (!b) return false;
    IrVal v = VI(b->id);
    if (!ir_append(m, f, (Op)CORE_alloc, &v, 1)) return false;
    if (!ir_loc(m, "k.lua", i, false, 0) || !ir_iter(m, 0, 1, i)) return false;
  }
  return true;
}

static void out_of_memory_is_sticky_and_leaks_nothing(void **state) {
  (void)state;
  bool built = false;
  for (long n = 0; !built; n++) {
    Ration r = {n, 0};
    Alloc alloc = {rationed, &r};
    IrModule *m = ir_module_new(alloc, TARGET_trn2);
    if (m) {
      built = build_some(m);
      assert_true(built || m->arena.oom);
      Diag d;
      diag_init(&d, alloc_std);
      if (!built) {
        assert_false(ir_verify(m, &d));
        assert_int_equal(d.id, ERR_nomem);
      }
      diag_free(&d);
      ir_release(ir_retain(m));
      ir_release(m);
    }
    assert_int_equal(r.live, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_are_unique_per_function),
      cmocka_unit_test(ten_thousand_equal_names_are_quick),
      cmocka_unit_test(shared_tensors_are_counted),
      cmocka_unit_test(locations_are_interned),
      cmocka_unit_test(out_of_memory_is_sticky_and_leaks_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
