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

-- A checksum that goes on over what one seed computed: a list of strings, or nil.
function M.add(sum, list)
  for _, bytes in ipairs(list or {}) do
    for i = 1, #bytes - 7, 8 do sum = (sum ~ ("<i8"):unpack(bytes, i)) * 0x100000001b3 end
  end
  return sum
end

-- Prints how often each thing was drawn, by name, and the checksum.
function M.print(counts, sum)
  local names = {}
  for name in pairs(counts) do names[#names + 1] = name end
  table.sort(names)
  for k, name in ipairs(names) do names[k] = name .. " " .. counts[name] end
  print(table.concat(names, "\n"))
  print(("%016x"):format(sum))
end

return M
