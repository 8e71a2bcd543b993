/* host.h -- room lang: a Lua state as a C host sees it. Plain C, no lua.h: what the room api knows of Lua is here. One
   thread at a time per Host; host_interrupt alone may come from elsewhere. No function raises or longjmps: failures are
   false and a filled Diag, whose `where` then holds the Lua traceback or the kernel's call chain, and whose notes hold
   further lines of the message. */
#ifndef NK_HOST_H
#define NK_HOST_H
#include <stdatomic.h>

#include "fw.h"
#include "sim.h"

typedef struct Host Host;
typedef void (*HostWrite)(void *ud, const char *s, size_t n);

typedef struct HostSpec {
  Alloc alloc;
  uint64_t memory_limit; /* bytes of the Lua state, 0: none */
  bool ignore_env;       /* LUA_PATH and LUA_CPATH are not read */
  bool strict;
  bool explain_cache;    /* a line per specialization goes to warn */
  const char *cache_dir; /* lent for the life of the Host; NULL: NKILUA_CACHE_DIR, "": none */
  const char *target;    /* lent for the life of the Host; NULL: resolved per specialization */
  HostWrite write, warn; /* NULL: standard output, standard error */
  void *write_ud, *warn_ud;
} HostSpec;

Host *host_open(const HostSpec *spec, Diag *d);
void host_close(Host *h); /* accepts NULL */
/* Sticky: with nothing running, the next call is stopped. Async-signal-safe. */
void host_interrupt(Host *h);
const atomic_int *host_interrupt_flag(const Host *h);
void host_calm(Host *h); /* forgets an interrupt that has been reported */

/* ---- scripts */
typedef struct HostScript {
  const char *path; /* "-": standard input; ignored when source is given */
  const char *source;
  size_t len;
  const char *chunkname;
  const char *const *argv; /* table `arg`, and `...` from script + 1 on; NULL: neither */
  int argc, script;
} HostScript;
bool host_run(Host *h, const HostScript *s, Diag *d); /* keeps what the script returns for host_kernel */
bool host_require(Host *h, const char *name, const char *global, Diag *d);
bool host_set_arg(Host *h, const HostScript *s, Diag *d);
void host_warnings(Host *h, bool on);
bool host_specs(Host *h, const char *const *argv, int argc, Diag *d);

/* ---- lint: the findings of a Lua file, as lines or as one JSON object; *found: how many. No code of the file runs. */
typedef struct HostLint {
  const char *path; /* "-": standard input */
  bool json;
} HostLint;
bool host_lint(Host *h, const HostLint *lint, Text *out, size_t *found, Diag *d);

/* ---- sessions: *incomplete means nothing ran because more lines are wanted */
typedef struct HostChunk {
  const char *src;
  size_t len;
  const char *chunkname;
} HostChunk;
bool host_eval(Host *h, const HostChunk *chunk, bool *incomplete, Text *out, Diag *d);
bool host_complete(Host *h, const char *src, size_t len, Text *out, Diag *d);

/* ---- kernels, by the reference number that host_kernel gives */
bool host_kernel(Host *h, const char *name, int *ref, Diag *d); /* of the last script; NULL: the only one */
void host_kernel_drop(Host *h, int ref);
bool host_kernel_names(Host *h, Text *out, Diag *d);
int host_kernel_params(Host *h, int ref);
const char *host_kernel_param(Host *h, int ref, int i); /* lent while the reference is held */
/* Options of nki.jit for a copy; what is NULL, negative or 0 stays as it is. */
typedef struct HostKernelOptions {
  const char *mode, *func_name, *platform_target;
  int enable_cache;
  int64_t cache_size;
} HostKernelOptions;
bool host_kernel_replace(Host *h, int ref, const HostKernelOptions *o, int *copy, Diag *d);
const char *host_kernel_mode(Host *h, int ref);
typedef struct HostCall {
  int kernel;
  const FwArg *args; /* name NULL: positional, and before the named ones */
  size_t nargs;
  const int64_t *grid;
  const IrCores *cores; /* ngrid of them, or NULL */
  size_t ngrid;
  const KernelOpt *opts;
  size_t nopts;
} HostCall;
bool host_specialize(Host *h, const HostCall *call, const Artifact **out, Diag *d); /* *out is retained */

/* ---- command-line values (lua/nki/values.lua has the grammar) */
typedef enum HostFill { FILL_DEFAULT, FILL_ZEROS, FILL_ONES, FILL_IOTA, FILL_FULL, FILL_NORMAL, FILL_UNIFORM } HostFill;
typedef enum HostValueKind { HV_CONST, HV_ARRAY, HV_FILE } HostValueKind;
typedef struct HostValue {
  HostValueKind kind;
  ConstValue constant; /* HV_CONST; the number of FILL_FULL */
  DType dtype;         /* DT_none: HV_FILE as the file says */
  int rank;
  int64_t shape[IR_MAX_RANK];
  HostFill fill;
  bool has_seed;
  uint64_t seed;
  const char *path, *member; /* member NULL: the only one */
} HostValue;
/* One word without its "name="; who names it in messages. Strings go to the arena. */
typedef struct HostWord {
  const char *text;
  size_t len;
  const char *who;
} HostWord;
bool host_value(Host *h, const HostWord *word, Arena *a, HostValue *out, Diag *d);

/* ---- running without a Host, too */
/* What the environment says of runs; false: a variable has a value that nobody knows. imprecise: NKI_PRECISE_FP=0,
   narrow floats are kept as f32. */
bool host_environment(bool *imprecise, Diag *d);
/* Operands of all ranks, by rank: memory that the program updates may not be that of another operand. */
bool host_check_overlap(const Artifact *a, int64_t ranks, const SimTensor *operands, Diag *d);
void host_to_stdout(void *ud, const char *s, size_t n); /* HostWrites; ud is ignored */
void host_to_stderr(void *ud, const char *s, size_t n); /* after what was printed before */
#endif
