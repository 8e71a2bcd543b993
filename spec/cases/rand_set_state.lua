-- nisa.rand_set_state
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"

local sb, ps = case.sbuf, case.psum
local gen = require "spec.support.generators"

local vector, gpsimd = nisa.engine.vector, nisa.engine.gpsimd
-- The example of Marsaglia's paper "Xorshift RNGs".
local marsaglia = {123456789, 362436069, 521288629, 88675123, 5783321, 6615241}
return {
  accept = {
    {"engine vector on gen4", target = "trn3", function() nisa.rand_set_state(sb({128, 24}, nl.uint32), vector) end},
  },
  reject = {
    {"err_op_generation", "needs gen3", function() nisa.rand_set_state(sb({4, 6}, nl.uint32)) end},
    {"err_argument_generation", "engine vector needs gen4", target = "trn2",
     function() nisa.rand_set_state(sb({4, 24}, nl.uint32), vector) end},
    {"err_shape_required", "src_seeds must have shape [4,6]", target = "trn2",
     function() nisa.rand_set_state(sb({4, 24}, nl.uint32)) end},
    {"err_shape_required", "src_seeds must have shape [4,24]", target = "trn3",
     function() nisa.rand_set_state(sb({4, 6}, nl.uint32), vector) end},
    {"err_unsupported_memory", "src_seeds must be in sbuf", target = "trn2",
     function() nisa.rand_set_state(ps({4, 6}, nl.uint32)) end},
  },
  numeric = {
    {"the published sequence", target = "trn2", {nd.array({marsaglia}, "uint32")}, function(st)
      local out = sb({1, 1}, nl.uint32)
      nisa.rand_set_state(st)
      nisa.rng(out, gpsimd)
      return out
    end, {nd.array({{246875399}}, "uint32")}},
    {"states of GpSimd lanes", target = "trn2", {nd.array(gen.states(3, 6), "uint32")}, function(st)
      local out = sb({3, 7}, nl.uint32)
      nisa.rand_set_state(st)
      nisa.rng(out, gpsimd)
      return out
    end, {nd.array(gen.map(gen.states(3, 6), function(row) return gen.draws({row}, 7) end), "uint32")}},
    {"four states of a Vector lane, in turn", target = "trn3", {nd.array(gen.states(2, 24), "uint32")}, function(st)
      local out = sb({2, 9}, nl.uint32)
      nisa.rand_set_state(st, vector)
      nisa.rng(out)
      return out
    end, {nd.array(gen.map(gen.states(2, 24), function(row) return gen.draws(gen.four(row), 9) end), "uint32")}},
  },
}
