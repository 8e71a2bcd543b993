/* exec.h -- room sim: private to the simulator: a run's state, memory with its shadow, access patterns and streams over
 * them. */
#ifndef NK_SIM_EXEC_H
#define NK_SIM_EXEC_H
#include <string.h>

#include "sim.h"
#include "vmath.h"

enum { SIM_CORES = 2 }; /* physical cores one kernel may span, on any target */
enum { LANES = 128, BLOCK = 2048 /* f32 numbers of one scratch block: 8 KiB, so three of them stay in the L1 cache */ };

/* ---- shadow.c: one bit per granule of a buffer ------------------------------------------------------------------- */
typedef enum BitsState { BITS_NONE, BITS_ALL, BITS_SOME } BitsState;
typedef struct Bits {
  BitsState state; /* w is meaningful only in BITS_SOME */
  int64_t n, nset; /* nset: in BITS_SOME */
  uint64_t *w;
} Bits;
/* The bits of word k that belong to [at, end). */
static inline uint64_t bits_of_word(int64_t k, int64_t at, int64_t end) {
  uint64_t m = ~UINT64_C(0);
  if (at > k * 64) m <<= at - k * 64;
  if (end < k * 64 + 64) m &= ~UINT64_C(0) >> (k * 64 + 64 - end);
  return m;
}
/* every.count runs of n granules, every.stride apart */
void bits_set_every(Bits *b, int64_t at, int64_t n, IrDim every);
void bits_clear_every(Bits *b, int64_t at, int64_t n, IrDim every);
int64_t bits_count_every(const Bits *b, int64_t at, int64_t n, IrDim every);
static inline void bits_set(Bits *b, int64_t at, int64_t n) { bits_set_every(b, at, n, (IrDim){0, 1}); }
static inline void bits_clear(Bits *b, int64_t at, int64_t n) { bits_clear_every(b, at, n, (IrDim){0, 1}); }
static inline int64_t bits_count(const Bits *b, int64_t at, int64_t n) {
  return bits_count_every(b, at, n, (IrDim){0, 1});
}
static inline void bits_reset(Bits *b) { b->state = BITS_NONE; }
static inline void bits_fill(Bits *b) { b->state = BITS_ALL; }
bool bits_test(const Bits *b, int64_t at);

/* ---- memory.c: storage ------------------------------------------------------------------------------------------- */
/* Storage of a buffer and of all views over it. A granule is the smallest element any of them has.
   The sentinel is not written when the buffer begins, but when something never written is about to be read. */
typedef struct SimMem {
  const IrBuf *ir;
  char *home; /* own storage */
  char *data; /* the contents: home, or memory that stays constant for the whole run (mem_borrow) */
  int64_t bytes;
  DType dt;      /* as stored: the declared one, or float32 for narrow floats of an imprecise run */
  uint8_t shift; /* log2 of the bytes per granule */
  bool constant; /* nothing writes it during the run */
  bool keep;     /* lives longer than its program: not reset by CORE_alloc */
  bool filled;   /* what was never written holds the sentinel */
  Bits written;
  Bits started;                /* PSUM: a matmul wrote it last */
  struct Track *track;         /* races.c watches it; NULL for most */
  const struct Window *window; /* these are the picked elements of an indirect view; NULL for most */
} SimMem;

typedef struct SimBuf {
  SimMem *mem; /* NULL for a register */
  DType dt;    /* as stored */
  int bytes;
  bool set; /* register: has a value */
  int64_t reg;
} SimBuf;

enum { SCR_SRC0, SCR_SRC1, SCR_SRC2, SCR_DST, SCR_TMP, SCR_SNAP0, SCR_SNAP1, SCR_SNAP2, SCR_RNG, SCR_WINDOW };
enum { WINDOWS = 6 /* indirect views of one instruction */, SCR_COUNT = SCR_WINDOW + WINDOWS };

/* ---- indirect.c: an indirect view as memory of its own: gathered before the instruction, scattered behind it - */
typedef struct Window {
  const IrTile *tile;
  bool dst; /* is written, not only read */
  SimMem mem, *base;
  const int64_t *at; /* picked element of the partition: [group][i] */
  int64_t n, row, group, ngroup;
} Window;

typedef struct Lanes { /* accumulator registers of an engine */
  float v[LANES];
  bool set[LANES];
} Lanes;

typedef struct Sim {
  const IrModule *m;
  const IrFunc *f;
  const SimOptions *opt;
  SimReport *report;
  Diag *d;
  Alloc alloc;
  Gen gen;
  int64_t program;
  int core;                 /* physical core that runs it */
  struct Core *thread;      /* cores.c; NULL when there is one core */
  const atomic_int *cancel; /* nonzero: another core's fault counts; may be NULL */
  bool shares_core;         /* with other programs */
  void *brought;            /* what it has for those it meets */
  bool halted;              /* s->d is filled by what had no way to say so */
  const IrIns *ins;         /* being executed */
  uint32_t pc;
  SimBuf *buf;   /* by buffer id of f */
  int64_t *idx;  /* index values of f */
  uint8_t *said; /* per instruction: mask of the reports already made */
  Lanes scalar, vector;
  bool seeded; /* the random generators (random.c) have a state */
  Window window[WINDOWS];
  int nwindow; /* open; windows_close */
  struct {
    void *p;
    size_t size;
  } scratch[SCR_COUNT];
} Sim;

typedef struct SimSetup SimSetup;
SimSetup *setup_new(Sim *s, const SimTensor *operands, SimTensor *outputs); /* NULL: s->d is filled */
void setup_program(SimSetup *u, Sim *s, int64_t program);       /* makes s->f, buf, idx, said; for s->core */
struct Track *setup_tracks(SimSetup *u, int core, uint32_t *n); /* the same tensors in order on every core */
bool setup_outputs(SimSetup *u, Sim *s);                        /* after the last program */
void setup_free(SimSetup *u);                                   /* accepts NULL */
void mem_begin(SimMem *m);                                      /* CORE_alloc */
void mem_own(SimMem *m,
             bool overwritten); /* before a write: ends a borrow; overwritten: the contents need not be kept */
void mem_fill(SimMem *m);       /* sentinel into everything never written */
void *scratch(Sim *s, int slot, size_t bytes); /* contents are lost when it grows; NULL: s->d is filled */
/* The bits of a number as an element of dt; returns its size. */
int elem_of(DType dt, double v, void *out);
int64_t elem_int(DType dt, const void *p); /* integer and bool types */

static inline bool buf_is_private(const IrBuf *b) {
  return b->kind == BUF_ALLOC && b->space != SP_reg && b->shared_ordinal < 0;
}
/* More bytes than any machine has. Sums of sizes stop near it, so that none overflows. */
#define SIM_TOO_MUCH ((int64_t)1 << 46)
/* layout.c: room in bytes per buffer -> its offset, -1 when it never begins; *bytes: what all need together */
bool layout_private(Arena *a, const IrFunc *f, const int64_t *room, int64_t *place, int64_t *bytes);

/* arenas of pages, one of them kept between runs */
typedef struct Pages {
  char *p;
  size_t size;
} Pages;
bool pages_take(Pages *a, size_t size);
void pages_give(Pages *a);

/* ---- access.c: where a tile is ----------------------------------------------------------------------------------- */
/* Free dimensions are merged where they are one run; elements are of the storage dtype. */
typedef struct Acc {
  const IrTile *tile;
  SimMem *mem;
  DType dt;
  int bytes;
  char *p;             /* element (0, 0, ...) */
  const char *lo, *hi; /* bytes the tile lies in */
  int64_t off;         /* of p in the buffer, in elements */
  int64_t parts, pstride;
  int64_t free; /* elements per partition */
  int nf;
  IrDim f[IR_MAX_RANK];
} Acc;
bool acc_src(Sim *s, const IrTile *t, Acc *a);   /* checks that it was written */
bool acc_dst(Sim *s, const IrTile *t, Acc *a);   /* after every acc_src: marks it written */
bool acc_inout(Sim *s, const IrTile *t, Acc *a); /* neither; acc_mark, acc_check do it */
bool acc_check(Sim *s, const Acc *a);
void acc_mark(const Acc *a);
int64_t acc_written(const Acc *a); /* how many of its elements were written */
int64_t acc_started(const Acc *a); /* PSUM: how many a matmul wrote last */
void acc_start(const Acc *a);      /* PSUM: a matmul wrote it */
/* Reads precede writes: a source that dst overlaps is copied away first, unless both are the same view and in_place. */
bool acc_guard(Sim *s, int slot, Acc *src, const Acc *dst, bool in_place);
static inline int64_t acc_count(const Acc *a) { return a->parts * a->free; }
static inline bool acc_row_run(const Acc *a) { return a->nf == 0 || (a->nf == 1 && a->f[0].stride == 1); }
/* All elements are one run. */
static inline bool acc_flat(const Acc *a) { return acc_row_run(a) && (a->parts == 1 || a->pstride == a->free); }
static inline char *acc_row(const Acc *a, int64_t part) { return a->p + part * a->pstride * a->bytes; }
/* One partition of it; for acc_check and acc_mark only as long as it is not a copy (acc_guard). */
static inline Acc acc_part(const Acc *a, int64_t part) {
  Acc r = *a;
  r.parts = 1;
  r.off += part * a->pstride;
  r.p += part * a->pstride * a->bytes;
  return r;
}
static inline bool acc_flat_f32(const Acc *a) { return a->dt == DT_float32 && acc_flat(a); }
/* Element of the tensor that element `at` of the memory of a is. */
int64_t window_place(const Window *w, int64_t at);
static inline int64_t acc_place(const Acc *a, int64_t at) {
  return a->mem->window ? window_place(a->mem->window, at) : at;
}
SimMem *window_open(Sim *s, const IrTile *t, bool dst); /* NULL: s->d is filled */
void windows_close(Sim *s);                             /* the instruction is done: scatters what it wrote */
bool acc_resolve(Sim *s, const IrTile *t, Acc *a);      /* where it is, without any check of what is there */
bool acc_bad(Sim *s, const IrTile *t, Text *where);     /* out of bounds; frees where; always false, s->d filled */
int acc_lane(const Sim *s, const Acc *a);               /* partition of its first element */
bool acc_vec(Sim *s, const IrTile *t, int64_t *rows);   /* values of t->vec; rows has room for t->dim[0].count */
/* The row of a tile with a vector offset; false when it is not inside the tensor. */
bool acc_vec_row(const Acc *a, const IrBuf *buf, int64_t row, Acc *out);
bool acc_row_out_of_bound(Sim *s, const IrTile *t, int64_t row, int64_t index); /* the same, for one of acc_vec */

/* The distinct runs of a tile, in elements of the buffer. */
typedef struct Runs {
  int nd;
  IrDim d[IR_MAX_RANK + 1];
  int64_t i[IR_MAX_RANK + 1];
  int64_t at, n;
  bool done;
} Runs;
void runs_init(Runs *r, const Acc *a);
void runs_next(Runs *r);
static inline int64_t granule(const Acc *a, int64_t elems) { return elems * a->bytes >> a->mem->shift; }

/* ---- races.c: who touched what of a tensor that several programs share ------------------------------------------- */
typedef struct Marks { /* a bit per granule; words outside [lo, hi) are 0 */
  uint64_t *w;
  int64_t n, lo, hi;
} Marks;
enum { TRACK_RACES = 16 };
typedef struct Track { /* of one tensor on one core */
  Sim *sim;
  SimMem *mem;
  Marks wr, rd;                /* since the last meeting of the cores */
  Marks mine, before;          /* written by this program, and by earlier ones of this core */
  int64_t *log;                /* every access once, in order: a head and the pattern */
  size_t nlog, caplog, epoch;  /* epoch: the log since the last meeting */
  size_t recent[64];           /* offset in the log + 1, by instruction */
  uint64_t races[TRACK_RACES]; /* told already */
  bool oom;
} Track;
void track_touch(Track *t, const Acc *a, bool write);
void track_program(Track *t, Sim *s); /* the next program of this core begins */
void track_free(Track *t, Alloc alloc);
/* All cores are at rest; t: the tracks of one tensor by core. Finds the races since the last meeting and shows every
   core what the others wrote (only core 0 when to_first). With strict, the first race is an error in d. */
bool tracks_meet(Track *const *t, int ncores, bool to_first, SimReport *report, Diag *d);

/* ---- cores.c: physical cores, one thread each -------------------------------------------------------------------- */
bool cores_run(SimSetup *u, Sim *s);
/* What the cores of a run do together: s by core, while all of them rest and see what each has written before. False:
   one of their d is filled, or the fault is another rank's. */
typedef bool MeetFn(Sim *const *s, int ncores);
/* Waits for all cores, which must come to the same instruction, and has work done once. One core meets nobody. */
bool cores_meet(Sim *s, void *brought, MeetFn *work);

/* ---- stream.c: elements of a tile in row-major order ------------------------------------------------------------- */
typedef struct Stream {
  char *p; /* start of the current innermost run */
  DType dt;
  int bytes;
  int nd;
  int64_t at; /* position in the innermost run */
  int64_t i[IR_MAX_RANK + 1];
  IrDim d[IR_MAX_RANK + 1];
} Stream;
void stream_init(Stream *st, const Acc *a);
void stream_row(Stream *st, const Acc *a, int64_t part);
int64_t stream_run(const Stream *st);       /* elements left in the innermost run */
void *stream_direct(Stream *st, int64_t n); /* the next n when they are one run, else NULL; passes them */
void stream_load(Stream *st, int64_t n, float *dst);
void stream_store(Stream *st, int64_t n, const float *src);
void stream_read(Stream *st, int64_t n, void *dst); /* storage as it is */
void stream_write(Stream *st, int64_t n, const void *src);
void stream_skip(Stream *st, int64_t n);
/* DO(T) for the unsigned type T of so many bytes: 4, 2 or 1. */
#define BY_BYTES(bytes, DO)    \
  do {                         \
    if ((bytes) == 4) {        \
      DO(uint32_t);            \
    } else if ((bytes) == 2) { \
      DO(uint16_t);            \
    } else {                   \
      DO(uint8_t);             \
    }                          \
  } while (0)

/* to[i] = from[i] where take[i]; one: from is one element. None of the three may overlap another. */
typedef struct Take {
  const uint8_t *take;
  const void *from;
  bool one;
  int bytes; /* of an element: 1, 2 or 4 */
} Take;
void take_elems(const Take *k, void *to, int64_t n);
static inline float choose(bool first, float a, float b) { /* the same for one */
  uint32_t x, y, all = 0 - (uint32_t)first;
  memcpy(&x, &a, 4);
  memcpy(&y, &b, 4);
  x = (x & all) | (y & ~all);
  memcpy(&a, &x, 4);
  return a;
}
void copy_elems(const Acc *dst, const Acc *src);          /* same element size, bits as they are */
bool copy_tile(Sim *s, const Acc *dst, const Acc *src);   /* as they are when the dtypes are equal, else through f32 */
bool copy_turned(Sim *s, const Acc *dst, const Acc *src); /* turn.c: the same, quick when src runs across memory */

/* ---- lanes.c: element-wise work ---------------------------------------------------------------------------------- */
typedef void LaneFn(void *ctx, int64_t part, const float *const in[], float *out, int64_t n);
typedef struct Each {
  Acc *dst, *src[3];
  int nsrc;
  bool rows; /* fn is called once per partition with all its elements; else with pieces of any length and part 0 */
  LaneFn *fn;
  void *ctx;
  LaneFn *columns; /* may be NULL: for tiles of one free element, called once with those of all partitions */
} Each;
bool each(Sim *s, const Each *e); /* guards overlap, loads, calls, converts, stores */
typedef struct Raws {
  Acc *dst, *src[2];
  int nsrc;
  void (*fn)(void *ctx, const void *const in[], void *out, int64_t n);
  void *ctx;
} Raws;
bool each_raw(Sim *s, const Raws *r); /* storage as it is, pieces of at most BLOCK elements */
/* A number or a (P,1) tile as one f32 per partition. */
typedef struct Column {
  bool tile, given;
  float v[LANES]; /* v[0] for all when not a tile */
} Column;
bool column_load(Sim *s, const IrVal *v, float absent, Column *c);
static inline float column_at(const Column *c, int64_t part) { return c->v[c->tile ? part : 0]; }
bool column_store(Sim *s, const IrTile *t, const float *v);         /* one f32 per partition into a (P,1) tile */
const float *row_f32(Sim *s, int slot, const Acc *a, int64_t part); /* a partition's elements; NULL: no memory */
void row_store(const Acc *a, int64_t part, const float *v);

VmOp alu_vm(Alu op);
VmReduce alu_reduce(Alu op);
VmBit alu_bit(Alu op);
float reduce_identity(Alu op);
typedef struct Scalar1 { /* one step of tensor_scalar */
  Alu op;
  bool unary, reverse;
} Scalar1;
Scalar1 scalar_of(const IrVal *op, const IrVal *reverse);
void scalar_step(const Scalar1 *k, float operand, const float *in, float *out, int64_t n);
void column_step(const Scalar1 *k, const Column *c, const float *in, float *out,
                 int64_t n); /* one element a partition */

/* ---- accum.c: accumulator registers ------------------------------------------------------------------------------ */
typedef struct Accum { /* what one instruction does with them */
  int engine;          /* whose: engine_scalar or engine_vector */
  Alu op;
  int cmd;     /* reduce_cmd */
  bool negate; /* what is read out */
  int lane;    /* of the first partition */
  int64_t parts;
  Column init;       /* of load_reduce */
  float part[LANES]; /* this instruction's elements, folded from the identity */
} Accum;
static inline bool accum_adds(int cmd) { return cmd != reduce_cmd_idle && cmd != reduce_cmd_reset; }
Lanes *accum_lanes(Sim *s, const Accum *a);
bool accum_begin(Sim *s, const Accum *a);                 /* reset, load, or go on with what is there */
bool accum_run(Sim *s, const Accum *a, const IrVal *res); /* the three */

/* ---- report.c ---------------------------------------------------------------------------------------------------- */
enum { SAY_UNWRITTEN = 1, SAY_RANGE = 2, SAY_PSUM = 4, SAY_LANE = 8, SAY_HINT = 16, SAY_OVERLAP = 32 };
/* False (an error) in a strict run. */
bool say_unwritten(Sim *s, const Acc *a, int64_t missing, const int64_t first_last[2]);
bool say_register(Sim *s, uint32_t buf);
bool say_never_started(Sim *s, const Acc *a, int64_t missing);
bool say_lane(Sim *s, const char *engine, int lane);
void say_range(Sim *s, Act op, int64_t bad, float worst);
void say_hint(Sim *s, const Acc *a, const char *param);
void say_duplicate(Sim *s, const IrTile *t, int64_t row);
void say_picked_twice(Sim *s, const IrTile *t, int64_t element);
bool say_output(Sim *s, const SimMem *m, const char *name);
typedef struct Overlap { /* elements that two programs touch */
  int64_t count, first, last;
  uint32_t pc;     /* of the other program's instruction */
  int64_t program; /* the other program */
} Overlap;
bool say_overlap(Sim *s, const Acc *a, const Overlap *o);
/* One line of a report, kept among the first 100. */
void report_add(SimReport *r, const Sim *s, uint32_t loc, int64_t program, const Text *msg);
bool say_whose(const Sim *s, int64_t program, Diag *d); /* notes rank and program; always false */
void report_join(SimReport *to, const SimReport *from);
const char *op_full_name(const IrIns *ins);               /* "nisa.tensor_copy" */
const char *param_of(const IrIns *ins, const IrTile *t);  /* "src" */
void say_index(Text *t, const IrBuf *b, int64_t element); /* "[3, 0]"; the first index may be outside the shape */

/* ---- mx.c: numbers with shared scales ---------------------------------------------------------------------------- */
/* Partition of the scale tile that has the scales of this partition of the data: four of every 32 are used. */
static inline int64_t mx_scale_row(int64_t part) { return part / 32 * 32 + part % 32 / 8; }
/* data as 4 * partitions rows of numbers times their scales, in a scratch slot; NULL: s->d is filled. */
float *mx_unpack(Sim *s, int slot, const IrTile *data, const IrTile *scale);

/* ---- regs.c, walk.c ---------------------------------------------------------------------------------------------- */
bool reg_get(Sim *s, uint32_t buf, int64_t *out);
bool walk(Sim *s);

/* ---- profile.c: hooks of the walk; false: s->d is filled -------------------------------------------------------- */
typedef struct ProfileWalk {
  SimCoreProfile *core; /* NULL: nothing is measured */
  int64_t began, epoch;
  uint32_t func, pc, from; /* from: the instruction before */
  bool timeline;
} ProfileWalk;
int64_t profile_begin(SimProfile *p); /* of a run: now */
void profile_end(SimProfile *p, int64_t began);
bool profile_enter(Sim *s, ProfileWalk *w); /* a program */
void profile_leave(ProfileWalk *w);
void profile_start(ProfileWalk *w, uint32_t pc);
bool profile_stop(Sim *s, ProfileWalk *w, const IrIns *ins, uint32_t next);

/* ---- one per row of ops.def -------------------------------------------------------------------------------------- */
#define P(...)
#define R(...)
#define OP(name, ...) bool sim_##name(Sim *s, const Args_##name *a);
#include "ops.def"
#endif
