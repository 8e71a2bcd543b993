-- nisa.tensor_tensor_scan
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb, ps = case.sbuf, case.psum

local function scan(options, dtype)
  return function(data0, data1, initial)
    local all = {dst = sb(data0.shape, dtype), data0 = data0, data1 = data1, initial = initial or 1.0,
      op0 = nl.multiply, op1 = nl.add}
    nisa.tensor_tensor_scan(case.with(all, options))
    return all.dst
  end
end

local refused = case.calls(nisa.tensor_tensor_scan, function()
  return {dst = sb {4, 8}, data0 = sb {4, 8}, data1 = sb {4, 8}, initial = 0.0, op0 = nl.multiply, op1 = nl.add}
end)

local a, b = nd.array {{2, 3, 4}, {1, 0, 5}}, nd.array {{10, 20, 30}, {1, 2, 3}}
return {
  accept = {
    {"one operand in psum", refused(function() return {data0 = ps {4, 8}} end)},
    {"a column to start from", refused(function() return {initial = sb {4, 1}} end)},
  },
  reject = {
    {"err_num_partition_mismatch", "dst and initial", rule = "same_partitions",
     refused(function() return {initial = sb {8, 1}} end)},
    {"err_num_elements_mismatch", "dst has 8 elements per partition and data1 has 7", rule = "same_count",
     refused(function() return {data1 = sb {4, 7}} end)},
    {"err_both_in_psum", "data0 and data1", rule = "one_in_psum",
     refused(function() return {data0 = ps {4, 8}, data1 = ps {4, 8}} end)},
    {"err_operator_engine", "cannot execute op0 power", rule = "op_engine",
     refused(function() return {op0 = nl.power} end)},
    {"err_operator_set", "op1 cannot be bitwise_or", refused(function() return {op1 = nl.bitwise_or} end)},
    {"err_column_expected", "initial", refused(function() return {initial = sb {4, 2}} end)},
  },
  numeric = {
    {"r = data0 * r + data1", {a, b}, scan(), {{{12, 56, 254}, {2, 2, 13}}}},
    {"from a column", {a, b, nd.array {{0}, {-1}}}, scan(), {{{10, 50, 230}, {0, 2, 13}}}},
    {"r = (data0 - r) + data1", {a, b}, scan {op0 = nl.subtract}, {{{11, 12, 22}, {1, 1, 7}}}},
    {"r = (r - data0) + data1", {a, b}, scan {op0 = nl.subtract, reverse0 = true}, {{{9, 26, 52}, {1, 3, 1}}}},
    {"r = data1 - data0 * r", {a, b}, scan {op1 = nl.subtract, reverse1 = true}, {{{8, -4, 46}, {0, 2, -7}}}},
    {"a running maximum", {nd.array {{3, 1, 4, 1, 5}}, nd.array {{0, 0, 0, 0, 0}}}, scan {op0 = nl.maximum},
     {{{3, 3, 4, 4, 5}}}},
    {"a carry in f32, whatever dst is", {nd.ones {1, 3}, nd.full({1, 3}, 2 ^ -9)}, scan(nil, nl.bfloat16),
     {nd.array({{1, 1, 1 + 2 ^ -7}}, "bfloat16")}},
      -- 1 + 3/512 rounds up; had the carry been bfloat16, it would have stayed 1
  },
}
