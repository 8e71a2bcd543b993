-- Arithmetic is done on chip.
-- given: x=f32[128,8] y=f32[128,8]
local nki, nl = require "nki", require "nki.language"

return nki.jit(function(x, y)
  nl.store(x, x + y) -- error: err_unsupported_memory x[128,8] float32 in shared_hbm
  return x
end)
