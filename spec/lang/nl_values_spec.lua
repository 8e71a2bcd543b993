-- The numbers of every nl function, against closed forms in double precision; and the instructions that compute them.
local kernel = require "spec.support.kernel"
local nki, nl, nisa, nd = require "nki", require "nki.language", require "nki.isa", require "nki.ndarray"

-- Every element of the result is near to f of the same element.
local function check(result, expected, tol)
  local got = result:totable()
  assert.equal(#expected, #got)
  for i, row in ipairs(expected) do
    assert.equal(#row, #got[i])
    for j, want in ipairs(row) do
      local have = got[i][j]
      if want ~= want then
        assert.is_true(have ~= have, ("[%d][%d]: %s is no NaN"):format(i, j, have))
      else
        local near = math.abs(have - want) <= (tol or 1e-6) * math.max(1, math.abs(want))
        assert.is_true(have == want or near, ("[%d][%d]: %.9g, not %.9g"):format(i, j, have, want))
      end
    end
  end
end

local function map(a, f)
  local r = {}
  for i, row in ipairs(a) do
    r[i] = {}
    for j, v in ipairs(row) do r[i][j] = f(v, i, j) end
  end
  return r
end

local x = {{-2.5, -1, -0.5, 0}, {0.25, 0.5, 1.5, 3}}
local y = {{2, -3, 0.5, 4}, {-1, 2, 1.5, 0.5}}

local function bool(b) return b and 1 or 0 end
local function erf(v) -- a series; |v| <= 3
  local sum, term = v, v
  for n = 1, 80 do
    term = -term * v * v / n
    sum = sum + term / (2 * n + 1)
  end
  return 2 / math.sqrt(math.pi) * sum
end
local function sigmoid(v) return 1 / (1 + math.exp(-v)) end
local function tanh(v) return (math.exp(v) - math.exp(-v)) / (math.exp(v) + math.exp(-v)) end
local function softplus(v) return math.log(1 + math.exp(v)) end

describe("element-wise functions of two tiles", function()
  local f = {
    add = function(a, b) return a + b end,
    subtract = function(a, b) return a - b end,
    multiply = function(a, b) return a * b end,
    divide = function(a, b) return a / b end,
    maximum = math.max,
    minimum = math.min,
    mod = function(a, b) return a - math.floor(a / b) * b end,
    fmod = math.fmod,
    equal = function(a, b) return bool(a == b) end,
    not_equal = function(a, b) return bool(a ~= b) end,
    less = function(a, b) return bool(a < b) end,
    less_equal = function(a, b) return bool(a <= b) end,
    greater = function(a, b) return bool(a > b) end,
    greater_equal = function(a, b) return bool(a >= b) end,
    logical_and = function(a, b) return bool(a ~= 0 and b ~= 0) end,
    logical_or = function(a, b) return bool(a ~= 0 or b ~= 0) end,
    logical_xor = function(a, b) return bool((a ~= 0) ~= (b ~= 0)) end,
  }
  for name, fn in pairs(f) do
    it("nl." .. name, function()
      check(kernel.run(function(s, t) return nl[name](s, t) end, x, y), map(x,
        function(v, i, j) return fn(v, y[i][j]) end))
      check(kernel.run(function(s) return nl[name](s, 1.5) end, x), map(x, function(v) return fn(v, 1.5) end))
      check(kernel.run(function(s) return nl[name](1.5, s) end, y), map(y, function(v) return fn(1.5, v) end))
    end)
  end

  it("nl.power", function()
    local base = {{1, 2, 3, 4}}
    local e = {{2, 0.5, -1, 3}}
    check(kernel.run(function(s, t) return s ^ t end, base, e), map(base,
      function(v, i, j) return v ^ e[i][j] end), 1e-5)
    check(kernel.run(function(s) return s ^ 2 end, x), map(x, function(v) return v * v end), 1e-5)
    check(kernel.run(function(s) return 2 ^ s end, x), map(x, function(v) return 2 ^ v end), 1e-5)
  end)

  it("on a column and a tile", function()
    check(kernel.run(function(s) return s - nl.max(s, 1) end, x), map(x,
      function(v, i) return v - math.max(table.unpack(x[i])) end))
    check(kernel.run(function(s) return nl.max(s, 1) - s end, x), map(x,
      function(v, i) return math.max(table.unpack(x[i])) - v end))
    check(kernel.run(function(s) return nl.divide(nl.max(s, 1), s) end, y), map(y,
      function(v, i) return math.max(table.unpack(y[i])) / v end))
  end)

  it("bit operations", function()
    local a = {{12, 10, 255, 1}}
    local function ints(fn)
      return kernel.run(function(s)
        local i = nl.copy(s, nl.uint8)
        return nl.copy(fn(i), nl.float32)
      end, a)
    end
    check(ints(function(i) return i & 10 end), {{8, 10, 10, 0}})
    check(ints(function(i) return i | 3 end), {{15, 11, 255, 3}})
    check(ints(function(i) return i ~ i end), {{0, 0, 0, 0}})
    check(ints(function(i) return ~i end), {{243, 245, 0, 254}})
    check(ints(function(i) return i << 1 end), {{24, 20, 254, 2}})
    check(ints(function(i) return i >> 2 end), {{3, 2, 63, 0}})
  end)
end)

describe("element-wise functions of one tile", function()
  local pos = {{0.25, 0.5, 1, 2}, {3, 4, 10, 100}}
  local f = {
    negative = function(v) return -v end,
    abs = math.abs,
    square = function(v) return v * v end,
    sign = function(v) return v > 0 and 1 or v < 0 and -1 or 0 end,
    exp = math.exp,
    tanh = tanh,
    sigmoid = sigmoid,
    relu = function(v) return math.max(v, 0) end,
    gelu = function(v) return v / 2 * (1 + erf(v / math.sqrt(2))) end,
    gelu_dx = function(v)
      return (1 + erf(v / math.sqrt(2))) / 2 + v * math.exp(-v * v / 2) / math.sqrt(2 * math.pi)
    end,
    gelu_apprx_tanh = function(v) return v / 2 * (1 + tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v ^ 3))) end,
    gelu_apprx_sigmoid = function(v) return v * sigmoid(1.702 * v) end,
    gelu_apprx_sigmoid_dx = function(v)
      local s = sigmoid(1.702 * v)
      return s + 1.702 * v * s * (1 - s)
    end,
    silu = function(v) return v * sigmoid(v) end,
    silu_dx = function(v) return sigmoid(v) + v * sigmoid(v) * (1 - sigmoid(v)) end,
    softplus = softplus,
    mish = function(v) return v * tanh(softplus(v)) end,
    erf = erf,
    erf_dx = function(v) return 2 / math.sqrt(math.pi) * math.exp(-v * v) end,
    sin = math.sin,
    cos = math.cos,
    tan = math.tan,
    ceil = math.ceil,
    floor = math.floor,
    trunc = function(v) return v < 0 and math.ceil(v) or math.floor(v) end,
    logical_not = function(v) return bool(v == 0) end,
    copy = function(v) return v end,
  }
  for name, fn in pairs(f) do
    it("nl." .. name, function() check(kernel.run(function(s) return nl[name](s) end, x), map(x, fn), 2e-6) end)
  end
  local g = {
    log = function(v) return math.log(v) end,
    sqrt = math.sqrt,
    rsqrt = function(v) return 1 / math.sqrt(v) end,
    reciprocal = function(v) return 1 / v end,
  }
  for name, fn in pairs(g) do
    it("nl." .. name, function() check(kernel.run(function(s) return nl[name](s) end, pos), map(pos, fn), 2e-6) end)
  end
  it("nl.arctan", function()
    local small = {{-1.5, -0.5, 0, 1.25}}
    check(kernel.run(function(s) return nl.arctan(s) end, small), map(small, math.atan), 2e-6)
  end)
  it("nl.sin of large arguments", function()
    local big = {{9, -20, 100, 1000}}
    check(kernel.run(function(s) return nl.sin(s) end, big), map(big, math.sin), 1e-5)
  end)
  it("take dtype=", function()
    local r = kernel.run(function(s) return nl.exp(s, nl.bfloat16) end, {{0, 1}})
    assert.equal("bfloat16", r.dtype)
    check(r, {{1, 2.71875}})
  end)
end)

describe("reductions", function()
  local cube = {{1, 2, 3, 4, 5, 6}, {-1, 0, 2, 4, -3, 1}}
  local function rows(fn) return map({{0}, {0}}, function(_, i) return fn(cube[i]) end) end
  local function fold(op, list)
    local r = list[1]
    for k = 2, #list do r = op(r, list[k]) end
    return r
  end
  local function mean(list) return fold(function(a, b) return a + b end, list) / #list end
  local function var(list)
    local m, s = mean(list), 0
    for _, v in ipairs(list) do s = s + (v - m) ^ 2 end
    return s / #list
  end
  local f = {
    sum = function(l) return fold(function(a, b) return a + b end, l) end,
    prod = function(l) return fold(function(a, b) return a * b end, l) end,
    max = function(l) return math.max(table.unpack(l)) end,
    min = function(l) return math.min(table.unpack(l)) end,
    mean = mean,
    var = var,
    all = function(l) return fold(function(a, b) return bool(a ~= 0 and b ~= 0) end, l) end,
  }
  for name, fn in pairs(f) do
    it("nl." .. name, function()
      check(kernel.run(function(s) return nl[name](s, 1) end, cube), rows(fn), 1e-5)
      check(kernel.run(function(s) return nl[name](s, {1}) end, cube), rows(fn), 1e-5)
      check(kernel.run(function(s) -- both free axes of a 3-D tile
        return nl.copy(nl[name](s:reshape {2, 3, 2}, {-1, 1})):reshape {2, 1}
      end, cube), rows(fn), 1e-5)
    end)
    it("nl." .. name .. " over the last axis only", function()
      local want = map({{0, 0, 0}, {0, 0, 0}}, function(_, i, j) return fn({cube[i][2 * j - 1], cube[i][2 * j]}) end)
      check(kernel.run(function(s) return nl.copy(nl[name](s:reshape {2, 3, 2}, 2)):reshape {2, 3} end, cube), want,
        1e-5)
    end)
  end

  it("keep axes when asked, var always", function()
    kernel.trace(function(t)
      local c = t:reshape {128, 8, 8}
      assert.equal("{128, 8}", tostring(nl.sum(c, 2).shape))
      assert.equal("{128, 8, 1}", tostring(nl.sum(c, 2, {keepdims = true}).shape))
      assert.equal("{128, 1}", tostring(nl.sum(c, {1, 2}).shape))
      assert.equal("{128, 1, 1}", tostring(nl.mean(c, {1, 2}, {keepdims = true}).shape))
      assert.equal("{128, 1, 1}", tostring(nl.var(c, {1, 2}).shape))
      assert.equal("float32", nl.mean(nl.zeros({4, 4}, nl.int8), 1).dtype)
      assert.equal("bfloat16", nl.sum(nl.zeros({4, 4}, nl.bfloat16), 1).dtype)
    end)
  end)

  local bad = {
    {0, "partition axis"}, {2, "set of free axes"}, {-2, "partition axis"}, {{1, 1}, "set of free axes"}, {{},
      "empty list"}, {"1", "integer"},
  }
  for _, case in ipairs(bad) do
    it("refuse axis " .. (type(case[1]) == "table" and "{" .. table.concat(case[1], ",") .. "}" or tostring(case[1])),
      function()
      local e = kernel.error_of(function(t) nl.sum(t, case[1]) end)
      assert.truthy(e:find(case[2], 1, true), tostring(e))
    end)
  end
  it("refuse axes that do not end at the last one", function()
    local e = kernel.error_of(function(t) nl.sum(t:reshape {128, 8, 8}, 1) end)
    assert.truthy(e:find("ends at the last one", 1, true))
  end)
end)

describe("compositions", function()
  it("nl.softmax over all free axes and over the last", function()
    local function soft(list)
      local m, s, r = math.max(table.unpack(list)), 0, {}
      for k, v in ipairs(list) do
        r[k] = math.exp(v - m)
        s = s + r[k]
      end
      for k in ipairs(r) do r[k] = r[k] / s end
      return r
    end
    check(kernel.run(function(s) return nl.softmax(s) end, x), {soft(x[1]), soft(x[2])})
    local pairs_of = {}
    for i, row in ipairs(x) do
      local a, b = soft {row[1], row[2]}, soft {row[3], row[4]}
      pairs_of[i] = {a[1], a[2], b[1], b[2]}
    end
    check(kernel.run(function(s) return nl.softmax(s:reshape {2, 2, 2}):reshape {2, 4} end, x), pairs_of)
    assert.equal("bfloat16", kernel.run(function(s) return nl.softmax(s, {dtype = nl.bfloat16}) end, x).dtype)
  end)

  it("nl.softmax survives large values", function()
    check(kernel.run(function(s) return nl.softmax(s) end, {{1000, 1000, -1000, 1000}}), {{1 / 3, 1 / 3, 0, 1 / 3}})
  end)

  it("nl.rms_norm with a weight per row and one row of weights", function()
    local w = {{1, 2, 3, 4}}
    local want = map(x, function(v, i, j)
      local s = 0
      for _, u in ipairs(x[i]) do s = s + u * u end
      return v / math.sqrt(s / 4 + 1e-6) * w[1][j]
    end)
    check(kernel.run(function(s, g) return nl.rms_norm(s, g, 1, 4) end, x, w), want)
    check(kernel.run(function(s, g) return nl.rms_norm(s, g, 1, 4) end, x, {w[1], w[1]}), want)
    local eps = kernel.run(function(s, g) return nl.rms_norm(s, g, {axis = 1, n = 4, epsilon = 3.75}) end, {{1, 0, 0,
      0}}, w)
    check(eps, {{0.5, 0, 0, 0}})
  end)

  it("nl.where selects by any nonzero condition", function()
    check(kernel.run(function(s, t) return nl.where(s, s, t) end, x, y), map(x,
      function(v, i, j) return v ~= 0 and v or y[i][j] end))
    check(kernel.run(function(s) return nl.where(nl.less(s, 0), 0, s) end, x), map(x,
      function(v) return math.max(v, 0) end))
    check(kernel.run(function(s) return nl.where(nl.less(s, 0), s, 7) end, x), map(x,
      function(v) return v < 0 and v or 7 end))
    check(kernel.run(function(s) return nl.where(nl.less(s, 0, nl.uint8), 1.5, 2.5) end, x), map(x,
      function(v) return v < 0 and 1.5 or 2.5 end))
    check(kernel.run(function(s, t) return nl.where(s, nl.copy(s, nl.bfloat16), t) end, x, y), map(x,
      function(v, i, j)
      return v ~= 0 and v or y[i][j]
    end))
  end)
end)

describe("movement", function()
  local a = {{1, 2, 3}, {4, 5, 6}}

  it("nl.transpose, small, large and of integers", function()
    check(kernel.run(function(s) return nl.transpose(s) end, a), {{1, 4}, {2, 5}, {3, 6}})
    for _, dtype in ipairs {"float32", "int32"} do
      local r = kernel.run(function(s) return nl.copy(nl.transpose(nl.copy(s, dtype)), nl.float32) end,
        nd.arange(100 * 64, {dtype = "float32"}):reshape {100, 64})
      assert.equal("{64, 100}", tostring(r.shape))
      assert.equal(99 * 64 + 63, r:get(63, 99))
      assert.equal(7 * 64 + 3, r:get(3, 7))
    end
  end)

  it("nl.matmul with and without transpose_x, unequal sizes", function()
    local want = {{22, 28}, {49, 64}}
    check(kernel.run(function(s, t) return nl.matmul(s, t) end, a, {{1, 2}, {3, 4}, {5, 6}}), want)
    check(kernel.run(function(s, t) return nl.matmul(s, t, true) end, {{1, 4}, {2, 5}, {3, 6}}, {{1, 2}, {3, 4}, {5,
      6}}), want)
    local e = kernel.error_of(function(t) nl.matmul(t, t) end)
    assert.equal("err_shape_mismatch", e.id)
    e = kernel.error_of(function(t) nl.matmul(t, t:expand_dim(1)) end)
    assert.equal("err_exceed_max_supported_dimension", e.id)
    assert.truthy(e:find("nl.matmul: parameter 'y', tile view [128,1,64] of sbuf_0[128,64]", 1, true))
    assert.truthy(e:find("has 3 dimensions; at most 2", 1, true))
    e = kernel.error_of(function() nl.load_transpose2d(nl.ndarray({8}, nl.float32, {buffer = nl.hbm})) end)
    assert.equal("err_two_dimensional", e.id)
    assert.truthy(e:find("nl.load_transpose2d: parameter 'src' has 1 axes", 1, true))
  end)

  it("nl.broadcast_to along free axes and partitions", function()
    check(kernel.run(function(s) return nl.broadcast_to(s, {3, 4}) end, {{1}, {2}, {3}}), {{1, 1, 1, 1}, {2, 2, 2, 2},
      {3, 3, 3, 3}})
    check(kernel.run(function(s) return nl.broadcast_to(s, {3, 2}) end, {{1, 2}}), {{1, 2}, {1, 2}, {1, 2}})
    check(kernel.run(function(s) return nl.broadcast_to(s, {5, 2}, nl.bfloat16) end, {{7}}), {{7, 7}, {7, 7}, {7, 7},
      {7, 7}, {7, 7}})
    local e = kernel.error_of(function(t) nl.broadcast_to(t, {128, 65}) end)
    assert.equal("err_shape_mismatch", e.id)
  end)

  it("nl.load, nl.store and nl.load_transpose2d", function()
    local k = nki.jit(function(h)
      local out = nl.ndarray({3, 2}, nl.float32, nl.shared_hbm)
      nl.store(out, nl.load_transpose2d(h))
      return out
    end, {platform_target = "trn2"})
    check(k(nd.array(a, "float32")), {{1, 4}, {2, 5}, {3, 6}})
    assert.equal("err_unsupported_memory", kernel.error_of(function(t) nl.load(t) end).id)
    assert.equal("err_unsupported_memory", kernel.error_of(function(t) nl.store(t, t) end).id)
    assert.equal("err_store_dst_shape_smaller_than_other_shape", kernel.error_of(function(t, _,
      out) nl.store(out["0:64"], t) end).id)
    local e = kernel.error_of(function(t, _, out) nl.store(out[{{0, 64}}], nl.matmul(t, t, true)) end)
    assert.equal("err_unsupported_memory", e.id)
    assert.truthy(e:find("nl.copy brings it there", 1, true), tostring(e))
    assert.equal("err_bind_value", kernel.error_of(function(_, h) nl.load(h[0]) end).id)
  end)

  it("nl.store keeps rows and columns apart", function()
    local k = nki.jit(function(h)
      local out = nl.ndarray({2, 3}, nl.float32, nl.shared_hbm)
      for i in nl.affine_range(2) do
        nl.store(out[{i, {0, 3}}], nl.load(h["0:1"]) * (i + 1)) -- a row, from a tile of one partition
      end
      return out
    end, {platform_target = "trn2"})
    check(k(nd.array(a, "float32")), {{1, 2, 3}, {2, 4, 6}})
  end)
end)

describe("creation", function()
  it("zeros, ones, full, like", function()
    local r = kernel.run(function(s)
      return nl.zeros(s.shape, nl.float32) + nl.ones(s.shape, nl.float32) + nl.full(s.shape, 2.5,
        nl.float32) + nl.zeros_like(s)
    end, {{9, 9}})
    check(r, {{3.5, 3.5}})
    kernel.trace(function(t)
      assert.equal("float32", nl.empty_like(t).dtype)
      assert.equal("bfloat16", nl.empty_like(t, nl.bfloat16).dtype)
      assert.equal(nl.psum, nl.empty_like(t, {buffer = nl.psum}).buffer)
      assert.equal(nl.psum, nl.zeros({4, 4}, nl.float32, nl.psum).buffer)
      assert.equal("n", nl.full({4, 4}, 1, nl.int8, {name = "n"}).name)
    end)
  end)

  local bad = {
    {"err_hbm_tensor_with_init_value_not_supported", "nl.zeros",
      function() nl.zeros({4, 4}, nl.float32, nl.shared_hbm) end},
    {"err_hbm_tensor_with_init_value_not_supported", "nl.full",
      function() nl.full({4, 4}, 1, nl.float32, nl.hbm) end},
    {"err_bind_kind", "nl.sbuf, nl.psum", function() nl.ndarray({4, 4}, nl.float32, "sbuf") end},
    {"err_bind_kind", "{partition, byte}", function() nl.ndarray({4, 4}, nl.float32, {address = 3}) end},
    {"err_address_partition", "partition 16", function() nl.ndarray({4, 4}, nl.float32, {address = {16, 0}}) end},
    {"err_bind_kind", "a number", function() nl.full({4, 4}, "1", nl.float32) end},
    {"err_bind_value", "plain text", function() nl.ndarray({4, 4}, nl.float32, {name = "a\0b"}) end},
    {"err_bind_kind", "a dtype", function() nl.ndarray({4, 4}, 32) end},
  }
  for _, case in ipairs(bad) do
    it("refuses: " .. case[2], function()
      local e = kernel.error_of(case[3])
      assert.equal(case[1], e.id, tostring(e))
      assert.truthy(e:find(case[2], 1, true), tostring(e))
    end)
  end

  it("honours address=", function()
    local art = kernel.trace(function()
      local t = nl.ndarray({32, 4}, nl.float32, {address = {32, 1024}})
      nisa.memset(t, 0)
    end)
    assert.truthy(art.ir:find("address = [32, 1024]", 1, true))
  end)
end)

describe("nl.device_print", function()
  it("prints at run time", function()
    local build = require "spec.support.build"
    local script = os.tmpname()
    build.spit(script, [[
      local nki, nl, nd = require "nki", require "nki.language", require "nki.ndarray"
      local k = nki.jit(function(a)
        nl.device_print("seen", nl.load(a))
        return a
      end, {platform_target = "trn2"})
      k(nd.full({1, 2}, 4.25, "float32"))]])
    local r = build.shell(build.quote(build.program) .. " " .. build.quote(script))
    os.remove(script)
    assert.equal(0, r.code, r.err)
    assert.truthy(r.out:find("seen", 1, true), r.out)
    assert.truthy(r.out:find("4.25", 1, true), r.out)
  end)

  it("takes a string and a tensor", function()
    assert.equal("err_bind_kind", kernel.error_of(function(t) nl.device_print(t, t) end).id)
    assert.equal("err_bind_kind", kernel.error_of(function() nl.device_print("x", 1) end).id)
    assert.equal("err_bind_value", kernel.error_of(function(t) nl.device_print("a\0b", t) end).id)
  end)
end)
