-- nki.testing: an assertion that cannot pass by mistake.
local nd = require "nki.ndarray"
local testing = require "nki.testing"

local NAN, INF = 0 / 0, math.huge

local function fails(text, f, ...)
  local ok, e = pcall(f, ...)
  assert.is_false(ok)
  assert.truthy(tostring(e):find(text, 1, true), tostring(e))
  return tostring(e)
end

local function a(...)
  return nd.array {...}
end

describe("assert_allclose", function()
  local close = testing.assert_allclose

  it("passes what is close", function()
    close(a(1, -2, 0), a(1, -2, 0))
    close(a(1, 100), a(1.5, 149), {rtol = 0.5})
    close(a(1, 2), a(1.25, 1.75), {atol = 0.25})
    close(a(INF, -INF), a(INF, -INF))
    close(a(1, 2), {1, 2})
    close(nd.array(2.5), 2.5)
    close(nd.array({1, 2}, "bfloat16"), {1, 2})
    close(a(1, NAN), a(1, NAN), {equal_nan = true})
  end)

  it("fails on NaN, on either side and on both", function()
    fails("1 of 2 elements differ", close, a(1, NAN), a(1, 1), {rtol = 1e9, atol = 1e9})
    fails("1 of 2 elements differ", close, a(1, 1), a(NAN, 1), {rtol = 1e9, atol = 1e9})
    fails("1 of 1 elements differ", close, a(NAN), a(NAN), {rtol = 1e9, atol = 1e9})
    fails("1 of 1 elements differ", close, a(NAN), a(1), {equal_nan = true})
    fails("1 of 1 elements differ", close, a(1), a(NAN), {equal_nan = true})
  end)

  it("fails beyond the tolerance, also by one step", function()
    local tol = 2 ^ -10
    close(a(1 + tol), a(1), {atol = tol})
    fails("1 of 1", close, a(1 + 2 * tol), a(1), {atol = tol})
    fails("1 of 1", close, a(1 + tol + 2 ^ -23), a(1), {atol = tol})
    close(a(1024 + 1), a(1024), {rtol = tol})
    fails("1 of 1", close, a(1024 + 1 + 2 ^ -13), a(1024), {rtol = tol})
    fails("1 of 1", close, a(1e-30), a(0))
    fails("1 of 1", close, a(INF), a(3e38), {rtol = 1, atol = 1e30})
    fails("1 of 1", close, a(INF), a(-INF), {rtol = 1e9})
  end)

  it("fails on another shape or dtype", function()
    fails("actual is float32[2,3] and desired is float32[3,2]", close, nd.zeros {2, 3}, nd.zeros {3, 2})
    fails("float32[1]", close, nd.array(0), nd.zeros {1})
    fails("float32[1,1]", close, nd.zeros {1}, nd.zeros {1, 1})
    fails("actual is float32[2] and desired is bfloat16[2]", close, nd.zeros {2}, nd.zeros({2}, "bfloat16"))
    fails("an empty list", close, nd.zeros {1}, {})
    fails("and desired is float32[1]", close, nd.zeros {2}, {0})
  end)

  it("names the first and the worst mismatch and counts them", function()
    local e = fails("assert_allclose: 3 of 6 elements differ (rtol 0, atol 0.5)", close,
      nd.array {{1, 2, 3}, {4, 5, 6}}, {{1, 3, 3}, {4, 9, 5}}, {rtol = 0, atol = 0.5})
    assert.truthy(e:find("first at [0][1]: actual 2, desired 3", 1, true))
    assert.truthy(e:find("worst at [1][1]: actual 5, desired 9", 1, true))
    assert.truthy(e:find("largest difference: absolute 4, relative 0.444444", 1, true))
    e = fails("2 of 3", close, a(1, 2, 3), a(5, NAN, 3))
    assert.truthy(e:find("worst at [1]", 1, true))
  end)

  it("finds a mismatch in any element of a long array", function()
    for _, place in ipairs {0, 511, 512, 1023, 1024, 1299} do
      local x, y = nd.zeros {1300}, nd.zeros {1300}
      x:set(place, 1)
      fails("first at [" .. place .. "]", close, x, y)
    end
  end)

  it("names the line that called it", function()
    local e = fails("assert_allclose", function()
      close(a(1), a(2))
    end)
    assert.truthy(e:find("testing_spec.lua:" .. debug.getinfo(1, "l").currentline - 2, 1, true), e)
  end)

  it("refuses what it does not know", function()
    fails("no parameter 'tol'", close, a(1), a(1), {tol = 1})
    fails("parameter 'rtol' must be a number, got the string '1'", close, a(1), a(1), {rtol = "1"})
    fails("parameter 'atol' is -1", close, a(1), a(1), {atol = -1})
    fails("parameter 'rtol' is", close, a(1), a(1), {rtol = NAN})
    fails("parameter 'equal_nan' must be a boolean, got 1", close, a(1), a(1), {equal_nan = 1})
    fails("parameter 'options' must be a table such as {rtol = 1e-5}, got the number", close, a(1), a(1), 1e-3)
    fails("parameter 'actual' must be an array, got a table", close, {1}, a(1))
    fails("parameter 'desired' must be an array, a number or a nested list, got the string", close, a(1), "1")
  end)
end)

describe("assert_equal", function()
  local equal = testing.assert_equal

  it("passes the same bytes only", function()
    equal(a(1, NAN, -0.0), a(1, NAN, -0.0))
    equal(nd.array({1, 0}, "bool_"), {true, false})
    fails("1 of 1 elements differ (bytes)", equal, a(0.0), a(-0.0))
    fails("1 of 1", equal, nd.from_bytes("\0\0\xc0\x7f", {1}, "float32"), nd.from_bytes("\1\0\xc0\x7f", {1}, "float32"))
    fails("1 of 3", equal, a(1, 2, 3), a(1, 2 + 2 ^ -22, 3))
    fails("actual is int8[1] and desired is uint8[1]", equal, nd.zeros({1}, "int8"), nd.zeros({1}, "uint8"))
  end)

  it("compares packed elements", function()
    local x = nd.from_bytes("\1\2\3\4\5\6\7\8", {2}, "float8_e4m3fn_x4")
    equal(x, x:copy())
    fails("1 of 2 elements differ (bytes)\n  first at [1] differs", equal, x,
      nd.from_bytes("\1\2\3\4\5\6\7\9", {2}, "float8_e4m3fn_x4"))
  end)
end)
