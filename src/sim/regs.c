/* regs.c -- room sim: registers: 32-bit integers of the sequencers. */
#include <string.h>

#include "exec.h"

bool reg_get(Sim *s, uint32_t buf, int64_t *out) {
  const SimBuf *b = &s->buf[buf];
  *out = b->set ? b->reg : (int32_t)0xa5a5a5a5;
  return b->set || say_register(s, buf);
}

static void reg_set(Sim *s, uint32_t buf, int64_t v) {
  s->buf[buf].reg = v;
  s->buf[buf].set = true;
}

static bool operand(Sim *s, const IrVal *v, int64_t *out) {
  switch (v->kind) {
    case V_REG:
      return reg_get(s, v->u.reg, out);
    case V_IDX:
      *out = s->idx[v->u.idx];
      return true;
    case V_INT:
      *out = v->u.i;
      return true;
    default:
      return NK_BUG(s->d, "a register operand of another kind");
  }
}

bool sim_register_move(Sim *s, const Args_register_move *a) {
  int64_t v = 0;
  if (!operand(s, &a->src, &v)) return false;
  reg_set(s, a->dst.u.reg, v);
  return true;
}

bool sim_register_load(Sim *s, const Args_register_load *a) {
  Acc src;
  if (!acc_src(s, a->src.u.tile, &src)) return false;
  /* a register holds 32 bits: those of a float32 as they are */
  reg_set(s, a->dst.u.reg, elem_int(src.dt == DT_float32 ? DT_int32 : src.dt, src.p));
  return true;
}

bool sim_register_store(Sim *s, const Args_register_store *a) {
  int64_t v = 0;
  Acc dst;
  if (!operand(s, &a->src, &v) || !acc_dst(s, a->dst.u.tile, &dst)) return false;
  uint32_t low = (uint32_t)v; /* the register's low bits, as wide as the element */
  if (dst.dt == DT_bool_) low = v != 0;
  memcpy(dst.p, &low, (size_t)dst.bytes);
  return true;
}
