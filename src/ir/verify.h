/* verify.h -- room ir: private to verify.c, verify_tables.c and cores.c. */
#ifndef NK_VERIFY_H
#define NK_VERIFY_H
#include "ir.h"

bool verify_tables(const IrModule *m, Diag *d);
bool verify_partners(const IrModule *m, Diag *d); /* cores.c; instructions are verified before */
#endif
