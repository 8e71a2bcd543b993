/* collective.h -- private to the simulator: one rank's part in a collective of a group. */
#ifndef NK_SIM_COLLECTIVE_H
#define NK_SIM_COLLECTIVE_H
#include "world.h"

typedef struct Meeting { /* of one rank, while its instruction runs */
  Sim *s;
  int64_t *rank; /* those that take part, in order */
  int64_t n, place;
  Offer mine;
  const Offer **offer; /* by place */
  Stream *from;        /* by place, and one more: at least two */
  Acc *dst;
  uint32_t ndst;
  const IrVal *dsts;
  void *copy; /* of sources that a destination overlaps */
  size_t copy_size;
} Meeting;

typedef struct Collective { /* one of them */
  const IrVal *srcs, *srcs1, *dsts, *groups, *ids;
  bool (*make)(Meeting *m);   /* my destinations from all offers */
  bool (*before)(Meeting *m); /* what else is offered; may be NULL */
} Collective;
bool run_group(Sim *s, const Collective *p);
/* n elements from one stream to another; as they are when both store them alike. */
bool pass_on(Sim *s, Stream *to, Stream *from, int64_t n);
#endif
