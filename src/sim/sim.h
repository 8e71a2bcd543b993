/* sim.h -- room sim: runs a module on the CPU. Knows only ir/ and base/. Re-entrant: all state is in the run's own
 * arena. */
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

/* profile.c: host time of a run, what the simulator took and not what a device would. Every physical core has its own
   times, so that nothing is shared while cores run side by side. */
typedef struct SimInsTime { /* sums over the trips of loops and over programs */
  int64_t calls, ns;
} SimInsTime;
/* A stretch of the timeline: an instruction, or what it lies in. at: ns since the first run began. */
typedef struct SimEvent {
  int64_t at, ns, program;
  int64_t parent; /* stretch of this core that was open, -1: none */
  uint32_t func, ins;
  bool whole; /* of a program; else of the instruction: a loop from its head to its last end */
} SimEvent;
typedef struct SimCoreProfile {
  SimInsTime **func; /* indexed as the module's functions and their instructions are */
  SimEvent *event;   /* in the order they began */
  int64_t nevents, cap, open;
  int64_t skipped;  /* stretches that are open and were left out */
  int64_t left_out; /* in all */
} SimCoreProfile;
typedef struct SimProfile {
  Arena arena;
  const IrModule *m;
  int ncores;
  SimCoreProfile *core;
  int64_t max_events; /* per core; 0: no timeline. Set before the first run */
  int64_t runs, ns;   /* of whole runs */
  int64_t epoch;
} SimProfile;
/* alloc: the one of the runs. False: no memory; free it in any case. */
bool sim_profile_init(SimProfile *p, Alloc alloc, const IrModule *m);
void sim_profile_free(SimProfile *p);

/* profile_rows.c: sums, the slowest first; equal times in the order of the other fields. Instructions of a loop that
   was unrolled have one line and are one row. */
typedef enum SimProfileBy { SIM_BY_LINE, SIM_BY_OP, SIM_BY_ENGINE, SIM_BY_CORE } SimProfileBy;
typedef struct SimProfileRow {
  int op, engine;          /* 0 where the sum is over all */
  int core;                /* always one: cores run side by side, so their times do not add up */
  const IrLoc *loc;        /* by line; NULL: unknown */
  int64_t calls, ns;       /* by core: ns is the time within instructions */
  int64_t elements, bytes; /* of what the calls wrote, of their first operand when they write nothing */
} SimProfileRow;
SimProfileRow *sim_profile_rows(const SimProfile *p, SimProfileBy by, Arena *a, uint32_t *n); /* NULL: no memory */
/* profile_text.c: tables; json: the same as one object. */
bool sim_profile_render(const SimProfile *p, bool json, Text *out);
/* profile_trace.c: the timeline in Chrome's trace-event format: complete events in the order they began, one thread per
   core, microseconds. */
bool sim_profile_trace(const SimProfile *p, Text *out);
extern const char sim_profile_time[]; /* what is measured: "host time of the simulator" */

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
#endif
