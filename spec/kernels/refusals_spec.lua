-- What nki.kernels refuse: the error object names kernel and parameter, says what is there and what may be, and its
-- line is the caller's.
local nl, nd = require "nki.language", require "nki.ndarray"
local raises = require "spec.support.raises"

local function z(...) return nd.zeros({...}, nl.float32) end
local function b(...) return nd.zeros({...}, nl.bfloat16) end
local function i(...) return nd.zeros({...}, "int32") end

-- {kernel, {arguments}, id, text}
local faults = {
  {"matmul", {z(4, 5)}, "err_bind_missing", "nki.kernels.matmul: parameter 'rhs' is required"},
  {"matmul", {z(4, 5), z(5, 4)}, "err_bind_value", "parameter 'rhs' is float32[5,4]; its shape must be [K = 4, N]"},
  {"matmul", {z(4, 5), z(4, 5, 1)}, "err_bind_value", "'rhs' is float32[4,5,1]; its shape must be [K = 4, N]"},
  {"matmul", {z(4, 5), b(4, 5)}, "err_bind_value", "float32 goes with float32, and 'lhsT' is float32"},
  {"matmul", {i(4, 5), i(4, 5)}, "err_bind_value", "its dtype must be float32, bfloat16, float16"},
  {"matmul", {z(4, 5), z(4, 5), "int8"}, "err_bind_value", "'int8'; it is one of float32, bfloat16, float16"},
  {"matmul", {3, z(4, 5)}, "err_bind_kind", "parameter 'lhsT' must be a tensor, got 3"},
  {"matmul", {nl.add, z(4, 5)}, "err_bind_kind", "parameter 'lhsT' must be a tensor, got nl.add"},
  {"matmul", {z(4, 5), z(4, 5), 7}, "err_bind_kind", "parameter 'dtype' must be a string, got 7"},
  {"attention", {z(3, 8, 4), z(2, 8, 4), z(2, 4, 8)}, "err_bind_value", "its heads must be a multiple of k's 2"},
  {"attention", {z(2, 200, 4), z(2, 200, 4), z(2, 4, 8)}, "err_bind_value", "float32[2,200,4]; d is at most 128"},
  {"attention", {z(2, 8, 4), z(2, 8, 4), z(2, 4, 600)}, "err_bind_value", "float32[2,4,600]; d_v is at most 512"},
  {"attention", {z(2, 8, 4), b(2, 8, 4), z(2, 4, 8)}, "err_bind_value", "bfloat16[2,8,4]; its dtype must be float32"},
  {"attention", {z(2, 8, 4), z(2, 8, 3), z(2, 3, 8), true}, "err_bind_value",
   "with 4 queries there must be at least as many keys, not 3"},
  {"attention", {z(2, 8, 4), z(2, 8, 4), z(2, 4, 8), 1}, "err_bind_kind", "'causal' must be true or false, got 1"},
  {"attention", {z(2, 8, 4), z(2, 8, 4), z(2, 4, 8), false, 0 / 0}, "err_bind_value", "it must be finite"},
  {"attention", {z(2, 8, 4), z(2, 8, 4), z(2, 4, 8), false, "1"}, "err_bind_kind", "'scale' must be a number, got '1'"},
  {"rotary_embedding", {z(4, 5), z(4, 2), z(4, 2)}, "err_bind_value", "its columns must be half of x's 5"},
  {"rotary_embedding", {z(4, 6), z(4, 3), z(5, 3)}, "err_bind_value", "its shape must be [rows = 4, half = 3]"},
  {"embedding_rope", {z(9, 6), i(4, 1), z(3, 3), z(3, 3)}, "err_bind_value", "a row for each of the 4 ids"},
  {"embedding_rope", {z(9, 6), i(4, 1), z(4, 2), z(4, 2)}, "err_bind_value", "its columns must be half of table's 6"},
  {"embedding_rope", {z(9, 6), z(4, 1), z(4, 3), z(4, 3)}, "err_bind_value", "its dtype must be int32"},
  {"mamba", {z(1, 4, 5), z(1, 4, 5), z(4, 2), z(1, 3, 5), z(1, 2, 5)}, "err_bind_value",
   "'B' is float32[1,3,5]; its shape must be [batch = 1, states = 2, steps = 5]"},
  {"pool2d", {z(4, 5), 2}, "err_bind_value", "its shape must be [channels, height, width]"},
  {"pool2d", {z(1, 4, 5)}, "err_bind_missing", "parameter 'size' is required"},
  {"pool2d", {z(1, 4, 5), 0}, "err_bind_value", "parameter 'size' is 0; it is 1 to 256"},
  {"pool2d", {z(1, 4, 5), 2, 1, 2}, "err_bind_value", "parameter 'pad' is 2; it is 0 to 1"},
  {"pool2d", {z(1, 4, 5), 5}, "err_bind_value", "a window does not fit into float32[1,4,5] with pad 0"},
  {"pool2d", {z(1, 4, 5), 2, 2, 0, "min"}, "err_bind_value", "'op' is 'min'; it is one of max, average"},
  {"pool2d", {z(1, 4, 5), 1.5}, "err_bind_kind", "parameter 'size' must be an integer, got 1.5"},
  {"transpose", {z(4, 5, 6)}, "err_bind_value", "its shape must be [M, N]"},
  {"transpose2d", {z(4, 5), 2, 3}, "err_bind_value", "its rows must have rows * columns = 6 elements"},
  {"interpolate_bilinear_2x", {z(4, 5, 6)}, "err_bind_value", "[images, channels, height, width]"},
  {"layernorm", {z(4, 5), z(5, 1), z(1, 5)}, "err_bind_value", "its shape must be [1, cols = 5]"},
  {"rmsnorm_quantize", {z(4, 5), z(1, 5), nil, -1}, "err_bind_value", "a limit is positive (0: none)"},
  {"softmax", {z(4, 5), i(4, 2)}, "err_bind_value", "'lengths' is int32[4,2]; its shape must be [rows = 4, 1]"},
  {"cross_entropy", {z(4, 5), z(4, 1)}, "err_bind_value", "'targets' is float32[4,1]; its dtype must be int32"},
  {"cumsum", {i(4, 5)}, "err_bind_value", "'x' is int32[4,5]; its dtype must be"},
  {"topk", {z(4, 20000), 3}, "err_bind_value", "'x' is float32[4,20000]; n is at most 16384"},
  {"topk", {z(4, 20), 21}, "err_bind_value", "parameter 'k' is 21; it is 1 to 20"},
  {"depthwise_conv1d", {z(1, 4, 5), z(4, 6)}, "err_bind_value", "its taps do not fit into float32[1,4,5] with pad 0"},
  {"swiglu_mlp", {z(4, 5), z(5, 6), z(5, 7), z(6, 2)}, "err_bind_value", "its shape must be [hidden = 5, inner = 6]"},
  {"swiglu_mlp", {z(4, 5), b(5, 6), z(5, 6), z(6, 2)}, "err_bind_value", "bfloat16[5,6]; its dtype must be float32"},
  {"mx_matmul", {z(32, 4), b(32, 4)}, "err_bind_value", "'lhsT' is float32[32,4]; its dtype must be bfloat16, float16"},
  {"mx_matmul", {b(32, 4), b(32, 4), "float4"}, "err_bind_value", "it is one of float8_e4m3fn, float8_e5m2"},
}

local function last(list)
  local n = 0
  for k in pairs(list) do n = math.max(n, k) end
  return n
end

describe("nki.kernels", function()
  for _, fault in ipairs(faults) do
    it(fault[1] .. " refuses: " .. fault[4], function()
      local kernel = require("nki.kernels." .. fault[1])
      local e = raises(fault[3], fault[4], function() kernel(table.unpack(fault[2], 1, last(fault[2]))) end)
      assert.matches("refusals_spec%.lua$", e.file)
      assert.is_truthy(e.message:find("nki.kernels." .. fault[1] .. ": parameter '", 1, true), e.message)
    end)
  end

  it("say where a fault inside them is, and who called them", function()
    local nki = require "nki"
    local topk = require "nki.kernels.topk"
    local outer = nki.jit(function(x) return topk(x, 99) end, {func_name = "outer"})
    local e = raises("err_bind_value", "parameter 'k' is 99", function() outer(z(4, 20)) end)
    assert.matches("refusals_spec%.lua$", e.file)
  end)
end)
