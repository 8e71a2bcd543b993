/* grid.c -- room framework: check_grid, what a launch grid may be. */
#include <stdlib.h>
#include <string.h>

#include "fw.h"

/* More programs than this is a mistake in the grid, not a launch. */
enum { MAX_PROGRAMS = 1 << 20 };

bool fw_check_grid(const FwRequest *r, Diag *d) {
  int64_t programs = 1;
  for (int i = 0; i < r->ngrid; i++) {
    if (r->grid[i] < 1) return DIAG(d, grid, r->func_name, "every dim of a grid is at least 1");
    if (r->grid[i] > MAX_PROGRAMS / programs)
      return DIAG(d, grid, r->func_name, "the grid has more than 1048576 programs");
    programs *= r->grid[i];
  }
  return ir_check_cores(r->func_name, r->target, (IrGrid){r->ngrid, r->grid, r->cores}, d);
}

bool fw_check_logical_cores(const IrModule *m, Diag *d) {
  const char *set = getenv("NEURON_LOGICAL_NC_CONFIG");
  int64_t n = ir_core_count(m->cores, m->ngrid);
  if (!set || !*set) return true;
  if (strcmp(set, "1") != 0 && strcmp(set, "2") != 0)
    return DIAG(d, env_value, "NEURON_LOGICAL_NC_CONFIG", set, "1 or 2");
  return n < 2 || n == *set - '0' || DIAG(d, logical_nc_config, m->name, (long long)n, set);
}
