/* check_util.h -- room ir: private; shorthands of rules.c and the checks of single instructions. */
#ifndef NK_CHECK_UTIL_H
#define NK_CHECK_UTIL_H
#include "checks.h"
#include "say.h"
#include "view_util.h"

#define OPN(c) (c)->op->dialect, (c)->op->name /* "%s.%s" */
#define BAD(c, id, ...) DIAG((c)->d, id, OPN(c), __VA_ARGS__)
#define LL(x) ((long long)(x))

static inline bool is_tile(const IrVal *v) { return v->kind == V_TILE; }
static inline const IrBuf *buf_of(const IrCheck *c, const IrTile *t) { return c->func->bufs[t->buf]; }
static inline DType dtype_of(const IrCheck *c, const IrTile *t) { return buf_of(c, t)->dtype; }
static inline bool in_psum(const IrCheck *c, const IrTile *t) { return buf_of(c, t)->space == SP_psum; }
static inline const char *text_of(const IrCheck *c, const IrTile *t, Say *s) { return say_tile(c->func, t, s); }

/* The start-partition rule of the compute engines for n partitions. */
static inline bool start_is_legal(int64_t start, int64_t n) {
  return start == 0 || ((start & 31) == 0 && (n <= 32 || (n <= 64 && start == 64)));
}

/* rules_collective.c: arg as in IrRuleUse */
bool rule_groups_disjoint(const IrCheck *c, const uint8_t *arg);
bool rule_groups_equal(const IrCheck *c, const uint8_t *arg);
bool rule_routes_once(const IrCheck *c, const uint8_t *arg);
bool rule_paired(const IrCheck *c, const uint8_t *arg);
bool rule_one_memory(const IrCheck *c, const uint8_t *arg);
bool rule_one_tensor(const IrCheck *c, const uint8_t *arg);
bool rule_same_shapes(const IrCheck *c, const uint8_t *arg);
bool rule_flat(const IrCheck *c, const uint8_t *arg);
bool rule_channels(const IrCheck *c, const uint8_t *arg);
bool rule_metadata(const IrCheck *c, const uint8_t *arg);
bool check_two_cores(const IrCheck *c); /* checks_cores.c: the grid is one of two physical cores */
/* checks_indirect.c: one operand that is an indirect view; then all of them, whose rows have been checked. */
bool check_picked(const IrCheck *c, const IrParam *p, const IrTile *t);
bool check_indirect(const IrCheck *c);
bool rule_holds(const IrCheck *c, const IrRuleUse *use);
#endif
