-- given: x=f32[128,8]
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

return nki.jit(function(x)
  local a = nl.ndarray({128, 8}, nl.float32, {address = {0, 0}, name = "a"})
  local b = nl.ndarray({128, 8}, nl.float32, {address = {0, 16}}) -- error: err_memory_overlap (bytes 16..47) overlaps a
  nisa.dma_copy(a, x)
  nisa.tensor_copy(b, a)
  nisa.tensor_tensor(a, a, b, nl.add)
  nisa.dma_copy(x, a)
  return x
end)
