/* uses.h -- room ir: private; the buffers an instruction touches. */
#ifndef NK_USES_H
#define NK_USES_H
#include "ir.h"

/* Calls use() for every tile, vector offset and register of ins; an allocation is no use. */
void ins_each_buf(const IrFunc *f, const IrIns *ins, void (*use)(void *ctx, uint32_t buf), void *ctx);
#endif
