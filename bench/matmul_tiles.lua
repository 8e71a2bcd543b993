-- The matmul of bench/run.lua: every operand tile is loaded once, as a tuned kernel does, so that the time is the
-- Tensor engine's.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

return nki.jit(function(lhsT, rhs)
  local K, M = lhsT.shape:unpack()
  local N = rhs.shape[1]
  local out = nl.ndarray({M, N}, nl.float32, {buffer = nl.shared_hbm})
  local left = {}
  for k = 0, K // 128 - 1 do
    left[k] = nl.load(lhsT[nl.ds(k * 128, 128)])
  end
  for n = 0, N // 512 - 1 do
    local right = {}
    for k = 0, K // 128 - 1 do
      right[k] = nl.load(rhs[{nl.ds(k * 128, 128), nl.ds(n * 512, 512)}])
    end
    for m = 0, M // 128 - 1 do
      local acc = nl.ndarray({128, 512}, nl.float32, {buffer = nl.psum})
      for k = 0, K // 128 - 1 do
        nisa.nc_matmul(acc, left[k][{{}, nl.ds(m * 128, 128)}], right[k])
      end
      nl.store(out[{nl.ds(m * 128, 128), nl.ds(n * 512, 512)}], nl.copy(acc))
    end
  end
  return out
end)
