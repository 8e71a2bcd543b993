/* grid.c -- framework room: check_grid, what a launch grid may be. */
#include "fw.h"

/* More programs than this is a mistake in the grid, not a launch. */
enum { MAX_PROGRAMS = 1 << 20 };

bool fw_check_grid(const FwRequest *r, bool multi_physical_cores, Diag *d) {
  int64_t programs = 1;
  for (int i = 0; i < r->ngrid; i++) {
    if (r->grid[i] < 1) return DIAG(d, grid, r->func_name, "every dim of a grid is at least 1");
    if (r->grid[i] > MAX_PROGRAMS / programs)
      return DIAG(d, grid, r->func_name, "the grid has more than 1048576 programs");
    programs *= r->grid[i];
  }
  if (multi_physical_cores && target_cores(r->target) < 2)
    return DIAG(d, multi_cores_spmd_not_supported, r->func_name, target_name(r->target), target_cores(r->target));
  return true;
}
