-- A matrix product tile by tile: every tile of the result loads the tiles of both operands it needs. Partial tiles at
-- the edges.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

local function part(i, tile, size) return nl.ds(i * tile, math.min(tile, size - i * tile)) end
local function tiles(size, tile) return (size + tile - 1) // tile end

return nki.jit(function(lhsT, rhs)
  local K, M = lhsT.shape:unpack()
  local N = rhs.shape[1]
  local tm, tk, tn = nl.tile_size.gemm_stationary_fmax, nl.tile_size.pmax, nl.tile_size.gemm_moving_fmax
  local out = nl.ndarray({M, N}, lhsT.dtype, {buffer = nl.shared_hbm})
  for m in nl.affine_range(tiles(M, tm)) do
    for n in nl.affine_range(tiles(N, tn)) do
      local ms, ns = part(m, tm, M), part(n, tn, N)
      local sums = nl.ndarray(out[{ms, ns}].shape, nl.float32, {buffer = nl.psum})
      for k in nl.affine_range(tiles(K, tk)) do
        local ks = part(k, tk, K)
        nisa.nc_matmul(sums, nl.load(lhsT[{ks, ms}]), nl.load(rhs[{ks, ns}]))
      end
      nl.store(out[{ms, ns}], nl.copy(sums, out.dtype))
    end
  end
  return out
end)
