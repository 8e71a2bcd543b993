/* clock.c -- room base: time that passes, and what a list of measured times says. */
#include "clock.h"

#include <stdlib.h>
#include <time.h>

const int clock_percentiles[CLOCK_PERCENTILES] = {0, 1, 10, 25, 50, 90, 99, 100};

int64_t clock_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

void clock_sort(double *times, size_t n) { qsort(times, n, sizeof *times, compare); }

double clock_percentile(const double *sorted, size_t n, double p) {
  double at = p / 100 * (double)(n - 1);
  size_t i = (size_t)at;
  if (i + 1 >= n) return sorted[n - 1];
  return sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]);
}
