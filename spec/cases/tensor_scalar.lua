-- nisa.tensor_scalar
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb, ps = case.sbuf, case.psum

local function scalar(options, dtype)
  return function(data, operand0, operand1)
    local all = {dst = sb(data.shape, dtype), data = data, operand0 = operand0, operand1 = operand1}
    nisa.tensor_scalar(case.with(all, options))
    return all.dst
  end
end

-- op0 alone, with an operand: what is refused about the operands.
local refused = case.calls(nisa.tensor_scalar, function()
  return {dst = sb {4, 8}, data = sb {4, 8}, op0 = nl.add, operand0 = 1.0}
end)

local x = nd.array {{1, 2, 3}, {4, 5, 6}}
local ints = nd.array({{1, 0x0F, 0xF0}}, "uint8")
return {
  accept = {
    {"the scalar engine on gen3", target = "trn2", function()
      nisa.tensor_scalar {dst = sb {4, 8}, data = sb {4, 8}, op0 = nl.multiply, operand0 = 2.0, op1 = nl.add,
        operand1 = 1.0,
                          engine = nisa.engine.scalar}
    end},
    {"a one-operand operator with 0 in the operand's place", function()
      nisa.tensor_scalar(sb {4, 8}, sb {4, 8}, nl.abs, 0)
    end},
    {"columns in psum", function() nisa.tensor_scalar(sb {4, 8}, sb {4, 8}, nl.add, ps {4, 1}) end},
  },
  reject = {
    {"err_num_partition_mismatch", "dst and operand0", rule = "same_partitions",
     refused(function() return {operand0 = sb {8, 1}} end)},
    {"err_num_elements_mismatch", "dst has 8 elements per partition and data has 4", rule = "same_count",
     refused(function() return {data = sb {4, 4}} end)},
    {"err_gpsimd_memory", "engine gpsimd reaches sbuf only, and data", rule = "gpsimd_reach",
     refused(function() return {data = ps {4, 8}, engine = nisa.engine.gpsimd} end)},
    {"err_operand_missing", "operator add (op0) takes two operands, so operand0 is required", rule = "operand_given",
     function() nisa.tensor_scalar(sb {4, 8}, sb {4, 8}, nl.add) end},
    {"err_operand_missing", "operator multiply (op1) takes two operands, so operand1 is required",
     rule = "operand_given",
     refused(function() return {op1 = nl.multiply} end)},
    {"err_operand_surplus", "operand1 is given, but op1 is not", rule = "operand_given",
     refused(function() return {operand1 = 2.0} end)},
    {"err_operand_surplus", "operand0 is given, but op0 is a one-operand operator", rule = "operand_given",
     refused(function() return {op0 = nl.abs} end)},
    {"err_operator_class", "op0 add and op1 bitwise_and cannot be combined", rule = "same_class", refused(function()
      return {dst = sb({4, 8}, nl.int32), data = sb({4, 8}, nl.int32), op1 = nl.bitwise_and, operand1 = 1}
    end)},
    {"err_operator_engine", "engine gpsimd cannot execute op0 abs", rule = "op_engine",
     refused(function() return {op0 = nl.abs, operand0 = 0, engine = nisa.engine.gpsimd} end)},
    {"err_bitvec_dtype", "bitwise operator bitwise_and takes integer tiles", rule = "bitvec_int",
     refused(function() return {op0 = nl.bitwise_and, operand0 = 3} end)},
    {"err_unsupported_dtype", "float32 for an arithmetic operator",
     refused(function() return {operand0 = sb({4, 1}, nl.bfloat16)} end)},
    {"err_unsupported_dtype", "integers as wide as data for a bitwise operator", refused(function()
      return {dst = sb({4, 8}, nl.int8), data = sb({4, 8}, nl.int8), op0 = nl.bitwise_and,
        operand0 = sb({4, 1}, nl.int32)}
    end)},
    {"err_argument_value", "operand0 is 256; uint8 takes integers 0..255", refused(function()
      return {dst = sb({4, 8}, nl.uint8), data = sb({4, 8}, nl.uint8), op0 = nl.bitwise_and, operand0 = 256}
    end)},
    {"err_column_expected", "operand0 must be one value per partition, shape (P,1)",
     refused(function() return {operand0 = sb {4, 8}} end)},
    {"err_argument_generation", "engine scalar needs gen3",
     refused(function() return {engine = nisa.engine.scalar} end)},
    {"err_instruction_invalid", "engine scalar executes (multiply, add), multiply alone or add alone", target = "trn2",
     refused(function() return {op1 = nl.add, operand1 = 2.0, engine = nisa.engine.scalar} end)},
    {"err_operator_set", "op0 cannot be average", refused(function() return {op0 = nl.average} end)},
  },
  numeric = {
    {"data op number", {x}, scalar {op0 = nl.subtract, operand0 = 10.0}, {{{-9, -8, -7}, {-6, -5, -4}}}},
    {"number op data", {x}, scalar {op0 = nl.subtract, operand0 = 10.0, reverse0 = true}, {{{9, 8, 7}, {6, 5, 4}}}},
    {"two operators", {x}, scalar {op0 = nl.multiply, operand0 = 2.0, op1 = nl.subtract, operand1 = 1.0},
     {{{1, 3, 5}, {7, 9, 11}}}},
    {"two operators, the second reversed", {x},
     scalar {op0 = nl.multiply, operand0 = 2.0, op1 = nl.subtract, operand1 = 1.0, reverse1 = true},
       {{{-1, -3, -5}, {-7, -9, -11}}}},
    {"a column per partition, unequal ones", {x, nd.array {{10}, {200}}, nd.array {{1}, {3}}},
     scalar {op0 = nl.add, op1 = nl.multiply}, {{{11, 12, 13}, {612, 615, 618}}}},
    {"one-operand operators", {nd.array {{-2, 0.5, 0}}}, function(a)
      local abs, inverse, none = sb(a.shape), sb(a.shape), sb(a.shape)
      nisa.tensor_scalar(abs, a, nl.abs)
      nisa.tensor_scalar(inverse, a, nl.reciprocal)
      nisa.tensor_scalar(none, a, nl.logical_not)
      return abs, inverse, none
    end, {{{2, 0.5, 0}}, {{-0.5, 2, math.huge}}, {{0, 0, 1}}}},
    {"the f32 result of op0 is not rounded to dst before op1", {nd.array {{1}}},
     scalar({op0 = nl.add, operand0 = 2.0 ^ -10, op1 = nl.multiply, operand1 = 1024.0}, nl.bfloat16),
       {nd.array({{1024}}, "bfloat16")}},
    {"comparisons", {x}, scalar({op0 = nl.greater_equal, operand0 = 3.0}, nl.uint8),
     {nd.array({{0, 0, 1}, {1, 1, 1}}, "uint8")}},
    {"bits, two operators", {ints}, scalar({op0 = nl.bitwise_and, operand0 = 0x3C, op1 = nl.left_shift, operand1 = 2},
     nl.uint8),
     {nd.array({{0, 0x30, 0xC0}}, "uint8")}},
    {"a shift by data", {ints}, scalar({op0 = nl.left_shift, operand0 = 1, reverse0 = true}, nl.uint8),
     {nd.array({{2, 0, 0}}, "uint8")}},
    {"inverted bits", {ints}, function(a)
      local out = sb(a.shape, nl.uint8)
      nisa.tensor_scalar(out, a, nl.invert)
      return out
    end, {nd.array({{0xFE, 0xF0, 0x0F}}, "uint8")}},
    {"rsqrt on GpSimd", {nd.array {{4, 0.25}}}, function(a)
      local out = sb(a.shape)
      nisa.tensor_scalar {dst = out, data = a, op0 = nl.rsqrt, engine = nisa.engine.gpsimd}
      return out
    end, {{{0.5, 2}}}},
  },
}
