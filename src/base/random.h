/* random.h -- room base: numbers for test data: the same bytes on every machine, thread and order of calls (counter
 * based). */
#ifndef NK_RANDOM_H
#define NK_RANDOM_H
#include <stddef.h>
#include <stdint.h>

/* 64 mixed bits of element i of a stream (SplitMix64 of seed and i). */
uint64_t random_bits(uint64_t seed, uint64_t i);
/* [0, 1), a multiple of 2^-53. */
double random_uniform(uint64_t seed, uint64_t i);
/* Standard normal by Marsaglia's polar method on draws of a sub-stream of element i. */
double random_normal(uint64_t seed, uint64_t i);
/* The seed mixed with a name, so that two parameters filled with one seed differ. */
uint64_t random_seed_named(uint64_t seed, const char *name, size_t n);
#endif
