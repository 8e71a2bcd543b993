/* kernel.h -- room lang: private; kernels, their calls, captured state, scratch memory. */
#ifndef NK_LANG_KERNEL_H
#define NK_LANG_KERNEL_H
#include "call.h"

typedef enum KernelMode {
  MODE_AUTO,
  MODE_SIMULATION,
  MODE_JAX,
  MODE_TORCHXLA,
  MODE_LEGACY,
  MODE_FRAMEWORK,
  MODE_TRACE
} KernelMode;

/* What all launch views of one kernel share. A userdata; its user values: */
enum { CORE_CLASS = 1, CORE_FIELDS, CORE_LENDER, CORE_RESULTS, CORE_VALUES = CORE_RESULTS };
typedef struct KernelCore {
  Arena arena; /* the texts below */
  FwCache *cache;
  bool lent;           /* the cache is that of the core in CORE_LENDER, of which this one is a copy */
  bool custom;         /* has a class written in Lua, which may override steps */
  bool recompiled;     /* the last specialization ran the body */
  char code[33];       /* hash of the code of the last traced body */
  int64_t cache_size;  /* 0: no limit */
  const char *library; /* module of the kernel library that it comes from, or NULL */
  const char *func_name;
  const char *dir; /* folder of the defining script */
  const char **params;
  int nparams;
  KernelMode mode;
  bool enable_cache;
  const char *target; /* platform_target=, or NULL */
} KernelCore;

/* LANG_KERNEL: k, or a launch view of it: k[4], k:with_opts{...}. Its user values; KERNEL_OPTS keeps the options'
 * strings, KERNEL_BASE is what a view is of, whose options it may have. */
enum { KERNEL_CORE = 1, KERNEL_OPTS, KERNEL_FUNCTION, KERNEL_BASE };
typedef struct LKernel {
  const char *tag; /* LANG_KERNEL */
  KernelCore *core;
  int ngrid;
  int64_t grid[IR_MAX_GRID];
  IrCores cores[IR_MAX_GRID];
  const KernelOpt *opts; /* sorted by key */
  uint32_t nopts;
} LKernel;
static inline LKernel *lang_to_kernel(lua_State *L, int i) { return lang_tagged(L, i, LANG_KERNEL, sizeof(LKernel)); }

/* The kernel at 1, with at most `most` arguments behind it (ANY: any number); raises naming func. */
enum { ANY = -1 };
LKernel *kernel_self(lua_State *L, const char *func, int most);
void lang_warn_once(const LangCtx *c, const char *text); /* once per process */
/* The kernel, or the kernels of the table, on top of the stack come from this module of the kernel library. */
void kernel_from_library(lua_State *L, const char *module);
static inline void kernel_push_function(lua_State *L, int kernel) { lua_getiuservalue(L, kernel, KERNEL_FUNCTION); }

/* The steps of the pipeline that a class may override. */
typedef enum Step {
#define STEP(name, base) STEP_##name,
#include "steps.def"
#undef STEP
  STEP_count
} Step;

/* One call of a kernel: the bound arguments are at first .. first + nparams - 1. */
typedef struct KernelCall {
  LangCtx *c;
  const LKernel *k;
  lua_State *L;
  int kernel, first; /* stack indices */
  FwArg *args;
  FwRequest r;
  int array, decl, tile; /* parameter index of one such argument, -1 when there is none */
  uint32_t over;         /* steps that the kernel's class overrides, one bit each */
  int traced;            /* stack index of the trace as Lua sees it, 0: none yet; used when steps are overridden */
  int outputs;           /* stack index of what translate_return_types gave, 0: not overridden */
  bool raised;           /* the body or a step failed: its error value is on top of the stack */
  bool node;             /* tensors are of the running kernel, whose target counts */
} KernelCall;
#define KERNEL_MAP_STEPS                                                                                  \
  (1u << STEP__map_args | 1u << STEP__map_to_decltensor_or_passthrough | 1u << STEP_is_framework_tensor | \
   1u << STEP_map_framework_tensor | 1u << STEP_translate_to_neuron_dtype)
static inline bool kernel_overrides(const KernelCall *call, Step s) { return call->over >> s & 1; }

void lang_open_errors(lua_State *L, LangCtx *c); /* raise.c */

/* kernel_bind.c */
void kernel_bind(lua_State *L, LangCtx *c, const LKernel *k,
                 int kernel);          /* arguments behind the kernel -> one slot per parameter */
void kernel_target(KernelCall *call);  /* r.target, and r.environment */
void kernel_request(KernelCall *call); /* classifies the arguments, fills r and the captured state */
enum { KERNEL_FAST_ARGS = 16 };

/* A step of the pipeline as C: methods of the base classes; upvalue 1 is the context. */
#define STEP(name, base) STEP_BASE_##base(name)
#define STEP_BASE_C(name) int step_##name(lua_State *L);
#define STEP_BASE_LUA(name)
#include "steps.def"
#undef STEP

/* class.c: kernels whose class is written in Lua */
uint32_t class_overrides(lua_State *L, LangCtx *c, int kernel);
void class_push_method(lua_State *L, int kernel, Step s);                /* then the kernel itself */
bool class_find(lua_State *L, LangCtx *c, int kernel, const char *name); /* pushes a field or method; false: nothing */
void class_push(lua_State *L, LangCtx *c, const char *name);             /* a name of nki that Lua defines, or nil */
void class_map(KernelCall *call);                                        /* _map_args as the class has it */
void class_bind(KernelCall *call);                                       /* bind_arguments as the class has it */
void class_pipeline(KernelCall *call, FwPipeline *p);                    /* pipeline.c: callbacks of overridden steps */
void class_push_result(KernelCall *call, const Artifact *a);             /* what assemble_result made of it */
int class_push_cache(lua_State *L, const LKernel *k);
void class_late(lua_State *L); /* the strict module at -1 finds what Lua defines */
/* bound.c: BoundArguments {names = {...}, arguments = {...}} */
void bound_push(lua_State *L, const KernelCore *core, int first);
int bound_check(lua_State *L); /* (kernel, value, who): raises when the value is none of the kernel's */
void bound_spread(lua_State *L, const KernelCore *core, int i, const char *who); /* pushes one value per parameter */
/* traced.c: a finished trace as Lua sees it. Its user values: */
enum { TRACED_KERNEL = 1, TRACED_BOUND };
typedef struct LTraced {
  IrModule *m;
  const Artifact *made; /* assembled from it */
  bool has_collectives, impure, aliased;
} LTraced;
LTraced *traced_push(lua_State *L, IrModule *m); /* retains m */
LTraced *traced_check(lua_State *L, int i, const char *func);
LTraced *traced_test(lua_State *L, int i);
void traced_push_returns(lua_State *L, const IrModule *m);
void traced_push_aliases(lua_State *L, const IrModule *m);

/* kernel_call.c: raises what a body or a step did, unchanged but for what Lua says of a yield. */
void kernel_reraise(KernelCall *call);
/* lua_call of a method of a class, likewise. */
void kernel_call_method(lua_State *L, const KernelCore *core, int nargs, int nresults);
/* The artifact of a classified call, found or traced; its userdata is pushed. */
const Artifact *kernel_artifact(KernelCall *call);
/* Classifies the values of the BoundArguments at 2; args: room for KERNEL_FAST_ARGS. who: the step, for messages. */
void kernel_begin_bound(lua_State *L, KernelCall *call, FwArg *args, const char *who);

/* kernel_cache.c: the persistent cache of the context, and what is said of a specialization. */
void kernel_cache_open(KernelCall *call); /* before it: attaches the store, fills r.not_on_disk */
void kernel_cache_say(KernelCall *call, const Artifact *a, int64_t disk_hits); /* after it; disk_hits: before it */
void kernel_cache_free(LangCtx *c);

/* drive.c */
int drive_finalize_exception(lua_State *L); /* nki.NKIFinalizeException */
bool drive_is_yield(lua_State *L, int i);   /* the value at i is Lua's word on a yield across C */
int drive_on_error(lua_State *L);           /* message handler: keeps the traceback */
/* Calls the body of a kernel; nki.NKIFinalizeException raised below it is its return. handler: where drive_on_error is.
 */
void drive_body(lua_State *L, LangCtx *c, int nargs, int handler);
IrModule *drive_specialize(void *ud, const FwRequest *r, bool *has_collectives, bool *impure, Diag *d);

/* node.c: a kernel called inside another. */
int node_insert(KernelCall *call); /* inline_function: pushes the results */
/* The error on top of the stack left a kernel that is traced as a node: it tells where the node is, too. */
void node_blame(KernelCall *call);
void node_push_all(lua_State *L, const IrModule *m); /* a list of what was called in the programs */

/* kernel_call.c: methods of a kernel; upvalue 1 is the context. */
int kernel_call(lua_State *L);
int kernel_specialize(lua_State *L);
int kernel_dump_config(lua_State *L);
int kernel_simulate(lua_State *L); /* the kernel at 1, arrays behind it */
/* The same arguments: their artifact and the arrays that are its operands. Upvalue 2: the artifact if it is known. */
int kernel_operands(lua_State *L);
/* kernel_jit.c */
int kernel_jit(lua_State *L);
int kernel_trace_helper(lua_State *L); /* nki.trace */
int kernel_new(lua_State *L);          /* (class, function, options): the constructor of classes */
int kernel_options(lua_State *L);
int kernel_replace(lua_State *L); /* (kernel, options): a copy with other options */
/* kernel_opts.c */
/* Pushes what owns them. who: the function that was called, for messages. */
const KernelOpt *kernel_check_opts(lua_State *L, const char *who, int table, const LKernel *base, uint32_t *n);
void kernel_push_opts(lua_State *L, const LKernel *k); /* a table as kernel_check_opts takes it */
/* kernel_jit.c: a grid */
void kernel_push_grid(lua_State *L, const LKernel *k);                     /* a list as kernel_check_grid takes it */
void kernel_check_grid(lua_State *L, const char *name, int i, LKernel *k); /* the grid at i becomes k's */

/* capture.c: canonical bytes of what the function at index can see besides its arguments, appended to the scratch. */
typedef struct Capture Capture;
void capture_open(lua_State *L, LangCtx *c);
void capture_free(LangCtx *c);
void capture_begin(LangCtx *c, const char *dir);
void capture_add(lua_State *L, LangCtx *c, int function);
const Text *capture_bytes(const LangCtx *c);
/* What of the captured state has an answer that no walk can tell (math.random, a coroutine), or NULL. */
const char *capture_unsure(const LangCtx *c);
/* The upvalue or global in whose bytes offset `at` lies, "captured state" when unknown. */
const char *capture_name_at(const LangCtx *c, size_t at);
/* The upvalue or global through which something is reached that has no value to tell it by, or NULL. */
const char *capture_serial(const LangCtx *c);
/* FwPipeline.describe_captured; ud is the KernelCall. */
void capture_describe(void *ud, const FwRequest *r, const void *before, size_t n, Text *out);
/* A module of ours and its functions are captured by name. */
void capture_name_module(lua_State *L, const char *name, int module);

/* dump.c: the canonical bytes of a function: its binary chunk without the source's name. Its user values are sorted
   lists: of the globals that the code names; of the fields, then "__index"; of the globals and upvalues that it uses
   for more than a field. Loose fields come first: those that are read of something else than an upvalue. */
enum { DUMP_GLOBALS = 1, DUMP_FIELDS, DUMP_WHOLE };
typedef struct LDump {
  const char *source; /* as Lua has it */
  const char *dir;
  const char *bytes;
  size_t n;
  const char *piece; /* of a key whose kernel is from dir: the file's name and the bytes */
  size_t npiece;
  int nglobals, nfields, nloose, nwhole;
  bool dynamic;  /* the table of globals is used as a value */
  bool assigns;  /* to an upvalue */
  bool requires; /* "require" occurs: then the globals are all strings in the code */
} LDump;
/* Pushes the userdata. dir: folder of the kernel's script. */
LDump *dump_push(lua_State *L, LangCtx *c, int function, const char *dir);
void dump_put(Text *out, const char *dir, const LDump *d); /* the piece for another dir */

/* tuple.c: pushes the function nki.tuple */
void tuple_open(lua_State *L, LangCtx *c);
bool tuple_push_items(lua_State *L, const LangCtx *c, int i); /* the list inside a tuple; false when it is none */

/* scratch.c: C memory that an error may unwind over: a userdata on the stack owns it. */
Text *lang_scratch_text(lua_State *L, LangCtx *c);
Arena *lang_scratch_arena(lua_State *L, LangCtx *c);

/* constants.c: a Lua value that may be a constant argument; false when it is not hashable. Strings stay the stack's. */
bool constant_of(KernelCall *call, int i, ConstValue *out);

/* measure.c */
int measure_runs(lua_State *L);
int measure_profile(lua_State *L);
int measure_percentile(lua_State *L);

void artifact_open(lua_State *L, LangCtx *c);
void artifact_push_type(lua_State *L, const char *name, const IrBuf *b); /* {name =, dtype =, shape =} */
/* lang_push_artifact of one whose reference is ours, which goes to the userdata; there is room on the stack. */
void artifact_push_made(lua_State *L, LangCtx *c, const Artifact *a);
void array_open(lua_State *L);
int array_decl(lua_State *L);      /* nki.decl */
int artifact_decode(lua_State *L); /* nki.decode */
/* Arrays at first.., of each rank those of all operands; pushes the outputs, with ranks a list of arrays each. 0: a run
   without ranks. */
int artifact_simulate(lua_State *L, LangCtx *c, const Artifact *a, int first, int64_t ranks);

/* ranks.c */
/* The option `ranks` of the table at i, which has no other; 0 when the value is nil. */
int64_t ranks_option(lua_State *L, int i, const char *func);
bool ranks_is_options(lua_State *L, int i); /* a plain table with the key ranks */
/* Pushes what rank r gets of the value at i: its array of a plain list of arrays, else the value itself. name: for the
   message when the list has another length. */
void ranks_pick(lua_State *L, int i, int64_t r, int64_t ranks, const char *name);
int ranks_simulate(lua_State *L, LangCtx *c, int64_t ranks); /* a kernel at 1, arguments behind it */
#endif
