-- example.lua: the kernels of examples/ and how each is called.
local build = require "spec.support.build"
local tree = require "spec.support.tree"

local example = {}

-- The words of the example's own usage line, quoted for a shell; index files become any tensor of that shape.
function example.usage(path)
  local line = build.slurp(path):match("\n%-%-   nkilua run ([^\n]+)")
  assert(line, path .. " has no usage line")
  return (line:gsub("=[%w_]+%.npy", "=i32[200,1]"))
end

function example.paths()
  return tree.files("^examples/[%w_]+%.lua$")
end

return example
