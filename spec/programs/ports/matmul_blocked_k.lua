-- A matrix product blocked along all three axes: the contraction runs in blocks of K whose partial sums meet in SBUF,
-- so a block of both operands stays small whatever the sizes.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

local TK, TM, TN = 128, 128, 512

local function part(start, tile, size) return nl.ds(start, math.min(tile, size - start)) end

local function load_rows(x, rows, cols)
  local tiles = {}
  for k in nl.affine_range(0, rows.size, TK) do
    tiles[#tiles + 1] = nl.load(x[{nl.ds(rows.start + k, math.min(TK, rows.size - k)), cols}])
  end
  return tiles
end

-- The float32 tiles in SBUF that take the sums of one column block of the result, by row tile.
local function fresh(M, width)
  local sums = {}
  for m in nl.affine_range(0, M, TM) do
    sums[m] = nl.zeros({math.min(TM, M - m), width}, nl.float32)
  end
  return sums
end

local function add_products(sum, left, right, ms)
  for n in nl.affine_range(0, sum.shape[1], TN) do
    local ns = part(n, TN, sum.shape[1])
    local partial = nl.ndarray({sum.shape[0], ns.size}, nl.float32, {buffer = nl.psum})
    for k in ipairs(left) do nisa.nc_matmul(partial, left[k][{{}, ms}], right[k][{{}, ns}]) end
    nisa.tensor_tensor(sum[{{}, ns}], sum[{{}, ns}], partial, nl.add)
  end
end

return nki.jit(function(lhsT, rhs, block_m, block_n, block_k)
  local K, M = lhsT.shape:unpack()
  local N = rhs.shape[1]
  local out = nl.ndarray({M, N}, lhsT.dtype, {buffer = nl.shared_hbm})
  for n in nl.affine_range(0, N, block_n * TN) do
    local ns = part(n, block_n * TN, N)
    local sums = fresh(M, ns.size)
    for k in nl.sequential_range(0, K, block_k * TK) do
      local ks = part(k, block_k * TK, K)
      local right = load_rows(rhs, ks, ns)
      for m in nl.affine_range(0, M, block_m * TM) do
        local bs = part(m, block_m * TM, M)
        local left = load_rows(lhsT, ks, bs)
        for t in nl.affine_range(0, bs.size, TM) do
          add_products(sums[m + t], left, right, part(t, TM, bs.size))
        end
      end
    end
    for m in nl.affine_range(0, M, TM) do
      nl.store(out[{part(m, TM, M), ns}], nl.copy(sums[m], out.dtype))
    end
  end
  return out
end)
