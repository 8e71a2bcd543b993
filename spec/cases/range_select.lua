-- nisa.range_select: gen3 and later
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb, ps = case.sbuf, case.psum

local MIN = -0x1.fffffep127

local refused = case.calls(nisa.range_select, function()
  return {dst = sb {4, 8}, on_true_tile = sb {4, 8}, comp_op0 = nl.greater_equal, comp_op1 = nl.less,
    bound0 = sb {4, 1}, bound1 = sb {4, 1}}
end)

local function select(options)
  return function(t, low, high)
    local all = {dst = sb(t.shape), on_true_tile = t, comp_op0 = nl.greater_equal, comp_op1 = nl.less, bound0 = low,
      bound1 = high, reduce_res = sb {t.shape[0], 1}}
    nisa.range_select(case.with(all, options))
    return all.dst, all.reduce_res
  end
end

local cases = {
  accept = {
    {"the smallest float32 in decimal", refused(function() return {on_false_value = -3.4028235e38} end)},
    {"psum in and out", refused(function() return {dst = ps {4, 8}, on_true_tile = ps {4, 8},
     reduce_res = ps {4, 1}} end)},
  },
  reject = {
    {"err_num_partition_mismatch", "dst and bound0", rule = "same_partitions",
     refused(function() return {bound0 = sb {8, 1}} end)},
    {"err_num_elements_mismatch", "dst has 8 elements per partition and on_true_tile has 7", rule = "same_count",
     refused(function() return {on_true_tile = sb {4, 7}} end)},
    {"err_argument_value", "on_false_value is 0; it must be -3.4028235e+38",
     refused(function() return {on_false_value = 0.0} end)},
    {"err_argument_value", "range_start is 0.5; it must be an integer",
     refused(function() return {range_start = 0.5} end)},
    {"err_argument_value", "range_select has no initial value to load",
     refused(function() return {reduce_cmd = nisa.reduce_cmd.load_reduce} end)},
    {"err_unsupported_dtype", "bound1 is", refused(function() return {bound1 = sb({4, 1}, nl.bfloat16)} end)},
    {"err_column_expected", "bound0", refused(function() return {bound0 = sb {4, 8}} end)},
    {"err_operator_set", "comp_op0 cannot be not_equal", refused(function() return {comp_op0 = nl.not_equal} end)},
    {"err_argument_range", "range_start is 16777217", refused(function() return {range_start = 16777217} end)},
  },
  numeric = {
    {"elements whose index lies in a range per partition, and the largest",
     {nd.array {{5, 9, 7, 8}, {1, 2, 3, 4}}, nd.array {{1}, {0}}, nd.array {{3}, {1}}},
     select {}, {{{MIN, 9, 7, MIN}, {1, MIN, MIN, MIN}}, {{9}, {1}}}},
    {"indices from range_start", {nd.array {{5, 9, 7, 8}}, nd.array {{101}}, nd.array {{102}}},
     select {range_start = 100, comp_op0 = nl.greater, comp_op1 = nl.less_equal}, {{{MIN, MIN, 7, MIN}}, {{7}}}},
    {"one index by equality", {nd.array {{5, 9, 7, 8}}, nd.array {{3}}, nd.array {{3}}},
     select {comp_op0 = nl.equal, comp_op1 = nl.equal}, {{{MIN, MIN, MIN, 8}}, {{8}}}},
    {"a maximum over two instructions", {nd.array {{5, 9}}, nd.array {{0}}, nd.array {{1}}}, function(t, low, high)
      local out, largest = sb {1, 2}, sb {1, 1}
      nisa.range_select(out, t, nl.greater_equal, nl.less, low, high)
      nisa.range_select {dst = out, on_true_tile = t, comp_op0 = nl.greater, comp_op1 = nl.greater, bound0 = low,
        bound1 = low,
                         reduce_cmd = nisa.reduce_cmd.reduce, reduce_res = largest}
      return out, largest
    end, {{{MIN, 9}}, {{9}}}},
    {"-inf in a dtype that cannot hold the smallest f32", {nd.array {{5, 9}}, nd.array {{1}}, nd.array {{9}}},
     function(t, low, high)
      local out = sb({1, 2}, nl.bfloat16)
      nisa.range_select(out, t, nl.greater_equal, nl.less, low, high)
      return out
    end, {nd.array({{-math.huge, 9}}, "bfloat16")}},
  },
}
for _, list in pairs(cases) do
  for _, c in ipairs(list) do
    c.target = "trn2"
  end
end
table.insert(cases.reject, {"err_op_generation", "nisa.range_select needs gen3", refused(function() return {} end)})
return cases
