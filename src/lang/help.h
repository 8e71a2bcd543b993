/* help.h -- room lang: the tables of the program as text: help(topic), docs/ops.md, docs/errors.md. Plain C, no lua.h.
 */
#ifndef NK_HELP_H
#define NK_HELP_H
#include "ir.h"

typedef enum HelpTable {
  HELP_OPS,
  HELP_ERRORS,
  HELP_DTYPES,
  HELP_TARGETS,
  HELP_LANGUAGE,
  HELP_STUB_NKI, /* this and the following: Lua for editors, whatever json is */
  HELP_STUB_LANGUAGE,
  HELP_STUB_ISA,
  HELP_STUB_COLLECTIVES
} HelpTable;
/* Markdown, or JSON. */
void help_table(HelpTable t, bool json, Text *out);
/* "nisa.activation", "nl.load", "NkiTensor.permute", an error id, a dtype, or one of these without its module. NULL
 * lists the topics. */
bool help_topic(const char *topic, Text *out, Diag *d);

/* help_values.c */
void help_error_text(ErrId id, Text *out);
void help_dtype_text(DType d, Text *out);
void help_act_text(Act a, Text *out);
void help_alu_text(Alu a, Text *out);
void help_member_text(EnumType type, const char *name, Text *out);
void help_member_value(EnumType type, const char *name, Text *out);
/* help_op.c */
void help_op_text(Op op, Text *out);
void help_op_errors(Op op, Text *out); /* "err_a, err_b" */
void help_ops_markdown(Text *out);
void help_ops_json(Text *out);
#endif
