/* alias.c -- room framework: which outputs are operands (a kernel that writes in place and returns its argument), and
   which arguments a function writes. */
#include "fw.h"

static bool is_operand(const IrFunc *f, uint32_t buf) { return buf < f->nargs && f->bufs[buf]->kind == BUF_ARG; }

static int32_t earlier_output(const IrModule *m, int32_t operand) {
  for (uint32_t i = 0; i < m->naliases; i++)
    if (m->aliases[i].operand == operand) return m->aliases[i].output;
  return -1;
}

/* Every program returns the same outputs, so the first one is asked. */
bool fw_generate_operand_output_aliases(const FwRequest *r, IrModule *m, Diag *d) {
  const IrFunc *f = m->func[0];
  m->naliases = 0;
  m->aliases = arena_newn(&m->arena, IrAlias, f->nrets);
  if (!m->aliases) return DIAG0(d, nomem);
  for (uint32_t k = 0; k < f->nrets; k++) {
    const IrBuf *b = f->bufs[f->rets[k]];
    if (b->kind == BUF_CONST) return DIAG(d, alias_constant, r->func_name, k, b->name);
    if (b->kind == BUF_VIEW && is_operand(f, b->base))
      return DIAG(d, alias_mismatch, r->func_name, k, (int)b->base, f->bufs[b->base]->name);
    if (!is_operand(f, b->id)) continue;
    int32_t operand = (int32_t)b->id, before = earlier_output(m, operand);
    if (before >= 0) return DIAG(d, alias_twice, r->func_name, (unsigned)before, k, operand, b->name);
    m->aliases[m->naliases++] = (IrAlias){.operand = operand, .output = (int32_t)k};
  }
  return true;
}

static bool tile_is_of(const IrFunc *f, const IrTile *t, uint32_t arg) {
  const IrBuf *b = f->bufs[t->buf];
  return b->id == arg || (b->kind == BUF_VIEW && b->base == arg);
}

static bool value_is_of(const IrFunc *f, const IrVal *v, uint32_t arg) {
  if (v->kind == V_TILE) return tile_is_of(f, v->u.tile, arg);
  if (v->kind != V_TILES) return false;
  for (uint32_t i = 0; i < v->n; i++)
    if (tile_is_of(f, v->u.tiles[i], arg)) return true;
  return false;
}

/* A vector offset is HBM only and its index tile is on chip, so it is never a view of an argument. */
bool fw_operand_written(const IrFunc *f, uint32_t i) {
  for (uint32_t k = 0; k < f->nins; k++) {
    const IrIns *ins = f->ins[k];
    if (ins->op >= OP_count) continue;
    const OpInfo *op = &op_info[ins->op];
    for (int p = 0; p < op->nparams; p++)
      if (role_writes(op->params[p].role) && value_is_of(f, &ins->v[p], i) && ir_writes(ins, p)) return true;
  }
  return false;
}

int32_t fw_updated_operand(const Artifact *a, uint32_t k) {
  int32_t operand = artifact_alias(a, k);
  for (uint32_t i = 0; operand >= 0 && i < a->module->nfunc; i++)
    if (fw_operand_written(a->module->func[i], (uint32_t)operand)) return operand;
  return -1;
}
