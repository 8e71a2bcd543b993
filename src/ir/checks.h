/* checks.h -- room ir: check_<op>: what the hardware would refuse of one instruction and no shared rule says. */
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
bool check_select_reduce(const IrCheck *c);
bool check_tensor_scalar_reduce(const IrCheck *c);
bool check_tensor_scalar_cumulative(const IrCheck *c);
bool check_exponential(const IrCheck *c);
bool check_activate2(const IrCheck *c);
bool check_max8(const IrCheck *c);
bool check_nc_find_index8(const IrCheck *c);
bool check_nc_match_replace8(const IrCheck *c);
bool check_nc_stream_shuffle(const IrCheck *c);
bool check_local_gather(const IrCheck *c);
bool check_sequence_bounds(const IrCheck *c);
bool check_nonzero_with_count(const IrCheck *c);
bool check_topk(const IrCheck *c);
bool check_dma_compute(const IrCheck *c);
bool check_rng(const IrCheck *c);
bool check_dropout(const IrCheck *c);
bool check_rand_state(const IrCheck *c);
bool check_quantize_mx(const IrCheck *c);
bool check_nc_matmul_mx(const IrCheck *c);
bool check_core_barrier(const IrCheck *c);
bool check_sendrecv(const IrCheck *c);
bool tile_same_shape(const IrTile *a, const IrTile *b);
bool check_all_gather(const IrCheck *c);
bool check_all_gather_v(const IrCheck *c);
bool check_reduce_scatter(const IrCheck *c);
bool check_all_to_all(const IrCheck *c);
bool check_all_to_all_v(const IrCheck *c);
bool check_sim_binary(const IrCheck *c);
#endif
