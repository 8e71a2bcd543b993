-- nki.kernels at their edges, where the results are known without an oracle: parts that are carried over, single
-- elements, rows without elements, ties, numbers that are none.
local nl, nd = require "nki.language", require "nki.ndarray"
local testing = require "nki.testing"
local trip = require "spec.support.trip"
local gen = require "spec.support.generators"

local F32, INF = nl.float32, math.huge

local function run(name, ...) return trip.run(require("nki.kernels." .. name), ...) end

-- An array of f(indices...), which count from 0.
local function array(shape, f, dtype)
  local function fill(axis, index)
    return gen.rows(shape[axis], function(i)
      index[axis] = i
      if axis == #shape then return f(table.unpack(index)) end
      return fill(axis + 1, index)
    end)
  end
  return nd.array(fill(1, {}), dtype or F32)
end

describe("attention", function()
  it("gives v when there is one key, for each query of each head of the group", function()
    local q, k = nd.random.normal({4, 128, 3}, {seed = 1}), nd.random.normal({2, 128, 1}, {seed = 2})
    local v = array({2, 1, 5}, function(h, _, c) return 10 * h + c end)
    testing.assert_equal(run("attention", q, k, v), array({4, 3, 5}, function(h, _, c) return 10 * (h // 2) + c end))
  end)

  it("averages the keys that a causal query sees when all scores are equal", function()
    local v = array({1, 130, 1}, function(_, j) return j end)
    local q = nd.zeros{1, 2, 130}
    local out = run("attention", q, q, v, true)
    testing.assert_allclose(out, array({1, 130, 1}, function(_, i) return i / 2 end), {rtol = 1e-6, atol = 1e-6})
  end)

  it("lets the last query see all keys, the one before it all but one", function()
    local v = array({1, 600, 1}, function(_, j) return j end)
    local out = run("attention", nd.zeros{1, 2, 2}, nd.zeros{1, 2, 600}, v, true)
    testing.assert_allclose(out, nd.array({{{299}, {299.5}}}, F32), {rtol = 1e-6})
  end)

  it("takes a scale", function()
    local q, k, v = nd.ones{1, 1, 1}, nd.array({{{0, math.log(3)}}}, F32), nd.array({{{0}, {1}}}, F32)
    testing.assert_allclose(run("attention", q, k, v, false, 1), nd.array({{{0.75}}}, F32), {rtol = 1e-6})
    testing.assert_allclose(run("attention", q, k, v, false, 2), nd.array({{{0.9}}}, F32), {rtol = 1e-6})
  end)
end)

describe("mamba", function()
  it("carries its states from piece to piece", function()
    local one, steps = nd.ones{1, 2, 2100}, 2100
    local A = nd.full({2, 1}, -math.log(2), F32)
    local out = run("mamba", one, one, A, nd.ones{1, 1, steps}, nd.ones{1, 1, steps})
    local want = array({1, 2, steps}, function(_, _, t) return 2 - 2.0 ^ -t end)
    testing.assert_allclose(out, want, {rtol = 1e-5})
  end)

  it("sums over states", function()
    local one = nd.ones{1, 1, 1}
    local B, C = nd.array({{{1}, {2}, {3}}}, F32), nd.array({{{10}, {20}, {30}}}, F32)
    assert.equal(140, run("mamba", one, one, nd.zeros{1, 3}, B, C):get(0, 0, 0))
  end)
end)

describe("depthwise_conv1d", function()
  it("counts its taps at both ends and across pieces", function()
    local out = run("depthwise_conv1d", nd.ones{1, 1, 4100}, nd.ones{1, 3}, 1, 2)
    testing.assert_equal(out, array({1, 1, 4102}, function(_, _, i) return math.min(i + 1, 3, 4102 - i) end))
  end)

  it("pads beyond the taps", function()
    local out = run("depthwise_conv1d", nd.ones{1, 1, 1}, nd.array({{5}}, F32), 1, 2)
    assert.same({{{0, 0, 5, 0, 0}}}, out:totable())
  end)
end)

describe("swiglu_mlp", function()
  it("goes through all its tiles of tokens, inner columns and features", function()
    local x = array({515, 1}, function(t) return t % 3 end)
    local ones, down = nd.ones{1, 520}, array({520, 515}, function(_, j) return j % 7 end)
    local want = array({515, 515}, function(t, j)
      local z = t % 3
      return 520 * z / (1 + math.exp(-z)) * z * (j % 7)
    end)
    testing.assert_allclose(run("swiglu_mlp", x, ones, ones, down), want, {rtol = 1e-5})
  end)
end)

describe("softmax", function()
  it("does not look at what stands behind a row's length", function()
    local x = nd.array({{0, 0, 0 / 0, INF}, {0 / 0, 1, 2, 3}, {5, 5, 5, 5}, {-INF, 1, 9, 9}}, F32)
    local lengths = nd.array({{2}, {0}, {4}, {2}}, "int32")
    local want = {{0.5, 0.5, 0, 0}, {0, 0, 0, 0}, {0.25, 0.25, 0.25, 0.25}, {0, 1, 0, 0}}
    assert.same(want, run("softmax", x, lengths):totable())
  end)
end)

describe("cross_entropy", function()
  it("is infinite where the target is no class or has no probability", function()
    local logits = nd.array({{0, 0}, {0, 0}, {0, 0}, {-INF, 1}}, F32)
    local loss, lse = run("cross_entropy", logits, nd.array({{-1}, {2}, {1}, {0}}, "int32"))
    assert.same({{INF}, {INF}, {loss:get(2, 0)}, {INF}}, loss:totable())
    assert.near(math.log(2), loss:get(2, 0), 1e-6)
    assert.near(1, lse:get(3, 0), 1e-6)
  end)
end)

describe("topk", function()
  it("orders equal values by their place, across groups of eight", function()
    local x = array({2, 20}, function(r, c) return r == 0 and 1 or c % 2 end)
    local values, indices = run("topk", x, 12)
    assert.same({gen.rows(12, function() return 1 end),
                 gen.rows(12, function(i) return i < 10 and 1 or 0 end)}, values:totable())
    assert.same({gen.rows(12, function(i) return i end),
                 gen.rows(12, function(i) return i < 10 and 2 * i + 1 or 2 * (i - 10) end)}, indices:totable())
  end)

  it("takes rows of fewer than eight elements, and all of them", function()
    local values, indices = run("topk", nd.array({{3, -1, 7}, {-5, -6, -4}}, "float16"), 3)
    assert.same({{7, 3, -1}, {-4, -5, -6}}, values:totable())
    assert.same({{2, 0, 1}, {2, 0, 1}}, indices:totable())
  end)
end)

describe("mx_matmul", function()
  it("multiplies single numbers and odd sizes", function()
    local a, b = nd.array({{3}}, nl.bfloat16), nd.array({{0.5, -2, 0}}, nl.bfloat16)
    assert.same({{1.5, -6, 0}}, run("mx_matmul", a, b):totable())
  end)

  it("is exact where four bits of mantissa are enough, across tiles of K, M and N", function()
    local a = array({519, 130}, function(k, m) return (k + m) % 8 end, nl.bfloat16)
    local out = run("mx_matmul", a, nd.ones({519, 513}, nl.bfloat16), "float8_e4m3fn", "bfloat16")
    local sums = gen.rows(130, function(m)
      local s = 0
      for k = 0, 518 do s = s + (k + m) % 8 end
      return s
    end)
    testing.assert_equal(out, array({130, 513}, function(m) return sums[m + 1] end):astype(nl.bfloat16))
  end)
end)

describe("rmsnorm_quantize", function()
  it("keeps a row of zeros, with the least scale", function()
    local q, scale = run("rmsnorm_quantize", nd.zeros{1, 4})
    assert.same({{0, 0, 0, 0}}, q:totable())
    testing.assert_allclose(scale, {{1e-6}}, {rtol = 1e-6})
  end)

  it("uses the whole range of the format", function()
    local q = run("rmsnorm_quantize", nd.array({{1, -2, 4}, {-4, 1, 0}}, F32))
    assert.same({{60, -120, 240}, {-240, 60, 0}}, q:totable())
  end)
end)

describe("pool2d", function()
  it("keeps an image in windows of one", function()
    local x = nd.random.normal({3, 4, 5}, {seed = 1})
    testing.assert_equal(run("pool2d", x, 1), x)
    testing.assert_equal(run("pool2d", x, 1, nil, nil, "average"), x)
  end)

  it("takes the maximum of what is inside only", function()
    local x = nd.full({1, 2, 2}, -3, F32)
    assert.same({{{-3, -3}, {-3, -3}}}, run("pool2d", x, 2, 2, 1):totable())
    assert.same({{{-0.75, -0.75}, {-0.75, -0.75}}}, run("pool2d", x, 2, 2, 1, "average"):totable())
  end)

  it("reads large windows that overlap in as many pieces as the engine needs", function()
    local x = array({1, 60, 300}, function(_, i, j) return (i * 7 + j * 5) % 64 end)
    testing.assert_equal(run("pool2d", x, 20, 1), nd.full({1, 41, 281}, 63, F32))
    local whole = array({1, 180, 180}, function(_, i, j) return i * 180 + j end)
    testing.assert_allclose(run("pool2d", whole, 180, nil, nil, "average"), {{{16199.5}}}, {rtol = 1e-5})
  end)

  it("goes through wide images band by band", function()
    local x = array({1, 40, 1200}, function(_, i, j) return i * 2 + j end)
    testing.assert_equal(run("pool2d", x, 3, 2), array({1, 19, 599}, function(_, i, j) return 4 * i + 2 * j + 6 end))
  end)
end)

describe("interpolate_bilinear_2x", function()
  it("keeps a single pixel, and puts two between their halves", function()
    assert.same({{{{7, 7}, {7, 7}}}}, run("interpolate_bilinear_2x", nd.full({1, 1, 1, 1}, 7, F32)):totable())
    assert.same({{{{0, 1, 3, 4}, {0, 1, 3, 4}}}}, run("interpolate_bilinear_2x", nd.array({{{{0, 4}}}}, F32)):totable())
  end)
end)

describe("transpose", function()
  for _, dtype in ipairs{"int8", "uint16", "int32", "float16"} do
    it("turns " .. dtype, function()
      local x = array({130, 9}, function(i, j) return (i * 9 + j) % 120 end, dtype)
      testing.assert_equal(run("transpose", x), array({9, 130}, function(j, i) return (i * 9 + j) % 120 end, dtype))
    end)
  end
end)

describe("embedding_rope", function()
  it("numbers positions from 0 when none are given, and needs a row of angles for each", function()
    local table_ = nd.array({{1, 2}, {3, 4}}, F32)
    local cos, sin = nd.array({{1}, {0}, {1}}, F32), nd.array({{0}, {1}, {0}}, F32)
    local ids = nd.array({{1}, {1}, {0}}, "int32")
    assert.same({{3, 4}, {-4, 3}, {1, 2}}, run("embedding_rope", table_, ids, cos, sin):totable())
  end)

  it("stops at an id that names no row", function()
    local one, ids = nd.ones{1, 1}, nd.array({{5}}, "int32")
    local ok, e = pcall(require "nki.kernels.embedding_rope", nd.ones{2, 2}, ids, one, one)
    assert.is_false(ok)
    assert.matches("index 5", tostring(e))
  end)
end)
