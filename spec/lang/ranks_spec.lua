-- Runs on several ranks: how they are asked for, and what goes wrong between the ranks.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local ncc = require "nki.collectives"
local nd = require "nki.ndarray"
local build = require "spec.support.build"
local raises = require "spec.support.raises"
local worlds = require "spec.support.ranks"

local RANKS, jit, shared, by_rank = worlds.RANKS, worlds.jit, worlds.shared, worlds.by_rank
local same, one_call, all_sum, times = worlds.same, worlds.one_call, worlds.all_sum, worlds.times

describe("nki.simulate with ranks", function()
  local x = by_rank {3, 5}
  local sum = x[1] + x[2] + x[3] + x[4]
  local sim = nki.simulate(all_sum, {ranks = RANKS})

  it("takes a list for each rank, one array for all, by position and by name", function()
    for _, out in ipairs {sim(x), sim {x = x}} do
      for r = 1, RANKS do
        same(out[r], sum)
      end
    end
    same(sim(x[1])[2], x[1] + x[1] + x[1] + x[1])
    local a = all_sum:specialize(x[1])
    for _, out in ipairs {a:simulate(x, {ranks = RANKS}), a:simulate({x = x}, {ranks = RANKS}),
                          nki.decode(a.backend_config):simulate(x, {ranks = RANKS})} do
      assert.equal(RANKS, #out)
      same(out[4], sum)
    end
  end)

  it("is a world of one rank without the option; with ranks = 1 results are lists", function()
    local k = one_call({1, 1}, function(a, o) ncc.all_reduce({a}, {o}, {{0}}, nl.add) end)
    same(k(nd.array {{5}}), {{5}})
    local out = nki.simulate(k, {ranks = 1})({nd.array {{7}}})
    same(out[1], {{7}})
    raises("err_rank_outside", "names rank 1, and the run has 1: rank 0 alone (the option ranks makes more)",
      function() all_sum(x[1]) end)
    raises("err_rank_outside", "replica_group names rank 3, and the run has 3: rank 0..2",
      function() nki.simulate(all_sum, {ranks = 3})(x[1]) end)
    raises("err_rank_outside", "source_target_pairs names rank 2", function()
      local far = one_call({1}, function(a, o) ncc.collective_permute({a}, {o}, {{0, 2}}) end)
      nki.simulate(far, {ranks = 2})(nd.array {1})
    end)
  end)

  it("gives the same bytes every time", function()
    local k = jit(function(a)
      local out, all = shared(a.shape, a.dtype), shared({4 * a.shape[0], a.shape[1]}, a.dtype)
      local t = nl.load(a)
      for _ = 1, 5 do
        ncc.all_reduce({t}, {t}, {{0, 1, 2, 3}}, nl.add)
        t = nl.multiply(t, 0.3)
      end
      nl.store(out, t)
      ncc.all_gather({out}, {all}, {{3, 2, 1, 0}}, 0)
      return all
    end)
    local first
    for _ = 1, 20 do
      local out = nki.simulate(k, {ranks = RANKS})(x)
      first = first or out
      for r = 1, RANKS do
        same(out[r], first[r])
      end
    end
  end)

  it("updates operands in place, each rank its own", function()
    local k = jit(function(a)
      ncc.all_reduce({a}, {a}, {{0, 1}}, nl.add)
      return a
    end)
    local a, b = nd.array {{1}}, nd.array {{2}}
    local out = nki.simulate(k, {ranks = 2})({a, b})
    assert.is_true(out[1] == a and out[2] == b)
    same(a, {{3}})
    same(b, {{3}})
    raises("err_array_of_ranks", "operand 'a' is written, and ranks 0 and 1 share its memory; give a list",
      function() nki.simulate(k, {ranks = 2})(a) end)
  end)

  it("prints and reports by rank, in their order", function()
    local script = [[
      local nki, nl, ncc = require "nki", require "nki.language", require "nki.collectives"
      local nd = require "nki.ndarray"
      local k = nki.jit(function(a)
        nl.device_print("a", a)
        local out, t = nl.ndarray({1, 1}, a.dtype, {buffer = nl.shared_hbm}), nl.ndarray({1, 1}, a.dtype)
        ncc.all_reduce({t}, {t}, {{0, 1}}, nl.add)
        nl.store(out, t)
        return out
      end, {platform_target = "trn1", func_name = "k"})
      nki.simulate(k, {ranks = 2})({nd.array {{1}}, nd.array {{2}}})]]
    local r = build.run {"-e", script}
    assert.equal("rank 0: a a[1,1] float32 in shared_hbm\n[[1.0]]\nrank 1: a a[1,1] float32 in shared_hbm\n[[2.0]]\n",
      r.out)
    local from = r.err:find("rank 0: ncc.all_reduce reads 1 of the 1 elements of srcs", 1, true)
    assert.truthy(from and r.err:find("rank 1: ncc.all_reduce reads 1", from, true), r.err)
  end)

  it("refuses wrong options, lists and tensors", function()
    raises("err_bind_unknown", "no parameter 'rank'; did you mean 'ranks'?",
      function() nki.simulate(all_sum, {rank = 4}) end)
    raises("err_bind_value", "'ranks' is 257; a run has 1 to 256", function() nki.simulate(all_sum, {ranks = 257}) end)
    raises("err_bind_value", "'ranks' is 0", function() nki.simulate(all_sum, {ranks = 0}) end)
    raises("err_bind_kind", "must be an integer, got the string 'four'",
      function() nki.simulate(all_sum, {ranks = "four"}) end)
    raises("err_bind_kind", "a table such as {ranks = 4}, got 4", function() nki.simulate(all_sum, 4) end)
    raises("err_bind_key", "has a number as a key", function() nki.simulate(all_sum, {4}) end)
    raises("err_bind_surplus", "nki.simulate: too many arguments: at most 2",
      function() nki.simulate(all_sum, {ranks = 1}, 2) end)
    raises("err_rank_list", "nki.simulate: x has 2 arrays, and the run has 4 ranks", function() sim {x[1], x[2]} end)
    raises("err_rank_list", "x has 1 arrays", function() sim {x = {x[1]}} end)
    for _, call in ipairs {sim, function(list) return all_sum:specialize(x[1]):simulate(list, {ranks = 4}) end} do
      for r = 1, 4 do
        for text, value in pairs {["nil"] = "nil", ["false"] = "false", ["7"] = "7", ["the string 'a'"] = "'a'",
                                  ["a table"] = "{}"} do
          local list = {x[1], x[2], x[3], x[4]}
          list[r] = load("return " .. value)()
          if r < 4 or value ~= "nil" then
            raises("err_rank_value", ("nki.simulate: x of rank %d must be an array, got %s"):format(r - 1, text),
              function() call(list) end)
          end
        end
      end
    end
    raises("err_artifact_operands", "operand 'x' of rank 2 must be an array float32[3,5], got an array float32[5,3]",
      function() sim({x[1], x[2], nd.zeros({5, 3}, "float32"), x[4]}) end)
    raises("err_kernel_decl_run", "has no data", function() sim(nki.decl({3, 5}, "float32")) end)
    local legacy = jit(function(a, b) nl.store(b, nl.load(a)) end, {mode = "legacy"})
    raises("err_kernel_option", "does not run on ranks", function() nki.simulate(legacy, {ranks = 2})(x[1], x[2]) end)
  end)

  it("keeps narrow floats as f32 when NKI_PRECISE_FP is 0", function()
    local script = [[
      local nki, nl, ncc = require "nki", require "nki.language", require "nki.collectives"
      local nd = require "nki.ndarray"
      local k = nki.jit(function(a)
        local t, u = nl.load(a), nl.ndarray({1, 1}, nl.bfloat16)
        ncc.all_reduce({t}, {u}, {{0, 1}}, nl.add)
        ncc.all_reduce({u}, {t}, {{0, 1}}, nl.add)
        local out = nl.ndarray({1, 1}, nl.float32, {buffer = nl.shared_hbm})
        nl.store(out, nl.copy(t, nl.float32))
        return out
      end, {platform_target = "trn1"})
      local out = nki.simulate(k, {ranks = 2})({nd.array({{256}}, "bfloat16"), nd.array({{1}}, "bfloat16")})
      print(out[2]:get(0, 0))]]
    assert.equal("512.0\n", build.run {"-e", script}.out)
    assert.equal("514.0\n", build.run {"-e", script, env = "NKI_PRECISE_FP=0"}.out)
  end)
end)

describe("ranks that do not meet", function()
  local one = nd.array {{1, 2}}

  -- body(x, out, rank): rank is the register that holds the number of its rank.
  local function diverging(body)
    return nki.simulate(jit(function(x)
      local out = shared(x.shape, x.dtype)
      nl.store(out, nl.load(x))
      body(x, out, ncc.rank_id())
      return out
    end), {ranks = RANKS})
  end
  local function sum(x, out) ncc.all_reduce({x}, {out}, {{0, 1, 2, 3}}, nl.add) end

  it("because one has ended: both ranks and lines are named", function()
    local e = raises("err_deadlock", "", function()
      diverging(function(x, out, rank)
        times(rank, function() sum(x, out) end)
      end)(one)
    end)
    local text = "^rank 1 waits for ever at ncc.all_reduce %(ranks_spec.lua:%d+%): " ..
      "rank 0 has ended %([%w./]*support/ranks.lua:%d+%)$" -- the loop is there
    assert.truthy(e.message:find(text), e.message)
  end)

  it("because they are in other groups", function()
    local e = raises("err_deadlock", "rank 2 waits at ncc.all_gather (ranks_spec.lua:", function()
      local k = jit(function(x)
        local out, all = shared(x.shape, x.dtype), shared({2, 2}, x.dtype)
        nl.store(out, nl.load(x))
        nl.store(all, nl.zeros({2, 2}, x.dtype))
        local rank, stop = ncc.rank_id(), nisa.register_alloc(1)
        times(rank, function() ncc.all_gather({x}, {all}, {{1, 2}, {3, 0}}, 0) end)
        sum(x, out)
        times(stop, function() end)
        return out, all
      end)
      nki.simulate(k, {ranks = RANKS})(one)
    end)
    assert.truthy(e.message:find("^rank 0 waits for ever at ncc.all_reduce %(ranks_spec.lua:%d+%): "), e.message)
  end)

  it("because they bring other collectives or shapes", function()
    raises("err_rank_differs", "their options differ", function()
      diverging(function(x, out, rank)
        times(rank, function() ncc.all_reduce({x}, {out}, {{0, 1, 2, 3}}, nl.maximum) end)
        sum(x, out)
      end)(one)
    end)
    raises("err_rank_differs", "on rank 0 meets ncc.all_to_all (ranks_spec.lua:", function()
      diverging(function(x, out, rank)
        local y = nl.ndarray({4, 1}, x.dtype, {buffer = nl.private_hbm})
        nl.store(y, nl.zeros({4, 1}, x.dtype))
        times(rank, function() ncc.all_to_all({y}, {y}, {{0, 1, 2, 3}}, 0) end)
        sum(x, out)
      end)(one)
    end)
    for _, want in ipairs {{{1, 3}, nl.float32, "their tensors have different shapes"},
                           {{1, 2}, nl.int32, "their tensors have different dtypes"}} do
      raises("err_rank_differs", want[3], function()
        diverging(function(x, out, rank)
          local y = nl.ndarray(want[1], want[2], {buffer = nl.private_hbm})
          nl.store(y, nl.zeros(want[1], want[2]))
          times(rank, function() sum(y, y) end)
          sum(x, out)
        end)(one)
      end)
    end
    raises("err_rank_differs", "they bring different numbers of tensors", function()
      diverging(function(x, out, rank)
        local y = nl.ndarray(x.shape, x.dtype, {buffer = nl.private_hbm})
        times(rank, function() ncc.all_reduce({x, x}, {out, y}, {{0, 1, 2, 3}}, nl.add) end)
        sum(x, out)
      end)(one)
    end)
  end)

  it("because they are different programs of a grid", function()
    local k = jit(function(x)
      local out = shared({2, 2}, x.dtype)
      local i = nl.program_id(0)
      nl.store(out[nl.ds(i, 1)], nl.load(x))
      if i == 0 then
        times(ncc.rank_id(), function() sum(x, out[nl.ds(0, 1)]) end)
      else
        sum(x, out[nl.ds(1, 1)])
      end
      return out
    end)
    raises("err_rank_differs", "they are different programs of the grid", function()
      nki.simulate(k[2], {ranks = RANKS})(one)
    end)
  end)

  it("because one has failed: its fault is told, not that others wait", function()
    local e = raises("err_tensor_access_out_of_bound", "", function()
      diverging(function(x, out, rank)
        nisa.dma_copy(out[{0, nl.ds(rank, 1)}], x[{0, nl.ds(rank, 1)}])
        sum(x, out)
      end)(one)
    end)
    assert.truthy(tostring(e):find("on rank 2 of 4", 1, true), tostring(e))
  end)

  it("gives the same error every time", function()
    local first
    for _ = 1, 20 do
      local _, e = pcall(diverging(function(x, out, rank)
        times(rank, function() sum(x, out) end)
      end), one)
      first = first or tostring(e)
      assert.equal(first, tostring(e))
    end
  end)

  it("because one never comes: an interrupt ends the run", function()
    local script = os.tmpname()
    build.spit(script, [[
      local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
      local ncc = require "nki.collectives"
      local k = nki.jit(function(x)
        local out = nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm})
        nl.while_loop(ncc.rank_id(), function(r) return r end)
        ncc.all_reduce({x}, {out}, {{0, 1}}, nl.add)
        return out
      end, {platform_target = "trn1", func_name = "k"})
      nki.simulate(k, {ranks = 2})(require "nki.ndarray".zeros({1, 1}, "float32"))]])
    local command = "%s %s & pid=$!; sleep 1; kill -INT $pid; wait $pid"
    local r = build.shell(command:format(build.quote(build.program), script))
    os.remove(script)
    assert.equal(130, r.code, r.err)
    assert.truthy(r.err:find("interrupted", 1, true), r.err)
  end)
end)

describe("what is known at run time only", function()
  it("is the number of ranks that channels need", function()
    local k = jit(function(x)
      local list, out = {}, {}
      for i = 1, 3 do
        list[i], out[i] = {x}, {shared(x.shape, x.dtype)}
      end
      ncc.collective_permute_implicit(list, out, {{0, 1}}, {0, 1, 2})
      return out[1][1], out[2][1], out[3][1]
    end)
    local a, _, c = nki.simulate(k, {ranks = 2})({nd.array {1}, nd.array {2}})
    same(a[1], {2})
    same(c[2], {1})
    raises("err_channel", "3 channels; a group of 2 of the run's 3 ranks has at most 2",
      function() nki.simulate(k, {ranks = 3})(nd.array {1}) end)
  end)

  -- dst of 4 elements on 2 ranks; rows of counts by rank
  local function exchange(rows, options, n)
    local k = jit(function(x, m)
      local out = shared({n or 4}, x.dtype)
      local own = nl.ndarray(m.shape, m.dtype, {buffer = nl.private_hbm})
      nisa.dma_copy(own, m)
      ncc.all_to_all_v({x}, {out}, {{0, 1}}, own, options)
      return out
    end, {platform_target = "trn3"})
    local meta = {}
    for r = 1, 2 do
      meta[r] = nd.array(rows[r], "uint32")
    end
    return function() nki.simulate(k, {ranks = 2})(nd.array {1, 2, 3}, meta) end
  end

  it("are the counts: what is sent lies in src, and what is received fits", function()
    local none = {0, 0}
    raises("err_rank_counts",
      "ncc.all_to_all_v on rank 1: it sends rank 0 3 elements from element 1 of its src, which has 3",
      exchange {{none, none, none}, {{3, 0}, {1, 0}, none}})
    raises("err_rank_counts", "on rank 1: rank 0 sends it 3 elements, and a block of dst has 2",
      exchange {{{0, 3}, none, none}, {none, none, none}})
    raises("err_rank_counts", "on rank 0: its recv_counts are known to be 1 from rank 1, which sends 2 elements",
      exchange({{none, none, {0, 1}}, {{2, 0}, none, none}}, {recv_counts_known = true}))
    raises("err_rank_counts", "on rank 1: 2 elements from rank 0 go to element 3 of dst, which has 4",
      exchange({{{0, 2}, none, none, none}, {none, none, none, {3, 0}}}, {has_rdispls = true}))
  end)

  it("are written only when they are not known", function()
    for _, known in ipairs{true, false} do
      local k = jit(function(x, counts)
        local out = shared({4}, x.dtype)
        ncc.all_to_all_v({x}, {out}, {{0, 1}}, counts, {recv_counts_known = known})
        return out, counts
      end, {platform_target = "trn3"})
      local counts = {}
      for r = 1, 2 do counts[r] = nd.array({{1, 1}, {0, 2}, {1, 1}}, "uint32") end
      local _, result = nki.simulate(k, {ranks = 2})(nd.array {1, 2, 3, 4}, counts)
      assert.equal(not known, rawequal(result[1], counts[1])) -- an operand that is written takes the result
    end
  end)
end)
