/* ops.c -- room ir: the tables made from ops.def and rules.def; lookups by name. The rows are read here and in ir.h. */
#include <string.h>

#include "checks.h"
#include "ir.h"
#include "names.h"

/* masks as the rows spell them */
#define VECTOR EM_VECTOR
#define SCALAR EM_SCALAR
#define GPSIMD EM_GPSIMD
#define TENSOR EM_TENSOR
#define DMA EM_DMA
#define SYNC EM_SYNC
#define SIM EM_SIM
#define CC EM_CC
#define SBUF (1u << SP_sbuf)
#define PSUM (1u << SP_psum)
#define HBM ((1u << SP_private_hbm) | (1u << SP_shared_hbm))

/* defaults */
#define REQ ABSENT(true)
#define OPT ABSENT(false)
#define D_FLAG(x) DEFAULT(V_INT, .i = (x))
#define D_INT(x) DEFAULT(V_INT, .i = (x))
#define D_NUM(x) DEFAULT(V_NUM, .num = (x))
#define D_ENUM(x) DEFAULT(V_INT, .i = (x))
#define D_ALU(x) DEFAULT(V_INT, .i = ALU_##x)
/* domains */
#define ANY .set = 0
#define ONG(sp, d2, d3, d4) .spaces = (sp), .dtypes = {(d2), (d3), (d4)}, .dynamic = true
#define ON(sp, dt) ONG(sp, dt, dt, dt)
#define ONV(sp, dt) ONG(sp, dt, dt, dt), .vector = true
#define ONI(sp, dt) ONG(sp, dt, dt, dt), .picked = true
#define ONGI(sp, d2, d3, d4) ONG(sp, d2, d3, d4), .picked = true
#define ONSI(sp, dt) ONG(sp, dt, dt, dt), .scale = true, .picked = true
#define ONS(sp, dt) ONG(sp, dt, dt, dt), .scale = true
#define ALUS(mask) .set = (mask)
#define OF(type) .set = ET_##type
#define IN(a, b) .lo = (a), .hi = (b)

#define ABSENT(needed) .required = (needed)
#define DEFAULT(kind_, value) .def = {kind_, 0, {value}}
#define P(role_, kind_, name_, def_, domain_, gen_) \
  {.name = #name_, .role = role_, .kind = kind_, .gen = gen_, def_, domain_},
#define R(...)
#define OP(name, engines, gen, cost, shape, effects, rules, check, doc, ...) \
  static const IrParam params_##name[] = {__VA_ARGS__};
#include "ops.def"

/* The defaults alone, side by side: every instruction begins as a copy of them. */
#undef ABSENT
#undef DEFAULT
#define ABSENT(needed)    \
  {                       \
    V_NONE, 0, { .i = 0 } \
  }
#define DEFAULT(kind_, value) \
  {                           \
    kind_, 0, { value }       \
  }
#define P(role, kind, name, def, domain, gen) def,
#define R(...)
#define OP(name, engines, gen, cost, shape, effects, rules, check, doc, ...) \
  static const IrVal defaults_##name[] = {__VA_ARGS__};
#include "ops.def"

/* R(rule, a, b) -> {RULE_rule, {index of a + 1, index of b + 1}}; a misspelt parameter does not compile. */
#define ARG_INDEX(field) (uint8_t)(1 + offsetof(Row, field) / sizeof(IrVal))
#define ARGS_1(a) ARG_INDEX(a)
#define ARGS_2(a, b) ARGS_1(a), ARG_INDEX(b)
#define ARGS_3(a, b, c) ARGS_2(a, b), ARG_INDEX(c)
#define ARGS_4(a, b, c, d) ARGS_3(a, b, c), ARG_INDEX(d)
#define ARGS_5(a, b, c, d, e) ARGS_4(a, b, c, d), ARG_INDEX(e)
#define ARGS_N(a, b, c, d, e, n, ...) n
#define ARGS_PICK(...) ARGS_N(__VA_ARGS__, ARGS_5, ARGS_4, ARGS_3, ARGS_2, ARGS_1, 0)
#define R(rule_, ...) {RULE_##rule_, {ARGS_PICK(__VA_ARGS__)(__VA_ARGS__)}},
#define NO_RULES
#define P(...)
#define OP(name, engines, gen, cost, shape, effects, rules_, check, doc, ...)                  \
  static const IrRuleUse *rules_of_##name(void) {                                              \
    typedef Args_##name Row;                                                                   \
    static const IrRuleUse list[] = {rules_{RULE_none, {(uint8_t)(sizeof(Row) > 0 ? 0 : 1)}}}; \
    return list;                                                                               \
  }
#include "ops.def"

#define P(...)
#define R(...)
#define NO_CHECK NULL
#define DIALECT(engines, rest) ((engines) == EM_SIM ? "nki" rest : (engines) == EM_CC ? "ncc" rest : "nisa" rest)
#define OP(name_, engines_, gen_, cost_, shape_, effects_, rules_, check_, doc_, ...) \
  [OP_##name_] = {.name = #name_,                                                     \
                  .dialect = DIALECT(engines_, ""),                                   \
                  .full = DIALECT(engines_, "." #name_),                              \
                  .engines = (engines_),                                              \
                  .gen = gen_,                                                        \
                  .cost = #cost_,                                                     \
                  .shape = shape_,                                                    \
                  .effects = effects_,                                                \
                  .check = check_,                                                    \
                  .doc = doc_,                                                        \
                  .params = params_##name_,                                           \
                  .defaults = defaults_##name_,                                       \
                  .nparams = (int)(sizeof params_##name_ / sizeof params_##name_[0])},
const OpInfo op_info[OP_count] = {
#include "ops.def"
};

#define P(...)
#define R(...)
#define OP(name, ...) \
  case OP_##name:     \
    return rules_of_##name();
const IrRuleUse *op_rules(Op op) {
  static const IrRuleUse none[] = {{RULE_none, {0}}};
  switch ((int)op) {
#include "ops.def"
    default:
      return none;
  }
}

static const char *const op_name_list[] = {
#define P(...)
#define R(...)
#define OP(name, ...) #name,
#include "ops.def"
    NULL};

Op op_parse(const char *name, size_t n) {
  int i = name_index(op_name_list, name, n);
  return i < 0 ? OP_none : (Op)(i + 1);
}

int op_param(const OpInfo *op, const char *name, size_t n) {
  for (int i = 0; i < op->nparams; i++)
    if (strlen(op->params[i].name) == n && memcmp(op->params[i].name, name, n) == 0) return i;
  return -1;
}

static const char *const rule_docs[] = {
    "",
#define RULE(name, doc) doc,
#include "rules.def"
#undef RULE
};
const char *rule_doc(Rule r) { return rule_docs[r]; }

const char *rule_name(Rule r) {
  static const char *const names[] = {
      "none",
#define RULE(name, doc) #name,
#include "rules.def"
#undef RULE
  };
  return names[r];
}

int op_public(const OpInfo *op) { return op->nparams - (op->nparams && op->params[op->nparams - 1].role == RESULT); }

bool ir_writes(const IrIns *ins, int p) {
  if (!role_writes(op_info[ins->op].params[p].role)) return false;
  if (op_info[ins->op].params[p].role != INOUT || !(op_info[ins->op].effects & FX_COLLECTIVE)) return true;
  int known = op_param(&op_info[ins->op], "recv_counts_known", strlen("recv_counts_known"));
  return known < 0 || !ins->v[known].u.i; /* the counts that arrive are not written when they are known */
}

bool ir_has_collectives(const IrModule *m) {
  for (uint32_t k = 0; k < m->nfunc; k++)
    for (uint32_t i = 0; i < m->func[k]->nins; i++)
      if (m->func[k]->ins[i]->op < OP_count && op_info[m->func[k]->ins[i]->op].effects & FX_COLLECTIVE) return true;
  return false;
}

const int64_t *ir_group_of(const IrVal *groups, int64_t rank, int64_t *size, int64_t *place) {
  const int64_t *g = groups->u.ints;
  for (uint32_t k = 0; k < groups->n; k++, g += 1 + *g) {
    for (int64_t i = 0; i < *g; i++) {
      if (g[1 + i] != rank) continue;
      *size = *g;
      *place = i;
      return g + 1;
    }
  }
  return NULL;
}
