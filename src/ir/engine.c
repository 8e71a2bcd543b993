/* engine.c -- room ir: which engine executes an instruction. The automatic choices are listed in docs/semantics.md. */
#include "ir.h"

/* Values may still be unchecked here: what is not a tile or an operator is neither. */
static const IrBuf *buf(const IrFunc *f, const IrVal *v) {
  return v->kind == V_TILE && v->u.tile->buf < f->nbufs ? f->bufs[v->u.tile->buf] : NULL;
}
static Alu alu(const IrVal *v) { return v->kind == V_INT && v->u.i > 0 && v->u.i < ALU_count ? (Alu)v->u.i : ALU_none; }

static bool psum(const IrBuf *b) { return b && b->space == SP_psum; }
static bool int32_wide(const IrBuf *b) { return b && dtype_is_wide_int(b->dtype); }

/* 32-bit integers are exact on GpSimd, which does not reach PSUM and lacks some operators; power exists there only. */
static int pick_tensor_tensor(const IrFunc *f, const Args_tensor_tensor *a) {
  const IrBuf *dst = buf(f, &a->dst), *x = buf(f, &a->data1), *y = buf(f, &a->data2);
  Alu op = alu(&a->op);
  if (op == ALU_power) return engine_gpsimd;
  if (op != ALU_none && !(alu_info[op].engines & EM_GPSIMD)) return engine_vector;
  if (psum(dst) || psum(x) || psum(y)) return engine_vector;
  return int32_wide(dst) && int32_wide(x) && int32_wide(y) ? engine_gpsimd : engine_vector;
}

static bool gpsimd_only(const IrVal *op) { return alu(op) == ALU_power || alu(op) == ALU_rsqrt; }

static int pick_tensor_scalar(const Args_tensor_scalar *a) {
  return gpsimd_only(&a->op0) || gpsimd_only(&a->op1) ? engine_gpsimd : engine_vector;
}

/* Tensor engine: SBUF to PSUM, nothing else. */
static int pick_transpose(const IrFunc *f, const Args_nc_transpose *a) {
  return psum(buf(f, &a->dst)) && !psum(buf(f, &a->data)) ? engine_tensor : engine_vector;
}

static int only_engine(uint32_t mask) {
  int e = 0;
  while (!(mask >> e & 1)) e++;
  return e;
}

int ir_engine(const IrFunc *f, const IrIns *ins) {
  if (ins->op >= OP_count || ins->op == OP_none) return engine_unknown;
  uint32_t mask = op_info[ins->op].engines;
  if (ins->op == OP_sendrecv && ARGS(sendrecv, ins)->dma_engine.u.i == dma_engine_gpsimd_dma) return engine_gpsimd;
  if ((mask & (mask - 1)) == 0) return only_engine(mask);
  int given = 0; /* rows with several engines have the parameter last */
  const IrVal *v = &ins->v[op_info[ins->op].nparams - 1];
  if (v->kind == V_INT && v->u.i > 0 && v->u.i <= engine_sync) given = (int)v->u.i;
  if (mask >> given & 1) return given; /* another one is refused by the row; checks go on with the automatic choice */
  switch ((Op)ins->op) {
    case OP_tensor_tensor:
      return pick_tensor_tensor(f, ARGS(tensor_tensor, ins));
    case OP_tensor_scalar:
      return pick_tensor_scalar(ARGS(tensor_scalar, ins));
    case OP_nc_transpose:
      return pick_transpose(f, ARGS(nc_transpose, ins));
    case OP_core_barrier:
    case OP_rand_set_state:
    case OP_rand_get_state:
      return engine_gpsimd;
    default:
      return mask & EM_VECTOR ? engine_vector : only_engine(mask);
  }
}
