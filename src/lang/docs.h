/* docs.h -- room lang: what help, docs/language.md and the editor stubs tell of a function: rows of docs.def. */
#ifndef NK_LANG_DOCS_H
#define NK_LANG_DOCS_H
#include "nl.h"

/* What a function gives: a word of docs.def, in prose, and as a type of the editor stubs ("": nothing). */
typedef struct Gives {
  const char *word, *prose, *type;
} Gives;

/* One thing that is told of a topic. */
typedef struct DocField {
  const char *key, *label, *text; /* text: "" when there is nothing to say */
  bool code;
} DocField;
/* A function, a method or another name: whatever prints one walks over its fields. */
typedef struct Doc {
  const char *kind; /* "function", "method", "name" */
  const char *doc;
  const Gives *gives; /* NULL when nothing is said */
  DocField field[5];
  int nfields;
  void (*sign)(const struct Doc *d, Text *out); /* writes the signature */
  const void *of;
  char name[64], example[240];
} Doc;
bool docs_simulated(const Doc *d); /* no instruction does it */
const char *docs_field(const Doc *d, const char *key);
void docs_text(const Doc *d, Text *out);

/* The i-th parameter of an instruction as users see it: those of its row, then `name`; NULL behind the last. */
const IrParam *docs_param(const OpInfo *op, int i);

typedef struct NameDoc {
  const char *name, *signature, *doc, *example;
} NameDoc;
extern const NameDoc docs_names[];
extern const int docs_nnames;
const NameDoc *docs_name(const char *full); /* "nl.sbuf" */

/* Calls see for every row of nl.def, then of nl_half.def. */
const LRow *docs_row(int i); /* NULL behind the last */

/* Every public name with its module: "nl.exp" and what it gives, for lint (half_lib.c). */
typedef struct MethodDoc {
  const char *name, *params, *doc; /* params: "self, dims, [x], "; NULL for attributes */
} MethodDoc;
extern const MethodDoc docs_methods[];
extern const int docs_nmethods;
bool docs_is_view(const MethodDoc *m); /* does it give a tensor? */

void docs_of_row(const LRow *row, Doc *d); /* a row of nl.def or nl_half.def */
void docs_of_method(const MethodDoc *m, Doc *d);
void docs_of_name(const NameDoc *n, Doc *d);

/* What docs.def tells of an instruction, a rule, a value: errors, and an example in which %s is name. The row of kind,
   if there is one, speaks for all of them. */
typedef struct DocCells {
  const char *raises;
  char example[240];
} DocCells;
void docs_cells(const char *key, const char *kind, const char *name, DocCells *out);

/* docs_pages.c */
void docs_language_markdown(Text *out);
void docs_language_json(Text *out);
void docs_stub(const char *module, Text *out); /* "nki", "nki.language", "nki.isa", "nki.collectives" */
#endif
