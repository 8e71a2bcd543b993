-- Shapes: immutable, counted from 0, equal by value, never iterated from 1 by mistake.
local kernel = require "spec.support.kernel"
local nl = require "nki.language"

describe("t.shape", function()
  it("answers by axis, rank and value", function()
    kernel.trace(function(t)
      local s = t.shape
      assert.equal(128, s[0])
      assert.equal(64, s[1])
      assert.equal(64, s[-1])
      assert.equal(128, s[-2])
      assert.equal(64, s[1.0])
      assert.equal(2, #s)
      assert.equal("{128, 64}", tostring(s))
      local m, n = s:unpack()
      assert.same({128, 64}, {m, n})
    end)
  end)

  it("compares with shapes and plain lists by value", function()
    kernel.trace(function(t, a)
      assert.is_true(t.shape == a.shape)
      assert.is_true(t.shape == {128, 64})
      assert.is_true({128, 64} == t.shape)
      assert.is_false(t.shape == {128, 65})
      assert.is_false(t.shape == {128})
      assert.is_false(t.shape == {128, 64, 1})
      assert.is_false(t.shape == {128, "64x"})
      assert.is_true(rawequal(t.shape, a.shape), "one value, one object")
    end)
  end)

  local bad = {
    ["ipairs"] = function(s) return (ipairs(s)(s, 0)) end,
    ["pairs"] = pairs,
    ["table.unpack"] = function(s) return table.unpack(s) end,
    ["table.concat"] = function(s) return table.concat(s, ",") end,
  }
  for name, f in pairs(bad) do
    it("refuses " .. name .. " and names unpack", function()
      local e = kernel.error_of(function(t) f(t.shape) end)
      assert.equal("err_shape_iterate", e.id)
      assert.truthy(e:find("shape:unpack()", 1, true))
    end)
  end

  it("is read-only and refuses axes it does not have", function()
    assert.equal("err_read_only", kernel.error_of(function(t) t.shape[0] = 3 end).id)
    local e = kernel.error_of(function(t) return t.shape[2] end)
    assert.equal("err_shape_axis", e.id)
    assert.truthy(e:find("shape[2]: the rank is 2", 1, true))
    assert.equal("err_shape_axis", kernel.error_of(function(t) return t.shape[-3] end).id)
    assert.equal("err_bind_kind", kernel.error_of(function(t) return t.shape.rank end).id)
  end)

  it("is accepted wherever a list is", function()
    kernel.trace(function(t)
      assert.is_true(nl.zeros(t.shape, t.dtype).shape == t.shape)
      assert.is_true(t:reshape(t.shape).shape == t.shape)
    end)
  end)

  it("and lists are checked", function()
    local function make(shape) return function() nl.ndarray(shape, "float32") end end
    assert.truthy(kernel.error_of(make(128)):find("must be a shape", 1, true))
    for what, shape in pairs {["the string 'x' for axis 1"] = {128, "x"}, ["7.5 for axis 0"] = {7.5, 2},
                              ["nil for axis 1"] = {4, nil, 3}} do
      local text = tostring(kernel.error_of(make(shape)))
      assert.truthy(text:find("a list of integers, got .*" .. what), text)
    end
    local e = kernel.error_of(make {1, 1, 1, 1, 1, 1, 1, 1, 1})
    assert.equal("err_shape_rank", e.id)
    assert.truthy(e:find("9 axes; at most 8", 1, true))
    assert.equal("err_tensor_size", kernel.error_of(make {4, 0}).id)
    assert.equal("err_bind_kind", kernel.error_of(make(setmetatable({4, 4}, {__name = "mine"}))).id)
  end)
end)
