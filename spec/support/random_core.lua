-- random_core.lua: what drawing a random program keeps, and how a step and its value come into being. A step is
-- {lua = text or function(way), py = text}, or {loop = n, var = name, body = steps}. A value is {name, shape, dtype};
-- "rows" in a shape is the number of rows of the tile at hand. What NumPy cannot give to the bit is stored by the
-- program itself.
local views = require "spec.support.random_views"

local M = {}

local INT = {"int32", "uint8", "int8", "uint16", "int16", "uint32"}
local FLOAT = {"float32", "bfloat16", "float16", "tfloat32", "float8_e4m3", "float8_e5m2", "float8_e4m3fn"}
local ALL = {"bool_"}
for _, list in ipairs {INT, FLOAT} do
  for _, d in ipairs(list) do ALL[#ALL + 1] = d end
end
local is_int, is_float = {}, {}
for _, d in ipairs(INT) do is_int[d] = true end
for _, d in ipairs(FLOAT) do is_float[d] = true end
local size = views.sizes

-- docs/semantics.md, "Promotion"
local function promote(a, b)
  if a == b then return a end
  if a == "bool_" or b == "bool_" then return a == "bool_" and b or a end
  if is_float[a] ~= is_float[b] then return is_float[a] and a or b end
  local narrow, wide = a, b
  if is_float[a] then
    local rank = {float32 = 4, tfloat32 = 3, bfloat16 = 2, float16 = 2}
    local x, y = rank[a] or 1, rank[b] or 1
    if x == y then return x == 2 and "float32" or "bfloat16" end
    return x > y and a or b
  end
  if size[narrow] > size[wide] then narrow, wide = wide, narrow end
  if narrow:find "^u" and wide:find "^u" or not narrow:find "^u" and not wide:find "^u" then return wide end
  if size[wide] > size[narrow] and wide:find "^i" then return wide end
  local unsigned = narrow:find "^u" and size[narrow] == size[wide] and narrow or wide
  if not unsigned:find "^u" then return wide end
  return ({uint8 = "int16", uint16 = "int32", uint32 = "float32"})[unsigned]
end

local function float_type(d) return (is_int[d] or d == "bool_") and "float32" or d end

-- ---- the state of drawing: g.r, g.plan, g.steps, g.values, g.loops

local function text(shape) return table.concat(shape, ", ") end
local function cells(g, shape)
  local n = 1
  for k = 2, #shape do n = n * (shape[k] == "rows" and g.plan.tile or shape[k]) end
  return n
end
local function turned(shape) -- rows are free elements
  for k = 2, #shape do
    if shape[k] == "rows" then return true end
  end
end

local function name_of(g)
  g.plan.count = g.plan.count + 1
  return "t" .. g.plan.count
end

local function add(g, step) g.steps[#g.steps + 1] = step end

local function value(g, name, shape, dtype)
  local v = {name = name, shape = shape, dtype = dtype}
  g.values[#g.values + 1] = v
  return v
end

-- A new value: lua(way) or text, and the same in Python.
local function define(g, shape, dtype, lua, py)
  local name = name_of(g)
  add(g, {lua = function(way)
    local e = type(lua) == "function" and lua(way) or lua
    return ("local %s = check(%s, {%s}, %q)"):format(name, e, text(shape), dtype)
  end, py = ("%s = %s"):format(name, py)})
  return value(g, name, shape, dtype)
end

-- Where v is stored, once for each tile and iteration: a tensor, the first row and how many.
function M.tap(g, v, prefix)
  local plan, times, at = g.plan, 1, nil
  for _, l in ipairs(g.loops) do
    at = at and ("(%s * %d + %s)"):format(at, l.trips, l.var) or l.var
    times = times * l.trips
  end
  local name = prefix .. #plan.outs
  local parts = v.shape[1]
  local first, whole
  if parts == "rows" then
    first = ("i * %d%s"):format(plan.tile * times, at and " + " .. at .. " * rows" or "")
    whole = plan.rows * times
  else
    first = at and ("(i * %d + %s) * %d"):format(times, at, parts) or ("i * %d"):format(parts)
    whole = plan.tiles * times * parts
  end
  local shape = {whole, table.unpack(v.shape, 2)}
  for k = 2, #shape do shape[k] = shape[k] == "rows" and plan.tile or shape[k] end
  plan.outs[#plan.outs + 1] = {name = name, shape = shape, dtype = v.dtype, parts = parts}
  return name, first, tostring(parts)
end

-- Stores v; ref: Python's pair of reference and bound, or nil when it is known to the bit.
local function store(g, v, ref)
  local name, first, parts = M.tap(g, v, ref and "near" or "out")
  add(g, {lua = function(way)
    if way.masked then
      return ("nl.store(io.%s[{%s}], %s, {mask = m%d})"):format(name, way.index(v.shape), v.name, #v.shape)
    end
    return ("nl.store(io.%s[nl.ds(%s, %s)], nl.copy(%s))"):format(name, first, parts, v.name)
  end, py = ref and ("%s = p.near(%q, %s, %s, %s, %q)"):format(v.name, name, first, parts, ref, v.dtype)
    or ("p.out(%q, %s, %s, %s)"):format(name, first, parts, v.name)})
end

local function near(g, shape, dtype, lua, ref)
  local v = define(g, shape, dtype, lua, "None")
  store(g, v, ref)
  return v
end

local function may_store(g, v) return not (turned(v.shape) and g.plan.rows % g.plan.tile > 0) and #g.plan.outs < 9 end

local function pick(g, f)
  local list, last = {}, #g.values
  for k = last, 1, -1 do
    if not f or f(g.values[k]) then list[#list + 1] = g.values[k] end
  end
  if #list == 0 then return nil end
  return g.r:chance(60) and list[g.r:int(1, math.min(2, #list))] or g.r:pick(list)
end

-- Half of the time no dtype is asked for, and it is `own`. Returns it, Lua's text and that it was asked for.
local function asked(g, own, list)
  if g.r:chance(60) then return own, "" end
  local d = g.r:pick(list or ALL)
  return d, (", %q"):format(d), true
end

local function number(g, integer)
  if integer == nil then integer = g.r:chance(50) end
  if integer then return tostring(g.r:int(-3, 9)), true end
  return g.r:pick {"0.5", "-1.5", "2.0", "3.25", "0.0", "0.1", "7.0", "-0.25", "100.0"}, false
end

-- Loads an input's rows of the tile, all or some columns; or all of one that has its own number of rows.
function M.load(g, input)
  local r, shape = g.r, views.copy(input.shape)
  local dtype, d = asked(g, input.dtype)
  local named = d ~= "" and ", dtype = " .. d:sub(3) or ""
  if input.ids then -- rows picked by another input
    shape[1] = "rows"
    local ids = define(g, {"rows", 1}, "int32", "nl.load(io.ids[nl.ds(i * " .. g.plan.tile .. ", rows)])",
      "p.load('ids', np.s_[i * P:i * P + rows])")
    table.remove(g.values) -- it has no other use
    return define(g, shape, dtype, function(way)
      if way.box == "mask" and #shape == 2 then
        local keys = ('%s[{nl.arange(rows)[":, None"], 0}], nl.arange(%d)["None, :"]'):format(ids.name, shape[2])
        return ("nl.load(io.%s[{%s}]%s)"):format(input.name, keys, d)
      end
      return ("nl.load(io.%s:vector_select(0, %s)%s)"):format(input.name, ids.name, d)
    end, ("p.load(%q, %s.codes[:, 0].view(np.int32)%s)"):format(input.name, ids.name, d))
  end
  local keys, py = '":"', ":"
  if input.rows then
    shape[1] = "rows"
    keys, py = ("nl.ds(i * %d, rows)"):format(g.plan.tile), "i * P:i * P + rows"
  end
  local whole = {views.copy(shape)}
  if r:chance(30) and shape[2] > 2 then
    local start, step = r:int(0, 1), r:int(1, 2)
    local stop = r:int(start + 1, shape[2])
    shape[2] = (stop - start + step - 1) // step
    keys, py = ("%s, {%d, %d, %d}"):format(keys, start, stop, step), ("%s, %d:%d:%d"):format(py, start, stop, step)
    whole.start, whole.step = start, step
  end
  return define(g, shape, dtype, function(way)
    if way.masked then
      return ("nl.load(io.%s[{%s}], {mask = m%d%s})"):format(input.name, way.index(shape, whole), #shape, named)
    end
    return ("nl.load(io.%s[{%s}]%s)"):format(input.name, keys, d)
  end, ("p.load(%q, np.s_[%s]%s)"):format(input.name, py, d))
end

-- Writes v to the rows of an input, reads them and some columns back, and may write those, too.
function M.update(g, v, input)
  local r, at, name = g.r, ("i * %d"):format(g.plan.tile), input.name
  add(g, {lua = ("nl.store(io.%s[nl.ds(%s, rows)], nl.copy(%s))"):format(name, at, v.name),
    py = ("p.out(%q, %s, rows, %s)"):format(name, at, v.name)})
  local shape = views.copy(v.shape)
  local from = r:int(0, shape[2] - 1)
  local to = r:int(from + 1, shape[2])
  shape[2] = to - from
  local lua, py = ("io.%s[{nl.ds(%s, rows), {%d, %d}}]"):format(name, at, from, to),
    ("np.s_[%s:%s + rows, %d:%d]"):format(at, at, from, to)
  local back = define(g, shape, input.dtype, ("nl.load(%s)"):format(lua), ("p.load(%q, %s)"):format(name, py))
  if r:chance(60) then
    local t = define(g, shape, "float32", ("nl.add(%s, 1, nl.float32)"):format(back.name),
      ("binary('add', %s, 1, 'float32')"):format(back.name))
    add(g, {lua = ("nl.store(%s, %s)"):format(lua, t.name), py = ("p.wanted[%q][%s] = %s"):format(name, py, t.name)})
    back = define(g, v.shape, input.dtype, ("nl.load(io.%s[nl.ds(%s, rows)])"):format(name, at),
      ("p.load(%q, np.s_[%s:%s + rows])"):format(name, at, at))
  end
  M.store(g, back)
end

for name, f in pairs {text = text, cells = cells, turned = turned, name_of = name_of, add = add, value = value,
  define = define, store = store, near = near, may_store = may_store, pick = pick, asked = asked, number = number,
  float_type = float_type, is_int = is_int, is_float = is_float, ALL = ALL, FLOAT = FLOAT, INT = INT,
  promote = promote, sizes = size} do
  M[name] = f
end

-- What nl.matmul takes on every generation.
M.MATMUL = {float32 = 1, bfloat16 = 1, float16 = 1, tfloat32 = 1, float8_e4m3 = 1, float8_e5m2 = 1}

return M
