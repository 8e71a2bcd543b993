-- A convolution without im2col: x [N, C, H, W], w [C, taps, taps, O] and bias [O, 1] give relu(conv + bias). Each tap
-- is a product of its C x O weights with a strided view of the padded image, and PSUM adds the taps up. C and O are at
-- most 128.
local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"

return nki.jit(function(x, w, bias, pad, stride)
  local N, C, H, W = x.shape:unpack()
  local taps, O = w.shape[1], w.shape[3]
  local OH, OW = (H + 2 * pad - taps) // stride + 1, (W + 2 * pad - taps) // stride + 1
  local out = nl.ndarray({N, O, OH, OW}, x.dtype, {buffer = nl.shared_hbm})
  local weights, shift = nl.load(w), nl.load(bias, nl.float32)
  local band = nl.tile_size.gemm_moving_fmax // OW -- rows of the result that one bank of PSUM holds
  local function taken(first, n) return {first, first + (n - 1) * stride + 1, stride} end
  for n in nl.affine_range(N) do
    local image = nl.zeros({C, H + 2 * pad, W + 2 * pad}, x.dtype)
    image[{":", nl.ds(pad, H), nl.ds(pad, W)}] = nl.load(x[n])
    for r in nl.affine_range(0, OH, band) do
      local rows = math.min(band, OH - r)
      local acc = nl.ndarray({O, rows, OW}, nl.float32, {buffer = nl.psum})
      for i = 0, taps - 1 do
        for j = 0, taps - 1 do
          local seen = image[{":", taken(r * stride + i, rows), taken(j, OW)}]
          nisa.nc_matmul(acc, weights[{":", i, j}], seen)
        end
      end
      local y = nl.ndarray(acc.shape, x.dtype)
      nisa.activation {dst = y, op = nl.relu, data = acc, bias = shift}
      nl.store(out[{n, ":", nl.ds(r, rows)}], y)
    end
  end
  return out
end)
