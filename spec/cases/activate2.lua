-- nisa.activate2
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb, ps = case.sbuf, case.psum

local refused = case.calls(nisa.activate2, function()
  return {dst = sb {4, 8}, op = nl.copy, data = sb {4, 8}, imm0 = 2.0, imm1 = 1.0, op0 = nl.multiply,
    op1 = nl.add}
end)

local cmd = nisa.reduce_cmd
local function act(options)
  return function(x, imm0, imm1)
    local all = {dst = sb(x.shape), op = nl.copy, data = x, imm0 = imm0 or 2.0, imm1 = imm1 or 1.0, op0 = nl.multiply,
      op1 = nl.add}
    nisa.activate2(case.with(all, options))
    return all.dst
  end
end

local function folded(op, x)
  local out, res = sb(x.shape), sb {x.shape[0], 1}
  nisa.activate2 {dst = out, op = nl.copy, data = x, imm0 = 1.0, imm1 = 0.0, op0 = nl.multiply, op1 = nl.bypass,
    reduce_op = op, reduce_res = res,
                  reduce_cmd = cmd.reset_reduce}
  return res
end

local x = nd.array {{1, -2, 3}, {-4, 5, -6}}
return {
  accept = {
    {"columns of one dtype", target = "trn3",
     refused(function() return {imm0 = sb({4, 1}, nl.bfloat16), imm1 = ps({4, 1}, nl.bfloat16)} end)},
    {"nothing but the function", target = "trn3",
     refused(function() return {imm0 = 0, imm1 = 0, op0 = nl.bypass, op1 = nl.bypass} end)},
  },
  reject = {
    {"err_op_generation", "needs gen4", target = "trn2", refused(function() return {} end)},
    {"err_num_partition_mismatch", "dst and imm1", rule = "same_partitions", target = "trn3",
     refused(function() return {imm1 = sb {8, 1}} end)},
    {"err_num_partition_mismatch", "dst and relu_param", rule = "same_partitions", target = "trn3",
     refused(function() return {op = nl.prelu, relu_param = sb {8, 1}} end)},
    {"err_num_elements_mismatch", "dst has 8 elements per partition and data has 4", rule = "same_count",
     target = "trn3", refused(function() return {data = sb {4, 4}} end)},
    {"err_operand_surplus", "imm1 is given, but op1 is a one-operand operator", rule = "operand_given", target = "trn3",
     refused(function() return {op1 = nl.bypass} end)},
    {"err_dtype_mismatch", "imm0 and imm1 must have the same dtype", rule = "same_dtype", target = "trn3",
     refused(function() return {imm0 = sb {4, 1}, imm1 = sb({4, 1}, nl.bfloat16)} end)},
    {"err_instruction_invalid", "(op0, op1) is (add, subtract); before subtract only multiply", target = "trn3",
     refused(function() return {op0 = nl.add, op1 = nl.subtract} end)},
    {"err_instruction_invalid", "relu_param is the slope of prelu", target = "trn3",
     refused(function() return {relu_param = 0.5} end)},
    {"err_argument_value", "reduce_cmd is reset_reduce; it needs reduce_op", target = "trn3",
     refused(function() return {reduce_cmd = cmd.reset_reduce} end)},
    {"err_argument_value", "reduce_cmd is load_reduce; activate2 has no initial value", target = "trn3",
     refused(function() return {reduce_op = nl.add, reduce_cmd = cmd.load_reduce} end)},
    {"err_instruction_invalid", "reduce_res needs reduce_op", target = "trn3",
     refused(function() return {reduce_res = sb {4, 1}} end)},
    {"err_operator_set", "op0 cannot be maximum", target = "trn3", refused(function() return {op0 = nl.maximum} end)},
  },
  numeric = {
    {"a product and a sum", target = "trn3", {x}, act {}, {{{3, -3, 7}, {-7, 11, -11}}}},
    {"a product and a difference, each way round", target = "trn3", {x}, function(a)
      return act {op1 = nl.subtract} (a), act {op1 = nl.subtract, reverse1 = true} (a)
    end, {{{1, -5, 5}, {-9, 9, -13}}, {{-1, 5, -5}, {9, -9, 13}}}},
    {"one operator, reversed", target = "trn3", {x},
     act {op0 = nl.subtract, reverse0 = true, op1 = nl.bypass, imm1 = 0}, {{{1, 4, -1}, {6, -3, 8}}}},
    {"columns", target = "trn3", {x, nd.array {{2}, {3}}, nd.array {{10}, {20}}}, act {}, {{{12, 6, 16}, {8, 35, 2}}}},
    {"prelu with a slope", target = "trn3", {x},
     act {op = nl.prelu, op0 = nl.bypass, imm0 = 0, op1 = nl.bypass, imm1 = 0, relu_param = 0.25},
     {{{1, -0.5, 3}, {-1, 5, -1.5}}}},
    {"prelu with a slope per partition", target = "trn3", {x, nd.array {{0.5}, {2}}}, function(a, slope)
      return act {op = nl.prelu, op0 = nl.bypass, imm0 = 0, op1 = nl.bypass, imm1 = 0, relu_param = slope} (a)
    end, {{{1, -1, 3}, {-8, 5, -12}}}},
    {"every reduction", target = "trn3", {x}, function(a)
      return folded(nl.add, a), folded(nl.maximum, a), folded(nl.minimum, a), folded(nl.abs_max, a),
        folded(nl.abs_min, a)
    end, {{{2}, {-5}}, {{3}, {5}}, {{-2}, {-6}}, {{3}, {-6}}, {{1}, {-4}}}},
    {"a sum that goes on from activation's register", target = "trn3", {x}, function(a)
      local out, res = sb(a.shape), sb {2, 1}
      nisa.activation {dst = out, op = nl.copy, data = a, reduce_op = nl.add, reduce_cmd = cmd.reset_reduce}
      nisa.activate2 {dst = out, op = nl.square, data = a, imm0 = 0, imm1 = 0, op0 = nl.bypass, op1 = nl.bypass,
        reduce_op = nl.add,
                      reduce_res = res, reduce_cmd = cmd.reduce}
      return res
    end, {{{16}, {72}}}},
  },
}
