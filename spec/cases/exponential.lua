-- nisa.exponential
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb, ps = case.sbuf, case.psum

local refused = case.calls(nisa.exponential, function() return {dst = sb {4, 8}, src = sb {4, 8}} end)

local cmd = nisa.reduce_cmd
local near = {{math.exp(-2), math.exp(-1), 1}, {math.exp(-1), 1, math.exp(-3)}}
local sums = {{near[1][1] + near[1][2] + 1}, {near[2][1] + 1 + near[2][3]}}
local x, most = nd.array {{1, 2, 3}, {4, 5, 2}}, nd.array {{3}, {5}}
return {
  accept = {
    {"integers", target = "trn3",
     refused(function() return {src = sb({4, 8}, nl.uint32), dst = sb({4, 8}, nl.int32)} end)},
    {"a sum in psum", target = "trn3",
     refused(function() return {reduce_res = ps {4, 1}, reduce_cmd = cmd.reset_reduce} end)},
  },
  reject = {
    {"err_op_generation", "needs gen4", target = "trn2", refused(function() return {} end)},
    {"err_exceed_max_supported_dimension", "nisa.exponential: dst = sbuf_2[4,1,2,2,2]", rule = "rank4", target = "trn3",
     refused(function() return {dst = sb {4, 1, 2, 2, 2}, src = sb {4, 2, 2, 2}} end)},
    {"err_num_partition_mismatch", "dst and max_value", rule = "same_partitions", target = "trn3",
     refused(function() return {max_value = sb {8, 1}} end)},
    {"err_num_elements_mismatch", "dst has 8 elements per partition and src has 4", rule = "same_count",
     target = "trn3", refused(function() return {src = sb {4, 4}} end)},
    {"err_instruction_invalid", "reduce_init is read with reduce_cmd load_reduce only", target = "trn3",
     refused(function() return {reduce_init = 1.0} end)},
    {"err_argument_value", "reduce_cmd is reset; exponential takes idle, reset_reduce, reduce and load_reduce",
     target = "trn3",
     refused(function() return {reduce_cmd = cmd.reset} end)},
    {"err_unsupported_dtype", "src is", target = "trn3",
     refused(function() return {src = sb({4, 8}, nl.tfloat32)} end)},
    {"err_unsupported_dtype", "dst is", target = "trn3", refused(function() return {dst = sb({4, 8}, nl.uint32)} end)},
  },
  numeric = {
    {"e to the difference, and its sum", target = "trn3", tolerance = {rtol = 1e-6}, {x, most}, function(a, m)
      local out, total = sb(a.shape), sb {2, 1}
      nisa.exponential {dst = out, src = a, max_value = m, reduce_res = total, reduce_cmd = cmd.reset_reduce}
      return out, total
    end, {near, sums}},
    {"powers of e that are exact, a sum that goes on and one that starts at a number", target = "trn3",
     {nd.array {{7, 7}}}, function(a)
      local out, one, two, three = sb(a.shape), sb {1, 1}, sb {1, 1}, sb {1, 1}
      nisa.exponential {dst = out, src = a, max_value = 7.0, reduce_res = one, reduce_cmd = cmd.reset_reduce}
      nisa.exponential {dst = out, src = a, max_value = 7.0, reduce_res = two, reduce_cmd = cmd.reduce}
      nisa.exponential {dst = out, src = a, max_value = 7.0, reduce_res = three, reduce_cmd = cmd.load_reduce,
        reduce_init = 40.0}
      return out, one, two, three
    end, {{{1, 1}}, {{2}}, {{4}}, {{42}}}},
    {"limits", target = "trn3", {nd.array {{-math.huge, math.huge, 0}}}, function(a)
      local out = sb(a.shape)
      nisa.exponential(out, a)
      return out
    end, {{{0, math.huge, 1}}}},
  },
}
