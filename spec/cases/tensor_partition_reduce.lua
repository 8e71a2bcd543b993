-- nisa.tensor_partition_reduce
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb, ps = case.sbuf, case.psum

local function over(op, dtype)
  return function(t)
    local out = sb({1, 2}, dtype)
    nisa.tensor_partition_reduce(out, op, t)
    return out
  end
end

local x = nd.array {{1, -2}, {30, 4}, {5, 60}}
return {
  accept = {
    {"free shapes of one count", function() nisa.tensor_partition_reduce(sb {1, 8}, nl.add, sb {128, 2, 4}) end},
  },
  reject = {
    {"err_bitvec_dtype", "bitwise operator bitwise_or", rule = "bitvec_int",
     function() nisa.tensor_partition_reduce(sb {1, 8}, nl.bitwise_or, sb {4, 8}) end},
    {"err_shape_required", "dst must have shape [1,8]",
     function() nisa.tensor_partition_reduce(sb {4, 8}, nl.add, sb {4, 8}) end},
    {"err_operator_set", "op cannot be multiply",
     function() nisa.tensor_partition_reduce(sb {1, 8}, nl.multiply, sb {4, 8}) end},
    {"err_unsupported_memory", "data must be in sbuf",
     function() nisa.tensor_partition_reduce(sb {1, 8}, nl.add, ps {4, 8}) end},
  },
  numeric = {
    {"sums", {x}, over(nl.add), {{{36, 62}}}},
    {"maxima", {x}, over(nl.maximum), {{{30, 60}}}},
    {"means", {x}, over(nl.average), {nd.array {{36, 62}} / 3}},
    {"bits", {nd.array({{1, 0x0F}, {2, 0x3C}, {8, 0xF0}}, "uint8")}, function(t)
      local any, all = sb({1, 2}, nl.uint8), sb({1, 2}, nl.uint8)
      nisa.tensor_partition_reduce(any, nl.bitwise_or, t)
      nisa.tensor_partition_reduce(all, nl.bitwise_and, t)
      return any, all
    end, {nd.array({{11, 0xFF}}, "uint8"), nd.array({{0, 0}}, "uint8")}},
    {"all 128 partitions", {nd.ones {128, 2}}, over(nl.add), {{{128, 128}}}},
  },
}
