/* help_op.c -- room lang: one row of ops.def in words, as Markdown and as JSON. */
#include <stdio.h>
#include <string.h>

#include "docs.h"
#include "help.h"
#include "json.h"

static const char *const roles[] = {[DST] = "written",
                                    [DST_OPT] = "written, optional",
                                    [SRC] = "read",
                                    [SRC_OPT] = "read, optional",
                                    [INOUT] = "read and written",
                                    [ATTR] = "attribute",
                                    [RESULT] = "the result"};
static const char *const kinds[] = {[K_tile] = "tile",
                                    [K_column] = "(P,1) tile",
                                    [K_number] = "number",
                                    [K_number_or_column] = "number or (P,1) tile",
                                    [K_number_or_tile] = "number or tile",
                                    [K_alu] = "operator",
                                    [K_act] = "activation",
                                    [K_enum] = "enum",
                                    [K_flag] = "flag",
                                    [K_tristate] = "true, false or absent",
                                    [K_int] = "integer",
                                    [K_ints] = "list of integers",
                                    [K_int_or_ints] = "integer or list of integers",
                                    [K_pairs] = "list of {step, num}",
                                    [K_routes] = "list of {source, target}",
                                    [K_groups] = "ReplicaGroup",
                                    [K_tiles] = "list of tiles",
                                    [K_channels] = "list of {tile}, one for each channel",
                                    [K_reg] = "register",
                                    [K_int_or_reg] = "integer or register",
                                    [K_str] = "string"};

static void add_word(Text *out, bool *first, const char *sep, const char *word) {
  if (!*first) text_puts(out, sep);
  text_puts(out, word);
  *first = false;
}

static void engines_of(const OpInfo *op, Text *out) {
  bool first = true;
  for (const char *const *n = enum_names(ET_engine); *n; n++) {
    int value;
    if (enum_parse(ET_engine, *n, strlen(*n), &value) && value < 7 && value > 0 && op->engines & 1u << value)
      add_word(out, &first, ", ", *n);
  }
  if (op->engines & EM_SIM) add_word(out, &first, ", ", "simulator only");
  if (op->engines & EM_CC) add_word(out, &first, ", ", "collectives");
}

static void number_text(double v, Text *out) {
  if (v == (double)(int64_t)v && v > -1e15 && v < 1e15) {
    text_int(out, (int64_t)v);
  } else {
    text_double(out, v);
  }
}

/* The default as it is written in Lua; nothing when there is none. */
static void default_text(const IrParam *p, Text *out) {
  const IrVal *v = &p->def;
  if (v->kind == V_NUM) number_text(v->u.num, out);
  if (v->kind != V_INT) return;
  switch (p->kind) {
    case K_flag:
    case K_tristate:
      text_puts(out, v->u.i ? "true" : "false");
      break;
    case K_enum:
      text_puts(out, enum_name((EnumType)p->set, (int)v->u.i));
      break;
    case K_alu:
      text_printf(out, "nl.%s", alu_info[v->u.i].name);
      break;
    case K_act:
      text_printf(out, "nl.%s", act_info[v->u.i].name);
      break;
    default:
      text_int(out, v->u.i);
  }
}

static void spaces_text(const IrParam *p, Text *out) {
  bool first = true;
  for (int s = 0; s < SP_count; s++)
    if (p->spaces & 1u << s) add_word(out, &first, ", ", space_name((Space)s));
}

static void dtypes_text(uint32_t mask, Text *out) {
  if (mask == DM_ANY) {
    text_puts(out, "any");
    return;
  }
  bool first = true;
  for (int d = 1; d < DT_count; d++)
    if (mask & 1u << d) add_word(out, &first, ", ", dtype_name((DType)d));
}

static bool is_tile(const IrParam *p) { return p->spaces != 0; }

/* Members of an enumeration; of the engines, those that an instruction with a choice has. */
static void enum_words(const OpInfo *op, EnumType type, Text *out) {
  bool first = true, choice = type == ET_engine && (op->engines & (op->engines - 1)) != 0;
  for (const char *const *n = enum_names(type); *n; n++) {
    int value = 0;
    bool known = enum_parse(type, *n, strlen(*n), &value);
    if (!choice || (known && (value == engine_unknown || op->engines & 1u << value))) add_word(out, &first, ", ", *n);
  }
}

/* What every instruction takes behind the parameters of its row (docs.h). */
static const IrParam label = {.name = "name", .role = ATTR, .kind = K_str};

const IrParam *docs_param(const OpInfo *op, int i) {
  return i < op_public(op) ? &op->params[i] : i == op_public(op) ? &label : NULL;
}

/* What values a parameter takes, in words. */
static void domain_text(const OpInfo *op, const IrParam *p, Text *out) {
  if (is_tile(p)) {
    text_puts(out, "in ");
    spaces_text(p, out);
    text_puts(out, "; ");
    dtypes_text(p->dtypes[0], out);
    for (int g = 1; g < 3; g++) {
      if (p->dtypes[g] == p->dtypes[g - 1]) continue;
      text_printf(out, "; from gen%d: ", g + 2);
      dtypes_text(p->dtypes[g], out);
    }
    if (p->picked) text_puts(out, "; from gen4 also an indirect view");
  } else if (p->kind == K_alu) {
    bool first = true;
    for (int a = 1; a < ALU_count; a++)
      if (p->set & UINT64_C(1) << a) add_word(out, &first, ", ", alu_info[a].name);
  } else if (p->kind == K_enum) {
    enum_words(op, (EnumType)p->set, out);
  } else if (p == &label) {
    text_puts(out, "a label that the IR and timelines show");
  } else if (p->lo < p->hi && p->lo > -1e300 && p->hi < 1e300) {
    number_text(p->lo, out);
    text_puts(out, "..");
    number_text(p->hi, out);
  }
  if (p->gen > gen2)
    text_printf(out, "%sgen%d or later", out->len && out->data[out->len - 1] != ' ' ? "; " : "", (int)p->gen);
}

static void help_signature(Op op, Text *out) {
  const OpInfo *info = &op_info[op];
  text_printf(out, "%s(", info->full);
  const IrParam *p;
  for (int i = 0; (p = docs_param(info, i)); i++) {
    text_printf(out, "%s%s", i ? ", " : "", p->name);
    if (p->required) continue;
    text_puts(out, " = ");
    size_t before = out->len;
    default_text(p, out);
    if (out->len == before) text_puts(out, "nil");
  }
  text_puts(out, op_public(info) < info->nparams ? ") -> register" : ")");
}

static void facts_line(const OpInfo *op, Text *out) {
  text_puts(out, "engine: ");
  engines_of(op, out);
  text_printf(out, "; gen%d or later\n", (int)op->gen);
}

static DocCells cells_of(const OpInfo *op) {
  DocCells cells;
  docs_cells(op->full, NULL, op->name, &cells);
  return cells;
}

/* ---- errors: those that the row tells by its columns, those of its rules, those that docs.def adds -------------- */

/* Adds each id of a list "err_a, err_b" that is not there yet; out has had `from` bytes before. */
static void add_errors(Text *out, size_t from, const char *list) {
  while (*list) {
    size_t n = strcspn(list, ",");
    bool there = false;
    for (size_t at = from; !there && at + n <= out->len; at++)
      there = memcmp(out->data + at, list, n) == 0 && (at + n == out->len || out->data[at + n] == ',');
    if (!there) text_printf(out, "%s%.*s", out->len > from ? ", " : "", (int)n, list);
    list += n + strspn(list + n, ", ");
  }
}

static void param_errors(const OpInfo *op, const IrParam *p, Text *out, size_t from) {
  bool dtypes_grow = p->dtypes[0] != p->dtypes[1] || p->dtypes[1] != p->dtypes[2];
  if (is_tile(p)) add_errors(out, from, "err_unsupported_memory");
  if (is_tile(p) && (p->dtypes[0] != DM_ANY || dtypes_grow)) add_errors(out, from, "err_unsupported_dtype");
  if (p->spaces & (1u << SP_sbuf | 1u << SP_psum) && op->engines & ~(EM_DMA | EM_SIM | EM_CC))
    add_errors(out, from,
               "err_start_partition, err_size_of_dimension_exceed_arch_limit, err_pattern_dims, err_pattern_stride");
  if (is_tile(p)) add_errors(out, from, "err_dynamic_offset");
  if (p->picked) add_errors(out, from, "err_indirect_operand, err_indirect_count, err_indirect_start");
  if (p->kind == K_column || p->kind == K_number_or_column) add_errors(out, from, "err_column_expected");
  if (p->lo < p->hi) add_errors(out, from, "err_argument_range");
  if (p->kind == K_alu) add_errors(out, from, "err_operator_set");
  if (p->kind == K_enum && p->set == ET_engine) add_errors(out, from, "err_engine_set");
  if (p->gen > op->gen || p->kind == K_act || p->picked) add_errors(out, from, "err_argument_generation");
}

void help_op_errors(Op op, Text *out) {
  const OpInfo *info = &op_info[op];
  DocCells cells;
  size_t from = out->len;
  if (info->gen > gen2) add_errors(out, from, "err_op_generation");
  add_errors(out, from, "err_bind_kind");
  for (int i = 0; i < op_public(info); i++) param_errors(info, &info->params[i], out, from);
  for (const IrRuleUse *r = op_rules(op); r->rule; r++) {
    char key[64];
    snprintf(key, sizeof key, "rule.%s", rule_name((Rule)r->rule));
    docs_cells(key, NULL, "", &cells);
    add_errors(out, from, cells.raises);
  }
  cells = cells_of(info);
  add_errors(out, from, cells.raises);
}

void help_op_text(Op op, Text *out) {
  const OpInfo *info = &op_info[op];
  help_signature(op, out);
  text_printf(out, "\n  %s\n  ", info->doc);
  facts_line(info, out);
  const IrParam *p;
  int width = 0;
  for (int i = 0; (p = docs_param(info, i)); i++)
    if ((int)strlen(p->name) > width) width = (int)strlen(p->name);
  for (int i = 0; (p = docs_param(info, i)); i++) {
    Text takes;
    text_init(&takes, out->alloc);
    domain_text(info, p, &takes);
    text_printf(out, "  %-*s  %s, %s%s%s\n", width, p->name, kinds[p->kind], roles[p->role], takes.len ? ": " : "",
                text_str(&takes));
    text_free(&takes);
  }
  for (const IrRuleUse *r = op_rules(op); r->rule; r++) {
    text_puts(out, "  rule: ");
    text_puts(out, rule_doc((Rule)r->rule));
    for (int k = 0; k < 6 && r->arg[k]; k++)
      text_printf(out, "%s%s", k ? ", " : " (", info->params[r->arg[k] - 1].name);
    text_puts(out, r->arg[0] ? ")\n" : "\n");
  }
  DocCells cells = cells_of(info);
  text_printf(out, "  gives: %s\n", op_public(info) < info->nparams ? "a register" : "an instruction, for depends_on");
  text_puts(out, "  errors: ");
  help_op_errors(op, out);
  text_putc(out, '\n');
  if (*cells.example) text_printf(out, "  example: %s\n", cells.example);
}

/* ---- the whole table ----------------------------------------------------------------------------------------- */

/* A cell of a Markdown table. */
static void cell(Text *out, const char *s) {
  text_puts(out, " ");
  for (; *s; s++) {
    if (*s == '|') text_putc(out, '\\');
    text_putc(out, *s);
  }
  text_puts(out, " |");
}

static void param_row(const OpInfo *op, const IrParam *p, Text *out) {
  Text word;
  text_init(&word, out->alloc);
  text_puts(out, "|");
  cell(out, p->name);
  text_printf(&word, "%s, %s", kinds[p->kind], roles[p->role]);
  cell(out, text_str(&word));
  text_clear(&word);
  if (p->required) {
    text_puts(&word, "required");
  } else {
    default_text(p, &word);
    if (!word.len) text_puts(&word, "absent");
  }
  cell(out, text_str(&word));
  text_clear(&word);
  domain_text(op, p, &word);
  cell(out, text_str(&word));
  text_putc(out, '\n');
  text_free(&word);
}

void help_ops_markdown(Text *out) {
  text_puts(out, "# Instructions\n\nWritten by `./dev docs` from `src/ir/ops.def`.\n");
  for (int i = 1; i < OP_count; i++) {
    const OpInfo *op = &op_info[i];
    text_printf(out, "\n## %s\n\n%s\n\n", op->full, op->doc);
    facts_line(op, out);
    text_puts(out, "\n| parameter | kind | default | takes |\n| --- | --- | --- | --- |\n");
    const IrParam *p;
    for (int k = 0; (p = docs_param(op, k)); k++) param_row(op, p, out);
    for (const IrRuleUse *r = op_rules((Op)i); r->rule; r++) {
      text_printf(out, "%s- %s:", r == op_rules((Op)i) ? "\n" : "", rule_doc((Rule)r->rule));
      for (int k = 0; k < 6 && r->arg[k]; k++) text_printf(out, "%s%s", k ? ", " : " ", op->params[r->arg[k] - 1].name);
      text_putc(out, '\n');
    }
    text_puts(out, "\nErrors: ");
    help_op_errors((Op)i, out);
    text_putc(out, '\n');
    if (*cells_of(op).example) text_printf(out, "\nExample: `%s`\n", cells_of(op).example);
  }
}

static void word_json(JsonWriter *w, const char *key, Text *word) {
  json_key(w, key);
  json_string(w, text_str(word), word->len);
  text_clear(word);
}

static void param_json(JsonWriter *w, const OpInfo *op, const IrParam *p, Text *word) {
  json_begin(w, '{');
  json_key(w, "name");
  json_cstr(w, p->name);
  json_key(w, "kind");
  json_cstr(w, kinds[p->kind]);
  json_key(w, "role");
  json_cstr(w, roles[p->role]);
  json_key(w, "required");
  json_bool(w, p->required);
  default_text(p, word);
  word_json(w, "default", word);
  domain_text(op, p, word);
  word_json(w, "takes", word);
  json_end(w, '}');
}

void help_ops_json(Text *out) {
  Text word;
  text_init(&word, out->alloc);
  JsonWriter w = {out, false};
  json_begin(&w, '[');
  for (int i = 1; i < OP_count; i++) {
    const OpInfo *op = &op_info[i];
    json_begin(&w, '{');
    json_key(&w, "name");
    json_cstr(&w, op->name);
    json_key(&w, "module");
    json_cstr(&w, op->dialect);
    engines_of(op, &word);
    word_json(&w, "engines", &word);
    json_key(&w, "generation");
    json_int(&w, op->gen);
    json_key(&w, "doc");
    json_cstr(&w, op->doc);
    help_op_errors((Op)i, &word);
    word_json(&w, "errors", &word);
    json_key(&w, "example");
    json_cstr(&w, cells_of(op).example);
    json_key(&w, "parameters");
    json_begin(&w, '[');
    const IrParam *p;
    for (int k = 0; (p = docs_param(op, k)); k++) param_json(&w, op, p, &word);
    json_end(&w, ']');
    json_end(&w, '}');
  }
  json_end(&w, ']');
  text_putc(out, '\n');
  if (word.oom) out->oom = true;
  text_free(&word);
}
