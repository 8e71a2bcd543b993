-- given: x=f32[128,64]
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

return nki.jit(function(x)
  local t, acc = nl.load(x), nl.ndarray({64, 64}, nl.float32, {buffer = nl.psum})
  nisa.nc_matmul(acc, t, t)
  nisa.tensor_tensor(acc, acc, acc, nl.add) -- error: err_both_in_psum data1 and data2 may not both be in psum
  return x
end)
