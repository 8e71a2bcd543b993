-- Cases of loops, grids, slices, registers, questions, and of the functions of nki.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local trip = require "spec.support.trip"

local ramp = nd.arange(8, {dtype = "float32"}):reshape {1, 8}
local cases = {}

-- The sum of the columns that a loop visits, and how often it was at each: loop(visit) calls visit(i).
local function visits(name, loop, want)
  return {name, {ramp}, function(t)
    local seen = nl.zeros({1, 8}, nl.float32)
    loop(function(i)
      local at = nl.ds(i, 1)
      nisa.tensor_tensor(seen[{{}, at}], seen[{{}, at}], t[{{}, at}], nl.add)
    end)
    return seen
  end, {{want}}}
end

for _, name in ipairs {"affine_range", "sequential_range", "static_range", "dynamic_range"} do
  local range = nl[name]
  local function over(...)
    local bounds = table.pack(...)
    return function(visit)
      for i in range(table.unpack(bounds, 1, bounds.n)) do
        visit(i)
      end
    end
  end
  cases["nl." .. name] = {
    visits("stop", over(3), {0, 1, 2, 0, 0, 0, 0, 0}),
    visits("start and stop", over(5, 8), {0, 0, 0, 0, 0, 5, 6, 7}),
    visits("a step", over(1, 8, 3), {0, 1, 0, 0, 4, 0, 0, 7}),
    visits("no trip", over(3, 3), {0, 0, 0, 0, 0, 0, 0, 0}),
  }
end
cases["nl.fori_loop"] = {
  visits("every trip", function(visit) nl.fori_loop(0, 8, visit) end, {0, 1, 2, 3, 4, 5, 6, 7}),
  visits("a step", function(visit) nl.fori_loop(2, 7, visit, 2) end, {0, 0, 2, 0, 4, 0, 6, 0}),
  visits("no trip", function(visit) nl.fori_loop(4, 4, visit) end, {0, 0, 0, 0, 0, 0, 0, 0}),
}
local function times(n)
  return function(t)
    local total = nl.zeros({1, 8}, nl.float32)
    nl.while_loop(nisa.register_alloc(n), function(r)
      nisa.tensor_tensor(total, total, t, nl.add)
      return r - 1
    end)
    return total
  end
end
cases["nl.while_loop"] = {
  {"three times", {ramp}, times(3), {{{0, 3, 6, 9, 12, 15, 18, 21}}}},
  {"not at all: the test comes first", {ramp}, times(0), {{{0, 0, 0, 0, 0, 0, 0, 0}}}},
}
cases["nl.no_reorder"] = {
  {"the order of what is inside", {ramp}, function(t)
    local r = nl.no_reorder(function()
      nisa.tensor_scalar(t, t, nl.add, 1.0)
      nisa.tensor_scalar(t, t, nl.multiply, 2.0)
    end)
    assert(r == nil, "it gives something")
    do
      local _ <close> = nl.no_reorder()
      nisa.tensor_scalar(t, t, nl.subtract, 1.0)
    end
    return t
  end, {{{1, 3, 5, 7, 9, 11, 13, 15}}}},
}
cases["nl.ds"] = {
  {"start and size", {ramp}, function(t) return nl.copy(t[{{}, nl.ds(2, 3)}]) end, {{{2, 3, 4}}}},
  {"from a register", {ramp}, function(t)
    return nl.copy(t[{{}, nl.ds(nisa.register_alloc(5), 2)}])
  end, {{{5, 6}}}},
}

-- ---- grids

local function on_grid(grid, n, f)
  return {("grid of %s"):format(n), {}, function()
    local out = nl.ndarray({n, 3}, nl.int32, {buffer = nl.shared_hbm})
    local row, values = f()
    local t = nl.ndarray({1, 3}, nl.int32)
    for k, v in ipairs(values) do
      nisa.memset(t[{{}, {k - 1, k}}], v)
    end
    nl.store(out[{{row, row + 1}}], t)
    return out
  end, grid = grid}
end
local function with(want, c)
  c[4] = {nd.array(want, "int32")}
  return c
end
local function ids() return nl.program_id(0) * 3 + nl.program_id(1), {nl.program_id(0), nl.program_id(1), 7} end
cases["nl.program_id"] = {
  with({{0, 0, 7}, {0, 1, 7}, {0, 2, 7}, {1, 0, 7}, {1, 1, 7}, {1, 2, 7}}, on_grid({2, 3}, 6, ids)),
  {"no grid", function() return nl.program_id(0), nl.program_id() end, {0, 0}},
}
local function extents()
  return nl.program_id(0) * 3 + nl.program_id(1), {nl.num_programs(0), nl.num_programs(1), nl.num_programs {0, 1}}
end
cases["nl.num_programs"] = {
  with({{2, 3, 6}, {2, 3, 6}, {2, 3, 6}, {2, 3, 6}, {2, 3, 6}, {2, 3, 6}}, on_grid({2, 3}, 6, extents)),
  {"no grid", function() return nl.num_programs(0), nl.num_programs() end, {1, 1}},
}
cases["nl.program_ndim"] = {
  with({{1, 1, 1}, {1, 1, 1}}, on_grid(2, 2, function()
    return nl.program_id(0), {nl.program_ndim(), nl.program_ndim(), nl.program_ndim()}
  end)),
  {"two axes", function() return nl.program_ndim() end, {2}, grid = {1, 2}},
  {"no grid", function() return nl.program_ndim() end, {0}},
}

-- ---- questions

local memories = {nl.sbuf, nl.psum, nl.private_hbm, nl.shared_hbm, nl.hbm}
for name, want in pairs {is_sbuf = {true, false, false, false, false}, is_psum = {false, true, false, false, false},
  is_on_chip = {true, true, false, false, false}, is_hbm = {false, false, true, true, true}} do
  cases["nl." .. name] = {{"each memory", function()
    local told = {}
    for i, memory in ipairs(memories) do
      told[i] = nl[name](memory)
    end
    return told
  end, {want}}}
end
cases["nisa.get_nc_version"] = {}
for number, target in pairs {[2] = "trn1", [3] = "trn2", [4] = "trn3"} do
  table.insert(cases["nisa.get_nc_version"], {target, function()
    return nisa.get_nc_version().value, nisa.get_nc_version().name
  end, {number, "gen" .. number}, target = target, last = target})
end
cases["nisa.get_nc_sub_version"] = {{"the first silicon", function() return nisa.get_nc_sub_version() end, {0}}}

-- ---- registers

cases["nisa.register_alloc"] = {
  {"a value", {}, function()
    local t = nl.ndarray({1, 1}, nl.int32)
    nisa.register_store(t, nisa.register_alloc(-2147483648))
    return t
  end, {nd.array({{-2147483648}}, "int32")}},
  {"none, until one is moved", {}, function()
    local t, r = nl.ndarray({1, 1}, nl.int32), nisa.register_alloc()
    nisa.register_move(r, 41)
    nisa.register_store(t, r + 1)
    return t
  end, {nd.array({{42}}, "int32")}},
}

-- ---- nki

local function double(x)
  local out = nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm})
  nl.store(out, nl.load(x) * 2)
  return out
end
local want = {{0, 2, 4, 6, 8, 10, 12, 14}}
cases["nki.jit"] = {
  {"a kernel inside a kernel", {ramp}, function(h) return nki.jit(double)(h) end, {want}, hbm = true},
  {"a kernel of host arrays", function(target)
    return trip.run(nki.jit(double, {platform_target = target, func_name = "double"}), ramp):totable()
  end, {want}, host = true},
}
cases["nki.simulate"] = {
  {"a kernel whose calls would give a custom call", function(target)
    local k = nki.jit(double, {platform_target = target, func_name = "double", mode = "jax"})
    return nki.simulate(k)(ramp):totable(), trip.decoded(k:specialize(ramp)):simulate(ramp):totable()
  end, {want, want}, host = true},
}

return cases
