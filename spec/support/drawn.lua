-- What the specs of calls and of programs drawn at random share: a report of seeds, run in a process of its own.
local M = {}

-- The output of require(module).report(arguments), run in an environment ("NAME=VALUE ..."); then its errors.
function M.report(module, arguments, environment)
  local assert, build = require "luassert", require "spec.support.build" -- the process itself needs neither
  local script = ("require('%s').report(%s)"):format(module, arguments)
  local r = build.shell(("NKILUA_BUILD=%s %s %s -e %s"):format(build.quote(build.dir), environment,
    build.quote(build.program), build.quote(script)))
  assert.equal(0, r.code, r.err)
  return r.out, r.err
end

-- What is wrong with an error of a drawn program, or nil: ours names its place (place: plain text, or a pattern) and
-- shows no address.
function M.fault_of(e, place, pattern)
  local text = tostring(e)
  if type(e) ~= "table" or not e.id then return "no error object: " .. text end
  if e.id == "err_internal" then return text end
  if not text:find(place, 1, not pattern) then return "another line: " .. text end
  if text:find "0x%x%x%x%x%x%x%x%x" then return "an address: " .. text end
end

-- The names of a table, sorted.
function M.names(t)
  local names = {}
  for name in pairs(t) do names[#names + 1] = name end
  table.sort(names)
  return names
end

-- A checksum that goes on over what one seed computed: a list of strings, or nil.
function M.add(sum, list)
  for _, bytes in ipairs(list or {}) do
    for i = 1, #bytes - 7, 8 do sum = (sum ~ ("<i8"):unpack(bytes, i)) * 0x100000001b3 end
  end
  return sum
end

-- Prints how often each thing was drawn, by name, and the checksum.
function M.print(counts, sum)
  local names = M.names(counts)
  for k, name in ipairs(names) do names[k] = name .. " " .. counts[name] end
  print(table.concat(names, "\n"))
  print(("%016x"):format(sum))
end

return M
