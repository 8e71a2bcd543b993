/* checks_dma_test.c -- spec/ir: what DMA instructions refuse beyond the shared rules. */
#include "support.h"

static IrVal ints(uint32_t n, const int64_t *list) { return (IrVal){V_INTS, n, {.ints = list}}; }
#define INTS(n, ...) ints(n, (const int64_t[]){__VA_ARGS__})

static void dma_modes(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  IrBuf *h = HBM(&x, float32, "h", 64, 8), *s = SBUF(&x, float32, "s", 64, 8), *bf = SBUF(&x, bfloat16, "bf", 64, 8);
  IrBuf *idx = SBUF(&x, int32, "idx", 64, 1);
  const IrTile *rows = view_vector_select(&x.v, whole(&x, h), 0, whole(&x, idx));
  IrIns *ins = new_ins(&x, OP_dma_copy);
  set(ins, "dst", VB(&x, s));
  set(ins, "src", VB(&x, h));
  set(ins, "oob_mode", VI(oob_mode_skip));
  REFUSE(&x, ins, argument_value, "oob_mode is skip", "run-time offset");
  set(ins, "src", VT(rows));
  accept(&x, ins);
  set(ins, "dge_mode", VI(dge_mode_none));
  REFUSE(&x, ins, argument_value, "dge_mode is none", "swdge");
  set(ins, "dge_mode", VI(dge_mode_hwdge));
  REFUSE(&x, ins, argument_value, "dge_mode is hwdge", "vector offset");
  set(ins, "dge_mode", VI(dge_mode_swdge));
  accept(&x, ins);
  set(ins, "dst", VT(rows));
  REFUSE(&x, ins, instruction_invalid, "only one of dst and src");
  set(ins, "dst", VB(&x, bf));
  set(ins, "src", VB(&x, h));
  set(ins, "oob_mode", VI(oob_mode_error));
  set(ins, "dge_mode", VI(dge_mode_hwdge));
  REFUSE(&x, ins, dtype_mismatch, "hwdge", "bfloat16", "float32");
  set(ins, "dst", VB(&x, s));
  set(ins, "engine", VI(engine_sync));
  accept(&x, ins);
  set(ins, "dge_mode", VI(dge_mode_swdge));
  REFUSE(&x, ins, argument_value, "engine is sync", "hwdge only");
  set(ins, "engine", VI(engine_gpsimd));
  accept(&x, ins);
  set(ins, "dge_mode", VI(dge_mode_hwdge));
  REFUSE(&x, ins, argument_value, "engine is gpsimd", "swdge only");
  set(ins, "engine", VI(engine_vector));
  REFUSE(&x, ins, engine_set, "vector is not one of scalar, sync, gpsimd");
  set(ins, "engine", VI(engine_unknown));
  set(ins, "priority", VI(1));
  REFUSE(&x, ins, argument_generation, "priority needs gen4");
  fix_close(&x);
}

static void dma_generations(void **state) {
  (void)state;
  Fix x;
  IrIns *ins;
  fix_open(&x, TARGET_trn1);
  ins = new_ins(&x, OP_dma_copy);
  set(ins, "dst", VB(&x, SBUF(&x, float32, "s", 64, 8)));
  set(ins, "src", VB(&x, HBM(&x, float32, "h", 64, 8)));
  set(ins, "dge_mode", VI(dge_mode_hwdge));
  REFUSE(&x, ins, argument_generation, "hwdge needs gen3");
  set(ins, "dge_mode", VI(dge_mode_unknown));
  set(ins, "engine", VI(engine_scalar));
  REFUSE(&x, ins, argument_generation, "engine scalar or sync");
  fix_close(&x);
  fix_open(&x, TARGET_trn3);
  ins = new_ins(&x, OP_dma_copy);
  set(ins, "dst", VB(&x, SBUF(&x, float32, "s", 64, 8)));
  set(ins, "src", VB(&x, HBM(&x, float8_e5m2_x4, "h", 64, 8)));
  REFUSE(&x, ins, dtype_mismatch, "packed and scale types do not convert");
  set(ins, "src", VB(&x, HBM(&x, float32, "h2", 64, 8)));
  set(ins, "priority", VI(4));
  REFUSE(&x, ins, argument_range, "priority is 4", "0..3");
  fix_close(&x);
}

static void dma_transposes(void **state) {
  (void)state;
  Fix x;
  fix_open(&x, TARGET_trn2);
  IrIns *ins = new_ins(&x, OP_dma_transpose);
  set(ins, "dst", VB(&x, SBUF(&x, bfloat16, "d", 100, 16)));
  set(ins, "src", VB(&x, HBM(&x, bfloat16, "s", 16, 100)));
  accept(&x, ins);
  set(ins, "axes", INTS(2, 1, 0));
  accept(&x, ins);
  set(ins, "axes", INTS(2, 0, 1));
  REFUSE(&x, ins, shape_required, "axes must have shape [1,0]", "[0,1]");
  set(ins, "axes", NONE);
  set(ins, "dge_mode", VI(dge_mode_hwdge));
  accept(&x, ins);
  set(ins, "src", VB(&x, HBM(&x, bfloat16, "s2", 16, 50, 2)));
  REFUSE(&x, ins, shape_required, "dst must have shape [2,50,16]", "d[100,16]");
  set(ins, "dge_mode", VI(dge_mode_unknown));
  set(ins, "dst", VB(&x, SBUF(&x, bfloat16, "d3", 2, 50, 16)));
  accept(&x, ins);
  set(ins, "src", VB(&x, HBM(&x, bfloat16, "s4", 6, 3, 4, 2)));
  set(ins, "dst", VB(&x, SBUF(&x, bfloat16, "d4", 2, 3, 4, 6))); /* (3,1,2,0) */
  accept(&x, ins);
  set(ins, "dge_mode", VI(dge_mode_hwdge));
  REFUSE(&x, ins, shape_required, "hwdge", "s4[6,3,4,2]");
  set(ins, "dge_mode", VI(dge_mode_unknown));
  set(ins, "oob_mode", VI(oob_mode_skip));
  REFUSE(&x, ins, argument_value, "oob_mode");
  set(ins, "src", VB(&x, HBM(&x, bfloat16, "s1", 16)));
  REFUSE(&x, ins, shape_required, "src must have shape of 2 to 4 dimensions");
  fix_close(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(dma_modes),
      cmocka_unit_test(dma_generations),
      cmocka_unit_test(dma_transposes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
