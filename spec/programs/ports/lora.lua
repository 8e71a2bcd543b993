-- A linear layer with a low-rank addition: out = x W + alpha (x A) B, with x given transposed. The rank fits one tile.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

local function part(start, tile, size) return nl.ds(start, math.min(tile, size - start)) end

local function load_rows(x, cols)
  local tiles = {}
  for k in nl.affine_range(0, x.shape[0], 128) do
    tiles[#tiles + 1] = nl.load(x[{part(k, 128, x.shape[0]), cols or {}}])
  end
  return tiles
end

return nki.jit(function(xT, W, A, B, alpha)
  local tokens, features, rank = xT.shape[1], W.shape[1], A.shape[1]
  local out = nl.ndarray({tokens, features}, nl.float32, {buffer = nl.shared_hbm})
  local a, b = load_rows(A), nl.load(B)
  for t in nl.affine_range(0, tokens, 128) do
    local ts = part(t, 128, tokens)
    local x, low = load_rows(xT, ts), nl.ndarray({rank, ts.size}, nl.float32, {buffer = nl.psum})
    for k in ipairs(x) do nisa.nc_matmul(low, a[k], x[k]) end -- (x A)^T
    local scaled = nl.ndarray({rank, ts.size}, xT.dtype)
    nisa.tensor_scalar(scaled, low, nl.multiply, alpha)
    for f in nl.affine_range(0, features, 512) do
      local fs = part(f, 512, features)
      local sums, w = nl.ndarray({ts.size, fs.size}, nl.float32, {buffer = nl.psum}), load_rows(W, fs)
      for k in ipairs(x) do nisa.nc_matmul(sums, x[k], w[k]) end
      nisa.nc_matmul(sums, scaled, b[{{}, fs}])
      nl.store(out[{ts, fs}], nl.copy(sums))
    end
  end
  return out
end)
