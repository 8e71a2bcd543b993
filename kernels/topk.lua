-- nki.kernels.topk(x, k): the k largest elements of each row and where they are.
--   values[r, 0] >= values[r, 1] >= ... and values[r, i] = x[r, indices[r, i]]; equal values come in the order of x
-- x [rows, n], float32, bfloat16 or float16, n at most 16384; k is 1 .. n. Each row must have k elements that are
-- neither NaN nor -inf. Returns values [rows, k] of x's dtype and indices uint32 [rows, k]. Rows go 128 at a time;
-- each step finds eight elements and blots them out, so time grows with n k / 8.
--   nkilua run kernels/topk.lua 'x=bf16[200,300]:normal' k=10
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
local library = require "nki.library"

-- The rows as float32, in tiles of at least eight columns; what is added never wins.
local function work_tile(x)
  local n, cols = x.shape:unpack()
  if cols >= 8 then return nl.load(x, nl.float32) end
  local tile = nl.full({n, 8}, -math.huge, nl.float32)
  nisa.tensor_copy(tile[{{}, nl.ds(0, cols)}], nl.load(x, nl.float32))
  return tile
end

return nki.jit(function(x, k)
  local size = library.tensors("topk", {{"x", x, "rows n"}})
  library.at_most("topk", "x", x, "n", size.n, 16384)
  k = library.integer("topk", "k", k, {1, size.n})
  local values, indices = library.output({size.rows, k}, x.dtype), library.output({size.rows, k}, nl.uint32)
  local groups = (k + 7) // 8
  for r in nl.affine_range(0, size.rows, 128) do
    local part, n = library.part(r, 128, size.rows)
    local tile = work_tile(x[part])
    local best, at = nl.ndarray({n, groups * 8}, nl.float32), nl.ndarray({n, groups * 8}, nl.uint32)
    for g in nl.sequential_range(groups) do
      local eight = nl.ds(g * 8, 8)
      nisa.max8(best[{{}, eight}], tile)
      nisa.nc_find_index8(at[{{}, eight}], tile, best[{{}, eight}])
      if g < groups - 1 then
        nisa.nc_match_replace8{dst = tile, data = tile, vals = best[{{}, eight}], imm = -math.huge}
      end
    end
    nl.store(values[part], nl.copy(best[{{}, nl.ds(0, k)}], x.dtype))
    nl.store(indices[part], at[{{}, nl.ds(0, k)}])
  end
  return values, indices
end, {func_name = "topk"})
