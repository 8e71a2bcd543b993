/* kernel.h -- private to room lang: kernels, their calls, captured state, scratch memory. */
#ifndef NK_LANG_KERNEL_H
#define NK_LANG_KERNEL_H
#include "call.h"

typedef enum KernelMode { MODE_AUTO, MODE_SIMULATION, MODE_JAX, MODE_TORCHXLA, MODE_LEGACY, MODE_TRACE } KernelMode;

/* What all launch views of one kernel share. A userdata; its user value 1 is the kernel function. */
typedef struct KernelCore {
  Arena arena; /* the texts below */
  FwCache *cache;
  const char *func_name;
  const char *dir; /* folder of the defining script */
  const char **params;
  int nparams;
  KernelMode mode;
  bool enable_cache;
  const char *target; /* platform_target=, or NULL */
} KernelCore;

/* LANG_KERNEL: k, or a launch view of it: k[4], k:with_opts{...}. User value 1 is the core, 2 keeps the options'
 * strings. */
typedef struct LKernel {
  KernelCore *core;
  int ngrid;
  int64_t grid[IR_MAX_GRID];
  IrCores cores[IR_MAX_GRID];
  const KernelOpt *opts; /* sorted by key */
  uint32_t nopts;
} LKernel;

LKernel *lang_to_kernel(lua_State *L, LangCtx *c, int i);
void lang_warn_once(const LangCtx *c, const char *text); /* once per process */
void kernel_push_function(lua_State *L, int kernel);

/* One call of a kernel: the bound arguments are at first .. first + nparams - 1. */
typedef struct KernelCall {
  LangCtx *c;
  const LKernel *k;
  lua_State *L;
  int kernel, first; /* stack indices */
  FwArg *args;
  FwRequest r;
  int array, decl, tile; /* parameter index of one such argument, -1 when there is none */
  bool raised;           /* the body failed: its error value is on top of the stack */
} KernelCall;

void lang_open_errors(lua_State *L, LangCtx *c); /* raise.c */

/* kernel_bind.c */
void kernel_bind(lua_State *L, LangCtx *c, const LKernel *k,
                 int kernel);          /* arguments behind the kernel -> one slot per parameter */
void kernel_request(KernelCall *call); /* classifies the arguments, fills r and the captured state */
enum { KERNEL_FAST_ARGS = 16 };

/* drive.c */
IrModule *drive_specialize(void *ud, const FwRequest *r, bool *has_collectives, bool *impure, Diag *d);
int drive_inline(KernelCall *call); /* inline_function: pushes the results */

/* kernel_call.c: methods of a kernel; upvalue 1 is the context. */
int kernel_call(lua_State *L);
int kernel_specialize(lua_State *L);
int kernel_dump_config(lua_State *L);
int kernel_simulate(lua_State *L); /* the kernel at 1, arrays behind it */
/* kernel_jit.c */
int kernel_jit(lua_State *L);
int kernel_trace_helper(lua_State *L); /* nki.trace */
const KernelOpt *kernel_check_opts(lua_State *L, int table, const LKernel *base,
                                   uint32_t *n);                           /* pushes what owns them */
void kernel_check_grid(lua_State *L, const char *name, int i, LKernel *k); /* the grid at i becomes k's */

/* capture.c: canonical bytes of what the function at index can see besides its arguments, appended to the scratch. */
typedef struct Capture Capture;
void capture_open(lua_State *L, LangCtx *c);
void capture_free(LangCtx *c);
void capture_begin(lua_State *L, LangCtx *c, const char *dir);
void capture_add(lua_State *L, LangCtx *c, int function);
const Text *capture_bytes(const LangCtx *c);
/* What of the captured state has an answer that no walk can tell (math.random, a coroutine), or NULL. */
const char *capture_unsure(const LangCtx *c);
/* The upvalue or global in whose bytes offset `at` lies, "captured state" when unknown. */
const char *capture_name_at(const LangCtx *c, size_t at);
/* A module of ours and its functions are captured by name. */
void capture_name_module(lua_State *L, const char *name, int module);

/* dump.c: the canonical bytes of a function: its binary chunk without the source's name. User value 1: sorted list of
   the globals that the code names, 2: of the fields, 3: of the globals and upvalues that it uses for more than a field.
 */
typedef struct LDump {
  const char *source; /* as Lua has it */
  const char *bytes;
  size_t n;
  int nglobals, nfields, nwhole;
  bool dynamic;  /* the table of globals is used as a value */
  bool requires; /* "require" occurs: then user value 1 lists every string in the code */
} LDump;
LDump *dump_push(lua_State *L, LangCtx *c, int function); /* pushes the userdata */

/* tuple.c: pushes the function nki.tuple */
void tuple_open(lua_State *L, LangCtx *c);
bool tuple_push_items(lua_State *L, const LangCtx *c, int i); /* the list inside a tuple; false when it is none */

/* scratch.c: C memory that an error may unwind over: a userdata on the stack owns it. */
Text *lang_scratch_text(lua_State *L, LangCtx *c);
Arena *lang_scratch_arena(lua_State *L, LangCtx *c);

/* constants.c: a Lua value that may be a constant argument; false when it is not hashable. Strings stay the stack's. */
bool constant_of(KernelCall *call, int i, ConstValue *out);

void artifact_open(lua_State *L, LangCtx *c);
/* lang_push_artifact of one whose reference is ours, which goes to the userdata. */
void artifact_push_made(lua_State *L, LangCtx *c, const Artifact *a);
void array_open(lua_State *L, LangCtx *c);
int array_decl(lua_State *L);      /* nki.decl */
int artifact_decode(lua_State *L); /* nki.decode */
int artifact_simulate(lua_State *L, LangCtx *c, const Artifact *a,
                      int first); /* arrays at first.. ; pushes the outputs */
#endif
