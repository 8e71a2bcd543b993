-- nl.divide, nl.mod and nl.fmod: no instruction does them
local nl = require "nki.language"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb, hbm = case.sbuf, case.hbm

local alu = case.oracle("alu.npz", {20, 20})
local numeric = {
  {"a number on either side", {nd.array {{3, 8}}}, function(t)
    return nl.divide(t, 2.0), nl.divide(24.0, t), nl.mod(t, 5.0), nl.fmod(-7.0, t)
  end, {{{1.5, 4}}, {{8, 3}}, {{3, 3}}, {{-1, -7}}}},
  {"signs of remainders", {nd.array {{7, -7, 7, -7}}, nd.array {{3, 3, -3, -3}}}, function(a, b)
    return nl.mod(a, b), nl.fmod(a, b)
  end, {{{1, 2, -2, -1}}, {{1, -1, 1, -1}}}},
}
for _, name in ipairs {"divide", "mod", "fmod"} do
  numeric[#numeric + 1] = {name .. " of edge values", {alu.a, alu.b}, function(a, b) return nl[name](a, b) end,
    {alu[name]}}
end

return {
  accept = {
    {"integers as floats", function() nl.divide(sb({4, 8}, nl.int32), sb({4, 8}, nl.int32), nl.float32) end},
  },
  reject = {
    {"err_num_partition_mismatch", "same number of partitions", function() nl.divide(sb {4, 8}, sb {8, 8}) end},
    {"err_elementwise_shape", "axis 1 has 8 and 7 elements", function() nl.divide(sb {4, 8}, sb {4, 7}) end},
    {"err_elementwise_numbers", "both operands are numbers", function() nl.divide(1.0, 2.0) end},
    {"err_unsupported_memory", "nl.divide: x must be in", function() nl.divide(hbm {4, 8}, 2.0) end},
  },
  numeric = numeric,
}
