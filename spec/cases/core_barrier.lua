-- nisa.core_barrier
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local hbm = case.hbm

local function shared(shape) return nl.ndarray(shape, nl.float32, {buffer = nl.shared_hbm}) end
local two = nl.nc(2)

return {
  accept = {
    {"a tensor that both cores see", target = "trn2", grid = two, function()
      nisa.core_barrier(shared {4, 8}, {0, 1})
      nisa.core_barrier {data = shared {4, 8}[{{0, 2}}], cores = {0, 1}, engine = nisa.engine.vector, name = "half"}
    end},
    {"every engine with a queue, on the next chip too", target = "trn3", grid = {2, 2 * two}, function()
      for _, engine in ipairs {"tensor", "scalar", "vector", "gpsimd", "sync"} do
        nisa.core_barrier(shared {4, 8}, {0, 1}, nisa.engine[engine])
      end
    end},
  },
  reject = {
    {"err_unsupported_memory", "data must be in shared_hbm", target = "trn2", grid = two,
     function() nisa.core_barrier(hbm {4, 8}, {0, 1}) end},
    {"err_unsupported_memory", "data must be in shared_hbm", target = "trn2", grid = two,
     function() nisa.core_barrier(case.sbuf {4, 8}, {0, 1}) end},
    {"err_op_generation", "nisa.core_barrier needs gen3 or later; trn1 is gen2",
     function() nisa.core_barrier(shared {4, 8}, {0, 1}) end},
    {"err_instruction_invalid", "it joins two physical cores: launch the kernel on a grid of them, kernel[nl.nc(2)]",
     target = "trn2", grid = 2, function() nisa.core_barrier(shared {4, 8}, {0, 1}) end},
    {"err_argument_value", "cores is [1,0]; a barrier joins cores 0 and 1: {0, 1}", target = "trn2", grid = two,
     function() nisa.core_barrier(shared {4, 8}, {1, 0}) end},
    {"err_argument_value", "cores is [0]; a barrier joins cores 0 and 1", target = "trn2", grid = two,
     function() nisa.core_barrier(shared {4, 8}, {0}) end},
    {"err_argument_range", "cores", target = "trn2", grid = two,
     function() nisa.core_barrier(shared {4, 8}, {0, 2}) end},
    {"err_argument_missing", "cores is required", target = "trn2", grid = two,
     function() nisa.core_barrier(shared {4, 8}) end},
    {"err_engine_set", "engine dma is not one of", target = "trn2", grid = two,
     function() nisa.core_barrier(shared {4, 8}, {0, 1}, nisa.engine.dma) end},
  },
  numeric = {
    {"nothing itself; each core reads what the other has stored", {nd.array {{1, 2}, {3, 4}}}, hbm = true,
     target = "trn2", grid = two, function(h)
      local half, out, me = shared {2, 2}, shared {2, 2}, nl.program_id(0)
      local mine, other = nl.ds(me, 1), nl.ds(1 - me, 1)
      nl.store(half[mine], nl.load(h[mine]) * 10)
      nisa.core_barrier(half, {0, 1})
      nl.store(out[mine], nl.load(half[other]) + me)
      return out
    end, {{{30, 40}, {11, 21}}}},
  },
}
