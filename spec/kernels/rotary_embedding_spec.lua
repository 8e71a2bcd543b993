-- nki.kernels.rotary_embedding against its definition, on rows that do not fill the last tile.
local nl, nd = require "nki.language", require "nki.ndarray"
local rotary = require "nki.kernels.rotary_embedding"

local function rotated(x, cos, sin, r, i, half)
  if i < half then return x:get(r, i) * cos:get(r, i) - x:get(r, i + half) * sin:get(r, i) end
  return x:get(r, i) * cos:get(r, i - half) + x:get(r, i - half) * sin:get(r, i - half)
end

describe("rotary embedding", function()
  it("rotates each pair of features, also in a partial last tile", function()
    local rows, half = 130, 3
    local x = nd.random.normal({rows, 2 * half}, {seed = 1, dtype = nl.float32})
    local cos = nd.random.uniform({rows, half}, {seed = 2, dtype = nl.float32})
    local sin = nd.random.uniform({rows, half}, {seed = 3, dtype = nl.float32})
    local out = rotary(x, cos, sin)
    for r = 0, rows - 1 do
      for i = 0, 2 * half - 1 do
        assert.near(rotated(x, cos, sin, r, i, half), out:get(r, i), 1e-6)
      end
    end
  end)

  it("keeps x when the angle is zero, and turns it by a quarter when it is pi / 2", function()
    local x = nd.array({{1, 2, 3, 4}}, nl.bfloat16)
    local zero, one = nd.zeros({1, 2}, nl.float32), nd.ones({1, 2}, nl.float32)
    assert.same({{1, 2, 3, 4}}, rotary(x, one, zero):totable())
    assert.same({{-3, -4, 1, 2}}, rotary(x, zero, one):totable())
  end)

  it("refuses angles of another shape", function()
    local x, bad = nd.zeros({4, 6}, nl.float32), nd.zeros({4, 6}, nl.float32)
    assert.has_error(function() rotary(x, bad, bad) end)
  end)
end)
