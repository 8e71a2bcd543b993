/* print_ir.h -- room ir: private to print*.c: the state of one printing. */
#ifndef NK_PRINT_IR_H
#define NK_PRINT_IR_H
#include "text_ir.h"

typedef struct PrBuf { /* a buffer as it is spelled at every use, and the views to define behind it */
  TxStr ref, type;
  uint32_t first_view, last_view, next_view; /* buffer ids + 1, in order of id */
} PrBuf;

typedef struct PrOperand {
  uint32_t buf;
  const IrTile *tile; /* NULL: a register */
  const char *role;
  bool vector; /* the index tensor of operand `role` */
} PrOperand;

typedef struct Print {
  const IrModule *m;
  const IrFunc *f;
  Text *out;
  Arena tmp;
  TxPlans plans;
  PrBuf *buf;
  uint32_t *index; /* number in text of each index value */
  uint32_t nindex;
  struct {
    size_t at, n;
  } * loc;            /* where in `out` a location was spelled first */
  PrOperand *operand; /* of the instruction being printed */
  uint32_t noperand, capoperand;
  int depth;
} Print;

static inline void pr_add(Print *p, const char *s, size_t n) {
  Text *t = p->out;
  if (t->data && n < t->cap - t->len) {
    memcpy(t->data + t->len, s, n);
    t->len += n;
    t->data[t->len] = '\0';
  } else {
    text_add(t, s, n);
  }
}
#define pr_lit(p, literal) pr_add((p), "" literal, sizeof(literal) - 1)
static inline void pr_puts(Print *p, const char *s) { pr_add(p, s, strlen(s)); }
static inline void pr_str(Print *p, TxStr s) { pr_add(p, s.s, s.n); }

void pr_int(Print *p, int64_t v);
void pr_double(Print *p, double v); /* the bit pattern when not finite */
void pr_quoted(Print *p, const char *s, size_t n);
void pr_indent(Print *p);
void pr_loc(Print *p, uint32_t loc);
void pr_constant_ref(Print *p, int64_t v); /* %c<v> */
void pr_index_ref(Print *p, uint32_t idx); /* %i<number> */
void pr_list(Print *p, const int64_t *v, uint32_t n);

void pr_spell_buffers(Print *p);         /* fills p->buf */
void pr_ins(Print *p, const IrIns *ins); /* a row of ops.def */
#endif
