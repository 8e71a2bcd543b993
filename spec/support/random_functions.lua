-- random_functions.lua: steps of random programs (random_core.lua) that are functions of nl and views. Each returns
-- whether it was drawn.
local core = require "spec.support.random_core"
local views = require "spec.support.random_views"

local text, cells, turned, pick, asked, number = core.text, core.cells, core.turned, core.pick, core.asked, core.number
local define, near, may_store, promote = core.define, core.near, core.may_store, core.promote
local float_type, is_int, is_float, ALL, FLOAT = core.float_type, core.is_int, core.is_float, core.ALL, core.FLOAT

local steps = {}

local EXACT = {"abs", "square", "sign", "relu", "sqrt", "rsqrt", "negative", "reciprocal", "logical_not", "ceil",
  "floor", "trunc", "invert"}
local NEAR = {"exp", "log", "tanh", "sigmoid", "gelu", "gelu_dx", "gelu_apprx_tanh", "gelu_apprx_sigmoid", "silu",
  "silu_dx",  "gelu_apprx_sigmoid_dx", "softplus", "mish", "erf", "erf_dx", "arctan", "sin", "cos", "tan"}
local keeps = {abs = 1, square = 1, sign = 1, relu = 1, negative = 1, logical_not = 1, ceil = 1, floor = 1, trunc = 1}

function steps.unary(g)
  local op = g.r:pick(EXACT)
  local v = pick(g, op == "invert" and function(v) return is_int[v.dtype] end)
  if not v then return end
  if op == "invert" then
    return define(g, v.shape, v.dtype, g.r:chance(50) and "~" .. v.name or "nl.invert(" .. v.name .. ")",
      ("unary('invert', %s, %q)"):format(v.name, v.dtype))
  end
  local dtype, d = asked(g, keeps[op] and v.dtype or float_type(v.dtype))
  local plain = ("nl.%s(%s%s)"):format(op, v.name, d)
  if op == "negative" and d == "" and g.r:chance(50) then plain = "-" .. v.name end
  return define(g, v.shape, dtype, function(way)
    if way.helper then return ("nki.trace(function(%s) return %s end)(%s)"):format(v.name, plain, v.name) end
    if way.masked and way.asks() then
      return ("nl.%s(%s, {mask = m%d%s})"):format(op, v.name, #v.shape, d ~= "" and ", dtype =" .. d:sub(2) or "")
    end
    return plain
  end, ("unary(%q, %s, %q)"):format(op, v.name, dtype))
end

function steps.transcendental(g)
  local op = g.r:pick(NEAR)
  local v = pick(g, function(v) return may_store(g, v) end)
  if not v then return end
  local dtype, d = asked(g, float_type(v.dtype), FLOAT)
  return near(g, v.shape, dtype, ("nl.%s(%s%s)"):format(op, v.name, d),
    ("near_unary(%q, %s)"):format(op, v.name))
end

-- Shapes that broadcast, and what they give.
local function common(a, b)
  if #a ~= #b or a[1] ~= b[1] then return nil end
  local out = {a[1]}
  for k = 2, #a do
    if a[k] ~= b[k] and a[k] ~= 1 and b[k] ~= 1 then return nil end
    out[k] = a[k] == 1 and b[k] or a[k]
  end
  return out
end

local ARITH = {"add", "subtract", "multiply", "maximum", "minimum", "divide", "mod", "fmod"}
local LOGIC = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or",
  "logical_xor"}
local BITS = {"bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"}
local SIGN = {add = "+", subtract = "-", multiply = "*", divide = "/", mod = "%", power = "^", bitwise_and = "&",
  bitwise_or = "|", bitwise_xor = "~", left_shift = "<<", right_shift = ">>"}

-- a op b: tiles or texts of numbers.
local function operation(g, op, a, b, shape, own, list)
  local dtype, d, wanted = asked(g, own, list)
  local x, y = a.name or a, b.name or b
  local sign = SIGN[op]
  local lua = ("nl.%s(%s, %s%s)"):format(op, x, y, wanted and d or "")
  if sign and not wanted and g.r:chance(50) then -- -1.5 ^ t is -(1.5 ^ t)
    lua = ("%s %s %s"):format(op == "power" and not a.name and "(" .. x .. ")" or x, sign, y)
  end
  return dtype, lua, ("%q, %s, %s"):format(op, x, y), shape
end

local function two_tiles(g, f)
  local a = pick(g, f)
  local b = a and pick(g, function(v) return (not f or f(v)) and common(a.shape, v.shape) end)
  if not b then return end
  if g.r:chance(50) then a, b = b, a end
  return a, b, common(a.shape, b.shape)
end

local function number_type(v, integer) return promote(v.dtype, integer and "int32" or "float32") end

function steps.binary(g)
  local logic = g.r:chance(35)
  local op = g.r:pick(logic and LOGIC or ARITH)
  if not logic and g.plan.gen == 4 and g.r:chance(20) then op = g.r:pick {"abs_max", "abs_min"} end
  local a, b, shape = two_tiles(g)
  if not a then return end
  local dtype, lua, py = operation(g, op, a, b, shape, promote(a.dtype, b.dtype))
  if cells(g, shape) > 600 then return end
  return define(g, shape, dtype, lua, ("binary(%s, %q)"):format(py, dtype))
end

function steps.scalar(g)
  local logic = g.r:chance(30)
  local op = g.r:pick(logic and LOGIC or ARITH)
  local v = pick(g)
  local n, integer = number(g)
  local a, b = v, n
  if g.r:chance(40) then a, b = n, v end
  local dtype, lua, py = operation(g, op, a, b, v.shape, logic and v.dtype or number_type(v, integer))
  return define(g, v.shape, dtype, lua, ("binary(%s, %q)"):format(py, dtype))
end

function steps.power(g)
  local v = pick(g, function(v) return may_store(g, v) end)
  if not v then return end
  local n, integer = number(g)
  local a, b, shape, own = v, n, v.shape, number_type(v, integer)
  if g.r:chance(40) then
    a, b, shape = two_tiles(g, function(x) return may_store(g, x) end)
    if cells(g, shape) > 600 then return end
    own = promote(a.dtype, b.dtype)
  elseif g.r:chance(50) then
    a, b = n, v
  end
  local dtype, lua, py = operation(g, "power", a, b, shape, own, FLOAT)
  if not is_float[dtype] then return end
  return near(g, shape, dtype, lua, ("near_power(%s)"):format(py:match ", (.*)$"))
end

function steps.bits(g)
  local op = g.r:pick(BITS)
  local a, b, shape = two_tiles(g, function(v) return is_int[v.dtype] end)
  if not a or cells(g, shape) > 600 then return end
  if a.dtype ~= b.dtype or g.r:chance(50) then
    b, shape = tostring(op:find "shift" and g.r:int(0, 8 * core.sizes[a.dtype]) or g.r:pick {0, 1, 3, 85, 127}), a.shape
    if g.r:chance(30) and not op:find "shift" then a, b = b, a end
  end
  local own = (a.name and a or b).dtype
  local dtype, lua, py = operation(g, op, a, b, shape, own, {own})
  return define(g, shape, dtype, lua, ("binary(%s, %q)"):format(py, dtype))
end

-- ---- reductions
local function reduced_shape(shape, n, keep)
  local out = table.move(shape, 1, #shape - n, 1, {})
  for _ = 1, keep and n or #out == 1 and 1 or 0 do out[#out + 1] = 1 end
  return out
end

local function axes(g, shape)
  local free = #shape - 1
  local n = g.r:int(1, free)
  if n == 1 then return 1, g.r:chance(50) and "-1" or tostring(free) end
  local list = {}
  for k = 1, n do list[k] = g.r:chance(50) and free + 1 - k or -k end
  return n, "{" .. table.concat(list, ", ") .. "}"
end

function steps.reduce(g)
  local op = g.r:pick {"sum", "prod", "max", "min", "mean", "var", "all", "sum", "mean"}
  local v = pick(g)
  local n, axis = axes(g, v.shape)
  local dtype, d = asked(g, (op == "mean" or op == "var") and float_type(v.dtype) or v.dtype)
  local keep = g.r:chance(50) and op ~= "all"
  local words = {}
  if d ~= "" then words[#words + 1] = "dtype = " .. d:sub(3) end
  if keep then words[#words + 1] = "keepdims = true" end
  if op == "var" then keep = true end
  local more = #words > 0 and ", {" .. table.concat(words, ", ") .. "}" or ""
  local lua = ("nl.%s(%s, %s%s)"):format(op, v.name, axis, more)
  local k = keep and "True" or "False"
  local py = (op == "var" and ("var(%s, %d, %q)"):format(v.name, n, dtype)
    or op == "mean" and ("mean(%s, %d, %s, %q)"):format(v.name, n, k, dtype)
    or ("reduce(%q, %s, %d, %s, %q)"):format(op, v.name, n, k, dtype))
  return define(g, reduced_shape(v.shape, n, keep), dtype, lua, py)
end

function steps.softmax(g)
  local v = pick(g, function(v) return may_store(g, v) end)
  if not v then return end
  local n, axis = axes(g, v.shape)
  local dtype, d = asked(g, float_type(v.dtype), FLOAT)
  return near(g, v.shape, dtype, ("nl.softmax(%s, %s%s)"):format(v.name, axis, d),
    ("near_softmax(%s, %d)"):format(v.name, n))
end

function steps.rms_norm(g)
  local v = pick(g)
  local w = pick(g, function(w) return text(w.shape) == text(v.shape) end)
  local n, axis = axes(g, v.shape)
  local count = cells(g, table.move(v.shape, #v.shape - n + 1, #v.shape, 2, {1}))
  local dtype, d = asked(g, float_type(v.dtype))
  local epsilon = g.r:pick {"1e-6", "0.5", "1e-3"}
  return define(g, v.shape, dtype, ("nl.rms_norm(%s, %s, %s, %d, %s%s)"):format(v.name, w.name, axis, count, epsilon,
    d), ("rms_norm(%s, %s, %d, %d, %s, %q)"):format(v.name, w.name, n, count, epsilon, dtype))
end

-- ---- selection, moves, views
function steps.where(g)
  local c, x, shape = two_tiles(g)
  local y = c and pick(g, function(v) return common(shape, v.shape) end)
  if not c then return end
  local all = common(shape, y.shape)
  if cells(g, all) > 600 then return end
  local a, b, own = x.name, y.name, promote(x.dtype, y.dtype)
  if g.r:chance(40) then
    local n, integer = number(g)
    n = n:gsub("^%-", "")
    if g.r:chance(50) then b, own, all = n, number_type(x, integer), shape else a, own = n, number_type(y, integer) end
    if a == n then all = common(c.shape, y.shape) end
    if not is_float[own] and not integer or cells(g, all) > 600 then return end
  end
  local dtype, d, wanted = own, "", false
  if is_float[own] then dtype, d, wanted = asked(g, own, FLOAT) end
  return define(g, all, dtype, ("nl.where(%s, %s, %s%s)"):format(c.name, a, b, wanted and d or ""),
    ("where(%s, %s, %s, %q)"):format(c.name, a, b, dtype))
end

function steps.copy(g)
  local v = pick(g)
  local dtype = g.r:pick(ALL)
  local lua = g.r:chance(50) and ("nl.copy(%s, %q)"):format(v.name, dtype) or ("%s:astype(%q)"):format(v.name, dtype)
  return define(g, v.shape, dtype, lua, ("cast(%s, %q)"):format(v.name, dtype))
end

function steps.broadcast(g)
  local v, shape = pick(g, function(v) return text(v.shape):find "%f[%d]1%f[^%d]" end), {}
  if not v then return end
  for k, n in ipairs(v.shape) do
    shape[k] = n == 1 and (k > 1 and g.r:int(1, 7) or g.plan.carry and 1 or "rows") or n
  end
  if cells(g, shape) > 600 then return end
  local dtype, d = asked(g, v.dtype)
  return define(g, shape, dtype, ("nl.broadcast_to(%s, {%s}%s)"):format(v.name, text(shape), d),
    ("broadcast(%s, (%s), %q)"):format(v.name, text(shape), dtype))
end

-- Views: {shape, Lua, Python} of a view of v.
local function view_of(g, v)
  local r, s = g.r, v.shape
  local way = r:pick {"expand", "slice", "slice", "permute", "merge", "split", "retype", "rearrange"}
  local free, k, name = #s - 1, r:int(2, #s), v.name
  local function py(f, ...) return ("T(%s.codes.%s, %s.dtype)"):format(name, f:format(...), name) end
  if way == "expand" and free < 3 then
    local at = r:int(1, free + 1)
    local shape = views.copy(s)
    table.insert(shape, at + 1, 1)
    return shape, ("nl.expand_dims(%s, %d)"):format(name, at), py("reshape(%s)", text(shape))
  elseif way == "slice" and s[k] ~= "rows" then
    local start, step = r:int(0, s[k] - 1), r:int(1, 3)
    local stop = r:int(start + 1, s[k])
    local shape, keys, parts = views.copy(s), {}, {}
    shape[k] = (stop - start + step - 1) // step
    for j = 1, #s do keys[j], parts[j] = '":"', ":" end
    keys[k], parts[k] = ("{%d, %d, %d}"):format(start, stop, step), ("%d:%d:%d"):format(start, stop, step)
    return shape, ("%s[{%s}]"):format(v.name, text(keys)), ("%s[%s]"):format(v.name, text(parts))
  elseif way == "permute" and free == 2 then
    return {s[1], s[3], s[2]}, name .. ":permute {0, 2, 1}", py("transpose(0, 2, 1)")
  elseif way == "merge" and free == 2 and s[2] ~= "rows" and s[3] ~= "rows" and not v.view then
    return {s[1], s[2] * s[3]}, name .. ":flatten_dims(1, 2)", py("reshape(%s.shape[0], -1)", name)
  elseif way == "retype" and not v.view and not turned(s) then
    local to, shape = r:pick(ALL), views.copy(s)
    local bytes = s[#s] * core.sizes[v.dtype]
    shape[#s] = bytes // core.sizes[to]
    if to == "bool_" or bytes % core.sizes[to] > 0 then return end
    return shape, ("%s:view(%q)"):format(name, to), ("retype(%s, %q)"):format(name, to), to
  elseif way == "rearrange" and free == 1 and s[2] ~= "rows" and s[2] % 2 == 0 then
    return {s[1], s[2] // 2, 2}, name .. (':rearrange("p (w h) -> p h w", {h = %d})'):format(s[2] // 2),
      py("reshape(-1, 2, %d).transpose(0, 2, 1)", s[2] // 2)
  elseif way == "split" and free == 1 and s[2] ~= "rows" then
    local parts = {}
    for n = 2, s[2] - 1 do
      if s[2] % n == 0 then parts[#parts + 1] = n end
    end
    if #parts == 0 then return end
    local a = r:pick(parts)
    return {s[1], a, s[2] // a}, ("%s:reshape_dim(1, {%d, -1})"):format(v.name, a),
      py("reshape(-1, %d, %d)", a, s[2] // a)
  end
end

function steps.view(g)
  local v = pick(g)
  local shape, lua, py, dtype = view_of(g, v)
  if not shape then return end
  local t = define(g, shape, dtype or v.dtype, lua, py)
  t.view, t.moving = true, v.moving
  return true
end

-- Some partitions, beginning where engines can.
function steps.partitions(g)
  local r, plan = g.r, g.plan
  local v = pick(g, function(v)
    return not v.moving and not turned(v.shape) and (v.shape[1] ~= "rows" or plan.last == plan.tile)
  end)
  if not v or plan.carry then return end
  local have = v.shape[1] == "rows" and plan.tile or v.shape[1]
  local start = r:pick {0, 32, 64, 96}
  local most = math.min(have - start, ({[0] = 128, [32] = 32, [64] = 64, [96] = 32})[start])
  if most < 1 then return end
  local shape = views.copy(v.shape)
  shape[1] = r:int(1, most)
  plan.crosses = true
  define(g, shape, v.dtype, ("%s[{{%d, %d}}]"):format(v.name, start, start + shape[1]),
    ("%s[%d:%d]"):format(v.name, start, start + shape[1])).view = true
  return true
end

function steps.transpose(g)
  local v = pick(g, function(v) return #v.shape == 2 and cells(g, v.shape) <= 128 end)
  if not v then return end
  g.plan.crosses = true
  local dtype, d = asked(g, v.dtype)
  if v.shape[2] == "rows" then
    return define(g, {"rows", v.shape[1]}, dtype, ("nl.transpose(%s%s)"):format(v.name, d),
      ("transpose(%s, %d, %q)"):format(v.name, g.plan.gen, dtype))
  end
  return define(g, {v.shape[2], v.shape[1]}, dtype, ("nl.transpose(%s%s)"):format(v.name, d),
    ("transpose(%s, %d, %q)"):format(v.name, g.plan.gen, dtype))
end

local MATMUL = core.MATMUL
function steps.matmul(g)
  local function fits(v) return #v.shape == 2 and MATMUL[v.dtype] and cells(g, v.shape) <= 128 end
  local y = pick(g, fits)
  local x = y and pick(g, function(v) return fits(v) and v.dtype == y.dtype and v.shape[1] == y.shape[1] end)
  if not x or #g.plan.outs > 8 then return end
  local shape = {x.shape[2], y.shape[2]}
  if turned(shape) and g.plan.rows % g.plan.tile > 0 then return end
  g.plan.crosses = true
  local lua = ("nl.matmul(%s, %s, true)"):format(x.name, y.name)
  local left = x.name
  if g.r:chance(30) then
    lua = ("nl.matmul(nl.transpose(%s), %s)"):format(x.name, y.name)
    left = ("transpose(transpose(%s, %d), %d)"):format(x.name, g.plan.gen, g.plan.gen)
  end
  return near(g, shape, "float32", lua, ("near_matmul(%s, %s)"):format(left, y.name))
end

function steps.gather(g)
  local v = pick(g, function(v) return not v.view and not turned(v.shape) end)
  if not v then return end
  local n = cells(g, v.shape)
  local ids = define(g, v.shape, "uint32", ("nl.minimum(nl.abs(%s, nl.uint32), %d, nl.uint32)"):format(v.name, n - 1),
    ("binary('minimum', unary('abs', %s, 'uint32'), %d, 'uint32')"):format(v.name, n - 1))
  return define(g, v.shape, v.dtype, ("nl.gather_flattened(%s, %s)"):format(v.name, ids.name),
    ("gather(%s, %s)"):format(v.name, ids.name))
end

return steps
