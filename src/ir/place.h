/* place.h -- room ir: private to place.c and place_say.c. */
#ifndef NK_PLACE_H
#define NK_PLACE_H
#include "ir.h"

typedef struct Slot {
  IrBuf *buf;
  uint32_t first, last; /* alive at these instructions and between */
  int32_t part, parts;
  int64_t byte, bytes;
  bool fixed; /* address= was given */
  bool psum;
} Slot;

typedef struct Place {
  IrModule *m;
  IrFunc *f;
  Diag *d;
  Slot **slot;    /* buffers of the space at hand, by allocation */
  Slot **scratch; /* as many */
  uint32_t n, nfixed;
  int64_t capacity;
  bool psum;
} Place;

/* Most bytes per partition in use at one time if nothing were lost between buffers; *at: instruction of that peak. */
int64_t place_peak(const Place *p, uint32_t *at);
bool place_failed(const Place *p, const Slot *stuck);             /* fills p->d */
bool place_overlap(const Place *p, const Slot *a, const Slot *b); /* fills p->d */
#endif
