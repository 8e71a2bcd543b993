/* collective.h -- room sim: private to the simulator: one core's part in a collective of ranks. */
#ifndef NK_SIM_COLLECTIVE_H
#define NK_SIM_COLLECTIVE_H
#include "world.h"

typedef struct Meeting Meeting;
typedef struct Collective { /* one of them */
  const IrVal *srcs, *srcs1, *dsts, *groups, *routes, *ids;
  bool (*make)(Meeting *m);   /* my destinations from all offers */
  bool (*before)(Meeting *m); /* what else is offered; may be NULL */
  bool joins;                 /* make and before also when the core has joined core 0 */
} Collective;

struct Meeting { /* of one core, while the instruction runs */
  Sim *s;
  const Collective *what;
  int core;
  const Meeting
      *first;    /* core 0's, when both bring the same tensors of the rank: then it is one call, and done there */
  int64_t *rank; /* those that take part, in order */
  int64_t n, place, source;
  int64_t room; /* of rank, offer and from */
  Offer *mine;
  const Offer **offer; /* by place; those of its cores */
  Stream *from;        /* by place, and one more: at least two */
  Acc *dst;
  uint32_t ndst;
  void *copy; /* of sources that a destination overlaps */
  size_t copy_size;
};

/* What the same core of the rank at that place brings. */
static inline const Offer *offer_at(const Meeting *m, int64_t place) { return m->offer[place] + m->core; }
bool run_collective(Sim *s, const Collective *what);
/* The memory of two tiles is one that both cores see, and the same elements of it. */
bool same_place(const Acc *a, const Acc *b);
/* n elements from one stream to another; as they are when both store them alike. */
bool pass_on(Sim *s, Stream *to, Stream *from, int64_t n);
#endif
