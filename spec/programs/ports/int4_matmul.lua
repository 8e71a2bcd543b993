-- A product with 4-bit weights: x is given transposed, [K, M]; wq [K, N/2] uint8 holds two weights to a byte, the first
-- in the low bits, each 0 to 15 for -8 to 7; scales [K/group, N] has one row for `group` rows of weights. M is at most
-- 128, N at most 512, group a divisor of 128.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

return nki.jit(function(xT, wq, scales)
  local K, M = xT.shape:unpack()
  local N = wq.shape[1] * 2
  local group = K // scales.shape[0]
  assert(128 % group == 0, "a tile of 128 rows must hold whole groups")
  local out = nl.ndarray({M, N}, xT.dtype, {buffer = nl.shared_hbm})
  local acc = nl.ndarray({M, N}, nl.float32, {buffer = nl.psum})
  for k in nl.affine_range(0, K, 128) do
    local rows = nl.ds(k, math.min(128, K - k))
    local packed = nl.load(wq[rows])
    local w = nl.ndarray({rows.size, N // 2, 2}, nl.float32)
    nisa.tensor_scalar(w["..., 0"], packed & 15, nl.subtract, 8.0)
    nisa.tensor_scalar(w["..., 1"], packed >> 4, nl.subtract, 8.0)
    local scale = nl.ndarray({rows.size, N}, nl.float32)
    local some = scales[nl.ds(k // group, rows.size // group)]
    nisa.dma_copy(scale, some:expand_dim(1):broadcast(1, group)) -- every row `group` times
    nisa.nc_matmul(acc, nl.load(xT[rows], nl.float32), w:reshape {rows.size, N} * scale)
  end
  nl.store(out, nl.copy(acc, xT.dtype))
  return out
end)
