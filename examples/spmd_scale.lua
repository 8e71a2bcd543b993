-- One program per block of 128 rows: the body runs once for each program of the grid; all write one shared output.
--   nkilua run examples/spmd_scale.lua -g 3 'x=f32[384,100]:iota' factor=0.5
local nki, nl = require "nki", require "nki.language"

return nki.jit(function(x, factor)
  local rows, programs = x.shape[0], nl.num_programs(0)
  assert(rows == programs * 128, "the grid must have one program per 128 rows")
  local out = nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm})
  local part = nl.ds(nl.program_id(0) * 128, 128)
  nl.store(out[part], nl.load(x[part]) * factor)
  return out
end)
