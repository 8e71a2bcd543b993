/* hlo.h -- room emit: private; the one description of the module around a custom-call, from which HLO text,
   StableHLO and the binary HloModuleProto are printed; names and literals. */
#ifndef NK_HLO_H
#define NK_HLO_H
#include "emit.h"

typedef enum HloOpcode { HLO_PARAMETER, HLO_CONSTANT, HLO_CUSTOM_CALL, HLO_GET_TUPLE_ELEMENT, HLO_TUPLE } HloOpcode;

/* One tensor, or a tuple of n. */
typedef struct HloShape {
  const IrBuf *const *part;
  uint32_t n;
  bool tuple;
} HloShape;

/* Operands are the instructions [first, first + noperands). number: of the parameter, or the tuple index. */
typedef struct HloIns {
  HloOpcode opcode;
  const char *name;
  HloShape shape;
  uint32_t first, noperands, number;
} HloIns;

enum { HLO_API_ORIGINAL = 1, HLO_API_STATUS_RETURNING = 2 };

/* Parameters, constants, the custom-call and, when the result is a tuple, its elements and the tuple again. */
typedef struct HloModule {
  Arena arena;
  const Artifact *a;
  const char *name;        /* "jit_<func_name>" */
  const char *source_file; /* of the kernel's first instruction with a known line; NULL when there is none */
  int source_line;
  HloIns *ins;
  uint32_t nins, nparams, call;
  HloShape params, result;
  const IrAlias *aliases; /* of the entry: may-alias */
  uint32_t naliases, ncall_aliases;
  int api_version;
} HloModule;

#define HLO_OP "xla___op_NkiKernelCallImpl" /* op_type and op_name: what profilers show of the call */

/* Names are unique and such that XLA reads them back. False when out of memory. The caller frees h->arena. */
bool hlo_describe(HloModule *h, const Artifact *a);
const char *hlo_opcode(HloOpcode opcode);
static inline const HloIns *hlo_root(const HloModule *h) { return &h->ins[h->nins - 1]; }

/* A name whose foreign bytes are '_', and that is neither an element type nor a keyword of HLO text. */
const char *hlo_name(Arena *arena, const char *prefix, const char *name);

/* Elements of a constant, nested as its shape: brackets "{}" with blanks (HLO) or "[]" (MLIR dense). */
void literal_put(Text *out, const IrBuf *b, const char *brackets);
/* The bytes as hex digits, upper case. */
void literal_put_hex(Text *out, const IrBuf *b);
/* Element i as an unsigned number. */
uint64_t literal_bits(const IrBuf *b, int64_t i);
#endif
