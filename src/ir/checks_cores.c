/* checks_cores.c -- room ir: what the instructions that join two physical cores refuse beyond the shared rules. Which
   core is whose partner is a question of the whole module (cores.c). */
#include "check_util.h"

bool check_two_cores(const IrCheck *c) {
  if (ir_core_count(c->module->cores, c->module->ngrid) == 2) return true;
  return BAD(c, instruction_invalid,
             "it joins two physical cores: launch the kernel on a grid of them, kernel[nl.nc(2)]");
}

bool check_core_barrier(const IrCheck *c) {
  const Args_core_barrier *a = ARGS(core_barrier, c->ins);
  const int64_t *list = a->cores.u.ints;
  Say s;
  bool ok = check_two_cores(c);
  if (a->cores.n == 2 && list[0] == 0 && list[1] == 1) return ok;
  int n = a->cores.n > IR_MAX_RANK ? IR_MAX_RANK : (int)a->cores.n;
  return BAD(c, argument_value, "cores", say_shape(list, n, &s), "a barrier joins cores 0 and 1: {0, 1}");
}

/* 1024 bytes per partition of 32-bit elements, 512 of 16-bit and 256 of 8-bit ones: that many elements. */
enum { GPSIMD_ELEMENTS = 256 };

bool check_sendrecv(const IrCheck *c) {
  const Args_sendrecv *a = ARGS(sendrecv, c->ins);
  const IrTile *src = a->src.u.tile, *dst = a->dst.u.tile;
  Say s, t;
  bool ok = check_two_cores(c);
  if (a->send_to_rank.u.i != a->recv_from_rank.u.i)
    ok = BAD(c, instruction_invalid, "send_to_rank and recv_from_rank are both the other core");
  if (tile_parts(src) == tile_parts(dst) && !tile_same_shape(src, dst)) {
    say_dims(dst, &t);
    ok = BAD(c, shape_required, "src", t.s, text_of(c, src, &s));
  }
  if (a->dma_engine.u.i == dma_engine_gpsimd_dma && tile_free(src) > GPSIMD_ELEMENTS) {
    ok = BAD(c, shape_required, "src (dma_engine gpsimd_dma)", "[P,n<=256] per partition", text_of(c, src, &s));
  }
  return ok;
}
