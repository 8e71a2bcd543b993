/* help.c -- room lang: help on a topic, and the tables that are not of instructions. */
#include "help.h"

#include "docs.h"
#include "embedded.h"

#include <stdio.h>
#include <stdlib.h>

#include "json.h"

static const char KERNELS[] = "nki.kernels.";

/* The name of a kernel of the library, or NULL when the row is no kernel. */
static const char *kernel_name(const struct nki_embedded *row) {
  size_t n = strlen(KERNELS);
  return strncmp(row->name, KERNELS, n) == 0 ? row->name + n : NULL;
}

static void list_topics(Text *out) {
  text_puts(out,
            "help(topic): an instruction, a function, a method of tensors, an operator, a dtype, a kernel of the "
            "library or an error id\n\nnisa:");
  for (int i = 1; i < OP_count; i++)
    if (strcmp(op_info[i].dialect, "nisa") == 0) text_printf(out, " %s", op_info[i].name);
  text_puts(out, "\n\nncc:");
  for (int i = 1; i < OP_count; i++)
    if (strcmp(op_info[i].dialect, "ncc") == 0) text_printf(out, " %s", op_info[i].name);
  text_puts(out, "\n\nnl:");
  for (int i = 0; i < nl_nrows; i++) text_printf(out, " %s", nl_rows[i].name);
  for (int i = 0; i < nl_half_nrows; i++) text_printf(out, " %s", nl_half_rows[i].name);
  text_puts(out, "\n\ntensor:");
  for (int i = 0; i < docs_nmethods; i++) text_printf(out, " %s", docs_methods[i].name);
  text_puts(out, "\n\nalso:");
  for (int i = 0; i < docs_nnames; i++) text_printf(out, " %s", docs_names[i].name);
  text_puts(out, "\n\ndtypes:");
  for (int i = 1; i < DT_count; i++) text_printf(out, " %s", dtype_name((DType)i));
  text_puts(out, "\n\nnki.kernels:");
  for (const struct nki_embedded *row = nki_embedded; row->name; row++)
    if (kernel_name(row)) text_printf(out, " %s", kernel_name(row));
  text_puts(out, "\n");
}

/* ---- finding a topic ----------------------------------------------------------------------------------------- */

/* The topic without "module.", when it has that module or none; else NULL. */
static const char *in_module(const char *topic, const char *module) {
  size_t n = strlen(module);
  if (strncmp(topic, module, n) == 0 && (topic[n] == '.' || topic[n] == ':')) return topic + n + 1;
  return strpbrk(topic, ".:") ? NULL : topic;
}

static bool find_instruction(const char *topic, Text *out) {
  const char *name = in_module(topic, "nisa");
  if (!name) name = in_module(topic, "nki.isa");
  if (!name) name = in_module(topic, "ncc");
  if (!name) name = in_module(topic, "nki.collectives");
  Op op = name ? op_parse(name, strlen(name)) : OP_none;
  if (op == OP_none) return false;
  help_op_text(op, out);
  return true;
}

static bool find_language(const char *topic, Text *out) {
  const char *name = in_module(topic, "nl");
  if (!name) name = in_module(topic, "nki.language");
  if (!name) return false;
  size_t before = out->len, n = strlen(name);
  const LRow *row = nl_row(name);
  if (!row) row = nl_half_row(name);
  Doc d;
  if (row) docs_of_row(row, &d);
  if (row) docs_text(&d, out);
  if (alu_parse(name, n) != ALU_none) help_alu_text(alu_parse(name, n), out);
  if (act_parse(name, n) != ACT_none) help_act_text(act_parse(name, n), out);
  if (dtype_parse(name, n) != DT_none) help_dtype_text(dtype_parse(name, n), out);
  return out->len > before;
}

static bool find_method(const char *topic, Text *out) {
  if (strncmp(topic, "nki.language.", 13) == 0) topic += 13;
  if (strncmp(topic, "nl.", 3) == 0) topic += 3;
  const char *name = in_module(topic, "NkiTensor");
  if (!name) name = in_module(topic, "tensor");
  for (int i = 0; name && i < docs_nmethods; i++) {
    if (strcmp(docs_methods[i].name, name) != 0) continue;
    Doc d;
    docs_of_method(&docs_methods[i], &d);
    docs_text(&d, out);
    return true;
  }
  return false;
}

/* Modules may be written out, and the classes of nl without theirs: NkiTensor.__init__. */
static const NameDoc *full_name(const char *topic) {
  static const char *const modules[][2] = {{"nki.language.", "nl."},
                                           {"nki.ndarray.", "nd."},
                                           {"nki.testing.", "testing."},
                                           {"nki.isa.", "nisa."},
                                           {"nki.collectives.", "ncc."},
                                           {"nki.language.tile_size.", "nl._TileSize."},
                                           {"nl.tile_size.", "nl._TileSize."},
                                           {"tile_size.", "nl._TileSize."},
                                           {"nki.", "nki."},
                                           {"", "nl."},
                                           {"", "nisa."},
                                           {"", "ncc."},
                                           {"", "nki."},
                                           {"", ""}};
  for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
    size_t n = strlen(modules[i][0]);
    char full[96];
    if (strncmp(topic, modules[i][0], n) != 0) continue;
    snprintf(full, sizeof full, "%s%s", modules[i][1], topic + n);
    if (docs_name(full)) return docs_name(full);
  }
  return NULL;
}

static bool find_name(const char *topic, Text *out) {
  const NameDoc *n = full_name(topic);
  Doc d;
  if (n) docs_of_name(n, &d);
  if (n) docs_text(&d, out);
  return n != NULL;
}

/* "nl", "nki.language": the names in it. */
static bool find_module(const char *topic, Text *out) {
  static const char *const modules[][2] = {{"nki", "nki"},        {"nki.language", "nl"},
                                           {"nki.isa", "nisa"},   {"nki.collectives", "ncc"},
                                           {"nki.ndarray", "nd"}, {"nki.testing", "testing"}};
  size_t k = 0, n = sizeof modules / sizeof *modules;
  while (k < n && strcmp(topic, modules[k][0]) != 0 && strcmp(topic, modules[k][1]) != 0) k++;
  if (k == n) return false;
  const char *name = modules[k][1];
  size_t len = strlen(name);
  const LRow *row;
  text_printf(out, "%s, the module %s:\n ", name, modules[k][0]);
  for (int i = 1; i < OP_count; i++)
    if (strcmp(op_info[i].dialect, name) == 0 && strcmp(name, "nki") != 0) text_printf(out, " %s", op_info[i].name);
  for (int i = 0; strcmp(name, "nl") == 0 && (row = docs_row(i)); i++) text_printf(out, " %s", row->name);
  for (int i = 0; i < docs_nnames; i++) {
    const char *full = docs_names[i].name;
    if (strncmp(full, name, len) == 0 && full[len] == '.' && !strchr(full + len + 1, '.'))
      text_printf(out, " %s", full + len + 1);
  }
  text_puts(out, "\n");
  return true;
}

/* "nisa.engine.vector" */
static bool find_member(const char *topic, Text *out) {
  const char *name = strncmp(topic, "nki.isa.", 8) == 0 ? topic + 8
                     : strncmp(topic, "nisa.", 5) == 0  ? topic + 5
                                                        : topic;
  const char *dot = strchr(name, '.');
  for (int t = ET_engine; dot && t <= ET_dma_engine; t++) {
    const char *type = enum_type_name((EnumType)t);
    int value = 0;
    if (strlen(type) != (size_t)(dot - name) || strncmp(type, name, (size_t)(dot - name)) != 0) continue;
    if (!enum_parse((EnumType)t, dot + 1, strlen(dot + 1), &value)) continue;
    help_member_text((EnumType)t, dot + 1, out);
    return true;
  }
  return false;
}

static bool find_error(const char *topic, Text *out) {
  ErrId id = err_by_name(topic);
  if (id == ERR_none) return false;
  help_error_text(id, out);
  return true;
}

/* The comment at the head of a kernel's source, without its dashes. */
static bool find_kernel(const char *topic, Text *out) {
  const char *name = in_module(topic, "nki.kernels");
  const struct nki_embedded *row = nki_embedded;
  while (name && row->name && (!kernel_name(row) || strcmp(kernel_name(row), name) != 0)) row++;
  if (!name || !row->name) return false;
  for (const char *line = row->src; strncmp(line, "--", 2) == 0;) {
    const char *end = strchr(line, '\n');
    line += line[2] == ' ' ? 3 : 2;
    text_printf(out, "%.*s\n", (int)(end - line), line);
    line = end + 1;
  }
  return true;
}

static const char *nearest_topic(const char *topic) {
  const char *names[OP_count + 512];
  int n = 0;
  const char *dot = strrchr(topic, '.');
  for (int i = 1; i < OP_count; i++) names[n++] = op_info[i].name;
  for (int i = 0; i < nl_nrows && n < OP_count + 370; i++) names[n++] = nl_rows[i].name;
  for (int i = 0; i < nl_half_nrows && n < OP_count + 400; i++) names[n++] = nl_half_rows[i].name;
  for (const struct nki_embedded *row = nki_embedded; row->name && n < OP_count + 500; row++)
    if (kernel_name(row)) names[n++] = kernel_name(row);
  for (int i = 0; i < docs_nnames && n < OP_count + 500; i++) {
    const char *last = strrchr(docs_names[i].name, '.');
    names[n++] = last ? last + 1 : docs_names[i].name;
  }
  for (int i = 0; i < docs_nmethods && n < OP_count + 511; i++) names[n++] = docs_methods[i].name;
  names[n] = NULL;
  return diag_nearest(dot ? dot + 1 : topic, names);
}

static bool find_topic(const char *topic, Text *out) {
  bool found = find_instruction(topic, out);
  found = find_language(topic, out) || found;
  found = find_method(topic, out) || found;
  found = find_name(topic, out) || found;
  found = find_member(topic, out) || found;
  found = find_module(topic, out) || found;
  found = find_error(topic, out) || found;
  return find_kernel(topic, out) || found;
}

/* The nearest name stands behind the module that was asked, where that has it. */
static bool unknown_topic(const char *topic, Alloc alloc, Diag *d) {
  const char *near = strchr(topic, ' ') ? NULL : nearest_topic(topic), *dot = strrchr(topic, '.');
  if (!near) return DIAG(d, no_topic, topic, "", "", "");
  Text full, unread;
  text_init(&full, alloc);
  text_init(&unread, alloc);
  text_printf(&full, "%.*s%s", dot ? (int)(dot + 1 - topic) : 0, topic, near);
  if (!full.oom && find_topic(text_str(&full), &unread)) near = text_str(&full);
  DIAG(d, no_topic, topic, "; did you mean '", near, "'?");
  text_free(&full);
  text_free(&unread);
  return false;
}

bool help_topic(const char *topic, Text *out, Diag *d) {
  if (!topic) {
    list_topics(out);
    return true;
  }
  return find_topic(topic, out) || unknown_topic(topic, out->alloc, d);
}

/* ---- tables -------------------------------------------------------------------------------------------------- */

/* One list of rows, each a name and facts by key; the keys are the columns. */
typedef struct TableWriter {
  Text *out;
  JsonWriter w;
  bool json;
} TableWriter;

static void begin_row(TableWriter *t) {
  if (t->json) {
    json_begin(&t->w, '{');
  } else {
    text_puts(t->out, "|");
  }
}

static void column(TableWriter *t, const char *key, const char *value) {
  if (t->json) {
    json_key(&t->w, key);
    json_cstr(&t->w, value);
    return;
  }
  text_putc(t->out, ' ');
  for (const char *s = value; *s; s++) {
    if (*s == '|') text_putc(t->out, '\\');
    text_putc(t->out, *s);
  }
  text_puts(t->out, " |");
}

static void number(TableWriter *t, const char *key, int64_t v) {
  if (!t->json) {
    text_printf(t->out, " %lld |", (long long)v);
    return;
  }
  json_key(&t->w, key);
  json_int(&t->w, v);
}

static void end_row(TableWriter *t) {
  if (t->json) {
    json_end(&t->w, '}');
  } else {
    text_putc(t->out, '\n');
  }
}

static void errors_table(TableWriter *t) {
  static const char *const status[] = {"ok",    "nomem", "arg",   "io",        "format",      "syntax", "script",
                                       "trace", "sim",   "limit", "cancelled", "unsupported", "host",   "internal"};
  if (!t->json)
    text_puts(t->out,
              "# Messages\n\nWritten by `./dev docs` from `src/base/errors.def`. `%s`, `%d` ... stand for what the "
              "message names.\n\n| id | status | message |\n| --- | --- | --- |\n");
  for (int i = 1; i < ERR_count; i++) {
    begin_row(t);
    column(t, "id", err_name((ErrId)i));
    column(t, "status", status[-err_status((ErrId)i)]);
    column(t, "message", err_format((ErrId)i));
    end_row(t);
  }
}

static void dtypes_table(TableWriter *t) {
  if (!t->json)
    text_puts(
        t->out,
        "| dtype | bytes | MLIR | HLO | npy | also | since | |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (int i = 1; i < DT_count; i++) {
    const DTypeInfo *d = &dtype_info[i];
    begin_row(t);
    column(t, "name", d->name);
    number(t, "bytes", d->bytes);
    column(t, "mlir", d->mlir);
    column(t, "hlo", d->hlo);
    column(t, "npy", d->npy);
    column(t, "aliases", d->aliases);
    number(t, "generation", d->gen);
    column(t, "doc", d->doc);
    end_row(t);
  }
}

static void targets_table(TableWriter *t) {
  if (!t->json)
    text_puts(
        t->out,
        "| target | chip | generation | cores | SBUF bytes | PSUM bytes |\n| --- | --- | --- | --- | --- | --- |\n");
  for (int i = 0; i < TARGET_count; i++) {
    const ChipInfo *c = chip_of((Target)i);
    begin_row(t);
    column(t, "name", target_name((Target)i));
    column(t, "chip", c->name);
    number(t, "generation", c->gen);
    number(t, "cores", target_cores((Target)i));
    number(t, "sbuf_bytes_per_partition", c->sbuf_physical);
    number(t, "psum_bytes_per_partition", c->psum_bytes);
    end_row(t);
  }
}

void help_table(HelpTable which, bool json, Text *out) {
  if (which == HELP_OPS) {
    (json ? help_ops_json : help_ops_markdown)(out);
    return;
  }
  static void (*const tables[])(TableWriter *) = {
      [HELP_ERRORS] = errors_table, [HELP_DTYPES] = dtypes_table, [HELP_TARGETS] = targets_table};
  static const char *const stubs[] = {[HELP_STUB_NKI] = "nki",
                                      [HELP_STUB_LANGUAGE] = "nki.language",
                                      [HELP_STUB_ISA] = "nki.isa",
                                      [HELP_STUB_COLLECTIVES] = "nki.collectives"};
  if (which == HELP_LANGUAGE) {
    (json ? docs_language_json : docs_language_markdown)(out);
    return;
  }
  if (which >= HELP_STUB_NKI) {
    docs_stub(stubs[which], out);
    return;
  }
  TableWriter t = {out, {out, false}, json};
  if (json) json_begin(&t.w, '[');
  tables[which](&t);
  if (json) json_end(&t.w, ']');
  if (json) text_putc(out, '\n');
}
