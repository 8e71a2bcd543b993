-- rank_hostile_spec: ranks that call what they like, in any order and number, and counts that are nonsense: right
-- numbers or one clear error, the same every time, and no rank left behind.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local ncc = require "nki.collectives"
local nd = require "nki.ndarray"
local build = require "spec.support.build"
local raises = require "spec.support.raises"
local worlds = require "spec.support.ranks"

local jit, shared, same, times = worlds.jit, worlds.shared, worlds.same, worlds.times

local function all(n)
  local group = {}
  for r = 0, n - 1 do
    group[r + 1] = r
  end
  return {group}
end

-- A list of {{start}}, {{start + 1}} ...
local function numbered(n, start)
  local list = {}
  for r = 1, n do
    list[r] = nd.array {{start + r - 1}}
  end
  return list
end

describe("runs of 1 to 8 ranks", function()
  for n = 1, 8 do
    it(("reduce, gather and pass on: %d"):format(n), function()
      local group = all(n)
      local k = jit(function(x)
        local sum, every, before = shared {1, 1}, shared {n, 1}, shared {1, 1}
        ncc.all_reduce({x}, {sum}, group, nl.add)
        ncc.all_gather({x}, {every}, group, 0)
        ncc.collective_permute_implicit({{x}}, {{before}}, group)
        return sum, every, before
      end)
      local sum, every, before = nki.simulate(k, {ranks = n})(numbered(n, 5))
      for r = 1, n do
        same(sum[r], {{5 * n + n * (n - 1) // 2}})
        for i = 1, n do
          assert.equal(4.0 + i, every[r]:get(i - 1, 0))
        end
        same(before[r], {{5 + (r - 2) % n}})
      end
    end)
  end
end)

describe("groups", function()
  it("may differ from call to call and share ranks", function()
    local k = jit(function(x)
      local out = shared(x.shape)
      ncc.all_reduce({x}, {out}, {{0, 1}, {2, 3}}, nl.add)
      ncc.all_reduce({out}, {out}, {{1, 2}}, nl.add)
      ncc.all_reduce({out}, {out}, {{3, 0}, {1}}, nl.maximum)
      return out
    end)
    local out = nki.simulate(k, {ranks = 5})(numbered(5, 1))
    for r, want in ipairs {7, 10, 10, 7} do
      same(out[r], {{want}})
    end
  end)

  it("may not share ranks in one call", function()
    raises("err_replica_group", "rank 1 is named twice; the lists of ranks must be disjoint", function()
      jit(function(x)
        ncc.all_reduce({x}, {x}, {{0, 1}, {1, 2}}, nl.add)
        return x
      end):specialize(nki.decl({1, 1}, nl.float32))
    end)
  end)

  it("of two calls in another order on another rank wait in vain", function()
    -- rank 0: {0, 1}, then {0, 2}; rank 1: {1, 2}, then {0, 1}; rank 2: {0, 2}, then {1, 2}
    local k = jit(function(x)
      local out = shared(x.shape)
      nl.store(out, nl.load(x))
      local function meet(rank, order)
        local t, left = nl.ndarray({1, 1}, nl.int32), nisa.register_alloc(0)
        nisa.register_store(t, ncc.rank_id())
        nisa.tensor_scalar(t, t, nl.equal, rank)
        nisa.register_load(left, t)
        times(left, function()
          for _, group in ipairs(order) do
            ncc.all_reduce({out}, {out}, {group}, nl.add)
          end
        end)
      end
      meet(0, {{0, 1}, {0, 2}})
      meet(1, {{1, 2}, {0, 1}})
      meet(2, {{0, 2}, {1, 2}})
      return out
    end)
    local first
    for _ = 1, 10 do
      local e = raises("err_deadlock", "rank 0 waits for ever at ncc.all_reduce (rank_hostile_spec.lua:",
        function() nki.simulate(k, {ranks = 3})(numbered(3, 1)) end)
      assert.truthy(e.message:find(": rank 1 waits at ncc.all_reduce (rank_hostile_spec.lua:", 1, true), e.message)
      first = first or tostring(e)
      assert.equal(first, tostring(e))
    end
  end)

  it("leave the ranks outside as they were, which may end early", function()
    local k = jit(function(x)
      local out = shared(x.shape)
      nl.store(out, nl.load(x))
      for _ = 1, 3 do
        ncc.all_reduce({out}, {out}, {{2, 0}}, nl.add)
      end
      return out
    end)
    local out = nki.simulate(k, {ranks = 4})(numbered(4, 1))
    for r, want in ipairs {16, 2, 16, 4} do
      same(out[r], {{want}})
    end
  end)
end)

describe("of many faults", function()
  it("the lowest rank's own is told", function()
    local k = jit(function(x)
      local out = shared {1, 3}
      local rank = ncc.rank_id()
      ncc.all_reduce({x}, {x}, {{0, 1, 2, 3}}, nl.add)
      nisa.dma_copy(out[{{}, nl.ds(rank + 2, 1)}], x)
      ncc.all_reduce({x}, {x}, {{0, 1, 2, 3}}, nl.add)
      return out, x
    end)
    for _ = 1, 10 do
      local e = raises("err_tensor_access_out_of_bound", "",
        function() nki.simulate(k, {ranks = 4})(numbered(4, 1)) end)
      assert.truthy(tostring(e):find("on rank 1 of 4", 1, true), tostring(e))
    end
  end)

  it("none is told in place of one that a rank made after the others had gone", function()
    local k = jit(function(x)
      local out, rank = shared {1, 4}, ncc.rank_id()
      ncc.all_reduce({x}, {x}, {{0, 1}}, nl.add)
      nisa.dma_copy(out[{{}, nl.ds(rank + 1, 1)}], x)
      return out, x
    end)
    local e = raises("err_tensor_access_out_of_bound", "", function() nki.simulate(k, {ranks = 4})(numbered(4, 1)) end)
    assert.truthy(tostring(e):find("on rank 3 of 4", 1, true), tostring(e))
  end)
end)

describe("counts at run time", function()
  local HUGE = 0xFFFFFFFF
  -- rows: by rank, those of the counts; src has 3 elements, dst 4
  local function run(rows, options, f)
    local k = jit(function(x, m)
      local out = shared({4}, x.dtype)
      local own = nl.ndarray(m.shape, m.dtype, {buffer = nl.private_hbm})
      nl.store(out:reshape {1, 4}, nl.full({1, 4}, -1, x.dtype))
      nisa.dma_copy(own, m);
      (f or ncc.all_to_all_v)({x}, {out}, {{0, 1}}, own, options)
      return out
    end, {platform_target = "trn3"})
    local meta = {nd.array(rows[1], "uint32"), nd.array(rows[2], "uint32")}
    return nki.simulate(k, {ranks = 2})(nd.array {1, 2, 3}, meta)
  end
  local none = {0, 0}

  it("may be no number of elements: huge, negative, past the end", function()
    for _, send in ipairs {{HUGE, 0}, {4, 0}, {1, 3}, {1, HUGE}, {HUGE, HUGE}, {0x80000000, 0x80000000}} do
      local text = ("ncc.all_to_all_v on rank 0: it sends rank 1 %d elements from element %d of its src, which has 3")
        :format(send[1], send[2])
      raises("err_rank_counts", text, function() run {{{0, send[1]}, {0, send[2]}, none}, {none, none, none}} end)
    end
    for _, at in ipairs {3, 4, HUGE} do
      raises("err_rank_counts", ("on rank 1: 2 elements from rank 0 go to element %d of dst, which has 4"):format(at),
        function()
          run({{{0, 2}, none, none, none}, {none, none, none, {at, 0}}}, {has_rdispls = true})
        end)
    end
    raises("err_rank_counts", "on rank 1: its recv_counts are known to be 4294967295 from rank 0, which sends 1",
      function() run({{{0, 1}, none, none}, {none, none, {HUGE, 0}}}, {recv_counts_known = true}) end)
  end)

  it("are not asked where nothing is sent", function()
    local out = run({{none, {HUGE, 7}, none, {HUGE, 5}}, {{0, 0}, {9, 9}, none, {HUGE, HUGE}}}, {has_rdispls = true})
    same(out[1], {-1, -1, -1, -1})
    out = run {{{3 - 1, 0}, {1, HUGE}, none}, {{0, 2}, none, none}}
    same(out[1], {2, 3, -1, -1})
    same(out[2], {-1, -1, 1, 2})
  end)

  it("that nobody wrote are told, and no number", function()
    local script = [[
      local nki, nl, ncc = require "nki", require "nki.language", require "nki.collectives"
      local k = nki.jit(function(x)
        local out = nl.ndarray({4}, x.dtype, {buffer = nl.shared_hbm})
        local own = nl.ndarray({3, 2}, nl.uint32, {buffer = nl.private_hbm})
        ncc.all_to_all_v({x}, {out}, {{0, 1}}, own)
        return out
      end, {platform_target = "trn3"})
      nki.simulate(k, {ranks = 2})(require "nki.ndarray".ones {4})]]
    local r = build.run {"-e", script}
    assert.equal(1, r.code)
    assert.truthy(r.err:find("rank 0: ncc.all_to_all_v reads 2 of the 2 elements of metadata_tensor", 1, true), r.err)
    assert.truthy(r.err:find("err_rank_counts: ncc.all_to_all_v on rank 0: it sends rank 0 2779096485 elements", 1,
      true), r.err)
  end)
end)
