-- random_control.lua: steps of random programs (random_core.lua) that write parts of tiles, go through memory, branch
-- and loop. Each returns whether it was drawn.
local core = require "spec.support.random_core"

local text, cells, turned, pick, asked, number = core.text, core.cells, core.turned, core.pick, core.asked, core.number
local name_of, add, value, define, store = core.name_of, core.add, core.value, core.define, core.store
local is_int, ALL = core.is_int, core.ALL

local steps = {}

-- ---- a part of a tile is computed and written: through a mask, or as a slice

local UNARY = {"abs", "relu", "square", "negative", "sqrt", "reciprocal", "logical_not", "sign"}
local BINARY = {"add", "subtract", "multiply", "maximum", "divide", "less", "equal", "logical_and"}

-- What is computed: {function, operands, Python's function, its first argument}.
local function part_function(g, v)
  local function fits(u) return #u.shape == 2 and u.shape[1] == v.shape[1] and u.shape[2] == v.shape[2] end
  local function column(u) return fits(u) or #u.shape == 2 and u.shape[1] == v.shape[1] and u.shape[2] == 1 end
  local kind, u = g.r:int(1, 4), pick(g, fits)
  local op = g.r:pick(kind == 1 and UNARY or BINARY)
  if kind == 1 then return "nl." .. op, {u}, "unary", op end
  if kind == 2 then return "nl." .. op, {u, (number(g))}, "binary", op end
  if kind == 3 then
    local w = pick(g, column)
    return "nl." .. op, g.r:chance(50) and {u, w} or {w, u}, "binary", op
  end
  return "nl.where", {u, pick(g, column), pick(g, fits)}, "where"
end

-- The box: rows [0, last), columns [from, to). Its mask, and its slice of a tile of so many columns in Lua and Python.
local function draw_box(g, v)
  local r, known = g.r, v.shape[1] ~= "rows" or g.plan.last == g.plan.tile
  local have = v.shape[1] == "rows" and g.plan.tile or v.shape[1]
  local last = known and r:int(1, have) or have
  local from = r:int(0, v.shape[2] - 1)
  local to = r:int(from + 1, v.shape[2])
  local columns, rows = ('nl.arange(%d)["None, :"]'):format(v.shape[2]), ('nl.arange(%s)[":, None"]'):format(v.shape[1])
  local mask = ("nl.greater_equal(%s, %d) & nl.less(%s, %d)"):format(columns, from, columns, to)
  if known then mask = ("%s & nl.less(%s, %d)"):format(mask, rows, last) end
  local row_key, row_py = known and ("{0, %d}"):format(last) or '":"', known and (":%d"):format(last) or ":"
  return mask, ("%s, %s"):format(rows, columns), function(width)
    if width == 1 then return ('[{%s, ":"}]'):format(row_key), ("[%s, :]"):format(row_py) end
    return ("[{%s, {%d, %d}}]"):format(row_key, from, to), ("[%s, %d:%d]"):format(row_py, from, to)
  end
end

function steps.part(g)
  local v = pick(g, function(v) return #v.shape == 2 and not turned(v.shape) end)
  if not v then return end
  local t = define(g, v.shape, v.dtype, ("nl.copy(%s)"):format(v.name), ("cast(%s, %q)"):format(v.name, v.dtype))
  local f, operands, py, op = part_function(g, v)
  local mask, keys, cut = draw_box(g, v)
  local dtype, whole, sliced, in_python = g.r:pick {"float32", "bfloat16", "float16"}, {}, {}, {}
  if f == "nl.where" then dtype = v.dtype end
  for k, u in ipairs(operands) do
    local name = type(u) == "table" and u.name or u
    local lua, p = "", ""
    if type(u) == "table" then lua, p = cut(u.shape[2] == v.shape[2] and u.shape[2] or 1) end
    if type(u) == "table" and v.shape[2] == 1 then lua, p = cut(0) end
    whole[k], sliced[k], in_python[k] = name, name .. lua, name .. p
  end
  local at, at_py = cut(v.shape[2] == 1 and 0 or v.shape[2])
  add(g, {lua = function(way)
    if way.box == "mask" then
      local target = way.keys and keys or '"..."'
      return ("%s[{%s}] = %s(%s, {dtype = %q, mask = %s})"):format(t.name, target, f, text(whole), dtype, mask)
    end
    return ("%s%s = %s(%s, %q)"):format(t.name, at, f, text(sliced), dtype)
  end, py = ("%s%s = %s(%s%s, %q)"):format(t.name, at_py, py, op and ("%q, "):format(op) or "", text(in_python),
    dtype)})
  return true
end

-- A reduction of a part, into a column of which the other rows stay.
function steps.part_reduced(g)
  local v = pick(g, function(v) return #v.shape == 2 and not turned(v.shape) and v.shape[2] > 1 end)
  if not v then return end
  local op = g.r:pick {"sum", "max", "min", "mean"}
  local mask, _, cut = draw_box(g, v)
  local shape = {v.shape[1], 1}
  local t = define(g, shape, "float32", ("nl.full({%s}, 3, nl.float32)"):format(text(shape)),
    ("full((%s), 3, 'float32')"):format(text(shape)))
  local at, at_py = cut(1)
  local part, part_py = cut(v.shape[2])
  local keep = g.r:chance(50)
  local python = op == "mean" and "mean(" or ("reduce(%q, "):format(op)
  add(g, {lua = function(way)
    local more = ("dtype = nl.float32, keepdims = %s"):format(keep)
    if way.box == "mask" then
      return ('%s["..."] = nl.%s(%s, {axis = 1, %s, mask = %s})'):format(t.name, op, v.name, more, mask)
    end
    return ("%s%s = nl.%s(%s%s, {axis = 1, %s})"):format(t.name, at, op, v.name, part, more)
  end, py = ("%s%s = %s%s%s, 1, %s, 'float32')"):format(t.name, at_py, python, v.name, part_py,
    keep and "True" or "False")})
  return true
end

-- Softmax of a part of a tile.
function steps.part_softmax(g)
  local v = pick(g, function(v) return #v.shape == 2 and core.may_store(g, v) and not turned(v.shape) end)
  if not v then return end
  local mask, _, cut = draw_box(g, v)
  local t = define(g, v.shape, "float32", ("nl.full({%s}, 3, nl.float32)"):format(text(v.shape)),
    ("full((%s), 3, 'float32')"):format(text(v.shape)))
  local at, at_py = cut(v.shape[2] == 1 and 0 or v.shape[2])
  local mine = g.r:pick {"axis = 1", "axis = -1", "axis = {1}"}
  add(g, {lua = function(way)
    local more = mine .. ", dtype = nl.float32"
    if way.box == "mask" then
      return ('%s["..."] = nl.softmax(%s, {%s, mask = %s})'):format(t.name, v.name, more, mask)
    end
    return ("%s%s = nl.softmax(%s%s, {%s})"):format(t.name, at, v.name, at, more)
  end, py = "pass"})
  store(g, t, ("near_part(%s.shape, np.s_%s, near_softmax(%s%s, 1))"):format(t.name, at_py, v.name, at_py))
  return true
end

-- An instruction reads all before it writes, also where its operands overlap.
function steps.overlap(g)
  local r = g.r
  local v = pick(g, function(v) return #v.shape == 2 and v.shape[2] ~= "rows" and v.shape[2] > 1 end)
  if not v then return end
  local t = define(g, v.shape, v.dtype, ("nl.copy(%s)"):format(v.name), ("cast(%s, %q)"):format(v.name, v.dtype))
  local n = r:int(1, v.shape[2] - 1)
  local function part(at)
    return ('%s[{":", {%d, %d}}]'):format(t.name, at, at + n), ("%s[:, %d:%d]"):format(t.name, at, at + n)
  end
  local most, op = v.shape[2] - n, r:pick {"add", "maximum", "multiply", "less"}
  local dst, dst_py = part(r:int(0, most))
  local a, a_py = part(r:int(0, most))
  local b, b_py = part(r:int(0, most))
  if r:chance(30) then
    add(g, {lua = ("nisa.tensor_copy(%s, %s)"):format(dst, a),
      py = ("%s = T(%s.codes.copy(), %q)"):format(dst_py, a_py, v.dtype)})
  else
    add(g, {lua = ("nisa.tensor_tensor(%s, %s, %s, nl.%s)"):format(dst, a, b, op),
      py = ("%s = binary(%q, %s, %s, %q)"):format(dst_py, op, a_py, b_py, v.dtype)})
  end
  return true
end

function steps.assign(g)
  local v = pick(g)
  local t = define(g, v.shape, v.dtype, ("nl.copy(%s)"):format(v.name), ("cast(%s, %q)"):format(v.name, v.dtype))
  local k = g.r:int(2, #v.shape)
  if v.shape[k] == "rows" then return true end
  local n = g.r:int(0, v.shape[k] - 1)
  local keys, py = {}, {}
  for j = 1, #v.shape do keys[j], py[j] = '":"', ":" end
  keys[k], py[k] = ("{%d, %d}"):format(n, n + 1), ("%d:%d"):format(n, n + 1)
  local x = v.dtype == "bool_" and "1" or tostring(g.r:int(0, 9))
  add(g, {lua = ("%s[{%s}] = %s"):format(t.name, text(keys), x), py = ("%s[%s] = %s"):format(t.name, text(py), x)})
  return true
end

-- Through memory of the device, and back as it was or transposed.
function steps.scratch(g)
  local v = pick(g, function(v) return not v.moving end)
  local h, shape = name_of(g), v.shape
  local own = g.r:chance(70) and v.dtype or g.r:pick(ALL)
  add(g, {lua = ("local %s = nl.ndarray({%s}, %q, {buffer = nl.private_hbm}) nl.store(%s, nl.copy(%s))"):format(h,
    text(shape), own, h, v.name), py = ("%s = cast(%s, %q)"):format(h, v.name, own)})
  local dtype, d = asked(g, own)
  if #shape == 2 and cells(g, shape) <= 128 and g.r:chance(50) then
    g.plan.crosses = true
    return define(g, {shape[2], shape[1]}, dtype, ("nl.load_transpose2d(%s%s)"):format(h, d),
      ("cast(T(%s.codes.T, %q), %q)"):format(h, own, dtype))
  end
  return define(g, shape, dtype, ("nl.load(%s%s)"):format(h, d), ("cast(%s, %q)"):format(h, dtype))
end

function steps.constant(g)
  local list, dtype = {}, g.r:pick(ALL)
  for k = 1, g.r:int(1, 8) do list[k] = number(g, is_int[dtype]) end
  if dtype == "bool_" then list = {"1", "0", "1"} end
  if dtype:find "^u" then
    for k, x in ipairs(list) do list[k] = x:gsub("^%-", "") end
  end
  return define(g, {1, #list}, dtype, ("nl.load(nl.shared_constant({{%s}}, %q))"):format(text(list), dtype),
    ("made(np.array([[%s]], F), %q)"):format(text(list), dtype))
end

function steps.fill(g)
  local v = pick(g, function(v) return not v.moving end)
  local dtype, d = asked(g, v.dtype)
  if g.r:chance(50) then
    return define(g, v.shape, dtype, ("nl.zeros_like(%s%s)"):format(v.name, d),
      ("full(%s.shape, 0, %q)"):format(v.name, dtype))
  end
  return define(g, v.shape, dtype, ("nl.ones({%s}, %q)"):format(text(v.shape), dtype),
    ("full(%s.shape, 1, %q)"):format(v.name, dtype))
end

-- ---- control
-- Both branches of a condition on a number of the kernel's caller (or of a static loop) write one tile.
function steps.branch(g)
  local v = pick(g)
  local t = define(g, v.shape, v.dtype, ("nl.copy(%s)"):format(v.name), ("cast(%s, %q)"):format(v.name, v.dtype))
  local lua = ("io.flag == %d"):format(g.r:int(0, 2))
  if g.plan.static and g.r:chance(60) then lua = "i % 2 == 0" end
  local py = lua:gsub("io%.flag", "FLAG")
  local n = g.r:int(1, 9)
  local rest = ("%s, %d, %q"):format(v.name, n, v.dtype)
  add(g, {lua = ('if %s then %s["..."] = nl.add(%s) else %s["..."] = nl.maximum(%s) end'):format(lua, t.name, rest,
    t.name, rest), py = ("%s[:] = binary('add', %s) if %s else binary('maximum', %s)"):format(t.name, rest, py, rest)})
  return true
end

-- A loop over pieces of v, cut at the loop's index. around(trips, width) draws what stands before it and returns a
-- function of the piece that draws the body.
local function over_pieces(g, v, trips, around)
  local plan, select = g.plan, #v.shape == 3
  local width = select and v.shape[3] or v.shape[2] // trips
  plan.loops = plan.loops + 1
  local var, close = "j" .. plan.loops, around(trips, width)
  local outer, known, body = g.steps, #g.values, {}
  g.steps = body
  g.loops[#g.loops + 1] = {trips = trips, var = var}
  local at = ("%s * %d"):format(var, width)
  local lua, py = ("%s:select(1, %s)"):format(v.name, var), ("%s[:, %s]"):format(v.name, var)
  if not select then
    lua = ('%s[{":", nl.ds(%s, %d)}]'):format(v.name, at, width)
    py = ("%s[:, %s:%s + %d]"):format(v.name, at, at, width)
  end
  local piece = define(g, {v.shape[1], width}, v.dtype, lua, py)
  piece.view, piece.moving = true, true
  close(piece, at)
  table.remove(g.loops)
  for k = #g.values, known + 1, -1 do g.values[k] = nil end
  g.steps = outer
  local counted = g.r:chance(25)
  plan.counted = plan.counted or counted
  add(g, {loop = trips, var = var, body = body, counted = counted})
end

local function to_loop_over(g, most, f)
  if #g.loops > 1 or g.plan.loops > 2 then return end
  local v = pick(g, function(v)
    return #v.shape <= most and not turned(v.shape) and v.shape[2] > 1 and not v.moving and (not f or f(v))
  end)
  return v, v and (#v.shape == 3 and v.shape[2] or math.min(g.r:int(2, 4), v.shape[2]))
end

-- A loop that carries a tile: acc = acc op piece, or a part of acc = piece.
function steps.loop(g)
  local r = g.r
  local v, trips = to_loop_over(g, 3)
  if not v then return end
  local form = r:int(1, 3)
  over_pieces(g, v, trips, function(_, width)
    local dtype = r:pick {"float32", "float32", "int32", v.dtype}
    local wide = form == 3 and width * trips or width
    local acc = define(g, {v.shape[1], wide}, dtype, ("nl.full({%s, %d}, 1, %q)"):format(v.shape[1], wide, dtype),
      ("full((%s, %d), 1, %q)"):format(v.shape[1], wide, dtype))
    return function(piece, at)
      core.draw(g, r:int(0, 3))
      local last = pick(g, function(x) return text(x.shape) == text(piece.shape) and x ~= acc end)
      local op = r:pick {"add", "subtract", "maximum", "minimum", "multiply"}
      local A, L = acc.name, last.name
      local py = ("%s[:] = binary(%q, %s, %s, %q)"):format(A, op, A, L, dtype)
      local lua = ("nisa.tensor_tensor(%s, %s, %s, nl.%s)"):format(A, A, L, op)
      if form == 1 then lua = ("%s[\"...\"] = nl.%s(%s, %s, %q)"):format(A, op, A, L, dtype) end
      if form == 3 then
        lua = ("%s[{\":\", nl.ds(%s, %d)}] = %s"):format(A, at, width, L)
        py = ("%s[:, %s:%s + %d] = %s"):format(A, at, at, width, L)
      end
      add(g, {lua = lua, py = py})
    end
  end)
  return true
end

-- Products that a loop adds up in PSUM.
function steps.accumulate(g)
  local function fits(v) return #v.shape == 2 and core.MATMUL[v.dtype] and cells(g, v.shape) <= 128 end
  if #g.plan.outs > 8 then return end
  local v, trips = to_loop_over(g, 2, fits)
  local y = v and pick(g, function(y)
    return fits(y) and y.dtype == v.dtype and y.shape[1] == v.shape[1] and not turned(y.shape)
  end)
  if not y then return end
  g.plan.crosses = true
  local shape, acc = {v.shape[2] // trips, y.shape[2]}, name_of(g)
  over_pieces(g, v, trips, function()
    add(g, {lua = ('local %s = nl.ndarray({%s}, "float32", {buffer = nl.psum})'):format(acc, text(shape)),
      py = acc .. " = []"})
    return function(piece)
      add(g, {lua = ("nisa.nc_matmul(%s, nl.copy(%s), nl.copy(%s))"):format(acc, piece.name, y.name),
        py = ("%s.append(near_matmul(%s, %s))"):format(acc, piece.name, y.name)})
    end
  end)
  store(g, value(g, acc, shape, "float32"), ("near_sum(%s)"):format(acc))
  return true
end

-- The same across the tiles of rows: the sum of what each tile gives.
function steps.carry(g)
  local plan = g.plan
  if not plan.carry or #g.loops > 0 or #plan.carried > 1 then return end
  local v = pick(g, function(v) return v.shape[1] == "rows" and not turned(v.shape) end)
  if not v then return end
  local shape = {plan.tile, table.unpack(v.shape, 2)}
  local name, op = "acc" .. #plan.carried, g.r:pick {"add", "maximum", "subtract", "minimum"}
  plan.carried[#plan.carried + 1] = {name = name, shape = shape, dtype = v.dtype}
  local at = "io." .. name .. "[{{0, rows}}]"
  add(g, {lua = ("%s = nl.%s(%s, %s, %q)"):format(at, op, at, v.name, v.dtype),
    py = ("p.%s[:rows] = binary(%q, p.%s[:rows], %s, %q)"):format(name, op, name, v.name, v.dtype)})
  return true
end

return steps
