/* pair.h -- spec/sim: programs on two physical cores, for the tests of what they do to each other. */
#ifndef NK_SPEC_SIM_PAIR_H
#define NK_SPEC_SIM_PAIR_H
#include "kit.h"

enum { ROWS = 4, COLS = 32 };

/* Two programs on two cores with one input and one output; body builds the one of program p. */
typedef struct Pair Pair;
struct Pair {
  Kit k;
  float x[ROWS * COLS];
  uint32_t program[4];
  const IrTile *in, *out;
};
typedef void Body(Pair *s, int p);

static inline void pair_programs(Pair *s, Body *body, int n) {
  Kit *k = &s->k;
  kit_open(k, TARGET_trn2);
  for (int i = 0; i < ROWS * COLS; i++) s->x[i] = (float)i;
  IrFunc *first = k->f;
  for (int p = 0; p < n; p++) {
    if (p) k->f = ir_func_new(k->m, "k_1");
    if (p) free(k->out[0].data);
    k->nin = k->nout = 0;
    k->line = 100 * p + 1;
    s->program[p] = (uint32_t)p;
    s->in = kit_in(k, DT_float32, s->x, SHAPE(ROWS, COLS));
    s->out = kit_out(k, DT_float32, SHAPE(ROWS, COLS));
    body(s, p);
  }
  k->f = first;
  k->m->ngrid = 1;
  k->m->grid[0] = k->m->nprogram = n;
  k->m->cores[0] = (IrCores){2, n / 2};
  k->m->program = s->program;
}

static inline void pair_open(Pair *s, Body *body) { pair_programs(s, body, 2); }

static inline const IrTile *row(Pair *s, const IrTile *t, int64_t r) {
  return kit_ap(&s->k, t, r * COLS, PAIRS(COLS, 1, 1, COLS));
}

static inline const IrTile *sbuf_row(Pair *s) { return kit_buf(&s->k, SP_sbuf, DT_float32, SHAPE(1, COLS)); }

/* A row of the input in SBUF. */
static inline const IrTile *loaded(Pair *s, int64_t r) {
  const IrTile *t = sbuf_row(s);
  kit_load(&s->k, t, row(s, s->in, r));
  return t;
}

static inline void barrier(Pair *s) {
  kit_ins(&s->k, OP_core_barrier, "data", T(s->out), "cores", LIST(&s->k, 2, (const int64_t[]){0, 1}), NULL);
}

static inline void exchange(Pair *s, const IrTile *src, const IrTile *dst, int p, int pipe) {
  kit_ins(&s->k, OP_sendrecv, "src", T(src), "dst", T(dst), "send_to_rank", I(1 - p), "recv_from_rank", I(1 - p),
          "pipe_id", I(pipe), NULL);
}

static inline void refused(Pair *s, ErrId id, const char *text) {
  assert_false(kit_run(&s->k));
  if (s->k.d.id != id) fail_msg("%s: %s", err_name(s->k.d.id), diag_message(&s->k.d));
  kit_contains(diag_message(&s->k.d), text);
  kit_close(&s->k);
}
#endif
