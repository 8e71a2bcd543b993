-- The second program makes a smaller shared tensor.
-- given: x=f32[256,8]
-- grid: 2
local nki, nl = require "nki", require "nki.language"

return nki.jit(function(x)
  local id = nl.program_id(0)
  local shape = {256, 8 - id}
  local out = nl.ndarray(shape, x.dtype, {buffer = nl.shared_hbm}) -- error: err_spmd_allocation program 1 makes
  nl.store(out[nl.ds(id * 128, 128)], nl.load(x[{nl.ds(id * 128, 128), {0, 8 - id}}]))
  return out
end)
