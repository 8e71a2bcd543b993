-- nisa.activation
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb, ps = case.sbuf, case.psum

local refused = case.calls(nisa.activation, function() return {dst = sb {4, 8}, op = nl.exp, data = sb {4, 8}} end)

local function act(op, dtype)
  return function(x, bias, scale)
    local out = sb(x.shape, dtype)
    nisa.activation {dst = out, op = op, data = x, bias = bias, scale = scale}
    return out
  end
end

local x = nd.array {{1, 2, 3}, {4, 5, 6}}
local numeric = {
  {"op(data * scale + bias)", {x, nd.array {{10}, {20}}, nd.array {{2}, {-1}}}, act(nl.copy),
   {{{12, 14, 16}, {16, 15, 14}}}},
  {"with a number for scale", {x, nd.array {{0.5}, {-0.5}}}, function(t, bias)
    local out = sb(t.shape)
    nisa.activation {dst = out, op = nl.square, data = t, bias = bias, scale = 2.0}
    return out
  end, {{{6.25, 20.25, 42.25}, {56.25, 90.25, 132.25}}}},
  {"with numbers for both on gen3", {x}, target = "trn2", function(t)
    local out = sb(t.shape)
    nisa.activation {dst = out, op = nl.relu, data = t, bias = -3.0, scale = 1.0}
    return out
  end, {{{0, 0, 0}, {1, 2, 3}}}},
  {"in the dtype of dst", {nd.array {{0.5, 1.5, -300}}}, act(nl.copy, nl.int8), {nd.array({{0, 2, -128}}, "int8")}},
  {"a running sum over two instructions", {x}, function(t)
    local out, total = sb(t.shape), sb {2, 1}
    nisa.activation {dst = out, op = nl.square, data = t, reduce_op = nl.add, reduce_cmd = nisa.reduce_cmd.reset_reduce}
    nisa.activation {dst = out, op = nl.copy, data = t, reduce_op = nl.add, reduce_cmd = nisa.reduce_cmd.reduce,
      reduce_res = total}
    return total
  end, {{{14 + 6}, {77 + 15}}}},
  {"a sum of the f32 values, not of those stored", {nd.array {{0.25, 0.25, 0.25, 0.25}}}, function(t)
    local out, total = sb(t.shape, nl.int8), sb {1, 1}
    nisa.activation {dst = out, op = nl.copy, data = t, reduce_op = nl.add, reduce_cmd = nisa.reduce_cmd.reset_reduce,
      reduce_res = total}
    return total, out
  end, {{{1}}, nd.array({{0, 0, 0, 0}}, "int8")}},
  {"a reduction that outlives dst in the same place", {nd.array {{3, 4}}}, function(t)
    nisa.activation {dst = t[{{}, {0, 1}}], op = nl.copy, data = t[{{}, {1, 2}}], reduce_op = nl.add,
                     reduce_cmd = nisa.reduce_cmd.reset_reduce, reduce_res = t[{{}, {0, 1}}]}
    return t
  end, {{{4, 4}}}},
}

-- Every function over its range, as float64 mathematics rounded once.
local oracle = case.oracle("activation.near.npz", {1, 71})
local domain = {log = "positive", sqrt = "positive", rsqrt = "positive", reciprocal = "positive", sin = "narrow",
  arctan = "narrow"}
for _, name in ipairs {"copy", "square", "relu", "sigmoid", "tanh", "exp", "abs", "sign", "gelu", "gelu_dx",
  "gelu_apprx_tanh",
                       "gelu_apprx_sigmoid", "gelu_apprx_sigmoid_dx", "silu", "silu_dx", "softplus", "mish", "erf",
                         "erf_dx", "log",
                       "sqrt", "rsqrt", "reciprocal", "sin", "arctan"} do
  numeric[#numeric + 1] = {name, {oracle[domain[name] or "x"]}, act(nl[name]), {oracle[name]},
    tolerance = {rtol = 2e-6, atol = 2e-7}}
end

return {
  accept = {
    {"psum in and out", refused(function() return {dst = ps {4, 8}, data = ps {4, 8}} end)},
    {"a bf16 bias and an f32 scale per partition",
     refused(function() return {bias = sb({4, 1}, nl.bfloat16), scale = sb {4, 1}} end)},
  },
  reject = {
    {"err_instruction_invalid", "only nisa.activate2 takes (relu_param)", target = "trn3",
     refused(function() return {op = nl.prelu} end)},
    {"err_num_partition_mismatch", "dst and bias", rule = "same_partitions",
     refused(function() return {bias = sb {8, 1}} end)},
    {"err_num_elements_mismatch", "dst has 8 elements per partition and data has 4", rule = "same_count",
     refused(function() return {data = sb {4, 4}} end)},
    {"err_activation_bias_invalid_type", "bias is", refused(function() return {bias = sb({4, 1}, nl.tfloat32)} end)},
    {"err_activation_scale_invalid_type", "scale is", refused(function() return {scale = sb({4, 1}, nl.bfloat16)} end)},
    {"err_activation_scale_scalar_or_vector", "scale must be a number or one value per partition",
     refused(function() return {scale = sb {4, 8}} end)},
    {"err_column_expected", "bias must be one value per partition", refused(function() return {bias = sb {4, 8}} end)},
    {"err_argument_generation", "a bias that is a number", refused(function() return {bias = 1.0} end)},
    {"err_argument_generation", "bias with reciprocal needs gen3",
     refused(function() return {op = nl.reciprocal, bias = sb {4, 1}} end)},
    {"err_argument_generation", "prelu needs gen4", refused(function() return {op = nl.prelu} end)},
    {"err_argument_value", "reduce_cmd is load_reduce",
     refused(function() return {reduce_op = nl.add, reduce_cmd = nisa.reduce_cmd.load_reduce} end)},
    {"err_argument_value", "it needs reduce_op add",
     refused(function() return {reduce_cmd = nisa.reduce_cmd.reduce} end)},
    {"err_instruction_invalid", "reduce_res needs reduce_op add",
     refused(function() return {reduce_res = sb {4, 1}} end)},
    {"err_operator_set", "reduce_op cannot be maximum", refused(function() return {reduce_op = nl.maximum} end)},
    {"err_unsupported_memory", "data must be in sbuf or psum", refused(function() return {data = case.hbm {4, 8}} end)},
  },
  numeric = numeric,
}
