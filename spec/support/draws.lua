-- draws.lua: every way to draw random numbers, each with what the generators of docs/semantics.md give, and the ways in
-- which a kernel can be launched.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local gen = require "spec.support.generators"

local M = {}

local P, F = 5, 9 -- odd sizes: no width divides them
local generation = {trn1 = 2, trn2 = 3, trn3 = 4}

local function tile(dtype, width) return nl.ndarray({P, width or F}, dtype or nl.float32) end
local function rows(f, dtype) return nd.array(gen.rows(P, f), dtype or "float32") end
-- A function of what each word of the Vector engine's lanes is.
local function of_words(seed, f, dtype)
  return function(gen4)
    return rows(function(p) return gen.map(gen.vector(seed, gen4)(p, F), f) end, dtype)
  end
end
local function same(word) return word end
local function kept(word) return gen.unit(word) >= 0.25 and 3 or 0 end
local function word(value) return nl.full({1, 1}, value, nl.int32) end
local function states(k) return nl.load(nl.shared_constant(nd.array(gen.states(P, k), "uint32"))) end
local function words(engine)
  local t = tile(nl.uint32)
  nisa.rng(t, engine)
  return t
end
local vector, gpsimd = nisa.engine.vector, nisa.engine.gpsimd
local function of_state(list) -- the states of one lane as one row
  local row = {}
  for _, st in ipairs(list) do
    table.move(st, 1, 6, #row + 1, row)
  end
  return row
end

-- {name, the first generation that has it, what a program does, what it must get}
M.list = {
  {"nl.rand", 2, function() return nl.rand({P, F}, nl.float32) end, of_words(0, gen.unit)},
  {"nl.random_seed", 2, function()
    nl.random_seed(word(42))
    return nl.rand({P, F}, nl.float32)
  end, of_words(42, gen.unit)},
  {"nl.dropout", 2, function() return nl.dropout(nl.full({P, F}, 3.0, nl.float32), 0.25) end, of_words(0, kept)},
  {"nisa.dropout", 2, function()
    local t = nl.full({P, F}, 3, nl.int8)
    nisa.dropout(t, t, nl.full({P, 1}, 0.25, nl.float32))
    return t
  end, of_words(0, kept, "int8")},
  {"nisa.rng", 2, function() return words() end, of_words(0, same, "uint32")},
  {"nisa.set_rng_seed", 2, function()
    nisa.set_rng_seed(word(12345))
    return words()
  end, of_words(12345, same, "uint32")},
  {"nisa.rng, gpsimd", 3, function() return words(gpsimd) end, function()
    return rows(function(p) return gen.gpsimd(p, F) end, "uint32")
  end},
  {"nisa.rand_set_state", 3, function()
    nisa.rand_set_state(states(6))
    return words(gpsimd)
  end, function() return nd.array(gen.map(gen.states(P, 6), function(st) return gen.draws({st}, F) end), "uint32") end},
  {"nisa.rand_get_state", 3, function()
    local t = tile(nl.uint32, 6)
    nisa.rand_set_state(states(6))
    words(gpsimd)
    nisa.rand_get_state(t)
    return t
  end, function()
    return nd.array(gen.map(gen.states(P, 6), function(st)
      gen.draws({st}, F)
      return st
    end), "uint32")
  end},
  {"nisa.rand_set_state, vector", 4, function()
    nisa.rand_set_state(states(24), vector)
    return words()
  end, function()
    return nd.array(gen.map(gen.states(P, 24), function(row) return gen.draws(gen.four(row), F) end), "uint32")
  end},
  {"nisa.rand_get_state, vector", 4, function()
    local t = tile(nl.uint32, 24)
    nisa.rand_set_state(states(24), vector)
    words()
    nisa.rand_get_state(t, vector)
    return t
  end, function()
    return nd.array(gen.map(gen.states(P, 24), function(row)
      local list = gen.four(row)
      gen.draws(list, F)
      return of_state(list)
    end), "uint32")
  end},
  {"nisa.rand2", 4, function()
    local t = tile()
    nisa.rand2(t, -2.0, 2.0)
    return t
  end, function() return of_words(0, function(w) return 4 * gen.unit(w) - 2 end)(true) end},
}

-- {name, programs or ranks, the first generation that has it, grid, ranks}: a physical core and a rank are threads.
M.launches = {
  {"no grid", 1, 2},
  {"a grid of 1", 1, 2, 1},
  {"a grid of 2", 2, 2, 2},
  {"a grid of 4", 4, 2, 4},
  {"two physical cores", 2, 3, nl.nc(2)},
  {"two programs on each of two cores", 4, 3, nl.nc(2) * 2},
  {"one rank", 1, 2, nil, 1},
  {"two ranks", 2, 2, nil, 2},
  {"four ranks", 4, 2, nil, 4},
}

-- The results of all programs or ranks, one below the other, as one array of {n, P, width}; nil when the target lacks
-- the draw or the launch.
function M.run(draw, launch, target)
  local _, since, body = table.unpack(draw, 1, 3)
  local _, n, first, grid, ranks = table.unpack(launch, 1, 5)
  if generation[target] < since or generation[target] < first then
    return nil
  end
  local kernel = nki.jit(function()
    local t = body()
    local rows_of_one, width = t.shape:unpack()
    local programs = ranks and 1 or n
    local out = nl.ndarray({programs * rows_of_one, width}, t.dtype, {buffer = nl.shared_hbm})
    nl.store(out[nl.ds((grid and nl.program_id(0) or 0) * rows_of_one, rows_of_one)], t)
    return out
  end, {platform_target = target, func_name = "draws", grid = grid, enable_cache = false})
  if not ranks then
    return kernel():reshape {n, P, -1}
  end
  local bytes, result = {}, nki.simulate(kernel, {ranks = ranks})()
  for r = 1, ranks do
    bytes[r] = result[r]:bytes()
  end
  return nd.from_bytes(table.concat(bytes), {n, P, result[1].shape[1]}, result[1].dtype)
end

-- What M.run must give: each program and each rank begins as after seed 0.
function M.wanted(draw, launch, target)
  local one = draw[4](target == "trn3")
  return nd.from_bytes(one:bytes():rep(launch[2]), {launch[2], one.shape:unpack()}, one.dtype)
end

-- All results of this process, in hexadecimal.
function M.transcript()
  local lines = {}
  for _, target in ipairs {"trn1", "trn2", "trn3"} do
    for _, draw in ipairs(M.list) do
      for _, launch in ipairs(M.launches) do
        local result = M.run(draw, launch, target)
        lines[#lines + 1] = result and result:bytes():gsub(".", function(c) return ("%02x"):format(c:byte()) end)
      end
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

return M
