-- A device loop runs beyond the end of x.
-- given: x=f32[4,8] n=i32[1,1]:full(6)
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

return nki.jit(function(x, n)
  local out, t = nl.ndarray({1, 8}, nl.float32, {buffer = nl.shared_hbm}), nl.ndarray({1, 8}, nl.float32)
  local count = nisa.register_alloc()
  nisa.register_load(count, nl.load(n))
  nl.fori_loop(0, count, function(i)
    nisa.dma_copy(t, x[nl.ds(i, 1)]) -- error: err_tensor_access_out_of_bound x[4,8] float32 in shared_hbm
  end)
  nl.store(out, t)
  return out
end)
