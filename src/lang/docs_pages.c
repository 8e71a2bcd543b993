/* docs_pages.c -- room lang: docs/language.md, the same as JSON, and the stubs of lua/meta for editors. */
#include <stdio.h>

#include "docs.h"
#include "help.h"
#include "json.h"

/* ---- docs/language.md ---------------------------------------------------------------------------------------- */

static void section(const Doc *d, Text *out) {
  text_puts(out, "\n### ");
  d->sign(d, out);
  text_printf(out, "\n\n%s\n\n", d->doc);
  for (int i = 0; i < d->nfields; i++) {
    const DocField *f = &d->field[i];
    if (*f->text) text_printf(out, f->code ? "- %s: `%s`\n" : "- %s: %s\n", f->label, f->text);
  }
}

/* In one line. */
static void name_section(const NameDoc *n, Text *out) {
  Doc d;
  docs_of_name(n, &d);
  text_puts(out, "- `");
  d.sign(&d, out);
  text_printf(out, "`: %s", d.doc);
  for (int i = 0; i < d.nfields; i++) {
    const DocField *f = &d.field[i];
    if (!*f->text) continue;
    if (f->code)
      text_printf(out, " `%s`", f->text);
    else
      text_printf(out, " %s: %s.", f->label, f->text);
  }
  text_putc(out, '\n');
}

static void names_of(const char *module, Text *out) {
  size_t n = strlen(module);
  for (int i = 0; i < docs_nnames; i++)
    if (strncmp(docs_names[i].name, module, n) == 0 && docs_names[i].name[n] == '.') name_section(&docs_names[i], out);
}

static void enums_section(Text *out) {
  text_puts(out, "\n## Members of the enumerations of nki.isa\n\n");
  for (int t = ET_engine; t <= ET_dma_engine; t++) {
    text_printf(out, "- `nisa.%s`:", enum_type_name((EnumType)t));
    for (const char *const *n = enum_names((EnumType)t); *n; n++) {
      text_printf(out, "%s %s = ", n == enum_names((EnumType)t) ? "" : ",", *n);
      help_member_value((EnumType)t, *n, out);
    }
    text_putc(out, '\n');
  }
}

static void operators_section(Text *out) {
  text_puts(out,
            "\n## Operators and activations\n\nGiven to instructions as `op`; those that are functions, too, are above."
            "\n\n| operator | | reduces | since |\n| --- | --- | --- | --- |\n");
  for (int a = 1; a < ALU_count; a++)
    text_printf(out, "| nl.%s | %s%s | %s | gen%d |\n", alu_info[a].name, *alu_info[a].doc == '|' ? "\\" : "",
                *alu_info[a].doc == '|' ? "|a\\|" : alu_info[a].doc, alu_info[a].reduce ? "yes" : "",
                (int)alu_info[a].gen);
  text_puts(out, "\n| activation | | since |\n| --- | --- | --- |\n");
  for (int a = 1; a < ACT_count; a++)
    text_printf(out, "| nl.%s | %s | gen%d |\n", act_info[a].name,
                act_info[a].doc[0] == '|' ? "\\|x\\|" : act_info[a].doc, (int)act_info[a].gen);
}

static void dtypes_section(Text *out) {
  text_puts(out, "\n## Dtypes\n\nStrings: `nl.bfloat16 == \"bfloat16\"`.\n\n");
  for (int i = 1; i < DT_count; i++)
    text_printf(out, "- `nl.%s`: %s, %d byte%s, gen%d or later\n", dtype_info[i].name, dtype_info[i].doc,
                dtype_info[i].bytes, dtype_info[i].bytes == 1 ? "" : "s", (int)dtype_info[i].gen);
}

static void methods_section(Text *out) {
  text_puts(out,
            "\n## Tensors\n\nAttributes and methods. Methods that give a tensor give a view, nothing is moved, unless "
            "their text says so.\n");
  for (int i = 0; i < docs_nmethods; i++) {
    Doc d;
    docs_of_method(&docs_methods[i], &d);
    section(&d, out);
  }
}

void docs_language_markdown(Text *out) {
  text_puts(
      out,
      "# The language\n\nWritten by `./dev docs` from the tables of the program. Arguments are given by position or "
      "as keywords in a last table; those in brackets may be left out. In the examples x and y are tiles in SBUF of "
      "128 x 64 float32, m one of 128 x 128, bits (int32) and ids (uint32) of 128 x 64, a and out tensors of 128 x "
      "64 float32 in HBM. `nkilua doc nl.exp` and `help(nl.exp)` tell the same. Instructions, nki.isa and "
      "nki.collectives, are in ops.md.\n\n## nki\n\n");
  names_of("nki", out);
  text_puts(out, "\n## Functions of nki.language\n");
  const LRow *row;
  for (int i = 0; (row = docs_row(i)); i++) {
    Doc d;
    docs_of_row(row, &d);
    section(&d, out);
  }
  text_puts(out, "\n## Memories, limits, classes of nki.language\n\n");
  names_of("nl", out);
  methods_section(out);
  dtypes_section(out);
  operators_section(out);
  text_puts(out, "\n## Values and classes of nki.isa and nki.collectives\n\n");
  names_of("nisa", out);
  names_of("ncc", out);
  enums_section(out);
  text_puts(
      out,
      "\n## Host arrays: nki.ndarray, nki.testing\n\nnd is `require \"nki.ndarray\"`; array is what its functions "
      "give. They are the inputs and results of kernels that run, and enough to write a reference.\n\n");
  names_of("nd", out);
  names_of("array", out);
  text_putc(out, '\n');
  names_of("testing", out);
}

/* ---- JSON ---------------------------------------------------------------------------------------------------- */

static void member(JsonWriter *w, const char *key, const char *value) {
  json_key(w, key);
  json_cstr(w, value);
}

static void doc_json(JsonWriter *w, const Doc *d, Text *word) {
  text_clear(word);
  d->sign(d, word);
  json_begin(w, '{');
  member(w, "name", d->name);
  member(w, "kind", d->kind);
  member(w, "signature", text_str(word));
  member(w, "doc", d->doc);
  for (int i = 0; i < d->nfields; i++) member(w, d->field[i].key, d->field[i].text);
  json_end(w, '}');
}

void docs_language_json(Text *out) {
  Text word;
  text_init(&word, out->alloc);
  JsonWriter w = {out, false};
  Doc d;
  const LRow *row;
  json_begin(&w, '[');
  for (int i = 0; (row = docs_row(i)); i++) {
    docs_of_row(row, &d);
    doc_json(&w, &d, &word);
  }
  for (int i = 0; i < docs_nmethods; i++) {
    docs_of_method(&docs_methods[i], &d);
    doc_json(&w, &d, &word);
  }
  for (int i = 0; i < docs_nnames; i++) {
    docs_of_name(&docs_names[i], &d);
    doc_json(&w, &d, &word);
  }
  json_end(&w, ']');
  text_putc(out, '\n');
  if (word.oom) out->oom = true;
  text_free(&word);
}

/* ---- stubs for editors: LuaLS meta files ----------------------------------------------------------------------- */

/* Types of parameters, by their names. */
static const char *type_of_name(const char *name) {
  static const struct {
    const char *name, *type;
  } types[] = {{"dtype", "string"},       {"compute_dtype", "string"}, {"name", "string"},
               {"buffer", "nki.Memory"},  {"shape", "integer[]"},      {"axis", "integer|integer[]"},
               {"x", "nki.Tensor"},       {"y", "nki.Tensor|number"},  {"src", "nki.Tensor"},
               {"dst", "nki.Tensor"},     {"keepdims", "boolean"},     {"rate", "number|nki.Tensor"},
               {"dim", "integer"},        {"size", "integer"},         {"step", "integer"},
               {"body_fun", "function"},  {"condition", "nki.Tensor"}, {"data", "nki.Tensor"},
               {"indices", "nki.Tensor"}, {"dims", "integer[]"},       {"transpose_x", "boolean"},
               {"w", "nki.Tensor"},       {"self", "nki.Tensor"},      {"n", "integer"}};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strcmp(types[i].name, name) == 0) return types[i].type;
  return "any";
}

static const char *lua_name(const char *name) { return strcmp(name, "end") == 0 ? "stop" : name; }

static void stub_row(const LRow *row, Text *out) {
  Doc d;
  docs_of_row(row, &d);
  text_printf(out, "\n---%s\n", row->doc);
  if (*docs_field(&d, "takes")) text_printf(out, "---%s\n", docs_field(&d, "takes"));
  for (int i = 0; i < row->bind.n; i++)
    text_printf(out, "---@param %s%s %s\n", lua_name(row->bind.names[i]), row->bind.required[i] ? "" : "?",
                type_of_name(row->bind.names[i]));
  if (d.gives && *d.gives->type) text_printf(out, "---@return %s\n", d.gives->type);
  text_printf(out, "function nl.%s(", row->name);
  for (int i = 0; i < row->bind.n; i++) text_printf(out, "%s%s", i ? ", " : "", lua_name(row->bind.names[i]));
  text_puts(out, ") end\n");
}

/* A name that is none of the rows: a function or a value, at one level below its module only. */
static void stub_name(const NameDoc *n, size_t module, Text *out) {
  const char *rest = n->name + module + 1;
  if (strchr(rest, '.')) return;
  text_printf(out, "\n---%s\n", n->doc);
  if (*n->signature == '(') {
    text_printf(out, "---%s%s\n---@return any\nfunction %s(...) end\n", n->name, n->signature, n->name);
  } else {
    text_printf(out, "---@type any\n%s = nil\n", n->name);
  }
}

static void stub_names(const char *module, Text *out) {
  size_t n = strlen(module);
  for (int i = 0; i < docs_nnames; i++)
    if (strncmp(docs_names[i].name, module, n) == 0 && docs_names[i].name[n] == '.') stub_name(&docs_names[i], n, out);
}

static void stub_tensor(Text *out) {
  text_puts(
      out,
      "\n---@alias nki.Memory any a memory: nl.sbuf, nl.psum, nl.private_hbm, nl.shared_hbm\n"
      "---@alias nki.Slice any what nl.ds gives\n---@alias nki.Axis any what nl.nc gives\n"
      "---@class nki.Index an index expression\n---@class nki.Instruction what a call of an instruction gives\n"
      "---@class nki.Tensor a tensor of a kernel\n---@field [any] nki.Tensor a view, or what is copied into it\n");
  static const char *const operators[] = {"add",  "sub", "mul",  "div", "pow", "mod",
                                          "band", "bor", "bxor", "shl", "shr"};
  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
    text_printf(out, "---@operator %s(nki.Tensor|number): nki.Tensor\n", operators[i]);
  text_puts(out, "---@operator unm: nki.Tensor\n---@operator bnot: nki.Tensor\n");
  for (int i = 0; i < docs_nmethods; i++)
    if (!docs_methods[i].params) text_printf(out, "---@field %s any %s\n", docs_methods[i].name, docs_methods[i].doc);
  text_puts(out, "local tensor = {}\n");
  for (int i = 0; i < docs_nmethods; i++) {
    const MethodDoc *m = &docs_methods[i];
    if (!m->params) continue;
    text_printf(out, "\n---%s\n", m->doc);
    if (docs_is_view(m)) text_puts(out, "---@return nki.Tensor\n");
    text_printf(out, "function tensor:%s(", m->name);
    bool first = true;
    for (const char *p = strncmp(m->params, "self, ", 6) == 0 ? m->params + 6 : ""; *p;) {
      size_t n = strcspn(p, ",");
      bool optional = *p == '[';
      char name[32] = "";
      if (n - 2 * (size_t)optional < sizeof name) memcpy(name, p + optional, n - 2 * (size_t)optional);
      text_printf(out, "%s%s", first ? "" : ", ", lua_name(name));
      first = false;
      p += n + strspn(p + n, ", ");
    }
    text_puts(out, ") end\n");
  }
}

static void stub_language(Text *out) {
  text_puts(out, "local nl = {}\n");
  stub_tensor(out);
  const LRow *row;
  for (int i = 0; (row = docs_row(i)); i++) stub_row(row, out);
  stub_names("nl", out);
  for (int a = 1; a < ALU_count; a++)
    if (!nl_row(alu_info[a].name))
      text_printf(out, "\n---Operator: %s\nnl.%s = nil\n", alu_info[a].doc, alu_info[a].name);
  for (int a = 1; a < ACT_count; a++)
    if (!nl_row(act_info[a].name) && alu_parse(act_info[a].name, strlen(act_info[a].name)) == ALU_none)
      text_printf(out, "\n---Activation: %s\nnl.%s = nil\n", act_info[a].doc, act_info[a].name);
  for (int i = 1; i < DT_count; i++)
    text_printf(out, "\n---%s\nnl.%s = \"%s\"\n", dtype_info[i].doc, dtype_info[i].name, dtype_info[i].name);
  text_puts(out, "\nreturn nl\n");
}

static const char *type_of_kind(const IrParam *p) {
  switch (p->kind) {
    case K_tile:
    case K_column:
      return "nki.Tensor";
    case K_number:
      return "number";
    case K_number_or_column:
    case K_number_or_tile:
      return "number|nki.Tensor";
    case K_flag:
    case K_tristate:
      return "boolean";
    case K_int:
      return "integer";
    case K_ints:
      return "integer[]";
    case K_pairs:
      return "integer[][]";
    case K_tiles:
      return "nki.Tensor[]";
    case K_str:
      return "string";
    default:
      return "any";
  }
}

static void stub_op(const char *module, const OpInfo *op, Text *out) {
  text_printf(out, "\n---%s\n", op->doc);
  const IrParam *p;
  for (int k = 0; (p = docs_param(op, k)); k++)
    text_printf(out, "---@param %s%s %s\n", p->name, p->required ? "" : "?", type_of_kind(p));
  text_printf(out, "---@return %s\nfunction %s.%s(", op_public(op) < op->nparams ? "any" : "nki.Instruction", module,
              op->name);
  for (int k = 0; (p = docs_param(op, k)); k++) text_printf(out, "%s%s", k ? ", " : "", p->name);
  text_puts(out, ") end\n");
}

static void stub_dialect(const char *dialect, Text *out) {
  text_printf(out, "local %s = {}\n", dialect);
  for (int i = 1; i < OP_count; i++)
    if (strcmp(op_info[i].dialect, dialect) == 0) stub_op(dialect, &op_info[i], out);
  stub_names(dialect, out);
  if (strcmp(dialect, "nisa") == 0)
    for (int t = ET_engine; t <= ET_dma_engine; t++) {
      text_printf(out, "\nnisa.%s = {", enum_type_name((EnumType)t));
      for (const char *const *n = enum_names((EnumType)t); *n; n++)
        text_printf(out, "%s%s = nil", n == enum_names((EnumType)t) ? "" : ", ", *n);
      text_puts(out, "}\n");
    }
  text_printf(out, "\nreturn %s\n", dialect);
}

void docs_stub(const char *module, Text *out) {
  text_printf(out, "---@meta %s\n-- Written by `./dev docs`: what editors show. Nothing is run.\n", module);
  if (strcmp(module, "nki.language") == 0) {
    stub_language(out);
  } else if (strcmp(module, "nki.isa") == 0) {
    stub_dialect("nisa", out);
  } else if (strcmp(module, "nki.collectives") == 0) {
    stub_dialect("ncc", out);
  } else {
    text_puts(out, "local nki = {}\n");
    stub_names("nki", out);
    text_puts(out, "\nreturn nki\n");
  }
}
