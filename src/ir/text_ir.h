/* text_ir.h -- room ir: private to print*.c, lex.c and parse*.c: what the two directions of the IR text share.
   docs/ir.md is the description for readers. */
#ifndef NK_TEXT_IR_H
#define NK_TEXT_IR_H
#include <string.h>

#include "ir.h"

enum {
  TX_VERSION = 1,
  TX_MAX_NESTING = 64,   /* attributes inside attributes */
  TX_MAX_LOOPS = 256,    /* loops inside loops */
  TX_MAX_KEYS = 256,     /* attributes of one operation */
  TX_MAX_SPLAT = 1 << 28 /* bytes that constants may take beyond the length of the text */
};
#define TX_TAIL_CALL "(tail call)" /* file name of the frame that stands for those lost in a Lua tail call */
#define TX_VECTOR ".vector_offset" /* role of the index tensor of operand "<role>" */
#define TX_INDEX_TYPE "index"

typedef struct TxStr { /* a piece of the text, not NUL-terminated */
  const char *s;
  size_t n;
} TxStr;
#define TX_STR(literal) ((TxStr){"" literal, sizeof(literal) - 1})
static inline bool tx_eq(TxStr a, TxStr b) { return a.n == b.n && memcmp(a.s, b.s, a.n) == 0; }
static inline bool tx_is(TxStr a, const char *s) { return strlen(s) == a.n && memcmp(a.s, s, a.n) == 0; }

/* ---- print_plan.c: how a row's parameters are laid out in text; both directions follow it */
enum {
  TX_KEY_ap = -1,
  TX_KEY_ap_max = -2,
  TX_KEY_index_args = -3,
  TX_KEY_indirect_dim = -4,
  TX_KEY_name = -5,
  TX_KEY_roles = -6
};
typedef struct TxKey {
  const char *name;
  size_t n;  /* its length */
  int param; /* parameter, or TX_KEY_ */
} TxKey;
typedef struct TxPlan {
  bool roles; /* positions alone do not tell the operands apart */
  int noperand;
  int *operand; /* parameters in operand order: destinations first */
  int nkey;
  TxKey *key; /* every legal attribute, sorted bytewise */
} TxPlan;
typedef struct TxPlans {
  const TxPlan *plan[OP_count];
} TxPlans;
/* Made on first use, in `a`; NULL when memory is out. */
const TxPlan *tx_plan(TxPlans *plans, Arena *a, Op op);
bool tx_kind_is_operand(Kind k); /* a value of this kind can be a memref operand */
bool tx_is_default(const IrParam *p, const IrVal *v);
/* First element type that prints as this MLIR name, DT_none when there is none. */
DType tx_dtype_of_mlir(TxStr name);
/* Another dtype prints as the same MLIR type and comes first, so a `dtype` attribute is needed. */
bool tx_dtype_hidden(DType d);
/* Element type of the tensor<> of a constant's dense<>: one whose stored bytes are ours. */
const char *tx_dense_elt(DType d);

/* ---- lex.c, parse*.c */
typedef enum TxTypeKind { TY_NONE, TY_ELT, TY_MEMREF, TY_TENSOR, TY_FUNC } TxTypeKind;
enum { ELT_index = 100, ELT_i64, ELT_ui64, ELT_f64, ELT_f8E3M4 }; /* beside the DT_ values */
typedef struct TxType {
  TxTypeKind kind;
  int elt;
  Space space;
  int rank;
  int64_t shape[IR_MAX_RANK];
  int64_t count;
} TxType;

typedef enum TxAttrKind {
  AT_INT,
  AT_FLOAT,
  AT_STRING,
  AT_BOOL,
  AT_UNIT,
  AT_SYMBOL,
  AT_ARRAY,
  AT_DICT,
  AT_DENSE,
  AT_TYPE
} TxAttrKind;
typedef struct TxAttr TxAttr;
struct TxAttr {
  uint8_t kind;
  bool used;
  uint8_t elt;    /* AT_INT, AT_FLOAT: the type behind ':', 0 when none */
  uint32_t n;     /* AT_ARRAY, AT_DICT: elements */
  TxStr key;      /* of a dictionary entry */
  const char *at; /* where the value (of an entry: the key) begins */
  union {
    int64_t i; /* AT_INT, AT_BOOL */
    double f;
    TxStr s; /* AT_STRING, AT_SYMBOL: decoded; AT_DENSE: between '<' and '>'; AT_TYPE: source */
    TxAttr *child;
  } u;
  TxStr type; /* AT_DENSE: source of its tensor type */
  TxAttr *next;
};

typedef enum TxValueKind { VK_BUF, VK_INDEX, VK_CONST, VK_TEST } TxValueKind;
typedef struct TxValue {
  TxStr name;
  uint64_t hash;
  TxValueKind kind;
  uint32_t id;    /* VK_BUF: buffer, VK_INDEX: index value, VK_TEST: register (a while condition) */
  int64_t number; /* VK_CONST */
  TxStr type;     /* as spelled at the definition */
} TxValue;
/* Names in order of definition, found by hash. Leaving a scope removes the newest ones. */
typedef struct TxTable {
  TxValue *list;
  uint32_t count, cap;
  uint32_t *slot; /* position in list + 1, 0 = free */
  uint32_t nslot;
} TxTable;

typedef struct TxOperand {
  const TxValue *value;
  const char *at;
} TxOperand;
typedef struct TxOp { /* one operation as written */
  TxStr result, name;
  const char *result_at, *at; /* at: the operation's name */
  const char *spelled;        /* the name, NUL-terminated, for messages */
  TxOperand *operand;
  uint32_t noperand, capoperand;
  TxAttr *attr, **attr_end;
  uint32_t nattr;
  TxStr result_spelled;
  TxType result_type;
  uint32_t loc;
} TxOp;

enum { TX_CACHE = 256, TX_MEMREFS = 4 };
typedef struct Tx { /* one parse */
  const char *text, *p, *end, *what;
  Diag *d;
  Arena keep;    /* for the whole parse */
  Arena scratch; /* for one operation */
  IrModule *m;
  IrFunc *f;
  TxTable values; /* of the function */
  TxTable funcs;
  TxPlans plans;
  int loops;          /* open loops */
  const char *ended;  /* terminator just read, NULL inside a block */
  uint32_t yield_loc; /* of the newest scf.yield */
  int64_t splat;      /* bytes of constants so far */
  uint32_t *programs;
  const char *programs_at;
  struct {
    TxStr text;
    uint32_t id;
  } loc[TX_CACHE];
  struct {
    TxStr name;
    int op;
  } op[TX_CACHE];
  struct {
    TxStr text;
    TxType type;
  } memref[TX_MEMREFS]; /* types of results */
  unsigned nmemref;
} Tx;

/* Errors: TX_ERR(x, position, id, arguments after "what:line:column"). */
long tx_line(const Tx *x, const char *at);
long tx_column(const Tx *x, const char *at);
#define TX_ERR(x, at, id, ...) DIAG((x)->d, id, (x)->what, tx_line((x), (at)), tx_column((x), (at)), __VA_ARGS__)
bool tx_expected(Tx *x, const char *what); /* at x->p */
const char *tx_cstr(Tx *x, TxStr s);       /* scratch copy for messages, shortened when very long */
const char *tx_did_you_mean(Tx *x, TxStr s, const char *const *names); /* "; did you mean 'x'?" or "" */

/* Tokens; white space and comments are skipped first. */
void tx_space_slow(Tx *x);
static inline void tx_space(Tx *x) {
  if (x->p < x->end && *x->p == ' ') x->p++;
  if (x->p < x->end && (*x->p <= ' ' || *x->p == '/')) tx_space_slow(x);
}
static inline bool tx_peek(Tx *x, char c) {
  tx_space(x);
  return x->p < x->end && *x->p == c;
}
static inline bool tx_take(Tx *x, char c) {
  if (!tx_peek(x, c)) return false;
  x->p++;
  return true;
}
bool tx_need(Tx *x, char c);
bool tx_need_arrow(Tx *x);
int tx_hex_digit(char c);                   /* 0 to 15, or -1 */
bool tx_take_word(Tx *x, const char *word); /* a whole bare word */
bool tx_word(Tx *x, const char *what, TxStr *out);
bool tx_string(Tx *x, const char *what, TxStr *out);
bool tx_value_name(Tx *x, TxStr *out);               /* after '%' */
bool tx_digits(Tx *x, int64_t *out);                 /* unsigned decimal */
bool tx_skip_braces(Tx *x);                          /* x->p at '{': moves behind the matching '}' */
const char *tx_name(Tx *x, TxStr s, const char *at); /* module copy; NULL (d filled) when it holds a NUL byte */

bool tx_type(Tx *x, TxType *out); /* one element type, memref or tensor */
bool tx_skip_func_type(Tx *x);
bool tx_need_types(Tx *x, TxOp *op); /* the functype of an operation, against its operands */
/* function_type against what the function has; `in` and `out` are buffer ids. */
bool tx_check_func_type(Tx *x, const TxAttr *a, const uint32_t *out, uint32_t nout);
const char *tx_elt_name(int elt);

bool tx_dict(Tx *x, TxOp *op, char close);  /* entries up to `close`, appended to op's attributes */
const char *tx_attr_noun(const TxAttr *a);  /* "a list", for messages */
TxAttr *tx_attr(TxOp *op, const char *key); /* marks it as used; NULL when absent */
bool tx_attr_bad(Tx *x, const TxOp *op, const TxAttr *a, const char *wanted);
bool tx_attr_need(Tx *x, TxOp *op, const char *key, TxAttr **out);
bool tx_attrs_done(Tx *x, const TxOp *op, const char *const *known); /* every attribute was used */
bool tx_get_string(Tx *x, TxOp *op, const char *key, TxStr *out);    /* required */
bool tx_get_name(Tx *x, TxOp *op, const char *key, const char **out);
bool tx_get_dtype(Tx *x, TxOp *op, const TxType *type, DType *out);        /* `dtype`, which must print as the type's */
bool tx_ints(Tx *x, const TxOp *op, const TxAttr *a, const int64_t **out); /* a list of integers, in the module */
bool tx_dense(Tx *x, const TxOp *op, const TxAttr *a, const IrBufSpec *spec, const void **out);

uint64_t tx_hash(TxStr s);
const TxValue *tx_find(const TxTable *t, TxStr name);
bool tx_add(Tx *x, TxTable *t, TxValue v, const char *at); /* refuses a name that is there already */
void tx_cut(TxTable *t, uint32_t count);                   /* back to this many */

/* Pieces of an operation: name and operands; then attributes, types and location. A handler is called after the head.
 */
bool tx_head(Tx *x, TxOp *op);
bool tx_tail(Tx *x, TxOp *op);
bool tx_loc(Tx *x, uint32_t *out);
bool tx_define(Tx *x, const TxOp *op, TxValueKind kind, uint32_t id, int64_t number); /* op's result */
bool tx_result(Tx *x, const TxOp *op, bool wanted); /* has a result exactly if wanted */
bool tx_index_id(Tx *x, const TxOperand *o,
                 uint32_t *id); /* index value of an operand; a constant becomes an nki.idx */
IrIns *tx_append(Tx *x, const TxOp *op, Op code, const IrVal *v,
                 uint32_t nval); /* with op's location; NULL: out of memory */
bool tx_block_header(Tx *x);     /* "^bb0(" */
bool tx_block_arg(Tx *x, TxStr *name, const char **at, TxStr *spelled, TxType *type);
bool tx_block(Tx *x, const char *terminator, const char *owner); /* operations up to and with '}' */

bool tx_row_op(Tx *x, TxOp *op, Op row); /* parse_ops.c: an instruction of ops.def */
typedef bool (*TxHandler)(Tx *x, TxOp *op);
size_t tx_core_names(const char **out); /* fills in the names of those operations, at most 16 */
TxHandler tx_core_op(TxStr name);       /* parse_core.c, parse_loop.c: structure; NULL when it is none */
bool tx_op_for(Tx *x, TxOp *op);
bool tx_op_while(Tx *x, TxOp *op);
bool tx_module(Tx *x); /* parse_func.c: the whole text */

/* ir_parse without ir_verify and ir_place: any well-formed module, for tests of the text alone. */
IrModule *ir_parse_unverified(Alloc alloc, const char *text, size_t n, const char *what, Diag *d);
#endif
