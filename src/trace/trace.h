/* trace.h -- room trace: one tracing session: buffers, instructions, loops and names of one kernel call, over all
   programs of its grid. No Lua here: lang/ (or a test, or a fuzzer) drives it. Every function that can fail fills t->d
   and returns false or NULL; the session stays usable only for tr_close. */
#ifndef NK_TRACE_H
#define NK_TRACE_H
#include "ir.h"

typedef struct TraceSpec {
  const char *func_name;
  Target target;
  bool target_is_fallback;
  int ngrid; /* 0: no grid */
  int64_t grid[IR_MAX_GRID];
  IrCores cores[IR_MAX_GRID]; /* checked by the caller (ir_check_cores) */
  bool legacy;                /* LegacyFrameworkKernel: a written parameter that is not returned is legal */
  int64_t max_instr;          /* NKILUA_MAX_INSTR, default 50 million */
} TraceSpec;

typedef struct TrLoop TrLoop;
typedef struct Trace {
  IrModule *m;
  IrFunc *f; /* program being traced */
  Diag *d;
  TraceSpec spec;
  int64_t program;    /* linear id of the program being traced */
  uint32_t loc, iter; /* where the next instruction comes from; set by the driver before each call */
  TrLoop *loop;       /* open traced and device loops, innermost first */
  uint64_t serial;    /* unique per program of a session in the process: tiles and index values remember it */
  bool folds;         /* the next instruction accumulates: what it carries between iterations is no fault */
  void *impl;         /* private: written-ness, per-program tables */
} Trace;

Trace *tr_open(Alloc alloc, const TraceSpec *spec, Diag *d);
/* Drops the session; the module too unless tr_finish handed it over. Accepts NULL. */
void tr_close(Trace *t);

/* One program after another, in row-major order; operands are declared again each time (the same ones). */
bool tr_begin_program(Trace *t);
const IrTile *tr_operand(Trace *t, const char *name, DType dtype, int rank, const int64_t *shape);
int64_t tr_program_id(const Trace *t, int axis); /* axis checked by the caller against spec.ngrid */

/* nl.ndarray and friends: checks rank, sizes, partitions, address; the name is made unique. */
const IrTile *tr_ndarray(Trace *t, const IrBufSpec *spec);
const IrTile *tr_constant(Trace *t, const IrBufSpec *spec);    /* kind BUF_CONST, HBM; equal ones are shared */
const IrTile *tr_cast(Trace *t, const IrTile *tile, DType to); /* view with another dtype over the same bytes */

/* Appends one instruction after checking it (ir_check_ins). v: one per parameter of the row, defaults already filled
   in; lists and strings must live as long as t->m (its arena). Also tracks written-ness and values carried between
   iterations of affine_range (warning). A refused instruction leaves nothing behind. */
IrIns *tr_emit(Trace *t, Op op, const IrVal *v, const char *label);
/* The same in two steps: an instruction that holds its defaults, for the caller to fill in, then its place in the
   trace. Begun and never emitted, it is as if it had not been. */
IrIns *tr_begin_ins(Trace *t, Op op);
bool tr_emit_ins(Trace *t, IrIns *ins, const char *label);
/* May an instruction of the running program, from number `from` on, have written elements of tile's tensor outside of
   box, a view of it (NULL: anywhere)? */
bool tr_wrote_beyond(const Trace *t, const IrTile *tile, const IrTile *box, uint32_t from);

/* Registers and affine index values. */
bool tr_reg_alloc(Trace *t, const char *name, uint32_t *reg);
bool tr_reg_read(Trace *t, uint32_t reg, uint32_t *idx);
typedef struct TrTerm {
  int64_t coef;
  uint32_t idx;
} TrTerm;
bool tr_affine(Trace *t, const TrTerm *term, int n, int64_t constant,
               uint32_t *out); /* sum of coef * idx, plus constant */

/* Loops. kind names the public function for messages. Traced loops only bracket iterations. */
typedef enum TrRange { TR_AFFINE, TR_SEQUENTIAL, TR_STATIC } TrRange;
uint32_t tr_loop_open(Trace *t, TrRange kind); /* at t->loc, the line of the `for`; the handle is never 0 nor reused */
bool tr_iter_begin(Trace *t, uint32_t loop, int64_t value); /* ends the previous iteration, and inner loops left open */
bool tr_loop_close(Trace *t, uint32_t loop); /* also on break and error; a loop already closed is no fault */
uint32_t tr_for_begin(Trace *t, IrVal lower, IrVal upper, int64_t step, uint32_t *idx); /* handle, 0 on error */
uint32_t tr_while_begin(Trace *t, uint32_t reg);
bool tr_device_end(Trace *t, uint32_t loop); /* must be the innermost open device loop */
bool tr_no_reorder(Trace *t, bool open);     /* nesting counted; one open at the end is an error */

typedef struct TrOpen {
  uint32_t id;   /* of this opening of the loop: never 0 nor reused */
  int64_t value; /* of the iteration being traced */
} TrOpen;
int tr_open_loops(const Trace *t, TrOpen *out, int max); /* open traced loops, innermost first, up to a device loop */

/* node.c -- kernels called inside the program. A node is begun, told its operands, and added where the list of nodes
   stood when it was begun (t->f->nnodes); nodes that were added meanwhile are inside it. NULL, false: out of memory. */
IrNode *tr_node_new(Trace *t, const char *func_name, uint32_t noperands);
bool tr_node_bind(Trace *t, IrNode *node, const char *param, const IrTile *tile);
bool tr_node_add(Trace *t, IrNode *node, uint32_t at, const IrTile *const *results, uint32_t nresults);

/* splice.c -- the program of a finished module becomes part of the running one: operands[i] stands for its operand i;
   results gets a tensor of the running program for each output. Only where tr_can_splice. */
bool tr_is_run(const Trace *t, const IrTile *tile); /* elements in a row, known now */
bool tr_can_splice(const Trace *t, const IrModule *m, const IrTile *const *operands);
bool tr_splice(Trace *t, const IrModule *m, const IrTile *const *operands, const IrTile **results);

/* Returns of the current program, then its end: checks outputs (in shared_hbm, written), merges with earlier programs.
 */
bool tr_return(Trace *t, const IrTile *const *outputs, uint32_t n, bool is_sequence);
bool tr_end_program(Trace *t);
/* After the last program, in this order: places all tiles; checks that outputs are stored to and written operands
   returned; names outputs, verifies. The caller owns the module. */
bool tr_allocate_pending_tensors(Trace *t);
bool tr_check_return(Trace *t);
IrModule *tr_finish(Trace *t);
/* Fills in the place of a failure (t->loc, its call chain, the iterations) and returns false. */
bool tr_fail_here(Trace *t);
/* Warnings of the session, '\n'-terminated lines ("warning: ..."). */
const char *tr_warnings(const Trace *t);
#endif
