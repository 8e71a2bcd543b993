-- rank_cores_spec: kernels on two physical cores that run on several ranks: what of a collective belongs to a core and
-- what to the rank, and what goes wrong between cores and ranks.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local ncc = require "nki.collectives"
local nd = require "nki.ndarray"
local build = require "spec.support.build"
local raises = require "spec.support.raises"
local worlds = require "spec.support.ranks"

local shared, by_rank, same = worlds.shared, worlds.by_rank, worlds.same
local two, ALL = nl.nc(2), {{0, 1, 2, 3}}
local function jit(f) return worlds.jit(f, {platform_target = "trn2"}) end
local function on_ranks(kernel, n) return nki.simulate(kernel, {ranks = n or 4}) end
local function private(shape, dtype) return nl.ndarray(shape, dtype or nl.float32, {buffer = nl.private_hbm}) end

-- The rows of a tensor that are this program's.
local function mine(n)
  local count = n // (nl.num_programs(0) or 1)
  return nl.ds(nl.program_id(0) * count, count)
end

-- x -> dst, of a collective between tensors in shared_hbm. Each program writes its rows of the source, and reads those
-- of dst that are not its own.
local function through(rows, call)
  return jit(function(x)
    local src, dst, out = shared(x.shape), shared {rows, x.shape[1]}, shared {rows, x.shape[1]}
    nisa.dma_copy(src[mine(x.shape[0])], x[mine(x.shape[0])])
    call(src, dst)
    local count = rows // nl.num_programs(0)
    local other = nl.ds((nl.num_programs(0) - 1 - nl.program_id(0)) * count, count)
    nisa.dma_copy(out[other], dst[other])
    return out
  end)
end

describe("a collective of tensors that both cores see", function()
  local x = by_rank {8, 6}
  local calls = {
    {"all_reduce", 8, function(s, d) ncc.all_reduce({s}, {d}, {{2, 0}, {3, 1}}, nl.add) end},
    {"all_gather", 32, function(s, d) ncc.all_gather({s}, {d}, {{2, 0, 1, 3}}, 0) end},
    {"reduce_scatter", 2, function(s, d) ncc.reduce_scatter({s}, {d}, {{2, 0, 1, 3}}, 0, nl.maximum) end},
    {"all_to_all", 8, function(s, d) ncc.all_to_all({s}, {d}, {{2, 0, 1, 3}}, 0) end},
    {"collective_permute", 8, function(s, d)
      ncc.collective_permute({s}, {d}, {{0, 2}, {1, 0}, {2, 3}, {3, 1}})
    end},
    {"collective_permute_implicit", 8, function(s, d)
      ncc.collective_permute_implicit({{s}}, {{d}}, {{3, 1}, {0, 2}})
    end},
    {"collective_permute_implicit_reduce", 8, function(s, d)
      ncc.collective_permute_implicit_reduce({{s}}, {{s}}, {{d}}, {{3, 1, 0, 2}}, nl.add)
    end},
  }
  for _, c in ipairs(calls) do
    it("is the rank's and orders its cores: " .. c[1], function()
      local k = through(c[2], c[3])
      local want, got = on_ranks(k[1])(x), on_ranks(k[two])(x)
      for r = 1, 4 do
        same(got[r], want[r])
      end
    end)
  end

  it("is done once: a sum in place counts every rank once, and nobody reports a race", function()
    local script = [[
      local nki, nl, ncc = require "nki", require "nki.language", require "nki.collectives"
      local nd = require "nki.ndarray"
      local k = nki.jit(function(x)
        local out, row = nl.ndarray({2, 1}, x.dtype, {buffer = nl.shared_hbm}), nl.ds(nl.program_id(0), 1)
        nl.store(out[row], nl.load(x[row]))
        ncc.all_reduce({out}, {out}, {{0, 1, 2}}, nl.add)
        return out
      end, {platform_target = "trn2"})
      local out = nki.simulate(k[nl.nc(2)], {ranks = 3}) {
        nd.array {{1}, {2}}, nd.array {{10}, {20}}, nd.array {{100}, {200}}}
      for r = 1, 3 do
        print(out[r]:get(0, 0), out[r]:get(1, 0))
      end]]
    local r = build.run {"-e", script}
    assert.equal("", r.err)
    assert.equal(("111.0\t222.0\n"):rep(3), r.out)
  end)

  it("is named by the parameter that reads or writes it, also in place", function()
    local script = [[
      local nki, nl, ncc = require "nki", require "nki.language", require "nki.collectives"
      local k = nki.jit(function(x)
        local out, t = nl.ndarray({2, 1}, x.dtype, {buffer = nl.shared_hbm}), nl.ndarray({2, 1}, x.dtype)
        require "nki.isa".tensor_scalar(t, t, nl.add, 1)
        nl.store(out, nl.load(x))
        ncc.all_reduce({out}, {out}, {{0}}, nl.add)
        return out
      end, {platform_target = "trn2"})
      k[2](require "nki.ndarray".ones {2, 1})]]
    local r = build.run {"-e", script}
    assert.truthy(r.err:find("nisa.tensor_scalar reads 2 of the 2 elements of data = ", 1, true), r.err)
    assert.truthy(r.err:find("ncc.all_reduce writes 2 of the 2 elements of dsts = ", 1, true), r.err)
  end)

  it("is told as a race when the cores' tensors only overlap", function()
    local script = [[
      local nki, nl, ncc = require "nki", require "nki.language", require "nki.collectives"
      local k = nki.jit(function(x)
        local out = nl.ndarray({3, 1}, x.dtype, {buffer = nl.shared_hbm, name = "out"})
        local rows = nl.ds(nl.program_id(0), 2)
        ncc.all_reduce({x}, {out[rows]}, {{0, 1}}, nl.add)
        return out
      end, {platform_target = "trn2"})
      nki.simulate(k[nl.nc(2)], {ranks = 2})(require "nki.ndarray".ones {2, 1})]]
    local r = build.run {"-e", script}
    local at = 1
    for rank = 0, 1 do
      local text = "rank %d: program 0: data race: ncc.all_reduce writes 1 element of out[3,1] float32"
      at = assert.truthy(r.err:find(text:format(rank), at, true), r.err)
    end
  end)
end)

describe("what each core brings", function()
  local x = by_rank {4, 3}
  local sum = x[1] + x[2] + x[3] + x[4]

  it("goes to the same core of the other ranks: tiles in SBUF, private_hbm and parts of shared_hbm", function()
    local kinds = {
      function(rows) return nl.load(rows) end,
      function(rows)
        local t = private(rows.shape)
        nisa.dma_copy(t, rows)
        return t
      end,
      function(rows)
        local t = shared({4, 3})[mine(4)]
        nisa.dma_copy(t, rows)
        return t
      end,
    }
    for _, tile_of in ipairs(kinds) do
      local k = jit(function(a)
        local out = shared(a.shape)
        local t = tile_of(a[mine(4)])
        ncc.all_reduce({t}, {t}, ALL, nl.add)
        nisa.dma_copy(out[mine(4)], t)
        return out
      end)
      for r, out in ipairs(on_ranks(k[two])(x)) do
        same(out, sum, r)
      end
    end
  end)

  it("is that of its program when a core has several", function()
    local k = jit(function(a)
      local out = shared(a.shape)
      local t = nl.load(a[mine(4)])
      ncc.all_reduce({t}, {t}, ALL, nl.add)
      nl.store(out[mine(4)], t)
      return out
    end)
    for _, grid in ipairs {two * 2, 2 * two} do
      same(on_ranks(k[grid])(x)[3], sum)
    end
  end)

  it("meets on one rank, too, and on ranks that are in no list", function()
    local half = function(group)
      return jit(function(a)
        local buf, out = shared(a.shape), shared(a.shape)
        nl.store(buf[mine(4)], nl.load(a[mine(4)]))
        ncc.all_reduce({buf}, {buf}, group, nl.add)
        local other = nl.ds(2 - 2 * nl.program_id(0), 2)
        nl.store(out[other], nl.load(buf[other]))
        return out
      end)
    end
    same(half({{0}})[two](x[2]), x[2])
    local got = on_ranks(half({{3, 1}})[two])(x)
    same(got[1], x[1])
    same(got[2], x[4] + x[2])
    same(got[3], x[3])
  end)

  it("gives the same bytes every time", function()
    local k = jit(function(a)
      local out, t, got = shared(a.shape), nl.load(a[mine(4)]), nl.ndarray({2, 3}, nl.float32)
      local peer = 1 - nl.program_id(0)
      for step = 1, 4 do
        ncc.all_reduce({t}, {t}, ALL, nl.add)
        t = nl.multiply(t, 0.3)
        nisa.sendrecv(t, got, peer, peer, step)
        t = nl.add(t, got)
        nl.store(out[mine(4)], t)
        nisa.core_barrier(out, {0, 1})
      end
      return out
    end)
    local first
    for _ = 1, 20 do
      local out = on_ranks(k[two])(x)
      first = first or out
      for r = 1, 4 do
        same(out[r], first[r])
      end
    end
  end)
end)

describe("all_gather_v on two cores", function()
  local x = {nd.array {1, 2, 3}, nd.array {4, 5, 6}, nd.array {7, 8, 9}, nd.array {10, 11, 12}}
  local function counts(n, at) return nd.array({{n, 0, 0, 0}, {at, 0, 0, 0}, {9, 9, 9, 9}}, "uint32") end
  local meta = {counts(3, 0), counts(0, 0), counts(1, 2), counts(2, 1)}
  -- Counts in SBUF are each core's.
  local function gathered(change)
    return jit(function(a, m)
      local out, after = shared({12}, a.dtype), shared({2, 4}, nl.uint32)
      local own = nl.ndarray({1, 3, 4}, nl.uint32)
      if nl.program_id(0) == 0 then
        nl.store(out:reshape {1, 12}, nl.full({1, 12}, -1, a.dtype))
      end
      nisa.dma_copy(own, m:reshape {1, 3, 4})
      if nl.program_id(0) == 1 and change then
        nisa.memset(own[{0, 0, {0, 1}}], 2)
      end
      ncc.all_gather_v({a}, {out}, ALL, own)
      nisa.dma_copy(after[nl.ds(nl.program_id(0), 1)], own[{{}, 2}])
      return out, after
    end)[two]
  end

  it("writes the counts that arrive on both", function()
    local out, after = on_ranks(gathered())(x, meta)
    for r = 1, 4 do
      same(out[r], {1, 2, 3, -1, -1, -1, 9, -1, -1, 11, 12, -1})
      same(after[r], nd.array({{3, 0, 1, 2}, {3, 0, 1, 2}}, "uint32"))
    end
  end)

  it("refuses counts that differ between the cores of a rank", function()
    raises("err_rank_counts", "ncc.all_gather_v on rank 0: the counts of its two cores differ",
      function() on_ranks(gathered(true))(x, meta) end)
  end)
end)

describe("cores of ranks that do not meet", function()
  local x = nd.array {{1}, {2}}
  local function fails(id, text, body, n)
    local k = jit(function(a)
      local out, me = shared(a.shape), nl.program_id(0)
      local t = nl.load(a[nl.ds(me, 1)])
      body(t, me, out, a)
      nl.store(out[nl.ds(me, 1)], t)
      return out
    end)
    local first
    for _ = 1, 10 do
      local e = raises(id, text, function() on_ranks(k[two], n or 3)(x) end)
      first = first or tostring(e)
      assert.equal(first, tostring(e))
    end
    return first
  end
  local function sum(t, op) ncc.all_reduce({t}, {t}, {{0, 1, 2}}, op or nl.add) end

  it("because one core never comes: both and the rank are named", function()
    local e = fails("err_deadlock", "program 1 on core 1 waits for ever at ncc.all_reduce (rank_cores_spec.lua:",
      function(t, me) if me == 1 then sum(t) end end)
    assert.truthy(e:find("program 0 on core 0 has ended (rank_cores_spec.lua:", 1, true), e)
    assert.truthy(e:find("on rank 0 of 3", 1, true), e)
  end)

  it("because they are at other instructions", function()
    fails("err_deadlock", "program 1 on core 1 waits at nisa.core_barrier (", function(t, me, out)
      if me == 0 then sum(t) else nisa.core_barrier(out, {0, 1}) end
    end)
    fails("err_deadlock", "program 1 on core 1 waits at ncc.all_gather (", function(t, me, out)
      if me == 0 then sum(t) else ncc.all_gather({out[nl.ds(0, 1)]}, {out}, {{0, 1}}, 0) end
    end)
  end)

  it("because their options or groups differ", function()
    fails("err_core_differs", "of program 1 on core 1: their options differ",
      function(t, me) sum(t, me == 0 and nl.add or nl.maximum) end)
    fails("err_core_differs", "their options differ",
      function(t, me) ncc.all_reduce({t}, {t}, me == 0 and {{0, 1, 2}} or {{0, 1}}, nl.add) end)
  end)

  it("because both bring the same tensors on one rank alone", function()
    fails("err_rank_differs", "both cores of the one bring the same tensors, and those of the other do not",
      function(_, me, out, a)
        nisa.dma_copy(out[nl.ds(me, 1)], a[nl.ds(me, 1)])
        local row = nisa.register_alloc(0)
        if me == 1 then
          nl.while_loop(ncc.rank_id(), function(r)
            nisa.register_move(row, 1)
            return r - r
          end)
        end
        sum(out[nl.ds(row, 1)])
      end)
  end)

  it("because another rank has ended", function()
    fails("err_deadlock", "rank 1 waits for ever at ncc.all_reduce (rank_cores_spec.lua:", function(t)
      nl.while_loop(ncc.rank_id(), function(r)
        sum(t)
        return r - 1
      end)
    end)
  end)

  it("because one core has failed: its fault is told, and on which rank", function()
    for core = 0, 1 do
      local e = fails("err_tensor_access_out_of_bound", "", function(t, me, out, a)
        if me == core then
          nisa.dma_copy(out[nl.ds(ncc.rank_id(), 1)], a[nl.ds(ncc.rank_id(), 1)])
        end
        sum(t)
      end)
      assert.truthy(e:find("on rank 2 of 3", 1, true), e)
      assert.truthy(e:find(("in program %d of 2"):format(core), 1, true), e)
    end
  end)

  it("because one core never ends: an interrupt ends the run", function()
    for core = 0, 1 do
      local script = os.tmpname()
      build.spit(script, ([[
        local nki, nl, ncc = require "nki", require "nki.language", require "nki.collectives"
        local k = nki.jit(function(x)
          local out = nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm})
          if nl.program_id(0) == %d then
            nl.while_loop(ncc.rank_id(), function(r) return r end)
          end
          ncc.all_reduce({x}, {out}, {{0, 1}}, nl.add)
          return out
        end, {platform_target = "trn2", func_name = "k"})
        nki.simulate(k[nl.nc(2)], {ranks = 2})(require "nki.ndarray".zeros({1, 1}, "float32"))]]):format(core))
      local command = "%s %s & pid=$!; sleep 0.5; kill -INT $pid; wait $pid"
      local r = build.shell(command:format(build.quote(build.program), script))
      os.remove(script)
      assert.equal(130, r.code, r.err)
      assert.truthy(r.err:find("interrupted", 1, true), r.err)
    end
  end)
end)
