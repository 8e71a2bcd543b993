-- random_calls.lua: random calls of every instruction, on views drawn at random. A plan is drawn before anything is
-- traced, so that it can be traced in several ways that must all give the same bytes:
--   "views"  operands are views (random_views.lua) of larger tiles, which they may share; loops are device loops, whose
--            register picks what a view selects
--   "plain"  before each call every operand is copied to a dense tile on the same partitions, and what the call wrote
--            is copied back; loops are unrolled
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local drawn = require "spec.support.drawn"
local trip = require "spec.support.trip"
local views, plans = require "spec.support.random_views", require "spec.support.random_plan"

local M = {}

local sizes, copy, count = views.sizes, views.copy, plans.count

local kinds = {sbuf = nl.sbuf, psum = nl.psum, private_hbm = nl.private_hbm, shared_hbm = nl.private_hbm}

-- The tensor that v is a view of, filled. Its partitions begin where the call's do.
local function make_base(v, data)
  local rows = v.shape[1]
  local start = (rows <= 32 or rows <= 64 and v.partition % 64 == 0) and v.partition or 0
  local bytes = count(v.shape) // v.shape[1] * sizes[v.dtype]
  local source = v.index and data.index or v.tame and data.tame or data.raw
  local from = source[{{0, v.shape[1]}, {0, bytes}}]
  if v.memory == "private_hbm" or v.memory == "shared_hbm" then
    local t = nl.ndarray(v.shape, v.dtype, {buffer = nl.private_hbm})
    nisa.dma_copy(t:reshape({v.shape[1], count(v.shape) // v.shape[1]}):view("uint8"), from)
    return t
  end
  v.at = start
  local whole = copy(v.shape)
  whole[1] = start + v.shape[1]
  local sbuf = nl.ndarray({whole[1], bytes}, "uint8")
  nisa.dma_copy(sbuf[{{start, whole[1]}}], from)
  local cut = {{start, whole[1]}}
  local typed = sbuf:view(v.dtype):reshape(whole)[cut]
  if v.memory == "sbuf" then return typed end
  local psum = nl.ndarray(whole, v.dtype, {buffer = nl.psum})
  nisa.tensor_copy(psum[cut], typed)
  return psum[cut]
end

-- The numbers that pick what v is.
local function make_ids(v, data)
  local rows, cols, dtype = table.unpack(v.ids)
  local start = v.at or 0
  local t = nl.ndarray({start + rows, cols * sizes[dtype]}, "uint8")
  nisa.dma_copy(t[{{start, start + rows}}], data.index[{{0, rows}, {0, cols * sizes[dtype]}}])
  return t:view(dtype)[{{start, start + rows}}]
end

-- Copies between views of one dtype and shape keep all bits.
local function move(dst, src)
  if nl.is_hbm(dst.buffer) or nl.is_hbm(src.buffer) then
    nisa.dma_copy(dst, src)
  else
    nisa.tensor_copy(dst, src)
  end
end

local function dense(v, view)
  local memory = kinds[v.memory]
  if nl.is_hbm(memory) then
    local t = nl.ndarray(v.want, v.as, {buffer = memory})
    move(t, view)
    return t
  end
  local whole = copy(v.want)
  local at = v.at or v.shared.at
  whole[1] = at + whole[1]
  local t = nl.ndarray(whole, v.as, {buffer = memory})[{{at, whole[1]}}]
  move(t, view)
  return t
end

local function each_operand(c, f)
  local names = {}
  for name in pairs(c.args) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local a = c.args[name]
    if type(a) == "table" and a.tiles then
      for k, v in ipairs(a.tiles) do f(v, name, k) end
    elseif type(a) == "table" and a.of then
      f(a, name)
    end
  end
end

-- A call's arguments on views, or on dense tiles; back: what then goes back to where, {view, tile} of each.
local function arguments(c, env, back)
  local args = {}
  for name, a in pairs(c.args) do
    args[name] = type(a) == "table" and a.tiles and {} or a
  end
  each_operand(c, function(v, name, k)
    local view = v.of(env.bases[v], env.i, env.ids[v])
    local t = back and dense(v, view) or view
    if back and not v.read then back[#back + 1] = {view, t} end
    if k then args[name][k] = t else args[name] = t end
  end)
  return args
end

local function issue(c, env, told)
  local back = {}
  local ok, e = pcall(function()
    local f = ({nisa = nisa, nki = nki})[c.row.module][c.row.name]
    f(arguments(c, env, env.way == "plain" and back or nil))
    for _, b in ipairs(back) do move(b[1], b[2]) end
  end)
  if not ok and not told.error then told.error = e end
end

local range = {views = nl.dynamic_range, plain = nl.static_range}

-- The tensors that the operands of a call are views of, and the tiles that pick.
local function operands(c, data)
  local bases, ids = {}, {}
  each_operand(c, function(v)
    if not v.shared then bases[v] = make_base(v, data) end
    if v.ids then ids[v] = make_ids(v, data) end
  end)
  each_operand(c, function(v) bases[v] = bases[v] or bases[v.shared] end)
  return bases, ids
end

-- What a call wrote, in memory of the device.
local function written(c, bases)
  local outs = {}
  each_operand(c, function(v)
    if v.read then return end
    local bytes = count(v.shape) // v.shape[1] * sizes[v.dtype]
    local out = nl.ndarray({v.shape[1], bytes}, "uint8", {buffer = nl.shared_hbm})
    local t = bases[v]
    if t.buffer == nl.psum then
      local s = nl.ndarray(t.shape, v.dtype)
      nisa.tensor_copy(s, t)
      t = s
    end
    nisa.dma_copy(out, t:reshape({v.shape[1], bytes // sizes[v.dtype]}):view("uint8"))
    outs[#outs + 1] = out
  end)
  return outs
end

-- Traces one call; told.error: what refused it. Returns the tensors it wrote to.
local function run_call(c, data, way, told)
  local bases, ids = operands(c, data)
  if c.trips then
    for i in range[way](0, c.trips) do issue(c, {bases = bases, ids = ids, i = i, way = way}, told) end
  else
    issue(c, {bases = bases, ids = ids, way = way}, told)
  end
  return written(c, bases)
end

M.operands, M.arguments, M.written, M.W = operands, arguments, written, 12288

local function bytes_of(n, f)
  local list = {}
  for i = 1, n do list[i] = f(i - 1) end
  return table.concat(list)
end
local W = M.W -- bytes of a row
local r0 = views.random(77)
-- 128 rows of numbers in that format, f() each
local function filled(format, f)
  local bytes = bytes_of(128 * W // #format:pack(0), function() return format:pack(f()) end)
  return nd.from_bytes(bytes, {128, W}, "uint8")
end
M.data = {
  raw = filled("<i8", function() return r0:word() << 1 end),
  tame = filled("<f", function() return r0:int(-64, 64) / 8 end),
  index = filled("<i4", function() return r0:int(0, 7) end),
}

-- Traces a plan: the artifact, or nil when the call is refused, and what was told.
function M.trace(plan, way)
  local told = {}
  local k = nki.jit(function(raw, tame, index)
    return table.unpack(run_call(plan.call, {raw = raw, tame = tame, index = index}, way, told))
  end, {platform_target = plan.target, func_name = "random_call", enable_cache = false})
  local decl = nki.decl({128, W}, "uint8")
  local ok, a = pcall(k.specialize, k, decl, decl, decl)
  return ok and a or nil, told, not ok and a or nil
end

-- Runs an artifact: its outputs' bytes, or nil and the error.
function M.run(artifact)
  local ok, outs = pcall(function()
    return table.pack(artifact:simulate(M.data.raw, M.data.tame, M.data.index))
  end)
  if not ok then return nil, outs end
  local list = {}
  for i = 1, outs.n do list[i] = outs[i]:bytes() end
  return list
end

-- A line about the plan, for messages.
function M.say(plan)
  local c, parts = plan.call, {}
  each_operand(c, function(v, name)
    local want, shape = table.concat(v.want, ","), table.concat(v.shape, ",")
    parts[#parts + 1] = ("%s: %s %s{%s} of %s{%s} by %s"):format(name, v.memory, v.as, want, v.dtype, shape, v.names)
  end)
  for name, a in pairs(c.args) do
    if type(a) ~= "table" then parts[#parts + 1] = name .. "=" .. tostring(a) end
  end
  return ("seed %d, %s: nisa.%s, %s%s"):format(plan.seed, plan.target, c.row.name, table.concat(parts, "; "),
    c.trips and ", trips " .. c.trips or "")
end

-- ---- what must hold of a plan

local function fault_of(e) return drawn.fault_of(e, "random_%a+%.lua:%d+: ", true) end

local function trip_fault(artifact)
  local ok, e = pcall(trip.decoded, artifact)
  return not ok and tostring(e) or nil
end

local function unlike(a, b)
  for i = 1, math.max(#a, #b) do
    if a[i] ~= b[i] then return "output " .. i .. " differs" end
  end
end

-- A call that "views" took: run, exec and "plain" agree. Returns the fault, or nil and the outputs.
local function compare(plan, artifact)
  local got, e = M.run(artifact)
  local again, e2 = M.run(nki.decode(artifact.backend_config))
  local plain, told, refusal = M.trace(plan, "plain")
  if told.error or refusal then return "refused on dense tiles: " .. tostring(told.error or refusal) end
  local want, e3 = M.run(plain)
  if not got then
    local same_id = not again and not want and e.id == e2.id and e.id == e3.id
    return fault_of(e) or not same_id and "a run fails, another does not: " .. tostring(e) or nil
  end
  if not again or not want then return "a run fails, another does not: " .. tostring(e2 or e3) end
  local fault = unlike(got, again)
  if fault then return "exec: " .. fault end
  fault = unlike(got, want)
  return fault and "on dense tiles: " .. fault, got
end

-- The fault of a plan, or nil; whether the call was taken; its outputs.
function M.check(plan)
  local artifact, told, refusal = M.trace(plan, "views")
  local fault = artifact and trip_fault(artifact)
  if fault then return fault end
  if told.error then return fault_of(told.error), false end
  if refusal then return "the call is taken, the kernel is not: " .. tostring(refusal) end
  local got
  fault, got = compare(plan, artifact)
  return fault, true, got
end

-- Checks n seeds; prints faults, then how many calls were taken of each instruction and all that they computed.
function M.report(from, n)
  local rows, taken, sum = plans.rows(), {}, 0
  for _, row in ipairs(rows) do taken[row.name] = 0 end
  for seed = from, from + n - 1 do
    local plan = plans.draw(rows, seed)
    local fault, was_taken, got = M.check(plan)
    local name = plan.call.row.name
    if fault then print("FAULT", M.say(plan), fault) end
    if was_taken then taken[name] = taken[name] + 1 end
    sum = drawn.add(sum, got)
  end
  drawn.print(taken, sum)
end

return M
