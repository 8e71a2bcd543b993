-- nisa.activation_reduce
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb, ps = case.sbuf, case.psum

local refused = case.calls(nisa.activation_reduce, function()
  return {dst = sb {4, 8}, op = nl.exp, data = sb {4, 8}, reduce_op = nl.add, reduce_res = sb {4, 1}}
end)

return {
  accept = {
    {"results in psum", refused(function() return {dst = ps {4, 8}, reduce_res = ps {4, 1}} end)},
    {"a bias that is a number on gen3", target = "trn2", refused(function() return {bias = 1.0} end)},
  },
  reject = {
    {"err_num_partition_mismatch", "dst and reduce_res", rule = "same_partitions",
     refused(function() return {reduce_res = sb {8, 1}} end)},
    {"err_num_elements_mismatch", "dst has 8 elements per partition and data has 4", rule = "same_count",
     refused(function() return {data = sb {4, 4}} end)},
    {"err_column_expected", "reduce_res must be one value per partition",
     refused(function() return {reduce_res = sb {4, 8}} end)},
    {"err_argument_generation", "a bias that is a number", refused(function() return {bias = 1.0} end)},
    {"err_activation_scale_invalid_type", "scale is", refused(function() return {scale = sb({4, 1}, nl.int32)} end)},
    {"err_argument_missing", "reduce_res is required",
     function() nisa.activation_reduce {dst = sb {4, 8}, op = nl.exp, data = sb {4, 8}, reduce_op = nl.add} end},
  },
  numeric = {
    {"the values and their row sums", {nd.array {{1, 2, 3}, {4, 5, 6}}, nd.array {{-1}, {1}}}, function(x, bias)
      local out, total = sb(x.shape, nl.bfloat16), sb {2, 1}
      nisa.activation_reduce {dst = out, op = nl.square, data = x, reduce_op = nl.add, reduce_res = total, bias = bias,
        scale = 2.0}
      return out, total
    end, {nd.array({{1, 9, 25}, {81, 121, 169}}, "bfloat16"), {{35}, {371}}}},
    {"a sum that starts at zero each time", {nd.array {{1, 2, 3}}}, function(x)
      local out, total = sb(x.shape), sb {1, 1}
      for _ = 1, 3 do
        nisa.activation_reduce(out, nl.copy, x, nl.add, total)
      end
      return total
    end, {{{6}}}},
  },
}
