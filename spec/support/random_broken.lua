-- random_broken.lua: random programs (random_programs.lua) of which one line is broken, as a slip of the hand would
-- break it. Tracing them ends with one error of ours that names that line, and leaves nothing behind.
local nki = require "nki"
local drawn = require "spec.support.drawn"
local laws = require "spec.support.program_laws"
local programs = require "spec.support.random_programs"
local views = require "spec.support.random_views"

local M = {}

-- One of the places where a pattern occurs, replaced by f(captures...); nil when there is none.
local function one(r, line, pattern, f)
  local places, at = {}, 1
  while true do
    local found = table.pack(line:find(pattern, at))
    if not found[1] then break end
    places[#places + 1], at = found, found[1] + 1
  end
  if #places == 0 then return nil end
  local p = r:pick(places)
  local new = f(table.unpack(p, 3, p.n))
  return new and line:sub(1, p[1] - 1) .. new .. line:sub(p[2] + 1)
end

local slips = {}

function slips.name(r, line)
  return one(r, line, "%f[%w](n[li]s?a?)%.([%w_]+)%(", function(module, f)
    return ("%s.%sx_("):format(module, f:sub(1, -2))
  end)
end

function slips.keyword(r, line)
  return one(r, line, "([,{]%s*)([a-z]+)( = )", function(a, name, b) return a .. name .. "z" .. b end)
end

function slips.dtype(r, line)
  return one(r, line, '"([a-z]+%d+)"', function(d) return ('"%s"'):format(d:gsub("%d+", "7")) end)
end

function slips.axis(r, line)
  return one(r, line, "axis = %-?%d", function()
    return "axis = " .. r:pick {7, -9, '"x"', 1.5, "{0}", "{1, 1}", "{}", "true"}
  end)
end

function slips.slice(r, line)
  if line:find "nl%.%l+%({%d" or line:find "constant" then return end -- shapes, which may be larger
  return one(r, line, "{(%d+), (%d+)}(%s*[,}])", function(a, b, rest)
    return ("{%s, %s}%s"):format(a, r:pick {b .. " + 1000", a .. ".5", '"x"', "{}", "-1000"}, rest)
  end)
end

function slips.window(r, line)
  return one(r, line, "nl%.ds%(([^,()]+), ([^,()]+)%)", function(a, b)
    return ("nl.ds(%s, %s)"):format(a, r:pick {b .. " + 5000", "nil", "-1", "0", '"x"', "0.5"})
  end)
end

local wrong = {"nil", '"text"', "{}", "function() end", "{nil, 3}", "nl", "nl.add", "io.stdout"}
function slips.operand(r, line)
  return one(r, line, "([(,]%s*)(t%d+)(%s*[,)])", function(a, _, b) return a .. r:pick(wrong) .. b end)
end

function slips.surplus(r, line)
  return one(r, line, "nl%.([a-z_]+)(%b())", function(f, arguments)
    if f == "static_range" or f == "store" and arguments == "" then return end
    return ("nl.%s%s, nil, nil, nil, nil, nil, nil, nil, 1)"):format(f, arguments:sub(1, -2))
  end)
end

function slips.partitions(r, line)
  return one(r, line, "(nl%.full%({)rows,", function(a)
    return a .. r:pick {"rows + 200,", "0,", "-1,", "2 ^ 40,", "0.5,"}
  end)
end

function slips.shape(r, line)
  return one(r, line, ":reshape%({", function() return ":reshape({" .. r:pick {"7, ", '"x", ', "0, ", "-1, -1, "} end)
end

local kinds = drawn.names(slips)

-- The part of a line that is broken: not what the program itself checks.
local function broken(r, line, slip)
  local head, body, tail = line:match "^(.-check%()(.*)(, {[^{}]*}, \"[%w_]+\"%).*)$"
  if not head then head, body, tail = "", line, "" end
  local new = slips[slip](r, body)
  return new and head .. new .. tail
end

-- Lines that belong to a tile and run; what others declare would be blamed where it is used.
local others = {"^%S", "%f[%w]io%.?[%w_]* = ", "tile%(i", "%f[%w]if ", "io%.trips", "inner%(", "^%s*return ",
  "%f[%w]for j", "fori_loop%(0, t", "dynamic_range%(t"}
local function may_break(line)
  for _, pattern in ipairs(others) do
    if line:find(pattern) then return false end
  end
  return true
end

-- A plan's text with one line broken in that way: text, number of the line; nil when no line can be.
function M.break_one(r, text, slip)
  local lines, able = {}, {}
  for line in text:gmatch "([^\n]*)\n" do
    lines[#lines + 1] = line
    if may_break(line) then able[#able + 1] = #lines end
  end
  for _ = 1, 2 * #able do
    local k = r:pick(able)
    local new = broken(r, lines[k], slip)
    if new and new ~= lines[k] and load("return function(...) " .. new .. " end") then
      local list = views.copy(lines)
      list[k] = new
      return table.concat(list, "\n") .. "\n", k, new
    end
  end
end

local function fault_of(e, line)
  local place = ("random_program.lua:%d:"):format(line)
  if type(e) == "string" and e:find "attempt to " and e:find(place, 1, true) then return end -- Lua's own word
  return drawn.fault_of(e, place)
end

local function kernel_of(text) return assert(load(text, "@random_program.lua", "t"))() end

-- The fault of a seed, or nil; the slip, when the program was refused for it.
function M.check(seed)
  local plan = programs.draw(seed)
  local r = views.random(seed * 13 + 3)
  local way, slip = r:pick(laws.ways(plan)), r:pick(kinds)
  local text = programs.lua(plan, way)
  local bad, line, what = M.break_one(r, text, slip)
  if not bad then return end
  local args = programs.data(plan)
  local good = kernel_of(text):specialize(table.unpack(args)).backend_config
  local kernel = kernel_of(bad)
  local ok, e = pcall(kernel.specialize, kernel, table.unpack(args))
  local function say(fault) return ("%s, line %d: %s: %s"):format(slip, line, what, fault) end
  if ok then return say "no error" end
  local fault = fault_of(e, line)
  if fault then return say(fault) end
  local again = kernel_of(text):specialize(table.unpack(args)).backend_config
  if again ~= good then return say "the good program is another one afterwards" end
  if nki.decode(again).backend_config ~= good then return say "it does not decode" end
  return nil, slip
end

-- Checks n seeds; prints faults, then how often each slip was made.
function M.report(from, n)
  local made = {}
  for _, name in ipairs(kinds) do made["slip: " .. name] = 0 end
  for seed = from, from + n - 1 do
    local ok, fault, slip = pcall(M.check, seed)
    if not ok then fault = "check: " .. tostring(fault) end
    if fault then print("FAULT", seed, fault) end
    if slip then made["slip: " .. slip] = made["slip: " .. slip] + 1 end
  end
  drawn.print(made, 0)
end

return M
