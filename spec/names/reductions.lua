-- Cases of the functions of nki.language that fold or compose: closed forms in double precision.
local nl = require "nki.language"
local nd = require "nki.ndarray"
local gen = require "spec.support.generators"

local cube = {{1, 2, 3, 4, 5, 6}, {-1, 0, 2, 4, -3, 1}}
local x = {{-2.5, -1, -0.5, 0}, {0.25, 0.5, 1.5, 3}}
local y = {{2, -3, 0.5, 4}, {-1, 2, 1.5, 0.5}}
local near = {rtol = 1e-6, atol = 1e-6}
local cases = {}

-- ---- over axes

local function fold(op, list)
  local r = list[1]
  for k = 2, #list do
    r = op(r, list[k])
  end
  return r
end
local function sum(list) return fold(function(a, b) return a + b end, list) end
local function mean(list) return sum(list) / #list end

local folds = {
  sum = sum,
  prod = function(list) return fold(function(a, b) return a * b end, list) end,
  max = function(list) return math.max(table.unpack(list)) end,
  min = function(list) return math.min(table.unpack(list)) end,
  mean = mean,
  var = function(list)
    local m = mean(list)
    return mean(gen.map(list, function(v) return (v - m) ^ 2 end))
  end,
  all = function(list) return fold(function(a, b) return a ~= 0 and b ~= 0 and 1 or 0 end, list) end,
}
for name, f in pairs(folds) do
  local whole = gen.map(cube, function(row) return {f(row)} end)
  local pairs_of = gen.map(cube, function(row)
    return {f {row[1], row[2]}, f {row[3], row[4]}, f {row[5], row[6]}}
  end)
  cases["nl." .. name] = {
    {"one axis", {nd.array(cube)}, function(t) return nl[name](t, 1) end, {whole}, tolerance = near},
    {"the last of three axes", {nd.array(cube)}, function(t)
      return nl.copy(nl[name](t:reshape {2, 3, 2}, 2)):reshape {2, 3}
    end, {pairs_of}, tolerance = near},
    {"all free axes", {nd.array(cube)}, function(t)
      return nl.copy(nl[name](t:reshape {2, 3, 2}, {-1, 1})):reshape {2, 1}
    end, {whole}, tolerance = near},
  }
  if name ~= "all" then -- it has no keepdims
    table.insert(cases["nl." .. name], {"axes kept", {nd.array(cube)}, function(t)
      local r = nl[name](t:reshape {2, 3, 2}, {1, 2}, {keepdims = true})
      assert(r.shape == {2, 1, 1}, "the axes are gone")
      return nl.copy(r):reshape {2, 1}
    end, {whole}, tolerance = near})
  end
end

-- ---- compositions

local function soft(list)
  local top, total, out = math.max(table.unpack(list)), 0, {}
  for k, v in ipairs(list) do
    out[k] = math.exp(v - top)
    total = total + out[k]
  end
  return gen.map(out, function(v) return v / total end)
end
cases["nl.softmax"] = {
  {"the last axis", {nd.array(x)}, function(t) return nl.softmax(t) end, {gen.map(x, soft)}, tolerance = near},
  {"the last of three", {nd.array(x)}, function(t) return nl.softmax(t:reshape {2, 2, 2}):reshape {2, 4} end,
   {gen.map(x, function(row)
    local a, b = soft {row[1], row[2]}, soft {row[3], row[4]}
    return {a[1], a[2], b[1], b[2]}
  end)}, tolerance = near},
  {"large values", {nd.array {{1000, 1000, -1000, 1000}}}, function(t) return nl.softmax(t) end,
   {{{1 / 3, 1 / 3, 0, 1 / 3}}}, tolerance = near},
}

local function normed(row, weight)
  local scale = 1 / math.sqrt(mean(gen.map(row, function(v) return v * v end)) + 1e-6)
  return gen.map(row, function(v, j) return v * scale * weight[j] end)
end
local weight = {1, 2, 3, 4}
local function rms(t, w) return nl.rms_norm(t, w, 1, 4) end
local rms_want = {gen.map(x, function(row) return normed(row, weight) end)}
cases["nl.rms_norm"] = {
  {"one row of weights", {nd.array(x), nd.array {weight}}, rms, rms_want, tolerance = near},
  {"weights for each row", {nd.array(x), nd.array {weight, weight}}, rms, rms_want, tolerance = near},
  {"epsilon", {nd.array {{1, 0, 0, 0}}, nd.array {weight}}, function(t, w)
    return nl.rms_norm(t, w, {axis = 1, n = 4, epsilon = 3.75})
  end, {{{0.5, 0, 0, 0}}}, tolerance = near},
}

local function chosen(f)
  return gen.map(x, function(row, i) return gen.map(row, function(v, j) return f(v, y[i][j]) end) end)
end
cases["nl.where"] = {
  {"two tiles", {nd.array(x), nd.array(y)}, function(s, t) return nl.where(s, s, t) end,
   {chosen(function(v, w) return v ~= 0 and v or w end)}},
  {"a number first", {nd.array(x)}, function(s) return nl.where(nl.less(s, 0), 0, s) end,
   {chosen(function(v) return math.max(v, 0) end)}},
  {"a number last", {nd.array(x)}, function(s) return nl.where(nl.less(s, 0), s, 7) end,
   {chosen(function(v) return v < 0 and v or 7 end)}},
  {"two numbers", {nd.array(x)}, function(s) return nl.where(nl.less(s, 0, nl.uint8), 1.5, 2.5) end,
   {chosen(function(v) return v < 0 and 1.5 or 2.5 end)}},
}

-- ---- random numbers: the generators of docs/semantics.md, seed 0 where none is given

local function on_each(name, f, want)
  return {{name, {}, f, {want(false)}, last = "trn2"}, {name .. " (gen4)", {}, f, {want(true)}, target = "trn3"}}
end
local function units(seed)
  return function(gen4)
    return nd.array(gen.rows(3, function(p) return gen.map(gen.vector(seed, gen4)(p, 8), gen.unit) end))
  end
end
local function seed_with(value)
  nl.random_seed(nl.full({1, 1}, value, nl.int32))
  return nl.rand({3, 8}, nl.float32)
end
cases["nl.rand"] = on_each("seed 0", function() return nl.rand({3, 8}, nl.float32) end, units(0))
cases["nl.random_seed"] = on_each("seed 42", function() return seed_with(42) end, units(42))
cases["nl.dropout"] = on_each("half of the elements", function()
  return nl.dropout(nl.full({3, 8}, 2.5, nl.float32), 0.5)
end, function(gen4)
  return nd.array(gen.rows(3, function(p)
    return gen.map(gen.vector(0, gen4)(p, 8), function(word) return gen.unit(word) >= 0.5 and 2.5 or 0 end)
  end))
end)

return cases
