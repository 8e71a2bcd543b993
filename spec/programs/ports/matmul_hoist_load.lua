-- A matrix product whose loads are hoisted: a column of lhsT's tiles is loaded once for all tiles of rhs that meet it.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

local TK, TM, TN = 128, 128, 512

local function part(start, tile, size) return nl.ds(start, math.min(tile, size - start)) end

-- The tiles of a column block of x, one for each 128 rows.
local function column(x, cols)
  local tiles = {}
  for k in nl.affine_range(0, x.shape[0], TK) do
    tiles[#tiles + 1] = nl.load(x[{part(k, TK, x.shape[0]), cols}])
  end
  return tiles
end

return nki.jit(function(lhsT, rhs)
  local M, N = lhsT.shape[1], rhs.shape[1]
  local out = nl.ndarray({M, N}, lhsT.dtype, {buffer = nl.shared_hbm})
  for m in nl.affine_range(0, M, TM) do
    local ms = part(m, TM, M)
    local left = column(lhsT, ms)
    for n in nl.affine_range(0, N, TN) do
      local ns = part(n, TN, N)
      local right = column(rhs, ns)
      local sums = nl.ndarray(out[{ms, ns}].shape, nl.float32, {buffer = nl.psum})
      for k in ipairs(left) do nisa.nc_matmul(sums, left[k], right[k]) end
      nl.store(out[{ms, ns}], nl.copy(sums, out.dtype))
    end
  end
  return out
end)
