/* hlo.h -- private to the emit room: names and literals that HLO and StableHLO text share. */
#ifndef NK_HLO_H
#define NK_HLO_H
#include "emit.h"

/* "jit_<func_name>" with every byte that HLO forbids replaced. NULL when out of memory. */
const char *hlo_module_name(Arena *arena, const Artifact *a);
/* Names of the operands for HLO text: an operand called like an element type or a keyword gets '_'. Unique. NULL when
 * out of memory. */
const char *const *hlo_input_names(Arena *arena, const Artifact *a);

/* Elements of a constant, nested as its shape: brackets "{}" with blanks (HLO) or "[]" (MLIR dense). */
void literal_put(Text *out, const IrBuf *b, const char *brackets);
/* The bytes as hex digits, upper case. */
void literal_put_hex(Text *out, const IrBuf *b);

/* Where the kernel's first instruction with a known line comes from; false when none is known. */
bool hlo_source(const Artifact *a, const char **file, int *line);
void hlo_put_quoted(Text *out, const char *s); /* C-escaped */
/* Number of results: "is it a tuple" follows the rule that one output is one only when it was not returned as a
 * sequence. */
static inline bool hlo_is_tuple(const Artifact *a) { return a->noutputs != 1 || a->result_is_sequence; }
#endif
