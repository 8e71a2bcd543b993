/* docs.c -- room lang: the rows of docs.def, joined to those of nl.def, nl_half.def and tile.def. */
#include "docs.h"

#include <stddef.h>
#include <stdio.h>

static const Gives gives[] = {{"tile", "a tensor", "nki.Tensor"},
                              {"slice", "a slice", "nki.Slice"},
                              {"integer", "an integer", "integer"},
                              {"range", "what `for` takes; the index", "fun(): integer"},
                              {"index", "an index expression", "nki.Index"},
                              {"boolean", "true or false", "boolean"},
                              {"grid", "an axis of a grid", "nki.Axis"},
                              {"value", "a value", "any"},
                              {"nothing", "nothing", ""}};

typedef struct DocRow {
  const char *key, *gives, *takes, *raises, *uses, *example;
} DocRow;

static const DocRow docs[] = {
#define DOC(key, gives, takes, raises, uses, example) {key, gives, takes, raises, uses, example},
#include "docs.def"
};

const NameDoc docs_names[] = {
#define NAME(name, signature, doc, example) {name, signature, doc, example},
#include "docs.def"
};
const int docs_nnames = (int)(sizeof docs_names / sizeof *docs_names);

#define A(p) #p ", "
#define O(p) "[" #p "], "
#define LIST(i) 0
const MethodDoc docs_methods[] = {
#define AT(name, doc) {#name, NULL, doc},
#define TM(name, body, arg, lists, params, doc) {#name, params "", doc},
#include "tile.def"
};
#undef AT
#undef TM
#undef A
#undef O
#undef LIST
const int docs_nmethods = (int)(sizeof docs_methods / sizeof *docs_methods);

/* The name of the body behind each row of nl.def, in its order. */
static const char *const bodies[] = {
#define NL(name, body, arg, where, lists, params, doc) #body,
#include "nl.def"
};

static const DocRow *doc_row(const char *key) {
  for (size_t i = 0; i < sizeof docs / sizeof *docs; i++)
    if (strcmp(docs[i].key, key) == 0) return &docs[i];
  return NULL;
}

static const char *body_of(const LRow *row) {
  bool in_c = row >= nl_rows && row < nl_rows + nl_nrows;
  return in_c ? bodies[row - nl_rows] : NULL;
}

/* The first of the two that says something. */
static const char *cell(const DocRow *own, const DocRow *body, size_t offset) {
  const DocRow *rows[2] = {own, body};
  for (int i = 0; i < 2; i++) {
    if (!rows[i]) continue;
    const char *s;
    memcpy(&s, (const char *)rows[i] + offset, sizeof s);
    if (*s) return s;
  }
  return "";
}

void docs_of(const LRow *row, FuncDoc *out) {
  const char *body = body_of(row);
  const DocRow *own = doc_row(row->bind.func), *shared = body ? doc_row(body) : NULL;
  const char *word = cell(own, shared, offsetof(DocRow, gives));
  *out = (FuncDoc){.takes = cell(own, shared, offsetof(DocRow, takes)),
                   .raises = cell(own, shared, offsetof(DocRow, raises)),
                   .uses = cell(own, shared, offsetof(DocRow, uses))};
  for (size_t i = 0; i < sizeof gives / sizeof *gives; i++)
    if (strcmp(gives[i].word, word) == 0) out->gives = &gives[i];
  const char *example = cell(own, shared, offsetof(DocRow, example)), *mark = strstr(example, "%s");
  if (mark) {
    snprintf(out->example, sizeof out->example, "%.*s%s%s", (int)(mark - example), example, row->name, mark + 2);
  } else {
    snprintf(out->example, sizeof out->example, "%s", example);
  }
}

bool docs_simulated(const LRow *row) {
  FuncDoc doc;
  docs_of(row, &doc);
  return strncmp(doc.uses, "sim_", 4) == 0;
}

const LRow *docs_row(int i) {
  if (i < nl_nrows) return &nl_rows[i];
  return i < nl_nrows + nl_half_nrows ? &nl_half_rows[i - nl_nrows] : NULL;
}

const NameDoc *docs_name(const char *full) {
  for (int i = 0; i < docs_nnames; i++)
    if (strcmp(docs_names[i].name, full) == 0) return &docs_names[i];
  return NULL;
}

bool docs_is_view(const MethodDoc *m) {
  return m->params && strncmp(m->name, "is_", 3) != 0 && strncmp(m->name, "get_", 4) != 0;
}

/* ---- as text ------------------------------------------------------------------------------------------------- */

void docs_signature(const LRow *row, Text *out) {
  text_printf(out, "%s.%s(", row->module, row->name);
  for (int i = 0; i < row->bind.n; i++)
    text_printf(out, row->bind.required[i] ? "%s%s" : "%s[%s]", i ? ", " : "", row->bind.names[i]);
  text_puts(out, ")");
}

static void line(Text *out, const char *what, const char *text) {
  if (*text) text_printf(out, "  %s: %s\n", what, text);
}

void docs_row_text(const LRow *row, Text *out) {
  FuncDoc d;
  docs_of(row, &d);
  docs_signature(row, out);
  text_printf(out, "\n  %s\n", row->doc);
  line(out, "takes", d.takes);
  line(out, "gives", d.gives ? d.gives->prose : "");
  line(out, docs_simulated(row) ? "simulator only" : "instructions", d.uses);
  line(out, "errors", d.raises);
  line(out, "example", d.example);
}

const char *docs_example(const OpInfo *op) {
  char key[64];
  snprintf(key, sizeof key, "%s.%s", op->dialect, op->name);
  return cell(doc_row(key), NULL, offsetof(DocRow, example));
}

void docs_of_method(const MethodDoc *m, FuncDoc *out) {
  char key[64];
  snprintf(key, sizeof key, "tensor.%s", m->name);
  const DocRow *row = doc_row(key);
  *out = (FuncDoc){.takes = cell(row, NULL, offsetof(DocRow, takes)),
                   .raises = cell(row, NULL, offsetof(DocRow, raises)),
                   .uses = cell(row, NULL, offsetof(DocRow, uses))};
  snprintf(out->example, sizeof out->example, "%s", cell(row, NULL, offsetof(DocRow, example)));
}

void docs_method_signature(const MethodDoc *m, Text *out) {
  if (!m->params) {
    text_printf(out, "tensor.%s", m->name);
    return;
  }
  const char *rest = strncmp(m->params, "self, ", 6) == 0 ? m->params + 6 : "";
  size_t n = strlen(rest);
  text_printf(out, "tensor:%s(%.*s)", m->name, n > 2 ? (int)n - 2 : 0, rest);
}

void docs_method_text(const MethodDoc *m, Text *out) {
  FuncDoc d;
  docs_of_method(m, &d);
  docs_method_signature(m, out);
  text_printf(out, "\n  %s\n", m->doc);
  line(out, m->params ? "takes" : "units", d.takes);
  line(out, "errors", d.raises);
  line(out, "example", d.example);
}

void docs_name_text(const NameDoc *n, Text *out) {
  text_printf(out, "%s%s\n  %s\n", n->name, n->signature, n->doc);
  line(out, "example", n->example);
}
