-- case.lua: runs the files of spec/cases, one per instruction:
-- accept {name, f, target =} f() must trace, on trn1 unless target says otherwise; its IR must survive its text
--   (every case may have grid =: what the kernel is launched on)
--   reject   {id, text, f, rule =, target =}          f() must raise that error; rule: the row's rule that it breaks
-- numeric {name, inputs, f, want, tolerance =, target =, last =, hbm =, ranks =, ir =}
--   f(tiles of the inputs in SBUF) returns tiles; want lists arrays or nested lists, compared by bytes, or within
--   tolerance; hbm: f gets the tensors themselves and returns shared_hbm tensors; ranks = n: the same on n ranks,
--   inputs are arrays of all ranks or lists by rank, and of want each is a list by rank; ir: text that the IR has. It
--   runs on target and all later ones, or those up to last
-- Names (spec/names) have cases like numeric ones, and {name, f, values, target =, last =, host =, ir =}: f() in a
-- kernel gives those values; with host f(target) does outside of any
local nki, nl = require "nki", require "nki.language"
local nd = require "nki.ndarray"
local testing = require "nki.testing"
local stored = require "spec.support.kernel".stored
local raises = require "spec.support.raises"
local trip = require "spec.support.trip"

local case = {}

local all_targets = {"trn1", "trn2", "trn3"}

-- The targets that a numeric case runs on.
function case.targets(c)
  local list = {}
  for _, target in ipairs(all_targets) do
    if target >= (c.target or "trn1") and target <= (c.last or "trn3") then
      list[#list + 1] = target
    end
  end
  return list
end

-- The case c for one target.
function case.on(c, target)
  return setmetatable({target = target}, {__index = c})
end

function case.sbuf(shape, dtype) return nl.ndarray(shape, dtype or nl.float32) end
function case.psum(shape, dtype) return nl.ndarray(shape, dtype or nl.float32, {buffer = nl.psum}) end
function case.shared(shape, dtype) return nl.ndarray(shape, dtype or nl.float32, {buffer = nl.shared_hbm}) end
function case.hbm(shape, dtype) return nl.ndarray(shape, dtype or nl.float32, {buffer = nl.private_hbm}) end

-- all, changed by what options (nil: nothing) says of some of its keys.
function case.with(all, options)
  for key, value in pairs(options or {}) do
    all[key] = value
  end
  return all
end

-- calls(f, all)(options): a function that calls f with the table that all() returns, changed by that of options().
function case.calls(f, all)
  return function(options)
    return function()
      f(case.with(all(), options and options()))
    end
  end
end

-- A kernel needs an output that is written.
local function token_output()
  local out = nl.ndarray({1, 1}, nl.float32, {buffer = nl.shared_hbm})
  nl.store(out, nl.zeros({1, 1}, nl.float32))
  return out
end

local function bare_kernel(c, f)
  return nki.jit(function()
    f()
    return token_output()
  end, {platform_target = c.target or "trn1", func_name = "case", grid = c.grid})
end

local function numeric_kernel(c)
  local f, hbm = c[3], c.hbm or c.ranks
  return nki.jit(function(a, b, x, y)
    local tiles = {a, b, x, y}
    for i = 1, hbm and 0 or #tiles do
      tiles[i] = nl.load(tiles[i])
    end
    local results = table.pack(f(table.unpack(tiles)))
    for i = 1, results.n do
      results[i] = stored(results[i])
    end
    return table.unpack(results, 1, results.n)
  end, {platform_target = c.target or "trn1", func_name = "case", grid = c.grid})
end

-- Lists by their elements, other values by ==.
local function deep_equal(a, b)
  if type(a) ~= "table" or type(b) ~= "table" or getmetatable(a) or getmetatable(b) then
    return a == b
  end
  for key, v in pairs(a) do
    if not deep_equal(v, b[key]) then
      return false
    end
  end
  for key in pairs(b) do
    if a[key] == nil then
      return false
    end
  end
  return true
end

local function has_text(c, artifact)
  if c.ir and not artifact.ir:find(c.ir, 1, true) then
    error(("the IR has no %s:\n%s"):format(c.ir, artifact.ir), 0)
  end
end

local exact = {rtol = 0, atol = 0, equal_nan = true}

-- The outputs by rank; the decoded artifact must give the same.
local function compute_on_ranks(c)
  local kernel, options, first = numeric_kernel(c), {ranks = c.ranks}, {}
  for i, input in ipairs(c[2]) do
    first[i] = type(input) == "table" and input[1] or input
  end
  local decoded = trip.decoded(kernel:specialize(table.unpack(first)))
  local results = table.pack(nki.simulate(kernel, options)(table.unpack(c[2])))
  local args = table.move(c[2], 1, #c[2], 1, {})
  args[#args + 1] = options
  local again = table.pack(decoded:simulate(table.unpack(args)))
  assert(results.n == #c[4], "the case returns " .. results.n .. " tiles and wants " .. #c[4])
  for i, want in ipairs(c[4]) do
    assert(#results[i] == c.ranks and #want == c.ranks, "results are lists by rank")
    for r = 1, c.ranks do
      testing.assert_allclose(results[i][r], want[r], exact)
      testing.assert_allclose(again[i][r], want[r], exact)
    end
  end
end

function case.compute(c)
  if c.ranks then
    return compute_on_ranks(c)
  end
  local kernel = numeric_kernel(c)
  local results = table.pack(trip.run(kernel, table.unpack(c[2])))
  has_text(c, kernel:specialize(table.unpack(c[2])))
  assert(results.n == #c[4], "the case returns " .. results.n .. " tiles and wants " .. #c[4])
  for i, want in ipairs(c[4]) do
    if c.tolerance then
      testing.assert_allclose(results[i], want, c.tolerance)
    else
      testing.assert_allclose(results[i], want, exact)
    end
  end
end

-- Of a case {name, f, {values}}: f() in a kernel, or f(target) outside, gives these values.
local function compare_told(c)
  local got
  if c.host then
    got = table.pack(c[2](c.target))
  else
    case.accept {c[1], function() got = table.pack(c[2]()) end, target = c.target, grid = c.grid, ir = c.ir}
  end
  for i = 1, math.max(got.n, #c[3]) do
    if not deep_equal(c[3][i], got[i]) then
      error(("value %d is %s and must be %s"):format(i, tostring(got[i]), tostring(c[3][i])), 0)
    end
  end
end

-- Runs a case of a name: one that tells, or a numeric one.
function case.run(c)
  local tells = type(c[2]) == "function"
  assert(#(tells and c[3] or c[4]) > 0, c[1] .. " wants nothing")
  return (tells and compare_told or case.compute)(c)
end

function case.accept(c)
  has_text(c, trip.decoded(bare_kernel(c, c[2]):specialize()))
end

function case.reject(c)
  raises(c[1], c[2], function() bare_kernel(c, c[3]):specialize() end)
end

-- The members of an .npz of the oracles as arrays of the shape given.
function case.oracle(file, shape)
  local all = nd.load("spec/oracles/data/" .. file)
  return setmetatable({}, {__index = function(_, name)
    return (all[name] or error("no member " .. name .. " in " .. file)):reshape(shape)
  end, __pairs = function() return pairs(all) end})
end

return case
