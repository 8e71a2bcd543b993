/* emit.h -- room emit: the artifact, and texts that are pure functions of it: backend_config, HLO, StableHLO. */
#ifndef NK_EMIT_H
#define NK_EMIT_H
#include "file.h"
#include "ir.h"
#include "json.h"

/* A bound argument that is not a tensor. */
typedef enum ConstKind {
  CONST_NIL,
  CONST_BOOL,
  CONST_INT,
  CONST_FLOAT,
  CONST_STRING,
  CONST_TOKEN,
  CONST_FUNCTION,
  CONST_TUPLE
} ConstKind;
/* Tuples inside tuples. Each is two levels of a config's JSON, whose reader stops at 64. */
enum { CONST_MOST_DEEP = 30 };
typedef struct ConstValue ConstValue;
struct ConstValue {
  const char *name; /* parameter; NULL inside a tuple */
  ConstKind kind;
  bool b;
  int64_t i;
  double f;
  const char *s; /* string bytes, token name ("nl.exp"), function: hex of its hash */
  size_t len;
  const ConstValue *items; /* tuple */
  uint32_t nitems;
};
typedef struct KernelOpt {
  const char *key;
  ConstValue value;
} KernelOpt; /* sorted by key */

#define NKILUA_BUILD_VERSION "0.1.0" /* in every cache key: another build traces again */
#define NKILUA_KERNEL_VERSION 1
#define NKILUA_KERNEL_FORMAT "nkilua-mlir"

#define EMIT_TARGET_NATIVE "AwsNeuronCustomNativeKernel" /* custom-call target: JAX, HLO */
#define EMIT_TARGET_TORCH "AwsNeuronNkiKernel"           /* torch-xla */

/* A constant tensor of the module: a trailing operand of the custom-call. Names are unique, equal ones occur once. */
typedef struct ConstTensor {
  const char *name;
  const IrBuf *buf;
} ConstTensor;

/* Immutable after assembly; shared between threads; ref-counted. Everything is in its arena or its module. */
typedef struct Artifact {
  int32_t refs; /* atomic */
  Arena arena;
  const IrModule *module; /* retained */
  const char *func_name;
  const char *const *input_names; /* user tensors, operand order */
  uint32_t ninputs;
  const char *const *output_names;
  uint32_t noutputs;
  const ConstValue *constants; /* bound non-tensor arguments, signature order */
  uint32_t nconstants;
  const ConstTensor *tensors;
  uint32_t ntensors;
  const KernelOpt *opts;
  uint32_t nopts;
  const char *call_target; /* EMIT_TARGET_... */
  bool has_collectives, result_is_sequence;
  int64_t matmul_mac_count;
  const char *ir; /* canonical text */
  size_t ir_len;
  const char *config_json; /* compact */
  size_t config_json_len;
  const char *backend_config; /* base64, one line, NUL-terminated */
  size_t backend_config_len;
  const char *cache_key; /* 32 hex digits; "" for a decoded config */
} Artifact;

/* Retains m; fills what the module says: names, constant tensors, result_is_sequence, MAC count. NULL when out of
 * memory. */
Artifact *artifact_new(Alloc alloc, const IrModule *m);
/* Deep copies into a's arena. */
bool artifact_set_constants(Artifact *a, const ConstValue *list, uint32_t n);
bool artifact_set_opts(Artifact *a, const KernelOpt *list, uint32_t n);
const Artifact *artifact_retain(const Artifact *a);
void artifact_release(const Artifact *a);

/* config.c: fills ir, config_json, backend_config from the other fields. */
bool config_encode(Artifact *a, Diag *d);
/* Could text that begins like this be a backend_config? For file_read_as. */
bool config_begins(const FileIn *first, bool whole, size_t *end, Diag *d);
/* Strict reading of base64 text (one trailing newline allowed): decodes, checks every key and type, parses and verifies
   the IR, checks that names, aliases, counts agree with it. */
const Artifact *config_decode(Alloc alloc, const char *b64, size_t n, Diag *d);
/* The JSON with "" for its program, and back: for who keeps both and knows that they are what was written. The program
   is parsed and verified, its text taken as it is. */
typedef struct ConfigParts {
  const char *head, *ir;
  size_t nhead, nir;
} ConfigParts;
bool config_head(const Artifact *a, Text *out);
const Artifact *config_join(Alloc alloc, const ConfigParts *parts, Diag *d);
/* A user tensor: operand i, output k. */
const IrBuf *artifact_input(const Artifact *a, uint32_t i);
const IrBuf *artifact_output(const Artifact *a, uint32_t k);
int32_t artifact_alias(const Artifact *a, uint32_t output); /* operand that output k aliases, -1 when none */

/* hlo.c, stablehlo.c, hlo_proto.c: the module around the custom-call. */
bool hlo_text(const Artifact *a, Text *out, Diag *d);
bool stablehlo_text(const Artifact *a, Text *out, Diag *d);
bool hlo_proto(const Artifact *a, Text *out, Diag *d);
int hlo_element_type(DType t); /* the number of xla.PrimitiveType */
#endif
