-- C[M,N] = lhsT[K,M]^T @ rhs[K,N] with static tiles of K=128, M=128, N=512; sizes need not be multiples of the tiles.
--   nkilua run examples/matmul.lua 'lhsT=bf16[256,192]:normal(1)' 'rhs=bf16[256,1024]:normal(2)'
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

local TILE_K, TILE_M, TILE_N = 128, 128, 512

return nki.jit(function(lhsT, rhs)
  local K, M = lhsT.shape:unpack()
  local K2, N = rhs.shape:unpack()
  assert(K == K2, "lhsT and rhs differ in K")
  local out = nl.ndarray({M, N}, nl.float32, {buffer = nl.shared_hbm})
  for m in nl.affine_range(0, M, TILE_M) do
    local ms = nl.ds(m, math.min(TILE_M, M - m))
    for n in nl.affine_range(0, N, TILE_N) do
      local ns = nl.ds(n, math.min(TILE_N, N - n))
      local acc = nl.ndarray({math.min(TILE_M, M - m), math.min(TILE_N, N - n)}, nl.float32, {buffer = nl.psum})
      for k in nl.affine_range(0, K, TILE_K) do
        local ks = nl.ds(k, math.min(TILE_K, K - k))
        nisa.nc_matmul(acc, nl.load(lhsT[{ks, ms}]), nl.load(rhs[{ks, ns}])) -- the first write starts, later ones add
      end
      nl.store(out[{ms, ns}], nl.copy(acc))
    end
  end
  return out
end)
