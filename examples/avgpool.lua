-- Average pooling of images [C, H, W] by views alone: the windows become the two last axes, which are then summed.
--   nkilua run examples/avgpool.lua 'x=f32[96,12,16]:normal(9)' k=2
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

return nki.jit(function(x, k)
  local C, H, W = x.shape:unpack()
  assert(H % k == 0 and W % k == 0, "the window does not divide the image")
  local out = nl.ndarray({C, H // k, W // k}, x.dtype, {buffer = nl.shared_hbm})
  for c in nl.affine_range(0, C, 128) do
    local part = nl.ds(c, math.min(128, C - c))
    local image = nl.load(x[part])
    local windows = image:rearrange("c (oh kh) (ow kw) -> c oh ow kh kw", {kh = k, kw = k})
    local sums = nl.ndarray({math.min(128, C - c), H // k, W // k}, nl.float32)
    nisa.tensor_reduce{dst = sums, op = nl.add, data = windows, axis = {3, 4}}
    local means = nl.ndarray(sums.shape, x.dtype)
    nisa.tensor_scalar(means, sums, nl.multiply, 1.0 / (k * k))
    nl.store(out[part], means)
  end
  return out
end)
