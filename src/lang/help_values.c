/* help_values.c -- room lang: help on values: dtypes, operators, activations, members of enumerations, error ids. */
#include <stdio.h>

#include "docs.h"
#include "help.h"

/* ---- which instructions take a value ------------------------------------------------------------------------- */

typedef struct Value {
  Kind kind; /* of the parameters that take it */
  int value;
  EnumType type;
} Value;

static bool takes(const OpInfo *op, const IrParam *p, const Value *v) {
  if (p->kind != v->kind) return false;
  if (v->kind == K_alu) return p->set >> v->value & 1;
  if (v->kind == K_act) return v->value != ACT_prelu || op_param(op, "relu_param", strlen("relu_param")) >= 0;
  if (p->set != v->type) return false;
  if (v->type == ET_engine && op->engines == EM_DMA) /* it names a queue */
    return v->value == engine_unknown || v->value == engine_scalar || v->value == engine_sync;
  bool choice = v->type == ET_engine && op->engines & (op->engines - 1);
  return !choice || v->value == engine_unknown || op->engines >> v->value & 1;
}

/* "  taken by: nisa.memset (engine), ..." */
static void takers_line(const Value *v, Text *out) {
  size_t before = out->len;
  for (int i = 1; i < OP_count; i++) {
    const OpInfo *op = &op_info[i];
    bool first = true;
    if (op->engines & EM_SIM) continue;
    for (int k = 0; k < op_public(op); k++) {
      if (!takes(op, &op->params[k], v)) continue;
      if (first) text_printf(out, "%s%s (", out->len == before ? "  taken by: " : "), ", op->full);
      text_printf(out, "%s%s", first ? "" : ", ", op->params[k].name);
      first = false;
    }
  }
  if (out->len > before) text_puts(out, ")\n");
}

/* The example of docs.def, of this value or of all its kind. */
static void example_line(const char *key, const char *kind, const char *name, Text *out) {
  DocCells cells;
  docs_cells(key, kind, name, &cells);
  if (*cells.example) text_printf(out, "  example: %s\n", cells.example);
}

/* ---- the values ---------------------------------------------------------------------------------------------- */

void help_dtype_text(DType d, Text *out) {
  const DTypeInfo *i = &dtype_info[d];
  text_printf(out, "nl.%s (dtype)\n  %s; %d byte%s, MLIR %s, HLO %s, gen%d or later", i->name, i->doc, i->bytes,
              i->bytes == 1 ? "" : "s", i->mlir, i->hlo, (int)i->gen);
  text_printf(out, "; also written %s\n", i->aliases);
  if (i->gen > gen2) text_puts(out, "  errors: err_tensor_dtype_gen\n");
  char key[64];
  snprintf(key, sizeof key, "nl.%s", i->name);
  example_line(key, "dtype", i->name, out);
}

static void token_text(const char *name, const char *what, const char *doc, int gen, Text *out) {
  text_printf(out, "nl.%s (%s)\n  %s; gen%d or later", name, what, doc, gen);
}

void help_act_text(Act a, Text *out) {
  const ActInfo *i = &act_info[a];
  Value v = {K_act, (int)a, ET_none};
  char key[64];
  token_text(i->name, "activation", i->doc, (int)i->gen, out);
  text_putc(out, '\n');
  takers_line(&v, out);
  text_printf(out, "  errors: %s\n", i->gen > gen2 ? "err_argument_generation, err_bind_kind" : "err_bind_kind");
  snprintf(key, sizeof key, "nl.%s", i->name);
  example_line(nl_row(i->name) ? "activation" : key, "activation", i->name, out);
}

void help_alu_text(Alu a, Text *out) {
  const AluInfo *i = &alu_info[a];
  Value v = {K_alu, (int)a, ET_none};
  char key[64];
  token_text(i->name, "operator", i->doc, (int)i->gen, out);
  text_puts(out, i->reduce ? "; legal as a reduction\n" : "\n");
  takers_line(&v, out);
  text_printf(out, "  errors: err_operator_set%s\n", i->gen > gen2 ? ", err_argument_generation" : "");
  snprintf(key, sizeof key, "nl.%s", i->name);
  if (!nl_row(i->name)) example_line(key, NULL, i->name, out);
}

void help_member_value(EnumType type, const char *name, Text *out) {
  int value = 0;
  enum_parse(type, name, strlen(name), &value);
  if (enum_is_text(type))
    text_printf(out, "\"%s\"", name);
  else
    text_int(out, value);
}

void help_member_text(EnumType type, const char *name, Text *out) {
  Value v = {K_enum, 0, type};
  char of[64], key[128];
  enum_parse(type, name, strlen(name), &v.value);
  snprintf(of, sizeof of, "nisa.%s", enum_type_name(type));
  snprintf(key, sizeof key, "%s.%s", of, name);
  text_printf(out, "%s\n  A value of %s: ", key, of);
  help_member_value(type, name, out);
  const NameDoc *n = docs_name(of);
  text_printf(out, ". %s\n", n ? n->doc : "");
  takers_line(&v, out);
  example_line(key, of, name, out);
}

/* ---- errors -------------------------------------------------------------------------------------------------- */

/* Behind what stands for a value in a message; help shows a * there. */
static const char *skip_directive(const char *s) {
  s++;
  s += strspn(s, "0123456789.*-+ #");
  s += strspn(s, "lzjht");
  return *s ? s + 1 : s;
}

static bool lists_id(const char *list, const char *id) {
  size_t n = strlen(id);
  for (const char *s = list; (s = strstr(s, id)); s += n)
    if (s[n] == '\0' || s[n] == ',') return true;
  return false;
}

enum { NAMED = 12 };

typedef struct Raisers {
  Text *out;
  int n;
} Raisers;

static void raiser(Raisers *r, const char *name) {
  if (r->n < NAMED) text_printf(r->out, "%s%s", r->n ? ", " : "  raised by: ", name);
  r->n++;
}

static void raisers_line(const char *id, Text *out) {
  Raisers r = {out, 0};
  Doc d;
  const LRow *row;
  Text errors;
  text_init(&errors, out->alloc);
  for (int i = 0; (row = docs_row(i)); i++) {
    docs_of_row(row, &d);
    if (lists_id(docs_field(&d, "errors"), id)) raiser(&r, d.name);
  }
  for (int i = 0; i < docs_nmethods; i++) {
    docs_of_method(&docs_methods[i], &d);
    if (lists_id(docs_field(&d, "errors"), id)) raiser(&r, d.name);
  }
  for (int i = 0; i < docs_nnames; i++) {
    docs_of_name(&docs_names[i], &d);
    if (lists_id(docs_field(&d, "errors"), id)) raiser(&r, d.name);
  }
  for (int i = 1; i < OP_count; i++) {
    text_clear(&errors);
    help_op_errors((Op)i, &errors);
    if (lists_id(text_str(&errors), id)) raiser(&r, op_info[i].full);
  }
  if (r.n > NAMED) text_printf(out, " and %d more", r.n - NAMED);
  if (r.n) text_putc(out, '\n');
  if (errors.oom) out->oom = true;
  text_free(&errors);
}

void help_error_text(ErrId id, Text *out) {
  text_printf(out, "%s\n  ", err_name(id));
  for (const char *s = err_format(id); *s;) {
    if (*s != '%') {
      text_putc(out, *s++);
    } else if (s[1] == '%') {
      text_putc(out, '%');
      s += 2;
    } else {
      text_putc(out, '*');
      s = skip_directive(s);
    }
  }
  text_putc(out, '\n');
  raisers_line(err_name(id), out);
}
