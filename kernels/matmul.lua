-- nki.kernels.matmul(lhsT, rhs, dtype): the product of two matrices, the left one given transposed.
--   out[m, n] = sum over k of lhsT[k, m] rhs[k, n]
-- lhsT [K, M] and rhs [K, N], float32, bfloat16 or float16; float32 only with float32. Any sizes. dtype: of the result,
-- float32, bfloat16 or float16 (default: lhsT's). Returns [M, N].
-- Sums are float32, over all of K in PSUM, and rounded to dtype once. A block of 512 x 1024 results fills the eight
-- banks of PSUM; K passes by 128 at a time, so SBUF holds no more than 3 KiB per partition of each operand's block.
--   nkilua run kernels/matmul.lua 'lhsT=bf16[300,200]:normal(1)' 'rhs=bf16[300,700]:normal(2)' 'dtype="float32"'
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local library = require "nki.library"

local TILES_M, TILES_N, TILE_M, TILE_N, TILE_K = 4, 2, 128, 512, 128

-- The tiles of PSUM that hold a block of rows x cols results.
local function accumulators(rows, cols)
  local tiles = {}
  for m in nl.affine_range(0, rows, TILE_M) do
    for n in nl.affine_range(0, cols, TILE_N) do
      local ms, height = library.part(m, TILE_M, rows)
      local ns, width = library.part(n, TILE_N, cols)
      tiles[#tiles + 1] = {rows = ms, cols = ns, acc = nl.ndarray({height, width}, nl.float32, {buffer = nl.psum})}
    end
  end
  return tiles
end

local function block(lhsT, rhs, out)
  local K = lhsT.shape[0]
  local tiles = accumulators(lhsT.shape[1], rhs.shape[1])
  for k in nl.affine_range(0, K, TILE_K) do
    local ks = library.part(k, TILE_K, K)
    local left, right = nl.load(lhsT[ks]), nl.load(rhs[ks])
    for _, tile in ipairs(tiles) do
      nisa.nc_matmul(tile.acc, left[{{}, tile.rows}], right[{{}, tile.cols}])
    end
  end
  for _, tile in ipairs(tiles) do
    nl.store(out[{tile.rows, tile.cols}], nl.copy(tile.acc, out.dtype))
  end
end

return nki.jit(function(lhsT, rhs, dtype)
  local size = library.tensors("matmul", {{"lhsT", lhsT, "K M"}, {"rhs", rhs, "K N"}})
  if (lhsT.dtype == nl.float32) ~= (rhs.dtype == nl.float32) then
    library.refuse("matmul", "rhs", library.text_of(rhs), "float32 goes with float32, and 'lhsT' is " .. lhsT.dtype)
  end
  if dtype ~= nil then dtype = library.choice("matmul", "dtype", dtype, library.floats) end
  local out = library.output({size.M, size.N}, dtype or lhsT.dtype)
  for m in nl.affine_range(0, size.M, TILES_M * TILE_M) do
    local ms = library.part(m, TILES_M * TILE_M, size.M)
    for n in nl.affine_range(0, size.N, TILES_N * TILE_N) do
      local ns = library.part(n, TILES_N * TILE_N, size.N)
      block(lhsT[{{}, ms}], rhs[{{}, ns}], out[{ms, ns}])
    end
  end
  return out
end, {func_name = "matmul"})
