-- Registers and affine index values: what may be computed with them.
local kernel = require "spec.support.kernel"
local nl, nisa = require "nki.language", require "nki.isa"

local function in_loop(body)
  return kernel.trace(function(t, a, out)
    for i in nl.dynamic_range(4) do body(i, t, a, out) end
  end)
end

describe("index values", function()
  it("are sums of multiples plus a constant", function()
    local art = in_loop(function(i, _, a)
      local r = nisa.register_alloc(2)
      nl.load(a[nl.ds(3 * i + 2 * r - 1 + i, 1)])
    end)
    assert.truthy(art.ir:find("nki.reg_read", 1, true))
    assert.truthy(art.ir:find("k = -64", 1, true), art.ir) -- the constant, in elements of a 64-wide row
  end)

  it("may be negated and subtracted from integers", function()
    local art = in_loop(function(i, _, a) nl.load(a[nl.ds(100 - i, 1)]) end)
    assert.truthy(art.ir:find("c = [-64], k = 6400", 1, true), art.ir)
    art = in_loop(function(i, _, a) nl.load(a[nl.ds(-(i - 100), 1)]) end)
    assert.truthy(art.ir:find("c = [-64], k = 6400", 1, true), art.ir)
    art = in_loop(function(i, _, a) nl.load(a[nl.ds((i + 3) * 2, 1)]) end)
    assert.truthy(art.ir:find("c = [128], k = 384", 1, true), art.ir)
    art = in_loop(function(i, _, a) nl.load(a[nl.ds(2 * i - (3 * i - 7), 1)]) end)
    assert.truthy(art.ir:find("c = [2, -3]", 1, true), art.ir)
    assert.truthy(art.ir:find("c = [64], k = 448", 1, true), art.ir)
  end)

  it("are read where they are used", function()
    local art = kernel.trace(function(_, a)
      local r = nisa.register_alloc(1)
      local plus = r + 1 -- reads r now
      nisa.register_move(r, 5)
      nl.load(a[nl.ds(plus, 1)])
      nl.load(a[nl.ds(r, 1)]) -- reads r here
    end)
    local reads = {}
    for line in art.ir:gmatch "[^\n]+" do
      for _, op in ipairs {"reg_read", "register_move", "dma_copy"} do
        if line:find("." .. op .. '"', 1, true) then reads[#reads + 1] = op end
      end
    end
    assert.same({"dma_copy", "register_move", "reg_read", "register_move", "dma_copy", "reg_read", "dma_copy",
      "dma_copy"}, reads)
  end)

  local undefined = {
    {"i / 2", function(i) return i / 2 end},
    {"i // 2", function(i) return i // 2 end},
    {"i % 2", function(i) return i % 2 end},
    {"i ^ 2", function(i) return i ^ 2 end},
    {"i & 1", function(i) return i & 1 end},
    {"i << 1", function(i) return i << 1 end},
    {"i * i", function(i) return i * i end},
    {"i + 0.5", function(i) return i + 0.5 end},
    {"i + 's'", function(i) return i + "s" end},
    {"~i", function(i) return ~i end},
    {"#i", function(i) return #i end},
    {"i .. 's'", function(i) return i .. "s" end},
  }
  for _, case in ipairs(undefined) do
    it("refuse " .. case[1], function()
      local ok, e = pcall(in_loop, case[2])
      assert.is_false(ok)
      assert.equal("err_index_arithmetic", e.id)
    end)
  end

  it("cannot be compared or asked for fields", function()
    local ok, e = pcall(in_loop, function(i) return i < 3 end)
    assert.is_false(ok)
    assert.equal("err_dynamic_control_flow_not_supported", e.id)
    assert.matches("nl.while_loop or nl.fori_loop .* nl.less", e.message)
    ok, e = pcall(in_loop, function(i) return i.value end)
    assert.is_false(ok)
    assert.equal("err_no_such_name", e.id)
  end)

  it("do not overflow silently", function()
    local ok, e = pcall(in_loop, function(i) return (i + math.maxinteger) + 1 end)
    assert.is_false(ok)
    assert.equal("err_index_overflow", e.id)
  end)

  it("belong to their kernel run", function()
    local kept
    in_loop(function(i) kept = i end)
    local e = kernel.error_of(function(_, a) return a[nl.ds(kept, 1)] end)
    assert.equal("err_index_stale", e.id)
    local ok
    ok, e = pcall(function() return kept + 1 end)
    assert.is_false(ok)
    assert.equal("err_index_stale", e.id)
  end)
end)

describe("registers", function()
  it("are allocated, moved, loaded and stored", function()
    local ops = kernel.body_ops(function()
      local r, s = nisa.register_alloc(), nisa.register_alloc(7)
      local one = nl.zeros({1, 1}, nl.int32)
      nisa.register_load(r, one)
      nisa.register_move(s, r)
      nisa.register_move(s, r + 1)
      nisa.register_store(one, s)
      assert.truthy(tostring(r):find("register", 1, true))
    end)
    assert.same({"register_move", "memset", "register_load", "register_move", "reg_read", "idx", "register_move",
      "register_store"}, ops)
  end)

  it("refuse other values", function()
    assert.equal("err_bind_kind", kernel.error_of(function() nisa.register_alloc("x") end).id)
    assert.equal("err_bind_kind", kernel.error_of(function(t) nisa.register_move(t, 1) end).id)
    assert.equal("err_bind_kind", kernel.error_of(function() nisa.register_move(nisa.register_alloc(), 1.5) end).id)
  end)
end)
