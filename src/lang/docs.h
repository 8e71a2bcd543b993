/* docs.h -- room lang: what help, docs/language.md and the editor stubs tell of a function: rows of docs.def. */
#ifndef NK_LANG_DOCS_H
#define NK_LANG_DOCS_H
#include "nl.h"

/* What a function gives: a word of docs.def, in prose, and as a type of the editor stubs ("": nothing). */
typedef struct Gives {
  const char *word, *prose, *type;
} Gives;

typedef struct FuncDoc {
  const Gives *gives;
  const char *takes, *raises, *uses; /* "" when there is nothing to say */
  char example[240];
} FuncDoc;
void docs_of(const LRow *row, FuncDoc *out); /* a row of nl.def or nl_half.def */
bool docs_simulated(const LRow *row);        /* no instruction does it */

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

void docs_row_text(const LRow *row, Text *out);
const char *docs_example(const OpInfo *op); /* of an instruction, "" when there is none */
void docs_of_method(const MethodDoc *m, FuncDoc *out);
void docs_method_signature(const MethodDoc *m, Text *out);
void docs_method_text(const MethodDoc *m, Text *out);
void docs_name_text(const NameDoc *n, Text *out);
void docs_signature(const LRow *row, Text *out);
/* docs_pages.c */
void docs_language_markdown(Text *out);
void docs_language_json(Text *out);
void docs_stub(const char *module, Text *out); /* "nki", "nki.language", "nki.isa", "nki.collectives" */
#endif
