/* print.c -- room ir: a module as text (docs/ir.md). Canonical: equal modules print the same bytes. */
#include <stdio.h>
#include <stdlib.h>

#include "print_ir.h"

/* ---- buffers */
static void print_dense(Print *p, const IrBuf *b) {
  static const char hex[] = "0123456789ABCDEF";
  const unsigned char *data = b->data;
  size_t size = (size_t)dtype_bytes(b->dtype), n = (size_t)b->count * size;
  bool splat = n > size && memcmp(data, data + size, n - size) == 0;
  if (splat) n = size;
  pr_lit(p, "dense<");
  if (n) pr_lit(p, "\"0x");
  for (size_t i = 0; i < n;) {
    size_t step = n - i < 32 ? n - i : 32;
    char pair[64];
    for (size_t k = 0; k < step; k++) {
      pair[2 * k] = hex[data[i + k] >> 4];
      pair[2 * k + 1] = hex[data[i + k] & 15];
    }
    pr_add(p, pair, 2 * step);
    i += step;
  }
  if (n) pr_lit(p, "\"");
  pr_lit(p, "> : tensor<");
  for (int i = 0; i < b->rank; i++) {
    pr_int(p, b->shape[i]);
    pr_lit(p, "x");
  }
  pr_puts(p, tx_dense_elt(b->dtype));
  pr_lit(p, ">");
}

static void print_definition(Print *p, const IrBuf *b, const char *op, uint32_t loc) {
  const PrBuf *self = &p->buf[b->id];
  bool view = b->kind == BUF_VIEW && b->base < p->f->nbufs;
  pr_indent(p);
  pr_str(p, self->ref);
  pr_lit(p, " = \"");
  pr_puts(p, op);
  pr_lit(p, "\"(");
  if (view) pr_str(p, p->buf[b->base].ref);
  pr_lit(p, ") {");
  if (b->has_address && b->kind == BUF_ALLOC) {
    pr_lit(p, "address = [");
    pr_int(p, b->part);
    pr_lit(p, ", ");
    pr_int(p, b->byte);
    pr_lit(p, "], ");
  }
  if (tx_dtype_hidden(b->dtype)) {
    pr_lit(p, "dtype = \"");
    pr_puts(p, dtype_name(b->dtype));
    pr_lit(p, "\", ");
  }
  pr_lit(p, "name = ");
  pr_quoted(p, b->name, strlen(b->name));
  if (b->kind == BUF_CONST) pr_lit(p, ", value = ");
  if (b->kind == BUF_CONST) print_dense(p, b);
  pr_lit(p, "} : (");
  if (view) pr_str(p, p->buf[b->base].type);
  pr_lit(p, ") -> ");
  pr_str(p, self->type);
  pr_loc(p, loc);
  pr_lit(p, "\n");
}

static void print_views(Print *p, uint32_t base) {
  for (uint32_t v = p->buf[base].first_view; v; v = p->buf[v - 1].next_view) {
    const IrBuf *b = p->f->bufs[v - 1];
    print_definition(p, b, "nki.view", b->loc);
  }
}

static void pr_buffer(Print *p, const IrBuf *b, uint32_t loc) {
  print_definition(p, b, b->kind == BUF_CONST ? "nki.const" : "nki.alloc", loc);
  print_views(p, b->id);
}

/* ---- structure */
static int by_value(const void *a, const void *b) {
  int64_t x, y;
  memcpy(&x, a, sizeof x);
  memcpy(&y, b, sizeof y);
  return (x > y) - (x < y);
}

/* Loop bounds are operands in MLIR: one arith.constant per value, at the head of the function. */
static void print_constants(Print *p) {
  int64_t *list = NULL;
  uint32_t n = 0, cap = 0;
  for (uint32_t i = 0; i < p->f->nins; i++) {
    const IrIns *ins = p->f->ins[i];
    int want = ins->op == CORE_for ? 3 : ins->op == CORE_while ? 1 : 0;
    for (int k = 0; k < want; k++) {
      if (want == 3 && ins->v[k].kind != V_INT) continue;
      if (n == cap && !arena_push(&p->tmp, list, cap, n)) return;
      list[n++] = want == 3 ? ins->v[k].u.i : 0;
    }
  }
  if (n) qsort(list, n, sizeof *list, by_value);
  for (uint32_t i = 0; i < n; i++) {
    if (i && list[i] == list[i - 1]) continue;
    pr_indent(p);
    pr_constant_ref(p, list[i]);
    pr_lit(p, " = \"arith.constant\"() {value = ");
    pr_int(p, list[i]);
    pr_lit(p, " : index} : () -> index\n");
  }
}

static void define_index(Print *p, uint32_t idx) {
  if (idx <= p->f->nidx) p->index[idx] = p->nindex;
  p->nindex++;
}

static void print_idx(Print *p, const IrIns *ins) {
  uint32_t n = ins->v[1].n;
  define_index(p, ins->result);
  pr_indent(p);
  pr_index_ref(p, ins->result);
  pr_lit(p, " = \"nki.idx\"(");
  for (uint32_t i = 0; i < n; i++) {
    if (i) pr_lit(p, ", ");
    pr_index_ref(p, (uint32_t)ins->v[1].u.ints[i]);
  }
  pr_lit(p, ") {c = ");
  pr_list(p, ins->v[0].u.ints, ins->v[0].n);
  if (ins->v[2].u.i) pr_lit(p, ", k = ");
  if (ins->v[2].u.i) pr_int(p, ins->v[2].u.i);
  pr_lit(p, "} : (");
  for (uint32_t i = 0; i < n; i++) pr_puts(p, i ? ", index" : "index");
  pr_lit(p, ") -> index");
  pr_loc(p, ins->loc);
  pr_lit(p, "\n");
}

static void print_reg_read(Print *p, uint32_t reg) {
  pr_lit(p, " = \"nki.reg_read\"(");
  pr_str(p, p->buf[reg].ref);
  pr_lit(p, ") : (");
  pr_str(p, p->buf[reg].type);
  pr_lit(p, ") -> index");
}

static void print_bound(Print *p, const IrVal *v) {
  if (v->kind == V_INT)
    pr_constant_ref(p, v->u.i);
  else
    pr_index_ref(p, v->u.idx);
}

static void print_for(Print *p, const IrIns *ins) {
  pr_indent(p);
  pr_lit(p, "\"scf.for\"(");
  for (int i = 0; i < 3; i++) {
    if (i) pr_lit(p, ", ");
    print_bound(p, &ins->v[i]);
  }
  pr_lit(p, ") ({\n");
  define_index(p, ins->result);
  pr_indent(p);
  pr_lit(p, "^bb0(");
  pr_index_ref(p, ins->result);
  pr_lit(p, ": index):\n");
  p->depth++;
}

static void print_while(Print *p, const IrIns *ins) {
  pr_indent(p);
  pr_lit(p, "\"scf.while\"() ({\n");
  p->depth++;
  uint32_t test = p->nindex++;
  pr_indent(p);
  pr_lit(p, "%i");
  pr_int(p, test);
  print_reg_read(p, ins->v[0].u.reg);
  pr_lit(p, "\n");
  pr_indent(p);
  pr_lit(p, "%more = \"arith.cmpi\"(%i");
  pr_int(p, test);
  pr_lit(p, ", %c0) {predicate = 1} : (index, index) -> i1\n");
  pr_indent(p);
  pr_lit(p, "\"scf.condition\"(%more) : (i1) -> ()\n");
  p->depth--;
  pr_indent(p);
  pr_lit(p, "}, {\n");
  p->depth++;
}

static void print_loop_end(Print *p, const IrIns *end) {
  const IrIns *begin = p->f->ins[end->match < p->f->nins ? end->match : 0];
  pr_indent(p);
  pr_lit(p, "\"scf.yield\"() : () -> ()");
  pr_loc(p, end->loc);
  if (p->depth > 0) p->depth--;
  pr_lit(p, "\n");
  pr_indent(p);
  if (end->op == CORE_end_for)
    pr_lit(p, "}) {nki.range = \"dynamic\"} : (index, index, index) -> ()");
  else
    pr_lit(p, "}) : () -> ()");
  pr_loc(p, begin->loc);
  pr_lit(p, "\n");
}

static void print_core(Print *p, const IrIns *ins) {
  switch (ins->op) {
    case CORE_alloc:
      pr_buffer(p, p->f->bufs[ins->v[0].u.i], ins->loc);
      break;
    case CORE_idx:
      print_idx(p, ins);
      break;
    case CORE_for:
      print_for(p, ins);
      break;
    case CORE_while:
      print_while(p, ins);
      break;
    case CORE_end_for:
    case CORE_end_while:
      print_loop_end(p, ins);
      break;
    default:
      define_index(p, ins->result);
      pr_indent(p);
      pr_index_ref(p, ins->result);
      print_reg_read(p, ins->v[0].u.reg);
      pr_loc(p, ins->loc);
      pr_lit(p, "\n");
      break;
  }
}

/* ---- functions */
static void print_types(Print *p, const uint32_t *buf, uint32_t n) {
  pr_lit(p, "(");
  for (uint32_t i = 0; i < n; i++) {
    if (i) pr_lit(p, ", ");
    pr_str(p, p->buf[buf ? buf[i] : i].type);
  }
  pr_lit(p, ")");
}

static void print_return(Print *p) {
  const IrFunc *f = p->f;
  pr_indent(p);
  pr_lit(p, "\"func.return\"(");
  for (uint32_t i = 0; i < f->nrets; i++) {
    if (i) pr_lit(p, ", ");
    pr_str(p, p->buf[f->rets[i]].ref);
  }
  pr_lit(p, ") : ");
  print_types(p, f->rets, f->nrets);
  pr_lit(p, " -> ()\n");
}

static void print_body(Print *p) {
  const IrFunc *f = p->f;
  if (f->nargs) {
    pr_lit(p, "^bb0(");
    for (uint32_t i = 0; i < f->nargs; i++) {
      if (i) pr_lit(p, ", ");
      pr_str(p, p->buf[i].ref);
      pr_lit(p, ": ");
      pr_str(p, p->buf[i].type);
    }
    pr_lit(p, "):\n");
  }
  p->depth = 1;
  print_constants(p);
  for (uint32_t i = 0; i < f->nargs; i++) print_views(p, i);
  for (uint32_t i = f->nargs; i < f->nbufs; i++)
    if (f->bufs[i]->kind == BUF_CONST) pr_buffer(p, f->bufs[i], f->bufs[i]->loc);
  for (uint32_t i = 0; i < f->nins; i++) {
    if (f->ins[i]->op < OP_count)
      pr_ins(p, f->ins[i]);
    else
      print_core(p, f->ins[i]);
  }
  print_return(p);
}

static void print_names(Print *p, const char *key, const char *const *name, uint32_t n) {
  pr_puts(p, key);
  pr_lit(p, " = [");
  for (uint32_t i = 0; i < n; i++) {
    char made[32];
    if (i) pr_lit(p, ", ");
    const char *s = name && name[i] ? name[i] : made;
    if (s == made) snprintf(made, sizeof made, "output_%u", i);
    pr_quoted(p, s, strlen(s));
  }
  pr_lit(p, "]");
}

static void print_arguments(Print *p) {
  const IrFunc *f = p->f;
  bool hidden = false;
  for (uint32_t i = 0; i < f->nargs; i++) hidden = hidden || tx_dtype_hidden(f->bufs[i]->dtype);
  for (int pass = hidden ? 0 : 1; pass < 2; pass++) {
    pr_puts(p, pass ? ", nki.args = [" : ", nki.arg_dtypes = [");
    for (uint32_t i = 0; i < f->nargs; i++) {
      const char *s = pass ? f->bufs[i]->name : dtype_name(f->bufs[i]->dtype);
      if (i) pr_lit(p, ", ");
      pr_quoted(p, s, strlen(s));
    }
    pr_lit(p, "]");
  }
}

static void print_programs(Print *p) {
  const IrModule *m = p->m;
  pr_lit(p, ", nki.programs = [");
  for (int64_t i = 0; i < m->nprogram; i++) {
    if (i) pr_lit(p, ", ");
    pr_int(p, m->program ? m->program[i] : 0);
  }
  pr_lit(p, "]");
}

/* [cores, block] of every axis; left out when the whole grid is on one core. */
static void print_cores(Print *p) {
  const IrModule *m = p->m;
  if (ir_core_count(m->cores, m->ngrid) < 2) return;
  pr_lit(p, ", nki.cores = [");
  for (int i = 0; i < m->ngrid; i++) {
    bool spread = m->cores[i].count > 1;
    int64_t pair[2] = {spread ? m->cores[i].count : 1, spread ? m->cores[i].block : 1};
    if (i) pr_lit(p, ", ");
    pr_list(p, pair, 2);
  }
  pr_lit(p, "]");
}

static void print_aliases(Print *p) {
  pr_lit(p, ", nki.aliases = [");
  for (uint32_t i = 0; i < p->m->naliases; i++) {
    int64_t pair[2] = {p->m->aliases[i].operand, p->m->aliases[i].output};
    if (i) pr_lit(p, ", ");
    pr_list(p, pair, 2);
  }
  pr_lit(p, "]");
}

/* The kernel's name for the first program, and <name>_<k> for the others. */
static void print_symbol(Print *p, uint32_t number) {
  const char *name = p->m->name ? p->m->name : p->m->func[0]->name, *made = name;
  if (number) made = arena_printf(&p->tmp, "%s_%u", name, number);
  if (made) pr_quoted(p, made, strlen(made));
}

/* Keys in bytewise order. What belongs to the module is on its first function. */
static void print_func_attributes(Print *p, uint32_t number) {
  bool first = number == 0;
  const IrModule *m = p->m;
  const IrFunc *f = p->f;
  pr_lit(p, "function_type = ");
  print_types(p, NULL, f->nargs);
  pr_lit(p, " -> ");
  if (f->nrets == 1)
    pr_str(p, p->buf[f->rets[0]].type);
  else
    print_types(p, f->rets, f->nrets);
  if (first && m->naliases) print_aliases(p);
  print_arguments(p);
  if (first && m->bound) {
    pr_lit(p, ", nki.bound = ");
    pr_quoted(p, m->bound, strlen(m->bound));
  }
  if (first) {
    print_cores(p);
    pr_lit(p, ", nki.grid = ");
    pr_list(p, m->grid, (uint32_t)m->ngrid);
    if (m->has_collectives) pr_lit(p, ", nki.has_collectives = true");
    print_names(p, ", nki.outputs", m->output_names, f->nrets);
    if (m->nfunc > 1) print_programs(p);
    if (m->result_is_sequence) pr_lit(p, ", nki.result_is_sequence = true");
    pr_lit(p, ", nki.target = \"");
    pr_puts(p, target_name(m->target));
    pr_lit(p, "\"");
    if (m->target_is_fallback) pr_lit(p, ", nki.target_is_fallback = true");
  }
  pr_lit(p, ", nki.version = ");
  pr_int(p, TX_VERSION);
  pr_lit(p, ", sym_name = ");
  print_symbol(p, number);
}

static void print_func(Print *p, uint32_t number) {
  const IrFunc *f = p->f;
  pr_spell_buffers(p);
  p->index = arena_newn(&p->tmp, uint32_t, (size_t)f->nidx + 1);
  if (!p->index || !p->buf) return;
  for (uint32_t i = 0; i <= f->nidx; i++) p->index[i] = UINT32_MAX;
  p->nindex = 0;
  p->depth = 0;
  pr_lit(p, "\"func.func\"() ({\n");
  print_body(p);
  pr_lit(p, "}) {");
  print_func_attributes(p, number);
  pr_lit(p, "} : () -> ()\n");
}

bool ir_print(const IrModule *m, Text *out) {
  Print p = {.m = m, .out = out};
  arena_init(&p.tmp, out->alloc);
  p.loc = arena_array(&p.tmp, (size_t)m->nlocs + 1, sizeof *p.loc);
  for (uint32_t i = 0; i < m->nfunc; i++) {
    p.f = m->func[i];
    print_func(&p, i);
  }
  bool ok = !p.tmp.oom && !out->oom;
  if (!ok) out->oom = true;
  arena_free(&p.tmp);
  return ok;
}
