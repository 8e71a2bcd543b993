-- A tile kept from another kernel's run.
-- given: x=f32[128,8]
local nki, nl = require "nki", require "nki.language"

local kept
nki.jit(function(x)
  kept = nl.load(x)
  nl.store(x, kept)
  return x
end):specialize(nki.decl({128, 8}, nl.float32))

return nki.jit(function(x)
  nl.store(x, kept) -- error: err_tile_stale 'sbuf_0' of kernel 'stale_tile'
  return x
end)
