-- nisa.rand_set_state
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"

local sb, ps = case.sbuf, case.psum
local gen = require "spec.support.generators"

local function rows(n, k)
  return gen.rows(n, function(p) return gen.rows(k, function(i) return 1000003 * (p + 1) + 77777 * i end) end)
end

-- What n draws leave of {state, state ...}, and what they give.
local function after(states, n)
  local next, words = {}, {}
  for k = 1, #states do
    next[k] = gen.xorwow(states[k])
  end
  for i = 1, n do
    words[i] = next[(i - 1) % #states + 1]()
  end
  return words
end

local function four(row)
  return gen.rows(4, function(k) return {table.unpack(row, 6 * k + 1, 6 * k + 6)} end)
end

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
    {"states of GpSimd lanes", target = "trn2", {nd.array(rows(3, 6), "uint32")}, function(st)
      local out = sb({3, 7}, nl.uint32)
      nisa.rand_set_state(st)
      nisa.rng(out, gpsimd)
      return out
    end, {nd.array(gen.map(rows(3, 6), function(row) return after({row}, 7) end), "uint32")}},
    {"four states of a Vector lane, in turn", target = "trn3", {nd.array(rows(2, 24), "uint32")}, function(st)
      local out = sb({2, 9}, nl.uint32)
      nisa.rand_set_state(st, vector)
      nisa.rng(out)
      return out
    end, {nd.array(gen.map(rows(2, 24), function(row) return after(four(row), 9) end), "uint32")}},
  },
}
