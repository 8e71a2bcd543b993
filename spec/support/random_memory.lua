-- random_memory.lua: steps of random programs (random_core.lua) about where things are: block tensors, rows picked by
-- computed numbers, registers, views that are written, tiles of which a part was never written. Each returns whether
-- it was drawn.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local core = require "spec.support.random_core"
local views = require "spec.support.random_views"

local text, cells, turned, pick, number = core.text, core.cells, core.turned, core.pick, core.number
local name_of, add, value, define, store = core.name_of, core.add, core.value, core.define, core.store
local is_int, ALL = core.is_int, core.ALL

local steps = {}

local function dense(v) return not turned(v.shape) end
local function flat(v) return #v.shape == 2 and dense(v) end

-- A copy that later lines write to.
local function copied(g, v)
  return define(g, v.shape, v.dtype, ("nl.copy(%s)"):format(v.name), ("cast(%s, %q)"):format(v.name, v.dtype))
end

local function say(g, lua, py, ...) add(g, {lua = type(lua) == "function" and lua or lua:format(...), py = py}) end

-- A tile for each index of a block axis; what is asked for are one or two of them.
function steps.block(g)
  local r, v = g.r, pick(g, dense)
  if not v then return end
  local n, dtype, name = r:int(2, 3), r:pick(ALL), name_of(g)
  local op, at, other = r:pick {"add", "maximum", "multiply"}, r:int(0, n - 1), r:int(0, n - 1)
  local free = text(table.move(v.shape, 2, #v.shape, 1, {}))
  say(g, ("local %s = nl.ndarray({%d, nl.par_dim(%s), %s}, %q)"):format(name, n, v.shape[1], free, dtype),
    ("%s = [binary(%q, %s, k, %q) for k in range(%d)]"):format(name, op, v.name, dtype, n))
  add(g, {lua = function(way)
    local key = "[k]"
    if #v.shape == 2 and way.box == "mask" then
      key = ('[{k, nl.arange(%s)[":, None"], nl.arange(%d)["None, :"]}]'):format(v.shape[1], v.shape[2])
    end
    local range = way.box == "mask" and "affine" or "static"
    return ("for k in nl.%s_range(%d) do %s%s = nl.%s(%s, k, %q) end"):format(range, n, name, key, op, v.name, dtype)
  end, py = "pass"})
  define(g, v.shape, dtype, ("nl.maximum(%s[%d], %s[{%d}])"):format(name, at, name, other),
    ("binary('maximum', %s[%d], %s[%d], %q)"):format(name, at, name, other, dtype))
  return true
end

-- The fold of what one or two loops compute.
function steps.loop_reduce(g)
  local r, v = g.r, pick(g, dense)
  if not v then return end
  local n, m, two = r:int(1, 4), r:int(1, 3), r:chance(40)
  local op, inner = r:pick {"add", "maximum", "minimum", "multiply", "subtract"}, r:pick {"add", "multiply", "minimum"}
  local dtype, fold = r:pick {"float32", "bfloat16", "int32", v.dtype}, r:pick {"float32", "bfloat16", "int32", v.dtype}
  local name, k = name_of(g), two and ("k * %d + q"):format(m) or "k"
  local x = ("nl.%s(%s, %s, %q)"):format(inner, v.name, k, dtype)
  add(g, {lua = function(way)
    local open, close = ("for k in nl.affine_range(%d) do "):format(n), "end"
    if two then open, close = ("%sfor q in nl.sequential_range(%d) do "):format(open, m), "end end" end
    local body = ("%s = nl.loop_reduce(%s, nl.%s, {%s}, %q) "):format(name, x, op, two and "k, q" or "k", fold)
    if way.loop == "unrolled" then -- by hand
      body = ('local x = %s if not t then t = nl.copy(x, %q) else nisa.tensor_tensor(t, t, x, nl.%s) end '):format(x,
        fold, op):gsub("%f[%w]t%f[%W]", name)
    end
    return ("local %s; %s%s%s"):format(name, open, body, close)
  end, py = ("%s = fold_loops(%q, [binary(%q, %s, k, %q) for k in range(%d)], %q)"):format(name, op, inner, v.name,
    dtype, two and n * m or n, fold)})
  value(g, name, v.shape, fold)
  return true
end

-- Numbers of rows: each once, or half of them twice. Returns the tile's name.
local function row_numbers(g, parts, distinct)
  local name, down = name_of(g), g.r:chance(50)
  local lua = ("local %s = nl.ndarray({%s, 1}, nl.int32) nisa.iota(%s, {{0, 1}}, %s, %d)"):format(name, parts, name,
    down and parts .. " - 1" or "0", down and -1 or 1)
  if not distinct then lua = ("%s %s = nl.right_shift(%s, 1)"):format(lua, name, name) end
  say(g, lua, ("%s = np.arange(%s)%s%s"):format(name, parts, down and "[::-1]" or "", distinct and "" or " // 2"))
  return name
end

-- Rows of memory are written, or added to, where computed numbers say.
function steps.scatter(g)
  local r, v = g.r, pick(g, function(v) return dense(v) and not v.moving end)
  if not v then return end
  local adds, dtype, h = r:chance(40), r:pick(ALL), name_of(g)
  local direct = adds and r:chance(30)
  local filled = r:int(0, 3)
  g.plan.crosses = true
  if dtype == "bool_" then filled = 1 end
  say(g, ("local %s = nl.ndarray({%s}, %q, {buffer = nl.private_hbm}) nl.store(%s, nl.full({%s}, %d, %q))"):format(h,
    text(v.shape), dtype, h, text(v.shape), filled, dtype),
    ("%s = full((%s), %d, %q)"):format(h, text(v.shape), filled, dtype))
  if direct then
    say(g, ("nl.atomic_rmw(%s, nl.copy(%s), nl.add)"):format(h, v.name),
      ("%s = binary('add', %s, %s, %q)"):format(h, h, v.name, dtype))
  else
    local ids = row_numbers(g, v.shape[1], adds or r:chance(50))
    add(g, {lua = function(way)
      local at = ("%s:vector_select(0, %s)"):format(h, ids)
      if way.box == "mask" and #v.shape == 2 then
        at = ('%s[{%s[{nl.arange(%s)[":, None"], 0}], nl.arange(%d)["None, :"]}]'):format(h, ids, table.unpack(v.shape))
      end
      return (adds and "nl.atomic_rmw(%s, nl.copy(%s), nl.add)" or "nl.store(%s, nl.copy(%s))"):format(at, v.name)
    end, py = adds and ("%s[%s] = made(%s.x[%s] + %s.x, %q)"):format(h, ids, h, ids, v.name, dtype)
      or ("%s[%s] = cast(%s, %q)"):format(h, ids, v.name, dtype)})
  end
  define(g, v.shape, dtype, ("nl.load(%s)"):format(h), h)
  return true
end

-- ---- registers
-- A register with a number below n that v's first element decides; its name.
local function counted(g, n)
  local v = pick(g, function(v) return dense(v) and not v.moving end)
  if not v then return end
  local name, t = name_of(g), name_of(g)
  local zeros = (", {0, 1}"):rep(#v.shape - 1)
  say(g, ("local %s = nl.copy(%s[{{0, 1}%s}]):reshape({1, 1})"):format(t, v.name, zeros),
    ("%s = T(%s.codes.reshape(-1)[:1].reshape(1, 1).copy(), %q)"):format(t, v.name, v.dtype))
  say(g, ("%s = nl.minimum(nl.abs(%s, nl.int32), %d, nl.int32)"):format(t, t, n - 1),
    ("%s = binary('minimum', unary('abs', %s, 'int32'), %d, 'int32')"):format(t, t, n - 1))
  say(g, ("local %s = nisa.register_alloc() nisa.register_load(%s, %s)"):format(name, name, t),
    ("%s = int(%s.codes.view(np.int32)[0, 0])"):format(name, t))
  return name
end

-- Columns that a register picks, read or written.
function steps.register_column(g)
  local r, v = g.r, pick(g, function(v) return flat(v) and v.shape[2] > 1 and not v.moving end)
  if not v then return end
  local width = r:int(1, v.shape[2] - 1)
  local scale = r:chance(40) and (v.shape[2] - width) // 2 > 0 and 2 or 1
  local base = r:int(0, (v.shape[2] - width) % scale)
  local reg = counted(g, (v.shape[2] - width - base) // scale + 1)
  if not reg then return end
  local at = scale == 1 and base == 0 and reg or ("%s * %d + %d"):format(reg, scale, base)
  local lua, py = ('[{":", nl.ds(%s, %d)}]'):format(at, width), ("[:, %s:%s + %d]"):format(at, at, width)
  if r:chance(50) then
    define(g, {v.shape[1], width}, v.dtype, ("nl.copy(%s%s)"):format(v.name, lua), ("%s%s"):format(v.name, py))
    return true
  end
  local t = copied(g, v)
  local x = v.dtype == "bool_" and "1" or tostring(r:int(0, 9))
  local u = pick(g, function(u) return flat(u) and u.shape[1] == v.shape[1] and u.shape[2] == width end)
  if u then x = u.name end
  say(g, t.name .. lua .. " = " .. x, t.name .. py .. " = " .. x)
  return true
end

-- Rows of an input that a register picks.
function steps.register_row(g)
  local r, input = g.r, g.r:pick(g.plan.inputs)
  if g.plan.carry then return end
  local rows = input.shape[1]
  local k = r:int(1, math.min(rows, 4))
  local reg = counted(g, rows - k + 1)
  if not reg then return end
  local shape = {k, table.unpack(input.shape, 2)}
  g.plan.far, g.plan.crosses = true, true
  define(g, shape, input.dtype, ("nl.load(io.%s[nl.ds(%s, %d)])"):format(input.name, reg, k),
    ("p.load(%q, np.s_[%s:%s + %d])"):format(input.name, reg, reg, k))
  return true
end

-- A loop that goes on as often as a number of the device says.
function steps.counted_loop(g)
  local r, v = g.r, pick(g, dense)
  local reg = v and counted(g, 6)
  if not reg then return end
  local acc = copied(g, v)
  local op, x = r:pick {"add", "maximum", "subtract"}, v.dtype == "bool_" and "1" or number(g, is_int[acc.dtype])
  local line = ("nl.%s(%s, %s, %q)"):format(op, acc.name, x, acc.dtype)
  local py = ("for _ in range(%s): %s[:] = binary(%q, %s, %s, %q)"):format(reg, acc.name, op, acc.name, x, acc.dtype)
  local form = r:int(1, 4)
  add(g, {lua = function()
    local body = ('%s["..."] = %s'):format(acc.name, line)
    if form == 1 then return ("nl.fori_loop(0, %s, function() %s end)"):format(reg, body) end
    if form == 2 then return ("for _ in nl.dynamic_range(%s) do %s end"):format(reg, body) end
    if form == 3 then return ("for _ in nl.dynamic_range(%s, %s * 3, 2) do %s end"):format(reg, reg, body) end
    return ("nl.while_loop(%s + 0, function(q) %s return q - 1 end)"):format(reg, body)
  end, py = py})
  return true
end

-- A register's number in a tile, and what was computed with it.
function steps.register_stored(g)
  local r, reg = g.r, counted(g, 100)
  if not reg then return end
  local dtype = r:pick {"int32", "int16", "uint8", "uint32", "int8"}
  local a, b = r:int(1, 3), r:int(0, 20)
  local t = name_of(g)
  local move = ("local r = nisa.register_alloc(0) nisa.register_move(r, %s * %d + %d)"):format(reg, a, b)
  say(g, ("local %s = nl.ndarray({1, 1}, %q) do %s nisa.register_store(%s, r) end"):format(t, dtype, move, t),
    ("%s = T(np.full((1, 1), %s * %d + %d).astype(raw(%q)), %q)"):format(t, reg, a, b, dtype, dtype))
  value(g, t, {1, 1}, dtype)
  return true
end

-- ---- views that are written: what is said of one is written down as Lua and as Python's (programs.py, Window)
local Recorder = {}
local ROWS = 977 -- stands for the number of rows while a view is drawn
local function rows_are(code, rows) return (code:gsub("%f[%d]" .. ROWS .. "%f[%D]", rows)) end
local function recorded(lua, py) return setmetatable({lua = lua, py = py}, Recorder) end
Recorder.__index = function(self, key)
  if type(key) == "table" then
    local lua, py = {}, {}
    for k, x in ipairs(key) do
      local ds = type(x) == "userdata"
      lua[k] = ds and ("nl.ds(%d, %d)"):format(x.start, x.size) or ("{%d, %d, %d}"):format(table.unpack(x))
      py[k] = ds and ("%d:%d"):format(x.start, x.stop) or ("%d:%d:%d"):format(table.unpack(x))
    end
    return recorded(("%s[{%s}]"):format(self.lua, text(lua)), ("%s.key(np.s_[%s])"):format(self.py, text(py)))
  end
  return function(_, ...)
    local lua, py = {}, {}
    for k, x in ipairs {...} do
      if type(x) == "table" and x.y then
        lua[k], py[k] = ("{y = %d}"):format(x.y), ("y=%d"):format(x.y)
      elseif type(x) == "table" then
        local list, pairs_ = {}, type(x[1]) == "table"
        for j, e in ipairs(x) do list[j] = pairs_ and ("{%d, %d}"):format(e[1], e[2]) or tostring(e) end
        lua[k] = "{" .. text(list) .. "}"
        py[k] = lua[k]:gsub("{", "["):gsub("}", "]")
      else
        lua[k] = type(x) == "string" and ("%q"):format(x) or tostring(x)
        py[k] = lua[k]
      end
    end
    return recorded(("%s:%s(%s)"):format(self.lua, key, text(lua)), ("%s.%s(%s)"):format(self.py, key, text(py)))
  end
end

-- Whether instructions take the view.
local function taken(target, base, dtype, v, memory)
  local code = ("local nl, memory = ... local t = nl.ndarray({%s}, %q, {buffer = memory}) return %s"):format(text(base),
    dtype, v.of(recorded("t", "")).lua)
  code = rows_are(code, 2)
  return (pcall(function()
    nki.jit(function()
      local view = load(code)(nl, memory)
      if nl.is_hbm(memory) then
        nl.store(view, nl.full(view.shape, 1, view.dtype))
        nl.load(view)
      else
        nisa.tensor_copy(view, nl.full(view.shape, 1, view.dtype))
        nl.copy(view)
      end
      local out = nl.ndarray({1, 1}, nl.float32, {buffer = nl.shared_hbm})
      nl.store(out, nl.full({1, 1}, 1, nl.float32))
      return out
    end, {platform_target = target, enable_cache = false}):specialize()
  end))
end

-- A view of a larger tile is written; the whole, and the view, are read.
function steps.window(g)
  local r, plan = g.r, g.plan
  local v = pick(g, function(v) return dense(v) and cells(g, v.shape) <= 60 end)
  if not v then return end
  local shape = views.copy(v.shape)
  shape[1] = shape[1] == "rows" and ROWS or shape[1]
  local w = views.draw(r, shape, v.dtype, {gen = 3})
  local memory = r:pick {"sbuf", "sbuf", "private_hbm"}
  local width = cells(g, w.shape)
  if width > 300 or not taken(plan.target, w.shape, w.dtype, w, nl[memory]) then return end
  local base = views.copy(w.shape)
  base[1] = v.shape[1]
  local t, filled = name_of(g), w.dtype == "bool_" and 1 or r:int(0, 3)
  local hbm = memory ~= "sbuf"
  local fill = (hbm and "nl.store(%s, nl.full({%s}, %d, %q))" or '%s["..."] = nl.full({%s}, %d, %q)'):format(t,
    text(base), filled, w.dtype)
  say(g, ("local %s = nl.ndarray({%s}, %q, {buffer = nl.%s}) %s"):format(t, text(base), w.dtype, memory, fill),
    ("%s = full((%s), %d, %q)"):format(t, text(base), filled, w.dtype))
  local view = w.of(recorded(t, ("Window(%s)"):format(t)))
  view = {lua = rows_are(view.lua, v.shape[1]), py = rows_are(view.py, v.shape[1])}
  local write = r:pick {"%s[\"...\"] = %s", "nisa.tensor_copy(%s, %s)", "nisa.dma_copy(%s, nl.copy(%s))"}
  if hbm then write = "nl.store(%s, nl.copy(%s))" end
  say(g, "local " .. t .. "_v = " .. view.lua .. " " .. write:format(t .. "_v", v.name),
    ("%s.put(%s)"):format(view.py, v.name))
  define(g, {v.shape[1], width}, w.dtype, ("nl.%s(%s:reshape({%s, %d}))"):format(hbm and "load" or "copy", t, base[1],
    width), ("T(%s.codes.reshape(%s, -1), %q)"):format(t, base[1], w.dtype))
  define(g, v.shape, v.dtype, (hbm and "nl.load(%s_v)" or "nl.copy(%s_v)"):format(t), view.py .. ".get()")
  return true
end

-- ---- a tile of which a part is written: what was never written reads as a sentinel, and is reported
function steps.unwritten(g)
  local r, v = g.r, pick(g, function(v) return flat(v) and v.shape[2] > 1 end)
  if not v or g.plan.unwritten then return end
  g.plan.unwritten = true
  local t, dtype = name_of(g), r:pick(ALL)
  local from = r:int(0, v.shape[2] - 2)
  local to = r:int(from + 1, v.shape[2] - 1)
  local hbm = r:chance(30)
  say(g, ("local %s = nl.ndarray({%s}, %q, {buffer = nl.%s})"):format(t, text(v.shape), dtype,
    hbm and "private_hbm" or "sbuf"), ("%s = untouched((%s), %q)"):format(t, text(v.shape), dtype))
  local cut = ('%s[{":", {%d, %d}}]'):format(t, from, to)
  local part = ('%s[{":", {%d, %d}}]'):format(v.name, from, to)
  say(g, (hbm and "nl.store(%s, nl.copy(%s))" or "%s = nl.copy(%s)"):format(cut, part),
    ("%s[:, %d:%d] = %s[:, %d:%d]"):format(t, from, to, v.name, from, to))
  store(g, define(g, v.shape, dtype, (hbm and "nl.load(%s)" or "nl.copy(%s)"):format(t), t))
  return true
end

return steps
