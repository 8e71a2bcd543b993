/* checks_random.c -- room ir: random numbers. */
#include <stdio.h>

#include "check_util.h"

bool check_rng(const IrCheck *c) {
  if (c->engine != engine_gpsimd || c->gen >= gen3) return true;
  return BAD(c, argument_generation, "engine gpsimd", 3, target_name(c->module->target), (int)c->gen);
}

bool check_dropout(const IrCheck *c) {
  const Args_dropout *a = ARGS(dropout, c->ins);
  const IrVal *prob = &a->prob;
  Say s;
  if (prob->kind == V_NUM) {
    char num[TEXT_NUMBER];
    if (prob->u.num >= 0 && prob->u.num <= 1) return true;
    return BAD(c, argument_range, "prob", text_number(num, prob->u.num, 17), "0", "1");
  }
  if (dtype_is_float(dtype_of(c, a->data.u.tile)) || dtype_of(c, prob->u.tile) == DT_float32) return true;
  return BAD(c, unsupported_dtype, "prob", text_of(c, prob->u.tile, &s), "float32 for integer data");
}

/* One of rand_set_state and rand_get_state. */
bool check_rand_state(const IrCheck *c) {
  const IrTile *t = c->ins->v[0].u.tile;
  const char *param = c->op->params[0].name;
  bool vector = c->engine == engine_vector, ok = true;
  int64_t want = vector ? 24 : 6;
  Say s, w;
  if (vector && c->gen < gen4)
    ok = BAD(c, argument_generation, "engine vector", 4, target_name(c->module->target), (int)c->gen);
  const int64_t shape[2] = {tile_parts(t), want};
  if (tile_free(t) != want) ok = BAD(c, shape_required, param, say_shape(shape, 2, &w), text_of(c, t, &s));
  return ok;
}
