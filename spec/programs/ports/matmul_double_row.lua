-- 8-bit products at twice the rate: in double_row mode a partition holds two rows of K, [K/2, 2, M] and [K/2, 2, N].
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

-- Rows k and k + half of x side by side in partition k.
local function paired(x)
  local half, cols = x.shape[0] // 2, x.shape[1]
  local tile = nl.ndarray({half, 2, cols}, x.dtype)
  nisa.dma_copy(tile, x:reshape_dim(0, {2, half}):permute{1, 0, 2})
  return tile
end

return nki.jit(function(lhsT, rhs)
  local K, M = lhsT.shape:unpack()
  local N = rhs.shape[1]
  assert(K % 2 == 0, "K must be even")
  local out = nl.ndarray({M, N}, nl.float32, {buffer = nl.shared_hbm})
  local sums = nl.ndarray({M, N}, nl.float32, {buffer = nl.psum})
  for k in nl.affine_range(0, K, 256) do
    local ks = nl.ds(k, math.min(256, K - k))
    nisa.nc_matmul{dst = sums, stationary = paired(lhsT[ks]), moving = paired(rhs[ks]),
                   perf_mode = nisa.matmul_perf_mode.double_row}
  end
  nl.store(out, nl.copy(sums))
  return out
end, {platform_target = "trn2"})
