-- nisa.rand_get_state
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"

local sb, ps = case.sbuf, case.psum
local gen = require "spec.support.generators"

local vector, gpsimd = nisa.engine.vector, nisa.engine.gpsimd
local function left(states, n)
  gen.draws(states, n)
  local row = {}
  for _, st in ipairs(states) do
    table.move(st, 1, 6, #row + 1, row)
  end
  return row
end

return {
  accept = {
    {"psum from engine vector", target = "trn3", function() nisa.rand_get_state(ps({128, 24}, nl.uint32), vector) end},
  },
  reject = {
    {"err_op_generation", "needs gen3", function() nisa.rand_get_state(sb({4, 6}, nl.uint32)) end},
    {"err_gpsimd_memory", "engine gpsimd reaches sbuf only", rule = "gpsimd_reach", target = "trn2",
     function() nisa.rand_get_state(ps({4, 6}, nl.uint32)) end},
    {"err_argument_generation", "engine vector needs gen4", target = "trn2",
     function() nisa.rand_get_state(sb({4, 24}, nl.uint32), vector) end},
    {"err_shape_required", "dst must have shape [4,6]", target = "trn2",
     function() nisa.rand_get_state(sb({4, 5}, nl.uint32)) end},
  },
  numeric = {
    {"a GpSimd lane's words after five draws", target = "trn2", {nd.array(gen.states(2, 6), "uint32")}, function(st)
      local out = sb({2, 6}, nl.uint32)
      nisa.rand_set_state(st)
      nisa.rng(sb({2, 5}, nl.uint8), gpsimd)
      nisa.rand_get_state(out)
      return out
    end, {nd.array(gen.map(gen.states(2, 6), function(row) return left({row}, 5) end), "uint32")}},
    {"the four states of a Vector lane after five draws", target = "trn3", {nd.array(gen.states(2, 24), "uint32")},
     function(st)
      local out = sb({2, 24}, nl.uint32)
      nisa.rand_set_state(st, vector)
      nisa.rng(sb({2, 5}, nl.uint8))
      nisa.rand_get_state(out, vector)
      return out
    end, {nd.array(gen.map(gen.states(2, 24), function(row) return left(gen.four(row), 5) end), "uint32")}},
  },
}
