-- random_programs.lua: whole programs drawn at random, as the Lua that a user would write and as Python for
-- spec/oracles/programs.py. One plan can be written in several ways that must all compute the same bytes:
--   row    how the tiles of rows are gone through: loops of the host and of the device, written out, programs of a
--          grid, nested kernels, or whole tiles under a mask where the last one is partial
--   loop   the same for the loops inside
--   box    a part of a tile is written through a mask or as a slice
--   helper functions of one tile are called through nki.trace
local nd = require "nki.ndarray"
local views, steps = require "spec.support.random_views", require "spec.support.random_steps"

local M = {}

function M.check(t, shape, dtype)
  if t.dtype ~= dtype or t.shape ~= shape then
    error(("a tile is %s{%s}, expected %s{%s}"):format(t.dtype, table.concat({t.shape:unpack()}, ", "), dtype,
      table.concat(shape, ", ")), 2)
  end
  return t
end

-- ---- plans
local POOL = {"a", "b", "c"}

local function frees(r, most)
  local f = {r:pick {1, 2, 3, 5, 8, 13, 16, 31, 33, 64}}
  if r:chance(30) then f = {r:int(1, 6), r:int(1, 8)} end
  if most > 24 and r:chance(10) then f = {r:pick {100, 257}} end
  if (f[2] or 1) * f[1] > 4 * most then f = {5} end
  return f
end

local function draw_inputs(g)
  local r, plan = g.r, g.plan
  local free, dtype = frees(r, plan.tile > 64 and 24 or 64), r:pick(steps.ALL)
  for k = 1, r:int(1, 3) do
    if r:chance(40) then free = frees(r, plan.tile > 64 and 24 or 64) end
    if r:chance(60) then dtype = r:pick(r:chance(40) and steps.ALL or {"float32", "bfloat16", "float16", "int32"}) end
    local rows = k == 1 or r:chance(80)
    local input = {name = POOL[k], rows = rows, dtype = dtype}
    input.shape = {rows and plan.rows or r:pick {1, 1, 16, 64}, table.unpack(free)}
    if not rows and r:chance(40) and #plan.inputs > 0 then
      input.ids = true
      plan.ids = math.min(plan.ids or 64, input.shape[1])
    end
    plan.inputs[#plan.inputs + 1] = input
  end
end

-- A seed's plan: {seed, target, gen, rows, tile, tiles, last, inputs, outs, steps, ...}
function M.draw(seed)
  local r = views.random(seed)
  local tile = r:pick {1, 2, 3, 7, 8, 16, 31, 32, 33, 64, 127, 128}
  local tiles = r:int(1, 4)
  local target = r:pick {"trn1", "trn2", "trn3"}
  local plan = {seed = seed, target = target, gen = ({trn1 = 2, trn2 = 3, trn3 = 4})[target], tile = tile,
    tiles = tiles, inputs = {}, outs = {}, carried = {}, used = {}, count = 0, loops = 0, flag = r:int(0, 2),
    static = r:chance(12)}
  plan.last = r:chance(50) and tile or r:int(1, tile)
  plan.rows = (tiles - 1) * tile + plan.last
  plan.carry = r:chance(25)
  local g = {r = r, plan = plan, steps = {}, values = {}, loops = {}}
  plan.steps = g.steps
  draw_inputs(g)
  for _, input in ipairs(plan.inputs) do steps.load(g, input) end
  steps.draw(g, r:int(2, 9))
  steps.step(g, "carry")
  local fits = {}
  for _, v in ipairs(g.values) do
    local rows_free = v.shape[2] == "rows" or v.shape[3] == "rows"
    if not (rows_free and plan.last < tile) then fits[#fits + 1] = v end
  end
  for k = #fits, math.max(1, #fits - 1), -1 do steps.store(g, fits[k]) end
  if #fits > 2 then steps.store(g, fits[r:int(1, #fits - 2)]) end
  local a = plan.inputs[1]
  for _, v in ipairs(r:chance(25) and g.values or {}) do
    local same = table.concat(v.shape, ",", 2) == table.concat(a.shape, ",", 2)
    if same and v.shape[1] == "rows" and not v.moving and not plan.alias and not plan.far then
      plan.alias = true
      steps.update(g, v, a)
    end
  end
  plan.masked = not plan.alias and not plan.crosses and plan.loops == 0 and not plan.ids and not plan.carry
  for _, v in ipairs(g.values) do
    if v.shape[1] ~= "rows" then plan.masked = false end
  end
  return plan
end

-- ---- Lua
local function numbered(n, f)
  local list = {}
  for k = 1, n do list[k] = f(k) end
  return list
end

local function indent(lines, text, depth) lines[#lines + 1] = ("  "):rep(depth) .. text end

local function put(lines, list, way, depth)
  for _, s in ipairs(list) do
    if not s.loop then
      indent(lines, type(s.lua) == "function" and s.lua(way) or s.lua, depth)
    elseif way.loop == "unrolled" then
      for k = 0, s.loop - 1 do
        indent(lines, ("do local %s = %d"):format(s.var, k), depth)
        put(lines, s.body, way, depth + 1)
        indent(lines, "end", depth)
      end
    else
      local trips = tostring(s.loop)
      local device = way.loop == "dynamic" or way.loop == "fori"
      if s.counted and device then trips = ("io.trips(%d)"):format(s.loop) end
      local open, close = ("for %s in nl.%s_range(%s) do"):format(s.var, way.loop, trips), "end"
      if way.loop == "fori" then open, close = ("nl.fori_loop(0, %s, function(%s)"):format(trips, s.var), "end)" end
      if way.loop == "while" then
        open = ("nl.while_loop(nisa.register_alloc(%d), function(left) local %s = left * -1 + %d"):format(s.loop, s.var,
          s.loop)
        close = "return left - 1 end)"
      end
      indent(lines, open, depth)
      put(lines, s.body, way, depth + 1)
      indent(lines, close, depth)
    end
  end
end

-- Calls of tile for all rows.
local function row_loop(plan, way)
  local n, full, P = plan.tiles, plan.last == plan.tile and plan.tiles or plan.tiles - 1, plan.tile
  local rest = full < n and {("tile(%d, %d, io)"):format(full, plan.last)} or {}
  local rows = ("math.min(%d, %d - i * %d)"):format(P, plan.rows, P)
  if way.row == "grid" or way.row == "cores" then
    return {"local i = nl.program_id(0)", ("tile(i, %s, io)"):format(rows)}
  end
  if way.row == "grid2" then
    return {"local i = nl.program_id(0) * nl.num_programs(1) + nl.program_id(1)", ("tile(i, %s, io)"):format(rows)}
  elseif way.row == "unrolled" then
    return numbered(n, function(k) return ("tile(%d, %d, io)"):format(k - 1, k == n and plan.last or P) end)
  elseif way.row == "masked" then
    return {("for i in nl.static_range(%d) do tile(i, %d, io) end"):format(n, P)}
  elseif full == 0 and (way.row == "fori" or way.row == "dynamic" or way.row == "while") then
    return rest
  elseif way.row == "fori" then
    return {("nl.fori_loop(0, %d, function(i) tile(i, %d, io) end)"):format(full, P), rest[1]}
  elseif way.row == "dynamic" then
    return {("for i in nl.dynamic_range(%d) do tile(i, %d, io) end"):format(full, P), rest[1]}
  elseif way.row == "while" then
    return {("nl.while_loop(nisa.register_alloc(%d), function(left) tile(left * -1 + %d, %d, io) return left - 1 end)")
      :format(full, full, P), rest[1]}
  end
  return {("for i in nl.%s_range(%d) do tile(i, %s, io) end"):format(way.row, n, rows)}
end

local function names_of(plan)
  local ins, outs = {}, {}
  for k, x in ipairs(plan.inputs) do ins[k] = x.name end
  for k, o in ipairs(plan.outs) do outs[k] = "io." .. o.name end
  for k, a in ipairs(plan.carried) do outs[#plan.outs + k] = "io." .. a.name .. "_out" end
  if plan.alias then outs[#outs + 1] = "io.a" end
  return table.concat(ins, ", "), outs
end

local function fields(plan, ins)
  return (ins .. ", ids, trip, flag"):gsub("[^, ]+", "%0 = %0"), plan
end

-- nl.arange keys of a tile's rows in a tensor of many; whole: what is picked of the columns.
local function masked_index(plan)
  return function(shape, whole)
    local keys = {}
    for k = 1, #shape do
      local at = numbered(#shape, function(j) return j == k and ":" or "None" end)
      keys[k] = ("nl.arange(%s)[%q]"):format(shape[k], table.concat(at, ", "))
      if k == 1 then keys[k] = keys[k] .. (" + i * %d"):format(plan.tile) end
      if k == 2 and whole and whole.start then keys[k] = ("%s * %d + %d"):format(keys[k], whole.step, whole.start) end
    end
    return table.concat(keys, ", ")
  end
end

local function declare(lines, plan, way, depth)
  for _, o in ipairs(plan.outs) do
    indent(lines, ("io.%s = nl.ndarray({%s}, %q, {buffer = nl.shared_hbm})"):format(o.name, table.concat(o.shape, ", "),
      o.dtype), depth)
  end
  for _, a in ipairs(plan.carried) do
    local shape = table.concat(a.shape, ", ")
    indent(lines, ("io.%s = nl.full({%s}, 1, %q)"):format(a.name, shape, a.dtype), depth)
    indent(lines, ("io.%s_out = nl.ndarray({%s}, %q, {buffer = nl.shared_hbm})"):format(a.name, shape, a.dtype), depth)
  end
  if plan.counted and (way.loop == "dynamic" or way.loop == "fori") then
    indent(lines, "local three = nisa.register_alloc()", depth)
    indent(lines, "nisa.register_load(three, nl.load(trip))", depth)
    indent(lines, "io.trips = function(n) return three + (n - 3) end", depth)
  end
end

local function body_of(plan, way, depth)
  local lines, ins, outs = {}, names_of(plan)
  indent(lines, ("local io = {%s}"):format((fields(plan, ins))), depth)
  declare(lines, plan, way, depth)
  if way.row == "nested" then
    indent(lines, ("for i in nl.static_range(%d) do"):format(plan.tiles), depth)
    indent(lines, ("inner(%s, ids, trip, flag, i, math.min(%d, %d - i * %d), %s)"):format(ins, plan.tile, plan.rows,
      plan.tile, table.concat(outs, ", ", 1, plan.alias and #outs - 1 or #outs)), depth + 1)
    indent(lines, "end", depth)
  else
    for _, line in ipairs(row_loop(plan, way)) do indent(lines, line, depth) end
  end
  for _, a in ipairs(plan.carried) do indent(lines, ("nl.store(io.%s_out, io.%s)"):format(a.name, a.name), depth) end
  indent(lines, "return " .. table.concat(outs, ", "), depth)
  return lines
end

local function options(plan, way)
  local grid = way.row == "grid" and tostring(plan.tiles)
    or way.row == "cores" and ("nl.spmd_dim(nl.nc(2), %d)"):format(plan.tiles // 2)
    or way.row == "grid2" and ("{2, %d}"):format(plan.tiles // 2) or "nil"
  return ("{platform_target = %q, func_name = \"program\", enable_cache = false, grid = %s}"):format(plan.target, grid)
end

-- The text of a script that returns the kernel.
function M.lua(plan, way)
  local ins, outs = names_of(plan)
  local lines = {'local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"',
    'local check = require "spec.support.random_programs".check', "local function tile(i, rows, io)"}
  if way.row == "masked" then
    way.masked, way.index = true, masked_index(plan)
    local r = views.random(plan.seed)
    way.asks = function() return r:chance(50) end
    for rank, axes in ipairs {":", ":, None", ":, None, None", ":, None, None, None"} do
      local m = ("local m%d = nl.less(nl.arange(rows)[%q] + i * %d, %d)"):format(rank, axes, plan.tile, plan.rows)
      if rank > 1 then indent(lines, m, 1) end
    end
  end
  put(lines, plan.steps, way, 1)
  lines[#lines + 1] = "end"
  local call = ins .. ", ids, trip, flag"
  if way.row == "nested" then
    local parts = {}
    for k, o in ipairs(outs) do parts[k] = o:gsub("^io%.", "") end
    if plan.alias then parts[#parts] = nil end
    local list = table.concat(parts, ", ")
    lines[#lines + 1] = ("local inner = nki.jit(function(%s, i, rows, %s)"):format(call, list)
    indent(lines, ("tile(i, rows, {%s, %s})"):format((fields(plan, ins)), (list:gsub("[^, ]+", "%0 = %0"))), 1)
    indent(lines, "return " .. list .. (plan.alias and ", a" or ""), 1)
    lines[#lines + 1] = "end)"
  end
  if way.row == "whole" then
    lines[#lines + 1] = ("local inner = nki.jit(function(%s)"):format(call)
    local body = body_of(plan, {row = "static", loop = way.loop}, 1)
    table.move(body, 1, #body, #lines + 1, lines)
    lines[#lines + 1] = "end)"
    lines[#lines + 1] = ("return nki.jit(function(%s) return inner(%s) end, %s)"):format(call, call, options(plan, way))
  else
    lines[#lines + 1] = ("return nki.jit(function(%s)"):format(call)
    local body = body_of(plan, way, 1)
    table.move(body, 1, #body, #lines + 1, lines)
    lines[#lines + 1] = ("end, %s)"):format(options(plan, way))
  end
  return table.concat(lines, "\n") .. "\n"
end

-- ---- Python
local function put_python(lines, list, depth)
  for _, s in ipairs(list) do
    if s.loop then
      indent(lines, ("for %s in range(%d):"):format(s.var, s.loop), depth)
      put_python(lines, s.body, depth + 1)
    else
      indent(lines, s.py, depth)
    end
  end
end

local function table_of(list)
  local parts = {}
  for k, o in ipairs(list) do
    parts[k] = ("%q: ((%s,), %q)"):format(o.name, table.concat(o.shape, ", "), o.dtype)
  end
  return table.concat(parts, ", ")
end

function M.python(plan)
  local ins, outs = {table.unpack(plan.inputs)}, {table.unpack(plan.outs)}
  ins[#ins + 1] = {name = "ids", shape = {plan.rows, 1}, dtype = "int32"}
  for _, a in ipairs(plan.carried) do outs[#outs + 1] = {name = a.name .. "_out", shape = a.shape, dtype = a.dtype} end
  if plan.alias then outs[#outs + 1] = {name = "a", shape = plan.inputs[1].shape, dtype = plan.inputs[1].dtype} end
  local lines = {("PLAN = {'inputs': {%s}, 'outs': {%s}}"):format(table_of(ins), table_of(outs)),
    ("P, FLAG = %d, %d"):format(plan.tile, plan.flag), "", "", "def tile(p, i, rows):"}
  put_python(lines, plan.steps, 1)
  table.move({"", "", "def program(p):"}, 1, 3, #lines + 1, lines)
  for _, a in ipairs(plan.carried) do
    indent(lines, ("p.%s = full((%s), 1, %q)"):format(a.name, table.concat(a.shape, ", "), a.dtype), 1)
  end
  indent(lines, ("for i in range(%d):"):format(plan.tiles), 1)
  indent(lines, ("tile(p, i, min(P, %d - i * P))"):format(plan.rows), 2)
  for _, a in ipairs(plan.carried) do
    indent(lines, ("p.out(%q, 0, %d, p.%s)"):format(a.name .. "_out", plan.tile, a.name), 1)
  end
  return (table.concat(lines, "\n") .. "\n"):gsub(":True", ":True")
end

-- ---- data
local EDGES = {0.0, -0.0, 1e30, -1e30, 1 / 0, -1 / 0, 0 / 0, 1e-40, 65504.0, 2147483648.0, 0.1}

local function numbers(r, n, integer)
  local edges = r:chance(25)
  local list = {}
  for k = 1, n do
    local x = r:int(-48, 48) / 8
    if integer then x = r:int(-3, 20) end
    if edges and r:chance(20) then x = r:pick(EDGES) end
    list[k] = ("<f"):pack(x)
  end
  return table.concat(list)
end

-- The program's arguments: host arrays by name, in order, and the constant.
function M.data(plan)
  local r, list, named = views.random(plan.seed + 1), {}, {}
  local function give(name, array)
    list[#list + 1], named[name] = array, array
  end
  for _, x in ipairs(plan.inputs) do
    local n = 1
    for _, k in ipairs(x.shape) do n = n * k end
    give(x.name, nd.from_bytes(numbers(r, n, steps.is_int[x.dtype]), x.shape, "float32"):astype(x.dtype))
  end
  local ids = {}
  for k = 1, plan.rows do ids[k] = ("<i4"):pack(r:int(0, (plan.ids or 1) - 1)) end
  give("ids", nd.from_bytes(table.concat(ids), {plan.rows, 1}, "int32"))
  give("trip", nd.from_bytes(("<i4"):pack(3), {1, 1}, "int32"))
  list[#list + 1] = plan.flag
  return list, named
end

function M.kernel(plan, way)
  local text = M.lua(plan, way)
  return assert(load(text, "@random_program.lua", "t"))(), text
end

return M
