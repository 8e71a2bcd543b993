-- K of 256 needs two matmuls.
-- given: a=f32[256,64] b=f32[256,128]
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

return nki.jit(function(a, b)
  local acc = nl.ndarray({64, 128}, nl.float32, {buffer = nl.psum})
  nisa.nc_matmul(acc, nl.load(a), nl.load(b)) -- error: err_num_partition_exceed_arch_limit nl.load: the tensor [256,64]
  return a
end)
