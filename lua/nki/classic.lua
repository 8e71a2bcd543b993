-- Index expressions of the classic language: nl.arange, nl.mgrid, affine arithmetic, masks. An expression is an integer
-- for every position of a small grid: base + sum of coef[d] * position[d], where dimension d has size[d] positions (1:
-- the expression does not depend on it). Dimensions count from 1 in these lists, from 0 in messages.
local fail, _, lib = ...
local kind, rename, fault = lib.kind, lib.rename, lib.fault

local M = {}
local Expr, Mask = {__name = "NkiIndexExpression"}, {__name = "NkiMask"}
local compare = {} -- method name -> operator: ip:lt(n)

local function is(v, class) return getmetatable(v) == class end
function M.is_expr(v) return is(v, Expr) end
function M.is_mask(v) return is(v, Mask) end

-- Largest distance from 0 that a position may have: no product or sum of two such numbers wraps unseen.
local FAR = 2.0 ^ 53

local function too_far(op)
  fail("index_arithmetic", ("%s an index expression: its values leave -2^53 .. 2^53"):format(op))
end

local function expression(e)
  local most = math.abs(e.base + 0.0)
  for d = 1, e.rank do most = most + math.abs(e.coef[d] + 0.0) * math.max(e.size[d] - 1, 1) end
  if most > FAR then too_far "arithmetic on" end
  return setmetatable(e, Expr)
end

local function constant(n) return expression {rank = 0, size = {}, coef = {}, base = n} end

local function refuse(op)
  fail("index_arithmetic", ("operator %s on an index expression: only + - and * with integers and sums of expressions "
    .. "keep it affine"):format(op))
end

-- v as an expression, nil when it is none: integers, registers and tiles (a run-time scalar) count.
local function lift(v)
  if is(v, Expr) then return v end
  local n = math.type(v) and math.tointeger(v)
  if n then return constant(n) end
  local what = kind(v)
  if what ~= "index" and what ~= "tile" then return nil end
  return expression {rank = 0, size = {}, coef = {}, base = 0, register = what == "index" and v or nil,
    tile = what == "tile" and v or nil}
end
M.lift = lift

-- Dimension d of e once e is seen with `rank` dimensions: as in NumPy, missing ones stand in front.
local function at(list, e, rank, d, none)
  local k = d - (rank - e.rank)
  return k >= 1 and list[k] or none
end

local function common(a, b, what)
  local rank = math.max(a.rank, b.rank)
  local size = {}
  for d = 1, rank do
    local m, n = at(a.size, a, rank, d, 1), at(b.size, b, rank, d, 1)
    if m ~= n and m ~= 1 and n ~= 1 then
      fail("elementwise_shape", ("%s: index expressions do not broadcast: dimension %d has %d and %d positions")
        :format(what, d - 1, m, n))
    end
    size[d] = math.max(m, n)
  end
  return rank, size
end
M.common = common

local function sum_of(x, y, op)
  if not (x and y) then return x or y end
  if kind(x) ~= "index" or kind(y) ~= "index" then refuse(op) end
  return x + y
end

-- A poisoned expression: it may be made, since `i % 4 < 2` is refused as a mask and not as arithmetic.
local function spoilt(a, op)
  if not is(a, Expr) then return constant(0) end
  return expression {rank = a.rank, size = a.size, coef = a.coef, base = a.base, flat = a.flat, spoilt = op}
end

local function add(x, y)
  local a, b = lift(x), lift(y)
  if not (a and b) then refuse "+" end
  if a.spoilt or b.spoilt then return spoilt(a.spoilt and a or b, a.spoilt or b.spoilt) end
  local rank, size = common(a, b, "operator +")
  local coef = {}
  for d = 1, rank do coef[d] = at(a.coef, a, rank, d, 0) + at(b.coef, b, rank, d, 0) end
  return expression {rank = rank, size = size, coef = coef, base = a.base + b.base, grid = a.grid or b.grid,
    flat = (a.flat or b.flat) and rank == 1, register = sum_of(a.register, b.register, "+"),
    tile = sum_of(a.tile, b.tile, "+")}
end

local function scale(e, n)
  local coef = {}
  if e.tile then refuse "*" end
  for d = 1, e.rank do
    if math.abs((e.coef[d] + 0.0) * n) > FAR then too_far "operator * on" end
    coef[d] = e.coef[d] * n
  end
  if math.abs((e.base + 0.0) * n) > FAR then too_far "operator * on" end
  return expression {rank = e.rank, size = e.size, coef = coef, base = e.base * n, flat = e.flat, grid = e.grid,
    spoilt = e.spoilt, register = e.register and e.register * n}
end

local function multiply(x, y)
  local n = math.type(y) and math.tointeger(y) or math.type(x) and math.tointeger(x)
  if not n then refuse "*" end
  return scale(is(x, Expr) and x or y, n)
end

M.add = add
Expr.__add = add
Expr.__mul = multiply
Expr.__unm = function(x) return scale(x, -1) end
Expr.__sub = function(x, y)
  local b = lift(y)
  if not b then refuse "-" end
  return add(x, scale(b, -1))
end
for event, op in pairs {__div = "/", __idiv = "//", __mod = "%", __pow = "^"} do
  Expr[event] = function(x, y) return spoilt(is(x, Expr) and x or y, op) end
end
for event, op in pairs {__band = "&", __bor = "|", __bxor = "~", __bnot = "~", __shl = "<<", __shr = ">>",
  __concat = ".."} do
  Expr[event] = function() refuse(op) end
end

local function in_lua()
  fault "control_flow_condition_depending_on_arange"
end
Expr.__lt, Expr.__le, Expr.__eq = in_lua, in_lua, in_lua
Mask.__lt, Mask.__le = in_lua, in_lua

local function no_item(what)
  return function() fault("cannot_assign_to_index", what) end
end
Expr.__newindex = no_item "an index expression"
Mask.__newindex = no_item "a mask"

-- {":", "None"} of a list or of the text ":, None".
local function axes_of(key)
  local list = {}
  if type(key) == "string" then
    for word in (key .. ","):gmatch "%s*([^,]-)%s*," do list[#list + 1] = word end
  elseif type(key) == "table" and not getmetatable(key) then
    for d = 1, #key do list[d] = key[d] or "None" end
  end
  for _, word in ipairs(list) do
    if word ~= ":" and word ~= "None" then return {} end
  end
  return list
end

-- e[":, None"]: gives the dimensions of e their places among new ones of size 1.
local function with_axes(e, key)
  local size, coef, k = {}, {}, 0
  local list = axes_of(key)
  for d, word in ipairs(list) do
    k = word == ":" and k + 1 or k
    size[d], coef[d] = word == ":" and e.size[k] or 1, word == ":" and e.coef[k] or 0
  end
  if k ~= e.rank or k == 0 then
    fail("key_slice", ('an index expression of %d dimension%s takes ":" once for each and "None" for new ones, as in '
      .. 'nl.arange(128)[":, None"]'):format(e.rank, e.rank == 1 and "" or "s"))
  end
  return expression {rank = #list, size = size, coef = coef, base = e.base, flat = #list == 1, grid = e.grid,
    register = e.register, tile = e.tile, spoilt = e.spoilt}
end

local absent = {register = 1, tile = 1, grid = 1, flat = 1, spoilt = 1, rows = 1} -- fields an expression may lack

Expr.__index = function(e, key)
  if absent[key] then return nil end
  if compare[key] then return compare[key] end
  if key == "shape" then return {table.unpack(e.size)} end
  if key == "ndim" then return e.rank end
  return with_axes(e, key)
end

local function text_of(e)
  local parts = {}
  for d = 1, e.rank do
    if e.coef[d] ~= 0 then parts[#parts + 1] = ("%d*[0,%d) along %d"):format(e.coef[d], e.size[d], d - 1) end
  end
  parts[#parts + 1] = tostring(e.base)
  return table.concat(parts, " + ")
end
M.text_of = text_of
Expr.__tostring = function(e) return "index expression " .. text_of(e) end
Mask.__tostring = function() return "mask" end

-- ---- making them

local function positions(start, stop, what)
  local first, last = math.type(start) and math.tointeger(start), math.type(stop) and math.tointeger(stop)
  if not (first and last) then
    fail("bind_kind", what .. ": bounds must be integers known while the kernel is traced")
  end
  if math.max(math.abs(first + 0.0), math.abs(last + 0.0)) > FAR then too_far(what .. " makes") end
  if last <= first then
    fail("bind_value", ("%s: parameter 'stop' is %d; it must be above the start, %d"):format(what, last, first))
  end
  return first, last - first
end

function M.arange(start, stop)
  if stop == nil then start, stop = 0, start end
  local first, count = positions(start, stop, "nl.arange")
  return expression {rank = 1, size = {count}, coef = {1}, base = first, flat = true}
end

local grid_names = {"p", "x", "y", "z", "w"}
local Grid = {__name = "NkiIndexGrid"}
Grid.__index = function(g, key)
  if key == "unpack" then return function() return table.unpack(rawget(g, "list")) end end
  for d, name in ipairs(grid_names) do
    local e = rawget(g, "list")[d]
    if e and (key == name or key == d - 1) then return e end
  end
  fail("no_such_name", ("no grid.%s; %s has the fields p, x, y, z, w, as many as it has dimensions, and unpack")
    :format(tostring(key), tostring(g)))
end
Grid.__newindex = no_item "an index grid"
Grid.__tostring = function(g)
  local n = #rawget(g, "list")
  return ("an index grid of %d dimension%s"):format(n, n == 1 and "" or "s")
end

-- ranges: {{start, stop}, ...}
local function grid(ranges)
  local list, size = {}, {}
  for d, r in ipairs(ranges) do
    local first, count = positions(r[1], r[2], "nl.mgrid")
    local coef = {}
    for k = 1, #ranges do coef[k] = k == d and 1 or 0 end
    size[d] = count
    list[d] = {rank = #ranges, coef = coef, base = first, grid = true}
  end
  for d = 1, #list do
    list[d].size = {}
    for k = 1, #list do list[d].size[k] = k == d and size[k] or 1 end
    expression(list[d])
  end
  return setmetatable({list = list}, Grid)
end
M.grid = grid

function M.mgrid(key)
  local ranges = {}
  if type(key) == "string" then
    for word in (key .. ","):gmatch "%s*([^,]-)%s*," do
      local a, b = word:match "^(%-?%d*)%s*:%s*(%-?%d+)$"
      ranges[#ranges + 1] = {a and math.tointeger(tonumber(a == "" and 0 or a)), b and math.tointeger(tonumber(b)),
        text = ("'%s'"):format(word)}
    end
  elseif type(key) == "table" and not getmetatable(key) then
    if type(key[1]) == "number" then key = {key} end
    for d = 1, #key do
      local r = key[d]
      local plain = type(r) == "table" and not getmetatable(r)
      ranges[d] = {plain and r[1] or nil, plain and r[2] or nil, text = rename(r), more = plain and r[3] ~= nil}
    end
  end
  for d, r in ipairs(ranges) do
    if r[1] == nil or r[2] == nil or r.more then
      fail("key_slice", ("nl.mgrid: range %d is %s; it must be a start and a stop, as in 0:128 or {0, 128}, without a "
        .. "step"):format(d - 1, r.more and "of three numbers" or r.text))
    end
  end
  if #ranges < 1 or #ranges > #grid_names then
    fail("key_slice", 'nl.mgrid takes 1 to 5 ranges: nl.mgrid["0:128, 0:512"] or nl.mgrid[{{0, p}, {0, f}}]')
  end
  return grid(ranges)
end

-- ---- masks: conjunctions of affine comparisons with 0

local holds = { -- a term means op(expr, 0); here as expr' <= 0 or expr' == 0
  less = function(e) return add(e, 1) end,
  less_equal = function(e) return e end,
  greater = function(e) return add(scale(e, -1), 1) end,
  greater_equal = function(e) return scale(e, -1) end,
  equal = function(e) return e end,
  not_equal = function(e) return e end,
}

function M.compare(op, x, y)
  local a, b = lift(x), lift(y)
  if not (a and b and holds[op]) then
    fault("unsupported_expression_in_mask", ("nl.%s of an index expression and %s: a mask compares affine index "
      .. "expressions and integers"):format(op, tostring(is(x, Expr) and y or x)))
  end
  local why = (a.spoilt or b.spoilt) and "operator " .. (a.spoilt or b.spoilt) .. " makes it no affine expression"
    or (a.tile or b.tile) and "a tile's value is not known before run time"
    or (a.register or b.register) and "a register's value is not known before run time"
  if why then
    fault("unsupported_expression_in_mask", ("nl.%s of an index expression: %s"):format(op, why))
  end
  return setmetatable({terms = {{expr = add(a, scale(b, -1)), op = op}}}, Mask)
end

for name, op in pairs {lt = "less", le = "less_equal", gt = "greater", ge = "greater_equal", eq = "equal",
  ne = "not_equal"} do
  compare[name] = function(x, y) return M.compare(op, x, y) end
end

local function both(x, y)
  local terms = {}
  for side = 1, 2 do
    local m = y
    if side == 1 then m = x end
    if type(m) == "boolean" then m = {terms = {{expr = constant(m and 0 or 1), op = "less_equal"}}} end
    if type(m) ~= "table" or not rawget(m, "terms") then
      fault("unsupported_expression_in_mask", "operator & joins masks; the other side is " .. rename(m))
    end
    table.move(m.terms, 1, #m.terms, #terms + 1, terms)
  end
  return setmetatable({terms = terms}, Mask)
end
M.both = both
Mask.__band = both
for event, op in pairs {__bor = "|", __bxor = "~", __bnot = "~"} do
  Mask[event] = function()
    fault("unsupported_expression_in_mask", ("operator %s on masks: a mask is a box, so only & joins them"):format(op))
  end
end
Mask.__index = function(_, key)
  fail("no_such_name", ("no mask.%s; masks are joined by & and given as mask="):format(tostring(key)))
end

-- Smallest and largest value over the box; the dimensions it depends on there.
local function extent(e, lo, hi)
  local least, most, free = e.base, e.base, {}
  local rank = #lo
  for d = 1, rank do
    local c = at(e.coef, e, rank, d, 0)
    local first, last = c * lo[d], c * (hi[d] - 1)
    least, most = least + math.min(first, last), most + math.max(first, last)
    if c ~= 0 and hi[d] - lo[d] > 1 then free[#free + 1] = d end
  end
  return least, most, free
end

local function check_shape(e, shape)
  for d = 1, math.max(e.rank, #shape) do
    local k = d - (#shape - e.rank)
    local n = k >= 1 and e.size[k] or 1
    if e.rank > #shape or n ~= 1 and n ~= shape[d] then
      fail("elementwise_shape", ("a mask of shape {%s} does not fit a tile of shape {%s}")
        :format(table.concat(e.size, ", "), table.concat(shape, ", ")))
    end
  end
end

-- Narrows dimension d of the box to where coef * i + base <= 0 (or == 0) holds.
local function narrow(lo, hi, d, coef, base, equal)
  if equal then
    local v = -base // coef
    if v * coef ~= -base then v = hi[d] end -- nowhere
    lo[d], hi[d] = math.max(lo[d], v), math.min(hi[d], v + 1)
  elseif coef > 0 then hi[d] = math.min(hi[d], -base // coef + 1)
  else lo[d] = math.max(lo[d], -(-base // -coef)) end
end

local function apply(term, lo, hi)
  local equal = term.op == "equal"
  local e = holds[term.op](term.expr)
  local least, most, free = extent(e, lo, hi)
  local always = equal and least == 0 and most == 0 or not equal and most <= 0
  local never = least > 0 or equal and most < 0
  if term.op == "not_equal" then
    always, never = least > 0 or most < 0, least == 0 and most == 0
  end
  if always then return true end
  if never then return false end
  if #free ~= 1 or term.op == "not_equal" then
    fault("unsupported_expression_in_mask",
      ("the mask nl.%s(%s, 0) is true on no box of positions: each comparison may "
      .. "depend on one index only (nisa.affine_select takes others)"):format(term.op, text_of(term.expr)))
  end
  local d, rest = free[1], e.base
  for k = 1, #lo do
    if k ~= d then rest = rest + at(e.coef, e, #lo, k, 0) * lo[k] end
  end
  narrow(lo, hi, d, at(e.coef, e, #lo, d, 0), rest, equal)
  return lo[d] < hi[d]
end

-- The box {lo, hi, full, empty} of positions of `shape` (a list) where the mask holds; half-open, from 0.
function M.box(mask, shape)
  local box = {lo = {}, hi = {}, full = true}
  if type(mask) == "boolean" then mask = both(mask, true) end
  if not is(mask, Mask) then
    fail("bind_kind", "parameter 'mask' must be comparisons of index expressions joined by &, got " .. rename(mask))
  end
  for d = 1, #shape do box.lo[d], box.hi[d] = 0, shape[d] end
  for _, term in ipairs(mask.terms) do
    check_shape(term.expr, shape)
    if not apply(term, box.lo, box.hi) then
      box.empty, box.full = true, false
      return box
    end
  end
  for d = 1, #shape do box.full = box.full and box.lo[d] == 0 and box.hi[d] == shape[d] end
  return box
end

return M
