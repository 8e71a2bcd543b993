/* checks.h -- check_<op>: what the hardware would refuse of one instruction and no shared rule says. */
#ifndef NK_CHECKS_H
#define NK_CHECKS_H
#include "ir.h"

bool check_dma_copy(const IrCheck *c);
bool check_dma_transpose(const IrCheck *c);
bool check_tensor_copy(const IrCheck *c);
bool check_memset(const IrCheck *c);
bool check_nc_matmul(const IrCheck *c);
bool check_nc_transpose(const IrCheck *c);
bool check_tensor_scalar(const IrCheck *c);
bool check_activation(const IrCheck *c);
bool check_activation_reduce(const IrCheck *c);
bool check_tensor_reduce(const IrCheck *c);
bool check_tensor_partition_reduce(const IrCheck *c);
bool check_bn_stats(const IrCheck *c);
bool check_bn_aggr(const IrCheck *c);
bool check_pattern(const IrCheck *c);
bool check_range_select(const IrCheck *c);
bool check_sim_binary(const IrCheck *c);
#endif
