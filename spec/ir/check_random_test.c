/* check_random_test.c -- spec/ir: any values in any instruction are judged without a crash; a refusal names the
   instruction, and the same instruction is judged the same way twice. Worth most under the sanitizers. */
#include <math.h>

#include "support.h"

enum { ROUNDS = 60000, BUFS = 14 };

static uint64_t seed = 1234567;
static int64_t rnd(int64_t n) {
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return (int64_t)((seed >> 11) % (uint64_t)n);
}

static int64_t odd_int(void) {
  static const int64_t list[] = {0, 1, -1, 2, 3, 127, 128, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, 1 << 20};
  return rnd(3) ? rnd(8) : list[rnd(sizeof list / sizeof *list)];
}

static double odd_number(void) {
  static const double list[] = {0, -0.0, 1, 0.5, 1e300, -1e300, 0x1p-127, 3};
  if (rnd(10) == 0) return rnd(2) ? (double)NAN : (double)INFINITY;
  return list[rnd(sizeof list / sizeof *list)];
}

typedef struct World {
  Fix x;
  IrBuf *buf[BUFS], *reg;
  int64_t usual; /* the tensor that this instruction has most often */
} World;

static const IrTile *some_tile(World *w) {
  const IrTile *t = whole(&w->x, w->buf[rnd(2) ? w->usual : rnd(BUFS)]);
  if (rnd(3)) return t;
  IrTile *r = ir_tile_new(w->x.m);
  *r = *t;
  r->whole = false;
  switch (rnd(8)) {
    case 7: /* as view_indirect makes it, with a fault or without one */
      r->rank = rnd(5) ? 2 : 3;
      r->dim[1] = (IrDim){rnd(9) == 0, rnd(9) ? 4 : odd_int()};
      r->vec = whole(&w->x, w->buf[rnd(BUFS)]);
      r->vec_dim = rnd(9) != 0;
      r->dyn_max = rnd(9) ? 3 : odd_int();
      break;
    case 0:
      r->offset = odd_int();
      break;
    case 1:
      r->dim[rnd(r->rank)].count = odd_int();
      break;
    case 2:
      r->dim[rnd(r->rank)].stride = odd_int();
      break;
    case 3:
      r->dyn = (uint32_t)rnd(4), r->dyn_max = odd_int();
      break;
    case 4:
      r->vec = whole(&w->x, w->buf[rnd(BUFS)]);
      break;
    case 5:
      r->rank = (uint8_t)rnd(IR_MAX_RANK + 1);
      break;
    default:
      r->buf = rnd(20) ? (uint32_t)rnd(BUFS) : 999;
      break;
  }
  return r;
}

static IrVal some_value(World *w) {
  int64_t *list = arena_newn(&w->x.m->arena, int64_t, 10);
  const IrTile **tiles = arena_newn(&w->x.m->arena, const IrTile *, 3);
  for (int i = 0; i < 10; i++) list[i] = odd_int();
  for (int i = 0; i < 3; i++) tiles[i] = some_tile(w);
  switch (rnd(12)) {
    case 0:
      return NONE;
    case 1:
      return VN(odd_number());
    case 2:
      return VI(odd_int());
    case 3:
      return (IrVal){V_INTS, (uint32_t)rnd(10), {.ints = list}};
    case 4:
      return (IrVal){V_PAIRS, (uint32_t)rnd(6), {.ints = list}};
    case 5:
      return (IrVal){V_TILES, (uint32_t)rnd(4), {.tiles = tiles}};
    case 6:
      return (IrVal){V_REG, 0, {.reg = rnd(3) ? w->reg->id : (uint32_t)rnd(1000)}};
    case 7:
      return (IrVal){V_IDX, 0, {.idx = (uint32_t)rnd(5)}};
    case 8:
      return (IrVal){V_STR, 2, {.str = "ab"}};
    default:
      return VT(some_tile(w));
  }
}

static IrVal some_tiles(World *w, uint32_t n) {
  const IrTile **list = arena_newn(&w->x.m->arena, const IrTile *, n + 1);
  for (uint32_t i = 0; i < n; i++) list[i] = some_tile(w);
  return (IrVal){V_TILES, n, {.tiles = list}};
}

/* Mostly of the right kind, so that the checks behind the kinds are reached. */
static IrVal value_for(World *w, const IrParam *p) {
  if (rnd(12) == 0) return some_value(w);
  if (!p->required && rnd(2)) return p->def;
  int64_t *list = arena_newn(&w->x.m->arena, int64_t, 10);
  for (int i = 0; i < 10; i++) list[i] = odd_int();
  switch (p->kind) {
    case K_number:
      return VN(odd_number());
    case K_number_or_column:
    case K_number_or_tile:
      return rnd(2) ? VN(odd_number()) : VT(some_tile(w));
    case K_alu:
      return VI(rnd(ALU_count + 1));
    case K_act:
      return VI(rnd(ACT_count + 1));
    case K_enum:
      return VI(rnd(7));
    case K_flag:
    case K_tristate:
      return VI(rnd(2));
    case K_int:
      return VI(odd_int());
    case K_ints:
      return (IrVal){V_INTS, (uint32_t)rnd(4), {.ints = list}};
    case K_int_or_ints:
      return rnd(2) ? VI(odd_int()) : (IrVal){V_INTS, (uint32_t)rnd(4), {.ints = list}};
    case K_groups:
      list[0] = 2;
      list[3] = rnd(4);
      return (IrVal){V_LISTS, (uint32_t)rnd(3), {.ints = list}};
    case K_tiles:
    case K_channels:
      return some_tiles(w, (uint32_t)rnd(4));
    case K_pairs:
    case K_routes:
      return (IrVal){V_PAIRS, (uint32_t)rnd(5), {.ints = list}};
    case K_reg:
    case K_int_or_reg:
      return (IrVal){V_REG, 0, {.reg = w->reg->id}};
    case K_str:
      return (IrVal){V_STR, 2, {.str = "ab"}};
    default:
      return VT(some_tile(w));
  }
}

static void open_world(World *w, Target t) {
  Fix *x = &w->x;
  fix_open(x, t);
  IrBuf *b[BUFS] = {SBUF(x, float32, "a", 128, 512),
                    SBUF(x, float32, "b", 128, 512),
                    SBUF(x, bfloat16, "c", 64, 8),
                    SBUF(x, int32, "d", 32, 1),
                    SBUF(x, float8_e4m3, "e", 32, 2, 32),
                    PSUM(x, float32, "f", 32, 32),
                    PSUM(x, float32, "g", 128, 512),
                    HBM(x, float32, "h", 128, 512),
                    HBM(x, int8, "i", 7),
                    SBUF(x, float32, "col", 128, 1),
                    SBUF(x, int32, "j", 128, 512),
                    SBUF(x, uint8, "k", 2, 2, 2, 2, 2, 2, 2, 2),
                    SBUF(x, float32, "six", 128, 6),
                    NEW_BUF(x, BUF_CONST, SP_shared_hbm, DT_float32, "l", SHAPE(128, 512))};
  memcpy(w->buf, b, sizeof b);
  IrBufSpec spec = {.kind = BUF_ALLOC, .space = SP_reg, .dtype = DT_int32, .name = "reg"};
  w->reg = ir_buf_new(x->m, x->f, &spec);
}

static IrIns *append(World *w, Op op, const IrVal *v) {
  return ir_append(w->x.m, w->x.f, op, v, (uint32_t)op_info[op].nparams);
}

/* One of the tensors of shape 128,512 for another. */
static const IrTile *twin_of(World *w, const IrTile *t) {
  static const int twins[] = {0, 1, 6, 10}; /* two alike, one in PSUM, one of integers */
  for (int i = 0; i < 4; i++)
    if (t == whole(&w->x, w->buf[twins[i]])) return whole(&w->x, w->buf[twins[rnd(4)]]);
  return t;
}

/* Whatever counts as alike to an accepted instruction must be accepted; returns how often other tensors did. */
static int alike_is_accepted(World *w, const IrIns *ins) {
  int alike = 0;
  for (int round = 0; round < 8; round++) {
    IrVal v[32];
    bool other = false;
    for (int k = 0; k < ins->nval; k++) {
      v[k] = rnd(20) ? ins->v[k] : value_for(w, &op_info[ins->op].params[k]);
      if (v[k].kind != V_TILE) continue;
      v[k].u.tile = twin_of(w, v[k].u.tile);
      other |= v[k].u.tile != ins->v[k].u.tile;
    }
    const IrIns *next = append(w, (Op)ins->op, v);
    if (!ir_ins_alike(w->x.f, ins, next)) continue;
    assert_true(ir_check_ins(w->x.m, w->x.f, next, &w->x.d));
    alike += other;
  }
  return alike;
}

static void any_instruction_is_judged(void **state) {
  (void)state;
  int accepted = 0, alike = 0;
  for (int target = 0; target < 3; target++) {
    World w;
    open_world(&w, (const Target[]){TARGET_trn1, TARGET_trn2, TARGET_trn3}[target]);
    for (int i = 0; i < ROUNDS; i++) {
      ArenaMark mark = arena_mark(&w.x.m->arena);
      Op op = (Op)(1 + rnd(OP_count - 1));
      IrVal v[32];
      w.usual = rnd(BUFS);
      for (int k = 0; k < op_info[op].nparams; k++) v[k] = value_for(&w, &op_info[op].params[k]);
      uint32_t cap = w.x.f->capins, n = w.x.f->nins;
      IrIns **list = w.x.f->ins;
      IrIns *ins = append(&w, op, v);
      diag_clear(&w.x.d);
      bool ok = ir_check_ins(w.x.m, w.x.f, ins, &w.x.d);
      if (ok) assert_int_equal(w.x.d.id, ERR_none);
      if (!ok) assert_int_not_equal(w.x.d.id, ERR_none);
      if (!ok && !strstr(diag_message(&w.x.d), op_info[op].name) && w.x.d.id != ERR_view_vector_column)
        fail_msg("'%s' does not name %s", diag_message(&w.x.d), op_info[op].name);
      diag_clear(&w.x.d);
      assert_true(ir_check_ins(w.x.m, w.x.f, ins, &w.x.d) == ok);
      accepted += ok;
      if (ok) alike += alike_is_accepted(&w, ins);
      w.x.f->capins = cap, w.x.f->nins = n, w.x.f->ins = list;
      arena_rewind(&w.x.m->arena, mark);
    }
    fix_close(&w.x);
  }
  assert_true(accepted > 300);
  assert_true(alike > 30);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(any_instruction_is_judged)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
