-- What nl functions compute beyond the cases of spec/names: operators, columns, other dtypes; and what they refuse.
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

describe("element-wise functions of two tiles", function()
  it("the operator ^", function()
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
  it("take dtype=", function()
    local r = kernel.run(function(s) return nl.exp(s, nl.bfloat16) end, {{0, 1}})
    assert.equal("bfloat16", r.dtype)
    check(r, {{1, 2.71875}})
  end)
end)

describe("reductions", function()
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
    {0, "axis [0] of"}, {2, "axis [2] of"}, {-2, "axis [-2] of"}, {{1, 1}, "axis [1,1] of"}, {{}, "axis [] of"},
    {"1", "integer"}, {{1, 1.5}, "the number 1.5 for axis 1"},
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
  it("nl.softmax in another dtype", function()
    assert.equal("bfloat16", kernel.run(function(s) return nl.softmax(s, {dtype = nl.bfloat16}) end, x).dtype)
  end)

  it("nl.where of two dtypes", function()
    check(kernel.run(function(s, t) return nl.where(s, nl.copy(s, nl.bfloat16), t) end, x, y), map(x,
      function(v, i, j)
      return v ~= 0 and v or y[i][j]
    end))
  end)
end)

describe("movement", function()
  local a = {{1, 2, 3}, {4, 5, 6}}

  it("nl.matmul of tiles that do not fit", function()
    local e = kernel.error_of(function(t) nl.matmul(t, t) end)
    assert.equal("err_shape_mismatch", e.id)
    e = kernel.error_of(function(t) nl.matmul(t, t:expand_dim(1)) end)
    assert.equal("err_exceed_max_supported_dimension", e.id)
    assert.truthy(e:find("nl.matmul: parameter 'y', tile view [128,1,64] of sbuf_0[128,64]", 1, true))
    assert.truthy(e:find("has 3 dimensions; at most 2", 1, true))
    e = kernel.error_of(function() nl.load_transpose2d(nl.ndarray({8}, nl.float32, {buffer = nl.hbm})) end)
    assert.equal("err_two_dimensional", e.id)
    assert.truthy(e:find("nl.load_transpose2d: parameter 'src' has rank 1; a matrix has rank 2", 1, true))
  end)

  it("nl.broadcast_to along free axes and partitions", function()
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
  it("takes a string and a tensor", function()
    assert.equal("err_bind_kind", kernel.error_of(function(t) nl.device_print(t, t) end).id)
    assert.equal("err_bind_kind", kernel.error_of(function() nl.device_print("x", 1) end).id)
    assert.equal("err_bind_value", kernel.error_of(function(t) nl.device_print("a\0b", t) end).id)
  end)
end)
