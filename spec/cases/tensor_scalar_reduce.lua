-- nisa.tensor_scalar_reduce
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb, ps = case.sbuf, case.psum

local refused = case.calls(nisa.tensor_scalar_reduce, function()
  return {dst = sb {4, 8}, data = sb {4, 8}, op0 = nl.add, operand0 = 1.0, reduce_op = nl.add}
end)

local function reduced(options, dtype)
  return function(x, operand0, init)
    local out, res = sb(x.shape, dtype), sb {x.shape[0], 1}
    local all = {dst = out, data = x, op0 = nl.add, operand0 = operand0 or 1.0, reduce_op = nl.add, reduce_res = res,
                 reduce_init = init}
    nisa.tensor_scalar_reduce(case.with(all, options))
    return out, res
  end
end

local cmd = nisa.reduce_cmd
local x = nd.array {{1, 2, 3}, {4, 5, 6}}
return {
  accept = {
    {"results in psum", refused(function() return {dst = ps {4, 8}, reduce_res = ps {4, 1}} end)},
    {"a one-operand operator", refused(function() return {op0 = nl.abs, operand0 = 0} end)},
  },
  reject = {
    {"err_num_partition_mismatch", "dst and reduce_res", rule = "same_partitions",
     refused(function() return {reduce_res = sb {8, 1}} end)},
    {"err_num_elements_mismatch", "dst has 8 elements per partition and data has 4", rule = "same_count",
     refused(function() return {data = sb {4, 4}} end)},
    {"err_operand_surplus", "operand0 is given, but op0 is a one-operand operator", rule = "operand_given",
     refused(function() return {op0 = nl.abs} end)},
    {"err_operator_engine", "engine vector cannot execute op0 power", rule = "op_engine",
     refused(function() return {op0 = nl.power} end)},
    {"err_argument_value", "reverse0 is true; tensor_scalar_reduce cannot swap",
     refused(function() return {reverse0 = true} end)},
    {"err_instruction_invalid", "reduce_init is read with reduce_cmd load_reduce only",
     refused(function() return {reduce_init = 1.0} end)},
    {"err_instruction_invalid", "reduce_cmd load_reduce needs reduce_init",
     refused(function() return {reduce_cmd = cmd.load_reduce} end)},
    {"err_instruction_invalid", "reduce_res_negate needs reduce_res",
     refused(function() return {reduce_res_negate = true} end)},
    {"err_operator_set", "op0 cannot be bitwise_and", refused(function() return {op0 = nl.bitwise_and} end)},
    {"err_operator_set", "reduce_op cannot be subtract", refused(function() return {reduce_op = nl.subtract} end)},
    {"err_unsupported_dtype", "operand0 is", refused(function() return {operand0 = sb({4, 1}, nl.bfloat16)} end)},
  },
  numeric = {
    {"values and their sums", {x}, reduced {}, {{{2, 3, 4}, {5, 6, 7}}, {{9}, {18}}}},
    {"products of a column's shifts", {x, nd.array {{1}, {-4}}}, reduced {reduce_op = nl.multiply},
     {{{2, 3, 4}, {0, 1, 2}}, {{24}, {0}}}},
    {"the least and the largest", {x}, function(a)
      local out, least, most = sb(a.shape), sb {2, 1}, sb {2, 1}
      nisa.tensor_scalar_reduce(out, a, nl.multiply, -1.0, nl.minimum, least)
      nisa.tensor_scalar_reduce(out, a, nl.multiply, -1.0, nl.maximum, most)
      return least, most
    end, {{{-3}, {-6}}, {{-1}, {-4}}}},
    {"a negated result", {x}, reduced {reduce_res_negate = true}, {{{2, 3, 4}, {5, 6, 7}}, {{-9}, {-18}}}},
    {"an initial number", {x}, reduced {reduce_cmd = cmd.load_reduce, reduce_init = 100.0},
     {{{2, 3, 4}, {5, 6, 7}}, {{109}, {118}}}},
    {"an initial column", {x, nd.array {{0}, {0}}, nd.array {{100}, {200}}}, reduced {reduce_cmd = cmd.load_reduce},
     {{{1, 2, 3}, {4, 5, 6}}, {{106}, {215}}}},
    {"a sum that goes on, whose sign the read-out does not change", {x}, function(a)
      local out, first, second = sb(a.shape), sb {2, 1}, sb {2, 1}
      nisa.tensor_scalar_reduce {dst = out, data = a, op0 = nl.add, operand0 = 0.0, reduce_op = nl.add,
        reduce_res = first, reduce_res_negate = true}
      nisa.tensor_scalar_reduce {dst = out, data = a, op0 = nl.add, operand0 = 0.0, reduce_op = nl.add,
        reduce_res = second, reduce_cmd = cmd.reduce}
      return first, second
    end, {{{-6}, {-15}}, {{12}, {30}}}},
    {"sums of the f32 results, not of the rounded ones", {nd.array {{256, 1}}}, reduced({operand0 = 1.0}, nl.bfloat16),
     {nd.array({{256, 2}}, "bfloat16"), {{259}}}},
  },
}
