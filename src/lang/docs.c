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
                              {"kernel", "a kernel", "any"},
                              {"runner", "a function of the kernel's arguments", "any"},
                              {"helper", "a function for kernels", "any"},
                              {"artifact", "an artifact", "any"},
                              {"list", "a frozen list", "any"},
                              {"results", "what the kernel returns, as host arrays", "any"},
                              {"dtype", "a dtype", "string"},
                              {"record", "a record", "any"},
                              {"limits", "nl.tile_size", "any"},
                              {"register", "a register", "any"},
                              {"version", "a member of nisa.nc_version", "any"},
                              {"instruction", "an instruction", "nki.Instruction"},
                              {"error", "an error object", "any"},
                              {"group", "a group of ranks", "any"},
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
static const char *cell(const DocRow *own, const DocRow *shared, size_t offset) {
  const DocRow *rows[2] = {own, shared};
  for (int i = 0; i < 2; i++) {
    if (!rows[i]) continue;
    const char *s;
    memcpy(&s, (const char *)rows[i] + offset, sizeof s);
    if (*s) return s;
  }
  return "";
}
#define CELL(column) cell(own, shared, offsetof(DocRow, column))

/* An example whose %s, if it has one, is the name. */
static void put_example(char *out, size_t size, const char *example, const char *name) {
  const char *mark = strstr(example, "%s");
  if (mark) {
    snprintf(out, size, "%.*s%s%s", (int)(mark - example), example, name, mark + 2);
  } else {
    snprintf(out, size, "%s", example);
  }
}

static void add(Doc *d, const char *key, const char *label, const char *text, bool code) {
  d->field[d->nfields++] = (DocField){key, label, text, code};
}

/* What a topic is told by: its own row, and that of all its kind. takes, uses: what these are called, NULL for none. */
static void fill(Doc *d, const DocRow *own, const DocRow *shared, const char *takes, const char *uses) {
  const char *word = CELL(gives);
  if (!*word && d->gives) word = d->gives->word;
  for (size_t i = 0; i < sizeof gives / sizeof *gives; i++)
    if (strcmp(gives[i].word, word) == 0) d->gives = &gives[i];
  add(d, "takes", takes, CELL(takes), false);
  add(d, "gives", "gives", d->gives ? d->gives->prose : "", false);
  if (uses) add(d, "instructions", uses, CELL(uses), false);
  add(d, "errors", "errors", CELL(raises), false);
  add(d, "example", "example", d->example, true);
}

/* ---- functions, methods, other names ------------------------------------------------------------------------- */

static void sign_row(const Doc *d, Text *out) {
  const LRow *row = d->of;
  text_printf(out, "%s.%s(", row->module, row->name);
  for (int i = 0; i < row->bind.n; i++)
    text_printf(out, row->bind.required[i] ? "%s%s" : "%s[%s]", i ? ", " : "", row->bind.names[i]);
  text_puts(out, ")");
}

static void sign_method(const Doc *d, Text *out) {
  const MethodDoc *m = d->of;
  if (!m->params) {
    text_printf(out, "tensor.%s", m->name);
    return;
  }
  const char *rest = strncmp(m->params, "self, ", 6) == 0 ? m->params + 6 : "";
  size_t n = strlen(rest);
  text_printf(out, "tensor:%s(%.*s)", m->name, n > 2 ? (int)n - 2 : 0, rest);
}

static void sign_name(const Doc *d, Text *out) {
  const NameDoc *n = d->of;
  text_printf(out, "%s%s", n->name, n->signature);
}

void docs_of_row(const LRow *row, Doc *d) {
  const char *body = body_of(row);
  const DocRow *own = doc_row(row->bind.func), *shared = body ? doc_row(body) : NULL;
  *d = (Doc){.kind = "function", .doc = row->doc, .sign = sign_row, .of = row};
  snprintf(d->name, sizeof d->name, "%s", row->bind.func);
  put_example(d->example, sizeof d->example, CELL(example), row->name);
  fill(d, own, shared, "takes", strncmp(CELL(uses), "sim_", 4) == 0 ? "simulator only" : "instructions");
}

void docs_of_method(const MethodDoc *m, Doc *d) {
  const DocRow *own, *shared = NULL;
  *d = (Doc){.kind = "method", .doc = m->doc, .sign = sign_method, .of = m};
  snprintf(d->name, sizeof d->name, "tensor.%s", m->name);
  own = doc_row(d->name);
  if (docs_is_view(m)) d->gives = &gives[0];
  snprintf(d->example, sizeof d->example, "%s", CELL(example));
  fill(d, own, shared, m->params ? "takes" : "units", NULL);
}

void docs_of_name(const NameDoc *n, Doc *d) {
  const DocRow *own = doc_row(n->name);
  *d = (Doc){.kind = "name", .doc = n->doc, .sign = sign_name, .of = n};
  snprintf(d->name, sizeof d->name, "%s", n->name);
  snprintf(d->example, sizeof d->example, "%s", n->example);
  fill(d, own, NULL, "takes", NULL);
}

const char *docs_field(const Doc *d, const char *key) {
  for (int i = 0; i < d->nfields; i++)
    if (strcmp(d->field[i].key, key) == 0) return d->field[i].text;
  return "";
}

bool docs_simulated(const Doc *d) { return strncmp(docs_field(d, "instructions"), "sim_", 4) == 0; }

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

void docs_text(const Doc *d, Text *out) {
  d->sign(d, out);
  text_printf(out, "\n  %s\n", d->doc);
  for (int i = 0; i < d->nfields; i++)
    if (*d->field[i].text) text_printf(out, "  %s: %s\n", d->field[i].label, d->field[i].text);
}

/* ---- rows that are told of things with tables of their own --------------------------------------------------- */

void docs_cells(const char *key, const char *kind, const char *name, DocCells *out) {
  const DocRow *own = doc_row(key), *shared = kind ? doc_row(kind) : NULL;
  out->raises = CELL(raises);
  put_example(out->example, sizeof out->example, CELL(example), name);
}
