-- A kernel returns tensors in shared_hbm.
-- given: x=f32[128,8]
local nki, nl = require "nki", require "nki.language"

return nki.jit(function(x)
  return nl.load(x) -- error: err_io_space must be in shared_hbm address space
end)
