/* fw.h -- room framework: the framework-kernel core: signature -> key -> cache -> (trace) -> aliases -> config ->
   artifact. No Lua here: the trace is a callback, so a C test or host drives the same pipeline. Names are those of the
   lifecycle page (docs/lifecycle.md). */
#ifndef NK_FW_H
#define NK_FW_H
#include "emit.h"

/* One bound argument, in signature order. Tensors contribute shape and dtype, never values. */
typedef struct FwArg {
  const char *name;
  bool is_tensor;
  DType dtype;
  int rank;
  int64_t shape[IR_MAX_RANK];
  ConstValue value; /* when not a tensor */
} FwArg;

/* Everything a specialization depends on. */
typedef struct FwRequest {
  const char *func_name;
  Target target;
  bool target_is_fallback;
  int ngrid;
  int64_t grid[IR_MAX_GRID];
  IrCores cores[IR_MAX_GRID];
  const FwArg *args;
  uint32_t nargs;
  const KernelOpt *opts; /* sorted by key */
  uint32_t nopts;
  const char *call_target; /* custom-call target; NULL: EMIT_TARGET_NATIVE */
  const void
      *captured; /* canonical bytes of the kernel's captured state, made by the front end; read before the trace only */
  size_t ncaptured;
  bool legacy;             /* LegacyFrameworkKernel semantics */
  const char *environment; /* what traces read of it: NKI_DMA_TRANSPOSE_AS_PE_TRANSPOSE, NULL: not set */
  const char *not_on_disk; /* why a persistent cache may not answer nor keep this one; NULL: it may */
} FwRequest;

/* The pipeline of dump_config_with_boundargs as replaceable steps; NULL = the default below. ud belongs to the owner.
 */
typedef struct FwPipeline {
  void *ud;
  /* canonical key bytes of a request (default: fw_generate_hash_key) */
  bool (*generate_hash_key)(void *ud, const FwRequest *r, Text *key, Diag *d);
  /* TRACE: re-executes the body; returns a finished module (caller owns), has_collectives, whether the run changed
   * captured state */
  IrModule *(*specialize_and_call)(void *ud, const FwRequest *r, bool *has_collectives, bool *impure, Diag *d);
  /* output names and result_is_sequence are in the module; default accepts them */
  bool (*translate_return_types)(void *ud, const FwRequest *r, IrModule *m, Diag *d);
  bool (*generate_operand_output_aliases)(void *ud, const FwRequest *r, IrModule *m, Diag *d);
  /* multiply-accumulates of the module (default: ir_mac_count) */
  bool (*matmul_mac_count)(void *ud, const FwRequest *r, IrModule *m, int64_t *count, Diag *d);
  bool (*encode_backend_config)(void *ud, const FwRequest *r, Artifact *a, Diag *d);
  bool (*assemble_result)(void *ud, const FwRequest *r, Artifact *a, Diag *d);
  /* What differs between the request's captured state and an earlier one, in a few words; for explanations only. */
  void (*describe_captured)(void *ud, const FwRequest *r, const void *before, size_t n, Text *out);
} FwPipeline;

typedef struct FwCache FwCache;
FwCache *fw_cache_new(Alloc alloc);
void fw_cache_free(FwCache *c);
void fw_cache_clear(FwCache *c);
void fw_cache_limit(FwCache *c, int64_t cap); /* 0: unlimited; else least recently used entries leave */
typedef struct FwCacheInfo {
  int64_t hits, misses, entries, impure;
  int64_t disk_hits; /* of the hits, those that a file answered */
  const char *last_reason;
  const char *last; /* what became of the last call: "hit in memory", "miss: ..."; NULL: there was none */
} FwCacheInfo;
FwCacheInfo fw_cache_info(const FwCache *c);
int64_t fw_cache_disk_hits(const FwCache *c);
void fw_cache_reason(FwCache *c, const char *reason); /* why the last impure run was not stored; kept for cache_info */
/* The entry behind `at` in the cache's order, the first one for NULL; NULL at the end. Lent until the cache changes. */
typedef struct FwEntry {
  const void *at;
  const void *key;
  size_t nkey;
  const Artifact *artifact;
} FwEntry;
bool fw_cache_next(const FwCache *c, FwEntry *e);
void fw_cache_note(FwCache *c, const char *last); /* what became of a call that went past the cache */

/* store.c: a persistent cache: artifacts in a folder, one file per key, for any number of processes at once. What is
   wrong with it is never an error of a call. dir need not exist; explain: a miss is also compared with what is there.
 */
typedef struct FwStore FwStore;
FwStore *fw_store_new(Alloc alloc, const char *dir, bool explain);
void fw_store_free(FwStore *s);
const char *fw_store_warning(FwStore *s);               /* to be printed; NULL: nothing, or it was given already */
void fw_cache_attach(FwCache *c, FwStore *s);           /* lent; NULL: none */
void fw_say_string(Text *out, const char *s, size_t n); /* as explanations show it: short, in one line of ASCII */
void fw_say_double(Text *out, double v);
/* NULL when absent; not retained. Counts a hit or a miss. */
const Artifact *fw_cache_get(FwCache *c, const void *key, size_t n);

/* The one page: key, look up, else trace -> returns -> aliases -> MACs -> encode -> assemble -> verify -> store. c may
   be NULL (enable_cache = false). The artifact is retained for the caller. */
const Artifact *fw_specialize(FwCache *c, const FwPipeline *p, const FwRequest *r, Alloc alloc, Diag *d);

/* What follows the trace, alone: the artifact of a finished module whose aliases are known. NULL: d is filled. */
Artifact *fw_assemble_result(const FwRequest *r, const IrModule *m, bool has_collectives, Alloc alloc, Diag *d);
bool fw_generate_hash_key(const FwRequest *r, Text *key, Diag *d);
void fw_key_const(Text *key, const ConstValue *v); /* type tag and exact bits */
bool fw_generate_operand_output_aliases(const FwRequest *r, IrModule *m, Diag *d);
/* Does f write its argument i, through whatever view? */
bool fw_operand_written(const IrFunc *f, uint32_t i);
/* The operand that output k is an update of: aliased and written. -1 when none; an alias that nobody writes is a
 * pass-through. */
int32_t fw_updated_operand(const Artifact *a, uint32_t k);

/* Target resolution (design 6.6): explicit name, else NEURON_PLATFORM_TARGET_OVERRIDE, else DMI product name, else trn1
 *with fallback = true and warning set to the page's text (the caller prints it once per process). */
bool fw_get_platform_target(const char *explicit_name, Target *out, bool *fallback, const char **warning, Diag *d);
/* The target of a machine that calls itself so in its DMI table: an instance type, "trn1.32xlarge" is a trn1. */
bool fw_target_of_product(const char *product, Target *out);
/* What a run on a device would execute and write: lines "run COMMAND" and "write FILE". */
typedef struct FwBaremetal {
  const char *dir, *neff, *trace, *compile_options; /* NULL: not given */
} FwBaremetal;
bool fw_baremetal_plan(const Artifact *a, const FwBaremetal *b, Text *out);
bool fw_baremetal_missing(Text *out); /* what of it this machine lacks; false: nothing */
bool fw_check_grid(const FwRequest *r, Diag *d);
/* Before a run: NEURON_LOGICAL_NC_CONFIG, when it is set, is the number of physical cores of a grid that names some. */
bool fw_check_logical_cores(const IrModule *m, Diag *d);
#endif
