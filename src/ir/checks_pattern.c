/* checks_pattern.c -- room ir: affine patterns (iota, affine_select) and range_select. */
#include <math.h>
#include <stdio.h>

#include "check_util.h"

typedef struct Pattern {
  const IrTile *dst;
  const IrVal *pairs;
  int64_t offset, per_partition;
} Pattern;

static Pattern pattern_of(const IrCheck *c) {
  if (c->ins->op == OP_iota) {
    const Args_iota *a = ARGS(iota, c->ins);
    return (Pattern){a->dst.u.tile, &a->pattern, a->offset.u.i, a->channel_multiplier.u.i};
  }
  const Args_affine_select *a = ARGS(affine_select, c->ins);
  return (Pattern){a->dst.u.tile, &a->pattern, a->offset.u.i, a->channel_multiplier.u.i};
}

/* Smallest and largest value; |terms| are below 2^62 because steps and counts were checked. */
static bool in_int32(const Pattern *p) {
  int64_t lo = p->offset, hi = p->offset, term = p->per_partition * (tile_parts(p->dst) - 1);
  for (uint32_t i = 0;; i++) {
    if (term < 0) lo += term;
    if (term > 0) hi += term;
    if (i == p->pairs->n) break;
    term = p->pairs->u.ints[2 * i] * (p->pairs->u.ints[2 * i + 1] - 1);
  }
  return lo >= INT32_MIN && hi <= INT32_MAX;
}

bool check_pattern(const IrCheck *c) {
  Pattern p = pattern_of(c);
  Say s;
  char why[96];
  int64_t count = 1;
  bool ok = true;
  if (p.pairs->n < 1 || p.pairs->n > 4) {
    snprintf(why, sizeof why, "pattern has %u [step, num] pairs; 1..4 are legal", p.pairs->n);
    ok = BAD(c, instruction_invalid, why);
  }
  for (uint32_t i = 0; i < p.pairs->n; i++) {
    int64_t step = p.pairs->u.ints[2 * i], num = p.pairs->u.ints[2 * i + 1];
    bool legal = num >= 1 && num <= 65536 && step >= INT32_MIN && step <= INT32_MAX;
    if (!legal || (count *= num) > INT32_MAX) {
      snprintf(why, sizeof why, "pattern pair %u is [%lld, %lld]; num is 1..65536 and step an int32", i, LL(step),
               LL(num));
      return BAD(c, instruction_invalid, why);
    }
  }
  if (count != tile_free(p.dst)) {
    snprintf(why, sizeof why, "with the pattern's %lld elements per partition", LL(count));
    ok = BAD(c, shape_required, "dst", why, text_of(c, p.dst, &s));
  }
  if (in_int32(&p)) return ok;
  return BAD(c, instruction_invalid,
             "the pattern's values leave int32 (offset, channel_multiplier and steps together)");
}

bool check_range_select(const IrCheck *c) {
  const Args_range_select *a = ARGS(range_select, c->ins);
  bool ok = true;
  char num[TEXT_NUMBER];
  if ((float)a->on_false_value.u.num != -0x1.fffffep127f) {
    text_number(num, a->on_false_value.u.num, 9);
    ok = BAD(c, argument_value, "on_false_value", num, "it must be -3.4028235e+38, the smallest float32");
  }
  if (a->range_start.u.num != floor(a->range_start.u.num)) {
    text_number(num, a->range_start.u.num, 9);
    ok = BAD(c, argument_value, "range_start", num, "it must be an integer");
  }
  if (a->reduce_cmd.u.i == reduce_cmd_load_reduce)
    ok = BAD(c, argument_value, "reduce_cmd", "load_reduce", "range_select has no initial value to load");
  return ok;
}
