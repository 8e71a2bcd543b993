/* clock.h -- room base: time that passes, and what a list of measured times says. */
#ifndef NK_CLOCK_H
#define NK_CLOCK_H
#include <stddef.h>
#include <stdint.h>

int64_t clock_ns(void); /* monotonic; from an arbitrary point */
void clock_sort(double *times, size_t n);
/* The p-th percentile (0..100) of sorted times, between two of them in proportion. n >= 1. */
double clock_percentile(const double *sorted, size_t n, double p);

/* The percentiles of a benchmark, as the classic result objects have them. */
enum { CLOCK_PERCENTILES = 8 };
extern const int clock_percentiles[CLOCK_PERCENTILES];
#endif
