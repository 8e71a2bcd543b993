/* fuzz_ir.c -- IR text: anything is a module or one error, and a module reads back as it was printed. */
#include <stdlib.h>

#include "text_ir.h"

static void check_again(const IrModule *m) {
  Text once, twice;
  Diag d;
  diag_init(&d, alloc_std);
  text_init(&once, alloc_std);
  text_init(&twice, alloc_std);
  if (!ir_print(m, &once)) abort();
  IrModule *back = ir_parse_unverified(alloc_std, text_str(&once), once.len, "printed", &d);
  if (!back || !ir_print(back, &twice)) abort();
  if (once.len != twice.len || memcmp(text_str(&once), text_str(&twice), once.len) != 0) abort();
  ir_release(back);
  text_free(&once);
  text_free(&twice);
  diag_free(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Diag d;
  diag_init(&d, alloc_std);
  IrModule *m = ir_parse_unverified(alloc_std, (const char *)data, size, "fuzz", &d);
  if ((m != NULL) != (d.id == ERR_none) || d.id == ERR_internal) abort();
  if (m) check_again(m);
  if (m && ir_verify(m, &d) && ir_place(m, &d)) ir_mac_count(m);
  ir_release(m);
  diag_free(&d);
  return 0;
}
