-- Faults that users of such tools reported, each with its whole class and the right values: numbers and memory. What
-- concerns calls is in
-- users_calls_spec.lua, the command and its sessions (B78, B91) in spec/cli, assertions that cannot fail (B94) in
-- spec/lang/testing_spec.lua.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local testing = require "nki.testing"
local build = require "spec.support.build"
local raises = require "spec.support.raises"
local small = require "spec.support.small"
local trip = require "spec.support.trip"

local equal = testing.assert_equal
local NAN, INF = 0 / 0, math.huge

local jit, returned, apply = small.jit, small.returned, small.apply

-- The script as a file of its own, run by the program: stdout, stderr and status.
local function script(text, ...)
  local name = os.tmpname()
  build.spit(name, 'local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"\n' .. text)
  local result = build.run {"run", name, "-t", "trn1", ...}
  os.remove(name)
  result.name = name:match "[^/]+$"
  return result
end

describe("B01: narrow floats are computed with by value", function()
  for _, dtype in ipairs {"bfloat16", "float16", "float8_e4m3", "float8_e5m2"} do
    local function full(shape, v) return nd.full(shape, v, dtype) end

    it(dtype .. " in matmuls", function()
      local got = apply(function(a, b)
        local acc = nl.ndarray({16, 16}, nl.float32, {buffer = nl.psum})
        nisa.nc_matmul(acc, a, b)
        return nl.copy(acc)
      end, full({16, 16}, 2), full({16, 16}, 1))
      equal(got, nd.full({16, 16}, 32))
    end)

    it(dtype .. " in sums, comparisons, reductions, activations and tests for zero", function()
      local a, b = full({1, 2}, 2.5), full({1, 2}, 2)
      equal(apply(function(x, y) return x + y end, a, b), full({1, 2},
        dtype == "float8_e5m2" and 4 or 4.5)) -- 4.5 is a tie in e5m2
      equal(apply(nl.less, full({1, 2}, -5), full({1, 2}, -2)), full({1, 2}, 1))
      equal(apply(nl.greater, full({1, 2}, -5), full({1, 2}, -2)), full({1, 2}, 0))
      equal(apply(nl.maximum, full({1, 2}, -5), full({1, 2}, -2)), full({1, 2}, -2))
      equal(apply(function(x) return nl.sum(x, 1, nl.float32, true) end, a), nd.full({1, 1}, 5))
      equal(apply(function(x) return nl.relu(x) end, full({1, 2}, -2)), full({1, 2}, 0))
      equal(apply(nl.equal, full({1, 2}, -0.0), full({1, 2}, 0)), full({1, 2}, 1))
    end)
  end
end)

describe("B04: f32 becomes an integer by rounding to even and saturating, NaN becomes 0", function()
  local x = {0.5, 1.5, 2.5, -0.5, -1.5, 127.5, 300, -129, INF, -INF, NAN}
  local want = {
    int8 = {0, 2, 2, 0, -2, 127, 127, -128, 127, -128, 0},
    uint8 = {0, 2, 2, 0, 0, 128, 255, 0, 255, 0, 0},
    int16 = {0, 2, 2, 0, -2, 128, 300, -129, 32767, -32768, 0},
    uint16 = {0, 2, 2, 0, 0, 128, 300, 0, 65535, 0, 0},
    int32 = {0, 2, 2, 0, -2, 128, 300, -129, 2147483647, -2147483648, 0},
    uint32 = {0, 2, 2, 0, 0, 128, 300, 0, 4294967295, 0, 0},
  }
  -- Every way from one dtype to another.
  local ways = {
    ["nl.copy"] = function(t, dtype) return nl.copy(t, dtype) end,
    ["dtype= of an operation"] = function(t, dtype) return nl.add(t, 0.0, dtype) end,
    activation = function(t, dtype)
      local out = nl.ndarray(t.shape, dtype)
      nisa.activation {dst = out, op = nl.copy, data = t}
      return out
    end,
    ["tensor_copy on GpSimd"] = function(t, dtype)
      local out = nl.ndarray(t.shape, dtype)
      nisa.tensor_copy {dst = out, src = t, engine = nisa.engine.gpsimd}
      return out
    end,
    DMA = function(t, dtype)
      local out = nl.ndarray(t.shape, dtype)
      nisa.dma_copy(out, t)
      return out
    end,
  }
  for name, way in pairs(ways) do
    for dtype, numbers in pairs(want) do
      it(("by %s to %s"):format(name, dtype), function()
        equal(apply(function(t) return way(t, dtype) end, nd.array {x}), nd.array({numbers}, dtype))
      end)
    end
  end
end)

describe("B10: lanes that were not loaded", function()
  local x = nd.arange(1, 17):reshape {1, 16}

  local function padded(fill)
    return jit(function(src)
      local tile = nl.ndarray({1, 256}, nl.float32)
      if fill then
        nisa.memset(tile, fill)
      end
      nisa.dma_copy(tile[{{}, {0, 16}}], src)
      return returned(nl.sum(tile, 1, nl.float32, true))
    end)
  end

  it("hold the fill value, 0 as any other", function()
    equal(trip.run(padded(0), x), {{136}})
    equal(trip.run(padded(1), x), {{376}})
    equal(trip.run(padded(-0.5), x), {{16}})
  end)

  it("are never plausible numbers when nothing filled them", function()
    local sum = padded(nil)(x):get(0, 0)
    assert.is_true(sum ~= sum)
    local ints = jit(function(src)
      local tile = nl.ndarray({1, 8}, nl.int16)
      nisa.dma_copy(tile[{{}, {0, 4}}], src)
      return returned(tile)
    end)
    assert.equal("\1\0\2\0\3\0\4\0" .. ("\xa5"):rep(8), ints(nd.array({{1, 2, 3, 4}}, "int16")):bytes())
  end)

  it("are reported, once per instruction, and refused by --strict", function()
    local text = [[
      return nki.jit(function(src)
        local tile, out = nl.ndarray({1, 256}, nl.float32), nl.ndarray({1, 1}, nl.float32, {buffer = nl.shared_hbm})
        nisa.dma_copy(tile[{{}, {0, 16} }], src)
        nl.store(out, nl.sum(tile, 1, nl.float32, true))
        return out
      end)]]
    local r = script(text, "f32[1,16]")
    assert.equal(0, r.code)
    local _, lines = r.err:gsub("\n", "")
    assert.equal(1, lines, r.err)
    assert.matches(":5: nisa.tensor_reduce reads 240 of the 256 elements of data = .* that were never written", r.err)
    r = script(text, "f32[1,16]", "--strict")
    assert.equal(1, r.code)
    assert.equal("", r.out)
    assert.matches("err_unwritten", r.err)
  end)
end)

describe("B13: a partial write leaves the rest", function()
  local sevens, ones = nd.full({5, 1}, 7), nd.ones {3, 1}
  local row7, row1 = nd.full({1, 5}, 7), nd.ones {1, 3}

  it("in hbm", function()
    local k = jit(function(dst, src)
      nl.store(dst[{{0, 3}}], nl.load(src))
      return dst
    end)
    equal(k(sevens:copy(), ones), {{1}, {1}, {1}, {7}, {7}})
  end)

  it("on chip, by slice, by predicate and at the end", function()
    local ways = {
      function(t) nisa.memset(t[{{}, {0, 3}}], 1.0) end,
      function(t, src) nisa.tensor_copy(t[{{}, {0, 3}}], src) end,
      function(t, src) t[{{}, {0, 3}}] = src end,
      function(t) t["..., :3"] = 1.0 end,
    }
    for _, way in ipairs(ways) do
      equal(apply(function(t, src)
        way(t, src)
        return t
      end, row7, row1), {{1, 1, 1, 7, 7}})
    end
    equal(apply(function(t, mask)
      nisa.tensor_copy_predicated(t, 1.0, mask)
      return t
    end, row7, nd.array({{1, 1, 1, 0, 0}}, "uint8")), {{1, 1, 1, 7, 7}})
    equal(apply(function(t, src)
      t[{{}, {-3}}] = src
      return t
    end, row7, row1), {{7, 7, 1, 1, 1}})
  end)

  it("in psum", function()
    equal(apply(function(t, src)
      local acc = nl.ndarray({1, 5}, nl.float32, {buffer = nl.psum})
      nisa.tensor_copy(acc, t)
      nisa.tensor_copy(acc[{{}, {0, 3}}], src)
      return nl.copy(acc)
    end, row7, row1), {{1, 1, 1, 7, 7}})
  end)
end)

describe("B17: capacity, in bytes and by name, before anything runs", function()
  local function three(target)
    return jit(function(x)
      local a, b = nl.ndarray({128, 24642}, nl.float32, {name = "first"}),
        nl.ndarray({128, 24642}, nl.float32, {name = "second"})
      local c = nl.ndarray({128, 222}, nl.float32, {name = "third"})
      nisa.dma_copy(a, x)
      nisa.memset(c, 1.0)
      nisa.tensor_copy(b, a)
      nisa.tensor_tensor(b[{{}, {0, 222}}], a[{{}, {0, 222}}], c, nl.add)
      return returned(b)
    end, target)
  end
  local decl = nki.decl({128, 24642}, nl.float32)

  it("is refused where it does not fit", function()
    local e = raises("err_memory_overflow", "198,024 bytes per partition needed, 196,608 available",
      function() three "trn1":specialize(decl) end)
    assert.is_true(e.line > 0)
    for _, text in ipairs {"first", "second", "third", "98568 bytes", "888 bytes"} do
      local plain = tostring(e):gsub("(%d),(%d)", "%1%2")
      assert.truthy(plain:find(text, 1, true), text .. " in " .. plain)
    end
  end)

  it("is accepted where it fits", function()
    assert.equal(1, #three "trn2":specialize(decl).output_names)
    assert.equal(1, #three "trn3":specialize(decl).output_names)
  end)

  it("counts an operand in place once", function()
    local k = jit(function(x)
      local a, c = nl.ndarray({128, 24642}, nl.float32), nl.ndarray({128, 222}, nl.float32)
      nisa.dma_copy(a, x)
      nisa.memset(c, 1.0)
      nisa.tensor_tensor(a, a, a, nl.add)
      nisa.tensor_tensor(a[{{}, {0, 222}}], a[{{}, {0, 222}}], c, nl.add)
      return returned(a)
    end)
    assert.equal(1, #k:specialize(decl).output_names)
  end)

  it("frees what is used no more, and not what is", function()
    local function chain(keep)
      return jit(function(x)
        local first, t = nl.load(x), nl.load(x)
        for _ = 1, 6 do
          t = t + 1
        end
        return returned(keep and t + first or t)
      end)
    end
    local wide = nki.decl({128, 20000}, nl.float32) -- 80,000 bytes: two fit, three do not
    assert.equal(1, #chain(false):specialize(wide).output_names)
    raises("err_memory_overflow", "240,000 bytes per partition needed", function() chain(true):specialize(wide) end)
  end)

  it("holds for psum too", function()
    local function banks(n)
      return jit(function(x)
        local t, all = nl.load(x), {}
        for i = 1, n do
          all[i] = nl.ndarray({64, 512}, nl.float32, {buffer = nl.psum})
          nisa.nc_matmul(all[i], t[{{}, {0, 64}}], t)
        end
        local sum = nl.zeros({64, 512}, nl.float32)
        for i = 1, n do
          nisa.tensor_tensor(sum, sum, all[i], nl.add)
        end
        return returned(sum)
      end)
    end
    local decl_512 = nki.decl({128, 512}, nl.float32)
    assert.equal(1, #banks(8):specialize(decl_512).output_names)
    raises("err_memory_overflow", "psum overflows: 18,432 bytes per partition needed, 16,384 available", function()
      banks(9):specialize(decl_512)
    end)
  end)
end)

describe("B23: what a parallel loop may carry", function()
  local function carried(range)
    return script(([[
      return nki.jit(function(x)
        local t, out = nl.load(x), nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm})
        for i in nl.%s(4) do
          t = t + 1
        end
        nl.store(out, t)
        return out
      end)]]):format(range), "f32[1,2]:zeros")
  end

  it("is no value of a tile: a warning names the tile and the loop", function()
    local r = carried "affine_range"
    assert.equal(0, r.code)
    assert.matches("values 4.0 4.0", r.out)
    local warning = "^warning: (%S+):5: '([%w_]+)' carries a value from one iteration of the affine_range loop "
    local file, tile = r.err:match(warning .. "at %S+:4 to the next[^\n]*\n$")
    assert.equal(r.name, file, r.err)
    assert.truthy(tile)
  end)

  it("may be one in a loop in order", function()
    for _, range in ipairs {"sequential_range", "static_range"} do
      local r = carried(range)
      assert.same({0, ""}, {r.code, r.err})
      assert.matches("values 4.0 4.0", r.out)
    end
  end)

  it("may be a sum of matmuls in psum", function()
    local r = script([[
      return nki.jit(function(x)
        local out = nl.ndarray({2, 2}, nl.float32, {buffer = nl.shared_hbm})
        local acc = nl.ndarray({2, 2}, nl.float32, {buffer = nl.psum})
        for k in nl.affine_range(4) do
          local t = nl.load(x[nl.ds(k * 128, 128)])
          nisa.nc_matmul(acc, t, t)
        end
        nl.store(out, nl.copy(acc))
        return out
      end)]], "f32[512,2]:ones")
    assert.same({0, ""}, {r.code, r.err})
    assert.matches("values 512.0 512.0 512.0 512.0", r.out)
  end)
end)

describe("B26: accumulating on psum that was never started", function()
  local function accumulating(before)
    return script(([[
      return nki.jit(function(x)
        local out = nl.ndarray({2, 2}, nl.float32, {buffer = nl.shared_hbm})
        local t, acc = nl.load(x), nl.ndarray({2, 2}, nl.float32, {buffer = nl.psum, name = "acc"})
        %s
        nisa.nc_matmul{dst = acc, stationary = t, moving = t, accumulate = true}
        nl.store(out, nl.copy(acc))
        return out
      end)]]):format(before), "f32[3,2]:ones")
  end

  it("is reported with the tile's name, and the result is no number", function()
    local r = accumulating ""
    assert.matches(":6: nisa.nc_matmul.*acc", r.err)
    assert.matches("nan 4", r.out)
  end)

  it("is fine once it was started", function()
    local r = accumulating "nisa.nc_matmul(acc, t, t)"
    assert.same({0, ""}, {r.code, r.err})
    assert.matches("values 6.0 6.0 6.0 6.0", r.out)
  end)
end)

describe("B32: unequal K, M and N", function()
  it("each goes to its own axis", function()
    local K, M, N = 128, 64, 512
    local lhsT = nd.ones {K, M} * nd.arange(1, M + 1)
    local rhs = nd.ones {K, N} * nd.arange(1, N + 1)
    local want = nd.arange(1, M + 1):reshape {M, 1} * nd.arange(1, N + 1) * 128
    local got = apply(function(a, b)
      local acc = nl.ndarray({M, N}, nl.float32, {buffer = nl.psum})
      nisa.nc_matmul(acc, a, b)
      return nl.copy(acc)
    end, lhsT, rhs)
    assert.is_true(got.shape == {64, 512})
    assert.equal(4194304.0, got:get(63, 511))
    equal(got, want)
    equal(trip.run(dofile "examples/matmul.lua", lhsT, rhs), want)
    equal(apply(function(a, b) return nl.copy(nl.matmul(a, b, true)) end, lhsT, rhs), want)
    assert.equal(K * M * N, dofile "examples/matmul.lua":specialize(lhsT, rhs).matmul_mac_count)
  end)
end)
