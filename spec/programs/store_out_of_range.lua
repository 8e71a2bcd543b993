-- A store beyond the end of 'o', in the third trip.
-- given: x=f32[16,128]
-- also: in the iteration with value 2 of the loop at store_out_of_range.lua:10
local nki, nl = require "nki", require "nki.language"

return nki.jit(function(x)
  local o = nl.ndarray({16, 128}, x.dtype, {buffer = nl.shared_hbm, name = "o"})
  local t = nl.load(x)

  for i in nl.affine_range(4) do
    nl.store(o[{{}, nl.ds(i * 48, 48)}], t[{{}, {0, 48}}]) -- error: err_tensor_access_out_of_bound o[16,128]
  end
  return o
end)
