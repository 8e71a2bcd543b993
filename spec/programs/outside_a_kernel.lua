-- Tiles are made inside kernels only.
-- given: x=f32[128,8]
local nki, nl = require "nki", require "nki.language"

local zeros = nl.zeros({1, 8}, nl.float32) -- error: err_nki_api_outside_of_nki_kernel nl.zeros is only available inside

return nki.jit(function(x)
  nl.store(x, zeros)
  return x
end)
