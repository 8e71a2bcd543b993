/* collective_v.c -- room sim: all_gather_v and all_to_all_v: flat buffers whose lengths are known at run time only. */
#include <stdio.h>
#include <string.h>

#include "collective.h"

/* all_gather_v and all_to_all_v have the same parameters. */
_Static_assert(sizeof(Args_all_gather_v) == sizeof(Args_all_to_all_v), "one layout for both");

/* Row `row` of the counts. */
static IrTile counts_row(const IrTile *t, int row) {
  int d = t->rank - 2;
  IrTile r = *t;
  r.whole = false;
  r.offset += row * t->dim[d].stride;
  r.dim[d].count = 1;
  return r;
}

static bool read_row(Meeting *m, const Args_all_gather_v *a, int row, uint32_t *out) {
  Acc acc;
  Stream st;
  IrTile t = counts_row(a->metadata_tensor.u.tile, row);
  if (row < 2 && m->s->ins->op == OP_all_gather_v) t.dim[t.rank - 1].count = 1; /* one number for all */
  if (!acc_src(m->s, &t, &acc)) return false;
  stream_init(&st, &acc);
  stream_read(&st, acc_count(&acc), out);
  for (int64_t i = acc_count(&acc); i < m->n; i++) out[i] = out[0];
  m->mine->meta[row] = out;
  return true;
}

static bool bad_counts(const Meeting *m, const char *text) {
  return DIAG(m->s->d, rank_counts, op_full_name(m->s->ins), world_rank(m->s), text);
}

static bool check_sends(Meeting *m) {
  int64_t have = acc_count(&m->mine->src[0]);
  char text[160];
  for (int64_t i = 0; i < m->n; i++) {
    int64_t count = m->mine->meta[0][i], at = m->mine->meta[1][i];
    if (count + at <= have || count == 0) continue;
    snprintf(text, sizeof text, "it sends rank %lld %lld elements from element %lld of its src, which has %lld",
             (long long)m->rank[i], (long long)count, (long long)at, (long long)have);
    return bad_counts(m, text);
  }
  return true;
}

/* A core that has joined core 0 has counts of its own, which must be the same. */
static bool same_counts(const Meeting *m) {
  for (int row = 0; row < 4; row++) {
    const uint32_t *mine = m->mine->meta[row], *theirs = m->first->mine->meta[row];
    if (mine && theirs && memcmp(mine, theirs, (size_t)m->n * sizeof *mine) != 0)
      return bad_counts(m, "the counts of its two cores differ, and both bring the same tensors");
  }
  return true;
}

/* Rows 0 and 1 go with the offer, rows 2 and 3 are for this rank. */
static bool offer_counts(Meeting *m) {
  const Args_all_gather_v *a = ARGS(all_gather_v, m->s->ins);
  uint32_t *rows = scratch(m->s, SCR_SRC0, (size_t)(4 * m->n) * sizeof *rows);
  if (!rows || !read_row(m, a, 0, rows) || !read_row(m, a, 1, rows + m->n)) return false;
  if (a->recv_counts_known.u.i && !read_row(m, a, 2, rows + 2 * m->n)) return false;
  if (a->has_rdispls.u.i && !read_row(m, a, 3, rows + 3 * m->n)) return false;
  return m->first ? same_counts(m) : check_sends(m);
}

/* Elements from rank i: how many, where from, where to. */
typedef struct Piece {
  int64_t n, from, to;
} Piece;

static bool find_piece(const Meeting *m, int64_t i, int64_t room, Piece *out) {
  const Offer *o = offer_at(m, i);
  int64_t block = m->mine->meta[3] ? 0 : room / m->n;
  char text[160];
  *out = (Piece){o->meta[0][m->place], o->meta[1][m->place], m->mine->meta[3] ? m->mine->meta[3][i] : i * block};
  if (m->mine->meta[2] && m->mine->meta[2][i] != out->n) {
    snprintf(text, sizeof text, "its recv_counts are known to be %lld from rank %lld, which sends %lld elements",
             (long long)m->mine->meta[2][i], (long long)m->rank[i], (long long)out->n);
    return bad_counts(m, text);
  }
  if (!m->mine->meta[3] && out->n > block) {
    snprintf(text, sizeof text, "rank %lld sends it %lld elements, and a block of dst has %lld", (long long)m->rank[i],
             (long long)out->n, (long long)block);
    return bad_counts(m, text);
  }
  if (out->n && out->to + out->n > room) {
    snprintf(text, sizeof text, "%lld elements from rank %lld go to element %lld of dst, which has %lld",
             (long long)out->n, (long long)m->rank[i], (long long)out->to, (long long)room);
    return bad_counts(m, text);
  }
  return true;
}

/* The tensor is flat, so elements at..at+n are a tile of one run. */
static bool open_piece(Meeting *m, const Piece *p, Acc *dst) {
  IrTile t = *m->what->dsts->u.tiles[0];
  t.whole = false;
  t.offset += p->to;
  t.rank = 1;
  t.dim[0] = (IrDim){1, p->n};
  return acc_dst(m->s, &t, dst);
}

static bool write_counts(Meeting *m, const IrTile *meta) {
  IrTile row = counts_row(meta, 2);
  Acc acc;
  Stream st;
  if (!acc_dst(m->s, &row, &acc)) return false;
  stream_init(&st, &acc);
  for (int64_t i = 0; i < m->n; i++) stream_write(&st, 1, &offer_at(m, i)->meta[0][m->place]);
  return true;
}

/* Core 0 has moved everything; the counts may be in memory of this core. */
static bool write_own_counts(Meeting *m, const Args_all_gather_v *a) {
  const Args_all_gather_v *b = ARGS(all_gather_v, m->first->s->ins);
  Acc mine, theirs;
  if (!acc_resolve(m->s, a->metadata_tensor.u.tile, &mine)) return false;
  if (!acc_resolve(m->first->s, b->metadata_tensor.u.tile, &theirs)) return false;
  return same_place(&mine, &theirs) || write_counts(m, a->metadata_tensor.u.tile);
}

static bool make_pieces(Meeting *m) {
  const Args_all_gather_v *a = ARGS(all_gather_v, m->s->ins);
  if (m->first) return a->recv_counts_known.u.i || write_own_counts(m, a);
  int64_t room = tile_count(m->what->dsts->u.tiles[0]);
  for (int64_t i = 0; i < m->n; i++) {
    Piece p;
    Acc dst;
    Stream to, from;
    if (!find_piece(m, i, room, &p)) return false;
    if (p.n == 0) continue;
    if (!open_piece(m, &p, &dst)) return false;
    stream_init(&from, &offer_at(m, i)->src[0]);
    stream_skip(&from, p.from);
    stream_init(&to, &dst);
    if (!pass_on(m->s, &to, &from, p.n)) return false;
  }
  return a->recv_counts_known.u.i || write_counts(m, a->metadata_tensor.u.tile);
}

static bool run_counted(Sim *s, const Args_all_gather_v *a) {
  const Collective p = {.srcs = &a->srcs,
                        .dsts = &a->dsts,
                        .groups = &a->replica_group,
                        .before = offer_counts,
                        .make = make_pieces,
                        .joins = true};
  return run_collective(s, &p);
}

bool sim_all_gather_v(Sim *s, const Args_all_gather_v *a) { return run_counted(s, a); }
bool sim_all_to_all_v(Sim *s, const Args_all_to_all_v *a) {
  return run_counted(s, (const Args_all_gather_v *)(const void *)a);
}
