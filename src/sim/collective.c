/* collective.c -- room sim: what ranks exchange. A rank offers its sources, waits for the others of its group, makes
   its own destinations from all offers in the group's order, and waits until nobody reads its sources any more. The
   physical cores of a rank do so together: what core c brings goes to core c of the others, and tensors of the rank
   that both bring are exchanged once. */
#include <stdio.h>
#include <string.h>

#include "collective.h"

/* ---- memory ------------------------------------------------------------------------------------------------------ */
static bool no_memory(Sim *s) { return DIAG0(s->d, nomem); }

static bool take_ranks(Meeting *m, int64_t n) {
  m->room = n;
  m->rank = alloc_new(&m->s->alloc, (size_t)n * sizeof *m->rank);
  m->offer = alloc_new(&m->s->alloc, (size_t)n * sizeof *m->offer);
  m->from = alloc_new(&m->s->alloc, (size_t)(n + 1) * sizeof *m->from);
  return (m->rank && m->offer && m->from) || no_memory(m->s);
}

static bool take_tensors(Meeting *m) {
  const Collective *p = m->what;
  m->mine->nsrc = p->srcs->n + (p->srcs1 ? p->srcs1->n : 0);
  m->ndst = p->dsts->n;
  m->mine->src = alloc_new(&m->s->alloc, m->mine->nsrc * sizeof *m->mine->src + 1);
  m->dst = alloc_new(&m->s->alloc, m->ndst * sizeof *m->dst + 1);
  return (m->mine->src && m->dst) || no_memory(m->s);
}

static void give(Meeting *m) {
  Alloc *a = &m->s->alloc;
  alloc_free(a, m->rank, (size_t)m->room * sizeof *m->rank);
  alloc_free(a, m->offer, (size_t)m->room * sizeof *m->offer);
  alloc_free(a, m->from, (size_t)(m->room + 1) * sizeof *m->from);
  alloc_free(a, m->mine->src, m->mine->nsrc * sizeof *m->mine->src + 1);
  alloc_free(a, m->dst, m->ndst * sizeof *m->dst + 1);
  alloc_free(a, m->copy, m->copy_size);
}

/* ---- who takes part ---------------------------------------------------------------------------------------------- */
static bool in_world(Sim *s, const char *param, int64_t rank) {
  int n = world_ranks(s);
  char last[16] = "";
  if (rank < n) return true;
  if (n > 1) snprintf(last, sizeof last, "..%d", n - 1);
  return DIAG(s->d, rank_outside, op_full_name(s->ins), param, (long long)rank, n,
              n > 1 ? last : " alone (the option ranks makes more)");
}

static bool groups_in_world(Sim *s, const IrVal *groups) {
  const int64_t *g = groups->u.ints;
  for (uint32_t k = 0; k < groups->n; k++, g += 1 + *g)
    for (int64_t i = 1; i <= *g; i++)
      if (!in_world(s, "replica_group", g[i])) return false;
  return true;
}

/* More than two channels need a group of all ranks; the check cannot know how many there are. */
static bool channels_in_world(Sim *s, const IrVal *ids, const IrVal *groups) {
  char text[128];
  if (ids->kind != V_INTS || ids->n <= 2 || *groups->u.ints == world_ranks(s)) return true;
  snprintf(text, sizeof text, "%u channels; a group of %lld of the run's %d ranks has at most 2", ids->n,
           (long long)*groups->u.ints, world_ranks(s));
  return DIAG(s->d, channel, "ncc", op_info[s->ins->op].name, text);
}

static int64_t place_of(const Meeting *m, int64_t rank) {
  int64_t k = 0;
  while (k < m->n && m->rank[k] != rank) k++;
  return k;
}

static bool find_group(Meeting *m) {
  const Collective *p = m->what;
  int64_t size;
  if (!groups_in_world(m->s, p->groups)) return false;
  const int64_t *g = ir_group_of(p->groups, world_rank(m->s), &size, &m->place);
  if (!g) return true;
  if ((p->ids && !channels_in_world(m->s, p->ids, p->groups)) || !take_ranks(m, size)) return false;
  memcpy(m->rank, g, (size_t)size * sizeof *g);
  m->n = size;
  return true;
}

/* The ranks of all pairs, each once, in order of their first naming; this one may be in none. */
static bool find_routes(Meeting *m) {
  const IrVal *routes = m->what->routes;
  int64_t me = world_rank(m->s);
  if (!take_ranks(m, 2 * (int64_t)routes->n)) return false;
  for (uint32_t k = 0; k < 2 * routes->n; k++) {
    if (!in_world(m->s, "source_target_pairs", routes->u.ints[k])) return false;
    if (place_of(m, routes->u.ints[k]) < m->n) continue;
    m->rank[m->n++] = routes->u.ints[k];
  }
  m->place = place_of(m, me);
  m->source = -1;
  for (uint32_t k = 0; k < routes->n; k++)
    if (routes->u.ints[2 * k + 1] == me) m->source = place_of(m, routes->u.ints[2 * k]);
  if (m->place == m->n) m->n = 0;
  return true;
}

/* ---- sources and destinations ------------------------------------------------------------------------------------ */
static bool add_sources(Meeting *m, const IrVal *list, uint32_t at) {
  for (uint32_t k = 0; k < list->n; k++)
    if (!acc_src(m->s, list->u.tiles[k], &m->mine->src[at + k])) return false;
  return true;
}

static bool touches_dst(Meeting *m, const Acc *src, bool *touches) {
  *touches = false;
  for (uint32_t k = 0; k < m->ndst; k++) {
    Acc dst;
    if (!acc_inout(m->s, m->what->dsts->u.tiles[k], &dst)) return false;
    *touches = *touches || dst.mem == src->mem;
  }
  return true;
}

/* Reads precede writes: sources in memory that a destination has too are copied, to one run each. */
static bool guard_sources(Meeting *m) {
  size_t room = 0, at = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t k = 0; k < m->mine->nsrc; k++) {
      Acc *a = &m->mine->src[k];
      bool touches;
      if (!touches_dst(m, a, &touches)) return false;
      if (!touches) continue;
      size_t bytes = ((size_t)(acc_count(a) * a->bytes) + 15) / 16 * 16;
      if (pass == 0) {
        room += bytes;
        continue;
      }
      Stream st;
      stream_init(&st, a);
      a->p = (char *)m->copy + at;
      stream_read(&st, acc_count(a), a->p);
      a->free = acc_count(a);
      a->parts = a->nf = 1;
      a->f[0] = (IrDim){1, a->free};
      at += bytes;
    }
    if (pass == 1 || room == 0) return true;
    m->copy = alloc_new(&m->s->alloc, room);
    m->copy_size = room;
    if (!m->copy) return no_memory(m->s);
  }
  return true;
}

static bool open_dsts(Meeting *m) {
  for (uint32_t k = 0; k < m->ndst; k++)
    if (!acc_dst(m->s, m->what->dsts->u.tiles[k], &m->dst[k])) return false;
  return true;
}

/* ---- cores of a rank --------------------------------------------------------------------------------------------- */
bool same_place(const Acc *a, const Acc *b) {
  if (!a->mem->keep || a->mem->ir != b->mem->ir || a->dt != b->dt || a->tile->vec || b->tile->vec) return false;
  if (a->off != b->off || a->parts != b->parts || a->pstride != b->pstride || a->nf != b->nf) return false;
  for (int k = 0; k < a->nf; k++)
    if (a->f[k].stride != b->f[k].stride || a->f[k].count != b->f[k].count) return false;
  return true;
}

static bool same_tensors(const Meeting *m, const IrVal *mine, const Meeting *other, const IrVal *theirs, bool *same) {
  *same = *same && mine->n == theirs->n;
  for (uint32_t k = 0; *same && k < mine->n; k++) {
    Acc a, b;
    if (!acc_resolve(m->s, mine->u.tiles[k], &a) || !acc_resolve(other->s, theirs->u.tiles[k], &b)) return false;
    *same = same_place(&a, &b);
  }
  return true;
}

static bool join_first(Meeting *m, const Meeting *first) {
  const Collective *p = m->what, *q = first->what;
  bool same = true;
  if (!same_tensors(m, p->srcs, first, q->srcs, &same) || !same_tensors(m, p->dsts, first, q->dsts, &same))
    return false;
  if (p->srcs1 && !same_tensors(m, p->srcs1, first, q->srcs1, &same)) return false;
  m->first = same ? first : NULL;
  m->mine->joined = same;
  return true;
}

/* All that can be done before the other ranks have come. */
static bool prepare(Meeting *m, const Meeting *first) {
  const Collective *p = m->what;
  m->mine->ins = m->s->ins;
  m->mine->program = m->s->program;
  if (!(p->routes ? find_routes(m) : find_group(m))) return false;
  if (m->n == 0) return true; /* no part in it */
  if (first && !join_first(m, first)) return false;
  if (!m->first && !(take_tensors(m) && add_sources(m, p->srcs, 0))) return false;
  if (!m->first && !((!p->srcs1 || add_sources(m, p->srcs1, p->srcs->n)) && guard_sources(m))) return false;
  return !p->before || (m->first && !p->joins) || p->before(m);
}

static bool make(Meeting *m, const Meeting *first) {
  if (m != first) memcpy(m->offer, first->offer, (size_t)m->n * sizeof *m->offer);
  return (m->first && !m->what->joins) || m->what->make(m);
}

/* A MeetFn. All cores are in the same lists, so all of them take part or none. */
static bool exchange(Sim *const *s, int ncores) {
  Meeting m[SIM_CORES] = {{0}};
  Offer mine[SIM_CORES] = {{0}};
  bool ok = true;
  int n = 0;
  for (; ok && n < ncores; n++) {
    m[n] = (Meeting){.s = s[n], .what = s[n]->brought, .core = n, .mine = &mine[n]};
    ok = prepare(&m[n], n ? &m[0] : NULL);
  }
  bool part = ok && m[0].n > 0;
  ok = ok && (!part || world_meet(s[0], m[0].rank, m[0].n, mine, m[0].offer));
  if (ok && part) {
    for (int k = 0; ok && k < ncores; k++) ok = make(&m[k], &m[0]);
    world_leave(s[0]);
  }
  for (int k = 0; k < n; k++) give(&m[k]);
  return ok;
}

bool run_collective(Sim *s, const Collective *what) { return cores_meet(s, (void *)(uintptr_t)what, exchange); }

/* ---- arithmetic -------------------------------------------------------------------------------------------------- */
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

bool pass_on(Sim *s, Stream *to, Stream *from, int64_t n) {
  float *block = scratch(s, SCR_TMP, BLOCK * sizeof(float));
  if (!block) return false;
  for (int64_t k; n > 0; n -= k) {
    k = least(n, BLOCK);
    if (to->dt == from->dt) {
      stream_read(from, k, block);
      stream_write(to, k, block);
    } else {
      stream_load(from, k, block);
      stream_store(to, k, block);
    }
  }
  return true;
}

/* n elements: those of the first streams of `from` combined in order, in f32. */
static bool combine(const Meeting *m, Alu op, Stream *to, int64_t streams, int64_t n) {
  Sim *s = m->s;
  Stream *from = m->from;
  float *sum = scratch(s, SCR_DST, BLOCK * sizeof(float)), *next = scratch(s, SCR_TMP, BLOCK * sizeof(float));
  if (!sum || !next) return false;
  for (int64_t k; n > 0; n -= k) {
    k = least(n, BLOCK);
    stream_load(&from[0], k, sum);
    for (int64_t i = 1; i < streams; i++) {
      stream_load(&from[i], k, next);
      vm_binary(alu_vm(op), sum, next, sum, k);
    }
    stream_store(to, k, sum);
  }
  return true;
}

/* Streams over source k of every rank, `skip` elements in. */
static void from_all(Meeting *m, uint32_t k, int64_t skip) {
  for (int64_t i = 0; i < m->n; i++) {
    stream_init(&m->from[i], &offer_at(m, i)->src[k]);
    if (skip) stream_skip(&m->from[i], skip);
  }
}

/* ---- collectives of a group -------------------------------------------------------------------------------------- */
static bool make_reduced(Meeting *m, Alu op, bool scatter) {
  if (!open_dsts(m)) return false;
  for (uint32_t k = 0; k < m->ndst; k++) {
    Stream to;
    int64_t n = acc_count(&m->dst[k]);
    stream_init(&to, &m->dst[k]);
    from_all(m, k, scatter ? m->place * n : 0);
    if (!combine(m, op, &to, m->n, n)) return false;
  }
  return true;
}

static bool make_all_reduce(Meeting *m) { return make_reduced(m, (Alu)ARGS(all_reduce, m->s->ins)->op.u.i, false); }
static bool make_reduce_scatter(Meeting *m) {
  return make_reduced(m, (Alu)ARGS(reduce_scatter, m->s->ins)->op.u.i, true);
}

bool sim_all_reduce(Sim *s, const Args_all_reduce *a) {
  const Collective p = {.srcs = &a->srcs, .dsts = &a->dsts, .groups = &a->replica_group, .make = make_all_reduce};
  return run_collective(s, &p);
}

bool sim_reduce_scatter(Sim *s, const Args_reduce_scatter *a) {
  const Collective p = {.srcs = &a->srcs, .dsts = &a->dsts, .groups = &a->replica_group, .make = make_reduce_scatter};
  return run_collective(s, &p);
}

static bool make_all_gather(Meeting *m) {
  const Args_all_gather *a = ARGS(all_gather, m->s->ins);
  if (!open_dsts(m)) return false;
  for (uint32_t k = 0; k < m->ndst; k++) {
    Stream to;
    int64_t inner = acc_count(&m->mine->src[k]), outer = a->collective_dim.u.i ? a->srcs.u.tiles[k]->dim[0].count : 1;
    stream_init(&to, &m->dst[k]);
    from_all(m, k, 0);
    for (int64_t o = 0; o < outer; o++)
      for (int64_t i = 0; i < m->n; i++)
        if (!pass_on(m->s, &to, &m->from[i], inner / outer)) return false;
  }
  return true;
}

bool sim_all_gather(Sim *s, const Args_all_gather *a) {
  const Collective p = {.srcs = &a->srcs, .dsts = &a->dsts, .groups = &a->replica_group, .make = make_all_gather};
  return run_collective(s, &p);
}

static bool make_all_to_all(Meeting *m) {
  if (!open_dsts(m)) return false;
  for (uint32_t k = 0; k < m->ndst; k++) {
    Stream to;
    int64_t slice = acc_count(&m->dst[k]) / m->n;
    stream_init(&to, &m->dst[k]);
    from_all(m, k, m->place * slice);
    for (int64_t i = 0; i < m->n; i++)
      if (!pass_on(m->s, &to, &m->from[i], slice)) return false;
  }
  return true;
}

bool sim_all_to_all(Sim *s, const Args_all_to_all *a) {
  const Collective p = {.srcs = &a->srcs, .dsts = &a->dsts, .groups = &a->replica_group, .make = make_all_to_all};
  return run_collective(s, &p);
}

/* ---- permutes ---------------------------------------------------------------------------------------------------- */
static bool make_routed(Meeting *m) {
  Stream to, from;
  if (m->source < 0) return true;
  if (!open_dsts(m)) return false;
  stream_init(&to, &m->dst[0]);
  stream_init(&from, &offer_at(m, m->source)->src[0]);
  return pass_on(m->s, &to, &from, acc_count(&m->dst[0]));
}

bool sim_collective_permute(Sim *s, const Args_collective_permute *a) {
  const Collective p = {.srcs = &a->srcs, .dsts = &a->dsts, .routes = &a->source_target_pairs, .make = make_routed};
  return run_collective(s, &p);
}

static const Offer *before_me(const Meeting *m) { return offer_at(m, (m->place + m->n - 1) % m->n); }

static bool make_ring(Meeting *m) {
  if (!open_dsts(m)) return false;
  for (uint32_t k = 0; k < m->ndst; k++) {
    Stream to, from;
    stream_init(&to, &m->dst[k]);
    stream_init(&from, &before_me(m)->src[k]);
    if (!pass_on(m->s, &to, &from, acc_count(&m->dst[k]))) return false;
  }
  return true;
}

bool sim_collective_permute_implicit(Sim *s, const Args_collective_permute_implicit *a) {
  const Collective p = {.srcs = &a->srcs_by_channel,
                        .dsts = &a->dsts_by_channel,
                        .groups = &a->replica_group,
                        .ids = &a->channel_ids,
                        .make = make_ring};
  return run_collective(s, &p);
}

static bool make_ring_reduced(Meeting *m) {
  Alu op = (Alu)ARGS(collective_permute_implicit_reduce, m->s->ins)->op.u.i;
  if (!open_dsts(m)) return false;
  for (uint32_t k = 0; k < m->ndst; k++) {
    Stream to;
    stream_init(&to, &m->dst[k]);
    stream_init(&m->from[0], &before_me(m)->src[k]);
    stream_init(&m->from[1], &before_me(m)->src[m->ndst + k]);
    if (!combine(m, op, &to, 2, acc_count(&m->dst[k]))) return false;
  }
  return true;
}

bool sim_collective_permute_implicit_reduce(Sim *s, const Args_collective_permute_implicit_reduce *a) {
  const Collective p = {.srcs = &a->srcs0_by_channel,
                        .srcs1 = &a->srcs1_by_channel,
                        .dsts = &a->dsts_by_channel,
                        .groups = &a->replica_group,
                        .ids = &a->channel_ids,
                        .make = make_ring_reduced};
  return run_collective(s, &p);
}

/* ---- numbers of ranks -------------------------------------------------------------------------------------------- */
bool sim_rank_id(Sim *s, const Args_rank_id *a) {
  s->buf[a->dst.u.reg].reg = world_rank(s);
  s->buf[a->dst.u.reg].set = true;
  return true;
}

bool sim_collective_permute_implicit_current_processing_rank_id(
    Sim *s, const Args_collective_permute_implicit_current_processing_rank_id *a) {
  int64_t size, place, rank = -1;
  if (!groups_in_world(s, &a->replica_group)) return false;
  const int64_t *g = ir_group_of(&a->replica_group, world_rank(s), &size, &place);
  if (g) rank = g[(place + size - a->iteration_id.u.i % size) % size];
  s->buf[a->dst.u.reg].reg = rank;
  s->buf[a->dst.u.reg].set = true;
  return true;
}
