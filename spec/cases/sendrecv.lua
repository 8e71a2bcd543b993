-- nisa.sendrecv
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb, ps, hbm = case.sbuf, case.psum, case.hbm

local two = nl.nc(2)
local function peer() return 1 - nl.program_id(0) end
local function swap(src, dst, more)
  local t = {src = src, dst = dst, send_to_rank = peer(), recv_from_rank = peer(), pipe_id = 0}
  for k, v in pairs(more or {}) do
    t[k] = v
  end
  return nisa.sendrecv(t)
end
local function refused(id, text, f, rule) return {id, text, f, rule = rule, target = "trn2", grid = two} end

return {
  accept = {
    {"tiles of any partitions and dtype", target = "trn2", grid = two, function()
      swap(sb {3, 8}, sb {3, 8})
      swap(sb({128, 4, 9}, nl.bfloat16), sb({128, 4, 9}, nl.bfloat16), {pipe_id = 7, name = "seven"})
      nisa.sendrecv(sb({4, 8}, nl.int8), sb({4, 8}, nl.int8), peer(), peer(), 1, nisa.dma_engine.dma)
    end},
    {"as many elements as GpSimd's own DMA moves", target = "trn3", grid = 3 * two, function()
      local rank = 1 - nl.program_id(0) % 2
      for _, dtype in ipairs {nl.float32, nl.bfloat16, nl.uint8} do
        nisa.sendrecv(sb({16, 256}, dtype), sb({16, 256}, dtype), rank, rank, 0, nisa.dma_engine.gpsimd_dma)
      end
    end},
  },
  reject = {
    refused("err_num_partition_mismatch", "src and dst", function() swap(sb {4, 8}, sb {8, 8}) end, "same_partitions"),
    refused("err_dtype_mismatch", "src and dst", function() swap(sb {4, 8}, sb({4, 8}, nl.int32)) end, "same_dtype"),
    refused("err_shape_required", "src must have shape [4,6], not", function() swap(sb {4, 8}, sb {4, 6}) end),
    refused("err_shape_required", "src must have shape [4,2,4], not", function() swap(sb {4, 8}, sb {4, 2, 4}) end),
    refused("err_unsupported_memory", "src must be in sbuf", function() swap(hbm {4, 8}, sb {4, 8}) end),
    refused("err_unsupported_memory", "dst must be in sbuf", function() swap(sb {4, 8}, ps {4, 8}) end),
    refused("err_shape_required", "src (dma_engine gpsimd_dma)", function()
      swap(sb {16, 257}, sb {16, 257}, {dma_engine = nisa.dma_engine.gpsimd_dma})
    end),
    refused("err_argument_range", "send_to_rank is 2; legal is 0..1",
      function() swap(sb {4, 8}, sb {4, 8}, {send_to_rank = 2}) end),
    refused("err_argument_range", "pipe_id is -1", function() swap(sb {4, 8}, sb {4, 8}, {pipe_id = -1}) end),
    refused("err_instruction_invalid", "send_to_rank and recv_from_rank are both the other core",
      function() nisa.sendrecv(sb {4, 8}, sb {4, 8}, 0, 1, 0) end),
    refused("err_argument_value", "send_to_rank is 0; program 0 is on that core itself, its partner is the other one",
      function() nisa.sendrecv(sb {4, 8}, sb {4, 8}, 0, 0, 0) end),
    refused("err_argument_value", "send_to_rank is 1; program 1 is on that core itself, its partner is the other one",
      function() nisa.sendrecv(sb {4, 8}, sb {4, 8}, 1, 1, 0) end),
    {"err_op_generation", "nisa.sendrecv needs gen3 or later; trn1 is gen2",
     function() nisa.sendrecv(sb {4, 8}, sb {4, 8}, 1, 1, 0) end},
    {"err_instruction_invalid", "it joins two physical cores: launch the kernel on a grid of them, kernel[nl.nc(2)]",
     target = "trn2", function() nisa.sendrecv(sb {4, 8}, sb {4, 8}, 1, 1, 0) end},
  },
  numeric = {
    {"each core's dst from the other's src", {nd.array {{1, 2, 3}, {4, 5, 6}}}, hbm = true, target = "trn2", grid = two,
     function(h)
      local out = nl.ndarray({2, 3}, nl.float32, {buffer = nl.shared_hbm})
      local got, row = sb {1, 3}, nl.ds(nl.program_id(0), 1)
      swap(nl.load(h[row]), got)
      nl.store(out[row], got)
      return out
    end, {{{4, 5, 6}, {1, 2, 3}}}},
    {"bits as they are, in the order of each view", {nd.array({{1, -2}, {3, 4}, {5, 6}, {7, -8}}, "int8")}, hbm = true,
     target = "trn3", grid = two, function(h)
      local out = nl.ndarray({4, 2}, nl.int8, {buffer = nl.shared_hbm})
      local t, me = sb({2, 4}, nl.int8), nl.program_id(0)
      nisa.dma_copy(t[{{}, {0, 4, 2}}], h[nl.ds(2 * me, 2)])
      swap(t[{{}, {0, 4, 2}}], t[{{}, {1, 4, 2}}], {dma_engine = nisa.dma_engine.gpsimd_dma})
      nisa.dma_copy(out[nl.ds(2 * me, 2)], t[{{}, {1, 4, 2}}])
      return out
    end, {nd.array({{5, 6}, {7, -8}, {1, -2}, {3, 4}}, "int8")}},
    {"in place: all is read before anything is written", {nd.array {{1}, {2}}}, hbm = true, target = "trn2", grid = two,
     function(h)
      local out = nl.ndarray({2, 1}, nl.float32, {buffer = nl.shared_hbm})
      local row = nl.ds(nl.program_id(0), 1)
      local t = nl.load(h[row])
      swap(t, t)
      nl.store(out[row], t)
      return out
    end, {{{2}, {1}}}},
  },
}
