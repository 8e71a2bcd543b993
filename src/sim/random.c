/* random.c -- room sim: random numbers of the Vector and GpSimd engines: one generator per lane. docs/semantics.md
 * describes them. */
#include "random.h"

#include <string.h>

#include "exec.h"

enum { GPSIMD_WORDS = 6, VECTOR_WORDS = 24 };

typedef struct Rng {
  uint32_t gpsimd[LANES][GPSIMD_WORDS];
  uint32_t vector[LANES][VECTOR_WORDS]; /* gen2 and gen3 use the first word only */
} Rng;

static void seed_lanes(uint32_t *word, int64_t n, uint64_t seed) {
  for (int64_t k = 0; k < n; k++) {
    word[k] = (uint32_t)(random_bits(seed, (uint64_t)k) >> 32);
    if (word[k] == 0) word[k] = 1; /* a shift register of zeros stays there */
  }
}

/* The generators of this program; they begin as after seed 0. */
static Rng *generators(Sim *s) {
  Rng *r = scratch(s, SCR_RNG, sizeof *r);
  if (!r || s->seeded) return r;
  seed_lanes(r->vector[0], LANES * VECTOR_WORDS, 0);
  seed_lanes(r->gpsimd[0], LANES * GPSIMD_WORDS, UINT64_C(1) << 32);
  s->seeded = true;
  return r;
}

/* Marsaglia's xorwow: five words of shift register and a counter. Every step-th word of out. */
static void xorwow(uint32_t st[GPSIMD_WORDS], uint32_t *out, int64_t n, int64_t step) {
  uint32_t x = st[0], y = st[1], z = st[2], w = st[3], v = st[4], d = st[5];
  for (int64_t i = 0; i < n; i += step) {
    uint32_t t = x ^ x >> 2;
    x = y, y = z, z = w, w = v;
    v ^= v << 4 ^ t ^ t << 1;
    d += 362437;
    out[i] = d + v;
  }
  st[0] = x, st[1] = y, st[2] = z, st[3] = w, st[4] = v, st[5] = d;
}

/* Marsaglia's xorshift, a linear feedback shift register of period 2^32 - 1. */
static void xorshift(uint32_t *st, uint32_t *out, int64_t n) {
  uint32_t x = *st;
  for (int64_t i = 0; i < n; i++) {
    x ^= x << 13;
    x ^= x >> 17;
    out[i] = x ^= x << 5;
  }
  *st = x;
}

typedef struct Draw {
  Rng *rng;
  bool gpsimd;
  Gen gen;
} Draw;

static void draw(const Draw *d, int64_t lane, uint32_t *out, int64_t n) {
  uint32_t *vec = d->rng->vector[lane];
  if (d->gpsimd) {
    xorwow(d->rng->gpsimd[lane], out, n, 1);
  } else if (d->gen >= gen4) {
    for (int k = 0; k < 4; k++) xorwow(vec + (ptrdiff_t)k * GPSIMD_WORDS, out + k, n - k, 4);
  } else {
    xorshift(vec, out, n);
  }
}

static bool draw_open(Sim *s, Draw *d) {
  *d = (Draw){generators(s), ir_engine(s->f, s->ins) == engine_gpsimd, s->gen};
  return d->rng != NULL;
}

/* [0, 1) in steps of 2^-24 */
static void unit(const uint32_t *word, float *out, int64_t n) {
  for (int64_t i = 0; i < n; i++) out[i] = (float)(word[i] >> 8) * 0x1p-24f;
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */
bool sim_set_rng_seed(Sim *s, const Args_set_rng_seed *a) {
  Acc x;
  uint32_t seed;
  Rng *r = generators(s);
  if (!r || !acc_src(s, a->src_seeds.u.tile, &x)) return false;
  memcpy(&seed, x.p, sizeof seed);
  seed_lanes(r->vector[0], LANES * VECTOR_WORDS, seed);
  return true;
}

/* The words as elements of so many bytes, one behind the other. */
static void low_bits(uint32_t *word, int bytes, int64_t n) {
  if (bytes == 4) return;
  char *to = (char *)word;
  for (int64_t i = 0; i < n; i++) memmove(to + i * bytes, &word[i], (size_t)bytes); /* little endian */
}

bool sim_rng(Sim *s, const Args_rng *a) {
  Acc dst;
  Draw d;
  if (!acc_dst(s, a->dst.u.tile, &dst) || !draw_open(s, &d)) return false;
  int lane = acc_lane(s, &dst);
  uint32_t *word = scratch(s, SCR_SRC0, (size_t)dst.free * 4);
  if (!word) return false;
  for (int64_t p = 0; p < dst.parts; p++) {
    Stream st;
    draw(&d, lane + p, word, dst.free);
    low_bits(word, dst.bytes, dst.free);
    stream_row(&st, &dst, p);
    stream_write(&st, dst.free, word);
  }
  return true;
}

bool sim_rand2(Sim *s, const Args_rand2 *a) {
  Acc dst;
  Draw d;
  Column lo, hi;
  if (!column_load(s, &a->min, 0, &lo) || !column_load(s, &a->max, 0, &hi) || !acc_dst(s, a->dst.u.tile, &dst) ||
      !draw_open(s, &d))
    return false;
  int lane = acc_lane(s, &dst);
  uint32_t *word = scratch(s, SCR_SRC0, (size_t)dst.free * 4);
  float *v = scratch(s, SCR_DST, (size_t)dst.free * sizeof(float));
  if (!word || !v) return false;
  for (int64_t p = 0; p < dst.parts; p++) {
    float from = column_at(&lo, p);
    draw(&d, lane + p, word, dst.free);
    unit(word, v, dst.free);
    vm_binary_s(VM_multiply, v, vm_op(VM_subtract, column_at(&hi, p), from), v, dst.free);
    vm_binary_s(VM_add, v, from, v, dst.free);
    row_store(&dst, p, v);
  }
  return true;
}

bool sim_dropout(Sim *s, const Args_dropout *a) {
  Acc x, dst;
  Draw d;
  Column prob;
  if (!acc_src(s, a->data.u.tile, &x) || !column_load(s, &a->prob, 0, &prob) || !acc_dst(s, a->dst.u.tile, &dst) ||
      !acc_guard(s, SCR_SNAP0, &x, &dst, true) || !draw_open(s, &d))
    return false;
  int lane = acc_lane(s, &x);
  uint32_t *word = scratch(s, SCR_SRC0, (size_t)x.free * 4);
  char *row = scratch(s, SCR_SRC1, (size_t)x.free * 4);
  float *u = scratch(s, SCR_DST, (size_t)x.free * sizeof(float));
  uint8_t *drop = scratch(s, SCR_SRC2, (size_t)x.free);
  if (!word || !row || !u || !drop) return false;
  Acc kept = x;
  kept.p = row;
  kept.parts = 1;
  kept.nf = x.free > 1;
  kept.f[0] = (IrDim){1, x.free};
  for (int64_t p = 0; p < x.parts; p++) {
    float limit = column_at(&prob, p);
    Stream in;
    draw(&d, lane + p, word, x.free);
    unit(word, u, x.free);
    stream_row(&in, &x, p);
    stream_read(&in, x.free, row);
    for (int64_t i = 0; i < x.free; i++) drop[i] = !(u[i] >= limit);
    take_elems(&(Take){drop, &(uint32_t){0}, true, x.bytes}, row, x.free);
    Acc out = acc_part(&dst, p);
    if (!copy_tile(s, &out, &kept)) return false;
  }
  return true;
}

bool sim_rand_set_state(Sim *s, const Args_rand_set_state *a) {
  Acc x;
  Draw d;
  if (!acc_src(s, a->src_seeds.u.tile, &x) || !draw_open(s, &d)) return false;
  int lane = acc_lane(s, &x);
  for (int64_t p = 0; p < x.parts; p++) {
    Stream st;
    stream_row(&st, &x, p);
    stream_read(&st, x.free, d.gpsimd ? d.rng->gpsimd[lane + p] : d.rng->vector[lane + p]);
  }
  return true;
}

bool sim_rand_get_state(Sim *s, const Args_rand_get_state *a) {
  Acc dst;
  Draw d;
  if (!acc_dst(s, a->dst.u.tile, &dst) || !draw_open(s, &d)) return false;
  int lane = acc_lane(s, &dst);
  for (int64_t p = 0; p < dst.parts; p++) {
    Stream st;
    stream_row(&st, &dst, p);
    stream_write(&st, dst.free, d.gpsimd ? d.rng->gpsimd[lane + p] : d.rng->vector[lane + p]);
  }
  return true;
}
