/* world.h -- room sim: private to the simulator: the ranks of one run and where they meet. Each rank is a run of its
   own on its own threads. What it computes depends on the meetings alone, so scheduling cannot change a result or an
   error. */
#ifndef NK_SIM_WORLD_H
#define NK_SIM_WORLD_H
#include "exec.h"

/* What a physical core of a rank brings to a collective; the others read it until all have left. */
typedef struct Offer {
  const IrIns *ins;
  int64_t program;
  Acc *src; /* one after the other, of all lists of sources */
  uint32_t nsrc;
  bool joined;             /* to core 0's, whose tensors it has too: it brings nothing more */
  const uint32_t *meta[4]; /* rows of the counts; NULL where there is none */
} Offer;

/* Why two instructions are not one collective, or NULL. cores: of one rank, whose groups must be the same. */
const char *calls_differ(const IrIns *a, const IrIns *b, bool cores);

/* 1 and 0 when the run has no other ranks. */
int world_ranks(const Sim *s);
int world_rank(const Sim *s);
/* Waits until every rank of the list has come here with the same list; the own rank is in it. mine: an offer for each
   core of the rank. offers, by place in the list, are then lent until world_leave, which must follow. False: they will
   never come, or what they brought does not fit; s->d is filled on one of the ranks. */
bool world_meet(Sim *s, const int64_t *ranks, int64_t n, const Offer *mine, const Offer **offers);
void world_ended(Sim *s); /* at the end of the run of a rank */
void world_leave(Sim *s); /* waits until all have left */
#endif
