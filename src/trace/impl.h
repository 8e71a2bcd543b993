/* impl.h -- room trace: private; what a session knows besides the module it builds. */
#ifndef NK_TRACE_IMPL_H
#define NK_TRACE_IMPL_H
#include "trace.h"

/* Which elements of a buffer an access touches: a box over the buffer's dims when the pattern is one, else an interval.
 */
typedef struct Region {
  int64_t lo, hi; /* first and last byte, as if the buffer were row-major from 0 */
  int64_t count;  /* elements */
  int64_t
      reach; /* elements it may be, which are more when the offset is known at run time only; lo, hi, dim hold all */
  int rank;  /* 0: only the interval is known */
  struct {
    int64_t start, count, step;
  } dim[IR_MAX_RANK];
} Region;
/* False of a tensor without dims. */
bool region_of(const IrFunc *f, const IrTile *t, Region *r);
bool region_overlap(const Region *a, const Region *b); /* may say true of two that interleave */
bool region_equal(const Region *a, const Region *b);
bool region_holds(const Region *box, const Region *r); /* all of r, where that is sure; box: steps of 1 */
static inline bool region_moves(const Region *r) { return r->reach != r->count; }

enum { CARRY_KEPT = 16 }; /* distinct regions remembered per buffer; beyond that the oldest are forgotten */
typedef struct RegionSet {
  uint32_t n, next;
  Region *r; /* CARRY_KEPT of them, allocated with the first */
} RegionSet;

/* A buffer made before the current iteration and touched in this affine loop. */
typedef struct Carry {
  uint32_t buf; /* 0: free slot, else id + 1 */
  bool warned;
  RegionSet earlier, now; /* written in earlier iterations, in this one */
} Carry;

enum { TR_DYNAMIC = TR_STATIC + 1, TR_WHILE };
struct TrLoop {
  TrLoop *up;
  uint32_t id;
  int kind;           /* TrRange, TR_DYNAMIC or TR_WHILE */
  uint32_t loc, iter; /* line of the loop; iteration context around it */
  uint32_t first_buf; /* buffers from here on were made inside the loop */
  uint32_t iter_buf;  /* ... inside the current iteration */
  uint32_t ins;       /* device loops: position of the opening instruction */
  int64_t trips;
  Carry *carry; /* open addressing, power of two */
  uint32_t ncarry, capcarry;
};

typedef struct TrArg {
  const char *name;
  bool read, written;
  uint32_t write_loc, write_iter;
} TrArg;

/* The k-th shared_hbm allocation, as the first program that made it did. */
typedef struct TrShared {
  DType dtype;
  int rank;
  int64_t shape[IR_MAX_RANK];
  const char *name;
  bool named, written;
  int64_t program;
  uint32_t loc;
} TrShared;

typedef struct TrOut {
  bool is_arg;
  uint32_t index; /* of the argument, or ordinal of the shared allocation */
  uint32_t loc;
} TrOut;

typedef struct TrImpl {
  Alloc alloc;
  Arena arena; /* of the session; the module has its own */
  Text warnings;
  bool began;
  uint32_t dst[OP_count], src[OP_count]; /* masks of the tile parameters an instruction writes and reads */
  struct TrPassed {
    const IrIns *ins; /* of this program, NULL: none yet */
    uint32_t spaces;  /* mask of 1 << Space of its tiles */
  } passed[OP_count]; /* the last of its kind that was looked at closely: the next is mostly alike */
  TrArg *args;
  uint32_t nargs, capargs;
  TrShared *shared;
  uint32_t nshared, capshared;
  uint32_t *own; /* this program: buffer of each shared ordinal */
  uint32_t nown, capown;
  TrOut *outs; /* of the first program; later ones must agree */
  uint32_t nouts, capouts;
  bool has_outs, returned, is_sequence, settled;
  TrOut *mine; /* of this program */
  uint32_t nmine, capmine;
  uint32_t *program; /* function index of every finished program */
  int64_t done, capprogram;
  struct TrPlace {
    uint32_t loc, loop;
  } * places; /* lines of loops warned about: each turn of an outer loop, and each iteration, may have another tile, the
                 line is the same */
  uint32_t nplaces, capplaces;
  uint32_t next_loop;
  TrLoop *spare; /* closed loops to use again */
  int reorder;   /* open no_reorder blocks */
  uint32_t reorder_loc;
  ArenaMark mark; /* of the module's arena at the start of the program */
  IrFunc **mark_func;
  uint32_t mark_locs, mark_iters;
} TrImpl;

static inline TrImpl *impl(const Trace *t) { return t->impl; }
/* Base buffer of a tile: the buffer whose bytes it touches. */
static inline const IrBuf *tr_base(const IrFunc *f, const IrTile *tile) {
  const IrBuf *b = f->bufs[tile->buf];
  return b->kind == BUF_VIEW ? f->bufs[b->base] : b;
}
bool tr_oom(Trace *t); /* DIAG nomem; false */
/* The view of buffer `base` with this dtype and shape, made when there is none; NULL: out of memory. */
const IrBuf *tr_view_buffer(Trace *t, const IrBufSpec *spec);
void tr_carry_note(Trace *t, const IrIns *ins);
void tr_carry_iteration(TrLoop *loop); /* what this iteration wrote becomes earlier */
bool tr_legacy(Trace *t);              /* finish.c: written parameters become outputs */
#endif
