-- Ports of public sample kernels, from the kernel library and from spec/programs/ports, against NumPy
-- (spec/oracles/kernels.py): in several dtypes, on sizes that fill no tile, with the IR's round trip and the run
-- without source that trip makes.
local nl, nd = require "nki.language", require "nki.ndarray"
local testing = require "nki.testing"
local trip = require "spec.support.trip"

local DATA = "spec/oracles/data/k_%s.npz"

-- Member `name` of the file; floats are stored as bfloat16 and converted to dtype.
local function reader(file, dtype)
  local path = DATA:format(file)
  return function(name, exact)
    if exact then return nd.load(path, name) end
    return nd.load(path, name, nl.bfloat16):astype(dtype)
  end
end

local F32, BF16, F16 = nl.float32, nl.bfloat16, nl.float16

-- Tolerances: an exact result has none; 16-bit results are half a unit of the last place off, and what they were made
-- of.
local function near(rtol, atol) return {rtol = rtol, atol = atol} end

-- name, file, arguments, tolerance by dtype. Outputs are compared in the oracle's dtype.
local library = {
  {"matmul", "matmul_tall.near", function(a) return a "lhsT", a "rhs", "float32" end,
   {[F32] = near(1e-5, 1e-5), [BF16] = near(1e-5, 1e-5), [F16] = near(1e-5, 1e-5)}},
  {"matmul", "matmul_flat.near", function(a) return a "lhsT", a "rhs" end,
   {[F32] = near(1e-5, 1e-5), [BF16] = near(4e-3, 1e-5)}},
  {"attention", "attention.near", function(a) return a "q", a "k", a "v" end,
   {[F32] = near(1e-5, 1e-6), [BF16] = near(1e-2, 5e-3), [F16] = near(2e-3, 1e-3)}},
  {"attention", "attention_causal.near", function(a) return a "q", a "k", a "v", true end,
   {[F32] = near(1e-5, 1e-6), [BF16] = near(1e-2, 5e-3)}},
  {"attention", "attention_long.near", function(a) return a "q", a "k", a "v", true end,
   {[F32] = near(1e-5, 1e-6), [BF16] = near(1e-2, 5e-3)}},
  {"rotary_embedding", "rotary.near", function(a) return a "x", a "cos", a "sin" end,
   {[F32] = near(1e-6, 1e-6), [BF16] = near(4e-3, 1e-6), [F16] = near(5e-4, 1e-6)}},
  {"embedding_rope", "embedding_rope.near",
   function(a) return a "table", a("ids", true), a "cos", a "sin", a("positions", true) end,
   {[F32] = near(1e-6, 1e-6), [BF16] = near(4e-3, 1e-6)}},
  {"mamba", "mamba.near", function(a) return a "delta", a "u", a "A", a "B", a "C" end,
   {[F32] = near(1e-5, 1e-5), [BF16] = near(4e-3, 1e-5)}},
  {"cumsum", "cumsum.near", function(a) return a "x" end, {[F32] = near(1e-5, 2e-5), [BF16] = near(4e-3, 2e-5)}},
  {"pool2d", "pool_max", function(a) return a "x", 3, 2, 1 end, {[F32] = {}, [BF16] = {}, [F16] = near(1e-3, 1e-6)}},
  {"pool2d", "pool_average.near", function(a) return a "x", 3, 1, 1, "average" end,
   {[F32] = near(1e-6, 1e-6), [BF16] = near(4e-3, 1e-6)}},
  {"pool2d", "pool_whole.near", function(a) return a "x", 2, nil, nil, "average" end,
   {[F32] = near(1e-6, 1e-6), [BF16] = near(4e-3, 1e-6)}},
  {"interpolate_bilinear_2x", "bilinear.near", function(a) return a "x" end,
   {[F32] = near(1e-6, 1e-6), [BF16] = near(4e-3, 1e-6)}},
  {"interpolate_bilinear_2x", "bilinear_bands.near", function(a) return a "x" end, {[F32] = near(1e-6, 1e-6)}},
  {"layernorm", "layernorm.near", function(a) return a "x", a "gamma", a "beta" end,
   {[F32] = near(1e-5, 1e-5), [BF16] = near(4e-3, 1e-5)}},
  {"layernorm", "layernorm_rows.near", function(a) return a "x", a "gamma", a "beta" end,
   {[F32] = near(1e-5, 1e-5), [BF16] = near(4e-3, 1e-5), [F16] = near(5e-4, 1e-5)}},
  {"softmax", "softmax.near", function(a) return a "x" end, {[F32] = near(1e-5, 1e-9), [BF16] = near(4e-3, 1e-9)}},
  {"softmax", "softmax_lengths.near", function(a) return a "x", a("lengths", true) end,
   {[F32] = near(1e-5, 1e-9), [BF16] = near(4e-3, 1e-9)}},
  {"cross_entropy", "cross_entropy.near", function(a) return a "logits", a("targets", true) end,
   {[F32] = near(1e-5, 1e-5), [BF16] = near(1e-5, 1e-5)}},
  {"cross_entropy", "cross_entropy_far.near", function(a) return a "logits", a("targets", true) end,
   {[F32] = near(1e-5, 1e-5), [F16] = near(1e-5, 1e-5)}},
  {"topk", "topk", function(a) return a "x", 21 end, {[F32] = {}, [BF16] = {}}},
  {"depthwise_conv1d", "conv1d.near", function(a) return a "x", a "weight", 1, 3 end,
   {[F32] = near(1e-5, 1e-6), [BF16] = near(4e-3, 1e-6)}},
  {"depthwise_conv1d", "conv1d_stride.near", function(a) return a "x", a "weight", 2, 3 end,
   {[F32] = near(1e-5, 1e-6)}},
  {"swiglu_mlp", "swiglu.near", function(a) return a "x", a "gate", a "up", a "down" end,
   {[F32] = near(2e-5, 2e-3), [BF16] = near(2e-2, 2)}},
  {"transpose", "turned", function(a) return a "x" end, {[F32] = {}, [BF16] = {}}},
  {"transpose2d", "turned_inside", function(a) return a("x", true), 3, 4 end, {[F32] = {}}},
  {"mx_matmul", "mx_e4m3fn.near", function(a) return a "lhsT", a "rhs" end, {[BF16] = near(1e-5, 1e-4)}},
  {"mx_matmul", "mx_e5m2.near", function(a) return a "lhsT", a "rhs", "float8_e5m2" end, {[BF16] = near(1e-5, 1e-4)}},
}

local ports = {
  {"lora", "lora.near", function(a) return a "xT", a "W", a "A", a "B", 0.5 end, {[F32] = near(1e-5, 1e-5)}},
  {"topk_mask", "topk_mask", function(a) return a "x", 21 end, {[F32] = {}}},
  {"find_nonzero", "nonzero", function(a) return a("x", true) end, {[F32] = {}}},
  {"scatter_add", "scatter_add", function(a) return a "table", a("index", true), a "rows" end, {[F32] = {}}},
  {"bitonic_sort", "sorted", function(a) return a "x" end, {[F32] = {}, [BF16] = {}, [F16] = near(5e-4, 1e-6)}},
  {"conv2d_taps", "conv2d.near", function(a) return a "x", a "w", a "bias", 1, 1 end,
   {[F32] = near(1e-5, 1e-5), [BF16] = near(4e-3, 1e-5)}},
  {"conv2d_taps", "conv2d_stride.near", function(a) return a "x", a "w", a "bias", 1, 2 end,
   {[F32] = near(1e-5, 1e-5), [F16] = near(1e-3, 1e-4)}},
  {"int4_matmul", "int4.near", function(a) return a "xT", a("wq", true), a "scales" end,
   {[F32] = near(1e-5, 1e-4), [BF16] = near(4e-3, 1e-4)}},
  {"resize_nearest", "nearest", function(a) return a "x", 8, 13 end, {[F32] = {}, [BF16] = {}}},
}

local function sorted(t)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

local function compare(out, want, tolerance)
  if out.dtype ~= want.dtype then out = out:astype(want.dtype) end
  if tolerance.rtol then
    testing.assert_allclose(out, want, tolerance)
  else
    testing.assert_equal(out, want)
  end
end

local function check(kernel, row, dtype)
  local read = reader(row[2], dtype)
  local outs = table.pack(trip.run(kernel, row[3](read)))
  for i = 1, outs.n do
    local want = nd.load(DATA:format(row[2]), i == 1 and "out" or "out" .. i - 1)
    compare(outs[i], want, row[4][dtype])
  end
end

local covered = {}

local function port(name) return dofile("spec/programs/ports/" .. name .. ".lua") end

local function all(list, load, kind)
  for _, row in ipairs(list) do
    covered[kind .. row[1]] = true
    for _, dtype in ipairs(sorted(row[4])) do
      it(("%s computes what NumPy computes: %s in %s"):format(row[1], row[2], dtype), function()
        check(load(row[1]), row, dtype)
      end)
    end
  end
end

describe("nki.kernels", function()
  all(library, function(name) return require("nki.kernels." .. name) end, "kernels/")
end)

describe("spec/programs/ports/", function()
  all(ports, port, "ports/")
end)

-- (a i + b j) mod modulus, around 0
local function integers(rows, cols, a, b, modulus, dtype)
  local list = {}
  for i = 0, rows - 1 do
    local row = {}
    for j = 0, cols - 1 do row[j + 1] = (a * i + b * j) % modulus - modulus // 2 end
    list[i + 1] = row
  end
  return nd.array(list, dtype)
end

-- Every 75th row and the sums of all rows and columns are NumPy's; all numbers are integers that float32 holds.
local function check_digest(file, out)
  local path = DATA:format(file)
  local rows = {}
  out = out:astype(F32)
  for i = 0, out.shape[0] - 1, 75 do
    local row = {}
    for j = 0, out.shape[1] - 1 do row[j + 1] = out:get(i, j) end
    rows[#rows + 1] = row
  end
  testing.assert_equal(nd.array(rows, F32), nd.load(path, "some"))
  testing.assert_equal(out:sum{axis = 1, keepdims = true}, nd.load(path, "rows"))
  testing.assert_equal(out:sum{axis = 0, keepdims = true}, nd.load(path, "cols"))
end

describe("products of integers are exact", function()
  local function exact(name, dtype, file, k, m, n, ...)
    local arguments = table.pack(...)
    covered["ports/" .. name] = true
    it(("in %s, %s"):format(name, dtype), function()
      local kernel = name == "matmul" and require "nki.kernels.matmul" or port(name)
      local left, right = integers(k, m, 7, 3, 17, dtype), integers(k, n, 5, 11, 13, dtype)
      check_digest(file, trip.run(kernel, left, right, table.unpack(arguments, 1, arguments.n)))
    end)
  end

  exact("matmul_basic", F32, "integers_one_tile", 100, 64, 300)
  exact("matmul_tiled", F32, "integers_blocks", 300, 300, 1100)
  exact("matmul_hoist_load", F32, "integers_blocks", 300, 300, 1100)
  exact("matmul_block_free", F32, "integers_blocks", 300, 300, 1100)
  exact("matmul_blocked_k", F32, "integers_blocks", 300, 300, 1100, 2, 1, 2)
  exact("matmul", F32, "integers_blocks", 300, 300, 1100)
  exact("matmul", BF16, "integers_blocks", 300, 300, 1100, "float32")
end)

describe("matmul_double_row", function()
  covered["ports/matmul_double_row"] = true
  it("multiplies 8-bit floats two rows at a time", function()
    local path = DATA:format "double_row"
    local a, b = nd.load(path, "lhsT", "float8_e4m3"), nd.load(path, "rhs", "float8_e4m3")
    local out = trip.run(port "matmul_double_row", a, b)
    testing.assert_equal(out, nd.load(path, "out"))
  end)
end)

describe("spmd_tensor_add", function()
  covered["ports/spmd_tensor_add"] = true
  it("adds over a grid of 2 x 3 programs", function()
    local kernel = port "spmd_tensor_add"[{2, 3}]
    local a, b = integers(200, 1100, 7, 3, 17, F32), integers(200, 1100, 5, 11, 13, F32)
    check_digest("integers_sum", trip.run(kernel, a, b))
  end)
end)

-- out * scale is y, but for the rounding to 4 bits.
describe("rmsnorm_quantize", function()
  covered["kernels/rmsnorm_quantize"] = true
  for _, dtype in ipairs{F32, BF16, F16} do
    for file, clip in pairs{["rmsnorm_quantize.near"] = 0, ["rmsnorm_quantize_clip.near"] = 1.5} do
      it(("gives back what NumPy normalises: %s in %s"):format(file, dtype), function()
        local read, path = reader(file, dtype), DATA:format(file)
        local q, scale = trip.run(require "nki.kernels.rmsnorm_quantize", read "x", read "gamma", nil, clip)
        assert.equal("float8_e4m3", q.dtype)
        testing.assert_allclose(scale, nd.load(path, "out1"), near(1e-6, 0))
        testing.assert_allclose(q:astype(F32) * scale, nd.load(path, "out"), near(0.0626, 2e-5))
      end)
    end
  end
end)

describe("the list of ports", function()
  it("has every kernel of the library and of spec/programs/ports", function()
    local lfs = require "lfs"
    for folder, kind in pairs{kernels = "kernels/", ["spec/programs/ports"] = "ports/"} do
      for name in lfs.dir(folder) do
        local stem = name:match "^(.*)%.lua$"
        if stem then assert.is_true(covered[kind .. stem], kind .. stem .. " is not run here") end
      end
    end
  end)
end)
