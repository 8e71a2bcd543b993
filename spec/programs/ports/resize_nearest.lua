-- Images [C, H, W] resized to any height and width by taking the nearest pixel: output (i, j) is input (floor(i H /
-- height), floor(j W / width)). Runs of equal rows are loaded once.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

return nki.jit(function(x, height, width)
  local C, H, W = x.shape:unpack()
  local out = nl.ndarray({C, height, width}, x.dtype, {buffer = nl.shared_hbm})
  for c in nl.affine_range(0, C, 128) do
    local part, n = nl.ds(c, math.min(128, C - c)), math.min(128, C - c)
    local row, last
    for i in nl.sequential_range(height) do
      local from = i * H // height
      if from ~= last then
        local source = nl.load(x[{part, from}])
        row, last = nl.ndarray({n, width}, x.dtype), from
        for j in nl.affine_range(width) do
          nisa.tensor_copy(row[{{}, nl.ds(j, 1)}], source[{{}, nl.ds(j * W // width, 1)}])
        end
      end
      nl.store(out[{part, i}], row)
    end
  end
  return out
end)
