-- nisa.set_rng_seed
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"

local gen = require "spec.support.generators"
local sb, ps = case.sbuf, case.psum

local function drawn(seed)
  local out = sb({3, 5}, nl.uint32)
  nisa.set_rng_seed(seed)
  nisa.rng(out)
  return out
end

return {
  accept = {{"a seed in psum", function() nisa.set_rng_seed(ps({1, 1}, nl.int32)) end}},
  reject = {
    {"err_shape_required", "src_seeds must have shape of one element", rule = "one_element",
     function() nisa.set_rng_seed(sb({2, 1}, nl.uint32)) end},
    {"err_unsupported_dtype", "src_seeds is", function() nisa.set_rng_seed(sb({1, 1}, nl.uint16)) end},
  },
  numeric = {
    {"the shift registers of gen2 and gen3", last = "trn2", {nd.array({{12345}}, "uint32")}, drawn,
     {nd.array(gen.rows(3, function(p) return gen.vector(12345)(p, 5) end), "uint32")}},
    {"the four states of gen4", target = "trn3", {nd.array({{12345}}, "uint32")}, drawn,
     {nd.array(gen.rows(3, function(p) return gen.vector(12345, true)(p, 5) end), "uint32")}},
    {"the same seed, the same numbers; another seed, others", {nd.array({{7}}, "int32"), nd.array({{8}}, "int32")},
     function(seven, eight)
      local same, other = sb({3, 5}, nl.uint32), sb({3, 5}, nl.uint32)
      local first = drawn(seven)
      drawn(eight)
      nisa.tensor_tensor(same, first, drawn(seven), nl.bitwise_xor)
      nisa.tensor_tensor(other, first, drawn(eight), nl.bitwise_xor)
      local change = sb({3, 5}, nl.uint8)
      nisa.tensor_scalar(change, other, nl.not_equal, 0)
      return same, change
    end, {nd.zeros({3, 5}, "uint32"), nd.ones({3, 5}, "uint8")}},
  },
}
