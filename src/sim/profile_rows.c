/* profile_rows.c -- room sim: sums of a profile by line, instruction, engine or core. */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

/* What a call works on: the first tile of its results, else of its operands. */
static void count_work(const IrFunc *f, const IrIns *ins, SimProfileRow *row) {
  const OpInfo *op = &op_info[ins->op];
  const IrTile *tile = NULL;
  bool written = false;
  for (int k = 0; k < op->nparams && !written; k++) {
    const IrVal *v = &ins->v[k];
    const IrTile *t = v->kind == V_TILE ? v->u.tile : v->kind == V_TILES && v->n ? v->u.tiles[0] : NULL;
    Role role = op->params[k].role;
    written = t && (role == DST || role == DST_OPT || role == INOUT);
    if (written || !tile) tile = t;
  }
  if (!tile) return;
  row->elements = tile_count(tile) * row->calls;
  row->bytes = row->elements * dtype_bytes(f->bufs[tile->buf]->dtype);
}

static int compare_text(const IrLoc *a, const IrLoc *b) {
  if (!a || !b) return (a != NULL) - (b != NULL);
  int c = strcmp(a->file, b->file);
  return c ? c : (a->line > b->line) - (a->line < b->line);
}

static int by_name(const void *p, const void *q) {
  const SimProfileRow *a = p, *b = q;
  int c = compare_text(a->loc, b->loc);
  if (!c) c = (a->op > b->op) - (a->op < b->op);
  if (!c) c = (a->engine > b->engine) - (a->engine < b->engine);
  return c ? c : (a->core > b->core) - (a->core < b->core);
}

static int by_time(const void *p, const void *q) {
  const SimProfileRow *a = p, *b = q;
  if (a->ns != b->ns) return a->ns < b->ns ? 1 : -1;
  return by_name(p, q);
}

/* Rows of structure (allocations, loop heads) are no instructions. */
static uint32_t count_rows(const SimProfile *p) {
  uint32_t n = 0;
  for (int c = 0; c < p->ncores; c++)
    for (uint32_t i = 0; i < p->m->nfunc; i++)
      for (uint32_t k = 0; k < p->m->func[i]->nins; k++)
        n += p->m->func[i]->ins[k]->op < OP_count && p->core[c].func[i][k].calls > 0;
  return n;
}

static SimProfileRow row_of(const SimProfile *p, SimProfileBy by, const IrFunc *f, const IrIns *ins) {
  SimProfileRow row = {.op = 0};
  if (by == SIM_BY_LINE && ins->loc && ins->loc < p->m->nlocs) row.loc = &p->m->locs[ins->loc];
  if (by == SIM_BY_LINE || by == SIM_BY_OP) row.op = ins->op;
  if (by != SIM_BY_CORE) row.engine = ir_engine(f, ins);
  return row;
}

static void fill_rows(const SimProfile *p, SimProfileBy by, SimProfileRow *rows) {
  for (int c = 0; c < p->ncores; c++)
    for (uint32_t i = 0; i < p->m->nfunc; i++)
      for (uint32_t k = 0; k < p->m->func[i]->nins; k++) {
        const IrIns *ins = p->m->func[i]->ins[k];
        const SimInsTime *t = &p->core[c].func[i][k];
        if (ins->op >= OP_count || !t->calls) continue;
        *rows = row_of(p, by, p->m->func[i], ins);
        rows->core = c;
        rows->calls = t->calls;
        rows->ns = t->ns;
        count_work(p->m->func[i], ins, rows++);
      }
}

SimProfileRow *sim_profile_rows(const SimProfile *p, SimProfileBy by, Arena *a, uint32_t *n) {
  uint32_t all = count_rows(p), kept = 0;
  *n = 0;
  SimProfileRow *rows = arena_newn(a, SimProfileRow, all + 1);
  if (!rows) return NULL;
  fill_rows(p, by, rows);
  qsort(rows, all, sizeof *rows, by_name);
  for (uint32_t i = 0; i < all; i++) {
    if (kept && by_name(&rows[kept - 1], &rows[i]) == 0) {
      SimProfileRow *sum = &rows[kept - 1];
      sum->calls += rows[i].calls;
      sum->ns += rows[i].ns;
      sum->elements += rows[i].elements;
      sum->bytes += rows[i].bytes;
    } else {
      rows[kept++] = rows[i];
    }
  }
  qsort(rows, kept, sizeof *rows, by_time);
  *n = kept;
  return rows;
}
