-- given: x=f32[128,8]
local nki, nl = require "nki", require "nki.language"

local inner = nki.jit(function(x)
  nl.store(x, nl.load(x))
  return x
end)

return nki.jit(function(x)
  return inner[2](x) -- error: err_nested_kernel_with_spmd_grid only the outermost kernel has one
end)
