---@meta nki.collectives
-- Written by `./dev docs`: what editors show. Nothing is run.
local ncc = {}

---Each of dsts = the tensor of srcs that belongs to it, combined element by element over the ranks of the group, in f32 and in the group's order.
---@param srcs nki.Tensor[]
---@param dsts nki.Tensor[]
---@param replica_group any
---@param op any
---@param priority? integer
---@param name? string
---@return nki.Instruction
function ncc.all_reduce(srcs, dsts, replica_group, op, priority, name) end

---Each of dsts = the srcs of the group's ranks one behind the other along collective_dim, in the group's order: 0 in hbm, 0 or 1 in sbuf (2-D).
---@param srcs nki.Tensor[]
---@param dsts nki.Tensor[]
---@param replica_group any
---@param collective_dim integer
---@param priority? integer
---@param name? string
---@return nki.Instruction
function ncc.all_gather(srcs, dsts, replica_group, collective_dim, priority, name) end

---all_gather of flat buffers with a length for each rank. Row 0 of metadata_tensor: elements to send, row 1: where in the src they begin (first column counts), row 2: elements received from each rank, written unless recv_counts_known. Rank i of the group fills dst from i * (elements of dst / 4) on. metadata_tensor is (rows, 4) in hbm or (1, rows, 4) in sbuf. Groups of 4 ranks, of two physical cores each; has_rdispls is not supported.
---@param srcs nki.Tensor[]
---@param dsts nki.Tensor[]
---@param replica_group any
---@param metadata_tensor nki.Tensor
---@param recv_counts_known? boolean
---@param has_rdispls? boolean
---@param priority? integer
---@param name? string
---@return nki.Instruction
function ncc.all_gather_v(srcs, dsts, replica_group, metadata_tensor, recv_counts_known, has_rdispls, priority, name) end

---srcs combined as by all_reduce; rank i of a group of n keeps slice i of n along dimension 0. collective_dim is 0.
---@param srcs nki.Tensor[]
---@param dsts nki.Tensor[]
---@param replica_group any
---@param collective_dim integer
---@param op any
---@param priority? integer
---@param name? string
---@return nki.Instruction
function ncc.reduce_scatter(srcs, dsts, replica_group, collective_dim, op, priority, name) end

---srcs in n slices along dimension 0, slice i to rank i of the group of n; dsts = the received slices, in the group's order. collective_dim is 0.
---@param srcs nki.Tensor[]
---@param dsts nki.Tensor[]
---@param replica_group any
---@param collective_dim integer
---@param priority? integer
---@param name? string
---@return nki.Instruction
function ncc.all_to_all(srcs, dsts, replica_group, collective_dim, priority, name) end

---all_to_all of flat buffers with a length for each pair of ranks. A column of metadata_tensor for each rank of the group of n: row 0 elements to send to it, row 1 where in the src they begin, row 2 elements received from it (written unless recv_counts_known), row 3 where in dst they go (has_rdispls; else to i * (elements of dst / n) from rank i). metadata_tensor is (rows, n) in hbm or (1, rows, n) in sbuf.
---@param srcs nki.Tensor[]
---@param dsts nki.Tensor[]
---@param replica_group any
---@param metadata_tensor nki.Tensor
---@param recv_counts_known? boolean
---@param has_rdispls? boolean
---@param priority? integer
---@param name? string
---@return nki.Instruction
function ncc.all_to_all_v(srcs, dsts, replica_group, metadata_tensor, recv_counts_known, has_rdispls, priority, name) end

---dst of each target = src of its source. A rank that is the target of no pair keeps its dst.
---@param srcs nki.Tensor[]
---@param dsts nki.Tensor[]
---@param source_target_pairs any
---@param priority? integer
---@param name? string
---@return nki.Instruction
function ncc.collective_permute(srcs, dsts, source_target_pairs, priority, name) end

---On each channel dst = src of the rank before this one in its group, a ring. One tensor for each channel; channel_ids are {0} when absent. At most 4 channels when one group has all ranks, else 2.
---@param srcs_by_channel any
---@param dsts_by_channel any
---@param replica_group any
---@param channel_ids? integer[]
---@param priority? integer
---@param name? string
---@return nki.Instruction
function ncc.collective_permute_implicit(srcs_by_channel, dsts_by_channel, replica_group, channel_ids, priority, name) end

---collective_permute_implicit of src0 op src1, which is computed in f32.
---@param srcs0_by_channel any
---@param srcs1_by_channel any
---@param dsts_by_channel any
---@param replica_group any
---@param op any
---@param channel_ids? integer[]
---@param priority? integer
---@param name? string
---@return nki.Instruction
function ncc.collective_permute_implicit_reduce(srcs0_by_channel, srcs1_by_channel, dsts_by_channel, replica_group, op, channel_ids, priority, name) end

---A register with the rank whose data this one holds at step iteration_id of a ring: 0 its own rank, then those before it in its group. All ones on a rank that is in no group. All channels take the ring in the group's order.
---@param iteration_id integer
---@param replica_group any
---@param channel_id? integer
---@param name? string
---@return any
function ncc.collective_permute_implicit_current_processing_rank_id(iteration_id, replica_group, channel_id, name) end

---A register with the rank that runs this.
---@param name? string
---@return any
function ncc.rank_id(name) end

---Disjoint groups of ranks, compared by value; a list of lists will do where one is asked for.
---ncc.ReplicaGroup({{rank, ...}, ...})
---@return any
function ncc.ReplicaGroup(...) end

return ncc
