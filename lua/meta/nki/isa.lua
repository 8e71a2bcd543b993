---@meta nki.isa
-- Written by `./dev docs`: what editors show. Nothing is run.
local nisa = {}

---dst = src between HBM and SBUF, element by element in row-major order of each view; another dtype converts through f32. A view with a vector offset gathers (src) or scatters (dst) rows: SBUF (P,1) integer indices, one per row.
---@param dst nki.Tensor
---@param src nki.Tensor
---@param priority? integer
---@param oob_mode? any
---@param dge_mode? any
---@param engine? any
---@param name? string
---@return nki.Instruction
function nisa.dma_copy(dst, src, priority, oob_mode, dge_mode, engine, name) end

---dst = src with axes permuted: 2-D (1,0), 3-D (2,1,0), 4-D (3,1,2,0). dst in SBUF with exactly the permuted shape. From gen3 on src may have a run-time offset, and rows of 2-byte elements in HBM may be picked by a vector offset: uint32 indices (P,1), or (128,K) read column by column; their number and P are multiples of 16.
---@param dst nki.Tensor
---@param src nki.Tensor
---@param axes? integer[]
---@param priority? integer
---@param dge_mode? any
---@param oob_mode? any
---@param name? string
---@return nki.Instruction
function nisa.dma_transpose(dst, src, axes, priority, dge_mode, oob_mode, name) end

---dst = sum of 1 to 16 srcs in f32, converted on write; the tensors have the same number of elements. With a src of HBM rows picked by a vector offset there are two srcs: dst is that same view (each picked row += the other src's partition), or is in SBUF.
---@param dst nki.Tensor
---@param srcs nki.Tensor[]
---@param reduce_op any
---@param scales? integer[]
---@param unique_indices? boolean
---@param oob_mode? any
---@param name? string
---@return nki.Instruction
function nisa.dma_compute(dst, srcs, reduce_op, scales, unique_indices, oob_mode, name) end

---Waits until both physical cores have reached their next core_barrier; what either has written to shared_hbm before it, the other one sees behind it. data is a shared_hbm tensor, cores is {0, 1}; no data is moved.
---@param data nki.Tensor
---@param cores integer[]
---@param engine? any
---@param name? string
---@return nki.Instruction
function nisa.core_barrier(data, cores, engine, name) end

---Waits for the other physical core's sendrecv with this pipe_id; then dst = the other one's src, and the other one's dst = src. src and dst have one shape and dtype. With dma_engine.gpsimd_dma at most 256 elements per partition of 8, 16 or 32 bits.
---@param src nki.Tensor
---@param dst nki.Tensor
---@param send_to_rank integer
---@param recv_from_rank integer
---@param pipe_id integer
---@param dma_engine? any
---@param name? string
---@return nki.Instruction
function nisa.sendrecv(src, dst, send_to_rank, recv_from_rank, pipe_id, dma_engine, name) end

---dst = src on chip; bit exact when the dtypes are equal (except on the Scalar engine of gen2, which is not available), else through f32.
---@param dst nki.Tensor
---@param src nki.Tensor
---@param engine? any
---@param name? string
---@return nki.Instruction
function nisa.tensor_copy(dst, src, engine, name) end

---dst = value everywhere. An integer tile takes an integral value in range; packed x4 tiles take 0 only.
---@param dst nki.Tensor
---@param value number
---@param engine? any
---@param name? string
---@return nki.Instruction
function nisa.memset(dst, value, engine, name) end

---dst = src where predicate is nonzero (reverse_pred: where it is zero); elsewhere dst keeps its value. src is a tile or a number.
---@param dst nki.Tensor
---@param src number|nki.Tensor
---@param predicate nki.Tensor
---@param reverse_pred? boolean
---@param name? string
---@return nki.Instruction
function nisa.tensor_copy_predicated(dst, src, predicate, reverse_pred, name) end

---dst[m,n] (+)= sum over partitions k of stationary[k,m] * moving[k,n], in f32. K, M <= 128, N <= 512 (gen4: a whole PSUM partition). accumulate: true adds, false overwrites, absent: the first write to a location overwrites, later ones add.
---@param dst nki.Tensor
---@param stationary nki.Tensor
---@param moving nki.Tensor
---@param is_stationary_onezero? boolean
---@param is_moving_onezero? boolean
---@param is_transpose? boolean
---@param accumulate? boolean
---@param tile_position? integer[]
---@param tile_size? integer[]
---@param perf_mode? any
---@param name? string
---@return nki.Instruction
function nisa.nc_matmul(dst, stationary, moving, is_stationary_onezero, is_moving_onezero, is_transpose, accumulate, tile_position, tile_size, perf_mode, name) end

---dst[m,n] (+)= sum over partitions k and elements q < 4 of stationary[k,m].q * moving[k,n].q, each times its scale, in f32. Partition k has its scales at partition k div 32 * 32 + k mod 32 div 8 of the scale tile, one for each container; a scale tile may start at partition 0, 4, 8 or 12 of any 32. K 32, 64, 96 or 128; M even, at most 128; N up to a PSUM partition. accumulate as in nc_matmul.
---@param dst nki.Tensor
---@param stationary nki.Tensor
---@param moving nki.Tensor
---@param stationary_scale nki.Tensor
---@param moving_scale nki.Tensor
---@param tile_position? integer[]
---@param tile_size? integer[]
---@param accumulate? boolean
---@param name? string
---@return nki.Instruction
function nisa.nc_matmul_mx(dst, stationary, moving, stationary_scale, moving_scale, tile_position, tile_size, accumulate, name) end

---dst[f,p] = data[p,f], free axes of data flattened. Tensor engine: at most 128x128, SBUF to PSUM. Vector engine: at most 32x32, SBUF or PSUM.
---@param dst nki.Tensor
---@param data nki.Tensor
---@param engine? any
---@param name? string
---@return nki.Instruction
function nisa.nc_transpose(dst, data, engine, name) end

---dst = data1 op data2 in f32 (int32 and uint32 tiles on GpSimd: exact integers). No broadcasting.
---@param dst nki.Tensor
---@param data1 nki.Tensor
---@param data2 nki.Tensor
---@param op any
---@param engine? any
---@param name? string
---@return nki.Instruction
function nisa.tensor_tensor(dst, data1, data2, op, engine, name) end

---t = data op0 operand0 (reverse0: operand0 op0 data); dst = t op1 operand1 (reverse1 swaps). Operands are numbers or (P,1) f32 tiles.
---@param dst nki.Tensor
---@param data nki.Tensor
---@param op0 any
---@param operand0? number|nki.Tensor
---@param reverse0? boolean
---@param op1? any
---@param operand1? number|nki.Tensor
---@param reverse1? boolean
---@param engine? any
---@param name? string
---@return nki.Instruction
function nisa.tensor_scalar(dst, data, op0, operand0, reverse0, op1, operand1, reverse1, engine, name) end

---dst = (data op0 operand0) op1 operand1: operand0 a number or (P,1) tile, operand1 a full-size tile. reverse0 and reverse1 swap. Arithmetic only.
---@param dst nki.Tensor
---@param data nki.Tensor
---@param op0 any
---@param operand0 number|nki.Tensor
---@param op1 any
---@param operand1 nki.Tensor
---@param reverse0? boolean
---@param reverse1? boolean
---@param name? string
---@return nki.Instruction
function nisa.scalar_tensor_tensor(dst, data, op0, operand0, op1, operand1, reverse0, reverse1, name) end

---dst = 1 / data in f32, exact division.
---@param dst nki.Tensor
---@param data nki.Tensor
---@param name? string
---@return nki.Instruction
function nisa.reciprocal(dst, data, name) end

---Each 8 partitions by 4 elements of src share a scale X = 2^(floor(log2 max|src|) - 7) (float8_e5m2_x4: - 14), at least 2^-127; dst = src / X rounded to nearest even, four elements to a container, and dst_scale = X in the layout of nc_matmul_mx. P a multiple of 32.
---@param dst nki.Tensor
---@param src nki.Tensor
---@param dst_scale nki.Tensor
---@param name? string
---@return nki.Instruction
function nisa.quantize_mx(dst, src, dst_scale, name) end

---dst = op(data * scale + bias) in f32. bias: (P,1) tile (gen3+: or a number); scale: number or (P,1) f32 tile. With reduce_op add the f32 results of each partition are added into the lane's accumulator register as reduce_cmd says; reduce_res (P,1) receives it.
---@param dst nki.Tensor
---@param op any
---@param data nki.Tensor
---@param bias? number|nki.Tensor
---@param scale? number|nki.Tensor
---@param reduce_op? any
---@param reduce_res? nki.Tensor
---@param reduce_cmd? any
---@param name? string
---@return nki.Instruction
function nisa.activation(dst, op, data, bias, scale, reduce_op, reduce_res, reduce_cmd, name) end

---activation whose accumulator starts at 0 and is read out: reduce_res = sum over the partition of op(data * scale + bias).
---@param dst nki.Tensor
---@param op any
---@param data nki.Tensor
---@param reduce_op any
---@param reduce_res nki.Tensor
---@param bias? number|nki.Tensor
---@param scale? number|nki.Tensor
---@param name? string
---@return nki.Instruction
function nisa.activation_reduce(dst, op, data, reduce_op, reduce_res, bias, scale, name) end

---dst = op((data op0 imm0) op1 imm1) in f32; reverse0 and reverse1 swap. (op0, op1): (multiply, add), (multiply, subtract), or one of multiply, add, subtract, bypass before bypass; a bypassed operand is 0. relu_param is prelu's slope. reduce_op folds the f32 results of each partition into the lane's accumulator as reduce_cmd says; reduce_res (P,1) receives it.
---@param dst nki.Tensor
---@param op any
---@param data nki.Tensor
---@param imm0 number|nki.Tensor
---@param imm1 number|nki.Tensor
---@param op0 any
---@param op1 any
---@param relu_param? number|nki.Tensor
---@param reverse0? boolean
---@param reverse1? boolean
---@param reduce_op? any
---@param reduce_res? nki.Tensor
---@param reduce_cmd? any
---@param name? string
---@return nki.Instruction
function nisa.activate2(dst, op, data, imm0, imm1, op0, op1, relu_param, reverse0, reverse1, reduce_op, reduce_res, reduce_cmd, name) end

---dst = data reduced by op over the trailing free axes `axis` (an axis or a list, 0 never), in f32; negate multiplies an arithmetic result by -1.
---@param dst nki.Tensor
---@param op any
---@param data nki.Tensor
---@param axis any
---@param negate? boolean
---@param keepdims? boolean
---@param name? string
---@return nki.Instruction
function nisa.tensor_reduce(dst, op, data, axis, negate, keepdims, name) end

---dst[0,f] = data[p,f] reduced over the partitions p.
---@param dst nki.Tensor
---@param op any
---@param data nki.Tensor
---@param name? string
---@return nki.Instruction
function nisa.tensor_partition_reduce(dst, op, data, name) end

---r[i] = (data0[i] op0 r[i-1]) op1 data1[i] along the free elements, r[-1] = initial; the carry is f32, each r[i] is converted on write. reverse0 and reverse1 swap the operands.
---@param dst nki.Tensor
---@param data0 nki.Tensor
---@param data1 nki.Tensor
---@param initial number|nki.Tensor
---@param op0 any
---@param op1 any
---@param reverse0? boolean
---@param reverse1? boolean
---@param name? string
---@return nki.Instruction
function nisa.tensor_tensor_scan(dst, data0, data1, initial, op0, op1, reverse0, reverse1, name) end

---dst = data op0 operand0 in f32; the f32 results of each partition are folded by reduce_op into the lane's accumulator as reduce_cmd says (load_reduce starts from reduce_init); reduce_res (P,1) receives it, reduce_res_negate: times -1.
---@param dst nki.Tensor
---@param data nki.Tensor
---@param op0 any
---@param operand0 number|nki.Tensor
---@param reduce_op any
---@param reduce_res? nki.Tensor
---@param reverse0? boolean
---@param reduce_cmd? any
---@param reduce_init? number|nki.Tensor
---@param reduce_res_negate? boolean
---@param name? string
---@return nki.Instruction
function nisa.tensor_scalar_reduce(dst, data, op0, operand0, reduce_op, reduce_res, reverse0, reduce_cmd, reduce_init, reduce_res_negate, name) end

---r = (src[i] op0 imm0) op1 r along the free elements, dst[i] = r; f32, each r is converted on write. r starts at op1's identity (reset_reduce), at the lane's accumulator (reduce) or at imm1 (load_reduce), and stays in the accumulator.
---@param dst nki.Tensor
---@param src nki.Tensor
---@param op0 any
---@param op1 any
---@param imm0 number|nki.Tensor
---@param imm1? number|nki.Tensor
---@param reduce_cmd? any
---@param name? string
---@return nki.Instruction
function nisa.tensor_scalar_cumulative(dst, src, op0, op1, imm0, imm1, reduce_cmd, name) end

---dst = exp(src - max_value) in f32. The f32 results of each partition are added into the lane's accumulator as reduce_cmd says (load_reduce starts from reduce_init); reduce_res (P,1) receives it.
---@param dst nki.Tensor
---@param src nki.Tensor
---@param max_value? number|nki.Tensor
---@param reduce_res? nki.Tensor
---@param reduce_cmd? any
---@param reduce_init? number|nki.Tensor
---@param name? string
---@return nki.Instruction
function nisa.exponential(dst, src, max_value, reduce_res, reduce_cmd, reduce_init, name) end

---dst (P,6) = count, mean, count*variance of the even elements of each partition, then of the odd ones. At most 512 elements per partition.
---@param dst nki.Tensor
---@param data nki.Tensor
---@param name? string
---@return nki.Instruction
function nisa.bn_stats(dst, data, name) end

---dst (P,2) = mean and population variance of the merged (count, mean, count*variance) triples of data; elements per partition a multiple of 3.
---@param dst nki.Tensor
---@param data nki.Tensor
---@param name? string
---@return nki.Instruction
function nisa.bn_aggr(dst, data, name) end

---dst[p,w,z,y,x] = offset + p*channel_multiplier + w*sw + z*sz + y*sy + x*sx in int32, then converted. pattern: up to four [step, num], slowest first.
---@param dst nki.Tensor
---@param pattern integer[][]
---@param offset? integer
---@param channel_multiplier? integer
---@param name? string
---@return nki.Instruction
function nisa.iota(dst, pattern, offset, channel_multiplier, name) end

---v = the affine value of iota; dst = on_true_tile where v cmp_op 0, else on_false_value.
---@param dst nki.Tensor
---@param pattern integer[][]
---@param channel_multiplier integer
---@param on_true_tile nki.Tensor
---@param on_false_value number
---@param cmp_op? any
---@param offset? integer
---@param name? string
---@return nki.Instruction
function nisa.affine_select(dst, pattern, channel_multiplier, on_true_tile, on_false_value, cmp_op, offset, name) end

---i = range_start + index along the free elements; dst = on_true_tile where (i comp_op0 bound0) and (i comp_op1 bound1), else on_false_value, which must be -3.4028235e38. With reduce_op maximum the f32 results are folded into the lane's accumulator; reduce_res (P,1) receives it.
---@param dst nki.Tensor
---@param on_true_tile nki.Tensor
---@param comp_op0 any
---@param comp_op1 any
---@param bound0 nki.Tensor
---@param bound1 nki.Tensor
---@param reduce_cmd? any
---@param reduce_res? nki.Tensor
---@param reduce_op? any
---@param range_start? number
---@param on_false_value? number
---@param name? string
---@return nki.Instruction
function nisa.range_select(dst, on_true_tile, comp_op0, comp_op1, bound0, bound1, reduce_cmd, reduce_res, reduce_op, range_start, on_false_value, name) end

---dst = on_true where predicate is nonzero (reverse_pred: where it is zero), else on_false, in f32. With reduce_op maximum the f32 results are folded into the lane's accumulator as reduce_cmd says; reduce_res (P,1) receives it.
---@param dst nki.Tensor
---@param predicate nki.Tensor
---@param on_true nki.Tensor
---@param on_false number|nki.Tensor
---@param reduce_res? nki.Tensor
---@param reduce_cmd? any
---@param reduce_op? any
---@param reverse_pred? boolean
---@param name? string
---@return nki.Instruction
function nisa.select_reduce(dst, predicate, on_true, on_false, reduce_res, reduce_cmd, reduce_op, reverse_pred, name) end

---dst (P,8) = the eight largest elements of each partition, descending, in f32; equal ones count separately. 8 to 16384 elements per partition.
---@param dst nki.Tensor
---@param src nki.Tensor
---@param name? string
---@return nki.Instruction
function nisa.max8(dst, src, name) end

---dst (P,8) = index of the first element of data's partition that equals each of vals (P,8), as f32; equal vals take successive elements; all ones where there is none. 8 to 16384 elements per partition.
---@param dst nki.Tensor
---@param data nki.Tensor
---@param vals nki.Tensor
---@param name? string
---@return nki.Instruction
function nisa.nc_find_index8(dst, data, vals, name) end

---dst = data with imm in place of one element for each of vals (P,8): from the last value to the first, the first equal element that none has taken. dst_idx (P,8) receives the indices, all ones where there is none. 8 to 16384 elements per partition.
---@param dst nki.Tensor
---@param data nki.Tensor
---@param vals nki.Tensor
---@param imm number
---@param dst_idx? nki.Tensor
---@param name? string
---@return nki.Instruction
function nisa.nc_match_replace8(dst, data, vals, imm, dst_idx, name) end

---Within each 32 partitions, partition i of dst = partition shuffle_mask[i] of src; 255 leaves it as it was. 32 entries, 0..31 or 255.
---@param dst nki.Tensor
---@param src nki.Tensor
---@param shuffle_mask integer[]
---@param name? string
---@return nki.Instruction
function nisa.nc_stream_shuffle(dst, src, shuffle_mask, name) end

---dst[p,i] = data[p, indices[p,i]]: indices count the free elements of data's partition, and the run stops at one outside.
---@param dst nki.Tensor
---@param data nki.Tensor
---@param indices nki.Tensor
---@param name? string
---@return nki.Instruction
function nisa.nc_n_gather(dst, data, indices, name) end

---In each 16 partitions, with L = their elements of index, column by column: dst[p, j*e+t] = src_buffer[p, L[j]+t] for the first num_valid_indices (default: all) j and t < e = num_elem_per_idx. dst has num_valid_indices*e elements per partition.
---@param dst nki.Tensor
---@param src_buffer nki.Tensor
---@param index nki.Tensor
---@param num_elem_per_idx? integer
---@param num_valid_indices? integer
---@param name? string
---@return nki.Instruction
function nisa.local_gather(dst, src_buffer, index, num_elem_per_idx, num_valid_indices, name) end

---For n ids in one partition dst (1,2,n) = start of the run of equal ids around each, then one past its end; n and -1 where the id is 0.
---@param dst nki.Tensor
---@param segment_ids nki.Tensor
---@param name? string
---@return nki.Instruction
function nisa.sequence_bounds(dst, segment_ids, name) end

---In partitions 0, 16, 32 ... of dst (P,T+1): index + index_offset of each nonzero of src (P,T) in order, padding_val up to element T, which is their number. Other partitions are neither read nor written.
---@param dst nki.Tensor
---@param src nki.Tensor
---@param index_offset? integer
---@param padding_val? integer
---@param name? string
---@return nki.Instruction
function nisa.nonzero_with_count(dst, src, index_offset, padding_val, name) end

---In each 16 partitions, whose element e is src[e mod 16, e div 16]: every partition of val_dst (P,K) = the K largest of the first n elements, ascending, and of idx_dst their numbers e. Of equal elements the first counts as larger.
---@param val_dst nki.Tensor
---@param idx_dst nki.Tensor
---@param src nki.Tensor
---@param n integer
---@param name? string
---@return nki.Instruction
function nisa.topk(val_dst, idx_dst, src, n, name) end

---Seeds the Vector engine's generators of all lanes with the 32 bits of src_seeds (1,1): the same seed gives the same numbers.
---@param src_seeds nki.Tensor
---@param name? string
---@return nki.Instruction
function nisa.set_rng_seed(src_seeds, name) end

---dst = 32 random bits per element; narrower elements keep the low ones. Engine gpsimd from gen3 on.
---@param dst nki.Tensor
---@param engine? any
---@param name? string
---@return nki.Instruction
function nisa.rng(dst, engine, name) end

---dst = min + u * (max - min) in f32, u a random multiple of 2^-24 in [0, 1).
---@param dst nki.Tensor
---@param min number|nki.Tensor
---@param max number|nki.Tensor
---@param name? string
---@return nki.Instruction
function nisa.rand2(dst, min, max, name) end

---dst = data, with each element zeroed with probability prob (0: none, 1: all); what is kept is not scaled.
---@param dst nki.Tensor
---@param data nki.Tensor
---@param prob number|nki.Tensor
---@param name? string
---@return nki.Instruction
function nisa.dropout(dst, data, prob, name) end

---The generators of the lanes of src_seeds = its words: (P,6) for engine gpsimd, (P,24), four states of 6, for engine vector (gen4).
---@param src_seeds nki.Tensor
---@param engine? any
---@param name? string
---@return nki.Instruction
function nisa.rand_set_state(src_seeds, engine, name) end

---dst = the state of its lanes' generators, laid out as for rand_set_state. In PSUM for engine vector only.
---@param dst nki.Tensor
---@param engine? any
---@param name? string
---@return nki.Instruction
function nisa.rand_get_state(dst, engine, name) end

---dst = an integer or another register. Loop variables are frozen and cannot be written.
---@param dst any
---@param src any
---@param name? string
---@return nki.Instruction
function nisa.register_move(dst, src, name) end

---dst = the one element of src (at most 32 bits); of a float32 its bits.
---@param dst any
---@param src nki.Tensor
---@param name? string
---@return nki.Instruction
function nisa.register_load(dst, src, name) end

---the one element of dst = the register's low bits, also of a float32.
---@param dst nki.Tensor
---@param src any
---@param name? string
---@return nki.Instruction
function nisa.register_store(dst, src, name) end

---The engines.
---@type any
nisa.engine = nil

---nisa.engine.tensor
---@type any
nisa.tensor_engine = nil

---nisa.engine.vector
---@type any
nisa.vector_engine = nil

---nisa.engine.scalar
---@type any
nisa.scalar_engine = nil

---nisa.engine.gpsimd
---@type any
nisa.gpsimd_engine = nil

---nisa.engine.unknown: the engine is chosen.
---@type any
nisa.unknown_engine = nil

---What an instruction does with the accumulators it reduces into.
---@type any
nisa.reduce_cmd = nil

---Who makes the descriptors of a DMA; it changes no result.
---@type any
nisa.dge_mode = nil

---What a DMA does with run-time rows out of range: an error, or they are left out.
---@type any
nisa.oob_mode = nil

---Modes of the Tensor engine.
---@type any
nisa.matmul_perf_mode = nil

---Generations, as nisa.get_nc_version gives them; value is the number.
---@type any
nisa.nc_version = nil

---Who moves the data of nisa.sendrecv.
---@type any
nisa.dma_engine = nil

---Classic: the field min is the least float32.
---@type any
nisa.fp32 = nil

---A register, with the value x, an integer, when it is given.
---nisa.register_alloc([x])
---@return any
function nisa.register_alloc(...) end

---The target's generation, a member of nisa.nc_version.
---nisa.get_nc_version()
---@return any
function nisa.get_nc_version(...) end

---The silicon revision of the target: 0, the first of its generation.
---nisa.get_nc_sub_version()
---@return any
function nisa.get_nc_sub_version(...) end

---Classic: a copy of a view at an offset that is known at run time; see docs/porting.md.
---nisa.tensor_copy_dynamic_src(src, ...)
---@return any
function nisa.tensor_copy_dynamic_src(...) end

---Classic: a copy into a view at an offset that is known at run time; see docs/porting.md.
---nisa.tensor_copy_dynamic_dst(dst, src, ...)
---@return any
function nisa.tensor_copy_dynamic_dst(...) end

---The class of what a call of an instruction gives.
---nisa.NkiInstruction(handle)
---@return any
function nisa.NkiInstruction(...) end

---The class of errors that refuse an instruction; isinstance(e) tells whether e is one.
---nisa.NkiValidationError(message)
---@return any
function nisa.NkiValidationError(...) end

---The class of registers; a call is nisa.register_alloc.
---nisa.VirtualRegister([state])
---@return any
function nisa.VirtualRegister(...) end

nisa.engine = {unknown = nil, tensor = nil, scalar = nil, gpsimd = nil, dma = nil, vector = nil, sync = nil}

nisa.reduce_cmd = {idle = nil, reset = nil, reduce = nil, reset_reduce = nil, load_reduce = nil}

nisa.dge_mode = {unknown = nil, swdge = nil, hwdge = nil, none = nil}

nisa.oob_mode = {error = nil, skip = nil}

nisa.matmul_perf_mode = {none = nil, double_row = nil}

nisa.nc_version = {gen2 = nil, gen3 = nil, gen4 = nil}

nisa.dma_engine = {dma = nil, gpsimd_dma = nil}

return nisa
