/* rules.c -- room ir: one body per rule of rules.def. A rule skips arguments that are absent or plain numbers; kinds,
   spaces and dtypes were checked before. */
#include <stdio.h>
#include <string.h>

#include "check_util.h"

typedef const uint8_t *ArgList; /* parameter index + 1, ends with 0 */

static const IrVal *val(const IrCheck *c, uint8_t arg) { return &c->ins->v[arg - 1]; }
static const char *name_of(const IrCheck *c, uint8_t arg) { return c->op->params[arg - 1].name; }

/* First tile among the arguments; *rest points behind it. */
static const IrTile *first_tile(const IrCheck *c, ArgList *arg, uint8_t *which) {
  for (ArgList a = *arg; *a; a++) {
    if (!is_tile(val(c, *a))) continue;
    *which = *a;
    *arg = a + 1;
    return val(c, *a)->u.tile;
  }
  return NULL;
}

static bool rule_same_partitions(const IrCheck *c, ArgList arg) {
  uint8_t first;
  const IrTile *t = first_tile(c, &arg, &first);
  bool ok = true;
  for (; t && *arg; arg++) {
    if (!is_tile(val(c, *arg)) || tile_parts(val(c, *arg)->u.tile) == tile_parts(t)) continue;
    Say a, b;
    ok = BAD(c, num_partition_mismatch, name_of(c, first), name_of(c, *arg), text_of(c, t, &a),
             text_of(c, val(c, *arg)->u.tile, &b));
  }
  return ok;
}

static bool count_mismatch(const IrCheck *c, const uint8_t which[2], int64_t a, int64_t b) {
  Say s, t;
  return BAD(c, num_elements_mismatch, name_of(c, which[0]), LL(a), " per partition", name_of(c, which[1]), LL(b),
             text_of(c, val(c, which[0])->u.tile, &s), text_of(c, val(c, which[1])->u.tile, &t));
}

static bool rule_same_count(const IrCheck *c, ArgList arg) {
  uint8_t first;
  const IrTile *t = first_tile(c, &arg, &first);
  if (!t) return true;
  int64_t want = tile_free(t);
  bool ok = true;
  for (; *arg; arg++) {
    if (!is_tile(val(c, *arg))) continue;
    int64_t got = tile_free(val(c, *arg)->u.tile);
    const uint8_t which[2] = {first, *arg};
    if (got != want) ok = count_mismatch(c, which, want, got);
  }
  return ok;
}

static bool rule_total_count(const IrCheck *c, ArgList arg) {
  const IrTile *dst = val(c, arg[0])->u.tile, *src = val(c, arg[1])->u.tile;
  int64_t a = tile_count(dst), b = tile_count(src);
  if (a == b) return true;
  Say s, t;
  const char *dst_name = name_of(c, arg[0]), *src_name = name_of(c, arg[1]);
  if (a < b)
    return BAD(c, store_dst_shape_smaller_than_other_shape, dst_name, LL(a), "", src_name, LL(b), text_of(c, dst, &s),
               text_of(c, src, &t));
  return BAD(c, num_elements_mismatch, dst_name, LL(a), "", src_name, LL(b), text_of(c, dst, &s), text_of(c, src, &t));
}

static bool rule_same_dtype(const IrCheck *c, ArgList arg) {
  uint8_t first;
  const IrTile *t = first_tile(c, &arg, &first);
  bool ok = true;
  for (; t && *arg; arg++) {
    if (!is_tile(val(c, *arg)) || dtype_of(c, val(c, *arg)->u.tile) == dtype_of(c, t)) continue;
    Say a, b;
    ok = BAD(c, dtype_mismatch, name_of(c, first), name_of(c, *arg), text_of(c, t, &a),
             text_of(c, val(c, *arg)->u.tile, &b));
  }
  return ok;
}

static bool rule_one_in_psum(const IrCheck *c, ArgList arg) {
  const IrVal *a = val(c, arg[0]), *b = val(c, arg[1]);
  if (!is_tile(a) || !is_tile(b) || !in_psum(c, a->u.tile) || !in_psum(c, b->u.tile)) return true;
  Say s, t;
  return BAD(c, both_in_psum, name_of(c, arg[0]), name_of(c, arg[1]), text_of(c, a->u.tile, &s),
             text_of(c, b->u.tile, &t));
}

static bool rule_gpsimd_reach(const IrCheck *c, ArgList arg) {
  if (c->engine != engine_gpsimd) return true;
  bool ok = true;
  for (; *arg; arg++) {
    const IrVal *v = val(c, *arg);
    Say s;
    if (is_tile(v) && in_psum(c, v->u.tile)) ok = BAD(c, gpsimd_memory, name_of(c, *arg), text_of(c, v->u.tile, &s));
  }
  return ok;
}

static bool bitwise(const IrVal *v) { return alu_info[v->u.i].cls == AC_BITVEC; }

static bool rule_same_class(const IrCheck *c, ArgList arg) {
  const IrVal *a = val(c, arg[0]), *b = val(c, arg[1]);
  if (a->kind == V_NONE || b->kind == V_NONE || bitwise(a) == bitwise(b)) return true;
  return BAD(c, operator_class, name_of(c, arg[0]), alu_info[a->u.i].name, name_of(c, arg[1]), alu_info[b->u.i].name);
}

static bool rule_bitvec_int(const IrCheck *c, ArgList arg) {
  const IrVal *op = val(c, *arg++);
  if (op->kind == V_NONE || !bitwise(op)) return true;
  uint8_t first;
  const IrTile *t = first_tile(c, &arg, &first);
  if (!t) return true;
  Say a, b;
  if (!dtype_is_int(dtype_of(c, t)))
    return BAD(c, bitvec_dtype, alu_info[op->u.i].name, name_of(c, first), text_of(c, t, &a), name_of(c, first),
               dtype_name(dtype_of(c, t)));
  for (; *arg; arg++) {
    if (!is_tile(val(c, *arg))) continue;
    const IrTile *u = val(c, *arg)->u.tile;
    DType d = dtype_of(c, u);
    if (dtype_is_int(d) && dtype_bytes(d) == dtype_bytes(dtype_of(c, t))) continue;
    return BAD(c, bitvec_dtype, alu_info[op->u.i].name, name_of(c, *arg), text_of(c, u, &a), name_of(c, first),
               text_of(c, t, &b));
  }
  return true;
}

static bool rule_operand_given(const IrCheck *c, ArgList arg) {
  const IrVal *op = val(c, arg[0]), *operand = val(c, arg[1]);
  const char *op_name = name_of(c, arg[0]), *operand_name = name_of(c, arg[1]);
  char why[96];
  if (op->kind != V_NONE && alu_info[op->u.i].arity == 2) {
    if (operand->kind != V_NONE) return true;
    return BAD(c, operand_missing, alu_info[op->u.i].name, op_name, operand_name);
  }
  if (operand->kind == V_NONE || (operand->kind == V_NUM && operand->u.num == 0)) return true;
  strcpy(why, op_name);
  strcat(why, op->kind == V_NONE ? " is not" : " is a one-operand operator");
  return BAD(c, operand_surplus, operand_name, why);
}

static bool rule_op_engine(const IrCheck *c, ArgList arg) {
  bool ok = true;
  for (; *arg; arg++) {
    const IrVal *v = val(c, *arg);
    if (v->kind == V_NONE || (alu_info[v->u.i].engines >> c->engine & 1)) continue;
    Say s;
    ok = BAD(c, operator_engine, engine_name(c->engine), name_of(c, *arg), alu_info[v->u.i].name,
             say_engines(alu_info[v->u.i].engines, &s));
  }
  return ok;
}

int ir_reduce_first(const IrVal *axis, int rank) {
  const int64_t *list = axis->kind == V_INT ? &axis->u.i : axis->u.ints;
  uint32_t n = axis->kind == V_INT ? 1 : axis->n, seen = 0;
  for (uint32_t i = 0; i < n; i++) {
    int64_t a = list[i] < 0 ? list[i] + rank : list[i];
    if (a < 1 || a >= rank) return 0;
    seen |= 1u << a;
  }
  if (n >= (uint32_t)rank) return 0;
  int first = rank - (int)n;
  return n && seen == (1u << rank) - (1u << first) ? first : 0;
}

bool ir_bad_reduce_axes(const IrFunc *f, const IrTile *t, const IrVal *axis, const char *const who[2], Diag *d) {
  const int64_t *list = axis->kind == V_INT ? &axis->u.i : axis->u.ints;
  int n = axis->kind == V_INT ? 1 : (int)axis->n;
  bool partitions = false;
  for (int k = 0; k < n; k++) partitions = partitions || list[k] == 0 || list[k] == -t->rank;
  Say s, got;
  char legal[96] = "";
  for (int i = t->rank - 1; i >= 1; i--) { /* "[2], [1,2]" */
    strcat(legal, i == t->rank - 1 ? "[" : ", [");
    for (int k = i; k < t->rank; k++) strncat(legal, &"0,1,2,3,4,5,6,7,"[2 * k], k + 1 < t->rank ? 2 : 1);
    strcat(legal, "]");
  }
  return DIAG(d, reduce_axes, who[0], who[1], say_shape(list, n > IR_MAX_RANK ? IR_MAX_RANK : n, &got),
              say_tile(f, t, &s), *legal ? legal : "none",
              partitions ? "; axis 0 is the partition axis, which nisa.tensor_partition_reduce reduces" : "");
}

static bool rule_reduce_axes(const IrCheck *c, ArgList arg) {
  const IrVal *axis = val(c, arg[0]);
  const IrTile *t = val(c, arg[1])->u.tile;
  if (ir_reduce_first(axis, t->rank) > 0) return true;
  return ir_bad_reduce_axes(c->func, t, axis, (const char *[]){c->op->full, name_of(c, arg[0])}, c->d);
}

static bool rule_one_element(const IrCheck *c, ArgList arg) {
  const IrTile *t = val(c, arg[0])->u.tile;
  if (tile_count(t) == 1) return true;
  Say s;
  return BAD(c, shape_required, name_of(c, arg[0]), "of one element", text_of(c, t, &s));
}

static bool rank_within(const IrCheck *c, ArgList arg, int most) {
  bool ok = true;
  for (; *arg; arg++) {
    const IrTile *t = val(c, *arg)->u.tile;
    char what[96];
    Say s;
    if (!is_tile(val(c, *arg)) || t->rank <= most) continue;
    snprintf(what, sizeof what, "%s.%s: %s = ", OPN(c), name_of(c, *arg));
    ok = DIAG(c->d, exceed_max_supported_dimension, what, text_of(c, t, &s), t->rank, most);
  }
  return ok;
}

static bool rule_rank4(const IrCheck *c, ArgList arg) { return rank_within(c, arg, 4); }
static bool rule_rank5(const IrCheck *c, ArgList arg) { return rank_within(c, arg, 5); }

static bool rule_none(const IrCheck *c, ArgList arg) {
  (void)c, (void)arg;
  return true;
}

bool rule_holds(const IrCheck *c, const IrRuleUse *use) {
  static bool (*const body[RULE_count])(const IrCheck *, ArgList) = {
      rule_none,
#define RULE(name, doc) rule_##name,
#include "rules.def"
#undef RULE
  };
  return body[use->rule](c, use->arg);
}
