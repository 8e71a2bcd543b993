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

/* help_op.c */
void help_op_text(Op op, Text *out);
void help_ops_markdown(Text *out);
void help_ops_json(Text *out);
#endif
