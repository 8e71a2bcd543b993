-- nisa.reciprocal
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb, ps = case.sbuf, case.psum

local function inverse(dtype)
  return function(x)
    local out = sb(x.shape, dtype)
    nisa.reciprocal(out, x)
    return out
  end
end

local inf = math.huge
return {
  accept = {
    {"psum to psum", function() nisa.reciprocal(ps {4, 8}, ps {4, 8}) end},
    {"its own tile", function()
      local t = sb {4, 8}
      nisa.reciprocal(t, t)
    end},
  },
  reject = {
    {"err_num_partition_mismatch", "dst and data", rule = "same_partitions",
     function() nisa.reciprocal(sb {4, 8}, sb {8, 8}) end},
    {"err_num_elements_mismatch", "dst has 8 elements per partition and data has 9", rule = "same_count",
     function() nisa.reciprocal(sb {4, 8}, sb {4, 9}) end},
  },
  numeric = {
    {"exact quotients", {nd.array {{2, -4, 0.125, 1}}}, inverse(), {{{0.5, -0.25, 8, 1}}}},
    {"the correctly rounded quotient", {nd.array {{3, 7, 10, 1e-38, 3e38}}}, inverse(),
     {nd.ones {1} / nd.array {{3, 7, 10, 1e-38, 3e38}}}},
    {"zeros, infinities and NaN", {nd.array {{0, -0.0, inf, -inf, 0 / 0}}}, inverse(), {{{inf, -inf, 0, -0.0, 0 / 0}}}},
    {"into another dtype", {nd.array({{3, 4}}, "int8")}, inverse(nl.bfloat16),
     {(nd.ones {1} / nd.array {{3, 4}}):astype "bfloat16"}},
  },
}
