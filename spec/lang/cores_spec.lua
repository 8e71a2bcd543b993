-- cores_spec: grids over physical cores: nl.nc and nl.spmd_dim, what the artifact says of them, two cores at work.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local nd, testing = require "nki.ndarray", require "nki.testing"
local build = require "spec.support.build"
local raises = require "spec.support.raises"
local trip = require "spec.support.trip"

local TRN2 = {platform_target = "trn2", func_name = "k"}
local two = nl.nc(2)

local function shared(shape) return nl.ndarray(shape, nl.float32, {buffer = nl.shared_hbm}) end

-- Every program stores its id into its row.
local function rows_of(programs)
  return nki.jit(function()
    local out = shared {programs, 1}
    local id = 0
    for axis = 0, nl.program_ndim() - 1 do
      id = id * nl.num_programs(axis) + nl.program_id(axis)
    end
    nl.store(out[nl.ds(id, 1)], nl.full({1, 1}, id, nl.float32))
    return out
  end, TRN2)
end

describe("nl.nc and nl.spmd_dim", function()
  it("are values: the same whichever way they are written", function()
    assert.equal(nl.nc(2) * 3, nl.spmd_dim(nl.nc(2), 3))
    assert.equal(3 * nl.nc(2), nl.spmd_dim(3, nl.nc(2)))
    assert.equal(nl.nc(2), nl.nc {cores = 2})
    assert.not_equal(nl.nc(2) * 2, 2 * nl.nc(2))
    assert.not_equal(nl.nc(2), nl.nc(1) * 2)
    assert.equal("nl.nc(2) nl.nc(2) * 3 3 * nl.nc(2)",
      ("%s %s %s"):format(nl.nc(2), nl.spmd_dim {outer = nl.nc(2), inner = 3}, nl.spmd_dim(3, nl.nc(2))))
  end)

  it("take integers, and one axis of cores", function()
    raises("err_bind_kind", "nl.nc: parameter 'cores' must be an integer", function() nl.nc "2" end)
    raises("err_bind_value", "parameter 'cores' is below 1", function() nl.nc(0) end)
    raises("err_bind_value", "parameter 'inner' is below 1", function() return nl.nc(2) * 0 end)
    raises("err_bind_value", "parameter 'outer' is below 1", function() return -1 * nl.nc(2) end)
    raises("err_bind_kind", "nl.spmd_dim: parameter 'inner' must be nl.nc(n), when the other is an integer, got 2",
      function() nl.spmd_dim(2, 2) end)
    raises("err_bind_value", "one of the two is an integer", function() nl.spmd_dim(two, two) end)
    raises("err_bind_value", "parameter 'outer' is an axis with several programs per core already; give nl.nc(n)",
      function() return two * 2 * 2 end)
    raises("err_bind_value", "parameter 'inner' is too large", function() return two * math.maxinteger end)
    raises("err_bind_kind", "must be an integer", function() return two * "2" end)
  end)

  it("are axes of a grid, alone or among others", function()
    local k = rows_of(12)
    for _, grid in ipairs {two * 6, 6 * two, {3, 2 * two}, {two, 6}, {2, two, 3}, {two * 2, 3}, {12, nl.nc(1)}} do
      testing.assert_equal((trip.run(k[grid])), nd.arange(12):astype("float32"):reshape {12, 1})
    end
    assert.same({2, 2, 3}, k[{2, two, 3}].grid)
    assert.same({12}, k[two * 6]:specialize().grid)
    raises("err_kernel_grid", "axis 1 of its grid is the string '2'; a grid is", function() return k[{two, "2"}] end)
  end)

  it("may stand in nki.jit's options", function()
    local k = nki.jit(function() return shared {1, 1} end, {grid = two * 2, platform_target = "trn2"})
    assert.same({4}, k.grid)
  end)

  it("need a target that has the cores", function()
    for _, target in ipairs {"trn1", "trn1n", "inf2"} do
      local k = nki.jit(function(x) return x end, {platform_target = target})
      raises("err_multi_cores_spmd_not_supported", "the target is " .. target .. ", which has 1",
        function() k[two]:specialize(nki.decl({1}, nl.float32)) end)
    end
    local k = rows_of(4)
    raises("err_grid_cores", "kernel k: the grid spans 4 physical cores; trn2 has 2", function() k[nl.nc(4)]() end)
    raises("err_grid_cores", "the grid spans 4 physical cores", function() k[{two, two}]() end)
    assert.equal("trn1", nki.jit(function(x) return x end, {platform_target = "trn1"})[nl.nc(1) * 3]
      :specialize(nki.decl({1}, nl.float32)).platform_target)
  end)

  it("are part of the key, of the config and of the IR", function()
    local k = rows_of(4)
    local grids = {4, two * 2, 2 * two, {2, two}, {two, 2}, {4, nl.nc(1)}}
    local cores = {{}, {{2, 2}}, {{2, 1}}, {{1, 1}, {2, 1}}, {{2, 1}, {1, 1}}, {}}
    local text = {false, "[[2, 2]]", "[[2, 1]]", "[[1, 1], [2, 1]]", "[[2, 1], [1, 1]]", false}
    local keys = {}
    for i, grid in ipairs(grids) do
      local a = k[grid]:specialize()
      assert.same(cores[i], a.cores)
      assert.same(cores[i], trip.decoded(a).config.cores)
      assert.equal(text[i], a.ir:match "nki%.cores = (%[.-%]), nki%.grid" or false)
      assert.is_nil(keys[a.cache_key])
      keys[a.cache_key] = true
    end
    assert.equal(k[two * 2]:specialize().cache_key, k[nl.spmd_dim(two, 2)]:specialize().cache_key)
  end)

  it("are captured by value", function()
    local grid = two
    local k = nki.jit(function()
      local out = shared {1, 1}
      nl.store(out, nl.full({1, 1}, grid == nl.nc(2) and 1 or 0, nl.float32))
      return out
    end, TRN2)
    local first = k:specialize().cache_key
    grid = nl.nc(2)
    assert.equal(first, k:specialize().cache_key)
    grid = nl.nc(2) * 2
    assert.not_equal(first, k:specialize().cache_key)
    assert.equal(0, k:cache_info().impure)
  end)
end)

-- Both cores write their half, and after a barrier the sum of the halves into theirs of the other output.
local meeting = nki.jit(function(x)
  local half, out = shared(x.shape), shared(x.shape)
  local me, n = nl.program_id(0), x.shape[0] // 2
  local mine, other = nl.ds(me * n, n), nl.ds((1 - me) * n, n)
  nl.store(half[mine], nl.load(x[mine]) * (me + 1))
  nisa.core_barrier(half, {0, 1})
  nl.store(out[mine], nl.load(half[mine]) + nl.load(half[other]))
  return out
end, TRN2)

describe("two cores", function()
  it("see each other's shared_hbm behind a barrier, the same bytes every time", function()
    local x = nd.random.normal({64, 40}, {seed = 3})
    local want = {}
    for i = 0, 31 do
      want[i + 1] = {}
      for j = 0, 39 do
        want[i + 1][j + 1] = x:get(i, j) + 2 * x:get(i + 32, j)
      end
    end
    for i = 1, 32 do
      want[32 + i] = want[i]
    end
    local first = trip.run(meeting[two], x)
    testing.assert_allclose(first, nd.array(want), {rtol = 1e-6, atol = 1e-6})
    for _ = 1, 50 do
      assert.equal(first:bytes(), meeting[two](x):bytes())
    end
  end)

  it("have SBUF, PSUM and private memory of their own", function()
    local k = nki.jit(function(a, b)
      local out = shared {256, 64}
      local me = nl.program_id(0)
      local p = nl.matmul(nl.load(a), nl.load(b[me]), {transpose_x = true})
      local spill = nl.ndarray({128, 64}, nl.float32, {buffer = nl.private_hbm})
      nl.store(spill, nl.copy(p))
      nl.store(out[nl.ds(128 * me, 128)], nl.load(spill))
      return out
    end, TRN2)
    local a, b = nd.random.normal({64, 128}, {seed = 1}), nd.random.normal({2, 64, 64}, {seed = 2})
    local serial = trip.run(k[2], a, b)
    assert.equal(serial:bytes(), trip.run(k[two], a, b):bytes())
  end)

  it("update an operand in place", function()
    local k = nki.jit(function(x)
      local mine = nl.ds(nl.program_id(0) * 2, 2)
      nl.store(x[mine], nl.load(x[mine]) + 1)
      nisa.core_barrier(x, {0, 1})
      local other = nl.ds(2 - nl.program_id(0) * 2, 2)
      local t = nl.load(x[other])
      nisa.core_barrier(x, {0, 1})
      nl.store(x[mine], t)
      return x
    end, TRN2)
    local x = nd.array {{1}, {2}, {3}, {4}}
    assert.is_true(rawequal(x, k[two](x)))
    testing.assert_equal(x, nd.array {{4}, {5}, {2}, {3}})
  end)

  it("run their programs in order, meeting as they come", function()
    local k = nki.jit(function()
      local out = shared {4, 1}
      local id = nl.program_id(0)
      local peer = 1 - id // 2
      local t, got = nl.full({1, 1}, 10 + id, nl.float32), nl.ndarray({1, 1}, nl.float32)
      nisa.sendrecv {src = t, dst = got, send_to_rank = peer, recv_from_rank = peer, pipe_id = id % 2}
      nl.store(out[nl.ds(id, 1)], got)
      return out
    end, TRN2)
    testing.assert_equal(k[two * 2](), nd.array {{12}, {13}, {10}, {11}})
  end)
end)

-- What a script says on standard error, and how it ends.
local function said(body, launch)
  return build.run {"-e", ([[
    local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
    local k = nki.jit(function(x)
      local id, out = nl.program_id(0), nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm, name = "out"})
      local t = nl.load(x)
      %s
      return out
    end, {platform_target = "trn2"})
    %s(require "nki.ndarray".ones {2, 4})]]):format(body, launch)}
end

describe("a data race on shared_hbm", function()
  it("is told with both programs and both lines", function()
    local r = said("nl.store(out, t)", "k[nl.nc(2)]")
    assert.equal(0, r.code, r.err)
    local race = "5: program 0: data race: nisa.dma_copy writes 8 elements of out[2,4] float32 in shared_hbm, " ..
      "between [0, 0] and [1, 3], and nisa.dma_copy of program 1 at "
    local order = "5 writes them, with no nisa.core_barrier or nisa.sendrecv of both cores between the two\n"
    assert.truthy(r.err:find(race, 1, true), r.err)
    assert.truthy(r.err:find(order, 1, true), r.err)
  end)

  it("is none when a barrier orders the two", function()
    local body = [[if id == 0 then nl.store(out, t) end
      nisa.core_barrier(out, {0, 1})
      if id == 1 then nl.store(out, t) end]]
    assert.equal("", said(body, "k[nl.nc(2)]").err)
  end)

  it("is none between cores that touch different elements of a row", function()
    assert.equal("", said("local half = nl.ds(2 * id, 2) nl.store(out[{{}, half}], t[{{}, half}])", "k[nl.nc(2)]").err)
  end)
end)

describe("the programs of one core", function()
  it("are told when they write one place", function()
    local r = said("nl.store(out, t)", "k[2]")
    assert.equal(0, r.code, r.err)
    assert.truthy(r.err:find("5: program 1: nisa.dma_copy writes 8 of the 8 elements of dst = out[2,4] float32 in " ..
      "shared_hbm that program 0 has written at ", 1, true), r.err)
    assert.truthy(r.err:find("between [0, 0] and [1, 3]: the programs of a grid have no order\n", 1, true), r.err)
  end)
end)

describe("a core that waits for ever", function()
  it("is an error that names both", function()
    local r = said("nl.store(out, t) if id == 0 then nisa.core_barrier(out, {0, 1}) end", "k[nl.nc(2)]")
    assert.equal(1, r.code)
    assert.truthy(r.err:find("err_deadlock: program 0 on core 0 waits for ever at nisa.core_barrier (", 1, true), r.err)
    assert.truthy(r.err:find("program 1 on core 1 has ended (", 1, true), r.err)
  end)
end)

describe("NEURON_LOGICAL_NC_CONFIG", function()
  local script = ([[
    local nki, nl = require "nki", require "nki.language"
    local k = nki.jit(function(x) return x end, {platform_target = "trn2", func_name = "k"})
    local ok, e = pcall(k[%s], require "nki.ndarray".ones {4})
    print(ok and "ran" or e.id .. " " .. e.message)]])
  local function with(value, grid)
    local r = build.run {"-e", script:format(grid), env = "NEURON_LOGICAL_NC_CONFIG=" .. value}
    assert.equal(0, r.code, r.err)
    return r.out
  end

  it("is the number of cores of every grid that names some", function()
    assert.equal("ran\n", with("2", "nl.nc(2)"))
    assert.equal("ran\n", with("", "nl.nc(2)"))
    assert.equal("err_logical_nc_config kernel k: its grid spans 2 physical cores, and NEURON_LOGICAL_NC_CONFIG is 1\n",
      with("1", "nl.nc(2)"))
    assert.equal("ran\n", with("1", "2"))
    assert.equal("ran\n", with("2", "2"))
    assert.equal("err_env_value NEURON_LOGICAL_NC_CONFIG: '3' is not 1 or 2\n", with("3", "1"))
  end)
end)
