-- random_steps.lua: all steps of random programs, and drawing some of them.
local core = require "spec.support.random_core"

local steps, names = {}, {}
for _, room in ipairs {"random_functions", "random_control", "random_memory"} do
  for name, f in pairs(require("spec.support." .. room)) do
    steps[name] = f
    names[#names + 1] = name
  end
end
table.sort(names)
core.names = names
local heavy = {"unary", "binary", "binary", "scalar", "reduce", "view", "loop", "loop", "bits", "where", "matmul",
  "part", "carry", "window", "register_column", "partitions", "unwritten"}

-- Draws that step, if it fits what there is.
function core.step(g, name)
  local drawn = steps[name](g)
  if drawn then g.plan.used[name] = (g.plan.used[name] or 0) + 1 end
  return drawn
end

-- Draws n steps.
function core.draw(g, n)
  while n > 0 do
    local name = g.r:chance(50) and g.r:pick(heavy) or g.r:pick(names)
    if core.step(g, name) then
      n = n - 1
    elseif g.r:chance(10) then
      n = n - 1
    end
  end
end

return core
