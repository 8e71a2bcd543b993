/* accum.c -- room sim: accumulator registers: one f32 per lane, of the Scalar and of the Vector engine. */
#include "exec.h"

Lanes *accum_lanes(Sim *s, const Accum *a) { return a->engine == engine_scalar ? &s->scalar : &s->vector; }

static bool say_unset(Sim *s, const Accum *a, int64_t part) {
  return say_lane(s, a->engine == engine_scalar ? "Scalar" : "Vector", a->lane + (int)part);
}

bool accum_begin(Sim *s, const Accum *a) {
  Lanes *lanes = accum_lanes(s, a);
  for (int64_t p = 0; p < a->parts && a->cmd != reduce_cmd_idle; p++) {
    float *reg = &lanes->v[a->lane + p];
    bool *set = &lanes->set[a->lane + p];
    bool carry = a->cmd == reduce_cmd_reduce;
    if (!carry || !*set) *reg = a->cmd == reduce_cmd_load_reduce ? column_at(&a->init, p) : reduce_identity(a->op);
    if (carry && !*set && !say_unset(s, a, p)) return false;
    *set = true;
  }
  return true;
}

/* register = register op part */
static void accum_fold(Sim *s, const Accum *a) {
  Lanes *lanes = accum_lanes(s, a);
  for (int64_t p = 0; p < a->parts && accum_adds(a->cmd); p++) {
    float *reg = &lanes->v[a->lane + p];
    *reg = vm_op(alu_vm(a->op), *reg, a->part[p]);
  }
}

/* Into the (P,1) tile, if there is one. */
static bool accum_read(Sim *s, const Accum *a, const IrVal *res) {
  if (res->kind != V_TILE) return true;
  Lanes *lanes = accum_lanes(s, a);
  float out[LANES];
  for (int64_t p = 0; p < a->parts; p++) {
    float *reg = &lanes->v[a->lane + p];
    if (!lanes->set[a->lane + p]) {
      *reg = reduce_identity(a->op);
      if (!say_unset(s, a, p)) return false;
    }
    out[p] = a->negate ? vm_op(VM_multiply, *reg, -1.0f) : *reg;
  }
  return column_store(s, res->u.tile, out);
}

bool accum_run(Sim *s, const Accum *a, const IrVal *res) {
  if (!accum_begin(s, a)) return false;
  accum_fold(s, a);
  return accum_read(s, a, res);
}
