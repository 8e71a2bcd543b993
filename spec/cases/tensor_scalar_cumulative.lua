-- nisa.tensor_scalar_cumulative
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb, ps = case.sbuf, case.psum

local refused = case.calls(nisa.tensor_scalar_cumulative, function()
  return {dst = sb {4, 8}, src = sb {4, 8}, op0 = nl.add, op1 = nl.add, imm0 = 1.0}
end)

local function running(options, dtype)
  return function(x, imm0, imm1)
    local all = {dst = sb(x.shape, dtype), src = x, op0 = nl.add, op1 = nl.add, imm0 = imm0 or 0.0, imm1 = imm1}
    nisa.tensor_scalar_cumulative(case.with(all, options))
    return all.dst
  end
end

local cmd = nisa.reduce_cmd
local x = nd.array {{1, 2, 3, 4}, {5, -1, 2, 10}}
return {
  accept = {
    {"integers of 16 bits", refused(function() return {src = sb({4, 8}, nl.int16), dst = sb({4, 8}, nl.int16)} end)},
    {"tiles in psum", refused(function() return {src = ps {4, 8}, dst = ps {4, 8}} end)},
  },
  reject = {
    {"err_num_partition_mismatch", "dst and imm0", rule = "same_partitions",
     refused(function() return {imm0 = sb {8, 1}} end)},
    {"err_num_elements_mismatch", "dst has 8 elements per partition and src has 4", rule = "same_count",
     refused(function() return {src = sb {4, 4}} end)},
    {"err_operand_surplus", "imm0 is given, but op0 is a one-operand operator", rule = "operand_given",
     refused(function() return {op0 = nl.abs} end)},
    {"err_operator_engine", "engine vector cannot execute op0 rsqrt", rule = "op_engine",
     refused(function() return {op0 = nl.rsqrt, imm0 = 0.0} end)},
    {"err_unsupported_dtype", "src is", refused(function() return {src = sb({4, 8}, nl.int32)} end)},
    {"err_instruction_invalid", "reduce_cmd load_reduce needs imm1",
     refused(function() return {reduce_cmd = cmd.load_reduce} end)},
    {"err_instruction_invalid", "imm1 is read with reduce_cmd load_reduce only",
     refused(function() return {imm1 = 1.0} end)},
    {"err_argument_value", "reduce_cmd is idle; a running result starts at a value",
     refused(function() return {reduce_cmd = cmd.idle} end)},
    {"err_argument_value", "reduce_cmd is reset; a running result starts at a value",
     refused(function() return {reduce_cmd = cmd.reset} end)},
    {"err_operator_set", "op1 cannot be power", refused(function() return {op1 = nl.power} end)},
  },
  numeric = {
    {"running sums", {x}, running {}, {{{1, 3, 6, 10}, {5, 4, 6, 16}}}},
    {"running maxima of scaled values", {x}, running {op0 = nl.multiply, imm0 = 2.0, op1 = nl.maximum},
     {{{2, 4, 6, 8}, {10, 10, 10, 20}}}},
    {"the new value on the left of subtract", {x}, running {op1 = nl.subtract}, {{{1, 1, 2, 2}, {5, -6, 8, 2}}}},
    {"running products", {x}, running {op1 = nl.multiply}, {{{1, 2, 6, 24}, {5, -5, -10, -100}}}},
    {"an initial number", {x}, running {op1 = nl.minimum, reduce_cmd = cmd.load_reduce, imm1 = 2.5},
     {{{1, 1, 1, 1}, {2.5, -1, -1, -1}}}},
    {"columns of values to add and to start from", {x, nd.array {{0}, {1}}, nd.array {{100}, {1000}}},
     running {reduce_cmd = cmd.load_reduce},
     {{{101, 103, 106, 110}, {1006, 1006, 1009, 1020}}}},
    {"a sum that goes on in the next instruction, in f32 whatever dst is", {nd.array {{256, 1}}}, function(a)
      local first, second = sb(a.shape, nl.bfloat16), sb(a.shape)
      nisa.tensor_scalar_cumulative(first, a, nl.add, nl.add, 0.0)
      nisa.tensor_scalar_cumulative {dst = second, src = a, op0 = nl.add, op1 = nl.add, imm0 = 0.0,
        reduce_cmd = cmd.reduce}
      return first, second
    end, {nd.array({{256, 256}}, "bfloat16"), {{513, 514}}}},
    {"in place", {x}, function(a)
      nisa.tensor_scalar_cumulative(a, a, nl.add, nl.add, 0.0)
      return a
    end, {{{1, 3, 6, 10}, {5, 4, 6, 16}}}},
  },
}
