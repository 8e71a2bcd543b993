-- A loop on the device whose bound is known at run time only: the sum of the first n rows of x; n is an int32 [1,1]
-- tensor.
--   nkilua run examples/dynamic_sum.lua 'x=f32[50,64]:normal(16)' 'n=i32[1,1]:full(20)'
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

return nki.jit(function(x, n)
  local cols = x.shape[1]
  local out = nl.ndarray({1, cols}, x.dtype, {buffer = nl.shared_hbm})
  local count = nisa.register_alloc()
  nisa.register_load(count, nl.load(n))
  local sum = nl.zeros({1, cols}, nl.float32)
  nl.fori_loop(0, count, function(i)
    nisa.tensor_tensor(sum, sum, nl.load(x[nl.ds(i, 1)]), nl.add)
  end)
  nl.store(out, nl.copy(sum, x.dtype))
  return out
end)
