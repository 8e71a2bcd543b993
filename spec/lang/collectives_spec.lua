-- nki.collectives: the module, groups of ranks, and what runs on four ranks compute.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local ncc = require "nki.collectives"
local build = require "spec.support.build"
local raises = require "spec.support.raises"
local worlds = require "spec.support.ranks"
local trip = require "spec.support.trip"

local two_groups = ncc.ReplicaGroup {{0, 3}, {2, 1}}

local RANKS, jit, shared, by_rank = worlds.RANKS, worlds.jit, worlds.shared, worlds.by_rank
local same, one_call, all_sum = worlds.same, worlds.one_call, worlds.all_sum

describe("nki.collectives", function()
  it("has its twelve names and no others", function()
    for _, name in ipairs {"ReplicaGroup", "all_reduce", "all_gather", "all_gather_v", "reduce_scatter", "all_to_all",
                           "all_to_all_v", "collective_permute", "collective_permute_implicit",
                           "collective_permute_implicit_reduce",
                           "collective_permute_implicit_current_processing_rank_id", "rank_id"} do
      assert.equal("function", type(ncc[name]), name)
    end
    raises("err_no_such_name", "no ncc.all_gahter; did you mean ncc.all_gather?", function() return ncc.all_gahter end)
    raises("err_nki_api_outside_of_nki_kernel", "ncc.rank_id", function() ncc.rank_id() end)
  end)

  it("is known to help, by both names", function()
    local r = build.run {"doc", "ncc.all_to_all"}
    local signature = "ncc.all_to_all(srcs, dsts, replica_group, collective_dim, priority = nil, name = nil)"
    assert.truthy(r.out:find(signature, 1, true), r.out)
    assert.equal(r.out, build.run {"doc", "nki.collectives.all_to_all"}.out)
    assert.truthy(build.run {"doc", "ncc.rank_id"}.out:find("ncc.rank_id(name = nil) -> register", 1, true))
  end)

  it("loads from the C module", function()
    assert.equal("{{0, 1}}\n", build.stock {"-e", 'print(require "nki.collectives".ReplicaGroup {{0, 1}})'}.out)
  end)
end)

describe("ncc.ReplicaGroup", function()
  it("is compared by value, prints, and cannot change", function()
    assert.is_true(two_groups == ncc.ReplicaGroup {{0, 3}, {2, 1}})
    assert.is_true(two_groups == ncc.ReplicaGroup(two_groups))
    assert.is_false(two_groups == ncc.ReplicaGroup {{0, 3}, {1, 2}})
    assert.equal("{{0, 3}, {2, 1}}", tostring(two_groups))
    assert.equal(2, #two_groups)
    assert.has_error(function() two_groups[1] = {} end)
  end)

  it("is a legal argument of a kernel, and part of its key", function()
    local k = jit(function(x, groups)
      local out = shared(x.shape, x.dtype)
      ncc.all_reduce({x}, {out}, groups, nl.add)
      return out
    end)
    local x = by_rank {2, 2}
    local sim = nki.simulate(k, {ranks = RANKS})
    local a, b = sim(x, two_groups), sim(x, ncc.ReplicaGroup {{0, 1, 2, 3}})
    same(a[1], x[1] + x[4])
    same(b[3], x[1] + x[2] + x[3] + x[4])
    sim(x, ncc.ReplicaGroup {{0, 3}, {2, 1}})
    assert.same({2, 2}, {k:cache_info().misses, k:cache_info().entries})
  end)

  it("refuses what is no group", function()
    raises("err_replica_group", "ncc.ReplicaGroup: groups {{0, 1}, {1}}: rank 1 is named twice",
      function() ncc.ReplicaGroup {{0, 1}, {1}} end)
    raises("err_replica_group", "a list of ranks is empty", function() ncc.ReplicaGroup {{0}, {}} end)
    raises("err_replica_group", "there is no list of ranks", function() ncc.ReplicaGroup {} end)
    raises("err_bind_value", "ranks count from 0", function() ncc.ReplicaGroup {{-1}} end)
    raises("err_bind_kind", "a list of lists of ranks, got 3", function() ncc.ReplicaGroup {3} end)
    raises("err_bind_kind", "a list of lists of ranks, got nil", function() ncc.ReplicaGroup(nil) end)
    raises("err_bind_surplus", "too many arguments: at most 1, got 2", function() ncc.ReplicaGroup({{0}}, 1) end)
  end)
end)

describe("has_collectives", function()
  it("is in trace, artifact, config and HLO", function()
    local a = all_sum:specialize(nki.decl({3, 5}, "float32"))
    assert.is_true(a.has_collectives)
    assert.is_true(a.config.has_collectives)
    assert.truthy(a:hlo():find('frontend_attributes={has_collectives="1"}', 1, true))
    assert.truthy(a:stablehlo():find('mhlo.frontend_attributes = {has_collectives = "1"}', 1, true))
    assert.truthy(a.ir:find('"ncc.all_reduce"(%shared_hbm_1, %x) {op = "add", replica_group = [[0, 1, 2, 3]]', 1, true))
    assert.is_true(trip.decoded(a).has_collectives)
  end)

  it("is true of a kernel that asks for its rank, false of one that does neither", function()
    local function tells(body)
      return jit(function(x)
        body()
        return x
      end):specialize(nki.decl({1}, "float32")).has_collectives
    end
    assert.is_true(tells(function() ncc.rank_id() end))
    assert.is_false(tells(function() nisa.register_alloc(1) end))
  end)
end)

-- The groups of two_groups with places; for rank r (from 0): its group's ranks in order, its own place from 1.
local function group_of(r)
  for _, ranks in ipairs {{0, 3}, {2, 1}} do
    for place, rank in ipairs(ranks) do
      if rank == r then
        return ranks, place
      end
    end
  end
end

describe("a run on four ranks in two groups equals the definition of", function()
  local sizes = {{1, 1}, {2, 3}, {6, 333}, {130, 40}}
  for _, shape in ipairs(sizes) do
    local p, f = shape[1], shape[2]
    local title = p .. " x " .. f
    it("all_reduce, " .. title, function()
      local x = by_rank(shape)
      local out = nki.simulate(one_call(shape, function(a, o)
        ncc.all_reduce({a}, {o}, two_groups, nl.add)
      end), {ranks = RANKS})(x)
      for r = 0, RANKS - 1 do
        local g = group_of(r)
        same(out[r + 1], x[g[1] + 1] + x[g[2] + 1])
      end
    end)

    it("all_gather, " .. title, function()
      local x = by_rank(shape)
      local out = nki.simulate(one_call({2 * p, f}, function(a, o)
        ncc.all_gather({a}, {o}, two_groups, 0)
      end), {ranks = RANKS})(x)
      for r = 0, RANKS - 1 do
        for part, from in ipairs(group_of(r)) do
          for _, at in ipairs {{0, 0}, {p - 1, f - 1}, {p // 2, f // 2}} do
            assert.equal(x[from + 1]:get(at[1], at[2]), out[r + 1]:get((part - 1) * p + at[1], at[2]))
          end
        end
      end
    end)

    it("reduce_scatter and all_to_all, " .. title, function()
      local whole = {2 * p, f}
      local x = by_rank(whole)
      local k = jit(function(a)
        local part, turned = shared(shape, a.dtype), shared(whole, a.dtype)
        ncc.reduce_scatter({a}, {part}, two_groups, 0, nl.add)
        ncc.all_to_all({a}, {turned}, two_groups, 0)
        return part, turned
      end)
      local part, turned = nki.simulate(k, {ranks = RANKS})(x)
      for r = 0, RANKS - 1 do
        local g, place = group_of(r)
        local sum, first = x[g[1] + 1] + x[g[2] + 1], (place - 1) * p
        for _, at in ipairs {{0, 0}, {p - 1, f - 1}, {p // 2, f // 2}} do
          assert.equal(sum:get(first + at[1], at[2]), part[r + 1]:get(at[1], at[2]))
          for block, from in ipairs(g) do
            assert.equal(x[from + 1]:get(first + at[1], at[2]), turned[r + 1]:get((block - 1) * p + at[1], at[2]))
          end
        end
      end
    end)
  end

  it("a ring of implicit permutes: their sum is an all_reduce, and the ranks are those of the steps", function()
    local function ring(a)
      local sum, at = nl.load(a), nl.ndarray({1, RANKS}, nl.int32)
      local held, got = nl.ndarray(a.shape, a.dtype, {buffer = nl.private_hbm}), shared(a.shape, a.dtype)
      local ranks, groups = shared({1, RANKS}, nl.int32), {{0, 1, 2, 3}}
      nisa.dma_copy(held, a)
      for step = 0, RANKS - 1 do
        local rank = ncc.collective_permute_implicit_current_processing_rank_id(step, groups)
        nisa.register_store(at[{0, {step, step + 1}}], rank)
        if step > 0 then
          ncc.collective_permute_implicit({{held}}, {{got}}, groups)
          nisa.dma_copy(held, got)
          sum = nl.add(sum, nl.load(held))
        end
      end
      nl.store(got, sum)
      nl.store(ranks, at)
      return got, ranks
    end
    local x = by_rank {3, 7}
    local sums, ranks = nki.simulate(jit(ring), {ranks = RANKS})(x)
    for r = 0, RANKS - 1 do
      local want = x[r + 1]
      for step = 0, RANKS - 1 do
        local from = (r - step) % RANKS
        assert.equal(from, ranks[r + 1]:get(0, step))
        if step > 0 then
          want = want + x[from + 1]
        end
      end
      same(sums[r + 1], want)
    end
  end)
end)
