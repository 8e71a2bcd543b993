/* sim.h -- runs a module on the CPU. Knows only ir/ and base/. Re-entrant: all state is in the run's own arena. */
#ifndef NK_SIM_H
#define NK_SIM_H
#include <stdatomic.h>

#include "ir.h"

/* A caller's array: C-contiguous, storage exactly as the dtype says. */
typedef struct SimTensor {
  DType dtype;
  int rank;
  int64_t shape[IR_MAX_RANK];
  void *data;
} SimTensor;

/* What a run has to say besides its numbers; each line is one finished message with its location, in program order. */
typedef struct SimReport {
  Text lines;    /* '\n'-terminated messages */
  int64_t count; /* messages, also those beyond the first 100 that are not kept */
} SimReport;

/* Host time per instruction of a run: what the simulator took, not what a device would. Indexed as the module's
   functions and their instructions are. */
typedef struct SimInsTime {
  int64_t calls, ns;
} SimInsTime;
typedef struct SimProfile {
  Arena arena;
  SimInsTime **func;
  int64_t runs, ns; /* of whole runs */
} SimProfile;
bool sim_profile_init(SimProfile *p, Alloc alloc, const IrModule *m); /* false: no memory; free it in any case */
void sim_profile_free(SimProfile *p);
/* One row per instruction that ran, in program order, then the sums per operation; json: the same as one object. */
bool sim_profile_render(const SimProfile *p, const IrModule *m, bool json, Text *out);

typedef struct SimOptions {
  Alloc alloc;                 /* of everything the run needs; given back at its end */
  SimReport *report;           /* initialised by the caller; the run adds to it */
  bool strict;                 /* a read of never-written elements is an error, else a report */
  bool imprecise;              /* NKI_PRECISE_FP=0: narrow floats are kept as f32 between instructions */
  const atomic_int *interrupt; /* nonzero: stop with ERR_interrupted; polled per instruction and per tile row block */
  void (*print)(void *ud, const char *s, size_t n); /* device_print and nothing else; never NULL */
  void *print_ud;
  SimProfile *profile;  /* NULL: nothing is measured; of several ranks rank 0 is */
  struct SimSeat *seat; /* world.c's: which rank this is; NULL for the only one */
} SimOptions;

/* operands: one per argument of the functions, never written (unless outputs[k].data == operands[i].data for an alias
   (i,k): then updated in place). outputs: one per return, data allocated by the caller, filled here; an aliased output
   starts as a copy of its operand. Returning one buffer several times fills each. false: d holds the fault with the
   instruction's line; outputs are then unspecified and must be thrown away. */
bool sim_run(const IrModule *m, const SimTensor *operands, SimTensor *outputs, const SimOptions *opt, Diag *d);
/* The module once for each rank, all at the same time, with collectives between them: each rank is a sim_run on a
   thread of its own. operands, outputs: those of rank 0, then of rank 1 ... What the ranks report and print comes at
   the end, by rank. Nothing depends on how the threads are scheduled. In sim_run there is one rank, number 0. */
enum { SIM_MAX_RANKS = 256 };
typedef struct SimRanks {
  int64_t n;
  const SimTensor *operands;
  SimTensor *outputs;
} SimRanks;
bool sim_run_ranks(const IrModule *m, const SimRanks *ranks, const SimOptions *opt, Diag *d);
const char *sim_isa(void); /* "avx512", "avx2", "generic": what the row kernels run on */
#endif
