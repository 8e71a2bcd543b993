-- A matrix product blocked along both free axes: 256 columns of lhsT and 1024 of rhs are loaded, then all tiles of that
-- block of the result are computed from SBUF.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

local TK, TM, TN, BLOCK_M, BLOCK_N = 128, 128, 512, 256, 1024

local function part(start, tile, size) return nl.ds(start, math.min(tile, size - start)) end

-- rows: tiles of 128 rows of x's block; each holds all columns of the block.
local function block(x, cols)
  local rows = {}
  for k in nl.affine_range(0, x.shape[0], TK) do
    rows[#rows + 1] = nl.load(x[{part(k, TK, x.shape[0]), cols}])
  end
  return rows
end

local function product(left, right, out)
  local M, N = out.shape:unpack()
  for m in nl.affine_range(0, M, TM) do
    for n in nl.affine_range(0, N, TN) do
      local ms, ns = part(m, TM, M), part(n, TN, N)
      local sums = nl.ndarray(out[{ms, ns}].shape, nl.float32, {buffer = nl.psum})
      for k in ipairs(left) do nisa.nc_matmul(sums, left[k][{{}, ms}], right[k][{{}, ns}]) end
      nl.store(out[{ms, ns}], nl.copy(sums, out.dtype))
    end
  end
end

return nki.jit(function(lhsT, rhs)
  local M, N = lhsT.shape[1], rhs.shape[1]
  local out = nl.ndarray({M, N}, lhsT.dtype, {buffer = nl.shared_hbm})
  for m in nl.affine_range(0, M, BLOCK_M) do
    local ms = part(m, BLOCK_M, M)
    local left = block(lhsT, ms)
    for n in nl.affine_range(0, N, BLOCK_N) do
      local ns = part(n, BLOCK_N, N)
      product(left, block(rhs, ns), out[{ms, ns}])
    end
  end
  return out
end)
