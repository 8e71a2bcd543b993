/* ir.h -- room ir: the whole program model: dtypes, operators, buffers, tiles (access patterns), instructions, modules.
   A module is built by build.c (called by trace/ and by the parser), then frozen: everything after reads it through
   const. All memory of a module is in its arena. Sizes, counts and offsets are int64, in elements unless a name says
   bytes. */
#ifndef NK_IR_H
#define NK_IR_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "diag.h"
#include "ir_types.h"
#include "text.h"

/* ---- locations --------------------------------------------------------------------------------------------------- */
/* Interned: equal locations have equal ids; 0 = unknown. parent = call site of the kernel function that contains the
 * line. */
typedef struct IrLoc {
  const char *file; /* relative to the script's folder */
  int line;
  bool tail; /* a Lua tail call lost frames above this one */
  uint32_t parent;
} IrLoc;
/* Iteration context of traced (unrolled) loops, innermost first; 0 = none. Not part of the IR's identity or text. */
typedef struct IrIter {
  uint32_t parent;
  uint32_t loop_loc; /* line of the `for` */
  int64_t value;     /* loop value of this iteration */
} IrIter;

/* ---- buffers, tiles ---------------------------------------------------------------------------------------------- */
#define IR_MAX_RANK 8
typedef enum BufKind { BUF_ARG, BUF_ALLOC, BUF_CONST, BUF_VIEW } BufKind;
typedef struct IrBuf {
  uint32_t id; /* index in IrFunc.bufs, also the SSA value number in text order of creation */
  BufKind kind;
  Space space;
  DType dtype;
  int rank; /* 0 for a register */
  int64_t shape[IR_MAX_RANK];
  int64_t count;          /* product of shape; on chip: shape[0] partitions times free size */
  const char *name;       /* unique in its function; never NULL */
  bool named;             /* name= was given */
  uint32_t base;          /* BUF_VIEW: the buffer whose bytes these are (never itself a view) */
  int32_t shared_ordinal; /* k-th shared_hbm allocation of its program; -1 otherwise */
  bool has_address;       /* address= was given: part/byte hold it */
  int32_t part;           /* on chip: start partition; filled by ir_place when not given */
  int64_t byte;           /* on chip: byte offset in the partition */
  uint32_t loc;
  const void *data;   /* BUF_CONST: count * bytes, little endian */
  int64_t part_bytes; /* on chip: bytes per partition */
  int64_t row;        /* elements of one index of dim 0: on chip, of one partition */
  bool plain; /* its whole tile meets every engine's limits on partitions and sizes (a shortcut for the checks) */
} IrBuf;

typedef struct IrDim {
  int64_t stride, count; /* stride in elements of the tile's buffer; 0 = broadcast */
} IrDim;

/* A view of a buffer. On chip dim[0] is the partition axis and its stride is the buffer's free size.
   Element (i0, i1, ...) is at flat element offset + value(dyn) + sum stride*i. With `vec` in HBM (vec_dim 0) dim 0
   instead selects row vec[i0] of the buffer: + vec[i0] * dim[0].stride. With `vec` on chip (vec_dim 1, rank 2) dim 1,
   whose stride is 0, picks single elements of each partition: + the i1-th number of the list in vec that the group of
   i0 has (view_indirect). Immutable after creation. */
typedef struct IrTile {
  uint32_t buf;
  uint8_t rank;
  bool whole; /* the whole buffer in order, static: prints as []; true exactly for the tile ir_whole returns */
  int64_t offset;
  uint32_t dyn;             /* index value (in elements) added to the offset; 0 = static */
  int64_t dyn_max;          /* run-time check: 0 <= value(dyn) <= dyn_max, or the view would leave its dimension; the
                               same for what an index tensor adds */
  const struct IrTile *vec; /* integer tile in SBUF, (P,1) or on chip (P,K); or NULL */
  int vec_dim;
  IrDim dim[IR_MAX_RANK];
} IrTile;

static inline bool tile_is_picked(const IrTile *t) { return t->vec && t->vec_dim == 1; } /* view_indirect */
/* Partitions that share one list of numbers of an index tensor: number i is in row i mod G, column i div G of the
 * group. */
static inline int pick_group(int engine) { return engine == engine_tensor ? 32 : 16; }
static inline int64_t tile_parts(const IrTile *t) { return t->rank ? t->dim[0].count : 1; }
static inline int64_t tile_free(const IrTile *t) { /* elements per partition (product of dims 1..) */
  int64_t n = 1;
  for (int i = 1; i < t->rank; i++) n *= t->dim[i].count;
  return n;
}
static inline int64_t tile_count(const IrTile *t) { return tile_parts(t) * tile_free(t); } /* all elements */

/* ---- values of an instruction ------------------------------------------------------------------------------------ */
typedef enum ValKind {
  V_NONE,  /* not given */
  V_TILE,  /* tile */
  V_NUM,   /* num: the exact double */
  V_INT,   /* i: flag (0/1), tri-state, enum member, Alu, Act, plain integer */
  V_INTS,  /* ints[0..n) */
  V_PAIRS, /* pairs: ints[0..2n): step, num */
  V_TILES, /* tiles[0..n) */
  V_LISTS, /* ints: n times a length and that many integers */
  V_REG,   /* reg: buffer id of a register */
  V_IDX,   /* idx: index value (loop variable, register read, affine) */
  V_STR    /* str: NUL-terminated, n = length */
} ValKind;
typedef struct IrVal {
  uint8_t kind;
  uint32_t n;
  union {
    const IrTile *tile;
    double num;
    int64_t i;
    const int64_t *ints;
    const IrTile *const *tiles;
    uint32_t reg, idx;
    const char *str;
  } u;
} IrVal;

/* ---- instructions (ops.def) -------------------------------------------------------------------------------------- */
typedef enum Op {
  OP_none,
#define OP(name, ...) OP_##name,
#define P(...)
#define R(...)
#include "ops.def"
  OP_count,              /* below: structure, not in ops.def */
  CORE_alloc = OP_count, /* v[0] V_INT buffer id: the buffer (or register) begins to exist */
  CORE_idx,      /* result = const + sum coef_i * idx_i.  v[0] V_INTS coefs, v[1] V_INTS idx ids, v[2] V_INT const */
  CORE_reg_read, /* result = value of register v[0] */
  CORE_for,      /* result = loop variable; v[0] lower, v[1] upper (V_INT or V_IDX), v[2] V_INT step >= 1 */
  CORE_end_for,
  CORE_while, /* v[0] V_REG: while the register is nonzero, do the body */
  CORE_end_while,
  CORE_count
} Op;

typedef struct IrIns {
  uint16_t op;
  uint16_t nval; /* for rows of ops.def: the row's parameter count */
  uint32_t loc, iter;
  uint32_t result;   /* index value defined by this instruction, 0 = none */
  uint32_t match;    /* for/while: position of the matching end, and back */
  const char *label; /* name= of the instruction, or NULL */
  IrVal v[];
} IrIns;

/* Typed view of v[]: ARGS(activation, ins)->bias */
#define OP(name, engines, gen, cost, shape, effects, rules, check, doc, ...) \
  typedef struct Args_##name {                                               \
    __VA_ARGS__                                                              \
  } Args_##name;
#define P(role, kind, name, def, domain, gen) IrVal name;
#define R(...)
#include "ops.def"
#define ARGS(name, ins) ((const Args_##name *)(const void *)(ins)->v)

/* RESULT: a register that the instruction makes and returns; the last parameter, not one of the public signature. */
typedef enum Role { DST, DST_OPT, SRC, SRC_OPT, INOUT, ATTR, RESULT } Role;
static inline bool role_writes(Role r) { return r == DST || r == DST_OPT || r == INOUT || r == RESULT; }
typedef enum Kind {
  K_tile,
  K_column /* (P,1) */,
  K_number,
  K_number_or_column,
  K_number_or_tile,
  K_alu,
  K_act,
  K_enum,
  K_flag,
  K_tristate,
  K_int,
  K_ints,
  K_int_or_ints,
  K_pairs,
  K_routes, /* [source, target] */
  K_groups, /* lists of ranks */
  K_tiles,
  K_channels, /* tensors, one for each channel: in Lua a list of lists of one */
  K_reg,
  K_int_or_reg,
  K_str
} Kind;
typedef struct IrParam {
  const char *name;
  Role role;
  Kind kind;
  bool required;
  IrVal def;          /* when not required and not given; V_NONE = stays absent */
  uint32_t spaces;    /* tiles: mask of 1 << Space */
  uint32_t dtypes[3]; /* tiles: mask of DM() per generation 2, 3, 4 */
  bool dynamic;       /* may be a view with a run-time scalar offset */
  bool vector;        /* may be a view with a vector offset */
  bool picked;        /* may be an indirect view (gen4) */
  bool scale;         /* starts at partition 0, 4, 8 or 12 of any 32: the scales of packed tiles */
  uint64_t set;       /* K_alu: mask of AM(id); K_enum: EnumType */
  double lo, hi;      /* K_int, K_number: legal range */
  Gen gen;
} IrParam;

typedef enum Rule {
  RULE_none,
#define RULE(name, doc) RULE_##name,
#include "rules.def"
#undef RULE
  RULE_count
} Rule;
typedef struct IrRuleUse {
  uint8_t rule;
  uint8_t arg[6]; /* parameter index + 1; 0 = end */
} IrRuleUse;

typedef enum ShapeKind {
  SH_LANEWISE,
  SH_CONTRACT,
  SH_TRANSPOSE,
  SH_REDUCE,
  SH_SCAN,
  SH_PATTERN,
  SH_MOVE,
  SH_STATS,
  SH_SCALAR
} ShapeKind;
enum { /* effects */
       FX_NONE = 0,
       FX_ACC_SCALAR = 1, /* may read and write the Scalar engine's accumulator registers */
       FX_ACC_VECTOR = 2,
       FX_PSUM = 4,    /* accumulation state of PSUM locations */
       FX_PARTIAL = 8, /* may leave part of the destination as it was */
       FX_PRNG = 16,
       FX_BARRIER = 32,
       FX_HOST = 64,       /* speaks to the host (device_print) */
       FX_COLLECTIVE = 128 /* needs the other ranks, or to know its own */
};

struct IrFunc;
struct IrModule;
typedef struct IrCheck { /* what a rule or check_<op> may look at */
  const struct IrModule *module;
  const struct IrFunc *func;
  const IrIns *ins;
  const struct OpInfo *op;
  Gen gen;
  int engine; /* ir_engine of ins */
  Diag *d;
} IrCheck;

typedef struct OpInfo {
  const char *name;
  const char *dialect; /* "nisa", "ncc" (engine cc) or "nki" (engine sim) */
  const char *full;    /* "nisa.tensor_copy" */
  uint32_t engines;    /* EM_ mask; more than one: parameter `engine` chooses */
  Gen gen;
  const char *cost; /* name of the cost formula */
  ShapeKind shape;
  uint32_t effects;
  bool (*check)(const IrCheck *c); /* NULL when the rules say all */
  const char *doc;
  const IrParam *params;
  const IrVal *defaults; /* one per parameter: what an instruction holds before its arguments */
  int nparams;
} OpInfo;
extern const OpInfo op_info[OP_count];
const IrRuleUse *op_rules(Op op);                           /* ends with RULE_none */
Op op_parse(const char *name, size_t n);                    /* "tensor_copy" */
int op_param(const OpInfo *op, const char *name, size_t n); /* index or -1 */
int op_public(const OpInfo *op);                            /* parameters of the public signature */
/* Does this instruction write the tensors of its parameter p? */
bool ir_writes(const IrIns *ins, int p);
/* The list of ranks that has this one, and its place there; NULL when there is none. */
const int64_t *ir_group_of(const IrVal *groups, int64_t rank, int64_t *size, int64_t *place);
/* Are there no ranks in a list, or is one in two places? Then why holds the reason. */
bool ir_groups_fault(const IrVal *groups, char why[96]);
bool ir_has_collectives(const struct IrModule *m);
const char *rule_doc(Rule r);
const char *rule_name(Rule r);
/* First axis of a legal reduction `axis` (V_INT or V_INTS, negative counts from the end) of a tile of this rank: the
   axes are first..rank-1 in any order; 0 when the axes are not a run of free axes that ends at the last one. */
int ir_reduce_first(const IrVal *axis, int rank);
/* Reports that they are none, and which would be; who: the function ("nl.sum"), its parameter. Always false. */
bool ir_bad_reduce_axes(const struct IrFunc *f, const IrTile *t, const IrVal *axis, const char *const who[2], Diag *d);
/* Engine that executes an instruction: the `engine` argument if set, else the documented automatic choice. */
int ir_engine(const struct IrFunc *f, const IrIns *ins); /* engine enum value, ENGINE_SIM, or 0 for structure */

/* ---- nodes ------------------------------------------------------------------------------------------------------- */
typedef struct IrBinding { /* a parameter and the tensor of the program that it stands for */
  const char *param, *tensor;
} IrBinding;
/* A kernel that was called inside the program. No part of the program: not in its text. */
typedef struct IrNode {
  const char *func_name;
  const char *library; /* module of the kernel library, or NULL */
  const char *key;     /* of the specialization that was spliced in; NULL: its body ran here */
  IrBinding *operands;
  uint32_t noperands;
  const char **results; /* tensors of the program */
  uint32_t nresults;
  uint32_t depth; /* 0: called by the kernel itself, 1: by a kernel that it called, ... */
  uint32_t loc;   /* of the call */
} IrNode;

/* ---- functions and modules --------------------------------------------------------------------------------------- */
typedef struct IrFunc {
  const char *name;
  IrBuf **bufs; /* arguments first */
  uint32_t nbufs, capbufs, nargs;
  IrIns **ins;
  uint32_t nins, capins;
  uint32_t *rets; /* buffer ids, in output order */
  uint32_t nrets;
  uint32_t nidx;  /* index values are 1..nidx */
  IrNode **nodes; /* in the order of the calls */
  uint32_t nnodes, capnodes;
  const IrTile **whole;  /* whole-buffer tile of each buffer, by id */
  struct IrNames *names; /* private to build.c: buffer names in use */
} IrFunc;

#define IR_MAX_GRID 8
/* How an axis of the grid is spread over physical cores: index i of the axis is on core i / block mod count. An axis
   that stays on one core has count 1 (or 0) and its block says nothing. */
typedef struct IrCores {
  int64_t count, block;
} IrCores;
typedef struct IrAlias {
  int32_t operand, output;
} IrAlias;
typedef struct IrModule {
  Arena arena;
  int32_t refs; /* atomic */
  Target target;
  bool target_is_fallback;
  const char *name; /* func_name */
  int ngrid;
  int64_t grid[IR_MAX_GRID];
  IrCores cores[IR_MAX_GRID];
  IrFunc **func; /* distinct programs */
  uint32_t nfunc;
  uint32_t *program; /* function index per program, row-major; NULL: every program runs func[0] */
  int64_t nprogram;  /* product of grid, 1 without a grid */
  const char *
      *arg_names;   /* func[0]->nargs names: operands then constant tensors do not appear here (they are BUF_CONST) */
  IrAlias *aliases; /* ordered by output */
  uint32_t naliases;
  bool result_is_sequence;
  bool has_collectives;      /* said by the kernel's class, although the program has none */
  const char **output_names; /* nrets */
  const char *bound;    /* digest of what the program was specialized to besides tensors (emit.h); NULL: to nothing */
  const char *warnings; /* lines that the trace gave; NULL: none. No part of the program */
  IrLoc *locs;          /* 1-based: locs[0] unused */
  uint32_t nlocs, caplocs;
  IrIter *iters; /* 1-based */
  uint32_t niters, capiters;
  struct IrIntern *intern; /* private to build.c: finds locs and iters */
} IrModule;

/* cores.c */
int64_t ir_core_count(const IrCores *cores, int naxes); /* physical cores, 1 when no axis is spread */
int ir_core_of(const IrModule *m, int64_t program);     /* row-major over the spread axes */
typedef struct IrGrid {
  int naxes;
  const int64_t *size;
  const IrCores *cores;
} IrGrid;
bool ir_check_cores(const char *kernel, Target target, IrGrid g, Diag *d); /* has the target so many, evenly used? */

/* build.c -- the only writer of modules. Allocation failures are sticky in module->arena.oom. */
IrModule *ir_module_new(Alloc alloc, Target target); /* refs = 1; NULL when out of memory */
IrModule *ir_retain(const IrModule *m);
void ir_release(const IrModule *m); /* accepts NULL */
IrFunc *ir_func_new(IrModule *m, const char *name);
void ir_func_drop(IrModule *m); /* forgets the newest function */
/* Buffers: shape is copied, name must be unique in f (see ir_unique_name). */
typedef struct IrBufSpec {
  BufKind kind;
  Space space;
  DType dtype;
  int rank;
  const int64_t *shape;
  const char *name; /* NULL: "<space>_<ordinal>" */
  bool has_address;
  int32_t part;
  int64_t byte;
  uint32_t base, loc;
  const void *data;
} IrBufSpec;
/* Is such a buffer possible: rank, sizes (no int64 overflow), partitions, dtype of this generation, capacity, address.
 */
bool ir_check_spec(const IrModule *m, const IrBufSpec *spec, Diag *d); /* verify.c */
IrBuf *ir_buf_new(IrModule *m, IrFunc *f, const IrBufSpec *spec);
const char *ir_unique_name(IrModule *m, const IrFunc *f, const char *wanted); /* wanted, else wanted_1, wanted_2 ... */
IrTile *ir_tile_new(IrModule *m);                                             /* zeroed */
const IrTile *ir_whole(const IrFunc *f, uint32_t buf);
IrIns *ir_append(IrModule *m, IrFunc *f, Op op, const IrVal *v, uint32_t nval); /* copies v; sets nothing else */
/* The same in two steps, for who fills v in place: an instruction that is nowhere yet, v unset, and its end of the
 * list. */
IrIns *ir_ins_new(IrModule *m, Op op, uint32_t nval);
bool ir_ins_push(IrModule *m, IrFunc *f, IrIns *ins);
uint32_t ir_new_index(IrFunc *f);
uint32_t ir_loc(IrModule *m, const char *file, int line, bool tail, uint32_t parent); /* interned */
uint32_t ir_iter(IrModule *m, uint32_t parent, uint32_t loop_loc, int64_t value);

/* view.c -- access-pattern algebra over tiles; every function returns a new tile or fills d (naming the tensor). */
typedef struct ViewCtx {
  IrModule *m;
  const IrFunc *f;
  Diag *d;
} ViewCtx;
typedef struct IrSlice { /* one dim of an index: [start, start+count*step) or a single index that may drop the dim */
  bool is_index;
  bool dynamic; /* starts at value(idx) elements of the buffer plus start: idx is already scaled by the dim's stride */
  uint32_t idx;
  int64_t start, count, step;
} IrSlice;
const IrTile *view_index(ViewCtx *c, const IrTile *t, const IrSlice *s,
                         int n); /* n == rank; applies the on-chip rank rules */
const IrTile *view_slice(ViewCtx *c, const IrTile *t, int dim, IrSlice s);
const IrTile *view_select(ViewCtx *c, const IrTile *t, int dim, IrSlice s);
const IrTile *view_permute(ViewCtx *c, const IrTile *t, const int64_t *dims, int n);
const IrTile *view_broadcast(ViewCtx *c, const IrTile *t, int dim, int64_t size);
const IrTile *view_expand_dim(ViewCtx *c, const IrTile *t, int dim);
const IrTile *view_squeeze_dim(ViewCtx *c, const IrTile *t, int dim);
const IrTile *view_reshape_dim(ViewCtx *c, const IrTile *t, int dim, const int64_t *shape, int n); /* one -1 allowed */
const IrTile *view_flatten_dims(ViewCtx *c, const IrTile *t, int first, int last);
const IrTile *view_reshape(ViewCtx *c, const IrTile *t, const int64_t *shape, int n);
const IrTile *view_vector_select(ViewCtx *c, const IrTile *t, int dim, const IrTile *vec);
/* Free elements picked at run time by the lists of uint16 numbers in index (P,K); num_elem 0: as many as index has. */
const IrTile *view_indirect(ViewCtx *c, const IrTile *t, const IrTile *index, int64_t num_elem);
typedef struct ViewAp { /* .ap(): pattern over the storage, ignoring the current view */
  const int64_t *pairs;
  int npairs; /* stride, count */
  bool has_offset;
  int64_t offset;      /* absent: the view's storage offset is inherited; given: added to it */
  uint32_t scalar_idx; /* index value in elements (scaled by view_ap_scale), 0 none */
  const IrTile *vec;
  int indirect_dim;
} ViewAp;
const IrTile *view_ap(ViewCtx *c, const IrTile *t, const ViewAp *ap);
/* Elements that one step of a scalar offset on dim indirect_dim of the storage moves; 0 when there is no such dim. */
int64_t view_ap_scale(const IrFunc *f, const IrTile *t, int indirect_dim);
/* Reinterpretation: needs a BUF_VIEW buffer of the new dtype in f (made by the caller with view_cast_shape). */
bool view_cast_shape(ViewCtx *c, const IrTile *t, DType to, int64_t shape[IR_MAX_RANK], int *rank);
const IrTile *view_cast(ViewCtx *c, const IrTile *t, const IrBuf *newbuf);
/* What t chooses of a tensor, chosen of `run`, elements in a row that stand for that tensor. */
const IrTile *view_within(ViewCtx *c, const IrTile *t, const IrTile *run);
/* The same elements, chosen in the same way. */
bool tile_equal(const IrTile *a, const IrTile *b);
bool tile_is_contiguous(const IrFunc *f, const IrTile *t);
/* "t[128,512] bfloat16 in sbuf" for messages. */
void tile_describe(const IrFunc *f, const IrTile *t, Text *out);
void shape_describe(DType dtype, int rank, const int64_t *shape, Text *out); /* "float32[4,8]" */

/* rules.c, verify.c -- what the hardware would refuse. */
bool ir_check_ins(const IrModule *m, const IrFunc *f, const IrIns *ins,
                  Diag *d); /* one instruction; sets d->where from ins->loc */
/* The same; *spaces gets the mask of 1 << Space of its tiles. */
bool ir_check_ins_spaces(const IrModule *m, const IrFunc *f, const IrIns *ins, uint32_t *spaces, Diag *d);
/* Does ir_check_ins accept b because it accepted a? Says no where that takes a closer look. */
bool ir_ins_alike(const IrFunc *f, const IrIns *a, const IrIns *b);
bool ir_verify(const IrModule *m,
               Diag *d); /* whole module: every instruction, def before use, nesting, returns, outputs, addresses */
void ir_diag_where(const IrModule *m, uint32_t loc, uint32_t iter, Diag *d); /* adds line, call chain, iterations */
/* place.c -- lifetimes and addresses of on-chip buffers (first-fit over [allocation, last use]); error lists the live
 * tiles. */
enum { IR_PLACE_ALIGN = 4 }; /* bytes: of the offsets it chooses, beside address= */
bool ir_place(IrModule *m, Diag *d);
/* Last instruction position that uses each buffer (views count for their base; a use inside a loop lasts to the loop's
 * end). */
bool ir_lifetimes(const IrFunc *f, uint32_t *first, uint32_t *last);
int64_t ir_mac_count(const IrModule *m); /* sum of K*M*N over matmuls and programs; device-loop bodies once */
bool ir_val_equal(const IrVal *a, const IrVal *b);
bool ir_func_equal(const IrModule *m, const IrFunc *a, const IrFunc *b);

/* print.c, parse.c -- canonical text; print(parse(print(m))) == print(m). */
bool ir_print(const IrModule *m, Text *out);
IrModule *ir_parse(Alloc alloc, const char *text, size_t n, const char *what,
                   Diag *d); /* verified and placed; NULL on error */
#endif
