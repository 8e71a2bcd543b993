-- nki.kernels.mx_matmul(lhsT, rhs, format, dtype): the product of two matrices in microscaling format, gen4 (trn3)
-- only.
--   out[m, n] = sum over k of lq[k, m] rq[k, n], lq and rq: lhsT and rhs in 8 bits with one scale per 32 elements
-- lhsT [K, M] and rhs [K, N], bfloat16 or float16, of any sizes. Elements k = 32 b .. 32 b + 31 of a column share a
-- scale, a power of two: 2^(floor(log2 of the largest magnitude) - 7), or - 14 for e5m2. format: "float8_e4m3fn"
-- (default) or "float8_e5m2". dtype: of the result, float32 (default), bfloat16 or float16. Returns [M, N]. Quantised
-- by the Vector engine on the fly; rhs once, lhsT once per 512 columns of the result. Sums are float32 in PSUM.
--   nkilua run kernels/mx_matmul.lua 'lhsT=bf16[300,70]:normal(1)' 'rhs=bf16[300,600]:normal(2)'
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local library = require "nki.library"

local TILE_K, TILE_M, TILE_N = 512, 128, 512

-- Up to 512 rows of a matrix in HBM, four rows to a partition, what is missing to 32 partitions and an even number of
-- columns being 0: [partitions, columns, 4].
local function four_by_four(x)
  local rows, cols = x.shape:unpack()
  local whole, rest = rows // 4, rows % 4
  local partitions, even = (rows + 127) // 128 * 32, (cols + 1) // 2 * 2
  local tile = nl.ndarray({partitions, even, 4}, x.dtype)
  if rows < partitions * 4 or cols < even then nisa.memset(tile, 0) end
  if whole > 0 then
    local source = x[nl.ds(0, whole * 4)]:reshape_dim(0, {whole, 4}):permute{0, 2, 1}
    nisa.dma_copy(tile[{nl.ds(0, whole), nl.ds(0, cols)}], source)
  end
  if rest > 0 then
    local source = x[nl.ds(whole * 4, rest)]:expand_dim(0):permute{0, 2, 1}
    nisa.dma_copy(tile[{nl.ds(whole, 1), nl.ds(0, cols), nl.ds(0, rest)}], source)
  end
  return tile
end

-- Data and scales of every 512 rows of x.
local function quantised(x, format)
  local list = {}
  for k in nl.affine_range(0, x.shape[0], TILE_K) do
    local tile = four_by_four(x[(library.part(k, TILE_K, x.shape[0]))])
    local shape = {tile.shape[0], tile.shape[1]}
    local data, scale = nl.ndarray(shape, format .. "_x4"), nl.ndarray(shape, nl.uint8)
    nisa.quantize_mx(data, tile:flatten_dims(1, 2), scale)
    list[#list + 1] = {data = data, scale = scale}
  end
  return list
end

return nki.jit(function(lhsT, rhs, format, dtype)
  local halves = {"bfloat16", "float16"}
  local size = library.tensors("mx_matmul", {{"lhsT", lhsT, "K M", halves}, {"rhs", rhs, "K N", halves}})
  format = library.choice("mx_matmul", "format", format, {"float8_e4m3fn", "float8_e5m2"})
  local out = library.output({size.M, size.N}, library.choice("mx_matmul", "dtype", dtype, library.floats))
  for n in nl.affine_range(0, size.N, TILE_N) do
    local ns, width = library.part(n, TILE_N, size.N)
    local right = quantised(rhs[{{}, ns}], format)
    for m in nl.affine_range(0, size.M, TILE_M) do
      local ms, height = library.part(m, TILE_M, size.M)
      local left = quantised(lhsT[{{}, ms}], format)
      local sums = nl.ndarray({left[1].data.shape[1], right[1].data.shape[1]}, nl.float32, {buffer = nl.psum})
      for k in ipairs(left) do
        nisa.nc_matmul_mx(sums, left[k].data, right[k].data, left[k].scale, right[k].scale)
      end
      nl.store(out[{ms, ns}], nl.copy(sums[{nl.ds(0, height), nl.ds(0, width)}], out.dtype))
    end
  end
  return out
end, {func_name = "mx_matmul", platform_target = "trn3"})
