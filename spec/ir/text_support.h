/* text_support.h -- spec/ir: modules to print, made by hand and at random, and comparing two of them. */
#ifndef NK_SPEC_IR_TEXT_SUPPORT_H
#define NK_SPEC_IR_TEXT_SUPPORT_H
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "text_ir.h"

static inline uint64_t rnd(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}
static inline uint64_t below(uint64_t *state, uint64_t n) { return rnd(state) % n; }

/* ---- random instructions: every kind of value a parameter may have, legal or not for the hardware */
typedef struct Bank { /* what instructions may use */
  IrModule *m;
  IrFunc *f;
  uint32_t tile[16], ntile, reg, idx[8], nidx;
  uint64_t seed;
} Bank;

static inline IrBuf *bank_buffer(Bank *b, BufKind kind, Space space, DType dtype, const char *name) {
  static const unsigned char data[256 * 4] = {1, 2, 3, 4, 5};
  int64_t shape[2] = {16, 16};
  IrBufSpec spec = {.kind = kind,
                    .space = space,
                    .dtype = dtype,
                    .rank = space == SP_reg ? 0 : 2,
                    .shape = shape,
                    .name = name,
                    .data = kind == BUF_CONST ? data : NULL};
  if (kind == BUF_VIEW) spec.base = b->tile[0];
  if (kind == BUF_ALLOC && space == SP_sbuf) spec.has_address = true, spec.part = 32, spec.byte = 64 * b->ntile;
  IrBuf *buf = ir_buf_new(b->m, b->f, &spec);
  assert_non_null(buf);
  if (kind == BUF_ALLOC) ir_append(b->m, b->f, CORE_alloc, &(IrVal){V_INT, 0, {.i = buf->id}}, 1);
  if (space != SP_reg)
    b->tile[b->ntile++] = buf->id;
  else
    b->reg = buf->id;
  return buf;
}

static inline void bank_open(Bank *b, uint64_t seed) {
  *b = (Bank){.m = ir_module_new(alloc_std, TARGET_trn3), .seed = seed};
  b->f = ir_func_new(b->m, "random");
  b->m->name = b->f->name;
  bank_buffer(b, BUF_ARG, SP_shared_hbm, DT_bfloat16, "x");
  bank_buffer(b, BUF_ARG, SP_shared_hbm, DT_float8_e4m3fn_x4, "packed");
  bank_buffer(b, BUF_VIEW, SP_shared_hbm, DT_uint16, "x as u16");
  bank_buffer(b, BUF_CONST, SP_private_hbm, DT_bool_, "c0");
  bank_buffer(b, BUF_ALLOC, SP_sbuf, DT_float32, "i1");
  bank_buffer(b, BUF_ALLOC, SP_psum, DT_float32, "more");
  bank_buffer(b, BUF_ALLOC, SP_sbuf, DT_float8_e8m0fnu, "9 \"lives\"\n\x80");
  bank_buffer(b, BUF_ALLOC, SP_reg, DT_int32, "");
  for (int i = 0; i < 2; i++) {
    IrIns *ins = ir_append(b->m, b->f, CORE_reg_read, &(IrVal){V_REG, 0, {.reg = b->reg}}, 1);
    b->idx[b->nidx++] = ins->result = ir_new_index(b->f);
  }
}

static inline const IrTile *bank_tile(Bank *b, bool vector) {
  uint32_t buf = b->tile[below(&b->seed, b->ntile)];
  if (below(&b->seed, 3) == 0) return ir_whole(b->f, buf);
  IrTile *t = ir_tile_new(b->m);
  t->buf = buf;
  t->rank = (uint8_t)below(&b->seed, IR_MAX_RANK + 1);
  t->offset = (int64_t)below(&b->seed, 1000) - 500;
  for (int i = 0; i < t->rank; i++)
    t->dim[i] =
        (IrDim){below(&b->seed, 9) == 0 ? INT64_MIN : (int64_t)below(&b->seed, 99) - 9, (int64_t)below(&b->seed, 600)};
  if (below(&b->seed, 3) == 0) {
    t->dyn = b->idx[below(&b->seed, b->nidx)];
    t->dyn_max = (int64_t)below(&b->seed, 4) * 77;
  }
  if (vector && below(&b->seed, 2) == 0) {
    t->vec = bank_tile(b, false);
    t->vec_dim = (int)below(&b->seed, 8);
  }
  return t;
}

static inline double bank_double(Bank *b) {
  static const double list[] = {0.0, -0.0, 1.0, -1.5, 0.1, 1e300, 5e-324, 16777217.0, -3.4028234663852886e38};
  uint64_t bits = rnd(&b->seed);
  double v;
  memcpy(&v, &bits, sizeof v);
  uint64_t pick = below(&b->seed, 12);
  return pick < 9 ? list[pick] : v;
}

static inline int64_t *bank_ints(Bank *b, uint32_t n) {
  int64_t *v = arena_newn(&b->m->arena, int64_t, n);
  for (uint32_t i = 0; i < n; i++) v[i] = (int64_t)below(&b->seed, 100) - 50;
  return v;
}

static inline int64_t bank_member(Bank *b, const IrParam *p) {
  if (p->kind == K_alu) return 1 + (int64_t)below(&b->seed, ALU_count - 1);
  if (p->kind == K_act) return 1 + (int64_t)below(&b->seed, ACT_count - 1);
  const char *const *names = enum_names((EnumType)p->set);
  uint64_t n = 0;
  while (names[n]) n++;
  const char *name = names[below(&b->seed, n)];
  int value = 0;
  assert_true(enum_parse((EnumType)p->set, name, strlen(name), &value));
  return value;
}

static inline IrVal bank_integer(Bank *b, Kind kind) {
  uint64_t pick = below(&b->seed, 3);
  if (kind == K_int_or_reg && pick == 0) return (IrVal){V_REG, 0, {.reg = b->reg}};
  if (pick == 1) return (IrVal){V_IDX, 0, {.idx = b->idx[below(&b->seed, b->nidx)]}};
  return (IrVal){V_INT, 0, {.i = (int64_t)rnd(&b->seed)}};
}

/* n lists of 0, 1, 2 ... integers. */
static inline IrVal bank_lists(Bank *b, uint32_t n) {
  int64_t *list = bank_ints(b, 16);
  for (uint32_t k = 0, at = 0; k < n; k++) {
    list[at] = k;
    at += 1 + k;
  }
  return (IrVal){V_LISTS, n, {.ints = list}};
}

static inline IrVal bank_value(Bank *b, const IrParam *p) {
  bool coin = below(&b->seed, 2) == 0;
  uint32_t n = (uint32_t)below(&b->seed, 4);
  switch (p->kind) {
    case K_number_or_column:
    case K_number_or_tile:
      if (coin) return (IrVal){V_NUM, 0, {.num = bank_double(b)}};
      /* fall through */
    case K_tile:
    case K_column:
      return (IrVal){V_TILE, 0, {.tile = bank_tile(b, true)}};
    case K_tiles:
    case K_channels: {
      const IrTile **list = arena_newn(&b->m->arena, const IrTile *, n + 1);
      for (uint32_t i = 0; i <= n; i++) list[i] = bank_tile(b, false);
      return (IrVal){V_TILES, n + 1, {.tiles = list}};
    }
    case K_number:
      return (IrVal){V_NUM, 0, {.num = bank_double(b)}};
    case K_alu:
    case K_act:
    case K_enum:
      return (IrVal){V_INT, 0, {.i = bank_member(b, p)}};
    case K_flag:
    case K_tristate:
      return (IrVal){V_INT, 0, {.i = coin}};
    case K_int_or_ints:
      if (!coin) return (IrVal){V_INTS, n, {.ints = bank_ints(b, n)}};
      return (IrVal){V_INT, 0, {.i = -5}};
    case K_ints:
      return (IrVal){V_INTS, n, {.ints = bank_ints(b, n)}};
    case K_groups:
      return bank_lists(b, n);
    case K_pairs:
    case K_routes:
      return (IrVal){V_PAIRS, n, {.ints = bank_ints(b, 2 * n)}};
    case K_reg:
      return (IrVal){V_REG, 0, {.reg = b->reg}};
    case K_int:
    case K_int_or_reg:
      return bank_integer(b, p->kind);
    default:
      return (IrVal){V_STR, 5, {.str = coin ? "a\0b\"\xC3" : "h\xC3\xA9l\\"}};
  }
}

static inline void bank_instruction(Bank *b, Op op) {
  const OpInfo *row = &op_info[op];
  IrVal v[64];
  assert_true(row->nparams <= 64);
  for (int i = 0; i < row->nparams; i++) {
    bool give = row->params[i].required || below(&b->seed, 2) == 0;
    v[i] = give ? bank_value(b, &row->params[i]) : row->params[i].def;
  }
  IrIns *ins = ir_append(b->m, b->f, op, v, (uint32_t)row->nparams);
  assert_non_null(ins);
  uint32_t outer = ir_loc(b->m, "lib/outer file.lua", 7, below(&b->seed, 2) == 0, 0);
  if (below(&b->seed, 2) == 0)
    ins->loc = ir_loc(b->m, "k.lua", 1 + (int)below(&b->seed, 99), below(&b->seed, 4) == 0, outer);
  if (below(&b->seed, 3) == 0) ins->label = "label \"one\"";
}

/* ---- equality of what the text must keep */
static inline void same_string(const char *a, const char *b) {
  if (a || b) assert_string_equal(a ? a : "(null)", b ? b : "(null)");
}

static inline void same_loc(const IrModule *a, uint32_t x, const IrModule *b, uint32_t y) {
  for (; x && y; x = a->locs[x].parent, y = b->locs[y].parent) {
    assert_string_equal(a->locs[x].file, b->locs[y].file);
    assert_int_equal(a->locs[x].line, b->locs[y].line);
    assert_int_equal(a->locs[x].tail, b->locs[y].tail);
  }
  assert_int_equal(x, y);
}

static inline void same_buffer(const IrFunc *f, uint32_t x, const IrFunc *g, uint32_t y) {
  const IrBuf *a = f->bufs[x], *b = g->bufs[y];
  assert_string_equal(a->name, b->name);
  assert_int_equal(a->kind, b->kind);
  assert_int_equal(a->space, b->space);
  assert_int_equal(a->dtype, b->dtype);
  assert_int_equal(a->rank, b->rank);
  assert_memory_equal(a->shape, b->shape, sizeof a->shape);
  assert_int_equal(a->shared_ordinal, b->shared_ordinal);
  assert_int_equal(a->has_address, b->has_address);
  if (a->has_address) assert_int_equal(a->part, b->part);
  if (a->has_address) assert_int_equal(a->byte, b->byte);
  if (a->kind == BUF_CONST) assert_memory_equal(a->data, b->data, (size_t)(a->count * dtype_bytes(a->dtype)));
  if (a->kind == BUF_VIEW) assert_string_equal(f->bufs[a->base]->name, g->bufs[b->base]->name);
}

static inline void same_tile(const IrFunc *f, const IrTile *a, const IrFunc *g, const IrTile *b) {
  same_buffer(f, a->buf, g, b->buf);
  assert_int_equal(a->rank, b->rank);
  assert_int_equal(a->whole, b->whole);
  assert_int_equal(a->offset, b->offset);
  assert_int_equal(a->dyn, b->dyn);
  if (a->dyn) assert_int_equal(a->dyn_max, b->dyn_max);
  assert_memory_equal(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim);
  assert_int_equal(a->vec != NULL, b->vec != NULL);
  if (a->vec) assert_int_equal(a->vec_dim, b->vec_dim);
  if (a->vec) same_tile(f, a->vec, g, b->vec);
}

static inline void same_value(const IrFunc *f, const IrVal *a, const IrFunc *g, const IrVal *b) {
  assert_int_equal(a->kind, b->kind);
  switch (a->kind) {
    case V_NONE:
      break;
    case V_TILE:
      same_tile(f, a->u.tile, g, b->u.tile);
      break;
    case V_REG:
      same_buffer(f, a->u.reg, g, b->u.reg);
      break;
    case V_NUM:
      assert_memory_equal(&a->u.num, &b->u.num, sizeof a->u.num);
      break;
    case V_INT:
      assert_true(a->u.i == b->u.i);
      break;
    case V_IDX:
      assert_int_equal(a->u.idx, b->u.idx);
      break;
    default:
      assert_int_equal(a->n, b->n);
      if (a->kind == V_STR) assert_memory_equal(a->u.str, b->u.str, a->n);
      if (a->kind == V_INTS) assert_memory_equal(a->u.ints, b->u.ints, a->n * sizeof(int64_t));
      if (a->kind == V_PAIRS) assert_memory_equal(a->u.ints, b->u.ints, 2 * a->n * sizeof(int64_t));
      for (uint32_t i = 0; a->kind == V_TILES && i < a->n; i++) same_tile(f, a->u.tiles[i], g, b->u.tiles[i]);
  }
}

static inline void same_function(const IrModule *a, const IrFunc *f, const IrModule *b, const IrFunc *g) {
  assert_int_equal(f->nargs, g->nargs);
  assert_int_equal(f->nrets, g->nrets);
  assert_int_equal(f->nidx, g->nidx);
  assert_int_equal(f->nins, g->nins);
  for (uint32_t i = 0; i < f->nargs; i++) same_buffer(f, i, g, i);
  for (uint32_t i = 0; i < f->nrets; i++) same_buffer(f, f->rets[i], g, g->rets[i]);
  for (uint32_t i = 0; i < f->nins; i++) {
    const IrIns *x = f->ins[i], *y = g->ins[i];
    assert_int_equal(x->op, y->op);
    assert_int_equal(x->nval, y->nval);
    assert_int_equal(x->result, y->result);
    assert_int_equal(x->match, y->match);
    same_string(x->label, y->label);
    same_loc(a, x->loc, b, y->loc);
    if (x->op == CORE_alloc) same_buffer(f, (uint32_t)x->v[0].u.i, g, (uint32_t)y->v[0].u.i);
    for (uint32_t k = 0; x->op != CORE_alloc && k < x->nval; k++) same_value(f, &x->v[k], g, &y->v[k]);
  }
}

static inline void same_module(const IrModule *a, const IrModule *b) {
  assert_string_equal(a->name, b->name);
  assert_int_equal(a->target, b->target);
  assert_int_equal(a->target_is_fallback, b->target_is_fallback);
  assert_int_equal(a->result_is_sequence, b->result_is_sequence);
  assert_int_equal(a->ngrid, b->ngrid);
  assert_memory_equal(a->grid, b->grid, sizeof a->grid);
  assert_int_equal(ir_core_count(a->cores, a->ngrid), ir_core_count(b->cores, b->ngrid));
  for (int64_t i = 0; i < a->nprogram; i++) assert_int_equal(ir_core_of(a, i), ir_core_of(b, i));
  assert_int_equal(a->nprogram, b->nprogram);
  assert_int_equal(a->nfunc, b->nfunc);
  assert_int_equal(a->naliases, b->naliases);
  for (uint32_t i = 0; i < a->naliases; i++) assert_memory_equal(&a->aliases[i], &b->aliases[i], sizeof *a->aliases);
  for (int64_t i = 0; a->nfunc > 1 && i < a->nprogram; i++) assert_int_equal(a->program[i], b->program[i]);
  for (uint32_t i = 0; i < a->nfunc; i++) same_function(a, a->func[i], b, b->func[i]);
}

/* ---- there and back */
static inline IrModule *parse_or_fail(const char *text, size_t n) {
  Diag d;
  diag_init(&d, alloc_std);
  IrModule *m = ir_parse_unverified(alloc_std, text, n, "text", &d);
  if (!m) print_error("%s\n%s\n", diag_message(&d), text);
  assert_non_null(m);
  assert_int_equal(d.id, ERR_none);
  diag_free(&d);
  return m;
}

static inline void assert_round_trip(const IrModule *m) {
  Text once, twice;
  text_init(&once, alloc_std);
  text_init(&twice, alloc_std);
  assert_true(ir_print(m, &once));
  IrModule *back = parse_or_fail(text_str(&once), once.len);
  assert_true(ir_print(back, &twice));
  assert_string_equal(text_str(&once), text_str(&twice));
  same_module(m, back);
  ir_release(back);
  text_free(&once);
  text_free(&twice);
}
#endif
