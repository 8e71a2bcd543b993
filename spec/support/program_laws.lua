-- program_laws.lua: what must hold of a random program (random_programs.lua) without knowing what it computes: all ways
-- of writing it give the same bytes, so does its decoded backend_config, and its IR survives being printed and parsed.
-- M.save writes what spec/oracles/programs.py needs to judge the numbers themselves.
local nd = require "nki.ndarray"
local build = require "spec.support.build"
local drawn = require "spec.support.drawn"
local programs = require "spec.support.random_programs"
local trip = require "spec.support.trip"
local views = require "spec.support.random_views"

local M = {}

local BASE = {row = "static", loop = "static", box = "slice"}
local ROWS = {"unrolled", "sequential", "dynamic", "fori", "while", "whole", "affine", "grid", "grid2",
  "cores", "nested", "masked"}

-- The ways that a plan can be written in, in order.
function M.ways(plan)
  local list = {{row = "unrolled", loop = "unrolled", box = "mask"},
    {row = "sequential", loop = "static", box = "mask"}}
  if not plan.static then
    list[#list + 1] = {row = "dynamic", loop = "dynamic", box = "slice", helper = true}
    list[#list + 1] = {row = "fori", loop = "fori", box = "mask", keys = true}
    list[#list + 1] = {row = "while", loop = "while", box = "slice"}
  end
  list[#list + 1] = {row = "static", loop = "fori", box = "slice"}
  list[#list + 1] = {row = "whole", loop = "static", box = "mask"}
  if not plan.static then
    local r, device = views.random(plan.seed), {"dynamic", "fori", "while"}
    list[#list + 1] = {row = r:pick(device), loop = r:pick(device), box = "mask"}
    list[#list + 1] = {row = r:pick(device), loop = r:pick {"sequential", "static", "unrolled"}, box = "slice"}
  end
  if not plan.carry then
    list[#list + 1] = {row = "affine", loop = "sequential", box = "mask"}
    list[#list + 1] = {row = "grid", loop = "dynamic", box = "mask", keys = true}
    list[#list + 1] = {row = "nested", loop = "static", box = "slice", helper = true}
    if plan.tiles % 2 == 0 then list[#list + 1] = {row = "grid2", loop = "while", box = "slice"} end
    if plan.tiles % 2 == 0 and plan.gen > 2 then list[#list + 1] = {row = "cores", loop = "static", box = "slice"} end
  end
  if plan.masked then list[#list + 1] = {row = "masked", loop = "static", box = "mask"} end
  return list
end

local function named(way) return ("%s rows, %s loops, %s"):format(way.row, way.loop, way.box) end

local function bytes_of(outs)
  local list = {}
  for k = 1, outs.n do list[k] = outs[k]:bytes() end
  return list
end

local function unlike(a, b)
  for k = 1, math.max(#a, #b) do
    if a[k] ~= b[k] then return ("output %d differs"):format(k - 1) end
  end
end

-- The arrays: an input that a program writes is changed in place.
local function copies(args)
  local list = {}
  for k = 1, #args - 1 do list[k] = args[k]:copy() end
  return table.unpack(list)
end

-- Runs one way: the outputs' bytes, and those of the decoded artifact.
local function run(plan, way, args)
  local kernel = programs.kernel(plan, way)
  local artifact = kernel:specialize(table.unpack(args))
  local decoded = trip.decoded(artifact)
  local outs = table.pack(artifact:simulate(copies(args)))
  local again = bytes_of(table.pack(decoded:simulate(copies(args))))
  assert(not unlike(bytes_of(outs), again), "run and exec differ")
  return bytes_of(outs), outs, kernel
end

local function call(args)
  local list = {copies(args)}
  list[#args] = args[#args]
  return table.unpack(list)
end

-- The fault of a plan, or nil; its outputs. all: every way, else three of them; "written": three without masks of
-- rows, which leave unwritten what later steps read and nobody stores; stderr then has a line before each plan, "reads"
-- when it reads what was not written, else "silent". taken: counts of the ways, added to.
function M.check(plan, all, taken)
  local args = programs.data(plan)
  local ok, base, outs, kernel = pcall(run, plan, BASE, args)
  if not ok then return named(BASE) .. ": " .. tostring(base) end
  local called = bytes_of(table.pack(kernel(call(args))))
  if unlike(called, base) then return "a call and its artifact differ" end
  local ways, r = M.ways(plan), views.random(plan.seed)
  if all == "written" and plan.masked then table.remove(ways) end -- it is the last
  while all ~= true and #ways > 3 do table.remove(ways, r:int(1, #ways - 1)) end
  for _, way in ipairs(ways) do
    taken[way.row] = (taken[way.row] or 0) + 1
    local fine, got = pcall(run, plan, way, args)
    local fault = not fine and tostring(got) or unlike(base, got)
    if fault then return named(way) .. ": " .. fault end
  end
  return nil, base, outs
end

local function outs_of(plan)
  local list = {}
  for _, o in ipairs(plan.outs) do list[#list + 1] = o.name end
  for _, a in ipairs(plan.carried) do list[#list + 1] = a.name .. "_out" end
  if plan.alias then list[#list + 1] = "a" end
  return list
end

local function raw(array)
  local bytes = array:bytes()
  return nd.from_bytes(bytes, {#bytes}, "uint8")
end

-- Writes folder/<seed>.py, .npz and .lua.
function M.save(plan, outs, folder)
  local members = {}
  local _, inputs = programs.data(plan)
  for name, array in pairs(inputs) do members["in_" .. name] = raw(array) end
  for k, name in ipairs(outs_of(plan)) do members["out_" .. name] = raw(outs[k]) end
  nd.save(("%s/%d.npz"):format(folder, plan.seed), members)
  build.spit(("%s/%d.py"):format(folder, plan.seed), programs.python(plan))
  build.spit(("%s/%d.lua"):format(folder, plan.seed), programs.lua(plan, BASE))
end

-- Checks n seeds and prints faults, how often each step was drawn and each way was taken, and a checksum of all that
-- was computed. folder: where programs are saved, or nil.
function M.report(from, n, folder, all)
  local used, taken, sum = {}, {}, 0
  for _, row in ipairs(ROWS) do taken[row] = 0 end
  for _, name in ipairs(require "spec.support.random_steps".names) do used[name] = 0 end
  for seed = from, from + n - 1 do
    local ok, plan = pcall(programs.draw, seed)
    if not ok then print("FAULT", seed, "drawing: " .. tostring(plan)) goto next end
    do
      if all == "written" then io.stderr:write(plan.unwritten and "reads\n" or "silent\n") end
      local fault, base, outs = M.check(plan, all, taken)
      if fault then print("FAULT", ("seed %d on %s: %s"):format(seed, plan.target, fault)) end
      for name, k in pairs(plan.used) do used[name] = used[name] + k end
      sum = drawn.add(sum, base)
      if folder and base then M.save(plan, outs, folder) end
    end
    ::next::
  end
  for row, k in pairs(taken) do used["rows: " .. row] = k end
  drawn.print(used, sum)
end

return M
