-- Host arrays: what they hold, their arithmetic against NumPy's results, their files, and every error they raise.
local nd = require "nki.ndarray"
local raises = require "spec.support.raises"

local DATA = "spec/oracles/data/"
local NAN, INF = 0 / 0, math.huge

local function bits(format, ...)
  return string.pack("<" .. format:rep(select("#", ...)), ...)
end

describe("making arrays", function()
  it("takes nested lists", function()
    local a = nd.array {{1, 2, 3}, {4, 5, 6}}
    assert.equal("float32", a.dtype)
    assert.is_true(a.shape == {2, 3})
    assert.same({2, 6, 24, 2}, {a.ndim, a.size, a.nbytes, #a})
    assert.same({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}, a:totable())
    assert.equal(bits("f", 1, 2, 3, 4, 5, 6), a:bytes())
  end)

  it("takes numbers and eight levels of lists", function()
    assert.equal(7.5, nd.array(7.5):totable())
    assert.is_true(nd.array(7.5).shape == {})
    local eight = nd.array {{{{{{{{3}}}}}}}}
    assert.equal(3.0, eight:get(0, 0, 0, 0, 0, 0, 0, 0))
    raises("err_array_element", "at most 8 axes", function() nd.array {{{{{{{{{3}}}}}}}}} end)
  end)

  it("stores every dtype exactly", function()
    assert.equal("\x80\x7f\xff", nd.array({-128, 127, -1}, "int8"):bytes())
    assert.equal("\xff\x00", nd.array({255, 0}, "uint8"):bytes())
    assert.equal(bits("H", 65535), nd.array({65535}, "uint16"):bytes())
    assert.equal(bits("h", -32768), nd.array({-32768}, "int16"):bytes())
    assert.equal(bits("i4", -2147483648, 16777217), nd.array({-2147483648, 16777217}, "int32"):bytes())
    assert.equal(bits("I4", 4294967295, 4294967041), nd.array({4294967295, 4294967041}, "uint32"):bytes())
    assert.equal("\1\0\1\0", nd.array({true, false, 1, 0}, "bool_"):bytes())
    assert.same({true, false}, nd.array({1, 0}, "bool_"):totable())
    assert.equal(bits("H", 0x3f80, 0xc000), nd.array({1, -2}, "bfloat16"):bytes())
    assert.equal(bits("H", 0x3c00, 0x7bff), nd.array({1, 65504}, "float16"):bytes())
    assert.equal("\x38\xf8", nd.array({1, -INF}, "float8_e4m3"):bytes())
    assert.equal("\x3c\x7c", nd.array({1, INF}, "float8_e5m2"):bytes())
    assert.equal("\x38\x7e", nd.array({1, 448}, "float8_e4m3fn"):bytes())
    assert.equal(bits("f", 1 + 2 ^ -10), nd.array({1 + 2 ^ -10}, "tfloat32"):bytes())
  end)

  it("reads 32-bit integers back exactly, as integers", function()
    local v = nd.array({16777217, -2147483647}, "int32"):totable()
    assert.same({16777217, -2147483647}, v)
    assert.equal("integer", math.type(v[1]))
    assert.equal("float", math.type(nd.array({1}):get(0)))
  end)

  it("fills", function()
    assert.same({{0, 0}}, nd.zeros({1, 2}, "int8"):totable())
    assert.same({1.0, 1.0, 1.0}, nd.ones({3}):totable())
    assert.same({{2.5}, {2.5}}, nd.full({2, 1}, 2.5):totable())
    assert.same({true}, nd.full({1}, true, "bool_"):totable())
    assert.equal(("\0"):rep(8), nd.zeros({2}, "float8_e4m3fn_x4"):bytes())
    local long = nd.full({3, 700}, 9, "uint8") -- longer than one block
    assert.equal(("\9"):rep(2100), long:bytes())
  end)

  it("counts", function()
    assert.same({0.0, 1.0, 2.0}, nd.arange(3):totable())
    assert.same({2, 5, 8}, nd.arange(2, 9, 3, "int32"):totable())
    assert.same({2, 5, 8}, nd.arange {start = 2, stop = 11, step = 3, dtype = "int32"}:totable())
    assert.same({1.0, 0.5}, nd.arange(1, 0, -0.5):totable())
    raises("err_bind_value", "no element", function() nd.arange(3, 3) end)
    raises("err_bind_value", "no element", function() nd.arange(0, 3, 0 / 0) end)
  end)

  it("names the element that is wrong", function()
    local function wrong(path, text, values, dtype)
      raises("err_array_element", "element " .. path .. " is " .. text, function() nd.array(values, dtype) end)
    end
    wrong("[1]", "a list of 1; the first of its level has 2", {{1, 2}, {3}})
    wrong("[0][1]", "a list of 1; the first of its level has 2", {{{1, 2}, {3}}})
    wrong("[1]", "2; the first of its level is a list of 1", {{1}, 2})
    wrong("[1]", "a list; the first element of its level is a number", {1, {2}})
    wrong("[]", "an empty list", {})
    wrong("[0]", "an empty list", {{}})
    wrong("[0][1]", "the string '2'; elements are numbers", {{1, "2"}})
    wrong("[1]", "true; elements are numbers", {1, true})
    wrong("[]", "a list with holes", {1, nil, 3})
    wrong("[]", "a table with names", {1, 2, name = 3})
    wrong("[2]", "300; uint8 holds integers 0..255", {1, 2, 300}, "uint8")
    wrong("[0]", "-1; uint16 holds", {-1}, "uint16")
    wrong("[1]", "0.5; int32 holds integers", {1, 0.5}, "int32")
    wrong("[0]", "nan; int8 holds", {NAN}, "int8")
    wrong("[0]", "2; bool_ holds integers 0..1", {2}, "bool_")
  end)

  it("refuses other wrong arguments", function()
    raises("err_unknown_dtype", "float3", function() nd.array({1}, "float3") end)
    raises("err_bind_value", "{0, 3}", function() nd.zeros {0, 3} end)
    raises("err_host_shape", "62 bits", function() nd.zeros {1 << 40, 1 << 40} end)
    raises("err_bind_kind", "a number", function() nd.full({2}, "x") end)
    raises("err_array_packed", "float8_e5m2_x4", function() nd.ones({2}, "float8_e5m2_x4") end)
    raises("err_array_packed", "float8_e5m2_x4", function() nd.array({2}, "float8_e5m2_x4") end)
    raises("err_no_such_name", "nki.ndarray.zeros", function() nd.zeroes {2} end)
    raises("err_bind_unknown", "seeds", function() nd.random.normal({2}, {seeds = 1}) end)
    raises("err_nomem", "out of memory", function() nd.zeros {1 << 30, 1 << 29} end)
  end)
end)

describe("random numbers", function()
  it("are the same on every machine", function()
    -- Marsaglia's polar method on SplitMix64, computed in Python
    assert.equal("float32[3] {-0.31965417, -0.13415644, -0.30576143}", tostring(nd.random.normal({3}, {seed = 1})))
    assert.equal(nd.random.normal({4}), nd.random.normal({4}, {seed = 0}))
    assert.not_equal(nd.random.normal({4}, {seed = 1}), nd.random.normal({4}, {seed = 2}))
    assert.not_equal(nd.random.normal({4}, {seed = 1}), nd.random.normal({4}, {seed = 1, name = "x"}))
  end)

  it("have their distribution", function()
    local n = nd.random.normal({100, 100}, {seed = 7})
    assert.is_true(math.abs(n:mean()) < 0.03)
    assert.is_true(math.abs((n * n):mean() - 1) < 0.05)
    local u = nd.random.uniform({10000}, {seed = 7})
    assert.is_true(u:min() >= 0 and u:max() < 1 and math.abs(u:mean() - 0.5) < 0.02)
    assert.equal("bfloat16", nd.random.uniform({2}, {dtype = "bfloat16"}).dtype)
    raises("err_bind_value", "random numbers are floats", function() nd.random.uniform({2}, {dtype = "int8"}) end)
    raises("err_bind_kind", "an integer", function() nd.random.uniform({2}, {seed = 0.5}) end)
  end)
end)

describe("elements", function()
  local a

  before_each(function()
    a = nd.array {{1, 2, 3}, {4, 5, 6}}
  end)

  it("are read and written at 0-based indices", function()
    assert.same({1.0, 6.0, 6.0, 4.0}, {a:get(0, 0), a:get(1, 2), a:get(-1, -1), a:get(-1, -3)})
    a:set(0, -1, 9.5)
    a:set(1.0, 0, -1)
    assert.same({{1.0, 2.0, 9.5}, {-1.0, 5.0, 6.0}}, a:totable())
  end)

  it("outside are errors that name index, axis and shape", function()
    raises("err_array_index", "array:get: index 3 of axis 1 is out of range for shape {2, 3}",
      function() a:get(0, 3) end)
    raises("err_array_index", "array:get: index -3 of axis 0 is out of range", function() a:get(-3, 0) end)
    raises("err_array_index", "array:set: index 2 of axis 0", function() a:set(2, 0, 1) end)
    raises("err_array_index_count", "the number of indices is 1 for shape {2, 3}", function() a:get(0) end)
    raises("err_array_index_count", "the number of indices is 3", function() a:set(0, 0, 0, 1) end)
    raises("err_bind_kind", "an integer", function() a:get(0, 0.5) end)
    raises("err_bind_kind", "a number", function() a:set(0, 0, "x") end)
    raises("err_bind_missing", "value", function() a:set() end)
    raises("err_array_element", "element [0] is 1.5; int8", function() nd.zeros({1}, "int8"):set(0, 1.5) end)
    assert.same({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}, a:totable())
  end)

  it("are not fields", function()
    raises("err_bind_kind", "a:get(i, j)", function() return a[1] end)
    raises("err_array_assign", "a:set(i, j, value)", function() a[1] = 2 end)
    raises("err_array_assign", "read-only", function() a.shape = {3, 2} end)
    raises("err_no_such_name", "did you mean 'reshape'?", function() return a.reshap end)
  end)

  it("show as text", function()
    assert.equal("float32[2,3] {{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}", tostring(a))
    assert.equal("float32[3] {nan, inf, -inf}", tostring(nd.array {NAN, INF, -INF}))
    assert.equal("int32[] -7", tostring(nd.array(-7, "int32")))
    assert.equal("int32[100] {0, 1, 2, ..., 97, 98, 99}", tostring(nd.arange(100, nil, nil, "int32")))
    assert.equal("float8_e4m3fn_x4[2] (packed)", tostring(nd.zeros({2}, "float8_e4m3fn_x4")))
  end)

  it("compare with ==", function()
    assert.is_true(a == nd.array {{1, 2, 3}, {4, 5, 6}})
    assert.is_false(a == nd.array {{1, 2, 3}, {4, 5, 7}})
    assert.is_false(a == nd.array {{1, 2}, {3, 4}, {5, 6}})
    assert.is_false(a == nd.array({{1, 2, 3}, {4, 5, 6}}, "bfloat16"))
    assert.is_false(nd.array {NAN} == nd.array {NAN})
    assert.is_true(nd.array {0.0} == nd.array {-0.0})
    assert.is_true(nd.zeros({2}, "float4_e2m1fn_x4") == nd.zeros({2}, "float4_e2m1fn_x4"))
  end)
end)

describe("conversions", function()
  local narrow = {"bfloat16", "float16", "float8_e4m3", "float8_e5m2", "float8_e4m3fn"}
  for _, dtype in ipairs(narrow) do
    it("from float32 to " .. dtype .. " are ml_dtypes' to the bit", function()
      local file = DATA .. "to_" .. dtype .. ".npz"
      assert.equal(nd.load(file, "out"):bytes(), nd.load(file, "x"):astype(dtype):bytes())
    end)
  end
  for _, dtype in ipairs {"int8", "uint8", "int16", "uint16", "int32", "uint32"} do
    it("from float32 to " .. dtype .. " round to even, saturate, and make NaN 0", function()
      local file = DATA .. "to_" .. dtype .. ".npz"
      assert.same(nd.load(file, "out"):totable(), nd.load(file, "x"):astype(dtype):totable())
    end)
  end

  it("between integers are exact and saturate", function()
    local wide = nd.array({16777217, -5, 2147483647}, "int32")
    assert.same({16777217, 0, 2147483647}, wide:astype("uint32"):totable())
    assert.same({127, -5, 127}, wide:astype("int8"):totable())
    assert.same({16777216.0, -5.0, 2147483648.0}, wide:astype("float32"):totable())
  end)

  it("to bool_ are tests against zero", function()
    assert.same({false, true, true, true}, nd.array({0, -0.25, NAN, 5}):astype("bool_"):totable())
    assert.same({1.0, 0.0}, nd.array({true, false}, "bool_"):astype("float32"):totable())
  end)

  it("of packed arrays are refused, copies are not", function()
    local packed = nd.from_bytes("\1\2\3\4", {1}, "float8_e4m3fn_x4")
    assert.equal("\1\2\3\4", packed:astype("float8_e4m3fn_x4"):bytes())
    raises("err_array_packed", "float8_e4m3fn_x4", function() packed:astype("float32") end)
    raises("err_array_packed", "float8_e4m3fn_x4", function() nd.ones({4}):astype("float8_e4m3fn_x4") end)
    raises("err_array_packed", "its bytes can be read", function() packed:get(0) end)
  end)
end)

describe("arithmetic", function()
  local file = DATA .. "alu.npz"
  local a, b = nd.load(file, "a"), nd.load(file, "b")
  local cases = {
    add = function(x, y) return x + y end,
    subtract = function(x, y) return x - y end,
    multiply = function(x, y) return x * y end,
    divide = function(x, y) return x / y end,
    maximum = function(x, y) return x:maximum(y) end,
    minimum = function(x, y) return x:minimum(y) end,
  }
  for name, f in pairs(cases) do
    it(name .. " is NumPy's on all pairs of edge values", function()
      local wrong = nd.compare(f(a, b), nd.load(file, name), 0, 0, true)
      assert.is_nil(wrong, wrong and tostring(wrong.first[1]))
    end)
  end

  it("broadcasts as NumPy does", function()
    local m = nd.array {{1, 2, 3}, {4, 5, 6}}
    assert.same({{11.0, 22.0, 33.0}, {14.0, 25.0, 36.0}}, (m + nd.array {10, 20, 30}):totable())
    assert.same({{11.0, 12.0, 13.0}, {24.0, 25.0, 26.0}}, (nd.array {{10}, {20}} + m):totable())
    assert.same({{{2.0, 3.0}, {3.0, 4.0}}}, (nd.array {{{1}, {2}}} + nd.array {1, 2}):totable())
    assert.is_true((nd.ones {2, 1, 3} * nd.ones {4, 1}).shape == {2, 4, 3})
    local e = raises("err_array_broadcast", "axis 1 has 3 and 2 elements", function() return m + nd.ones {2} end)
    assert.truthy(e:find("shapes {2, 3} and {2}", 1, true))
  end)

  it("takes numbers on either side, rounded to the array's dtype", function()
    local m = nd.array({1, 2}, "bfloat16")
    assert.same({"bfloat16", {1.5, 2.5}}, {(m + 0.5).dtype, (m + 0.5):totable()})
    assert.same({-0.5, -1.5}, (0.5 - m):totable())
    local hundred = nd.full({1}, 100, "bfloat16") -- 0.3 is 0.30078125 there
    assert.same({30.125, 30.125}, {(hundred * 0.3):get(0), (0.3 * hundred):get(0)})
    assert.same({-1.0, -2.0}, (-m):totable())
  end)

  it("promotes dtypes", function()
    local function dtype(x, y) return (nd.ones({1}, x) + nd.ones({1}, y)).dtype end
    assert.equal("float32", dtype("float32", "bfloat16"))
    assert.equal("float32", dtype("float16", "bfloat16"))
    assert.equal("int16", dtype("int8", "uint8"))
    assert.equal("bfloat16", dtype("int32", "bfloat16"))
    assert.equal("int8", (nd.ones({1}, "int8") + 1).dtype)
    assert.equal("float32", (nd.ones({1}, "int8") + 0.5).dtype)
    assert.equal("float32", (nd.ones({1}, "int8") / nd.full({1}, 2, "int8")).dtype)
    raises("err_array_dtypes", "float8_e8m0fnu", function() return nd.ones({1}, "float8_e8m0fnu") + nd.ones {1} end)
    raises("err_array_bool", "array *", function() return nd.ones({1}, "bool_") * 2 end)
    raises("err_bind_kind", "an array or a number", function() return nd.ones {1} + "1" end)
  end)

  it("never wraps integers", function()
    assert.same({-100}, (nd.array({-50}, "int8") * 2):totable())
    assert.same({2147483647}, (nd.array({2147483646}, "int32") + 1):totable())
    raises("err_array_element", "array *: element [0] is 150; int8", function() return nd.array({50}, "int8") * 3 end)
    raises("err_array_element", "array -: element [1] is -1", function() return nd.array({5, 0}, "uint32") - 1 end)
  end)

  it("has functions of one operand", function()
    local near = DATA .. "activation.near.npz"
    local function close(got, want)
      local wrong = nd.compare(got, nd.load(near, want), 2e-7, 1e-30)
      assert.is_nil(wrong, want)
    end
    local x, positive = nd.load(near, "x"), nd.load(near, "positive")
    close(x:exp(), "exp")
    close(x:tanh(), "tanh")
    close(x:abs(), "abs")
    close(positive:log(), "log")
    close(positive:sqrt(), "sqrt")
    assert.same({"int8", {3}}, {nd.array({-3}, "int8"):abs().dtype, nd.array({-3}, "int8"):abs():totable()})
    assert.same({"float32", {2.0}}, {nd.array({4}, "int8"):sqrt().dtype, nd.array({4}, "int8"):sqrt():totable()})
    assert.same({1.0, 4.0, 9.0}, nd.array {1, 2, 3}:map(function(v) return v * v end):totable())
    raises("err_bind_kind", "gives numbers", function() nd.array {1}:map(function() end) end)
    raises("err_bind_kind", "a function", function() nd.array {1}:map(3) end)
  end)
end)

describe("reductions", function()
  local a = nd.array {{{1, 2}, {3, 4}, {5, 6}}, {{7, 8}, {9, 10}, {11, 12}}}

  it("go over any axes", function()
    assert.equal(78.0, a:sum())
    assert.same({{8.0, 10.0}, {12.0, 14.0}, {16.0, 18.0}}, a:sum(0):totable())
    assert.same({{9.0, 12.0}, {27.0, 30.0}}, a:sum(1):totable())
    assert.same({{3.0, 7.0, 11.0}, {15.0, 19.0, 23.0}}, a:sum(-1):totable())
    assert.same({36.0, 42.0}, a:sum {axis = {0, 1}}:totable())
    assert.same({{{36.0, 42.0}}}, a:sum({0, 1}, true):totable())
    assert.same({{{78.0}}}, a:sum {keepdims = true}:totable())
    assert.same({6.0, 12.0}, a:max({1, 2}):totable())
    assert.same({1.0, 7.0}, a:min({1, 2}):totable())
    assert.same({3.5, 9.5}, a:mean({1, 2}):totable())
    assert.same({12.0, 1.0, 6.5}, {a:max(), a:min(), a:mean()})
  end)

  it("accumulate in f64", function()
    local big = nd.array {16777216, 1, 1, -16777216}
    assert.equal(2.0, big:sum())
    assert.same({2.0}, big:reshape({1, 4}):sum(1):totable())
  end)

  it("propagate NaN, wherever it stands", function()
    for place = 1, 3 do
      local v = {1, 2, 3}
      v[place] = NAN
      local x = nd.array(v)
      for _, name in ipairs {"sum", "max", "min", "mean"} do
        local r = x[name](x)
        assert.is_true(r ~= r, name)
      end
    end
  end)

  it("of integers stay exact", function()
    local ones = nd.full({1000}, 127, "int8")
    assert.same({127000, "int32"}, {ones:sum(), ones:reshape({1, 1000}):sum(1).dtype})
    assert.equal("uint32", nd.ones({2, 2}, "uint8"):sum(0).dtype)
    assert.equal("float32", nd.ones({2, 2}, "uint8"):mean(0).dtype)
    assert.equal(2, nd.array({true, false, true}, "bool_"):sum())
    local huge = nd.full({2}, 2147483647, "int32")
    assert.equal(4294967294, huge:sum())
    raises("err_array_element", "4294967294; int32", function() huge:reshape({1, 2}):sum(1) end)
  end)

  it("refuse axes that do not exist", function()
    raises("err_array_axis", "array:sum: there is no axis 3: shape {2, 3, 2} has 3", function() a:sum(3) end)
    raises("err_array_axis", "no axis -4", function() a:max(-4) end)
    raises("err_bind_value", "twice", function() a:sum {axis = {1, -2}} end)
    raises("err_bind_kind", "a boolean", function() a:sum(0, 1) end)
  end)
end)

describe("matrix products", function()
  it("are exact on small integers of unequal sizes", function()
    local file = DATA .. "matmul_exact.npz"
    local product = nd.load(file, "lhsT"):transpose():matmul(nd.load(file, "rhs"))
    assert.equal(nd.load(file, "out"):bytes(), product:bytes())
  end)

  it("refuse shapes that do not fit", function()
    raises("err_array_shape", "{2, 3} and {2, 3} are not [M,K] and [K,N]",
      function() nd.ones {2, 3}:matmul(nd.ones {2, 3}) end)
    raises("err_array_shape", "{3} and {3, 1}", function() nd.ones {3}:matmul(nd.ones {3, 1}) end)
    raises("err_array_bool", "matmul", function() nd.ones({1, 1}, "bool_"):matmul(nd.ones({1, 1}, "bool_")) end)
    raises("err_array_dtypes", "matmul", function() nd.ones({1, 1}, "float8_e8m0fnu"):matmul(nd.ones({1, 1})) end)
  end)
end)

describe("shapes", function()
  local a = nd.array({{1, 2, 3}, {4, 5, 6}}, "int16")

  it("change without changing the elements", function()
    assert.same({{1, 2}, {3, 4}, {5, 6}}, a:reshape({3, -1}):totable())
    assert.same({1, 2, 3, 4, 5, 6}, a:reshape({6}):totable())
    assert.is_true(nd.zeros({1, 1}):reshape({}).shape == {})
    raises("err_array_shape", "{2, 3} cannot become {4, 2}", function() a:reshape({4, 2}) end)
    raises("err_array_shape", "{-1, -1}", function() a:reshape({-1, -1}) end)
    raises("err_array_shape", "{4, -1}", function() a:reshape({4, -1}) end)
    raises("err_array_shape", "{0, -1}", function() a:reshape({0, -1}) end)
  end)

  it("are permuted", function()
    assert.same({{1, 4}, {2, 5}, {3, 6}}, a:transpose():totable())
    local t = nd.arange(24):reshape({2, 3, 4}):transpose({2, 0, 1})
    assert.is_true(t.shape == {4, 2, 3})
    assert.equal(1 * 12 + 2 * 4 + 3, t:get(3, 1, 2))
    raises("err_bind_value", "no order of the axes", function() a:transpose({0, 0}) end)
    raises("err_bind_value", "no order of the axes", function() a:transpose({0, 1, 1}) end)
    raises("err_array_axis", "no axis 2", function() a:transpose({0, 2}) end)
  end)

  it("are copied, never shared", function()
    for _, name in ipairs {"copy", "reshape", "transpose"} do
      local from = nd.array({{1, 2, 3}, {4, 5, 6}}, "int16")
      local to = from[name](from, name == "reshape" and {2, 3} or nil)
      to:set(0, 0, 77)
      assert.equal(1, from:get(0, 0), name)
    end
  end)
end)
