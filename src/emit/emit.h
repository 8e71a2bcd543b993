/* emit.h -- the artifact, and texts that are pure functions of it: backend_config, HLO, StableHLO. */
#ifndef NK_EMIT_H
#define NK_EMIT_H
#include "ir.h"
#include "json.h"

/* A bound argument that is not a tensor. */
typedef enum ConstKind { CONST_NIL, CONST_BOOL, CONST_INT, CONST_FLOAT, CONST_STRING, CONST_TOKEN, CONST_FUNCTION, CONST_TUPLE } ConstKind;
typedef struct ConstValue ConstValue;
struct ConstValue {
  const char *name;   /* parameter; NULL inside a tuple */
  ConstKind kind;
  bool b;
  int64_t i;
  double f;
  const char *s;      /* string bytes, token name ("nl.exp"), function: hex of its hash */
  size_t len;
  const ConstValue *items; /* tuple */
  uint32_t nitems;
};
typedef struct KernelOpt { const char *key; ConstValue value; } KernelOpt; /* sorted by key */

#define NKILUA_KERNEL_VERSION 1
#define NKILUA_KERNEL_FORMAT "nkilua-mlir"

/* Immutable after assembly; shared between threads; ref-counted. Everything is in its arena or its module. */
typedef struct Artifact {
  int32_t refs; /* atomic */
  Arena arena;
  const IrModule *module;       /* retained */
  const char *func_name;
  const char *const *input_names;  /* user tensors, operand order */
  uint32_t ninputs;
  const char *const *output_names;
  uint32_t noutputs;
  const ConstValue *constants;  /* bound non-tensor arguments, signature order */
  uint32_t nconstants;
  const KernelOpt *opts;
  uint32_t nopts;
  bool has_collectives, result_is_sequence;
  int64_t matmul_mac_count;
  const char *ir;               /* canonical text */
  size_t ir_len;
  const char *config_json;      /* compact */
  size_t config_json_len;
  const char *backend_config;   /* base64, one line, NUL-terminated */
  size_t backend_config_len;
  const char *cache_key;        /* 32 hex digits; "" for a decoded config */
} Artifact;

Artifact *artifact_new(Alloc alloc, const IrModule *m); /* retains m; the rest zeroed */
const Artifact *artifact_retain(const Artifact *a);
void artifact_release(const Artifact *a);

/* config.c: fills ir, config_json, backend_config from the other fields. */
bool config_encode(Artifact *a, Diag *d);
/* Strict reading of base64 text (one trailing newline allowed): decodes, checks every key and type, parses and verifies the IR,
   checks that names, aliases, counts agree with it. */
const Artifact *config_decode(Alloc alloc, const char *b64, size_t n, Diag *d);
/* hlo.c, stablehlo.c */
bool hlo_text(const Artifact *a, Text *out, Diag *d);
bool stablehlo_text(const Artifact *a, Text *out, Diag *d);
#endif
