-- Three live tiles need 198,024 bytes of the 196,608 per partition of gen2.
-- given: x=f32[128,24642]
-- also: big_1
-- also: big_2
-- also: low
-- also: 196,608 available
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

return nki.jit(function(x)
  local a = nl.ndarray({128, 24642}, nl.float32, {name = "big_1"})
  local b = nl.ndarray({128, 24642}, nl.float32, {name = "big_2"})
  local c = nl.ndarray({128, 222}, nl.float32, {name = "low"}) -- error: err_memory_overflow 198,024 bytes
  nisa.dma_copy(a, x)
  nisa.memset(c, 0.0)
  nisa.tensor_copy(b, a)
  nisa.tensor_copy(b[{{}, {0, 222}}], c)
  nisa.dma_copy(x, b)
  return x
end)
