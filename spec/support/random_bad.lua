-- random_bad.lua: calls of instructions (random_plan.lua) of which one thing is broken. Whatever it is: one error of
-- ours says what and where, and nothing is left behind: the program around the refused call is, to the byte, the one
-- without it, also when the error ended a trace of its own.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"
local drawn = require "spec.support.drawn"
local calls = require "spec.support.random_calls"
local plans, views = require "spec.support.random_plan", require "spec.support.random_views"

local M = {}

local operands, arguments, written = calls.operands, calls.arguments, calls.written -- not the data, which a key holds
local stale -- a tile of a trace that has ended
nki.jit(function(x)
  stale = nl.ndarray({4, 8}, nl.float32)
  return x
end, {platform_target = "trn2", func_name = "ended"}):specialize(nki.decl({4, 8}, nl.float32))

local function no_tiles() -- what no parameter of any instruction takes
  return {"text", true, function() end, {x = 1}, {{{}}}, io.stdout, coroutine.create(print), nd.ones {2, 2}, stale,
    nki.decl({4, 8}, nl.float32), setmetatable({}, {__index = error}), nki, "\0\255", ("x"):rep(300)}
end

local numbers = {0 / 0, 1 / 0, -1 / 0, 2 ^ 40, -2 ^ 40, 0.5, math.mininteger, math.maxinteger, "1", {}, -1, 1e300}

-- breaks: f(r, row, args) changes args, and returns what was broken and whether the call must be refused then.
local breaks = {}

local function parameter(r, row, f)
  local list = {}
  for _, p in ipairs(row.parameters) do
    if not f or f(p) then list[#list + 1] = p end
  end
  return #list > 0 and r:pick(list) or nil
end

local function is_tile(p) return p.kind:find "tile" ~= nil or p.kind:find "column" ~= nil end

-- A tile of the call, and its parameter.
local function operand(r, row, args)
  local p = parameter(r, row, function(p) return is_tile(p) and type(args[p.name]) == "userdata" end)
  return p, p and args[p.name]
end

-- An argument that the broken call itself makes.
local Made = {}
local function made(f) return setmetatable({make = f}, Made) end

function breaks.missing(r, row, args)
  local p = parameter(r, row, function(p) return p.required end)
  if not p then return end
  args[p.name] = nil
  if p.name:find "^dst" then return end -- a classic call has none
  return p.name, true
end

function breaks.unknown(r, row, args)
  local p = parameter(r, row)
  local name = r:pick {p.name .. "x", p.name:sub(1, -2), "X", "", " ", "\n", p.name:upper()}
  for _, q in ipairs(row.parameters) do
    if q.name == name then return end
  end
  if name == "mask" then return end
  args[name] = 1
  return #name > 1 and name or nil, true
end

function breaks.kind(r, row, args)
  local p = parameter(r, row, is_tile)
  if not p then return end
  args[p.name] = r:pick(no_tiles())
  return p.name, not (p.kind:find "list" or p.kind:find "number")
end

function breaks.attribute(r, row, args)
  local p = parameter(r, row, function(p) return not is_tile(p) end)
  if not p then return end
  args[p.name] = r:chance(50) and r:pick(no_tiles()) or r:pick(numbers)
  return p.name
end

function breaks.key(r, _, args)
  local key = r:pick {1, 2, 1.5, true, -1, 0, 2 ^ 53}
  args[key] = r:pick {1, "x", stale}
  return nil, true
end

function breaks.stale(r, row, args)
  local p = parameter(r, row, function(p) return is_tile(p) and not p.kind:find "list" end)
  if not p then return end
  args[p.name] = stale
  return p.name, true
end

function breaks.shape(r, row, args)
  local p, t = operand(r, row, args)
  if not p then return end
  if type(t.shape) ~= "userdata" and type(t.shape) ~= "table" then return end
  local shape = {t.shape:unpack()}
  local k = r:int(1, #shape)
  shape[k] = r:pick {shape[k] + 1, math.max(1, shape[k] - 1), 128, 1}
  if shape[1] > 128 and not nl.is_hbm(t.buffer) then shape[1] = 127 end
  args[p.name] = made(function() return nl.ndarray(shape, t.dtype, {buffer = t.buffer}) end)
  return row.name
end

function breaks.dtype(r, row, args)
  local p, t = operand(r, row, args)
  if not p then return end
  local dtype, shape = r:pick(views.dtypes), {t.shape:unpack()}
  args[p.name] = made(function() return nl.ndarray(shape, dtype, {buffer = t.buffer}) end)
  return row.name
end

function breaks.memory(r, row, args)
  local p, t = operand(r, row, args)
  if not p then return end
  local buffer, shape = r:pick {nl.sbuf, nl.psum, nl.private_hbm, nl.shared_hbm}, {t.shape:unpack()}
  args[p.name] = made(function() return nl.ndarray(shape, t.dtype, {buffer = buffer}) end)
  return p.name
end

function breaks.partition(r, row, args) -- a view that starts where no engine does
  local p, t = operand(r, row, args)
  if not p then return end
  local shape = {t.shape:unpack()}
  local at = r:pick {1, 31, 33, 65, 100}
  if shape[1] + at > 128 then return end
  args[p.name] = made(function()
    local whole = views.copy(shape)
    whole[1] = shape[1] + at
    return nl.ndarray(whole, t.dtype, {buffer = t.buffer})[{{at, whole[1]}}]
  end)
  return p.name
end

function breaks.engine(r, row, args)
  local p = parameter(r, row, function(p) return p.name == "engine" end)
  if not p then return end
  local names = {"unknown", "tensor", "vector", "scalar", "gpsimd", "dma", "sync"}
  args.engine = r:pick {nisa.engine[r:pick(names)], "vector", 3, nl.add, nisa.reduce_cmd.idle}
  if row.name:find "^rand_" then return nil, false end -- the state's shape depends on it, and is what the error tells
  return "engine"
end

-- The same by position, in args[M]: too many, or a nil where something must be.
function breaks.position(r, row, args)
  local list, n = {}, 0
  for k, p in ipairs(row.parameters) do
    list[k] = args[p.name]
    if args[p.name] ~= nil then n = k end
  end
  if r:chance(50) then
    local count = #row.parameters + r:int(1, 3)
    args[M] = {list, count}
    for k = #row.parameters + 1, count do list[k] = r:pick {1, "x", stale} end
    return nil, true
  end
  local p, at = nil, nil
  for k, q in ipairs(row.parameters) do
    if q.required and r:chance(60) then p, at = q, k end
  end
  if not p then return end
  list[at] = nil
  args[M] = {list, n}
  return p.name, row.name ~= "local_gather" -- of (dst, src, nil) the classic form makes (src_buffer, index)
end

local kinds = drawn.names(breaks)

-- ---- what must hold

-- An error that says what and where.
local function fault_of(e, row, named, line)
  local fault, text = drawn.fault_of(e, "random_bad.lua:" .. line), tostring(e)
  if fault then return fault end
  if not text:find(row.name, 1, true) then return "the instruction is not named: " .. text end
  if named and not text:find(named, 1, true) then return ("%s is not named: %s"):format(named, text) end
end

-- A kernel around a call; broken: that of the plan is issued first, and "caught" or "raised".
local function kernel_of(plan, broken, told)
  local c = plan.call
  local f = nisa[c.row.name]
  return nki.jit(function(raw, tame, index)
    local bases, ids = operands(c, {raw = raw, tame = tame, index = index})
    local args = arguments(c, {bases = bases, ids = ids})
    local function issue()
      local bad = {}
      for name, a in pairs(args) do bad[name] = a end
      local r = views.random(plan.seed * 7 + 1)
      told.named, told.must = breaks[plan.break_](r, c.row, bad)
      told.none = told.named == nil and told.must == nil
      if told.none then return end
      for name, a in pairs(bad) do
        if getmetatable(a) == Made then
          told.made = true
          bad[name] = a.make()
        end
      end
      told.line = debug.getinfo(1, "l").currentline + 1
      if bad[M] then f(table.unpack(bad[M][1], 1, bad[M][2])) else f(bad) end
      told.taken = true
    end
    if broken == "caught" then told.ok, told.error = pcall(issue) elseif broken then issue() end
    f(args)
    return table.unpack(written(c, bases))
  end, {platform_target = plan.target, func_name = "random_bad", enable_cache = false})
end

local decl = nki.decl({128, calls.W}, "uint8")
local function trace(plan, broken, told)
  local k = kernel_of(plan, broken, told or {})
  local ok, a = pcall(k.specialize, k, decl, decl, decl)
  return ok, ok and a.backend_config or a
end

-- A program without its allocations: the tile that a refused function made to write to stays, unused.
local function bare(config)
  local ir = nki.decode(config).ir:gsub('  %%[%w_]+ = "nki.alloc"[^\n]*\n', "")
  return (ir:gsub("%%%w+_%d+", "%%_"):gsub('name = "%w+_%d+"', ""))
end

-- The fault of a plan, or nil; whether the broken call was refused; the error's id.
function M.check(plan)
  plan.call.trips = nil
  local ok, good = trace(plan)
  if not ok then return end
  local told = {}
  local fine, e = trace(plan, "raised", told)
  if told.none then return end
  if not told.taken then
    if fine then return "no error" end
    local fault = not (told.made and not told.line) and fault_of(e, plan.call.row, told.named, told.line)
    if fault then return fault end
    local caught = {}
    local whole, text = trace(plan, "caught", caught)
    local same = whole and bare(text) == bare(good)
    if not told.made and not same then return "a refused call leaves something: " .. text end
    if tostring(caught.error) ~= tostring(e) then return "caught, it is another: " .. tostring(caught.error) end
  elseif told.must then
    return "the broken call is taken"
  end
  local again, after = trace(plan)
  if not again or after ~= good then return "the good program is another one afterwards" end
  return nil, not told.taken, not told.taken and e.id
end

function M.draw(rows, seed)
  local plan = plans.draw(rows, seed)
  plan.break_ = views.random(seed * 31 + 5):pick(kinds)
  return plan
end

-- Checks n seeds; prints faults, then how many broken calls of each kind were refused, and of each id how many.
function M.report(from, n)
  local rows, refused = plans.rows(), {}
  for _, name in ipairs(kinds) do refused["break: " .. name] = 0 end
  for seed = from, from + n - 1 do
    local plan = M.draw(rows, seed)
    local fine, fault, was, id = pcall(M.check, plan)
    if not fine then fault = "check: " .. tostring(fault) end
    if fault then print("FAULT", plan.break_, calls.say(plan), fault) end
    if was and not fault then
      refused["break: " .. plan.break_] = refused["break: " .. plan.break_] + 1
      refused[id] = (refused[id] or 0) + 1
    end
  end
  drawn.print(refused, 0)
end

return M
