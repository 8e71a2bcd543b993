/* verify.h -- ir room, private to verify.c and verify_tables.c. */
#ifndef NK_VERIFY_H
#define NK_VERIFY_H
#include "ir.h"

bool verify_tables(const IrModule *m, Diag *d);
#endif
