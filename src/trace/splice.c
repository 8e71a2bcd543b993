/* splice.c -- room trace: the program of a finished module becomes part of the running one, as if its body had run
   here: the same instructions in the same order, on tensors of the running program. What the body's Lua did while it
   was traced, loops included, has left only instructions; device loops are instructions, too. */
#include <string.h>

#include "impl.h"

typedef struct Splice {
  Trace *t;
  const IrModule *m;
  const IrFunc *from;
  const IrTile *const *operands;
  Arena arena;          /* the tables; all numbers in them are + 1, 0: not met yet */
  uint32_t *buf;        /* by buffer of `from` that is no operand */
  uint32_t *view;       /* by buffer: the first view of it; by view: the next one of the same */
  uint32_t *idx;        /* by index value */
  uint32_t *loc, *iter; /* by number */
  uint32_t *loop;       /* handles of open device loops, innermost last */
  uint32_t nloop, caploop;
  uint32_t site_loc, site_iter; /* of the call */
} Splice;

/* ---- may it be? -------------------------------------------------------------------------------------------------- */

bool tr_is_run(const Trace *t, const IrTile *tile) { return !tile->dyn && tile_is_contiguous(t->f, tile); }

static bool is_whole_tensor(const Trace *t, const IrTile *tile) {
  return tile->whole && t->f->bufs[tile->buf]->kind != BUF_VIEW;
}

/* Is operand `arg` only used in ways that elements in the midst of another tensor allow? */
static bool tile_moves(const IrTile *tile, uint32_t arg) {
  if (tile->vec && !tile_moves(tile->vec, arg)) return false;
  return tile->buf != arg || (!tile->dyn && !tile->vec);
}

static bool moves(const IrFunc *f, uint32_t arg) {
  for (uint32_t k = f->nargs; k < f->nbufs; k++)
    if (f->bufs[k]->kind == BUF_VIEW && f->bufs[k]->base == arg) return false;
  for (uint32_t k = 0; k < f->nins; k++) {
    for (uint32_t p = 0; p < f->ins[k]->nval; p++) {
      const IrVal *v = &f->ins[k]->v[p];
      if (v->kind == V_TILE && !tile_moves(v->u.tile, arg)) return false;
      for (uint32_t j = 0; v->kind == V_TILES && j < v->n; j++)
        if (!tile_moves(v->u.tiles[j], arg)) return false;
    }
  }
  return true;
}

bool tr_can_splice(const Trace *t, const IrModule *m, const IrTile *const *operands) {
  const IrFunc *f = m->func[0];
  if (m->nprogram != 1 || m->target != t->m->target) return false;
  for (uint32_t a = 0; a < f->nargs; a++) {
    if (is_whole_tensor(t, operands[a])) continue;
    if (!tr_is_run(t, operands[a]) || !moves(f, a)) return false;
  }
  return true;
}

/* ---- numbers of one program as numbers of the other -------------------------------------------------------------- */

static uint32_t map_loc(Splice *s, uint32_t loc) {
  if (!loc || loc >= s->m->nlocs) return s->site_loc;
  if (s->loc[loc]) return s->loc[loc] - 1;
  const IrLoc *l = &s->m->locs[loc];
  uint32_t made = ir_loc(s->t->m, l->file, l->line, l->tail, map_loc(s, l->parent));
  s->loc[loc] = made + 1;
  return made;
}

static uint32_t map_iter(Splice *s, uint32_t iter) {
  if (!iter || iter >= s->m->niters) return s->site_iter;
  if (s->iter[iter]) return s->iter[iter] - 1;
  const IrIter *it = &s->m->iters[iter];
  uint32_t made = ir_iter(s->t->m, map_iter(s, it->parent), map_loc(s, it->loop_loc), it->value);
  s->iter[iter] = made + 1;
  return made;
}

static bool map_index(const Splice *s, uint32_t idx, uint32_t *out) {
  if (idx > s->from->nidx || !s->idx[idx]) return NK_BUG(s->t->d, "a spliced program uses an index before it is made");
  *out = s->idx[idx] - 1;
  return true;
}

static bool set_index(Splice *s, const IrIns *ins, uint32_t made) {
  s->idx[ins->result] = made + 1;
  return true;
}

static bool map_buf(const Splice *s, uint32_t id, uint32_t *out) {
  if (id < s->from->nargs) return *out = s->operands[id]->buf, true;
  if (!s->buf[id]) return NK_BUG(s->t->d, "a spliced program uses a tensor before it is made");
  *out = s->buf[id] - 1;
  return true;
}

/* The name a tensor was given, NULL for one that has its number for a name: it gets another number here. Told by the
   name alone, which a program that was read from a file has, too. */
static const char *given_name(const IrBuf *b) {
  const char *space = space_name(b->space);
  size_t n = strlen(space);
  bool number = strncmp(b->name, space, n) == 0 && b->name[n] == '_' && b->name[n + 1] &&
                strspn(b->name + n + 1, "0123456789") == strlen(b->name + n + 1);
  return number ? NULL : b->name;
}

/* A constant or a view, which no instruction makes. */
static bool make_buf(Splice *s, const IrBuf *b) {
  IrBufSpec spec = {.kind = b->kind, .space = b->space, .dtype = b->dtype, .rank = b->rank, .shape = b->shape};
  spec.name = given_name(b);
  s->t->loc = map_loc(s, b->loc);
  if (b->kind == BUF_CONST) {
    spec.data = b->data;
    const IrTile *made = tr_constant(s->t, &spec);
    s->buf[b->id] = made ? made->buf + 1 : 0;
  } else {
    const IrBuf *made = map_buf(s, b->base, &spec.base) ? tr_view_buffer(s->t, &spec) : NULL;
    s->buf[b->id] = made ? made->id + 1 : 0;
  }
  return s->buf[b->id] != 0;
}

static bool make_views(Splice *s, uint32_t base) {
  for (uint32_t v = s->view[base]; v; v = s->view[v - 1])
    if (!make_buf(s, s->from->bufs[v - 1])) return false;
  return true;
}

/* In the order of the text, so that a program spliced from memory and one from a file give the same. */
static bool make_first(Splice *s) {
  const IrFunc *f = s->from;
  for (uint32_t k = 0; k < f->nargs; k++)
    if (!make_views(s, k)) return false;
  for (uint32_t k = f->nargs; k < f->nbufs; k++)
    if (f->bufs[k]->kind == BUF_CONST && !(make_buf(s, f->bufs[k]) && make_views(s, k))) return false;
  return true;
}

static const IrTile *map_tile(Splice *s, const IrTile *tile) {
  uint32_t id;
  if (tile->buf < s->from->nargs && !is_whole_tensor(s->t, s->operands[tile->buf])) {
    ViewCtx c = {s->t->m, s->t->f, s->t->d};
    return view_within(&c, tile, s->operands[tile->buf]);
  }
  if (!map_buf(s, tile->buf, &id)) return NULL;
  if (tile->whole) return ir_whole(s->t->f, id);
  IrTile *made = ir_tile_new(s->t->m);
  if (!made) return tr_oom(s->t), NULL;
  *made = *tile;
  made->buf = id;
  if (tile->dyn && !map_index(s, tile->dyn, &made->dyn)) return NULL;
  if (tile->vec && !(made->vec = map_tile(s, tile->vec))) return NULL;
  return made;
}

static bool map_tiles(Splice *s, IrVal *v) {
  const IrTile **list = arena_newn(&s->t->m->arena, const IrTile *, v->n);
  if (!list) return tr_oom(s->t);
  for (uint32_t k = 0; k < v->n; k++)
    if (!(list[k] = map_tile(s, v->u.tiles[k]))) return false;
  v->u.tiles = list;
  return true;
}

static bool copy_ints(Splice *s, IrVal *v) {
  size_t n = v->n;
  if (v->kind == V_PAIRS) n = 2 * (size_t)v->n;
  if (v->kind == V_LISTS) {
    n = 0;
    for (uint32_t k = 0; k < v->n; k++) n += 1 + (size_t)v->u.ints[n];
  }
  int64_t *copy = arena_newn(&s->t->m->arena, int64_t, n);
  if (!copy) return tr_oom(s->t);
  if (n) memcpy(copy, v->u.ints, n * sizeof *copy);
  v->u.ints = copy;
  return true;
}

static bool map_val(Splice *s, IrVal *v) {
  switch ((ValKind)v->kind) {
    case V_NONE:
    case V_NUM:
    case V_INT:
      return true;
    case V_TILE:
      return (v->u.tile = map_tile(s, v->u.tile)) != NULL;
    case V_TILES:
      return map_tiles(s, v);
    case V_INTS:
    case V_PAIRS:
    case V_LISTS:
      return copy_ints(s, v);
    case V_REG:
      return map_buf(s, v->u.reg, &v->u.reg);
    case V_IDX:
      return map_index(s, v->u.idx, &v->u.idx);
    case V_STR:
      v->u.str = arena_strdup(&s->t->m->arena, v->u.str, v->n);
      return v->u.str || tr_oom(s->t);
  }
  return true;
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

static bool put_alloc(Splice *s, const IrIns *ins) {
  uint32_t id = (uint32_t)ins->v[0].u.i, made;
  const IrBuf *b = s->from->bufs[id];
  const char *name = given_name(b);
  if (b->space == SP_reg) {
    if (!tr_reg_alloc(s->t, name, &made)) return false;
  } else {
    IrBufSpec spec = {.space = b->space, .dtype = b->dtype, .rank = b->rank, .shape = b->shape, .name = name};
    spec.has_address = b->has_address;
    spec.part = b->has_address ? b->part : 0;
    spec.byte = b->has_address ? b->byte : 0;
    const IrTile *tile = tr_ndarray(s->t, &spec);
    if (!tile) return false;
    made = tile->buf;
  }
  s->buf[id] = made + 1;
  return make_views(s, id);
}

static bool put_affine(Splice *s, const IrIns *ins) {
  const IrVal *coef = &ins->v[0], *idx = &ins->v[1];
  uint32_t made;
  TrTerm *term = arena_newn(&s->arena, TrTerm, coef->n);
  if (!term) return tr_oom(s->t);
  for (uint32_t k = 0; k < coef->n; k++) {
    term[k].coef = coef->u.ints[k];
    if (!map_index(s, (uint32_t)idx->u.ints[k], &term[k].idx)) return false;
  }
  return tr_affine(s->t, term, (int)coef->n, ins->v[2].u.i, &made) && set_index(s, ins, made);
}

static bool put_loop(Splice *s, const IrIns *ins) {
  IrVal lower = ins->v[0], upper;
  uint32_t idx = 0, handle = 0;
  if (!map_val(s, &lower)) return false;
  if (ins->op == CORE_while) {
    handle = tr_while_begin(s->t, lower.u.reg);
  } else {
    upper = ins->v[1];
    if (!map_val(s, &upper)) return false;
    handle = tr_for_begin(s->t, lower, upper, ins->v[2].u.i, &idx);
    set_index(s, ins, idx);
  }
  if (!handle) return false;
  if (!arena_push(&s->arena, s->loop, s->caploop, s->nloop)) return tr_oom(s->t);
  s->loop[s->nloop++] = handle;
  return true;
}

static bool put_row(Splice *s, const IrIns *ins) {
  IrIns *made = tr_begin_ins(s->t, (Op)ins->op);
  if (!made) return false;
  memcpy(made->v, ins->v, ins->nval * sizeof *ins->v);
  for (uint32_t p = 0; p < ins->nval; p++)
    if (!map_val(s, &made->v[p])) return false;
  return tr_emit_ins(s->t, made, ins->label);
}

static bool put(Splice *s, const IrIns *ins) {
  uint32_t id, made;
  s->t->loc = map_loc(s, ins->loc);
  s->t->iter = map_iter(s, ins->iter);
  switch ((int)ins->op) {
    case CORE_alloc:
      return put_alloc(s, ins);
    case CORE_idx:
      return put_affine(s, ins);
    case CORE_reg_read:
      return map_buf(s, ins->v[0].u.reg, &id) && tr_reg_read(s->t, id, &made) && set_index(s, ins, made);
    case CORE_for:
    case CORE_while:
      return put_loop(s, ins);
    case CORE_end_for:
    case CORE_end_while:
      return tr_device_end(s->t, s->loop[--s->nloop]);
    default:
      return put_row(s, ins);
  }
}

static bool make_tables(Splice *s) {
  const IrFunc *f = s->from;
  s->buf = arena_newn(&s->arena, uint32_t, f->nbufs);
  s->idx = arena_newn(&s->arena, uint32_t, (size_t)f->nidx + 1);
  s->loc = arena_newn(&s->arena, uint32_t, s->m->nlocs);
  s->iter = arena_newn(&s->arena, uint32_t, s->m->niters);
  s->view = arena_newn(&s->arena, uint32_t, f->nbufs);
  if (!s->buf || !s->idx || !s->loc || !s->iter || !s->view) return tr_oom(s->t);
  for (uint32_t k = f->nbufs; k-- > 0;) {
    const IrBuf *b = f->bufs[k];
    if (b->kind != BUF_VIEW) continue;
    s->view[k] = s->view[b->base];
    s->view[b->base] = k + 1;
  }
  return true;
}

static bool put_all(Splice *s, const IrTile **results) {
  const IrFunc *f = s->from;
  if (!make_tables(s) || !make_first(s)) return false;
  for (uint32_t k = 0; k < f->nins; k++)
    if (!put(s, f->ins[k])) return false;
  for (uint32_t k = 0; k < f->nrets; k++) {
    uint32_t id = f->rets[k];
    results[k] = id < f->nargs ? s->operands[id] : ir_whole(s->t->f, s->buf[id] - 1);
  }
  return true;
}

/* What was said of the program is said of this one, once. */
static void add_warnings(Trace *t, const char *warnings) {
  Text *own = &impl(t)->warnings;
  if (warnings && !strstr(text_str(own), warnings)) text_puts(own, warnings);
}

bool tr_splice(Trace *t, const IrModule *m, const IrTile *const *operands, const IrTile **results) {
  Splice s = {.t = t, .m = m, .from = m->func[0], .operands = operands, .site_loc = t->loc, .site_iter = t->iter};
  arena_init(&s.arena, impl(t)->alloc);
  bool ok = put_all(&s, results);
  while (s.nloop) tr_device_end(t, s.loop[--s.nloop]); /* of one that failed midway; the kernel may catch that */
  arena_free(&s.arena);
  t->loc = s.site_loc;
  t->iter = s.site_iter;
  add_warnings(t, m->warnings);
  return ok && (!t->m->arena.oom || tr_oom(t));
}
