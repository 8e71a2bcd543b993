-- nisa.scalar_tensor_tensor
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb, ps = case.sbuf, case.psum

local function stt(options)
  return function(data, operand1, operand0)
    local all = {dst = sb(data.shape), data = data, operand0 = operand0, operand1 = operand1, op0 = nl.subtract,
      op1 = nl.subtract}
    nisa.scalar_tensor_tensor(case.with(all, options))
    return all.dst
  end
end

local refused = case.calls(nisa.scalar_tensor_tensor, function()
  return {dst = sb {4, 8}, data = sb {4, 8}, op0 = nl.add, operand0 = 1.0, op1 = nl.add, operand1 = sb {4, 8}}
end)

local x, y = nd.array {{1, 2, 3}, {4, 5, 6}}, nd.array {{10, 20, 30}, {40, 50, 60}}
return {
  accept = {
    {"data in psum", refused(function() return {data = ps {4, 8}} end)},
    {"the same tile three times", function()
      local t = sb {4, 8}
      nisa.scalar_tensor_tensor(t, t, nl.multiply, 2.0, nl.add, t)
    end},
  },
  reject = {
    {"err_num_partition_mismatch", "dst and operand1", rule = "same_partitions",
     refused(function() return {operand1 = sb {8, 8}} end)},
    {"err_num_elements_mismatch", "dst has 8 elements per partition and operand1 has 4", rule = "same_count",
     refused(function() return {operand1 = sb {4, 4}} end)},
    {"err_both_in_psum", "data and operand1 may not both be in psum", rule = "one_in_psum",
     refused(function() return {data = ps {4, 8}, operand1 = ps {4, 8}} end)},
    {"err_operator_engine", "engine vector cannot execute op1 power", rule = "op_engine",
     refused(function() return {op1 = nl.power} end)},
    {"err_operator_set", "op0 cannot be bitwise_and", refused(function() return {op0 = nl.bitwise_and} end)},
    {"err_column_expected", "operand0", refused(function() return {operand0 = sb {4, 8}} end)},
  },
  numeric = {
    {"(data op0 number) op1 tile", {x, y}, stt {operand0 = 1.0}, {{{-10, -19, -28}, {-37, -46, -55}}}},
    {"(number op0 data) op1 tile", {x, y}, stt {operand0 = 1.0, reverse0 = true}, {{{-10, -21, -32}, {-43, -54, -65}}}},
    {"tile op1 (data op0 number)", {x, y}, stt {operand0 = 1.0, reverse1 = true}, {{{10, 19, 28}, {37, 46, 55}}}},
    {"a column", {x, y, nd.array {{1}, {2}}}, stt {op0 = nl.multiply, op1 = nl.add}, {{{11, 22, 33}, {48, 60, 72}}}},
    {"three mixed dtypes", {x:astype "int8", y:astype "bfloat16"},
     stt {operand0 = 0.5, op0 = nl.multiply, op1 = nl.add},
     {{{10.5, 21, 31.5}, {42, 52.5, 63}}}},
  },
}
